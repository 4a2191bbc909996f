"""Files to a triple index, read by several processes: naming the terms takes the time, more than one core has.

One process unpacks the files and hands blocks of lines around; each worker splits them into triples and writes runs,
which `kg_index/building/build.py` merges. The index does not depend on who read what.
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
REPORTED = 10_000  # malformed lines; all of them are counted
END = b"\n"  # behind the last piece
SMALL = 8 << 20  # bytes of files that one process reads as fast as several can be started


@dataclass(frozen=True, slots=True)
class Loaded:
    """The index's figures, and what was read from each file."""

    stats: Stats
    counts: tuple[Counts, ...]


def load(
    paths: Sequence[Path],
    folder: Path,
    *,
    languages: Collection[str] | None = None,
    strict: bool = False,
    report: Callable[[Reject], None] = ignore,
    memory: int = MEMORY,
    workers: int | None = None,
    progress: Progress = ignore_progress,
) -> Loaded:
    """Write the index of all triples of the files into `folder`; see `read_triples` and `build` for the rest.

    Args:
        report: told of malformed lines, in their order, when all has been read: of at most `REPORTED` by each process.
        workers: processes that read; by default one for small files, else one a core, at most 4.

    Blank nodes of different files stay different. Raises MalformedTripleError if `strict` and a line is malformed,
    RuntimeError if a worker dies; what was there before stays then.
    """
    for path in paths:
        is_line_based(path)  # else an unknown kind would be told only when its turn comes
    count = workers or _workers(paths)
    with index_folder(folder) as (new, work):
        reading = _Reading(paths, work, languages=languages, strict=strict, memory=memory)
        shares = reading.apart(count, progress) if count > 1 else [reading.alone(progress)]
        rejects = sorted((reject for share in shares for reject in share.rejects), key=lambda r: (r[0], r[1]))
        if strict and rejects:
            raise MalformedTripleError(Reject(paths[rejects[0][0]], *rejects[0][1:]))
        for place, line, reason, text in rejects:
            report(Reject(paths[place], line, reason, text))
        runs = [run for share in shares for run in share.runs]
        index_runs(runs, new, work, rows=sum(share.rows for share in shares), memory=memory, progress=progress)
    return Loaded(
        TripleIndex(folder).stats(), tuple(_sum(share.counts[i] for share in shares) for i in range(len(paths)))
    )


@dataclass(slots=True)
class _Share:
    """What one process read."""

    runs: list[Run] = field(default_factory=list)
    rows: int = 0
    counts: list[Counts] = field(default_factory=list)  # by file
    rejects: list[tuple[int, int, str, str]] = field(default_factory=list)  # file, line, reason, text
    place: int = 0  # file that is read now

    def note(self, reject: Reject) -> None:
        if len(self.rejects) < REPORTED:
            self.rejects.append((self.place, reject.line, reject.reason, reject.text))


