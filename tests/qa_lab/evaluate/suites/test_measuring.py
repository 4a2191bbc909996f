import json
from pathlib import Path

import pytest

from qa_lab.evaluate.suites.measuring import measured
from qa_lab.evaluate.suites.parts import PARTS
from qa_lab.evaluate.suites.suite import Collection, Configuration
from qa_lab.evaluate.workplace.pipelines import STARTER_DATA

DEFAULT, REFERENCE = Configuration("default"), Configuration("recipe", "recipe")


@pytest.mark.parametrize("configuration", [DEFAULT, REFERENCE])
def test_ranked_documents(ours, configuration):
    values = measured(Collection("tiny", "retrieval", ours), configuration)
    assert values["AP"].keys() == {"q1", "q2"}
    assert values["AP"]["q2"] == 1.0


@pytest.mark.parametrize("configuration", [DEFAULT, REFERENCE])
def test_graded_answers(ours, configuration):
    values = measured(Collection("tiny", "liveqa", ours), configuration)
    assert values.keys() == {"nDCG@10", "avg_score"}


def test_the_smaller_limit_counts(ours):
    assert len(measured(Collection("tiny", "retrieval", ours, limit=1), DEFAULT, limit=2)["AP"]) == 1


def test_tasks_of_encoders(tmp_path):
    answers = tmp_path / "dev.tsv"
    rows = [("q1", "why do cats sleep?", "cats sleep to rest", 1), ("q1", "why do cats sleep?", "boats float", 0)]
    answers.write_text("qid\tquestion\tanswer\tlabel\n" + "".join("\t".join(map(str, row)) + "\n" for row in rows))
    collection = Collection("answers", "answers", answers)
    assert measured(collection, DEFAULT)["AP"].keys()
    assert measured(collection, REFERENCE) is None


def test_known_items(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"_id": "p1", "question": "Why do cats purr?", "answer": "To heal."}\n')
    assert measured(Collection("pairs", "known-item", path), DEFAULT) == {"RR": {"p1": 1.0}, "P@1": {"p1": 1.0}}


def test_rewritten_turns(tmp_path):
    path = tmp_path / "dialogues.jsonl"
    turns = [{"raw": "Why do cats sleep?", "manual": "Why do cats sleep?"}, {"raw": "when?", "manual": "When do they?"}]
    path.write_text(json.dumps({"id": "d", "turns": turns}) + "\n")
    values = measured(Collection("turns", "rewrite", path), DEFAULT)
    assert len(values["F1"]) == 1


def test_the_starter_collection(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"_id": "q", "title": "Why do cats purr?", "type": "direct", "gold": [["purr"]]}\n')
    collection = Collection("everyday", "workplace", Path(STARTER_DATA), path)
    assert measured(collection, DEFAULT)["score"] == {"q": 1.0}
    assert measured(collection, REFERENCE)["score"]["q"] > 0


def test_a_part_of_the_product_is_left_out(tmp_path):
    (tmp_path / "leave.md").write_text("# Leave\n\nUp to five days of leave carry over into March.\n")
    questions = tmp_path / "questions.jsonl"
    questions.write_text(
        '{"_id": "q", "title": "How many days of leaev carry over?", "type": "typo", "gold": [["five days"]]}\n'
        '{"_id": "n", "title": "Who painted the Mona Lisa?", "type": "unanswerable", "gold": []}\n'
    )
    collection = Collection("policies", "workplace", tmp_path / "leave.md", questions)
    assert measured(collection, DEFAULT)["score"] == {"q": 1.0, "n": 1.0}
    config = PARTS["refusal"].config
    less = measured(collection, Configuration("answers all", config=config, without="refusal"))
    assert less["score"]["n"] < 0
