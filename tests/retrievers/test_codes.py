"""Codes and options."""

import pytest

from qa_core.types import Clue, Passage, Place, Source
from retrievers.codes import codes_in, document_codes, has_code, parts_of


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("What does E19 mean, and SEV4?", {"E19", "SEV4"}),
        ("What does -t do, or --max-file-size?", {"-t", "--max-file-size"}),
        ("What does error SSO-120 mean in the F-16?", {"SSO-120", "F-16"}),
        ("the AW 12 in the EU 2025, or 6 kW", {"AW 12"}),
        ("default of MAX_ALBUMS or max_size_2, _emphasis_ and _x?", {"MAX_ALBUMS", "max_size_2"}),
        ("HOW MANY FOR 2 DAYS", set()),
        ("(--quiet) `-q`", {"--quiet", "-q"}),
        ("a well-known e-mail - and 3-a, --, -5, 2024", set()),
    ],
)
def test_codes_of_a_text(text, codes):
    assert codes_in(text) == codes


@pytest.mark.parametrize(
    ("text", "code", "expected"),
    [
        ("Error e 19: heat", "E19", True),
        ("Error E02", "E19", False),
        ("SSO 120: no access", "SSO-120", True),
        ("SSO-101 and SSO-1200", "SSO-120", False),
        ("the 19 rooms, and code E190", "E19", False),
        ("all MP3s", "mp3", True),
        ("`UPLOAD_MAX_MB` and albums", "MAX_ALBUMS", False),
        ("the key max-albums", "MAX_ALBUMS", True),
        ("use `-t TIME`", "-t", True),
        ("use --time or x-t", "-t", False),
        ("the max file size", "--max-file-size", False),
        ("--max-file-size-limit 4", "--max-file-size", False),
        ("--max-file-size=4", "--max-file-size", True),
    ],
)
def test_has_code(text, code, expected):
    assert has_code(text, code) is expected


def test_parts():
    assert parts_of("--max-file-size") == ["max", "file", "size"]
    assert parts_of("E19") == ["E19"]


def test_a_long_identifier_is_read_in_linear_time():
    """Quadratic code would run into the suite's timeout."""
    name = "a_" * 100_000
    assert codes_in(f"{name} MAX_SIZE {name}b") == {"MAX_SIZE", f"{name}b"}


def passage(id_: str, text: str, *, title: str = "Guide", heading: tuple[str, ...] = ()) -> Passage:
    return Passage(id_, text, Clue(), Source(id_.partition("#")[0], title), Place(heading))


def test_a_code_in_the_opening_names_the_document() -> None:
    passages = [
        passage("pro#0", "These coolers are the H100i and the H115i."),
        passage("pro#5", "The pump has three modes."),
        passage("pro#6", "Firmware of the H100i: 2.10"),
        passage("pro#7", "The H115i has two fans."),
        passage("other#4", "The H115i is in another guide."),
        passage("other#5", "The pump has two modes."),
        passage("titled#9", "The pump has one mode.", title="Manual of the H-115i"),
        passage("headed#1", "It is new.", heading=("H115i",)),
        passage("headed#8", "Its pump hums."),
        passage("unnumbered", "The H115i is grey."),
    ]
    named = document_codes(passages, {"H115i", "--pump-mode", "pump_mode"})
    with_code = [one.id for one, codes in zip(passages, named, strict=True) if codes]
    assert with_code == ["pro#5", "titled#9", "headed#8"], "the code itself, and other members of the series, are read"
    assert set().union(*named) == {"H115i"}


def test_options_and_identifiers_name_no_document() -> None:
    passages = [passage("a#0", "use --size2 and MAX_2"), passage("a#1", "nothing")]
    assert document_codes(passages, {"--size2", "MAX_2"}) == [frozenset(), frozenset()]
    assert document_codes([], {"E07"}) == []
