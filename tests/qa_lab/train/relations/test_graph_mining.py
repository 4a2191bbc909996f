"""`kg mine`, also over the starter graph."""

from __future__ import annotations

import numpy as np
import pytest

from kg_index.relations.template_rows import Row
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import KNOWN, TemplateTable
from qa_lab.train.relations.graph_mining import PRESETS, known_templates, question_answers

DEFAULT = PRESETS["default"]


def known(*rows: Row) -> list[Row]:
    """Templates that answers use if no words overlap."""
    table = TemplateTable.of(sorted(rows))
    return [*known_templates(table, np.zeros(len(table.relation), np.float32), DEFAULT).rows()]


def test_counts_support_a_template_without_common_words() -> None:
    """Wang (2018), ch. 4.3.5: a known template answers by p(r|T)."""
    often = Row("who wrote <m>", "author", 9)
    assert known(often) == [often]
    assert known(Row("who wrote <m>", "author", 2)) == [], "too rare"
    assert known(often, Row("who wrote <m>", NO_PATH, 100)) == [], "too unlikely"
    assert known(often, Row("who wrote <m>", NO_PATH, 20))[0] == often
    assert known(Row("who wrote <m>", "author / born", 9)) == [], "of two steps"


def test_words_support_a_rare_template() -> None:
    table = TemplateTable.of([Row("author of <m>", "author", 1), Row("author of <m>", "genre", 1)])
    assert [row.relation for row in known_templates(table, np.float32([0.7, 0]), DEFAULT).rows()] == ["author"]


def test_answers_of_a_line_stay_together(write_lines) -> None:
    pairs = write_lines(
        "pairs.jsonl",
        {"question": "who wrote dune", "answers": ["Frank Herbert", "Herbert"]},
        {"question": "who wrote dune", "answer": "F. Herbert"},
        {"question": "nothing", "answer": ""},
    )
    assert [*question_answers([pairs])] == [
        ("who wrote dune", ("Frank Herbert", "Herbert")),
        ("who wrote dune", ("F. Herbert",)),
    ]


def test_pairs_without_entities_give_an_empty_table(qa_bot, write_lines, tmp_path) -> None:
    pairs = write_lines("pairs.jsonl", {"question": "what is zzxq", "answer": "qqqz"})
    mined = qa_bot("kg", "mine", pairs, "--out", tmp_path / "mined", "--json")
    assert mined.code == 0
    assert (mined.json["pairs"], mined.json["templates"], mined.json["known"]) == (1, 0, 0)


@pytest.mark.parametrize("anchors", [[], ["--anchors"]])
def test_without_pairs_no_folder_is_left(qa_bot, tmp_path, anchors) -> None:
    (tmp_path / "pairs").mkdir()
    mined = qa_bot("kg", "mine", tmp_path / "pairs", "--out", tmp_path / "mined", *anchors)
    assert mined.code == 1
    assert "but got none" in mined.err
    assert not (tmp_path / "mined").exists()


def test_with_the_preset_of_the_paper_all_templates_are_known(qa_bot, write_lines, tmp_path) -> None:
    pairs = write_lines("pairs.jsonl", {"question": "which town does Peru fear", "answers": ["Lima"]})
    for preset in ("default", "paper"):
        out = tmp_path / preset
        mined = qa_bot("kg", "mine", pairs, "--out", out, "--preset", preset, "--json")
        assert mined.code == 0
        assert mined.json["templates"] >= 1
        assert mined.json["known"] == (mined.json["templates"] if preset == "paper" else 0)
        assert len(TemplateTable.load(out / KNOWN)) == mined.json["known"]
