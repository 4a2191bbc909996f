import importlib.util
import json
import os
import random
from pathlib import Path

import pytest

from qa_lab.evaluate.workplace.grading import POINTS, flat, grade, holds, names
from qa_lab.evaluate.workplace.questions import GradedQuestion, read_questions
from qa_lab.reference.replies import Reply, Turn

DATA = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "workplace"


def question(gold, **fields):
    return GradedQuestion("q", Turn("How long?"), "direct", gold, **fields)


def answer(text, *documents):
    return Reply(True, text, documents)


TWO_GROUPS = (("27 days", "twenty-seven days"), ("March",))
PADDING = "x " * 150


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You get 27 days until March.", "3"),
        ("You get twenty–seven days until **March**.", "3"),
        (f"You get 27 days. {PADDING} Until March.", "2"),
        ("You get 27 days.", "1"),
        ("You get 127 days or 27.5 days.", "0"),
        ("", "0"),
    ],
)
def test_gold_in_the_lead_in_the_answer_or_in_part(text, expected):
    assert grade(question(TWO_GROUPS), answer(text)) == expected


def test_a_wrong_text_in_the_lead_costs_the_best_grade():
    spoiled = question((("14 days",),), wrong=("30 days",))
    assert grade(spoiled, answer("It was 30 days, now 14 days.")) == "2"
    assert grade(spoiled, answer(f"Now 14 days. {PADDING} It was 30 days.")) == "3"


def test_a_longer_lead():
    steps = question((("sign",), ("send",)), lead=400)
    assert grade(steps, answer(f"1. Sign. {PADDING} 2. Send.")) == "3"


def test_the_right_document_first_is_worth_a_point():
    near = question((("27 days",),), documents=("hr/leave.md",))
    assert grade(near, answer("See there.", "handbook/hr/leave.md#rules", "x.md")) == "1"
    assert grade(near, answer("See there.", "x.md", "hr/leave.md")) == "0"


def test_refusals():
    assert grade(question(TWO_GROUPS), Reply(False)) == "X"
    assert grade(question(()), Reply(False)) == "A"
    assert grade(question(()), answer("Anything.")) == "0"


def test_points():
    assert [POINTS[name] for name in "3A210X"] == pytest.approx([1, 1, 2 / 3, 1 / 3, -1 / 3, 0])


@pytest.mark.parametrize(
    ("text", "alternative", "expected"),
    [
        ("it costs 1,200 euros", "1200 euros", True),
        ("it costs 1.200 euros", "200 euros", False),
        ("30 % of it", "30%", True),
        ("see [the form](a.md) there", "the form there", True),
        ("| a | b |", "a b", True),
        ("_never_ snake_case", "never snake_case", True),
        ("Carry over up to 240 hours", r"re:carry[^.]{0,20}240", True),
        ("yes, you may", r"re:^yes\b", True),
        ("the 5th of May", "5th", True),
        ("the 5the", "5th", False),
    ],
)
def test_what_a_text_holds(text, alternative, expected):
    assert holds(flat(text), alternative) is expected


def test_documents_by_the_end_of_their_path():
    assert names("leave.md", "leave.md#section")
    assert names("b/leave.md", "a/b/leave.md!member")
    assert not names("leave.md", "sick-leave.md")


@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs {DATA}: set QA_BOT_DATA to the folder of the data")
@pytest.mark.parametrize("name", ["company.questions", "18f.questions", "company.dialogues", "18f.dialogues"])
def test_grades_are_those_of_the_published_script(name):
    """Answers made of parts of golds, wrong texts and padding, with right and wrong documents."""
    spec = importlib.util.spec_from_file_location("score", DATA / "score.py")
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    source = {}
    for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines():
        entry = json.loads(line)
        source |= {f"{entry['_id']}/{i}": turn for i, turn in enumerate(entry.get("turns", []))}
        source |= {} if "turns" in entry else {entry["_id"]: entry}
    graded = read_questions(DATA / f"{name}.jsonl")
    assert [of.id for of in graded] == list(source)
    rng = random.Random(7)
    grades = set()
    for of in graded:
        original = source[of.id]
        for _ in range(20):
            texts = [text for group in of.gold for text in group if rng.random() < 0.6]
            parts = [*texts, *(text for text in of.wrong if rng.random() < 0.3), PADDING * (rng.random() < 0.4)]
            rng.shuffle(parts)
            documents = rng.sample([*of.documents, "other.md"], k=1)
            payload = {
                "answered": rng.random() < 0.8,
                "answer": "; ".join(parts).replace("re:", ""),
                "sources": [{"document": f"top/{document}#part"} for document in documents],
            }
            reply = Reply(payload["answered"], payload["answer"], (f"top/{documents[0]}#part",))
            assert grade(of, reply) == score.grade(original, payload)
            grades.add(grade(of, reply))
    assert grades >= {"3", "2", "1", "0", "X"}
