"""reStructuredText."""

import pytest

from qa_bot.documents.ingest.formats.markup.restructured import restructured

FILE = """
==========
The manual
==========

:Date: 2024-03-05
:Author: Ann

.. contents::

Install
=======

Use *pip* and ``make``; see `the page <https://a.org>`_ and :ref:`usage <use>`, :class:`~pot.Pot`, :foo:`bar`; edit
:file:`~/.potrc`.

1. Open
2. Pour

   * deep

.. code-block:: sh

   pip install x

.. list-table::
   :header-rows: 1

   * - a
     - b
   * - 1
     - 2

Term
    Its definition.

.. note:: Mind the heat.

.. tip-box:: A hint
   :colour: red

   It stays **here**.

.. versionadded:: 1.2
   Lids.

.. deprecated:: 2.1 Use ``boil`` instead.

.. confval:: heat
   :type: int
   :default: ``90``
   :nocontentsentry:

   Degrees.

.. option:: -q, --quiet

   No whistle.

.. tab-item:: Linux

   .. code-block:: sh

      kettle on

.. only:: html

   Shown to readers.

.. only:: latex

   Printed.

.. py:function:: boil(minutes)

   Boils.

.. toctree::

   other

.. include:: /etc/passwd

.. raw:: html

   <b>raw</b>

.. image:: a.png
   :alt: A red lamp

Footnote [1]_.

.. [1] The note.
"""


def test_a_document():
    title, date, text, broken = restructured(FILE)
    assert broken == ()
    assert (title, date) == ("The manual", "2024-03-05")
    for part in (
        "## Install",
        "Use *pip* and `make`; see [the page](https://a.org) and usage, `Pot`, bar; edit `~/.potrc`.",
        "1. Open\n2. Pour\n    - deep",
        "```sh\npip install x\n```",
        "| a | b |\n| --- | --- |\n| 1 | 2 |",
        "- **Term**: Its definition.",
        "Mind the heat.",
        "- **A hint**: It stays **here**.",
        "Added in version 1.2: Lids.",
        "Deprecated since version 2.1: Use `boil` instead.",
        "- **heat**: Type: int. Default: `90`.\n\n    Degrees.",
        "- **-q, --quiet**: No whistle.",
        "- **Linux**:\n\n    ```sh\n    kettle on\n    ```",
        "Shown to readers.",
        "- **boil(minutes)**: Boils.",
        "A red lamp",
        "The note.",
    ):
        assert part in text
    assert not any(word in text for word in ("root:", "raw", "toctree", "other", "Contents", "colour", "Printed"))


def test_record(reads, tmp_path):
    (record,), _, _ = reads("a.rst", FILE)
    assert (record.id, record.title, record.date, record.where) == (
        "a.rst",
        "The manual",
        "2024-03-05",
        f"{tmp_path}/a.rst:1",
    )
    (record,), _, _ = reads("b.rst", "One\n===\n\na\n\nTwo\n===\n\nb")
    assert (record.title, record.text) == ("b", "## One\n\na\n\n## Two\n\nb")


@pytest.mark.parametrize(
    "source",
    [
        "Title\n=\n\ntext `unclosed *text |sub| text_ [#a]_",
        "* " * 3000 + "text",
        "\n".join(" " * depth + "* text" for depth in range(0, 2000, 2)),
        ".. a::\n\n" * 500 + "text",
        "=====\ntext",
        ".. csv-table::\n   :file: /etc/passwd\n\ntext",
        ".. |a| replace:: |a|\n\ntext |a|",
        ":ref:`a` " * 3000 + "text",
        ":ref:`" + ":_-" * 5000 + "` text",
        ":doc:`" + "/_" * 5000 + "` text",
        "".join(f".. _a{number}:\n\nA\n=\n\n:ref:`a{number}` text\n\n" for number in range(300)),
    ],
)
def test_broken_markup_keeps_its_text(reads, source):
    (record,), rejects, _ = reads("a.rst", source)
    assert rejects == []
    assert "text" in f"{record.title} {record.text}"
    assert "root:" not in record.text


def test_the_heading_of_an_only_section_stays_a_heading() -> None:
    title, _, text, _ = restructured("Deployment\n==========\n\nRollback\n--------\n\nRun it again.\n")
    assert (title, text) == ("Deployment", "## Rollback\n\nRun it again.")


def test_names_that_the_document_does_not_define_lose_their_marks():
    source = "Help\n====\n\nMail |the-list| or ask `the Forum`_, news_ and `us <desk_>`_.\n"
    assert restructured(source)[2] == "Mail the-list or ask the Forum, news and us."


def test_names_of_screenshots_are_no_text_but_those_of_icons_are():
    source = "Help\n====\n\nOpen it.\n\n|Open Screenshot|\n\nClick |save|.\n\n"
    pictures = ".. |Open Screenshot| image:: open.png\n.. |save| image:: save.png\n"
    assert restructured(source + pictures)[2] == "Open it.\n\nClick save."
    described = ".. |Open Screenshot| image:: open.png\n   :alt: The lid is open.\n.. |save| image:: save.png\n"
    assert restructured(source + described)[2] == "Open it.\n\nThe lid is open.\n\nClick save."


def test_a_paragraph_of_names_of_targets_is_left_out():
    source = "Help\n====\n\nOpen it.\n\n.. seealso::\n    :ref:`lid-ids`, :ref:`cups`\n\n- :ref:`cups`\n\n"
    assert restructured(f"{source}Now :ref:`lid-ids`.\n\n:ref:`The lids <lid-ids>`\n")[2] == (
        "Open it.\n\nNow lid ids.\n\nThe lids"
    )


