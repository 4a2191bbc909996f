"""Extraction from people's documents: all that the questions ask for is in passages with their headings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest.reading import read
from qa_bot.documents.ingest.records import Record, Reject
from qa_bot.home.sections import PassagesSection
from qa_lab.evaluate.workplace.grading import flat, holds_one, names
from qa_lab.evaluate.workplace.questions import read_questions

DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "workplace"


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs {DATA}: set QA_BOT_DATA to the folder of the data")
def test_every_gold_string_of_company_is_in_a_passage_with_its_headings() -> None:
    items = list(read(DATA / "company"))
    assert [item for item in items if isinstance(item, Reject)] == []
    settings = PassagesSection()
    passages: list[tuple[str, str]] = []
    for record in items:
        if isinstance(record, Record):
            document = cut_record(record, characters=settings.characters, overlap=settings.overlap)
            for passage in document.passages:
                above = " ".join((document.title, *passage.place.heading))
                passages.append((record.id, flat(f"{above} {passage.text}")))
    missing = [
        (question.id, group)
        for question in read_questions(DATA / "company.questions.jsonl")
        for group in question.gold
        if not any(
            holds_one(text, group)
            for document, text in passages
            if any(names(path, document) for path in question.documents)
        )
    ]
    assert missing == []
