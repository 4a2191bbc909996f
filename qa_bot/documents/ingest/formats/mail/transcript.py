"""Subtitles and transcripts (SRT, WebVTT): paragraphs of about a minute that begin with their time."""

from __future__ import annotations

import html
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.markdown_writer import MarkdownWriter
from qa_bot.documents.ingest.records import Item, Record, Reject

PARAGRAPH, LONGEST = 60, 90  # seconds: of a paragraph that ends with a sentence, of any
REPEATED = 4  # lines that a rolling caption may show again
TIMES = re.compile(r"\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,](\d{1,3})\s*-->\s*\S+")
TITLE = re.compile(r"\ufeff?WEBVTT[ \t]*(?:-[ \t]*)?([^\n]*)")
SPEAKER = re.compile(r"<v(?:\.[\w.-]++)?\s++([^<>]++)>")
MARKUP = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")
SOUND = re.compile(r"\[[^\W\d][^\[\]\n\d]{1,40}\]|[♪♫]")
"""What is heard but not said: "[laughter]"."""
NO_CUE = ("NOTE", "STYLE", "REGION")
SENTENCE_ENDS = ".!?…。！？"


@dataclass(frozen=True, slots=True)
class _Cue:
    """Lines of text from `seconds` on."""

    seconds: int
    lines: list[str]


def read(file: SourceFile) -> Iterator[Item]:
    """One record; its title is that of the file's first line, else the file's stem."""
    source = file.text().replace("\r\n", "\n").replace("\r", "\n")
    writer = MarkdownWriter()
    for seconds, text in _paragraphs(_cues(source)):
        writer.paragraph(f"[{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}] {text}")
    if not writer.text:
        yield Reject(f"{file.where}:1", "Expected captions with times (00:01:02,000 --> 00:01:04,000), but got none.")
        return
    title = TITLE.match(source)
    stated = title[1].strip() if title and "-->" not in title[1] else ""
    yield Record(file.name, stated or file.stem, writer.text, where=f"{file.where}:1", markdown=True)


def _cues(source: str) -> Iterator[_Cue]:
    cue: _Cue | None = None
    is_note = False
    for line in source.split("\n"):
        if match := TIMES.match(line):
            if cue is not None:
                yield cue
            hours, minutes, seconds, _ = (int(part or 0) for part in match.groups())
            cue, is_note = _Cue(hours * 3600 + minutes * 60 + seconds, []), False
        elif not line.strip():
            if cue is not None:
                yield cue
            cue, is_note = None, False
        elif line.startswith(NO_CUE) and cue is None:
            is_note = True
        elif cue is not None and not is_note:
            cue.lines.append(line)
    if cue is not None:
        yield cue


def _paragraphs(cues: Iterator[_Cue]) -> Iterator[tuple[int, str]]:
    """Start and text of each paragraph."""
    start, words = 0, list[str]()
    shown: deque[str] = deque(maxlen=REPEATED)
    speaker = ""
    for cue in cues:
        age = cue.seconds - start
        if words and (age >= LONGEST or age < 0 or (age >= PARAGRAPH and words[-1][-1:] in SENTENCE_ENDS)):
            yield start, " ".join(words)
            words = []
        for line in cue.lines:
            text, name = _spoken(line)
            text = _new_part(text, shown)
            if not text:
                continue
            if not words:
                start = cue.seconds
            if name and (name != speaker or not words):
                speaker = name
                text = f"{name}: {text}"
            words.append(text)
    if words:
        yield start, " ".join(words)


def _spoken(line: str) -> tuple[str, str]:
    """The text of a line without markup, and its speaker ("" if not named)."""
    match = SPEAKER.search(line)
    text, sounds = SOUND.subn(" ", html.unescape(MARKUP.sub("", line)))
    text = text.strip(" -–") if sounds else text
    return " ".join(text.split()), " ".join(match[1].split()) if match else ""


def _new_part(text: str, shown: deque[str]) -> str:
    """What the last captions have not shown yet; rolling captions repeat their last lines."""
    if not text or text in shown:
        return ""
    last = shown[-1] if shown else ""
    shown.append(text)
    return text[len(last) :].strip() if last and text.startswith(f"{last} ") else text
