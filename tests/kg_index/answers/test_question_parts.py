"""Questions that ask for two things."""

from __future__ import annotations

import pytest

from kg_index.answers.question_parts import question_parts, with_topic


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who invented dynamite and when?", ("Who invented dynamite", "when invented dynamite")),
        ("who invented dynamite, and in which year?", ("who invented dynamite", "which year invented dynamite")),
        ("When was Mozart born and where?", ("When was Mozart born", "where was Mozart born")),
        ("When and where was Mozart born?", ("When was Mozart born", "where was Mozart born")),
        (
            "In which year and in which city was Mozart born?",
            ("In which year was Mozart born", "in which city was Mozart born"),
        ),
        ("When, where, and how did Ada die?", ("When did Ada die", "where did Ada die", "how did Ada die")),
        ("What and where is Lima?", ("What is Lima", "where is Lima")),
        ("When and where?", None),
        ("when and " * 5_000, None),
        ("when, " * 5_000, None),
        ("Where did he die and what did he write?", ("Where did he die", "what did he write")),
        ("Who wrote Romeo and Juliet?", None),
        ("Romeo and where to find him", None),  # the first part asks nothing
        ("What is the capital and largest city of Peru?", None),
        ("and when?", None),
        ("", None),
        ("who " * 5_000, None),
        (f"who{' ' * 20_000}and", None),
        (f"Who is Bo {' ' * 20_000} and when?", ("Who is Bo", "when is Bo")),
    ],
)
def test_parts(question: str, parts: tuple[str, ...] | None) -> None:
    assert question_parts(question) == (parts or (question,))


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        ("when did she die", "when did Ada die"),
        ("what is its capital", "what is Ada's capital"),
        ("who is the mayor of Lima", "who is the mayor of Lima"),
        ("how many people live there", None),
    ],
)
def test_pronouns_mean_the_topic(part: str, expected: str | None) -> None:
    assert with_topic(part, "Ada") == expected
