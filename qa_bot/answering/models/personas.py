"""The personas of a home: the shipped ones, and those trained into its folder `personas`; what they say, and where a
hint leads them.

Folders are listed without opening a model; models are opened when somebody first speaks.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

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

SHIPPED = VOICES
"""The chat model that comes with the project, and the personas on it."""
BASE = "base"
STARTER = "starter"
_ONE = re.compile(r"\s*(?P<name>\w[\w-]{0,63})\s*(?::\s*(?P<weight>\d+(?:\.\d+)?)\s*)?")
SHORTLIST = 128
"""Quotations that are scored exactly: more would cost more than they bring."""
_SHOWN = 60
_COARSE = re.compile(
    r"\b(?:(?:fuck|shit|bitch|nigg|cunt|whore|slut|asshole|motherf)\w*|(?:fag|faggot|dick|cock|pussy|ass|tit)s?)\b",
    re.IGNORECASE,
)
Refuse = Callable[[str], str]
"""Why a sentence must not be said, "" where it may."""


class PersonaError(ValueError):
    """A persona, a base or a mix that cannot be used; the message says what to do."""


class PersonaLines(NamedTuple):
    """Sentences of a persona, best first, and what to tell where there are none or a hint does not steer."""

    lines: tuple[StyledLine, ...]
    notice: str = ""


class Part(NamedTuple):
    """A persona's part in a mix."""

    name: str
    weight: float


@dataclass(frozen=True, slots=True)
class _Known:
    """A folder with a persona, and that of the chat model it stands on."""

    folder: Path
    base: Path


class PersonaStore:
    """Safe to share between threads."""

    def __init__(self, folder: Path, style: StyleSection) -> None:
        """Personas of `folder` stand on the base that the configuration names, those shipped on the one shipped."""
        self._folder, self._style = folder, style
        self._lock = Lock()
        self._bases: dict[Path, ChatModel | PretrainedModel] = {}
        self._personas: dict[Path, tuple[int, Persona | QuotedPersona]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._known()))

    def parts(self, spec: str) -> tuple[Part, ...]:
        """The personas of a mix such as "captain" or "captain:2, gardener".

        Raises:
            PersonaError: a persona that nobody knows, or weights that make no sense.
        """
        known, parts = self._known(), []
        for each in spec.split(","):
            found = _ONE.fullmatch(each)
            if found is None or found["name"] not in known:
                raise PersonaError(
                    f"Expected one of the personas ({', '.join(sorted(known)) or 'there are none yet'}), or several as "
                    f"NAME:WEIGHT,NAME:WEIGHT, but got {_shown(each)}; train one with `qa-bot train persona --out "
                    f"{self._folder.name}/NAME` in the home."
                )
            parts.append(Part(found["name"], float(found["weight"] or 1)))
        if not any(part.weight for part in parts) or len({part.name for part in parts}) < len(parts):
            raise PersonaError(f"Expected each persona once, and a weight above 0, but got {_shown(spec)}.")
        return tuple(parts)

    def say(
        self,
        spec: str,
        turns: Sequence[str],
        n: int,
        *,
        hints: Sequence[str] = (),
        refuse: Refuse = lambda _: "",
        check: Callable[[], None] = lambda: None,
    ) -> PersonaLines:
        """Up to `n` replies of a persona, or of a mix, to the last of these turns; the same to the same turns.

        Args:
            hints: texts whose topics the replies should have.
            refuse: what must not be said is left out.
            check: called between steps; what it raises ends the work.

        Raises:
            PersonaError: see `parts`; a base or persona that cannot be opened.
        """
        from generators.conversation.random_stream import RandomStream
        from generators.personas.persona_replies import styled

        shares = self._shares(spec)
        check()
        found = styled(
            shares,
            turns,
            self._style.candidates,
            stream=RandomStream(_seed(spec, *turns, *hints)),
            styling=self._styling(shares),
            generation=self._asking(),
            hints=hints,
            check=check,
        )
        lines, refused = self._fit(found, n, refuse)
        if found and not lines:
            return PersonaLines((), f"Everything that came to mind had {refused}.")
        return PersonaLines(tuple(lines), self._hint_notice(shares[0].persona.base, hints))

    def _fit(self, found: Sequence[StyledResponse], n: int, refuse: Refuse) -> tuple[list[StyledLine], str]:
        """The best `n` that may be said, a third of them drawn where there are any; and why others may not."""
        most = n - n // 3
        quoted: list[StyledLine] = []
        drawn: list[StyledLine] = []
        refused = ""
        for each in found:
            own = quoted if each.kind == "quotation" else drawn
            if len(own) >= n:
                continue
            if reason := self._coarse(each) or refuse(each.text):
                refused = refused or reason
            else:
                own.append(_line(each))
        kept = sorted([*quoted[: max(most, n - len(drawn))], *drawn], key=lambda line: -line.score)
        return kept[:n], refused

    def chart(self, hint: str = "") -> GridMap:
        """The counting grid that hints steer by, and where one falls.

        Raises:
            PersonaError: the base hears no topics.
        """
        base = self._base(self._named_base())
        if base.steering is None:
            raise PersonaError(
                "Expected a chat model that hears topics, but the base of the configuration has no grid; train one "
                "with `qa-bot train grid` and `qa-bot train chat --base GRID`."
            )
        return base.steering.grid.map(hint)

    def open(self) -> None:
        """Open every persona and its base, so that nobody waits for that.

        Raises:
            PersonaError: see `say`.
        """
        for name in self.names:
            self._shares(name)

    def _known(self) -> dict[str, _Known]:
        """Personas by name; those of the home stand before shipped ones of the same name."""
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
        kept = self._personas.get(known.folder)
        if kept is None or kept[0] != changed:
            base = self._base(known.base)
            try:
                kept = changed, open_persona(known.folder, base)
            except (OSError, ValueError) as error:
                raise PersonaError(str(error)) from error
            self._personas[known.folder] = kept
        return kept[1]

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
        """What the configuration says; personas on a local transformer are quoted."""
        from generators.personas.persona_replies import Styling
        from generators.personas.quoted_persona import QuotedPersona

        quoted = any(isinstance(share.persona, QuotedPersona) for share in shares)
        return Styling("rank" if quoted else self._style.method, lead=self._style.lead, shortlist=SHORTLIST)

    def _asking(self) -> GenerationConfig:
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

    def _coarse(self, found: StyledResponse) -> str:
        """Why not to say it; what a speaker said is quoted as it is."""
        return "a coarse word" * (self._style.clean and found.kind == "generated" and bool(_COARSE.search(found.text)))

    @staticmethod
    def _hint_notice(base: ReplyModel, hints: Sequence[str]) -> str:
        """What to tell where hints do not steer."""
        if not hints:
            return ""
        if base.steering is None:
            return "The chat model of this persona hears no topics; the hint steers nothing."
        notices = [base.steering.grid.posterior(hint).notice() for hint in hints]
        return notices[0] or "" if all(notices) else ""


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


def _changed(folder: Path) -> int:
    try:
        return (folder / "config.json").stat().st_mtime_ns
    except OSError as error:
        raise PersonaError(f"Expected a persona in {folder}, but got {error}; train it again.") from error


def _line(found: StyledResponse) -> StyledLine:
    return StyledLine(found.text, found.kind, found.persona, round(found.score, 4))


def _seed(*told: str) -> int:
    return int.from_bytes(hashlib.blake2b("\n".join(told).encode(), digest_size=6).digest())


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…")
