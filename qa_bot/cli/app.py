"""The command line: parses, calls, prints. Whatever is heavy is imported inside the command that needs it."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from qa_bot.terminal.sigint import remembered

if TYPE_CHECKING:
    from qa_bot.bot import Bot
    from qa_bot.documents.ingest.records import Limits
    from qa_bot.home.config import Config
    from qa_bot.home.folder import Home
    from qa_core.types import Encoder

OK, FAILED, WRONG_USAGE, NO_ANSWER, INTERRUPTED = 0, 1, 2, 3, 130

app = typer.Typer(
    name="qa-bot",
    help="Answers from your own documents, with their sources.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
config_app = typer.Typer(help="Show every setting and where it comes from, or set one.", invoke_without_command=True)
app.add_typer(config_app, name="config")
kg_app = typer.Typer(
    help="The knowledge graph: add facts, look them up, learn what questions ask for.", no_args_is_help=True
)
app.add_typer(kg_app, name="kg")
conversations_app = typer.Typer(
    help="Conversations: list them, or show, rename, export and delete some.", invoke_without_command=True
)
app.add_typer(conversations_app, name="conversations")


class EngineName(StrEnum):
    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"
    facts = "facts"


class System(StrEnum):
    plain = "plain"
    keyword = "keyword"
    dense = "dense"
    hybrid = "hybrid"


class Task(StrEnum):
    retrieval = "retrieval"
    liveqa = "liveqa"
    known_item = "known-item"
    similar = "similar"
    words = "words"
    phrases = "phrases"
    answers = "answers"
    paraphrase = "paraphrase"
    relations = "relations"
    linking = "linking"
    facts = "facts"
    dialogue = "dialogue"
    rewrite = "rewrite"


class FeedbackFormat(StrEnum):
    qrels = "qrels"
    jsonl = "jsonl"


class TranscriptFormat(StrEnum):
    json = "json"
    markdown = "markdown"


class Keep(StrEnum):
    both = "both"
    positive = "positive"
    all = "all"


class TrainedModel(StrEnum):
    dense = "dense"
    similar = "similar"
    paragram = "paragram"
    phrases = "phrases"
    annotate = "annotate"
    hyperqa = "hyperqa"
    blstm = "blstm"
    encoder_decoder = "encoder-decoder"
    cross_encoder = "cross-encoder"
    entailment = "entailment"
    fusion = "fusion"
    relations = "relations"
    chat = "chat"
    persona = "persona"
    grid = "grid"


@dataclass(slots=True)
class Common:
    """What stands before the verb."""

    home: Path | None = None


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Persona = Annotated[str, typer.Option(help="Whose voice: NAME, or NAME:WEIGHT,NAME:WEIGHT.", show_default=False)]
Hint = Annotated[str, typer.Option(help="What the persona should speak about.", show_default="the answer")]


def run(arguments: Sequence[str]) -> int:
    """Exit code of one command."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s", stream=sys.stderr)
    try:
        with remembered():
            code = typer.main.get_command(app).main(list(arguments), prog_name="qa-bot", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except typer.TyperException as error:  # wrong usage; its public base tells neither of these two
        error.show()  # type: ignore[attr-defined]
        return int(getattr(error, "exit_code", WRONG_USAGE))
    except Exception as error:
        if not _is_users(error):
            raise
        typer.echo(f"Error: {error}", err=True)
        return FAILED
    if code == INTERRUPTED:  # what typer makes of Ctrl-C, without a word
        typer.echo("Interrupted; nothing half-done was kept.", err=True)
    return code if isinstance(code, int) else OK


def _is_users(error: Exception) -> bool:
    """Whether the message of an error is written for the user, so that a traceback would only hide it."""
    ours = ("qa_bot", "qa_core", "retrievers", "rankers", "generators", "kg_index", "qa_lab")
    return type(error).__module__.partition(".")[0] in ours or isinstance(error, OSError)


def _told_version(wanted: bool) -> None:
    if wanted:
        from qa_bot import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def common(
    context: typer.Context,
    home: Annotated[
        Path | None, typer.Option("--home", help="Folder that holds everything.", envvar="QA_BOT_HOME")
    ] = None,
    version: Annotated[  # noqa: ARG001 (told by its callback)
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_told_version)
    ] = False,
) -> None:
    """Answers from your own documents, with their sources."""
    context.obj = Common(home)


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str | None, typer.Argument(help="The question; - reads it from standard input.")] = None,
    body: Annotated[str, typer.Option(help="Details of the question.")] = "",
    category: Annotated[str, typer.Option(help="Category of the question.")] = "",
    deadline: Annotated[float | None, typer.Option(help="Seconds until the best answer so far goes out.")] = None,
    top: Annotated[int, typer.Option(help="How many documents to name, and sentences of the persona.", min=1)] = 10,
    persona: Persona = "",
    hint: Hint = "",
    trace: Annotated[bool, typer.Option(help="Show queries, candidates and every stage's score.")] = False,
    timings: Annotated[bool, typer.Option(help="Show how long each stage took.")] = False,
    json: Json = False,
    batch: Annotated[Path | None, typer.Option(help='Many questions: JSONL {"_id", "title", "body"}.')] = None,
    out: Annotated[Path | None, typer.Option(help="Where the answers of --batch go, one a line.")] = None,
    run: Annotated[Path | None, typer.Option(help="Write the documents ranked for --batch as a TREC run.")] = None,
) -> None:
    """Answer a question, with the sources of the answer."""
    if (batch is None) == (question is None):
        raise typer.BadParameter("Expected a question or --batch IN.jsonl, one of the two.")
    if batch is not None:
        if out is None:
            raise typer.BadParameter("Expected --out OUT.jsonl beside --batch.")
        options = {"deadline": deadline, "trace": trace, "persona": persona, "hint": hint}
        return _ask_batch(context, batch, out, run=run, top=top, options=options)
    assert question is not None
    if hint and not persona:
        typer.echo("A hint steers a persona, but none is named: add --persona NAME.", err=True)
    with _bot(context) as bot:
        asked = sys.stdin.read().strip() if question == "-" else question
        answer = bot.ask(
            asked, body=body, category=category, deadline=deadline, top=top, trace=trace, persona=persona, hint=hint
        )
        if json:
            from qa_bot.answering.answer_json import as_dict

            _print_json(as_dict(answer))
        else:
            from qa_bot.terminal.output import show_answer

            show_answer(answer, timings=timings)
    raise typer.Exit(OK if answer.answered else NO_ANSWER)


