"""Commands that change the documents: `add`, `delete`, and `use`, which changes their encoder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from qa_bot.cli.context import (
    FAILED,
    NO_ANSWER,
    OK,
    Json,
    code_with_rejects,
    expect_name,
    expect_places,
    open_bot,
    open_filled,
    present_home,
    print_json,
    say,
    say_what_still_holds,
)
from qa_bot.cli.documents.improving import NoImprove, finish_change

if TYPE_CHECKING:
    from qa_bot.documents.ingest.records import Limits
    from qa_bot.documents.reject_log import AddReport
    from qa_bot.home.folder import Home
    from qa_core.encoders.sentence_layout import Prompts
    from qa_core.types import Encoder

MaxTotalBytes = Annotated[int | None, typer.Option(help="Limit on all bytes read, unpacked.", min=1)]
MaxRecordBytes = Annotated[int | None, typer.Option(help="Limit on the bytes of one record.", min=1)]
MaxRatio = Annotated[int | None, typer.Option(help="Limit on unpacked by packed bytes.", min=1)]
MaxFileSeconds = Annotated[
    int | None,
    typer.Option(help="Limit on the time for a file such as a PDF or a spreadsheet; 60, more if large.", min=1),
]
Crawl = Annotated[bool, typer.Option("--crawl", help="Read the site below the path of a URL.")]
MaxPages = Annotated[int | None, typer.Option(help="Limit on the pages of a site; 500.", min=1)]
MaxDepth = Annotated[
    int | None, typer.Option(help="Limit on the links between a site's first page and others; 10.", min=0)
]
MaxBytes = Annotated[int | None, typer.Option(help="Limit on the bytes of a site; 512 MiB.", min=1)]
MaxSeconds = Annotated[float | None, typer.Option(help="Limit on the time for a site; 3600.", min=1)]
Rate = Annotated[float | None, typer.Option(help="Requests a second to a site; 1.", min=0.001, max=1000)]
Format = Annotated[str | None, typer.Option(help="Format of the files, if it is not detected.")]
Collection = Annotated[
    str | None, typer.Option(help="Collection to add to; `default`, or that of the source.", callback=expect_name)
]
AllowEmpty = Annotated[
    bool, typer.Option("--allow-empty", help="An empty or missing source means that all of its files were deleted.")
]


def add(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH", help="Files, folders, and URLs of pages.", callback=expect_places),
    ],
    format: Format = None,  # noqa: A002 (the flag's name)
    collection: Collection = None,
    sync: Annotated[bool, typer.Option("--sync", help="Also remove documents whose files are gone.")] = False,
    allow_empty: AllowEmpty = False,
    dry_run: Annotated[bool, typer.Option(help="Only report what would happen.")] = False,
    json: Json = False,
    crawl: Crawl = False,
    max_pages: MaxPages = None,
    max_depth: MaxDepth = None,
    max_bytes: MaxBytes = None,
    max_seconds: MaxSeconds = None,
    rate: Rate = None,
    max_total_bytes: MaxTotalBytes = None,
    max_record_bytes: MaxRecordBytes = None,
    max_ratio: MaxRatio = None,
    max_file_seconds: MaxFileSeconds = None,
    no_improve: NoImprove = False,
) -> None:
    """Add or update documents; unchanged ones cost nothing."""
    from qa_bot.documents.sources.first_reading import reading_first

    limits = ingest_limits(max_total_bytes, max_record_bytes, max_ratio, max_file_seconds)
    site = site_options(
        crawl=crawl or None, pages=max_pages, depth=max_depth, bytes=max_bytes, seconds=max_seconds, rate=rate
    )
    urls = _urls(paths, site)
    chosen = [Path(path) for path in paths if path not in urls]
    with reading_first(*present_home(context), chosen, format=format, limits=limits) as ahead:
        from qa_bot.answering.fit_confidence import ensure  # after the start of processes, which takes as long
        from qa_bot.documents import sync as changes
        from qa_bot.terminal.output import counting

        home, _, encoder = opened = open_filled(context)
        with counting("Adding") as progress:
            added = changes.add(
                *opened,
                chosen,
                ahead=ahead,
                urls=urls,
                site=site,
                pages=lambda count: progress(count, "Visiting pages"),
                collection=collection,
                format=format,
                limits=limits,
                dry_run=dry_run,
                removing=sync,
                allow_empty=allow_empty,
                progress=lambda counts: progress(counts.records),
            )
            if added.changed and not dry_run:
                ensure(encoder, home.models)
    _show(added, with_files=sync, dry_run=dry_run, json=json)
    if added.changed and not dry_run:
        finish_change(context, improving=not no_improve)
    raise typer.Exit(exit_code(added))


def _urls(paths: list[str], site: dict[str, float]) -> list[str]:
    """The URLs among the paths; options of sites need one."""
    from qa_bot.documents.websites.urls import is_url

    urls = [path for path in paths if is_url(path)]
    if site and not urls:
        raise typer.BadParameter("Expected the URL of a site with --crawl, --rate and limits of sites, but got none.")
    return urls


def _show(added: AddReport, *, with_files: bool, dry_run: bool, json: bool) -> None:
    """Counts of documents, and on request the lists of files."""
    if json:
        print_json({**added.as_dict(), "errors": added.errors, **(added.lists() if with_files else {})})
        return
    from qa_bot.terminal.output import show_added
    from qa_bot.terminal.source_output import show_errors, show_synchronised

    if with_files:
        show_synchronised(added, dry_run=dry_run)
    else:
        show_errors(added)
        show_added(added, dry_run=dry_run)


def exit_code(report: AddReport) -> int:
    """1 if a source could not be compared or everything was rejected, 4 if only some records were."""
    return FAILED if report.errors else code_with_rejects(report.rejected, report.accepted + report.removed)


def site_options(**options: float | None) -> dict[str, float]:
    """Fields of `SiteOptions` that the command line sets."""
    return {name: value for name, value in options.items() if value is not None}


def ingest_limits(total: int | None, record: int | None, ratio: int | None, seconds: int | None = None) -> Limits:
    """Bounds on what is read; None keeps a default."""
    from qa_bot.documents.ingest.records import Limits

    flags = {"total_bytes": total, "record_bytes": record, "ratio": ratio, "seconds": seconds}
    return Limits(**{name: value for name, value in flags.items() if value is not None})


def delete(
    context: typer.Context,
    ids: Annotated[list[str] | None, typer.Argument(help="Ids of documents.")] = None,
    collection: Annotated[str | None, typer.Option(help="Delete a whole collection.")] = None,
    erase: Annotated[
        bool, typer.Option("--erase", help="Leave no text of deleted documents in any file; makes the index anew.")
    ] = False,
    json: Json = False,
) -> None:
    """Remove documents everywhere."""
    from qa_bot.documents import sync
    from qa_bot.documents.index_update import erase_deleted
    from qa_bot.home.journal import open_store

    if bool(ids) == (collection is not None):
        raise typer.BadParameter("Expected ids or --collection, one of the two.")
    opened = open_filled(context)
    deleted, missing = sync.delete(*opened, ids=ids or (), collection=collection)
    if erase:
        erase_deleted(*opened)
    if json:
        print_json({"deleted": deleted, "missing": missing} | ({"erased": True} if erase else {}))
    else:
        say(f"{deleted:,} deleted")
        for identifier in missing:
            say(f"Expected a document {identifier!r}, but it is not in the home.", err=True)
    if erase:
        say_what_still_holds(opened[0])
        with open_store(*opened[:2]) as store:
            deleted = deleted or store.sources.were_deleted(missing)  # the command was interrupted, and ended now
    raise typer.Exit(OK if deleted else NO_ANSWER)


def use(
    context: typer.Context,
    encoder: Annotated[
        str | None, typer.Argument(help="`starter`, a folder in sentence-transformers layout, or a hub id.")
    ] = None,
    ranker: Annotated[
        str | None,
        typer.Option(help="Ranker of passages in place of an encoder: a folder or a hub id; :N sets its documents."),
    ] = None,
    int8: Annotated[bool | None, typer.Option(help="Run it in 8-bit integers.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Fetch without a question.")] = False,
) -> None:
    """Change the encoder: fetch, verify, encode everything anew beside the running index, then swap; or the ranker."""
    if (encoder is None) == (ranker is None) or "" in (encoder, ranker):
        raise typer.BadParameter("Expected the name of an encoder or --ranker NAME, one of the two.")
    if ranker is not None:
        _use_ranker(context, ranker, int8=int8, yes=yes)
    elif encoder is not None:
        _use_encoder(context, encoder, int8=int8, yes=yes)


def _use_ranker(context: typer.Context, specs: str, *, int8: bool | None, yes: bool) -> None:
    from qa_bot.answering.models.hub_rankers import fetch_ranker
    from qa_bot.answering.models.ranker_loading import open_rankers, parse_ranker_specs
    from qa_bot.home.config import set_values
    from qa_bot.home.encoders import is_hub_id

    with open_bot(context) as bot:
        models, names = bot.home.models, list[str]()
        for spec in parse_ranker_specs(specs, models=models):
            from_hub = is_hub_id(spec.name) and not Path(spec.name).is_dir()
            if from_hub:
                fetch_ranker(spec.name, models, lambda title, size: yes or _confirm_fetch(title, size))
            names.append(spec.at(spec.name if from_hub else str(spec.folder.resolve())))
        quantised = bot.config.ranking.int8 if int8 is None else int8
        configured = ", ".join(names)
        open_rankers(configured, models=models, int8=quantised)
        set_values(bot.home.path, {"ranking.models": configured, "ranking.int8": str(quantised).lower()})
    say(f"Passages are now ranked by {configured}; to undo: qa-bot config set ranking.models ''")


def _use_encoder(context: typer.Context, encoder: str, *, int8: bool | None, yes: bool) -> None:
    from qa_bot.answering.fit_confidence import ensure
    from qa_bot.documents import sync

    if Path(encoder).is_dir():
        encoder = str(Path(encoder).resolve())
    with open_bot(context) as bot:
        quantised = bot.config.dense.int8 if int8 is None else int8
        opened = _verified_encoder(bot.home, encoder, int8=quantised, yes=yes, prompts=bot.config.dense.prompts)
        ensure(opened, bot.home.models)
        settings = {"dense.encoder": encoder, "dense.int8": str(quantised).lower()}
        sync.switch_encoder(bot.home, bot.config, opened, name=encoder, settings=settings)
    say(f"The index now uses {encoder} ({opened.dimension} dimensions).")


def _verified_encoder(home: Home, name: str, *, int8: bool, yes: bool, prompts: Prompts) -> Encoder:
    """The encoder of that name; a hub id is fetched."""
    from qa_bot.home.encoders import fetch, is_hub_id, locate, verify

    if is_hub_id(name) and not Path(name).is_dir():
        fetch(name, home.models, lambda title, size: yes or _confirm_fetch(title, size))
    return verify(locate(name, models=home.models), models=home.models, int8=int8, prompts=prompts)


def _confirm_fetch(title: str, size: int) -> bool:
    return typer.confirm(f"Fetch {title}, {size / 1e6:,.0f} MB?", err=True)
