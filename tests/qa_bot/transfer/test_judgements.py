"""Votes as qrels and as JSONL: what most conversations said, and nothing that tells who said it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ir_measures
import pytest

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Store
from qa_bot.transfer.judgements import queries_path, write_lines, write_qrels
from qa_core.measures.runs import read_qrels
from qa_lab.evaluate.datasets import read_dataset


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path / 'store.sqlite'}") as opened:
        yield opened


def answered(*used: str, beside: tuple[str, ...] = (), **fields: object) -> dict[str, Any]:
    sources = [{"document": item, "collection": "x", "span": [0, 1]} for item in used]
    sources += [{"document": item, "collection": "x", "span": None} for item in beside]
    return {"answered": True, "kind": "passage", "answer": "So.", "confidence": 0.5, "sources": sources, **fields}


def vote(
    store: Store, question: str, result: dict[str, Any], votes: str, conversation: str | None, **more: Any
) -> None:
    turn = store.save_turn(question=question, answer=result, conversation=conversation, **more)
    for item in votes.split():
        store.save_feedback(turn, item, f"I said {item}")  # type: ignore[arg-type]


@pytest.fixture
def voted(store: Store) -> Store:
    """Three conversations, one turn of none, and votes on answers that used nothing."""
    vote(store, "Why do cats sleep?", answered("cats", "naps", beside=("dogs",)), "down up", "A")  # the last one counts
    vote(store, "WHY do cats  sleep", answered("cats"), "up", "B")  # the same question, spelt otherwise
    vote(store, "why do cats sleep?", answered("cats"), "down", "C")
    vote(store, "why do cats sleep?", answered("cats"), "down", "C")  # one voice a conversation
    vote(store, "And dogs?", answered("a b"), "up", "A", rewritten="Why do dogs sleep?")
    vote(store, "Why do dogs sleep?", answered("a b"), "down", None)
    vote(store, "Capital of Peru?", answered("t1", kind="fact"), "up", "A")
    vote(store, "xyz", answered(answered=False, kind="none"), "down", "A")
    store.save_turn(question="nobody voted", answer=answered("cats"))
    return store


def test_one_judgement_a_question_and_document(voted, tmp_path) -> None:
    """cats: A and B for, C against; naps: A for; "a b": one for, one against."""
    path = tmp_path / "votes.txt"
    judged = write_qrels(voted, path)
    cats, dogs = question_key("why do cats sleep"), question_key("why do dogs sleep")
    assert path.read_text() == f"{cats} 0 cats 2\n{cats} 0 naps 2\n{dogs} 0 a%20b 1\n"
    queries = (tmp_path / "votes.txt.queries.jsonl").read_text().splitlines()
    assert [json.loads(item) for item in queries] == [
        {"_id": cats, "text": "Why do cats sleep?"},
        {"_id": dogs, "text": "Why do dogs sleep?"},
    ]
    assert judged.as_dict() == {"votes": 8, "questions": 2, "judgements": 3, "ties": 1, "unused": 2}


def test_the_files_make_a_folder_of_judged_questions(voted, tmp_path) -> None:
    folder = tmp_path / "judged"
    folder.mkdir()
    write_qrels(voted, folder / "dev.qrels.tsv")
    (folder / "corpus.jsonl").write_text('{"_id": "cats", "text": "Cats."}\n')
    dataset = read_dataset(folder)
    assert [query.question.title for query in dataset.queries] == ["Why do cats sleep?", "Why do dogs sleep?"]
    result = {
        (item.query_id, item.doc_id): item.relevance
        for item in ir_measures.read_trec_qrels(str(folder / "dev.qrels.tsv"))
    }
    assert result == {
        (q, d): grade for q, of in read_qrels(folder / "dev.qrels.tsv").items() for d, grade in of.items()
    }


@pytest.mark.parametrize(("name", "beside"), [("dev.qrels.tsv", "dev.queries.jsonl"), ("x", "x.queries.jsonl")])
def test_where_the_questions_go(name: str, beside: str) -> None:
    assert queries_path(Path(name)) == Path(beside)


def test_neither_file_is_written_where_one_is_there(voted, tmp_path) -> None:
    (tmp_path / "a.queries.jsonl").write_text("mine")
    with pytest.raises(FileExistsError, match=r"a\.queries\.jsonl, which exists"):
        write_qrels(voted, tmp_path / "a.qrels.tsv")
    assert not (tmp_path / "a.qrels.tsv").exists()
    write_qrels(voted, tmp_path / "a.qrels.tsv", force=True)
    assert (tmp_path / "a.queries.jsonl").read_text() != "mine"


def test_a_line_a_vote_without_a_word_of_who_gave_it(voted) -> None:
    result = io.BytesIO()
    assert write_lines(voted, result).votes == 8
    lines = [json.loads(line) for line in result.getvalue().splitlines()]
    first = lines[0]
    asked = {"question": "Why do cats sleep?", "understood": "", "kind": "passage", "answered": True, "answer": "So."}
    assert {name: first[name] for name in asked} == asked
    assert ([source["document"] for source in first["sources"]], first["vote"]) == (["cats", "naps"], "up")
    assert first["comment"] == "I said up"
    assert lines[4]["understood"] == "Why do dogs sleep?"
    text = result.getvalue().decode()
    with_ids = [turn.id for turn, _ in voted.stream_turns()]
    assert not [item for item in with_ids if item in text]
    assert "conversation" not in text
    assert "nobody voted" not in text


def test_a_trace_goes_along(store) -> None:
    vote(store, "q", answered("d", trace={"queries": [1]}), "up", "A")
    result = io.BytesIO()
    write_lines(store, result)
    assert json.loads(result.getvalue())["trace"] == {"queries": [1]}


def test_no_votes_are_two_empty_files(store, tmp_path) -> None:
    assert write_qrels(store, tmp_path / "a").judgements == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "a.queries.jsonl").read_bytes() == b""


def test_by_the_command_line(home, qa_bot, tmp_path) -> None:
    answer = qa_bot("ask", "Why do cats sleep all day?", "--json").json
    with Store.open(f"sqlite:///{home / 'store.sqlite'}") as opened:
        assert not opened.has_turn(answer["id"]), "it waits in the journal, and is exported all the same"
    qa_bot("status")
    with Store.open(f"sqlite:///{home / 'store.sqlite'}") as opened:
        opened.save_feedback(answer["id"], "up")
    result = qa_bot("export", tmp_path / "a.qrels.tsv", "--feedback", "qrels", "--json")
    assert (result.json["votes"], result.json["questions"]) == (1, 1)
    assert read_qrels(tmp_path / "a.qrels.tsv")[question_key("why do cats sleep all day")]["animals-cats-sleep"] == 2
    out = qa_bot("export", "-", "--feedback", "jsonl")
    assert (out.json["question"], out.err) == ("Why do cats sleep all day?", "")
    assert qa_bot("export", tmp_path / "a.jsonl", "--feedback", "jsonl").out == "1 votes\n"
    assert json.loads((tmp_path / "a.jsonl").read_text())["vote"] == "up"
    assert qa_bot("export", tmp_path / "a.jsonl", "--feedback", "jsonl").code == 1
    assert qa_bot("export", "-", "--feedback", "qrels").code == 2
