"""Trains the network that tells whether a passage answers a question: the shipped transformer, taught by a larger one.

    python -m qa_lab.fit.relevance.train_relevance --mpnet DIR --data DIR --reading FILE --work DIR --out DIR

The teacher is all-mpnet-base-v2, trained on the labels of English groups. The student, six layers with unchanged word
vectors, learns the labels of all groups and the teacher's logits of English ones. A second run with the same groups,
settings and folder of work does not train the teacher again.

The shipped network took 2,022 and 2,203 steps, seven minutes of a large GPU, before the script was brought into its
present form: the method and the settings are the same, the windows of the passages and their order are not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from qa_bot.home.starter import TRANSFORMER as STARTER
from qa_core.atomic import atomic_file
from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.onnx_export import load_model
from qa_core.encoders.onnx_quantisation import float_weights
from qa_core.encoders.pair_tokens import PairConfig, PairRow
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.training.loop import Training, seed_everything, train
from qa_core.training.pair_classifier import PairClassifier, PairNetwork, pair_logits
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.relevance.group_rows import GroupBatch, GroupRows, figures
from qa_lab.fit.relevance.groups import NEAR, READING, Group, read_groups
from qa_lab.fit.relevance.losses import LossWeights, relevance_loss
from qa_lab.fit.teacher_vectors import MPNET_SHA256
from qa_lab.fit.train_starter_transformer import say
from qa_lab.train.card import card_text
from qa_lab.train.settings import device_of
from rankers.training.cross_encoder_training import TrainedCrossEncoder

PAIRS = PairConfig(max_length=224, dropout=0.1)
GRAPH = "onnx/model.onnx"
_CARD = """
Log-odds that a passage answers a question. `qa-bot config set ranking.cross_encoder FOLDER` uses them, and
`python -m qa_lab.fit.fit_passage_confidence --cross-encoder FOLDER` fits the confidence to them.

Apache License 2.0. The weights are tuned from those of the starter transformer and taught by all-mpnet-base-v2 (both
Apache License 2.0). Only numbers come from the texts: invented documents (CC0), SQuAD (CC BY-SA 4.0), MedQuAD
(CC BY 4.0), covid FAQ (Apache License 2.0).
"""
LARGEST_TARGET = 8.0
"""The teacher's logits are cut to this."""
TWICE = (READING, NEAR)
"""Sources whose groups come twice in an epoch."""
_SCORED = 1 << 14  # pairs between reports


@dataclass(frozen=True, slots=True)
class FitConfig:
    """The rate rises in the first steps and falls linearly to its least share."""

    steps: int
    rate: float
    tokens: int  # of a batch, padding included
    weights: LossWeights
    warm_up: int = 100  # steps
    least: float = 0.02  # share of the rate
    decay: float = 0.01  # of matrices
    seed: int = 1


TEACHER = FitConfig(2000, 3e-5, 1 << 14, LossWeights(binary=1.0, listwise=0.5))
STUDENT = FitConfig(2200, 1e-4, 1 << 15, LossWeights(binary=0.3, listwise=0.15, teacher=0.35))


def falling(config: FitConfig) -> Callable[[int], float]:
    """Factor of the learning rate at a step."""
    return lambda step: min(1.0, (step + 1) / config.warm_up) * max(config.least, 1 - step / config.steps)


def open_teacher(folder: Path) -> PairClassifier:
    """A transformer with a new output layer. MPNet has one attention kernel only, so `PairClassifier.of` cannot."""
    network = PairNetwork(load_model(folder), dropout=PAIRS.dropout)
    return PairClassifier(network, SubwordTokeniser.load(folder, max_length=PAIRS.max_length), PAIRS, folder)


def open_student(starter: Path, work: Path) -> PairClassifier:
    """The shipped transformer in float32 with a new output layer; its word vectors do not learn.

    Its weights are written to `work`.
    """
    work.mkdir(parents=True, exist_ok=True)
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(starter / name, work / name)
    weights = {name: weight.astype(np.float32) for name, weight in float_weights(starter / GRAPH).items()}
    write_tensors(work / "model.safetensors", weights)
    student = PairClassifier.of(work, PAIRS)
    student.model.transformer.embeddings.word_embeddings.requires_grad_(requires_grad=False)
    return student


