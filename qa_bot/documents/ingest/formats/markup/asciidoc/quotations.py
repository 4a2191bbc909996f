"""Who said the text of a quotation or wrote a verse, as the options above it name them."""

from __future__ import annotations

import csv
import re

LONGEST = 1000  # characters of options
NAMED = re.compile(r"\b(?:attribution|citetitle)\s*=\s*(?:\"([^\"]*)\"|([^,\"]*))")


def kind(options: str) -> str:
    """The first option without its id, roles and flags: "quote" of "quote#id.role,Anna"."""
    return re.split(r"[,#.%]", options, maxsplit=1)[0].strip()


def attribution(options: str) -> str:
    """The person and the work, divided by a comma: "[quote, Anna Miller, Songs]", "[quote,attribution=Anna Miller]"."""
    options = options[:LONGEST]
    positional = [part for part in next(csv.reader([options], skipinitialspace=True), []) if "=" not in part][1:3]
    parts = [*positional, *(quoted or plain for quoted, plain in NAMED.findall(options))]
    return ", ".join(filter(None, map(str.strip, parts)))
