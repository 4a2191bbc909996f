"""Rewrites over hand-written dialogues find the documents that manual rewrites find."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_bot.bot import Bot
from qa_bot.conversation.followups.rewriter import Rewriter
from qa_bot.home.starter import FOLDER
from qa_lab.evaluate.followups.dialogues import Dialogue, read_dialogues
from qa_lab.evaluate.followups.fitting import token_f1
from qa_lab.evaluate.followups.history_entry import answered_history
from qa_lab.evaluate.followups.rewrite import RewriteResult, converse, searching

FILE = Path(__file__).parent / "dialogues.jsonl"
PARTS = ("dev", "kept")
FLOORS = {"dev": 0.92, "kept": 0.92}
"""Least share of relevant documents found, among those that manual rewrites find."""
NEAR = {"dev": 0.84, "kept": 0.78}
"""Least token-F1 over MedQuAD, without answers in the history; the raw turns have .69 and .72."""


def dialogues(home: str, part: str = "") -> list[Dialogue]:
    return read_dialogues(FILE, part=part)[f"{FILE.name} {home}"]


@pytest.fixture(scope="module")
def bot(starter_home: Path) -> Iterator[Bot]:
    with Bot.open(starter_home, record=False) as opened:
        yield opened


@pytest.fixture(scope="module", params=[pytest.param("dev", marks=pytest.mark.slow), "kept"])
def part(request: pytest.FixtureRequest) -> str:
    """Answering a part for the history takes four seconds."""
    return str(request.param)


@pytest.fixture(scope="module")
def results(bot: Bot, part: str) -> list[RewriteResult]:
    remember = answered_history(bot)
    return [result for dialogue in dialogues("starter", part) for result in converse(Rewriter(), dialogue, remember)]


def test_there_are_enough_dialogues_of_each_kind() -> None:
    for home in ("starter", "medquad"):
        halves = [dialogues(home, part) for part in PARTS]
        assert min(map(len, halves)) >= 18
        assert all(2 <= len(dialogue.turns) <= 5 for half in halves for dialogue in half)


def test_self_contained_turns_are_marked() -> None:
    for line in FILE.read_text(encoding="utf-8").splitlines():
        assert all(turn["alone"] == (turn["raw"] == turn["manual"]) for turn in json.loads(line)["turns"])


def test_relevant_documents_are_in_the_starter_collection() -> None:
    lines = (FOLDER / "collection.jsonl").read_text(encoding="utf-8").splitlines()
    relevant = {id_ for dialogue in dialogues("starter") for turn in dialogue.turns for id_ in turn.relevant}
    assert relevant <= {json.loads(line)["id"] for line in lines}


def test_rewrites_find_what_manual_rewrites_find(bot: Bot, results: list[RewriteResult], part: str) -> None:
    search = searching(bot)
    manual = [result for result in results if {*result.turn.relevant} & {*search(result.turn.manual)}]
    with_rewrite = [result for result in manual if {*result.turn.relevant} & {*search(result.rewritten.text)}]
    with_raw_turn = [result for result in manual if {*result.turn.relevant} & {*search(result.turn.raw)}]
    assert len(with_rewrite) / len(manual) >= FLOORS[part]
    assert len(with_rewrite) > len(with_raw_turn)


def test_self_contained_turns_are_not_changed(results: list[RewriteResult]) -> None:
    changed = [
        (result.turn.raw, result.rewritten.text)
        for result in results
        if result.turn.stands_alone and result.rewritten.changed
    ]
    assert changed == []


@pytest.mark.parametrize("part", PARTS)
def test_rewrites_over_medquad_are_close_to_manual_rewrites(part: str) -> None:
    results = [result for dialogue in dialogues("medquad", part) for result in converse(Rewriter(), dialogue)]
    rewritten = [token_f1(result.rewritten.text, result.turn.manual) for result in results]
    raw = [token_f1(result.turn.raw, result.turn.manual) for result in results]
    assert sum(rewritten) / len(rewritten) >= NEAR[part]
    assert sum(rewritten) > sum(raw)