def fitted(classifier: PairClassifier, rows: GroupRows, groups: IntArray, config: FitConfig) -> None:
    """Train on some groups; a group that is named twice comes twice in an epoch."""
    if not len(groups):
        raise ValueError("Expected groups to learn from, but got none; check the folder of data.")
    model, device = classifier.model, _device_of(classifier)
    training = Training(model, _optimiser(model, config), seed=config.seed)

    def drawn(_: int, rng: np.random.Generator) -> Iterator[GroupBatch]:
        endless = chain.from_iterable(rows.batches(groups, rng, tokens=config.tokens) for _ in repeat(None))
        for chosen in islice(endless, config.steps):
            yield rows.batch(chosen, device)

    def loss(model: nn.Module, batch: GroupBatch) -> Tensor:
        with _precision(device):
            logits: Tensor = model(batch.pairs)
        return relevance_loss(logits.float(), batch.labels, batch.owners, batch.targets, config.weights)

    for progress in train(
        training,
        drawn,
        loss,
        epochs=1,
        clip=1.0,
        schedule=falling(config),
        report_every=50,
        steps_per_epoch=config.steps,
        size=lambda batch: len(batch.labels),
    ):
        speed = f"{progress.examples_per_second:,.0f} pairs a second"
        say(f"step {progress.step} of {config.steps}, loss {progress.loss:.4f}, {speed}")


