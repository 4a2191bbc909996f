import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.answering.evidence.question_words import AskedPlaces, names, question_words, words_of_terms
from qa_bot.answering.tiling.question_parts import asks_for_steps
from rankers.passage_evidence import NAMED


def texts(words):
    return [word.text for word in words]


def test_capitals_mark_names_except_at_sentence_starts():
    words = [*question_words("Who is Ada Lovelace? She knew Babbage.")]
    assert texts(word for word in words if word.name) == ["Ada", "Lovelace", "Babbage"]
    assert [word.position for word in words] == [*range(7)]


def test_headlines_and_capital_letters_have_no_names():
    assert names("How To Change Your Garden Hose Safely") == frozenset()
    assert names("WHERE IS PARIS") == frozenset()
    assert names("how far is Paris") == {"pari"}  # the stem
    assert names("Wie alt wird eine Katze?", "en") == {"katz"}
    assert names("Wie alt wird eine Katze?", "en", "de") == frozenset()


def test_adjacent_names_are_merged():
    words = words_of_terms("did Zorblax Quuxley see the moon with Zorblax?", ["quuxley", "zorblax", "moon"])
    assert texts(words) == ["Zorblax Quuxley", "Zorblax", "moon"]


def test_words_are_distinct_and_in_the_order_of_the_terms():
    assert texts(words_of_terms("a cat, the dog, THE CAT and a cow", ["dog", "cat"])) == ["dog", "cat"]
    assert words_of_terms("nothing of that", ["dog"]) == []


def test_one_word_may_have_several_terms():
    (word,) = words_of_terms("how do I house-train a puppy", ["train"])
    assert (word.text, word.terms) == ("house-train", ("hous", "train"))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I set up the VPN?", True),
        ("so how can one claim expenses", True),
        ("What should I do after a leak?", True),
        ("Steps for a release", True),
        ("Wie bekomme ich einen Ausweis?", True),
        ("Was ist bei einem Brand zu tun?", True),
        ("Was muss ich bei einem Brand tun?", True),
        ("Was tun, wenn es brennt?", True),
        ("How many steps has the tower?", True),  # the word is there
        ("How much does it cost?", False),
        ("how often is the pot scraped", False),
        ("Who approves leave?", False),
        ("", False),
    ],
)
def test_questions_for_steps(question, expected):
    assert asks_for_steps(question) is expected


@pytest.mark.parametrize(
    ("question", "headings", "expected"),
    [
        ("Was steht in § 6?", ("Satzung", "§ 6 Versammlung"), True),
        ("Was steht in §6a?", ("§ 6a Rechte",), True),
        ("What does section 4.2 say?", ("4.2 Noise",), True),
        ("Is article 12 still valid?", ("Article 12. Fees",), True),
        ("Was regelt Abschnitt 3?", ("§ 13 Kosten", "30 Jahre"), False),
        ("What happened in section 4?", ("4.2 Noise", "The 4 rules"), False),
        ("Which 6 rules are there?", ("§ 6 Fees",), False),  # no section
        ("Was steht in § 6?", (), False),
    ],
)
def test_a_question_names_a_section_by_its_number(question, headings, expected):
    assert AskedPlaces.of(question).names(headings) is expected


@given(st.text(max_size=200), st.lists(st.text(max_size=8), max_size=4))
def test_any_text_can_be_read(text, terms):
    words = [*question_words(text)]
    assert all(word.text in text for word in words)
    assert names(text) <= {term for word in words for term in word.terms}
    matches = words_of_terms(text, [*terms, *(term for word in words[:3] for term in word.terms)])
    assert len({word.text.casefold() for word in matches}) == len(matches)


def test_the_point_of_a_title_ends_no_sentence() -> None:
    assert "stein" in names("What is Dr. Stein's phone number?", "en")


@pytest.mark.parametrize(
    "question", ["Que faire en cas d'accident ?", "Comment réserver ?", "Was mache ich bei Frost?"]
)
def test_french_and_german_questions_ask_for_steps(question: str) -> None:
    assert asks_for_steps(question)


def test_a_clause_is_named_by_a_number_with_points() -> None:
    places = AskedPlaces.of("What does clause 3.2 say?")
    assert places.has_clause("3.1 Goods are new.\n3.2 Defects are told at once.")
    assert not places.has_clause("Clause 3.2 survives the end.\n3.21 Goods are new.")
    assert not AskedPlaces.of("What does clause 3 say?").has_clause("3 Quality"), "steps and dates begin with numbers"


def test_the_share_of_the_codes_of_a_question() -> None:
    places = AskedPlaces.of("Is E07 or the R-800 meant?")
    assert places.codes == {"E07", "R-800"}
    assert places.share_of_codes("Code E 07\nThe battery of the R800 is too hot.") == 1.0
    assert places.share_of_codes("E071, and the R800s") == 0.5
    assert places.share_of_codes("E07", {"R-800"}) == pytest.approx((1 + NAMED) / 2)
    assert AskedPlaces.of("Is it hot?").share_of_codes("E07") == 0.0


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("tracklist", "- **core**: The part.\n- **tracklist**: The name of the queue.", True),
        ("what is a track list?", "Track list: the queue.", True),
        ("tracklist", "*Tracklist:*\n\n- Renamed.", False),  # a heading
        ("tracklist", "The tracklist is long.", True),
        ("tracklist", "Clear the tracklist: press X.", False),
        ("What is the deadline?", "The deadline is in May.", False),  # asks for one of them, and no definition
        ("When is the tracklist empty?", "Tracklist: the queue.", False),
        ("phone number", "Phone number: yours.", False),  # asks for a contact
    ],
)
def test_the_definition_of_a_term_that_the_question_only_names(question: str, text: str, expected: bool) -> None:
    assert AskedPlaces.of(question).defines(text) is expected
