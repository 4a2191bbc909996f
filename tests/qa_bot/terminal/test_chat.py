import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_bot.bot import Bot

TEA = "Why do cats sleep all day?"


@pytest.fixture
def with_voices(monkeypatch: pytest.MonkeyPatch, tiny_voices: Path, home: Path) -> Path:
    """The home, with a cook and a sailor."""
    for name in ("cook", "sailor"):
        (home / "personas").mkdir(exist_ok=True)
        (home / "personas" / name).symlink_to(tiny_voices / name)
    monkeypatch.setenv("QA_BOT_STYLE__BASE", str(tiny_voices / "base"))
    monkeypatch.setenv("QA_BOT_STYLE__CANDIDATES", "20")
    return home


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Lines that somebody types."""

    def type_(*lines: str) -> None:
        waiting = iter(lines)

        def read(_prompt: str = "") -> str:
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", read)

    return type_


def test_a_question_a_line_in_one_conversation(qa_bot, home: Path, typed):
    typed(TEA, "", "Where do zorgons live on the moon of Quix?")
    result = qa_bot("chat", "--json")
    first, second = map(json.loads, result.out.splitlines())
    assert result.code == 0
    assert (first["question"], first["answered"]) == (TEA, True)
    assert not second["answered"]
    assert first["conversation"] == second["conversation"]
    assert "styled" not in first
    with Bot.open(home) as bot:
        (conversation,) = bot.store.conversations(limit=10)
        assert (conversation.id, conversation.turns) == (first["conversation"], 2)


def test_voices_and_hints_are_changed_on_the_way(qa_bot, with_voices, typed):
    typed("/persona sailor", TEA, "/hint soup", TEA, "/persona", TEA, "/persona ../x", "/nonsense", "/quit", TEA)
    result = qa_bot("chat", "--json")
    answers = [json.loads(line) for line in result.out.splitlines()]
    assert [answer.get("styled", {}).get("hint") for answer in answers] == ["", "soup", None]
    assert answers[0]["styled"]["persona"] == "sailor"
    for said in ("Answers come from sailor", "hint is 'soup'", "without a persona", "but got '../x'", "/nonsense"):
        assert said in result.err


def test_a_styled_answer_for_people(qa_bot, with_voices):
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
    result = qa_bot("chat", "--persona", "a/b")
    assert (result.code, "Expected one of the personas (" in result.err) == (1, True)


def test_a_debate_goes_on_by_turns(qa_bot, with_voices, typed):
    typed("", "Who sails?", "", "And the soup?", "/quit")
    result = qa_bot("chat", "--debate", "cook,sailor", "--turns", "3", "--json")
    said = [json.loads(line) for line in result.out.splitlines()]
    assert [line["persona"] for line in said] == ["cook", "sailor"] * 4 + ["cook"]
    assert {line["kind"] for line in said} <= {"generated", "quotation"}
    typed("Who sails?")
    read = qa_bot("chat", "--debate", "cook,sailor", "--turns", "2")
    assert read.out.count("cook: ") == read.out.count("sailor: ") == 1


def test_a_batch_in_a_voice(qa_bot, with_voices, write_lines, tmp_path: Path):
    source = write_lines("in.jsonl", {"_id": "1", "title": TEA}, {"_id": "2", "title": "zorgons of Quix?"})
    out = tmp_path / "out.jsonl"
    assert qa_bot("ask", "--batch", source, "--out", out, "--persona", "cook", "--top", 2).code == 0
    first, second = map(json.loads, out.read_text().splitlines())
    assert first["kind"] == "styled"
    assert len(first["styled"]["lines"]) <= 2
    assert (second["kind"], second["styled"]["span"]) == ("none", None)
    result = qa_bot("ask", "--batch", source, "--out", tmp_path / "other.jsonl", "--persona", "nobody")
    assert result.code == 1
    assert not (tmp_path / "other.jsonl").exists()


@pytest.mark.parametrize("value", ["0", "nan", "9", "hot"])
def test_a_temperature_out_of_range_is_told(qa_bot, with_voices, monkeypatch: pytest.MonkeyPatch, value: str):
    monkeypatch.setenv("QA_BOT_STYLE__TEMPERATURE", value)
    result = qa_bot("ask", TEA, "--persona", "cook")
    assert (result.code, "style.temperature" in result.err.lower()) == (1, True)


def test_where_a_hint_falls(qa_bot, with_voices, tmp_path: Path):
    result = qa_bot("hint", "soup", "--json", "--out", tmp_path / "map.png")
    assert result.code == 0
    assert result.json["hint"] == "soup"
    assert sum(result.json["posterior"]) == pytest.approx(1, abs=1e-4)
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    likeliest = max(range(12), key=result.json["posterior"].__getitem__)
    first = qa_bot("hint", "soup").out.splitlines()[0]
    assert f"row {likeliest // 4 + 1}, column {likeliest % 4 + 1}" in first
    unknown = qa_bot("hint", "xyzzy")
    assert (unknown.code, "xyzzy; it steers nothing" in " ".join(unknown.out.split())) == (3, True)


def test_a_rewrite_is_undone_and_votes_are_given_by_a_slash(qa_bot, home: Path, typed):
    asked = ("What is the capital of Australia?", "and its population?")
    typed("/raw", "/up", *asked, "/raw", "/down I meant Canberra.", asked[0])
    result = qa_bot("chat", "--json")
    first, second, undone, again = map(json.loads, result.out.splitlines())
    assert result.err.count("nothing was asked yet") == 2
    assert second["understood"] == "What is Australia's population?"
    assert "understood" not in undone
    assert again["answer"] == first["answer"]
    with Bot.open(home) as bot:
        turns = bot.store.turns(first["conversation"])
        votes = [[(item.vote, item.comment) for item in bot.store.feedback(turn.id)] for turn in turns]
        assert votes == [[], [], [("down", "I meant Canberra.")], []]
        assert turns[1].answer["ask"] == turns[2].answer["ask"] != turns[0].answer["ask"]
