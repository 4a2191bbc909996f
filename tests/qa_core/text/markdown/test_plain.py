"""Plain text of Markdown for readers."""

from __future__ import annotations

import pytest

from qa_core.text.markdown.plain import as_plain_text


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**Bold** and [a link](https://a.org).", "Bold and a link."),
        ("| Room | Seats | Floor |\n| --- | --- | --- |\n| Tern | 4 | 2 |", "Tern: Seats 4; Floor 2"),
        ("| Room | Seats |\n| --- | --- |\n| Tern | |\n| *Rook* | 6 |", "Tern\nRook: Seats 6"),
        ("| a | b |", "a: b"),
        ("1. Run\n   - now\n2. Wait", "1. Run\n  - now\n2. Wait"),
        ("- a\n- b\n\nEnd", "- a\n- b\n\nEnd"),
        ("```sh\nx *y*\n\nz\n```", "x *y*\n\nz"),
        ("# Title\n> quoted\n\n---", "Title\n\nquoted"),
        ("2*3*4 <b>", "2*3*4 <b>"),
        ("", ""),
    ],
)
def test_plain_text(markdown: str, expected: str) -> None:
    assert as_plain_text(markdown) == expected
