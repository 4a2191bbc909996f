"""What a table of a paper declares: its rows with the published figures, and how each row is measured here.

A measurement is a declaration rather than a function if it can be: it calls what `qa-bot train` and `qa-bot eval` call,
and the same declaration gives the commands to type.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from qa_core.measures.metrics import Score
from qa_lab.evaluate.evaluation_home import Progress, silent

NOT_IMPLEMENTED = "not implemented"
NO_DATA = "not to be had"
SEED = 1
FOLDER = "$QA_BOT_DATA"
STARTER = "qa_bot/home/starter"
TRANSFORMER = "TRANSFORMER"
"""Value of `Trained.base` for the folder that `--model` names."""
QUICK = 200
"""Questions of an evaluation, and pairs of a training, with `--quick`."""

CONFIGURED = ("retrieval", "liveqa", "known-item")
"""Tasks over a home with documents, which may be configured."""

Figures = Mapping[str, Score]


@dataclass(frozen=True, slots=True)
class Trained:
    """A model that `qa-bot train` makes. Paths are below the data folder."""

    model: str
    data: tuple[str, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)  # the TOML file
    quick: Mapping[str, Any] = field(default_factory=dict)  # over them with --quick; tables are merged
    quick_limit: int | None = QUICK  # examples with --quick
    limit: int | None = None
    base: str | Trained = ""
    dev: str = "0.1"  # a share, or a path
    quick_dev: str = ""  # in place of it with --quick
    relations: str = ""
    seed: int = SEED

    @property
    def paths(self) -> tuple[str, ...]:
        """The data that it reads."""
        paths = (*self.data, *([self.dev] if "/" in self.dev else []), *([self.relations] if self.relations else []))
        return (*paths, *(self.base.paths if isinstance(self.base, Trained) else ()))

    def chosen(self, *, quick: bool) -> dict[str, Any]:
        """The settings, with those of `--quick` over them."""
        return merged(self.settings, self.quick) if quick else dict(self.settings)

    def most(self, *, quick: bool) -> int | None:
        """The largest number of examples."""
        return self.quick_limit if quick else self.limit

    def development(self, *, quick: bool) -> str:
        """A share, or a path."""
        return self.quick_dev if quick and self.quick_dev else self.dev

    def command(self, name: str, *, quick: bool) -> list[str]:
        """Lines to type; `name` is the folder of the model."""
        lines, words = [], ["qa-bot train", self.model, "--data", *map(located, self.data)]
        if isinstance(self.base, Trained):
            lines += self.base.command(f"{name}-base", quick=quick)
            words += ["--base", f"{name}-base"]
        elif self.base:
            words += ["--base", self.base if self.base in (TRANSFORMER, "starter") else located(self.base)]
        if (dev := self.development(quick=quick)) != "0.1":
            words += ["--dev", located(dev) if "/" in dev else dev]
        if self.relations:
            words += ["--relations", located(self.relations)]
        if (most := self.most(quick=quick)) is not None:
            words += ["--limit", str(most)]
        if settings := self.chosen(quick=quick):
            lines.append(f"printf {shlex.quote(toml(settings))} > {name}.toml")
            words += ["--config", f"{name}.toml"]
        return [*lines, " ".join([*words, "--seed", str(self.seed), "--out", name])]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """One row of `qa-bot eval`."""

    task: str
    data: str
    row: str  # engine, encoder or name of the row; `model` is the row of the first model
    measures: Mapping[str, str]  # of the table → of the row
    models: tuple[Trained | str, ...] = ()  # a name is that of a shipped model
    engines: tuple[str, ...] = ()
    encoders: tuple[str | Trained, ...] = ()  # of word vectors, their training
    options: Mapping[str, Any] = field(default_factory=dict)  # `keep`, `held_out`, `split`; see `measuring.py`
    limit: int | None = None
    quick_limit: int | None = QUICK
    home: Mapping[str, object] = field(default_factory=dict)  # configuration by `section.key`

    @property
    def paths(self) -> tuple[str, ...]:
        relations = self.options.get("relations")
        paths = (self.data, *([relations] if relations else []))
        trained = (model for model in (*self.models, *self.encoders) if isinstance(model, Trained))
        return (*paths, *(path for model in trained for path in model.paths))

    def most(self, *, quick: bool) -> int | None:
        return self.quick_limit if quick else self.limit

    def configuration(self, *, quick: bool) -> dict[str, object]:
        """Of the home; quick runs keep the first vectors."""
        return {**self.home, **({"dense.improve": False} if quick and self.task in CONFIGURED else {})}

    def command(self, *, quick: bool) -> list[str]:
        names: list[str] = []
        encoders: list[str] = []
        lines: list[str] = []
        for number, model in enumerate(self.models, 1):
            names.append(f"{STARTER}/{model}" if isinstance(model, str) else f"model-{number}")
            lines += model.command(names[-1], quick=quick) if isinstance(model, Trained) else []
        for number, encoder in enumerate(self.encoders, 1):
            encoders.append(encoder if isinstance(encoder, str) else f"vectors-{number}")
            lines += encoder.command(encoders[-1], quick=quick) if isinstance(encoder, Trained) else []
        home = self.configuration(quick=quick)
        variables = [f"QA_BOT_{key.upper().replace('.', '__')}={shlex.quote(_plain(v))}" for key, v in home.items()]
        words = [*variables, "qa-bot eval", self.task, "--data", located(self.data)]
        for flag, values in (("--model", names), ("--engine", self.engines), ("--encoder", encoders)):
            words += [word for value in values for word in (flag, value)]
        for key, value in self.options.items():
            words += [f"--{key.replace('_', '-')}", located(value) if key == "relations" else str(value)]
        if (most := self.most(quick=quick)) is not None:
            words += ["--limit", str(most)]
        return [*lines, " ".join(words)]


@dataclass(frozen=True, slots=True)
class Reported:
    """Figures that `qa-bot train` reports."""

    training: Trained
    measures: Mapping[str, str]  # of the table → path in the JSON, its keys separated by `/`

    @property
    def paths(self) -> tuple[str, ...]:
        return self.training.paths

    def command(self, *, quick: bool) -> list[str]:
        *lines, last = self.training.command("model", quick=quick)
        return [*lines, f"{last} --json"]


@dataclass(frozen=True, slots=True)
class Setting:
    """What a measurement may use: data, a folder for models, the size of the run, and a transformer."""

    data: Path
    folder: Path
    quick: bool = False
    transformer: Path | None = None
    progress: Progress = silent


@dataclass(frozen=True, slots=True)
class Computed:
    """Figures of a function of the laboratory without a separate verb; `eval papers` itself is its command."""

    function: Callable[..., Figures]  # of the laboratory and the options
    data: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[str, ...]:
        return self.data

    def command(self, *, quick: bool) -> list[str]:  # noqa: ARG002 (of every measurement)
        return []


@dataclass(frozen=True, slots=True)
class Joined:
    """Figures of several measurements in one row."""

    parts: tuple[Evaluated | Reported | Computed, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(path for part in self.parts for path in part.paths)

    def command(self, *, quick: bool) -> list[str]:
        return list(dict.fromkeys(line for part in self.parts for line in part.command(quick=quick)))


Measurement = Evaluated | Reported | Computed | Joined
Way = Measurement | str
"""How a row is measured, or why it is not."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """A row of a table: the published figures, and ours by the preset `paper` and by default."""

    name: str
    paper: Mapping[str, float] = field(default_factory=dict)
    default: Way = NOT_IMPLEMENTED
    preset: Way | None = None  # None if the system has no settings of the paper

    @property
    def ways(self) -> dict[str, Way]:
        """By the name of the settings."""
        return {**({"paper": self.preset} if self.preset is not None else {}), "default": self.default}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a paper."""

    id: str  # letter of the paper and number, such as `T 6.3`
    title: str
    data: str  # of the paper, and what replaces it
    measures: tuple[str, ...]
    rows: tuple[PaperRow, ...]
    notes: str = ""


