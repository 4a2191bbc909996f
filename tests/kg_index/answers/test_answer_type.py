import pytest

from kg_index.answers.answer_type import QUESTION_STEMS, asks_for_list, expected_type
from kg_index.relations.keywords import keywords


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How many moons does Mars have?", "count"),
        ("the number of planets", "count"),
        ("What is the total number of states", "count"),
        ("When was Marie Curie born?", "date"),
        ("In which year did the war end?", "date"),
        ("what date was the treaty signed", "date"),
        ("What is Ada's birthday?", "date"),
        ("How high is Everest?", "number"),
        ("tell me how FAR the moon is", "number"),
        ("Who wrote Dune?", "entity"),
        ("  whose idea was it", "entity"),
        ("Where is Lima?", "entity"),
        ("What is the capital of Peru?", "any"),
        ("Capital of Peru", "any"),
        ("Why is the sky blue?", "prose"),
        ("How do I boil an egg?", "prose"),
        ("Is Lima the capital of Peru?", "prose"),
        ("how often should I water it", "prose"),
        ("How long is the Nile?", "number"),
        ("When was how many asked?", "count"),
        ("", "any"),
        ("?!", "any"),
        ("🚀 \u202e من", "any"),
    ],
)
def test_what_is_wanted(question: str, expected: str) -> None:
    assert expected_type(question) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Name the planets", True),
        ("  LIST all continents", True),
        ("Which planets are there?", True),
        ("What are the oceans?", True),
        ("How many oceans are there?", True),
        ("What is an ocean?", False),
        ("The names of the oceans", False),
        ("", False),
    ],
)
def test_all_of_a_kind_may_be_asked_for(question: str, expected: bool) -> None:
    assert asks_for_list(question) is expected


def test_words_of_asking_are_stems_as_keywords_gives_them() -> None:
    assert keywords("please list how many there are located in total") <= QUESTION_STEMS
    assert "capit" not in QUESTION_STEMS
