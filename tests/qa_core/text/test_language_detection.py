from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_core.text import language_detection
from qa_core.text.language_detection import language_among, language_of

ROOT = Path(__file__).parents[3]
QUESTIONS = ROOT / "benchmarks" / "language_questions.tsv"


def test_short_questions_in_twelve_languages() -> None:
    """Undecided questions are analysed in all languages of a home; a wrong language would hide documents."""
    rows = [line.split("\t") for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
    detected = [(code, language_of(text, is_question=True)) for code, text in rows]
    outcomes = Counter(
        "right" if code == found_code else "wrong" if found_code else "open" for code, found_code in detected
    )
    assert outcomes["wrong"] == 0
    assert outcomes["right"] >= 0.95 * len(rows)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Müller GmbH", ""),
        ("Urlaubsantrag", ""),
        ("celiac disease gluten", ""),
        ("123 :-) https://example.org", ""),
        ("", ""),
        ("What does Fernweh mean?", "en"),
        ("Warum startet GitHub Actions nicht?", "de"),
        ("Πόσες μέρες άδεια έχω;", "el"),
        ("휴가는 며칠입니까?", "ko"),
        ("ลาพักร้อนได้กี่วัน", "th"),
        ("כמה ימי חופשה יש לי?", "he"),
        ("Скільки днів відпустки я маю?", "uk"),
        ("東京 means capital of the east in Japanese, said the guide", "en"),
    ],
)
def test_names_scripts_and_mixed_texts(text: str, code: str) -> None:
    assert language_of(text, is_question=True) == code


@pytest.mark.parametrize("text", ["Los Angeles", "Iron Man", "Kim Hunter", "Student's t-test; Fisher's F, Pareto's P"])
def test_short_documents_need_more_than_a_name_that_is_a_word(text: str) -> None:
    assert language_of(text) == ""


def test_the_default_is_for_texts_that_decide_nothing() -> None:
    assert language_of("Müller GmbH", "de") == "de"
    assert language_of("Who is Müller?", "de") == "en"


def test_tokenised_english_is_no_language_of_lone_letters() -> None:
    text = (
        "j . enterprise began selling women 's and men 's james dean underwear in 1990 , said w . k . z . smith i i a"
    )
    assert language_of(text) in {"en", ""}


def test_long_texts_without_known_function_words_are_read_by_the_model() -> None:
    vietnamese = (
        "Nhân viên được nghỉ phép năm hai mươi lăm ngày. Đơn xin nghỉ phép phải được gửi cho quản lý trước. " * 2
    )
    assert language_of(vietnamese) == "vi"


def test_a_title_does_not_hide_the_language_of_its_document() -> None:
    assert (
        language_of(
            "Kubernetes Docker Helm " * 40 + "Die Anwendung wird in der Nacht auf dem Server neu gestartet. " * 9
        )
        == "de"
    )


def test_a_notice_above_a_long_document_does_not_decide_its_language() -> None:
    notice = "This document may be distributed under the terms of the license on the page of the project. "
    german = "Mit dieser Taste wird die Ansicht vergrößert, und das Fenster zeigt nur noch einen Teil der Seite. "
    assert language_of(notice * 6 + german * 60) == "de"
    assert language_of(german * 6 + notice * 60) == "en"


def test_samples_that_decide_nothing_leave_the_language_to_the_model() -> None:
    vietnamese = "Nhân viên được nghỉ phép năm hai mươi lăm ngày. Đơn xin nghỉ phép phải được gửi cho quản lý trước. "
    assert language_of(vietnamese * 40) == "vi"


@pytest.mark.parametrize(
    ("question", "languages", "expected"),
    [
        ("Was kostet die Schraube M4?", {"de", "en"}, "de"),
        ("Was kostet die Schraube M4?", {"de", "nl"}, ""),
        ("Was kostet die Schraube M4?", {"en"}, ""),
        ("Why die young?", {"de", "en"}, ""),
        ("Can a cat die of cold?", {"de", "en"}, "en"),
    ],
)
def test_words_of_several_languages_are_of_the_one_that_is_there(
    question: str, languages: set[str], expected: str
) -> None:
    assert language_of(question, is_question=True) == ""
    assert language_among(question, languages) == expected


def test_questions_load_no_model() -> None:
    code = "from qa_core.text.language_detection import language_of\nimport sys\nlanguage_of('How many days?')\n"
    subprocess.run([sys.executable, "-c", f"{code}assert 'py3langid' not in sys.modules"], check=True, cwd=ROOT)


@given(st.text(max_size=300))
def test_any_text_has_a_code_or_none(text: str) -> None:
    assert len(language_of(text)) in {0, 2}


def test_the_identifier_keeps_the_answers_and_drops_the_weights_of_other_languages() -> None:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    theirs = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    few = language_detection._model()
    theirs.set_languages(few.labels)
    texts = ["Tsy misy olona ao an-trano", "Habari ya asubuhi rafiki yangu", "zxqv plomb", "Kissat nukkuvat", "猫"]
    assert [few.rank(text) for text in texts] == [theirs.rank(text) for text in texts]
    assert few.nb_ptc.shape[1] < theirs._full_model[0].shape[1] / 2
    assert few._full_model[0].shape == few.nb_ptc.shape
