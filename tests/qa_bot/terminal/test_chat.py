"""`qa-bot chat`, `hint`, and answers in the voice of a persona."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.bot import Bot

TEA = "Why do cats sleep all day?"


@pytest.fixture
def with_voices(monkeypatch: pytest.MonkeyPatch, tiny_voices: Path, home: Path) -> Path:
    """The home with the personas cook and sailor."""
    for name in ("cook", "sailor"):
        (home / "personas").mkdir(exist_ok=True)
        (home / "personas" / name).symlink_to(tiny_voices / name)
    monkeypatch.setenv("QA_BOT_STYLE__BASE", str(tiny_voices / "base"))
    monkeypatch.setenv("QA_BOT_STYLE__CANDIDATES", "20")
    return home


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets the lines that the user types."""

    def type_(*lines: str) -> None:
        waiting = iter(lines)

        def read(_prompt: str = "") -> str:
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", read)

    return type_


def test_each_line_is_a_turn_of_one_conversation(qa_bot, home: Path, typed):
    typed(TEA, "", "Where do zorgons live on the moon of Quix?")
    called = qa_bot("chat", "--json")
    first, second = map(json.loads, called.out.splitlines())
    assert called.code == 0
    assert (first["question"], first["answered"]) == (TEA, True)
    assert not second["answered"]
    assert first["conversation"] == second["conversation"]
    assert "styled" not in first
    with Bot.open(home) as bot:
        (conversation,) = bot.store.conversations(limit=10)
        assert (conversation.id, conversation.turns) == (first["conversation"], 2)


def test_an_unknown_collection_ends_a_chat_before_its_first_line(qa_bot, home: Path, typed):
    typed("Hello!")
    called = qa_bot("chat", "--collection", "starte")
    assert (called.code, called.out) == (1, "")
    assert "got 'starte'; there are: starter" in called.err


def test_slash_commands_change_persona_and_hint(qa_bot, with_voices, typed):
    typed("/persona sailor", TEA, "/hint soup", TEA, "/persona", TEA, "/persona ../x", "/nonsense", "/quit", TEA)
    called = qa_bot("chat", "--json")
    answers = [json.loads(line) for line in called.out.splitlines()]
    assert [answer.get("styled", {}).get("hint") for answer in answers] == ["", "soup", None]
    assert answers[0]["styled"]["persona"] == "sailor"
    for words in ("Answers come from sailor", "hint is 'soup'", "without a persona", "but got '../x'", "/nonsense"):
        assert words in called.err


def test_styled_answer_as_text(qa_bot, with_voices):
    answer = qa_bot("ask", TEA, "--persona", "sailor", "--json").json
    assert answer["kind"] == "styled"
    start, end = answer["styled"]["span"]
    line, sourced = answer["answer"][start:end], answer["answer"][end:].split()
    read = " ".join(qa_bot("ask", TEA, "--persona", "sailor").out.split())
    before, _, after = read.replace("“", "").replace("”", "").partition(line)
    assert before == "sailor: "
    assert " ".join(sourced) in after


def test_persona_and_debate_exclude_each_other(qa_bot, with_voices, typed):
    typed()
    assert qa_bot("chat", "--persona", "cook", "--debate", "cook,sailor").code == 2
    assert "two personas or more" in qa_bot("chat", "--debate", "cook").err
    called = qa_bot("chat", "--persona", "a/b")
    assert (called.code, "Expected one of the personas (" in called.err) == (1, True)


def test_debate_takes_turns(qa_bot, with_voices, typed):
    typed("", "Who sails?", "", "And the soup?", "/quit")
    called = qa_bot("chat", "--debate", "cook,sailor", "--turns", "3", "--json")
    lines = [json.loads(line) for line in called.out.splitlines()]
    assert [line["persona"] for line in lines] == ["cook", "sailor"] * 4 + ["cook"]
    assert {line["kind"] for line in lines} <= {"generated", "quotation"}
    typed("Who sails?")
    read = qa_bot("chat", "--debate", "cook,sailor", "--turns", "2")
    assert read.out.count("cook: ") == read.out.count("sailor: ") == 1


def test_batch_with_a_persona(qa_bot, with_voices, write_lines, tmp_path: Path):
    source = write_lines("in.jsonl", {"_id": "1", "title": TEA}, {"_id": "2", "title": "zorgons of Quix?"})
    out = tmp_path / "out.jsonl"
    assert qa_bot("ask", "--batch", source, "--out", out, "--persona", "cook", "--top", 2).code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["kind"] == "styled"
    assert len(first["styled"]["lines"]) <= 2
    assert (second["kind"], second["styled"]["span"]) == ("none", None)
    called = qa_bot("ask", "--batch", source, "--out", tmp_path / "other.jsonl", "--persona", "nobody")
    assert called.code == 1
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize("value", ["0", "nan", "9", "hot"])
def test_temperature_out_of_range_is_refused(qa_bot, with_voices, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("QA_BOT_STYLE__TEMPERATURE", value)
    called = qa_bot("ask", TEA, "--persona", "cook")
    assert (called.code, "style.temperature" in called.err.lower()) == (1, True)


def test_hint_command(qa_bot, with_voices, tmp_path: Path):
    called = qa_bot("hint", "soup", "--json", "--out", tmp_path / "map.png")
    assert called.code == 0
    assert called.json["hint"] == "soup"
    assert sum(called.json["posterior"]) == pytest.approx(1, abs=1e-4)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    likeliest = max(range(12), key=called.json["posterior"].__getitem__)
    first = qa_bot("hint", "soup").out.splitlines()[0]
    assert f"row {likeliest // 4 + 1}, column {likeliest % 4 + 1}" in first
    unknown = qa_bot("hint", "xyzzy")
    assert (unknown.code, "xyzzy; it steers nothing" in " ".join(unknown.out.split())) == (3, True)


def test_slash_commands_undo_a_rewrite_and_vote(qa_bot, home: Path, typed):
    questions = ("What is the capital of Australia?", "and its population?")
    typed("/raw", "/up", *questions, "/raw", "/down I meant Canberra.", questions[0])
    called = qa_bot("chat", "--json")
    first, second, undone, again = map(json.loads, called.out.splitlines())
    assert called.err.count("nothing was asked yet") == 2
    assert second["understood"] == "What is Australia's population?"
    assert "understood" not in undone
    assert again["answer"] == first["answer"]
    with Bot.open(home) as bot:
        turns = bot.store.turns(first["conversation"])
        votes = [[(vote.vote, vote.comment) for vote in bot.store.feedback(turn.id)] for turn in turns]
        assert votes == [[], [], [("down", "I meant Canberra.")], []]
        assert turns[1].answer["ask"] == turns[2].answer["ask"] != turns[0].answer["ask"]
