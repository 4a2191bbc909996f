"""Detection of a file's format by its first bytes."""

import pytest

from qa_bot.documents.ingest.detect import UnknownFormatError, expect_text, format_of, root_of


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.docx", "Expected a Word file, but got a damaged file"),
        ("a.DOCM", "open it in Word and save it again"),
        ("a.xlsx", "Expected an Excel file"),
        ("a.pdf", "Expected a PDF file"),
        ("a.odt", "Expected an OpenDocument file"),
    ],
)
def test_bytes_that_no_file_of_its_kind_begins_with_are_a_damaged_file(name, expected):
    with pytest.raises(UnknownFormatError, match=expected):
        format_of(name, b"\0\x07" * 300)
    assert format_of(name, b"Hello there, this is a text.") == "text"


def test_random_bytes_without_a_nul_are_binary_too():
    noise = bytes(1 + (i * 97 + i * i) % 255 for i in range(2000))
    assert b"\0" not in noise
    with pytest.raises(UnknownFormatError, match="binary file"):
        expect_text(noise)
    expect_text("Grüße, \tволна\x0c and one stray \x07".encode())
    expect_text("Все счастливые семьи похожи друг на друга".encode("cp1251"))


@pytest.mark.parametrize(("name", "kind"), [("a.mp4", "a video"), ("a.mp3", "a sound recording")])
def test_films_and_sound_are_no_documents(name, kind):
    with pytest.raises(UnknownFormatError, match=f"got {kind}; add its subtitles"):
        format_of(name, b"\0\0\0\x18ftyp")


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("tar", b"a.md".ljust(257, b"\0") + b"ustar  \0"),
        ("RAR", b"Rar!\x1a\x07\0"),
        ("XZ", b"\xfd7zXZ\0\0"),
        ("Zstandard", b"\x28\xb5\x2f\xfd\0"),
    ],
)
def test_archives_that_are_not_read_through_are_to_be_unpacked(kind, head):
    with pytest.raises(UnknownFormatError, match=f"got {kind} data; unpack it"):
        format_of("a.bin", head)


@pytest.mark.parametrize("name", ["a.md", "a.mdx", "a.qmd", "a.Rmd"])
def test_markdown_of_other_programs_is_markdown(name):
    assert format_of(name, b"# Soil\n") == "markdown"


def test_a_text_with_the_suffix_of_a_film_is_a_text():
    assert format_of("main.ts", b"const a = 1\n") == "text"


RESTRUCTURED = b"Brewing\n=======\n\n.. _beans:\n\nSee :ref:`beans`.\n"


@pytest.mark.parametrize("name", ["brewing.txt", "brewing.rst.txt", "BREWING"])
def test_a_text_with_marks_of_restructuredtext_is_read_as_such(name):
    assert format_of(name, RESTRUCTURED) == "restructured"


@pytest.mark.parametrize(
    "text",
    [
        b"Brewing\n=======\n\nGrind 30 g of beans: not too fine.\n",  # underlined headings have other texts, too
        b"Notes\n\nSmile :smile: and wait ... :: then pour\n",
        b"a .. note:: in a line\n.. and two dots\n=====\n",
        b".. note::\n\n   Without a heading.\n",
    ],
)
def test_other_texts_are_plain(text):
    assert format_of("brewing.txt", text) == "text"


@pytest.mark.parametrize(
    ("kind", "head"),
    [
        ("html", b"<!DOCTYPE html>\n<html lang='en'><head><title>Tea</title></head>"),
        ("html", b"\xef\xbb\xbf<!doctype HTML>\n<!-- saved --><HTML><p>Tea"),
        ("html", b"<?xml version='1.0'?>\n<html xmlns='http://www.w3.org/1999/xhtml'>\n<body>"),
        ("eml", b"Subject: Tea\r\nFrom: Ann <ann@example.org>\r\nMIME-Version: 1.0\r\n\r\nVGVh"),
        ("eml", b"Received: from a.example by b.example\n\twith SMTP; 3 May 2024\nSubject: Tea\n\nGreen."),
        ("mbox", b"From ann at example.org  Fri May  3 12:00:00 2024\nSubject: Tea\nMessage-ID: <1@a>\n\nGreen."),
    ],
)
@pytest.mark.parametrize("name", ["tea.txt", "tea.log"])
def test_a_page_or_mail_that_was_saved_as_text(kind, head, name):
    assert format_of(name, head) == kind


@pytest.mark.parametrize(
    "text",
    [
        b"From: Ann\nTo: Tom\nDate: 3 May\nSubject: Tea\n\nWe have no tea.",
        b"Subject: how mails look\n\nMIME-Version: 1.0\nMessage-ID: <1@a>\n",
        b"<html> is the element that a page begins with, then <head>.\n",
        b"Every page begins with\n\n<!DOCTYPE html>\n<html><head>",
        b"<b>Tea</b> is green.",
    ],
)
def test_texts_that_only_look_like_pages_and_mails_are_plain(text):
    assert format_of("tea.txt", text) == "text"


DOCUMENT_TYPE = b'<!DOCTYPE posts [<!ENTITY a "]>"> <!-- it\'s ] here --> <!ELEMENT row EMPTY>]>'


@pytest.mark.parametrize(
    "head",
    [
        b"<!-- a -->\n<?b c?>\n<posts>",
        b"<!DOCTYPE posts SYSTEM 'a.dtd'>\n<posts>",
        DOCUMENT_TYPE + b"\n<posts>",
        b"<!DOCTYPE posts [<!ENTITY a 'b'>] >" + b"<!-- licence -->\n" * 200 + b"<posts>",
    ],
)
def test_the_root_stands_behind_comments_and_the_type_of_the_document(head):
    assert format_of("a.xml", head) == "stackexchange"


