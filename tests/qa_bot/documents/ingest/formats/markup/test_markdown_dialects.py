"""What is not CommonMark becomes it."""

import pytest

from qa_bot.documents.ingest.formats.markup.markdown import markdown_blocks
from qa_bot.documents.ingest.formats.markup.markdown_dialects import commonmark, is_mdx


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('Ask in {% slack_channel "leave" %}.', "Ask in leave."),
        ('{% image "_img/a.png" "a red lamp" %}', "a red lamp"),
        ('{% image "_img/a.png" %}{% include "x.html" %}{% if page.title %}', ""),
        ('{{< figure src="/a.png" title="A lamp" >}} {{ site.name }}', "A lamp "),
        (
            '[b]({% link "https://a.org" %}) [c]({{ site.url }}/c) [d]({% page "d/#e" %})',
            "[b](https://a.org) [c](/c) [d](#)",
        ),
        ("a {% comment %} no\n\nnever {% endcomment %} b", "a  b"),
        ("{% raw %}{% x %}{{ y }}{% endraw %}", "{% x %}{{ y }}"),
        ("`{{ x }}` ``{% y %}`` {# z #}", "`{{ x }}` ``{% y %}`` "),
        ("```\n{{ x }}\n[[y]]\n```\n{{ z }}", "```\n{{ x }}\n[[y]]\n```\n"),
        ("    ~~~\n    {{ x }}\n    ~~~", "    ~~~\n    {{ x }}\n    ~~~"),
        ("# Rooms {#rooms}\n{: .wide}\n[TOC]", "# Rooms\n\n"),
        ("> Online.\n{.is-info}\n\nText\n{.is-warning .big}", "> Online.\n\n\nText\n"),
        ("In [Here][86] or [there][7].\n\n[7]: https://a.org", "In Here or [there][7].\n\n[7]: https://a.org"),
        ("Claims [1][2], [a][b] and x[i][0]", "Claims [1][2], [a][b] and x[i][0]"),
        ("See [[Page|the page]], [[Other]] ![[a.png]].", "See the page, Other ."),
        ("A claim[^1].\n\n[^1]: Proof.\n    More.", "A claim[1].\n\n\n[1] Proof.\nMore."),
        ("A list^1^, 10^6^ and `a ^1^ $>$`.", "A list<sup>1</sup>, 10<sup>6</sup> and `a ^1^ $>$`."),
        ("x^2 + y^2, a^b^c, $>$ 7 and $a > b$", "x^2 + y^2, a^b^c, &gt; 7 and $a > b$"),
        ("* TOC\n{:toc}\n\n!> Hot.\n\n?> Cold.", "\n\n**Important:** Hot.\n\n**Tip:** Cold."),
        ("{% unclosed {{ too", "{% unclosed {{ too"),
    ],
)
def test_tags_links_and_footnotes(source, expected):
    assert commonmark(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('!!! warning "Mind"\n    Hot.\n\n    - one\n\nAfter.', "**Mind:** Hot.\n\n- one\n\nAfter."),
        ("!!! note\n    Hot.\n    ```\n    x\n    ```\nAfter.", "**Note:** Hot.\n\n```\nx\n```\n\nAfter."),
        ("> [!TIP]\n> Save.\n\nAfter.", "> **Tip:** Save.\n\nAfter."),
        (":::note\nSave.\n:::\nAfter.", "**Note:** Save.\n\nAfter."),
        (":::note\n\nSave.\n\n:::\n\nAfter.", "**Note:** Save.\n\nAfter."),
        (":::note\n\n- a\n\n:::\nAfter.", "**Note:**\n\n- a\n\n######\n\nAfter."),
        ('!!! note "Use `a`"\n\n    # b\n\n    c\n\nd', "**Use a:**\n\n# b\n\nc\n\n#\n\nd"),
        ("1. a\n\n    !!! note\n\n        b\n\n    c\n1. d", "1. a\n\n    **Note:**\n\n    b\n\n    c\n2. d"),
        (":::danger[Do not]\nRun.\n:::", "**Do not:** Run."),
        ('!!! question "Is it hot?"\n    No.', "**Is it hot?** No."),
        ('=== "Linux"\n    Use apt.\n\n=== "macOS"\n    Use brew.', "**Linux:** Use apt.\n\n**macOS:** Use brew."),
    ],
)
def test_admonitions(source, expected):
    assert markdown_blocks(source).text == expected


MDX = """import Tabs from '@theme/Tabs';
import {x} from "y"

export const a = {
  b: 1,
}

# Install

{/* a comment */}
<Tabs groupId="os" values={[{label: 'a > b'}]}>
  <TabItem value="linux" label="Linux">

    Use **apt**.

  </TabItem>
</Tabs>

<Note>Do it at `<home>`.</Note> <> fragments </>
"""


