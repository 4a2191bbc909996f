"""Jupyter notebooks."""

import json

import pytest


def notebook(*cells, **fields):
    return json.dumps({"cells": list(cells), "metadata": {"language_info": {"name": "julia"}}, "nbformat": 4, **fields})


def code(source, *outputs):
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_texts_code_and_short_outputs(reads):
    cells = [
        {"cell_type": "markdown", "source": ["# Cats\n", "\n", "They **sleep**."]},
        code(["x = 1\n", "x"], {"output_type": "execute_result", "data": {"text/plain": "1", "text/html": "<b>1</b>"}}),
        code(
            "y",
            {"output_type": "stream", "text": ["\x1b[31mred\x1b[0m\n"]},
            {"output_type": "stream", "text": "z" * 3000},
        ),
        code("1/0", {"output_type": "error", "ename": "DivideError", "evalue": "by zero", "traceback": ["long"]}),
        {"cell_type": "raw", "source": "As it came."},
        {"cell_type": "markdown", "source": 7},
    ]
    (record,), rejects, _ = reads("cats.ipynb", notebook(*cells))
    assert rejects == []
    assert (record.id, record.title, record.markdown) == ("cats.ipynb", "Cats", True)
    assert record.text == (
        "They **sleep**.\n\n```julia\nx = 1\nx\n```\n\n```\n1\n```\n\n```julia\ny\n```\n\n```\nred\n```\n\n"
        "```julia\n1/0\n```\n\n```\nDivideError: by zero\n```\n\nAs it came."
    )


def test_format_3(reads):
    cells = [{"cell_type": "heading", "level": 1, "source": "Old"}, {"cell_type": "code", "input": "x", "outputs": []}]
    (record,), _, _ = reads("a.ipynb", json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}))
    assert (record.title, record.text) == ("Old", "```python\nx\n```")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ('{"cells": [', "broken JSON"),
        ("[1]", "other JSON"),
        ('{"a": 1}', "other JSON"),
        ('{"cells": [1, {"cell_type": "code"}]}', "empty cells"),
        ("[" * 100_000, "broken JSON"),
    ],
)
def test_what_is_no_notebook(reads, data, reason):
    records, (reject,), _ = reads("a.ipynb", data)
    assert records == []
    assert reason in reject.reason


def test_the_first_line_of_an_output_keeps_its_indentation(reads):
    output = {"output_type": "stream", "text": ["   month churn\n", "0  2025   2.1\n"]}
    cells = [{"cell_type": "code", "source": "df", "outputs": [output]}]
    (record,), _, _ = reads("a.ipynb", json.dumps({"cells": cells}))
    assert record.text.endswith("```\n   month churn\n0  2025   2.1\n```")
