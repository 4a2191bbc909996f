"""The configuration in an archive: an empty home takes it over, another one only names the differences."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import replace

from qa_bot.home.config import CONFIG_FILE, PRIVATE, Config, ConfigError, known_keys, set_value
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.transfer.archive import Archive

LONGEST_SETTINGS = 1024**2
"""Bytes."""
OF_MACHINES = PRIVATE | {"serve.host", "serve.port", "serve.liveqa_port", "backup.to"}
"""Keys that are right for one machine only; so are texts with a slash, which name folders, addresses and models."""


def adopt_settings(home: Home, config: Config, archive: Archive) -> tuple[Config, list[str]]:
    """Take over the archive's settings if the home is empty and has none; the configuration, and what was taken."""
    if (home.path / CONFIG_FILE).exists() or Generations(home.index).current_number() is not None:
        return config, []
    taken = []
    for name, value in archived_settings(archive):
        if name in OF_MACHINES or (isinstance(value, str) and ("/" in value or "\\" in value)):
            continue
        try:
            set_value(home.path, name, str(value).lower() if isinstance(value, bool) else str(value))
        except ConfigError:  # of another version: it is named as a difference
            continue
        taken.append(name)
        if name not in config.origins:  # else the environment or a flag stands above the file
            section, _, short = name.partition(".")
            config = replace(config, **{section: replace(getattr(config, section), **{short: value})})
    return config, [f"The archive's configuration was taken over: {', '.join(taken)}."] if taken else []


def archived_settings(archive: Archive) -> Iterator[tuple[str, object]]:
    """The known keys of the archive with their values; none if the part is damaged."""
    for part in archive.parts("settings"):
        with archive.leaf(part) as leaf:
            text = leaf.raw.read(LONGEST_SETTINGS).decode("utf-8", "replace")
        try:
            settings = tomllib.loads(text)
        except (ValueError, RecursionError):
            return
        for section, table in settings.items():
            for short, value in table.items() if isinstance(table, dict) else ():
                if f"{section}.{short}" in known_keys():
                    yield f"{section}.{short}", value