@app.command()
def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    engine: Annotated[
        EngineName, typer.Option(help="What to search: documents, or facts of the graph.")
    ] = EngineName.hybrid,
    top: Annotated[int, typer.Option(help="How many documents.", min=1, max=1000)] = 10,
    json: Json = False,
) -> None:
    """Show what retrieval finds, with scores."""
    from qa_bot.answering.answer_json import candidate_dict

    with _bot(context) as bot:
        found = bot.search(query, engine=engine.value, top=top)
        if json:
            _print_json({"query": query, "engine": engine.value, "results": [candidate_dict(each) for each in found]})
        else:
            from qa_bot.terminal.output import show_candidates

            show_candidates(found)
    raise typer.Exit(OK if found else NO_ANSWER)


@app.command()
def chat(
    context: typer.Context,
    persona: Persona = "",
    debate: Annotated[
        str, typer.Option(help="Personas that talk with each other: NAME,NAME.", show_default=False)
    ] = "",
    hint: Hint = "",
    turns: Annotated[int, typer.Option(help="Sentences of a debate before you are asked again.", min=1, max=100)] = 6,
    deadline: Annotated[float | None, typer.Option(help="Seconds until the best answer so far goes out.")] = None,
    json: Json = False,
) -> None:
    """Talk in the terminal: a question a line, /help for more, Ctrl-D to end."""
    from qa_bot.terminal.chat import Chat, converse, hold_debate

    if debate and persona:
        raise typer.BadParameter("Expected --persona or --debate, one of the two.")
    told = _print_json if json else None
    with _bot(context) as bot:
        if debate:
            hold_debate(bot, debate, _line, hint=hint, turns=turns, print_json=told)
        else:
            converse(Chat(bot, persona=persona, hint=hint, deadline=deadline), _line, print_json=told)


@app.command()
def hint(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What a persona should speak about; a few words in any order.")],
    out: Annotated[
        Path | None, typer.Option(help="Draw the grid with its words, and where the hint falls, as PNG.")
    ] = None,
    json: Json = False,
) -> None:
    """Show where a hint falls among the topics that a persona can be steered to."""
    from qa_bot.answering.models.personas import PersonaError, PersonaStore
    from qa_bot.terminal.output import show_chart, tell

    home, config = _home(context)
    chart = PersonaStore(home.personas, config.style).chart(text)
    if out is not None:
        try:
            chart.draw(out)
        except ModuleNotFoundError as error:
            raise PersonaError(str(error)) from error
        tell(f"drawn to {out}")
    if json:
        _print_json(chart.as_dict())
    else:
        show_chart(chart)
    raise typer.Exit(NO_ANSWER if chart.notice else OK)


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; beyond this machine it needs a token.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    liveqa_port: Annotated[int | None, typer.Option(help="Port of its own for LiveQA; 0 is off.")] = None,
) -> None:
    """Serve the chat page, WebSocket, JSON, OpenAI-style and LiveQA services, until stopped."""
    from qa_bot.bot import Bot
    from qa_bot.web.server import serve as serve_bot

    flags = {"serve.host": host, "serve.port": port, "serve.liveqa_port": liveqa_port}
    with Bot.open(_given_home(context), flags=flags) as bot:
        serve_bot(bot, bot.config.serve)


