"""Conversations are remembered, found again, and forgotten."""

from qa_bot.answering.answer_json import as_dict
from qa_bot.conversation.memory import CONVERSATIONS, REMEMBERED_TURNS, TRACES, Memory, RememberedTurn, of_turns
from qa_bot.home.store import Feedback, Turn
from qa_core.types import Answer, Styled, StyledLine


def said(question: str, id_: str = "", reference: str = "") -> RememberedTurn:
    return RememberedTurn.of(
        question, Answer(question, "Yes.", "passage", True, 0.9, id=id_ or question), reference=reference
    )


def nothing(_: str) -> list[RememberedTurn]:
    raise AssertionError("nobody should look")


def asked(memory: Memory, conversation: str = "c") -> list[str]:
    return [each.question for each in memory.recall(conversation)]


def test_a_new_conversation_is_not_looked_for() -> None:
    memory = Memory(nothing)
    memory.begin("c")
    memory.add("c", said("one"))
    assert asked(memory) == ["one"]


def test_an_old_one_is_read_once() -> None:
    looked = []

    def load(conversation: str) -> list[RememberedTurn]:
        looked.append(conversation)
        return [said("one")]

    memory = Memory(load)
    assert asked(memory) == asked(memory) == ["one"]
    memory.add("c", said("two"))
    assert (asked(memory), looked) == (["one", "two"], ["c"])


def test_what_is_asked_anew_keeps_its_place() -> None:
    memory = Memory(nothing)
    memory.begin("c")
    for past in (said("one", "1", "q1"), said("two", "2", "q2"), said("one", "3", "q1")):
        memory.add("c", past)
    assert [each.id for each in memory.recall("c")] == ["3", "2"]


def test_votes_belong_to_one_conversation() -> None:
    memory = Memory(nothing)
    for conversation in ("c", "d"):
        memory.begin(conversation)
        memory.add(conversation, said("one", "1"))
    memory.vote("c", "1", "down")
    memory.vote(None, "1", "up")
    assert [memory.recall(each)[0].vote for each in ("c", "d")] == ["down", None]


def test_a_forgotten_one_is_gone() -> None:
    memory = Memory(lambda _: [])
    memory.begin("c")
    memory.add("c", said("one", "1"), {"queries": []})
    memory.forget("c")
    memory.forget("unknown")
    memory.add("c", said("late"))  # its answer was being made
    assert (memory.trace("1"), asked(memory)) == (None, [])


def test_memory_is_bounded() -> None:
    memory = Memory(lambda _: [])
    for number in range(CONVERSATIONS + 5):
        memory.begin(str(number))
    for number in range(max(REMEMBERED_TURNS, TRACES) + 5):
        memory.add(str(CONVERSATIONS), said(str(number)), {"n": number})
    assert len(memory.recall(str(CONVERSATIONS))) == REMEMBERED_TURNS
    assert (memory.trace("4"), memory.trace("5")) == (None, {"n": 5})
    memory.add("0", said("lost"))
    assert asked(memory, "0") == []


def test_recorded_turns_are_remembered_as_they_were_told() -> None:
    styled = Styled("me", "", (StyledLine("Hush.", "quotation", "me", 0.0),), (0, 5))
    answers = [
        Answer("one", "Hush.\n\nYes.", "styled", True, 0.9, id="1", styled=styled),
        Answer("and two?", "No.", "passage", True, 0.9, id="2", understood="What is two?"),
        Answer("one", "Maybe.", "passage", True, 0.9, id="3"),
    ]
    turns = [Turn(each.id, each.question, as_dict(each)) for each in answers]
    turns = [Turn(t.id, t.question, {**t.answer, "ask": ask}) for t, ask in zip(turns, ["q1", "q2", "q1"], strict=True)]
    found = of_turns(turns[:2], {"2": Feedback("2", "up", "", 0.0)})
    assert [(each.understood, each.reply, each.vote) for each in found] == [
        ("one", "Yes.", None),
        ("What is two?", "No.", "up"),
    ]
    assert found[0].recall() == answers[0]
    assert [each.reply for each in of_turns(turns, {})] == ["Maybe.", "No."]
