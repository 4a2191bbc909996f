"""`qa-bot compare` with scripted judges: blind order, resuming, merged votes, and the table of results."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qa_bot.home.folder import Home
from qa_bot.learning.comparing.blind import order_of
from qa_bot.learning.comparing.comparison import judgements_of, load, names

CATS = "Why do cats sleep all day?"
EGG = "How long should I boil an egg?"
QUESTIONS = 10


@pytest.fixture
def sides(write_lines) -> tuple[Path, Path]:
    """Two files of answers: `good …` in A, `bad …` in B, and the same for the last two questions."""
    rows = [{"_id": f"q{n}", "question": f"Question {n}?"} for n in range(QUESTIONS + 2)]
    answers = ([f"{word} {n}" if n < QUESTIONS else "the same" for n in range(len(rows))] for word in ("good", "bad"))
    one, other = ([{**row, "answer": text} for row, text in zip(rows, of, strict=True)] for of in answers)
    return write_lines("model-one.jsonl", *one), write_lines("model-two.jsonl", *other)


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets the standard input of the next command."""
    return lambda *lines: monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def votes(judge: str, prefers: str, *, seed: int = 0) -> list[str]:
    """Input of a judge whose preferences are `prefers`, one letter a question: A, B or t for a tie."""
    orders = (order_of(seed, judge, f"q{n}") for n in range(len(prefers)))
    return ["0" if side == "t" else str(1 + order.index(side)) for order, side in zip(orders, prefers, strict=True)]


def test_table_for_nine_of_ten_votes(qa_bot, sides, typed) -> None:
    typed(*votes("me", "AAAAAAAAAB"))
    called = qa_bot("compare", *sides)
    assert called.code == 0
    assert "A: model-one.jsonl   B: model-two.jsonl" in called.out
    assert "12 questions, 2 with identical answers, 1 judge" in called.out
    assert "A (model-one.jsonl) was preferred more often than B (model-two.jsonl): 9 questions to 1, p = .021." in (
        " ".join(called.out.split())
    )
    row = qa_bot("compare", "model-one-model-two", "--table", "--json").json["rows"][-1]
    expected = {"questions": 12, "judgements": 10, "prefer_a": 0.75, "tie": 0.166667, "prefer_b": 0.083333}
    assert expected.items() <= row.items()
    assert row["p"] == row["p_randomised"] == round(22 / 1024, 6)


def test_screen_does_not_reveal_the_side(qa_bot, sides, typed) -> None:
    typed("q")
    shown = qa_bot("compare", *sides, "--name", "blind").out
    before, _, _ = shown.partition("\nA: ")
    assert "model" not in before
    assert re.search(r"1 of 10\s+Question 0\?", before)
    for seed in range(12):
        typed("q")
        out = qa_bot("compare", *sides, "--name", f"seed-{seed}", "--seed", seed, "--judge", "ann").out
        first = "good" if order_of(seed, "ann", "q0") == "AB" else "bad"
        assert re.findall(r"(good|bad) 0", out)[0] == first


def test_judging_resumes_and_ends(qa_bot, sides, typed) -> None:
    typed_votes = votes("ann", "ABtABtABtA")
    typed(*typed_votes[:4], "q")
    first = qa_bot("compare", *sides, "--name", "n", "--judge", "ann", "--json")
    assert (first.json["judges"], first.json["waiting"]) == ({"ann": 4}, 6)
    assert "5 of 10" in first.err
    typed(*typed_votes[4:], "1", "1")
    second = qa_bot("compare", "n", "--judge", "ann", "--json")
    assert (second.json["judges"], second.json["waiting"]) == ({"ann": 10}, 0)
    assert "4 of 10 were judged by ann before" in second.err
    assert (second.json["rows"][-1]["won_a"], second.json["rows"][-1]["won_b"]) == (4, 3)
    typed("1", "2")
    assert qa_bot("compare", "n", "--judge", "ann", "--json").json == second.json
    assert len(judgements_of(Home(Path(qa_bot("status", "--json").json["home"])), "n").read_text().splitlines()) == 10


