"""Tables whose rows begin with "Q:" and "A:"."""

import pytest

from qa_bot.documents.ingest.formats.markup.html import fragment


def test_questions_head_their_answers():
    html = """<h2>Questions</h2>
    <table border=1><tr><td>1<td>Q:<td>Where is the <a href=key.html>key</a>?
    <tr><td><td>A:<td>In the box.<br>Or not.</table>
    <table border=1><tr><td>2<td>Q:<td>Who has it?<tr><td><td>A:<td><ul><li>Ann<li>Bob</ul></table>"""
    assert fragment(html).text == (
        "## Questions\n\n### Where is the key?\n\nIn the box.\nOr not.\n\n### Who has it?\n\n- Ann\n- Bob"
    )


def test_german_labels_and_several_questions_in_a_table():
    rows = "<tr><td>Frage 1:<td>Wann?<tr><td>Antwort:<td>Heute.<tr><td>Frage 2:<td>Wo?<tr><td>Antwort:<td>Hier."
    assert fragment(f"<table>{rows}</table>").text == "## Wann?\n\nHeute.\n\n## Wo?\n\nHier."


def test_the_last_question_heads_nothing_below_the_table():
    rows = "<tr><td>Q:<td>Why?<tr><td>A:<td>So."
    markdown = fragment(f"<h1>FAQ</h1><table>{rows}</table><p>Ask us.").text
    assert markdown == "# FAQ\n\n## Why?\n\nSo.\n\n##\n\nAsk us."


@pytest.mark.parametrize(
    "rows",
    [
        "<tr><td>A:<td>Tea<tr><td>B:<td>Milk",  # no question
        "<tr><td>Q:<td>Why?<tr><td>A:<td>So.<tr><td>B:<td>Not so.",  # another label
        "<tr><td>Q:<td>Why?<td>So.<tr><td>A:<td>So.<td>No.",  # more columns
        "<tr><th>Q:<th>Why?<tr><td>A:<td>So.",
    ],
)
def test_other_tables_stay(rows):
    assert fragment(f"<table border=1>{rows}</table>").text.startswith("|")
