"""Arrays of objects without known fields are tables or sections."""

import json

from qa_bot.documents.ingest.formats.data.other_objects import written

LONG = "<p>Clay is wedged first.</p><p>It is then thrown on the wheel, and dried for a week.</p>" * 4


def test_objects_are_rows_of_a_table(reads, tmp_path) -> None:
    data = [
        {"name": "Kiln", "price": {"amount": 5, "currency": "EUR"}, "open": True, "days": ["Mon", "Tue"]},
        {"name": "Wheel", "price": {"amount": 7.5}, "fired_at": None, "open": False},
    ]
    (record,), rejects, _ = reads("fees.json", json.dumps(data))
    assert rejects == []
    assert record.text == (
        "| name | price amount | price currency | open | days |\n| --- | --- | --- | --- | --- |\n"
        "| Kiln | 5 | EUR | yes | Mon, Tue |\n| Wheel | 7.5 |  | no |  |"
    )
    assert (record.id, record.title, record.where) == ("fees.json", "fees", f"{tmp_path}/fees.json:1")
    assert record.markdown


def test_objects_with_long_texts_are_sections() -> None:
    text = written([{"id": 3, "title": "Clay", "content": LONG}, {"id": 4, "parts": [{"a": "b", "c": 1}, {"a": "d"}]}])
    assert text.text.startswith("## Clay\n\n- id: 3\n\ncontent:\n\nClay is wedged first.\n\nIt is then")
    assert text.text.endswith("## 2\n\n- id: 4\n- parts: a: b; c: 1; a: d")


def test_numbers_alone_are_no_text() -> None:
    assert written([{"x": 1, "y": 2.5}]).text == ""


def test_objects_beside_known_ones_are_rejected(reads) -> None:
    records, rejects, _ = reads("a.json", '[{"name": "Kiln"}, {"id": "b", "text": "Clay."}, {"name": "Wheel"}]')
    assert [record.id for record in records] == ["b"]
    assert [reject.where[-2:] for reject in rejects] == [":1", ":1"]
    assert all("Expected the field text" in reject.reason for reject in rejects)
