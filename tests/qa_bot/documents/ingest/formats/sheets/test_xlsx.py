"""Workbooks of Excel: values as shown, merged cells, headers, FAQ sheets, hostile files."""

import io
import zipfile
from datetime import date, datetime, time, timedelta

import pytest
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Alignment

from qa_bot.documents.cutting.cut_record import cut_record
from qa_bot.documents.ingest import Limits
from qa_bot.documents.ingest.records import Position


def saved(workbook):
    data = io.BytesIO()
    workbook.save(data)
    return data.getvalue()


def workbook_of(**sheets):
    workbook = Workbook()
    workbook.remove(workbook.active)
    for name, rows in sheets.items():
        sheet = workbook.create_sheet(name)
        for row in rows:
            sheet.append(row)
    return workbook


@pytest.fixture
def text_of(reads):
    def text_of(data):
        (record,), rejects, notices = reads("a.xlsx", data)
        assert (rejects, notices) == ([], [])
        return record.text

    return text_of


def test_sheets_are_tables_with_the_numbers_of_their_rows(reads, tmp_path):
    workbook = workbook_of(Rooms=[["Room", "Seats"], ["Curie", 8], ["Hopper", 12.5]], Old=[["Room"], ["Bohr"]])
    workbook["Old"].sheet_state = "hidden"
    workbook.properties.title = "Rooms of the house"
    workbook.properties.modified = datetime(2024, 5, 6, 7, 8, 9)
    (record,), rejects, _ = reads("a.xlsx", saved(workbook))
    assert rejects == []
    assert record.text == (
        "## Rooms\n\n| Room | Seats |\n| --- | --- |\n| Curie | 8 |\n| Hopper | 12.5 |\n\n"
        "## Old (hidden sheet)\n\n| Room |\n| --- |\n| Bohr |"
    )
    starts = record.text.index("| Curie"), record.text.index("| Bohr")
    assert record.positions == tuple(Position(start, row=2) for start in starts)
    assert (record.id, record.title, record.where) == ("a.xlsx", "Rooms of the house", f"{tmp_path}/a.xlsx:1")
    assert record.markdown


FEES = [["Item", "Cost", "Fee"], ["Clay", 3, 5], ["Glaze", 7, 9]]


def test_hidden_rows_and_columns_are_marked(text_of):
    workbook = workbook_of(Fees=FEES)
    workbook["Fees"].column_dimensions["B"].hidden = True
    workbook["Fees"].row_dimensions[3].hidden = True
    assert text_of(saved(workbook)) == (
        "## Fees\n\n| Item | Cost (hidden column) | Fee |\n| --- | --- | --- |\n| Clay | 3 | 5 |\n"
        "| Glaze (hidden row) | 7 | 9 |"
    )


def test_rows_that_a_filter_or_a_closed_group_hides_are_read_as_others(text_of):
    workbook = workbook_of(Fees=FEES, Items=FEES)
    fees, items = workbook["Fees"], workbook["Items"]
    fees.auto_filter.ref = "A1:C3"
    fees.auto_filter.add_filter_column(0, ["Clay"])
    fees.row_dimensions[3].hidden = True
    items.row_dimensions.group(3, 3, hidden=True)
    assert "hidden" not in text_of(saved(workbook))


@pytest.mark.parametrize(
    ("value", "format_", "expected"),
    [
        (date(2024, 2, 29), "dd.mm.yy", "2024-02-29"),
        (datetime(2024, 2, 29, 13, 5), "m/d/yyyy h:mm", "2024-02-29 13:05"),
        (time(13, 5), "h:mm AM/PM", "13:05"),
        (timedelta(hours=30, minutes=5), "[h]:mm", "30:05"),
        (1, '"yes";"?"', "yes"),
        (0, '0;-0;"none"', "none"),
        (0.075, "0.0%", "7.5%"),
        (1234.5, '#,##0.00 "€"', "1,234.50 €"),
        (-3, "0", "-3"),
        (1234567, "General", "1234567"),
        (0.1 + 0.2, "General", "0.3"),
        (True, "General", "TRUE"),
        ("#N/A", "General", ""),
        ("two\nlines", "General", "two lines"),
    ],
)
def test_values_are_shown_as_in_excel(text_of, value, format_, expected):
    workbook = workbook_of(A=[["Name", "Value"], ["x", value]])
    workbook["A"]["B2"].number_format = format_
    assert text_of(saved(workbook)).splitlines()[-1] == f"| x | {expected} |"


