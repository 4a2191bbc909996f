"""Teaches the shipped table of tokens a language: rows of new words, learnt from translations.

    python -m qa_lab.fit.language.add_table_words --language de --encoder DIR --transformer DIR --frequencies FILE \
        --english FILE --dictionary FILE --catalogues DIR --pages DIR ENGLISH_DIR --out DIR

The rows of English words are unchanged, bit for bit. A text shall have the table's vector of its translation; the loss
is that of `vectors`.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from qa_core.encoders.mapped_tensors import map_tensors, write_tensors
from qa_core.encoders.sentence_layout import read_object
from qa_core.encoders.static_encoder import StaticEncoder, sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.word_pieces import write_vocabulary
from qa_core.training.loop import Training, seed_everything, train
from qa_core.training.schedules import triangle
from qa_core.types import FloatArray, IntArray
from qa_lab.fit.language.add_words import TOKENISER, agreement, extended, say, with_language, write_settings
from qa_lab.fit.language.pieces import with_frequent_words
from qa_lab.fit.language.sources import SampleConfig, Sources, add_options, english_of, sampled
from qa_lab.fit.language.vectors import FitConfig, distance_and_contrast

TABLE = "model.safetensors"
CONFIG = FitConfig(epochs=2, rate=0.05, warm_up=0.0)
SAMPLE = SampleConfig(words=150_000, long_words=100_000, phrases=60_000)
TEXTS = 1024
"""Texts of a batch."""


@dataclass(frozen=True, slots=True)
class Bags:
    """Texts as sums (N, D) of known rows, and ids of new rows (T,) of which text `i` begins at `bounds[i]`."""

    known: FloatArray
    ids: IntArray
    bounds: IntArray
    targets: FloatArray  # (N, D), unit rows of the translations

    @classmethod
    def of(cls, texts: Sequence[str], targets: FloatArray, table: FloatArray, tokeniser: SubwordTokeniser) -> Bags:
        """`table` (V, D) has the rows of the words that stay; `tokeniser` knows the new ones behind them."""
        ids, lengths = tokeniser.flat(texts)
        owners = np.repeat(np.arange(len(texts)), lengths)
        is_known = ids < len(table)
        known = np.zeros((len(texts), table.shape[1]), np.float32)
        np.add.at(known, owners[is_known], table[ids[is_known]])
        bounds = np.searchsorted(owners[~is_known], np.arange(len(texts) + 1))
        return cls(known, ids[~is_known] - len(table), bounds, targets)

    def __len__(self) -> int:
        return len(self.targets)

    def take(self, rows: IntArray) -> TableBatch:
        parts = [self.ids[self.bounds[row] : self.bounds[row + 1]] for row in rows]
        offsets = np.cumsum([0, *map(len, parts[:-1])])
        arrays = (self.known[rows], np.concatenate(parts), offsets, self.targets[rows])
        return TableBatch(*map(torch.from_numpy, arrays))


@dataclass(frozen=True, slots=True)
class TableBatch:
    known: Tensor  # (B, D)
    ids: Tensor  # (T,)
    offsets: Tensor  # (B,)
    targets: Tensor  # (B, D)

    def __len__(self) -> int:
        return len(self.known)


class FurtherRows(nn.Module):
    """New rows (N, D) beside a table that stays."""

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(len(rows), rows.shape[1], mode="sum", sparse=True, _weight=rows)

    def forward(self, batch: TableBatch) -> Tensor:
        """Unit rows (B, D); zero for a text without a word."""
        unit: Tensor = functional.normalize(batch.known + self.bag(batch.ids, batch.offsets), dim=1, eps=1e-6)
        return unit


def first_rows(
    pieces: Sequence[str], meanings: Mapping[str, Sequence[str]], encoder: StaticEncoder, length: float
) -> Tensor:
    """Rows (N, D) to start from: mean vectors of a word's translations times a length; zero without a translation."""
    rows = np.zeros((len(pieces), encoder.dimension), np.float32)
    for row, piece in zip(rows, pieces, strict=True):
        if english := english_of(piece, meanings):
            row += length * encoder.encode(english[:4]).mean(0)
    return torch.from_numpy(rows)


