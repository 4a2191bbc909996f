"""Configuration in layers: defaults < `HOME/qa-bot.toml` < environment `QA_BOT_SECTION__KEY` < flags.

The keys are in `sections.py`; this file reads, checks and writes them.
"""

from __future__ import annotations

import difflib
import hashlib
import math
import os
import re
import tomllib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from qa_bot.home.sections import THESIS, Holds
from qa_bot.home.sections import Config as Config
from qa_core.atomic import atomic_file, locked_folder, remove_partial

CONFIG_FILE = "qa-bot.toml"
PREFIX = "QA_BOT_"
NOT_KEYS = frozenset({"QA_BOT_HOME", "QA_BOT_DATA"})
ALIASES = {"QA_BOT_TOKEN": "serve.token"}
SECRETS = frozenset({"serve.token"})
PRIVATE = SECRETS | {"store.url"}
"""Keys that are not exported; the URL of a database may hold a password."""
FORMULA = "ranking.formula"
HASHED = "sha256:"
"""Begins a secret that is stored as its hash."""
_TRUE = frozenset({"true", "yes", "on", "1"})
_FALSE = frozenset({"false", "no", "off", "0"})
_RANKER = re.compile(r"(?P<place>.*?)(?P<how>(@(text|title|both))?(:\d+)?)")
"""A ranker of `ranking.models`, and how it is used."""
_PASSWORD = re.compile(r"(?<=:)[^:/@]+(?=@)")


class ConfigError(ValueError):
    """The configuration cannot be used; the message names the key, its location and what to do."""


class Setting(NamedTuple):
    """One line of `qa-bot config`; secrets in `value` are masked."""

    key: str
    value: str
    origin: str
    description: str


class _RawValue(NamedTuple):
    """A value of one layer, unchecked; `text` means that it must be converted to the key's type."""

    key: str
    value: object
    origin: str
    text: bool


@dataclass(frozen=True, slots=True)
class _Key:
    """A key's type, default, bounds and description."""

    name: str
    kind: Any
    default: object
    description: str
    least: float
    most: float
    holds: Holds


def load_config(
    home: Path, *, environment: Mapping[str, str] | None = None, flags: Mapping[str, object] | None = None
) -> Config:
    """The configuration of a home; flags are by `section.key`, and None means not given.

    Raises ConfigError for an unknown key, a value of the wrong type or out of bounds, and an unreadable file.
    """
    if not isinstance(flags or {}, Mapping):
        raise ConfigError(f"Expected flags by `section.key`, such as {{'answer.limit': 500}}, but got {flags!r}.")
    layers = [
        *_from_file(home / CONFIG_FILE),
        *_from_environment(os.environ if environment is None else environment),
        *(
            _RawValue(name, value, "flag", isinstance(value, str))
            for name, value in (flags or {}).items()
            if value is not None
        ),
    ]
    return _compose(_with_preset({raw.key: raw for raw in layers}))


def read_settings(file: Path) -> dict[str, object]:
    """The checked keys of a configuration file, to be used as flags; raises ConfigError."""
    return {raw.key: _validate(raw) for raw in _from_file(file)}


def shareable(home: Path) -> str:
    """The home's configuration file as TOML, without comments, secrets and the database; raises ConfigError."""
    import tomlkit  # only `export` needs it

    document = tomlkit.document()
    for name, value in read_settings(home / CONFIG_FILE).items():
        section, _, short = name.partition(".")
        if name not in PRIVATE:
            document.setdefault(section, tomlkit.table())[short] = value
    return tomlkit.dumps(document)


def without_database(home: Path) -> bool:
    """Take the database's URL out of the home's file, so that the home uses the file in it; whether it had one."""
    import tomlkit

    file = home / CONFIG_FILE
    document = tomlkit.parse(file.read_text("utf-8-sig")) if file.exists() else tomlkit.document()
    section = document.get("store")
    if not isinstance(section, dict) or "url" not in section:
        return False
    del section["url"]
    with atomic_file(file, private=True) as out:
        out.write(tomlkit.dumps(document).encode())
    return True


def explain(config: Config) -> list[Setting]:
    """Every key with its value, the source of the value and its description, in the order of the sections."""
    return [
        Setting(name, _shown(name, _value(config, name)), config.origins.get(name, "default"), known.description)
        for name, known in known_keys().items()
    ]


def set_value(home: Path, name: str, text: str) -> None:
    """Check a value and write it to the home's file atomically; comments are kept, of a token its hash is written."""
    set_values(home, {name: text})


