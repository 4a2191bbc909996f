"""`train persona`: from sentences of a speaker to a persona on top of a chat model (Wang (2018), ch. 8.4).

First the speaker's language model, then forward with generated contexts and the sentence before, each until it gets
worse on held-out sentences; then the acceptors, the weights of multiplying, and the sentences to quote. Without a base
the persona uses the shipped chat model. On a local transformer nothing is trained: the persona is quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import ChatText
from generators.conversation.detokenise import Casing
from generators.conversation.padded_batches import SourceTarget
from generators.conversation.random_stream import RandomStream
from generators.inference.acceptor import Acceptor
from generators.inference.encoder_decoder import EncoderDecoder
from generators.inference.language_model import LanguageModel
from generators.personas.persona import Persona, PersonaConfig
from generators.personas.quotations import Quotations
from generators.personas.quoted_persona import QuotedPersona
from generators.pretrained.recognition import is_transformer
from generators.pretrained.transformer_model import PretrainedModel
from generators.training.chat_training import perplexity
from generators.training.language_network import LanguageNetwork
from generators.training.persona_training import (
    MultipliedNetwork,
    Spoken,
    adapted_acceptor,
    known_share,
    multiplied_perplexities,
    pseudo_contexts,
    speaker_rows,
    styled_rows,
    tunable,
)
from generators.training.torch_networks import TorchNetwork, arrays
from generators.training.trainable_chat import TrainableChat
from qa_bot.answering.models.personas import BASE, SHIPPED
from qa_core.networks.seq2seq import Seq2Seq
from qa_core.training.loop import seed_everything
from qa_lab.data.monologues import read_monologue, split_monologue
from qa_lab.data.splitting import dev_share
from qa_lab.errors import TrainingDataError
from qa_lab.train.settings import device_of
from qa_lab.train.speech.persona_card import Change, PersonaOutcome, QuotedOutcome, card, quoted_card
from qa_lab.train.speech.persona_settings import PARTS, PersonaSettings, settings
from qa_lab.train.submodel_runs import begin, train_submodel
from qa_lab.train.training_run import TrainingRun
from qa_lab.train.verb import Job, TrainVerb

KNOWN = 0.5
"""Share of a sentence's words that the base must know for the sentence to be used in training."""
SPARE = 100
"""Held-out sentences that choose the weights of multiplying, at most."""

Module = TypeVar("Module", LanguageNetwork, Seq2Seq)


@dataclass(frozen=True, slots=True)
class _Material:
    """Sentences and their contexts, for training and held out."""

    train: list[Spoken]
    held_out: list[Spoken]
    contexts: list[tuple[str, ...]]  # of train
    held_out_contexts: list[tuple[str, ...]]


def _train(job: Job[PersonaSettings]) -> PersonaOutcome | QuotedOutcome:
    request, config = job.request, job.settings
    base_folder = request.base or SHIPPED / BASE
    name = config.name or request.out.resolve().name
    PersonaConfig(name, base="")  # refuses a wrong name before the work
    data = job.read(read_monologue)
    train, held_out = _split(data.examples, request.dev)
    if is_transformer(base_folder):
        return _quoted(job, base_folder, name, [*train, *held_out], len(data.rejects))
    model = ChatModel.load(base_folder)
    base = TrainableChat.copy_of(model).to(device_of(config.device))
    _check_learnable(base, train, held_out)
    mark = model.fingerprint
    run = begin(job, name=name, base=mark, sentences=len(train), held_out=len(held_out))
    seed_everything(request.seed)
    material = _material(base, train, held_out, config, request.seed)
    speaker, forward, changes = _tuned_parts(job, run, base, material)
    rows = styled_rows(base, material.train, material.contexts)
    weights, multiplied = _weights(base, speaker, material)
    product = MultipliedNetwork(base.forward, speaker, weights)
    acceptor, product_acceptor = (
        adapted_acceptor(
            base, network, rows, base.config.acceptor, limit=config.examples, seed=request.seed
        ).inference()
        for network in (forward, product)
    )
    parts = forward, acceptor, product_acceptor, speaker
    persona = _persona(PersonaConfig(name, mark, weights), model, parts, material)
    sentences = (*train, *held_out)
    outcome = PersonaOutcome(
        name=name,
        fingerprint=mark,
        sentences=len(train),
        held_out=len(held_out),
        rejected=len(data.rejects),
        unknown_words=1 - sum(known_share(base, sentence.text) for sentence in sentences) / len(sentences),
        changes=changes,
        multiplied=multiplied,
        weights=weights,
        parameters=sum(array.size for array in persona.differences().values()),
        seconds=job.seconds,
    )
    persona.save(request.out, card=card(outcome, config, request), half=config.half)
    run.remove_state()
    return outcome


PERSONA = TrainVerb(_train, settings, lambda config, _: max(config.part(name).epochs for name in PARTS), "perplexity")


def _split(spoken: Sequence[Spoken], dev: str) -> tuple[list[Spoken], list[Spoken]]:
    """Sentences for training and held-out ones; those of a path are not trained on."""
    share = dev_share(dev)
    if share is not None:
        return split_monologue(spoken, share)
    held_out = read_monologue([Path(dev)]).examples
    texts = {sentence.text for sentence in held_out}
    return [sentence for sentence in spoken if sentence.text not in texts], list(held_out)