@app.command()
def add(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="Files and folders.")],
    format: Annotated[  # noqa: A002 (the flag's name)
        str | None, typer.Option(help="Format of the files, where it is not detected.")
    ] = None,
    collection: Annotated[str, typer.Option(help="Collection to add to.")] = "default",
    dry_run: Annotated[bool, typer.Option(help="Only say what would happen.")] = False,
    json: Json = False,
    max_total_bytes: Annotated[int | None, typer.Option(help="Bound on all bytes read, unpacked.", min=1)] = None,
    max_record_bytes: Annotated[int | None, typer.Option(help="Bound on one record.", min=1)] = None,
    max_ratio: Annotated[int | None, typer.Option(help="Bound on unpacked by packed bytes.", min=1)] = None,
) -> None:
    """Add or update documents; unchanged ones cost nothing."""
    from qa_bot.documents import sync as changes
    from qa_bot.terminal.output import counting, show_added

    limits = _limits(max_total_bytes, max_record_bytes, max_ratio)
    with _bot(context) as bot, counting("Adding") as progress:
        added = changes.add(
            bot.home,
            bot.config,
            bot.encoder,
            paths,
            collection=collection,
            format=format,
            limits=limits,
            dry_run=dry_run,
            progress=lambda counts: progress(counts.records),
        )
        if added.changed and not dry_run:
            _calibrated(bot)
    if json:
        _print_json(added.as_dict())
    else:
        show_added(added, dry_run=dry_run)
    raise typer.Exit(FAILED if added.rejected and not added.records - added.rejected else OK)


@app.command()
def delete(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of documents.")] = None,
    collection: Annotated[str | None, typer.Option(help="Delete a whole collection.")] = None,
    json: Json = False,
) -> None:
    """Remove documents everywhere."""
    from qa_bot.documents import sync as changes

    if bool(ids) == (collection is not None):
        raise typer.BadParameter("Expected ids or --collection, one of the two.")
    with _bot(context) as bot:
        deleted, missing = changes.delete(bot.home, bot.config, bot.encoder, ids=ids or (), collection=collection)
    if json:
        _print_json({"deleted": deleted, "missing": missing})
    else:
        typer.echo(f"{deleted:,} deleted")
        for each in missing:
            typer.echo(f"Expected a document {each!r}, but there is none.", err=True)
    raise typer.Exit(OK if deleted else NO_ANSWER)


@app.command()
def use(
    context: typer.Context,
    encoder: Annotated[str, typer.Argument(help="`starter`, a folder in sentence-transformers layout, or a hub id.")],
    int8: Annotated[bool | None, typer.Option(help="Run it in 8-bit integers.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Fetch without asking.")] = False,
) -> None:
    """Change the encoder: fetch, verify, encode everything anew beside the running index, then swap."""
    from qa_bot.documents import sync as changes
    from qa_bot.home.config import set_value

    if Path(encoder).is_dir():
        encoder = str(Path(encoder).resolve())
    with _bot(context) as bot:
        wanted = bot.config.dense.int8 if int8 is None else int8
        opened = _verified(bot.home, encoder, int8=wanted, yes=yes)
        changes.use(bot.home, bot.config, opened, name=encoder)
        set_value(bot.home.path, "dense.encoder", encoder)
        set_value(bot.home.path, "dense.int8", str(wanted).lower())
        _calibrated(bot, opened)
    typer.echo(f"The index now uses {encoder} ({opened.dimension} dimensions).")


@app.command()
def status(context: typer.Context, json: Json = False) -> None:
    """What the home holds."""
    from qa_bot.home.doctor import status as told
    from qa_bot.terminal.output import show_status

    found = told(*_home(context))
    if json:
        _print_json(found)
    else:
        show_status(found)


@app.command()
def doctor(context: typer.Context, json: Json = False) -> None:
    """Check everything, and name the command that mends what is wrong."""
    from qa_bot.home.doctor import examine
    from qa_bot.terminal.output import show_checks

    checks = examine(*_home(context))
    if json:
        _print_json({"ok": all(c.ok for c in checks), "checks": [c.as_dict() for c in checks]})
    else:
        show_checks(checks)
    raise typer.Exit(OK if all(c.ok for c in checks) else FAILED)


@app.command()
def repair(context: typer.Context) -> None:
    """Rebuild the index from the store."""
    from qa_bot.documents import sync as changes
    from qa_bot.terminal.output import counting

    home, config = _home(context)
    with counting("Rebuilding") as progress:
        count = changes.repair(home, config, _encoder(home, config), progress=progress)
    typer.echo(f"The index was rebuilt from {count:,} documents.")


