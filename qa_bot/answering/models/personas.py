"""The personas of a home, shipped or trained into its folder `personas`: what they say, and the topics of a hint.

Listing them opens no model; a model is opened when its persona first speaks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from qa_bot.answering.models.dialogue_lines import LINES, DialogueLines
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.sections import StyleSection
from qa_bot.home.starter import VOICES
from qa_core.types import StyledLine

if TYPE_CHECKING:
    from generators.conversation.chat_model import ChatModel
    from generators.conversation.ranking import GenerationConfig
    from generators.conversation.reply_model import ReplyModel
    from generators.personas.persona import Persona
    from generators.personas.persona_replies import Share, StyledResponse, Styling
    from generators.personas.quoted_persona import QuotedPersona
    from generators.pretrained.transformer_model import PretrainedModel
    from generators.topics.grid_map import GridMap
    from generators.topics.steering import TopicHint

SHIPPED = VOICES
"""The chat model that comes with the project, and the personas on it."""
BASE = "base"
STARTER = "starter"
_PART = re.compile(r"\s*(?P<name>\w[\w-]{0,63})\s*(?::\s*(?P<weight>\d+(?:\.\d+)?)\s*)?")
SHORTLIST = 128
"""Quotations that are scored exactly; more take time and rarely change the best ones."""
SCANNED = 16
"""Cells of the topic grid that serve as hints when it is scanned."""
_SHOWN = 60
_COARSE = re.compile(
    r"\b(?:(?:fuck|shit|bitch|nigg|cunt|whore|slut|asshole|motherf)\w*|(?:fag|faggot|dick|cock|pussy|ass|tit)s?)\b",
    re.IGNORECASE,
)
Refuse = Callable[[str], str]
"""The reason to reject a sentence; "" accepts it."""


class PersonaError(ValueError):
    """A persona, a base or a mix that cannot be used; the message says what to do."""


class PersonaLines(NamedTuple):
    """Sentences of a persona, best first, and a notice if there are none or a hint has no effect."""

    lines: tuple[StyledLine, ...]
    notice: str = ""


class Part(NamedTuple):
    """A persona's part in a mix."""

    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Known:
    """The folders of a persona and of its chat model."""

    folder: Path
    base: Path