def _quoted(
    job: Job[PersonaSettings], base_folder: Path, name: str, spoken: Sequence[Spoken], rejected: int
) -> QuotedOutcome:
    """A persona that is quoted on a local transformer, which is not tuned."""
    run = TrainingRun(job.request.out, {})
    run.begin()
    base = PretrainedModel.load(base_folder).to(device_of(job.settings.device))
    persona = QuotedPersona.of(name, base, list(dict.fromkeys(sentence.text for sentence in spoken)))
    outcome = QuotedOutcome(name, persona.config.base, len(persona.quotations), rejected, job.seconds)
    persona.save(job.request.out, card=quoted_card(outcome, job.request))
    run.remove_state()
    return outcome


def _weights(base: TrainableChat, speaker: LanguageNetwork, material: _Material) -> tuple[tuple[float, float], float]:
    """The weights of multiplying that fit held-out sentences best, and the perplexity with them."""
    rows = styled_rows(base, material.held_out[:SPARE], material.held_out_contexts[:SPARE])
    perplexities = multiplied_perplexities(base, speaker, rows)
    best = min(perplexities, key=lambda pair: (perplexities[pair], pair))
    return best, perplexities[best]


def _check_learnable(base: ChatText, train: Sequence[Spoken], held_out: Sequence[Spoken]) -> None:
    """Raises TrainingDataError if there are too few sentences, or if the base knows too few words of them."""
    if not train or not held_out:
        raise TrainingDataError(
            f"Expected sentences for training and to hold out, but got {len(train)} and {len(held_out)}; give more "
            "sentences, or name development data with --dev PATH."
        )
    for what, sentences in (("for training", train), ("to hold out", held_out)):
        if not any(known_share(base, sentence.text) >= KNOWN for sentence in sentences):
            raise TrainingDataError(
                f"Expected sentences {what} that the base knows half of the words of, but got none among "
                f"{len(sentences)}; give more sentences, in the language of the base."
            )


def _material(
    base: TrainableChat, train: Sequence[Spoken], held_out: Sequence[Spoken], config: PersonaSettings, seed: int
) -> _Material:
    stream, backward = RandomStream(seed), TorchNetwork(base.backward, base.device)
    contexts = [
        pseudo_contexts(
            base,
            backward,
            [sentence.text for sentence in sentences],
            config.contexts,
            stream=stream,
            sampling=config.sampling,
        )
        for sentences in (train, held_out)
    ]
    return _Material(list(train), list(held_out), *contexts)


def _tuned_parts(
    job: Job[PersonaSettings], run: TrainingRun, base: TrainableChat, material: _Material
) -> tuple[LanguageNetwork, Seq2Seq, dict[str, Change]]:
    """The speaker's language model, the fine-tuned forward model, and the changes of their perplexities."""
    config = job.settings
    train = _learnable(base, material.train, material.contexts)
    held_out = _learnable(base, material.held_out, material.held_out_contexts)
    changes: dict[str, Change] = {}

    def tuned(name: str, module: Module, rows: list[SourceTarget], dev: list[SourceTarget]) -> Module:
        copy = tunable(module, words=name in config.words)
        before = perplexity(module, dev)
        steering = base.steering if name == "forward" else None
        train_submodel(job, run, name, copy, rows, dev, config.part(name), steering)
        after = perplexity(copy, dev)
        changes[name] = Change(before, min(before, after))
        return copy if after < before else module

    speaker = tuned("speaker", base.language, speaker_rows(base, train[0]), speaker_rows(base, held_out[0]))
    forward = tuned("forward", base.forward, styled_rows(base, *train), styled_rows(base, *held_out))
    return speaker, forward, changes


def _learnable(
    base: ChatText, spoken: Sequence[Spoken], contexts: Sequence[tuple[str, ...]]
) -> tuple[list[Spoken], list[tuple[str, ...]]]:
    """The sentences of which the base knows enough words, with their contexts."""
    known = [index for index, sentence in enumerate(spoken) if known_share(base, sentence.text) >= KNOWN]
    return [spoken[index] for index in known], [contexts[index] for index in known]


def _persona(
    config: PersonaConfig,
    base: ChatModel,
    parts: tuple[Seq2Seq, Acceptor, Acceptor, LanguageNetwork],  # forward, acceptors, speaker
    material: _Material,
) -> Persona:
    forward, acceptor, product_acceptor, speaker = parts
    sentences = [sentence.text for sentence in material.train]
    casing = Casing.of(sentences)
    known = {word: form for word, form in casing.forms.items() if word in base.vocabulary}
    quotations = Quotations.of(base, sentences, material.contexts)
    return Persona(
        config,
        base,
        EncoderDecoder(base.config.network, arrays(forward)),
        acceptor,
        product_acceptor,
        LanguageModel(base.config.language, arrays(speaker)),
        quotations,
        Casing({**base.casing.forms, **known}),
    )
