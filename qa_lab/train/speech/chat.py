"""`train chat`: from dialogues to a chat model, whose parts are trained one after the other (thesis, ch. 8.3).

`--base` names the counting grid that forward hears topics from; without one it hears none.

Forward `p(T|S)`, the language model `p(T)`, backward `p(S|T)`, then the acceptor of selective sampling.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from generators.conversation.acceptor import Examples, train_acceptor
from generators.conversation.chat_model import ChatModel
from generators.conversation.padded_batches import SourceTarget
from generators.topics.counting_grid import CountingGrid
from generators.training.chat_training import acceptor_examples, begin_from, perplexity
from qa_core.training.loop import Progress, seed_everything
from qa_lab.train.data.dialogues import Dialogue, Dialogues, Exchange, exchanges, read_dialogues, split_dialogues
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of
from qa_lab.train.speech.chat_card import Outcome, card
from qa_lab.train.speech.chat_settings import PARTS, ChatSettings, configured
from qa_lab.train.submodel_runs import SubmodelRun, begun, train_in

HELD_OUT = 4_000
"""Held-out exchanges that perplexity is taken on at most."""

OnRead = Callable[[Dialogues], None]
OnProgress = Callable[[Progress], None]


def train_chat(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome:
    """Train and write `request.out`: the model, its card, `curve.csv` of forward, and a picture where it was asked for.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, settings or folders do not do.
    """
    settings = configured(request)
    try:
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Of the longest part, for a progress bar."""
    settings = configured(request)
    return max(settings.part(name).epochs for name in PARTS)


def parted(request: Request, on_read: OnRead) -> tuple[list[Dialogue], list[Dialogue], int]:
    """Dialogues for training, those held out, and how many places of the data could not be read."""
    data = read_dialogues(request.data, limit=request.limit)
    on_read(data)
    try:
        share = float(request.dev)
    except ValueError:
        return list(data.dialogues), list(read_dialogues([Path(request.dev)]).dialogues), len(data.rejects)
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
    train, held = split_dialogues(data.dialogues, share)
    return train, held, len(data.rejects)


def _trained(request: Request, settings: ChatSettings, on_read: OnRead, on_progress: OnProgress) -> Outcome:
    started = time.monotonic()
    dialogues, held, rejects = parted(request, on_read)
    train, dev = exchanges(dialogues), _spread(exchanges(held), HELD_OUT)
    if not train or not dev:
        raise TrainingDataError(
            f"Expected replies for training and to hold out, but got {len(train)} and {len(dev)}; give more, or name "
            "development data with --dev PATH."
        )
    seed_everything(request.seed)
    texts = [turn for dialogue in dialogues for turn in (*dialogue.turns, *dialogue.replies)]
    grid = None if request.base is None else CountingGrid.load(request.base)
    wanted = Path(settings.words).read_text(encoding="utf-8").splitlines() if settings.words else []
    made = ChatModel.of(texts, settings.model, minimum=settings.minimum, wanted=wanted, grid=grid)
    model = made.to(device_of(settings.device))
    sizes = {"replies": len(train), "held_out": len(dev), "words": len(model.vocabulary)}
    run = begun(request, {"config": asdict(settings), **sizes, "seed": request.seed})
    told_of = {}
    for name in PARTS:
        measured, module = rows_of(model, name, dev), getattr(model, name)
        if name != "forward":
            begin_from(module, model.forward)
        steering = model.steering if name == "forward" else None
        part = SubmodelRun(run.out, run.identity, name)
        train_in(
            part, module, rows_of(model, name, train), measured, settings.part(name), request, on_progress, steering
        )
        told_of[name] = perplexity(module, measured)
        if steering is not None:
            told_of["forward with the topics of the reply"] = perplexity(module, measured, steering=steering)
    accuracy = _accepting(model, train, settings, request.seed)
    seconds = time.monotonic() - started
    words = len(model.vocabulary)
    outcome = Outcome(len(train), len(dev), told_of, accuracy, model.parameters, words, seconds, rejects)
    model.save(request.out, card=card(outcome, settings, request), half=settings.half)
    shutil.rmtree(run.state, ignore_errors=True)
    return outcome


def rows_of(model: ChatModel, part: str, found: Sequence[Exchange]) -> list[SourceTarget]:
    """What a part of the model learns from: replies that have a word and are not cut short."""
    longest = model.config.max_target
    kept = (each for each in found if 1 < len(model.target(each.reply)) <= longest)
    if part == "language":
        return [model.language_row(each.reply) for each in kept]
    row = model.forward_row if part == "forward" else model.backward_row
    return [row(each.context, each.reply) for each in kept]


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


def _spread(found: Sequence[Exchange], count: int) -> list[Exchange]:
    """At most `count`, from all over the data."""
    return [found[place * len(found) // count] for place in range(count)] if len(found) > count else list(found)
