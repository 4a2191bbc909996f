"""Groups of a question with passages, from lines in the formats of the sources."""

import gzip
import json
import random
import zlib
from pathlib import Path
from typing import Any

import pytest

from qa_bot.documents.ingest import Record
from qa_lab.fit.relevance import groups as module
from qa_lab.fit.relevance.groups import (
    NEAR,
    READING,
    Group,
    covid_groups,
    medquad_groups,
    read_groups,
    reading_groups,
    squad_groups,
)
from qa_lab.fit.starter_pairs import Example

FILLER = "The rest of this section says nothing of use to anyone who might read it today."
ANIMALS = ("cats", "dogs", "birds", "fish", "mice", "frogs", "bees")


def document(title: str = "Zoo") -> dict[str, Any]:
    """Seven sections, of which each answers a question and seems to answer another."""
    return {
        "language": "en",
        "title": title,
        "sections": [
            {
                "heading": animal.title(),
                "text": f"We feed {animal} at {number}. {FILLER}",
                "answered": [
                    {"question": f"When are {animal} fed?", "answer": f"We feed {animal} at {number}.", "kind": "plain"}
                ],
                "near": [f"What do {animal} cost?"],
            }
            for number, animal in enumerate(ANIMALS)
        ],
    }


def _section(passage: str) -> str:
    return passage.partition(". ")[0]


def drawn(count: int = 1, **changes: Any) -> list[Group]:
    return [*reading_groups([document() | changes] * count, random.Random(1))]


def test_an_answered_question_has_its_section_first_and_four_others() -> None:
    answered = [group for group in drawn() if group.source == READING]
    assert [group.question for group in answered] == [f"When are {animal} fed?" for animal in ANIMALS]
    for group, animal in zip(answered, ANIMALS, strict=True):
        assert group.is_right == (True, False, False, False, False)
        assert f"We feed {animal}" in group.passages[0]
        assert not any(f"We feed {animal}" in passage for passage in group.passages[1:])
        assert all("Zoo › " in passage for passage in group.passages)


def test_sometimes_a_wrong_passage_is_the_section_without_its_answer_and_sometimes_the_title_is_missing() -> None:
    answered = [group for group in drawn(40) if group.source == READING]
    cut = [group for group in answered if _section(group.passages[1]) == _section(group.passages[0])]
    assert 0.25 < len(cut) / len(answered) < 0.45
    assert all(FILLER in group.passages[1] and "feed" not in group.passages[1] for group in cut)
    assert not any(group.is_right[1] for group in cut)
    assert all(len(group.passages) == 5 for group in answered)
    assert 0.7 < sum("Zoo" in group.passages[0] for group in answered) / len(answered) < 0.95


def test_a_row_of_a_table_is_never_cut_out() -> None:
    changed = document()
    for section in changed["sections"]:
        section["text"] = f"| a | b |\n|---|---|\n| c | {section['heading']} |\n\n{FILLER}"
        section["answered"][0]["answer"] = f"| c | {section['heading']} |"
    answered = [group for group in drawn(20, sections=changed["sections"]) if group.source == READING]
    assert all(passage.count(" | ") == 2 for group in answered for passage in group.passages)


def test_a_near_question_has_wrong_passages_only_and_its_section_first() -> None:
    near = [group for group in drawn() if group.source == NEAR]
    assert [group.question for group in near] == [f"What do {animal} cost?" for animal in ANIMALS]
    for group, animal in zip(near, ANIMALS, strict=True):
        assert group.is_right == (False, False, False)
        assert f"We feed {animal}" in group.passages[0]


def test_a_title_decides_whether_its_document_is_held_out() -> None:
    titles = [f"Zoo {number}" for number in range(40)]
    for title in titles:
        assert {group.held_out for group in drawn(title=title)} == {zlib.crc32(title.encode()) % 12 == 0}
    assert any(zlib.crc32(title.encode()) % 12 == 0 for title in titles)


def squad_rows() -> list[dict[str, Any]]:
    return [
        {"question": f"what is w{i:02} ?", "answer": f"w{i:02} is a word .", "split": "dev" if i < 20 else "test"}
        for i in range(40)
    ]


