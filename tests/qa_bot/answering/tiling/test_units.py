"""Units: how well each answers, and which support an answer."""

from __future__ import annotations

import numpy as np
import pytest

from qa_bot.answering.tiling.units import (
    DEFINES,
    MONEY,
    NAMED_ROW,
    NO_AMOUNT,
    WORDS_OF_ROWS,
    SoughtUnits,
    is_caption,
    supporting,
    unit_scores,
)
from qa_core.text.analysis import terms
from qa_core.types import Clue, Passage, Place, Source

TEXT = "Cats purr. Dogs bark at cats. Owls hoot."
UNITS = [(0, 10), (11, 29), (30, 40)]


def test_words_of_the_question_count_by_their_rarity() -> None:
    passage = Passage("p", TEXT, Clue(), Source("animals"))
    cosines = np.array([0.5, 0.4, 0.1], np.float32)
    scores = unit_scores(passage, UNITS, cosines, {"cat": 1.0, "bark": 3.0}, "en")
    assert scores.tolist() == pytest.approx([0.5 + 0.2 * 1 / 4, 0.4 + 0.2 * 4 / 4, 0.1])
    assert unit_scores(passage, UNITS, cosines, {}, "en") is cosines, "a question without content words"
    german = unit_scores(passage, UNITS, cosines, {"cat": 1.0, "bark": 3.0}, "de")
    assert german.tolist() == pytest.approx([0.5 + 0.6 * 1 / 4, 0.4 + 0.6 * 4 / 4, 0.1]), "words count more"


def test_words_of_the_headings_tell_no_units_apart() -> None:
    passage = Passage("p", TEXT, Clue(), Source("animals"))
    cosines = np.array([0.5, 0.4, 0.1], np.float32)
    scores = unit_scores(passage, UNITS, cosines, {"cat": 1.0, "bark": 3.0}, "en", context={"bark"})
    assert scores.tolist() == pytest.approx([0.5 + 0.2 * 1 / 4, 0.4 + 0.2 * 1 / 4, 0.1])


@pytest.mark.parametrize(
    ("heading", "is_topic", "first"),
    [
        ("Barking", True, True),
        ("Barking", False, False),
        ("Barking of wolves and foxes", True, False),  # about more than the topic
    ],
)
def test_a_topic_shows_its_section_from_the_beginning(heading: str, is_topic: bool, first: bool) -> None:
    passage = Passage("p", TEXT, Clue(), Source("animals", "Dogs"), Place(heading=(heading,)))
    cosines, rarity = np.array([0.1, 0.9, 0.1], np.float32), {"bark": 1.0, "dog": 3.0}
    context = {"dog", *terms(heading)}
    scores = unit_scores(passage, UNITS, cosines, rarity, "en", context=context, sought=SoughtUnits(is_topic=is_topic))
    assert int(scores.argmax()) == (0 if first else 1)


def test_the_unit_with_the_code_of_the_question_answers() -> None:
    passage = Passage("p", "Options for owls\n- -t: time\n- -m: mice", Clue(), Source("owls"))
    units = [(0, 16), (17, 27), (28, 38)]
    cosines = np.array([0.6, 0.2, 0.3], np.float32)
    scores = unit_scores(passage, units, cosines, {"option": 1.0}, "en", sought=SoughtUnits({"-t"}))
    assert scores.tolist() == pytest.approx([0.6 + 0.2, 0.2 + 0.5, 0.3])
    assert unit_scores(passage, units, cosines, {"t": 1.0}, "en", sought=SoughtUnits({"-x"})).argmax() == 0


def test_the_rows_of_a_table_answer_and_not_the_line_above() -> None:
    text = "Sizes of cats:\n| cat | cm |\nSizes of dogs:\nlarge"
    units = [(0, 14), (15, 27), (28, 42), (43, 48)]
    passage = Passage("p", text, Clue(), Source("animals"))
    scores = unit_scores(passage, units, np.full(4, 0.5, np.float32), {"owl": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.45, 0.5, 0.5, 0.5])


@pytest.mark.parametrize(
    "caption", ["Figure 3.50. Drawing the line", "**Abb. 2:** Drawing the line", "    Fig. 4: Line"]
)
def test_the_caption_of_a_picture_does_not_answer(caption: str) -> None:
    text = f"{caption}\n\nHold the key. Click again."
    start = len(caption) + 2
    units = [(0, len(caption)), (start, start + 13), (start + 14, len(text))]
    passage, cosines = Passage("p", text, Clue(), Source("gimp")), np.array([0.9, 0.5, 0.4], np.float32)
    scores = unit_scores(passage, units, cosines, {"line": 1.0, "draw": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.39, 0.5, 0.4])
    assert unit_scores(passage, units, cosines, {"figur": 1.0}, "en").argmax() == 0, "the question is about it"
    assert unit_scores(passage, units[:1], cosines[:1], {"line": 1.0}, "en")[0] >= 0.9, "there is nothing else"


