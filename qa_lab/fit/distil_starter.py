"""Distils the starter encoder: MiniLM's sentence vectors as sums of one vector per word.

The table starts with the sentence encoder's vector of every token, projected to the principal directions of its
sentence vectors and weighted by smoothed inverse frequency under Zipf's law (model2vec: Tulkens and van Dongen 2024).
Then it is fitted to a sample of texts (`fit_token_table.py`). Frequent words that the teacher splits get a vector.

    python -m qa_lab.fit.distil_starter --teacher DIR --data DIR --wordnet DIR --work DIR --out DIR
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.encoders.static_encoder import KIND, sha256
from qa_core.encoders.tokenisers import SubwordTokeniser
from qa_core.encoders.transformer_encoder import TransformerEncoder
from qa_core.encoders.word_pieces import write_vocabulary
from qa_core.types import FloatArray
from qa_lab.fit.fit_token_table import FitConfig, fit

TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
Pairs = list[tuple[str, str]]

_SPECIAL = re.compile(r"\[(PAD|UNK|CLS|SEP|MASK|unused\d+)\]")
_WORD = re.compile(r"[a-z]+")
_MOST = {"lemma": 60_000, "gloss": 70_000, "trivia": 30_000}  # largest number of texts of a kind
_SHARD = 10_000  # texts encoded between saves


@dataclass(frozen=True, slots=True)
class DistilConfig:
    dimension: int = 256
    words: int = 27_000  # added to the teacher's word pieces
    least_length: int = 3  # letters of an added word
    smoothing: float = 1e-4  # `a` of the weight `a / (a + p)`
    teacher_length: int = 64  # tokens that the teacher reads of a text
    seed: int = 0


def main() -> None:
    arguments = _arguments()
    config = DistilConfig()
    teacher = _teacher(arguments.teacher, arguments.work, config)
    texts, pairs = sample(arguments.data, arguments.wordnet, seed=config.seed)
    tokeniser, words = extended(arguments.teacher, teacher.tokeniser, texts, config)
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "tokenizer.json").write_text(json.dumps(tokeniser, ensure_ascii=False), encoding="utf-8")
    write_vocabulary(arguments.out)

    targets = encoded(teacher, texts, arguments.work / "texts")
    word_vectors = encoded(teacher, words, arguments.work / "words")
    basis = principal_directions(targets, config.dimension)  # (384, D)
    table = initial(arguments.teacher, teacher, word_vectors, basis, smoothing=config.smoothing)
    fitting = FitConfig(seed=config.seed)
    fitted = fit(
        table,
        SubwordTokeniser.load(arguments.out, max_length=config.teacher_length),
        texts=[*texts, *words],
        targets=np.vstack([targets, word_vectors]) @ basis,
        pairs=pairs,
        config=fitting,
        report=say,
    )
    write(arguments.out, fitted, made_with={**asdict(config), **asdict(fitting), "teacher_sha256": TEACHER_SHA256})


def sample(data: Path, wordnet: Path, *, seed: int) -> tuple[list[str], dict[str, Pairs]]:
    """Texts for the teacher in random order, and matching pairs by kind."""
    squad = [(row["question"], row["answer"]) for row in _rows(data / "qa_pairs/squad_sentences.jsonl.gz")]
    forum = [(row["question"], row["answer"]) for row in _rows(data / "qa_pairs/medical_forum.jsonl.gz")]
    trivia = [row["question"] for row in _rows(data / "qa_pairs/opentriviaqa.jsonl.gz")]
    synsets = list(read_synsets(wordnet))
    texts = [(text, "squad") for row in squad for text in row] + [(text, "trivia") for text in trivia]
    texts += [(text, "forum") for row in forum for text in row]
    for words, gloss in synsets:
        texts += [*((word, "lemma") for word in words), (gloss, "gloss")]
    kinds: dict[str, str] = {}
    for text, kind in texts:
        kinds.setdefault(" ".join(text.split()), kind)
    kinds.pop("", None)
    definitions = [(", ".join(words), gloss) for words, gloss in synsets]
    synonyms = [(words[0], ", ".join(words[1:])) for words, _ in synsets if len(words) > 1]
    return _drawn(kinds, seed), {"squad": squad, "forum": forum, "wordnet": definitions + synonyms}


def read_synsets(folder: Path) -> Iterator[tuple[list[str], str]]:
    """Words and gloss of every synset of WordNet's `data.*` files (wndb(5WN))."""
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith("  "):  # the licence
                continue
            head, _, gloss = line.partition("|")
            fields = head.split()
            count = int(fields[3], 16)
            words = (re.sub(r"\(\w+\)$", "", fields[4 + 2 * i]) for i in range(count))
            yield [word.replace("_", " ") for word in words], gloss.strip()