def test_votes_of_several_judges_are_merged(qa_bot, sides, typed, tmp_path) -> None:
    files = [tmp_path / f"{name}.jsonl" for name in ("ann", "ben", "cem")]
    for file, prefers in zip(files, ("AAAAAAAAAA", "AAAAAAAAAB", "ttttBBBBBB"), strict=True):
        typed(*votes(file.stem, prefers))
        assert qa_bot("compare", *sides, "--judge", file.stem, "--out", file).code == 0
    further = [option for file in files for option in ("--judgements", file)]
    payload = qa_bot("compare", "model-one-model-two", "--table", "--json", *further).json
    assert payload["judges"] == {"ann": 10, "ben": 10, "cem": 10}
    row = payload["rows"][-1]
    # majorities: A nine times, B once (A B B)
    assert (row["judgements"], row["won_a"], row["won_b"], row["p"]) == (30, 9, 1, round(22 / 1024, 6))
    # one of three labels differs everywhere: 10 · (9 − 5) / (3 − 1) = 20; there are 19 A, 7 B and 4 ties
    assert payload["alpha"] == pytest.approx(1 - 29 * 20 / (30**2 - 19**2 - 7**2 - 4**2), abs=1e-6)
    assert qa_bot("compare", "model-one-model-two", "--table", "--judgements", tmp_path / "none").code == 2


def test_table_has_a_row_for_each_grade(qa_bot, sides, typed, write_lines, tmp_path) -> None:
    typed(*(f"{vote} 3 3" for vote in votes("me", "AAAA")), *(f"{vote} 0 0" for vote in votes("me", "AAAAtt")[4:]))
    rows = qa_bot("compare", *sides, "--json").json["rows"]
    assert [(row["grade"], row["questions"], row["won_a"]) for row in rows] == [
        ("0 bad", 2, 0),
        ("3 excellent", 4, 4),
        ("ungraded", 2, 0),
        ("all", 8, 4),
    ]
    answers = [json.loads(line) for line in sides[0].read_text().splitlines()]
    sources = [{**answer, "sources": [{"document": f"d{n}"}]} for n, answer in enumerate(answers)]
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("q0\td0\t2\nq1\td1\t1\nq2\tother\t3\n")
    known = write_lines("with-sources.jsonl", *sources)
    payload = qa_bot("compare", known, sides[1], "--qrels", qrels, "--prepare", "--json").json
    assert [row["grade"] for row in payload["rows"]] == ["all"]  # identical answers have no grade
    typed(*votes("me", "AAA"))
    payload = qa_bot("compare", "with-sources-model-two", "--json").json
    assert [row["grade"] for row in payload["rows"]] == ["1 fair", "2 good", "ungraded", "all"]


def test_malformed_judgements_are_reported_and_skipped(qa_bot, sides, typed, home, tmp_path) -> None:
    typed(*votes("me", "AAAAA"))
    assert qa_bot("compare", *sides, "--name", "n").code == 0
    file = judgements_of(Home(home), "n")
    file.write_bytes(
        b"{broken\n" + file.read_bytes() + b'{"judge": "ben", "qid": "q1", "order": "AB", "choice": "C"}\n'
    )
    called = qa_bot("compare", "n", "--table", "--json")
    assert called.code == 0
    assert called.json["rows"][-1]["judgements"] == 5
    flat = called.err.replace("\n", "")
    assert f"{file.name}:1: Expected" in flat
    assert f"{file.name}:7: Expected" in flat


