"""DocBook: whole files."""

import pytest

BOOK = """<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet href="a.css"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "docbookx.dtd" [
  <!-- it's a comment with <!ENTITY pot "kettle"> -->
  <!ENTITY pot "<productname>Pot</productname>">
  <!ENTITY more SYSTEM "more.xml">
]>
<book lang="en-GB">
  <bookinfo>
    <title>The &pot; <emphasis>manual</emphasis></title>
    <author><surname>Lee</surname></author>
    <legalnotice><para>All rights.</para></legalnotice>
    <pubdate>2024-03-05</pubdate>
    <abstract><para>How to brew with a &pot;.</para></abstract>
  </bookinfo>
  <chapter id="install"><title>Install</title>
    <indexterm><primary>pot</primary></indexterm>
    <para>Fill the &pot; &mdash; up to the <guilabel>Max</guilabel> mark.<?dbhtml x?></para>
    <sect1><title>Heat</title><remark>check</remark>
      <para>Wait, see <xref linkend="install"/> and <xref linkend="care-of_pots"/>.</para>
    </sect1>
  </chapter>
  &more;
  &appendix;
  <appendix><title>Parts</title><simpara>Lid.</simpara></appendix>
</book>
"""
ARTICLE = """<article xmlns="http://docbook.org/ns/docbook" xmlns:xlink="http://www.w3.org/1999/xlink"
  xmlns:xi="http://www.w3.org/2001/XInclude" version="5.0" xml:lang="de">
  <info><title>Kanne</title><revhistory>
    <revision><date>2023-01-02</date></revision><revision><date>2024-05-06</date></revision>
  </revhistory></info>
  <xi:include href="other.xml"/>
  <section xml:id="lid"><info><title>Deckel</title></info>
    <para>Mehr <link xlink:href="https://example.org/pot">hier</link>, auch <link linkend="lid"/>.</para>
    <section><title>Griff</title><para>Holz.</para></section>
  </section>
</article>
"""


def test_a_book_of_docbook_4(reads):
    records, rejects, notices = reads("pot.docbook", BOOK)
    assert (rejects, notices) == ([], [])
    [record] = records
    assert (record.title, record.date, record.language) == ("The Pot manual", "2024-03-05", "en")
    assert record.text == (
        "How to brew with a Pot.\n\n# Install\n\nFill the Pot — up to the **Max** mark.\n\n## Heat\n\n"
        "Wait, see Install and care of pots.\n\n# Parts\n\nLid."
    ).replace("# ", "## ")


def test_an_article_of_docbook_5(reads):
    [record] = reads("kanne.xml", ARTICLE)[0]
    assert (record.title, record.date, record.language) == ("Kanne", "2024-05-06", "de")
    assert record.text == ("## Deckel\n\nMehr [hier](https://example.org/pot), auch Deckel.\n\n### Griff\n\nHolz.")


def test_part_of_a_book_may_be_several_elements_with_names_that_it_does_not_define(reads):
    text = "<sect1><title>Lid</title><para>&app; <xi:include href='a'/>shuts.</para></sect1><sect1><title>Tea</title>"
    [record] = reads("parts.dbk", f"{text}<para xlink:href='x'>Hot.</para></sect1>")[0]
    assert (record.title, record.text) == ("parts", "# Lid\n\napp shuts.\n\n# Tea\n\nHot.")


def test_text_before_an_error_is_kept(reads):
    text = "<?xml version='1.0'?>\n<article>\n<title>Pot</title>\n<para>Fill it.</para>\n<para>Heat it.</section>\n"
    records, [reject], _ = reads("pot.docbook", text)
    assert [(record.title, record.text) for record in records] == [("Pot", "Fill it.")]
    assert reject.where.endswith("pot.docbook:5")
    assert "Expected well-formed XML, but got mismatched tag" in reject.reason
    assert reject.reason.endswith("The text before this line is kept.")


def test_nothing_is_said_to_be_kept_of_a_file_that_breaks_before_its_text(reads):
    records, [reject], _ = reads("pot.docbook", "<article>\n<title></article>\n")
    assert records == []
    assert "mismatched tag" in reject.reason
    assert "kept" not in reject.reason


def test_a_book_that_only_includes_its_chapters_has_no_text(reads):
    text = '<!DOCTYPE book [<!ENTITY a SYSTEM "a.docbook">]><book><title>Pot</title>&a;</book>'
    records, [reject], _ = reads("pot.docbook", text)
    assert records == []
    assert "add the files that it includes" in reject.reason


@pytest.mark.parametrize("depth", [40, 5000])
def test_deep_nesting_ends_as_plain_text(reads, depth):
    opened = "<itemizedlist><listitem><para>" * depth
    closed = "</para></listitem></itemizedlist>" * depth
    [record] = reads("deep.docbook", f"<article><title>Deep</title>{opened}Hot tea.{closed}</article>")[0]
    assert "Hot tea." in record.text


def test_a_long_title_is_not_repeated_at_length(reads):
    section, references = f"<sect1 id='a'><title>{'x' * 10_000}</title></sect1>", "<xref linkend='a'/>" * 1000
    [record] = reads("long.docbook", f"<article><para>{references}</para>{section}</article>")[0]
    assert len(record.text) < 400_000
