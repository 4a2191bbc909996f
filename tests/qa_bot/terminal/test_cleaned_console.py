"""No text reaches a terminal with its control characters."""

import io

import pytest
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from qa_bot.home.config import Setting
from qa_bot.terminal.answer_output import show_answer
from qa_bot.terminal.cleaned_console import cleaned
from qa_bot.terminal.output import show_added, show_candidates, show_settings, show_status
from qa_core.types import Answer, Candidate, Clue, Passage, Source

NO_QUERIES = {"queries": [], "confidence": {}}
EVIL = "a\x1b]52;c;eA==\x07b\x9b2J\x1b[2Jc\u202e"


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, color_system="truecolor", width=100)


def printed(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def harmless(output: str) -> bool:
    """Whether only rich's own styles (`ESC [ … m`) and links (`ESC ] 8 ;`) are left."""
    escapes = output.split("\x1b")[1:]
    styles = all(part.startswith(("[", "]8;")) and "2J" not in part.split("m")[0] for part in escapes)
    return styles and "]52" not in "".join(part[:3] for part in escapes) and not set(output) & set("\x07\x9b\u202e")


def test_everything_that_rich_renders_is_cleaned(console: Console) -> None:
    table = Table(title=EVIL)
    table.add_column(EVIL)
    table.add_row(Text(EVIL, style="bold"))
    for what in (EVIL, Text(EVIL, style="red"), table, Padding(Text(EVIL), 1)):
        cleaned(console).print(what)
    assert harmless(printed(console))
    assert printed(console).count("\x1b[1m") >= 1, "styles stay"


def test_ids_titles_and_collections_of_results(console: Console) -> None:
    source = Source(EVIL, EVIL, "https://a.example", EVIL)
    show_candidates([Candidate(Passage("p", EVIL, Clue(EVIL), source), 1.0)], console=console)
    assert harmless(printed(console))


def test_values_of_the_configuration(console: Console) -> None:
    show_settings([Setting("dense.encoder", EVIL, EVIL, "what it is")], console=console)
    assert harmless(printed(console))


@pytest.mark.parametrize(
    "text", ["[/none] is no end", "[link=https://evil.example]docs[/link]", "[draft].md", ":cat: [bold]"]
)
def test_signs_of_rich_in_names_are_shown_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    collections = [{"name": text, "documents": 1, "passages": 1}]
    names = ("size", "generation", "documents", "passages", "near_duplicates", "facts", "turns")
    show_status({**dict.fromkeys(names, 0), "home": text, "encoder": text, "collections": collections})
    show_settings([Setting(text, text, text, text)])
    show_answer(
        Answer(
            "?",
            "",
            "none",
            answered=False,
            confidence=0.0,
            trace={**NO_QUERIES, "candidates": [{"document": text, "score": 1.0}]},
        )
    )
    out, _ = capsys.readouterr()
    assert out.count(text) == 3 + 4 + 1
    assert "\x1b" not in out


def test_rejects_and_notices(capsys: pytest.CaptureFixture[str]) -> None:
    from qa_bot.documents.ingest.records import Notice, Reject
    from qa_bot.documents.reject_log import AddReport

    report = AddReport(rejected=1, examples=[Reject(EVIL, EVIL)], notices=[Notice(EVIL, EVIL)])
    show_added(report, dry_run=False)
    out, err = capsys.readouterr()
    assert harmless(out + err)
    assert "\x1b" not in out + err


@pytest.mark.parametrize(
    ("duplicates", "summary"),
    [(0, "(9 passages)"), (2, "(9 passages, 2 of them nearly the same as another)")],
)
def test_near_duplicates_are_named_if_there_are_any(capsys, duplicates: int, summary: str) -> None:
    from qa_bot.documents.reject_log import AddReport

    show_added(AddReport(added=1, passages=9, duplicates=duplicates), dry_run=False)
    assert " ".join(capsys.readouterr().out.split()) == f"1 added, 0 updated, 0 unchanged, 0 rejected {summary}"


def test_lines_of_a_file_are_not_wrapped(capsys, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    cleaned().print("word " * 100 + "end")
    cleaned(stderr=True).print("word " * 100 + "end")
    out, err = capsys.readouterr()
    assert out.count("\n") == err.count("\n") == 1
    monkeypatch.setenv("COLUMNS", "80")
    cleaned().print("word " * 100 + "end")
    assert capsys.readouterr().out.count("\n") == 7
