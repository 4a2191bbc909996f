"""Errors of training runs; their messages are written for the user."""

from __future__ import annotations


class TrainingError(ValueError):
    """A run that cannot start or cannot continue; the message says why and what to do."""


class TrainingDataError(TrainingError):
    """Data that no model can be trained or measured on."""


class SettingsError(TrainingError):
    """Settings, options or a configuration file that cannot be used."""


class RunError(TrainingError):
    """A run folder that cannot be written to or resumed."""
