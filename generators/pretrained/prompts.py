"""What a local transformer is told before it replies: the turns in the form that its tokenizer asks for.

A tokenizer with a chat template gets a conversation of user and assistant, the last turn being the user's. Without one,
a causal model reads turns that its end token closes, as DialoGPT does, and an encoder-decoder reads one turn a line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from generators.conversation.detokenise import tokens
from generators.pretrained.token_ids import TokenNumbers
from qa_core.networks.decoder_types import END_ID
from qa_core.text.analysis import normalise
from qa_core.types import IntArray

_CHARACTERS = 40  # of a text, for each token that counts: more are not even cut into tokens
_TURN, _TURNS = ("a",), ("a", "a", "a")


@dataclass(frozen=True, slots=True, eq=False)
class Prompts:
    """Texts to numbers and back."""

    tokenizer: Any  # of transformers
    numbers: TokenNumbers
    longest: int  # tokens of a prompt, its last
    encoded: bool = False  # whether an encoder reads prompts
    forms: frozenset[str] = frozenset()  # of tokens that are no text, which nobody may smuggle in
    pairs: bool = False  # whether the template wants the first turn from the user
    frame: int = 0  # tokens of a prompt that stand around its turns
    each: int = 0  # and around each of them

    @classmethod
    def made(cls, tokenizer: Any, numbers: TokenNumbers, *, longest: int, encoded: bool = False) -> Self:
        """Raises ValueError for a chat template of no use."""
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        forms = {str(each) for each in added if each.special} | set(tokenizer.all_special_tokens)
        found = cls(tokenizer, numbers, longest, encoded, frozenset(forms - {""}))
        found = replace(found, pairs=found.templated and not found._begins_anyhow())
        one, three = (len(found._rendered(turns)) - len(found._tokens("a")) * len(turns) for turns in (_TURN, _TURNS))
        each = (three - one) // 2
        return replace(found, frame=one - each, each=each)

    @property
    def templated(self) -> bool:
        return not self.encoded and bool(getattr(self.tokenizer, "chat_template", None))

    def of(self, turns: Sequence[str]) -> IntArray:
        """Numbers (T,) of what stands before a reply to the last of these turns; T is at least 1."""
        return self._cut(self._rendered(self._kept(turns or [""])))

    def empty(self) -> IntArray:
        """What stands before a text that replies to nothing, (T,)."""
        first = self.tokenizer.bos_token_id
        if self.encoded:
            return self._cut(self.tokenizer("", verbose=False).input_ids)
        return self._cut([] if first is None else [first])

    def of_reply(self, numbers: Iterable[int]) -> IntArray:
        """What stands before a text that is said to a reply of these numbers."""
        return self.of([self.text(numbers)])

    def target(self, text: str, longest: int) -> IntArray:
        """Numbers of the first tokens of a text, `</s>` at the end, (Q,)."""
        ids = self.numbers.of(self._tokens(text[: longest * _CHARACTERS])[:longest])
        return np.append(ids, END_ID)

    def said(self, text: str, longest: int) -> IntArray:
        """Numbers of the last tokens of a text, `</s>` at the end, (Q,)."""
        ids = self.numbers.of(self._tokens(text[-longest * _CHARACTERS :])[-longest:])
        return np.append(ids, END_ID)

    def text(self, numbers: Iterable[int]) -> str:
        """The text of numbers in one line, without what is no text."""
        return " ".join(normalise(str(self.tokenizer.decode(self.numbers.texts(numbers)))).split())

    def words(self, numbers: Iterable[int]) -> list[str]:
        """The words of such a text, as chat models cut it."""
        return tokens(self.text(numbers))

    def _tokens(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer(self._plain(text), add_special_tokens=False, verbose=False).input_ids
        return found

    def _plain(self, text: str) -> str:
        """One line without the forms of tokens that are no text."""
        text = normalise(text)
        for form in sorted(self.forms, key=lambda form: (-len(form), form)):
            text = text.replace(form, " ")
        return " ".join(text.split())

    def _kept(self, turns: Sequence[str]) -> list[str]:
        """The last turns that fit, the first of them cut where it does not."""
        room, kept = max(1, self.longest - self.frame - self.each), list[str]()
        for turn in reversed(turns):
            found = self._tokens(turn[-room * _CHARACTERS :])
            kept.insert(0, self._plain(str(self.tokenizer.decode(found[-room:]))) if found else "")
            room -= len(found) + self.each
            if room <= 0:
                break
        return kept

    def _rendered(self, kept: Sequence[str]) -> list[int]:
        """The tokens of a prompt."""
        found: list[int]
        if self.encoded:
            found = self.tokenizer("\n".join(kept), verbose=False).input_ids
        elif self.templated:
            found = self.tokenizer.apply_chat_template(self._roles(kept), add_generation_prompt=True, return_dict=False)
        else:
            end, first = self.numbers.ends[0], self.tokenizer.bos_token_id
            found = [] if first in (None, end) else [first]
            found += [token for turn in kept for token in (*self._tokens(turn), end)]
        return found

    def _roles(self, kept: Sequence[str]) -> list[dict[str, str]]:
        """The last turn is the user's."""
        roles = [("user", "assistant")[place % 2] for place in range(len(kept))][::-1]
        told = [{"role": role, "content": turn} for role, turn in zip(roles, kept, strict=True)]
        return told[1:] if self.pairs and told[0]["role"] != "user" else told

    def _begins_anyhow(self) -> bool:
        """Whether the template takes a conversation that the assistant begins."""
        try:
            self._rendered(_TURNS)
        except Exception as error:  # templates raise whatever they like
            raise ValueError(f"Expected a chat template that renders turns, but got: {error}; mend it.") from error
        try:
            self._rendered(_TURNS[:2])
        except Exception:  # as above
            return False
        return True

    def _cut(self, found: Sequence[int]) -> IntArray:
        """The last ones that fit, of nothing the end token."""
        return self.numbers.of(found[-self.longest :] or [self.numbers.ends[0]])
