import pytest

from qa_bot.conversation.followups.introductions import without_introduction


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("OK. Different question: how do I clean it?", "how do I clean it?"),
        ("Thanks! And in winter?", "And in winter?"),
        ("great, thank you... one more thing - is it free?", "is it free?"),
        ("Alles klar, danke. Noch eine Frage: wer zahlt das?", "wer zahlt das?"),
        ("Andere Frage – wann ist offen?", "wann ist offen?"),
        ("Merci. Autre question: et le samedi ?", "et le samedi ?"),
    ],
)
def test_words_that_introduce_a_question_are_left_out(turn: str, question: str) -> None:
    assert without_introduction(turn) == question


@pytest.mark.parametrize(
    "turn",
    [
        "ok",
        "OK.",
        "Thanks!",
        "right of way?",
        "well water",
        "Good Friday, is it free?",
        "another question",
        "is it OK, too?",
        "",
    ],
)
def test_other_turns_are_unchanged(turn: str) -> None:
    assert without_introduction(turn) == turn