class _Reading:
    def __init__(
        self, paths: Sequence[Path], work: Path, *, languages: Collection[str] | None, strict: bool, memory: int
    ) -> None:
        self.paths, self.work, self.strict, self.memory = paths, work, strict, memory
        self.languages = None if languages is None else sorted(languages)

    def alone(self, progress: Progress) -> _Share:
        whole = (_Piece(place, None) for place in range(len(self.paths)))
        return self.share(whole, name="run", memory=self.memory, progress=progress)

    def share(self, pieces: Iterable[_Piece], *, name: str, memory: int, progress: Progress) -> _Share:
        """Read pieces, those of a file one behind the other."""
        share = _Share(counts=[Counts() for _ in self.paths])
        writer = RunWriter(self.work, memory=memory, name=name)
        for place, of_file in groupby(pieces, key=attrgetter("file")):
            share.place = place
            try:
                for batch in self._batches(place, of_file, share):
                    writer.add(batch)
                    progress("read", writer.rows, None)
            except MalformedTripleError as error:
                share.note(error.reject)
                break
        writer.flush()
        share.runs, share.rows = writer.runs, writer.rows
        return share

    def apart(self, count: int, progress: Progress) -> list[_Share]:
        """Read by so many workers; each takes the next block when it is done with the one before."""
        handed: queue.Queue[_Piece | None] = queue.Queue(2 * count)
        workers = [_Worker(self, f"run{number}-", self.memory // count, handed) for number in range(count)]
        try:
            lines = 0
            for piece in _pieces(self.paths):
                handed.put(piece)
                lines += piece.content.count(b"\n") if isinstance(piece.content, bytes) else 0
                progress("read", lines, None)
                if any(worker.failed for worker in workers):
                    break
            for _ in workers:
                handed.put(None)
            return [worker.share() for worker in workers]
        finally:
            for worker in workers:
                worker.end()
            for _ in workers:  # where something was raised, their threads wait still
                handed.put(None)

    def told(self) -> dict[str, object]:
        """For a worker."""
        options = {"languages": self.languages, "strict": self.strict, "memory": self.memory}
        return {"paths": [str(path) for path in self.paths], "work": str(self.work), **options}

    def _batches(self, place: int, pieces: Iterator[_Piece], share: _Share) -> Iterator[list[tuple[str, str, str]]]:
        first = next(pieces)
        return read_triples(
            self.paths[place],
            languages=self.languages,
            strict=self.strict,
            report=share.note,
            counts=share.counts[place],
            scope=f"{place}-" if len(self.paths) > 1 else "",
            blocks=None if first.content is None else _blocks(chain([first], pieces)),
        )


@dataclass(frozen=True, slots=True)
class _Piece:
    """A block of a file, the length of a line that is too long, what broke the file, or None for the whole file."""

    file: int
    content: bytes | int | str | None
    line: int = 0

    def write(self, pipe: IO[bytes]) -> None:
        block = self.content if isinstance(self.content, bytes) else None
        told = len(block) if block is not None else self.content
        header = {"file": self.file, "line": self.line, "block": block is not None, "content": told}
        pipe.write(json.dumps(header).encode() + b"\n")
        pipe.write(block or b"")

    @classmethod
    def read_all(cls, pipe: IO[bytes]) -> Iterator[_Piece]:
        """Until `END` comes; where it does not, who would merge what is read is dead, and this process ends too."""
        while (header := pipe.readline()) != END:
            if not header:
                raise SystemExit(1)
            told = json.loads(header)
            content = pipe.read(told["content"]) if told["block"] else told["content"]
            yield cls(told["file"], content, told["line"])


class _Worker:
    """A process with a thread that feeds it; it is fed until None comes."""

    def __init__(self, reading: _Reading, name: str, memory: int, handed: queue.Queue[_Piece | None]) -> None:
        told = json.dumps(reading.told() | {"name": name, "memory": memory})
        command = [sys.executable, "-c", _PROGRAM, json.dumps(sys.path), told]
        self._process = subprocess.Popen(  # noqa: S603  # this module itself
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self.failed, self._handed = False, handed
        self._feeder = threading.Thread(target=self._feed, daemon=True)
        self._feeder.start()

    def share(self) -> _Share:
        """What it read; raises RuntimeError where it died."""
        self._feeder.join()
        assert self._process.stdout is not None
        told = self._process.stdout.read()
        if status := self._process.wait():
            raise RuntimeError(
                f"Expected a reading process to end well, but got exit status {status}; read with less memory or with "
                "workers=1."
            )
        found = json.loads(told)
        share = _Share([Run(Path(stem)) for stem in found["runs"]], found["rows"])
        share.counts = [Counts(**counts) for counts in found["counts"]]
        share.rejects = [(file, line, reason, text) for file, line, reason, text in found["rejects"]]
        return share

    def end(self) -> None:
        """Nothing is left running, whatever happened."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()

    def _feed(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        while (piece := self._handed.get()) is not None:
            with suppress(OSError, ValueError):  # a worker that stopped takes no more: others do, or all is over
                if not self.failed:
                    piece.write(pipe)
                    continue
            self.failed = True
        with suppress(OSError, ValueError):
            pipe.write(END)
            pipe.close()


def _pieces(paths: Sequence[Path]) -> Iterator[_Piece]:
    for place, path in enumerate(paths):
        if not is_line_based(path):
            yield _Piece(place, None)
            continue
        try:
            for line, block in line_blocks(path):
                yield _Piece(place, block, line)
        except BrokenFileError as error:
            yield _Piece(place, error.reason, error.line or 0)


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


def work(told: str) -> None:
    """A worker's whole life: pieces from standard input, what it read to standard output."""
    gc.disable()  # strings in tuples make no cycles, and looking for some takes a seventh of the time
    options = json.loads(told)
    paths, work, memory = [Path(path) for path in options["paths"]], Path(options["work"]), options["memory"]
    reading = _Reading(paths, work, languages=options["languages"], strict=options["strict"], memory=memory)
    pieces = _Piece.read_all(sys.stdin.buffer)
    share = reading.share(pieces, name=options["name"], memory=memory, progress=ignore_progress)
    found = {"runs": [str(run.stem) for run in share.runs], "rows": share.rows, "rejects": share.rejects}
    sys.stdout.write(json.dumps(found | {"counts": [asdict(counts) for counts in share.counts]}))
