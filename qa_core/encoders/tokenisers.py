"""Sub-word tokenisers; the only file that imports `tokenizers`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from qa_core.encoders.word_pieces import LONGEST_TEXT, MARK, SPECIALS, WORD, WordPieces, is_usual
from qa_core.types import IntArray, Span

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_BERT = ("BertNormalizer", "BertPreTokenizer", "WordPiece")
_UNKNOWN = "[UNK]"
_MOST_WORDS = 200_000
_LONGEST_WORD = 50
"""Characters, fewer than those above which BERT's tokenisers call a word unknown (100)."""


class _WordIds(dict[str, list[int]]):
    """Token ids of words, each of which is tokenised once.

    A word of the vocabulary is its own token. To look it up takes a thirtieth of the time of tokenising it, and eight
    of ten words are there.
    """

    def __init__(self, tokenizer: Tokenizer, *, lowercase: bool) -> None:
        super().__init__()
        self._tokenizer, self._lowercase = tokenizer, lowercase

    def __missing__(self, word: str) -> list[int]:
        if len(self) >= _MOST_WORDS:
            self.clear()
        is_short = word.isascii() and len(word) < _LONGEST_WORD
        whole = self._tokenizer.token_to_id(word.lower() if self._lowercase else word) if is_short else None
        ids = self[word] = self._tokenizer.encode(word, add_special_tokens=False).ids if whole is None else [whole]
        return ids


@dataclass(frozen=True, slots=True)
class SubwordTokeniser:
    """A `tokenizer.json` without padding, with truncation on request.

    With a mapped vocabulary beside it, the library reads it when a text of other scripts has to be cut.
    `known_words` count as in the vocabulary although they have several tokens.
    """

    read: Callable[[], Tokenizer]
    """Reads the file once."""
    known_words: Container[str]
    pieces: WordPieces | None = None
    word_ids: dict[str, list[int]] | None = None
    """If each word has its ids in every western text without special tokens, and no text of usual length is cut."""
    limit: int = sys.maxsize
    """Tokens of a sequence."""

    @classmethod
    def load(cls, folder: Path, *, max_length: int | None = None) -> Self:
        """Read `tokenizer.json` and, if it exists, `words.txt` (one lower-case word per line).

        `max_length` truncates texts to this number of tokens, special tokens included.
        """
        path = folder / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(f"Expected a tokenizer at {path}, but found no file; fetch the encoder again.")
        read, pieces = cache(partial(_read, path, max_length)), WordPieces.load(folder)
        limit = max_length or sys.maxsize
        is_whole = limit >= LONGEST_TEXT
        word_ids = (pieces if is_whole else None) if pieces is not None else _word_ids(read())
        return cls(read, _words(folder / "words.txt"), pieces, word_ids, limit)

    @classmethod
    def of(cls, content: str, *, known_words: Iterable[str] = ()) -> Self:
        """From the content of a `tokenizer.json`, without truncation."""
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_str(content)
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return cls(lambda: tokenizer, frozenset(known_words), word_ids=_word_ids(tokenizer))

    @property
    def tokenizer(self) -> Tokenizer:
        return self.read()

    @property
    def unknown(self) -> int | None:
        """Id of the unknown token."""
        return _unknown(self.tokenizer) if self.pieces is None else self.pieces.unknown

    def sequences(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text with the model's special tokens, truncated to the maximum length."""
        if (pieces := self.pieces) is None:
            return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts)]
        usual = [is_usual(text) for text in texts]
        unusual = [text for text, is_cut in zip(texts, usual, strict=True) if not is_cut]
        others = iter(self.tokenizer.encode_batch_fast(unusual) if unusual else ())
        return [
            pieces.sequence(_ids(text, pieces), self.limit) if is_cut else next(others).ids
            for text, is_cut in zip(texts, usual, strict=True)
        ]

    def spans(self, text: str) -> list[Span]:
        """The span in the text of each token of `sequences`; empty for a special token."""
        if self.pieces is not None and is_usual(text) and MARK not in text:
            return self.pieces.spans(text, self.limit)
        return [(int(start), int(end)) for start, end in self.tokenizer.encode(text).offsets]

    def flat(self, texts: Sequence[str]) -> tuple[IntArray, IntArray]:
        """The concatenated token ids of all texts (T,) without special tokens, and the number of each text (N,)."""
        rows = self._encoded(texts) if self.word_ids is None else self._by_words(texts, self.word_ids)
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        ids = np.fromiter(chain.from_iterable(rows), dtype=np.int64, count=int(lengths.sum()))
        return ids, lengths

    def _encoded(self, texts: Sequence[str]) -> list[list[int]]:
        if not texts:
            return []
        if len(texts) == 1:  # the batch call wakes a thread pool: slower for a single question
            return [self.tokenizer.encode(texts[0], add_special_tokens=False).ids]
        return [encoding.ids for encoding in self.tokenizer.encode_batch_fast(texts, add_special_tokens=False)]

    def _by_words(self, texts: Sequence[str], word_ids: dict[str, list[int]]) -> list[list[int]]:
        """The same as `_encoded`, in a third of the time for western texts."""
        usual = [is_usual(text) for text in texts]
        others = iter(self._encoded([text for text, is_cut in zip(texts, usual, strict=True) if not is_cut]))
        return [_ids(text, word_ids) if is_cut else next(others) for text, is_cut in zip(texts, usual, strict=True)]

    def knows(self, word: str) -> bool:
        """Whether a word is one token or one of `known_words`."""
        if word.lower() in self.known_words:
            return True
        if self.pieces is not None and is_usual(word):
            ids = _ids(word, self.pieces)
        else:
            ids = self.tokenizer.encode(word, add_special_tokens=False).ids
        return len(ids) == 1 and ids[0] != self.unknown

    @property
    def size(self) -> int:
        return int(self.tokenizer.get_vocab_size()) if self.pieces is None else self.pieces.size