@pytest.mark.parametrize("line", ["TODO project storage rules.", "- **TBD**: storage.", "[FIXME] storage of projects"])
def test_what_an_author_will_write_later_does_not_answer(line: str) -> None:
    text = f"{line}\nLeave it on the shelf."
    units, cosines = [(0, len(line)), (len(line) + 1, len(text))], np.array([0.9, 0.5], np.float32)
    scores = unit_scores(Passage("p", text, Clue(), Source("rules")), units, cosines, {"storag": 1.0}, "en")
    assert scores.argmax() == 1


@pytest.mark.parametrize(
    "line", ["Figure 3 shows the line", f"Figure 3. Drawing{' the line' * 10}", "Draw. Figure 3. A"]
)
def test_other_lines_about_pictures_may_answer(line: str) -> None:
    assert not is_caption(f"Lines\n{line}", (6, 6 + len(line)))


def test_a_row_that_the_question_names_by_its_number_gains() -> None:
    text = "| Size | cm |\n| --- | --- |\n| 1 – 3 | 20 |\n| 4 – 8 | 24 |"
    units = [(text.index("| 1"), text.index("\n| 4")), (text.index("| 4"), len(text))]
    passage = Passage("p", text, Clue(), Source("coats"))
    scores = unit_scores(passage, units, np.full(2, 0.5, np.float32), {"size": 1.0, "size5": 4.0}, "en")
    assert scores.tolist() == pytest.approx([0.5 + 0.4 / 5, 0.5 + 0.4 / 5 + 0.2]), "both have the header's “size”"


def test_units_with_half_of_the_best_cosine_support_the_answer() -> None:
    assert supporting(TEXT, UNITS, np.array([0.8, 0.4, 0.39], np.float32)) == tuple(UNITS[:2])
    assert supporting(TEXT, UNITS, np.array([0.1, 0.2, 0.8], np.float32)) == (UNITS[2],)
    assert supporting("", [], np.zeros(0, np.float32)) == ()


def test_a_list_is_not_torn_apart() -> None:
    text = "Bring:\n- a pen\n- a cap\nGood luck."
    units = [(0, 6), (7, 14), (15, 22), (23, 33)]
    assert supporting(text, units, np.array([0.9, 0.1, 0.1, 0.1], np.float32)) == tuple(units[:3])
    assert supporting(text, units, np.array([0.1, 0.9, 0.1, 0.1], np.float32)) == tuple(units[1:3])
    assert supporting(text, units, np.array([0.1, 0.1, 0.1, 0.9], np.float32)) == (units[3],)


@pytest.mark.parametrize(("item", "count"), [("- word", 2), ("1. step", 12)])
def test_of_a_long_list_only_steps_are_whole(item: str, count: int) -> None:
    text = "\n".join([item] * 12)
    units = [(at * (len(item) + 1), at * (len(item) + 1) + len(item)) for at in range(12)]
    assert len(supporting(text, units, np.array([0.9, 0.9, *[0.1] * 10], np.float32))) == count


def test_a_command_follows_the_line_that_announces_it() -> None:
    text = "Remove it:\n\n```\nrm it\n```\n\nBye."
    units = [(0, 10), (12, 25), (27, 31)]
    assert supporting(text, units, np.array([0.9, 0.1, 0.1], np.float32)) == tuple(units[:2])
    assert supporting(text, units, np.array([0.1, 0.1, 0.9], np.float32)) == (units[2],)


@pytest.mark.parametrize(
    ("title", "heading", "gain"), [("Barking cats", (), 0.2), ("Barking cats", ("Owls",), 0.0), ("", ("Barking",), 0.2)]
)
def test_below_a_heading_that_names_what_is_asked_the_beginning_gains(
    title: str, heading: tuple[str, ...], gain: float
) -> None:
    passage = Passage("p", TEXT, Clue(), Source("animals", title=title), Place(heading))
    cosines = np.array([0.1, 0.4, 0.5], np.float32)
    scores = unit_scores(passage, UNITS, cosines, {"cat": 1.0, "bark": 3.0}, "en", context={"cat", "bark"})
    assert scores.tolist() == pytest.approx([0.1 + gain, 0.4, 0.5])


def test_an_item_whose_term_names_what_is_asked_gains() -> None:
    items = ["- **--all**: Cats.", "- **Barking cats**: Dogs.", "- Barking **cats**: Owls."]
    text = "\n".join(items)
    units = [(text.index(item), text.index(item) + len(item)) for item in items]
    passage = Passage("p", text, Clue(), Source("animals"))
    cosines = np.array([0.1, 0.4, 0.5], np.float32)
    scores = unit_scores(passage, units, cosines, {"cat": 1.0, "bark": 3.0}, "en", context={"cat", "bark"})
    assert scores.tolist() == pytest.approx([0.1, 0.4 + 0.2, 0.5])


