"""A home with everything in it, its archive, and what to compare of two homes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from qa_bot.documents import graph
from qa_bot.home.config import Config, load_config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.journal import open_store
from qa_bot.home.store import Store
from qa_bot.transfer.importing import Imported, join
from qa_core.encoders.static_encoder import StaticEncoder

CATS = "Why do cats sleep all day?"


ZORGON = {"_id": "zorgon", "title": "Where do zorgons live?", "text": "Zorgons live under the moon of Quix."}


LONG = " ".join(f"Sentence {i} tells of the number {i * i}." for i in range(80)) + "\n\nAnd\nthe end."


FACTS = '<http://x/a> <http://x/p> _:b .\n_:b <http://www.w3.org/2000/01/rdf-schema#label> "line\\nend é"@en .\n'


def import_archive(home: Home, path: Path, encoder: StaticEncoder, **options: Any) -> Imported:
    return join(home, load_config(home.path), encoder, path, **options)


def documents(home: Home) -> list[tuple[object, ...]]:
    """All documents of a home, sorted: the fields that `add` compares, and the texts of their passages."""
    with Store.open(home.store_url(Config())) as store:
        rows = [
            (d.collection, d.external_id, d.title, d.body, d.url, d.hash, d.origin, [p.text for p in d.passages])
            for d in store.stream_documents()
        ]
    return sorted(rows)


def history(home: Home) -> dict[str, Any]:
    """All conversations, turns and votes."""
    with open_store(home, Config()) as store:
        return {
            "conversations": list(store.stream_conversations()),
            "turns": list(store.stream_turns()),
            "settled": store.settled_gaps(),
            "gaps": store.gaps(),
        }


def state(home: Home) -> tuple[object, ...]:
    """Numbers of the current generations, conversations, turns and votes."""
    return Generations(home.index).current_number(), Generations(home.graph).current_number(), history(home)


def triples(home: Home) -> list[tuple[str, ...]]:
    """All triples, sorted, with blank nodes unnamed."""
    return sorted(tuple("_:" if term.startswith("_:") else term for term in triple) for triple in raw_triples(home))


def raw_triples(home: Home) -> list[tuple[str, ...]]:
    with graph.open_graph(home) as held:
        return [triple for batch in graph.batches_of(held.triples) for triple in batch]


def manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[dict[str, bytes]], None]:
    def apply(members: dict[str, bytes]) -> None:
        manifest = json.loads(members["manifest.json"])
        change(manifest)
        members["manifest.json"] = json.dumps(manifest).encode()

    return apply
