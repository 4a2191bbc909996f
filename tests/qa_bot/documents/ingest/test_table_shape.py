"""Values and headers of tables."""

import pytest

from qa_bot.documents.ingest.table_shape import goes_on, header_rows, is_header, is_value


@pytest.mark.parametrize(
    "text",
    [
        "8",
        "-1,234.50",
        "7.5 %",
        "€ 12",
        "12 EUR",
        "CHF 5",
        "2024-02-29",
        "29.02.24",
        "13:05",
        "175:05.90",
        "n/a",
        "TRUE",
    ],
)
def test_values(text):
    assert is_value(text)


@pytest.mark.parametrize("text", ["", "Room", "Room 8", "Q1", "30 days", "100 pcs", "x" * 100])
def test_words_are_no_values(text):
    assert not is_value(text)


LONG = "How satisfied are you with the canteen, its staff and its prices this year"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Name", "Age"], ["Anna", "7"]], True),
        ([["No", "Name"], ["1", "Anna"]], True),
        ([["", "2023", "2024"], ["North", "1", "2"]], True),
        ([["", "Rate"], ["North", "1"]], True),
        ([["City", "2024-01-01", "2024-02-01"], ["Kiel", "3", "4"]], True),
        ([["Name", LONG], ["Anna", "very"]], True),
        ([["Name", f"{LONG}?"], ["Anna", LONG]], True),
        ([["Name", LONG], ["Anna", LONG]], False),
        ([["Anna", "2024-01-01"], ["Ben", "2024-02-01"]], False),
        ([["Anna", "7"], ["Ben", "8"]], False),
        ([["Anna", "a@b.c"], ["Ben", "d@e.f"]], False),
        ([["Name:", "Anna"], ["Role:", "Cook"]], False),
        ([["Name", "Name"], ["Anna", "Ben"]], False),
        ([["Name", "", "", ""], ["a", "b", "c", "d"]], False),
        ([["Name", "Age"]], False),
        ([["Smallest order", "3 bikes"], ["Discount", "3 %"], ["Payment", "30 days"]], False),
        ([["Company", "Acme Ltd"], ["Street", "Mill Lane"], ["Place", "Leeds"], ["Founded", "1987"]], False),
        ([["Setting", "Default"], ["Host", "localhost"], ["User", "root"], ["Port", "80"]], True),
        ([["Kitchen", "Oven"], ["Kitchen", "Fridge"], ["Kitchen", "Drain"]], False),
        ([["Name", "Room"], ["Anna", "Attic"], ["Name", "Room"], ["Ben", "Cellar"], ["Name", "Room"]], True),
        ([["Model", "2026 price"], ["Tarn", "30 EUR"]], True),
        ([["Format", "100 pcs", "500 pcs"], ["A6", "17.9", "31.9"], ["A5", "22.9", "39.9"]], True),
        ([["Model", "2 A charger"], ["Tarn", "no"], ["Krag", "yes"]], True),
        ([["Voltage", "230 V", "Frequency", "50 Hz"], ["Weight", "12 kg", "Noise", "65 dB"]], False),
        ([["Size", "10 kg", "To", "20 kg"], ["DE", "5 €", "FR", "8 €"]], True),
        ([["☐", "Cancel power", "May"], ["☑", "Buy boxes", "June"]], False),
        ([], False),
        ([[], ["a"]], False),
        ([["", ""], ["a", "b"]], False),
    ],
)
def test_headers(rows, expected):
    assert is_header(rows) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([["Name", "Age"], ["Anna", "7"], ["Ben", "8"]], 1),
        ([["Part", "Private", "Private"], ["Part", "new", "used"], ["Frame", "9 years", "5 years"]], 2),
        ([["Part", "Private", "Private"], ["Part", "7", "5"], ["Frame", "9", "5"]], 0),
        ([["Part", "Private", "Private"], ["Part", "new", "used"]], 0),
        (
            [
                ["Rota from May to June", "", "", "new!"],
                ["Day", "Opens", "Closes", "Keys"],
                ["Monday", "9:00", "18:00", "Ann"],
            ],
            0,
        ),
        ([["Price", "", "Place", ""], ["new", "used", "room", "shelf"], ["9 euros", "5 euros", "attic", "left"]], 2),
        ([["", "Price", "Price"], ["Model", "new", "used"], ["Tarn", "low", "high"]], 2),
        ([["Model", "Price", "Price"], ["Name", "new", "used"], ["Tarn", "9", "5"]], 2),
        ([["Name", "Phone", "Phone", "City"], ["Ann", "55-1", "55-2", "Bern"], ["Bob", "55-3", "", "Genf"]], 1),
        ([["Name", "Phone", "City", "Phone"], ["Ann", "55-1", "Bern", "55-2"], ["Bob", "55-3", "Genf", ""]], 1),
        ([["Date", "Event", "Event"], ["2024-05-01", "Fair", "Parade"], ["2024-05-02", "Market", ""]], 1),
        ([["Serial", "4411", "", ""], ["Voltage", "230 V", "Phase", "L1"], ["Weight", "12 kg", "Oil", "SAE"]], 0),
        ([["", "2024", "2024"], ["Item", "Plan", "Actual"], ["Rent", "9", "8"]], 2),
        ([["Type", "Power", "Price"], ["", "kW", "€"], ["A1", "5", "999"]], 2),
        ([["Type", "Power", "Size"], ["", "kW", "m"], ["A1", "strong", "L"]], 1),
        ([["Ann", "Early", "Early"], ["Bob", "Late", "Early"], ["Cid", "Late", "Late"]], 0),
        ([], 0),
    ],
)
def test_header_rows(rows, expected):
    assert header_rows(rows) == expected


@pytest.mark.parametrize(
    ("rows", "above", "expected"),
    [
        ([["Bob", "Late"], ["Cid", "Early"]], [["Ann", "Early"]], True),
        ([["Bob", "", "7"], ["Cid", "Early", "8"]], [["Ann", "Early", "9"]], True),
        ([["Item", "Price"], ["Tea", "3"]], [["Ann", "Early"]], False),  # a name above values
        ([["Tea", "hot"], ["Milk", "cold"]], [["Ann", "7"]], False),  # words where values are above
        ([["Step", "Meaning"], ["One", "long " * 20]], [["Ann", "Early"]], False),
    ],
)
def test_rows_that_go_on_with_a_table(rows, above, expected):
    assert goes_on(rows, above) == expected
