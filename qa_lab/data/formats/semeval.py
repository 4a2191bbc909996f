"""Threads of a forum with judged comments, as of SemEval 2016 and 2017 (Nakov et al. 2016, task 3, subtask A).

    <Thread><RelQuestion RELQ_ID="Q1_R1"><RelQSubject/><RelQBody/></RelQuestion>
    <RelComment RELC_RELEVANCE2RELQ="Good"><RelCText/></RelComment> …</Thread>

A comment is right if it is `Good`. Threads are read wherever they are in the file.
"""

from __future__ import annotations

from collections.abc import Iterator

from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.files.xml import Handler, XmlError, stream
from qa_bot.documents.ingest.records import Item, Reject
from qa_lab.data.reading import Judged

ROOTS = ("<xml>", "<root>")
GOOD = "Good"
LABELS = (GOOD, "PotentiallyUseful", "Bad")
_LABEL = "RELC_RELEVANCE2RELQ"
_TEXTS = ("RelQSubject", "RelQBody", "RelCText")


class _Threads(Handler[Item]):
    """Builds a record for each comment."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self._question, self._label, self._line = "", "", 0
        self._texts: dict[str, str] = {}
        self._open = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "RelQuestion":
            self._question, self._texts = attributes.get("RELQ_ID", ""), {}
        elif tag == "RelComment":
            self._label, self._line = attributes.get(_LABEL, ""), self.line()
        elif tag in _TEXTS:
            self._open, self._texts[tag] = tag, ""

    def data(self, text: str) -> None:
        if self._open:
            self._texts[self._open] += text

    def end(self, tag: str) -> None:
        if tag in _TEXTS:
            self._open = ""
        elif tag == "RelComment":
            self.results.append(self._comment())

    def _comment(self) -> Item:
        where = f"{self.where}:{self._line}"
        subject, body, comment = (" ".join(self._texts.get(tag, "").split()) for tag in _TEXTS)
        if not (subject or body) or not comment:
            missing = "comment" if subject or body else "question"
            return Reject(
                where, f"Expected a question and a comment, but got no {missing}; add it or drop the comment."
            )
        if self._label not in LABELS:
            known = f"{', '.join(LABELS[:-1])} or {LABELS[-1]}"
            return Reject(
                where,
                f"Expected the label {known} in {_LABEL}, but got {self._label!r}; take the part of the data with "
                "labels.",
            )
        title, rest = (subject, body) if subject else (body, "")
        return Judged(self._question, title, comment, rest, where=where, right=self._label == GOOD)


def read(file: SourceFile) -> Iterator[Item]:
    """A `Judged` record for each comment; comments before an XML error are kept."""
    try:
        yield from stream(file, _Threads(file.where))
    except XmlError as error:
        yield Reject(f"{file.where}:{error.line}", f"{error} The comments before this line are kept.")
