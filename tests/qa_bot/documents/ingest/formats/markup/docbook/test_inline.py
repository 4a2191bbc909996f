"""Inline markup of DocBook."""

import pytest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<menuchoice><shortcut><keycombo><keycap>Ctrl</keycap><keycap>O</keycap></keycombo></shortcut><guimenu>File"
         "</guimenu> <guimenuitem>Open…</guimenuitem></menuchoice>", "**File › Open…** (Ctrl+O)"),
        ("Press <keycombo action='seq'><keycap>g</keycap><keycap function='enter'/></keycombo>", "Press g Enter"),
        ("<guimenu><accel>F</accel>ile</guimenu>", "**File**"),
        ("<filename>a.txt</filename> <command>ls <option>-a</option></command> <envar>HOME</envar>",
         "`a.txt` `ls -a` `HOME`"),
        ("<emphasis>a</emphasis> <emphasis role='bold'>b</emphasis> <quote>c</quote>", "*a* **b** “c”"),
        ("<ulink url='https://example.org/a?b&amp;c'>here</ulink>", "[here](https://example.org/a?b&c)"),
        ("<ulink url='https://example.org/'/>", "https://example.org/"),
        ("Tea<footnote><para>Hot.</para><para>Black.</para></footnote> is", "Tea (Hot. Black.) is"),
        ("See <xref linkend='t'/>, <link linkend='t'>it</link>, <xref linkend='my-pot'/>", "See Cups, it, my pot"),
        ("See <xref linkend='t' endterm='e'/>", "See cup"),
        ("<citerefentry><refentrytitle>ls</refentrytitle><manvolnum>1</manvolnum></citerefentry>", "`ls(1)`"),
        ("E = <inlineequation><alt>mc2</alt></inlineequation>", "E = mc2"),
        ("10 m<superscript>2</superscript>", "10 m²"),
        ("a<indexterm><primary>x</primary></indexterm><!-- c --> &lt;b&gt;", "a <b>"),
        ("<unknown>text</unknown>", "text"),
    ],
)  # fmt: skip
def test_inline_markup(reads, text, expected):
    table = "<table id='t'><title>Cups</title><tr><td id='e'>cup</td></tr></table>"
    [record] = reads("a.docbook", f"<article><para>{text}</para>{table}</article>")[0]
    assert record.text.partition("\n\n")[0] == expected
