"""The questions for reading have their answers in their sections."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "reading"
TRAINING, HELD_OUT = "documents.jsonl.gz", "held_out.jsonl.gz"


def _documents(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize("name", [TRAINING, HELD_OUT])
def test_each_answer_stands_in_its_section_and_near_questions_are_others(name: str) -> None:
    for document in _documents(name):
        pairs = [
            (section["text"], answered_question)
            for section in document["sections"]
            for answered_question in section["answered"]
        ]
        seeming = [question for section in document["sections"] for question in section["near"]]
        assert [
            answered_question["question"]
            for text, answered_question in pairs
            if not answered_question["answer"].strip() or answered_question["answer"] not in text
        ] == []
        questions = [answered_question["question"] for _, answered_question in pairs] + seeming
        assert [question for question in questions if not question.strip()] == []
        assert len(set(questions)) == len(questions)


@pytest.mark.parametrize(
    ("name", "languages", "sections", "kinds", "near"),
    [
        (TRAINING, {"en": 322, "de": 168}, 3_572, {"yesno": 2_817, "table": 755}, 10_716),
        (HELD_OUT, {"en": 8, "de": 8}, 112, {"yesno": 84, "table": 28}, 336),
    ],
)
def test_files_have_the_numbers_of_their_readme(
    name: str, languages: dict[str, int], sections: int, kinds: dict[str, int], near: int
) -> None:
    documents = _documents(name)
    parts = [section for document in documents for section in document["sections"]]
    assert Counter(document["language"] for document in documents) == languages
    assert len(parts) == sections
    assert Counter(answered_question["kind"] for section in parts for answered_question in section["answered"]) == {
        "plain": sections,
        "para": 2 * sections,
        "situation": sections,
        "short": sections,
        **kinds,
    }
    assert sum(len(section["near"]) for section in parts) == near


def test_no_document_is_there_twice_or_in_both_files() -> None:
    documents = [*_documents(TRAINING), *_documents(HELD_OUT)]
    assert len({document["title"] for document in documents}) == len(documents)
    texts = [section["text"] for document in documents for section in document["sections"]]
    assert len(set(texts)) == len(texts)
