"""Sides of a comparison: answers from files, and from configurations that answer questions."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.cli.batch import answer_all
from qa_bot.home.config import ConfigError
from qa_bot.learning.comparing.sides import ComparisonError, Reply, Side, folded, open_sides, read_answers, with_grades
from qa_core.types import Question

CATS = "Why do cats sleep all day?"
EGG = "How long should I boil an egg?"
QUESTIONS = [{"_id": "cats", "title": CATS}, {"_id": "egg", "title": EGG, "body": "A soft one."}]


def texts(side: Side) -> dict[str, str]:
    return {reply.question.id or reply.question.title: reply.text for reply in side.replies}


def test_files_of_people_and_of_the_bot(write_lines) -> None:
    path = write_lines(
        "a.jsonl",
        {
            "qid": "a",
            "id": "x1",
            "question": "Q?",
            "answered": True,
            "answer": " Yes. ",
            "sources": [{"document": "d"}],
        },
        {"qid": "b", "id": "x2", "question": "R?", "answered": False, "answer": "I would not say.", "sources": []},
        {"id": "x3", "question": "Alone?", "answered": True, "answer": "By its words.", "sources": []},
        {"_id": 4, "answer": "Only an id.", "grade": 3},
        {"question": "A pair?", "answers": ["The first.", "The second."]},
        {"_id": "page", "title": "A title", "text": "A text."},
        {"_id": "silent", "answer": ""},
    )
    side = read_answers(path, "people")
    assert side.wrong == ()
    assert texts(side) == {
        "a": "Yes.",
        "b": "",
        "Alone?": "By its words.",
        "4": "Only an id.",
        "A pair?": "The first.",
        "page": "A text.",
        "silent": "",
    }
    assert [reply.document for reply in side.replies][:2] == ["d", ""]
    assert [reply.grade for reply in side.replies] == [None, None, None, 3, None, None, None]


def test_bad_lines_are_reported_and_good_ones_read(write_lines) -> None:
    path = write_lines(
        "a.jsonl",
        {"_id": "a", "answer": "Yes."},
        "{",
        "[1]",
        {"qid": None, "error": "in.jsonl:3: broken"},
        {"answer": "to what?"},
        {"_id": "b"},
        {"_id": "c", "answer": 7},
        {"_id": "d", "answer": "Yes.", "grade": 4},
        {"_id": "e", "answer": "Yes.", "grade": True},
        {"_id": "a", "answer": "Again."},
        {"_id": "z", "answer": "The last."},
    )
    side = read_answers(path, "a")
    assert texts(side) == {"a": "Yes.", "z": "The last."}
    assert [line.partition(": ")[0] for line in side.wrong] == [f"{path}:{number}" for number in range(2, 11)]
    result = "\n".join(side.wrong)
    for words in (
        "Expected a JSON object, but got: ",
        "Expected a JSON object, but got list.",
        "the error 'in.jsonl:3: broken'",
        'Expected {"_id" or "qid" or "question", "answer"}',
        'Expected an "answer", but got none',
        "Expected a text for 'answer', but got int.",
        "Expected a grade from 0 (bad) to 3 (excellent), but got 4.",
        "but got True.",
        "Expected one answer to a question, but got another",
    ):
        assert words in result


def test_compressed_damaged_and_very_long_input(tmp_path: Path) -> None:
    good = json.dumps({"_id": "a", "answer": "Yes."}).encode()
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(good))
    assert texts(read_answers(tmp_path / "a.jsonl.gz", "a")) == {"a": "Yes."}
    long = json.dumps({"_id": "b", "answer": "x" * (1 << 20)}).encode()
    (tmp_path / "long.jsonl").write_bytes(long + b"\n" + good.replace(b"Yes", rb"Y\u001b[31m" + b"\xff"))
    side = read_answers(tmp_path / "long.jsonl", "long")
    assert texts(side) == {"a": "Y[31m�."}
    assert "Expected at most 1,048,576 bytes in a line" in side.wrong[0]
    assert "1 invalid UTF-8 bytes replaced" in side.wrong[1]
    for content in (b"", b"\x00\x01\x02" * 1000, b"[]\n" * 3):
        (tmp_path / "bad.jsonl").write_bytes(content)
        with pytest.raises(ComparisonError, match=r"Expected answers in .*bad.jsonl, but got none"):
            read_answers(tmp_path / "bad.jsonl", "bad")


def test_two_configurations_answer_the_questions(home: Path, write_lines, tmp_path: Path) -> None:
    (tmp_path / "short.toml").write_text("[answer]\nlimit = 120\n")
    questions = write_lines("in.jsonl", *QUESTIONS, "{")
    a, b = open_sides(Path("home"), tmp_path / "short.toml", home=home, questions=questions)
    assert (a.name, b.name) == ("home", "short.toml")
    with Bot.open(home, record=False) as bot:
        assert texts(a) == {"cats": bot.ask(CATS).text, "egg": bot.ask(Question(EGG, "A soft one.")).text}
    assert all(0 < len(text) <= 120 for text in texts(b).values())
    assert {reply.document for reply in (*a.replies, *b.replies)} >= {"animals-cats-sleep", "cooking-boil-egg"}
    assert a.wrong == (f"{questions}:3: Expected a JSON object, but got: {a.wrong[0].partition('got: ')[2]}",)
    with Bot.open(home) as bot:
        assert bot.store.conversations() == []
    limited = open_sides(Path("home"), tmp_path / "short.toml", home=home, questions=questions, limit=1)
    assert [len(side.replies) for side in limited] == [1, 1]


def test_a_configuration_answers_the_questions_of_the_other_side(home: Path, write_lines, tmp_path: Path) -> None:
    out = tmp_path / "before.jsonl"
    with Bot.open(home, record=False) as bot:
        answer_all(bot, write_lines("in.jsonl", *QUESTIONS), out)
    a, b = open_sides(out, Path("home"), home=home)
    assert texts(a) == {**texts(b), "egg": texts(a)["egg"]}
    assert [reply.question.title for reply in b.replies] == [CATS, EGG]
    people = write_lines("people.jsonl", {"question": "why do CATS sleep all day", "answer": "They are lazy."})
    a, b = open_sides(home, people, questions=write_lines("in.jsonl", *QUESTIONS))
    assert (len(a.replies), texts(b)) == (2, {"cats": "They are lazy."})


def test_invalid_sides_are_refused(home: Path, write_lines, tmp_path: Path) -> None:
    people = write_lines("people.jsonl", {"_id": "a", "answer": "Yes."})
    with pytest.raises(ComparisonError, match=r"but there is no .*nothing"):
        open_sides(people, tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ComparisonError, match=r"it has neither index nor qa-bot.toml"):
        open_sides(people, tmp_path / "empty")
    with pytest.raises(ComparisonError, match="Expected questions for two configurations"):
        open_sides(home, Path("home"), home=home)
    with pytest.raises(ComparisonError, match=r"but got only ids \(such as 'a'\)"):
        open_sides(people, home)
    with pytest.raises(ComparisonError, match=r"Expected questions in .*none.jsonl, but got none"):
        open_sides(home, Path("home"), home=home, questions=write_lines("none.jsonl", "{"))
    (tmp_path / "wrong.toml").write_text("[answer]\nlimt = 120\n")
    with pytest.raises(ConfigError, match=r"wrong.toml:2; the nearest is answer.limit"):
        open_sides(home, tmp_path / "wrong.toml", home=home, questions=write_lines("in.jsonl", *QUESTIONS))


def test_grades_of_the_first_documents() -> None:
    replies = tuple(Reply(Question("?", id=str(n)), "Yes.", document) for n, document in enumerate("abc"))
    qrels = {"0": {"a": 2, "b": 1}, "1": {"b": -2}, "2": {"a": 3}}
    assert [reply.grade for reply in with_grades(Side("s", replies), qrels).replies] == [2, 0, None]


def test_spellings_of_a_question() -> None:
    assert folded(Question("Why do  CATS sleep?")) == folded(Question("why do cats sleep"))
    assert folded(Question("", "Only a body.")) == "only a body"
    assert folded(Question("???")) == "???"
