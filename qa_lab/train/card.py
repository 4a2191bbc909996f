"""The card of a trained model, as Markdown: data, seed, figures and settings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence


def card_text(title: str, rows: Mapping[str, object], text: str, settings: Mapping[str, object] | None = None) -> str:
    """A title, a table of facts, text about the figures and the licence, and the settings as JSON."""
    facts = table(("", ""), rows.items())
    end = f"\n## Settings\n\n```json\n{json.dumps(settings, indent=2)}\n```\n" if settings is not None else ""
    return f"# {title}\n\n{facts}\n\n{text.strip()}\n{end}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
