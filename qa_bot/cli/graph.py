"""Commands of the knowledge graph: `kg add`, `kg ask`, `kg lookup`, `kg stats`; the laboratory adds `kg mine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from qa_bot.cli.context import (
    NO_ANSWER,
    OK,
    Json,
    code_with_rejects,
    open_bot,
    open_home,
    path_of,
    print_json,
    read_question,
    say,
)
from qa_bot.cli.entry_points import PLAIN_HELP, CommandGroup

app = typer.Typer(
    help="The knowledge graph: add facts, look them up, learn which relations questions ask for.",
    no_args_is_help=True,
    cls=CommandGroup,
    **PLAIN_HELP,
)


@app.command()
def add(
    context: typer.Context,
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="N-Triples, N-Quads or Turtle, plain, .gz or .bz2.",
            parser=path_of,
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        list[str] | None, typer.Option(help="Predicate of names, beside the usual ones; may be given again.")
    ] = None,
    mentions: Annotated[
        list[Path] | None,
        typer.Option(metavar="<path>", help="Table text TAB entity TAB count; may be given again.", parser=path_of),
    ] = None,
    languages: Annotated[str | None, typer.Option(help="Languages of literals to keep, such as en,de.")] = None,
    strict: Annotated[bool, typer.Option(help="Stop at the first malformed line.")] = False,
    json: Json = False,
) -> None:
    """Add facts from files to the graph; malformed lines are reported and left out."""
    from qa_bot.documents import graph
    from qa_bot.terminal.output import counting, show_graph_added

    if not files and not mentions:
        raise typer.BadParameter("Expected files of facts or --mentions, but got neither; name one of them.")
    home, _ = open_home(context)
    with counting("Reading") as progress:
        added = graph.add(
            home,
            files or (),
            labels=labels or (),
            tables=mentions or (),
            languages=None if languages is None else {part.strip() for part in languages.split(",") if part.strip()},
            strict=strict,
            progress=lambda done, doing: progress(done, doing.capitalize()),
        )
    if json:
        print_json(added.as_dict())
    else:
        show_graph_added(added)
    raise typer.Exit(code_with_rejects(added.rejected, added.triples + added.names))


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    trace: Annotated[bool, typer.Option(help="Show mentions, entities, templates and relations with scores.")] = False,
    json: Json = False,
) -> None:
    """Answer a question from the graph alone, with the triples behind the answer."""
    from qa_bot.answering.answer_json import as_dict
    from qa_bot.terminal.answer_output import show_answer

    with open_bot(context) as bot:
        answer = bot.ask_graph(read_question(question), trace=trace)
    if json:
        print_json(as_dict(answer))
    else:
        show_answer(answer)
    raise typer.Exit(OK if answer.answered else NO_ANSWER)


@app.command()
def lookup(
    context: typer.Context,
    subject: Annotated[str | None, typer.Option(help="IRI or name of an entity.")] = None,
    predicate: Annotated[str | None, typer.Option(help="IRI or words of a predicate.")] = None,
    object: Annotated[str | None, typer.Option(help="IRI, name or value.")] = None,  # noqa: A002 (the flag's name)
    top: Annotated[int, typer.Option(help="Number of facts at most.", min=1)] = 100,
    json: Json = False,
) -> None:
    """Show the facts with the given terms."""
    from itertools import islice

    from kg_index.answers.lookup import UnknownTermError
    from qa_bot.documents import graph
    from qa_bot.terminal.output import show_facts

    if subject is None and predicate is None and object is None:
        raise typer.BadParameter("Expected --subject, --predicate or --object, one of them at least.")
    with graph.open_graph(open_home(context)[0]) as opened:
        try:
            facts = [opened.fact_json(fact) for fact in islice(opened.lookup.facts(subject, predicate, object), top)]
        except UnknownTermError as error:
            say(str(error), err=True)
            facts = []
    if json:
        print_json({"facts": facts})
    else:
        show_facts(facts)
    raise typer.Exit(OK if facts else NO_ANSWER)


@app.command()
def stats(context: typer.Context, json: Json = False) -> None:
    """Figures of the graph."""
    from qa_bot.documents import graph
    from qa_bot.terminal.output import show_graph

    with graph.open_graph(open_home(context)[0]) as opened:
        figures = opened.stats()
    if json:
        print_json(figures)
    else:
        show_graph(figures)
