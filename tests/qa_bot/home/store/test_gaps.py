"""Unanswered questions: which are counted, how often, and how long they stay in the list."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from alembic import command
from alembic.config import Config
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event, text

from qa_bot.home.question_key import question_key
from qa_bot.home.store import Gap, NearestDocument, Store, Turn, migrations
from qa_bot.home.store.database import ensure_schema, open_engine, reading, writing

NONE = {"answered": False, "kind": "none", "answer": ""}
GIVEN = {"answered": True, "kind": "passage", "answer": "So it is."}


def ask(store: Store, question: str, answer: dict = NONE, *, created: float = 1.0, rewritten: str = "") -> str:
    """Saves a turn and returns its id."""
    turn = Turn(uuid4().hex, question, answer, rewritten, asked=created, created=created)
    store.save_new_turns([turn])
    return turn.id


def gap_rows(store: Store, limit: int = 100) -> list[tuple[str, int, int, int]]:
    gaps, total = store.gaps(limit=limit)
    assert len(gaps) == min(total, limit)
    return [(gap.question, gap.asked, gap.unanswered, gap.downvoted) for gap in gaps]


def test_order_by_frequency_then_by_date(any_store: Store) -> None:
    for created, question in enumerate(("once", "twice", "later", "twice"), start=1):
        ask(any_store, question, created=float(created))
    assert gap_rows(any_store) == [("twice", 2, 2, 0), ("later", 1, 1, 0), ("once", 1, 1, 0)]
    assert any_store.gaps(limit=2)[1] == 3
    assert [question for question, *_ in gap_rows(any_store, limit=2)] == ["twice", "later"]


def test_no_turns_no_gaps(store: Store) -> None:
    assert store.gaps() == ([], 0)


@pytest.mark.parametrize(
    "answer",
    [
        GIVEN,
        {**NONE, "choices": [{"text": "Which?"}]},
        {**NONE, "kind": "talk"},
        {**NONE, "skipped": ["keyword", "dense"]},
        {**NONE, "skipped": ["verify"]},
        {"n": 1},
    ],
)
def test_answers_choices_talk_and_lack_of_time_leave_no_gap(store: Store, answer: dict) -> None:
    ask(store, "why?", answer)
    store.save_turn(question="why?", answer=answer)
    assert gap_rows(store) == []


def test_a_refusal_is_a_gap_though_suggestions_were_skipped(store: Store) -> None:
    ask(store, "why?", {**NONE, "skipped": ["suggest"]})
    assert gap_rows(store) == [("why?", 1, 1, 0)]


def test_a_refusal_with_other_questions_is_a_gap(store: Store) -> None:
    store.save_turn(question="why?", answer={**NONE, "choices": [{"text": "How?"}], "suggested": True})
    assert gap_rows(store) == [("why?", 1, 1, 0)]


def test_wordings_are_counted_together_under_the_most_frequent(any_store: Store) -> None:
    wordings = ("Where is  the KEY", "where is the key?", "Where is the key ?!", "where is the key?")
    for created, question in enumerate((*wordings, "Where is the lock")):
        ask(any_store, question, created=float(created))
    assert gap_rows(any_store) == [("where is the key?", 4, 4, 0), ("Where is the lock", 1, 1, 0)]


def test_follow_ups_are_counted_by_their_rewrite(store: Store) -> None:
    ask(store, "and her?", rewritten="Who is Ada?", created=1.0)
    ask(store, "who is Ada", created=2.0)
    assert gap_rows(store) == [("who is Ada", 2, 2, 0)], "the latest of equally frequent wordings"


def test_the_last_vote_counts(store: Store) -> None:
    good, bad, none = ask(store, "good", GIVEN), ask(store, "bad", GIVEN), ask(store, "none")
    for turn, votes in ((good, "du"), (bad, "uud"), (none, "d")):
        for vote in votes:
            store.save_feedback(turn, "up" if vote == "u" else "down")
    assert sorted(gap_rows(store)) == [("bad", 1, 0, 1), ("none", 1, 1, 1)]
    store.save_feedback(none, "up")
    assert ("none", 1, 1, 0) in gap_rows(store), "still unanswered"


def test_fields_of_a_gap(any_store: Store) -> None:
    source = {"document": "d1", "collection": "faq", "title": "Grüße", "url": "https://x", "text": "t"}
    for created in range(5):
        turn = ask(any_store, "why?", {**GIVEN, "answer": "x" * 5_000, "sources": [source, {}]}, created=float(created))
        any_store.save_feedback(turn, "down", f"comment {created}" if created != 3 else "")
    any_store.save_feedback(turn, "down", "the last")
    (gap,) = any_store.gaps()[0]
    assert gap == Gap(
        key=question_key("WHY"),
        question="why?",
        asked=5,
        unanswered=0,
        downvoted=5,
        last=4.0,
        comments=("the last", "comment 4", "comment 2"),
        answer="x" * 1_000,
        nearest=NearestDocument("d1", "faq", "Grüße", "https://x"),
    )


def test_questions_without_words_are_no_gaps(store: Store) -> None:
    turns = [ask(store, question) for question in ("", "  ", "?!", "…")]
    store.save_feedback(turns[1], "down")
    assert gap_rows(store) == []


def test_odd_answers_and_questions_are_counted(any_store: Store) -> None:
    odd = ("\x00 lone \udc00", "q" * 30_000)
    for created, question in enumerate(odd):
        ask(
            any_store,
            question,
            {"answered": False, "sources": [{"title": None}], "answer": None},
            created=float(created),
        )
    gaps, total = any_store.gaps()
    assert total == 2
    assert {len(gap.question) for gap in gaps} == {8, 2_000}
    assert {(gap.answer, gap.nearest) for gap in gaps} == {("", None)}


def test_vote_on_a_question_with_replaced_characters(any_store: Store) -> None:
    turn = any_store.save_turn(question="a\x00b \udc00?", answer=NONE)
    any_store.save_feedback(turn, "down")
    any_store.save_turn(question="a\x00b \udc00", answer=NONE)
    assert [counts for _, *counts in gap_rows(any_store)] == [[2, 2, 1]]


def test_settled_gap_returns_when_asked_again(any_store: Store) -> None:
    before = ask(any_store, "why?")
    ask(any_store, "how?")
    assert any_store.settle_gap(question_key("why")) == 1
    assert gap_rows(any_store) == [("how?", 1, 1, 0)]
    any_store.save_feedback(before, "down", "late")
    ask(any_store, "Why", created=2.0)
    assert gap_rows(any_store) == [("how?", 1, 1, 0)], "asked before, recorded later"
    any_store.save_turn(question="Why??", answer=NONE)
    assert ("Why??", 1, 1, 0) in gap_rows(any_store)
    assert any_store.settle_gap(question_key("why")) == 1
    assert any_store.settle_gap(question_key("why")) == 0


def test_deleting_a_conversation_deletes_its_gaps(store: Store) -> None:
    store.save_turn(question="secret?", answer=NONE, conversation="A")
    store.delete_conversation("A")
    assert store.gaps() == ([], 0)
    with reading(store._engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM gaps")).scalar() == 0


def test_concurrent_votes(any_store: Store) -> None:
    turn = ask(any_store, "why?", GIVEN)

    def vote() -> None:
        for choice in ("up", "down") * 5:
            any_store.save_feedback(turn, choice)

    with ThreadPoolExecutor(4) as pool:
        for voted in [pool.submit(vote) for _ in range(4)]:
            voted.result()
    assert len(gap_rows(any_store)) == (any_store.feedback(turn)[-1].vote == "down")


@settings(max_examples=25)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("ask"), st.sampled_from("abc"), st.booleans()),
            st.tuples(st.just("vote"), st.integers(0, 20), st.sampled_from(["up", "down"])),
            st.tuples(st.just("settle"), st.sampled_from("abc"), st.none()),
        ),
        max_size=25,
    )
)
def test_counts_equal_those_of_an_oracle(tmp_path_factory: pytest.TempPathFactory, events: list) -> None:
    """After any sequence of events the counts equal those of an oracle that reads all turns and votes."""
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('gaps') / 'store.sqlite'}") as store:
        turns: list[tuple[str, bool, str]] = []
        settled: dict[str, int] = {}
        for kind, subject, what in events:
            if kind == "ask":
                turns.append((subject, what, store.save_turn(question=subject, answer=GIVEN if what else NONE)))
            elif kind == "vote" and turns:
                store.save_feedback(turns[subject % len(turns)][2], what)
            elif kind == "settle":
                store.settle_gap(question_key(subject))
                settled[subject] = len(turns)
        expected: dict[str, list[int]] = {}
        for index, (question, good, turn) in enumerate(turns):
            down = [vote.vote for vote in store.feedback(turn)][-1:] == ["down"]
            if index >= settled.get(question, 0) and (down or not good):
                counts = expected.setdefault(question, [0, 0, 0])
                for i, holds in enumerate((True, not good, down)):
                    counts[i] += holds
        assert {question: counts for question, *counts in gap_rows(store)} == expected


def test_migration_counts_earlier_turns(any_store_url: str) -> None:
    engine = open_engine(any_store_url)
    with writing(engine) as connection:
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        rows = [
            ("1", "Why?", "", '{"answered": false}', None),
            ("2", "why", "", '{"answered": false}', "down"),
            ("3", "so?", "Why", '{"answered": true}', "down"),
            ("4", "how?", "", '{"answered": true}', "up"),
            ("5", "how?", "", "{}", None),
        ]
        turn = "INSERT INTO turns (id, asked, question, rewritten, answer, timings, created) "
        turn += "VALUES (:id, 1, :question, :rewritten, :answer, '{}', 1)"
        vote = "INSERT INTO feedback (turn_id, vote, comment, created) VALUES (:id, :vote, 'c', 1)"
        for id_, question, rewritten, answer, last in rows:
            connection.execute(text(turn), {"id": id_, "question": question, "rewritten": rewritten, "answer": answer})
            for value in [last] if last != "down" else ["up", last]:
                if value:
                    connection.execute(text(vote), {"id": id_, "vote": value})
    assert ensure_schema(engine)[0] == "0001"
    engine.dispose()
    with Store.open(any_store_url) as any_store:
        assert [counts for _, *counts in gap_rows(any_store)] == [[3, 2, 2]]


def test_counting_reads_one_index_and_no_turns(tmp_path: Path) -> None:
    """The query plan of SQLite shows that counting stays fast with a million turns."""
    with Store.open(f"sqlite:///{tmp_path / 'store.sqlite'}") as store:
        statements: list[str] = []
        event.listen(store._engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
        ask(store, "why?")
        statements.clear()
        store.gaps()
        (counting,) = [statement for statement in statements if "GROUP BY" in statement]
        with reading(store._engine) as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {counting}", (1, 0, 100)[: counting.count("?")])
            steps = [row[3] for row in plan]
    assert "SCAN gaps USING COVERING INDEX ix_gaps_key" in steps
    assert not [step for step in steps if "turns" in step]
