import pytest

from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.workplace.evaluation import evaluate_workplace
from qa_lab.evaluate.workplace.pipelines import ENGINES
from qa_lab.evaluate.workplace.tables import as_json, text

WITHOUT_MINILM = [engine for engine in ENGINES if engine != "recipe-gate"]


def test_every_engine_answers_the_same_questions(policies, questions):
    results = evaluate_workplace(policies, questions, engines=WITHOUT_MINILM, with_losses=True)
    assert [result.engine for result in results] == WITHOUT_MINILM
    for result in results:
        assert [of.question.id for of in result.replies] == ["q1", "q2"]
        assert result.losses.as_dict()["in stored text"] == 1
        assert result.types == ["direct", "unanswerable"]
    assert [result.versus is None for result in results] == [True, False, False]
    recipe = results[2]
    assert recipe.replies[0].grade == "3"
    assert recipe.replies[0].reply.text.startswith("Up to five days")
    table = text(results, with_replies=True)
    assert "recipe, starter" in table
    assert "in a top-10 passage" in table


def test_keys_of_json(policies, questions):
    payload = as_json(evaluate_workplace(policies, questions, engines=["plain-hybrid"]), with_replies=True)
    assert {"score", "score_se", *"3210AX", "types", "seconds", "p50_ms", "p99_ms", "replies"} <= payload.keys()
    assert sum(payload[grade] for grade in "3210AX") == payload["questions"] == 2
    assert "models" not in payload


def test_several_engines_are_models(policies, questions):
    payload = as_json(evaluate_workplace(policies, questions, engines=["plain-hybrid", "recipe"]))
    assert [row["engine"] for row in payload["models"]] == ["plain-hybrid", "recipe"]
    assert payload["models"][1]["versus_first"]["measure"] == "score"


def test_dialogues_are_asked_in_a_conversation_each(policies, dialogues):
    (result,) = evaluate_workplace(policies, dialogues, engines=["recipe"])
    assert [of.grade for of in result.replies] == ["3", "3"]
    (product,) = evaluate_workplace(policies, dialogues)
    assert [of.question.id for of in product.replies] == ["hotels/0", "hotels/1"]


def test_unknown_engines_and_missing_data(policies, questions, tmp_path):
    with pytest.raises(DatasetError, match="one of the engines default, plain-hybrid"):
        evaluate_workplace(policies, questions, engines=["hybrid"])
    with pytest.raises(DatasetError, match="which does not exist"):
        evaluate_workplace(tmp_path / "gone", questions)
    with pytest.raises(DatasetError, match="leave --home out"):
        evaluate_workplace(policies, questions, engines=["recipe"], home=tmp_path / "home")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="Expected documents in"):
        evaluate_workplace(tmp_path / "empty", questions, engines=["recipe"])
