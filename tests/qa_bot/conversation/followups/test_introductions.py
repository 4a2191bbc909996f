import pytest

from qa_bot.conversation.followups.introductions import returned, without_introduction


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


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("Back to the bell: what happened to it later?", "The bell: what happened to it later?"),
        ("and back to being ill - how long?", ""),
        ("ok, and back to links: whose quota counts?", "Links: whose quota counts?"),
        ("Und zurück zur Wäsche: bis wann geht das?", "Wäsche: bis wann geht das?"),
        ("Pour revenir aux horaires : et le samedi ?", "Horaires: et le samedi ?"),
        ("How do I get back to the office, by bus?", ""),
        ("back to the one that you said was the best of them all: why?", ""),
        ("Back to the bell", ""),
    ],
)
def test_a_topic_that_is_taken_up_again_stands_before_its_question(turn: str, question: str) -> None:
    assert returned(turn) == question