def test_a_title_of_two_rows_apart_from_the_table_is_no_table(text_of):
    rows = [["Suppliers"], ["checked in March"], [], ["Name", "Country"], ["Valbelt", "Italy"]]
    assert text_of(saved(workbook_of(S=rows))) == (
        "## S\n\nSuppliers\n\nchecked in March\n\n| Name | Country |\n| --- | --- |\n| Valbelt | Italy |"
    )


def test_merged_cells_captions_and_a_header_of_two_rows(text_of):
    rows = [
        ["Sales by region", None, None, None],
        ["Region", "2023", None, "2024"],
        [None, "Q1", "Q2", "Q1"],
        ["North", 1, 2, 3],
        [None, 4, 5, 6],
    ]
    workbook = workbook_of(Sales=rows)
    for area in ("A1:D1", "A2:A3", "B2:C2", "A4:A5"):
        workbook["Sales"].merge_cells(area)
    assert text_of(saved(workbook)) == (
        "## Sales\n\nSales by region\n\n| Region | 2023 Q1 | 2023 Q2 | 2024 Q1 |\n| --- | --- | --- | --- |\n"
        "| North | 1 | 2 | 3 |\n| North | 4 | 5 | 6 |"
    )


def test_several_tables_in_a_sheet(reads):
    rows = [
        [None, "As of:", "2024-01-01"],
        [],
        [None, "Room", "Seats", None, "Car", "Plate"],
        [None, "Curie", 8, None, "Van", "B-X 1"],
        [],
        [None, "Hopper", 12],
    ]
    (record,), _, _ = reads("a.xlsx", saved(workbook_of(S=rows)))
    assert record.text == (
        "## S\n\n|  |  |\n| --- | --- |\n| As of: | 2024-01-01 |\n\n| Room | Seats |\n| --- | --- |\n| Curie | 8 |\n\n"
        "| Car | Plate |\n| --- | --- |\n| Van | B-X 1 |\n\n| Room | Seats |\n| --- | --- |\n| Hopper | 12 |"
    )
    assert [position.row for position in record.positions] == [1, 4, 4, 6]


def test_rows_below_an_empty_one_go_on_with_the_table(reads):
    rota = [["Name", "Mon", "Tue"], ["Ann", "Early", "Late"], [], ["Bob", "Late"], ["Cid", "Off", "Early"]]
    (record,), _, _ = reads("a.xlsx", saved(workbook_of(S=rota)))
    assert record.text.endswith("| Name | Mon | Tue |\n| --- | --- | --- |\n| Bob | Late |  |\n| Cid | Off | Early |")
    assert [position.row for position in record.positions] == [2, 4]
    for title in (["Kitchen staff"], []):  # a title, or a header that differs from its cells, begins a table
        rows = [*rota[:3], title, ["Item", "Place", "Price"], ["Tea", "Shelf", 3], ["Milk", "Cellar", 2]]
        (record,), _, _ = reads("a.xlsx", saved(workbook_of(S=rows)))
        assert "| Item | Place | Price |\n| --- | --- | --- |\n| Tea" in record.text


