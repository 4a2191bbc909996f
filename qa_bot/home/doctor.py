"""What a home holds, and checks that everything in it is intact."""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from qa_bot.home.checks.documents import IndexCopies, compare, described
from qa_bot.home.checks.last_backup import with_folder
from qa_bot.home.checks.lost_database import LOST, LostDatabaseError
from qa_bot.home.checks.sealed_files import check_files
from qa_bot.home.checks.vectors import check_vectors
from qa_bot.home.config import Config
from qa_bot.home.encoders import SHIPPED, STARTER, TABLE, TRANSFORMER, locate, name_of, verify
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generation, Generations
from qa_bot.home.index import Index, Manifest
from qa_bot.home.journal import check_journal, open_store
from qa_bot.home.store import Store
from qa_core.types import Encoder
from retrievers.engines.local.segments import NEAREST, DenseState

LOW_DISK = 200_000_000
"""Bytes; with less free space any `add` may fail."""

AFFECTS = {
    "disk": "everything that writes",
    "database": "documents, conversations, votes and every change; answers come from the index",
    "documents": "the next rebuilding of the index, and `export`",
    "turns": "conversations, votes and what is learnt from them, and what `sync` reads",
    "journal": "turns that are not in the database yet",
    "index": "answers and search",
    "graph": "facts in answers",
    "files": "what these models, personas or settings decide",
    "vectors": "the time of the next `qa-bot improve`",
    "encoder": "dense search; and all answers if it cannot be opened",
    "models": "the parts of answers that these keys name",
    "voices": "personas",
    "backup": "what can be brought back after damage",
}
COMMAND = re.compile("`(qa-bot [^`]+)`")

