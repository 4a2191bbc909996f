import json
from collections.abc import Callable
from pathlib import Path

import pytest

from qa_lab.evaluate.followups.dialogues import DialogueError
from qa_lab.evaluate.followups.rewrite import evaluate_rewrite, exact_match
from qa_lab.evaluate.report import as_json

TURNS = [
    ("What is asthma?", "What is asthma?"),
    ("Is it contagious?", "Is asthma contagious?"),
    ("How do airplanes fly?", "How do airplanes fly?"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    turns = [
        {"number": at, "raw_utterance": raw, "manual_rewritten_utterance": manual}
        for at, (raw, manual) in enumerate(TURNS, start=1)
    ]
    path = tmp_path / "topics.json"
    path.write_text(json.dumps([{"number": 1, "turn": turns}, {"number": 2, "turn": turns}]), encoding="utf-8")
    return path


def test_rewrites_are_measured_beside_what_was_typed(data: Path) -> None:
    typed, rewritten = (row.as_dict() for row in evaluate_rewrite(data))
    assert (typed["engine"], typed["queries"]) == ("as typed", 4)  # two topics, first turns left out
    assert typed["F1"] == pytest.approx((2 / 3 + 1) / 2)  # "is", "contagious" of three words; the other is the same
    assert (typed["exact"], typed["changed"]) == (0.5, 0.0)
    assert (rewritten["F1"], rewritten["exact"], rewritten["changed"]) == (1.0, 1.0, 0.5)
    assert (rewritten["harm"], rewritten["shift"]) == (0.0, 0.0)
    assert rewritten["versus_first"]["difference"] == pytest.approx(1 / 6, abs=1e-6)


def test_one_topic_has_nothing_to_shift_from(data: Path) -> None:
    payload = as_json(evaluate_rewrite(data, limit=2))
    assert payload["models"][1]["shift"] is None
    assert payload["models"][1]["queries"] == 2


def test_a_limit_counts_follow_ups(data: Path) -> None:
    assert [evaluate_rewrite(data, limit=limit)[0].queries for limit in (1, 3, 9)] == [1, 3, 4]


def test_held_out_measures_every_turn_once(data: Path) -> None:
    _, rewritten = evaluate_rewrite(data, folds=2)
    assert (rewritten.split, rewritten.queries) == ("held out", 4)


def test_exact_knows_no_case() -> None:
    assert (exact_match("Is Tea hot", "is tea HOT?"), exact_match("hot tea", "tea hot")) == (1.0, 0.0)


def test_no_conversations_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(DialogueError):
        evaluate_rewrite(tmp_path)


DIALOGUE = {
    "id": "cats",
    "home": "starter",
    "part": "dev",
    "turns": [
        {"raw": "my cat naps all day", "manual": "my cat naps all day", "wanted": ["animals-cats-sleep"]},
        {"raw": "why does she purr?", "manual": "why does my cat purr?", "wanted": ["animals-cats-purr"]},
        {
            "raw": "How do airplanes fly?",
            "manual": "How do airplanes fly?",
            "wanted": ["nowhere-at-all", "animals-birds-fly"],
        },
    ],
}


def test_dialogues_are_searched_for_what_they_want(write_lines: Callable[..., Path], starter_home: Path) -> None:
    data = write_lines("dialogues.jsonl", DIALOGUE, {**DIALOGUE, "id": "kept", "part": "kept"})
    typed, rewritten, manual = (row.as_dict() for row in evaluate_rewrite(data, part="dev", home=starter_home))
    assert [row["engine"] for row in (typed, rewritten, manual)] == ["as typed", "rewritten", "manual"]
    assert {row["query"] for row in (typed, rewritten, manual)} == {"starter"}
    assert (rewritten["queries"], rewritten["F1"], rewritten["harm"]) == (2, 1.0, 0.0)
    assert rewritten["R@10"] == manual["R@10"] == (1 + 1 / 2) / 2  # of two wanted documents one is not in the home
    assert rewritten["Success@10"] == 1.0
    assert rewritten["versus_first"]["measure"] == "R@10"


def test_what_no_home_holds_is_compared_by_words(write_lines: Callable[..., Path], starter_home: Path) -> None:
    turns = [{**turn, "wanted": ["elsewhere#1"]} for turn in DIALOGUE["turns"]]  # type: ignore[dict-item]
    data = write_lines("dialogues.jsonl", {**DIALOGUE, "turns": turns})
    rows = evaluate_rewrite(data, home=starter_home)
    assert not any("R@10" in row.scores for row in rows)
    assert rows[1].measure == "F1"


def test_the_default_home_has_the_starter_collection(write_lines: Callable[..., Path]) -> None:
    _, rewritten, _ = evaluate_rewrite(write_lines("dialogues.jsonl", DIALOGUE))
    assert rewritten.scores["Success@10"].mean == 1.0