@app.command()
def migrate(context: typer.Context) -> None:
    """Bring the database to the newest schema."""
    from qa_bot.home.store import migrate as bring_up

    home, config = _home(context)
    with home.lock("migrate"):
        before, after = bring_up(home.store_url(config))
    typer.echo(f"schema {after}" + (" (nothing to do)" if before == after else f" (was {before or 'empty'})"))


@app.command()
def export(
    context: typer.Context,
    out: Annotated[Path, typer.Argument(help="File to write; - is standard output, for votes as JSONL.")],
    feedback: Annotated[
        FeedbackFormat | None,
        typer.Option(help="Only votes: TREC qrels with their questions beside, or JSONL.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")] = False,
    json: Json = False,
) -> None:
    """Write what the home holds and what is not derived to one file, or only the votes on its answers."""
    if str(out) == "-" and (feedback is not FeedbackFormat.jsonl or json):
        raise typer.BadParameter("Expected a file as OUT, but got -, which is for --feedback jsonl without --json.")
    if feedback is not None:
        return _export_votes(context, out, feedback, force=force, json=json)
    from qa_bot.terminal.output import counting, show_exported
    from qa_bot.transfer.exporting import export as write

    with counting("Exporting") as progress:
        exported = write(*_home(context), out, force=force, progress=progress)
    if json:
        _print_json(exported.as_dict())
    else:
        show_exported(exported)
    return None


@app.command("import")
def import_(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="What `qa-bot export` wrote.")],
    json: Json = False,
    max_total_bytes: Annotated[int | None, typer.Option(help="Bound on all bytes read, unpacked.", min=1)] = None,
    max_record_bytes: Annotated[int | None, typer.Option(help="Bound on one record.", min=1)] = None,
    max_ratio: Annotated[int | None, typer.Option(help="Bound on unpacked by packed bytes.", min=1)] = None,
) -> None:
    """Join an export with the home: facts, documents, conversations and votes; the configuration stays."""
    from qa_bot.answering.confidence.fit import ensure
    from qa_bot.terminal.output import counting, show_imported
    from qa_bot.transfer.importing import join

    home, config = _home(context)
    encoder, limits = _encoder(home, config), _limits(max_total_bytes, max_record_bytes, max_ratio)
    with counting("Importing") as progress:
        imported = join(home, config, encoder, file, limits=limits, progress=progress)
    if imported.documents.changed:
        ensure(encoder, home.models)
    if json:
        _print_json(imported.as_dict())
    else:
        show_imported(imported)
    raise typer.Exit(FAILED if imported.documents.rejected and not imported.sound else OK)


