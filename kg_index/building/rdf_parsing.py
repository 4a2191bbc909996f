"""Streams triples from N-Triples, N-Quads and Turtle files, plain or compressed (`.gz`, `.bz2`).

Common lines are split by one regular expression over a whole block. Any other line (escapes, comments, blank nodes,
unusual IRIs or spaces) goes to pyoxigraph, which decides what is well-formed. Both give the same strings: a bare IRI,
`_:name` for a blank node, a literal in N-Triples form such as `"Denton"@en`.
(N-Triples: W3C Recommendation of 25 February 2014; IRIs: RFC 3987.)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal, cast

from kg_index.building.blocks import BrokenFileError, Stream, packing_of, unpacked, whole_lines

if TYPE_CHECKING:
    import pyoxigraph

Triple = tuple[str, str, str]
Block = tuple[int, bytes | int]
LONGEST_LINE = 64 << 20  # bytes; a longer line is rejected, to bound the memory
BATCH = 10_000  # triples of a batch, about

Format = Literal["N_TRIPLES", "N_QUADS", "TURTLE"]
"""By the names of `pyoxigraph.RdfFormat`."""
_FORMATS: dict[str, Format] = {".nt": "N_TRIPLES", ".nq": "N_QUADS", ".ttl": "TURTLE"}
_IRI = r"https?://[A-Za-z0-9.-]++/[A-Za-z0-9_.~/()*,;=&!$'+:@?-]*+(?:#[A-Za-z0-9_.~/-]*+)?"
_SPECIAL = r"http://www\.w3\.org/(?:2001/XMLSchema#string|1999/02/22-rdf-syntax-ns#(?:lang|dirLang)String)>"
_TEXT = r'"[^"\\\x00-\x1f\x7f\ufff0-\uffff\U00010000-\U0010ffff]*+"'
_LITERAL = rf"{_TEXT}(?:@[a-z]{{2,3}}(?:-[a-z]{{2}})?|\^\^<(?!{_SPECIAL}){_IRI}>)?"
_USUAL = re.compile(rf"^<({_IRI})> <({_IRI})> (?:<({_IRI})>|({_LITERAL}))(?: <{_IRI}>)? \.$", re.MULTILINE)
_USUAL_TRIPLE = re.compile(rf"^<({_IRI})> <({_IRI})> (?:<({_IRI})>|({_LITERAL})) \.$", re.MULTILINE)
_PLACE = re.compile(r"^Parser error (?:at|between) .*?(?:column|columns) [\d and]*(?:line \d+ column \d+)?: ")
_NESTED = "a triple instead of a term"
_ANONYMOUS = re.compile(r"[0-9a-f]{24,32}")  # 128 random bits, without leading zeros


@dataclass(frozen=True, slots=True)
class Reject:
    """A malformed line and the reason; `line` counts from 1."""

    path: Path
    line: int
    reason: str
    text: str = ""

    @property
    def message(self) -> str:
        text = f" in {self.text!r}" if self.text else ""
        return f"{self.path}, line {self.line}: Expected a triple, but got {self.reason}{text}; correct the line."


@dataclass(slots=True)
class Counts:
    """Numbers of a file; `dropped` counts literals in other languages than the requested ones."""

    triples: int = 0
    rejected: int = 0
    dropped: int = 0


class MalformedTripleError(ValueError):  # named for what it tells
    """The first malformed line, in strict mode."""

    def __init__(self, reject: Reject) -> None:
        super().__init__(reject.message)
        self.reject = reject


def ignore(reject: Reject) -> None:
    """Reports nothing."""


def format_of(path: Path) -> Format:
    """The format by the file's extension, in capitals or small letters. Raises ValueError for any other extension."""
    suffix = (path.with_suffix("") if packing_of(path) else path).suffix.lower()
    if suffix not in _FORMATS:
        raise ValueError(
            f"Expected a file named .nt, .nq or .ttl, with or without .gz or .bz2, but got {path}; rename or convert."
        )
    return _FORMATS[suffix]


def read_triples(
    path: Path,
    *,
    languages: Collection[str] | None = None,
    strict: bool = False,
    report: Callable[[Reject], None] = ignore,
    counts: Counts | None = None,
    scope: str = "",
    blocks: Iterable[Block] | None = None,
) -> Iterator[list[Triple]]:
    """Batches of (subject, predicate, object) without graph names; repeated triples are kept.

    Args:
        languages: tags of the literals to keep, such as `{"en"}`, which includes en-gb; untagged literals are kept.
        strict: raise at the first malformed line instead of skipping it.
        report: called with every skipped line.
        counts: updated while the batches are read.
        scope: prefix for the names of blank nodes, which are local to a file.
        blocks: blocks of `line_blocks`, if another process reads the file; not for Turtle.

    Raises ValueError for an unknown kind of file, FileNotFoundError, and MalformedTripleError if `strict`. Memory holds
    a block of lines (for Turtle also the names of its anonymous nodes) and a line of up to 64 MB.
    """
    counts = Counts() if counts is None else counts
    reader = _Reader(path, blocks, strict=strict, report=report, counts=counts, scope=scope)
    tags = None if languages is None else frozenset(language.lower() for language in languages)
    for batch in reader.batches():
        triples = batch if tags is None else [triple for triple in batch if _has_language(triple[2], tags)]
        counts.dropped += len(batch) - len(triples)
        counts.triples += len(triples)
        if triples:
            yield triples


def is_line_based(path: Path) -> bool:
    """Whether each line is a triple, so that blocks of lines can be parsed independently."""
    return format_of(path) != "TURTLE"


