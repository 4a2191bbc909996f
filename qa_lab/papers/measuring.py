"""Measures one declaration of a table: trains its models, each once, and calls the evaluation that it names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from qa_bot.home.starter import ENCODER, FOLDER
from qa_core.measures.metrics import Score
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.report import Row
from qa_lab.papers.declarations import (
    TRANSFORMER,
    Computed,
    Evaluated,
    Figures,
    Joined,
    Measurement,
    Reported,
    Setting,
    Trained,
    toml,
)
from qa_lab.papers.evaluations import evaluation

T = TypeVar("T")
OUTCOME = "outcome.json"
STARTER = "starter"


class MissingError(ValueError):
    """Data or a transformer that a row needs is not there."""


@dataclass
class Laboratory:
    """Measures rows; models and evaluations that several rows share are made once."""

    setting: Setting
    _rows: dict[str, list[Row]] = field(default_factory=dict)
    _made: dict[str, Any] = field(default_factory=dict)

    def measured(self, measurement: Measurement) -> Figures:
        """The figures by the names of the table.

        Raises:
            MissingError: data are missing.
            ValueError: data or settings cannot be used, or the row is not among the results.
        """
        for path in measurement.paths:
            if not (self.setting.data / path).exists():
                raise MissingError(f"Expected {path} in the data folder, but there is no such file.")
        match measurement:
            case Evaluated():
                row = self._row(measurement)
                return {name: row.scores[inner] for name, inner in measurement.measures.items()}
            case Reported():
                outcome = self._outcome(measurement.training)
                return {name: _reported(outcome, path) for name, path in measurement.measures.items()}
            case Computed():
                return measurement.function(self, **measurement.options)
            case Joined():
                return {name: figure for part in measurement.parts for name, figure in self.measured(part).items()}

    def once(self, name: str, make: Callable[[], T]) -> T:
        """What `make` returns, made once for all rows."""
        if name not in self._made:
            self._made[name] = make()
        made: T = self._made[name]
        return made

    def folder(self, name: str) -> Path:
        """A folder for the work of several rows."""
        folder = self.setting.folder / (f"quick-{name}" if self.setting.quick else name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def model(self, training: Trained | str) -> Path:
        """The folder of a model, which is trained unless an equal one was; a name is that of a shipped one."""
        if isinstance(training, str):
            return FOLDER / training
        folder = self.setting.folder / f"{training.model}-{_digest([self._identity(training)])}"
        if not (folder / OUTCOME).is_file():
            self._train(training, folder)
        return folder

    def _train(self, training: Trained, folder: Path) -> None:
        from qa_lab.train.registry import verb
        from qa_lab.train.request import Request
        from qa_lab.train.training_run import TrainingRun

        setting, quick = self.setting, self.setting.quick
        settings, dev = training.chosen(quick=quick), training.development(quick=quick)
        setting.folder.mkdir(parents=True, exist_ok=True)
        config = setting.folder / f"{folder.name}.toml"
        config.write_text(toml(settings), encoding="utf-8")
        chosen = verb(training.model)
        request = Request(
            tuple(setting.data / path for path in training.data),
            folder,
            base=self._base(training.base),
            config=config if settings else None,
            dev=str(setting.data / dev) if "/" in dev else dev,
            limit=training.most(quick=quick),
            seed=training.seed,
            resume=TrainingRun(folder, {}).saved,  # one that was killed before its first save begins anew
            relations=setting.data / training.relations if training.relations else None,
        )
        outcome = chosen.run(
            request, on_progress=lambda progress: setting.progress(f"training {training.model}", progress.epoch)
        )
        (folder / OUTCOME).write_text(json.dumps(outcome.as_dict(), default=str), encoding="utf-8")

    def _base(self, base: str | Trained) -> Path | None:
        if isinstance(base, Trained):
            return self.model(base)
        if base == TRANSFORMER:
            if self.setting.transformer is None:
                raise MissingError("Expected a transformer's folder by --model, but got none.")
            return self.setting.transformer
        if base == STARTER:
            return ENCODER
        return self.setting.data / base if base else None

    def _outcome(self, training: Trained) -> Mapping[str, Any]:
        outcome: Mapping[str, Any] = json.loads((self.model(training) / OUTCOME).read_text(encoding="utf-8"))
        return outcome

    def _identity(self, training: Trained) -> dict[str, Any]:
        quick = self.setting.quick
        return {
            "model": training.model,
            "data": training.data,
            "settings": training.chosen(quick=quick),
            "limit": training.most(quick=quick),
            "base": self._identity(training.base) if isinstance(training.base, Trained) else training.base,
            "dev": training.development(quick=quick),
            "relations": training.relations,
            "seed": training.seed,
        }

    def _row(self, evaluated: Evaluated) -> Row:
        models = [self.model(model) for model in evaluated.models]
        encoders = [name if isinstance(name, str) else str(self.model(name)) for name in evaluated.encoders]
        key = _digest([evaluated.task, evaluated.data, list(map(str, models)), evaluated.engines, encoders])
        key += _digest([dict(evaluated.options), dict(evaluated.home), evaluated.most(quick=self.setting.quick)])
        if key not in self._rows:
            self._rows[key] = self._evaluated(evaluated, models, encoders)
        rows = self._rows[key]
        names = {str(models[0]), models[0].name} if evaluated.row == "model" and models else {evaluated.row}
        for row in rows:
            if names & {row.engine, row.encoder, row.name}:
                return row
        raise DatasetError(f"Expected a row {evaluated.row!r} of {evaluated.task}, but got {[r.name for r in rows]}.")

    def _evaluated(self, evaluated: Evaluated, models: Sequence[Path], encoders: Sequence[str]) -> list[Row]:
        setting, options = self.setting, dict(evaluated.options)
        if "relations" in options:
            options["relations"] = setting.data / options["relations"]
        options |= {"models": models, "engines": evaluated.engines, "encoders": encoders}
        options |= {"limit": evaluated.most(quick=setting.quick), "flags": evaluated.configuration(quick=setting.quick)}
        named = {name: value for name, value in options.items() if value}
        return evaluation(evaluated.task)(setting.data / evaluated.data, progress=setting.progress, **named)


def score(value: float, error: float = math.nan) -> Score:
    """A figure without values by question."""
    return Score(value, error, {})


def count(value: int) -> Score:
    """A whole number."""
    return score(float(value))


def _reported(outcome: Mapping[str, Any], path: str) -> Score:
    """The figure at a path, and its standard error, which is named `…_se`; missing ones are NaN."""
    return score(_number_at(outcome, path), _number_at(outcome, f"{path}_se"))


def _number_at(outcome: Mapping[str, Any], path: str) -> float:
    """The number at a path, in which an item of a list has its name; NaN if it is missing."""
    value: Any = outcome
    for name in path.split("/"):
        if isinstance(value, list):
            value = next((item for item in value if item.get("name") == name), None)
        elif value is not None:
            value = value.get(name)
    return math.nan if value is None else float(value)


def _digest(values: Sequence[Any]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True, default=str).encode(), digest_size=6).hexdigest()


def definition(measurement: Measurement) -> str:
    """What makes a measurement, as text; functions by their names."""
    values = asdict(measurement)
    if isinstance(measurement, Computed):
        values["function"] = f"{measurement.function.__module__}.{measurement.function.__qualname__}"
    return json.dumps(values, sort_keys=True, default=str)
