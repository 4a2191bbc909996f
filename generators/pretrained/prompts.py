"""Prompts of a local transformer: the turns in the form that its tokenizer expects.

A tokenizer with a chat template gets a conversation of user and assistant whose last turn is the user's. Without one,
a causal model reads turns that end with its end token, as DialoGPT does, and an encoder-decoder reads one turn a line.
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

_CHARACTERS = 40  # of a text for each token that counts; longer texts are cut before tokenising
_TURN, _TURNS = ("a",), ("a", "a", "a")


@dataclass(frozen=True, slots=True, eq=False)
class Prompts:
    """Texts to numbers and back."""

    tokenizer: Any  # of transformers
    numbers: TokenNumbers
    longest: int  # tokens of a prompt, its last
    encoded: bool = False  # whether an encoder reads prompts
    forms: frozenset[str] = frozenset()  # of tokens that are no text, which are removed from turns
    pairs: bool = False  # whether the template wants the first turn from the user
    frame: int = 0  # tokens of a prompt around its turns
    turn_frame: int = 0  # and around each turn

    @classmethod
    def made(cls, tokenizer: Any, numbers: TokenNumbers, *, longest: int, encoded: bool = False) -> Self:
        """Raises ValueError for a chat template of no use."""
        added = getattr(tokenizer, "added_tokens_decoder", {}).values()
        forms = {str(token) for token in added if token.special} | set(tokenizer.all_special_tokens)
        prompts = cls(tokenizer, numbers, longest, encoded, frozenset(forms - {""}))
        prompts = replace(prompts, pairs=prompts.templated and not prompts._assistant_may_begin())
        word = len(prompts._tokens("a"))
        one, three = (len(prompts._rendered(turns)) - word * len(turns) for turns in (_TURN, _TURNS))
        turn_frame = (three - one) // 2
        return replace(prompts, frame=one - turn_frame, turn_frame=turn_frame)

    @property
    def templated(self) -> bool:
        return not self.encoded and bool(getattr(self.tokenizer, "chat_template", None))

    def of(self, turns: Sequence[str]) -> IntArray:
        """Numbers (T,) of the prompt for a reply to the last of these turns; T is at least 1."""
        return self._cut(self._rendered(self._last_turns(turns or [""])))

    def empty(self) -> IntArray:
        """The prompt of a text that replies to nothing, (T,)."""
        first = self.tokenizer.bos_token_id
        if self.encoded:
            return self._cut(self.tokenizer("", verbose=False).input_ids)
        return self._cut([] if first is None else [first])

    def of_reply(self, numbers: Iterable[int]) -> IntArray:
        """The prompt for a text that replies to the text of these numbers."""
        return self.of([self.text(numbers)])

    def target(self, text: str, longest: int) -> IntArray:
        """Numbers of the first tokens of a text, `</s>` at the end, (Q,)."""
        ids = self.numbers.of(self._tokens(text[: longest * _CHARACTERS])[:longest])
        return np.append(ids, END_ID)

    def last_tokens(self, text: str, longest: int) -> IntArray:
        """Numbers of the last tokens of a text, `</s>` at the end, (Q,)."""
        ids = self.numbers.of(self._tokens(text[-longest * _CHARACTERS :])[-longest:])
        return np.append(ids, END_ID)

    def text(self, numbers: Iterable[int]) -> str:
        """The text of numbers on one line, without tokens that are no text."""
        return " ".join(normalise(str(self.tokenizer.decode(self.numbers.texts(numbers)))).split())

    def words(self, numbers: Iterable[int]) -> list[str]:
        """The words of such a text, as chat models split it."""
        return tokens(self.text(numbers))

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = self.tokenizer(self._plain(text), add_special_tokens=False, verbose=False).input_ids
        return tokens

    def _plain(self, text: str) -> str:
        """One line without the forms of tokens that are no text."""
        text = normalise(text)
        for form in sorted(self.forms, key=lambda form: (-len(form), form)):
            text = text.replace(form, " ")
        return " ".join(text.split())

    def _last_turns(self, turns: Sequence[str]) -> list[str]:
        """The last turns that fit; the first of them is cut if necessary."""
        room, last = max(1, self.longest - self.frame - self.turn_frame), list[str]()
        for turn in reversed(turns):
            tokens = self._tokens(turn[-room * _CHARACTERS :])
            last.insert(0, self._plain(str(self.tokenizer.decode(tokens[-room:]))) if tokens else "")
            room -= len(tokens) + self.turn_frame
            if room <= 0:
                break
        return last

    def _rendered(self, turns: Sequence[str]) -> list[int]:
        """The tokens of a prompt."""
        tokens: list[int]
        if self.encoded:
            tokens = self.tokenizer("\n".join(turns), verbose=False).input_ids
        elif self.templated:
            tokens = self.tokenizer.apply_chat_template(
                self._roles(turns), add_generation_prompt=True, return_dict=False
            )
        else:
            end, first = self.numbers.ends[0], self.tokenizer.bos_token_id
            tokens = [] if first in (None, end) else [first]
            tokens += [token for turn in turns for token in (*self._tokens(turn), end)]
        return tokens

    def _roles(self, turns: Sequence[str]) -> list[dict[str, str]]:
        """Messages by turns of user and assistant, the last one the user's."""
        roles = [("user", "assistant")[index % 2] for index in range(len(turns))][::-1]
        messages = [{"role": role, "content": turn} for role, turn in zip(roles, turns, strict=True)]
        return messages[1:] if self.pairs and messages[0]["role"] != "user" else messages

    def _assistant_may_begin(self) -> bool:
        """Whether the template accepts a conversation that the assistant begins."""
        try:
            self._rendered(_TURNS)
        except Exception as error:  # templates raise anything
            raise ValueError(f"Expected a chat template that renders turns, but got: {error}; correct it.") from error
        try:
            self._rendered(_TURNS[:2])
        except Exception:  # as above
            return False
        return True

    def _cut(self, tokens: Sequence[int]) -> IntArray:
        """Numbers of the last tokens that fit; of none, the end token's."""
        return self.numbers.of(tokens[-self.longest :] or [self.numbers.ends[0]])
