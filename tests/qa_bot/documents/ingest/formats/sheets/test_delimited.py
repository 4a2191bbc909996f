"""CSV and TSV files: tables, FAQ sheets, collections; delimiters, quotes and encodings."""

import pytest

from qa_bot.documents.ingest import Limits
from qa_bot.documents.ingest.records import Position

TABLE = "| Name | Price |\n| --- | --- |\n| Tea | 1.20 |\n| Milk, fat | 2 |"


@pytest.mark.parametrize(
    "data",
    [
        'Name,Price\nTea,1.20\n"Milk, fat",2\n',
        "Name;Price\r\nTea;1.20\r\nMilk, fat;2\r\n",
        "Name|Price\nTea|1.20\nMilk, fat|2",
        "sep=;\nName;Price\nTea;1.20\nMilk, fat;2",
        "Name\tPrice\rTea\t1.20\rMilk, fat\t2",
        "\ufeffName;Price\nTea;1.20\nMilk, fat;2".encode("utf-16-le"),
    ],
    ids=["comma", "semicolon", "pipe", "declared", "tab", "utf-16"],
)
def test_delimiters_and_encodings(reads, tmp_path, data):
    (record,), rejects, notices = reads("prices.csv", data)
    assert (rejects, notices) == ([], [])
    assert (record.id, record.title, record.text, record.markdown) == ("prices.csv", "prices", TABLE, True)
    assert record.positions == (Position(record.text.index("| Tea"), row=2),)
    assert record.where == f"{tmp_path}/prices.csv:1"


def test_a_table_without_names_of_columns(reads):
    (record,), _, _ = reads("a.csv", "Tea,1.20\nMilk,2\n")
    assert record.text == "|  |  |\n| --- | --- |\n| Tea | 1.20 |\n| Milk | 2 |"
    assert record.positions[0].row == 1


@pytest.mark.parametrize(
    "header",
    ["question,answer", "Frage,Antwort", "Question,Réponse", "Pregunta,Respuesta", " QUESTION: , Answers"],
)
def test_an_faq_becomes_pairs(reads, tmp_path, header):
    records, (reject,), _ = reads("faq.csv", f'{header}\nWhy?,"Because, so."\nHow?,\nWho?,"Two\nlines."\n')
    assert [(record.id, record.title, record.text, record.kind) for record in records] == [
        ("faq.csv#2", "Why?", "Because, so.", "pair"),
        ("faq.csv#4", "Who?", "Two\nlines.", "pair"),
    ]
    assert reject.where == f"{tmp_path}/faq.csv:3"
    assert "no answer" in reject.reason


def test_an_faq_with_ids_links_and_more_columns(reads):
    data = "id;url;Question;Answer;Category;Updated;Owner\n7;http://u;Why?;So.;HR, Pay;2024-05-06;Anna\n"
    (record,), _, _ = reads("faq.csv", data)
    assert (record.id, record.url, record.text) == ("7", "http://u", "So.\n\nOwner: Anna")
    assert (record.tags, record.date) == (("HR", "Pay"), "2024-05-06")


def test_a_header_with_text_makes_a_collection(reads):
    records, (reject,), _ = reads("a.csv", "id,title,text\n1,Cats,Cats sleep.\n2,Dogs,\n3,,\n")
    assert [(record.id, record.title, record.text) for record in records] == [
        ("1", "Cats", "Cats sleep."),
        ("2", "Dogs", "Dogs"),
    ]
    assert reject.where.endswith("a.csv:4")


@pytest.mark.parametrize(
    ("data", "is_table"),
    [
        ("Name\tPrice\tUnit\nTea\t1.20\tkg\n", True),
        ("Name\tPrice\nTea\t1.20\nMilk\t2\n", True),
        ("Frage\tAntwort\nWarum?\tDarum.\n", False),
        ("1\tCats sleep.\n2\tDogs bark.\n", False),
        ("d-one\tCats sleep all day long\nd-two\tDogs bark at cats in the street\n", False),
        ("D7\thttp://u\tTitle\tBody.\n", False),
        ("a\tb\tc\td\te\n1\t2\t3\t4\t5\n", True),
    ],
)
def test_the_shape_of_a_tsv_file_decides(reads, data, is_table):
    records, rejects, _ = reads("a.tsv", data)
    assert rejects == []
    assert records[0].text.startswith("| ") == is_table


