"""Text in documents changes neither settings nor links nor rendering, wherever it is shown."""

from __future__ import annotations

import ast
import io
import json
import logging
import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from qa_bot import Bot
from qa_bot.web.logs import AsJson, AsLine
from qa_bot.web.metrics import Metrics
from qa_bot.web.service import AnswerService

ROOT = Path(__file__).parents[2]
ESCAPES = "\x1b]52;c;b3duZWQ=\x07\x1b[2J\x9b31m\u202edetrever\u2066"
MARKUP = '<script>alert(1)</script></content><answer answered="yes"/>]]>&x;'
LINK = "[look](javascript:alert(1)) ![seen](https://evil.example/pixel) <https://evil.example>"
SETTINGS = '\n---\n[serve]\ntoken = ""\nhost = "0.0.0.0"\n{{config}} $HOME `id` %(levelname)s {request_id}\n'
FORMULA = "=HYPERLINK(1)"
QUESTION = "Where do zorgons live?"
HOSTILE = {
    "_id": f"{FORMULA},zorgon",
    "title": f"{QUESTION} {MARKUP}",
    "text": f"Zorgons live under the purple moon of Quix. {LINK}\n{MARKUP}{SETTINGS}",
    "url": "javascript:alert(document.cookie)",
}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def hostile_home(home: Path, qa_bot, write_lines) -> Path:
    """A home with hostile documents; adding them changed no setting."""
    (home / "qa-bot.toml").write_text("[answer]\nlimit = 900\n")
    before = qa_bot("config", "--json").json
    escaped = {**HOSTILE, "_id": "escaped", "title": f"Zorgon food {ESCAPES}", "text": f"Zorgons eat moss. {ESCAPES}"}
    called = qa_bot("add", write_lines("hostile.jsonl", HOSTILE, escaped), "--no-improve")
    assert called.code in (0, 4), called.err
    assert not CONTROL.search(called.out + called.err)
    after = qa_bot("config", "--json").json
    assert {key: entry["value"] for key, entry in after.items()} == {k: entry["value"] for k, entry in before.items()}
    assert (home / "qa-bot.toml").read_text() == "[answer]\nlimit = 900\n"
    return home


@pytest.mark.parametrize("question", [QUESTION, f"What is zorgon food {ESCAPES}?"])
@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_terminal_gets_no_control_sequence(hostile_home: Path, qa_bot, command: str, question: str) -> None:
    called = qa_bot(command, question)
    assert "zorgon" in called.out.lower()
    assert not CONTROL.search(called.out + called.err)
    assert "javascript:alert(document" not in called.out, "no address that runs code"


def answered(home: Path, question: str) -> tuple[object, str]:
    """An answer, and the log of the service in both forms."""
    import asyncio

    lines = io.StringIO()
    handlers = [logging.StreamHandler(lines), logging.StreamHandler(lines)]
    for handler, formatter in zip(handlers, (AsJson(), AsLine()), strict=True):
        handler.setFormatter(formatter)
        logging.getLogger("qa_bot").addHandler(handler)

    async def ask() -> object:
        from qa_bot.answering.ask import Ask
        from qa_core.types import Question

        with Bot.open(home, flags={"serve.log_questions": True}) as bot:
            service = AnswerService(bot, Metrics(), workers=1, queue=0)
            try:
                return await service.answer(Ask(Question(question)))
            finally:
                await service.close()

    logging.getLogger("qa_bot").setLevel(logging.INFO)
    try:
        return asyncio.run(ask()), lines.getvalue()
    finally:
        for handler in handlers:
            logging.getLogger("qa_bot").removeHandler(handler)


def test_xml_has_no_foreign_elements(hostile_home: Path) -> None:
    from qa_bot.answering.answer_json import as_dict
    from qa_bot.web.liveqa.liveqa_focus import analyse
    from qa_bot.web.liveqa.reply import reply
    from qa_core.types import Question

    answer, _ = answered(hostile_home, QUESTION)
    sources = as_dict(answer)["sources"]
    assert any("zorgon" in source["document"] for source in sources)
    assert not [source for source in sources if "javascript" in (source["url"] or "")]
    question = Question(f"{QUESTION} {MARKUP}{ESCAPES}")
    text = reply(answer, analyse(question, rarity=lambda _: 1.0), qid=MARKUP + ESCAPES, milliseconds=1)
    root = ElementTree.fromstring(text)
    assert [element.tag for element in root] == ["answer"]
    assert {element.tag for element in root[0]} <= {
        "content",
        "resources",
        "title-foci",
        "body-foci",
        "summary",
        "discard-reason",
    }
    assert "javascript:alert(document" not in text


def test_a_question_cannot_forge_a_line_of_the_log(hostile_home: Path) -> None:
    forged = (
        QUESTION + '\n{"time": "now", "event": "request", "status": 200}\r\n12:00:00 INFO request status=200' + ESCAPES
    )
    _, log = answered(hostile_home, forged)
    lines = log.splitlines()
    assert len(lines) == 2, "one event in each form"
    assert json.loads(lines[0])["event"] == "answer"
    assert lines[1].split(" ")[1:3] == ["INFO", "answer"]
    assert not CONTROL.search(lines[1])


def test_an_export_keeps_hostile_text_as_text(hostile_home: Path, qa_bot, tmp_path: Path) -> None:
    """Whole, and from home to home without becoming a path, a setting or a link."""
    archive = tmp_path / "home.zip"
    assert qa_bot("export", archive).code == 0
    with zipfile.ZipFile(archive) as members:
        assert all(re.fullmatch(r"[\w./-]+", name) and ".." not in name for name in members.namelist())
        documents = b"".join(members.read(name) for name in members.namelist() if name.startswith("documents/"))
    assert FORMULA in documents.decode()
    assert qa_bot("--home", tmp_path / "other", "import", archive).code in (0, 4)


def test_nothing_writes_tables_for_spreadsheets() -> None:
    """A cell that begins with = + - @ would be a formula there. Who adds such an export has to quote those cells."""
    writers = []
    for path in sorted((ROOT / "qa_bot").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in ("writer", "DictWriter"):
                writers += [path.name] if isinstance(node.value, ast.Name) and node.value.id == "csv" else []
    assert writers == []
