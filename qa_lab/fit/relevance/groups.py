"""Questions with a passage that answers and wrong ones that seem to; every source may be shipped from.

TrecQA states no licence and WikiQA is for research, so that neither is a source.

Wrong passages are other sections of the document, answers of the same file or sentences nearby, those with most words
of the question first. A right passage without the sentence that answers is a wrong one, too. The groups of near
questions have wrong passages only. Documents for reading are those of `benchmarks/reading`.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from qa_bot.documents.ingest import Record, read
from qa_lab.fit.relevance.windows import below_title, drawn_window, likeliest_sentence, without_answer, words_of
from qa_lab.fit.starter_pairs import OPENING, Example, covid, known_items, read_lines, untokenised

PASSAGES = 5
"""Of a group, at most."""
MOST_MEDQUAD = 5000
"""Groups of MedQuAD, at most."""
READING, NEAR = "reading", "near"
_HELD_OUT = 12  # one document for reading of so many is held out
_TITLED = 0.8  # share of documents for reading whose passages have the title
_CUT_OUT = 0.35  # share of questions with the passage without the sentence that answers
_NEARBY = 40  # sentences before and after the right one from which wrong ones are chosen
_QUESTION = ("What is (are) ", " ?")
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|kann)\b")


@dataclass(frozen=True, slots=True)
class Group:
    """A question and passages, the right one among them first; `language` is en or de."""

    question: str
    language: str
    source: str
    passages: tuple[str, ...]
    is_right: tuple[bool, ...]
    held_out: bool = False


def read_groups(data: Path, reading: Path, *, seed: int) -> list[Group]:
    """The groups of all sources in random order; those of documents for reading twice, with different windows.

    Args:
        data: folder with qa_pairs/ and medquad/.
        reading: documents for reading, JSON Lines, perhaps compressed.
    """
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    with _opened(reading) as lines:
        documents = [json.loads(line) for line in lines if line.strip()]
    again = (group for group in reading_groups(documents, rng) if not group.held_out)
    groups = [
        *reading_groups(documents, rng),
        *again,
        *squad_groups(read_lines(data / "qa_pairs/squad_sentences.jsonl.gz"), rng),
        *medquad_groups(read(data / "medquad/medquad.zip", format="medquad"), rng),
        *covid_groups(covid(data / "qa_pairs/covid_faq.tsv"), rng),
    ]
    groups = [group for group in groups if all(group.passages)]
    rng.shuffle(groups)
    return groups


# --- documents for reading -------------------------------------------------------------------------------------------


def reading_groups(documents: Iterable[dict[str, Any]], rng: random.Random) -> Iterator[Group]:
    """The answered and the near questions of the sections."""
    for document in documents:
        held_out = zlib.crc32(document["title"].encode()) % _HELD_OUT == 0
        sections = _Sections.of(document, rng)
        for number, section in enumerate(document["sections"]):
            for pair in section["answered"]:
                right, *wrong = sections.answered(pair["question"], pair["answer"], number)
                yield _group(pair["question"], READING, right, wrong, document["language"], held_out=held_out)
            for question in section["near"]:
                passages = tuple(sections.near(question, number))
                is_right = (False,) * len(passages)
                yield Group(question, document["language"], NEAR, passages, is_right, held_out)


@dataclass(frozen=True, slots=True)
class _Sections:
    """Headings and texts of a document; the title may be empty."""

    title: str
    sections: Sequence[tuple[str, str]]
    words: Sequence[frozenset[str]]
    rng: random.Random

    @classmethod
    def of(cls, document: dict[str, Any], rng: random.Random) -> _Sections:
        sections = [(section["heading"], section["text"]) for section in document["sections"]]
        title = document["title"] if rng.random() < _TITLED else ""
        return cls(title, sections, [words_of(" ".join(section)) for section in sections], rng)

    def answered(self, question: str, answer: str, number: int) -> Iterator[str]:
        """A window around the answer, perhaps one without it, and windows of other sections."""
        heading, text = self.sections[number]
        start = text.find(answer)
        span = (start, start + len(answer)) if start >= 0 else likeliest_sentence(question, text, self.rng)
        yield below_title(self.title, heading, drawn_window(text, span, self.rng))
        others = PASSAGES - 1
        is_row = "|" in answer
        if start >= 0 and not is_row and self.rng.random() < _CUT_OUT and (rest := without_answer(text, span)):
            yield self._likeliest(question, heading, rest)
            others -= 1
        for other in self._others(question, number)[:others]:
            yield self._likeliest(question, *self.sections[other])

    def near(self, question: str, number: int) -> Iterator[str]:
        """Windows of the section that only seems to answer, and of two others."""
        for place in (number, *self._others(question, number)[:2]):
            yield self._likeliest(question, *self.sections[place])

    def _likeliest(self, question: str, heading: str, text: str) -> str:
        lead = likeliest_sentence(question, text, self.rng)
        return below_title(self.title, heading, drawn_window(text, lead, self.rng))

    def _others(self, question: str, number: int) -> list[int]:
        others = [place for place in range(len(self.sections)) if place != number]
        return _most_shared_first(question, others, self.words, self.rng)


# --- other sources ---------------------------------------------------------------------------------------------------


def squad_groups(rows: Sequence[dict[str, Any]], rng: random.Random) -> Iterator[Group]:
    """Sentences of the half `dev` with neighbours of their article, and others nearby."""
    rows = [row for row in rows if row["split"] == "dev"]
    place = {answer: i for i, answer in enumerate(dict.fromkeys(row["answer"] for row in rows))}
    texts = [untokenised(answer) for answer in place]
    words = [words_of(text) for text in texts]

    def joined(first: int, end: int, *, but: int | None = None) -> str:
        return " ".join(texts[i] for i in range(max(0, first), min(len(texts), end)) if i != but)

    for row in rows:
        i, question = place[row["answer"]], untokenised(row["question"])
        first, end = max(0, i - rng.choice((0, 1, 1, 2))), min(len(texts), i + 1 + rng.choice((0, 1, 1, 2)))
        wrong = [joined(first, end, but=i)] if end - first > 1 and rng.random() < 0.4 else []
        nearby = [j for j in range(max(0, i - _NEARBY), min(len(texts), i + _NEARBY)) if not first <= j < end]
        for j in _most_shared_first(question, nearby, words, rng)[: PASSAGES - 1 - len(wrong)]:
            wrong.append(joined(j - rng.choice((0, 1)), j + 1 + rng.choice((0, 1)), but=i))
        yield _group(question, "squad", joined(first, end), wrong)


def medquad_groups(records: Any, rng: random.Random) -> list[Group]:
    """Beginnings of answers, and of up to three others of the file; more than half below the name of the disease."""
    files: dict[str, list[Record]] = {}
    for record in records:
        if isinstance(record, Record):
            files.setdefault(record.id.partition("#")[0], []).append(record)
    kept_aside = known_items([record for members in files.values() for record in members])
    groups = []
    for members in files.values():
        disease = _disease(members[0].title) if rng.random() < 0.6 else ""
        texts = [OPENING.sub("", record.text, count=1) for record in members]
        for record, text in zip(members, texts, strict=True):
            others = [other for other in texts if other.strip() and other != text]
            if record.id in kept_aside or not text.strip() or not others:
                continue
            right, *wrong = (
                below_title(disease, "", drawn_window(passage, None, rng))
                for passage in (text, *rng.sample(others, min(3, len(others))))
            )
            question = record.title.replace(" ?", "?").replace("is (are)", "is")
            groups.append(_group(question, "medquad", right, wrong))
    rng.shuffle(groups)
    return groups[:MOST_MEDQUAD]


def covid_groups(examples: Sequence[Example], rng: random.Random, *, drawn: int = 60) -> Iterator[Group]:
    """Answers in English and German, and of some drawn ones in the same language the three with most common words."""
    languages = {text: "de" if _GERMAN.search(text) else "en" for _, text, *_ in examples}
    for example in examples:
        language = languages[example.passage]
        others = [
            other.passage
            for other in rng.sample(examples, min(drawn, len(examples)))
            if other.question != example.question
            and other.passage != example.passage
            and languages[other.passage] == language
        ]
        words = [words_of(text) for text in others]
        ranked = _most_shared_first(example.question, range(len(others)), words, rng)
        yield _group(example.question, "covid", example.passage, [others[i] for i in ranked[:3]], language)


# --- parts -----------------------------------------------------------------------------------------------------------


def _group(
    question: str, source: str, right: str, wrong: Sequence[str], language: str = "en", *, held_out: bool = False
) -> Group:
    return Group(question, language, source, (right, *wrong), (True, *(False for _ in wrong)), held_out)


def _most_shared_first(
    question: str, places: Iterable[int], words: Sequence[frozenset[str]], rng: random.Random
) -> list[int]:
    """Places by the number of words that they share with the question, equal ones in random order."""
    of_question = words_of(question)
    return sorted(places, key=lambda place: (-len(of_question & words[place]), rng.random()))


def _disease(title: str) -> str:
    """The name in the first question of a file of MedQuAD; empty for another question."""
    before, after = _QUESTION
    is_definition = title.startswith(before) and title.endswith(after)
    return title.removeprefix(before).removesuffix(after) if is_definition else ""


def _opened(path: Path) -> TextIO:
    return gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
