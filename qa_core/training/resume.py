"""Saves and resumes a training run, as JSON and safetensors: weights, optimiser, randomness, position and history."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from qa_core.atomic import atomic_folder, current_folder
from qa_core.networks.checkpoints import read_tensors, write_weights
from qa_core.training.loop import Best, Progress, Training

TENSORS, STATE = FILES = ("tensors.safetensors", "state.json")
FORMAT = 1

Tree = Any  # dicts, lists and tuples of tensors and of what JSON can say


def save_training(folder: Path, training: Training) -> None:
    """Write a run; call it when `train` has yielded. An interrupted save leaves the old one."""
    best = training.best
    tree = {
        "place": {"epoch": training.epoch, "batch": training.batch, "step": training.step},
        "model": dict(training.model.state_dict()),
        "optimiser": training.optimiser.state_dict(),
        "best": best and {"epoch": best.epoch, "dev": best.dev, "weights": best.weights},
        "history": [asdict(progress) for progress in training.history],
        "randomness": _randomness(),
    }
    tensors: dict[str, Tensor] = {}
    state = {"format": FORMAT, "seed": training.seed, "run": _packed(tree, tensors)}
    with atomic_folder(folder, FILES) as new:
        (new / STATE).write_text(json.dumps(state), encoding="utf-8")
        write_weights(new / TENSORS, tensors)


def load_training(folder: Path, training: Training) -> None:
    """Load a saved run into `training`, which has the same kind of model and optimiser.

    Raises:
        FileNotFoundError: if there is no saved run.
        ValueError: for a damaged run, another seed, or another model or optimiser.
    """
    state = _state(folder)
    if state["seed"] != training.seed:
        raise ValueError(f"{folder}: Expected a run with seed {training.seed}, but got {state['seed']}; use that seed.")
    tree = _unpacked(state["run"], read_tensors(current_folder(folder) / TENSORS))
    try:
        training.model.load_state_dict(tree["model"])
        training.optimiser.load_state_dict(tree["optimiser"])
    except (RuntimeError, ValueError, KeyError) as error:
        raise ValueError(f"{folder}: Expected a run of this model and optimiser, but got another: {error}") from None
    training.epoch, training.batch, training.step = (tree["place"][key] for key in ("epoch", "batch", "step"))
    training.best = Best(**tree["best"]) if tree["best"] else None
    training.history = [Progress(**progress) for progress in tree["history"]]
    training.restore_randomness = partial(_restore_randomness, tree["randomness"])


def _state(folder: Path) -> dict[str, Any]:
    path = current_folder(folder) / STATE
    if not path.is_file():
        raise FileNotFoundError(f"Expected a saved run with {STATE}, but {folder} has none; train without resuming.")
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: Expected JSON, but got {error}; train without resuming.") from None
    if not isinstance(state, dict) or state.get("format") != FORMAT:
        raise ValueError(f"{path}: Expected a run of format {FORMAT}, but got another; use the qa-bot that wrote it.")
    return state


def _randomness() -> Tree:
    name, key, *rest = np.random.get_state()
    return {
        "python": random.getstate(),
        "numpy": (name, np.asarray(key).tolist(), *rest),
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
    }


def _restore_randomness(states: Tree) -> None:
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["torch"])
    if states["cuda"]:
        torch.cuda.set_rng_state_all(states["cuda"])


def _packed(tree: Tree, tensors: dict[str, Tensor]) -> Tree:
    """The tree as JSON that distinguishes dicts, lists and tuples; its tensors are added to `tensors` by name."""
    if isinstance(tree, Tensor):
        name = str(len(tensors))
        tensors[name] = tree
        return {"tensor": name}
    if isinstance(tree, Mapping):
        return {"dict": [[key, _packed(value, tensors)] for key, value in tree.items()]}
    if isinstance(tree, list | tuple):
        return {type(tree).__name__: [_packed(value, tensors) for value in tree]}
    return tree


def _unpacked(packed: Tree, tensors: Mapping[str, Tensor]) -> Tree:
    if not isinstance(packed, dict):
        return packed
    ((kind, value),) = packed.items()
    if kind == "tensor":
        return tensors[value]
    if kind == "dict":
        return {key: _unpacked(item, tensors) for key, item in value}
    items = [_unpacked(item, tensors) for item in value]
    return tuple(items) if kind == "tuple" else items