def fitted(module: FurtherRows, data: Bags, config: FitConfig) -> None:
    training = Training(module, torch.optim.SparseAdam(module.parameters(), lr=config.rate), seed=config.seed)
    epochs, steps = round(config.epochs), max(1, len(data) // TEXTS)

    def drawn(_: int, rng: np.random.Generator) -> Iterator[TableBatch]:
        for rows in np.array_split(rng.permutation(len(data)), steps):
            yield data.take(rows)

    for progress in train(
        training,
        drawn,
        lambda model, batch: distance_and_contrast(model(batch), batch.targets, config),
        epochs=epochs,
        schedule=triangle(epochs * steps, warm_up=config.warm_up),
    ):
        say(f"step {progress.step} of {epochs * steps}, loss {progress.loss:.4f}")


def write(out: Path, encoder: Path, pieces: Sequence[str], rows: FloatArray, *, made_with: dict[str, Any]) -> None:
    """The table with further rows (N, D) in 8 bits."""
    before = StaticEncoder.load(encoder)
    shutil.copytree(encoder, out, dirs_exist_ok=True)
    content, _ = extended((encoder / TOKENISER).read_text(encoding="utf-8"), pieces, into_unused=False)
    (out / TOKENISER).write_text(content, encoding="utf-8")
    write_vocabulary(out)
    steps = np.maximum(np.abs(rows).max(axis=1) / 127, 1e-12).astype(np.float32)  # (N,)
    added = {"vectors": np.round(rows / steps[:, None]).astype(np.int8), "scale": steps}
    tensors = map_tensors(encoder / TABLE)
    write_tensors(out / TABLE, {name: np.concatenate([tensors[name], added[name]]) for name in added})
    settings = read_object(encoder / "config.json") | {"weights_sha256": sha256(out / TABLE)}
    write_settings(out / "config.json", with_language(settings, before, made_with))


def main() -> None:
    arguments = _arguments()
    torch.set_num_threads(arguments.threads)
    seed_everything(CONFIG.seed)
    encoder = StaticEncoder.load(arguments.encoder)
    normalise = encoder.tokeniser.tokenizer.normalizer.normalize_str
    sources = Sources.read(arguments, normalise)
    known = set(encoder.tokeniser.tokenizer.get_vocab())
    of_transformer = SubwordTokeniser.load(arguments.transformer).tokenizer.get_vocab()
    in_order = sorted(of_transformer, key=of_transformer.__getitem__)
    pieces = with_frequent_words(known, in_order, sources.shares, sources.english, arguments.words)
    content, _ = extended((arguments.encoder / TOKENISER).read_text(encoding="utf-8"), pieces, into_unused=False)
    further = SubwordTokeniser.of(content)
    table = encoder.table.astype(np.float32) * encoder.scale[:, None]
    learnt, held = (
        Bags.of([t.text for t in part], encoder.encode(["; ".join(t.english[:2]) for t in part]), table, further)
        for part in sampled(sources, np.random.default_rng(CONFIG.seed), SAMPLE)
    )
    length = float(np.median(np.linalg.norm(table, axis=1)))
    module = FurtherRows(first_rows(pieces, sources.meanings(normalise), encoder, length))
    fitted(module, learnt, CONFIG)
    with torch.no_grad():
        figures = agreement(module(held.take(np.arange(len(held)))).numpy(), held.targets)
    say(f"{len(pieces):,} words, {len(learnt):,} texts: {figures}")
    rows = module.bag.weight.detach().numpy()
    known_rows = np.flatnonzero(rows.any(axis=1))
    pieces = [pieces[row] for row in known_rows]
    made_with = asdict(CONFIG) | {"language": arguments.language, "pieces": len(pieces), "texts": len(learnt)} | figures
    write(arguments.out, arguments.encoder, pieces, rows[known_rows], made_with=made_with)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Teach the shipped table of tokens a language.")
    add_options(
        parser, encoder="folder of the shipped table", transformer="folder of the transformer that has learnt it"
    )
    parser.add_argument("--words", type=int, default=12_000, help="new words and pieces")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