def extended(
    folder: Path, pieces: SubwordTokeniser, texts: Sequence[str], config: DistilConfig
) -> tuple[dict[str, Any], list[str]]:
    """The teacher's tokeniser extended by the most frequent other words of the sample, and these words.

    Among words of equal count, those with more pieces come first, because their pieces say less about them.
    """
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    vocabulary = content["model"]["vocab"]
    counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
    new = [word for word in counts if len(word) >= config.least_length and word not in vocabulary]
    cuts = dict(zip(new, pieces.flat(new)[1].tolist(), strict=True))
    words = sorted(new, key=lambda word: (-counts[word], -cuts[word], word))[: config.words]
    vocabulary |= {word: len(vocabulary) + i for i, word in enumerate(words)}
    return {**content, "truncation": None, "padding": None}, words


def encoded(teacher: TransformerEncoder, texts: Sequence[str], work: Path) -> FloatArray:
    """The teacher's unit vectors (N, 384), saved in shards under `work`, so that an interrupted run resumes."""
    work.mkdir(parents=True, exist_ok=True)
    shards = []
    for start in range(0, len(texts), _SHARD):
        path = work / f"{start // _SHARD:03d}.npy"
        if not path.is_file():
            np.save(path, teacher.encode(texts[start : start + _SHARD]).astype(np.float16))
            say(f"encoded {min(start + _SHARD, len(texts))} of {len(texts)}")
        shards.append(np.load(path).astype(np.float32))
    return np.vstack(shards)


def principal_directions(vectors: FloatArray, dimension: int) -> FloatArray:
    """The D orthonormal columns (384, D) that preserve most of the vectors' length; uncentred, to preserve cosines."""
    _, directions = np.linalg.eigh(vectors.T @ vectors)  # ascending
    return directions[:, ::-1][:, :dimension].astype(np.float32)


def initial(
    folder: Path, teacher: TransformerEncoder, words: FloatArray, basis: FloatArray, *, smoothing: float
) -> FloatArray:
    """Weighted rows (V, D): tokens by their rank in the vocabulary, which is ordered by frequency; words by 1."""
    vocabulary = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    first, last = vocabulary["[CLS]"], vocabulary["[SEP]"]
    tokens = np.vstack([teacher.encode_ids([[first, i, last] for i in part]) for part in _parts(len(vocabulary))])
    rank = np.arange(2, len(vocabulary) + 2)
    frequency = 1 / rank / np.sum(1 / rank)  # Zipf's law
    weights = np.concatenate([smoothing / (smoothing + frequency), np.ones(len(words))])
    table = np.vstack([tokens - tokens.mean(0), words - tokens.mean(0)]) @ basis * weights[:, None]
    table[[i for token, i in vocabulary.items() if _SPECIAL.fullmatch(token)]] = 0
    scaled: FloatArray = (table / np.sqrt((table**2).sum(1).mean())).astype(np.float32)
    return scaled


def write(folder: Path, table: FloatArray, *, made_with: dict[str, Any]) -> None:
    """Write rows as int8 with a scale each, and a configuration with the sha256 of the weights."""
    steps = np.abs(table).max(1) / 127  # (V,)
    steps[steps == 0] = 1
    whole = np.round(table / steps[:, None]).astype(np.int8)
    write_tensors(folder / "model.safetensors", {"vectors": whole, "scale": steps.astype(np.float32)})
    config = {"kind": KIND, "weights_sha256": sha256(folder / "model.safetensors"), "made_with": made_with}
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _teacher(folder: Path, work: Path, config: DistilConfig) -> TransformerEncoder:
    actual = sha256(folder / "model.safetensors")
    if actual != TEACHER_SHA256:
        raise ValueError(f"Expected the weights of all-MiniLM-L6-v2 ({TEACHER_SHA256}) in {folder}, but got {actual}.")
    return TransformerEncoder.load(folder, cache=work / "graph", int8=True, max_length=config.teacher_length)


def _drawn(kinds: dict[str, str], seed: int) -> list[str]:
    by_kind: dict[str, list[str]] = {}
    for text, kind in kinds.items():
        by_kind.setdefault(kind, []).append(text)
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    drawn: list[str] = []
    for kind, texts in by_kind.items():
        rng.shuffle(texts)
        drawn += texts[: _MOST.get(kind)]
    rng.shuffle(drawn)
    return drawn


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _parts(count: int, *, size: int = 512) -> Iterator[range]:
    return (range(start, min(start + size, count)) for start in range(0, count, size))


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def add_paths(parser: argparse.ArgumentParser, **meanings: str) -> None:
    """Add an option for each path that a script needs, with its meaning."""
    for name, meaning in meanings.items():
        parser.add_argument(f"--{name}", type=Path, required=True, help=meaning)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the starter encoder.")
    add_paths(
        parser,
        teacher="folder of all-MiniLM-L6-v2 in sentence-transformers layout",
        data="folder with qa_pairs/",
        wordnet="folder with WordNet 3.0's data.noun, data.verb, data.adj and data.adv",
        work="folder of intermediate files for a second run",
        out="folder of the encoder",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
