"""Synonyms of words with one sense, read straight from WordNet's own files (wndb(5WN)).

nltk reads the same files, but importing it takes more than two seconds, which a question from the command line would
have to wait for. In the tests nltk is the oracle.
"""

from __future__ import annotations

import mmap
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path

PARTS = ("noun", "verb", "adj", "adv")
FILES = tuple(f"{kind}.{part}" for part in PARTS for kind in ("index", "data")) + tuple(f"{part}.exc" for part in PARTS)
_ENDINGS = {  # WordNet's rules of detachment, morphy(7WN)
    "noun": "s: ses:s ves:f xes:x zes:z ches:ch shes:sh men:man ies:y",
    "verb": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "adj": "er: est: er:e est:e",
    "adv": "",
}
_RULES = {part: [tuple(rule.split(":")) for rule in rules.split()] for part, rules in _ENDINGS.items()}


@dataclass(frozen=True)
class WordNet:
    """A folder or zip archive with WordNet's `index.*`, `data.*` and `*.exc` files."""

    path: Path

    def synonyms(self, word: str) -> tuple[str, ...]:
        """The other words of the only sense of `word`, counted over all parts of speech; () where it has several."""
        word = word.casefold().replace(" ", "_")
        senses = list(islice(self._senses(word), 2))  # most words have a second sense: the rest need not be looked up
        if len(senses) != 1:
            return ()
        own = {word, *(form for part in PARTS for form in self._base_forms(word, part))}
        lemmas = (lemma.casefold() for lemma in self._lemmas(*senses[0]))
        return tuple(lemma.replace("_", " ") for lemma in dict.fromkeys(lemmas) if lemma not in own)

    def _senses(self, word: str) -> Iterator[tuple[str, int]]:
        """Part of speech and place of each sense of a word and of its dictionary forms."""
        for part in PARTS:
            for form in self._base_forms(word, part):
                for offset in self._offsets(form, part):
                    yield part, offset

    def _base_forms(self, word: str, part: str) -> list[str]:
        """The dictionary forms of an inflected word, as morphy(7WN) finds them."""
        if word in self._exceptions[part]:
            return self._known([word, *self._exceptions[part][word]], part)
        stripped = [word[: -len(old)] + new for old, new in _RULES[part] if word.endswith(old)]
        return self._known([word, *stripped], part)

    def _known(self, forms: list[str], part: str) -> list[str]:
        return [form for form in dict.fromkeys(forms) if form and self._offsets(form, part)]

    def _offsets(self, lemma: str, part: str) -> list[int]:
        """Places in the data file of the synsets of a dictionary form."""
        fields = _line_of(self._files[f"index.{part}"], lemma.encode() + b" ").split()
        return [int(field) for field in fields[-int(fields[2]) :]] if fields else []

    def _lemmas(self, part: str, offset: int) -> list[str]:
        data = self._files[f"data.{part}"]
        fields = data[offset : data.find(b"\n", offset)].split()
        if len(fields) < 4 or fields[0] != b"%08d" % offset:
            raise ValueError(
                f"Expected synset {offset:08d} in data.{part} of {self.path}, but got {b' '.join(fields[:3])!r}; "
                "download WordNet again: python -m nltk.downloader wordnet"
            )
        lemmas = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return [lemma.decode("utf-8").partition("(")[0] for lemma in lemmas]

    @cached_property
    def _files(self) -> dict[str, bytes | mmap.mmap]:
        if self.path.suffix == ".zip":
            with zipfile.ZipFile(self.path) as archive:
                return {name: archive.read(f"wordnet/{name}") for name in FILES}
        return {name: _mapped(self.path / name) for name in FILES}

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        """Irregular forms of each part of speech: mice → mouse."""
        tables = {part: bytes(self._files[f"{part}.exc"][:]).decode("utf-8").splitlines() for part in PARTS}
        return {part: {fields[0]: fields[1:] for fields in map(str.split, lines)} for part, lines in tables.items()}


def _mapped(path: Path) -> bytes | mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""


def _line_of(lines: bytes | mmap.mmap, key: bytes) -> bytes:
    """The line of a sorted file that starts with `key`, by binary search; empty where there is none."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high) // 2
        start = lines.rfind(b"\n", low, middle) + 1 or low
        end = lines.find(b"\n", middle)
        end = len(lines) if end < 0 else end
        line = lines[start:end]
        if line.startswith(key):
            return line
        if line < key:
            low = end + 1
        else:
            high = start
    return b""
