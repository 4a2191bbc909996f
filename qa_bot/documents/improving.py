"""Better vectors after `add`: the transformer's are made beside the running index, then take over in one generation.

    with Improver(home, config) as improver:
        for progress in improver.run():  # the caller shows it, pauses, or stops
            ...

The home is locked for the last step only. What is done is kept, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from qa_bot.documents.index_update import index_update
from qa_bot.home.config import Config
from qa_bot.home.encoders import SHIPPED, STARTER, TRANSFORMER, open_transformer, resolve
from qa_bot.home.folder import Home, WriterBusyError
from qa_bot.home.generations import Generation, Generations
from qa_bot.home.index import Index, Manifest, open_segments
from qa_bot.home.index_part import parts
from qa_bot.home.kept_vectors import KeepingEncoder, KeptVectors, keys_of, lengthwise
from qa_core.types import Encoder, Side
from retrievers.engines.local.indexed_documents import IndexedDocument, encoded_texts

DOCUMENTS = 32
"""Documents whose texts are sorted by length together."""
TEXTS = 64
"""Texts that are encoded between two reports, in about .1 s."""
MOST_CACHED = 500_000
"""Half the largest number of vectors in a cache: 200 MB."""
PATIENCE = 0.5
"""Seconds between two attempts to switch while another process writes."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Passages whose vectors are ready, of all; and the seconds left, None before the first were encoded."""

    passages: int
    of: int
    rate: float = 0.0
    left: float | None = None
    is_waiting: bool = False
    """For another process that writes to the home."""


def is_improvable(home: Home, config: Config) -> bool:
    """Whether better vectors can be made: `starter` is configured, and the transformer has not made the index."""
    generation = Generations(home.index).current()
    if config.dense.encoder != STARTER or generation is None or not SHIPPED[TRANSFORMER].is_dir():
        return False
    manifest = Manifest.of(generation)
    if manifest.encoder != TRANSFORMER:
        return manifest.passages > 0
    made_by = resolve(TRANSFORMER, models=home.models, threads=config.dense.threads).fingerprint
    return manifest.fingerprint != made_by


def is_to_improve(home: Home, config: Config) -> bool:
    """Whether better vectors are made without being asked for: if they can be, and help.

    The transformer has learnt less German than the table. Over nine sets of questions about German documents quick
    vectors have .030 of points more, over four of dialogues as many; over 23 other sets better vectors have .027 more.
    """
    if not config.dense.improve or not is_improvable(home, config):
        return False
    number = Generations(home.index).current_number()
    return number is not None and not _is_mostly_german(home.index, number)


@lru_cache(maxsize=8)
def _is_mostly_german(folder: Path, number: int) -> bool:
    """Whether most passages of a generation, without the starter collection, are German."""
    with Generations(folder).pin_current() as generation:
        if generation is None or generation.number != number:
            return False
        languages = parts(Index(generation), "auto")[0].languages
        return languages.get("de", 0) > sum(languages.values()) / 2


class Improver:
    """Makes the better vectors of a home; one at a time."""

    def __init__(
        self, home: Home, config: Config, *, encoder: Encoder | None = None, cache: Path | None = None
    ) -> None:
        """
        Args:
            encoder: by default the shipped transformer.
            cache: a folder of vectors that last, for homes that do not.

        Raises:
            EncoderError: the transformer cannot be opened.
        """
        self._home, self._config, self._cache = home, config, cache
        self._generations = Generations(home.index)
        self._encoder = encoder or open_transformer(models=home.models, threads=config.dense.threads)
        self._opened = ExitStack()
        self._spent, self._encoded = 0.0, 0

    def __enter__(self) -> Self:
        """Raises WriterBusyError if another process makes the better vectors."""
        self._opened.enter_context(self._home.improving())
        made_by = self._encoder.fingerprint
        folder = self._cache / made_by[:16] if self._cache else self._home.vectors
        vectors = KeptVectors(folder, made_by, self._encoder.dimension)
        self._kept = self._opened.enter_context(vectors)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def run(self) -> Iterator[Progress]:
        """Encode all documents, then switch to a generation with the better vectors; reports after every batch.

        Documents that are added meanwhile are encoded, too.
        """
        while True:
            with self._generations.pin_current() as generation:
                if generation is None or Manifest.of(generation).fingerprint == self._encoder.fingerprint:
                    return
                yield from self._encode(generation)
            passages = Manifest.of(generation).passages
            self._kept.flush()
            try:
                if self._switch(generation.number):
                    yield Progress(passages, passages, self._rate, 0.0)
                    return
            except WriterBusyError:
                yield Progress(passages, passages, self._rate, is_waiting=True)
                time.sleep(PATIENCE)

    def _encode(self, generation: Generation) -> Iterator[Progress]:
        passages, done = Manifest.of(generation).passages, 0
        units = sum(len(segment.units or ()) for segment in open_segments(generation).values())
        self._kept.bound(max(units + 2 * passages, MOST_CACHED if self._cache else 0))
        for documents in _documents(generation):
            started, size = done, sum(len(document.passages) for document in documents)
            for share in self._encode_documents(documents):
                done = started + round(share * size)
                left = (passages - done) / self._rate if self._encoded else None
                yield Progress(done, passages, self._rate, left)
            self._encoded += size if done > started else 0
            done = started + size
        yield Progress(passages, passages, self._rate, 0.0)

    def _encode_documents(self, documents: Sequence[IndexedDocument]) -> Iterator[float]:
        """Keep the vectors of documents that are not kept yet; yields the share that is done."""
        titles, answers = encoded_texts(documents)
        texts: list[tuple[Side, str]] = [
            *(("question", title) for title in titles),
            *(("answer", answer) for answer in answers),
        ]
        keys = np.concatenate([keys_of(titles, "question"), keys_of(answers, "answer")])
        _, first = np.unique(keys, return_index=True)
        blank = np.array([not text.strip() for _, text in texts])
        missing = first[~self._kept.has(keys[first]) & ~blank[first]].tolist()
        done = 0
        for batch in lengthwise([texts[i][1] for i in missing], TEXTS):
            chosen = [missing[i] for i in batch]
            started = time.perf_counter()
            for side in ("question", "answer"):
                rows = [i for i in chosen if texts[i][0] == side]
                if rows:
                    self._kept.keep(keys[rows], self._encoder.encode([texts[i][1] for i in rows], side=side))
            self._spent += time.perf_counter() - started
            done += len(chosen)
            yield done / len(missing)

    @property
    def _rate(self) -> float:
        """Passages a second."""
        return self._encoded / self._spent if self._spent else 0.0

    def _switch(self, number: int) -> bool:
        """Publish the better vectors, unless the documents have changed since the generation of that number."""
        with self._home.lock("improve"):
            if self._generations.current_number() != number:
                return False
            encoder = KeepingEncoder(self._encoder, self._kept)
            with index_update(self._home, self._config, encoder, action=None, encoder_name=TRANSFORMER) as update:
                update.touched = True
            if self._cache is None:
                self._kept.remove()
        return True


def _documents(generation: Generation) -> Iterator[list[IndexedDocument]]:
    """The live documents of a generation, some at a time."""
    for segment in open_segments(generation).values():
        rows = segment.live_rows()
        while batch := [segment.document(row) for row in islice(rows, DOCUMENTS)]:
            yield batch
