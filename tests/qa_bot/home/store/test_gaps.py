"""Questions that want an answer: which are counted, how often, and when they come and go. On both databases."""

from __future__ import annotations

import threading
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
    """A turn asked at a certain time; its id."""
    turn = Turn(uuid4().hex, question, answer, rewritten, asked=created, created=created)
    store.save_new_turns([turn])
    return turn.id


def told(store: Store, limit: int = 100) -> list[tuple[str, int, int, int]]:
    found, total = store.gaps(limit=limit)
    assert len(found) == min(total, limit)
    return [(gap.question, gap.asked, gap.unanswered, gap.downvoted) for gap in found]


def test_the_most_frequent_come_first_and_then_those_asked_last(store: Store) -> None:
    for created, question in enumerate(("once", "twice", "later", "twice"), start=1):
        ask(store, question, created=float(created))
    assert told(store) == [("twice", 2, 2, 0), ("later", 1, 1, 0), ("once", 1, 1, 0)]
    assert store.gaps(limit=2)[1] == 3
    assert [question for question, *_ in told(store, limit=2)] == ["twice", "later"]


def test_nothing_asked_is_nothing_wanted(store: Store) -> None:
    assert store.gaps() == ([], 0)


@pytest.mark.parametrize(
    "answer", [GIVEN, {**NONE, "choices": [{"text": "Which?"}]}, {**NONE, "kind": "talk"}, {"n": 1}]
)
def test_answers_choices_and_talk_leave_no_gap(store: Store, answer: dict) -> None:
    ask(store, "why?", answer)
    store.save_turn(question="why?", answer=answer)
    assert told(store) == []


def test_wordings_are_one_question_told_as_most_ask_it(store: Store) -> None:
    wordings = (
        "Where is  the KEY",
        "where is the key?",
        "Where is the key ?!",
        "where is the key?",
        "Where is the lock",
    )
    for created, question in enumerate(wordings):
        ask(store, question, created=float(created))
    assert told(store) == [("where is the key?", 4, 4, 0), ("Where is the lock", 1, 1, 0)]


def test_a_follow_up_counts_as_it_was_understood(store: Store) -> None:
    ask(store, "and her?", rewritten="Who is Ada?", created=1.0)
    ask(store, "who is Ada", created=2.0)
    assert told(store) == [("who is Ada", 2, 2, 0)], "of wordings that are as frequent the last"


def test_the_last_vote_counts(store: Store) -> None:
    good, bad, none = ask(store, "good", GIVEN), ask(store, "bad", GIVEN), ask(store, "none")
    for turn, votes in ((good, "du"), (bad, "uud"), (none, "d")):
        for vote in votes:
            store.save_feedback(turn, "up" if vote == "u" else "down")
    assert sorted(told(store)) == [("bad", 1, 0, 1), ("none", 1, 1, 1)]
    store.save_feedback(none, "up")
    assert ("none", 1, 1, 0) in told(store), "a kind word is no answer"


def test_a_gap_tells_what_is_known_of_it(store: Store) -> None:
    source = {"document": "d1", "collection": "faq", "title": "Grüße", "url": "https://x", "text": "t"}
    for created in range(5):
        turn = ask(store, "why?", {**GIVEN, "answer": "x" * 5_000, "sources": [source, {}]}, created=float(created))
        store.save_feedback(turn, "down", f"comment {created}" if created != 3 else "")
    store.save_feedback(turn, "down", "the last")
    (gap,) = store.gaps()[0]
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


def test_odd_answers_and_questions_are_told_all_the_same(store: Store) -> None:
    odd = ("", "?!", "\x00 lone \udc00", "q" * 30_000)
    for created, question in enumerate(odd):
        ask(store, question, {"answered": False, "sources": [{"title": None}], "answer": None}, created=float(created))
    found, total = store.gaps()
    assert total == 4
    assert {len(gap.question) for gap in found} == {0, 2, 8, 2_000}
    assert {(gap.answer, gap.nearest) for gap in found} == {("", None)}


