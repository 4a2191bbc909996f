"""`qa-bot import`: merges an archive into a home; its content stays unless the archive has another text for a document.

Everything is imported at once or not at all; importing again changes nothing.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from kg_index.building.rdf_parsing import read_triples
from qa_bot.answering.answer_schema import AnswerReply
from qa_bot.documents import graph
from qa_bot.documents import sync as changes
from qa_bot.documents.ingest.files.source_file import SourceFile
from qa_bot.documents.ingest.records import ExportedFields, Limits, Record, Reject
from qa_bot.documents.record_sync import CUTTING, SourceItem
from qa_bot.documents.reject_log import AddReport, RejectLog, reject_log
from qa_bot.documents.sources.places import UPLOAD
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations.commit import Switch
from qa_bot.home.journal import open_store
from qa_bot.home.store import ConversationInfo, Feedback, JoinedCounts, PresentId, Store, Turn, with_present_ids
from qa_bot.home.store.retention import Joining
from qa_bot.transfer.archive import Archive, Part, opened
from qa_bot.transfer.archive_lines import all_lines, first_error, lines_of, valid_lines
from qa_bot.transfer.archived_settings import adopt_settings, archived_settings
from qa_bot.transfer.document_lines import DocumentLine
from qa_bot.transfer.joined_sources import JoinedSources
from qa_bot.transfer.source_lines import AliasLine, FileLine, SourceLine
from qa_core.types import Encoder

BATCH = 200
"""Conversations or turns that are stored at once."""
DEEPEST = 64
"""Limit of an answer object's nesting; ours have six levels."""

Progress = Callable[[int, str], object]

_Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[^\x00]+$")]
_Time = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _ConversationLine(BaseModel):
    id: _Id
    title: str
    persona: str
    created: _Time
    updated: _Time


class _FeedbackLine(BaseModel):
    vote: Literal["up", "down"]
    comment: str
    created: _Time


class _TurnLine(BaseModel):
    id: _Id
    conversation: _Id | None
    asked: _Time
    created: _Time
    question: str
    rewritten: str
    answer: dict[str, Any]
    timings: dict[str, Annotated[float, Field(allow_inf_nan=False)]]
    feedback: list[_FeedbackLine]


class _SettledLine(BaseModel):
    key: Annotated[str, Field(pattern="^[0-9a-f]{1,32}$")]
    settled: _Time


@dataclass(slots=True)
class Imported:
    """Counts of an import; `notices` name the omitted parts, with reasons."""

    documents: AddReport = field(default_factory=AddReport)
    facts: int = 0
    """New ones."""
    sources: int = 0
    """New ones."""
    conversations: int = 0
    """New ones, and below the same of their turns and votes."""
    joined: JoinedCounts = field(default_factory=JoinedCounts)
    notices: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether anything of the archive was valid."""
        known = self.documents.records - self.documents.rejected
        return bool(known or self.facts or self.conversations or self.joined.turns or self.joined.known)

    def as_dict(self) -> dict[str, Any]:
        """The object of `import --json`."""
        return {
            **self.documents.as_dict(),
            "facts": self.facts,
            "new_sources": self.sources,
            "conversations": self.conversations,
            "turns": self.joined.turns,
            "known_turns": self.joined.known,
            "votes": self.joined.votes,
            "left_out": self.notices,
        }


def join(
    home: Home,
    config: Config,
    encoder: Encoder,
    path: Path,
    *,
    limits: Limits | None = None,
    progress: Progress = lambda _done, _doing: None,
) -> Imported:
    """Merge an archive into a home; invalid lines are reported and left out.

    An empty home takes over the archive's configuration; otherwise the home's stays unchanged.

    Raises:
        FileNotFoundError, ArchiveError, LimitError: nothing was changed.
        WriterBusyError: another process writes to the home.
    """

    def counted(counts: AddReport) -> None:
        progress(counts.records, "Importing documents")

    with opened(path, limits=limits) as archive, home.lock("import"), reject_log(home) as log:
        config, taken = adopt_settings(home, config, archive)
        imported = Imported(log.counts, notices=[*taken, *_omitted(home, config, archive)])

        def begin(switches: list[Switch]) -> None:
            imported.facts = _join_facts(home, archive, progress, switches)

        def finish(store: Store) -> None:
            sources.finish(all_lines(archive, "aliases", AliasLine, log))
            with store.joining() as joining:
                imported.conversations, imported.joined = _join_history(
                    joining, archive, sources.present_id, log, progress
                )

        with open_store(home, config) as store:
            sources = _join_sources(store, archive, log)
            collections = (
                (part.collection, _documents(archive, part, config, sources)) for part in archive.parts("documents")
            )
            changes.join(
                home,
                config,
                encoder,
                collections,
                log,
                action=None,
                progress=counted,
                begin=begin,
                finish=finish,
            )
            imported.sources = len(sources.new)
            imported.notices += _source_notices(sources)
    return imported


# --- documents ------------------------------------------------------------------------------------------------------


def _join_sources(store: Store, archive: Archive, log: RejectLog) -> JoinedSources:
    """Find or make the archive's sources here; older archives have none."""
    for _ in all_lines(archive, "files", FileLine, log):
        pass  # only to report the invalid ones once
    sources = JoinedSources(store, lambda: all_lines(archive, "files", FileLine))
    sources.match(all_lines(archive, "sources", SourceLine, log))
    return sources


