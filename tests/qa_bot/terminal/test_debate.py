from itertools import islice
from pathlib import Path

import pytest

from qa_bot.answering.models.personas import PersonaError, PersonaLines, PersonaStore
from qa_bot.home.sections import StyleSection
from qa_bot.terminal.debate import debate, debaters
from qa_core.types import StyledLine


class Echo(PersonaStore):
    """Everybody repeats what was said last, with a mark of their own, or says nothing."""

    def __init__(self, *, silent: bool = False) -> None:
        super().__init__(Path("nowhere"), StyleSection())
        self.heard, self.silent = [], silent

    def say(self, spec, turns, n, *, hints=(), refuse=lambda _: "", check=lambda: None) -> PersonaLines:
        self.heard.append((spec, tuple(turns), tuple(hints)))
        texts = [] if self.silent else [turns[-1], f"{turns[-1]} {spec[0]}"]
        return PersonaLines(tuple(StyledLine(text, "generated", spec, 0.0) for text in texts))


def test_they_answer_in_turn_and_hear_each_other():
    voices = Echo()
    said = list(islice(debate(voices, ["anna", "ben"], ["Peace"]), 3))
    assert [line.persona for line in said] == ["anna", "ben", "anna"]
    assert [line.text for line in said] == ["Peace a", "Peace a b", "Peace a b a"]  # nobody repeats the last one
    assert [turns for _, turns, _ in voices.heard] == [("Peace",), ("Peace", "Peace a"), ("Peace a", "Peace a b")]
    assert {hints for _, _, hints in voices.heard} == {("Peace",)}


def test_a_hint_holds_for_all():
    voices = Echo()
    list(islice(debate(voices, ["anna", "ben"], ["Peace", "War"], hint="ships"), 2))
    assert {hints for _, _, hints in voices.heard} == {("ships",)}


def test_it_ends_where_nobody_has_anything_to_say():
    assert list(debate(Echo(silent=True), ["anna", "ben"], ["Peace"])) == []


def test_it_takes_two(tiny_voices: Path):
    voices = PersonaStore(tiny_voices, StyleSection())
    assert debaters(voices, "cook, sailor") == ("cook", "sailor")
    with pytest.raises(PersonaError, match="two personas or more"):
        debaters(voices, "cook")
    with pytest.raises(PersonaError, match="Expected one of the personas"):
        debaters(voices, "cook,nobody")
    with pytest.raises(PersonaError, match="Expected each persona once"):
        debaters(voices, "cook,cook")
