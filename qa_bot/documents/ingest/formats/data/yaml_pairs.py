"""YAML files: a record for each pair of a question and its answer, at any depth, or one with the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.formats.data.fields import record_of
from qa_bot.documents.ingest.formats.data.nested_pairs import nested_pairs
from qa_bot.documents.ingest.formats.markup.front_matter import yaml_values
from qa_bot.documents.ingest.formats.pair_names import QUESTIONS
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

QUESTION = re.compile(
    rf"^[ \t]*(?:-[ \t]+)?[\"']?(?:{'|'.join(map(re.escape, sorted(QUESTIONS)))})[\"']?[ \t]*:(?=\s)"
    r"|[?？][\"']?[ \t]*:(?=\s)",
    re.IGNORECASE | re.MULTILINE,
)
"""A field for questions, or a question as a key: other files are not parsed, which takes long for large settings."""
TITLE = re.compile(
    r"^(?:info:[ \t]*\n(?:[ \t].*\n){0,20}?[ \t]+)?(?:title|name):[ \t]+([\"']?)([^\s|>&*{\[].{0,99}?)\1[ \t]*$",
    re.MULTILINE,
)
COMMENT = re.compile(r"(?:(?:---)?[# \t]*\n)*#[# \t]*([^\W\d_].{0,98}[^\s.:!#])[ \t#]*\n")
"""A comment of one line at the top."""
FIELD = re.compile(r"\s*[\w .-]{1,60}:(?:\s|$)")
BLOCK_SIGN = re.compile(r"(?<=:) [|>][+-]?$")
"""Between the name of a field and its lines."""
ENTRY = re.compile(r"([ \t]*)-\s+(?=\S)")
LIST = re.compile(r"(?:[ \t]*(?:#.*|---.*)?\n)*[ \t]*-\s")


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each pair, `NAME#NUMBER` unless it has an id; without a pair one document with the text.

    A list of entries is one; other files are code, because their indentation has a meaning.
    """
    source = file.text()
    pairs = [*nested_pairs(yaml_values(source))] if QUESTION.search(source) else []
    for number, pair in enumerate(pairs, 1):
        yield record_of(pair, where=f"{file.where}:{number}", default_id=f"{file.name}#{number}", repairs=file.repairs)
    if pairs:
        return
    text = file.repairs.clean(source)
    writer = MarkdownWriter()
    if LIST.match(text):
        _write_entries(writer, text)
    else:
        writer.code(text.strip("\n"), "yaml")
    if writer.text:
        yield Record(file.name, _title(text) or file.stem, writer.text, where=f"{file.where}:1", markdown=True)
    else:
        yield Reject(
            f"{file.where}:1", "Expected questions with answers, but got an empty file; fill it or leave it out."
        )


def _write_entries(writer: MarkdownWriter, text: str) -> None:
    """The entries of a list as items of a line; lists inside them are items of the next depth."""
    fields: list[list[str]] = []  # with their lines
    depth = outermost = 0

    def end() -> None:
        texts = (" ".join([BLOCK_SIGN.sub("", first) if more else first, *more]) for first, *more in fields)
        writer.item("; ".join(texts), depth=depth)
        fields.clear()

    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry is not None:
            end()
            outermost = outermost if len(writer) else len(entry[1])
            depth = int(len(entry[1]) > outermost)
            line = line[entry.end() :]
        if not line.strip(" -") or line.lstrip().startswith("#"):
            continue
        if fields and not FIELD.match(line):
            fields[-1].append(line.strip())
        else:
            fields.append([line.strip()])
    end()


def _title(text: str) -> str:
    """The field `title` or `name` of the file or of its `info`, else a comment above all."""
    if match := TITLE.search(text):
        return match[2]
    comment = COMMENT.match(text)
    return comment[1] if comment else ""
