"""Builds a triple index from files with several processes, since parsing and numbering terms take most of the time.

One process unpacks the files and distributes blocks of lines. Each worker parses them and writes runs, which
`kg_index/building/build.py` merges. The index does not depend on how the blocks are distributed.
"""

from __future__ import annotations

import gc
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from itertools import chain, groupby
from operator import attrgetter
from pathlib import Path
from typing import IO

from kg_index.building.blocks import BrokenFileError
from kg_index.building.build import MEMORY, Progress, ignore_progress, index_folder, index_runs
from kg_index.building.rdf_parsing import (
    Block,
    Counts,
    MalformedTripleError,
    Reject,
    ignore,
    is_line_based,
    line_blocks,
    read_triples,
)
from kg_index.building.term_ids import Run, RunWriter
from kg_index.triples.triple_index import Stats, TripleIndex

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from kg_index.building.loading import work
work(sys.argv[2])
"""
REPORTED = 10_000  # malformed lines that each process reports; all of them are counted
END = b"\n"  # follows the last piece
SMALL = 8 << 20  # bytes of files that one process reads before several could start


@dataclass(frozen=True, slots=True)
class Loaded:
    """Figures of the index, and counts by file."""

    stats: Stats
    counts: tuple[Counts, ...]


def load(
    paths: Sequence[Path],
    folder: Path,
    *,
    languages: Collection[str] | None = None,
    strict: bool = False,
    scopes: Sequence[str] | None = None,
    report: Callable[[Reject], None] = ignore,
    memory: int = MEMORY,
    workers: int | None = None,
    progress: Progress = ignore_progress,
) -> Loaded:
    """Write the index of all triples of the files into `folder`.

    For the other arguments see `read_triples` and `build`.

    Args:
        scopes: prefixes for the blank nodes of each file; by default those of different files stay distinct.
        report: called with malformed lines, in order, after all files are read; at most `REPORTED` per process.
        workers: processes; by default one for small files, else one per core, at most 4.

    Raises MalformedTripleError if `strict` and a line is malformed, RuntimeError if a worker dies. After any error the
    old index remains.
    """
    for path in paths:
        is_line_based(path)  # refuses an unknown format before anything is read
    count = workers or _workers(paths)
    with index_folder(folder) as (new, work):
        reader = _Reader(paths, work, languages=languages, strict=strict, memory=memory, scopes=scopes)
        parts = reader.read_in_workers(count, progress) if count > 1 else [reader.read_here(progress)]
        rejects = sorted((reject for part in parts for reject in part.rejects), key=lambda r: (r[0], r[1]))
        if strict and rejects:
            raise MalformedTripleError(Reject(paths[rejects[0][0]], *rejects[0][1:]))
        for file, line, reason, text in rejects:
            report(Reject(paths[file], line, reason, text))
        runs = [run for part in parts for run in part.runs]
        index_runs(runs, new, work, rows=sum(part.rows for part in parts), memory=memory, progress=progress)
    counts = tuple(_sum(part.counts[i] for part in parts) for i in range(len(paths)))
    return Loaded(TripleIndex(folder).stats(), counts)


@dataclass(slots=True)
class _Part:
    """The runs and counts of one process."""

    runs: list[Run] = field(default_factory=list)
    rows: int = 0
    counts: list[Counts] = field(default_factory=list)  # by file
    rejects: list[tuple[int, int, str, str]] = field(default_factory=list)  # file, line, reason, text
    file: int = 0  # index of the current file

    def note(self, reject: Reject) -> None:
        if len(self.rejects) < REPORTED:
            self.rejects.append((self.file, reject.line, reject.reason, reject.text))


class _Reader:
    """Reads the files, alone or with workers."""

    def __init__(
        self,
        paths: Sequence[Path],
        work: Path,
        *,
        languages: Collection[str] | None,
        strict: bool,
        memory: int,
        scopes: Sequence[str] | None,
    ) -> None:
        self.paths, self.work, self.strict, self.memory = paths, work, strict, memory
        self.scopes = [f"{file}-" for file in range(len(paths))] if scopes is None else list(scopes)
        self.languages = None if languages is None else sorted(languages)

    def read_here(self, progress: Progress) -> _Part:
        """Read all files in this process."""
        whole = (_Piece(file, None) for file in range(len(self.paths)))
        return self.read(whole, name="run", memory=self.memory, progress=progress)

    def read(self, pieces: Iterable[_Piece], *, name: str, memory: int, progress: Progress) -> _Part:
        """Read pieces; those of a file are consecutive."""
        part = _Part(counts=[Counts() for _ in self.paths])
        writer = RunWriter(self.work, memory=memory, name=name)
        for file, pieces_of_file in groupby(pieces, key=attrgetter("file")):
            part.file = file
            try:
                for batch in self._batches(file, pieces_of_file, part):
                    writer.add(batch)
                    progress("read", writer.rows, None)
            except MalformedTripleError as error:
                part.note(error.reject)
                break
        writer.flush()
        part.runs, part.rows = writer.runs, writer.rows
        return part

    def read_in_workers(self, count: int, progress: Progress) -> list[_Part]:
        """Read in `count` processes, each of which takes the next block when it is ready."""
        waiting: queue.Queue[_Piece | None] = queue.Queue(2 * count)
        workers = [_Worker(self, f"run{number}-", self.memory // count, waiting) for number in range(count)]
        try:
            lines = 0
            for piece in _pieces(self.paths):
                waiting.put(piece)
                lines += piece.content.count(b"\n") if isinstance(piece.content, bytes) else 0
                progress("read", lines, None)
                if any(worker.failed for worker in workers):
                    break
            for _ in workers:
                waiting.put(None)
            return [worker.result() for worker in workers]
        finally:
            for worker in workers:
                worker.end()
            for _ in workers:  # after an error their threads still wait
                waiting.put(None)

    def options(self) -> dict[str, object]:
        """The arguments of a worker, for JSON."""
        options = {"languages": self.languages, "strict": self.strict, "memory": self.memory, "scopes": self.scopes}
        return {"paths": [str(path) for path in self.paths], "work": str(self.work), **options}

    def _batches(self, file: int, pieces: Iterator[_Piece], part: _Part) -> Iterator[list[tuple[str, str, str]]]:
        first = next(pieces)
        return read_triples(
            self.paths[file],
            languages=self.languages,
            strict=self.strict,
            report=part.note,
            counts=part.counts[file],
            scope=self.scopes[file],
            blocks=None if first.content is None else _blocks(chain([first], pieces)),
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block of a file, the length of a line that is too long, the damage of the file, or None for all of it."""

    file: int
    content: bytes | int | str | None
    line: int = 0

    def write(self, pipe: IO[bytes]) -> None:
        block = self.content if isinstance(self.content, bytes) else None
        content = len(block) if block is not None else self.content
        header = {"file": self.file, "line": self.line, "block": block is not None, "content": content}
        pipe.write(json.dumps(header).encode() + b"\n")
        pipe.write(block or b"")

    @classmethod
    def read_all(cls, pipe: IO[bytes]) -> Iterator[_Piece]:
        """Read pieces up to `END`. Without it the parent process has died, and this one exits."""
        while (header := pipe.readline()) != END:
            if not header:
                raise SystemExit(1)
            fields = json.loads(header)
            content = pipe.read(fields["content"]) if fields["block"] else fields["content"]
            yield cls(fields["file"], content, fields["line"])


