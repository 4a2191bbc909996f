"""`train persona`: from a monologue to a voice on top of a chat model (thesis, ch. 8.4).

The speaker's language model first, then forward behind made-up contexts and the sentence before, each until it gets
worse at held-out sentences; then the acceptor, the weights of multiplying, and what is known of the sentences to quote.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import torch

from generators.conversation.acceptor import Acceptor
from generators.conversation.chat_model import ChatModel
from generators.conversation.detokenise import Casing
from generators.conversation.language_model import LanguageModel
from generators.conversation.padded_batches import SourceTarget
from generators.personas.persona import Persona, PersonaConfig, fingerprint
from generators.personas.quotations import Quotations
from generators.pretrained.pretrained_persona import QuotedPersona
from generators.pretrained.transformer_loading import is_transformer
from generators.pretrained.transformer_model import PretrainedModel
from generators.training.chat_training import perplexity
from generators.training.persona_training import (
    Spoken,
    adapted_acceptor,
    known_share,
    multiplied_perplexities,
    pseudo_contexts,
    speaker_rows,
    styled_rows,
    tunable,
)
from qa_bot.answering.models.personas import BASE, SHIPPED
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.training.loop import seed_everything
from qa_lab.train.data.monologues import Monologue, read_monologue, split_monologue
from qa_lab.train.errors import RunError, SettingsError, TrainingDataError, TrainingError
from qa_lab.train.request import Request
from qa_lab.train.settings import device_of
from qa_lab.train.speech.persona_card import Change, Outcome, QuotedOutcome, card, quoted_card
from qa_lab.train.speech.persona_settings import PARTS, PersonaSettings, configured
from qa_lab.train.submodel_runs import OnProgress, SubmodelRun, begun, train_in
from qa_lab.train.training_run import TrainingRun

KNOWN = 0.5
"""Share of a sentence's words that the base has to know for its words to be learnt from."""
SPARE = 100
"""Held-out sentences that the weights of multiplying are chosen on at most."""

Module = TypeVar("Module", LanguageModel, Seq2Seq)
OnRead = Callable[[Monologue], None]


@dataclass(frozen=True, slots=True)
class _Material:
    """Sentences and their contexts, for training and held out."""

    train: list[Spoken]
    held: list[Spoken]
    contexts: list[tuple[str, ...]]  # of train
    held_contexts: list[tuple[str, ...]]


def train_persona(
    request: Request, *, on_read: OnRead = lambda _: None, on_progress: OnProgress = lambda _: None
) -> Outcome | QuotedOutcome:
    """Train and write `request.out`: the persona, its card, and the curves of both parts.

    Without a base it stands on the shipped one. On a local transformer nothing is trained: the persona is quoted.

    Args:
        on_read: hears what was read, rejects included, before training begins.
        on_progress: hears of every progress.

    Raises:
        TrainingError, TrainingDataError, SettingsError, RunError: data, base, settings or folders do not do.
    """
    settings = configured(request)
    if request.base is None:
        request = replace(request, base=SHIPPED / BASE)
    try:
        return _trained(request, settings, on_read, on_progress)
    except (TrainingDataError, SettingsError, RunError):
        raise
    except (ValueError, FloatingPointError) as error:
        raise TrainingError(str(error)) from error


def epochs(request: Request) -> int:
    """Of the longer part, for a progress bar."""
    settings = configured(request)
    return max(settings.part(name).epochs for name in PARTS)


def parted(request: Request, on_read: OnRead) -> tuple[list[Spoken], list[Spoken], int]:
    """Sentences for training, those held out, and how many places of the data could not be read."""
    data = read_monologue(request.data, limit=request.limit)
    on_read(data)
    try:
        share = float(request.dev)
    except ValueError:
        held = read_monologue([Path(request.dev)]).spoken
        texts = {each.text for each in held}
        return [each for each in data.spoken if each.text not in texts], list(held), len(data.rejects)
    if not 0 < share < 1:
        raise TrainingDataError(f"Expected a share between 0 and 1, or a path, for --dev, but got {request.dev}.")
    return *split_monologue(data.spoken, share), len(data.rejects)


def _trained(
    request: Request, settings: PersonaSettings, on_read: OnRead, on_progress: OnProgress
) -> Outcome | QuotedOutcome:
    started = time.monotonic()
    assert request.base is not None
    name = settings.name or request.out.resolve().name
    PersonaConfig(name, base="")  # a name that does not do is told before the work
    train, held, rejects = parted(request, on_read)
    if is_transformer(request.base):
        return _quoted(request, settings, name, [*train, *held], rejects, started)
    base = ChatModel.load(request.base).to(device_of(settings.device))
    _check_learnable(base, train, held)
    mark = fingerprint(base)
    sizes = {"sentences": len(train), "held_out": len(held)}
    identity = {"config": asdict(settings), "name": name, "base": mark, **sizes, "seed": request.seed}
    run = begun(request, identity)
    seed_everything(request.seed)
    material = _material(base, train, held, settings, request.seed)
    speaker, forward, changes = _parts(run, base, material, request, settings, on_progress)
    rows = styled_rows(base, material.train, material.contexts)
    acceptor = adapted_acceptor(base, forward, rows, base.config.acceptor, limit=settings.examples, seed=request.seed)
    weights, multiplied = _weights(base, speaker, material)
    persona = _persona(PersonaConfig(name, mark, weights), base, forward, acceptor, speaker, material)
    outcome = Outcome(
        name=name,
        fingerprint=mark,
        sentences=len(train),
        held_out=len(held),
        unknown=1 - sum(known_share(base, each.text) for each in (*train, *held)) / (len(train) + len(held)),
        changes=changes,
        weights=weights,
        multiplied=multiplied,
        parameters=sum(tensor.numel() for tensor in persona.differences().values()),
        seconds=time.monotonic() - started,
        rejects=rejects,
    )
    persona.save(request.out, card=card(outcome, settings, request), half=settings.half)
    shutil.rmtree(run.state, ignore_errors=True)
    return outcome


