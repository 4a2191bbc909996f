"""Roles of Sphinx in Markdown."""

import pytest

from qa_bot.documents.ingest.formats.markup.dialects.roles import with_texts_of_roles


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{ref}`the table <lev>`", "the table"),
        ("{ref}`fig:all-lids`, {doc}`../use/lids.md`", "all lids, lids"),
        ("{kbd}`F1`, {py:func}`~pot.boil`", "`F1`, `boil`"),
        ("{menuselection}`A --> B`, {term}`lid`", "A --> B, lid"),
        ("H{sub}`2`O", "H<sub>2</sub>O"),
        ("{pep}`508`", "PEP 508"),
        ("{math}`a^2`", "$a^2$"),
        ("`/lids/{id}` or `/cups`", "`/lids/{id}` or `/cups`"),
        ("``{ref}`a` ``, ${x}`b`", "``{ref}`a` ``, ${x}`b`"),
    ],
)
def test_roles_show_their_texts(source, expected):
    assert with_texts_of_roles(source) == expected
