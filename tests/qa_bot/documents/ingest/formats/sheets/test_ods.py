"""OpenDocument spreadsheets, made of their XML."""

import io
import zipfile

import pytest

from qa_bot.documents.ingest.records import Position

OASIS = "urn:oasis:names:tc:opendocument:xmlns"
NAMESPACES = " ".join(f'xmlns:{name}="{OASIS}:{name}:1.0"' for name in ("office", "style", "text", "table"))
LINKS = 'xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'


def ods(*sheets, styles=""):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMESPACES} {LINKS}><office:automatic-styles>{styles}</office:automatic-styles>"
            "<office:body><office:spreadsheet>"
            + "".join(f'<table:table table:name="{name}">{rows}</table:table>' for name, rows in sheets)
            + "</office:spreadsheet></office:body></office:document-content>",
        )
    return data.getvalue()


def row(*cells, more=""):
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


def cell(text, more=""):
    paragraphs = "".join(f"<text:p>{line}</text:p>" for line in text.split("\n"))
    return f"<table:table-cell {more}>{paragraphs if text else ''}</table:table-cell>"


@pytest.fixture
def record_of(reads):
    def record_of(data):
        (record,), rejects, notices = reads("a.ods", data)
        assert (rejects, notices) == ([], [])
        return record

    return record_of


def test_hidden_rows_and_columns_are_marked(record_of):
    columns = '<table:table-column/><table:table-column table:visibility="collapse"/><table:table-column/>'
    rows = (
        row(cell("Item"), cell("Cost"), cell("Fee"))
        + row(cell("Clay"), cell("3"), cell("5"), more='table:visibility="filter"')
        + row(cell("Glaze"), cell("7"), cell("9"), more='table:visibility="collapse"')
    )
    assert record_of(ods(("Fees", columns + rows))).text == (
        "## Fees\n\n| Item | Cost (hidden column) | Fee |\n| --- | --- | --- |\n| Clay | 3 | 5 |\n"
        "| Glaze (hidden row) | 7 | 9 |"
    )


def test_values_as_shown_and_rows(record_of):
    date = 'office:value-type="date" office:date-value="2024-02-29"'
    moment = 'office:value-type="date" office:date-value="2024-02-29T13:05:00"'
    rows = (
        row(more='table:number-rows-repeated="2"')
        + row(cell("Name"), cell("Value"), cell("Page"))
        + row(cell("Price"), cell("1.234,50 €", 'office:value-type="currency" office:value="1234.5"'))
        + row(cell("Day"), cell("29.02.24", date), cell('<text:a xlink:href="https://x.y/">our page</text:a>'))
        + row(cell("Time"), cell("29.02.24 13:05", moment), cell("two\nlines"))
    )
    record = record_of(ods(("Prices", rows), ("Empty", "")))
    assert record.text == (
        "## Prices\n\n| Name | Value | Page |\n| --- | --- | --- |\n| Price | 1.234,50 € |  |\n"
        "| Day | 2024-02-29 | [our page](https://x.y/) |\n| Time | 2024-02-29 13:05:00 | two lines |"
    )
    assert record.positions == (Position(record.text.index("| Price"), row=4),)


def test_repeated_and_merged_cells_are_bounded(record_of):
    rows = (
        row(cell("Name"), cell("City"), cell("Size"))
        + row(cell("Anna", 'table:number-rows-spanned="2"'), cell("Kiel", 'table:number-columns-repeated="2"'))
        + row("<table:covered-table-cell/>", cell("Bonn"), cell("3"))
        + row(cell("", 'table:number-columns-repeated="16384"'), more='table:number-rows-repeated="1048576"')
    )
    assert record_of(ods(("A", rows))).text == (
        "## A\n\n| Name | City | Size |\n| --- | --- | --- |\n| Anna | Kiel | Kiel |\n| Anna | Bonn | 3 |"
    )


def test_comments_on_cells_follow_the_tables_of_their_sheet(record_of):
    note = "<dc:creator>Ann</dc:creator><text:p>Old one.</text:p><text:p>Ask.</text:p>"
    room = f"<table:table-cell><office:annotation>{note}</office:annotation><text:p>3</text:p></table:table-cell>"
    rows = row(cell("Object"), cell("Room")) + row(cell("Sword"), room)
    assert record_of(ods(("A", rows))).text == (
        "## A\n\n| Object | Room |\n| --- | --- |\n| Sword | 3 |\n\nComment on B2 (Sword): Old one. Ask."
    )


def test_hidden_sheets_are_marked(record_of):
    rows = row(cell("Item"), cell("Price")) + row(cell("Door"), cell("9"))
    shown, hidden = (
        f'<style:style style:name="{name}" style:family="table"><style:table-properties table:display="{is_shown}"/>'
        "</style:style>"
        for name, is_shown in (("ta1", "true"), ("ta2", "false"))
    )
    data = ods(('Prices" table:style-name="ta1', rows), ('Old" table:style-name="ta2', rows), styles=shown + hidden)
    table = "| Item | Price |\n| --- | --- |\n| Door | 9 |"
    assert record_of(data).text == f"## Prices\n\n{table}\n\n## Old (hidden sheet)\n\n{table}"


def test_a_bomb_of_repeated_cells_is_rejected(reads):
    rows = row(cell("x" * 100, 'table:number-columns-repeated="16384"'), more='table:number-rows-repeated="1048576"')
    records, (reject,), _ = reads("a.ods", ods(("A", rows)))
    assert records == []
    assert "--max-record-bytes" in reject.reason


def test_an_faq_sheet_becomes_pairs(reads):
    rows = row(cell("Question"), cell("Réponse")) + row(cell("Pourquoi ?"), cell("Parce que."))
    (record,), _, _ = reads("a.ods", ods(("FAQ", rows)))
    assert (record.id, record.title, record.text, record.kind) == ("a.ods#2", "Pourquoi ?", "Parce que.", "pair")


def test_a_flat_file_is_read_as_a_packed_one(reads):
    sheet = (
        f'<table:table table:name="Fees">{row(cell("Kind"), cell("Fee"))}{row(cell("Dog"), cell("9"))}</table:table>'
    )
    data = (
        f'<office:document {NAMESPACES} office:mimetype="application/vnd.oasis.opendocument.spreadsheet"><office:body>'
        f"<office:spreadsheet>{sheet}</office:spreadsheet></office:body></office:document>"
    )
    (record,), rejects, _ = reads("a.fods", data.encode())
    assert (rejects, record.text) == ([], "## Fees\n\n| Kind | Fee |\n| --- | --- |\n| Dog | 9 |")
