"""Checks the development collections: golds are in the documents as the product reads them, what is absent is absent.

    python benchmarks/collections/check.py [COLLECTION ...]      # prints one line a fault, else the counts

Besides the fields of `eval workplace`, a question without answer has `absent`: texts of which no document holds any.
The list is empty if documents hold every word of the question, but not what is asked: then only readers can check it.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from qa_bot.documents.ingest import read
from qa_bot.documents.ingest.records import Notice, Record
from qa_bot.home.starter import COLLECTION
from qa_lab.evaluate.workplace.grading import flat, holds, holds_one, names
from qa_lab.evaluate.workplace.questions import GradedQuestion, read_questions

ROOT = Path(__file__).parent
GRAPH = COLLECTION.parent / "graph"
STARTER = "everyday"
"""The collection without documents: it asks the starter collection and the starter graph."""
QUESTIONS, TRANSLATED, DIALOGUES = "questions.jsonl", "german.jsonl", "dialogues.jsonl"
FEWEST = 45
NO_ANSWER = "unanswerable"
"""The type of questions without gold; a `trap` may have one, because some documents correct it."""


def collections() -> list[str]:
    """Names of the collections, which are folders with questions."""
    return sorted(path.parent.name for path in ROOT.glob(f"*/{QUESTIONS}"))


def check(collection: str) -> Iterator[str]:
    """Faults of a collection, a line each."""
    documents = stored_documents(collection)
    for file in (QUESTIONS, TRANSLATED, DIALOGUES):
        path = ROOT / collection / file
        if not path.is_file():
            continue
        questions, absent = read_questions(path), absent_texts(path)
        if file == QUESTIONS and len(questions) < FEWEST:
            yield f"{collection}: Expected {FEWEST} questions, but got {len(questions)}; add some."
        titles = [question.turn.question.lower() for question in questions]
        for question in questions:
            if file == QUESTIONS and titles.count(question.turn.question.lower()) > 1:
                yield f"{collection}/{question.id}: Expected distinct questions, but this one is asked twice."
            faults = _of_answer(question, documents) if question.gold else _of_absence(question, documents, absent)
            yield from (f"{collection}/{question.id}: {fault}" for fault in faults)


def stored_documents(collection: str) -> dict[str, str]:
    """Document → its text as grading sees it; a file of the starter graph counts as a document.

    Raises:
        ValueError: if the product cannot read a document.
    """
    folder = COLLECTION if collection == STARTER else ROOT / collection / "documents"
    documents: dict[str, list[str]] = {}
    for item in read(folder):
        if isinstance(item, Notice):  # such as an encoding that was recognised
            continue
        if not isinstance(item, Record):
            raise ValueError(f"Expected only documents in {folder}, but got {item}; correct the file.")
        documents.setdefault(item.id, []).append(" ".join((item.title, item.body, plain(item.text))))
    if collection == STARTER:
        documents |= {path.name: [re.sub(r"[_:]", " ", path.read_text("utf-8"))] for path in GRAPH.glob("*.ttl")}
    return {name: flat(" ".join(texts)) for name, texts in documents.items()}


def plain(markdown: str) -> str:
    """Markdown without its escapes."""
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def absent_texts(path: Path) -> dict[str, list[str]]:
    """Question → texts of which no document may hold any."""
    texts: dict[str, list[str]] = {}
    for line in path.read_text("utf-8").splitlines():
        entry = json.loads(line)
        turns = {f"{entry['_id']}/{number}": turn for number, turn in enumerate(entry.get("turns", ()))}
        entries = {str(entry["_id"]): entry, **turns}
        texts |= {name: question["absent"] for name, question in entries.items() if "absent" in question}
    return texts


def _of_answer(question: GradedQuestion, documents: Mapping[str, str]) -> Iterator[str]:
    if question.type == NO_ANSWER:
        yield "Expected no gold, but got some; correct the type."
    named = {path: [text for name, text in documents.items() if names(path, name)] for path in question.documents}
    for path, matching in named.items():
        if not matching:
            yield f"Expected the document {path}, but no document has this name; correct it."
    texts = [text for matching in named.values() for text in matching]
    for group in question.gold:
        if not any(holds_one(text, group) for text in texts):
            yield f"Expected one of {list(group)} in {list(question.documents)}, but got none; correct the gold."
    for alternative in (alternative for group in question.gold for alternative in group):
        if not alternative.startswith("re:") and not any(holds(text, alternative) for text in documents.values()):
            yield f"Expected {alternative!r} in a document, but no document holds it; correct or remove it."


def _of_absence(
    question: GradedQuestion, documents: Mapping[str, str], absent: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    if question.documents:
        yield "Expected no documents for a question without answer; remove them."
    if question.id not in absent:
        yield "Expected `absent`, the texts that an answer would hold; add them, or an empty list if there are none."
    for text in absent.get(question.id, ()):
        for name in (name for name, document in documents.items() if holds(document, text)):
            yield f"Expected {text!r} in no document, but {name} holds it; is the question answered there?"


def main() -> int:
    chosen = sys.argv[1:] or collections()
    faults = [fault for collection in chosen for fault in check(collection)]
    counts = [f"{collection}: {len(read_questions(ROOT / collection / QUESTIONS))} questions" for collection in chosen]
    sys.stdout.write("".join(f"{line}\n" for line in (*faults, *counts)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
