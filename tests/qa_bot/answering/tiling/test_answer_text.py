"""Answers that begin with the sentences that answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qa_bot.answering.tiling.answer_text import tile_leads, within_one
from qa_core.text.sentences import sentences
from qa_core.types import Candidate, Clue, Details, Passage, Place, Signals, Source, Span

TEXT = "Cats are animals. They sleep for sixteen hours. At night they hunt. Mice fear them."
UNITS = [(0, 17), (18, 47), (48, 67), (68, 83)]
TABLE = "| Room | Seats |\n| --- | --- |\n" + "\n".join(f"| room {n} | {n} |" for n in range(40))


def passage(text: str = TEXT, *, kind: str = "prose", name: str = "cats", archived: bool = False) -> Passage:
    return Passage(f"{name}#0", text, Clue(), Source(name, details=Details(archived=archived)), Place(kind=kind))


def candidate(of: Passage, lead: tuple[int, int] | None = None, score: float = 3.0) -> Candidate:
    return Candidate(of, score, Signals(lead=lead))


def test_an_answer_begins_with_its_lead_and_ends_with_its_passage() -> None:
    text = f"{'Words before it. ' * 60}{TEXT}"
    lead = (text.index("At"), text.index(" Mice"))
    tiling = tile_leads([candidate(passage(text), lead)], limit=1000, sentences=sentences)
    assert tiling.text == TEXT[48:]
    assert tiling.lead == (0, 19)
    (tile,) = tiling.tiles
    assert text[slice(*tile.source_span)] == tiling.text[slice(*tile.span)] == tiling.text


def test_what_precedes_the_lead_of_a_short_passage_follows_it() -> None:
    before = "Bring a towel. " * 8
    best = candidate(passage(f"{before}{TEXT}"), (len(before) + 48, len(before) + 67))
    tiling = tile_leads([best], limit=1000, sentences=sentences)
    assert tiling.text == f"{TEXT[48:]}\n\n{before}{TEXT[:47]}"
    assert tiling.lead == (0, 19)
    (tile,) = tiling.tiles
    assert tile.candidate.passage.text == tiling.text
    assert tile_leads([best], limit=100, sentences=sentences).text == TEXT[48:], "no room for it"
    other = candidate(passage("Dogs bark.", name="dogs"), (0, 10))
    both = tile_leads([best, other], limit=1000, sentences=sentences)
    assert both.text == f"{tiling.text}\n\nDogs bark."
    assert [both.text[slice(*tile.span)] for tile in both.tiles] == [tiling.text, "Dogs bark."]


@pytest.mark.parametrize("limit", range(200, 420, 20))
def test_the_limit_holds_whatever_precedes_and_follows_the_lead(limit: int) -> None:
    other = candidate(passage("x" * (2 * limit // 5), name="dogs"), (0, 2 * limit // 5))
    for length in range(70, limit):
        before = "x" * length
        best = candidate(passage(f"{before} {TEXT[18:47]}"), (length + 1, length + 30))
        assert len(tile_leads([best, other], limit=limit, sentences=sentences).text) <= limit


def test_a_lead_that_is_seen_at_once_leaves_the_passage_whole() -> None:
    tiling = tile_leads([candidate(passage(), (18, 47))], limit=1000, sentences=sentences)
    assert (tiling.text, tiling.lead) == (TEXT, (18, 47))


def test_what_says_nothing_about_the_question_is_left_out_at_the_end() -> None:
    best = Candidate(passage(), 3.0, Signals(lead=(0, 17), supporting=((0, 17), (18, 47))))
    assert tile_leads([best], limit=1000, sentences=sentences).text == TEXT[:47]
    with_long_lead = Candidate(passage(), 3.0, Signals(lead=(18, 67), supporting=((18, 47),)))
    assert tile_leads([with_long_lead], limit=1000, sentences=sentences).text == TEXT[:67], "a lead is never cut"
    assert tile_leads([best], limit=30, sentences=sentences).text == TEXT[:17], "the limit holds"


def test_a_row_far_down_follows_the_header_of_its_table() -> None:
    start = TABLE.index("| room 38 |")
    tiling = tile_leads([candidate(passage(TABLE, kind="table"), (start, start + 14))], limit=1000, sentences=sentences)
    assert tiling.text == "| Room | Seats |\n| --- | --- |\n| room 38 | 38 |\n| room 39 | 39 |"
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == "| room 38 | 38"
    (tile,) = tiling.tiles
    assert TABLE[slice(*tile.source_span)] == tiling.text[slice(*tile.span)]


def test_a_short_table_is_whole_and_its_rows_keep_their_order() -> None:
    rows = [
        f"| {name} | {name.lower()} at the lake in summer |" for name in ("Ash", "Birch", "Cedar", "Elm", "Fir", "Oak")
    ]
    header = "| Hut | Place |\n| --- | --- |\n"
    text = header + "\n".join(rows)

    def shown(name: str) -> list[str]:
        start = text.index(f"| {name} |")
        lead = (start, start + len(rows[0]))
        tiling = tile_leads([candidate(passage(text, kind="table"), lead)], limit=1000, sentences=sentences)
        assert tiling.lead is not None
        assert tiling.text[slice(*tiling.lead)].startswith(f"| {name} |")
        return tiling.text.removeprefix(header).split("\n")

    assert shown("Birch") == rows
    assert shown("Oak") == rows


def test_the_line_that_announces_a_list_precedes_it() -> None:
    prose = "The cup is played every winter by all clubs of the league, and by guests."
    text = f"{prose}\n\nRounds:\n\n- First: May\n- Second: June"
    start = text.index("- First")
    tiling = tile_leads([candidate(passage(text), (start, len(text)))], limit=1000, sentences=sentences)
    assert tiling.text == f"Rounds:\n\n- First: May\n- Second: June\n\n{prose}"


def test_a_second_passage_follows_if_it_fits_and_is_not_older() -> None:
    first, old = candidate(passage(), (0, 17)), candidate(passage("Old.", name="old", archived=True), (0, 4))
    other = candidate(passage("Dogs bark.", name="dogs"), (0, 10))
    far = candidate(passage("Owls hoot.", name="owls"), (0, 10), score=2.2)
    pair = candidate(passage("They do.", name="pair"))
    tiling = tile_leads([first, old, far, pair, other, other], limit=1000, sentences=sentences)
    assert tiling.text == f"{TEXT}\n\nDogs bark."
    assert [tile.candidate.passage.source.document for tile in tiling.tiles] == ["cats", "dogs"]
    assert tile_leads([first, other], limit=90, sentences=sentences).text == f"{TEXT[:47]}\n\nDogs bark."
    assert tile_leads([first, other], limit=20, sentences=sentences).text == TEXT[:17], "no room for the other lead"
    assert tile_leads([candidate(passage()), other], limit=1000, sentences=sentences).text == TEXT, (
        "a pair stands alone"
    )
    assert tile_leads([], limit=10, sentences=sentences).text == ""


def test_a_second_passage_covers_half_of_what_the_first_does() -> None:
    first, other = candidate(passage(), (0, 17)), candidate(passage("Dogs bark.", name="dogs"), (0, 10))

    def tiled(covers: dict[str, float]) -> str:
        return tile_leads([first, other], limit=1000, sentences=sentences, covers=covers).text

    best, second = first.passage.id, other.passage.id
    assert tiled({best: 0.9, second: 0.4}) == TEXT
    assert tiled({best: 0.9, second: 0.5}) == tiled({best: 0.9}) == f"{TEXT}\n\nDogs bark."


def test_steps_are_whole_although_a_second_passage_follows() -> None:
    steps = candidate(passage("1. Open the lid.\n2. Push the cat in.", kind="steps"), (0, 35))
    other = candidate(passage("Cats bite.", name="bites"), (0, 10))
    assert tile_leads([steps, other], limit=50, sentences=sentences).text.endswith("2. Push the cat in.\n\nCats bite.")


def test_a_second_passage_says_something_new() -> None:
    first = candidate(passage(), (0, 17))
    copy = candidate(passage(f"{TEXT} Purr!", name="copy"), (0, 17))
    other = candidate(passage("Dogs bark.", name="dogs"), (0, 10))
    assert tile_leads([first, copy, other], limit=1000, sentences=sentences).text == f"{TEXT}\n\nDogs bark."


def test_a_second_passage_is_more_than_headings_and_not_of_the_same_table() -> None:
    first = candidate(passage(), (0, 17))
    source = Source("dogs", title="All about dogs")
    heading = Candidate(Passage("dogs#0", "All about dogs", Clue(), source), 2.9, Signals(lead=(0, 14)))
    assert tile_leads([first, heading], limit=1000, sentences=sentences).text == TEXT
    table = candidate(passage(TABLE, kind="table"), (30, 40))
    more = candidate(
        replace(passage("| a | b |\n| - | - |\n| c | d |", kind="table"), id="cats#1"), (18, 27), score=2.9
    )
    assert "| c |" not in tile_leads([table], limit=1000, sentences=sentences, passages=[table, more]).text


def test_a_second_passage_of_another_section_has_its_heading() -> None:
    first = candidate(replace(passage(), place=Place(heading=("Pets", "Cats"))), (18, 47))
    dogs = replace(passage("Dogs bark."), id="cats#1", place=Place(heading=("Pets", "Dogs")))
    text = tile_leads([first], limit=1000, sentences=sentences, passages=[first, candidate(dogs, (0, 10), 2.9)]).text
    assert text == f"{TEXT}\n\n**Dogs**\n\nDogs bark."
    for limit in range(30, len(text)):
        shorter = tile_leads([first], limit=limit, sentences=sentences, passages=[first, candidate(dogs, (0, 10), 2.9)])
        assert len(shorter.text) <= limit


def test_two_passages_of_a_document_are_one_tile() -> None:
    first = candidate(passage(), (0, 17))
    second = candidate(replace(passage("Cats purr."), id="cats#1"), (0, 10), score=2.9)
    tiling = tile_leads([first], limit=1000, sentences=sentences, passages=[first, second])
    (tile,) = tiling.tiles
    assert tiling.text == f"{TEXT}\n\nCats purr." == tile.candidate.passage.text
    assert tile.span == tile.source_span == (0, len(tiling.text))
    assert tiling.lead == (0, 17)
    demoted = candidate(passage("Dogs bark.", name="dogs"), (0, 10), score=1.0)
    again = candidate(demoted.passage, (0, 10), score=2.9)
    alone = tile_leads([first, demoted], limit=1000, sentences=sentences, passages=[first, again])
    assert alone.text == TEXT, "votes have moved the other document down"


@pytest.mark.parametrize(
    ("lead", "expected"),
    [((2, 5), (2, 5)), ((2, 14), (2, 10)), ((11, 20), (12, 20)), ((10, 12), None), (None, None), ((30, 40), None)],
)
def test_a_lead_is_inside_the_span_of_one_source(lead: Span | None, expected: Span | None) -> None:
    assert within_one(lead, [(0, 10), (12, 25)]) == expected


def test_an_answer_from_a_quote_begins_with_its_words() -> None:
    text = f"{'> Cats purr at night. ' * 20}\n>\n> Dogs bark."
    start = text.index(">\n> Dogs")
    tiling = tile_leads([candidate(passage(text), (start, len(text)))], limit=200, sentences=sentences)
    assert tiling.text == "> Dogs bark."


def test_short_steps_keep_their_order_behind_a_late_lead() -> None:
    text = f"1. {'Stay calm and keep people away. ' * 3}\n2. Call for help.\n3. Fill in the form."
    lead = (text.index("3."), len(text))
    tiling = tile_leads([candidate(passage(text, kind="steps"), lead)], limit=1200, sentences=sentences)
    assert tiling.text == text
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == "3. Fill in the form."


def test_a_yes_that_does_not_answer_is_nowhere_in_the_answer() -> None:
    text = f"No. The harvest is for your own use. {'Vegetables and fruit grow here. ' * 3}"
    faq = replace(passage(text), place=Place(heading=("May I sell vegetables?",)))
    tiling = tile_leads([candidate(faq, (4, 36))], limit=1200, sentences=sentences, question="What is the harvest for?")
    assert tiling.text.startswith("The harvest is for your own use.")
    assert "No." not in tiling.text


def test_a_capital_put_in_belongs_to_the_lead() -> None:
    text = "Yes, the harvest is for your own use."
    faq = replace(passage(text), place=Place(heading=("May I keep the harvest?",)))
    tiling = tile_leads([candidate(faq, (0, len(text)))], limit=1200, sentences=sentences, question="What is it for?")
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == "The harvest is for your own use."


def test_a_lead_that_goes_on_below_a_table_is_whole_with_the_rows_above_it() -> None:
    rows = "\n".join(f"| room {n} | {n} |" for n in range(12))
    text = f"| Room | Seats |\n| --- | --- |\n{rows}\n\nRooms are free on Friday."
    lead = (text.index("| room 11"), len(text))
    tiling = tile_leads([candidate(passage(text, kind="table"), lead)], limit=1200, sentences=sentences)
    assert tiling.text == text
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == "| room 11 | 11 |\n\nRooms are free on Friday."


def test_an_answer_from_a_long_table_has_the_rows_that_the_question_names() -> None:
    start = TABLE.index("| room 38 |")
    best = candidate(passage(TABLE, kind="table"), (start, start + 14))
    tiling = tile_leads([best], limit=1000, sentences=sentences, question="Seats in room 38 and room 7?")
    assert tiling.text == "| Room | Seats |\n| --- | --- |\n| room 7 | 7 |\n| room 38 | 38 |"


def test_a_second_passage_of_another_document_has_its_heading_or_title() -> None:
    other = replace(passage("Dogs bark loudly.", name="dogs"), source=Source("dogs", title="Dogs"))
    both = [candidate(passage(), (0, 17)), candidate(other, (0, 17), 2.9)]
    assert "\n\n**Dogs**\n\nDogs bark loudly." in tile_leads(both, limit=1200, sentences=sentences).text


def test_a_lead_that_refers_back_begins_with_the_sentence_before() -> None:
    first, second, third = "Hold the key for " + "a long while, " * 20 + "please.", "This checks all rows.", "Save it."
    text = f"Open the window first, since it lists what the bank has sent. {first} {second} {third}"
    start = text.index(second)
    candidate = Candidate(Passage("p", text, Clue(), Source("p")), 1.0, Signals(lead=(start, len(text))))
    tiling = tile_leads([candidate], limit=1000, sentences=sentences)
    assert tiling.text.startswith(f"{first} {second} {third}")
    assert tiling.lead is not None
    assert tiling.text[slice(*tiling.lead)] == f"{second} {third}"


@pytest.mark.parametrize(("evidence", "follows"), [(1.0, False), (2.25, False), (2.26, True), (2.9, True)])
def test_a_second_passage_has_more_than_three_quarters_of_the_evidence(evidence: float, follows: bool) -> None:
    best = Candidate(passage(), 3.0, Signals(lead=(0, 17), combined=3.0))
    other = Candidate(passage("Dogs bark.", name="dogs"), 3.0, Signals(lead=(0, 10), combined=evidence))
    text = tile_leads([best, other], limit=1000, sentences=sentences).text
    assert ("Dogs bark." in text) is follows


@pytest.mark.parametrize(("evidence", "follows"), [(0.5, False), (1.2, False), (1.25, True)])
def test_the_passage_of_an_open_part_has_more_than_two_fifths_of_the_evidence(evidence: float, follows: bool) -> None:
    best = Candidate(passage("The pool opens at nine."), 3.0, Signals(lead=(0, 23), combined=3.0))
    ticket = passage("A sauna ticket is five euros.", name="tickets")
    other = Candidate(ticket, 3.0, Signals(lead=(0, 29), combined=evidence))
    question = "When does the pool open and how much is a sauna ticket?"
    text = tile_leads([best, other], limit=1000, sentences=sentences, passages=[best, other], question=question).text
    assert ("five euros" in text) is follows


def test_a_list_that_fits_is_not_torn_for_a_second_passage() -> None:
    items = "\n".join(f"- benefit number {n}, which members have" for n in range(12))
    first = candidate(passage(f"Members have benefits:\n\n{items}"), (0, 22))
    second = candidate(passage("Fees are claimed back within a month.", name="fees"), (0, 37))
    tiling = tile_leads([first, second], limit=600, sentences=sentences, passages=[first, second], question="benefits")
    assert tiling.text.startswith(f"Members have benefits:\n\n{items}\n\n")


def test_a_long_introduction_follows_the_steps_that_a_question_asks_for() -> None:
    introduction, steps = "Some irons measure a little too much. " * 12, "1. Measure it.\n2. Save it."
    text = f"{introduction.strip()}\n\n{steps}"
    start = text.index("1.")
    only = candidate(passage(text, kind="steps"), (start, len(text)))
    tiling = tile_leads([only], limit=1000, sentences=sentences, question="How do I calibrate it?")
    assert tiling.text == f"{steps}\n\n{introduction.strip()}"


def test_targets_of_links_before_the_lead_take_no_room() -> None:
    text = f"See [cats](https://cats.org/{'a' * 90}). They purr."
    units = [(0, text.index(" They")), (text.index("They"), len(text))]
    long = f"{text} {'They sleep, and hunt at night. ' * 40}"
    tiling = tile_leads([candidate(passage(long), units[1])], limit=2000, sentences=sentences)
    assert tiling.text.startswith("See [cats]"), "little precedes the lead"
