"""Tables of HTML: headers, spans, layout."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment


def rows(html):
    return [line for line in fragment(html).text.splitlines() if not line.startswith("| ---")]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<table><tr><th>a<th>b<tr><td>1<td>2</table>", ["| a | b |", "| 1 | 2 |"]),
        ("<table><tr><td>1<td>2<tr><td>3</table>", ["|  |  |", "| 1 | 2 |", "| 3 |  |"]),
        ("<table><tr><td><th>a<th>b<tr><th>k<td>1<td>2</table>", ["|  | a | b |", "| k | 1 | 2 |"]),
        ("<table><tr><td>n<th scope=col>a<tr><th>k<td>1</table>", ["| n | a |", "| k | 1 |"]),
        ("<table><tr><td>n<th>a<tr><td>k<th>b</table>", ["|  |  |", "| n | a |", "| k | b |"]),
        ("<table><tr><td><img alt=Tea><th>a<tr><td>k<th>b</table>", ["|  |  |", "| Tea | a |", "| k | b |"]),
        ("<table><tr><th>k<td>v<tr><th>l<td>w</table>", ["|  |  |", "| k | v |", "| l | w |"]),
        ("<table><tr><td><b>a</b><td><b>b</b><tr><td>1<td>2</table>", ["| a | b |", "| 1 | 2 |"]),
        ("<table><tr><th>a|b<th>c<tr><td>1<br>2<td><ul><li>x<li>y</ul></table>", ["| a\\|b | c |", "| 1 2 | x; y |"]),
        (
            "<table><thead><tr><th rowspan=2>N<th colspan=2>Q1<tr><th>Jan<th>Feb</thead>"
            "<tr><td rowspan=2>X<td>1<td>2<tr><td>3<td>4</table>",
            ["| N | Q1 Jan | Q1 Feb |", "| X | 1 | 2 |", "| X | 3 | 4 |"],
        ),
        (
            "<table><tr><th>a<th>b<tr><td colspan=2>Part<tr><td>1<td>2</table>",
            ["| a | b |", "| Part |  |", "| 1 | 2 |"],
        ),
        (
            "<table><thead><tr><th>a<th>b</thead><tbody><tr><th colspan=2>Part<tr><td>1<td>2<tr><th>Rest<td></table>",
            ["| a | b |", "| Part |  |", "| 1 | 2 |", "| Rest |  |"],
        ),
        (
            "<table><tr><th>a<th>b<tr><th>Part<th><tr><td>1<td>2</table>",
            ["| a | b |", "| Part |  |", "| 1 | 2 |"],
        ),
        ("<table><caption>Fees</caption><tr><th>a<th>b<tr><td>1<td>2</table>", ["Fees", "", "| a | b |", "| 1 | 2 |"]),
        (
            "<table><tr><th>a<th>b<tr><td>1<td><table><tr><td>k<td>v<tr><td>l<td>w</table></table>",
            ["| a | b |", "| 1 | k: v; l: w |"],
        ),
        ("<table><tr><th>a<th>b<tr><td><pre>x y</pre><td><h4>t</h4>u</table>", ["| a | b |", "| `x y` | t u |"]),
    ],
)
def test_data_tables(html, expected):
    assert rows(html) == expected


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td><h3>Left</h3>text<td>right</table>",
        "<table><tr><td>Left<tr><td>right</table>",
        "<table role=presentation><tr><th>Left<td>right</table>",
        "<table><tr><td>Left<td><table><tr><td>right</table></table>",
        f"<table><tr><td>Left<td>{'right ' * 60}</table>",
    ],
)
def test_layout_tables_are_read_in_order(html):
    text = fragment(html).text
    assert "|" not in text
    assert text.index("Left") < text.index("right")


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><td class=linenos><pre>1\n2</pre><td class=code><pre>a\nb</pre></table>",
        "<table><tr><td><pre><span class=lnt>1\n</span><span class=lnt>2\n</span></pre><td><pre>a\nb</pre></table>",
        "<pre><span class=linenos>1</span>a\n<span class=linenos>2</span>b</pre>",
        "<pre><span class=ln>1</span><span class=ln></span>a\n<span class=ln> 2</span>b</pre>",
    ],
)
def test_line_numbers_of_code_are_left_out(html):
    assert fragment(html).text == "```\na\nb\n```"


def test_other_spans_of_code_stay():
    assert fragment("<pre><span class=ln>x</span> <span>1</span></pre>").text == "```\nx 1\n```"


def test_hostile_spans_are_bounded():
    html = f"<table>{'<tr>' + '<td rowspan=60000 colspan=99999>x' * 30}</table>"
    assert len(fragment(html * 20).text) < 200_000


def test_code_below_the_name_of_its_file_is_code():
    html = "<table><tr><th colspan=2>a.sh</th></tr><tr><td class=linenos>1<td><pre>make tea</pre></table>"
    assert fragment(html).text == "a.sh\n\n```\nmake tea\n```"


NESTED = "<table><tr><td><p>We meet.</p><table{}><tr><td>Year<td>Chair<tr><td>1998<td>Otto{}</table></table>"


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((" border=1", ""), ["|  |  |", "| --- | --- |", "| Year | Chair |", "| 1998 | Otto |"]),
        (("", "<tr><td>1999<td>Karl"), ["| Year | Chair |", "| --- | --- |", "| 1998 | Otto |", "| 1999 | Karl |"]),
    ],
)
def test_a_table_of_data_in_one_of_layout(parts, expected):
    assert fragment(NESTED.format(*parts)).text.splitlines()[:6] == ["We meet.", "", *expected]


@pytest.mark.parametrize("parts", [("", ""), (" border=0", "<tr><td>1999"), ("", "<tr><td>1999<td>")])
def test_a_table_of_layout_in_another(parts):
    assert rows(NESTED.format(*parts))[:7:2] == ["We meet.", "Year", "Chair", "1998"]


@pytest.mark.parametrize(
    ("head", "names", "expected"),
    [
        (
            ["Firing", "Fee", "", "Days"],
            ["", "*guests", "*members", ""],
            "| Firing | Fee: guests | Fee: members | Days |",
        ),
        (["", "Fee:", "", ""], ["", "*low", "*mid", "*high"], "|  | Fee: low | Fee: mid | Fee: high |"),
        (["Firing", "Fee", ""], ["", "*guests", "members"], ""),
        (["Firing", "Fee", ""], ["*bisque", "*12", "*9"], ""),
        (["Firing", "Fee", "Days"], ["", "*guests", "*work"], ""),
        (["Firing", "", "Days"], ["", "*guests", ""], ""),
    ],
)
def test_a_bold_row_below_names_of_groups_names_their_columns(head, names, expected):
    row = "".join(f"<td><b>{name[1:]}</b>" if name[:1] == "*" else f"<td>{name}" for name in names)
    values = "".join("<td>1" for _ in head)
    read = rows(f"<table><tr>{''.join(f'<th>{name}' for name in head)}<tr>{row}<tr>{values}</table>")
    assert len(read) == (2 if expected else 3)
    assert read[0] == expected or not expected


def test_the_foot_is_below_the_rows():
    html = "<table><thead><tr><th>a<th>b</thead><tfoot><tr><td>all<td>1</tfoot><tbody><tr><td>x<td>1</tbody></table>"
    assert rows(html) == ["| a | b |", "| x | 1 |", "| all | 1 |"]


def test_elements_with_the_roles_of_a_table():
    html = """<div role="table"><div role="row"><span role="columnheader">Plan</span><span role="columnheader">Price
    </span></div><div role="row"><span role="cell">Basic</span><span role="cell">5 EUR</span></div></div>"""
    assert rows(html) == ["| Plan | Price |", "| Basic | 5 EUR |"]


BELOW = "<tr><td>Mon<td>5<tr><td>Tue<td>7"


@pytest.mark.parametrize(
    "header",
    [
        "<tr class='table-header'><td>Day<td>Fee",
        "<tr><td class=tableHead>Day<td class=tableHead>Fee",
        "<tr bgcolor=#cccccc><td>Day<td>Fee",
        "<tr><td style='width: 9px; background-color: #ccc'>Day<td style='background:#ccc'>Fee",
        "<tr><td>Day<td>Fee",
    ],
)
def test_a_header_without_header_cells(header: str) -> None:
    text = "| Day | Fee |\n| --- | --- |\n| Mon | 5 |\n| Tue | 7 |"
    assert fragment(f"<table>{header}{BELOW}</table>").text == text


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>Name<td>Ann<tr><td>Town<td>Rome<tr><td>Room<td>5",
        "<tr bgcolor=red><td>Name<td>Ann<tr><td>Town<td>Rome<tr bgcolor=red><td>Post<td>Director",
        "<tr class=head><td>Name<td>Ann<tr class=head><td>Town<td>Rome",
        "<tr bgcolor=red><td>Mon<td>7<tr><td>Tue<td>8",
        "<tr><td>Mon<td>closed<tr><td>Tue<td>open<tr><td>Wed<td>open",
    ],
)
def test_rows_that_are_no_header(rows: str) -> None:
    assert fragment(f"<table>{rows}</table>").text.startswith("|  |  |\n")


def test_a_title_above_a_bold_header() -> None:
    title = "<tr><td colspan=2>Fees of 2024<tr><td><b>Day</b><td><b>Fee</b>"
    text = fragment(f"<table>{title}{BELOW}</table>").text
    assert text.startswith("| Fees of 2024 Day | Fee |\n| --- | --- |\n| Mon | 5 |")
