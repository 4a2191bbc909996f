# ruff: noqa: E501  (an example of a format is one line)
"""Small valid examples of every format."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import zipfile
from functools import cache

TEXTS: dict[str, bytes] = {
    "jsonl": b'{"_id": "a", "title": "Tea", "text": "Tea is hot.", "metadata": {"url": "https://a.example"}}\n{"question": "Why?", "answers": ["So.", "Thus."]}\n',
    "json": b'[{"id": 1, "text": "Tea"}, {"question": "Q?", "answer": "A."}]',
    "tsv": b"1\tTea is hot.\n2\tCoffee is black.\n",
    "csv": b'question,answer,url\n"Why, then?","Because ""so"".",https://a.example\nHow?,Thus.,\n',
    "squad": b'{"version": "1", "data": [{"title": "T", "paragraphs": [{"context": "Tea is hot.", "qas": [{"id": "1", "question": "Q?", "answers": [{"text": "Tea", "answer_start": 0}]}]}]}]}',
    "medquad": b'<?xml version="1.0"?><Document id="1" source="s" url="http://a.example"><Focus>Tea</Focus><QAPairs><QAPair pid="1"><Question qid="1" qtype="q">What?</Question><Answer>That.</Answer></QAPair></QAPairs></Document>',
    "stackexchange": b'<?xml version="1.0"?><posts><row Id="1" PostTypeId="1" AcceptedAnswerId="2" Title="Why?" Body="&lt;p&gt;Tea&lt;/p&gt;" Score="1" Tags="&lt;tea&gt;" /><row Id="2" PostTypeId="2" ParentId="1" Body="&lt;p&gt;So.&lt;/p&gt;" Score="2" /></posts>',
    "markdown": b"---\ntitle: Tea\ndate: 2024-01-02\n---\n# Tea\n\nIt is *hot*, `code` and [link](https://a.example).\n\n1. one\n2. two\n   - three\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = 1\n```\n\n> quoted\n\n{% raw %} x {{ y }}\n:::note\nhello\n:::\n",
    "restructured": b"Tea\n===\n\nIt is *hot*. See `link <https://a.example>`_.\n\n.. note:: Mind.\n\n* one\n* two\n\n+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n+---+---+\n\n.. code-block:: python\n\n   x = 1\n\n:field: value\n",
    "asciidoc": b"= Tea\n:author: A\n\n== Hot\n\nIt is *hot* and link:https://a.example[here].\n\n* one\n** two\n\n|===\n|a |b\n|1 |2\n|===\n\n----\ncode\n----\n\nNOTE: Mind.\n",
    "latex": b"\\documentclass{article}\\title{Tea}\\begin{document}\\section{Hot}It is \\emph{hot} $x^2$ % note\n\\begin{itemize}\\item one\\item two\\end{itemize}\\begin{tabular}{ll}a & b \\\\ 1 & 2\\end{tabular}\\href{https://a.example}{here}\\end{document}",
    "typst": b'#import "t.typ": *\n#show: doc.with(title: "Tea", date: datetime(year: 2024, month: 1, day: 2))\n// no\n= Hot\nIt is *hot*, _black_ and #link("https://a.example")[here]#footnote[x].\n\n+ one\n  - two\n#set enum(start: 4, numbering: "a)")\n+ four\n#table(columns: 2, [a], [b], table.cell(colspan: 2)[c])\n```py\nx\n```\n$x^2$ @a <b>\n',
    "docbook": b'<?xml version="1.0"?><!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "d.dtd" [<!ENTITY tea "<emphasis>Tea</emphasis> &mdash; &cup;"><!ENTITY cup "cup"><!ENTITY x SYSTEM "x.xml">]><book lang="en"><bookinfo><title>&tea;</title><pubdate>2024-01-02</pubdate></bookinfo><chapter id="c"><title>Hot</title><para>It <xref linkend="c"/> is<footnote><para>x</para></footnote> <ulink url="https://a.example/&cup;">hot</ulink> <menuchoice><guimenu>F</guimenu><guimenuitem>O</guimenuitem></menuchoice>.</para><orderedlist numeration="loweralpha"><listitem><para>one</para></listitem></orderedlist><variablelist><varlistentry><term>a</term><listitem><para>b</para></listitem></varlistentry></variablelist><informaltable><tgroup cols="2"><colspec colname="a"/><colspec colname="b"/><tbody><row><entry namest="a" nameend="b" morerows="1">1</entry></row></tbody></tgroup></informaltable><note><para>Mind.</para></note><screen><![CDATA[<x> &y;]]></screen><cmdsynopsis><command>t</command><group><arg rep="repeat">x</arg></group></cmdsynopsis><qandaset><qandaentry><question><para>Why?</para></question><answer><para>So.</para></answer></qandaentry></qandaset>&x;</chapter></book>',
    "mediawiki": b'<mediawiki xml:lang="en"><siteinfo><base>https://a.example/Main</base></siteinfo><page><title>Tea</title><ns>0</ns><id>1</id><revision><timestamp>2024-01-02T00:00:00Z</timestamp><text>\'\'\'Tea\'\'\' is [[hot|warm]] {{x|a=b}} <ref>r</ref>\n== H ==\n* one\n# two\n{| class="a"\n! a !! b\n|-\n| 1 || 2\n|}\n</text></revision></page></mediawiki>',
    "wordpress": b'<rss xmlns:wp="http://wordpress.org/export/1.2/" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item><title>Tea</title><link>https://a.example/1</link><content:encoded><![CDATA[It is <b>hot</b>.\n\n[caption id="1"]A cup[/caption]\n\n<h2>How</h2>\n[code]a[0][/code]]]></content:encoded><wp:post_id>1</wp:post_id><wp:post_date>2024-01-02 10:00:00</wp:post_date><wp:status>publish</wp:status><wp:post_type>post</wp:post_type><category>x</category></item></channel></rss>',
    "notebook": b'{"nbformat": 4, "metadata": {"kernelspec": {"language": "python"}}, "cells": [{"cell_type": "markdown", "source": ["# Tea\\n", "hot"]}, {"cell_type": "code", "source": "x = 1", "outputs": [{"output_type": "stream", "text": ["1"]}, {"output_type": "execute_result", "data": {"text/html": "<b>x</b>"}}]}]}',
    "python": b'"""Tea module."""\n\nclass Tea:\n    """Hot."""\n\n    def drink(self, x: int = 1) -> None:\n        """Drink it."""\n',
    "transcript": b"1\n00:00:01,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:03,000 --> 00:00:04,000\n<v Anna>Tea?</v>\n",
    "calendar": b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nDTSTART;VALUE=DATE:20240102\r\nDTEND:20240103T101500Z\r\nRRULE:FREQ=DAILY\r\nSUMMARY:Tea\\, hot\r\nDESCRIPTION:A\r\n B\r\nBEGIN:VALARM\r\nEND:VALARM\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
    "contacts": b"BEGIN:VCARD\r\nVERSION:2.1\r\nN;ENCODING=QUOTED-PRINTABLE:M=C3=BC;=\r\nAnna\r\nTEL;TYPE=work:1\r\nADR:;;W 1;Ulm\r\nEND:VCARD\r\n",
    "html": b'<!doctype html><html lang="en"><head><title>Tea</title><meta name="date" content="2024-01-02"><base href="https://a.example/"></head><body><nav><a href="/x">menu</a></nav><main><h1>Tea</h1><p>It is <b>hot</b> <a href="y?z=1">y</a>.</p><ul><li>one<ul><li>two</ul></ul><table><tr><th>a<th>b<tr><td rowspan=2>1<td colspan=2>2</table><pre>code</pre><svg><title>x</title></svg></main></body></html>',
    "eml": b'From: Anna <a@a.example>\nTo: b@b.example\nSubject: =?utf-8?q?Tea_=C3=A4?=\nDate: Mon, 01 Jan 2024 10:00:00 +0000\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="x"\n\n--x\nContent-Type: text/html; charset=utf-8\n\n<p>Hot</p><blockquote>old</blockquote>\n--x\nContent-Type: text/plain; name="a.txt"\nContent-Disposition: attachment; filename="a.txt"\nContent-Transfer-Encoding: base64\n\nVGVh\n--x--\n',
    "mbox": b"From a@a.example Mon Jan  1 10:00:00 2024\nFrom: a@a.example\nSubject: Tea\nMessage-ID: <1@a>\n\nHot?\n\nFrom b@a.example Mon Jan  1 10:00:00 2024\nFrom: b@a.example\nSubject: Re: Tea\nIn-Reply-To: <1@a>\n\nYes.\n> Hot?\n",
    "slack": b'[{"type": "message", "user": "U1", "text": "Is <https://a.example|tea> hot? <@U2> :cat:", "ts": "1704103200.000100", "thread_ts": "1704103200.000100"}, {"type": "message", "user": "U2", "text": "yes &amp; no", "ts": "1704103201.000100", "thread_ts": "1704103200.000100"}]',
    "confluence": b'<html><head><title>Space : Tea</title></head><body><div id="page"><div id="main"><h1 id="title-heading"><span id="title-text">Tea</span></h1><div id="content"><div class="page-metadata">Created by A on Jan 01, 2024</div><div id="main-content"><p>Hot</p></div></div></div></div></body></html>',
    "rtf": b"{\\rtf1\\ansi\\deff0{\\fonttbl{\\f0 Arial;}}{\\info{\\title Tea}}\\pard\\b Tea\\b0\\par It is hot \\u228? \\'e4.\\par{\\trowd\\cellx100\\cellx200 a\\cell b\\cell\\row}{\\field{\\*\\fldinst HYPERLINK \"https://a.example\"}{\\fldrslt x}}}",
    "text": b"TEA\n\nIt is hot.\n\n1) one\n2) two\n\nQ: Why?\nA: So.\n\na    b\n1    2\n",
}  # fmt: skip


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


@cache
def binaries() -> dict[str, bytes]:
    """Small documents of the binary formats, written by other libraries."""
    return {
        "docx": _docx(),
        "pptx": _pptx(),
        "xlsx": _xlsx(),
        "xls": _xls(),
        "pdf": _pdf(),
        "epub": _epub(),
        "odt": _open_document("text", "<text:h text:outline-level='1'>Tea</text:h><text:p>Hot <text:a xlink:href='https://a.example'>x</text:a></text:p><table:table><table:table-row><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>"),
        "odp": _open_document("presentation", "<draw:page draw:name='1'><draw:frame><draw:text-box><text:p>Tea</text:p></draw:text-box></draw:frame></draw:page>"),
        "ods": _open_document("spreadsheet", "<table:table table:name='S'><table:table-row table:number-rows-repeated='2'><table:table-cell office:value-type='float' office:value='1' table:number-columns-repeated='2'><text:p>1</text:p></table:table-cell></table:table-row></table:table>"),
        "slack-archive": _zip({"channels.json": b'[{"id": "C1", "name": "tea"}]', "users.json": b'[{"id": "U1", "profile": {"real_name": "Anna"}}]', "tea/2024-01-01.json": TEXTS["slack"]}),
    }  # fmt: skip


def containers() -> tuple[bytes, ...]:
    """Archives of text files, and compressed files."""
    members = {"a.md": TEXTS["markdown"], "b/c.jsonl": TEXTS["jsonl"], "d.html": TEXTS["html"]}
    return (
        _zip(members),
        _zip({"inner.zip": _zip(members)}),
        gzip.compress(TEXTS["jsonl"]),
        bz2.compress(TEXTS["text"]),
    )


def _docx() -> bytes:
    from docx import Document

    document = Document()
    document.add_heading("Tea", 1)
    document.add_paragraph("It is hot.")
    document.add_paragraph("one", style="List Bullet")
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text = "a"
    return _saved(document)


def _pptx() -> bytes:
    from pptx import Presentation

    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Tea"
    slide.placeholders[1].text = "Hot"
    return _saved(presentation)


def _xlsx() -> bytes:
    from openpyxl import Workbook

    workbook = Workbook()
    for row in (["question", "answer"], ["Why?", "So."], [1, 2.5]):
        workbook.active.append(row)
    workbook.active.merge_cells("A4:B5")
    return _saved(workbook)


def _xls() -> bytes:
    import xlwt

    workbook = xlwt.Workbook()
    sheet = workbook.add_sheet("S")
    for column, value in enumerate(("Tea", 1.5, "hot")):
        sheet.write(0, column, value)
    return _saved(workbook)


def _saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def _pdf() -> bytes:
    content = b"BT /F1 18 Tf 72 720 Td (Tea) Tj 0 -40 Td /F1 10 Tf (It is hot and it is black.) Tj 0 -14 Td (Second line.) Tj ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, offsets = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 6\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return bytes(out + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start)


def _epub() -> bytes:
    container = b'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="c.opf"/></rootfiles></container>'
    package = b'<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tea</dc:title></metadata><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
    return _zip(
        {"mimetype": b"application/epub+zip", "META-INF/container.xml": container, "c.opf": package, "a.xhtml": TEXTS["html"]}
    )  # fmt: skip


def _open_document(kind: str, body: str) -> bytes:
    names = ("office", "text", "table", "draw", "style")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{"drawing" if name == "draw" else name}:1.0"' for name in names)  # fmt: skip
    content = f'<office:document-content {spaces} xmlns:xlink="http://www.w3.org/1999/xlink"><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>'
    mime = f"application/vnd.oasis.opendocument.{kind}"
    return _zip({"mimetype": mime.encode(), "content.xml": content.encode()})


REQUESTS: tuple[bytes, ...] = tuple(
    json.dumps(body).encode()
    for body in (
        {"question": "Why?", "body": "x", "top": 3, "deadline": 0.5, "trace": True, "collection": ["a"], "since": "2024-05"},
        {"query": "tea", "engine": "keyword", "under": "a/b", "language": "de", "until": "2024-02-30"},
        {"id": "a", "vote": "up", "comment": "x"},
        {"model": "qa-bot", "messages": [{"role": "system", "content": "x"}, {"role": "user", "content": [{"type": "text", "text": "hi"}]}], "stream": True},
    )
)  # fmt: skip
FRAMES: tuple[bytes, ...] = tuple(
    json.dumps(frame).encode()
    for frame in (
        {"type": "hello", "token": "x", "resume": "a", "seq": 3},
        {"type": "ask", "id": "a", "text": "why?", "persona": "p", "deadline": 1, "trace": False, "under": ["a"]},
        {"type": "feedback", "id": "a", "vote": "up", "comment": "x"},
        {"type": "choose", "id": "a", "choice": 1},
        {"type": "raw", "id": "a"},
        {"type": "ping"},
    )
)
QUESTIONS: tuple[bytes, ...] = (
    b"Why do cats sleep all day?",
    b"What is the capital of Australia, and what about its population?",
    b"who invented the telephone and when?",
    "Wie lange muss grüner Tee ziehen? Und warum nicht länger?".encode(),
    b'My cat, "Tom", is 9.5 years old (born in May). Is that normal? - yes; 1) no 2) yes https://a.example/x?y=1',
    "貓為什麼整天睡覺？ 😀 e\u0301".encode(),
    b"and in winter?",
    b"shorter",
    b"how many people live in France in 1,000,000s? the second one, not the first",
    b"compare tea with coffee: which one has more caffeine per 100 ml?",
)