def _source_notices(sources: JoinedSources) -> Iterator[str]:
    compared = [source for source in sources.new if source.kind != UPLOAD]
    if compared:
        listed = ", ".join(f"{source.name} ({source.place})" for source in compared)
        yield f"New sources, which `qa-bot sync` reads at these places: {listed}; `qa-bot sources move` changes one."


def _documents(archive: Archive, part: Part, config: Config, sources: JoinedSources) -> Iterator[SourceItem]:
    """A collection's documents, with hash and passages if both homes cut texts with the same settings."""
    theirs, ours = archive.manifest.cutting, config.passages
    is_same = (theirs.version, theirs.characters, theirs.overlap) == (CUTTING, ours.characters, ours.overlap)
    with archive.leaf(part) as leaf:
        for line in lines_of(leaf, DocumentLine):
            if isinstance(line, Reject):
                yield line
                continue
            item = _document(*line, leaf, ours.characters if is_same else None)
            yield sources.owner(line[1].source, line[1].file)
            yield item if isinstance(item, Reject) else _with_present_id(item, line[1], part.collection, sources)
        yield from leaf.repairs.notices(leaf.where)


def _document(where: str, line: DocumentLine, leaf: SourceFile, characters: int | None) -> Record | Reject:
    """A record; `characters` limits its passages, None ignores the archive's passages."""
    id_, title, text, body, url, origin = (
        leaf.repairs.clean(field) for field in (line.id, line.title, line.text, line.body, line.url, line.origin)
    )
    if not line.has_valid_passages():
        return Reject(where, "Expected passages in order with units in their text, but got others; export anew.")
    passages = line.exported_passages()
    exported = ExportedFields(origin, passages=passages, path=line.path())
    if characters is not None:
        if not _are_spans(line.spans, len(text), characters):
            return Reject(where, "Expected spans in order and within the text, but got others; export anew.")
        exported = replace(exported, hash=line.hash, spans=tuple(line.spans))
    return Record(id_, title, text, body, url, where, exported, **line.details.model_dump(exclude={"path"}))


def _with_present_id(record: Record, line: DocumentLine, collection: str, sources: JoinedSources) -> Record:
    """The record with the id and path that it has here."""
    assert record.exported is not None
    id_, path = sources.id_and_path(line.source, line.file, record.id, record.exported.path, collection)
    return replace(record, id=id_, exported=replace(record.exported, path=path))


def _are_spans(spans: Sequence[tuple[int, int]], length: int, characters: int) -> bool:
    inside = all(0 <= start < end <= length and end - start <= characters for start, end in spans)
    starts = [start for start, _ in spans]
    return inside and starts == sorted(set(starts))


# --- facts ----------------------------------------------------------------------------------------------------------


def _join_facts(home: Home, archive: Archive, progress: Progress, switches: list[Switch]) -> int:
    """Add new facts and tables of names to a new generation of the graph; return the number of new facts."""
    facts = next(iter(archive.parts("facts")), None)
    if facts is None or not facts.records + len(archive.parts("mentions")):
        return 0
    with tempfile.TemporaryDirectory(prefix="qa-bot-import-") as name:
        file = _copied(archive, facts, Path(name))
        tables = [_copied(archive, part, Path(name)) for part in archive.parts("mentions")]
        before, scope, tables = _missing(home, archive, file, tables)
        if scope is None and not tables:
            return 0
        added = graph.add(
            home,
            [file],
            labels=archive.manifest.labels,
            tables=tables,
            scope=scope or "",
            action=None,
            progress=progress,
            switches=switches,
        )
    return int(added.stats["triples"]) - before


