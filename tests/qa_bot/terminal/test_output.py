"""Results of a search in a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from qa_bot.terminal.output import show_candidates
from qa_core.types import Candidate, Clue, Passage, Source


def test_the_text_of_a_result_has_no_signs_of_markdown() -> None:
    file = io.StringIO()
    source = Source("hours.md", "Hours", "", "shop")
    text = "3\\. November 2025 by **Erna**\n\n| Day | Hours |\n| --- | --- |\n| Sunday | 8–11 |"
    show_candidates([Candidate(Passage("p", text, Clue("Hours"), source), 1.0)], console=Console(file=file, width=80))
    assert "\n     3. November 2025 by Erna Day | Hours Sunday | 8–11\n" in file.getvalue()
