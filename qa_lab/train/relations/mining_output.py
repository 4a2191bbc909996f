"""Prints the results of `kg mine` on a terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.text import Text

from qa_bot.terminal.cleaned_console import cleaned
from qa_lab.train.relations.anchor_mining import MENTIONS_TABLE, MinedAnchors
from qa_lab.train.relations.graph_mining import MinedTemplates


def show_mined(mined: MinedTemplates, out: Path, *, console: Console | None = None) -> None:
    console = cleaned(console)
    rate = mined.pairs / max(mined.seconds, 1e-9)
    share = mined.sharing_words / max(mined.with_path, 1)
    console.print(f"{mined.pairs:,} pairs, {mined.with_mentions:,} with entities on both sides ({rate:,.0f} a second)")
    console.print(f"{mined.templates:,} templates, {mined.mappings:,} mappings, {mined.with_path:,} of them to a path")
    console.print(f"{mined.relations:,} paths of predicates; {share:.1%} of the mappings to one share a word with it")
    console.print(Text(f"{mined.known:,} templates of a single predicate that answers may rely on; written to {out}"))


def show_anchors(mined: MinedAnchors, out: Path, *, console: Console | None = None) -> None:
    console = cleaned(console)
    console.print(f"{mined.pages:,} pages, {mined.links:,} links, {mined.to_entities:,} of them to entities")
    console.print(Text(f"{mined.names:,} names; add them: qa-bot kg add --mentions {out / MENTIONS_TABLE}"))
