"""`train chat`: from dialogues to a chat model, whose parts are trained one after the other (Wang (2018), ch. 8.3).

Forward `p(T|S)`, the language model `p(T)`, backward `p(S|T)`, then the acceptor of selective sampling. `--base` names
the counting grid whose topics steer forward; without one it is not steered.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import torch

from generators.conversation.chat_text import ChatText
from generators.conversation.padded_batches import SourceTarget
from generators.topics.counting_grid import CountingGrid
from generators.training.acceptor_training import Examples, train_acceptor
from generators.training.chat_training import acceptor_examples, begin_from, perplexity
from generators.training.trainable_chat import TrainableChat
from qa_bot.answering.models.dialogue_lines import LINES, DialogueLines
from qa_core.training.loop import seed_everything
from qa_lab.data.dialogues import Exchange, exchanges, read_dialogues, split_dialogues
from qa_lab.data.splitting import train_dev_split
from qa_lab.errors import TrainingDataError
from qa_lab.train.settings import device_of
from qa_lab.train.speech.chat_card import ChatOutcome, card
from qa_lab.train.speech.chat_settings import PARTS, ChatSettings, settings
from qa_lab.train.submodel_runs import begin, train_submodel
from qa_lab.train.verb import Job, TrainVerb

HELD_OUT = 4_000
"""Held-out exchanges that perplexity is measured on, at most."""


def _train(job: Job[ChatSettings]) -> ChatOutcome:
    request, config = job.request, job.settings
    data = job.read(read_dialogues)
    dialogues, held_out = train_dev_split(
        request.dev,
        list(data.examples),
        split_dialogues,
        lambda path: list(read_dialogues([path]).examples),
    )
    train, dev = exchanges(dialogues), _spread(exchanges(held_out), HELD_OUT)
    if not train or not dev:
        raise TrainingDataError(
            f"Expected replies for training and to hold out, but got {len(train)} and {len(dev)}; give more, or name "
            "development data with --dev PATH."
        )
    seed_everything(request.seed)
    texts = [turn for dialogue in dialogues for turn in (*dialogue.turns, *dialogue.replies)]
    grid = None if request.base is None else CountingGrid.load(request.base)
    extra = Path(config.words).read_text(encoding="utf-8").splitlines() if config.words else []
    model = TrainableChat.of(texts, config.model, minimum=config.minimum, extra=extra, grid=grid)
    model = model.to(device_of(config.device))
    words = len(model.vocabulary)
    run = begin(job, replies=len(train), held_out=len(dev), words=words)
    perplexities = {}
    for name in PARTS:
        dev_rows, module = rows_of(model, name, dev), getattr(model, name)
        if name != "forward":
            begin_from(module, model.forward)
        steering = model.steering if name == "forward" else None
        rows = rows_of(model, name, train)
        train_submodel(job, run, name, module, rows, dev_rows, config.part(name), steering)
        perplexities[name] = perplexity(module, dev_rows)
        if steering is not None:
            perplexities["forward with the topics of the reply"] = perplexity(module, dev_rows, steering=steering)
    accuracy = _train_acceptor(model, train, config, request.seed)
    outcome = ChatOutcome(
        replies=len(train),
        held_out=len(dev),
        rejected=len(data.rejects),
        words=words,
        parameters=model.parameters,
        seconds=job.seconds,
        perplexity=perplexities,
        acceptor={"accuracy": accuracy},
    )
    model.inference().save(request.out, card=card(outcome, config, request), half=config.half)
    if config.lines:
        DialogueLines.write(request.out / LINES, (exchange.reply for exchange in train))
    run.remove_state()
    return outcome


CHAT = TrainVerb(_train, settings, lambda config, _: max(config.part(name).epochs for name in PARTS), "perplexity")


def rows_of(model: ChatText, part: str, sample: Sequence[Exchange]) -> list[SourceTarget]:
    """Examples for a part of the model: replies that have a word and are not cut short."""
    longest = model.config.max_target
    usable = (exchange for exchange in sample if 1 < len(model.target(exchange.reply)) <= longest)
    if part == "language":
        return [model.language_row(exchange.reply) for exchange in usable]
    row = model.forward_row if part == "forward" else model.backward_row
    return [row(exchange.context, exchange.reply) for exchange in usable]


def _train_acceptor(model: TrainableChat, train: Sequence[Exchange], config: ChatSettings, seed: int) -> float:
    """Train the acceptor; its accuracy on a tenth of the words, which it does not learn from."""
    generator = torch.Generator().manual_seed(seed)
    rows = rows_of(model, "forward", _spread(train, config.examples // 4))
    examples = acceptor_examples(
        model.forward,
        model.language,
        rows,
        generator=generator,
        limit=config.examples,
        steering=model.steering,
        topics=config.forward.topics,
    )
    cut = len(examples) * 9 // 10
    training = Examples(examples.features[:cut], examples.right[:cut])
    for _ in train_acceptor(model.acceptor, training, config.model.acceptor, seed=seed):
        pass
    model.acceptor.eval()
    with torch.no_grad():
        right = (model.acceptor(examples.features[cut:]) > 0) == (examples.right[cut:] > 0)
    return float(right.float().mean())


def _spread(sample: Sequence[Exchange], count: int) -> list[Exchange]:
    """At most `count`, evenly spaced over the data."""
    size = len(sample)
    return [sample[index * size // count] for index in range(count)] if size > count else list(sample)
