"""Folders of small files, and what a home has of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import (
    list_sources,
)
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.store import Store

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