def set_values(home: Path, texts: Mapping[str, str]) -> None:
    """As `set_value`, for several values by name: all are written at once."""
    import tomlkit  # only `config set` needs it

    file = (home / CONFIG_FILE).resolve()
    values = {name: _validate(_RawValue(name, text, "command line", text=True)) for name, text in texts.items()}
    for name in SECRETS & texts.keys():
        values[name] = hashed_token(texts[name], name) if texts[name] else values[name]
    with locked_folder(home):
        remove_partial(file)
        list(_from_file(file))
        document = tomlkit.parse(file.read_text("utf-8-sig")) if file.exists() else tomlkit.document()
        for name, value in values.items():
            section, _, short = name.partition(".")
            if section not in document:
                document[section] = tomlkit.table()
            document[section][short] = value
        with atomic_file(file, private=True) as out:  # private: it may hold a token
            out.write(tomlkit.dumps(document).encode())


def with_absolute_folders(name: str, text: str, shipped: Container[str] = ()) -> str:
    """A value for `set_value` that means the same in every directory, where a service or another command may run.

    Args:
        shipped: names of models, also if a folder has the same name.

    Raises:
        ConfigError: a folder does not exist.
    """
    known = known_keys().get(name)
    if known is None or known.holds == "value":
        return text
    parts = text.split(",") if known.holds == "models" else [text]
    return ", ".join(_absolute(known, part.strip(), shipped) for part in parts)


def _absolute(known: _Key, value: str, shipped: Container[str]) -> str:
    split = _RANKER.fullmatch(value) if known.holds == "models" else None
    place, how = (split["place"], split["how"]) if split else (value, "")
    folder = Path(place).expanduser()
    if not place or place in shipped:
        return value
    if folder.is_dir() or known.holds == "new folder":
        return f"{folder.absolute()}{how}"
    if known.holds == "folder" or place.startswith((".", "/", "~")) or place.count("/") > 1:
        raise ConfigError(f"Expected a folder for {known.name}, but {folder.absolute()} does not exist; mend the path.")
    return value


def token_hash(token: str) -> str:
    """What is stored of a token."""
    return HASHED + hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def hashed_token(token: str, where: str) -> str:
    """What is stored of a token, unless that is what is given; raises ConfigError if no header can carry the token."""
    if re.fullmatch(HASHED + "[0-9a-f]{64}", token):
        return token
    if token and token.isascii() and token.isprintable() and " " not in token:
        return token_hash(token)
    got = "an empty one" if not token else "one with spaces or characters beyond ASCII"
    raise ConfigError(f"Expected a token that a header can carry in {where}, but got {got}.")


@cache
def known_keys() -> dict[str, _Key]:
    """All keys by `section.key`."""
    return {known.name: known for section, owner in _sections().items() for known in _keys_of(section, owner)}


def _sections() -> dict[str, type[Any]]:
    return {name: owner for name, owner in get_type_hints(Config).items() if name != "origins"}


def _keys_of(section: str, owner: type[Any]) -> Iterator[_Key]:
    hints = get_type_hints(owner)
    for entry in fields(owner):
        yield _Key(f"{section}.{entry.name}", hints[entry.name], entry.default, **entry.metadata)


def _compose(raw_values: Mapping[str, _RawValue]) -> Config:
    values: dict[str, dict[str, object]] = {}
    for raw in raw_values.values():
        section, _, short = raw.key.partition(".")
        values.setdefault(section, {})[short] = _validate(raw)
    built = {section: owner(**values.get(section, {})) for section, owner in _sections().items()}
    return Config(**built, origins={name: raw.origin for name, raw in raw_values.items()})


def _with_preset(raw_values: Mapping[str, _RawValue]) -> Mapping[str, _RawValue]:
    """The values over those that the formula `thesis` sets."""
    formula = raw_values.get(FORMULA)
    if formula is None or formula.value != "thesis":
        return raw_values
    preset = {name: _RawValue(name, value, f"{FORMULA} = thesis", text=False) for name, value in THESIS.items()}
    return {**preset, **raw_values}


def _value(config: Config, name: str) -> object:
    section, _, short = name.partition(".")
    return getattr(getattr(config, section), short)


def _shown(name: str, value: object) -> str:
    if name in SECRETS:
        return "********" if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    return _PASSWORD.sub("********", str(value)) if "://" in str(value) else str(value)


