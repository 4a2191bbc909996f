"""Export of votes as qrels (the majority of conversations) and as JSONL, without ids of users."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Store
from qa_bot.transfer.judgements import queries_path, write_lines, write_qrels
from qa_core.measures.runs import read_qrels
from qa_lab.evaluate.datasets import read_dataset


def passage_answer(*used: str, beside: tuple[str, ...] = (), **fields: object) -> dict[str, Any]:
    sources = [{"document": document, "collection": "x", "span": [0, 1]} for document in used]
    sources += [{"document": document, "collection": "x", "span": None} for document in beside]
    return {"answered": True, "kind": "passage", "answer": "So.", "confidence": 0.5, "sources": sources, **fields}


def vote(
    store: Store, question: str, answer: dict[str, Any], votes: str, conversation: str | None, **more: Any
) -> None:
    turn = store.save_turn(question=question, answer=answer, conversation=conversation, **more)
    for value in votes.split():
        store.save_feedback(turn, value, f"I said {value}")  # type: ignore[arg-type]


@pytest.fixture
def voted(store: Store) -> Store:
    """Votes in three conversations and outside of any, some on answers without sources."""
    vote(
        store, "Why do cats sleep?", passage_answer("cats", "naps", beside=("dogs",)), "down up", "A"
    )  # the last vote counts
    vote(store, "WHY do cats  sleep", passage_answer("cats"), "up", "B")  # the same question, other spelling
    vote(store, "why do cats sleep?", passage_answer("cats"), "down", "C")
    vote(store, "why do cats sleep?", passage_answer("cats"), "down", "C")  # one vote a conversation
    vote(store, "And dogs?", passage_answer("a b"), "up", "A", rewritten="Why do dogs sleep?")
    vote(store, "Why do dogs sleep?", passage_answer("a b"), "down", None)
    vote(store, "Capital of Peru?", passage_answer("t1", kind="fact"), "up", "A")
    vote(store, "xyz", passage_answer(answered=False, kind="none"), "down", "A")
    store.save_turn(question="nobody voted", answer=passage_answer("cats"))
    return store


def test_qrels_hold_one_judgement_per_question_and_document(voted, tmp_path) -> None:
    """cats: A and B for, C against; naps: A for; "a b": one for, one against."""
    path = tmp_path / "votes.txt"
    judged = write_qrels(voted, path)
    cats, dogs = question_key("why do cats sleep"), question_key("why do dogs sleep")
    assert path.read_text() == f"{cats} 0 cats 2\n{cats} 0 naps 2\n{dogs} 0 a%20b 1\n"
    queries = (tmp_path / "votes.txt.queries.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in queries] == [
        {"_id": cats, "text": "Why do cats sleep?"},
        {"_id": dogs, "text": "Why do dogs sleep?"},
    ]
    assert judged.as_dict() == {"votes": 8, "questions": 2, "judgements": 3, "ties": 1, "unused": 2}


def test_qrels_and_queries_form_a_dataset(voted, tmp_path) -> None:
    folder = tmp_path / "judged"
    folder.mkdir()
    write_qrels(voted, folder / "dev.qrels.tsv")
    (folder / "corpus.jsonl").write_text('{"_id": "cats", "text": "Cats."}\n')
    dataset = read_dataset(folder)
    assert [query.question.title for query in dataset.queries] == ["Why do cats sleep?", "Why do dogs sleep?"]
    grades = {
        (qrel.query_id, qrel.doc_id): qrel.relevance
        for qrel in ir_measures.read_trec_qrels(str(folder / "dev.qrels.tsv"))
    }
    assert grades == {
        (q, d): grade for q, of in read_qrels(folder / "dev.qrels.tsv").items() for d, grade in of.items()
    }


@pytest.mark.parametrize(("name", "beside"), [("dev.qrels.tsv", "dev.queries.jsonl"), ("x", "x.queries.jsonl")])
def test_path_of_the_queries(name: str, beside: str) -> None:
    assert queries_path(Path(name)) == Path(beside)


def test_existing_files_are_not_overwritten(voted, tmp_path) -> None:
    (tmp_path / "a.queries.jsonl").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a\.queries\.jsonl, which exists"):
        write_qrels(voted, tmp_path / "a.qrels.tsv")
    assert not (tmp_path / "a.qrels.tsv").exists()
    write_qrels(voted, tmp_path / "a.qrels.tsv", force=True)
    assert (tmp_path / "a.queries.jsonl").read_text() != "mine"


def test_jsonl_holds_votes_without_ids(voted) -> None:
    out = io.BytesIO()
    assert write_lines(voted, out).votes == 8
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    first = lines[0]
    expected = {
        "question": "Why do cats sleep?",
        "understood": "",
        "kind": "passage",
        "answered": True,
        "answer": "So.",
    }
    assert {name: first[name] for name in expected} == expected
    assert ([source["document"] for source in first["sources"]], first["vote"]) == (["cats", "naps"], "up")
    assert first["comment"] == "I said up"
    assert lines[4]["understood"] == "Why do dogs sleep?"
    text = out.getvalue().decode()
    with_ids = [turn.id for turn, _ in voted.stream_turns()]
    assert not [id_ for id_ in with_ids if id_ in text]
    assert "conversation" not in text
    assert "nobody voted" not in text


def test_traces_are_exported(store) -> None:
    vote(store, "q", passage_answer("d", trace={"queries": [1]}), "up", "A")
    out = io.BytesIO()
    write_lines(store, out)
    assert json.loads(out.getvalue())["trace"] == {"queries": [1]}


def test_without_votes_both_files_are_empty(store, tmp_path) -> None:
    assert write_qrels(store, tmp_path / "a").judgements == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "a.queries.jsonl").read_bytes() == b""


def test_export_command(home, qa_bot, tmp_path) -> None:
    answer = qa_bot("ask", "Why do cats sleep all day?", "--json").json
    with Store.open(f"sqlite:///{home / 'store.sqlite'}") as opened:
        assert not opened.has_turn(answer["id"]), "the turn is still in the journal"
    qa_bot("status")
    with Store.open(f"sqlite:///{home / 'store.sqlite'}") as opened:
        opened.save_feedback(answer["id"], "up")
    exported = qa_bot("export", tmp_path / "a.qrels.tsv", "--feedback", "qrels", "--json")
    assert (exported.json["votes"], exported.json["questions"]) == (1, 1)
    assert read_qrels(tmp_path / "a.qrels.tsv")[question_key("why do cats sleep all day")]["animals-cats-sleep"] == 2
    out = qa_bot("export", "-", "--feedback", "jsonl")
    assert (out.json["question"], out.err) == ("Why do cats sleep all day?", "")
    assert qa_bot("export", tmp_path / "a.jsonl", "--feedback", "jsonl").out == "1 votes\n"
    assert json.loads((tmp_path / "a.jsonl").read_text())["vote"] == "up"
    assert qa_bot("export", tmp_path / "a.jsonl", "--feedback", "jsonl").code == 1
    assert qa_bot("export", "-", "--feedback", "qrels").code == 2
