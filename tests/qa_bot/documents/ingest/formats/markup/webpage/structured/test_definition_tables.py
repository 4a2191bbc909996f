"""Tables without header cells that explain a button or a field in each row."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment

FIELDS = """<table border=1>
<tr><td><img src="pan.png"></td><td><b>Pan size</b></td><td>Choose the pan. The stove heats all of it.</td></tr>
<tr><td><img src="timer.png"></td><td><b>Timer:</b></td><td>The time until the stove stops:
  <ul><li>Short: it beeps once.</li><li>Long: it beeps until you press a key.</li></ul>
  Zero means no end.</td></tr>
<tr><td><img src="lock.png"></td><td></td><td><p>Lock all keys.</p><p>Press it for three seconds.</p></td></tr>
</table>"""


def test_terms_with_lists_and_paragraphs():
    assert (
        fragment(FIELDS).text
        == """\
- **Pan size**: Choose the pan. The stove heats all of it.
- **Timer**: The time until the stove stops:
    - Short: it beeps once.
    - Long: it beeps until you press a key.

    Zero means no end.
- Lock all keys.

    Press it for three seconds."""
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            "<tr><td>Mode<td>What the pump does:<li>Fast: it fills the tank in an hour.<li>Slow: it makes no noise."
            "<tr><td>Speed<td>Fast",
            "- **Mode**: What the pump does:\n    - Fast: it fills the tank in an hour.\n    - Slow: it makes no noise."
            "\n- **Speed**: Fast",
        ),
        (
            "<tr><td><img src=a.png><td>Ctrl+N<td>Create a new recipe.<tr><td><img src=b.png><td>Del<td>Delete the "
            "recipe from the list.<tr><td><b>Search</b><td><td>Write some words of the recipe.",
            "- **Ctrl+N**: Create a new recipe.\n- **Del**: Delete the recipe from the list.\n"
            "- **Search**: Write some words of the recipe.",
        ),
        (
            "<tr><td><img src=a.png><td>Start the pump.<tr><td><img src=b.png><td>Stop the pump.",
            "- Start the pump.\n- Stop the pump.",
        ),
        ("<tr><td>&nbsp;<td>Start the pump.<tr><td>&nbsp;<td>Stop the pump.", "Start the pump.\n\nStop the pump."),
        (
            "<tr><td colspan=2><b>Water</b><tr><td>Depth<td>How deep the pump hangs in the well."
            "<tr><td colspan=2><b>Power</b><tr><td>Fuse<td>What breaks when the pump is blocked.",
            "**Water**\n\n- **Depth**: How deep the pump hangs in the well.\n\n**Power**\n\n"
            "- **Fuse**: What breaks when the pump is blocked.",
        ),
        (
            "<caption>Lamps</caption><tr><td>Red<td rowspan=2>The pump is too hot, wait until it is cold."
            "<tr><td>Yellow<tr><td rowspan=2>Green<td>The pump is ready.<tr><td>You can start it now.",
            "Lamps\n\n- **Red, Yellow**: The pump is too hot, wait until it is cold.\n- **Green**: The pump is ready."
            "\n\n    You can start it now.",
        ),
        (
            "<tr><td><b>Filter</b><td><p>It keeps the sand out of the pump.</p><table border=1><tr><td><b>Fine</b><td>"
            "Use it for the garden.<tr><td><b>Coarse</b><td>Use it for the pond.</table><tr><td><b>Hose</b><td>"
            "It leads the water away.",
            "- **Filter**: It keeps the sand out of the pump.\n    - **Fine**: Use it for the garden.\n"
            "    - **Coarse**: Use it for the pond.\n- **Hose**: It leads the water away.",
        ),
    ],
)
def test_definitions(rows, expected):
    assert fragment(f"<table border=1>{rows}</table>").text == expected


def test_names_of_groups_head_nothing_below_the_table():
    rows = "<tr><td colspan=2><b>Water</b><tr><td>Depth<td>How deep the pump hangs in the well."
    text = fragment(f"<h2>Fields</h2><table>{rows}</table><p>Ask us.</p>").text
    assert text == "## Fields\n\n**Water**\n\n- **Depth**: How deep the pump hangs in the well.\n\n######\n\nAsk us."


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>Tea<td>2.50 €<tr><td>Cake<td>3.00 €",
        "<tr><td><b>Monday</b><td>8 to 12 and 14 to 18<tr><td><b>Friday</b><td>closed",
        "<tr><td>Office<td>Anna Berg, Oak Street 4, 12345 Lindau, Phone 555 12<tr><td>Bar<td>Otto Hahn, Elm Road 1",
        "<tr><td>Width<td><ul><li>80 cm<li>90 cm</ul><tr><td>Height<td>2 m",
        "<tr><td><b>Key</b><td><b>Meaning</b><tr><td>Depth<td>How deep the pump hangs in the well.",
        "<tr><td>Depth<td>5 m<td>How deep the pump hangs in the well.<tr><td>Fuse<td>16 A<td>It protects the pump.",
        "<tr><td>It is late and we go home.<td>It is early and we stay here.<tr><td>We wait here.<td>We go out now.",
    ],
)
def test_tables_of_values_stay(rows):
    text = fragment(f"<table>{rows}</table>").text
    assert text.count("\n| ") > 1
    assert "- **" not in text


def test_columns_without_text_are_left_out():
    html = "<table><tr><th>Tea<th><th>Price<tr><td>green<td> <td>2 €<tr><td>black<td><img src=leaf.png><td>3 €</table>"
    assert fragment(html).text == "| Tea | Price |\n| --- | --- |\n| green | 2 € |\n| black | 3 € |"


def test_a_page_arranged_by_a_table_stays_so():
    html = f"<table><tr><td>Menu<td><h4>Pump</h4>{FIELDS}<tr><td>Us<td>2026</table>"
    text = fragment(html).text
    assert "|" not in text
    assert text.startswith("Menu\n\n#### Pump\n\n- **Pan size**: Choose")


def test_hostile_tables_are_bounded():
    cells = "<td rowspan=60000 colspan=99999>They wait for the pump to stop." * 30
    assert len(fragment(f"<table>{'<tr>' + cells}</table>" * 20).text) < 1_000_000