@app.command("eval")
def evaluate(
    context: typer.Context,
    task: Annotated[Task, typer.Argument(help="What to measure.")],
    data: Annotated[Path, typer.Option(help="The data: a BEIR folder; for known-item whatever `add` reads.")],
    split: Annotated[str, typer.Option(help="Split of the data.")] = "dev",
    engine: Annotated[list[System] | None, typer.Option(help="System to measure; may be given again.")] = None,
    encoder: Annotated[list[str] | None, typer.Option(help="Encoder to measure; may be given again.")] = None,
    model: Annotated[
        list[Path] | None,
        typer.Option(help="A trained model, where models are measured; may be given again."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only so many questions.", min=1)] = None,
    relevant: Annotated[int, typer.Option(help="Least grade that binary measures count.", min=1)] = 1,
    summary: Annotated[bool, typer.Option(help="liveqa: also ask people's summaries of the questions.")] = False,
    held_out: Annotated[
        float,
        typer.Option(help="similar, paraphrase, dialogue: only the share that training kept aside.", min=0, max=0.9),
    ] = 0.0,
    padded: Annotated[
        int | None, typer.Option(help="similar: fill the candidates up; exact against approximate search.", min=1)
    ] = None,
    padding: Annotated[list[Path] | None, typer.Option(help="similar: what to fill up with.")] = None,
    overlap: Annotated[
        float, typer.Option(help="phrases without scores: pairs that share less than this of their words.", min=0)
    ] = 0.5,
    keep: Annotated[
        Keep, typer.Option(help="answers: questions with right and wrong answers, with a right one, or all.")
    ] = Keep.both,
    relations: Annotated[
        Path | None, typer.Option(help="relations: their names, one a line, that the pools name by number.")
    ] = None,
    errors: Annotated[bool, typer.Option("--errors", help="phrases: where the first model errs, and how.")] = False,
    run: Annotated[
        Path | None, typer.Option(help="Write the ranked documents as a TREC run; phrases: the pairs, re-ranked.")
    ] = None,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="liveqa: does it know when it does not know?")
    ] = False,
    off_topic: Annotated[
        Path | None,
        typer.Option(
            help="With --calibration: questions that the data does not answer.", show_default="liveqa beside the data"
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="With --calibration: folder for its curves, as PNG and as numbers.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure the bot on judged data, with standard errors."""
    if (off_topic or out) and not calibration:
        raise typer.BadParameter("Expected --off-topic and --out with --calibration; add it, or leave them out.")
    from qa_bot.terminal.output import counting, show
    from qa_lab.evaluate import tasks
    from qa_lab.evaluate.report import as_json, table

    with counting("") as progress:
        rows = tasks.measure(
            task.value,
            data,
            split=split,
            engines=[each.value for each in engine or ()],
            encoders=encoder or (),
            models=model or (),
            limit=limit,
            relevant=relevant,
            summary=summary,
            run=run,
            home=_typed_home(context),
            progress=lambda doing, done: progress(done, doing),
            similar=tasks.Similar(held_out, padded, padding or ()),
            phrases=tasks.Phrases(overlap, errors),
            keep=keep.value,
            relations=relations,
            calibrated=tasks.Calibrated(off_topic, out) if calibration else None,
        )
    if json:
        _print_json(as_json(rows))
    else:
        show(table(rows))


@app.command()
def compare(
    context: typer.Context,
    a: Annotated[str, typer.Argument(help="Answers (JSONL), a configuration (TOML), a home, or `home` for this one.")],
    b: Annotated[
        Path | None, typer.Argument(help="The same; without it, A is the name of a comparison that is kept.")
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(help="What configurations are asked, as ask --batch reads it.", show_default="the other's"),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only so many questions.", min=1)] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Grades (0-3) of documents, for rows by grade: of each answer's first source.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Keep it under this name.", show_default="of both sides")] = None,
    seed: Annotated[int, typer.Option(help="Which answer stands first, for whom.", min=0)] = 0,
    prepare: Annotated[bool, typer.Option("--prepare", help="Only keep it, to be judged on the owner's page.")] = False,
    table: Annotated[bool, typer.Option("--table", help="Judge nothing, only show the table.")] = False,
    judge: Annotated[str, typer.Option(help="Who judges; of one judge for a question the last counts.")] = "me",
    out: Annotated[
        Path | None, typer.Option(help="Where judgements are added.", show_default="beside the comparison")
    ] = None,
    judgements: Annotated[
        list[Path] | None, typer.Option(help="Further judgements to count; may be given again.", exists=True)
    ] = None,
    json: Json = False,
) -> None:
    """Judge two configurations or answer files blindly, question by question: which answers are preferred?

    Both answers stand side by side, in random order, without anything that tells which is which. Type 1 or 2 for the
    better one, 0 for a tie, s to skip, q to stop; with the grades of both from 0 (bad) to 3 (excellent) if you like:
    1 3 2. In the end a table tells the shares and whether they may be chance, by grade and over all.

    The pairs are kept in the home, so that `qa-bot compare NAME` and the owner's page go on with them, and several
    judges' votes come together. Lines are read from standard input where that is no terminal.
    """
    from qa_bot.learning.comparing import command as verb
    from qa_bot.learning.comparing.display import table as drawn
    from qa_bot.terminal.output import counting, show

    home, _ = _home(context)
    if b is None:
        if questions or limit or qrels or name or prepare:
            raise typer.BadParameter("Expected B beside A, or only the name of a comparison that is kept.")
        comparison = verb.load(home, a)
    else:
        with counting("Answering") as progress:
            comparison = verb.make(
                home,
                Path(a),
                b,
                name=name,
                seed=seed,
                questions=questions,
                limit=limit,
                qrels=qrels,
                progress=progress,
            )
    task = verb.Task(home, comparison, judge, out, tuple(judgements or ()))
    if not (prepare or table):
        verb.judge(task, lambda: _line("better: "), error=json)
    told = verb.told(task)
    if json:
        _print_json(told.as_dict())
    elif prepare:
        waiting = f"{len(comparison.judged):,} questions to judge, {comparison.identical:,} with identical answers"
        typer.echo(f"{comparison.name}: {waiting}; judge them by `qa-bot compare {comparison.name}`, or on /owner")
    else:
        show(drawn(told))


@app.command()
def train(
    context: typer.Context,
    model: Annotated[TrainedModel, typer.Argument(help="What to train.")],
    out: Annotated[Path, typer.Option(help="Folder for the model.")],
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="Pairs: JSONL, answer selection TSV, MedQuAD, or what `add` reads; fusion: judged collections, too.",
            show_default=False,
        ),
    ] = None,
    more: Annotated[list[Path] | None, typer.Argument(help="Further paths of --data.", show_default=False)] = None,
    base: Annotated[
        Path | None,
        typer.Option(help="What to start from: an encoder; a persona's chat model; a chat model's grid."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings, a TOML file.")] = None,
    dev: Annotated[str, typer.Option(help="Share of the questions to hold out, or a path with pairs.")] = "0.1",
    limit: Annotated[int | None, typer.Option(help="Only so many pairs.", min=1)] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.", min=0)] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    plots: Annotated[bool, typer.Option("--plots", help="Draw the learning curve.")] = False,
    relations: Annotated[
        Path | None,
        typer.Option(
            help="relations: their names, one a line, that the pools name by number; none for mined templates."
        ),
    ] = None,
    from_feedback: Annotated[
        bool, typer.Option("--from-feedback", help="fusion: the home's votes in place of --data.")
    ] = False,
    json: Json = False,
) -> None:
    """Train a model from your own examples."""
    from qa_lab.train.display import show_read, shown
    from qa_lab.train.registry import verb
    from qa_lab.train.request import Request

    if from_feedback and (data or model is not TrainedModel.fusion):
        raise typer.BadParameter("Expected --from-feedback with fusion and without --data; leave one of them out.")
    if not from_feedback and not data:
        raise typer.BadParameter("Expected --data PATH, but got none; name what to learn from.")
    chosen = verb(model.value)
    home = _home(context)[0].path if from_feedback else None
    paths = (*(data or ()), *(more or ()))
    request = Request(paths, out, base, config, dev, limit, seed, resume, plots, home, relations)
    with shown(chosen.epochs(request), measure=chosen.measure) as on_progress:
        outcome = chosen.train(request, on_read=show_read, on_progress=on_progress)
    if json:
        _print_json(outcome.as_dict())
    else:
        typer.echo(outcome.text(out).rstrip())


@kg_app.command("add")
def kg_add(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="N-Triples, N-Quads or Turtle, plain, .gz or .bz2.")],
    labels: Annotated[
        list[str] | None, typer.Option(help="Predicate that tells names, beside the usual ones; may be given again.")
    ] = None,
    mentions: Annotated[
        list[Path] | None, typer.Option(help="Table text TAB entity TAB count; may be given again.")
    ] = None,
    languages: Annotated[str | None, typer.Option(help="Languages of literals to keep, such as en,de.")] = None,
    strict: Annotated[bool, typer.Option(help="Stop at the first malformed line.")] = False,
    json: Json = False,
) -> None:
    """Add facts from files to the graph; malformed lines are told and left out."""
    from qa_bot.documents import graph
    from qa_bot.terminal.output import counting, show_graph_added

    home, _ = _home(context)
    with counting("Reading") as progress:
        added = graph.add(
            home,
            files,
            labels=labels or (),
            tables=mentions or (),
            languages=None if languages is None else {each.strip() for each in languages.split(",") if each.strip()},
            strict=strict,
            progress=lambda done, doing: progress(done, doing.capitalize()),
        )
    if json:
        _print_json(added.as_dict())
    else:
        show_graph_added(added)
    raise typer.Exit(FAILED if added.rejected and not added.triples else OK)


