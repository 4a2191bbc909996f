"""OpenDocument texts and presentations, made of their XML."""

import io
import zipfile

import pytest

from qa_bot.documents.ingest import Limits
from qa_bot.documents.ingest.records import Position

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(
    f'xmlns:{prefix}="{uri}"'
    for prefix, uri in {
        **{name: f"{OASIS}:{name}:1.0" for name in ("office", "text", "table", "style", "presentation", "meta")},
        "draw": f"{OASIS}:drawing:1.0",
        "svg": f"{OASIS}:svg-compatible:1.0",
        "fo": f"{OASIS}:xsl-fo-compatible:1.0",
        "xlink": "http://www.w3.org/1999/xlink",
        "dc": "http://purl.org/dc/elements/1.1/",
    }.items()
)
MIME = "application/vnd.oasis.opendocument."
STYLES = (
    '<style:style style:name="P1" style:parent-style-name="Title"/>'
    '<style:style style:name="P2" style:parent-style-name="Preformatted_20_Text"/>'
    '<style:style style:name="P3" style:parent-style-name="Quotations"/>'
    '<style:style style:name="T1"><style:text-properties style:text-position="33% 58%"/></style:style>'
    '<style:style style:name="T2"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="T3"><style:text-properties style:text-position="-33% 58%"/></style:style>'
    '<style:style style:name="T6"><style:text-properties text:display="none"/></style:style>'
    '<style:style style:name="T7" style:parent-style-name="T6"/>'
    '<style:style style:name="T8" style:parent-style-name="T6"><style:text-properties text:display="true"/>'
    "</style:style>"
    '<style:font-face style:name="Symbol1" svg:font-family="Symbol"/>'
    '<style:style style:name="T4"><style:text-properties style:font-name="Symbol1"/></style:style>'
    '<style:style style:name="T5"><style:text-properties fo:font-family="Wingdings"/></style:style>'
    '<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>'
    '<style:style style:name="B2" style:parent-style-name="B"><style:text-properties fo:font-size="16pt"/>'
    "</style:style>"
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-bullet text:level="2"/></text:list-style>'
    '<text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    '<text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")" text:display-levels="2"/>'
    "</text:list-style>"
)


