"""Workbooks of Excel 97 to 2003, and what programs save as .xls."""

import io
from datetime import date

import xlwt

from qa_bot.documents.ingest.records import Position


def saved(workbook):
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


def test_values_as_shown_merged_cells_and_rows(reads, tmp_path):
    workbook = xlwt.Workbook()
    sheet = workbook.add_sheet("Räume")
    formats = {name: xlwt.easyxf(num_format_str=name) for name in ("DD.MM.YYYY", "0.0%", '#,##0.00 "€"')}
    for column, name in enumerate(("Room", "Date", "Share", "Price", "Open")):
        sheet.write(0, column, name)
    sheet.write_merge(1, 2, 0, 0, "Curie")
    sheet.write(1, 1, date(2024, 2, 29), formats["DD.MM.YYYY"])
    sheet.write(1, 2, 0.075, formats["0.0%"])
    sheet.write(1, 3, 1234.5, formats['#,##0.00 "€"'])
    sheet.write(1, 4, True)
    sheet.write(2, 3, 3)
    (record,), rejects, notices = reads("a.xls", saved(workbook))
    assert (rejects, notices) == ([], [])
    assert record.text == (
        "## Räume\n\n| Room | Date | Share | Price | Open |\n| --- | --- | --- | --- | --- |\n"
        "| Curie | 2024-02-29 | 7.5% | 1,234.50 € | TRUE |\n| Curie |  |  | 3 |  |"
    )
    assert record.positions == (Position(record.text.index("| Curie"), row=2),)
    assert (record.id, record.where) == ("a.xls", f"{tmp_path}/a.xls:1")


def test_hidden_rows_and_columns_are_marked(reads):
    workbook = xlwt.Workbook()
    sheet = workbook.add_sheet("Fees")
    for row, cells in enumerate([("Item", "Cost", "Fee"), ("Clay", 3, 5), ("Glaze", 7, 9)]):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    sheet.col(1).hidden = True
    sheet.row(2).hidden = True
    (record,), _, _ = reads("a.xls", saved(workbook))
    assert record.text == (
        "## Fees\n\n| Item | Cost (hidden column) | Fee |\n| --- | --- | --- |\n| Clay | 3 | 5 |\n"
        "| Glaze (hidden row) | 7 | 9 |"
    )


def test_times_and_words_of_formats_are_shown(reads):
    workbook = xlwt.Workbook()
    sheet = workbook.add_sheet("Swim")
    for column, (name, number, code) in enumerate(
        [("Lap", 71.9 / 86_400, "mm:ss.00"), ("Total", 4505 / 86_400, "[mm]:ss"), ("Paid", 0, '"yes";;"no"')]
    ):
        sheet.write(0, column, name)
        sheet.write(1, column, number, xlwt.easyxf(num_format_str=code))
    (record,), _, _ = reads("a.xls", saved(workbook))
    assert record.text == "## Swim\n\n| Lap | Total | Paid |\n| --- | --- | --- |\n| 01:11.90 | 75:05 | no |"


def test_hidden_sheets_are_marked(reads):
    workbook = xlwt.Workbook()
    for name in ("Prices", "Old"):
        sheet = workbook.add_sheet(name)
        for row, texts in enumerate([("Item", "Price"), ("Door", "9")]):
            for column, text in enumerate(texts):
                sheet.write(row, column, text)
    sheet.visibility = 1
    (record,), _, _ = reads("a.xls", saved(workbook))
    table = "| Item | Price |\n| --- | --- |\n| Door | 9 |"
    assert record.text == f"## Prices\n\n{table}\n\n## Old (hidden sheet)\n\n{table}"


def test_broken_and_encrypted_workbooks_are_rejected(reads):
    workbook = xlwt.Workbook()
    workbook.add_sheet("A").write(0, 0, "x")
    data = saved(workbook)
    for cut in (600, 1500):
        _, (reject,), _ = reads("cut.xls", data[:cut])
        assert "Expected a whole workbook" in reject.reason
    locked = data[:8] + bytes(600) + "EncryptedPackage".encode("utf-16-le") + bytes(600)
    _, (reject,), _ = reads("locked.xls", locked)
    assert "password" in reject.reason


def test_text_that_is_called_xls_is_read_as_what_it_is(reads):
    (record,), rejects, _ = reads("page.xls", "<html><body><p>A page of a program.</p></body></html>")
    assert rejects == []
    assert "A page of a program." in record.text
