"""Codes and options."""

import pytest

from retrievers.codes import codes_in, has_code, parts_of


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
