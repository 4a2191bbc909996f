"""The home that a task runs on: a temporary one with the data, or the user's.

A user's home is measured unchanged if it holds judged documents; otherwise the data is added to it first.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from qa_bot.answering.fit_confidence import ensure
from qa_bot.bot import Bot
from qa_bot.documents.improving import Improver, is_to_improve
from qa_bot.documents.reject_log import AddReport
from qa_bot.documents.sync import add, switch_encoder
from qa_bot.home.config import Config, load_config
from qa_bot.home.encoders import STARTER, TABLE, name_of, resolve
from qa_bot.home.folder import Home, HomeError
from qa_bot.home.generations import Generations
from qa_bot.home.index import Manifest
from qa_bot.home.store import Store
from qa_core.types import Encoder
from qa_lab.evaluate.datasets import Dataset, DatasetError
from qa_lab.evaluate.systems import System

log = logging.getLogger(__name__)

Flags = Mapping[str, object]
Progress = Callable[[str, int], None]
"""Called with an activity and the number of items done."""

LOOKED_UP = 1000
CACHE = "evaluation-vectors"
"""Folder among the models of the user's home: better vectors of texts that were evaluated before."""
THREADS = 2
WITHOUT_ENCODER = frozenset({"plain", "keyword"})


def silent(_doing: str, _done: int) -> None:
    """Ignores progress."""


class SystemUnderTest(NamedTuple):
    """A bot, the system of it to measure, and the system's encoder (empty for none)."""

    bot: Bot
    system: System
    encoder: str


@dataclass(frozen=True, slots=True)
class EvaluationHome:
    """A home that holds the data; only a temporary one may switch its encoder."""

    home: Home
    temporary: bool
    flags: Flags
    progress: Progress = silent

    @contextmanager
    def opened(self, *, encoder: str | None = None, calibrated: bool = False, improved: bool = False) -> Iterator[Bot]:
        """A bot with this encoder (by default the configured one) that records nothing.

        Args:
            calibrated: fit the confidence for the encoder if necessary.
            improved: make the better vectors of a temporary home first, if `dense.improve` allows it.

        Raises:
            DatasetError: if the user's home was made with another encoder.
        """
        flags = {**self.flags, "dense.encoder": encoder} if encoder else self.flags
        with Bot.open(self.home.path, flags=flags, record=False) as bot:
            name = bot.config.dense.encoder
            if improved and self.temporary and is_to_improve(self.home, bot.config):
                improve(self.home, bot.config, self.progress)
            made_by = _manifest(self.home)
            is_kept = name_of(name, made_by.encoder) != name  # the better vectors of the starter
            if not is_kept and made_by.fingerprint != bot.encoder.fingerprint:
                if not self.temporary:
                    raise DatasetError(
                        f"Expected {self.home.path} to be made with the encoder {name}, but got another; leave --home "
                        f"out to compare encoders, or run: qa-bot --home {self.home.path} use {name}"
                    )
                switch_encoder(self.home, bot.config, bot.encoder, name=name)
            if calibrated:
                ensure(bot.encoder, self.home.models)
            yield bot

    def systems(
        self, systems: Sequence[System], encoders: Sequence[str], *, calibrated: bool = False
    ) -> Iterator[SystemUnderTest]:
        """Each system with each encoder (by default the configured one); systems without vectors only once."""
        calibrated = calibrated and not WITHOUT_ENCODER.issuperset(systems)  # keyword search is always calibrated
        for number, encoder in enumerate(dict.fromkeys(encoders) or (None,)):
            with self.opened(encoder=encoder, calibrated=calibrated) as bot:
                for system in dict.fromkeys(systems):
                    if system not in WITHOUT_ENCODER:
                        yield SystemUnderTest(bot, system, bot.config.dense.encoder)
                    elif number == 0:
                        yield SystemUnderTest(bot, system, "")