def odf(kind, body, meta="", manifest=""):
    """The bytes of a file of a kind: text, presentation or spreadsheet."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", MIME + kind)
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMESPACES}><office:automatic-styles>{STYLES}</office:automatic-styles>"
            f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>",
        )
        if meta:
            archive.writestr("meta.xml", f"<m {NAMESPACES}><office:meta>{meta}</office:meta></m>")
        if manifest:
            archive.writestr("META-INF/manifest.xml", manifest)
    return data.getvalue()


@pytest.fixture
def text_of(reads):
    def text_of(body, kind="text"):
        (record,), rejects, notices = reads("a.odp" if kind == "presentation" else "a.odt", odf(kind, body))
        assert (rejects, notices) == ([], [])
        return record.text

    return text_of


def test_a_text_with_every_block(reads, tmp_path):
    body = (
        "<text:tracked-changes><text:p>Deleted.</text:p></text:tracked-changes>"
        '<text:p text:style-name="P1">Travel</text:p><text:h text:outline-level="1">Booking</text:h>'
        "<text:p>Ask<text:s/>first,<text:line-break/>  <text:span>then</text:span> go.</text:p>"
        '<text:list text:style-name="L1"><text:list-item><text:p>Open</text:p><text:list><text:list-item>'
        "<text:p>Inner</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>Fill in</text:p></text:list-item></text:list>"
        '<text:p text:style-name="P2">if x:</text:p><text:p text:style-name="P2"><text:s text:c="4"/>go()</text:p>'
        '<text:p text:style-name="P3">Cheap is good.</text:p>'
        "<text:table-of-content><text:index-body><text:p>Booking 1</text:p></text:index-body></text:table-of-content>"
        '<text:section><text:p>See <text:a xlink:href="https://x.y/">page</text:a><text:note><text:note-citation>1'
        "</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>.</text:p>"
        "</text:section>"
    )
    meta = (
        "<dc:title>Old</dc:title><dc:date>2024-05-06T07:08:09.123</dc:date><dc:language>de-AT</dc:language>"
        "<meta:keyword>cost</meta:keyword><meta:keyword>trip</meta:keyword>"
    )
    (record,), rejects, _ = reads("a.odt", odf("text", body, meta))
    assert rejects == []
    assert record.text == (
        "# Travel\n\n# Booking\n\nAsk first,\nthen go.\n\n1. Open\n    - Inner\n2. Fill in\n\n```\nif x:\n    go()\n```"
        "\n\n> Cheap is good.\n\nSee [page](https://x.y/)[1].\n\n## Notes\n\n[1] A note."
    )
    assert (record.title, record.date, record.language) == ("Travel", "2024-05-06T07:08:09", "de")
    assert (record.id, record.tags, record.where) == ("a.odt", ("cost", "trip"), f"{tmp_path}/a.odt:1")


def test_tables_merged_and_nested_frames_and_pictures(text_of):
    inner = (
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell>"
        "<text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    body = (
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>City</text:p>"
        "</table:table-cell><table:table-cell><text:p>Rate</text:p></table:table-cell></table:table-row>"
        '</table:table-header-rows><table:table-row><table:table-cell table:number-rows-spanned="2">'
        "<text:p>Kiel</text:p></table:table-cell><table:table-cell><text:p>1</text:p><text:p>2</text:p></table:table-cell></table:table-row>"
        f"<table:table-row><table:covered-table-cell/><table:table-cell>{inner}</table:table-cell></table:table-row>"
        '<table:table-row><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>'
        "<text:p>With<draw:frame><draw:text-box><text:p>A box.</text:p></draw:text-box></draw:frame>"
        "<draw:frame><draw:image/><svg:title>a.png</svg:title><svg:desc>A red door</svg:desc></draw:frame>"
        " box.</text:p>"
    )
    assert text_of(body) == (
        "| City | Rate |\n| --- | --- |\n| Kiel | 1; 2 |\n| Kiel | a, b |\n\nWith box.\n\nA box.\n\nA red door"
    )


def test_slides_are_pages_with_their_notes(reads):
    def page(title, text, notes=""):
        return (
            f'<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>{title}</text:p></draw:text-box>'
            f"</draw:frame><draw:g><draw:custom-shape><text:p>{text}</text:p></draw:custom-shape></draw:g>"
            '<draw:frame presentation:class="footer"><draw:text-box><text:p>Foot</text:p></draw:text-box></draw:frame>'
            f'<presentation:notes><draw:frame presentation:class="notes"><draw:text-box><text:p>{notes}</text:p>'
            "</draw:text-box></draw:frame></presentation:notes></draw:page>"
        )

    body = page("Goals", "Grow.") + page("", "", "") + page("", "Fast.", "Smile.")
    (record,), rejects, _ = reads("a.odp", odf("presentation", body))
    assert rejects == []
    assert record.text == "## Goals\n\nGrow.\n\n## Slide 3\n\nFast.\n\nNotes: Smile."
    assert record.positions == (Position(0, page=1), Position(record.text.index("## Slide"), page=3))


def test_broken_encrypted_and_large_files(reads):
    _, (reject,), _ = reads("a.odt", odf("text", "<text:p>x"))
    assert "well-formed XML" in reject.reason
    manifest = '<m:manifest xmlns:m="urn:oasis:manifest"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    _, (reject,), _ = reads("b.odt", odf("text", "<text:p>x</text:p>", manifest=manifest))
    assert "password" in reject.reason
    long = odf("text", f"<text:p>{'word ' * 30_000}</text:p>")
    _, (reject,), _ = reads("c.odt", long, limits=Limits(record_bytes=20_000))
    assert "--max-record-bytes" in reject.reason
    _, (reject,), _ = reads("d.odt", odf("text", ""))
    assert "document with text" in reject.reason
    deep = "<text:section>" * 5000 + "</text:section>" * 5000
    _, (reject,), _ = reads("e.odt", odf("text", deep))
    assert "nested too deeply" in reject.reason


@pytest.mark.parametrize(
    ("subtitle", "meta", "title"),
    [
        ("Spring 2026", "", "Garden plan"),
        ("", "", "Garden plan"),
        ("Spring 2026", "<dc:title>Beds</dc:title>", "Beds"),
        (None, "", "a"),  # the first slide is one like others
    ],
)
def test_the_title_slide_has_the_title_of_a_presentation_without_one(reads, subtitle, meta, title):
    kind = "outline" if subtitle is None else "subtitle"
    pages = [
        ("title", "Garden plan", kind, "Dig." if subtitle is None else subtitle),
        ("title", "Water", kind, "Daily."),
    ]
    body = "".join(
        "<draw:page>"
        + "".join(
            f'<draw:frame presentation:class="{name}"><draw:text-box><text:p>{text}</text:p></draw:text-box>'
            "</draw:frame>"
            for name, text in (page[:2], page[2:])
        )
        + "</draw:page>"
        for page in pages
    )
    (record,), _, _ = reads("a.odp", odf("presentation", body, meta))
    assert record.title == title


def test_the_title_of_the_properties_precedes_the_first_of_several_chapters(reads):
    chapters = "".join(f'<text:h text:outline-level="1">{name}</text:h><text:p>Dry.</text:p>' for name in ("A", "B"))
    (record,), _, _ = reads("house.odt", odf("text", chapters, "<dc:title>Roof guide</dc:title>"))
    assert (record.title, record.text) == ("Roof guide", "# A\n\nDry.\n\n# B\n\nDry.")


def test_raised_digits_and_struck_text_are_marked(text_of):
    body = (
        '<text:p>Up to 10<text:span text:style-name="T1">3</text:span> tiles, '
        '<text:span text:style-name="T2">not 9</text:span>. H<text:span text:style-name="T3">2</text:span>O</text:p>'
    )
    assert text_of(body) == "Up to 10³ tiles, ~~not 9~~. H2O"


def numbered(*items, name="", style="N", more=""):
    """A list of paragraphs or of blocks of XML."""
    inner = "".join(
        f"<text:list-item>{text if text[0] == '<' else f'<text:p>{text}</text:p>'}</text:list-item>" for text in items
    )
    return f'<text:list text:style-name="{style}" {more} xml:id="{name}">{inner}</text:list>'


def test_numbers_and_labels_of_lists_that_are_continued(text_of):
    goes_on = 'text:continue-numbering="true"'
    inner = "<text:p>Press</text:p>" + numbered("long", "twice")
    body = (
        numbered("Open", "Wait", name="a")
        + "<text:p>Look.</text:p>"
        + numbered("Close", inner, more=goes_on, name="b")
        + numbered("Other", style="L1")
        + numbered(numbered("thrice"), "Go", more=goes_on)
        + numbered("New", name="c")
        + numbered("Last", more='text:continue-list="b"')
    )
    assert text_of(body) == (
        "1. Open\n2. Wait\n\nLook.\n\n3. Close\n4. Press\n    - 4.a) long\n    - 4.b) twice\n1. Other\n"
        "    - 4.c) thrice\n5. Go\n1. New\n6. Last"
    )


@pytest.mark.parametrize(("name", "kind"), [("a.fodt", "text"), ("a.fodp", "presentation"), ("a.xml", "text")])
def test_flat_files_are_read_as_packed_ones(reads, name, kind):
    body = "<text:p>Green <text:s/>tea.</text:p>"
    body = (
        body
        if kind == "text"
        else f"<draw:page><draw:frame><draw:text-box>{body}</draw:text-box></draw:frame></draw:page>"
    )
    data = (
        f'<?xml version="1.0"?><office:document {NAMESPACES} office:mimetype="{MIME}{kind}"><office:meta>'
        f"<dc:title>Drinks</dc:title></office:meta><office:automatic-styles>{STYLES}</office:automatic-styles><office:body>"
        f"<office:{kind}>{body}</office:{kind}></office:body></office:document>"
    )
    (record,), rejects, _ = reads(name, data.encode())
    assert (rejects, record.title) == ([], "Drinks")
    assert record.text.endswith("Green  tea.")
    records, rejects, _ = reads(name, data.encode()[:-20])
    assert (records, len(rejects)) == ([], 1)


def test_signs_of_symbol_and_wingdings_are_shown(text_of):
    body = (
        '<text:p>Keep <text:span text:style-name="T4">\uf0a3</text:span> 8 \uf0b0C, '
        '<text:span text:style-name="T4">a</text:span> <text:span text:style-name="T5">\xe0</text:span> a</text:p>'
    )
    assert text_of(body) == "Keep ≤ 8 °C, α → a"


def odf_table(*rows, headers=0):
    """A table of cells with their attributes; None is a covered cell."""
    lines = [
        "<table:table-row>{}</table:table-row>".format(
            "".join(
                "<table:covered-table-cell/>"
                if cell is None
                else f"<table:table-cell {cell[1]}><text:p>{cell[0]}</text:p></table:table-cell>"
                for cell in (cell if cell is None or isinstance(cell, tuple) else (cell, "") for cell in row)
            )
        )
        for row in rows
    ]
    top = f"<table:table-header-rows>{''.join(lines[:headers])}</table:table-header-rows>" if headers else ""
    return f"<table:table>{top}{''.join(lines[headers:])}</table:table>"


def test_cells_over_columns_repeat_unless_they_head_a_group(text_of):
    columns, block = (f'table:number-columns-spanned="{span}"' for span in (3, '2" table:number-rows-spanned="2'))
    rows = [
        ["Pool", "Sat", "Sun"],
        [("Summer", columns), None, None],
        ["Indoor", ("9-17", block), None],
        ["Outdoor", None, None],
        ["Sauna", "", ""],
    ]
    assert text_of(odf_table(*rows)) == (
        "| Pool | Sat | Sun |\n| --- | --- | --- |\n| Summer |  |  |\n| Indoor | 9-17 | 9-17 |\n"
        "| Outdoor | 9-17 | 9-17 |\n| Sauna |  |  |"
    )


@pytest.mark.parametrize("headers", [0, 2])
def test_a_title_and_two_header_rows(text_of, headers):
    span = ("Price", 'table:number-columns-spanned="2"')
    rows = [["Boat", span, None], ["", "half a day", "a day"], ["Kayak", "18 €", "30 €"], ["Canoe", "22 €", "41 €"]]
    table = "| Boat | Price half a day | Price a day |\n| --- | --- | --- |\n"
    table += "| Kayak | 18 € | 30 € |\n| Canoe | 22 € | 41 € |"
    assert text_of(odf_table(*rows, headers=headers)) == table
    title = [("Rates", 'table:number-columns-spanned="3"'), None, None]
    assert text_of(odf_table(title, *rows)) == f"Rates\n\n{table}"


def test_hidden_text_is_left_out(text_of):
    span = '<text:span text:style-name="{}">{}</text:span>'
    body = (
        f"<text:p>Green{span.format('T6', ' or blue')}{span.format('T7', ' or red')}"
        f"{span.format('T8', ' tea')}.</text:p>"
        '<text:p text:style-name="T7">Secret</text:p><text:h text:style-name="T6">Secret</text:h>'
        f'<text:p text:style-name="P2">go(){span.format("T6", "!")}</text:p>'
        '<text:section text:display="none"><text:p>Secret</text:p></text:section>'
    )
    table = odf_table(["Name", "Age"], ["Ann", span.format("T6", "9") + "7"])
    assert text_of(body + table) == "Green tea.\n\n```\ngo()\n```\n\n| Name | Age |\n| --- | --- |\n| Ann | 7 |"


def test_comments_follow_their_blocks(text_of):
    comment = (
        "<office:annotation><dc:creator>{}</dc:creator><dc:date>2026</dc:date><text:p>{}</text:p></office:annotation>"
    )
    body = (
        f"<text:p>Closed.{comment.format('Ann', 'From July.')}<office:annotation-end/>"
        "<draw:frame><draw:text-box><text:p>A box.</text:p></draw:text-box></draw:frame></text:p>"
        + numbered(f"<text:p>Roof{comment.format('', 'All?')}</text:p>", "Cellar")
        + odf_table(["Name", "Age"], ["Bo" + comment.format("Cy", "Eight?"), "7"])
    )
    assert text_of(body) == (
        "Closed.\n\nComment (Ann): From July.\n\nA box.\n\n1. Roof\n\n    Comment: All?\n2. Cellar\n\n| Name | Age |\n"
        "| --- | --- |\n| Bo | 7 |\n\nComment (Cy): Eight?"
    )


def test_bold_lines_and_sections_are_headings_and_typed_items_lists(reads):
    bold = '<text:p text:style-name="{}">{}</text:p>'.format
    lines = ("As of May.", "1. Clean it.", "2. Cover it.", "§ 3 Keys", "At the desk.")
    as_of, *others = (f"<text:p>{line}</text:p>" for line in lines)
    run = '<text:p><text:span text:style-name="B">Care</text:span></text:p>'
    half = '<text:p><text:span text:style-name="B">Half</text:span> bold</text:p>'
    (record,), _, _ = reads("a.odt", odf("text", "".join([bold("B2", "Bench"), as_of, run, *others, half])))
    assert record.title == "Bench"
    assert record.text == (
        "# Bench\n\nAs of May.\n\n###### Care\n\n1. Clean it.\n2. Cover it.\n\n###### § 3 Keys\n\nAt the desk.\n\n"
        "Half bold"
    )
    (record,), _, _ = reads("b.odt", odf("text", bold("B", "Care") + as_of))
    assert (record.title, record.text) == ("b", "###### Care\n\nAs of May.")