@kg_app.command("ask")
def kg_ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    trace: Annotated[bool, typer.Option(help="Show mentions, entities, templates and relations with scores.")] = False,
    json: Json = False,
) -> None:
    """Answer a question from the graph alone, with the triples behind the answer."""
    from qa_bot.answering.answer_json import as_dict
    from qa_bot.terminal.output import show_answer

    with _bot(context) as bot:
        answer = bot.ask_graph(sys.stdin.read().strip() if question == "-" else question, trace=trace)
    if json:
        _print_json(as_dict(answer))
    else:
        show_answer(answer)
    raise typer.Exit(OK if answer.answered else NO_ANSWER)


@kg_app.command("lookup")
def kg_lookup(
    context: typer.Context,
    subject: Annotated[str | None, typer.Option(help="IRI or name of an entity.")] = None,
    predicate: Annotated[str | None, typer.Option(help="IRI or words of a predicate.")] = None,
    object: Annotated[str | None, typer.Option(help="IRI, name or value.")] = None,  # noqa: A002 (the flag's name)
    top: Annotated[int, typer.Option(help="How many facts at most.", min=1)] = 100,
    json: Json = False,
) -> None:
    """Show the facts with the terms that are given."""
    from itertools import islice

    from kg_index.answers.lookup import UnknownTermError
    from qa_bot.documents import graph
    from qa_bot.terminal.output import show_facts

    if subject is None and predicate is None and object is None:
        raise typer.BadParameter("Expected --subject, --predicate or --object, one of them at least.")
    with graph.open_graph(_home(context)[0]) as opened:
        try:
            facts = [opened.fact_json(fact) for fact in islice(opened.lookup.facts(subject, predicate, object), top)]
        except UnknownTermError as error:
            typer.echo(str(error), err=True)
            facts = []
    if json:
        _print_json({"facts": facts})
    else:
        show_facts(facts)
    raise typer.Exit(OK if facts else NO_ANSWER)


