"""Leads: the sentences, items and steps that answer."""

from __future__ import annotations

import numpy as np
import pytest

from qa_bot.answering.tiling.leads.lead import lead_of
from qa_core.types import Clue, Passage, Place, Source

TEXT = "Cats are animals. They sleep for sixteen hours. At night they hunt. Mice fear them."
UNITS = [(0, 17), (18, 47), (48, 67), (68, 83)]


def passage(text: str = TEXT, *, kind: str = "prose", name: str = "cats") -> Passage:
    return Passage(f"{name}#0", text, Clue(), Source(name), Place(kind=kind))


@pytest.mark.parametrize(
    ("scores", "width", "expected"),
    [
        ([0.1, 0.1, 0.9, 0.2], 19, "At night they hunt."),
        ([0.7, 0.8, 0.9, 0.2], 49, "They sleep for sixteen hours. At night they hunt."),  # the better neighbour
        ([0.1, 0.6, 0.9, 0.2], 49, "At night they hunt. Mice fear them."),  # the one before scores too low
        ([0.1, 0.6, 0.9, 0.2], 19, "At night they hunt."),
        ([0.1, 0.9, 0.2, 0.1], 50, "Cats are animals. They sleep for sixteen hours."),  # “They” refers back
        ([0.1, 0.9, 0.2, 0.1], 30, "They sleep for sixteen hours."),
        ([0.1, 0.1, 0.1, 0.9], 10, "Mice fear them."),  # a unit is never cut
        ([0.9, 0.1, 0.2, 0.1], 300, "Cats are animals. They sleep for sixteen hours. At night they hunt."),
    ],
)
def test_the_best_unit_grows_towards_its_better_neighbour(scores: list[float], width: int, expected: str) -> None:
    lead = lead_of(passage(), UNITS, np.array(scores, np.float32), width=width)
    assert lead is not None
    assert TEXT[slice(*lead)] == expected


def test_targets_of_links_take_no_room() -> None:
    text = f"See [cats](https://cats.org/{'a' * 90}). They purr."
    units = [(0, text.index(" They")), (text.index("They"), len(text))]
    assert lead_of(passage(text), units, np.array([0.9, 0.1], np.float32), width=22) == (0, len(text))
    assert lead_of(passage(text), units, np.array([0.9, 0.1], np.float32), width=21) == units[0]


@pytest.mark.parametrize(("before", "expected"), [(0.8, "| Duo | 9 |"), (0.86, "| Solo | 7 |\n| Duo | 9 |")])
def test_a_row_before_the_best_one_must_score_nearly_the_same(before: float, expected: str) -> None:
    text = "| Solo | 7 |\n| Duo | 9 |"
    lead = lead_of(passage(text), [(0, 12), (13, 24)], np.array([before, 1.0], np.float32))
    assert lead is not None
    assert text[slice(*lead)] == expected


def test_steps_are_given_from_the_first() -> None:
    steps = passage("1. Open.\n2. Push.\n3. Close.", kind="steps")
    assert lead_of(steps, [(0, 8), (9, 17), (18, 27)], np.array([0, 0, 1], np.float32), width=10) == (0, 27)
    assert lead_of(passage(), [], np.zeros(0, np.float32)) is None


def test_a_lead_in_a_numbered_list_begins_with_the_first_item() -> None:
    text = "Before it.\n1. Open.\n2. Push.\n3. Close."
    units = [(0, 10), (11, 19), (20, 28), (29, 38)]
    assert lead_of(passage(text), units, np.array([0, 0, 0, 1], np.float32), width=10) == (11, 38)
    assert lead_of(passage(text), units, np.array([1, 0, 0, 0], np.float32), width=10) == (0, 10)


def test_a_question_about_one_item_is_answered_by_it() -> None:
    text = "1. Dogs need leave.\n2. Cats do not.\n3. Birds sing."
    units, scores = [(0, 19), (20, 35), (36, 50)], np.array([0, 1, 0], np.float32)
    assert lead_of(passage(text, kind="steps"), units, scores, width=15, asks_for_steps=False) == (20, 35)
    assert lead_of(passage(text), units, scores, width=15, asks_for_steps=False) == (20, 35)


@pytest.mark.parametrize(("words", "is_topic", "first"), [(5, False, 0), (60, False, 1), (60, True, 0)])
def test_a_question_for_steps_is_answered_by_them_and_not_by_a_long_introduction(
    words: int, is_topic: bool, first: int
) -> None:
    introduction = "The iron is warm. " + "word " * words
    text = f"{introduction}\n\n1. Measure it.\n2. Save it."
    start = text.index("1.")
    units = [(0, len(introduction)), (start, start + 14), (start + 15, len(text))]
    scores = np.array([0.9, 0.5, 0.4], np.float32)
    lead = lead_of(passage(text, kind="steps"), units, scores, asks_for_steps=not is_topic, is_topic=is_topic)
    assert lead is not None
    assert lead[0] == units[first][0]
    assert lead[1] == (len(text) if first or words == 5 else units[0][1])
