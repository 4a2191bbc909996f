"""The starter collection and its calibration questions: complete, unique, readable and consistent with each other."""

import json
from collections import Counter
from typing import Any

import pytest

from qa_bot.home.starter import FOLDER as STARTER

TOPICS = {
    "animals", "health", "cooking", "computing", "geography", "science", "weather", "household",
    "garden", "money", "language", "history", "sport", "travel", "qa-bot",
}  # fmt: skip


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (STARTER / name).read_bytes().decode("utf-8").splitlines()]


def plain(text: str) -> str:
    """Text without case, punctuation and extra spaces, to compare spellings."""
    return " ".join("".join(c if c.isalnum() else " " for c in text.casefold()).split())


@pytest.fixture(scope="module")
def pairs() -> list[dict[str, Any]]:
    return rows("collection.jsonl")


@pytest.fixture(scope="module")
def questions() -> list[dict[str, Any]]:
    return rows("questions.jsonl")


def paraphrases(questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in questions if row["answer"] is not None]


@pytest.mark.parametrize("name", ["collection.jsonl", "questions.jsonl"])
def test_file_is_one_object_a_line(name: str) -> None:
    text = (STARTER / name).read_bytes().decode("utf-8")  # strict: a wrong byte fails here
    lines = text.split("\n")
    assert text.endswith("\n")
    assert "\ufeff" not in text
    assert "\ufffd" not in text
    assert "\r" not in text
    assert all(line.startswith("{") and line.endswith("}") for line in lines[:-1])


def test_collection_covers_every_topic(pairs: list[dict[str, Any]]) -> None:
    counts = Counter(pair["topic"] for pair in pairs)
    assert len(pairs) >= 180
    assert set(counts) == TOPICS
    assert min(counts.values()) >= 12


def test_pairs_are_four_clean_strings(pairs: list[dict[str, Any]]) -> None:
    for pair in pairs:
        assert list(pair) == ["id", "question", "answer", "topic"], pair
        assert all(isinstance(value, str) and value == value.strip() for value in pair.values()), pair
        assert not any("  " in value or "\n" in value for value in pair.values()), pair


def test_ids_are_unique_slugs_of_their_topic(pairs: list[dict[str, Any]]) -> None:
    ids = [pair["id"] for pair in pairs]
    assert len(set(ids)) == len(ids)
    for pair in pairs:
        assert pair["id"].startswith(pair["topic"] + "-"), pair["id"]
        assert all(part.isascii() and part.isalnum() and part.islower() for part in pair["id"].split("-") if part)
        assert "--" not in pair["id"]


def test_no_question_or_answer_repeats(pairs: list[dict[str, Any]]) -> None:
    for field in ("question", "answer"):
        counts = Counter(plain(pair[field]) for pair in pairs)
        assert [text for text, count in counts.items() if count > 1] == []


def test_questions_and_answers_are_whole_sentences(pairs: list[dict[str, Any]]) -> None:
    for pair in pairs:
        assert pair["question"].endswith("?"), pair["id"]
        assert pair["answer"].endswith("."), pair["id"]
        assert 150 <= len(pair["answer"]) <= 700, pair["id"]
        assert 2 <= pair["answer"].count(". ") + pair["answer"].count("! ") + 1 <= 6, pair["id"]


@pytest.mark.parametrize(
    ("question", "identifier", "words"),
    [
        ("Why do cats sleep all day?", "animals-cats-sleep", "12 to 16 hours"),
        ("How do I boil an egg?", "cooking-boil-egg", "seven to eight"),
        ("Why is the sky blue?", "science-sky-blue", "scatter"),
        ("What is the capital of Australia?", "geography-capital-australia", "Canberra"),
        ("How do I reset my router?", "computing-reset-router", "Reset"),
        ("What is photosynthesis?", "science-photosynthesis", "chlorophyll"),
        ("How much water should I drink a day?", "health-water-day", "litres"),
        ("How do I remove the starter collection from qa-bot?", "qa-bot-remove-starter", "--collection starter"),
    ],
)
def test_questions_of_a_first_run(pairs: list[dict[str, Any]], question: str, identifier: str, words: str) -> None:
    (row,) = [pair for pair in pairs if pair["question"] == question]
    assert row["id"] == identifier
    assert words in row["answer"]


def test_calibration_rows_have_a_known_shape(questions: list[dict[str, Any]]) -> None:
    for row in questions:
        assert isinstance(row["question"], str), row
        assert row["question"].strip(), row
        if row["answer"] is None:
            assert set(row) == {"question", "answer", "kind"}, row
            assert row["kind"] in {"off-topic", "near-miss", "nonsense"}, row
        else:
            assert set(row) == {"question", "answer"}, row


def test_calibration_counts(questions: list[dict[str, Any]]) -> None:
    kinds = Counter(row["kind"] for row in questions if row["answer"] is None)
    answered = paraphrases(questions)
    assert len(questions) >= 330
    assert len(answered) >= 150
    assert len({row["answer"] for row in answered}) >= 120
    assert kinds["off-topic"] >= 100
    assert kinds["near-miss"] >= 200
    assert kinds["nonsense"] >= 50


def test_every_referenced_pair_exists(pairs: list[dict[str, Any]], questions: list[dict[str, Any]]) -> None:
    assert {row["answer"] for row in paraphrases(questions)} <= {pair["id"] for pair in pairs}


def test_calibration_questions_are_not_the_collection_again(
    pairs: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> None:
    counts = Counter(row["question"] for row in questions)
    assert [question for question, count in counts.items() if count > 1] == []
    worded = Counter(plain(row["question"]) for row in questions if plain(row["question"]))
    assert [question for question, count in worded.items() if count > 1] == []
    assert worded.keys() & {plain(pair["question"]) for pair in pairs} == set()