def _optimiser(model: nn.Module, config: FitConfig) -> torch.optim.Optimizer:
    """AdamW over the weights that learn; only matrices decay."""
    learning = [weight for weight in model.parameters() if weight.requires_grad]
    matrices = [weight for weight in learning if weight.ndim > 1]
    vectors = [weight for weight in learning if weight.ndim < 2]
    parts = [{"params": matrices, "weight_decay": config.decay}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(parts, lr=config.rate, betas=(0.9, 0.98), fused=True)


def logits_of(classifier: PairClassifier, rows: Sequence[PairRow]) -> FloatArray:
    """Logits of all pairs (N,), without dropout."""
    classifier.model.eval()
    parts: list[FloatArray] = []
    with torch.no_grad(), _precision(_device_of(classifier)):
        for start in range(0, len(rows), _SCORED):
            parts.append(pair_logits(classifier.model, rows[start : start + _SCORED]).float().cpu().numpy())
            say(f"{min(start + _SCORED, len(rows)):,} of {len(rows):,} pairs read")
    return np.concatenate(parts)


def _device_of(classifier: PairClassifier) -> torch.device:
    return classifier.model.output.weight.device


def _precision(device: torch.device) -> AbstractContextManager[Any]:
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def learnt(groups: Sequence[Group]) -> IntArray:
    """Places of the groups to learn from, those of documents for reading twice."""
    places = [i for i, group in enumerate(groups) if not group.held_out]
    return np.repeat(places, [2 if groups[i].source in TWICE else 1 for i in places])


def measured(classifier: PairClassifier, groups: Sequence[Group]) -> dict[str, float]:
    """Figures of the held-out groups with a right passage; empty without any."""
    tested = [group for group in groups if group.held_out and any(group.is_right)]
    if not tested:
        return {}
    rows = GroupRows.of(tested, classifier.rows)
    return figures(rows, logits_of(classifier, rows.rows))


def teacher_logits(
    groups: Sequence[Group], mpnet: Path, work: Path, device: torch.device, config: FitConfig = TEACHER
) -> FloatArray:
    """The teacher's logits of all pairs (N,), NaN for languages other than English; kept in `work` for a second run."""
    sizes = [len(group.passages) for group in groups]
    is_english = np.repeat([group.language == "en" for group in groups], sizes)
    path = work / f"teacher-{_digest(groups, config)}.npy"
    if not path.is_file():
        english = [group for group in groups if group.language == "en"]
        seed_everything(config.seed)
        teacher = open_teacher(mpnet)
        teacher.model.to(device)
        rows = GroupRows.of(english, teacher.rows)
        say(f"teacher: {len(english):,} groups, {len(rows.rows):,} pairs")
        fitted(teacher, rows, learnt(english), config)
        say(f"teacher: {measured(teacher, english)}")
        logits = logits_of(teacher, rows.rows)
        work.mkdir(parents=True, exist_ok=True)
        with atomic_file(path) as file:
            np.save(file, logits)
    result = np.full(len(is_english), np.nan, dtype=np.float32)
    result[is_english] = np.load(path).clip(-LARGEST_TARGET, LARGEST_TARGET)
    return result


def _digest(groups: Sequence[Group], config: FitConfig) -> str:
    """Names groups and settings."""
    digest = hashlib.sha256(json.dumps(asdict(config)).encode())
    for group in groups:
        digest.update(json.dumps(asdict(group)).encode())
    return digest.hexdigest()[:16]


def trained_student(
    groups: Sequence[Group], targets: FloatArray, work: Path, device: torch.device, config: FitConfig = STUDENT
) -> PairClassifier:
    """The student after its training on the labels and the teacher's logits (N,)."""
    seed_everything(config.seed)
    student = open_student(STARTER, work / "starter")
    student.model.to(device)
    rows = GroupRows.of(groups, student.rows, targets)
    say(f"student: {len(groups):,} groups, {len(rows.rows):,} pairs")
    fitted(student, rows, learnt(groups), config)
    return student


def write(out: Path, student: PairClassifier, facts: Mapping[str, object], settings: Mapping[str, object]) -> None:
    """The student with its graphs and its card."""
    student.model.cpu()
    TrainedCrossEncoder(student).save(out, card=card_text("Whether a passage answers", facts, _CARD, settings))


def main() -> None:
    arguments = _arguments()
    if (actual := sha256(arguments.mpnet / "model.safetensors")) != MPNET_SHA256:
        raise ValueError(
            f"Expected the weights of all-mpnet-base-v2 ({MPNET_SHA256}) in {arguments.mpnet}, but got {actual}."
        )
    device = device_of()
    teacher_config = replace(TEACHER, steps=arguments.teacher_steps, seed=arguments.seed)
    student_config = replace(STUDENT, steps=arguments.student_steps, seed=arguments.seed)
    groups = read_groups(arguments.data, arguments.reading, seed=arguments.seed)
    counts = Counter(group.source for group in groups if not group.held_out)
    say(f"groups: {dict(counts)}")
    targets = teacher_logits(groups, arguments.mpnet, arguments.work, device, teacher_config)
    student = trained_student(groups, targets, arguments.work, device, student_config)
    say(f"student: {(of_held_out := measured(student, groups))}")
    settings = {
        "teacher": asdict(teacher_config),
        "student": asdict(student_config),
        "mpnet_sha256": MPNET_SHA256,
        "starter_sha256": sha256(STARTER / GRAPH),
        "reading_sha256": sha256(arguments.reading),
    }
    facts: dict[str, object] = {f"groups of {source}": count for source, count in sorted(counts.items())}
    facts |= {"seed": arguments.seed, **{f"held out, {name}": value for name, value in of_held_out.items()}}
    write(arguments.out, student, facts, settings)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the network that tells whether a passage answers a question.")
    for name, meaning in {
        "mpnet": "folder of all-mpnet-base-v2 in sentence-transformers layout",
        "data": "folder with qa_pairs/ and medquad/",
        "reading": "documents for reading, in the format of benchmarks/reading",
        "work": "folder of intermediate files for a second run",
        "out": "folder of the model, for ranking.cross_encoder",
    }.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=meaning)
    parser.add_argument("--teacher-steps", type=int, default=TEACHER.steps)
    parser.add_argument("--student-steps", type=int, default=STUDENT.steps)
    parser.add_argument("--seed", type=int, default=TEACHER.seed)
    return parser.parse_args()


if __name__ == "__main__":
    main()
