"""`qa-bot eval everything` as users call it."""

import pytest

from qa_lab.evaluate.suites.parts import PARTS


def test_a_suite_as_a_table_and_as_json(qa_bot, suite_file, tmp_path):
    done = qa_bot("eval", "everything", "--suite", suite_file, "--out", tmp_path / "cells")
    assert done.code == 0
    assert "absent is skipped" in done.err
    assert done.out.splitlines()[2].split()[-2:] == ["default", "simple"]
    payload = qa_bot("eval", "everything", "--suite", suite_file, "--out", tmp_path / "cells", "--json").json
    assert [row["collection"] for row in payload["rows"]] == ["policies", "policies", "search", "search"]


def test_an_ablation_as_table_and_picture(qa_bot, suite_file, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="the plots extra is not installed")
    monkeypatch.setattr("qa_lab.evaluate.suites.suite.PARTS", {"words": PARTS["words"]})
    done = qa_bot("eval", "everything", "--suite", suite_file, "--ablate", "--out", tmp_path / "cells")
    assert [line.split()[:2] for line in done.out.splitlines()[3:]][1] == ["without", "words"]
    assert (tmp_path / "cells" / "ablation.png").exists()


def test_wrong_usage(qa_bot, suite_file):
    assert qa_bot("eval", "everything", "--suite", suite_file, "--engine", "recipe").code == 2
    assert qa_bot("eval", "everything", "--suite", "gone.toml").code == 1
