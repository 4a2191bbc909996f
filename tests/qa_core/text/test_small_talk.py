"""Small talk and remarks about answers are distinguished from questions."""

import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_bot.home.starter import QUESTIONS
from qa_core.text.small_talk import LONGEST, language_of_talk, recognise


@pytest.mark.parametrize(
    ("kind", "turns"),
    [
        ("greeting", ["hi", "Hello!", "hey there :)", "Good morning, bot", "HOLA", "hi, nice to meet you"]),
        ("farewell", ["bye", "Good night!", "see you later", "ok, bye bye", "that's all for now"]),
        ("thanks", ["thanks", "Thank you very much!", "ok thx", "Danke schön", "many thanks for your help", "ty"]),
        ("wellbeing", ["how are you?", "What’s up?", "how's it going"]),
        ("identity", ["Who are you?", "what is your name", "are you a robot or a human?", "who made you"]),
        ("abilities", ["what can you do?", "help", "What can I ask you?"]),
        ("praise", ["ok", "great answer", "That's very helpful", "got it"]),
        ("blame", ["that's wrong", "You are wrong.", "bad bot", "this is not what I asked for"]),
        ("repeat", ["repeat", "Say that again, please", "could you repeat that?", "once more", "What did you say?"]),
        ("shorter", ["shorter", "Shorter, please!", "make it a bit shorter", "tl;dr", "in one sentence please"]),
        ("why", ["why this answer?", "How do you know that?", "are you sure?", "Why did you say that?"]),
        ("sources", ["more sources", "Sources?", "tell me more", "show me more documents", "where did you read that"]),
        ("greeting", ["Guten Tag", "Hallo, guten Morgen!", "Grüß Gott", "Grüezi", "bonsoir"]),
        ("farewell", ["Auf Wiedersehen!", "Bis später", "Schönen Tag noch", "Das war's", "À bientôt", "bonne journée"]),
        ("thanks", ["Vielen Dank!", "Danke für die Hilfe", "danke dir", "merci beaucoup", "merci pour votre aide"]),
        ("wellbeing", ["Wie geht's?", "Wie geht es Ihnen?", "Ça va ?"]),
        ("identity", ["Wer bist du?", "Bist du ein Mensch?", "Wie heißt du?", "Qui êtes-vous ?"]),
        ("abilities", ["Was kannst du?", "Was kann ich dich fragen?", "Hilfe"]),
        ("praise", ["Alles klar.", "ok, verstanden", "d'accord"]),
        ("blame", ["Das ist falsch!", "Das ist leider nicht richtig.", "C’est faux"]),
        ("repeat", ["noch einmal bitte", "Wie bitte?", "encore une fois"]),
        ("shorter", ["Kürzer!", "bitte etwas kürzer", "plus court, s'il te plaît"]),
        ("why", ["Warum diese Antwort?", "Woher wissen Sie das?", "pourquoi cette réponse ?"]),
        ("sources", ["Quellen?", "Wo steht das?", "mehr dazu", "d'autres sources"]),
    ],
)
def test_whole_turns_are_recognised(kind: str, turns: list[str]) -> None:
    assert {turn: recognise(turn) for turn in turns} == dict.fromkeys(turns, kind)


@pytest.mark.parametrize(
    ("turn", "language"),
    [("Thanks!", "en"), ("ok, danke", "de"), ("Tschüß!", "de"), ("Merci", "fr"), ("Wo steht das Klavier?", "en")],
)
def test_talk_has_a_language(turn: str, language: str) -> None:
    assert language_of_talk(turn) == language


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "   ",
        "???",
        "why?",
        "and in winter?",
        "Thanks, and in winter?",
        "hello world in C",
        "Who are the Beatles?",
        "What are the sources of vitamin C?",
        "How do you know a melon is ripe?",
        "where is it from?",
        "Are you allowed to repeat a year?",
        "more cowbell",
        "How are tides made?",
        "Is it true that cats have nine lives?",
        "help with asthma",
        "Hilfe bei Asthma",
        "Wie geht der Antrag?",
        "Wie heißt der Vorstand?",
        "Gut, und in Bern?",
    ],
)
def test_questions_are_not_talk(turn: str) -> None:
    assert recognise(turn) is None


def test_no_question_of_the_starter_is_taken_for_talk() -> None:
    greetings = {"what are you", "hi there"}  # two of the nonsense that it must not answer from documents
    titles = [orjson.loads(line)["question"] for line in QUESTIONS.read_bytes().splitlines()]
    assert len(titles) > 800
    assert {title for title in titles if recognise(title)} == greetings


@given(st.text(max_size=2 * LONGEST))
def test_any_text_is_taken_or_left(turn: str) -> None:
    kind = recognise(turn)
    assert kind is None or (len(turn) <= LONGEST and re.search(r"[a-z]", turn, re.IGNORECASE) is not None)