# --- layers ---------------------------------------------------------------------------------------------------------


def _from_file(file: Path) -> Iterator[_RawValue]:
    text = _read(file)
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"Expected TOML in {file}, but got: {error}; mend the line or remove the file.") from None
    for section, table in document.items():
        if not isinstance(table, dict):
            raise ConfigError(
                f"Expected [section] with keys under it in {_at(file, text, section)}, but got the bare key "
                f"{section!r}; {_nearest(section)}."
            )
        for short, value in table.items():
            yield _RawValue(f"{section}.{short}", value, _at(file, text, short, section), text=False)
        _check_section(section, _at(file, text, section, section))


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"Expected UTF-8 in {file}, but got byte {error.object[error.start]:#x}; save it so."
        ) from None
    except OSError as error:
        raise ConfigError(f"Expected to read {file}, but got: {error.strerror}; mend its rights.") from None


def _at(file: Path, text: str, short: str, section: str = "") -> str:
    """`FILE:LINE` of a key, or of a section's header if both names are equal; the file if a scan finds neither."""
    inside = ""
    for number, line in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\s*[\"']?([\w-]+)", line)
        inside = header[1] if header else inside
        is_key = inside == section and re.match(rf"\s*[\"']?{re.escape(short)}[\"']?\s*=", line)
        if is_key or (header and inside == short == section):
            return f"{file}:{number}"
    return str(file)


def _from_environment(environment: Mapping[str, str]) -> Iterator[_RawValue]:
    for variable, text in environment.items():
        if variable in ALIASES:
            yield _RawValue(ALIASES[variable], text, variable, text=True)
    for variable, text in environment.items():
        if variable.startswith(PREFIX) and variable not in NOT_KEYS and variable not in ALIASES:
            name = variable.removeprefix(PREFIX).lower().replace("__", ".", 1)
            yield _RawValue(name, text, variable, text=True)


# --- checks ---------------------------------------------------------------------------------------------------------


def _check_section(section: str, where: str) -> None:
    """Raises ConfigError for an unknown section, even without keys."""
    if not any(name.startswith(f"{section}.") for name in known_keys()):
        raise ConfigError(f"Expected a known section, but got [{section}] in {where}; {_nearest(section)}.")


def _validate(raw: _RawValue) -> object:
    known = known_keys().get(raw.key)
    if known is None:
        raise ConfigError(f"Expected a known key, but got {raw.key!r} from {raw.origin}; {_nearest(raw.key)}.")
    value = _parsed(known, raw.value) if raw.text else raw.value
    if isinstance(value, int) and not isinstance(value, bool) and known.kind is float:
        value = float(value)
    if not _fits(known, value):
        shown = _shown(raw.key, raw.value)
        raise ConfigError(f"Expected {_expected(known)} for {raw.key}, but got {shown!r} from {raw.origin}.")
    return value


def _parsed(known: _Key, value: object) -> object:
    """A text converted to the key's type, or unchanged if that fails; `_fits` rejects it then."""
    text = str(value).strip()
    if known.kind is bool:
        return text.lower() in _TRUE if text.lower() in _TRUE | _FALSE else value
    if known.kind in (int, float):
        try:
            return known.kind(text)
        except ValueError:
            return value
    return value if known.kind is str else text


def _fits(known: _Key, value: object) -> bool:
    if get_origin(known.kind) is Literal:
        return value in get_args(known.kind)
    if type(value) is not known.kind or (known.holds == "model" and not str(value).strip()):
        return False
    return not isinstance(value, (int, float)) or (known.least <= value <= known.most and math.isfinite(value))


def _expected(known: _Key) -> str:
    if get_origin(known.kind) is Literal:
        return "one of " + ", ".join(get_args(known.kind))
    if known.holds == "model":
        return "a name or a folder"
    noun = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}[known.kind]
    if math.isfinite(known.least) and math.isfinite(known.most):
        return f"{noun} from {known.least:g} to {known.most:g}"
    return f"{noun} of at least {known.least:g}" if math.isfinite(known.least) else noun


def _nearest(name: str) -> str:
    names = list(known_keys()) + sorted({known.partition(".")[0] for known in known_keys()})
    matches = difflib.get_close_matches(name.lower(), names, n=1, cutoff=0.5)
    matches = matches or [known for known in known_keys() if known.endswith(f".{name.rpartition('.')[2].lower()}")]
    return f"the nearest is {matches[0]}" if matches else "`qa-bot config` lists all keys"
