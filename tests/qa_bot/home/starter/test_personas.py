"""Monologues of the shipped personas: form, variety, no repetition, and the counts in their README."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from qa_bot.home.starter import FOLDER as STARTER

PERSONAS = STARTER / "personas"
CONTEXTS = Path(__file__).parent / "persona_contexts.txt"
VOICES = ("captain", "gardener")
WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")


def lines(path: Path) -> list[str]:
    text = path.read_bytes().decode("ascii")  # strict: a curly quote or a long dash fails here
    assert text.endswith("\n")
    assert "\r" not in text
    return text.removesuffix("\n").split("\n")


def words(sentence: str) -> list[str]:
    return WORD.findall(sentence.lower())


def bigrams(sentence: str) -> list[tuple[str, str]]:
    cut = words(sentence)
    return list(pairwise(cut))


@pytest.fixture(params=VOICES)
def voice(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def sentences(voice: str) -> list[str]:
    return lines(PERSONAS / f"{voice}.txt")


def test_every_line_is_one_sentence_of_six_to_22_words(sentences: list[str]) -> None:
    whole = re.compile(r"[A-Z](?!.*  )[^.?!]*[.?!]")
    assert [line for line in sentences if not whole.fullmatch(line)] == []
    assert [line for line in sentences if not 6 <= len(words(line)) <= 22] == []


def test_sentences_are_unique(sentences: list[str]) -> None:
    counts = Counter(" ".join(words(line)) for line in sentences)
    assert len(counts) == len(sentences) >= 900


def test_sentences_share_less_than_half_of_their_words(sentences: list[str]) -> None:
    bags = [set(words(line)) for line in sentences]
    column = {word: i for i, word in enumerate(sorted(set[str]().union(*bags)))}
    holds = np.zeros((len(bags), len(column)), dtype=np.float32)  # (N, V)
    for row, bag in zip(holds, bags, strict=True):
        row[[column[word] for word in bag]] = 1
    common = holds @ holds.T
    sizes = common.diagonal()
    alike = np.argwhere(np.triu(common / (sizes[:, None] + sizes - common), 1) >= 0.5)
    assert [(sentences[i], sentences[j]) for i, j in alike] == []


def test_wording_varies(sentences: list[str]) -> None:
    pairs = [pair for line in sentences for pair in bigrams(line)]
    assert len(set(pairs)) > 0.6 * len(pairs)
    openings = Counter(tuple(words(line)[:2]) for line in sentences)
    assert max(openings.values()) <= 0.03 * len(sentences)
    assert sum(line.endswith("!") for line in sentences) <= 0.02 * len(sentences)
    assert sum(line.endswith("?") for line in sentences) >= 0.03 * len(sentences)


def test_voices_share_no_sentence() -> None:
    captain, gardener = ({" ".join(words(line)) for line in lines(PERSONAS / f"{name}.txt")} for name in VOICES)
    assert not captain & gardener


def test_counts_in_the_readme(voice: str, sentences: list[str]) -> None:
    all_words = [word for line in sentences for word in words(line)]
    pairs = [pair for line in sentences for pair in bigrams(line)]
    counts = (
        f"{len(sentences):,}",
        f"{len(all_words):,}",
        f"{len(all_words) / len(sentences):.1f}",
        f"{len(set(all_words)):,}",
        f"{len(set(pairs)) / len(pairs):.3f}",
    )
    assert f"| `{voice}.txt` | {' | '.join(counts)} |" in (PERSONAS / "README.md").read_text(encoding="utf-8")


def test_twenty_distinct_contexts() -> None:
    contexts = lines(CONTEXTS)
    assert len({" ".join(words(line)) for line in contexts}) == len(contexts) == 20
    assert all(line == line.strip() and line.endswith((".", "?", "!")) for line in contexts)
