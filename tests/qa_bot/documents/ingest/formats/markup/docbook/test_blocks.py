"""The blocks of DocBook."""

import pytest


@pytest.fixture
def markdown(reads):
    def read(text):
        [record] = reads("a.docbook", f"<article><title>Pot</title>{text}</article>")[0]
        return record.text

    return read


@pytest.mark.parametrize("kind", ["note", "tip", "warning", "caution", "important", "danger"])
def test_a_note_has_its_kind_as_a_label(markdown, kind):
    assert (
        markdown(f"<{kind}><para>Mind.</para><para>More.</para></{kind}>") == f"**{kind.capitalize()}:** Mind.\n\nMore."
    )
    assert markdown(f"<{kind}><title>Heat</title><para>Mind.</para></{kind}>") == "**Heat:** Mind."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<itemizedlist><title>L</title><listitem><para>a</para><para>b</para></listitem><listitem>c</listitem>"
         "</itemizedlist>", "**L**\n\n- a\n\n    b\n- c"),
        ("<orderedlist startingnumber='3'><listitem><para>a</para></listitem></orderedlist><orderedlist "
         "continuation='continues'><listitem><para>b</para></listitem></orderedlist>", "3. a\n4. b"),
        ("<orderedlist numeration='loweralpha'><listitem><para>x</para></listitem><listitem><para>y</para></listitem>"
         "</orderedlist>", "- a. x\n- b. y"),
        ("<variablelist><varlistentry><term>RTO</term><term>RPO</term><listitem><para>Time.</para></listitem>"
         "</varlistentry></variablelist>", "- **RTO, RPO**: Time."),
        ("<procedure><title>Brew</title><step><para>Fill.</para><substeps><step><para>Lid off.</para></step></substeps>"
         "</step><step><title>Heat</title><para>Wait.</para></step></procedure>",
         "**Brew**\n\n1. Fill.\n    1. Lid off.\n2. **Heat**\n\n    Wait."),
        ("<procedure><step><para>By:</para><stepalternatives><step><para>Gas.</para></step></stepalternatives></step>"
         "</procedure>", "1. By:\n    - Gas."),
        ("<para>Cups: <simplelist type='inline'><member>a</member><member>b</member></simplelist>.</para>",
         "Cups: a, b."),
        ("<segmentedlist><segtitle>A</segtitle><segtitle>B</segtitle><seglistitem><seg>1</seg><seg>2</seg></seglistitem>"
         "</segmentedlist>", "| A | B |\n| --- | --- |\n| 1 | 2 |"),
        ("<glosslist><glossentry><glossterm id='t'>Tea</glossterm><glossdef><para>A drink.</para><glossseealso "
         "otherterm='m'/></glossdef></glossentry><glossentry><glossterm>Chai</glossterm><glosssee otherterm='t'/>"
         "</glossentry></glosslist>", "- **Tea**: A drink.\n- **Chai**: See Tea."),
    ],
)  # fmt: skip
def test_lists(markdown, text, expected):
    assert markdown(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<programlisting language='Python'><![CDATA[\n  if a < b:\n      c()\n]]></programlisting>",
         "```python\nif a < b:\n    c()\n```"),
        ("<screen><prompt>$</prompt> <userinput>make <co id='c'/></userinput></screen><calloutlist><callout "
         "arearefs='c'><para>Waits.</para></callout></calloutlist>", "```\n$ make (1)\n```\n\n1. Waits."),
        ("<literallayout>a\n b</literallayout>", "```\na\n b\n```"),
        ("<address>Ann\nLane 1</address>", "Ann\nLane 1"),
        ("<formalpara><title>Heat</title><para>Low.</para></formalpara>", "**Heat.** Low."),
        ("<blockquote><attribution>Ann</attribution><para>Tea.</para></blockquote>", "> Tea.\n>\n> — Ann"),
        ("<sidebar><title>Aside</title><para>x y</para></sidebar>", "**Aside**\n\nx y"),
        (
            "<procedure><title>Brew</title><step><para>a</para></step></procedure><para>b</para>",
            "**Brew**\n\n1. a\n\n######\n\nb",
        ),
        ("<bridgehead>Below</bridgehead><para>x</para>", "## Below\n\nx"),
        ("<section>\nA text of its own.\nunderFDL\n<para>x</para> word</section>", "A text of its own. underFDL\n\nx"),
    ],
)  # fmt: skip
def test_listings_and_paragraphs(markdown, text, expected):
    assert markdown(text) == expected


def test_pictures_have_their_captions_and_descriptions(markdown):
    image = "<imageobject><imagedata fileref='a.png'/></imageobject>"
    media = f"<mediaobject>{image}<textobject><phrase>{{}}</phrase></textobject>"
    assert markdown(
        f"<figure><title>The pot</title>{media.format('The pot')}</mediaobject></figure>"
        f"<screenshot><screeninfo>x</screeninfo>{media.format('A pot with a lid stands on a stove of two plates.')}"
        "<caption><para>On the stove</para></caption></mediaobject></screenshot>"
        "<para>Press <inlinemediaobject><textobject><phrase>plus</phrase></textobject></inlinemediaobject> twice."
        "</para>"
    ) == ("The pot\n\nA pot with a lid stands on a stove of two plates.\n\nOn the stove\n\nPress plus twice.")


def test_questions_are_headings(markdown):
    assert (
        markdown(
            "<section><title>FAQ</title><qandaset><qandadiv><title>Care</title><qandaentry><question>"
            "<label>Q</label><para>May I wash it?</para></question><answer><label>A</label><para>Yes.</para></answer>"
            "</qandaentry></qandadiv></qandaset></section>"
        )
        == "## FAQ\n\n### Care\n\n#### May I wash it?\n\nYes."
    )


def test_questions_do_not_head_what_follows_them(markdown):
    text = markdown(
        "<section><title>Setup</title><qandaset><qandaentry><question><para>Does it fold?</para></question><answer>"
        "<para>Yes.</para></answer></qandaentry></qandaset><para>The frame is made of ash wood.</para></section>"
    )
    assert text == "## Setup\n\n### Does it fold?\n\nYes.\n\n###\n\nThe frame is made of ash wood."


def test_a_page_of_a_manual(reads):
    [record] = reads(
        "pot.xml",
        "<refentry><refmeta><refentrytitle>pot</refentrytitle><manvolnum>1</manvolnum></refmeta><refnamediv><refname>pot"
        "</refname><refname>pan</refname><refpurpose>heats tea</refpurpose></refnamediv><refsynopsisdiv><cmdsynopsis>"
        "<command>pot</command><arg choice='plain'>brew</arg></cmdsynopsis></refsynopsisdiv><refsect1><title>Options"
        "</title><para>None.</para></refsect1></refentry>",
    )[0]
    assert record.title == "pot"
    assert record.text == ("**pot, pan** – heats tea\n\n## Synopsis\n\n```\npot brew\n```\n\n## Options\n\nNone.")


def test_a_glossary_without_title_has_the_usual_one(markdown):
    entry = "<glossentry><glossterm>Lid</glossterm><glossdef><para>A cover.</para></glossdef></glossentry>"
    assert markdown(f"<glossary>{entry}</glossary>") == "## Glossary\n\n- **Lid**: A cover."
