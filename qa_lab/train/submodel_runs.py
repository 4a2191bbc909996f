"""Runs of the parts of a chat model or a persona, inside the run of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from generators.conversation.padded_batches import SourceTarget
from generators.topics.steering import Steering
from generators.training.chat_training import PartConfig, optimiser, train_part
from qa_core.measures.plots import draw_curve, write_curve
from qa_core.networks.checkpoints import read_tensors, write_weights
from qa_core.training.loop import Training
from qa_core.training.resume import load_training, save_training
from qa_lab.train.training_run import CURVE, STATE, TrainingRun
from qa_lab.train.verb import Job

_DONE = "weights.safetensors"


@dataclass(frozen=True, slots=True)
class SubmodelRun(TrainingRun):
    """The run of one part."""

    name: str

    @property
    def state(self) -> Path:
        return self.out / STATE / self.name

    @property
    def curve(self) -> Path:
        """The curve of forward is that of the whole run."""
        return self.out / (CURVE if self.name == "forward" else f"curve-{self.name}.csv")

    def save(self, training: Training) -> None:
        save_training(self.state, training)
        self.write_identity()
        write_curve(self.curve, training.history)


def begin(job: Job[Any], **sizes: object) -> TrainingRun:
    """The run of the whole: a new one, or the saved one. Raises RunError."""
    run = TrainingRun(job.request.out, job.identity(**sizes))
    if job.request.resume:
        run.check()
    else:
        run.begin()
        run.write_identity()
    return run


def train_submodel(
    job: Job[Any],
    run: TrainingRun,
    name: str,
    module: nn.Module,
    rows: Sequence[SourceTarget],
    held_out: Sequence[SourceTarget],
    config: PartConfig,
    steering: Steering | None = None,
) -> None:
    """Train the parameters of a part that require gradients; a finished part is loaded, an interrupted one resumed."""
    part = SubmodelRun(run.out, run.identity, name)
    done = part.state / _DONE
    trained = {key: tensor for key, tensor in module.named_parameters() if tensor.requires_grad}
    if done.is_file():
        weights = read_tensors(done)
        with torch.no_grad():
            for key, tensor in trained.items():
                tensor.copy_(weights[key])
        module.eval()
        return
    training = Training(module, optimiser(trained.values(), config), seed=job.request.seed)
    if job.request.resume and part.saved:
        load_training(part.state, training)
    job.drive(part, training, train_part(training, rows, config, held_out=held_out, steering=steering))
    module.eval()
    part.save(training)
    if job.request.plots:
        draw_curve(part.curve.with_suffix(".png"), training.history, measure=job.measure)
    write_weights(done, trained)
