"""Teaches the shipped transformer a language: new word pieces whose vectors are learnt from translations.

    python -m qa_lab.fit.language.add_words --language de --encoder DIR --minilm DIR --frequencies FILE \
        --english FILE --dictionary FILE --catalogues DIR --pages DIR ENGLISH_DIR --work DIR --out DIR

The network and its English words are unchanged, bit for bit. The new words take the places that BERT's vocabulary
leaves unused, then places after it. A second run with the same folder of work continues the first one. `--start DIR`
begins with the vectors that an encoder, which has learnt the language before, has for the same pieces.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from qa_core.encoders.graphs.quantisation import float_weights, write_words
from qa_core.encoders.sentence_layout import SentenceLayout, read_object
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.transformer_encoder import MADE_WITH, TransformerEncoder
from qa_core.encoders.word_pieces import write_vocabulary
from qa_core.training.loop import Training, seed_everything, train
from qa_core.training.resume import STATE, load_training, save_training
from qa_core.training.schedules import triangle
from qa_core.training.transformer_tuning import TunedTransformer, load_tunable
from qa_core.types import Encoder, FloatArray
from qa_lab.fit.language.pieces import PieceConfig, choose_pieces
from qa_lab.fit.language.sources import Sources, add_options, sampled
from qa_lab.fit.language.translations import Translation
from qa_lab.fit.language.vectors import (
    Batch,
    FitConfig,
    FurtherWords,
    distance_and_contrast,
    drawn_batches,
    encoded,
    first_rows,
)

GRAPH, TOKENISER = "onnx/model.onnx", "tokenizer.json"
_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass(frozen=True, slots=True)
class Texts:
    """Texts with the vectors of their translations, a unit row each."""

    texts: Sequence[str]
    targets: FloatArray  # (N, D)


def fitted(
    module: FurtherWords, data: Texts, tokeniser: SubwordTokeniser, work: Path, config: FitConfig, report: Any
) -> None:
    """Train the rows, or continue the run saved in `work`."""
    rows = tokeniser.sequences(data.texts)
    training = Training(module, torch.optim.SparseAdam([module.rows.weight], lr=config.rate), seed=config.seed)
    if list(work.glob(f"**/{STATE}")):
        load_training(work, training)
    steps = round(config.epochs * sum(map(len, rows)) / config.tokens)

    def drawn(_: int, rng: np.random.Generator) -> Iterator[Batch]:
        return drawn_batches(rows, data.targets, rng, tokens=config.tokens)

    for progress in train(
        training,
        drawn,
        lambda model, batch: distance_and_contrast(model(batch.ids, batch.mask), batch.targets, config),
        epochs=math.ceil(config.epochs),
        schedule=triangle(steps, warm_up=config.warm_up),
        report_every=50,
    ):
        report(f"step {progress.step} of {steps}, loss {progress.loss:.4f}")
        save_training(work, training)
        if progress.step >= steps:
            break


def agreement(vectors: FloatArray, targets: FloatArray) -> dict[str, float]:
    """Mean cosine of texts and translations, and how often each is the other's nearest; both (N, D)."""
    cosines = vectors @ targets.T
    places = np.arange(len(cosines))
    return {
        "cosine": float(cosines.diagonal().mean()),
        "translation is nearest": float(np.mean(cosines.argmax(1) == places)),
        "text is nearest": float(np.mean(cosines.argmax(0) == places)),
    }


def extended(content: str, pieces: Sequence[str], *, into_unused: bool = True) -> tuple[str, list[int]]:
    """A `tokenizer.json` with further pieces, in unused places first if so wished, and the place of each piece."""
    settings = json.loads(content)
    vocabulary: dict[str, int] = settings["model"]["vocab"]
    unused = sorted(place for token, place in vocabulary.items() if into_unused and _UNUSED.fullmatch(token))
    places = [*unused, *range(len(vocabulary), len(vocabulary) + len(pieces))][: len(pieces)]
    taken = dict(zip(places, pieces, strict=True))
    standing = {taken.pop(place, token): place for token, place in vocabulary.items()}
    settings["model"]["vocab"] = standing | {piece: place for place, piece in taken.items()}
    return json.dumps(settings, ensure_ascii=False, separators=(",", ":")), places


def write(out: Path, encoder: Path, pieces: Sequence[str], rows: FloatArray, *, made_with: dict[str, Any]) -> None:
    """The encoder with further pieces and their vectors (N, D); `made_with` says the language and every setting."""
    before = TransformerEncoder.load_prepared(encoder)
    shutil.copytree(encoder, out, dirs_exist_ok=True)
    content, places = extended((encoder / TOKENISER).read_text(encoding="utf-8"), pieces)
    (out / TOKENISER).write_text(content, encoding="utf-8")
    write_vocabulary(out)
    write_words(encoder / GRAPH, out / GRAPH, rows, np.array(places))
    config = read_object(encoder / "config.json")
    config["vocab_size"] = max(config["vocab_size"], max(places, default=0) + 1)
    write_settings(out / "config.json", config)
    settings = read_object(encoder / MADE_WITH) | {"weights_sha256": sha256(out / GRAPH)}
    write_settings(out / MADE_WITH, with_language(settings, before, made_with))


