"""Extensions of Markdown in sites of MkDocs."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("/// details | Is it hot?\n    type: warning\n\nYes.\n///\n\nGo.", "**Is it hot?** Yes.\n\nGo."),
        ("/// note | Lids\nHot.\n///\n\n/// tip\n- a\n///", "**Lids:** Hot.\n\n**Tip:**\n\n- a"),
        ("/// admonition\n    type: danger\nHot.\n///", "**Danger:** Hot."),
        ("//// note | A\nb\n\n/// tip\nc\n///\n////\nd", "**A:** b\n\n**Tip:** c\n\nd"),
        ("/// html | div.wide\nIn.\n///\n\n/// caption\nA lid.\n///", "In.\n\nA lid."),
        ("- a\n\n    /// note | Lids\n    Hot.\n    ///\n- b", "- a\n\n    **Lids:** Hot.\n- b"),
        ("```cs\n/// note\n///\n```\n\n/// see it", "```cs\n/// note\n///\n```\n\n/// see it"),
    ],
)
def test_blocks(source, expected):
    assert markdown_blocks(source).text == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (":material-clock-fast:{ .lg .middle } __Fast__ :smile:", "**Fast** :smile:"),
        ('[a](b.md){ .md-button } ![Pier](p.png){ width="300" } c', "a Pier c"),
        ("Text (1)\n{ .annotate }\n\nf(x){0}", "Text (1)\n\nf(x){0}"),
        ('++ctrl+alt+del++ ++"Save as"++ ++arrow-up++', "`Ctrl`+`Alt`+`Del` `Save as` `Arrow Up`"),
        ("C++ and i++ or a++b++, `++a++`", "C++ and i++ or a++b++, `++a++`"),
        ("A\n\n*[HTML]: Hyper Text\n*[W3C]: Web", "A\n\nHTML: Hyper Text\n\nW3C: Web"),
        ('A\n\n--8<-- "x.md"\n\nB\n\n--8<--\na.md\n--8<--\n\n;--8<-- "y.md"\nC', "A\n\nB\n\nC"),
        (
            "A\n\n::: pot.lids.Lid\n    options:\n      a: b\n\nB\n\n::: pot\n    handler: c",
            "A\n\n`pot.lids.Lid`\n\nB\n\n`pot`",
        ),
        ("::: tip\nA\n:::", "**Tip:** A"),
    ],
)
def test_marks(source, expected):
    assert markdown_blocks(source).text == expected
