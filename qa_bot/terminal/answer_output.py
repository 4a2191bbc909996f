"""Answers in a terminal: the text with its lead, numbered sources, and on request timings and trace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from qa_bot.answering.tiling.leads.cited_place import SLIDES
from qa_bot.answering.wording.refusals import refusals_of
from qa_bot.terminal.answer_labels import Labels, labels_for
from qa_bot.terminal.cleaned_console import cleaned
from qa_bot.terminal.markdown_output import markdown
from qa_core.text.markdown_text import without_block_signs
from qa_core.text.safe_text import clean
from qa_core.types import Answer, AnswerSource, Choice, Span, Styled, StyledLine

NEAREST = 3
"""Documents that an answer does not use, and are named."""


def show_answer(answer: Answer, *, timings: bool = False, console: Console | None = None) -> None:
    """The answer, its numbered sources, and on request timings and trace."""
    console = cleaned(console)
    labels = labels_for(answer)
    if answer.understood:
        console.print(Text(labels.understood.format(question=clean(answer.understood)), style="dim"))
    text = answer.text
    if answer.styled is not None:
        text = _show_styled(console, answer.styled, text)
    if answer.choices and not answer.suggested:
        _show_choices(console, answer)
    elif answer.kind == "talk":
        console.print()
        console.print(_shown(console, text), soft_wrap=not console.is_terminal)
    else:
        _show_sourced(console, answer, text, labels)
    if timings:
        _show_timings(console, answer.timings)
    if answer.trace is not None:
        _show_trace(console, answer.trace)


def _show_sourced(console: Console, answer: Answer, text: str, labels: Labels) -> None:
    """An answer or abstention with its documents."""
    if answer.answered:
        if notice := answer.reason or (labels.refusals.unsure if answer.unsure else ""):
            console.print(Text(clean(notice), style="yellow" if answer.unsure else "dim"))
        console.print()
        used = [source for source in answer.sources if source.span is not None]
        moved = len(answer.text) - len(text)
        lead = answer.lead and (max(0, answer.lead[0] - moved), max(0, answer.lead[1] - moved))
        starts = [source.span[0] - moved for source in used if source.span]
        console.print(_shown(console, text, lead, starts), soft_wrap=not console.is_terminal)
        if answer.former:
            console.print(Text(f"\n{clean(answer.former)}", style="dim"))
        others = [source for source in answer.sources if source.span is None]
    else:
        wording = refusals_of(answer.reason)
        console.print(Text(wording.unknown, style="bold"), Text(clean(answer.reason)))
        used, others = [], list(answer.sources[:NEAREST])
    if used:
        _heading(console, labels.source if len(used) == 1 else labels.sources)
        for number, source in enumerate(used, start=1):
            _show_source(console, f"[{number}]", source, labels)
    if answer.suggested:
        _heading(console, refusals_of(answer.reason).instead)
        _number_choices(console, answer.choices)
    if others:
        _heading(console, labels.see_also if used else labels.nearest)
        for source in others[:NEAREST]:
            _show_source(console, " · ", source, labels)
    total = answer.timings.get("total", 0.0)
    skipped = f", {labels.skipped}: {', '.join(answer.skipped)}" if answer.skipped else ""
    console.print(Text(f"\n{labels.confidence} {answer.confidence:.2f}, {total * 1000:.0f} ms{skipped}", style="dim"))


def _shown(console: Console, text: str, lead: Span | None = None, starts: Sequence[int] = ()) -> RenderableType:
    """Rendered Markdown in a terminal; Markdown in a file or a pipe, where other programs read it.

    There headings are without their signs, and what begins a line is without a backslash: people read it as well.
    """
    if not console.is_terminal:
        return Text(clean(without_block_signs(text)))
    is_whole = lead is not None and not (text[: lead[0]] + text[lead[1] :]).strip()
    return markdown(text, None if is_whole else lead, starts)


def _show_choices(console: Console, answer: Answer) -> None:
    _heading(console, clean(answer.reason))
    _number_choices(console, answer.choices)


def _number_choices(console: Console, choices: Sequence[Choice]) -> None:
    for number, choice in enumerate(choices, start=1):
        console.print(Text.assemble((f"{number:>3}. ", "bold"), clean(choice.text)))


def show_line(line: StyledLine, *, console: Console | None = None) -> None:
    """A persona's sentence; quotations are marked."""
    console = cleaned(console)
    text = f"“{clean(line.text)}”" if line.kind == "quotation" else clean(line.text)
    mark = "  (quotation)" if line.kind == "quotation" else ""
    console.print(Text.assemble("\n", (f"{clean(line.persona)}: ", "bold cyan"), (text, "italic"), (mark, "dim")))


