"""`kg mine` over the starter graph."""

from __future__ import annotations


def test_pairs_without_entities_give_an_empty_table(qa_bot, write_lines, tmp_path) -> None:
    pairs = write_lines("pairs.jsonl", {"question": "what is zzxq", "answer": "qqqz"})
    mined = qa_bot("kg", "mine", pairs, "--out", tmp_path / "mined", "--json")
    assert mined.code == 0
    assert (mined.json["pairs"], mined.json["templates"], mined.json["known"]) == (1, 0, 0)