@pytest.mark.parametrize("unit", ["<!---->", "<?a?>\n", "<!DOCTYPE[-]", "<!DOCTYPE a [-]>", "[-]", "<!--", "[\"'"])
def test_an_xml_head_without_a_root_is_read_in_linear_time(unit):
    """Twice as long for each repetition, were a comment or a bracket read in two ways."""
    assert root_of(f"<!DOCTYPE{unit * 1000}"[:8192]) == ""
    assert root_of(f"{unit * 1000}"[:8192] + "x") == ""


@pytest.mark.parametrize(
    "head",
    [
        b"<article xmlns='http://docbook.org/ns/docbook'><info/>",
        b"<db:book xmlns:db='http://docbook.org/ns/docbook'>",
        b"<!DOCTYPE refentry PUBLIC '-//OASIS//DTD DocBook XML V4.5//EN' 'a.dtd'>\n<refentry>",
        b"<!DOCTYPE book PUBLIC '-//KDE//DTD DocBook XML V4.5-Based Variant V1.1//EN' 'a' [<!ENTITY a 'b'>]>\n<book>",
        b"<chapter id='a'><title>Pot</title>\n<para>Fill it.</para>",
        b"<section><title>Pot</title><d:itemizedlist xmlns:d='a'>",
    ],
)
def test_docbook_is_known_by_its_marks(head):
    assert format_of("a.xml", head) == format_of("a", head) == "docbook"


@pytest.mark.parametrize(
    "head",
    [
        b"<!DOCTYPE article PUBLIC '-//NLM//DTD JATS (Z39.96) v1.2//EN' 'a'>\n<article><front/><body><sec><p>Tea.</p>",
        b"<book id='1'><author>Ann</author><title>Tea</title><parameter>x</parameter></book>",
        b"<xsl:stylesheet xmlns:d='http://docbook.org/ns/docbook'>",
    ],
)
def test_other_xml_with_such_roots_is_no_docbook(head):
    with pytest.raises(UnknownFormatError, match="Expected DocBook, or XML with one of the roots <Document>"):
        format_of("a.xml", head)
    assert format_of("a.docbook", head) == "docbook"


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("faults.php", "<!-- faults -->\n<?php include 'a'; ?>\n<table><tr><td>5</td></tr></table>", "html"),
        ("page.tpl", "<DIV>Open on Monday.</DIV>", "html"),
        ("plan.svgx", "<path><text>Plan</text></path>", "text"),
        ("notes.log", "a < b <p>", "text"),
    ],
)
def test_templates_of_websites_are_pages(name: str, text: str, kind: str) -> None:
    assert format_of(name, text.encode()) == kind


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("news.rss", "<rss version='2.0'><channel><title>News</title></channel></rss>", "the feed of a website"),
        ("news.atom", "<?xml version='1.0'?>\n<feed><entry/></feed>", "the feed of a website"),
        ("plan.svg", "<svg xmlns='http://www.w3.org/2000/svg'><text>Plan</text></svg>", "a drawing"),
        ("route.gpx", "<?xml version='1.0'?><gpx><trk/></gpx>", "got <gpx>"),
    ],
)
def test_xml_that_is_no_document_is_rejected_whatever_its_suffix(name: str, text: str, reason: str) -> None:
    with pytest.raises(UnknownFormatError, match=reason):
        format_of(name, text.encode())


@pytest.mark.parametrize(
    ("name", "kind", "format_"),
    [("a.fodt", "text", "odt"), ("a.xml", "spreadsheet", "ods"), ("a.fodp", "presentation", "odp")],
)
def test_flat_open_document_files_are_known_by_their_kind(name: str, kind: str, format_: str) -> None:
    root = f"<office:document office:mimetype='application/vnd.oasis.opendocument.{kind}'>"
    assert format_of(name, f"<?xml version='1.0'?>\n{root}".encode()) == format_


def test_the_search_index_of_a_website_is_no_document():
    with pytest.raises(UnknownFormatError, match="the search index of a website"):
        format_of("searchindex.js", b'Search.setIndex({"titles":["Tea"]})')
    assert format_of("search.js", b"Search.start()") == "text"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"version": "2.0", "data": []}', "squad"),
        ('{\n "version": "2.0",\n "data": []}', "squad"),
        ('{\n "paragraphs": []}', "squad"),
        ('{"data":[{"question":"Q?","answer":"A."}]}', "json"),
        ('{\n "version": 1,\n "faqs": [\n {"Frage": "Q?"}]}', "json"),
        ('{"parts":[{"n":1}],"text":"a"}\n{"parts":[],"text":"b"}', "jsonl"),
        ('{"title": "a", "text": "b"}\n{', "jsonl"),
        ('[\n {"title": "a"}]', "json"),
    ],
)
def test_kinds_of_json(text: str, kind: str) -> None:
    assert format_of("a.json", text.encode()) == kind


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ('{\n  "rooms": [{"name": "Maple"}]\n}', "one object that begins with the field rooms; save"),
        ("{\n}", "one object; save"),
    ],
)
def test_an_object_of_no_known_format_is_rejected(text: str, got: str) -> None:
    with pytest.raises(UnknownFormatError) as error:
        format_of("a.json", text.encode())
    assert str(error.value) == (
        f"Expected a JSON object on each line, an array of objects, or SQuAD, but got {got} its records as an array "
        "of objects with title and text."
    )
