import pytest

from qa_lab.reference.spelling import Speller


@pytest.fixture
def speller():
    return Speller(["Reimbursement of expenses takes a week.", "The evacuation plan hangs in the kitchen."])


def test_unknown_words_become_the_nearest_of_the_documents(speller):
    assert speller.correct("Who pays my expences in the kithcen?") == "Who pays my expenses in the kitchen?"


def test_words_of_the_language_and_names_are_unchanged(speller):
    for question in ("When is my vacation?", "Who is Kitchin?", "zzzzzz?", "exp?", "r2d2x?"):
        assert speller.correct(question) == question


def test_frequent_words_win_ties():
    assert Speller(["blorpa blorpb blorpb"]).correct("blorpx") == "blorpb"
