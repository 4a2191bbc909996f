"""Memory of conversations: loading, adding, forgetting, and limits."""

import pytest

from qa_bot.answering.answer_json import as_dict
from qa_bot.conversation.memory import CONVERSATIONS, REMEMBERED_TURNS, TRACES, Memory, RememberedTurn, of_turns
from qa_bot.home.store import Feedback, Turn
from qa_core.types import Answer, AnswerSource, Choice, Styled, StyledLine


def turn_of(question: str, id_: str = "", reference: str = "") -> RememberedTurn:
    return RememberedTurn.of(
        question, Answer(question, "Yes.", "passage", True, 0.9, id=id_ or question), reference=reference
    )


def fail_to_load(_: str) -> list[RememberedTurn]:
    raise AssertionError("a new conversation must not be loaded")


def questions(memory: Memory, conversation: str = "c") -> list[str]:
    return [turn.question for turn in memory.recall(conversation)]


def test_new_conversation_is_not_loaded() -> None:
    memory = Memory(fail_to_load)
    memory.begin("c")
    memory.add("c", turn_of("one"))
    assert questions(memory) == ["one"]


def test_old_conversation_is_loaded_once() -> None:
    looked = []

    def load(conversation: str) -> list[RememberedTurn]:
        looked.append(conversation)
        return [turn_of("one")]

    memory = Memory(load)
    assert questions(memory) == questions(memory) == ["one"]
    memory.add("c", turn_of("two"))
    assert (questions(memory), looked) == (["one", "two"], ["c"])


def test_repeated_question_replaces_its_turn() -> None:
    memory = Memory(fail_to_load)
    memory.begin("c")
    for past in (turn_of("one", "1", "q1"), turn_of("two", "2", "q2"), turn_of("one", "3", "q1")):
        memory.add("c", past)
    assert [turn.id for turn in memory.recall("c")] == ["3", "2"]


def test_votes_belong_to_one_conversation() -> None:
    memory = Memory(fail_to_load)
    for conversation in ("c", "d"):
        memory.begin(conversation)
        memory.add(conversation, turn_of("one", "1"))
    memory.vote("c", "1", "down")
    memory.vote(None, "1", "up")
    assert [memory.recall(conversation)[0].vote for conversation in ("c", "d")] == ["down", None]


def test_forgotten_conversation_stays_forgotten() -> None:
    memory = Memory(lambda _: [])
    memory.begin("c")
    memory.add("c", turn_of("one", "1"), {"queries": []})
    memory.forget("c")
    memory.forget("unknown")
    memory.add("c", turn_of("late"))  # the answer arrives after the deletion
    assert (memory.trace("1"), questions(memory)) == (None, [])


@pytest.mark.parametrize("trace", [{"n": [1, 2.5, None, {"a": "é"}]}, {"path": "a\udcff"}, {"n": 2**70}])
def test_a_trace_comes_back_as_it_was(trace) -> None:
    memory = Memory(fail_to_load)
    memory.begin("c")
    memory.add("c", turn_of("one", "1"), trace)
    assert memory.trace("1") == trace


def test_an_answer_is_remembered_compressed_and_comes_back_as_it_was() -> None:
    texts = ("Cats sleep to save energy. ", "Katzen schlafen, um Kräfte zu sparen. ", "猫は眠る。")
    sources = tuple(AnswerSource("1", "d", "c", "Cats", "", 0.1 + 0.2, text * 40, span=(2, 9)) for text in texts)
    answer = Answer(
        *("why?", "To save energy.", "passage", True, 0.123456789),
        sources=sources,
        timings={"rank": 1.5e-7},
        skipped=("verify",),
        choices=(Choice("cats", "What about cats?"),),
        trace={"confidence": {"margin": 0.1}},
        lead=(0, 15),
    )
    past = RememberedTurn.of("why?", answer)
    assert past.recall() == answer
    assert past.recall() is not answer, "its objects, 9 KB of an ordinary answer, are not kept"


def test_memory_is_bounded() -> None:
    memory = Memory(lambda _: [])
    for number in range(CONVERSATIONS + 5):
        memory.begin(str(number))
    for number in range(max(REMEMBERED_TURNS, TRACES) + 5):
        memory.add(str(CONVERSATIONS), turn_of(str(number)), {"n": number})
    assert len(memory.recall(str(CONVERSATIONS))) == REMEMBERED_TURNS
    assert (memory.trace("4"), memory.trace("5")) == (None, {"n": 5})
    memory.add("0", turn_of("lost"))
    assert questions(memory, "0") == []


def test_stored_turns_are_restored() -> None:
    styled = Styled("me", "", (StyledLine("Hush.", "quotation", "me", 0.0),), (0, 5))
    answers = [
        Answer("one", "Hush.\n\nYes.", "styled", True, 0.9, id="1", styled=styled),
        Answer("and two?", "No.", "passage", True, 0.9, id="2", understood="What is two?"),
        Answer("one", "Maybe.", "passage", True, 0.9, id="3"),
    ]
    turns = [Turn(answer.id, answer.question, as_dict(answer)) for answer in answers]
    turns = [Turn(t.id, t.question, {**t.answer, "ask": ask}) for t, ask in zip(turns, ["q1", "q2", "q1"], strict=True)]
    remembered = of_turns(turns[:2], {"2": Feedback("2", "up", "", 0.0)})
    assert [(turn.understood, turn.reply, turn.vote) for turn in remembered] == [
        ("one", "Yes.", None),
        ("What is two?", "No.", "up"),
    ]
    assert remembered[0].recall() == answers[0]
    assert [turn.reply for turn in of_turns(turns, {})] == ["Maybe.", "No."]