PAPERS = {
    "T": "Wang (2018)",
    "D": "Gillick et al. (2018)",
    "P": "Wieting et al. (2015)",
    "X": "Chiu and Shinzato (2022)",
    "H": "Tay et al. (2018)",
}


def located(path: str) -> str:
    """A path for a command line."""
    return f"{FOLDER}/{path}"


def merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """The second mapping over the first, tables inside merged too."""
    result = dict(first)
    for key, value in second.items():
        inner = result.get(key)
        result[key] = merged(inner, value) if isinstance(inner, Mapping) and isinstance(value, Mapping) else value
    return result


def toml(settings: Mapping[str, Any]) -> str:
    """Settings as TOML with one level of tables, and inline tables below."""
    plain = [f"{key} = {_value(value)}" for key, value in settings.items() if not isinstance(value, Mapping)]
    tables = [
        "\n".join([f"[{key}]", *(f"{name} = {_value(inner)}" for name, inner in value.items())])
        for key, value in settings.items()
        if isinstance(value, Mapping)
    ]
    return "\n".join([*plain, *tables]) + "\n"


def _plain(value: object) -> str:
    """A value of a variable."""
    return value if isinstance(value, str) else json.dumps(value)


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_value(inner)}" for key, inner in value.items()) + "}"
    return json.dumps(value)
