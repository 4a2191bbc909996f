"""`train cross-encoder`: from questions with labelled answers and a transformer to a ranker that onnxruntime serves."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from qa_bot.home.starter import ENCODER
from qa_core.encoders.pair_tokens import PairConfig
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.networks.checkpoints import CONFIG
from qa_core.training.loop import Training, seed_everything
from qa_lab.data.answer_sets import read_answer_sets, split_mixed
from qa_lab.errors import SettingsError
from qa_lab.train.card import card_text
from qa_lab.train.request import Request
from qa_lab.train.settings import check_positive, device_of, in_table, load_settings
from qa_lab.train.verb import Job, Outcome, TrainVerb, best_epoch
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.cross_encoder_training import (
    CrossEncoderTuning,
    TrainedCrossEncoder,
    optimiser,
    tune_cross_encoder,
)
from rankers.training.pair_training import mean_average_precision
from retrievers.training.search import nearest


@dataclass(frozen=True, slots=True)
class CrossEncoderSettings:
    """Keys of `--config`."""

    cross: PairConfig = field(default_factory=lambda: PairConfig(max_length=128))
    tuning: CrossEncoderTuning = field(default_factory=CrossEncoderTuning)
    mined: int = 0  # wrong answers added to each question: answers of others, the nearest by the starter encoder
    graph: bool = True  # write the graph that serves without torch
    int8: bool = True  # and the quantised one


@dataclass(frozen=True)
class CrossEncoderOutcome(Outcome):
    """Result on held-out questions with right and wrong answers."""

    questions: int
    pairs: int
    held_out: int  # questions
    epochs: int  # to the weights that were kept
    rejected: int
    before: float  # MAP
    after: float

    def as_dict(self) -> dict[str, object]:
        return asdict(self) | {"before": {"AP": self.before}, "after": {"AP": self.after}}

    def text(self, out: Path) -> str:
        return (
            f"{self.pairs:,} pairs of {self.questions:,} questions for training, {self.held_out:,} questions held out\n"
            f"MAP {self.before:.3f} before, {self.after:.3f} after {self.epochs} epochs\n"
            f"measure it: qa-bot eval answers --model {out}\n"
        )


def settings(request: Request) -> CrossEncoderSettings:
    """Defaults, and the settings over them."""
    config = load_settings(request.config, CrossEncoderSettings())
    if request.base is None:
        raise SettingsError("Expected --base DIR, a transformer to start from, but got none; name its folder.")
    tuning = in_table("tuning", "batch", "epochs", "patience", "learning_rate", "head_rate")
    check_positive(config, *tuning, source=request.config)
    return config


def open_base(base: Path, config: PairConfig) -> TrainedCrossEncoder:
    """A trained cross-encoder, or a new one over a transformer; torch draws its first weights."""
    path = base / CONFIG
    head = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    if head.get("kind") == PairConfig.__name__:
        return TrainedCrossEncoder.load(base)
    return TrainedCrossEncoder.of(base, config)


def with_mined_negatives(sets: Sequence[AnswerSet], count: int) -> list[AnswerSet]:
    """The questions with `count` more wrong answers: those of other questions, the nearest by the starter encoder."""
    answers = list(dict.fromkeys(answer for question in sets for answer in question.answers))
    encoder = StaticEncoder.load(ENCODER)
    questions = encoder.encode([question.question for question in sets])
    most = count + max(len(question.answers) for question in sets)
    neighbours = nearest(questions, encoder.encode(answers, side="answer"), most)
    mined = []
    for question, numbers in zip(sets, neighbours, strict=True):
        known = set(question.answers)
        new = tuple(answers[number] for number in numbers if answers[number] not in known)[:count]
        labels = question.labels + (False,) * len(new)
        mined.append(AnswerSet(question.question, question.answers + new, labels, question.id))
    return mined


def _train(job: Job[CrossEncoderSettings]) -> CrossEncoderOutcome:
    request, config = job.request, job.settings
    data = job.read(read_answer_sets)
    sets, held_out = split_mixed(data, request.dev)
    if config.mined:
        sets = with_mined_negatives(sets, config.mined)
    pool, dev = AnswerPool.of(sets), AnswerPool.of(held_out)
    seed_everything(request.seed)
    assert request.base is not None, "checked with the settings"
    scorer = open_base(request.base, config.cross)
    scorer.model.to(device_of())
    before = mean_average_precision(scorer, dev)
    training = Training(scorer.model, optimiser(scorer, config.tuning), seed=request.seed)
    reports = tune_cross_encoder(training, scorer, pool, config.tuning, held_out=dev)
    run = job.fit(training, reports, pairs=len(pool), base=request.base_path, dev=request.dev)
    outcome = CrossEncoderOutcome(
        questions=len(pool.questions),
        pairs=len(pool),
        held_out=len(held_out),
        epochs=best_epoch(training),
        rejected=len(data.rejects),
        before=before,
        after=mean_average_precision(scorer, dev),
    )
    scorer.model.to("cpu")
    scorer.save(request.out, card=_card(outcome, config, request), graph=config.graph, int8=config.int8)
    job.finish(run, training)
    return outcome


CROSS_ENCODER = TrainVerb(_train, settings, lambda config, _: config.tuning.epochs, "MAP")


def _card(outcome: CrossEncoderOutcome, config: CrossEncoderSettings, request: Request) -> str:
    facts = {
        "started from": request.base.name if request.base else "",
        "data": request.data_names,
        "questions and pairs for training": f"{outcome.questions:,}, {outcome.pairs:,}",
        "questions held out, with right and wrong answers": f"{outcome.held_out:,}",
        "seed": request.seed,
        "epochs": outcome.epochs,
        "MAP on the held-out questions before, after": f"{outcome.before:.3f}, {outcome.after:.3f}",
    }
    licence = "The licence follows from that of the data and of the model it started from; see there."
    return card_text("Cross-encoder trained with qa-bot", facts, licence, asdict(config))