def test_a_merged_first_cell_is_no_name_of_a_column(reads):
    rows = [["Name", "Mon", "Tue", "Wed"], ["Ann", "Early", "Late", "Off"], []]
    rows += [["Kitchen", "Oven", "daily"], [None, "Fridge", "weekly"], [None, "Drain", "monthly"]]
    workbook = workbook_of(S=rows)
    workbook["S"].merge_cells("A4:A6")
    (record,), _, _ = reads("a.xlsx", saved(workbook))
    assert "|  |  |  |\n| --- | --- | --- |\n| Kitchen | Oven | daily |\n| Kitchen | Fridge" in record.text
    assert [position.row for position in record.positions] == [2, 4]


def test_comments_on_cells_follow_the_tables_of_their_sheet(reads):
    workbook = workbook_of(Travel=[["City", "Hotel"], ["Berlin", 120], ["Rome", 140]], Empty=[["Note", "Text"]])
    workbook["Travel"]["B3"].comment = Comment("Ann Lee:\nBreakfast included.", "Ann Lee")
    (record,), _, _ = reads("a.xlsx", saved(workbook))
    assert "| Rome | 140 |\n\nComment on B3 (Rome): Ann Lee: Breakfast included.\n\n## Empty" in record.text


def test_replies_to_a_comment_and_its_copy_for_older_versions(reads):
    workbook = workbook_of(S=[["City", "Hotel"], ["Rome", 140]])
    workbook["S"]["B2"].comment = Comment("[Threaded comment] Your version … Comment: For one night?", "tc={1}")
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    link = f'<Relationship Id="t1" Type="{kind}" Target="/xl/threadedComments/threadedComment1.xml"/>'
    data = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(workbook))) as before, zipfile.ZipFile(data, "w") as archive:
        for name in before.namelist():
            part = before.read(name)
            is_links = name == "xl/worksheets/_rels/sheet1.xml.rels"
            archive.writestr(name, part.replace(b"</Rel", f"{link}</Rel".encode()) if is_links else part)
        archive.writestr(
            "xl/threadedComments/threadedComment1.xml",
            '<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">'
            '<threadedComment ref="B2" id="{1}"><text>For one night?</text></threadedComment>'
            '<threadedComment ref="B2" id="{2}" parentId="{1}"><text>For two.</text></threadedComment>'
            "</ThreadedComments>",
        )
    (record,), _, _ = reads("a.xlsx", data.getvalue())
    assert record.text.endswith("| Rome | 140 |\n\nComment on B2 (Rome): For one night? For two.")


def test_formulas_of_links(reads):
    cells = [
        '=HYPERLINK("https://a.example/b","The ""big"" pump")',
        '=HYPERLINK("https://a.example/c")',
        "=HYPERLINK(A1)",
    ]
    (record,), _, (notice,) = reads(
        "a.xlsx", saved(workbook_of(A=[["Name", "Page"], *(["Pump", cell] for cell in cells)]))
    )
    assert record.text.split("\n")[4:] == [
        '| Pump | [The "big" pump](https://a.example/b) |',
        "| Pump | https://a.example/c |",
        "| Pump |  |",
    ]
    assert "(1)" in notice.message


def test_formulas_without_a_stored_value_are_told(reads):
    workbook = workbook_of(A=[["Name", "Cost"], ["Pump", "=2*31"], ["Hose", "=3*31"]])
    (record,), rejects, (notice,) = reads("a.xlsx", saved(workbook))
    assert record.text == "## A\n\n| Name | Cost |\n| --- | --- |\n| Pump |  |\n| Hose |  |"
    assert rejects == []
    assert notice.message.startswith("Formulas without a stored value are left out (2)")