CheckFunction = Callable[[Home, Config], str]
"""Returns a description, or raises an exception whose message names the command that repairs the fault."""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one check. If it failed, `detail` names the fault, `affects` its effect, `command` what mends it."""

    name: str
    ok: bool
    detail: str
    affects: str = ""
    command: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def status(home: Home, config: Config) -> dict[str, Any]:
    """Counts, sizes, and the encoder in use."""
    generation, graph = Generations(home.index).current(), Generations(home.graph).current()
    manifest = Manifest.of(generation) if generation else None
    with open_store(home, config) as store:
        counts, collections = store.counts(), store.collections()
    return {
        "home": str(home.path),
        "size": _size(home.path),
        "encoder": manifest.encoder if manifest else config.dense.encoder,
        **{name: value for name, value in vectors(home, config).items() if name != "passages"},
        "fingerprint": manifest.fingerprint if manifest else None,
        "generation": generation.number if generation else 0,
        "documents": manifest.documents if manifest else 0,
        "passages": manifest.passages if manifest else 0,
        "near_duplicates": counts.duplicates,
        "facts": graph.manifest["triples"] if graph else 0,
        "segments": len(manifest.segments) if manifest else 0,
        "collections": [
            {"name": info.name, "documents": info.documents, "passages": info.passages}
            for info in collections
            if info.documents  # a collection that is being added has none yet
        ],
        "conversations": counts.conversations,
        "turns": counts.turns,
        "feedback": counts.feedback,
    }


def vectors(home: Home, config: Config) -> dict[str, Any]:
    """The encoder whose vectors answer now, the number of passages, and whether `qa-bot improve` makes better ones."""
    generation = Generations(home.index).current()
    manifest = Manifest.of(generation) if generation else None
    named = manifest.encoder if manifest else config.dense.encoder
    return {
        "vectors": TABLE if named == STARTER else named,
        "improvable": config.dense.encoder == STARTER and named != TRANSFORMER and SHIPPED[TRANSFORMER].is_dir(),
        "passages": manifest.passages if manifest else 0,
    }


def run_checks(home: Home, config: Config, further: Mapping[str, CheckFunction] | None = None) -> list[Check]:
    """Run all checks, and `further` ones by name; a failed check does not stop the others."""
    checks: dict[str, CheckFunction] = {
        "disk": _disk,
        **CONTENT,
        "vectors": lambda home, _: check_vectors(home),
        "encoder": _encoder,
        **(further or {}),
        "linguistics": _linguistics,
        "extras": _extras,
    }
    return [_run(name, check, home, config) for name, check in checks.items()]


def content_faults(home: Home, config: Config) -> list[Check]:
    """The failed checks of what a home holds: documents, turns, facts, index, models, settings."""
    checks = [_run(name, check, home, config) for name, check in CONTENT.items()]
    return [check for check in checks if not check.ok]


def _run(name: str, check: CheckFunction, home: Home, config: Config) -> Check:
    try:
        return Check(name, True, check(home, config))
    except Exception as error:  # any error is the result
        fault = with_folder(home, str(error))
        command = COMMAND.search(fault)
        return Check(name, False, fault, AFFECTS.get(name, ""), command[1] if command else "")


def _disk(home: Home, _: Config) -> str:
    free = shutil.disk_usage(home.path).free
    if free < LOW_DISK:
        raise OSError(f"Expected {LOW_DISK / 1e6:.0f} MB free, but got {free / 1e6:.0f} MB; make room.")
    return f"{free / 1e9:,.1f} GB free"


def _database(home: Home, config: Config) -> str:
    with Store.open(home.store_url(config)) as store:
        if faults := store.integrity.faults():
            more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
            raise OSError(f"The database is damaged: {faults[0]}{more}; run `qa-bot repair`.")
        return f"{store.counts().documents:,} documents, every page is readable"


def _documents(home: Home, config: Config) -> str:
    generations = Generations(home.index)
    with generations.pin_current() as generation, Store.open(home.store_url(config)) as store:
        if generation and not store.generation():
            raise LostDatabaseError(LOST.format(index=home.index))
        comparison = compare(store, IndexCopies.of(generations, generation))
        unsealed = store.integrity.unsealed()
    if fault := described(comparison):
        raise OSError(f"{fault}; run `qa-bot repair`.")
    note = f"; {unsealed:,} have no checksum yet, `qa-bot migrate` makes them" if unsealed else ""
    return f"{comparison.checked:,} documents, every checksum is right{note}"


def _turns(home: Home, config: Config) -> str:
    with Store.open(home.store_url(config)) as store:
        altered = list(store.integrity.altered_rows())
    if altered:
        names = ", ".join(f"{table} {row}" for table, row in altered[:5])
        raise OSError(f"{len(altered):,} rows differ from what was stored: {names}; run `qa-bot repair`.")
    return "every checksum is right"


def _index(home: Home, config: Config) -> str:
    generations = Generations(home.index)
    with generations.pin_current() as generation:
        if damages := generations.verify(generation, deep=True):  # not opened then: the engines trust their files
            raise OSError(" ".join(damage.message for damage in damages))
        dense = _describe(Index(generation).dense_state()) if generation else ""
        with Store.open(home.store_url(config)) as store:
            stored, counts = store.generation(), store.counts()
            left_out = any(document.state == "altered" for document in store.integrity.documents())
    if generation and not stored:
        raise LostDatabaseError(LOST.format(index=home.index))
    if (stored.number if stored else 0) != (generation.number if generation else 0):
        raise ValueError(
            f"Expected generation {stored.number if stored else 0}, as in the database, but got "
            f"{generation.number if generation else 0}; run `qa-bot repair`."
        )
    if generation is None:
        return "none yet; add documents with `qa-bot add PATH`"
    manifest = Manifest.of(generation)
    if (manifest.documents, manifest.passages) != (counts.documents, counts.passages) and not left_out:
        raise ValueError(
            f"Expected {counts.documents:,} documents and {counts.passages:,} passages, as in the database, but got "
            f"{manifest.documents:,} and {manifest.passages:,}; run `qa-bot repair`."
        )
    _expect_sound_former(generations)
    age = "; made by an older version: the next `qa-bot add` or `repair` rebuilds it" if manifest.is_outdated else ""
    return f"generation {generation.number}, {len(manifest.segments)} segments, every checksum is right; {dense}{age}"


def _expect_sound_former(generations: Generations) -> None:
    """Former generations are spare copies, of which `repair` removes the damaged ones."""
    if damages := generations.damaged_former():
        raise OSError(f"A spare copy is damaged: {damages[0].message}")


def _describe(states: Sequence[DenseState]) -> str:
    """The largest dense index of each view."""
    largest = {state.view: state for state in sorted(states, key=lambda state: state.rows)}
    return ", ".join(
        f"{state.view} {state.kind} ({state.rows:,} vectors, recall@{NEAREST} {state.recall:.3f})"
        for state in largest.values()
    )


def _graph(home: Home, _: Config) -> str:
    generations = Generations(home.graph)
    with generations.pin_current() as generation:
        if generation is None:
            if generations.newest():
                raise OSError(f"{home.graph / 'CURRENT'} is missing: it names the graph; run `qa-bot repair`.")
            return "none yet; add facts with `qa-bot kg add FILE`"
        if damages := generations.verify(generation, deep=True):
            raise OSError(" ".join(damage.message for damage in damages))
        _expect_sound_former(generations)
        return f"generation {generation.number}, {generation.manifest['triples']:,} facts, every checksum is right"


def _has_vectors_of(generation: Generation, encoder: Encoder) -> bool:
    """Whether an encoder made an index, or gives its texts the same vectors. The index is opened if another made it."""
    return Manifest.of(generation).fingerprint == encoder.fingerprint or Index(generation).has_vectors_of(encoder)


def _encoder(home: Home, config: Config) -> str:
    generation = Generations(home.index).current()
    name = config.dense.encoder
    if generation:
        name = name_of(name, Manifest.of(generation).encoder)
    encoder = verify(locate(name, models=home.models), models=home.models, int8=config.dense.int8)
    if generation and not _has_vectors_of(generation, encoder):
        made_by = Manifest.of(generation).encoder
        got = "its weights, or `dense.int8`, have changed since" if made_by == name else f"it was made with {made_by}"
        raise ValueError(f"Expected an index made with {name}, but {got}; run `qa-bot use {name}`.")
    better = "; `qa-bot improve` makes better vectors" if vectors(home, config)["improvable"] else ""
    return f"{name}, {encoder.dimension} dimensions{better}"


def _linguistics(_: Home, __: Config) -> str:
    from qa_core.text.synonyms import synonyms

    if not synonyms("aspirin"):
        raise ValueError("Expected the table of synonyms to know 'aspirin', but it does not; install qa-bot again.")
    return "WordNet's synonyms of words with one sense"


def _extras(_: Home, __: Config) -> str:
    extras = {"minilm": "transformers", "postgres": "psycopg", "plots": "matplotlib"}
    installed = [name for name, module in extras.items() if importlib.util.find_spec(module)]
    return ", ".join(installed) or "none installed"


def _size(folder: Path) -> int:
    """Bytes on disk; each file counts once, whatever its hard links."""
    return sum({(s.st_dev, s.st_ino): s.st_blocks * 512 for s in _stats(folder)}.values())


def _stats(folder: Path) -> Iterator[Any]:
    for path in folder.rglob("*"):
        try:
            yield path.lstat()
        except OSError:  # a writer has removed it
            continue


CONTENT: Mapping[str, CheckFunction] = {
    "database": _database,
    "documents": _documents,
    "turns": _turns,
    "journal": lambda home, _: check_journal(home),
    "index": _index,
    "graph": _graph,
    "files": lambda home, _: check_files(home.path),
}