def test_configurations_are_compared(qa_bot, home, typed, write_lines, tmp_path) -> None:
    (tmp_path / "short.toml").write_text("[answer]\nlimit = 100\n")
    questions = write_lines("in.jsonl", {"_id": "cats", "title": CATS}, {"_id": "egg", "title": EGG})
    called = qa_bot("compare", "home", tmp_path / "short.toml", "--questions", questions, "--prepare")
    assert called.out.startswith("home-short: 2 questions to judge, 0 with identical answers")
    made = load(Home(home), "home-short")
    assert [len(pair.b) <= 100 < len(pair.a) for pair in made.pairs] == [True, True]
    typed("0", "0")
    assert qa_bot("compare", "home-short", "--json").json["rows"][-1]["tie"] == 1.0
    assert qa_bot("status", "--json").json["turns"] == 0
    people = write_lines("people.jsonl", {"question": CATS, "answer": "They dream."})
    typed("1")
    assert qa_bot("compare", "home", people, "--json").json["questions"] == 1
    assert names(Home(home)) == ["home-people", "home-short"]


def test_abstention_is_shown_as_no_answer(qa_bot, typed, write_lines) -> None:
    one = write_lines("one.jsonl", {"qid": "q", "question": "Q?", "answered": False, "answer": "", "sources": []})
    typed("0")
    assert "No answer." in qa_bot("compare", one, write_lines("two.jsonl", {"_id": "q", "answer": "Yes."})).out


def test_unpaired_questions_are_reported(qa_bot, sides, write_lines) -> None:
    few = write_lines("few.jsonl", {"_id": "q1", "answer": "Yes."}, {"_id": "other", "answer": "Yes."}, "{")
    called = qa_bot("compare", sides[0], few, "--prepare", "--json")
    assert (called.json["questions"], called.json["only_a"], called.json["only_b"]) == (1, 11, 1)
    assert "11 questions only model-one.jsonl has" in called.err
    assert "few.jsonl:3: Expected a JSON object" in called.err.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "Missing argument"),
        (("nobody",), 1, "Expected the name of a comparison (none yet), but got 'nobody'."),
        (("../../etc/passwd",), 1, "Expected a name of at most 64"),
        (("nobody", "--prepare"), 2, "Expected B beside A"),
        (("home", "nothing.jsonl"), 1, "but there is no nothing.jsonl."),
        (("home", "home"), 1, "add --questions FILE.jsonl."),
    ],
)
def test_wrong_usage(qa_bot, arguments, code, words) -> None:
    called = qa_bot("compare", *arguments)
    assert (called.code, called.out) == (code, "")
    assert words in " ".join(called.err.replace("│", " ").split())
    assert "Traceback" not in called.err


def test_judge_without_a_name_is_refused(qa_bot, sides) -> None:
    called = qa_bot("compare", *sides, "--judge", " ")
    assert (called.code, "Expected a judge's name" in called.err) == (1, True)


def test_changed_answers_under_the_same_name_are_refused(qa_bot, sides, write_lines) -> None:
    assert qa_bot("compare", *sides, "--prepare").code == 0
    assert qa_bot("compare", *sides, "--prepare").code == 0
    sides[1].write_text(sides[1].read_text().replace("bad 3", "worse 3"))
    called = qa_bot("compare", *sides, "--prepare")
    assert called.code == 1
    assert "1 of 12 are gone or differ (such as 'q3'); choose another name" in called.err


def test_judging_in_a_separate_process(sides, home) -> None:
    command = [sys.executable, "-m", "qa_bot", "--home", str(home), "compare", *map(str, sides), "--json"]
    stdin = "".join(f"{vote}\n" for vote in votes("me", "AAAAAAAAAB"))
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(done.stdout)["rows"][-1]["p"] == round(22 / 1024, 6)


def test_ctrl_c_keeps_earlier_judgements(qa_bot, sides, home, monkeypatch) -> None:
    lines = iter(["1", "0"])

    def interrupted(_: str) -> str:
        for line in lines:
            return line
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert qa_bot("compare", *sides, "--name", "n").code == 130
    assert len(judgements_of(Home(home), "n").read_text().splitlines()) == 2
