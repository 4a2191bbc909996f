"""tantivy panics or raises many errors over a damaged `.fast` file; callers see one kind of error."""

from __future__ import annotations

from pathlib import Path

import pytest

from retrievers.engines.index import Filter
from retrievers.engines.local.errors import CorruptIndexError
from retrievers.engines.local.keyword import KeywordIndex
from tests.retrievers.engines.local.keyword_entries import ENTRIES, query, write


def use(folder: Path) -> None:
    """Every read of a column."""
    index = KeywordIndex(folder, analyser=str.split)
    index.search(query("cat sleep"), 20)
    index.average_length("all")
    index.matching(Filter(without=("a",)))
    index.count(Filter(without=("a",)), "all", "cat")


@pytest.mark.usefixtures("capfd")  # panics write to standard error, too
def test_damaged_columns_raise_one_kind_of_error(tmp_path: Path) -> None:
    write(tmp_path, ENTRIES)
    columns = {path: path.read_bytes() for path in tmp_path.glob("*.fast")}
    messages = []
    for path, data in columns.items():
        for start in range(0, len(data), 40):
            path.write_bytes(
                data[:start] + bytes(byte ^ 0xFF for byte in data[start : start + 16]) + data[start + 16 :]
            )
            try:
                use(tmp_path)
            except CorruptIndexError as error:
                messages.append(str(error))
        path.write_bytes(data)
    assert messages
    assert all("run qa-bot repair" in message for message in messages)
    use(tmp_path)