def with_language(settings: dict[str, Any], before: Encoder, made_with: dict[str, Any]) -> dict[str, Any]:
    """Settings of an encoder that has learnt a language in addition to those before."""
    language = made_with["language"]
    return settings | {
        "languages": sorted({"en", *settings.get("languages", ()), language}),
        "extends": sorted({before.fingerprint, *before.extends}),
        "words_of": settings.get("words_of", {}) | {language: made_with},
    }


def write_settings(path: Path, settings: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def main() -> None:
    arguments = _arguments()
    config = FitConfig(epochs=arguments.epochs, seed=arguments.seed)
    torch.set_num_threads(arguments.threads)
    seed_everything(config.seed)
    network, tokeniser = _network(arguments.minilm, arguments.encoder)
    normalise = tokeniser.tokenizer.normalizer.normalize_str
    sources = Sources.read(arguments, normalise)
    known = set(tokeniser.tokenizer.get_vocab())
    pieces = choose_pieces(known, sources.shares, sources.english, PieceConfig(pieces=arguments.pieces))
    learnt, held = sampled(sources, np.random.default_rng(config.seed))
    say(f"{len(pieces):,} pieces, {len(learnt):,} texts")
    content, places = extended((arguments.encoder / TOKENISER).read_text(encoding="utf-8"), pieces)
    further = SubwordTokeniser.of(content)
    rows = first_rows(pieces, sources.meanings(normalise), network.model.embeddings.word_embeddings.weight, tokeniser)
    if arguments.start is not None:
        learnt_before(arguments.start, pieces, rows)
    module = FurtherWords(network, rows, places)
    data, test = (_with_targets(network, tokeniser, translations) for translations in (learnt, held))
    say(f"before: {agreement(encoded(module, further.sequences(test.texts)), test.targets)}")
    fitted(module, data, further, arguments.work, config, say)
    figures = agreement(encoded(module, further.sequences(test.texts)), test.targets)
    say(f"after: {figures}")
    made_with = asdict(config) | {"language": arguments.language, "pieces": len(pieces), "texts": len(learnt)} | figures
    if arguments.start is not None:
        made_with["start_sha256"] = sha256(arguments.start / GRAPH)
    write(arguments.out, arguments.encoder, pieces, module.rows.weight.detach().numpy(), made_with=made_with)


def learnt_before(encoder: Path, pieces: Sequence[str], rows: Tensor) -> None:
    """Set the rows (N, D) of the pieces that an encoder has to its vectors."""
    vocabulary = SubwordTokeniser.load(encoder).tokenizer.get_vocab()
    words = float_weights(encoder / GRAPH)["embeddings.word_embeddings.weight"]
    for row, piece in enumerate(pieces):
        if piece in vocabulary:
            rows[row] = torch.from_numpy(words[vocabulary[piece]].copy())


def _network(minilm: Path, encoder: Path) -> tuple[TunedTransformer, SubwordTokeniser]:
    """The shipped encoder's network in the architecture of MiniLM, and its tokeniser."""
    network = load_tunable(SentenceLayout.read(minilm))
    weights = {name: torch.from_numpy(weight.copy()) for name, weight in float_weights(encoder / GRAPH).items()}
    words = weights["embeddings.word_embeddings.weight"]
    network.model.resize_token_embeddings(len(words))
    network.model.load_state_dict(weights, strict=False)  # the pooler is not used
    return network, SubwordTokeniser.load(encoder)


def _with_targets(network: TunedTransformer, tokeniser: SubwordTokeniser, translations: Sequence[Translation]) -> Texts:
    """Texts with the unit mean of the vectors of their translations."""
    places = {text: i for i, text in enumerate(dict.fromkeys(chain(*(t.english for t in translations))))}
    vectors = encoded(network, tokeniser.sequences([*places]))
    means = np.stack([vectors[[places[text] for text in t.english]].mean(0) for t in translations])
    return Texts([t.text for t in translations], means / np.linalg.norm(means, axis=1, keepdims=True))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Teach the shipped transformer a language.")
    add_options(
        parser,
        encoder="folder of the shipped transformer",
        minilm="folder of all-MiniLM-L6-v2 in sentence-transformers layout",
        work="folder of the run, for a second run",
    )
    parser.add_argument("--start", type=Path, metavar="DIR", help="an encoder that has learnt the language before")
    parser.add_argument("--seed", type=int, default=FitConfig().seed)
    parser.add_argument("--pieces", type=int, default=PieceConfig().pieces)
    parser.add_argument("--epochs", type=float, default=FitConfig().epochs)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