def test_squad_uses_one_half_and_wrong_passages_lack_the_sentence_that_answers() -> None:
    groups = [*squad_groups(squad_rows(), random.Random(0))]
    assert [group.question for group in groups] == [f"what is w{i:02}?" for i in range(20)]
    for i, group in enumerate(groups):
        assert f"w{i:02} is a word." in group.passages[0]
        assert group.is_right == (True, False, False, False, False)
        assert not any(f"w{i:02}" in passage for passage in group.passages[1:])
        assert not any(f"w{j}" in passage for passage in group.passages for j in range(20, 40))


def test_medquad_takes_other_answers_of_the_file_and_leaves_known_items_out(monkeypatch: pytest.MonkeyPatch) -> None:
    titles = ("What is (are) Gout ?", "Who has it ?", "How is Gout treated ?")
    records = [Record(f"a#{i}", title, f"{title} text {i}") for i, title in enumerate(titles)]
    records.append(Record("b#0", "What is (are) Flu ?", "alone"))
    monkeypatch.setattr(module, "known_items", lambda _: frozenset({"a#1"}))
    groups = {group.question: group for group in medquad_groups(records, random.Random(2))}
    assert set(groups) == {"What is Gout?", "How is Gout treated?"}
    right, *wrong = groups["What is Gout?"].passages
    assert right.endswith("text 0")
    assert "What is" not in right
    assert sorted(passage[-6:] for passage in wrong) == ["text 1", "text 2"]
    some = [medquad_groups(records, random.Random(seed))[0].passages[0] for seed in range(20)]
    assert {passage.startswith("Gout. ") for passage in some} == {True, False}


def test_covid_answers_are_compared_in_their_language() -> None:
    examples = [Example(f"q{i}", f"answer {i}") for i in range(5)]
    examples += [Example(f"Frage {i}", f"das ist Antwort {i}") for i in range(3)]
    groups = [*covid_groups(examples, random.Random(0))]
    assert [len(group.passages) for group in groups] == [4] * 5 + [3] * 3
    assert [group.language for group in groups] == ["en"] * 5 + ["de"] * 3
    assert all(passage.startswith("das ist") for group in groups[5:] for passage in group.passages)


def write_sources(data: Path, reading: Path, documents: list[dict[str, Any]]) -> None:
    """A few lines of all sources but MedQuAD."""
    (data / "qa_pairs").mkdir(parents=True)
    squad = "\n".join(map(json.dumps, squad_rows()))
    (data / "qa_pairs/squad_sentences.jsonl.gz").write_bytes(gzip.compress(squad.encode()))
    (data / "qa_pairs/covid_faq.tsv").write_text("question\tanswer\tlang\nWas?\tDas.\tde\nWer?\tDie.\tde\n")
    reading.write_text("\n".join(map(json.dumps, documents)) + "\n\n")


def test_all_sources_are_read_and_documents_for_reading_twice_unless_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_out = next(f"Zoo {i}" for i in range(99) if zlib.crc32(f"Zoo {i}".encode()) % 12 == 0)
    write_sources(tmp_path / "data", tmp_path / "documents.jsonl", [document(), document(held_out)])
    monkeypatch.setattr(module, "read", lambda *_, **__: [Record(f"a#{i}", f"q{i} ?", f"text {i}") for i in range(2)])
    monkeypatch.setattr(module, "known_items", lambda _: frozenset())
    groups = read_groups(tmp_path / "data", tmp_path / "documents.jsonl", seed=1)
    counts = {source: sum(group.source == source for group in groups) for source in {g.source for g in groups}}
    assert counts == {READING: 21, NEAR: 21, "squad": 20, "medquad": 2, "covid": 2}
    assert sum(group.held_out for group in groups) == 14
    assert groups == read_groups(tmp_path / "data", tmp_path / "documents.jsonl", seed=1)
    assert groups != read_groups(tmp_path / "data", tmp_path / "documents.jsonl", seed=2)
