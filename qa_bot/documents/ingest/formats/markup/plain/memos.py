"""Mails and memos that were saved or printed as plain text: their first lines name sender, recipient and subject."""

from __future__ import annotations

import re
from collections.abc import Sequence

FIELD = re.compile(
    r"(?P<name>from|to|cc|date|sent|subject|re|von|an|gesendet|datum|betreff|de|à|envoyé|objet|para|enviado|asunto"
    r"|da|a|data|inviato|oggetto|attachments?|anlagen?)\s*:\s*(?P<value>.*)",
    re.IGNORECASE,
)
SUBJECTS = {"subject", "betreff", "objet", "asunto", "oggetto"}
REPLY = re.compile(r"(?:(?:re|aw|wg|fwd?|tr|sv|antw|r|i)\s*:\s*)+", re.IGNORECASE)
FEWEST = 3  # fields


def subject_of(lines: Sequence[str]) -> str:
    """The subject that the head of a mail states, without signs of replies; "" if the lines are no head."""
    fields = [FIELD.fullmatch(line.strip()) for line in lines[: 2 * FEWEST]]
    named = [field for field in fields if field]
    if len(named) < FEWEST or not fields[0]:
        return ""
    return next((REPLY.sub("", field["value"], 1) for field in named if field["name"].lower() in SUBJECTS), "")
