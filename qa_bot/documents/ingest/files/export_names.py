"""Names of members of exported archives without the numbers that Notion and Confluence add to them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

NOTION = re.compile(r" [0-9a-f]{32}(?:_all(?=\.csv$))?(?=\.\w+$|$)")
NOTION_ALL = re.compile(r"( [0-9a-f]{32})_all(\.csv)$")
"""A database with all its rows; the file without `_all` has those of one view."""
NOTION_FOLDER = re.compile(r"^(?:Export|ExportBlock)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?:-Part-\d+)?/")
CONFLUENCE = re.compile(r"_\d{4,}(?=\.html$)")
CONFLUENCE_STYLES = re.compile(r"(?:^|/)styles/site\.css$")
SLACK = {"users.json", "channels.json"}


def is_slack(names: Sequence[str]) -> bool:
    """Whether the members are an export of Slack."""
    return set(names) >= SLACK


def clean_names(names: Sequence[str]) -> dict[str, str]:
    """Each member's name, shortened if it is an export's and if no other member then has the same.

    A view of a database of Notion is left out if the export has all rows of the database as well.
    """
    views = {NOTION_ALL.sub(r"\1\2", name) for name in names if NOTION_ALL.search(name)}
    names = [name for name in names if name not in views]
    shortened = {name: name for name in names}
    if any(NOTION.search(part) for name in names for part in name.split("/")):
        for name in names:
            parts = NOTION_FOLDER.sub("", name).split("/")
            shortened[name] = "/".join(NOTION.sub("", part) for part in parts)
    elif any(CONFLUENCE_STYLES.search(name) for name in names):
        shortened = {name: CONFLUENCE.sub("", name) for name in names}
    counts = Counter(shortened.values())
    return {name: short if short and counts[short] == 1 else name for name, short in shortened.items()}
