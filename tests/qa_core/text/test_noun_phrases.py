from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.text.noun_phrases import noun_phrases, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do my zolmitriptan tablets 5mg contain any gluten?", ["zolmitriptan tablets", "gluten"]),
        ("I have celiac disease & need to know about bread, thank you!", ["celiac disease", "bread"]),
        ("why do cats sleep all day?", ["cats"]),
        ("can I sleep with sleep apnea?", ["sleep apnea"]),
        ("What are the symptoms of type 2 diabetes?", ["symptoms", "type 2 diabetes"]),
        ("what causes a sore throat, and the causes of fever", ["sore throat", "causes", "fever"]),
        ("She is taking 3.5 mg of lisinopril for two years", ["lisinopril"]),
        ("Does contaminated water quickly spread the rare bacteria", ["contaminated water", "spread", "rare bacteria"]),
        ("he vomited, the wound was infected and bleeding", ["wound", "bleeding"]),
        ("COVID-19 or covid-19? vitamin B 12; Order 0115-0672", ["COVID-19", "vitamin B 12", "Order"]),
        ("I’m 40 years old. It’s an anomaly of my family's dog", ["anomaly", "family's dog"]),
        ("ask [NAME], [DATE]", []),
        ("is this a good thing?", []),
        ("the maximum speed of the boat used", ["maximum speed", "boat"]),
        ("Wer ist der Präsident von Frankreich?", []),
        ("", []),
    ],
)
def test_noun_phrases_by_rules(text: str, expected: list[str]) -> None:
    assert noun_phrases(text) == expected


def test_tokens_keep_hyphens_apostrophes_decimals_and_underscores() -> None:
    assert tokens("What is HOME_LATCH_VEL?") == ["What", "is", "HOME_LATCH_VEL", "?"]
    assert tokens("X-ray isn't 3.5, e.g. [NAME]") == ["X-ray", "isn't", "3.5", ",", "e", ".", "g", ".", "[NAME]"]


@given(st.text(alphabet="aeT ity's-2.!?5 mgofd’[", max_size=60))
def test_phrases_are_distinct_stretches_of_tokens(text: str) -> None:
    phrases = noun_phrases(text)
    assert len({phrase.casefold() for phrase in phrases}) == len(phrases)
    assert all(token in text for phrase in phrases for token in phrase.split(" "))
