"""Names and prose of packages and tests are plain English: `english.py` lists violations and what to write instead."""

from __future__ import annotations

import importlib.util
from pathlib import Path

spec = importlib.util.spec_from_file_location("english", Path(__file__).with_name("english.py"))
assert spec is not None
assert spec.loader is not None
english = importlib.util.module_from_spec(spec)
spec.loader.exec_module(english)


def test_names_and_prose_are_plain_english() -> None:
    files = sorted(file for package in english.PACKAGES for file in (english.ROOT / package).rglob("*.py"))
    marks = [
        f"{file.relative_to(english.ROOT)}:{line}: {mark!r}: {advice}"
        for file in files
        for line, mark, advice in english.marks(file)
    ]
    assert marks == []
