"""Commands that answer: `ask`, `search`, `chat`, and `hint`, which explains where a persona is steered."""

from __future__ import annotations

import math
from dataclasses import replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_bot.cli.context import (
    NO_ANSWER,
    OK,
    Json,
    open_bot,
    open_home,
    path_of,
    print_json,
    read_line,
    read_question,
    say,
)
from qa_core.text.safe_text import valid

if TYPE_CHECKING:
    from qa_bot.answering.ask import Ask
    from qa_bot.answering.scope import Scope
    from qa_bot.bot import Bot


class EngineName(StrEnum):
    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"
    facts = "facts"


Persona = Annotated[
    str, typer.Option(help="Persona that answers: NAME, or a mix NAME:WEIGHT,NAME:WEIGHT.", show_default=False)
]
Hint = Annotated[str, typer.Option(help="What the persona should speak about.", show_default="the answer")]
Collections = Annotated[
    list[str] | None, typer.Option("--collection", help="Ask only this collection; repeatable.", show_default=False)
]
Under = Annotated[
    list[str] | None,
    typer.Option("--under", help="Ask only this folder, file or source; repeatable.", show_default=False),
]
Since = Annotated[
    str | None, typer.Option(help="Only documents of this date or later: 2024, 2024-05-31.", show_default=False)
]
Until = Annotated[str | None, typer.Option(help="Only documents of this date or earlier.", show_default=False)]
Language = Annotated[str | None, typer.Option(help="Only documents in this language: en, de, …", show_default=False)]
IncludeArchived = Annotated[bool, typer.Option("--include-archived", help="Rank archived documents like all others.")]

Batch = Annotated[
    Path | None,
    typer.Option(
        metavar="<path>", help='Many questions: JSONL {"_id", "title", "body"}; - reads standard input.', parser=path_of
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="<path>", help="File for the answers of --batch, one a line; - is standard output.", parser=path_of
    ),
]
Run = Annotated[
    Path | None,
    typer.Option(metavar="<path>", help="Write the documents ranked for --batch as a TREC run.", parser=path_of),
]


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is not None and not 0 < seconds < math.inf:  # also for nan
        raise typer.BadParameter(f"Expected seconds above 0, but got {seconds:g}.")
    return seconds


Deadline = Annotated[
    float | None,
    typer.Option(help="Seconds after which the best answer so far is given.", callback=_checked_seconds),
]


def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")] = None,
    body: Annotated[str, typer.Option(help="Details of the question.")] = "",
    category: Annotated[str, typer.Option(help="Category of the question.")] = "",
    deadline: Deadline = None,
    top: Annotated[int, typer.Option(help="Number of documents to name, and of sentences of the persona.", min=1)] = 10,
    persona: Persona = "",
    hint: Hint = "",
    collection: Collections = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    language: Language = None,
    include_archived: IncludeArchived = False,
    trace: Annotated[bool, typer.Option(help="Show queries, and candidates with the score of each stage.")] = False,
    timings: Annotated[bool, typer.Option(help="Show how long each stage took.")] = False,
    json: Json = False,
    batch: Batch = None,
    out: Out = None,
    run: Run = None,
    no_improve: Annotated[bool, typer.Option("--no-improve", help="Begin --batch without better vectors.")] = False,
) -> None:
    """Answer a question, with the sources of the answer."""
    if (batch is None) == (question is None):
        raise typer.BadParameter("Expected a question or --batch IN.jsonl, one of the two.")
    from qa_bot.answering.ask import Ask
    from qa_core.types import Question

    if batch is not None and out is None:
        raise typer.BadParameter("Expected --out OUT.jsonl beside --batch.")
    if batch is None and (out or run):
        raise typer.BadParameter("Expected --out and --run beside --batch only; send the answer to a file by > FILE.")
    if hint and not persona:
        say("A hint steers a persona, but none is named: add --persona NAME.", err=True)
    with open_bot(context) as bot:
        narrowing = _narrowing(collection, under, since, until, language, include_archived)
        scope = _scope(bot, narrowing)
        request = Ask.of(
            "", persona=valid(persona), hint=valid(hint), seconds=deadline, top=top, trace=trace, scope=scope
        )
        if batch is not None and out is not None:
            return _ask_batch(bot, batch, out, run=run, ask=request, narrowing=narrowing, improving=not no_improve)
        assert question is not None
        described = Question(read_question(question), valid(body), category=valid(category))
        answer = bot.ask(replace(request, question=described))
        if json:
            from qa_bot.answering.answer_json import as_dict

            print_json(as_dict(answer))
        else:
            from qa_bot.terminal.answer_output import show_answer

            show_answer(answer, timings=timings)
    raise typer.Exit(OK if answer.answered else NO_ANSWER)


