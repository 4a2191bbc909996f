"""Tables of DocBook."""

import pytest

CALS = """<table><title>Cups</title><tgroup cols="3">
<colspec colname="a"/><colspec colnum="2" colname="b"/><colspec colname="c"/>
<spanspec spanname="all" namest="a" nameend="c"/>
<thead><row><entry>Kind</entry><entry namest="b" nameend="c">Size</entry></row></thead>
<tbody>
<row><entry morerows="1"><para>Tea</para></entry><entry>S</entry><entry>M</entry></row>
<row><entry>L</entry><entry>XL</entry></row>
<row><entry spanname="all">None</entry></row>
</tbody></tgroup></table>"""
HTML = """<informaltable><caption>Cups</caption><colgroup><col/></colgroup>
<thead><tr><th>Kind</th><th>Size</th></tr></thead><tr><td rowspan="2">Tea</td><td>S</td></tr><tr><td>M</td></tr>
</informaltable>"""
NESTED = """<informaltable><tgroup cols="2"><thead><row><entry>a</entry><entry>b</entry></row></thead><tbody><row>
<entry>1</entry><entrytbl><tbody><row><entry>2</entry><entry>3</entry></row></tbody></entrytbl></row></tbody></tgroup>
</informaltable>"""


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            CALS,
            "Cups\n\n| Kind | Size | Size |\n| --- | --- | --- |\n| Tea | S | M |\n| Tea | L | XL |\n| None |  |  |",
        ),
        (HTML, "Cups\n\n| Kind | Size |\n| --- | --- |\n| Tea | S |\n| Tea | M |"),
        (NESTED, "| a | b |\n| --- | --- |\n| 1 | 2: 3 |"),
    ],
)
def test_tables(reads, table, expected):
    [record] = reads("a.docbook", f"<article>{table}</article>")[0]
    assert record.text == expected


def test_numbers_that_are_too_large_count_as_one(reads):
    cell = '<entry morerows="99999999" namest="a" nameend="b">x</entry><entry>y</entry>'
    columns = '<colspec colnum="1" colname="a"/><colspec colnum="99999" colname="b"/>'
    group = f"<tgroup>{columns}<tbody><row>{cell}</row></tbody></tgroup>"
    [record] = reads("a.docbook", f"<article><informaltable>{group}</informaltable></article>")[0]
    assert len(record.text) < 10_000


def test_tables_in_tables_in_tables_are_text(reads):
    deep = f"{'<entrytbl><row>' * 5000}<entry>Hot tea.</entry>{'</row></entrytbl>' * 5000}"
    [record] = reads("a.docbook", f"<article><informaltable><row>{deep}</row></informaltable></article>")[0]
    assert "Hot tea." in record.text
