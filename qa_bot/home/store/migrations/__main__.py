"""`python -m qa_bot.home.store.migrations` writes `newest.sql` anew."""

from __future__ import annotations

from pathlib import Path

from qa_bot.home.store.migrations import newest

if __name__ == "__main__":
    Path(__file__).with_name("newest.sql").write_text(newest(), encoding="utf-8")
