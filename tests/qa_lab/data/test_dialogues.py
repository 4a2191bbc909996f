import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_lab.data.dialogues import Dialogue, Exchange, exchanges, read_dialogues, split_dialogues
from qa_lab.errors import TrainingDataError


def test_each_turn_replies_to_those_before_it():
    dialogue = Dialogue(("a", "b", "c", "d"), ("e", "f"))
    assert list(dialogue.exchanges()) == [
        Exchange(("a",), "b"),
        Exchange(("a", "b"), "c"),
        Exchange(("b", "c"), "d"),
        Exchange(("c", "d"), "e"),
        Exchange(("c", "d"), "f"),
    ]
    assert list(Dialogue(("alone",)).exchanges()) == []


def test_the_formats(write_lines: Callable[..., Path], tmp_path: Path):
    turns = write_lines("turns.jsonl", {"topic": "cats", "turns": ["hi ", "hello", " "]})
    several = write_lines(
        "several.jsonl",
        {"context": ["hi"], "positive_responses": ["hello", "hey"], "random_negative_responses": ["soup"]},
    )
    text = tmp_path / "lines.txt.gz"
    text.write_bytes(gzip.compress(b"\n\nwhy?\n because \n\n\n\nwho\nme\nyou\n"))
    read = read_dialogues([turns, several, text])
    assert read.examples == (
        Dialogue(("hi", "hello")),
        Dialogue(("hi",), ("hello", "hey")),
        Dialogue(("why?", "because")),
        Dialogue(("who", "me", "you")),
    )
    assert [dialogue.reply for dialogue in exchanges(read.examples)] == ["hello", "hey", "because", "me", "you"]
    assert read.repeated == 1
    assert read.rejects == ()


def test_what_is_no_dialogue_is_rejected_with_its_place(tmp_path: Path):
    path = tmp_path / "some.jsonl"
    rows = [
        {"turns": ["hi", "hello"]},
        {"turns": "hi"},
        {"turns": ["hi", 3]},
        {"turns": [" "]},
        {"question": "why"},
        {"turns": ["who", "me"]},
    ]
    path.write_text("\n".join([*map(json.dumps, rows), "{", "[1]"]) + "\n")
    read = read_dialogues([path])
    assert len(read.examples) == 2
    reasons = {reject.where.rpartition(":")[2]: reject.reason for reject in read.rejects}
    assert reasons["2"] == "Expected a list of strings in the field turns, but got 'hi'; correct the line."
    assert reasons["3"].startswith("Expected a list of strings in the field turns, but got ['hi', 3]")
    assert reasons["4"] == "Expected texts in the field turns, but got none; add them or drop the line."
    assert reasons["5"] == "Expected turns, but got the fields question; add them."
    assert reasons["7"].startswith("Expected JSON, but got: ")
    assert reasons["8"] == "Expected a JSON object, but got [1]; correct the line."


def test_data_without_replies_is_refused(tmp_path: Path):
    monologue = tmp_path / "alone.txt"
    monologue.write_text("one\n\ntwo\n")
    with pytest.raises(TrainingDataError, match=r"Expected dialogues of two turns or more in .*alone.txt, but"):
        read_dialogues([monologue])


@given(st.lists(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=3), max_size=20))
def test_beginnings_of_one_dialogue_stay_together(dialogues):
    made = [Dialogue(tuple(turns)) for turns in dialogues]
    train, held = split_dialogues(made, 0.5)
    assert sorted(map(repr, [*train, *held])) == sorted(map(repr, made))
    assert not {dialogue.turns[0] for dialogue in train} & {dialogue.turns[0] for dialogue in held}
    assert split_dialogues(train, 0.5) == (train, [])


def test_about_the_share_is_held_out():
    made = [Dialogue((f"turn {number}", "reply")) for number in range(2_000)]
    train, held = split_dialogues(made, 0.1)
    assert 150 < len(held) < 250
    assert len(exchanges(train)) + len(exchanges(held)) == 2_000