def test_links_rich_text_and_a_cached_formula(text_of):
    workbook = workbook_of(A=[["Name", "Page"], ["Wiki", "our wiki"]])
    workbook["A"]["B2"].hyperlink = "https://x.y/"
    data = io.BytesIO(saved(workbook))
    with zipfile.ZipFile(data) as old, zipfile.ZipFile(out := io.BytesIO(), "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                row = (
                    b'<row r="3"><c r="A3" t="inlineStr">'
                    b"<is><r><t>ri</t></r><r><t>ch</t></r><rPh><t>no</t></rPh></is></c>"
                    b'<c r="B3"><f>1+1</f><v>2</v></c></row>'
                    b'<row><c t="str"><v>Sum</v></c><c t="e"><v>#REF!</v></c></row>'
                )
                content = content.replace(b"</sheetData>", row + b"</sheetData>")
            new.writestr(name, content)
    assert text_of(out.getvalue()).splitlines()[-3:] == [
        "| Wiki | [our wiki](https://x.y/) |",
        "| rich | 2 |",
        "| Sum |  |",
    ]


def test_an_faq_sheet_becomes_pairs(reads, tmp_path):
    rows = [
        ["Häufige Fragen"],
        ["Nr.", "Frage", "Antwort", "Kategorie", "Gilt für"],
        [1, "Wie viel Urlaub?", "30 Tage.", "HR; Zeit", "alle"],
        [2, "Wann?", None, "HR", None],
    ]
    workbook = workbook_of(FAQ=rows, Räume=[["Raum", "Plätze"], ["Curie", 8]])
    (pair, rest), (reject,), _ = reads("a.xlsx", saved(workbook))
    assert (pair.id, pair.title, pair.text) == ("a.xlsx#FAQ!3", "Wie viel Urlaub?", "30 Tage.\n\nGilt für: alle")
    assert (pair.kind, pair.tags, pair.where) == ("pair", ("HR", "Zeit"), f"{tmp_path}/a.xlsx:3")
    assert pair.positions == (Position(0, row=3),)
    assert (rest.id, rest.kind, rest.text.splitlines()[0]) == ("a.xlsx", "prose", "## Räume")
    assert reject.where == f"{tmp_path}/a.xlsx:4"
    (pair,), _, _ = reads("b.xlsx", saved(workbook_of(FAQ=rows[1:3])))
    assert pair.id == "b.xlsx#2"


def test_numbers_of_questions_are_those_of_their_sheet(reads):
    rows = [["ID", "Question", "Answer"], [1, "Why?", "So."], [None, "Who?", "Ann."]]
    records, rejects, _ = reads("it.xlsx", saved(workbook_of(FAQ=rows)))
    assert (rejects, [record.id for record in records]) == ([], ["it.xlsx#1", "it.xlsx#3"])
    records, rejects, _ = reads("it.xlsx", saved(workbook_of(EN=rows, DE=rows)))
    assert [record.id for record in records] == ["it.xlsx#EN!1", "it.xlsx#EN!3", "it.xlsx#DE!1", "it.xlsx#DE!3"]


def test_right_to_left_vertical_and_validated_cells(text_of):
    workbook = workbook_of(A=[["שם", "גיל"], ["דנה", 7]])
    workbook["A"].sheet_view.rightToLeft = True
    workbook["A"]["A1"].alignment = Alignment(textRotation=255)
    assert text_of(saved(workbook)) == "## A\n\n| שם | גיל |\n| --- | --- |\n| דנה | 7 |"


def test_a_stray_cell_at_the_far_corner_costs_nothing(text_of):
    workbook = workbook_of(A=[["Name", "Age"], ["Anna", 7]])
    workbook["A"]["XFD1048576"] = "x"
    assert text_of(saved(workbook)).endswith("| Anna | 7 |\n\nx")


def test_hostile_workbooks_are_bounded(reads):
    scattered = Workbook()
    for number in range(1, 1500):
        scattered.active.cell(number, number, "x")
    records, (reject,), _ = reads("wide.xlsx", saved(scattered), limits=Limits(record_bytes=1_000_000))
    assert records == []
    assert "remove stray cells" in reject.reason
    merged = workbook_of(A=[["a", "b"], ["c", "d"]])
    for _ in range(3):
        merged["A"].merged_cells.add("A1:XFD1048576")
    (record,), _, _ = reads("merged.xlsx", saved(merged))
    assert record.text
    long = workbook_of(A=[["Name", "Text"], ["x", "word " * 5000]])
    _, (reject,), _ = reads("long.xlsx", saved(long), limits=Limits(record_bytes=10_000))
    assert "--max-record-bytes" in reject.reason


