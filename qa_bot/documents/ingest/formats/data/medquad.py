"""MedQuAD (Ben Abacha and Demner-Fushman 2019): each `QAPair` with a question and an answer is a document.

The pid of a pair is unique only in its file, and file names repeat across the folders of the published archive.
So the id is `FILE#pid`, where FILE is the path below the argument on the command line, without `.xml`:
`2_GARD_QA/0000001#1` from the archive or from its unpacked folder, `0000001#1` from that file alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.records import Item, Record, Reject

LIST_ITEM = "   - "  # separates the items of a list in the published files
BLANK_LINES = re.compile(r"\n{3,}")


class _Pairs(Handler[Item]):
    """Builds a record for each QAPair."""

    def __init__(self, file: SourceFile) -> None:
        super().__init__()
        self.where = file.where
        self.name = file.name.removesuffix(".xml")
        self.url = ""
        self.root = ""
        self.pairs = 0
        self.other_pairs = 0
        self._pid = ""
        self._line = 0
        self._texts: dict[str, list[str]] = {}
        self._open: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.root:
            self.root, self.url = tag, attributes.get("url", "").strip()
        elif tag == "QAPair":
            self.pairs += 1
            self._line = self.line()
            self._pid = attributes.get("pid") or str(self.pairs)
            self._texts = {"Question": [], "Answer": []}
        elif tag in self._texts:
            self._open = self._texts[tag]
        elif tag == "pair":
            self.other_pairs += 1

    def data(self, text: str) -> None:
        if self._open is not None:
            self._open.append(text)

    def end(self, tag: str) -> None:
        if tag in self._texts:
            self._open = None
        elif tag == "QAPair":
            self.results.append(self._pair())
            self._texts = {}

    def _pair(self) -> Record | Reject:
        where = f"{self.where}:{self._line}"
        question, answer = (_unindented("".join(self._texts[tag])) for tag in ("Question", "Answer"))
        if not question or not answer:
            missing = "question" if not question else "answer"
            return Reject(where, f"no {missing}: expected a question and its answer in pair {self._pid}; add it.")
        return Record(f"{self.name}#{self._pid}", question, answer, url=self.url, where=where)


def _unindented(text: str) -> str:
    """Text without the indentation of the XML, one line a list item."""
    lines = [" ".join(line.split()) for line in text.replace(LIST_ITEM, "\n- ").split("\n")]
    text = "\n".join(lines)
    return (BLANK_LINES.sub("\n\n", text) if "\n\n\n" in text else text).strip()


def read(file: SourceFile) -> Iterator[Item]:
    """A record for each pair with an answer; pairs before an XML error are kept."""
    pairs = _Pairs(file)
    try:
        yield from stream(file, pairs)
    except XmlError as error:
        yield Reject(f"{file.where}:{error.line}", f"{error} The {pairs.pairs} pairs before it were read.")
        return
    if pairs.pairs == 0:
        yield Reject(f"{file.where}:1", _no_pairs(pairs))


def _no_pairs(pairs: _Pairs) -> str:
    if not pairs.other_pairs:
        return f"no pairs: expected MedQuAD's <QAPair> elements under <{pairs.root}>, but got none; leave the file out."
    return (
        f"older layout: expected MedQuAD's <QAPair> elements, but got {pairs.other_pairs} <pair> elements under "
        f"<{pairs.root}>; rename pair, question and answer to QAPair, Question and Answer to add them."
    )