def test_a_row_also_has_the_words_of_its_header() -> None:
    text = "The resident rate is for residents.\n| Ticket | Guest | Resident |\n| --- | --- | --- |\n| Adult | 5 | 3 |"
    units = [(0, 35), (text.index("| Adult"), len(text))]
    passage = Passage("p", text, Clue(), Source("pool"))
    scores = unit_scores(passage, units, np.full(2, 0.5, np.float32), {"resid": 1.0, "adult": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.5 + 0.2 / 2, 0.5 + 0.4 + NAMED_ROW])


def test_a_german_unit_has_verbs_with_the_prefix_apart() -> None:
    text = "Leitungen ändert der Fachmann. Fällt der Strom aus, prüfen Sie die Sicherung."
    passage = Passage("p", text, Clue(), Source("strom"))
    (term,) = terms("ausfällt", "de")
    scores = unit_scores(passage, [(0, 30), (31, 77)], np.full(2, 0.5, np.float32), {term: 1.0}, "de")
    assert scores.tolist() == pytest.approx([0.5, 0.5 + 0.6])


def test_words_count_more_in_rows() -> None:
    text = "| Alt+D | debugs |\n| Alt+S | takes a screenshot |\nSee the page on screenshots."
    passage = Passage("p", text, Clue(), Source("keys"))
    units = [(0, 18), (19, 49), (50, 78)]
    scores = unit_scores(passage, units, np.array([0.4, 0.3, 0.3], np.float32), {"screenshot": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.4, 0.3 + WORDS_OF_ROWS, 0.3 + 0.2])


@pytest.mark.parametrize(
    "definition",
    [
        "A client is a person who buys.",
        "- **Client**: a person who buys.",
        "1. The clients are persons who buy.",
        "Client (C) means a person who buys.",
        "Client – a person who buys",
    ],
)
def test_the_definition_of_a_term_answers_what_it_is(definition: str) -> None:
    text = f"Ask the client.\n{definition}\nClients pay late."
    second = len("Ask the client.\n"), len(f"Ask the client.\n{definition}")
    units = [(0, 15), second, (second[1] + 1, len(text))]
    passage = Passage("p", text, Clue(), Source("glossary"))
    cosines = np.full(3, 0.5, np.float32)
    plain = unit_scores(passage, units, cosines, {"client": 1.0}, "en")
    scores = unit_scores(passage, units, cosines, {"client": 1.0}, "en", sought=SoughtUnits(defined="client"))
    assert (scores - plain).tolist() == pytest.approx([0, DEFINES, 0])


def test_a_question_in_the_text_does_not_answer_but_the_unit_below_it() -> None:
    text = "How high are the rates? The loan is new. **Rates?** They are 477 euros. Call us?"
    units = [(0, 23), (24, 40), (41, 51), (52, 71), (72, 80)]
    passage = Passage("p", text, Clue(), Source("loans"))
    cosines = np.array([0.9, 0.4, 0.8, 0.2, 0.1], np.float32)
    scores = unit_scores(passage, units, cosines, {"owl": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.79, 0.9, 0.79, 0.8, 0.1])
    alone = unit_scores(passage, units[:1], cosines[:1], {"owl": 1.0}, "en")
    assert alone.tolist() == pytest.approx([0.9]), "a passage of questions alone"


def test_a_row_whose_first_cell_the_question_has_whole_gains() -> None:
    text = "| File | Use |\n| --- | --- |\n| .drl | Holes |\n| .gbr | Layers |"
    units = [(29, 45), (46, 63)]
    cosines = np.array([0.3, 0.4], np.float32)
    scores = unit_scores(Passage("p", text, Clue(), Source("files")), units, cosines, {"drl": 2.0, "file": 1.0}, "en")
    assert scores.tolist() == pytest.approx([0.3 + 0.4 + NAMED_ROW, 0.4 + 0.4 / 3])
    rare = {"drl": 0.5, "file": 1.0, "program": 2.0}
    scores = unit_scores(Passage("p", text, Clue(), Source("files")), units, cosines, rare, "en")
    assert scores[0] == pytest.approx(0.3 + 0.4 * 1.5 / 3.5), "the cell is a small part of the question"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How much is the ride?", [0.0, MONEY, 0.0]),
        ("Was kostet die Fahrt?", [0.0, MONEY, 0.0]),
        ("How long is the ride?", [-NO_AMOUNT, -NO_AMOUNT, 0.0]),
        ("Where does the ride begin?", [0.0, 0.0, 0.0]),
    ],
)
def test_units_with_the_amount_that_the_question_asks_for_are_better(question: str, expected: list[float]) -> None:
    text = "The ride is fun. It costs 5 €. It lasts two hours."
    units = [(0, 16), (17, 30), (31, 50)]
    passage = Passage("p", text, Clue(), Source("rides"))
    cosines = np.array([0.5, 0.5, 0.5], np.float32)
    scores = unit_scores(passage, units, cosines, {"none": 1.0}, "en", sought=SoughtUnits(question=question))
    assert (scores - cosines).tolist() == pytest.approx(expected)