def test_a_quotation_mark_that_never_closes(reads):
    data = 'Name,Size\nScreen,27\nTube,"2\nBeam,3\n' + "More,4\n" * 3
    (record,), rejects, (notice,) = reads("a.csv", data)
    assert rejects == []
    assert record.text.splitlines()[2:5] == ["| Screen | 27 |", '| Tube | "2 |', "| Beam | 3 |"]
    assert "never closes" in notice.message


def test_a_long_table_is_written_in_parts_with_its_header(reads):
    (record,), _, _ = reads("long.csv", "Name,Text\n" + "".join(f"n{row},{'x' * 990}\n" for row in range(2, 102)))
    assert record.text.count("| Name | Text |\n| --- | --- |\n") == 2
    assert [record.text[position.offset :].split()[1] for position in record.positions] == ["n2", "n53"]
    assert [position.row for position in record.positions] == [2, 53]


def test_odd_files(reads):
    (record,), _, _ = reads("one.csv", "Name\nAnna\nBen\nCleo\n")
    assert record.text == "| Name |\n| --- |\n| Anna |\n| Ben |\n| Cleo |"
    _, (reject,), _ = reads("long.csv", "Name,Text\nx," + "y" * 200_000)
    assert "shorten" in reject.reason
    _, (reject,), _ = reads("large.csv", "Name,Text\n" + "x,y\n" * 1000, limits=Limits(record_bytes=1000))
    assert "--max-record-bytes" in reject.reason
    assert reads("blank.csv", " \n")[0] == []


def test_a_carriage_return_within_a_line_of_a_tsv_is_told(reads):
    """Found by `make fuzz`: the sample of the first rows ended `add` with a traceback."""
    records, rejects, _ = reads("a.tsv", b"1\tTea is\r hot.\n2\tCoffee is black.\n")
    assert len(records) + len(rejects) >= 2


def test_commas_of_a_text_without_quotation_marks_stay_in_its_cell(reads):
    data = "Code,Name,Meaning\n1,Door,The door is open\n2,Heat,Wait, then open the lid, and restart\n3,Fan,Call us\n"
    (record,), _, _ = reads("codes.csv", data)
    assert record.text.split("\n")[3] == "| 2 | Heat | Wait, then open the lid, and restart |"
    (record,), _, _ = reads("codes.csv", data.replace(", then", ",then"))  # a value more, not a text
    assert record.text.split("\n")[3] == "| 2 | Heat | Wait | then open the lid | and restart |"
    (record,), _, _ = reads("codes.csv", "a,b\n1, 2, 3\n4, 5, 6\n")
    assert record.text.split("\n")[2] == "| 1 | 2 | 3 |"


def test_cells_of_html_are_on_one_line(reads):
    (record,), _, _ = reads("a.csv", "Room,Has\nA,<ul><li>Beamer</li><li>Sofa</li></ul>\nB,one<br>two\n")
    assert record.text == "| Room | Has |\n| --- | --- |\n| A | Beamer; Sofa |\n| B | one two |"


def test_labelled_lines_above_a_table_are_lines(reads):
    data = (
        "Report: Invoices\nCreated: 2025-03-02\nUnit: Sales\n\nInvoice;Customer;Amount\n1;Miller;10,50\n2;Smith;9,00\n"
    )
    (record,), _, _ = reads("a.csv", data)
    assert record.text.startswith("Report: Invoices\n\nCreated: 2025-03-02\n\nUnit: Sales\n\n| Invoice |")


def test_dates_of_questions(reads):
    records, _, _ = reads("a.csv", "Frage;Antwort;Stand\nWo?;Dort.;01.02.2025\nWann?;Jetzt.;2025-03\n")
    assert [record.date for record in records] == ["2025-02-01", "2025-03-01"]
