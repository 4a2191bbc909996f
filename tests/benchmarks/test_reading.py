"""The questions for reading have their answers in their sections."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

FILE = Path(__file__).parents[2] / "benchmarks" / "reading" / "documents.jsonl.gz"


def test_each_answer_stands_in_its_section_and_near_questions_are_others() -> None:
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    answered = near = 0
    for document in documents:
        pairs = [
            (section["text"], answered_question)
            for section in document["sections"]
            for answered_question in section["answered"]
        ]
        seeming = [question for section in document["sections"] for question in section["near"]]
        assert [
            answered_question["question"]
            for text, answered_question in pairs
            if answered_question["answer"] not in text
        ] == []
        assert {answered_question["question"] for _, answered_question in pairs}.isdisjoint(seeming)
        answered, near = answered + len(pairs), near + len(seeming)
    assert (len(documents), answered, near) == (128, 5_904, 2_952)