@kg_app.command("mine")
def kg_mine(
    context: typer.Context,
    pairs: Annotated[list[Path], typer.Argument(help="Questions and answers, whatever `add` reads.")],
    out: Annotated[Path, typer.Option(help="Folder for the table of templates.")],
    steps: Annotated[int, typer.Option(help="Longest path between two entities.", min=1, max=2)] = 2,
    processes: Annotated[int, typer.Option(help="Processes that work side by side.", min=1)] = 2,
    limit: Annotated[int | None, typer.Option(help="Only so many pairs.", min=1)] = None,
    json: Json = False,
) -> None:
    """Learn from pairs which relations questions ask for, without labels; writes a readable table."""
    from qa_bot.terminal.output import counting
    from qa_lab.train.relations.graph_mining import mine
    from qa_lab.train.relations.mining_output import show_mined

    with counting("Mining") as progress:
        mined = mine(
            _home(context)[0],
            pairs,
            out,
            longest=steps,
            processes=processes,
            limit=limit,
            progress=lambda done, _: progress(done),
        )
    if json:
        _print_json(mined.as_dict())
    else:
        show_mined(mined, out)


@kg_app.command("stats")
def kg_stats(context: typer.Context, json: Json = False) -> None:
    """Figures of the graph."""
    from qa_bot.documents import graph
    from qa_bot.terminal.output import show_graph

    with graph.open_graph(_home(context)[0]) as opened:
        told = opened.stats()
    if json:
        _print_json(told)
    else:
        show_graph(told)


@conversations_app.callback()
def conversations(
    context: typer.Context,
    limit: Annotated[int, typer.Option(help="Only the last used so many.", min=1)] = 100,
    json: Json = False,
) -> None:
    """List conversations, the last used first."""
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from qa_bot.home.journal import open_store
    from qa_bot.terminal.output import show_conversations

    with open_store(*_home(context)) as store:
        found = store.conversations(limit=limit)
    if json:
        _print_json({"conversations": [asdict(each) for each in found]})
    else:
        show_conversations(found)


@conversations_app.command("show")
def conversations_show(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="Id of the conversation.")],  # noqa: A002 (the noun's own name)
    json: Json = False,
) -> None:
    """Show a conversation: questions, answers with their sources, and votes."""
    from qa_bot.transfer.transcripts import markdown

    with _conversation(context, id) as told:
        if json:
            _print_json(told)
        else:
            typer.echo(markdown(told), nl=False)


@conversations_app.command("rename")
def conversations_rename(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="Id of the conversation.")],  # noqa: A002 (the noun's own name)
    title: Annotated[str, typer.Argument(help="Its new title.")],
) -> None:
    """Give a conversation another title."""
    from qa_bot.home.journal import open_store

    if not (wanted := " ".join(title.split())):
        raise typer.BadParameter("Expected a title, but got a blank one.")
    with _found(), open_store(*_home(context)) as store:
        store.rename_conversation(id, wanted)


@conversations_app.command("export")
def conversations_export(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="Id of the conversation.")],  # noqa: A002 (the noun's own name)
    out: Annotated[Path, typer.Option(help="File to write.")],
    format: Annotated[  # noqa: A002 (the flag's name)
        TranscriptFormat, typer.Option(help="JSON as the services tell it, or Markdown to read.")
    ] = TranscriptFormat.markdown,
    force: Annotated[bool, typer.Option("--force", help="Replace the file where there is one.")] = False,
) -> None:
    """Write a conversation to a file."""
    import orjson

    from qa_bot.transfer.transcripts import markdown
    from qa_core.atomic import atomic_file

    with _conversation(context, id) as told, atomic_file(out, overwrite=force, private=True) as file:
        is_json = format is TranscriptFormat.json
        file.write(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n" if is_json else markdown(told).encode())


@conversations_app.command("delete")
def conversations_delete(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(help="Ids of conversations.")],
    json: Json = False,
) -> None:
    """Remove conversations with all that was said in them, for good."""
    from qa_bot.home.journal import open_store
    from qa_bot.home.store import NotFound

    missing: list[str] = []
    with open_store(*_home(context)) as store:
        for each in dict.fromkeys(ids):
            try:
                store.delete_conversation(each)
            except NotFound as error:
                missing.append(each)
                typer.echo(str(error), err=True)
    deleted = len(dict.fromkeys(ids)) - len(missing)
    if json:
        _print_json({"deleted": deleted, "missing": missing})
    else:
        typer.echo(f"{deleted:,} deleted")
    raise typer.Exit(OK if deleted else NO_ANSWER)


@config_app.callback()
def config(context: typer.Context, json: Json = False) -> None:
    """Show every setting and where it comes from."""
    if context.invoked_subcommand is not None:
        return
    from qa_bot.home.config import explain
    from qa_bot.terminal.output import show_settings

    settings = explain(_home(context)[1])
    if json:
        _print_json({s.key: {"value": s.value, "origin": s.origin, "description": s.description} for s in settings})
    else:
        show_settings(settings)


