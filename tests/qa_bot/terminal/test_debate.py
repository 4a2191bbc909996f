"""Debates between personas: order, history, hints, and refusals."""

from itertools import islice
from pathlib import Path

import pytest

from qa_bot.answering.models.personas import PersonaError, PersonaLines, PersonaStore
from qa_bot.home.sections import StyleSection
from qa_bot.terminal.debate import debate, debaters
from qa_core.types import StyledLine


class Echo(PersonaStore):
    """Each persona repeats the last line with its initial, or says nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__(Path("nowhere"), StyleSection())
        self.calls, self.silent = [], silent

    def say(self, spec, turns, n, *, hints=(), refuse=lambda _: "", check=lambda: None) -> PersonaLines:
        self.calls.append((spec, tuple(turns), tuple(hints)))
        texts = [] if self.silent else [turns[-1], f"{turns[-1]} {spec[0]}"]
        return PersonaLines(tuple(StyledLine(text, "generated", spec, 0.0) for text in texts))


def test_personas_take_turns_and_hear_each_other():
    voices = Echo()
    lines = list(islice(debate(voices, ["anna", "ben"], ["Peace"]), 3))
    assert [line.persona for line in lines] == ["anna", "ben", "anna"]
    assert [line.text for line in lines] == [
        "Peace a",
        "Peace a b",
        "Peace a b a",
    ]  # the unchanged last line is skipped
    assert [turns for _, turns, _ in voices.calls] == [("Peace",), ("Peace", "Peace a"), ("Peace a", "Peace a b")]
    assert {hints for _, _, hints in voices.calls} == {("Peace",)}


def test_hint_applies_to_all():
    voices = Echo()
    list(islice(debate(voices, ["anna", "ben"], ["Peace", "War"], hint="ships"), 2))
    assert {hints for _, _, hints in voices.calls} == {("ships",)}


def test_silence_ends_the_debate():
    assert list(debate(Echo(silent=True), ["anna", "ben"], ["Peace"])) == []


def test_a_debate_needs_two_different_personas(tiny_voices: Path):
    voices = PersonaStore(tiny_voices, StyleSection())
    assert debaters(voices, "cook, sailor") == ("cook", "sailor")
    with pytest.raises(PersonaError, match="two personas or more"):
        debaters(voices, "cook")
    with pytest.raises(PersonaError, match="Expected one of the personas"):
        debaters(voices, "cook,nobody")
    with pytest.raises(PersonaError, match="Expected each persona once"):
        debaters(voices, "cook,cook")
