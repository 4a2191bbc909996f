"""Settings of a run: a TOML file over a dataclass of defaults, whose tables are dataclasses too."""

from __future__ import annotations

import dataclasses
import difflib
import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from qa_lab.errors import SettingsError

if TYPE_CHECKING:
    import torch
    from _typeshed import DataclassInstance

Settings = TypeVar("Settings", bound="DataclassInstance")


def load_settings(
    path: Path | None, defaults: Settings, *, preset: Callable[[Settings], Settings] | None = None
) -> Settings:
    """The defaults, overridden by the TOML file at `path`.

    Args:
        preset: the defaults of the model or the sizes that a first reading of the file names.

    Raises:
        SettingsError: the file is missing or no TOML, or has unknown keys or values of the wrong type.
    """
    values, source = read_toml(path) if path else {}, source_of(path)
    settings = merge_settings(defaults, values, source=source)
    return settings if preset is None else merge_settings(preset(settings), values, source=source)


def source_of(path: Path | None) -> str:
    """What error messages call the settings."""
    return str(path or "defaults")


def read_toml(path: Path) -> dict[str, Any]:
    """Raises SettingsError if the file is missing or not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"Expected settings in {path}, but there is no such file; check --config.") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"Expected TOML in {path}, but got: {error}; correct the line.") from None


def merge_settings(defaults: Settings, values: Mapping[str, Any], *, source: str) -> Settings:
    """The defaults, overridden by values that were read from `source`.

    Raises:
        SettingsError: an unknown key (the message names the nearest ones), or a value of the wrong type.
    """
    merged = _merged(defaults, values, source, known=list(_dotted(defaults)))
    try:
        # as JSON, since strict validation builds dataclasses from nothing else
        return TypeAdapter(type(defaults)).validate_json(json.dumps(merged), strict=True)
    except ValidationError as error:
        reasons = "; ".join(
            f"{'.'.join(map(str, e['loc']))}: {e['msg']}, but got {e['input']!r}" for e in error.errors()
        )
        raise SettingsError(f"{source}: Expected valid settings, but got {reasons}.") from None


def check_positive(settings: object, *names: str, source: Path | None) -> None:
    """Raises SettingsError unless all these numbers are above 0; `table.key` names a key of a table."""
    values: dict[str, Any] = {name: reduce(getattr, name.split("."), settings) for name in names}
    if wrong := [f"{name} = {value}" for name, value in values.items() if not value > 0]:
        raise SettingsError(
            f"{source_of(source)}: Expected positive numbers, but got {', '.join(wrong)}; correct them."
        )


def in_table(table: str, *names: str) -> list[str]:
    """The full names of keys of a table."""
    return [f"{table}.{name}" for name in names]


def device_of(name: str = "auto") -> torch.device:
    """`cpu`, `cuda`, or with `auto` CUDA if available. Raises SettingsError if torch sees no CUDA device."""
    import torch

    if name == "cuda" and not torch.cuda.is_available():
        raise SettingsError("Expected a CUDA device, but torch sees none; set device = 'auto'.")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


def _merged(
    defaults: DataclassInstance, overrides: Mapping[str, Any], source: str, *, known: Sequence[str], prefix: str = ""
) -> dict[str, Any]:
    values = {field.name: getattr(defaults, field.name) for field in dataclasses.fields(defaults)}
    for key, value in overrides.items():
        if key not in values:
            raise SettingsError(
                f"{source}: Expected a known key, but got {prefix}{key}; {_nearest(key, values, prefix, known)}."
            )
        table = values[key]
        if not dataclasses.is_dataclass(table):
            values[key] = value
        elif isinstance(value, Mapping):
            values[key] = _merged(table, value, source, known=known, prefix=f"{prefix}{key}.")  # type: ignore[arg-type] # an instance
        else:
            raise SettingsError(f"{source}: Expected a table [{prefix}{key}], but got {value!r}.")
    return {key: dataclasses.asdict(v) if dataclasses.is_dataclass(v) else v for key, v in values.items()}  # type: ignore[arg-type] # as above


def _dotted(defaults: DataclassInstance, prefix: str = "") -> Iterator[str]:
    """All keys with the names of their tables."""
    for field in dataclasses.fields(defaults):
        value = getattr(defaults, field.name)
        if dataclasses.is_dataclass(value):
            yield from _dotted(value, f"{prefix}{field.name}.")  # type: ignore[arg-type] # an instance
        else:
            yield f"{prefix}{field.name}"


def _nearest(key: str, table: Iterable[str], prefix: str, known: Sequence[str]) -> str:
    """The keys of this name in other tables, else those with a similar name, first in the same table; else all keys."""
    by_name: dict[str, list[str]] = {}
    for dotted in known:
        by_name.setdefault(dotted.rpartition(".")[2], []).append(dotted)
    nearest = by_name.get(key, [])
    if not nearest:
        candidates = ([f"{prefix}{name}" for name in _similar(key, table)], *map(by_name.get, _similar(key, by_name)))
        nearest = next((keys for keys in candidates if keys), [])
    if not nearest:
        return f"known are {', '.join(known)}"
    return f"the nearest {'is' if len(nearest) == 1 else 'are'} {', '.join(nearest)}"


def _similar(key: str, names: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(key, list(names), n=1)
