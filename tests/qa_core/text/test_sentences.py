from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.text.sentences import sentences

TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from(list(" \n\t.!?…,;:'\"’()[]-•0123456789abcdefgABCDE。！」é\u0301\u00a0\u2028\ufeff\u200d")),
        st.characters(),
    ),
    max_size=80,
)


def split(text: str, language: str = "") -> list[str]:
    return [text[start:end] for start, end in sentences(text, language)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith took 3.5 mg.", "It helped!", "Did it?", "Yes."],
        ["J. K. Rowling came at 5 p.m.", "She slept... and woke."],
        ["See Fig. 2, e.g. Jones et al. (2003), vs. No. 5.", "He said no.", "They left."],
        ["The U.S. Army of the U.S.", "It is large."],
        ["A lack of vitamin C.", "Symptoms vary."],
        ["Of MS.", "Having it is hard, Ms. Jones says."],
        ["It is 3.5 m.", "Add 20 g.", "Ask m. Jones and H. Lee."],
        ["1. Wash your hands.", "2. Dry them.", "It began in 1990.", "Then it ended."],
        ["“Really?” he said.", "(It was.)", "'Oh!'", "Good."],
        ["東京です。", "はい！", "「そうか。」", "次。"],
        ["it hurts .", "what now?", "no idea"],
    ],
)
def test_sentences_by_rules(expected: list[str]) -> None:
    text = ("" if "。" in expected[0] else " ").join(expected)
    assert split(text) == expected


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("de", ["Das gilt z. B. Am Montag nicht, d. h. Die Kantine ist zu.", "Gut."]),
        (
            "de",
            [
                "Nach Abs. 3 zahlt Dr. Müller am 3. Mai bzw. Am 4. Juni ca. 5 Mio. Euro.",
                "Es waren 12.",
                "Der Rest kam.",
            ],
        ),
        ("de", ["Das war 1990.", "Danach nichts usw.", "Wir gehen.", "„Wirklich?“ fragte er.", "„Ja.“", "Sie nickte."]),
        ("de", ["1. Hände waschen.", "2. Abtrocknen."]),
        (
            "fr",
            [
                "M. Dupont part à 17 h.",
                "Mesurez 3 m.",
                "M. Dupont vient, p. ex. Lundi.",
                "Le budget etc.",
                "Nous verrons.",
                "« Oui. »",
                "Combien ?",
                "Trois !",
            ],
        ),
        ("es", ["El Sr. García llegó.", "¿Cuándo?", "¡Hoy!", "Véase p. ej. Madrid y EE. UU.", "La empresa no.", "Sí."]),
        ("pl", ["Zob. art. 5 ust. 2 i np. Kraków.", "Koniec itd.", "To jest drugie."]),
        ("ru", ["Он жил в г. Москва и т. д.", "Это второе.", "См. рис. 5."]),
        ("nl", ["Dhr. Jansen betaalt bijv. Huur.", "Klaar."]),
        ("sv", ["Ta t.ex. Stockholm.", "Kl. 8 börjar vi.", "Det är bra."]),
        ("hi", ["यह कमरा १२ है।", "वह कहाँ है?", "ठीक है॥"]),
        ("ar", ["هل تعمل؟", "نعم، أعمل."]),
        ("fa", ["کجا هستی؟", "اینجا."]),
        ("hy", ["Սա գիրք է։", "Լավ է։"]),
        ("el", ["Πού είσαι;", "Είμαι εδώ.", "Καλά\u037e", "Ναι."]),
        ("en", ["It blocks TNF-α; Lyme is rare; we stayed.", "It ended."]),
        ("xx", ["See Fig. 2.", "Good."]),
    ],
)
def test_sentences_by_rules_of_other_languages(language: str, expected: list[str]) -> None:
    assert split(" ".join(expected), language) == expected


def test_sentences_end_at_empty_lines_and_list_items() -> None:
    text = "Signs\n\nCommon ones include\n- fever\n- a\n  rash\n\n\nSee e.g.\nbelow"
    assert split(text) == ["Signs", "Common ones include", "- fever", "- a\n  rash", "See e.g.\nbelow"]


def test_a_forgotten_space_ends_a_sentence_but_a_dotted_name_does_not() -> None:
    assert split("It ended.Next came node.js and Foo.Bar.") == ["It ended.", "Next came node.js and Foo.Bar."]


@given(text=TEXTS, language=st.sampled_from(["", "de", "fr", "es", "ru"]))
def test_spans_cover_all_but_space_in_order(text: str, language: str) -> None:
    spans = sentences(text, language)
    covered = {i for start, end in spans for i in range(start, end)}
    assert {i for i, character in enumerate(text) if not character.isspace()} <= covered
    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