def line_blocks(path: Path) -> Iterator[Block]:
    """Blocks of whole lines with the number of lines before each; the length in place of a line that is too long."""
    line = 0
    try:
        for block in whole_lines(unpacked(path), longest=LONGEST_LINE):
            if isinstance(block, int):
                yield line, block
                line += 1
            else:  # without a byte order mark
                yield line, block if line else block.removeprefix(b"\xef\xbb\xbf")
                line += block.count(b"\n")
    except BrokenFileError as error:
        raise BrokenFileError(str(error), line) from error


def language_of(term: str) -> str:
    """The language tag of a literal; empty for any other term."""
    return term[term.rfind('"') + 2 :] if term[:1] == '"' and term[-1] not in '">' else ""


class _Reader:
    def __init__(
        self,
        path: Path,
        blocks: Iterable[Block] | None,
        *,
        strict: bool,
        report: Callable[[Reject], None],
        counts: Counts,
        scope: str,
    ) -> None:
        self._path, self._kind, self._blocks = path, format_of(path), blocks
        self._strict, self._report, self._counts, self._scope = strict, report, counts, scope
        self._usual = _USUAL if self._kind == "N_QUADS" else _USUAL_TRIPLE
        self._anonymous: dict[str, str] = {}
        self._line = 0  # lines read so far

    def batches(self) -> Iterator[list[Triple]]:
        try:
            yield from self._lined() if is_line_based(self._path) else self._whole()
        except BrokenFileError as error:
            self._reject((error.line or self._line) + 1, error.reason)

    def _lined(self) -> Iterator[list[Triple]]:
        for line, block in self._blocks or line_blocks(self._path):
            self._line = line
            if isinstance(block, int):
                self._reject(self._line + 1, f"{block} bytes in one line, more than {LONGEST_LINE}")
            else:
                yield self._block(block)

    def _block(self, block: bytes) -> list[Triple]:
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n")
        with suppress(UnicodeDecodeError):
            matches = self._usual.findall(block.decode())
            if len(matches) == block.count(b"\n") + (not block.endswith(b"\n")):
                return [(s, p, iri or literal) for s, p, iri, literal in matches]
        triples: list[Triple] = []
        for line, content in enumerate(block.split(b"\n"), start=self._line + 1):
            triples += self._one(content, line)
        return triples

    def _one(self, content: bytes, line: int) -> list[Triple]:
        try:
            text = content.decode()
        except UnicodeDecodeError as error:
            self._reject(line, f"bytes that are not UTF-8 ({error.reason} at byte {error.start})", content)
            return []
        if matches := self._usual.findall(text):
            ((s, p, iri, literal),) = matches
            return [(s, p, iri or literal)]
        if not text or text.isspace():
            return []
        return self._unusual(content, line)

    def _unusual(self, content: bytes, line: int) -> list[Triple]:
        """Parse a line with pyoxigraph; an error in a part rejects the whole line."""
        try:
            return [self._triple(quad) for quad in _quads(content, self._kind)]
        except SyntaxError as error:
            self._reject(line, _reason(error), content)
        except _Nested:
            self._reject(line, _NESTED, content)
        return []

    def _whole(self) -> Iterator[list[Triple]]:
        triples = self._parsed(Stream(unpacked(self._path)))
        while batch := list(islice(triples, BATCH)):
            yield batch

    def _parsed(self, stream: Stream) -> Iterator[Triple]:
        """Parse Turtle with pyoxigraph, which continues after a statement with an error."""
        parser = _quads(cast("BinaryIO", stream), self._kind)  # a file object that only reads
        while True:
            try:
                yield self._triple(next(parser))
            except StopIteration:
                return
            except SyntaxError as error:
                self._line = error.lineno or self._line
                self._reject(self._line, _reason(error))
            except _Nested:
                self._reject(self._line, _NESTED)

    def _triple(self, quad: pyoxigraph.Quad) -> Triple:
        return self._name(quad.subject), self._name(quad.predicate), self._name(quad.object)

    def _name(self, term: object) -> str:
        import pyoxigraph  # loaded by `_quads`

        if isinstance(term, pyoxigraph.NamedNode):
            return term.value
        if isinstance(term, pyoxigraph.BlankNode):
            return f"_:{self._scope}{self._stable(term.value)}"
        if isinstance(term, pyoxigraph.Literal):
            return str(term)
        raise _Nested

    def _stable(self, name: str) -> str:
        """Numbered names for the anonymous nodes of Turtle, which the parser names at random."""
        if self._kind != "TURTLE" or not _ANONYMOUS.fullmatch(name):
            return name
        return self._anonymous.setdefault(name, f"nameless{len(self._anonymous)}")

    def _reject(self, line: int, reason: str, content: bytes = b"") -> None:
        self._counts.rejected += 1
        reject = Reject(self._path, line, reason, content[:80].decode(errors="replace"))
        if self._strict:
            raise MalformedTripleError(reject)
        self._report(reject)


class _Nested(Exception):  # noqa: N818  # never leaves this file
    """RDF 1.2 allows a triple as an object; this is not supported."""


def _quads(source: bytes | BinaryIO, kind: Format) -> pyoxigraph.QuadParser:
    import pyoxigraph  # late: 8 MB, and questions to a graph parse nothing

    return pyoxigraph.parse(source, format=getattr(pyoxigraph.RdfFormat, kind))


def _has_language(term: str, tags: frozenset[str]) -> bool:
    tag = language_of(term)
    return not tag or tag in tags or tag.partition("-")[0] in tags


def _reason(error: SyntaxError) -> str:
    return _PLACE.sub("", error.msg or str(error)).rstrip(".").lower() or "no triple"
