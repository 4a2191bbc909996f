"""Typst."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.documents.ingest.formats.markup.typst.document import typst

FILE = r"""#import "../template.typ": *

#show: template.with(
  title: "The statutes",
  date: datetime(year: 2024, month: 3, day: 5),
  logo: image("a.png", alt: "Logo"),
)
#let club = "Tea Club"

= Members // not printed
/* nor
this */
§ 1 Fees

All of the #club pay *at once*, _yearly_ --- see #link("https://a.example/x//y")[the page]#footnote[Or by post.].
Vertreter*innen pay half at https://b.example. It costs 3\*2 \#, `#code // here` and $x^2$. @fees <label>

+ one
+ two:
  #set enum(start: 4)
  + deep
  + deeper
+ three

  More of three.
- bullet
/ Term: What it is.

#set enum(numbering: "1.a)")
#heading(level: 2)[Table]
#figure(
  table(columns: (auto, 1fr), table.header([*A*], [B]), [1], [2 #emph[x]], table.cell(colspan: 2)[all]),
  caption: [Costs],
)

```sh
pip #install // x
```
#text(size: 9pt)[small] #strong("big") #unknown(width: 3cm)[kept]
"""


def test_a_document():
    assert typst(FILE) == (
        "The statutes",
        "2024-03-05",
        "# Members\n\n## § 1 Fees\n\nAll of the Tea Club pay **at once**, *yearly* — see "
        "[the page](https://a.example/x//y) (Or by post.). Vertreter*innen pay half at https://b.example. It "
        "costs 3*2 #, `#code // here` and `x^2`. fees\n\n"
        "1. one\n2. two:\n    4. deep\n    5. deeper\n3. three\n\n    More of three.\n"
        "- bullet\n- **Term**: What it is.\n\n## Table\n\n| **A** | B |\n| --- | --- |\n| 1 | 2 *x* |\n| all |  |\n\n"
        "Costs\n\n```sh\npip #install // x\n```\n\nsmall **big** kept",
    )


def test_record(reads):
    (record,), _, _ = reads("a.typ", FILE)
    assert (record.id, record.title, record.date, record.markdown) == ("a.typ", "The statutes", "2024-03-05", True)
    _, (reject,), _ = reads("b.typ", "#set page(margin: 1cm)")
    assert "Typst with text" in reject.reason


def test_titles():
    assert typst("= Fees\n\nAll pay.\n\n== Late\n\nMore.")[::2] == ("Fees", "All pay.\n\n## Late\n\nMore.")
    assert typst("= A\n\nb\n\n= C\n\nd")[0] == ""
    assert typst("#set document(title: [The *Fees*])\nAll pay.")[0] == "The Fees"
    assert typst('#letter(title: "Dear all")[All pay.]') == ("Dear all", "", "All pay.")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('#set enum(numbering: "a)")\n+ x\n+ y', "- a) x\n- b) y"),
        ('#set enum(numbering: "(1)a)")\n+ x\n  + y\n  + z', "- (1) x\n    - a) y\n    - b) z"),
        ("#set enum(start: 3)\n+ x\n\n+ y\n\nz\n\n+ w", "3. x\n4. y\n\nz\n\n3. w"),
        ("+ x\n  #set enum(start: 3)\n  + y\n\nz\n\n+ w", "1. x\n    3. y\n\nz\n\n1. w"),
        ("4. x\n+ y", "4. x\n5. y"),
        ("- x\n  goes on\nends", "- x goes on ends"),
        ("#enum[x][y]", "1. x\n2. y"),
    ],
)
def test_lists(source, text):
    assert typst(source)[2] == text


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("#if x [a] else [b]", "[a] else [b]"),
        ("a #[b] #{ [c] }", "a b c"),
        ("#align(center, [Fees #v(1em)])", "Fees"),
        ("a \\\nb \\u{41}", "a\nb A"),
        ("<b> & #sym.euro", "& €"),
        ("#grid([a], [b])", "a b"),
        ("a #(", "a"),
        ("#f(a [b] c", "(a [b] c"),
        ("x #show y", "x"),
    ],
)
def test_code(source, text):
    assert typst(source)[2] == text


PIECES = (
    "#", "#f(", "#table(columns: 2, ", "#set enum(start: 2)", "#show: x.with(title: ", '"', "[",
     "]", "(", ")", "{", "}",
    "*", "_", "`", "```", "$", "//", "/*", "*/", "\\", "\n", "\n\n", "\n+ ", "\n  - ", "\n= ", ", ", "a",
    "#let a = [",
    "table.cell(", "<a>", "@a", "\x02", "\x05", "1\x03", "https://a.example/",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=60))
def test_any_text_is_read(pieces):
    title, _, text = typst("".join(pieces))
    assert not {"\x02", "\x03", "\x05", "\x06"} & {*title, *text}


@pytest.mark.parametrize(
    "piece",
    ["#f(", "#f[", "#[", "#{", "(", "[", '#f("', '"', "/*", "//", "```", "`", "$", "#set (", "#let a = [",
     "#show: x(\n",      "#a[x][", "*a ", "_a", "\n+ a\n  ", "\n= ", "\\u{", "#table(table(",
     "#f(f(", "#link(link(", "#if ", "a" * 20,
     "<a",      "@a", "\n- ", "\\", "#f(a" + "a" * 50],
)  # fmt: skip
def test_broken_markup_ends_in_time(piece):
    typst(piece * 5000 + " x")
    typst(piece * 1000 + "x" + ")]}" * 1000)