@config_app.command("set")
def config_set(
    context: typer.Context,
    key: Annotated[str, typer.Argument(help="section.key")],
    value: Annotated[str, typer.Argument(help="Its value.")],
) -> None:
    """Write one setting to the home's qa-bot.toml."""
    from qa_bot.home.config import set_value
    from qa_bot.home.folder import Home

    set_value(Home.open(_given_home(context)).path, key, value)


def _given_home(context: typer.Context) -> Path | None:
    given = context.find_object(Common)
    return given.home if given else None


def _typed_home(context: typer.Context) -> Path | None:
    """The home that was named on the command line: an evaluation leaves the one of the environment alone."""
    parent = context.parent
    source = parent.get_parameter_source("home") if parent else None
    return _given_home(context) if source is not None and source.name == "COMMANDLINE" else None


def _home(context: typer.Context) -> tuple[Home, Config]:
    from qa_bot.home.config import load_config
    from qa_bot.home.folder import Home

    home = Home.open(_given_home(context))
    return home, load_config(home.path)


def _bot(context: typer.Context) -> Bot:
    from qa_bot.bot import Bot

    return Bot.open(_given_home(context))


def _encoder(home: Home, config: Config) -> Encoder:
    from qa_bot.home.encoders import resolve

    return resolve(config.dense.encoder, models=home.models, int8=config.dense.int8, threads=2)


def _verified(home: Home, name: str, *, int8: bool, yes: bool) -> Encoder:
    """The encoder of that name, fetched where it is a hub id."""
    from qa_bot.home.encoders import fetch, is_hub_id, locate, verify

    if is_hub_id(name) and not Path(name).is_dir():
        fetch(name, home.models, lambda what, size: yes or _confirmed(what, size))
    return verify(locate(name, models=home.models), models=home.models, int8=int8)


def _confirmed(what: str, size: int) -> bool:
    return typer.confirm(f"Fetch {what}, {size / 1e6:,.0f} MB?", err=True)


@contextmanager
def _found() -> Iterator[None]:
    """What is not there is told, and no error."""
    from qa_bot.home.store import NotFound

    try:
        yield
    except NotFound as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(NO_ANSWER) from None


@contextmanager
def _conversation(context: typer.Context, id: str) -> Iterator[dict[str, Any]]:  # noqa: A002 (the noun's own name)
    """A conversation as the services tell it."""
    from qa_bot.home.journal import open_store
    from qa_bot.transfer.transcripts import whole

    with _found(), open_store(*_home(context)) as store:
        yield whole(store, id)


def _export_votes(context: typer.Context, out: Path, format: FeedbackFormat, *, force: bool, json: bool) -> None:  # noqa: A002 (the flag's name)
    from qa_bot.home.journal import open_store
    from qa_bot.terminal.output import counting, show_judged
    from qa_bot.transfer import judgements
    from qa_core.atomic import atomic_file

    with open_store(*_home(context)) as store, counting("Exporting votes") as progress:
        if format is FeedbackFormat.qrels:
            judged = judgements.write_qrels(store, out, force=force, progress=progress)
        elif str(out) == "-":
            judgements.write_lines(store, sys.stdout.buffer, progress=progress)
            sys.stdout.flush()
            return
        else:
            with atomic_file(out, overwrite=force, private=True) as file:
                judged = judgements.write_lines(store, file, progress=progress)
    if json:
        _print_json(judged.as_dict())
    else:
        show_judged(judged)


def _calibrated(bot: Bot, encoder: Encoder | None = None) -> None:
    from qa_bot.answering.confidence.fit import ensure

    ensure(encoder or bot.encoder, bot.home.models)


def _limits(total: int | None, record: int | None, ratio: int | None) -> Limits:
    from qa_bot.documents.ingest.records import Limits

    given = {"total_bytes": total, "record_bytes": record, "ratio": ratio}
    return Limits(**{name: value for name, value in given.items() if value is not None})


def _ask_batch(
    context: typer.Context,
    batch: Path,
    out: Path,
    *,
    run: Path | None,
    top: int,
    options: dict[str, Any],
) -> None:
    from qa_bot.cli.batch import answer_all
    from qa_bot.terminal.output import counting

    with _bot(context) as bot, counting("Answering") as progress:
        answered, processed = answer_all(bot, batch, out, run=run, top=top, progress=progress, **options)
    typer.echo(f"{processed:,} questions, {answered:,} answered", err=True)


def _line(prompt: str = "\nyou: ") -> str | None:
    """What somebody types next; None at the end of it."""
    try:
        return input(prompt if sys.stdin.isatty() else "")
    except EOFError:
        return None


def _print_json(told: Any) -> None:
    import orjson

    sys.stdout.buffer.write(orjson.dumps(told, option=orjson.OPT_SERIALIZE_NUMPY) + b"\n")
    sys.stdout.flush()
