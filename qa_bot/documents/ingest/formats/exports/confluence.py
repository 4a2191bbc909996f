"""Reads pages of Confluence's HTML export: titles without the name of the space, the date of the last change."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.dates import iso_date
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.markup import html
from qa_bot.documents.ingest.records import Item, Record, Reject

METADATA = re.compile(r'<div class="page-metadata">(.{0,3000}?)</div>', re.DOTALL)
DATES = re.compile(
    r"[^\W\d]{3,10}\.? \d{1,2}, \d{4}|\d{1,2}\.? [^\W\d]{3,10}\.?,? \d{4}|\d{4}-\d\d-\d\d|\d{1,2}\.\d{1,2}\.\d{4}"
)
"""In the forms of several languages; the last one is that of the change."""
FURNITURE = re.compile(
    r'<div id="breadcrumb-section">.{0,9000}?</ol>\s*</div>|<div id="footer".{0,3000}?</section>\s*</div>'
    r'|<div class="page-metadata">.{0,3000}?</div>'
    r'|<div class="pageSectionHeader">\s*<h2 id="attachments".{0,200}?</div>\s*<div class="greybox".{0,30000}?</div>',
    re.DOTALL,
)
PANEL_TITLE = re.compile(r'<div class="[^"<>]{0,80}\bpanelHeader\b[^<>]{0,300}>\s*<b>([^<>]{1,200})</b>\s*</div>')
"""The title of a box of code or text, which is no heading of what follows the box."""

EXPANDER = re.compile(r'<span class="expand-control-text">([^<>]{1,300})</span>')
"""The line that shows a hidden text, such as a question above its answer."""
NO_ISSUE = re.compile(
    r'\s*-?\s*<span class="summary">Getting issue details\.{3}</span>'
    r'\s*(?:<span class="aui-lozenge[^<>]*>STATUS</span>)?'
)
"""What a page has in place of the title of an issue of Jira until its script runs."""


def read(file: SourceFile) -> Iterator[Item]:
    """One record with the path as its id."""
    source = file.text()
    page = PANEL_TITLE.sub(r"<p>\1:</p>", NO_ISSUE.sub("", FURNITURE.sub("", source)))
    parsed = html.read_page(EXPANDER.sub(r"<b>\1</b>", page))
    title = file.repairs.clean(parsed.metadata.title.partition(" : ")[2] or parsed.metadata.title)
    text = file.repairs.clean(html.without_title(parsed.markdown, title))
    if not text:
        yield Reject(f"{file.where}:1", "Expected a page with text, but got none; leave it out.")
        return
    date = _date(source) or parsed.metadata.date
    language = parsed.metadata.language
    yield Record(file.name, title, text, where=f"{file.where}:1", markdown=True, date=date, language=language)


def _date(source: str) -> str:
    metadata = METADATA.search(source)
    text = re.sub(r"<[^>]*>", "", metadata[1]) if metadata else ""
    dates = [date for stated in DATES.findall(text) if (date := iso_date(stated))]
    return dates[-1] if dates else ""