def test_a_version_without_explanation_follows_what_was_added():
    heads = "Help\n====\n\nLids\n----\n\n"
    version = ".. versionadded:: 1.2\n\n"
    assert restructured(f"{heads}{version}Lids close.\n\nThey open.\n")[2] == (
        "## Lids\n\nLids close.\n\nAdded in version 1.2\n\nThey open."
    )
    below_text = "## Lids\n\nLids close.\n\nAdded in version 1.2\n\nThey open."
    assert restructured(f"{heads}Lids close.\n\n{version}They open.\n")[2] == below_text


def test_cells_of_signs_keep_them():
    table = ".. list-table::\n   :header-rows: 1\n\n   * - Sign\n     - Use\n"
    cells = [("✓", "yes"), ("—", "no"), ("``#``", "★★★"), ("%", ":ref:`lid-ids`"), ("|key|", "…")]
    rows = "".join(f"   * - {sign}\n     - {use}\n" for sign, use in cells)
    source = f"{table}{rows}\n—\n\n.. |key| image:: a.png\n"
    assert restructured(source)[2] == (
        "| Sign | Use |\n| --- | --- |\n| ✓ | yes |\n| — | no |\n| `#` | ★★★ |\n| % | lid ids |\n| key | … |"
    )


@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        (":ref:`lid-ids`", "Lids and cups"),
        (":ref:`Lid-IDs`", "Lids and cups"),
        (":std:ref:`lid-ids`", "Lids and cups"),
        (":ref:`the lids <lid-ids>`", "the lids"),
        (":ref:`kettle`", "The kettle"),
        (":numref:`kettle`", "The kettle"),
        (":ref:`sizes`", "All sizes"),
        (":ref:`top`", "Help"),
        (":ref:`no-label_of:_this-file`", "this file"),
        (":ref:`::`", "::"),
        (":doc:`../use/add_play-games`", "add play games"),
        (":doc:`/use/index`", "use"),
        (":doc:`index`", "index"),
        (":doc:`..`", ".."),
        (":doc:`our guide <../use/guide>`", "our guide"),
    ],
)
def test_references_show_titles_or_readable_names(reference, shown):
    source = (
        f".. _top:\n\nHelp\n====\n\nSee {reference} now.\n\n.. _lid-ids:\n\nLids *and* cups\n--------------\n\n"
        ".. _kettle:\n\n.. figure:: a.png\n\n   The kettle\n\n"
        ".. _sizes:\n\n.. table:: All sizes\n\n   === ===\n   1   2\n   === ===\n\nEnd\n---\n\nText.\n"
    )
    assert restructured(source)[2].startswith(f"See {shown} now.\n\n## Lids")


def test_the_heading_of_an_only_section_keeps_its_label() -> None:
    source = "Help\n====\n\n.. _lid-ids:\n\nLids\n----\n\nSee :ref:`lid-ids` and :ref:`cups`.\n"
    assert restructured(source)[2] == "## Lids\n\nSee Lids and cups."


SIMPLE = "===  ===\na    b\n===  ===\nlonger 2\nc    3\n===  ==="
GRID = "+---+\n| a |\n+--+\n| b |\n+---+"
UNEVEN = ".. list-table::\n\n   * - a\n     - b\n   * - c"


@pytest.mark.parametrize("block", [SIMPLE, GRID, UNEVEN])
def test_a_table_that_is_not_well_formed_keeps_its_lines_and_is_reported(reads, tmp_path, block):
    (record,), rejects, notices = reads("a.rst", f"Costs\n=====\n\nSee.\n\n{block}\n\nAfter.\n")
    assert (record.text, rejects) == (f"See.\n\n```\n{block}\n```\n\nAfter.", [])
    assert [notice.where for notice in notices] == [f"{tmp_path}/a.rst:6"]
    assert "could not be read" in notices[0].message


def test_a_directive_with_an_error_and_no_content_is_left_out():
    assert restructured("a\n\n.. image:: x.png\n   :nothing: y\n\nb\n")[2:] == ("a\n\nb", ())


GLOSSARY = "- **lid, cover**: A top.\n- **cup**: A pot."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (".. code-block:: sh\n   :caption: The *list*\n\n   ls", "The *list*\n\n```sh\nls\n```"),
        (".. code-block:: c++\n   :linenos:\n   :emphasize-lines: 1,2\n\n   f();", "```c++\nf();\n```"),
        (".. sourcecode:: js\n   :name: a\n\n   f()", "```js\nf()\n```"),
        (".. code::\n   :number-lines: 1\n\n   f()", "```\nf()\n```"),
        (".. |v| replace:: 4\n\n.. substitution-code-block:: sh\n\n   run |v| |w|", "```sh\nrun 4 |w|\n```"),
        (":guilabel:`&Save` and :menuselection:`&File --> Q & A`", "Save and File --> Q & A"),
        ("size : integer\n   Of the lid.", "- **size (integer)**: Of the lid."),
        ("size : integer : optional\n   Of the lid.", "- **size (integer, optional)**: Of the lid."),
        (".. glossary::\n   :sorted:\n\n   lid\n   cover\n      A top.\n\n   cup\n      A pot.", GLOSSARY),
        (".. danger:: Hot.\n\n.. caution::\n\n   Wait.", "**Danger:** Hot.\n\n**Caution:** Wait."),
        (".. grid:: 2\n   :gutter: 1\n\n   .. card:: Lids\n\n      Close.", "- **Lids**: Close."),
    ],
)
def test_directives_of_sphinx(source, expected):
    assert restructured(source)[2:] == (expected, ())
