"""Folders of small files, and what a home has of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from qa_bot.answering.answer_json import as_dict
from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import (
    list_sources,
)
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store import Store
from qa_bot.transfer.judgements import queries_path, write_qrels
from qa_core.types import Answer, AnswerSource

CONFIG = Config()


TEXTS = {"rust.md": "Rub rust off with vinegar.", "sub/tea.txt": "Tea should steep for three minutes."}


Add = Callable[..., AddReport]


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def stored(home: Home) -> dict[str, str]:
    """Id → text of the documents."""
    with Store.open(home.store_url(CONFIG)) as store:
        documents = list(store.stream_documents())
    assert len({document.external_id for document in documents}) == len(documents)
    return {document.external_id: " ".join(p.text for p in document.passages) for document in documents}


def names(home: Home) -> list[str]:
    return [info.source.name for info in list_sources(home, CONFIG)]


def vote_on(home: Home, document: str, collection: str = "default", *, question: str = "How?") -> None:
    """Record an up vote on an answer from a document."""
    source = AnswerSource("1", document, collection, "", "", 1.0, "Tea.", (0, 4), (0, 4))
    answer = Answer(question, "Tea.", "passage", True, 1.0, "", (source,), {}, ())
    with Store.open(home.store_url(CONFIG)) as store:
        turn = store.save_turn(question=question, answer=as_dict(answer), conversation="talk")
        store.save_feedback(turn, "up")


def judged(home: Home, path: Path) -> list[str]:
    """Documents of the judgements by votes."""
    with Store.open(home.store_url(CONFIG)) as store:
        write_qrels(store, path, force=True)
    return [line.split()[2] for line in path.read_text().splitlines()]


def judged_questions(home: Home, path: Path) -> list[tuple[str, str]]:
    """Questions and documents of the judgements by votes."""
    judgements = judged(home, path)
    lines = [json.loads(line) for line in queries_path(path).read_text().splitlines()]
    questions = {line["_id"]: line["text"] for line in lines}
    qids = [line.split()[0] for line in path.read_text().splitlines()]
    return [(questions[qid], document) for qid, document in zip(qids, judgements, strict=True)]
