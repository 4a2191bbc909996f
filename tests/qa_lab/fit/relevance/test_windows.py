"""Windows around sentences, in texts of a few words."""

import random

import pytest

from qa_lab.fit.relevance.windows import (
    SHORTEST,
    SIZES,
    below_title,
    drawn_window,
    likeliest_sentence,
    sentences,
    without_answer,
    words_of,
)

TEXT = "Cats sleep all day. Dogs bark!\nBirds sing"


def test_words_have_three_letters_and_no_case() -> None:
    assert words_of("The KEY is in a box, key 104") == {"the", "key", "box", "104"}


def test_sentences_and_lines_are_spans() -> None:
    parts = [TEXT[slice(*span)] for span in sentences(TEXT)]
    assert parts == ["Cats sleep all day.", "Dogs bark!", "Birds sing"]
    assert sentences("") == [(0, 0)]


def test_the_likeliest_sentence_has_most_words_of_the_question() -> None:
    assert TEXT[slice(*likeliest_sentence("Why do dogs bark?", TEXT, random.Random(0)))] == "Dogs bark!"


def test_several_likeliest_sentences_are_all_drawn() -> None:
    rng = random.Random(0)
    drawn = {likeliest_sentence("How?", TEXT, rng) for _ in range(30)}
    assert drawn == set(sentences(TEXT))


def test_windows_hold_the_lead_at_several_places_and_vary_in_size() -> None:
    text = "word " * 300 + "ANSWER " + "word " * 300
    start = text.index("ANSWER")
    rng = random.Random(0)
    windows = [drawn_window(text, (start, start + 6), rng) for _ in range(60)]
    assert all("ANSWER" in window for window in windows)
    assert {min(SIZES, key=lambda size: abs(len(window) - size)) for window in windows} == set(SIZES)
    shares = {round(window.index("ANSWER") / len(window), 1) for window in windows}
    assert shares == {0.2, 0.3, 0.5, 0.6}


def test_a_window_near_the_end_has_its_whole_size() -> None:
    text = "word " * 300 + "ANSWER"
    assert len(drawn_window(text, (len(text) - 6, len(text)), random.Random(0))) >= min(SIZES) - 5


def test_without_a_lead_a_window_is_the_beginning() -> None:
    text = "ANSWER " + "word " * 300
    assert len(drawn_window(text, None, random.Random(0))) in SIZES
    assert drawn_window(text, None, random.Random(0)).startswith("ANSWER")


@pytest.mark.parametrize("answer", ["sleep all day. Dogs", "Cats sleep all day. Dogs bark!", "day. Dogs b"])
def test_all_sentences_that_the_answer_touches_are_left_out(answer: str) -> None:
    rest = "Birds sing in the tall trees behind the house of the old miller, says Ann."
    text = f"Cats sleep all day. Dogs bark! {rest}"
    start = text.index(answer)
    assert without_answer(text, (start, start + len(answer))) == rest
    assert len(rest) > SHORTEST


def test_too_short_a_rest_is_empty() -> None:
    assert without_answer(TEXT, (0, 4)) == ""


def test_a_passage_is_plain_text_below_its_title() -> None:
    assert below_title("Zoo", "Cats", "They **sleep**.") == "Zoo › Cats. They sleep."
    assert below_title("", "", "They sleep.") == "They sleep."
