"""Questions with answering passages, from which the shipped transformer learns; every source may be shipped from.

A passage stands below its title as in the index: `title › heading. text`. SQuAD's sentences stand with a neighbour of
their article, MedQuAD's answers below the name of the disease (where the file says it), half of them without. The
questions that `qa-bot eval known-item` draws from MedQuAD are left out, and so is SQuAD's test half.
"""

from __future__ import annotations

import csv
import gzip
import json
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from qa_bot.documents.ingest import Record, read

MOST = {"squad": 9000, "medquad": 5000, "forum": 1400, "covid": 800}
"""Largest number of questions of a source."""
LONGEST_PASSAGE = 280
"""Characters, about 60 word pieces."""
_TREEBANK = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "``": '"', "''": '"'}
_DEFINITION = re.compile(r"What is \(are\) (.+?) \?")
OPENING = re.compile(r"\s*(Summary\s*:\s*)?((What|How|Is|Are|Who|Can)\b[^?.]{5,120}\?\s*)?")
"""The question again, above the answer."""
_KNOWN_ITEM_SEED, _KNOWN_ITEMS = 7, 1000


class Example(NamedTuple):
    """A question, the passage that answers it, and one of the same document that answers another question."""

    question: str
    passage: str
    near: str = ""
    source: str = ""


def read_examples(data: Path, *, seed: int) -> list[Example]:
    """The examples of all sources in random order, so that a beginning of the list is a sample of all."""
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    sources = {
        "squad": squad(read_lines(data / "qa_pairs/squad_sentences.jsonl.gz"), rng),
        "medquad": medquad(read(data / "medquad/medquad.zip", format="medquad"), rng),
        "forum": forum(read_lines(data / "qa_pairs/medical_forum.jsonl.gz")),
        "covid": covid(data / "qa_pairs/covid_faq.tsv"),
    }
    drawn: list[Example] = []
    for name, examples in sources.items():
        rng.shuffle(examples)
        drawn += [example._replace(source=name) for example in examples[: MOST[name]]]
    rng.shuffle(drawn)
    return drawn


def squad(rows: Sequence[dict[str, Any]], rng: random.Random) -> list[Example]:
    """Questions of the half `dev`; half of the passages hold a neighbouring sentence too."""
    rows = [row for row in rows if row["split"] == "dev"]
    sentences = list(dict.fromkeys(row["answer"] for row in rows))
    place = {sentence: i for i, sentence in enumerate(sentences)}
    passages = []
    for i in range(len(sentences)):
        others = [] if rng.random() < 0.5 else [max(0, min(len(sentences) - 1, i + rng.choice((-1, 1))))]
        passages.append(" ".join(untokenised(sentences[j]) for j in sorted({i, *others})))
    return [Example(untokenised(row["question"]), cut(passages[place[row["answer"]]])) for row in rows]


def medquad(records: Any, rng: random.Random) -> list[Example]:
    """A question, the beginning of its answer, and that of another answer of its file."""
    files: dict[str, list[Record]] = {}
    for record in records:
        if isinstance(record, Record):
            files.setdefault(record.id.partition("#")[0], []).append(record)
    kept_aside = known_items([record for members in files.values() for record in members])
    examples = []
    for members in files.values():
        name = _DEFINITION.match(members[0].title)
        title = f"{name[1]}. " if name and rng.random() < 0.5 else ""
        texts = [cut(title + OPENING.sub("", record.text, count=1)) for record in members]
        for i, record in enumerate(members):
            if record.id not in kept_aside and texts[i]:
                others = [text for text in texts if text and text != texts[i]]
                question = record.title.replace(" ?", "?").replace("is (are)", "is")
                examples.append(Example(question, texts[i], rng.choice(others) if others else ""))
    return examples


def known_items(records: Sequence[Record]) -> frozenset[str]:
    """Ids of the records whose titles `qa-bot eval known-item` asks with its own seed and number."""
    import numpy as np

    folded = [" ".join(record.title.casefold().split()) for record in records]
    counts: dict[str, int] = {}
    for title in folded:
        counts[title] = counts.get(title, 0) + 1
    unique = [record.id for record, title in zip(records, folded, strict=True) if title and counts[title] == 1]
    rng = np.random.default_rng(_KNOWN_ITEM_SEED)
    return frozenset(unique[i] for i in rng.choice(len(unique), size=min(_KNOWN_ITEMS, len(unique)), replace=False))


def forum(rows: Sequence[dict[str, Any]]) -> list[Example]:
    """The longest answer of each question."""
    answers: dict[str, str] = {}
    for row in rows:
        if len(row["answer"]) > len(answers.get(row["question"], "")):
            answers[row["question"]] = row["answer"]
    return [Example(" ".join(question.split()), cut(answer)) for question, answer in answers.items()]


def covid(path: Path) -> list[Example]:
    """Questions and answers in English and German."""
    csv.field_size_limit(1 << 24)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    return [
        Example(" ".join(row["question"].split()), cut(row["answer"]))
        for row in rows
        if row["lang"] in ("en", "de") and row["question"].strip() and row["answer"].strip()
    ]


def untokenised(text: str) -> str:
    """Treebank tokens as people write them: `-lrb- AFC -rrb-` is `(AFC)`."""
    text = " ".join(_TREEBANK.get(token, token) for token in text.split()).replace("--", "–")
    text = re.sub(r"([(\[]) ", r"\1", re.sub(r" ([)\],.;:?!%]|'s\b|n't\b|'\B)", r"\1", text))
    return re.sub(r'" ([^"]*) "', r'"\1"', text)


def cut(text: str) -> str:
    """The beginning of a text up to a word's end, without line breaks."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_PASSAGE else text[:LONGEST_PASSAGE].rpartition(" ")[0]


def texts_of(examples: Sequence[Example]) -> list[str]:
    """The distinct texts of the examples in the order of their first use."""
    return list(dict.fromkeys(text for example in examples for text in example[:3] if text))


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
