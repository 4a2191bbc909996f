"""WordPiece without the library `tokenizers`: words of western texts over a vocabulary that is mapped from a file.

The library holds 27 MB for the two shipped vocabularies and takes 60 ms to read them, before a question of eight words
is cut. Here a word is looked up in a trie on disk. Other texts go to the library (see `SubwordTokeniser`).
(Wu et al. 2016, §4.1; Devlin et al. 2019.)
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import marisa_trie

from qa_core.atomic import atomic_path

FILE = "vocabulary.marisa"
"""Beside `tokenizer.json`: the id of each token, and the sha256 of `tokenizer.json`."""
INSIDE = "##"
"""Begins a piece that continues a word."""
LONGEST_TEXT = 8_000
"""Characters, fewer than any limit of tokens in use."""
_LETTERS = (
    "A-Za-z0-9\u00c0-\u02ff\u0370-\u037d\u037f-\u0386\u0388-\u0482\u048a-\u052f\u1e00-\u1fee\u1ff0-\u1ffe"
    "¢-¦¨-ª¬®-µ¸-º¼-¾\u2070-\u207c\u20a0-\u20bf\u2100-\u225f\u2270-\u2307\u230c-\u2328\u232b-\u2767\u2776-\u27bf\ufe0f\U0001f300-\U0001faff"
)
"""Latin, Greek and Cyrillic letters; signs that BERT's tokenisers take for letters, such as "½", "€", "→" and emoji."""
_SIGNS = r"!-/:-@\[-`{-~¡§«¶·»¿\u2010-\u2027\u2030-\u2043"
_BLANKS = r"\t\n\r \u00a0\u2000-\u200a\u202f"
WORD = re.compile(f"[{_LETTERS}]+|[{_SIGNS}]")
"""The words of a western text as BERT's tokenisers cut it: runs of letters and digits, and single other signs."""
_UNUSUAL = re.compile(f"[^{_BLANKS}{_LETTERS}{_SIGNS}]")
"""Signs of texts that are not cut here: other scripts and control characters."""
MARK = "\ufe0f"
"""Makes a picture of the sign before it; it is no part of a word."""
_START, _END, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
SPECIALS = frozenset({"[PAD]", _UNKNOWN, _START, _END, "[MASK]"})
"""Tokens that a text may name: they are not cut."""
_LONGEST_WORD = 100  # characters, above which a word is unknown
_MOST_WORDS = 16_384  # kept with their ids, about 3 MB
_RECORD = "<i"


class _Piece(NamedTuple):
    id: int
    length: int
    """Characters of the word."""


class WordPieces(dict[str, list[int]]):
    """Token ids of words, each of which is cut once."""

    def __init__(self, trie: marisa_trie.RecordTrie) -> None:
        super().__init__()
        self._trie = trie
        self.unknown, self._start, self._end = (_id(trie, name) for name in (_UNKNOWN, _START, _END))

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """Map the vocabulary of a folder; None if it has no usable one, or one of another `tokenizer.json`."""
        if not (folder / FILE).is_file():
            return None
        try:
            trie = marisa_trie.RecordTrie(_RECORD).mmap(str(folder / FILE))
            return cls(trie) if _sum(folder) in trie else None
        except (RuntimeError, KeyError):  # a damaged file
            return None

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= _MOST_WORDS:
            self.clear()
        ids = self[word] = [piece.id for piece in self._pieces(word)]
        return ids

    @property
    def size(self) -> int:
        """Number of tokens of the vocabulary."""
        return len(self._trie) - 1

    def sequence(self, ids: list[int], limit: int) -> list[int]:
        """The ids of a text between the special tokens, which count for the limit."""
        return [self._start, *ids[: limit - 2], self._end]

    def spans(self, text: str, limit: int) -> list[tuple[int, int]]:
        """The span of each token of a usual text without `MARK`, and of its special tokens, which are empty."""
        spans = []
        for match in WORD.finditer(text):
            start = match.start()
            for piece in self._pieces(match[0]):
                spans.append((start, start + piece.length))
                start += piece.length
        return [(0, 0), *spans[: limit - 2], (0, 0)]

    def _pieces(self, word: str) -> list[_Piece]:
        """The longest piece at the start of a word, then the longest at the start of the rest, and so on.

        One unknown token if a part of the word has none.
        """
        letters, pieces, at = _plain(word), [], 0
        if len(letters) > _LONGEST_WORD:
            return [_Piece(self.unknown, len(word))]
        while at < len(letters):
            prefix = INSIDE if at else ""
            longest = max(self._trie.prefixes(prefix + letters[at:]), key=len, default="")
            if len(longest) <= len(prefix):
                return [_Piece(self.unknown, len(word))]
            pieces.append(_Piece(_id(self._trie, longest), len(longest) - len(prefix)))
            at += pieces[-1].length
        return pieces


def is_usual(text: str) -> bool:
    """Whether the words of a text are its tokens: western letters, no special token, and not too long."""
    is_western = len(text) <= LONGEST_TEXT and not _UNUSUAL.search(text)
    return is_western and ("[" not in text or not any(special in text for special in SPECIALS))


def write_vocabulary(folder: Path) -> None:
    """Write the vocabulary of the `tokenizer.json` of an uncased BERT beside it; texts of others are not cut here."""
    settings = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    if _kind(settings) != _KIND:
        return
    with atomic_path(folder / FILE) as partial:
        marisa_trie.RecordTrie(_RECORD, _records(settings["model"]["vocab"], _sum(folder))).save(str(partial))


_KIND: Mapping[str, Any] = {
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": ("WordPiece", _UNKNOWN, INSIDE, _LONGEST_WORD),
    "single": [
        {"SpecialToken": {"id": _START, "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": _END, "type_id": 0}},
    ],
    "specials": sorted(SPECIALS),
}


def _kind(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of a `tokenizer.json` that decide how it cuts."""
    model = settings["model"]
    fields = ("type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word")
    return {
        "normalizer": settings["normalizer"],
        "pre_tokenizer": settings["pre_tokenizer"],
        "model": tuple(model.get(field) for field in fields),
        "single": (settings["post_processor"] or {}).get("single"),
        "specials": sorted(token["content"] for token in settings["added_tokens"]),
    }


def _records(vocabulary: Mapping[str, int], sum_: str) -> Iterator[tuple[str, tuple[int]]]:
    yield sum_, (0,)
    for token, id_ in vocabulary.items():
        yield token, (id_,)


def _sum(folder: Path) -> str:
    """sha256 of the `tokenizer.json`, with a sign that no token has."""
    return "\n" + hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()


def _id(trie: marisa_trie.RecordTrie, token: str) -> int:
    ((id_,),) = trie[token]
    return int(id_)


def _plain(word: str) -> str:
    """Small letters without accents, as many as the word has without `MARK`."""
    if word.isascii():
        return word.lower()
    signs = (sign for sign in unicodedata.normalize("NFD", word) if unicodedata.category(sign) != "Mn")
    return "".join(map(str.lower, signs))  # sign by sign: a sigma at the end is one as any other