@contextmanager
def evaluation_home(
    paths: Sequence[Path],
    *,
    collection: str,
    judged: Collection[str] = (),
    home: Path | None = None,
    encoders: Sequence[str] = (),
    flags: Flags | None = None,
    progress: Progress = silent,
) -> Iterator[EvaluationHome]:
    """A home with the documents of `paths`; temporary unless `home` is passed.

    Args:
        judged: ids of documents; a home that holds some of them has the data already.
        encoders: names of the encoders that will be opened, by default the configured one; the data is added with
            the first.
        flags: configuration by `section.key`.

    Raises:
        DatasetError: if no document could be added.
    """
    chosen = {**(flags or {}), "dense.encoder": encoders[0]} if encoders else dict(flags or {})
    if home is not None:
        opened = Home.open(home)
        if not _holds(opened, chosen, judged):
            _add(opened, paths, collection, chosen, progress)
        yield EvaluationHome(opened, temporary=False, flags=flags or {})
        return
    with TemporaryDirectory(prefix="qa-bot-evaluation-") as folder:
        made = Home.open(Path(folder))
        if {*encoders, load_config(made.path, flags=chosen).dense.encoder} - {STARTER, TABLE}:
            _share_models(made)
        _add(made, paths, collection, chosen, progress)
        yield EvaluationHome(made, temporary=True, flags=flags or {}, progress=progress)


def expect_judged(data: EvaluationHome, dataset: Dataset, *, relevant: int = 1) -> None:
    """Warn of relevant documents that the home lacks, and of judgements that name no relevant one.

    Raises:
        DatasetError: the home has none of the relevant documents; every measure would be 0.
    """
    grades = (item for judged in dataset.qrels.values() for item in judged.items())
    named = list(dict.fromkeys(document for document, grade in grades if grade >= relevant))
    if not named:
        log.warning(
            "No query of %s (%s) has a grade of %d or more; measures are 0.", dataset.name, dataset.split, relevant
        )
        return
    with Store.open(data.home.store_url(load_config(data.home.path, flags=data.flags))) as store:
        present = store.find(named)
    missing = [document for document in named if document not in present]
    if len(missing) == len(named):
        raise DatasetError(
            f"Expected documents that the judgements of {dataset.name} call relevant, but got none of the {len(named)} "
            f"(such as {missing[0]}); check that {dataset.corpus} has the ids of the judgements."
        )
    if missing:
        log.warning(
            "%d of %d documents that the judgements of %s call relevant are missing (such as %s).",
            len(missing),
            len(named),
            dataset.name,
            missing[0],
        )


def improve(home: Home, config: Config, progress: Progress = silent) -> None:
    """Make the better vectors of a home; those of earlier evaluations are used again."""
    try:
        cache: Path | None = Home.open().models / CACHE
    except HomeError:
        cache = None
    with Improver(home, config, cache=cache) as improver:
        for report in improver.run():
            progress("better vectors of passages", report.passages)


def _add(home: Home, paths: Sequence[Path], collection: str, flags: Flags, progress: Progress) -> None:
    config = load_config(home.path, flags=flags)
    encoder = _encoder(home, flags)
    added = add(home, config, encoder, paths, collection=collection, progress=lambda a: progress("indexed", a.records))
    named = ", ".join(map(str, paths))
    if added.records == added.rejected:
        reason = added.examples[0].reason if added.examples else "it holds no record"
        raise DatasetError(f"Expected documents in {named}, but got none: {reason}")
    if added.rejected:
        log.warning("%s: %s", named, _rejects(added))


def _rejects(added: AddReport) -> str:
    first = added.examples[0]
    return f"{added.rejected} of {added.records} records were rejected, the first at {first.where}: {first.reason}"


def _encoder(home: Home, flags: Flags) -> Encoder:
    dense = load_config(home.path, flags=flags).dense
    return resolve(dense.encoder, models=home.models, int8=dense.int8, threads=THREADS, prompts=dense.prompts)


def _holds(home: Home, flags: Flags, judged: Collection[str]) -> bool:
    """Whether a home has one of the judged documents, or any document if `judged` is empty."""
    if Generations(home.index).current_number() is None:
        return False
    config = load_config(home.path, flags=flags)
    with Store.open(home.store_url(config)) as store:
        return bool(store.find(islice(judged, LOOKED_UP))) if judged else store.counts().documents > 0


def _share_models(home: Home) -> None:
    """Let a temporary home use the fetched encoders of the user's home and their derived files."""
    try:
        models = Home.open().models
        models.mkdir(exist_ok=True)
    except (HomeError, OSError) as error:
        log.warning("Models are not shared with your home: %s", error)
        return
    home.models.symlink_to(models, target_is_directory=True)


def _manifest(home: Home) -> Manifest:
    with Generations(home.index).pin_current() as generation:
        assert generation is not None, "data was added"
        return Manifest.of(generation)
