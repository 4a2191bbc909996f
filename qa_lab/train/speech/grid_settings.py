"""What `train grid` may be configured with."""

from __future__ import annotations

from dataclasses import dataclass, field

from generators.topics.counting_grid import GridConfig
from generators.training.grid_fitting import FitConfig
from qa_lab.train.errors import SettingsError
from qa_lab.train.request import Request
from qa_lab.train.settings import read_toml, settled


@dataclass(frozen=True, slots=True)
class GridSettings:
    """What `--config` may hold."""

    vocabulary: int = 8_000  # words, the most frequent ones
    minimum: int = 5  # texts that a word has to stand in
    stop_words: bool = True  # whether function words are left out
    floor: float = 1e-4  # a cell's words below this probability are left out of what is saved
    grid: GridConfig = field(default_factory=GridConfig)
    training: FitConfig = field(default_factory=FitConfig)


def configured(request: Request) -> GridSettings:
    """The settings over their defaults. Raises SettingsError."""
    source = str(request.config or "defaults")
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; leave --base out.")
    settings = settled(GridSettings(), read_toml(request.config) if request.config else {}, source=source)
    training = settings.training
    least = {
        "vocabulary": settings.vocabulary,
        "minimum": settings.minimum,
        "training.steps": training.steps,
        "training.patience": training.patience,
    }
    wrong = [f"{name} = {value}" for name, value in least.items() if value < 1]
    wrong += [f"training.wide_steps = {training.wide_steps}"] if training.wide_steps < 0 else []
    wrong += [] if 0 <= settings.floor < 1 else [f"floor = {settings.floor}"]
    wrong += [] if training.tolerance >= 0 else [f"training.tolerance = {training.tolerance}"]
    if wrong:
        raise SettingsError(f"{source}: Expected positive numbers, but got {', '.join(wrong)}.")
    return settings
