import pytest

from qa_bot.followups.mentions import Exchange, is_plural, mentions, phrases


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("What are lung cancer's symptoms?", ["lung cancer", "symptoms"]),
        ("What is the Bronze Age collapse?", ["the Bronze Age collapse"]),
        ("How does a 529 plan work?", ["a 529 plan"]),
        ("Did Ann Lee cook rice?", ["Ann Lee"]),
        ("Does green tea help?", ["green tea"]),
        ("Wer ist der Präsident von Frankreich?", []),
    ],
)
def test_phrases_carry_what_belongs_to_them(text: str, found: list[str]) -> None:
    assert [phrase.text for phrase in phrases(text)] == found


def test_places_are_those_of_the_text() -> None:
    text = "What is the role of sharks' teeth in the sea?"
    assert [text[found.start : found.end] for found in phrases(text)] == ["the role", "sharks", "teeth", "the sea"]


def test_a_mention_counts_the_questions_that_name_it() -> None:
    history = [Exchange("What is green tea?", "Green tea is made of leaves."), Exchange("Where does green tea grow?")]
    first, *others = mentions(history)
    assert (first.text, first.age, first.times, first.opening, first.answered) == ("green tea", 1, 2, True, False)
    assert [(each.text, each.answered) for each in others] == [("leaves", True)]


def test_what_governs_and_what_is_governed() -> None:
    told = {each.text: (each.governs, each.governed) for each in mentions([Exchange("What is the price of tea?")])}
    assert told == {"the price": (True, False), "tea": (False, True)}


@pytest.mark.parametrize(
    ("phrase", "plural"),
    [("sharks", True), ("diabetes", False), ("a virus", False), ("glass", False), ("people", True), ("A and B", True)],
)
def test_number_is_guessed_from_the_last_word(phrase: str, plural: bool) -> None:
    assert is_plural(phrase) is plural


def test_they_are_many() -> None:
    (mention,) = mentions([Exchange("What is a virtual machine?")])
    assert (mention.text, mention.many) == ("a virtual machine", "virtual machines")