def test_mdx_keeps_the_text_of_its_components():
    assert is_mdx(MDX)
    text = markdown_blocks(MDX).text
    assert text == "# Install\n\n**Linux**\n\nUse **apt**.\n\n######\n\nDo it at `<home>`. fragments"
    assert not is_mdx("```js\nimport a from 'b'\n```\n")


@pytest.mark.parametrize(
    "piece",
    [
        "{%",
        "{{",
        "{/*",
        "{% x %}",
        "{% raw %}",
        "[[",
        "`",
        "[^",
        "<A",
        ":::a\n",
        "!!! a\n    ",
        "{:",
        "{% comment %}",
        "{% tab 'x' %}\n",
        "a\n: b\n",
    ],
)
def test_repeated_signs_take_no_long_time(piece):
    commonmark(piece * 20_000, mdx=True)


DEFINED = """\
Broth
: Stock that
  was cooked.

**Roux**

:   Flour in butter.

    Do not burn it.
: A thickener
Fond
: What sticks to the pan.

Not a term
wrapped
"""


def test_definitions_below_their_terms_are_items():
    assert commonmark(DEFINED) == (
        "- **Broth**: Stock that\n  was cooked.\n\n- **Roux**: Flour in butter.\n\n  Do not burn it.\n\n  A thickener\n"
        "- **Fond**: What sticks to the pan.\n\nNot a term\nwrapped\n"
    )


@pytest.mark.parametrize(
    "text", ["| A |\n|---|\n| 1 |\n\n: Sizes", "- one\n: two", "a line\nwrapped\n: note", "# Head\n: x"]
)
def test_a_colon_elsewhere_defines_nothing(text):
    assert commonmark(text) == text


def test_definitions_of_code_and_of_pandoc():
    source = "`retries`\n:   How often.\n\nRoux\n  ~ Flour.\n  ~ A thickener.\n\nIt takes\n~ 5 minutes."
    assert markdown_blocks(source).text == (
        "- **`retries`**: How often.\n- **Roux**: Flour.\n\n    A thickener.\n\nIt takes ~ 5 minutes."
    )


def test_superscripts_and_signs_are_shown_as_text():
    assert (
        markdown_blocks("A list^1^ is $>$ 10^6^ m^2^.\n\n^1^: of $\u2265$ 2").text
        == "A list [1] is > 10⁶ m².\n\n1: of ≥ 2"
    )


def test_the_label_of_a_tag_with_a_body_stands_before_it():
    text = '{{< tab "Gas" >}}\nTurn it low.\n{{< /tab >}}\nAsk {% team "cooks" %} or {{< tab "x" >}}y{{< /tab >}}.'
    assert commonmark(text) == "\n**Gas:** \nTurn it low.\n\nAsk cooks or x y."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('<Tab title="A">\n\n```\nx\n```\n\n</Tab>\n\nb', "**A**\n\n```\nx\n```\n\n######\n\nb"),
        ('<Tab title="A">\na\n<Tab label="B">b</Tab></Tab>\nc', "**A**\n\na\n\n**B**\n\nb\n\n######\n\nc"),
        ('<Card title="A" href="/a" />\n\nb</Card>', "A\n\nb"),
        ('Press <Icon label="Save" /> or <Tip title="A">b</Tip> c.', "Press Save or **A** b c."),
        ('<LinkCard title="A" description="What it is." href="/a" />\nb', "**A:** What it is.\n\nb"),
        (
            '<ParamField path="limit" type="int" required>\n  How many.\n</ParamField>\n<ResponseField name="id">x',
            "**limit** (int, required): How many.\n\n**id**: x",
        ),
        ("import {\n  A,\n  B,\n} from 'a'\n\nb", "b"),
        ("{items.map(item => (\n  <Card title={item.a} key={item.b} />\n))}\n\nb", "b"),
    ],
)
def test_components_of_mdx(source, expected):
    assert markdown_blocks(source, mdx=True).text == expected


def test_the_content_of_an_included_note_is_text():
    source = '{% include note.html content="Mind it." %}\n\n{% include a.html title="Hot" content="Wait." type=\'b\' %}'
    assert markdown_blocks(source).text == "Mind it.\n\n**Hot:** Wait."


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('* Go\n\n!!! danger ""\n    Care.\n\n* Stop', "- Go\n\n    Care.\n- Stop"),
        ("1. Go\n\n!!! tip\n    Fast.\n\n2. Stop", "1. Go\n\n    **Tip:** Fast.\n2. Stop"),
        ("1. Go\n\n!!! tip\n    Fast.\n\n1. Again", "1. Go\n\n**Tip:** Fast.\n\n1. Again"),
        ("* Go\n\n!!! tip\n    Fast.\n\n1. Other", "- Go\n\n**Tip:** Fast.\n\n1. Other"),
        ('??? note "Steps"\n\n    * a\n\n    * b', "**Steps:**\n\n- a\n- b"),
    ],
)
def test_notes_and_lists(source, expected):
    assert markdown_blocks(source).text == expected
