"""Settings of a run from a TOML file over a dataclass of defaults, whose tables are dataclasses too."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from qa_lab.train.errors import SettingsError

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def read_toml(path: Path) -> dict[str, Any]:
    """Raises SettingsError for a file that is not there or no TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"Expected settings in {path}, but there is no such file; check --config.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"Expected TOML in {path}, but got: {error}; mend the line.") from None


def device_of(name: str) -> torch.device:
    """`cpu`, `cuda`, or with `auto` what there is. Raises SettingsError where torch sees no CUDA device."""
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("Expected a CUDA device, but torch sees none; set device = 'auto'.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def settled(defaults: Settings, given: Mapping[str, Any], *, source: str) -> Settings:
    """The defaults with what is given instead; `source` names where it was given.

    Raises SettingsError for an unknown key, naming the nearest, and for a value of the wrong type.
    """
    merged = _merged(defaults, given, source, "")
    try:
        # as JSON, since strict validation takes dataclasses from nothing else
        return TypeAdapter(type(defaults)).validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        reasons = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}, but got {e['input']!r}" for e in error.errors()
        )
        raise SettingsError(f"{source}: Expected settings that fit, but got {reasons}.") from None


def _merged(defaults: DataclassInstance, given: Mapping[str, Any], source: str, prefix: str) -> dict[str, Any]:
    values = {field.name: getattr(defaults, field.name) for field in dataclasses.fields(defaults)}
    for key, value in given.items():
        _check_known(key, values, source, prefix)
        table = values[key]
        if not dataclasses.is_dataclass(table):
            values[key] = value
        elif isinstance(value, Mapping):
            values[key] = _merged(table, value, source, f"{prefix}{key}.")  # type: ignore[arg-type] # no class stands in a field
        else:
            raise SettingsError(f"{source}: Expected a table [{prefix}{key}], but got {value!r}.")
    return {key: dataclasses.asdict(v) if dataclasses.is_dataclass(v) else v for key, v in values.items()}  # type: ignore[arg-type] # as above


def _check_known(key: str, values: Mapping[str, Any], source: str, prefix: str) -> None:
    if key in values:
        return
    nearest = difflib.get_close_matches(key, values, n=1, cutoff=0)
    raise SettingsError(f"{source}: Expected a known key, but got {prefix}{key}; the nearest is {prefix}{nearest[0]}.")
