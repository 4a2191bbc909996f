"""Containers in Markdown, and directives of MyST."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (":::danger Hot plates\nWait.\n:::\nThen go.", "**Hot plates:** Wait.\n\nThen go."),
        ("::: details Is it hot? {open}\nYes.\n:::", "**Is it hot?** Yes."),
        (':::{.note title="Hot plates"}\nWait.\n:::', "**Hot plates:** Wait."),
        ("::: {.note}\nWait.\n:::", "**Note:** Wait."),
        ("::: {.callout-tip}\nWait.\n:::", "**Tip:** Wait."),
        ("::: {.callout-tip collapse=true}\n## Hot plates\n\nWait.\n:::", "**Hot plates:** Wait."),
        (":::{admonition} Hot plates\n:class: tip\n:name: a\nWait.\n:::", "**Hot plates:** Wait."),
        (":::note[Hot]{.wide}\nWait.\n:::", "**Hot:** Wait."),
        ("::::{tab-set}\n:::{tab-item} Gas\nTurn.\n:::\n::::\nGo.", "**Gas:** Turn.\n\nGo."),
        (':::image type="content" source="a.png" alt-text="A pan":::\n\nGo.', "A pan\n\nGo."),
        ("- a\n\n  :::tip Hot plates\n  Wait.\n  :::\n- b", "- a\n\n    **Hot plates:** Wait.\n- b"),
        ("1. a\n\n    :::tip\n    Wait.\n    :::", "1. a\n\n    **Tip:** Wait."),
        ("Run:\n\n    :::sh\n    ls", "Run:\n\n```\nls\n```"),
        ("Run:\n\n\t:::sh\n\tls", "Run:\n\n```\nls\n```"),
        ("::: v-pre\nWait.\n:::", "Wait."),
        ("a ::: b", "a ::: b"),
    ],
)
def test_containers(source, expected):
    assert markdown_blocks(source).text == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("```{warning} Hot plates!\nWait.\n```\nGo.", "**Hot plates!** Wait.\n\nGo."),
        ("```{note}\n:class: wide\n\nWait.\n```", "**Note:** Wait."),
        ("~~~{seealso}\nThe *list*.\n~~~", "**See also:** The *list*."),
        ("```{versionadded} 2.1\nFor gas.\n```", "**Added in version 2.1:** For gas."),
        ("````{tip}\n```sh\n:::x\n```\n````", "**Tip:**\n\n```sh\n:::x\n```"),
        ("````{note} A\n```{tip} B\nc\n```\nd\n````", "**A: B:** c\n\nd"),
        ("```{figure} a.png\n:alt: A pan\nThe big pan.\n```", "The big pan."),
        ("````md\n```{note}\nx\n```\n````", "````md\n```{note}\nx\n```\n````"),
    ],
)
def test_directives(source, expected):
    assert markdown_blocks(source).text == expected
