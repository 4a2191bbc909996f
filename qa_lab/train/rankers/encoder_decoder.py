"""`train encoder-decoder`: from questions and right answers to a ranker by likelihood (Wang (2018), ch. 6.4).

Wrong answers in the data are used for measuring only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from qa_core.training.likelihood_training import LikelihoodConfig, optimiser, perplexity
from qa_core.training.loop import Training, seed_everything
from qa_lab.data.answer_sets import read_answer_sets, select, split_questions
from qa_lab.data.word_vectors import vectors_of, words_of
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.train.card import card_text, table
from qa_lab.train.rankers.likelihood_measures import AMONG, among, chosen, judged_figures
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, trained_parameters
from rankers.answer_selection.encoder_decoder import (
    PAPER,
    SMALL,
    EncoderDecoderConfig,
    EncoderDecoderRanker,
    train_encoder_decoder,
)
from rankers.neural import TextPair
from rankers.training.answer_pool import AnswerSet

MEASURED = 500
"""Held-out pairs that are ranked, at most."""
_PRESETS = {"cpu": SMALL, "paper": PAPER}


@dataclass(frozen=True, slots=True)
class EncoderDecoderSettings:
    """Keys of `--config`."""

    preset: Literal["cpu", "paper"] = "cpu"  # default sizes of [model]
    pretrained: str = ""  # E_pre: `starter`, a static encoder's folder or a file of word vectors
    minimum: int = 2  # occurrences of a word in the training texts
    device: Literal["auto", "cpu", "cuda"] = "auto"
    model: EncoderDecoderConfig = SMALL
    training: LikelihoodConfig = field(default_factory=LikelihoodConfig)


@dataclass(frozen=True)
class EncoderDecoderOutcome(Outcome):
    """Result on held-out questions."""

    pairs: int
    held_out: int
    rejected: int
    parameters: int
    seconds: float
    perplexity: float
    among: tuple[float, float] | None  # MRR and P@1 of the right answer among AMONG; None if too few are held out
    judged: tuple[float, float] | None  # MAP and MRR over questions with right and wrong answers; None without any

    def as_dict(self) -> dict[str, object]:
        values = asdict(self)
        among, judged = values.pop("among"), values.pop("judged")
        if among is not None:
            values[f"among {AMONG}"] = dict(zip(("RR", "P@1"), among, strict=True))
        if judged is not None:
            values["judged"] = dict(zip(("AP", "RR"), judged, strict=True))
        return values

    def text(self, out: Path) -> str:
        judged = "" if self.judged is None else "judged answers: MAP {:.3f}, MRR {:.3f}\n".format(*self.judged)
        among = "" if self.among is None else "MRR {:.3f}, P@1 {:.3f}".format(*self.among)
        return (
            f"{self.pairs:,} right pairs for training, {self.held_out:,} held out\n"
            f"perplexity {self.perplexity:.1f}{among and f'; the right answer among {AMONG}: {among}'}\n{judged}"
            f"written to {out}\n"
        )


def settings(request: Request) -> EncoderDecoderSettings:
    """The preset that the settings name, and the settings over it."""
    config = load_settings(
        request.config,
        EncoderDecoderSettings(),
        preset=lambda c: EncoderDecoderSettings(model=_PRESETS[c.preset]),
    )
    if request.base is not None:
        raise SettingsError(f"Expected no base to start from, but got {request.base}; name vectors by `pretrained`.")
    names = (*in_table("training", "batch", "epochs", "patience", "learning_rate"), "minimum")
    check_positive(config, *names, *in_table("model", "max_question", "max_answer"), source=request.config)
    return config


def right_pairs(sets: Sequence[AnswerSet]) -> list[TextPair]:
    """Questions with each of their right answers."""
    return [
        (question.question, answer)
        for question in sets
        for answer, right in zip(question.answers, question.labels, strict=True)
        if right
    ]


def _train(job: Job[EncoderDecoderSettings]) -> EncoderDecoderOutcome:
    request, config = job.request, job.settings
    data = job.read(read_answer_sets)
    train, dev = split_questions(data, request.dev)
    pairs, held_out = right_pairs(train), right_pairs(dev)
    if not pairs or not held_out:
        raise TrainingDataError(
            f"Expected right pairs for training and to hold out, but got {len(pairs)} and {len(held_out)}; give more, "
            "or name development data with --dev PATH."
        )
    seed_everything(request.seed)
    texts = [text for pair in pairs for text in pair]
    pretrained = vectors_of(config.pretrained, words_of(texts)) if config.pretrained else None
    ranker = EncoderDecoderRanker.of(texts, config.model, minimum=config.minimum, pretrained=pretrained)
    ranker.model.to(device_of(config.device))
    training = Training(ranker.model, optimiser(ranker.translator, config.training), seed=request.seed)
    reports = train_encoder_decoder(training, ranker, pairs, config.training, held_out=held_out)
    run = job.fit(training, reports, pairs=len(pairs), held_out=len(held_out))
    ranker.model.eval()
    seconds, judged = job.seconds, select(dev, "both")
    outcome = EncoderDecoderOutcome(
        pairs=len(pairs),
        held_out=len(held_out),
        rejected=len(data.rejects),
        parameters=trained_parameters(ranker.model),
        seconds=seconds,
        among=_among(ranker, held_out, request.seed),
        judged=judged_figures(ranker, judged) if judged else None,
        perplexity=perplexity(ranker.translator, ranker.columns(held_out)),
    )
    ranker.save(request.out, card=_card(outcome, config, request))
    job.finish(run, training)
    return outcome


ENCODER_DECODER = TrainVerb(_train, settings, lambda config, _: config.training.epochs, "perplexity")


def _among(ranker: EncoderDecoderRanker, held_out: Sequence[TextPair], seed: int) -> tuple[float, float] | None:
    """MRR and P@1 of the right answer among others, by the mean log-likelihood."""
    if len({answer for _, answer in held_out}) < 2 * AMONG:
        return None
    rng = np.random.default_rng(seed)
    lists = among(held_out, rng)
    sample = sorted(rng.permutation(len(lists))[:MEASURED].tolist())
    return chosen([lists[number] for number in sample], lambda pairs: ranker.score(pairs).tolist())


def _card(outcome: EncoderDecoderOutcome, config: EncoderDecoderSettings, request: Request) -> str:
    facts = {
        "scores": config.model.direction,
        "data": request.data_names,
        "right pairs for training, held out": f"{outcome.pairs:,}, {outcome.held_out:,}",
        "trained parameters": f"{outcome.parameters:,}",
        "seed": request.seed,
        "seconds": f"{outcome.seconds:,.0f}",
        "perplexity of held-out pairs": f"{outcome.perplexity:.1f}",
    }
    rows = []
    if outcome.judged is not None:
        rows.append(("judged answers", *(f"{value:.3f}" for value in outcome.judged), ""))
    if outcome.among is not None:
        rows.append((f"the right answer among {AMONG}", "", *(f"{value:.3f}" for value in outcome.among)))
    text = f"""On held-out questions:

{table(("", "MAP", "MRR", "P@1"), rows)}

The licence follows from that of the data and of the word vectors; see there."""
    return card_text("Encoder-decoder ranker, trained with qa-bot", facts, text, asdict(config))
