"""Conversation in a terminal: a question a line, or a debate of personas."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from itertools import islice
from typing import Any
from uuid import uuid4

from qa_bot.answering.answer_json import as_dict
from qa_bot.answering.ask import Ask
from qa_bot.answering.scope import EVERYTHING, Scope
from qa_bot.bot import Bot
from qa_bot.terminal.answer_output import show_answer, show_line
from qa_bot.terminal.debate import debate, debaters
from qa_bot.terminal.output import notify
from qa_core.types import Answer, Question

TURNS = 6
"""Sentences of a debate between two lines of the user."""
HELP = """/up, /down WHY  vote on the last answer, with a comment if you like; it affects the next answers
/raw            ask the last question as it was written, not as it was understood
/persona NAME   answer as the persona NAME, or a mix NAME:WEIGHT,NAME:WEIGHT; without a name as none
/hint WORDS     what the persona's sentence should be about; without words the answer
/help           this
/quit           end, as Ctrl-D does"""

Read = Callable[[], str | None]
"""The next line, None at the end."""
Print = Callable[[Any], None]


class Chat:
    """One conversation with its current persona and hint."""

    def __init__(
        self, bot: Bot, *, persona: str = "", hint: str = "", deadline: float | None = None, scope: Scope = EVERYTHING
    ) -> None:
        """Raises PersonaError if the persona is unknown, ScopeError if `scope` names what the documents do not have."""
        if scope != EVERYTHING:
            scope.expect_documents(bot.corridor().index)
        self._bot, self._deadline, self._scope = bot, deadline, scope
        self._id = uuid4().hex
        bot.memory.begin(self._id)
        self._last: Answer | None = None
        self._reference = ""
        self.hint = hint
        self.persona = ""
        self.change_persona(persona)

    def change_persona(self, spec: str) -> None:
        if spec:
            self._bot.voices.parts(spec)
        self.persona = spec

    def answer(self, question: str, *, raw: bool = False, print_json: Print | None = None) -> None:
        """Answer a question; `raw` asks the last one again in its written form."""
        self._reference = self._reference if raw else uuid4().hex
        ask = Ask(
            Question(question),
            persona=self.persona,
            hint=self.hint,
            seconds=self._deadline,
            conversation=self._id,
            understood=question if raw else "",
            reference=self._reference,
            scope=self._scope,
        )
        answer = self._last = self._bot.ask(ask)
        if print_json:
            print_json({**as_dict(answer), "conversation": self._id})
        else:
            show_answer(answer)

    def obey(self, command: str, *, print_json: Print | None = None) -> bool:
        """Run a line that begins with a slash; return False if the conversation ends."""
        verb, _, rest = command[1:].partition(" ")
        rest = rest.strip()
        match verb:
            case "quit":
                return False
            case "raw" | "up" | "down" if self._last is None:
                notify(f"Expected a question before /{verb}, but nothing was asked yet.")
            case "raw" if self._last:
                self.answer(self._last.question, raw=True, print_json=print_json)
            case "up" | "down" if self._last:
                self._bot.vote(self._last.id, "up" if verb == "up" else "down", rest)
                notify("Thank you; this affects the next answers here.")
            case "persona":
                self._try_persona(rest)
            case "hint":
                self.hint = rest
                notify(f"The hint is {rest!r}." if rest else "No hint: sentences are about the answer.")
            case "help":
                notify(HELP)
            case _:
                notify(f"Expected one of these, but got /{verb}:\n{HELP}")
        return True

    def _try_persona(self, spec: str) -> None:
        try:
            self.change_persona(spec)
        except ValueError as error:
            notify(str(error))
        else:
            notify(f"Answers come from {spec}." if spec else "Answers come without a persona.")


def converse(chat: Chat, read: Read, *, print_json: Print | None = None) -> None:
    """Answer line after line until the input ends or the user quits."""
    while (line := read()) is not None:
        line = line.strip()
        if line.startswith("/"):
            if not chat.obey(line, print_json=print_json):
                return
        elif line:
            chat.answer(line, print_json=print_json)


def hold_debate(
    bot: Bot, spec: str, read: Read, *, hint: str = "", turns: int = TURNS, print_json: Print | None = None
) -> None:
    """Have personas reply to each line with `turns` sentences in turn; an empty line lets them continue.

    Raises:
        PersonaError: fewer than two personas, or an unknown one.
    """
    names = debaters(bot.voices, spec)
    history: list[str] = []
    spoken = 0
    while (line := read()) is not None and line.strip() != "/quit":
        if line.strip():
            history.append(line.strip())
        elif not history:
            continue
        order = [*names[spoken % len(names) :], *names[: spoken % len(names)]]
        for reply in islice(debate(bot.voices, order, tuple(history), hint=hint), turns):
            if print_json:
                print_json(asdict(reply))
            else:
                show_line(reply)
            history.append(reply.text)
            spoken += 1
