"""Sheets of questions with their answers, also in several languages."""

import pytest

from qa_bot.documents.ingest.formats.sheets.faq import Pair, faq_columns


@pytest.mark.parametrize(
    ("header", "pairs"),
    [
        ("Question (EN)|Answer (EN)|Frage (DE)|Antwort (DE)", [Pair(0, 1, "en"), Pair(2, 3, "de")]),
        ("Question_en|Question_de|Answer_en|Answer_de", [Pair(0, 2, "en"), Pair(1, 3, "de")]),
        ("Question FR|Réponse FR", [Pair(0, 1, "fr")]),
        ("Frage (Deutsch)|Antwort [de-AT]", [Pair(0, 1, "de")]),
        ("Question|Answer|Frage|Antwort", [Pair(0, 1, ""), Pair(2, 3, "")]),
        ("Question|Answer (English)", [Pair(0, 1, "en")]),
        ("Question (DE)|Question (EN)|Answer (EN)", [Pair(1, 2, "en")]),
        ("Question ID|Question|Answer", [Pair(1, 2, "")]),
        ("No.|Your question|Our answer|Owner", [Pair(1, 2, "")]),
        ("Kundenfrage|Musterantwort", [Pair(0, 1, "")]),
        ("Question type|Question|Answer text|Answer count", [Pair(1, 2, "")]),
    ],
)
def test_a_question_has_the_answer_in_its_language(header, pairs):
    columns = faq_columns(header.split("|"))
    assert columns is not None
    assert [*columns.pairs] == pairs


@pytest.mark.parametrize(
    "header",
    [
        "Question No|Answer",
        "Question (DE)|Answer (EN)",
        "Question|Reply",
        "Question|Short answer|Long answer",
        "Umfrage|Antwort",
        "Number of questions|Answer",
    ],
)
def test_other_tables_have_no_pairs(header):
    assert faq_columns(header.split("|")) is None


def test_a_row_in_two_languages_is_two_records(reads):
    data = (
        "Nr.,Question (EN),Answer (EN),Frage (DE),Antwort (DE),Owner\n1,Why?,So.,Warum?,Darum.,Ann\n"
        "2,,,Wer?,Eva.,\n3,How?,,,,\n"
    )
    records, (reject,), _ = reads("faq.csv", data)
    assert [(record.id, record.title, record.text, record.language) for record in records] == [
        ("faq.csv#2", "Why?", "So.\n\nOwner: Ann", "en"),
        ("faq.csv#2:de", "Warum?", "Darum.\n\nOwner: Ann", "de"),
        ("faq.csv#3:de", "Wer?", "Eva.", "de"),
    ]
    assert reject.where.endswith("faq.csv:4")


def test_a_row_with_only_a_category_names_that_of_those_below(reads):
    data = "Category,Question,Answer\nFees,,\n,How much?,Ten.\nBoats,Which?,All.\n,When?,In May.\n"
    records, rejects, _ = reads("faq.csv", data)
    assert [(record.title, record.tags) for record in records] == [
        ("How much?", ("Fees",)),
        ("Which?", ("Boats",)),
        ("When?", ()),
    ]
    assert rejects == []


def test_answers_in_html(reads):
    data = (
        "Question,Answer,Owner\n"
        '"Tea &amp; milk?","<p>Choose <i>guest</i>.</p><ul><li>Accept</li><li>Wait &amp; reload</li></ul>",A*B\n'
        'Where?,"<p>Behind the&nbsp;bar.</p>",\nIs a < b?,"If a < b, write <br> & go",\nEmpty?,<p></p>,\n'
    )
    records, (reject,), _ = reads("faq.csv", data)
    assert [(record.title, record.text, record.markdown, record.modified) for record in records] == [
        ("Tea & milk?", "Choose *guest*.\n\n- Accept\n- Wait & reload\n\nOwner: A*B", True, ""),
        ("Where?", "Behind the bar.", True, ""),
        ("Is a < b?", "If a < b, write <br> & go", False, ""),
    ]
    assert "no answer" in reject.reason
