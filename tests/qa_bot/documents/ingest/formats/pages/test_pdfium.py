"""Fields of forms, and remarks that lie above the pages of PDF files."""

import io

import pytest
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject, TextStringObject

WIDTH, HEIGHT = 12, 12


@pytest.fixture
def text_above(reads):
    """The text of a file with annotations on its first page."""

    def text_above(data, *annotations):
        writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
        above = [writer._add_object(annotation(writer)) for annotation in annotations]
        writer.pages[0][NameObject("/Annots")] = ArrayObject(above)
        buffer = io.BytesIO()
        writer.write(buffer)
        (record,), rejects, _ = reads("a.pdf", buffer.getvalue())
        assert rejects == []
        return record.text

    return text_above


def entries(kind, box, **texts):
    return DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Annot"),
            NameObject("/Subtype"): NameObject(kind),
            NameObject("/Rect"): ArrayObject([FloatObject(number) for number in box]),
            **{NameObject(f"/{key}"): TextStringObject(text) for key, text in texts.items()},
        }
    )


def look(writer, operators, base):
    """What an annotation shows, with a font of this name."""
    stream = DecodedStreamObject()
    stream.set_data(operators.encode())
    font = DictionaryObject(
        {
            NameObject("/Type"): NameObject("/Font"),
            NameObject("/Subtype"): NameObject("/Type1"),
            NameObject("/BaseFont"): NameObject(base),
        }
    )
    stream.update(
        {
            NameObject("/Type"): NameObject("/XObject"),
            NameObject("/Subtype"): NameObject("/Form"),
            NameObject("/BBox"): ArrayObject([FloatObject(number) for number in (0, 0, 300, 40)]),
            NameObject("/Resources"): DictionaryObject(
                {NameObject("/Font"): DictionaryObject({NameObject("/F"): writer._add_object(font)})}
            ),
        }
    )
    return writer._add_object(stream)


def tick(x, y, *, is_set, sign="(4) Tj"):
    """A box whose lower left corner is at x, and y points below the upper edge; it shows a sign if it is set."""

    def annotation(writer):
        widget = entries("/Widget", (x, 792 - y, x + WIDTH, 792 - y + HEIGHT), T=f"{x} {y}")
        shown = f"BT /F 10 Tf 1 2 Td {sign} ET"
        looks = {"/Yes": look(writer, shown, "/ZapfDingbats"), "/Off": look(writer, "", "/ZapfDingbats")}
        states = DictionaryObject({NameObject(state): form for state, form in looks.items()})
        widget[NameObject("/FT")] = NameObject("/Btn")
        widget[NameObject("/AS")] = NameObject("/Yes" if is_set else "/Off")
        widget[NameObject("/AP")] = DictionaryObject({NameObject("/N"): states})
        return widget

    return annotation


@pytest.mark.parametrize("sign", ["(4) Tj", ""])
def test_boxes_are_written_before_their_names(text_above, draw, sign):
    names = ["Vegan", "Vegetarian", "Needs parking"]
    data = draw.pdf([draw.line(72, 60, "Tick what applies."), *draw.lines(names, x=95, pitch=25)])
    boxes = [tick(75, 102 + 25 * place, is_set=place != 1, sign=sign) for place in range(3)]
    assert text_above(data, *boxes) == "Tick what applies.\n\n☒ Vegan\n\n☐ Vegetarian\n\n☒ Needs parking"


def test_boxes_in_one_line_stay_in_it(text_above, draw):
    data = draw.pdf([draw.line(72, 100, "Ticket:"), draw.line(135, 100, "Day"), draw.line(230, 100, "Weekend")])
    assert text_above(data, tick(115, 102, is_set=False), tick(210, 102, is_set=True)) == "Ticket: ☐ Day ☒ Weekend"


def test_boxes_in_two_columns_stay_with_their_names(text_above, draw):
    names = draw.lines(["Vegan", "Fish", "Meat"], x=95, pitch=25) + draw.lines(["Bus", "Car", "Bike"], x=320, pitch=25)
    boxes = [tick(x, 102 + 25 * place, is_set=x == 300) for place in range(3) for x in (75, 300)]
    rows = ["| ☐ Vegan | ☒ Bus |", "| ☐ Fish | ☒ Car |", "| ☐ Meat | ☒ Bike |"]
    assert [line for line in text_above(draw.pdf(names), *boxes).split("\n") if "☐" in line] == rows


def test_boxes_behind_their_names_are_values(text_above, draw):
    data = draw.pdf(draw.lines(["Half day", "Approved", "Paid"], pitch=25))
    boxes = [tick(200, 102 + 25 * place, is_set=not place) for place in range(3)]
    assert text_above(data, *boxes) == "|  |  |\n| --- | --- |\n| Half day | ☒ |\n| Approved | ☐ |\n| Paid | ☐ |"


def test_a_large_value_of_a_field_is_no_heading(text_above, draw):
    def value(writer):
        widget = entries("/Widget", (72, 560, 372, 600), T="remark", V="Arrives late")
        widget[NameObject("/FT")] = NameObject("/Tx")
        shown = look(writer, "BT /F 14 Tf 2 20 Td (Arrives late) Tj ET", "/Helvetica-Bold")
        widget[NameObject("/AP")] = DictionaryObject({NameObject("/N"): shown})
        return widget

    body = "Please fill in all the fields, and return the form to the office before the end of May."
    data = draw.pdf(
        [draw.line(72, 60, "Registration", size=18), draw.line(72, 100, body), draw.line(72, 180, "Remarks")]
    )
    assert text_above(data, value) == f"# Registration\n\n{body}\n\nRemarks\n\nArrives late"


def test_remarks_that_a_click_shows_are_paragraphs_after_the_page(text_above, draw):
    data = draw.pdf(draw.lines(["All plots are free."]), draw.lines(["The second page."]))
    note = entries("/Text", (100, 500, 120, 520), Contents="Plot 7 has\npolluted soil.")
    assert text_above(data, lambda _: note) == ("All plots are free.\n\nPlot 7 has polluted soil.\n\nThe second page.")