def _missing(home: Home, archive: Archive, file: Path, tables: Sequence[Path]) -> tuple[int, str | None, list[Path]]:
    """Number of the home's facts, the scope for blank nodes (None if all facts are known), and the new tables.

    Blank nodes of this home keep their names; those of another home get names that are unique to the archive.
    """
    scope = f"{archive.parts('facts')[0].sha256[:12]}-"
    with graph.generations(home).pin_current() as generation:
        if generation is None:
            return 0, scope, list(tables)
        present = {_digest(table) for table in graph.tables(generation)}
        known = any(
            graph.holds(generation, (triple for batch in read_triples(file, scope=prefix) for triple in batch))
            for prefix in ("", scope)
        )
        missing = [table for table in tables if _digest(table) not in present]
        return int(generation.manifest["triples"]), None if known else scope, missing


def _copied(archive: Archive, part: Part, folder: Path) -> Path:
    path = folder / part.path.replace("/", "-")
    with archive.leaf(part) as leaf, path.open("wb") as file:
        shutil.copyfileobj(leaf.raw, file)
    return path


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- conversations --------------------------------------------------------------------------------------------------


def _join_history(
    joining: Joining, archive: Archive, present: PresentId, log: RejectLog, progress: Progress
) -> tuple[int, JoinedCounts]:
    """Import conversations and turns; `present` knows the ids that documents have here."""
    for part in archive.parts("settled"):
        joining.settled_gaps((line.key, line.settled) for _, line in valid_lines(archive, part, _SettledLine, log))
    fresh, joined = 0, JoinedCounts()
    for part in archive.parts("conversations"):
        infos = (
            ConversationInfo(line.id, line.title, line.persona, line.created, line.updated, 0)
            for _, line in valid_lines(archive, part, _ConversationLine, log)
        )
        while batch := list(islice(infos, BATCH)):
            fresh += joining.conversations(batch)
    for part in archive.parts("turns"):
        lines = valid_lines(archive, part, _TurnLine, log)
        while rows := list(islice(lines, BATCH)):
            turns = [(with_present_ids(turn, present), votes) for turn, votes in _turns(rows, joining, log)]
            new = joining.turns(turns)
            joined = JoinedCounts(joined.turns + new.turns, joined.known + new.known, joined.votes + new.votes)
            progress(joined.turns + joined.known, "Importing turns")
    return fresh, joined


def _turns(
    lines: Sequence[tuple[str, _TurnLine]], joining: Joining, log: RejectLog
) -> Iterator[tuple[Turn, tuple[Feedback, ...]]]:
    """The turns with a known conversation and a valid answer."""
    known = joining.known({line.conversation for _, line in lines if line.conversation is not None})
    for where, line in lines:
        if line.conversation is not None and line.conversation not in known:
            log.reject(Reject(where, "Expected a turn of a known conversation, but got another; export anew."))
        elif reason := _wrong_answer(line.answer):
            log.reject(Reject(where, f"Expected an answer object, but got {reason}; export anew."))
        else:
            fields = line.model_dump(exclude={"feedback"})
            votes = (Feedback(line.id, vote.vote, vote.comment, vote.created) for vote in line.feedback)
            yield Turn(**fields), tuple(votes)


def _wrong_answer(answer: dict[str, Any]) -> str:
    """The reason why an object is not a valid answer, or an empty text."""
    if _is_deep(answer, DEEPEST):
        return f"one nested deeper than {DEEPEST}"
    try:
        AnswerReply.model_validate(answer)
    except ValidationError as error:
        return first_error(error)
    return ""


def _is_deep(value: object, levels: int) -> bool:
    inner: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return levels == 0 or any(_is_deep(item, levels - 1) for item in inner if isinstance(item, dict | list))


# --- omitted parts ---------------------------------------------------------------------------------------------------


def _omitted(home: Home, config: Config, archive: Archive) -> Iterator[str]:
    """Notices about settings that differ and about models that the archive does not hold."""
    differing = [name for name, value in archived_settings(archive) if _configured(config, name) != value]
    if differing:
        yield f"The configuration stays as it is; the archive's differs in {', '.join(differing)}."
    for name, folder in (("models", home.models), ("personas", home.personas)):
        missing = [model for model in archive.manifest.trained.get(name, ()) if not (folder / model).is_dir()]
        if missing:
            yield f"Archives hold no {name}; copy {', '.join(missing)} to {folder}."


def _configured(config: Config, name: str) -> object:
    section, _, short = name.partition(".")
    return getattr(getattr(config, section), short)