class PersonaStore:
    """Opens personas and makes their sentences; safe to share between threads."""

    def __init__(self, folder: Path, style: StyleSection) -> None:
        """Personas of `folder` use the base that the configuration names; shipped ones use the shipped base."""
        self._folder, self._style = folder, _preset(style)
        self._lock = Lock()
        self._bases: dict[Path, ChatModel | PretrainedModel] = {}
        self._lines: dict[Path, DialogueLines] = {}
        self._personas: dict[Path, tuple[int, Persona | QuotedPersona]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._known()))

    def parts(self, spec: str) -> tuple[Part, ...]:
        """The personas of a mix such as "captain" or "captain:2, gardener".

        Raises:
            PersonaError: unknown persona, or invalid weights.
        """
        known, parts = self._known(), []
        for item in spec.split(","):
            match = _PART.fullmatch(item)
            if match is None or match["name"] not in known:
                raise PersonaError(
                    f"Expected one of the personas ({', '.join(sorted(known)) or 'there are none yet'}), or several as "
                    f"NAME:WEIGHT,NAME:WEIGHT, but got {_shown(item)}; train one with `qa-bot train persona --out "
                    f"{self._folder.name}/NAME` in the home."
                )
            parts.append(Part(match["name"], float(match["weight"] or 1)))
        if not any(part.weight for part in parts) or len({part.name for part in parts}) < len(parts):
            raise PersonaError(f"Expected each persona once, and a weight above 0, but got {_shown(spec)}.")
        return tuple(parts)

    def say(
        self,
        spec: str,
        turns: Sequence[str],
        n: int,
        *,
        hints: Sequence[TopicHint] = (),
        refuse: Refuse = lambda _: "",
        check: Callable[[], None] = lambda: None,
    ) -> PersonaLines:
        """Up to `n` replies of a persona, or of a mix, to the last of these turns; equal turns get equal replies.

        Args:
            hints: texts, or cells of the topic grid, whose topics the replies should have; a cell outside the grid
                has no effect.
            refuse: replies that it rejects are left out.
            check: called between steps; an exception of it ends the work.

        Raises:
            PersonaError: see `parts`; a base or persona that cannot be opened.
        """
        from generators.conversation.random_stream import RandomStream
        from generators.personas.persona_replies import styled

        shares = self._shares(spec)
        base = shares[0].persona.base
        notice = self._hint_notice(base, hints)
        hints = [hint for hint in hints if not _is_outside(base, hint)]
        check()
        replies = styled(
            shares,
            turns,
            self._style.candidates,
            stream=RandomStream(_seed(spec, *turns, *map(str, hints))),
            styling=self._styling(shares),
            generation=self._generation(),
            hints=hints,
            check=check,
        )
        lines, refused = self._select(replies, n, refuse)
        if replies and not lines:
            return PersonaLines((), f"Everything that came to mind had {refused}.")
        return PersonaLines(tuple(lines), notice)

    def _select(self, replies: Sequence[StyledResponse], n: int, refuse: Refuse) -> tuple[list[StyledLine], str]:
        """The best `n` accepted replies, at most two thirds of them quoted if there are drawn ones; a rejection."""
        most = n - n // 3
        quoted: list[StyledLine] = []
        drawn: list[StyledLine] = []
        refused = ""
        for reply in replies:
            lines = quoted if reply.kind == "quotation" else drawn
            if len(lines) >= n:
                continue
            if reason := self._coarse(reply) or refuse(reply.text):
                refused = refused or reason
            else:
                lines.append(_line(reply))
        best = sorted([*quoted[: max(most, n - len(drawn))], *drawn], key=lambda line: -line.score)
        return best[:n], refused

    def scanned(self) -> tuple[int, ...]:
        """Cells of the topic grid, spread evenly, as hints; none if the base has no topics."""
        base = self._base(self._named_base())
        return () if base.steering is None else base.steering.scanned(SCANNED)

    def retrieved(self, question: str) -> tuple[str, ...]:
        """The lines of the base's dialogues that fit a question best, as hints (cg-ir in Wang 2018).

        Raises:
            PersonaError: the base has no lines.
        """
        folder = self._named_base()
        with self._lock:
            if folder not in self._lines:
                try:
                    self._lines[folder] = DialogueLines.open(folder / LINES)
                except (OSError, ValueError) as error:
                    raise PersonaError(str(error)) from error
        return self._lines[folder].search(question)

    def chart(self, hint: str = "") -> GridMap:
        """The counting grid that hints steer by, and the posterior of a hint on it.

        Raises:
            PersonaError: the base has no topics.
        """
        base = self._base(self._named_base())
        if base.steering is None:
            raise PersonaError(
                "Expected a chat model with topics, but the base of the configuration has no grid; train one "
                "with `qa-bot train grid` and `qa-bot train chat --base GRID`."
            )
        return base.steering.grid.map(hint)

    def open(self) -> None:
        """Open every persona and its base, so that no user waits for it.

        Raises:
            PersonaError: see `say`.
        """
        for name in self.names:
            self._shares(name)

    def open_base(self) -> None:
        """Open the base that the configuration names, also if no persona of the home uses it yet.

        Raises:
            PersonaError: see `say`.
        """
        self._base(self._named_base())

    def _known(self) -> dict[str, _Known]:
        """Personas by name; one of the home replaces a shipped one of the same name."""
        shipped = {name: _Known(path, SHIPPED / BASE) for name, path in _personas(SHIPPED)}
        return {**shipped, **{name: _Known(path, self._named_base()) for name, path in _personas(self._folder)}}

    def _named_base(self) -> Path:
        return SHIPPED / BASE if self._style.base == STARTER else Path(self._style.base).expanduser()

    def _shares(self, spec: str) -> list[Share]:
        from generators.personas.persona_replies import Share

        known = self._known()
        return [Share(self._persona(known[part.name]), part.weight) for part in self.parts(spec) if part.weight]

    def _persona(self, known: _Known) -> Persona | QuotedPersona:
        from generators.pretrained.opening import open_persona

        changed = _changed(known.folder)
        cached = self._personas.get(known.folder)
        if cached is None or cached[0] != changed:
            base = self._base(known.base)
            try:
                cached = changed, open_persona(known.folder, base)
            except (OSError, ValueError) as error:
                raise PersonaError(str(error)) from error
            self._personas[known.folder] = cached
        return cached[1]

    def _base(self, folder: Path) -> ChatModel | PretrainedModel:
        from generators.pretrained.opening import open_chat_model

        with self._lock:
            if folder not in self._bases:
                try:
                    self._bases[folder] = open_chat_model(folder)
                except (OSError, ValueError, ModuleNotFoundError) as error:
                    raise PersonaError(str(error)) from error
            return self._bases[folder]

    def _styling(self, shares: Sequence[Share]) -> Styling:
        """The configured style; personas on a local transformer are quoted."""
        from generators.personas.persona_replies import Style, Styling
        from generators.personas.quoted_persona import QuotedPersona

        quoted = any(isinstance(share.persona, QuotedPersona) for share in shares)
        method: Style = "rank" if quoted else self._style.method
        likelihood = self._style.preset == "thesis"
        return Styling(method, lead=self._style.lead, likelihood=likelihood, shortlist=SHORTLIST)

    def _generation(self) -> GenerationConfig:
        from generators.conversation.decoding import Sampling
        from generators.conversation.ranking import GenerationConfig

        style = self._style
        sampling = Sampling(style.temperature, style.top_k or None, style.top_p, shortest=min(3, style.length - 1))
        return GenerationConfig(
            style.candidates,
            style.length,
            agreement=style.agreement,
            word_bonus=style.word_bonus,
            sampling=sampling,
        )

    def _coarse(self, reply: StyledResponse) -> str:
        """The reason to reject a drawn reply with a coarse word; quotations are never rejected for one."""
        return "a coarse word" * (self._style.clean and reply.kind == "generated" and bool(_COARSE.search(reply.text)))

    @staticmethod
    def _hint_notice(base: ReplyModel, hints: Sequence[TopicHint]) -> str:
        """The notice if hints have no effect."""
        if not hints:
            return ""
        if base.steering is None:
            return "The chat model of this persona has no topics, so the hint has no effect."
        if outside := [hint for hint in hints if _is_outside(base, hint)]:
            last = base.steering.grid.config.cells - 1
            return f"Expected a place on the topic map from 0 to {last}, but got {outside[0]}; it steers nothing."
        texts = [hint for hint in hints if isinstance(hint, str)]
        notices = [base.steering.grid.posterior(text).notice() for text in texts]
        return notices[0] or "" if len(texts) == len(hints) and all(notices) else ""


