"""Steps that are sections: which questions get all of them, and in which order."""

from __future__ import annotations

import pytest

from qa_bot.answering.tiling.step_sections import step_sections, tile_steps
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Passage, Signals

GUIDE = """# Dish washer

## Set up the machine

### Step 1: Unpack it

Cut the tape and lift the machine out of its box.

### Step 2: Connect the hose

Screw the hose to the cold tap.

### Step 3: Level it

Turn the feet until the bubble is in the middle.

## Return it

### Step 1: Call us

Ask for a number of the return.

### Step 3: Send it

Send it in its box.
"""
SET_UP = ["Step 1: Unpack it", "Step 2: Connect the hose", "Step 3: Level it"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("steps")
    (folder / "guide.md").write_text(GUIDE)
    home = Home.open(folder / "home")
    add(home, Config(), StaticEncoder.load(ENCODER), [folder / "guide.md"])
    generation = Generations(home.index).current()
    assert generation is not None
    return Index(generation)


def step(index: Index, heading: str) -> Passage:
    """The passage with this last heading."""
    passages = index.passages(list(range(50))).values()
    return next(passage for passage in passages if passage.place.heading[-1:] == (heading,))


@pytest.mark.parametrize(
    ("heading", "question", "expected"),
    [
        (SET_UP[0], "How do I set up the machine?", SET_UP),
        (SET_UP[2], "How do I set up the machine?", SET_UP),
        (SET_UP[1], "How do I connect the hose?", []),
        (SET_UP[1], "How do I do step 2 of the machine?", []),
        (SET_UP[1], "Where is the hose screwed to?", []),
        ("Step 1: Call us", "How do I return it?", []),  # there is no step 2
    ],
)
def test_a_question_for_all_steps_gets_them_in_order(
    index: Index, heading: str, question: str, expected: list[str]
) -> None:
    steps = step_sections(step(index, heading), index, question)
    assert [passage.place.heading[-1] for passage in steps] == expected


def test_steps_are_below_their_headings_and_whole(index: Index) -> None:
    best = Candidate(step(index, SET_UP[1]), 3.0, Signals())
    steps = step_sections(best.passage, index, "How do I set up the machine?")
    tiling = tile_steps(best, steps, limit=1000, sentences=sentences)
    assert tiling is not None
    assert tiling.text == (
        "**Step 1: Unpack it**\n\nCut the tape and lift the machine out of its box.\n\n"
        "**Step 2: Connect the hose**\n\nScrew the hose to the cold tap.\n\n"
        "**Step 3: Level it**\n\nTurn the feet until the bubble is in the middle."
    )
    (tile,) = tiling.tiles
    assert tile.candidate.passage.text[slice(*tile.source_span)] == tiling.text == tiling.text[slice(*tile.span)]
    shorter = tile_steps(best, steps, limit=170, sentences=sentences)
    assert shorter is not None
    assert shorter.text.endswith("cold tap.")
    assert tile_steps(best, steps, limit=90, sentences=sentences) is None, "one step is not the instructions"
