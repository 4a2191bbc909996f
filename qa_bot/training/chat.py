"""`train chat`: from dialogues to a chat model, whose parts are trained one after the other (thesis, ch. 8.3).

Forward `p(T|S)`, the language model `p(T)`, backward `p(S|T)`, then the acceptor of selective sampling.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import nn

from generators.acceptor import Examples, train_acceptor
from generators.chat_model import ChatModel
from generators.columns import Row
from generators.training import acceptor_examples, begin_from, optimiser, perplexity, train_part
from qa_bot.training.chat_card import Outcome, card
from qa_bot.training.chat_settings import PARTS, ChatSettings, configured
from qa_bot.training.dense import TrainingError
from qa_bot.training.dialogues import Dialogue, Dialogues, Exchange, exchanges, read_dialogues, split_dialogues
from qa_bot.training.pairs import TrainingDataError
from qa_bot.training.request import Request
from qa_bot.training.run import CURVE, IDENTITY, STATE, Run, RunError, hold
from qa_bot.training.settings import SettingsError, device_of
from qa_core.checkpoints import read_tensors, write_weights
from qa_core.plots import draw_curve, write_curve
from qa_core.resume import load_training, save_training
from qa_core.training import Progress, Training, seed_everything

HELD_OUT = 4_000
"""Held-out exchanges that perplexity is taken on at most."""
_DONE = "weights.safetensors"

Told = Callable[[Dialogues], None]
Reported = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class _Part(Run):
    """A part's own place in the run of the whole."""

    name: str

    @property
    def state(self) -> Path:
        return self.out / STATE / self.name

    @property
    def curve(self) -> Path:
        """Forward's stands as that of the run."""
        return self.out / (CURVE if self.name == "forward" else f"curve-{self.name}.csv")

    @property
    def begun(self) -> bool:
        return (self.state / IDENTITY).is_file()

    def save(self, training: Training) -> None:
        """The state, and the curve."""
        save_training(self.state, training)
        (self.state / IDENTITY).write_text(json.dumps(self.identity, indent=2) + "\n", encoding="utf-8")
        write_curve(self.curve, training.history)


def train_chat(request: Request, *, told: Told = lambda _: None, reported: Reported = lambda _: None) -> Outcome:
    """Train and write `request.out`: the model, its card, `curve.csv` of forward, and a picture where it was asked for.

    Args:
        told: hears what was read, rejects included, before training begins.
        reported: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, told, reported)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Of the longest part, for a progress bar."""
    settings = configured(request)
    return max(settings.part(name).epochs for name in PARTS)


def parted(request: Request, told: Told) -> tuple[list[Dialogue], list[Dialogue], int]:
    """Dialogues for training, those held out, and how many places of the data could not be read."""
    data = read_dialogues(request.data, limit=request.limit)
    told(data)
    try:
        share = float(request.dev)
    except ValueError:
        return list(data.dialogues), list(read_dialogues([Path(request.dev)]).dialogues), len(data.rejects)
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
    train, held = split_dialogues(data.dialogues, share)
    return train, held, len(data.rejects)


def _trained(request: Request, settings: ChatSettings, told: Told, reported: Reported) -> Outcome:
    started = time.monotonic()
    dialogues, held, rejects = parted(request, told)
    train, dev = exchanges(dialogues), _spread(exchanges(held), HELD_OUT)
    if not train or not dev:
        raise TrainingDataError(
            f"Expected replies for training and to hold out, but got {len(train)} and {len(dev)}; give more, or name "
            "development data with --dev PATH."
        )
    seed_everything(request.seed)
    texts = [turn for dialogue in dialogues for turn in (*dialogue.turns, *dialogue.replies)]
    model = ChatModel.of(texts, settings.model, minimum=settings.minimum).to(device_of(settings.device))
    identity = {"config": asdict(settings), "replies": len(train), "held_out": len(dev), "seed": request.seed}
    run = _begun(request, identity)
    told_of = {}
    for name in PARTS:
        measured = rows_of(model, name, dev)
        _train_part(_Part(run.out, identity, name), model, rows_of(model, name, train), measured, request, reported)
        told_of[name] = perplexity(getattr(model, name), measured)
    accuracy = _accepting(model, train, settings, request.seed)
    seconds = time.monotonic() - started
    words = len(model.vocabulary)
    outcome = Outcome(len(train), len(dev), told_of, accuracy, model.parameters, words, seconds, rejects)
    model.save(request.out, card=card(outcome, settings, request), half=settings.half)
    shutil.rmtree(run.state, ignore_errors=True)
    return outcome


def rows_of(model: ChatModel, part: str, found: Sequence[Exchange]) -> list[Row]:
    """What a part of the model learns from: replies that have a word and are not cut short."""
    longest = model.config.max_target
    kept = (each for each in found if 1 < len(model.target(each.reply)) <= longest)
    if part == "language":
        return [model.language_row(each.reply) for each in kept]
    row = model.forward_row if part == "forward" else model.backward_row
    return [row(each.context, each.reply) for each in kept]


def _begun(request: Request, identity: dict[str, object]) -> Run:
    run = Run(request.out, identity)
    if request.resume:
        run.check()
    else:
        run.begin()
        (run.state / IDENTITY).write_text(json.dumps(identity, indent=2) + "\n", encoding="utf-8")
    return run


def _train_part(
    part: _Part,
    model: ChatModel,
    rows: Sequence[Row],
    held_out: Sequence[Row],
    request: Request,
    reported: Reported,
) -> None:
    """The model's part of that name gets its weights, from an earlier try where that ended it."""
    module, config = getattr(model, part.name), configured(request).part(part.name)
    if (part.state / _DONE).is_file():
        _fill(module, part.state / _DONE)
        return
    if part.name != "forward":
        begin_from(module, model.forward)
    training = Training(module, optimiser(module, config), seed=request.seed)
    if request.resume and part.begun:
        load_training(part.state, training)
    hold(part, training, train_part(training, rows, config, held_out=held_out), reported)
    module.eval()
    part.save(training)
    if request.plots:
        draw_curve(part.curve.with_suffix(".png"), training.history, measure="perplexity")
    write_weights(part.state / _DONE, dict(module.named_parameters()))


def _accepting(model: ChatModel, train: Sequence[Exchange], settings: ChatSettings, seed: int) -> float:
    """Train the acceptor; the share of words of which it tells true from drawn, of those that it did not learn from."""
    generator = torch.Generator().manual_seed(seed)
    rows = rows_of(model, "forward", _spread(train, settings.examples // 4))
    examples = acceptor_examples(model, rows, generator=generator, limit=settings.examples)
    cut = len(examples) * 9 // 10
    learnt = Examples(examples.features[:cut], examples.right[:cut])
    for _ in train_acceptor(model.acceptor, learnt, settings.model.acceptor, seed=seed):
        pass
    model.acceptor.eval()
    with torch.no_grad():
        right = (model.acceptor.logits(examples.features[cut:]) > 0) == (examples.right[cut:] > 0)
    return float(right.float().mean())


def _fill(module: nn.Module, path: Path) -> None:
    weights = read_tensors(path)
    with torch.no_grad():
        for name, tensor in module.named_parameters():
            tensor.copy_(weights[name])


def _spread(found: Sequence[Exchange], count: int) -> list[Exchange]:
    """At most `count`, from all over the data."""
    return [found[place * len(found) // count] for place in range(count)] if len(found) > count else list(found)