class _Worker:
    """A process and the thread that feeds it pieces until None."""

    def __init__(self, reader: _Reader, name: str, memory: int, waiting: queue.Queue[_Piece | None]) -> None:
        options = json.dumps(reader.options() | {"name": name, "memory": memory})
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), options]
        self._process = subprocess.Popen(  # noqa: S603  # this module itself
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.failed, self._waiting = False, waiting
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def result(self) -> _Part:
        """Wait for the process. Raises RuntimeError if it died."""
        self._feeder.join()
        assert self._process.stdout is not None
        output = self._process.stdout.read()
        if status := self._process.wait():
            raise RuntimeError(
                f"Expected a worker process to succeed, but got exit status {status}; read with less memory or with "
                "workers=1."
            )
        fields = json.loads(output)
        part = _Part([Run(Path(stem)) for stem in fields["runs"]], fields["rows"])
        part.counts = [Counts(**counts) for counts in fields["counts"]]
        part.rejects = [(file, line, reason, text) for file, line, reason, text in fields["rejects"]]
        return part

    def end(self) -> None:
        """Kill the process if it still runs, and close its pipes."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()

    def _feed(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        while (piece := self._waiting.get()) is not None:
            with suppress(OSError, ValueError):  # the worker has stopped: others take the pieces, or all have failed
                if not self.failed:
                    piece.write(pipe)
                    continue
            self.failed = True
        with suppress(OSError, ValueError):
            pipe.write(END)
            pipe.close()


def _pieces(paths: Sequence[Path]) -> Iterator[_Piece]:
    for file, path in enumerate(paths):
        if not is_line_based(path):
            yield _Piece(file, None)
            continue
        try:
            for line, block in line_blocks(path):
                yield _Piece(file, block, line)
        except BrokenFileError as error:
            yield _Piece(file, error.reason, error.line or 0)


def _blocks(pieces: Iterable[_Piece]) -> Iterator[Block]:
    for piece in pieces:
        assert piece.content is not None
        if isinstance(piece.content, str):
            raise BrokenFileError(piece.content, piece.line)
        yield piece.line, piece.content


def _sum(counts: Iterable[Counts]) -> Counts:
    rows = [(one.triples, one.rejected, one.dropped) for one in counts]
    return Counts(*map(sum, zip(*rows, strict=True)))


def _workers(paths: Sequence[Path]) -> int:
    if sum(path.stat().st_size for path in paths) < SMALL:
        return 1
    return min(len(os.sched_getaffinity(0)), 4)


def work(arguments: str) -> None:
    """The main function of a worker: reads pieces from standard input, writes the result to standard output."""
    gc.disable()  # tuples of strings make no cycles, and the collector would take a seventh of the time
    options = json.loads(arguments)
    paths, work, memory = [Path(path) for path in options["paths"]], Path(options["work"]), options["memory"]
    settings = {name: options[name] for name in ("languages", "strict", "scopes")}
    reader = _Reader(paths, work, memory=memory, **settings)
    pieces = _Piece.read_all(sys.stdin.buffer)
    part = reader.read(pieces, name=options["name"], memory=memory, progress=ignore_progress)
    result = {"runs": [str(run.stem) for run in part.runs], "rows": part.rows, "rejects": part.rejects}
    sys.stdout.write(json.dumps(result | {"counts": [asdict(counts) for counts in part.counts]}))
