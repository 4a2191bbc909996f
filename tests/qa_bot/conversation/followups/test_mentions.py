"""Mentions of a history: what a follow-up can refer to."""

import pytest

from qa_bot.conversation.followups.mentions import Exchange, Mention, mentions


def test_a_mention_counts_the_questions_that_name_it() -> None:
    answer = "Green tea is made of young leaves, and leaves are picked by hand."
    history = [Exchange("What is green tea?", answer), Exchange("Where does green tea grow?")]
    first, *others = mentions(history)
    assert (first.text, first.age, first.times, first.opening, first.answered) == ("green tea", 1, 2, True, False)
    assert [(mention.text, mention.answered) for mention in others] == [("leaves", True)]


def test_governing_and_governed_mentions() -> None:
    values = {
        mention.text: (mention.governs, mention.governed)
        for mention in mentions([Exchange("What is the price of tea?")])
    }
    assert values == {"the price": (True, False), "tea": (False, True)}


def test_plural_of_a_mention() -> None:
    (mention,) = mentions([Exchange("What is a virtual machine?")])
    assert (mention.text, mention.many) == ("a virtual machine", "virtual machines")


@pytest.mark.parametrize(
    ("text", "man", "woman"),
    [
        ("my father", True, False),
        ("a nurse", True, True),
        ("Marie Curie", True, True),
        ("Leonardo da Vinci", True, True),
        ("the Louvre", False, False),
        ("my toe", False, False),
    ],
)
def test_only_living_mentions_are_he_or_she(text: str, man: bool, woman: bool) -> None:
    mention = Mention(text, 1, 0)
    assert (mention.living("man"), mention.living("woman")) == (man, woman)


def test_the_title_of_an_answer_names_the_topic() -> None:
    values = {
        mention.text: mention.titled for mention in mentions([Exchange("what does gout do to toes?", "", "Gout")])
    }
    assert values == {"gout": True, "toes": False}
