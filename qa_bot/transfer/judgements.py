"""Votes as data: TREC qrels with their questions, or JSON lines with the question, answer and sources of each vote.

Neither names a conversation or a turn, so the questions of one person cannot be linked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Feedback, Store, Turn, with_present_ids
from qa_core.atomic import atomic_file, check_writable
from qa_core.measures.runs import escape_id
from qa_core.text.safe_text import escaped_json

UP, NEITHER, DOWN = 2, 1, 0
"""Grades of a document by the votes on answers that used it, for `train fusion`; a tie is `NEITHER`."""
QRELS = ".qrels.tsv"
"""End of a file name in a folder of judged questions."""

Progress = Callable[[int], object]


@dataclass(slots=True)
class VoteCounts:
    """Counts of an export; `ties` are judgements with as many votes for as against, `unused` are votes on answers
    without documents: abstentions, facts and talk."""

    votes: int = 0
    questions: int = 0
    judgements: int = 0
    ties: int = 0
    unused: int = 0

    def as_dict(self) -> dict[str, int]:
        """The object of `export --feedback … --json`."""
        return asdict(self)


@dataclass(slots=True)
class _Votes:
    """The votes on one question as understood: document → conversation → grade."""

    question: str
    by_document: dict[str, dict[str, int]] = field(default_factory=dict)

    def grades(self) -> Iterator[tuple[str, int]]:
        """The grade of most conversations, `NEITHER` for a tie."""
        for document, voters in self.by_document.items():
            counts = Counter(voters.values())
            up, down = counts[UP], counts[DOWN]
            yield document, NEITHER if up == down else UP if up > down else DOWN


def write_qrels(store: Store, path: Path, *, force: bool = False, progress: Progress = lambda _: None) -> VoteCounts:
    """Write `qid 0 document grade` and a file of questions: one judgement for each question and document.

    The last vote of a conversation counts; a turn without a conversation counts alone.

    Raises:
        FileExistsError: one of the two files exists, and `force` is not set.
    """
    beside = queries_path(path)
    for file in (path, beside):
        check_writable(file, overwrite=force)
    counts, votes = _collect(store, progress)
    with ExitStack() as stack:
        queries = stack.enter_context(atomic_file(beside, overwrite=force, private=True))
        qrels = stack.enter_context(atomic_file(path, overwrite=force, private=True))
        for qid, entry in votes.items():
            queries.write(orjson.dumps({"_id": qid, "text": entry.question}) + b"\n")
            for document, grade in entry.grades():
                qrels.write(f"{qid} 0 {document} {grade}\n".encode())
                counts.judgements += 1
                counts.ties += grade == NEITHER
    counts.questions = len(votes)
    return counts


def queries_path(path: Path) -> Path:
    """`dev.queries.jsonl` for `dev.qrels.tsv`, else the name followed by `.queries.jsonl`."""
    return path.with_name(f"{path.name.removesuffix(QRELS)}.queries.jsonl")


def write_lines(store: Store, file: IO[bytes], *, progress: Progress = lambda _: None) -> VoteCounts:
    """Write a line for each turn with a vote: question, answer, used sources, last vote."""
    counts, present = VoteCounts(), store.sources.present_ids()
    for turn, feedback in store.stream_turns(voted=True):
        fields = vote_fields(with_present_ids(turn, present), feedback[-1])
        file.write(escaped_json(orjson.dumps(fields)) + b"\n")
        counts.votes += 1
        progress(counts.votes)
    return counts


def vote_fields(turn: Turn, vote: Feedback) -> dict[str, Any]:
    """One line of the JSONL, with `trace` if the turn has one."""
    answer = turn.answer
    fields = {
        "question": turn.question,
        "understood": turn.rewritten,
        "kind": answer.get("kind", ""),
        "answered": answer.get("answered", False),
        "answer": answer.get("answer", ""),
        "confidence": answer.get("confidence"),
        "sources": list(_used(answer)),
        "vote": vote.vote,
        "comment": vote.comment,
        "asked": turn.asked,
        "voted": vote.created,
    }
    return fields if answer.get("trace") is None else {**fields, "trace": answer["trace"]}


def _collect(store: Store, progress: Progress) -> tuple[VoteCounts, dict[str, _Votes]]:
    counts, votes = VoteCounts(), dict[str, _Votes]()
    present = store.sources.present_ids()
    for turn, feedback in store.stream_turns(voted=True):
        counts.votes += 1
        progress(counts.votes)
        documents = {escape_id(source["document"]) for source in _used(with_present_ids(turn, present).answer)}
        question = " ".join((turn.rewritten or turn.question).split())
        if turn.answer.get("kind") in ("fact", "talk") or not documents or not question:
            counts.unused += 1
            continue
        entry = votes.setdefault(question_key(question), _Votes(question))
        voter = turn.conversation or f"\0{turn.id}"
        for document in sorted(documents):
            entry.by_document.setdefault(document, {})[voter] = UP if feedback[-1].vote == "up" else DOWN
    return counts, votes


def _used(answer: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The sources that the answer uses."""
    return (source for source in answer.get("sources", ()) if source.get("span") is not None)