def test_a_vote_finds_the_question_as_the_database_keeps_it(store: Store) -> None:
    turn = store.save_turn(question="a\x00b \udc00?", answer=NONE)
    store.save_feedback(turn, "down")
    store.save_turn(question="a\x00b \udc00", answer=NONE)
    assert [counts for _, *counts in told(store)] == [[2, 2, 1]]


def test_what_was_settled_is_gone_until_it_is_asked_again(store: Store) -> None:
    before = ask(store, "why?")
    ask(store, "how?")
    assert store.settle_gap(question_key("why")) == 1
    assert told(store) == [("how?", 1, 1, 0)]
    store.save_feedback(before, "down", "late")
    ask(store, "Why", created=2.0)
    assert told(store) == [("how?", 1, 1, 0)], "asked before, told later"
    store.save_turn(question="Why??", answer=NONE)
    assert ("Why??", 1, 1, 0) in told(store)
    assert store.settle_gap(question_key("why")) == 1
    assert store.settle_gap(question_key("why")) == 0


def test_a_deleted_conversation_takes_its_gaps_along(store: Store) -> None:
    store.save_turn(question="secret?", answer=NONE, conversation="A")
    store.delete_conversation("A")
    assert store.gaps() == ([], 0)
    with reading(store._engine) as connection:
        assert connection.execute(text("SELECT count(*) FROM gaps")).scalar() == 0


def test_votes_at_the_same_time_wait_for_each_other(store: Store) -> None:
    turn = ask(store, "why?", GIVEN)
    failed: list[Exception] = []

    def vote() -> None:
        try:
            for choice in ("up", "down") * 5:
                store.save_feedback(turn, choice)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=vote) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(told(store)) == (store.feedback(turn)[-1].vote == "down")


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
def test_counts_are_those_of_a_look_at_everything(tmp_path_factory: pytest.TempPathFactory, events: list) -> None:
    """Whatever happens in whatever order: the oracle reads all turns and votes anew."""
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('gaps') / 'store.sqlite'}") as store:
        asked: list[tuple[str, bool, str]] = []
        settled: dict[str, int] = {}
        for kind, subject, what in events:
            if kind == "ask":
                asked.append((subject, what, store.save_turn(question=subject, answer=GIVEN if what else NONE)))
            elif kind == "vote" and asked:
                store.save_feedback(asked[subject % len(asked)][2], what)
            elif kind == "settle":
                store.settle_gap(question_key(subject))
                settled[subject] = len(asked)
        expected: dict[str, list[int]] = {}
        for place, (question, good, turn) in enumerate(asked):
            down = [given.vote for given in store.feedback(turn)][-1:] == ["down"]
            if place >= settled.get(question, 0) and (down or not good):
                counts = expected.setdefault(question, [0, 0, 0])
                for i, holds in enumerate((True, not good, down)):
                    counts[i] += holds
        assert {question: counts for question, *counts in told(store)} == expected


def test_what_was_asked_before_the_table_was_there_is_counted(store_url: str) -> None:
    engine = open_engine(store_url)
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
            for each in [last] if last != "down" else ["up", last]:
                if each:
                    connection.execute(text(vote), {"id": id_, "vote": each})
    assert ensure_schema(engine)[0] == "0001"
    engine.dispose()
    with Store.open(store_url) as store:
        assert [counts for _, *counts in told(store)] == [[3, 2, 2]]


def test_counting_reads_one_index_and_no_turns(tmp_path: Path) -> None:
    """What keeps a million turns quick: SQLite says how it would count."""
    with Store.open(f"sqlite:///{tmp_path / 'store.sqlite'}") as store:
        heard: list[str] = []
        event.listen(store._engine, "before_cursor_execute", lambda *given: heard.append(given[2]))
        ask(store, "why?")
        heard.clear()
        store.gaps()
        (counting,) = [each for each in heard if "GROUP BY" in each]
        with reading(store._engine) as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {counting}", (1, 0, 100)[: counting.count("?")])
            steps = [row[3] for row in plan]
    assert "SCAN gaps USING COVERING INDEX ix_gaps_key" in steps
    assert not [step for step in steps if "turns" in step]
