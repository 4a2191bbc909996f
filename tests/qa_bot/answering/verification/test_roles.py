"""Questions who holds a role."""

from __future__ import annotations

import pytest

from qa_bot.answering.verification.roles import lacks_role


@pytest.mark.parametrize(
    ("question", "cover", "lacks"),
    [
        ("Who is the prime minister of Australia?", {"prime": 0.19, "minister": 0.27, "Australia": 1.0}, True),
        ("who's our chairman at the club", {"chairman": 0.1, "club": 1.0}, True),
        ("Wer ist die Präsidentin von Frankreich?", {"Präsidentin": 0.1, "Frankreich": 1.0}, True),
        ("Who is the head of HR?", {"head": 0.45, "HR": 1.0}, False),  # "Ana leads HR"
        ("Who is the fire warden of the third floor?", {"fire": 0.2, "warden": 1.0, "third": 1.0}, False),
        ("Who painted the Mona Lisa?", {"painted": 0.0, "Mona": 1.0}, False),
        ("Who is the chairman?", {"chairman": 0.1}, False),  # the other rules decide
        ("What is the price of the plan?", {"price": 0.0, "plan": 1.0}, False),
        ("Who is the one of us?", {}, False),
        ("Who is responsible for the roof?", {"responsible": 0.1, "roof": 1.0}, False),  # no role
        ("Who is eligible for the grant?", {"eligible": 0.2, "grant": 1.0}, False),
    ],
)
def test_a_role_without_anything_near_it_is_lacking(question: str, cover: dict[str, float], lacks: bool) -> None:
    assert lacks_role(question, cover) is lacks
