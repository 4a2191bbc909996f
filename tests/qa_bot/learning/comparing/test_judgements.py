"""Files of judgements: lines are appended, files are merged, and invalid lines are reported."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.learning.comparing.blind import PREFERENCES, Preference, order_of
from qa_bot.learning.comparing.comparison import Comparison, Pair
from qa_bot.learning.comparing.judgements import append, check_judge, judge_pair, read_judgements
from qa_bot.learning.comparing.sides import ComparisonError

PAIRS = (Pair("q1", "One?", "", "a", "b"), Pair("q2", "Two?", "", "a", "b"), Pair("same", "Same?", "", "a", "a"))
MADE = Comparison("n", "left", "right", 1, PAIRS)


def row(judge: str = "ann", qid: str = "q1", choice: str = "A", **fields: object) -> dict[str, object]:
    return {"judge": judge, "qid": qid, "order": "AB", "choice": choice, **fields}


def counted(*files: Path) -> dict[str, dict[str, str]]:
    matches = read_judgements(MADE, files).by_question
    return {qid: {judge: item.choice for judge, item in judges.items()} for qid, judges in matches.items()}


@given(
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=60),
    st.sampled_from(PREFERENCES),
    st.sampled_from([(None, None), (0, 3), (2, None)]),
    st.floats(0, 1e6),
)
def test_a_saved_judgement_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, judge: str, preference: Preference, grades, seconds: float
) -> None:
    file = tmp_path_factory.mktemp("judged") / "j.jsonl"
    judgement = judge_pair(MADE, PAIRS[0], judge, preference, grades=grades, seconds=seconds)
    append(file, judgement)
    judged = read_judgements(MADE, [file])
    assert (judged.by_question, judged.wrong) == ({"q1": {judge: judgement}}, ())
    first = "A" if order_of(1, judge, "q1") == "AB" else "B"
    assert judgement.order == ("AB" if first == "A" else "BA")
    assert judgement.choice == {"first": first, "second": "AB".replace(first, ""), "tie": "tie"}[preference]
    assert judgement.grade.get(first) == grades[0]


def test_lines_are_only_added(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "j.jsonl"
    for preference in PREFERENCES:
        append(file, judge_pair(MADE, PAIRS[0], "ann", preference))
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(lines) == 3
    assert list(lines[0]) == ["judge", "qid", "order", "choice", "grade", "seconds", "at", "pair"]
    assert counted(file) == {"q1": {"ann": "tie"}}


def test_a_truncated_line_is_lost_alone(tmp_path: Path) -> None:
    file = tmp_path / "j.jsonl"
    append(file, judge_pair(MADE, PAIRS[0], "ann", "tie"))
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:20])
    append(file, judge_pair(MADE, PAIRS[1], "ann", "tie"))
    judged = read_judgements(MADE, [file])
    assert judged.done("ann") == {"q1", "q2"}
    assert [line.partition(": ")[0] for line in judged.wrong] == [f"{file}:2"]


def test_concurrent_judges_lose_nothing(tmp_path: Path) -> None:
    pairs = tuple(Pair(f"q{n}", "?", "", "a", "b") for n in range(40))
    made = Comparison("n", "a", "b", 0, pairs)
    file = tmp_path / "j.jsonl"

    def work(judge: str) -> None:
        for pair in pairs:
            append(file, judge_pair(made, pair, judge, "tie"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, ("ann", "ben", "cem", "dua")))
    judged = read_judgements(made, [file])
    assert (judged.judges, judged.wrong) == (dict.fromkeys(("ann", "ben", "cem", "dua"), 40), ())


def test_the_latest_judgement_counts_over_all_files(write_lines, tmp_path: Path) -> None:
    one = write_lines("one.jsonl", row(choice="A", at=30.0), row("ben", choice="tie", at=10.0))
    other = write_lines("other.jsonl", row(choice="B", at=20.0), row("ben", choice="B"), row("ben", "q2", "A"))
    for files in ((one, other), (other, one)):
        assert counted(*files, tmp_path / "none.jsonl") == {"q1": {"ann": "A", "ben": "tie"}, "q2": {"ben": "A"}}
    assert read_judgements(MADE, [one, other]).judges == {"ann": 1, "ben": 2}


def test_judgements_of_other_pairs_do_not_count(write_lines) -> None:
    file = write_lines(
        "j.jsonl",
        row(pair=PAIRS[0].key),
        row("ben", pair=Pair("q1", "One?", "", "a", "changed").key),
        row(qid="q9"),
        row(qid="same"),
    )
    judged = read_judgements(MADE, [file])
    assert counted(file) == {"q1": {"ann": "A"}}
    assert (judged.other_questions, judged.other_answers) == (2, 1)


def test_malformed_lines_are_reported_with_file_and_line(write_lines) -> None:
    bad = (
        "{",
        "[]",
        "null",
        {"judge": "ann"},
        row(choice="C"),
        row(judge=" ann"),
        row(judge=""),
        row(judge="x" * 65),
        row(judge="a\x1b[31m"),
        row(qid=3),
        row(grade={"A": 4}),
        row(grade={"C": 1}),
        row(seconds=-1),
        '{"judge": "ann", "qid": "q1", "order": "AB", "choice": "A", "at": NaN}',
    )
    file = write_lines("j.jsonl", row(), *bad, "", row("ben", "q2", "tie", note="kept"))
    judged = read_judgements(MADE, [file])
    assert counted(file) == {"q1": {"ann": "A"}, "q2": {"ben": "tie"}}
    assert [line.partition(": ")[0] for line in judged.wrong] == [f"{file}:{n}" for n in range(2, 2 + len(bad))]
    assert all('Expected {"judge", "qid", "order", "choice"}, but got: ' in line for line in judged.wrong)


@given(st.binary(max_size=300))
def test_any_bytes_between_valid_lines(tmp_path_factory: pytest.TempPathFactory, junk: bytes) -> None:
    file = tmp_path_factory.mktemp("judged") / "j.jsonl"
    file.write_bytes(json.dumps(row()).encode() + b"\n" + junk)
    append(file, judge_pair(MADE, PAIRS[1], "ben", "tie"))
    assert counted(file) == {"q1": {"ann": "A"}, "q2": {"ben": "tie"}}


def test_a_very_long_line_is_left_out(write_lines) -> None:
    file = write_lines("j.jsonl", row(), "x" * 300_000, row("ben"))
    judged = read_judgements(MADE, [file])
    assert counted(file) == {"q1": {"ann": "A", "ben": "A"}}
    assert "Expected at most 131,072 bytes in a line" in judged.wrong[0]


def test_names_of_judges() -> None:
    for name in ("ann", "Ann-Marie O'Neil", "李", "judge 2"):
        check_judge(name)
    for name in ("", " ", " ann", "ann ", "a\nb", "x" * 65):
        with pytest.raises(ComparisonError, match="Expected a judge's name"):
            check_judge(name)