def _narrowing(
    collections: list[str] | None,
    under: list[str] | None,
    since: str | None,
    until: str | None,
    language: str | None,
    include_archived: bool,
) -> dict[str, Any]:
    """The options that narrow a question, by the keys that requests and lines of a batch have for them."""
    fields = {"collection": collections, "under": under, "since": since, "until": until, "language": language}
    return {**fields, "include_archived": include_archived}


def _scope(bot: Bot, fields: dict[str, Any]) -> Scope:
    """The documents to ask; paths on disk become those of ids."""
    from qa_bot.answering.scope import Scope, ScopeError

    if fields["under"]:
        from qa_bot.documents.sources.under import by_ids, id_paths

        fields = by_ids(fields, partial(id_paths, store=bot.store.sources))
    try:
        return Scope.of(fields)
    except ScopeError as error:
        raise typer.BadParameter(str(error)) from None


def _ask_batch(
    bot: Bot, batch: Path, out: Path, *, run: Path | None, ask: Ask, narrowing: dict[str, Any], improving: bool
) -> None:
    from qa_bot.cli.batch import STANDARD, answer_all
    from qa_bot.cli.documents.improving import improve_before
    from qa_bot.terminal.output import counting

    if batch != STANDARD:
        batch.open("rb").close()  # an input that cannot be read is an error before any work
    if improving:
        improve_before(bot.home, bot.config)
    with counting("Answering") as progress:
        done = answer_all(bot, batch, out, run=run, ask=ask, narrowing=narrowing, progress=progress)
    failed = f", {done.failed:,} with an error" if done.failed else ""
    earlier = f", {done.earlier:,} done before" if done.earlier else ""
    say(f"{done.questions:,} questions, {done.answered:,} answered{failed}{earlier}", err=True)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    engine: Annotated[
        EngineName, typer.Option(help="What to search: documents, or facts of the graph.")
    ] = EngineName.hybrid,
    top: Annotated[int, typer.Option(help="Number of documents.", min=1, max=1000)] = 10,
    collection: Collections = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    language: Language = None,
    include_archived: IncludeArchived = False,
    json: Json = False,
) -> None:
    """Show the documents that retrieval finds, with scores."""
    from qa_bot.answering.answer_json import candidate_dict

    with open_bot(context) as bot:
        scope = _scope(bot, _narrowing(collection, under, since, until, language, include_archived))
        candidates = bot.search(read_question(query), engine=engine.value, top=top, scope=scope)
        if json:
            results = [candidate_dict(candidate) for candidate in candidates]
            print_json({"query": query, "engine": engine.value, "results": results})
        elif not candidates and str(scope):
            say(f"Nothing found with {scope}; ask in other words or other documents.")
        else:
            from qa_bot.terminal.output import show_candidates

            show_candidates(candidates)
    raise typer.Exit(OK if candidates else NO_ANSWER)


def chat(
    context: typer.Context,
    persona: Persona = "",
    debate: Annotated[
        str, typer.Option(help="Personas that talk with each other: NAME,NAME.", show_default=False)
    ] = "",
    hint: Hint = "",
    turns: Annotated[int, typer.Option(help="Sentences of a debate before you can speak again.", min=1, max=100)] = 6,
    deadline: Deadline = None,
    collection: Collections = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    language: Language = None,
    include_archived: IncludeArchived = False,
    json: Json = False,
) -> None:
    """Talk in the terminal: a question a line, /help for more, Ctrl-D to end."""
    from qa_bot.terminal.chat import Chat, converse, hold_debate

    if debate and persona:
        raise typer.BadParameter("Expected --persona or --debate, one of the two.")
    printer = print_json if json else None
    with open_bot(context) as bot:
        if debate:
            hold_debate(bot, debate, read_line, hint=hint, turns=turns, print_json=printer)
        else:
            scope = _scope(bot, _narrowing(collection, under, since, until, language, include_archived))
            converse(
                Chat(bot, persona=persona, hint=hint, deadline=deadline, scope=scope), read_line, print_json=printer
            )


def hint(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What a persona should speak about; a few words in any order.")],
    out: Annotated[
        Path | None, typer.Option(help="Draw the grid with its words and the hint's position, as PNG.")
    ] = None,
    json: Json = False,
) -> None:
    """Show the position of a hint among the topics that a persona can be steered to."""
    from qa_bot.answering.models.personas import PersonaError, PersonaStore
    from qa_bot.terminal.output import notify, show_chart

    home, config = open_home(context)
    chart = PersonaStore(home.personas, config.style).chart(text)
    if out is not None:
        try:
            chart.draw(out)
        except ModuleNotFoundError as error:
            raise PersonaError(str(error)) from error
        notify(f"drawn to {out}")
    if json:
        print_json(chart.as_dict())
    else:
        show_chart(chart)
    raise typer.Exit(NO_ANSWER if chart.notice else OK)
