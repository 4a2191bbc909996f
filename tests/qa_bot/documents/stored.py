"""A small home, and what its store and index hold."""

from __future__ import annotations

from qa_bot.documents.reject_log import AddReport
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generation, Generations
from qa_bot.home.index import Index, Manifest
from qa_bot.home.store import Store
from qa_core.encoders.static_encoder import StaticEncoder
from retrievers.engines.index import KeywordQuery

CONFIG = Config()


ROWS = [
    {"_id": "moon", "title": "Why does the moon have phases?", "text": "We see changing parts of its sunlit half."},
    {"_id": "tides", "title": "What causes the tides?", "text": "The pull of the moon lifts the sea."},
    {"_id": "rust", "title": "How do I remove rust?", "text": "Rub it with vinegar and fine steel wool."},
    {"_id": "tea", "title": "How long should tea steep?", "text": "Green tea needs two to three minutes."},
]


BREAD = {"_id": "bread", "title": "Why does dough rise?", "text": "Yeast gives off gas that the dough holds."}


def counts(added: AddReport) -> tuple[int, int, int, int]:
    return added.added, added.updated, added.unchanged, added.rejected


def generation_number(home: Home) -> int | None:
    return Generations(home.index).current_number()


def generation_of(home: Home) -> Generation:
    generation = Generations(home.index).current()
    assert generation is not None
    return generation


def manifest(home: Home) -> Manifest:
    return Manifest.of(generation_of(home))


def stored_documents(home: Home, config: Config = CONFIG) -> dict[str, tuple[str, str]]:
    """Id → text and collection of the documents in the store; the index must hold the same passages."""
    with Store.open(home.store_url(config)) as store:
        rows = list(store.stream_documents())
        stored = store.counts()
    index = Index(generation_of(home))
    assert (index.manifest.documents, index.manifest.passages) == (stored.documents, stored.passages)
    for row in rows:
        best = index.best_passages([row.key], None, {row.key: row.passages[-1].key})[row.key]
        assert best.passage.text == row.passages[-1].text
        assert best.passage.source.collection == row.collection
    return {row.external_id: (" ".join(p.text for p in row.passages), row.collection) for row in rows}


def by_keyword(home: Home, *terms: str) -> int:
    """Number of passages with one of the terms."""
    return len(Index(generation_of(home)).keyword_hits(KeywordQuery(tuple((term, 1.0) for term in terms)), 100))


def by_vector(home: Home, encoder: StaticEncoder, text: str) -> list[float]:
    """Similarities of the nearest passages."""
    hits = Index(generation_of(home)).dense_hits("bodies", encoder.encode([text], side="answer"), 10)[0]
    scores: list[float] = hits.scores.tolist()
    return scores


def scores(home: Home, encoder: StaticEncoder) -> list[list[float]]:
    return [by_vector(home, encoder, text) for text in ("moon and sun", "word1 word2", "rust")]