def _ids(text: str, word_ids: dict[str, list[int]]) -> list[int]:
    """The ids of a usual text without special tokens."""
    return [*chain.from_iterable(map(word_ids.__getitem__, WORD.findall(text)))]


def _read(path: Path, max_length: int | None) -> Tokenizer:
    from tokenizers import Tokenizer  # late: most questions do without

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises bare Exception for every kind of damage
        raise ValueError(f"Expected a tokenizer in {path}, but got: {error}; fetch the encoder again.") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    if max_length is not None:
        tokenizer.enable_truncation(max_length)
    return tokenizer


def merged_pieces(texts: Iterable[str], *, size: int, least_count: int) -> list[str]:
    """The vocabulary of WordPiece that joining the most frequent pairs gives, the first joined first.

    Args:
        texts: words between spaces, as often as they shall count.
        size: of the vocabulary.
        least_count: of a pair that is joined.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.WordPiece(unk_token=_UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=[_UNKNOWN], min_frequency=least_count, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    places: dict[str, int] = tokenizer.get_vocab()
    return [piece for piece in sorted(places, key=places.__getitem__) if piece != _UNKNOWN]


def _word_ids(tokenizer: Tokenizer) -> _WordIds | None:
    parts = (tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.model)
    is_bert = tuple(type(part).__name__ for part in parts) == _BERT
    specials = {token.content for token in tokenizer.get_added_tokens_decoder().values()}
    limit = (tokenizer.truncation or {"max_length": LONGEST_TEXT})["max_length"]
    is_safe = is_bert and limit >= LONGEST_TEXT and specials <= SPECIALS
    return _WordIds(tokenizer, lowercase=tokenizer.normalizer.lowercase) if is_safe else None


def _unknown(tokenizer: Tokenizer) -> int | None:
    token = getattr(tokenizer.model, "unk_token", None)
    return tokenizer.token_to_id(token) if token else None


def _words(path: Path) -> frozenset[str]:
    return frozenset(path.read_text(encoding="utf-8").split()) if path.is_file() else frozenset()
