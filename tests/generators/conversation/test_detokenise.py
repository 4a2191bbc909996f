import pytest
from hypothesis import given
from hypothesis import strategies as st

from generators.conversation.detokenise import Casing, readable, tokens, well_formed
from qa_core.text.analysis import normalise

PLAIN = Casing({})
LIKE_PEOPLE = st.text(st.sampled_from("abI mtsn'dre ,.!?-\"()$5é’“–\n"), max_size=60)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I don’t -- really!!", "i do n't – really !"),
        ("She ’ s my co-worker's friend.", "she 's my co - worker 's friend ."),
        ("It costs $3.50, or 1,000 yen…", "it costs $ 3.50 , or 1,000 yen ..."),
        ("DON'T - I can't", "do n't – i ca n't"),
        ("the 4th ... what", "the 4th ... what"),
        ("doesn ' t", "does n't"),
        ("", ""),
    ],
)
def test_words_of_texts(text: str, words: str):
    assert tokens(text) == words.split()


@pytest.mark.parametrize(
    "text",
    [
        "I don't know – maybe I'm wrong.",
        'He said "hello there" and left (early).',
        "My co-worker paid $3.50, or 5% more... Really? Yes!",
        "Well, it's ours; they've won.",
        "Did you like Star Wars?",
        "2001 was good and/or strange.",
    ],
)
def test_tidy_sentences_survive_a_round_trip(text: str):
    assert readable(tokens(text), Casing({"star": "Star", "wars": "Wars"})) == text


def test_names_get_their_most_frequent_form_within_sentences():
    texts = [
        "We saw Star Wars and met Matt.",
        "I like Star Wars, Matt.",
        "A star is born in Star Wars with Matt",
        "Star gazers sleep. Star light!",  # sentence starts do not count
        "ALL STAR",
        "matt is nobody here and matt knows",  # words without a capital do not count
    ]
    casing = Casing.of(texts)
    assert dict(casing.forms) == {"matt": "Matt", "star": "Star", "wars": "Wars"}
    assert Casing.of(texts, minimum=4).forms == {"star": "Star"}
    assert Casing.parsed(casing.lines()) == casing
    assert Casing.parsed("") == PLAIN
    assert readable(["i", "'m", "matt", "."], casing) == "I'm Matt."


@given(st.text(max_size=80))
def test_letters_survive_the_round_trip(text: str):
    def letters(text: str) -> str:
        return "".join(c for c in normalise(text).lower() if c.isalnum())

    assert letters(readable(tokens(text), PLAIN)) == letters(text)


@given(LIKE_PEOPLE)
def test_tidying_is_idempotent(text: str):
    once = readable(tokens(text), PLAIN)
    assert "  " not in once
    assert once == once.strip()
    assert [word for word in tokens(once) if word[0].isalnum()] == [word for word in tokens(text) if word[0].isalnum()]


def test_readable_text_of_marks_and_quotes():
    assert readable([], PLAIN) == ""
    assert readable(["...", "ok"], PLAIN) == "... Ok"
    assert readable(['"', "hi", '"', "she", "said"], PLAIN) == '"Hi" she said'


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("i can n't go .", "I can't go."),
        ("i wo n't", "I won't"),
        ("they will n't .", "They won't."),
        ("do n't", "Don't"),
    ],
)
def test_negations_are_contracted(words: str, text: str):
    assert readable(words.split(), PLAIN) == text


def test_a_negation_must_follow_an_auxiliary():
    assert well_formed(["i", "ca", "n't", ",", "i", "do", "n't"])
    assert well_formed([])
    assert not well_formed(["the", "n't"])
    assert not well_formed(["n't", "you", "?"])