def _show_styled(console: Console, styled: Styled, text: str) -> str:
    """Show the persona's sentence; return the sourced rest of the answer."""
    if styled.lines:
        show_line(styled.lines[0], console=console)
    if styled.notice:
        console.print(Text(f"\n{styled.notice}", style="yellow"))
    return text if styled.span is None else text[styled.span[1] :].lstrip("\n")


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _show_source(console: Console, mark: str, source: AnswerSource, labels: Labels) -> None:
    console.print(source_line(mark, source, labels), soft_wrap=not console.is_terminal)


def source_line(mark: str, source: AnswerSource, labels: Labels, score: str = "") -> Text:
    """Title › headings, place, state, score, collection and id, then the address, or the path of a local file."""
    names = dict.fromkeys([source.title or source.document, *source.heading])
    address = place_url(source) or ("" if source.document.endswith(source.path) else source.path)
    line = Text.assemble((f"{mark} ", "bold"), clean(" › ".join(names)))
    line.append("".join(f", {part}" for part in _place_in_words(source, labels)))
    for state in [name for name in ("archived", "draft") if getattr(source, name)]:
        line.append(f", {getattr(labels, state)}", "yellow")
    for part in filter(None, (score, f"{source.collection}/{source.document}", address)):
        line.append(f"  {clean(part)}", "dim")
    return line


def place_url(source: AnswerSource) -> str:
    """The address of a document, at the page of the passage if it is a PDF file."""
    address, mark, _ = source.url.partition("#")
    is_pdf = not mark and PurePath(address.partition("?")[0]).suffix.lower() == ".pdf"
    return f"{source.url}#page={source.page}" if is_pdf and source.page else source.url


def _place_in_words(source: AnswerSource, labels: Labels) -> Iterator[str]:
    """Page or slide, row and date of a source that are known."""
    if source.page is not None:
        is_slide = PurePath(source.path or source.document).suffix.lower() in SLIDES
        yield f"{labels.slide if is_slide else labels.page} {source.page}"
    if source.row is not None:
        yield f"{labels.row} {source.row}"
    if source.date:
        yield clean(source.date[:10])


def _show_timings(console: Console, timings: Mapping[str, float]) -> None:
    _heading(console, "Timings")
    longest = max(timings.values(), default=0.0) or 1.0
    for name, seconds in timings.items():
        bar = "█" * max(1, round(30 * seconds / longest))
        console.print(Text.assemble(f"{name:<10} {seconds * 1000:8.2f} ms ", (bar, "cyan")))


def _show_trace(console: Console, trace: Mapping[str, Any]) -> None:
    if "facts" in trace:
        _show_readings(console, trace["facts"])
    if "queries" not in trace:
        return
    _heading(console, "Queries")
    for query in trace["queries"]:
        text = query.get("text") or " ".join(query["terms"]) or ", ".join(query["phrases"])
        console.print(Text(f"{query['name']:<22} ×{query['weight']:g}  {text}"))
    _heading(console, "Candidates")
    candidates = trace["candidates"][:10]
    columns = sorted({name for c in candidates for name in c if name not in ("document", "passage", "score")})
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="dim")
    for name in ("document", "score", *columns):
        table.add_column(name.replace(":", ":\n"), justify="left" if name == "document" else "right")
    for candidate in candidates:
        numbers = [f"{candidate[name]:.3f}" if name in candidate else "" for name in ("score", *columns)]
        table.add_row(candidate["document"], *numbers)
    console.print(table)
    _heading(console, "Confidence")
    console.print(Text(_numbers(trace["confidence"])))


def _show_readings(console: Console, trace: Mapping[str, Any]) -> None:
    """Interpretations of a question to the graph: mentions with entities, then relations with answers."""
    _heading(console, "Mentions")
    for mention in trace["mentions"]:
        kind = "  a kind" if mention["kind"] else ""
        details = f"  {mention['score']:.3f}{kind}  {mention['entity']}"
        console.print(Text.assemble(f"{mention['text']} → {mention['label']}", (details, "dim")))
    _heading(console, "Relations")
    for reading in trace["readings"]:
        answers = ", ".join(reading["answers"][:5]) + (" …" if reading["count"] > 5 else "")
        result = f"{reading['count']}: {answers}" if reading["counted"] else answers
        console.print(Text.assemble((f"{reading['score']:>8.3f} ", "bold"), f"{reading['template']} → {result}"))
        console.print(Text(f"         {reading['relation']}", style="dim"))
    if trace["features"]:
        _heading(console, "Why")
        console.print(Text(_numbers(trace["features"])))


def _numbers(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())
