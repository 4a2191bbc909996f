"""Questions with answering passages, from lines in the formats of the sources."""

import random
from pathlib import Path

import numpy as np
import pytest

from qa_bot.documents.ingest import Record
from qa_lab.fit.starter_pairs import (
    LONGEST_PASSAGE,
    Example,
    covid,
    cut,
    forum,
    known_items,
    medquad,
    squad,
    texts_of,
    untokenised,
)
from qa_lab.fit.teacher_vectors import SHARD, encoded


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        ("the cup -lrb- blue -rrb- , he said .", "the cup (blue), he said."),
        ("ann 's `` tea '' is n't hot", "ann's \"tea\" isn't hot"),
        ("24 -- 10", "24 – 10"),
    ],
)
def test_treebank_tokens_become_text(tokens: str, text: str) -> None:
    assert untokenised(tokens) == text


def test_squad_uses_one_half_and_adds_a_neighbour_to_some_sentences() -> None:
    rows = [{"question": f"q{i} ?", "answer": f"s{i} .", "split": "dev" if i < 20 else "test"} for i in range(40)]
    examples = squad(rows, random.Random(0))
    assert [example.question for example in examples] == [f"q{i}?" for i in range(20)]
    assert all(f"s{i}." in example.passage for i, example in enumerate(examples))
    assert {len(example.passage.split()) for example in examples} == {1, 2}


def records(*titles: str) -> list[Record]:
    return [Record(f"file#{i}", title, f"text {i}") for i, title in enumerate(titles)]


def test_medquad_pairs_with_another_answer_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_lab.fit.starter_pairs.known_items", lambda _: frozenset({"file#1"}))
    examples = medquad(records("What is (are) Gout ?", "Who has it ?", "How is Gout treated ?"), random.Random(0))
    assert [example.question for example in examples] == ["What is Gout?", "How is Gout treated?"]
    assert all(example.near and example.near != example.passage for example in examples)
    assert all(example.passage.endswith(f"text {i}") for example, i in zip(examples, (0, 2), strict=True))


def test_an_answer_that_is_only_its_question_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qa_lab.fit.starter_pairs.known_items", lambda _: frozenset())
    assert medquad([Record("a#1", "What is (are) Gout ?", "What is gout exactly?")], random.Random(0)) == []


def test_known_items_have_titles_of_their_own() -> None:
    assert known_items(records("A ?", "B ?", "a  ?")) == {"file#1"}


def test_forum_takes_the_longest_answer() -> None:
    rows = [{"question": " is it \n so? ", "answer": answer} for answer in ("no", "yes it is", "so")]
    assert forum(rows) == [Example("is it so?", "yes it is")]


def test_covid_reads_english_and_german(tmp_path: Path) -> None:
    path = tmp_path / "faq.tsv"
    lines = ["question\tanswer\tlang", "Was?\tDas.\tde", "What?\tThis.\ten", "Quoi?\tÇa.\tfr", "Empty?\t \ten"]
    path.write_text("\n".join(lines), encoding="utf-8")
    assert covid(path) == [Example("Was?", "Das."), Example("What?", "This.")]


def test_passages_end_with_a_word() -> None:
    text = cut("word " * 200)
    assert len(text) <= LONGEST_PASSAGE
    assert text.endswith("word")


def test_texts_are_distinct_and_in_order() -> None:
    assert texts_of([Example("q", "p", "n"), Example("r", "p")]) == ["q", "p", "n", "r"]


def test_the_teacher_reads_each_text_once(tmp_path: Path) -> None:
    calls: list[int] = []

    def teacher(texts: list[str]) -> np.ndarray:
        calls.append(len(texts))
        return np.array([[float(text), 1.0] for text in texts], dtype=np.float32)

    texts = [str(i) for i in range(SHARD + 10)]
    first = encoded(teacher, texts[:-5], tmp_path, lambda _: None)
    assert first[:, 0].tolist() == list(range(SHARD + 5))
    assert encoded(teacher, texts[:-7], tmp_path, lambda _: None)[:, 0].tolist() == list(range(SHARD + 3))
    assert calls == [SHARD, 5]
    assert encoded(teacher, texts, tmp_path, lambda _: None).shape == (SHARD + 10, 2)
    assert calls == [SHARD, 5, 10]
