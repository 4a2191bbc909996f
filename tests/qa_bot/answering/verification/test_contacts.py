"""Contacts: questions that ask for one, and texts that name one."""

import pytest

from qa_bot.answering.verification.contacts import NO_CONTACT, AskedContact


@pytest.mark.parametrize(
    "question",
    [
        "Who do I ask about parking?",
        "whom should we contact when the lift is stuck",
        "My key is gone, who can I phone at night?",
        "who to call about a leak",
        "How do I get hold of the caretaker?",
        "What number do I call?",
        "what is the e-mail address of the library",
        "An wen wende ich mich bei Wasserschaden?",
        "Wen rufe ich nachts an, und wen kann ich sonst fragen?",
        "Qui dois-je appeler la nuit ?",
    ],
)
def test_questions_that_ask_for_a_contact(question):
    contact = AskedContact.of(question)
    assert contact != NO_CONTACT
    assert contact.is_in("Caretaker: extension 3110.")
    assert not contact.is_in("The caretaker works until 3:30.")


@pytest.mark.parametrize(
    "question",
    [
        "Who wrote the handbook?",
        "How do I set up e-mail on my phone?",
        "Who can ask for a loan?",
        "Wer hat das Haus gebaut?",
    ],
)
def test_other_questions(question):
    assert AskedContact.of(question) == NO_CONTACT
    assert not AskedContact.of(question).is_in("help@inn.example")


@pytest.mark.parametrize(
    ("text", "is_contact"),
    [
        ("Write to *help*`@inn.example`.", True),
        ("Reception 01632 960 123", True),
        ("Reception: +49 30 1234-567", True),
        ("(212) 555-0100 or 1-800-555-0100", True),
        ("Tel. 41 00", True),
        ("Ask in #front-desk.", True),
        ("Beds cost £1,250,000 in 2024, 0.5% more", False),
        ("From 2024-05-31 to 2025-01-02", False),
        ("## Rooms\nRoom 12 at 10:30", False),
    ],
)
def test_texts_that_name_a_contact(text, is_contact):
    assert AskedContact(frozenset({"ask"})).is_in(text) == is_contact


def test_a_question_names_what_it_wants_and_its_words_ask():
    contact = AskedContact.of("Whom do I turn to, and what is the phone number?")
    assert contact.by_name
    assert {"whom", "turn", "phone", "number"} <= contact.words
    assert not AskedContact.of("Who do I ask?").by_name


def test_a_telephone_number_is_no_fax_number():
    contact = AskedContact.of("What is the fax number of the office?")
    assert not contact.is_in("Office: telephone 01999 480 150.")
    assert contact.is_in("Office: telephone 01999 480 150, fax 01999 480 151.")
