"""Questions who holds a role."""

from __future__ import annotations

import pytest

from qa_bot.answering.verification.roles import AskedRole, lacks_role


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


@pytest.mark.parametrize(
    ("question", "text", "holds"),
    [
        ("Who is the head of quality?", "| Petra Lang | Head of Quality | Leipzig |", True),
        ("who's our head of quality", "- Head of quality: Petra Lang, room 4", True),
        ("Who is the head of quality?", "The head of quality is Dr. Weiss.", True),
        ("Wer ist die Leiterin der Werkstatt?", "Leiterin der Werkstatt ist Frau Yılmaz.", True),
        ("Who is the head of quality?", "The head of quality assigns an owner.", False),
        ("Who is the head of quality?", "| Head of quality | assigns an owner |", False),
        ("Who is the head of quality?", "| Petra Lang | Deputy of the head of quality in Prague and Vienna |", False),
        ("Who is the head of quality?", "| Head Of Quality | Leipzig |", False),
        ("Who pays the head of quality?", "| Petra Lang | Head of quality |", False),
        ("Who is she?", "| Petra Lang | Head of quality |", False),
    ],
)
def test_a_text_names_the_holder_of_a_role(question: str, text: str, holds: bool) -> None:
    assert AskedRole.of(question).is_held(text, "de" if question.startswith("Wer") else "en") is holds