def check_personas(home: Home, config: Config) -> str:
    """Opens the personas of a home and returns their names, for `qa-bot doctor`."""
    store = PersonaStore(home.personas, config.style)
    store.open()
    return ", ".join(store.names) or "none; train one with `qa-bot train persona`"


def _personas(folder: Path) -> Iterator[tuple[str, Path]]:
    """Names and folders of personas."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        try:
            head = json.loads((path / "config.json").read_text(encoding="utf-8"))
            if head["kind"] == "PersonaConfig":
                yield str(head["config"]["name"]), path
        except (OSError, ValueError, LookupError, TypeError):
            continue


def _preset(style: StyleSection) -> StyleSection:
    """The settings of Wang (2018), ch. 8.3 and 8.6.2, over those of the configuration if it names them."""
    if style.preset == "default":
        return style
    return replace(style, candidates=500, temperature=1.0, top_k=0, top_p=1.0, agreement=0.0, word_bonus=0.0, lead=0.0)


def _is_outside(base: ReplyModel, hint: TopicHint) -> bool:
    """Whether a hint is a cell that the base's grid lacks."""
    return base.steering is not None and isinstance(hint, int) and not 0 <= hint < base.steering.grid.config.cells


def _changed(folder: Path) -> int:
    try:
        return (folder / "config.json").stat().st_mtime_ns
    except OSError as error:
        raise PersonaError(f"Expected a persona in {folder}, but got {error}; train it again.") from error


def _line(reply: StyledResponse) -> StyledLine:
    return StyledLine(reply.text, reply.kind, reply.persona, round(reply.score, 4))


def _seed(*texts: str) -> int:
    return int.from_bytes(hashlib.blake2b("\n".join(texts).encode(), digest_size=6).digest())


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
