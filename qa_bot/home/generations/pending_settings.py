"""Settings that belong to a generation of the index: `qa-bot use` changes both by one act.

    HOME/.pending-settings.json    {"generation": N, "settings": {NAME: VALUE}}

The file is written before generation N can become current. Its settings hold from the moment when N is current until
`qa-bot.toml` has them. A process that dies in between leaves the new settings; the next command writes them.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from qa_bot.home.config import PREFIX, Config, ConfigError, load_config, set_values
from qa_bot.home.folder import Home
from qa_bot.home.generations.generations import Generations
from qa_bot.home.generations.manifest import CorruptGenerationError
from qa_core.atomic import atomic_file, remove_partial, sync

log = logging.getLogger(__name__)

PENDING = ".pending-settings.json"


class PendingSettings(NamedTuple):
    """Texts of settings by `section.key`, and the generation with which they hold."""

    generation: int
    settings: Mapping[str, str]


def announce_settings(home: Home, pending: PendingSettings) -> None:
    """Have settings hold from when their generation is current; only for the single writer of a home."""
    remove_partial(home.path / PENDING)
    with atomic_file(home.path / PENDING, private=True) as file:
        file.write(json.dumps(pending._asdict()).encode())


def present_config(home: Home, flags: Mapping[str, object] | None = None) -> Config:
    """The configuration with the settings of the current generation; what a dead writer left is finished first.

    Raises ConfigError, as `load_config`.
    """
    finish_if_idle(home)
    config = load_config(home.path, flags=flags)
    lacking = {name: text for name, text in _settings(home).items() if not _is_given(config.origins.get(name, ""))}
    return load_config(home.path, flags={**lacking, **(flags or {})}) if lacking else config


def finish_settings(home: Home) -> None:
    """Write the settings of the current generation to `qa-bot.toml`, and drop those of one that never became current.

    Only for the single writer of a home. An error is a warning: the settings hold meanwhile.
    """
    if not (home.path / PENDING).exists():
        return
    pending, index = _read(home), Generations(home.index)
    names = ", ".join(pending.settings) if pending else "settings"
    try:
        if pending and index.current_number() == pending.generation:
            set_values(home.path, pending.settings)
        elif index.announced():  # the database cannot be asked now
            return
        (home.path / PENDING).unlink(missing_ok=True)
        sync(home.path)
    except (OSError, ConfigError, CorruptGenerationError) as error:
        log.warning("The change of %s is saved, but not in qa-bot.toml; the next command writes it: %s", names, error)


def finish_if_idle(home: Home) -> None:
    """Finish what a dead writer left; a writer that is at work does it itself."""
    if not (home.path / PENDING).exists():
        return
    with home.lock_if_free() as is_free:
        if is_free:
            finish_settings(home)


def _settings(home: Home) -> Mapping[str, str]:
    """Settings of the current generation that `qa-bot.toml` may lack; empty almost always."""
    pending = _read(home)
    with suppress(CorruptGenerationError):
        if pending is not None and Generations(home.index).current_number() == pending.generation:
            return pending.settings
    return {}


def _is_given(origin: str) -> bool:
    """Whether a value stands above `qa-bot.toml`, by an environment variable or a flag."""
    return origin == "flag" or origin.startswith(PREFIX)


def _read(home: Home) -> PendingSettings | None:
    """None if there are none, or damaged ones, of which nothing can be made."""
    path = home.path / PENDING
    try:
        content = json.loads(path.read_bytes())
        return PendingSettings(int(content["generation"]), {str(k): str(v) for k, v in content["settings"].items()})
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        log.warning(
            "%s is damaged and left out; if only keywords are searched, run `qa-bot use` again: %s", path, error
        )
        return None
