"""Trains the network that tells whether a passage answers a question, on a CPU in half an hour after the encoding.

    python -m qa_lab.fit.relevance.train_relevance --data DIR --reading FILE --work DIR --out FILE

The states of all tokens are those of the shipped transformer, whose weights stay; they are encoded once, 147,000
texts, and take 4.3 GB in the folder of work. The graph is written with a note of how it was made.

The network for other languages than English reads the states of the multilingual encoder, without their mean:
`--encoder DIR --centred --sources reading near covid squad --steps 2500`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, islice, repeat
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from qa_bot.home.starter import TRANSFORMER as STARTER
from qa_core.atomic import atomic_file
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.training.interaction_network import InteractionConfig, InteractionNetwork, export_interaction
from qa_core.training.loop import Training, seed_everything, train
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.distil_starter import add_paths, say
from qa_lab.fit.relevance.group_rows import GroupBatch, GroupRows, figures
from qa_lab.fit.relevance.groups import Group, read_groups
from qa_lab.fit.relevance.losses import relevance_loss
from qa_lab.fit.relevance.token_states import TokenStates

GRAPH = "onnx/model.onnx"
_SCORED = 256  # pairs at once


@dataclass(frozen=True, slots=True)
class FitConfig:
    """The rate rises in the first steps and falls linearly to its least share."""

    steps: int = 2000
    rate: float = 1e-3
    tokens: int = 24_000  # of a batch, see `GroupRows.batches`
    warm_up: int = 200  # steps
    least: float = 0.02  # share of the rate
    decay: float = 0.02  # of matrices
    seed: int = 1


def falling(config: FitConfig) -> Callable[[int], float]:
    """Factor of the learning rate at a step."""
    return lambda step: min(1.0, (step + 1) / config.warm_up) * max(config.least, 1 - step / config.steps)


def open_encoder(starter: Path) -> TransformerEncoder:
    """The shipped transformer as the product reads with it."""
    return TransformerEncoder.load_prepared(starter, int8=True)


def network_of(states: TokenStates, *, dimension: int, is_centred: bool) -> InteractionNetwork:
    """A new network, which reads states without their mean if they shall be centred."""
    network = InteractionNetwork(InteractionConfig(states=dimension, is_centred=is_centred))
    if is_centred:
        network.get_buffer("centre").copy_(torch.from_numpy(states.centre()))
    return network


def texts_of(groups: Sequence[Group]) -> list[str]:
    """All questions, then all passages."""
    return [group.question for group in groups] + [text for group in groups for text in group.passages]


def learnt(groups: Sequence[Group]) -> IntArray:
    """Places of the groups to learn from. Raises ValueError if there are none."""
    places = [place for place, group in enumerate(groups) if not group.held_out]
    if not places:
        raise ValueError("Expected groups to learn from, but got none; check the folder of data.")
    return np.array(places, np.int64)


def fitted(rows: GroupRows, groups: IntArray, network: InteractionNetwork, config: FitConfig) -> None:
    """Train on some groups."""
    training = Training(network, _optimiser(network, config), seed=config.seed)

    def drawn(_: int, rng: np.random.Generator) -> Iterator[GroupBatch]:
        endless = chain.from_iterable(rows.batches(groups, rng, tokens=config.tokens) for _ in repeat(None))
        return map(rows.batch, islice(endless, config.steps))

    def loss(model: nn.Module, batch: GroupBatch) -> Tensor:
        return relevance_loss(model(*batch.pairs), batch.labels, batch.owners)

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


def _optimiser(network: nn.Module, config: FitConfig) -> torch.optim.Optimizer:
    """AdamW; only matrices decay."""
    weights = [*network.parameters()]
    matrices = {"params": [weight for weight in weights if weight.ndim > 1], "weight_decay": config.decay}
    others = {"params": [weight for weight in weights if weight.ndim < 2], "weight_decay": 0.0}
    return torch.optim.AdamW([matrices, others], lr=config.rate, betas=(0.9, 0.98))


def logits_of(network: InteractionNetwork, rows: GroupRows) -> FloatArray:
    """Logits of all pairs (N,), without dropout."""
    network.eval()
    order = np.argsort(rows.costs(), kind="stable")
    logits = np.zeros(len(order), np.float32)
    with torch.no_grad():
        for start in range(0, len(order), _SCORED):
            places = order[start : start + _SCORED]
            logits[places] = network(*rows.pairs(places)).numpy()
    return logits


def measured(network: InteractionNetwork, groups: Sequence[Group], states: TokenStates) -> dict[str, float]:
    """Figures of the held-out groups with a right passage; empty without any."""
    tested = [group for group in groups if group.held_out and any(group.is_right)]
    if not tested:
        return {}
    rows = GroupRows.of(tested, states)
    return figures(rows, logits_of(network, rows))


def write(out: Path, network: InteractionNetwork, states: int, note: Mapping[str, object]) -> None:
    """The graph, and beside it how it was made."""
    out.parent.mkdir(parents=True, exist_ok=True)
    export_interaction(network, states, out)
    with atomic_file(out.with_suffix(".json")) as file:
        file.write((json.dumps({"sha256": sha256(out), **note}, indent=2) + "\n").encode())


def main() -> None:
    arguments = _arguments()
    config = replace(FitConfig(), steps=arguments.steps, seed=arguments.seed)
    groups = read_groups(arguments.data, arguments.reading, seed=config.seed)
    groups = [group for group in groups if not arguments.sources or group.source in arguments.sources]
    to_learn = learnt(groups)
    counts = Counter(groups[place].source for place in to_learn)
    say(f"groups: {dict(counts)}")
    transformer = sha256(arguments.encoder / GRAPH)
    work = arguments.work / transformer[:12]  # states of another transformer are others
    encoder = open_encoder(arguments.encoder)
    states = TokenStates.of(texts_of(groups), encoder, work)
    rows = GroupRows.of(groups, states)
    say(f"{len(rows.labels):,} pairs")
    seed_everything(config.seed)
    network = network_of(states, dimension=encoder.dimension, is_centred=arguments.centred)
    fitted(rows, to_learn, network, config)
    languages = sorted({group.language for group in groups})
    held_out = {
        language: measured(network, [group for group in groups if group.language == language], states)
        for language in languages
    }
    say(f"held out: {held_out}")
    note = {
        "held_out": held_out,
        "groups": dict(sorted(counts.items())),
        "settings": asdict(config),
        "transformer_sha256": transformer,
        "reading_sha256": sha256(arguments.reading),
    }
    write(arguments.out, network, encoder.dimension, note)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train the network that tells whether a passage answers a question.")
    add_paths(
        parser,
        data="folder with qa_pairs/ and medquad/",
        reading="documents for reading, in the format of benchmarks/reading",
        work="folder of intermediate files for a second run",
        out="the graph to write",
    )
    parser.add_argument("--encoder", type=Path, default=STARTER, help="folder of the transformer")
    parser.add_argument("--centred", action="store_true", help="read states without their mean")
    parser.add_argument("--sources", nargs="+", metavar="NAME", help="sources of groups; all by default")
    parser.add_argument("--steps", type=int, default=FitConfig().steps)
    parser.add_argument("--seed", type=int, default=FitConfig().seed)
    return parser.parse_args()


if __name__ == "__main__":
    main()
