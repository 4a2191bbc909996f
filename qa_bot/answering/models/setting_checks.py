"""Checks what a new setting names before it is written: a URL that the store opens, folders that hold rankers.

Otherwise a wrong value fails every later question.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from qa_bot.home.config import ConfigError
from qa_bot.home.folder import Home


def check_setting(home: Home, name: str, value: str) -> None:
    """Raises ConfigError if nothing can be opened by the value; keys that open nothing are left to `set_value`."""
    check = _CHECKS.get(name)
    if check is not None and value.strip():
        check(home, name, value)


def _check_url(_home: Home, name: str, value: str) -> None:
    from qa_bot.home.store.database import StoreError, expect_url

    try:
        expect_url(value)
    except StoreError as error:
        raise ConfigError(f"{name}: {error}") from None


def _check_rankers(home: Home, name: str, value: str) -> None:
    from qa_bot.answering.models.ranker_loading import RankerError, expect_rankers

    try:
        expect_rankers(value, models=home.models)
    except RankerError as error:
        raise ConfigError(f"{name}: {error}") from None


def _check_fusion(_home: Home, name: str, value: str) -> None:
    from qa_bot.answering.models.ranker_loading import RankerError, expect_fusion

    try:
        expect_fusion(Path(value))
    except RankerError as error:
        raise ConfigError(f"{name}: {error}") from None


def _check_cross_encoder(_home: Home, name: str, value: str) -> None:
    from qa_core.encoders.pair_tokens import PairConfig
    from qa_core.networks.checkpoints import load_config

    try:
        load_config(Path(value), PairConfig)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{name}: {error}") from None


_CHECKS: dict[str, Callable[[Home, str, str], None]] = {
    "store.url": _check_url,
    "ranking.models": _check_rankers,
    "ranking.cross_encoder": _check_cross_encoder,
    "ranking.fusion": _check_fusion,
    "ranking.challenger": _check_fusion,
}
