"""Reads suites, TOML files that name collections and configurations.

data = "$QA_BOT_DATA"           # the folder that paths are relative to

[[configuration]]
name = "deep"
engine = "default"              # of `eval workplace`
encoder = "starter"             # `minilm`, a folder or a hub id
config = { "ranking.depth" = 100 }
without = "spelling"            # a part that is left out, of `PARTS`; engine "default" only

[[collection]]
name = "company"
kind = "workplace"              # of `KINDS`
data = "workplace/company"
questions = "workplace/company.questions.jsonl"

[[collection]]
name = "everyday"
kind = "workplace"
data = "starter"                # a new home
questions = "$REPOSITORY/benchmarks/collections/everyday/questions.jsonl"
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.suites.parts import PARTS
from qa_lab.evaluate.workplace.pipelines import DEFAULT, ENGINES, STARTER_DATA

Kind = Literal["workplace", "liveqa", "known-item", "retrieval", "answers", "paraphrase", "rewrite"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""Tasks of `qa-bot eval`; `workplace` has a file of questions or dialogues."""
DEVELOPMENT = Path(__file__).parent / "development.toml"
VARIABLE = "$QA_BOT_DATA"
SHARED = "../shared/data"
"""The folder of the data if the variable is not set."""
REPOSITORY = "$REPOSITORY"
"""Begins a path in the checkout of this program; without a checkout, the collection is skipped as missing."""
CHECKOUT = Path(__file__).parents[3]

T = TypeVar("T", "Collection", "Configuration")


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents with questions, or another task's data; `split` and `limit` are those of `qa-bot eval`."""

    name: str
    kind: Kind
    data: Path
    questions: Path | None = None
    split: str = "dev"
    limit: int | None = None

    @property
    def missing(self) -> Path | None:
        """The first path that does not exist."""
        is_starter = str(self.data) == STARTER_DATA
        paths = [*([] if is_starter else [self.data]), *([self.questions] if self.questions else [])]
        return next((path for path in paths if not path.exists()), None)


@dataclass(frozen=True, slots=True)
class Configuration:
    """A column: an engine, its encoder, keys of the product's configuration, and a part that is left out."""

    name: str
    engine: str = DEFAULT
    encoder: str = "starter"
    config: Mapping[str, object] = field(default_factory=dict)
    without: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    name: str
    collections: tuple[Collection, ...]
    configurations: tuple[Configuration, ...]


def read_suite(path: Path, *, data: Path | None = None) -> Suite:
    """The suite of a file.

    Args:
        data: the folder that paths are relative to, instead of the one that the file names.

    Raises:
        DatasetError: for a missing file, invalid TOML, unknown keys, kinds or engines, or names that repeat.
    """
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise DatasetError(f"Expected a suite in {path}, but got: {error}; name a TOML file with --suite.") from None
    unknown = fields.keys() - {"data", "collection", "configuration"}
    if unknown:
        raise DatasetError(f"{path}: Expected data, collection and configuration, but got {min(unknown)}; correct it.")
    root = data or path.parent / _expanded(str(fields.get("data", ".")))
    collections = [_collection(entry, root, path) for entry in fields.get("collection", ())]
    configurations = [_checked(Configuration, entry, path) for entry in fields.get("configuration", ())]
    for configuration in configurations:
        if configuration.engine not in ENGINES:
            raise DatasetError(f"{path}: Expected one of {', '.join(ENGINES)}, but got {configuration.engine!r}.")
        if configuration.without and (configuration.without not in PARTS or configuration.engine != DEFAULT):
            raise DatasetError(
                f"{path}: Expected a part among {', '.join(PARTS)} to leave out of the engine {DEFAULT}, but got "
                f"{configuration.without!r} and {configuration.engine}; correct it."
            )
    for parts in (collections, configurations):
        _check_names([part.name for part in parts], path)
    return Suite(path.stem, tuple(collections), tuple(configurations))


def ablated(suite: Suite) -> Suite:
    """The suite with its first configuration, then with that without each part in turn."""
    whole = suite.configurations[0]
    if whole.engine != DEFAULT:
        raise DatasetError(f"Expected the engine {DEFAULT} first to leave its parts out, but got {whole.engine}.")
    less = (
        replace(whole, name=f"without {part.name}", config={**whole.config, **part.config}, without=part.name)
        for part in PARTS.values()
    )
    return replace(suite, name=f"{suite.name}, ablated", configurations=(whole, *less))


def _expanded(folder: str) -> str:
    return folder.replace(VARIABLE, os.environ.get(VARIABLE[1:]) or str(Path(SHARED).absolute()))


def _collection(entry: Mapping[str, Any], root: Path, path: Path) -> Collection:
    if entry.get("kind") not in KINDS:
        raise DatasetError(f"{path}: Expected a kind among {', '.join(KINDS)}, but got {entry.get('kind')!r}.")
    if (entry["kind"] == "workplace") != ("questions" in entry):
        raise DatasetError(f"{path}: Expected questions with the kind workplace and no other; correct {dict(entry)}.")
    named = [name for name in ("data", "questions") if isinstance(entry.get(name), str)]
    paths = {name: root / entry[name].replace(REPOSITORY, str(CHECKOUT), 1) for name in named}
    if entry.get("data") == STARTER_DATA:
        paths["data"] = Path(STARTER_DATA)
    return _checked(Collection, {**entry, **paths}, path)


def _checked(kind: type[T], entry: Mapping[str, Any], path: Path) -> T:
    try:
        return kind(**entry)
    except TypeError as error:
        raise DatasetError(f"{path}: Expected the fields of a {kind.__name__.lower()}, but got: {error}.") from None


def _check_names(names: Sequence[str], path: Path) -> None:
    if not names:
        raise DatasetError(f"{path}: Expected a [[collection]] and a [[configuration]] at least; add one.")
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise DatasetError(f"{path}: Expected distinct names, but got {repeated!r} again; rename one.")
