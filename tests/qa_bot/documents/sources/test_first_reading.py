"""The first files are read ahead while an empty home is filled; what the home has then is the same."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest

from qa_bot.documents.first_fill import fill
from qa_bot.documents.ingest.records import Limits
from qa_bot.documents.read_ahead.ahead import ReadAhead
from qa_bot.documents.read_ahead.children import Answer
from qa_bot.documents.sources.first_reading import reading_first
from qa_bot.documents.sync import add
from qa_bot.home.folder import Home
from qa_core.encoders.static_encoder import StaticEncoder
from tests.qa_bot.documents.sources.folders import CONFIG, TEXTS, stored, write

Answers = list[Future[list[Answer]]]


def test_the_first_source_has_the_files_that_were_read_before_the_home_was_filled(
    empty_home: Home, encoder: StaticEncoder, docs: Path, read_there: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[bool] = []
    take = ReadAhead.take

    def noted(self: ReadAhead, *args: object) -> object:
        read = take(self, *args)  # type: ignore[arg-type]
        taken.append(read is not None)
        return read

    monkeypatch.setattr(ReadAhead, "take", noted)
    with reading_first(empty_home, CONFIG, [docs], format=None, limits=Limits()) as ahead:
        assert ahead is not None
        sent = len(read_there)
        fill(empty_home, CONFIG, lambda: encoder)
        add(empty_home, CONFIG, encoder, [docs], ahead=ahead)
    assert (taken, len(read_there)) == ([True, True], sent)
    assert {id_: text for id_, text in stored(empty_home).items() if id_ in TEXTS} == TEXTS


def test_files_that_differ_from_those_read_are_read_in_turn(
    empty_home: Home, encoder: StaticEncoder, docs: Path, read_there: Answers
) -> None:
    with reading_first(empty_home, CONFIG, [docs], format=None, limits=Limits()) as ahead:
        write(docs, {"a.md": "New.", "rust.md": "Use lemon."})
        add(empty_home, CONFIG, encoder, [docs], ahead=ahead)
    assert stored(empty_home) == {**TEXTS, "a.md": "New.", "rust.md": "Use lemon."}
    assert read_there


@pytest.mark.usefixtures("few_suffice")
def test_nothing_is_read_of_several_paths_or_of_none_there_or_for_a_home_with_documents(
    empty_home: Home, encoder: StaticEncoder, docs: Path
) -> None:
    def is_read(*paths: Path) -> bool:
        with reading_first(empty_home, CONFIG, paths, format=None, limits=Limits()) as ahead:
            return ahead is not None

    assert is_read(docs)
    assert not is_read(docs, docs / "sub")
    assert not is_read(docs / "none")
    add(empty_home, CONFIG, encoder, [docs])
    assert not is_read(docs)