def _quoted(
    request: Request, settings: PersonaSettings, name: str, spoken: Sequence[Spoken], rejects: int, started: float
) -> QuotedOutcome:
    """A persona that is quoted on a local transformer, which is not tuned."""
    assert request.base is not None
    TrainingRun(request.out, {}).begin()
    base = PretrainedModel.load(request.base).to(device_of(settings.device))
    persona = QuotedPersona.of(name, base, list(dict.fromkeys(each.text for each in spoken)))
    seconds = time.monotonic() - started
    outcome = QuotedOutcome(name, persona.config.base, len(persona.quotations), seconds, rejects)
    persona.save(request.out, card=quoted_card(outcome, request))
    shutil.rmtree(TrainingRun(request.out, {}).state, ignore_errors=True)
    return outcome


def _weights(base: ChatModel, speaker: LanguageModel, material: _Material) -> tuple[tuple[float, float], float]:
    """Those of multiplying that fit held-out sentences best, and the perplexity with them."""
    rows = styled_rows(base, material.held[:SPARE], material.held_contexts[:SPARE])
    found = multiplied_perplexities(base, speaker, rows)
    best = min(found, key=lambda pair: (found[pair], pair))
    return best, found[best]


def _check_learnable(base: ChatModel, train: Sequence[Spoken], held: Sequence[Spoken]) -> None:
    """Raises TrainingDataError where too few sentences are in words that the base knows."""
    for what, found in (("for training", train), ("to hold out", held)):
        if not any(known_share(base, each.text) >= KNOWN for each in found):
            raise TrainingDataError(
                f"Expected sentences {what} that the base knows half of the words of, but got none among "
                f"{len(found)}; give more sentences, in the language of the base."
            )


def _material(
    base: ChatModel, train: Sequence[Spoken], held: Sequence[Spoken], settings: PersonaSettings, seed: int
) -> _Material:
    generator = torch.Generator().manual_seed(seed)
    both = [
        pseudo_contexts(
            base, [each.text for each in found], settings.contexts, generator=generator, sampling=settings.sampling
        )
        for found in (train, held)
    ]
    return _Material(list(train), list(held), *both)


def _parts(
    run: TrainingRun,
    base: ChatModel,
    material: _Material,
    request: Request,
    settings: PersonaSettings,
    on_progress: OnProgress,
) -> tuple[LanguageModel, Seq2Seq, dict[str, Change]]:
    """The speaker's language model, the fine-tuned forward model, and what became of their perplexities."""
    train, held = _known(base, material.train, material.contexts), _known(base, material.held, material.held_contexts)
    changes: dict[str, Change] = {}

    def tuned(name: str, module: Module, rows: list[SourceTarget], held_out: list[SourceTarget]) -> Module:
        made = tunable(module, words=name in settings.words)
        before = perplexity(module, held_out)
        part = SubmodelRun(run.out, run.identity, name)
        steering = base.steering if name == "forward" else None
        train_in(part, made, rows, held_out, settings.part(name), request, on_progress, steering)
        after = perplexity(made, held_out)
        changes[name] = Change(before, min(before, after))
        return made if after < before else module

    spoken, spoken_held = speaker_rows(base, train[0]), speaker_rows(base, held[0])
    speaker = tuned("speaker", base.language, spoken, spoken_held)
    forward = tuned("forward", base.forward, styled_rows(base, *train), styled_rows(base, *held))
    return speaker, forward, changes


def _known(
    base: ChatModel, spoken: Sequence[Spoken], contexts: Sequence[tuple[str, ...]]
) -> tuple[list[Spoken], list[tuple[str, ...]]]:
    """The sentences whose words can be learnt from, with their contexts."""
    kept = [place for place, each in enumerate(spoken) if known_share(base, each.text) >= KNOWN]
    return [spoken[place] for place in kept], [contexts[place] for place in kept]


def _persona(
    config: PersonaConfig,
    base: ChatModel,
    forward: Seq2Seq,
    acceptor: Acceptor,
    speaker: LanguageModel,
    material: _Material,
) -> Persona:
    sentences = [each.text for each in material.train]
    casing = Casing.of(sentences)
    known = {word: form for word, form in casing.forms.items() if word in base.vocabulary}
    quotations = Quotations.of(base, sentences, material.contexts)
    return Persona(config, base, forward, acceptor, speaker, quotations, Casing({**base.casing.forms, **known}))
