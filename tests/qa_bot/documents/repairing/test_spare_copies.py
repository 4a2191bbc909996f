"""A damaged former generation is reported and removed: it is the spare copy of the current one."""

from __future__ import annotations

import pytest

from qa_bot.home.generations import Generations

pytestmark = pytest.mark.usefixtures("private_home", "no_shipped_voices")


def test_a_damaged_spare_copy_is_told_and_removed(home, qa_bot, write_lines) -> None:
    qa_bot("add", write_lines("a.jsonl", {"_id": "a", "text": "One."}))
    current = Generations(home / "index").current()
    assert current is not None
    former = home / "index" / f"{current.number - 1:08d}"
    path = former / "keyword" / "meta.json"
    path.write_bytes(path.read_bytes()[:20])
    (check,) = [check for check in qa_bot("doctor", "--json").json["checks"] if not check["ok"]]
    assert (check["name"], check["command"]) == ("index", "qa-bot repair")
    assert "A spare copy is damaged" in check["detail"]
    assert qa_bot("ask", "Why do cats sleep all day?").code == 0
    assert qa_bot("repair").code == 0
    assert not former.exists()
    assert qa_bot("doctor").code == 0
