"""The events of a finished answer."""

from __future__ import annotations

import pytest

from qa_bot.answering.events import Event, SourcesFound, TextAdded, announce


@pytest.mark.parametrize("text", ["One. Two!  Three?\n\nOpinion 2: four.", " leading", "no end", "x"])
def test_sources_come_before_the_pieces_of_the_text(text: str) -> None:
    events: list[Event] = []
    announce((), text, events.append)
    assert events[0] == SourcesFound(())
    assert "".join(event.text for event in events[1:] if isinstance(event, TextAdded)) == text
    assert len(events) > 1


def test_an_answer_without_text_has_only_sources() -> None:
    events: list[Event] = []
    announce((), "", events.append)
    assert events == [SourcesFound(())]
