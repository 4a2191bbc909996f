"""MyST Markdown: directives, targets, comments."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks

TABLE = "| Lid | Size |\n| --- | --- |\n| *red* | 2 big |"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "```{list-table} All lids\n:header-rows: 1\n\n* - Lid\n  - Size\n* - *red*\n  - 2\n\n    big\n```\nEnd.",
            f"All lids\n\n{TABLE}\n\nEnd.",
        ),
        (":::{csv-table}\n:header: Lid, Size\n\n*red*, 2 big\n:::", TABLE),
        (
            "- a\n\n  ```{list-table}\n  * - b\n    - c\n  * - d\n    - e\n  ```",
            "- a\n\n    |  |  |\n    | --- | --- |\n    | b | c |\n    | d | e |",
        ),
        ('```{csv-table}\n"a\n```\nEnd.', "a\n\nEnd."),
        ("a\n\n```{toctree}\n:maxdepth: 2\n\nb\n```\nc", "a\n\nc"),
        (
            "```{glossary}\nlid\ncover\n  A top.\n\ncup\n  A *pot*.\n```",
            "- **lid, cover**: A top.\n- **cup**: A *pot*.",
        ),
        (
            "```{eval-rst}\n.. note::\n   :class: wide\n\n   Use ``a``.\n\nThen go.\n```\nEnd.",
            "**Note:** Use `a`.\n\nThen go.\n\nEnd.",
        ),
        ("(lids)=\n## Lids\n% no\nText\n% no\n\n+++\nEnd.", "## Lids\n\nText\n\nEnd."),
        (
            "```{note}\n{ref}`a`\n```\n\n```{toctree}\nb\n```\n\n````{tip}\n```{index}\nc\n```\nd\n````",
            "**Note:** a\n\n**Tip:** d",
        ),
        ("````md\n```{toctree}\na\n```\n(b)=\n````", "````md\n```{toctree}\na\n```\n(b)=\n````"),
        ("100\n% of it\n\n+++\nEnd", "100 % of it\n\n+++ End"),
    ],
)
def test_blocks(source, expected):
    assert markdown_blocks(source).text == expected


def test_tables_of_restructured_text():
    source = """```{eval-rst}
.. list-table:: Ports
   :header-rows: 1

   * - Name
     - Port
   * - web
     - 8080

They are open.
```"""
    assert markdown_blocks(source).text == ("Ports\n\n| Name | Port |\n| --- | --- |\n| web | 8080 |\n\nThey are open.")
