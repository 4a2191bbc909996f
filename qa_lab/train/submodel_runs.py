"""A part of a chat model or a persona while it is trained: its own place in the run of the whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from generators.conversation.padded_batches import SourceTarget
from generators.topics.steering import Steering
from generators.training.chat_training import PartConfig, optimiser, train_part
from qa_core.measures.plots import draw_curve, write_curve
from qa_core.networks.checkpoints import read_tensors, write_weights
from qa_core.training.loop import Progress, Training
from qa_core.training.resume import load_training, save_training
from qa_lab.train.request import Request
from qa_lab.train.training_run import CURVE, IDENTITY, STATE, TrainingRun, drive

OnProgress = Callable[[Progress], None]
_DONE = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class SubmodelRun(TrainingRun):
    """A part's own place in the run of the whole."""

    name: str

    @property
    def state(self) -> Path:
        return self.out / STATE / self.name

    @property
    def curve(self) -> Path:
        """Forward's stands as that of the run."""
        return self.out / (CURVE if self.name == "forward" else f"curve-{self.name}.csv")

    def save(self, training: Training) -> None:
        save_training(self.state, training)
        (self.state / IDENTITY).write_text(json.dumps(self.identity, indent=2) + "\n", encoding="utf-8")
        write_curve(self.curve, training.history)


def begun(request: Request, identity: dict[str, object]) -> TrainingRun:
    """The run of the whole, a new one or, where that is asked for, the one before; raises RunError."""
    run = TrainingRun(request.out, identity)
    if request.resume:
        run.check()
    else:
        run.begin()
        (run.state / IDENTITY).write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")
    return run


def train_in(
    part: SubmodelRun,
    module: nn.Module,
    rows: Sequence[SourceTarget],
    held_out: Sequence[SourceTarget],
    config: PartConfig,
    request: Request,
    on_progress: OnProgress,
    steering: Steering | None = None,
) -> None:
    """The module gets its weights, from an earlier try where that ended it; only those that may change do."""
    done = part.state / _DONE
    own = {name: tensor for name, tensor in module.named_parameters() if tensor.requires_grad}
    if done.is_file():
        weights = read_tensors(done)
        with torch.no_grad():
            for name, tensor in own.items():
                tensor.copy_(weights[name])
        module.eval()
        return
    training = Training(module, optimiser(own.values(), config), seed=request.seed)
    if request.resume and (part.state / IDENTITY).is_file():
        load_training(part.state, training)
    drive(part, training, train_part(training, rows, config, held_out=held_out, steering=steering), on_progress)
    module.eval()
    part.save(training)
    if request.plots:
        draw_curve(part.curve.with_suffix(".png"), training.history, measure="perplexity")
    write_weights(done, own)