def test_workbooks_without_text_are_rejected(reads):
    _, (reject,), _ = reads("a.xlsx", saved(Workbook()))
    assert "document with text" in reject.reason


def test_raised_digits_and_struck_text_of_a_cell_are_marked(text_of):
    up, struck = InlineFont(vertAlign="superscript"), InlineFont(strike=True)
    cell = CellRichText("Up to 10", TextBlock(up, "3"), " tiles, ", TextBlock(struck, "not 9"))
    assert "| Roof | Up to 10³ tiles, ~~not 9~~ |" in text_of(saved(workbook_of(A=[["Part", "Size"], ["Roof", cell]])))


def test_a_table_with_two_header_rows_stays_apart_from_the_one_beside_it(text_of):
    workbook = workbook_of(
        Plan=[
            ["Shift", "Week 1", None, "Week 2", None, None, "Room", "Key"],
            [None, "Mon", "Tue", "Mon", "Tue", None, "Lab", "K7"],
            ["Early", "Ann", "Bob", "Cid", "Dee", None, "Attic", "K9"],
            ["Late", "Eve", "Fay", "Gus", "Hal"],
        ]
    )
    for cells in ("A1:A2", "B1:C1", "D1:E1"):
        workbook["Plan"].merge_cells(cells)
    assert text_of(saved(workbook)) == (
        "## Plan\n\n| Shift | Week 1 Mon | Week 1 Tue | Week 2 Mon | Week 2 Tue |\n| --- | --- | --- | --- | --- |\n"
        "| Early | Ann | Bob | Cid | Dee |\n| Late | Eve | Fay | Gus | Hal |\n\n"
        "| Room | Key |\n| --- | --- |\n| Lab | K7 |\n| Attic | K9 |"
    )


def test_tables_far_apart_are_read_one_by_one(text_of):
    rows = [[None, "Mon", "Tue", None, None, "Phones"], ["Early", "Ann", "Bob", None, None, "Ann", 12]]
    text = text_of(saved(workbook_of(Plan=[*rows, ["Late", "Cid", "Dee", None, None, "Bob", 13]])))
    assert text == (
        "## Plan\n\n|  | Mon | Tue |\n| --- | --- | --- |\n| Early | Ann | Bob |\n| Late | Cid | Dee |\n\n"
        "Phones\n\n|  |  |\n| --- | --- |\n| Ann | 12 |\n| Bob | 13 |"
    )
    label = text_of(saved(workbook_of(Form=[["Name", None, None, None, "Ann", "Lee"], ["Age", None, None, None, 7]])))
    assert "| Name | Ann | Lee |" in label


def test_a_wide_table_is_divided_so_that_each_passage_has_the_names_of_its_cells(reads):
    names = [f"Satisfaction with the canteen in week {number}" for number in range(60)]
    rows = [["Person", *names], *([f"P{row}", *(100 * row + number for number in range(60))] for row in range(1, 9))]
    (record,), _, _ = reads("a.xlsx", saved(workbook_of(S=rows)))
    assert {position.row for position in record.positions} == {2}
    for passage in cut_record(record, characters=1000, overlap=0).passages:
        header, _, *below = passage.text.split("\n")
        assert header.startswith("| Person | Satisfaction")
        for line in below:
            person, *values = line.strip("| ").split(" | ")
            assert [100 * int(person[1:]) + names.index(name) for name in header.strip("| ").split(" | ")[1:]] == [
                *map(int, values)
            ]
    (record,), _, _ = reads("a.xlsx", saved(workbook_of(S=[row[:30] for row in rows])))
    assert len(record.positions) == 1
