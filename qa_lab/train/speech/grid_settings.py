"""Settings of `train grid`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from generators.topics.counting_grid import GridConfig
from generators.training.grid_fitting import FitConfig
from qa_lab.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, in_table, load_settings, source_of


@dataclass(frozen=True, slots=True)
class GridSettings:
    """Keys of `--config`."""

    preset: Literal["default", "thesis"] = "default"  # thesis: β = 0, as in Wang (2018), ch. 8.5.1
    vocabulary: int = 8_000  # words, the most frequent ones
    minimum: int = 5  # texts that contain a word, at least
    stop_words: bool = True  # whether function words are left out
    floor: float = 1e-4  # words of a cell below this probability are not saved
    grid: GridConfig = field(default_factory=GridConfig)
    training: FitConfig = field(default_factory=FitConfig)


_PRESETS = {
    "default": GridSettings(),
    "thesis": GridSettings(preset="thesis", grid=GridConfig(background=0.0)),
}


def settings(request: Request) -> GridSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(request.config, GridSettings(), preset=lambda c: _PRESETS[c.preset])
    source = source_of(request.config)
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; leave --base out.")
    training = config.training
    names = ("vocabulary", "minimum", *in_table("training", "steps", "patience"))
    check_positive(config, *names, source=request.config)
    wrong = [f"training.wide_steps = {training.wide_steps}"] if training.wide_steps < 0 else []
    wrong += [] if 0 <= config.floor < 1 else [f"floor = {config.floor}"]
    wrong += [] if training.tolerance >= 0 else [f"training.tolerance = {training.tolerance}"]
    if wrong:
        raise SettingsError(f"{source}: Expected numbers from 0, and a floor below 1, but got {', '.join(wrong)}.")
    return config
