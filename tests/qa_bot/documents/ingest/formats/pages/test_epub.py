"""E-books: chapters in order, metadata, protection, damage."""

import io
import zipfile

import pytest

from qa_bot.documents.ingest import Limits

CONTAINER = "<container><rootfiles><rootfile full-path='EPUB/content.opf'/></rootfiles></container>"
CHAPTERS = {
    "one.xhtml": "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head><title/></head>"
    "<body><h1>Descaling</h1><p>Use <b>citric</b> acid.<a id='x'/></p></body></html>",
    "two two.xhtml": "<html><body><ul><li>Water</li></ul></body></html>",
    "nav.xhtml": "<html><body><nav><a href='one.xhtml'>One</a>"
    "<a href='two%20two.xhtml#top'>Cleaning</a></nav></body></html>",
}


def epub(*, chapters=CHAPTERS, metadata="", extra=(), spine=("one.xhtml", "two two.xhtml", "nav.xhtml"), ncx=""):
    items = "".join(
        f"<item id='i{number}' href='{name.replace(' ', '%20')}' media-type='application/xhtml+xml'"
        f"{' properties=' + repr('nav') if name == 'nav.xhtml' else ''}/>"
        for number, name in enumerate(chapters)
    )
    items += "<item id='ncx' href='toc.ncx' media-type='application/x-dtbncx+xml'/>" if ncx else ""
    refs = "".join(f"<itemref idref='i{list(chapters).index(name)}'/>" for name in spine)
    opf = (
        "<package xmlns='http://www.idpf.org/2007/opf' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
        f"<metadata>{metadata}</metadata><manifest>{items}</manifest><spine>{refs}</spine></package>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("EPUB/content.opf", opf)
        for name, text in [*chapters.items(), *([("toc.ncx", ncx)] if ncx else [])]:
            archive.writestr(f"EPUB/{name}", text)
        for name, text in extra:
            archive.writestr(name, text)
    return buffer.getvalue()


METADATA = (
    "<dc:title>Coffee  machine</dc:title><dc:language>en-GB</dc:language><dc:date>2020</dc:date>"
    "<meta property='dcterms:modified'>2024-03-05T10:00:00Z</meta>"
)


def test_chapters_in_the_order_of_the_spine(reads, tmp_path):
    (record,), rejects, notices = reads("coffee.epub", epub(metadata=METADATA, spine=("two two.xhtml", "one.xhtml")))
    assert (rejects, notices) == ([], [])
    assert (record.id, record.title, record.where) == ("coffee.epub", "Coffee machine", f"{tmp_path}/coffee.epub:1")
    assert (record.language, record.date, record.markdown) == ("en", "2024-03-05T10:00:00+00:00", True)
    assert record.text == "# Cleaning\n\n- Water\n\n# Descaling\n\nUse **citric** acid."


def test_titles_of_chapters_from_an_ncx_file(reads):
    ncx = (
        "<?xml version='1.0'?><!DOCTYPE ncx PUBLIC '-//NISO//DTD ncx 2005-1//EN' 'http://x/ncx.dtd'><ncx><navMap><navPoint>"
        "<navLabel><text>Water</text></navLabel><content src='two%20two.xhtml'/></navPoint></navMap></ncx>"
    )
    chapters = {name: text for name, text in CHAPTERS.items() if name != "nav.xhtml"}
    (record,), _, _ = reads("coffee.epub", epub(chapters=chapters, spine=["two two.xhtml"], ncx=ncx))
    assert (record.title, record.text) == ("coffee", "# Water\n\n- Water")


def test_a_table_of_contents_among_the_chapters_is_left_out(reads):
    pages = {f"c{number}.xhtml": f"<h1>Part {number}</h1><p>Use acid.</p>" for number in range(3)}
    links = "".join(f"<p><a href='{name}#x'>Part {name[1]}</a></p>" for name in pages)
    chapters = {"toc.xhtml": f"<h1>Contents</h1>{links}", **pages, "see.xhtml": f"<p>It is explained in {links}"}
    (record,), _, _ = reads("a.epub", epub(chapters=chapters, spine=[*chapters]))
    assert record.text.startswith("# Part 0\n\nUse acid.\n\n# Part 1")
    assert record.text.endswith("It is explained in\n\nPart 0\n\nPart 1\n\nPart 2")


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("META-INF/rights.xml", "<rights/>", "copy protection"),
        (
            "META-INF/encryption.xml",
            "<e><EncryptionMethod Algorithm='http://www.w3.org/2001/04/xmlenc#aes128-cbc'/></e>",
            "copy protection",
        ),
        ("META-INF/encryption.xml", "<e><EncryptionMethod Algorithm='http://www.idpf.org/2008/embedding'/></e>", ""),
        ("META-INF/encryption.xml", "<!DOCTYPE e [<!ENTITY a 'b'>]><e>&a;</e>", "without"),
    ],
)
def test_protected_books_are_rejected(reads, name, text, reason):
    records, rejects, _ = reads("a.epub", epub(extra=[(name, text)]))
    assert len(records) == (not reason)
    assert all(reason in reject.reason for reject in rejects)


def test_a_missing_chapter_costs_only_itself(reads):
    data = epub(chapters={**CHAPTERS, "gone.xhtml": ""}, spine=("one.xhtml", "gone.xhtml"))
    broken = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(broken, "w") as target:
        for info in source.infolist():
            if "gone" not in info.filename:
                target.writestr(info, source.read(info))
    (record,), rejects, (notice,) = reads("a.epub", broken.getvalue())
    assert rejects == []
    assert "Descaling" in record.text
    assert "gone.xhtml" in notice.message


def test_books_without_text_or_package_or_over_the_limit(reads):
    _, (reject,), _ = reads("a.epub", epub(spine=()))
    assert "with text" in reject.reason
    long = {"one.xhtml": f"<p>{'word ' * 50_000}</p>"}
    records, (reject,), _ = reads(
        "a.epub", epub(chapters=long, spine=["one.xhtml"]), limits=Limits(record_bytes=100_000)
    )
    assert records == []
    assert "--max-record-bytes" in reject.reason
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        archive.writestr("other", "x")
    _, (reject,), _ = reads("a.epub", buffer.getvalue())
    assert "package document" in reject.reason


def test_a_book_cut_anywhere_raises_nothing(reads):
    data = epub()
    for end in range(60, len(data), 211):
        records, rejects, _ = reads("a.epub", data[:end])
        assert records == []
        assert all(reject.reason for reject in rejects)
