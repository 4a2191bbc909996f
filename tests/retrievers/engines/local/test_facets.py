"""Names near an unknown value of a filter."""

from __future__ import annotations

import pytest

from retrievers.engines.local.facets import near_names

PATHS = ["hr", "hr/de", "hr/de/urlaub.md", "hr/leave.md", "hr/pay.md", "it", "it/vpn.md", "notes.md"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("hrr", ("hr",)),
        ("hr/leaves.md", ("hr/leave.md",)),
        ("hr/nothing like it", ("hr/de", "hr/leave.md")),  # nothing is near, so the first ones of the folder
        ("hr/d/urlaub.md", ("hr/de", "hr/de/urlaub.md")),  # a folder beside the wrong one, and a file of that name
        ("old/vpn.md", ("it/vpn.md",)),
        ("HR/Leave.md", ("hr", "hr/leave.md")),
        ("Hr", ("hr",)),
        ("urlaup.md", ("hr/de/urlaub.md",)),  # like the last part of a path elsewhere
        ("zzz", ("hr", "it")),
        ("", ("hr", "it")),
    ],
)
def test_names_near_a_path_are_in_its_deepest_known_folder(value: str, expected: tuple[str, ...]) -> None:
    assert near_names(value, PATHS, 2) == expected


def test_no_names() -> None:
    assert near_names("a", [], 5) == ()
