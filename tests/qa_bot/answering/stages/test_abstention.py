"""Reasons of abstentions over a small home: they depend on the question and the documents, and say what to do."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from qa_bot.answering.ask import Readings
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Deadline
from qa_bot.answering.stages.abstention import (
    EMPTY_QUESTION,
    LONG,
    NO_TIME,
    NOTHING_FOUND,
    NOTHING_NAMED,
    demoted_reason,
    reason,
)
from qa_bot.answering.stages.decide import Calibrations
from qa_bot.answering.verification.verify import Cover
from qa_bot.answering.wording.refusals import GERMAN
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder
from qa_core.types import Question
from tests.qa_bot.answering.small_corridor import ask

PAIRS = [
    ("france", "What is the capital of France?", "The capital of France is Paris, on the river Seine."),
    ("plants", "What is photosynthesis?", "Plants turn sunlight, water and carbon dioxide into sugar and oxygen."),
    ("cats", "Why do cats purr?", "Cats purr when they are content, and sometimes when they are in pain."),
    ("rust", "How do I remove rust from a knife?", "Rub it with vinegar and fine steel wool, then dry and oil it."),
    ("rivers", "Which river flows through Cairo?", "The Nile flows through Cairo on its way to the sea."),
]
GERMAN_PAIRS = [
    ("geld", "Kilometergeld", "Das Kilometergeld beträgt 0,30 Euro für jeden Kilometer mit dem eigenen Auto."),
    ("kita", "Gartenordnung", "Der Betriebskindergarten hat einen Garten, den alle Eltern zweimal im Jahr pflegen."),
    ("mühle", "Mahlwerk B2000 reinigen", "Bürsten Sie das Mahlwerk der B2000 jede Woche trocken aus."),
    ("drucker", "Wie richte ich den Drucker P2600DW ein?", "Der P2600DW wird mit einem Kabel eingerichtet."),
]
UNSURE = Calibration((), (), (), (), -1.0, (0.5,), (1.0,))  # confidence σ(−1) = .27
NEARLY = Calibration((), (), (), (), -0.3, (0.5,), (1.0,))  # .43, which gives unsure answers


def opened(folder, pairs, workers, calibration):
    source = folder / "pairs.jsonl"
    source.write_text("\n".join(json.dumps({"id": i, "question": q, "answer": a}) for i, q, a in pairs))
    home, encoder = Home.open(folder / "home"), StaticEncoder.load(ENCODER)
    add(home, Config(), encoder, [source])
    index = Index(Generations(home.index).current())
    return Corridor(index, encoder, Calibrations(*[calibration] * 6), Config(), workers)


@pytest.fixture(scope="module")
def corridor(tmp_path_factory):
    with ThreadPoolExecutor(4) as workers:
        yield opened(tmp_path_factory.mktemp("reasons"), PAIRS, workers, UNSURE)


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    with ThreadPoolExecutor(4) as workers:
        yield opened(tmp_path_factory.mktemp("gründe"), GERMAN_PAIRS, workers, NEARLY)


def reason_for(corridor, title, body="", *, seconds=30.0):
    ranking = corridor.rank(Question(title, body), corridor.start(Deadline.after(seconds)))
    return reason(ranking, corridor.decide(ranking), corridor.index)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("", EMPTY_QUESTION),
        (" \n", EMPTY_QUESTION),
        ("???", NOTHING_NAMED),
        ("what about them then", NOTHING_NAMED),
        (
            "rust from knife 7",
            "None of your documents mentions “knife 7”; leave it out, ask in other words, or add documents "
            "about it. The nearest is “How do I remove rust from a knife?”.",
        ),
        (
            "blorptastic zorps",
            "None of your documents mentions “blorptastic” or “zorps”; ask in other words, or add documents about it.",
        ),
        (
            "why do cats blorp",
            "None of your documents mentions “blorp”; leave it out, ask in other words, or add documents about it. "
            "The nearest is “Why do cats purr?”.",
        ),
        (
            "does everything ever blorp less",  # nothing is left without the word
            "None of your documents mentions “blorp”; ask in other words, or add documents about it.",
        ),
        (
            "what is the capital of Burkina Faso",
            "None of your documents mentions “Burkina Faso”; check how the name is written, or add documents about it.",
        ),
        ("what is photosinthesis", "None of your documents mentions “photosinthesis”; did you mean “photosynthesis”?"),
        (
            "rust",
            "“rust” alone could ask many things; ask a whole question, such as “How do I remove rust from a knife?”.",
        ),
        (
            "what is the capital of Cairo",
            "The nearest document, “Which river flows through Cairo?”, does not mention “capital” and probably does "
            "not answer this (confidence 0.27, needed 0.38); ask in other words or add documents about it.",
        ),
        (
            "Why do cats purr?",
            "The nearest document, “Why do cats purr?”, has every word of the question, but probably does not answer "
            "it (confidence 0.27, needed 0.38); ask in other words or add documents about it.",
        ),
    ],
)
def test_reasons_by_question(corridor, question, expected):
    assert reason_for(corridor, question) == expected


def test_a_long_question_gets_the_advice_to_shorten_it(corridor):
    known = (
        "capital France Paris river Seine plants sunlight water carbon dioxide sugar oxygen cats purr pain rust knife"
    )
    message = reason_for(corridor, "What now", f"{known}. vinegar steel wool oil Nile Cairo sea")
    assert len(known.split()) > LONG
    assert message.startswith("The question says 24 things, and the nearest document, “")
    assert message.endswith("; ask one thing at a time, in one sentence.")


def test_no_time_is_a_reason(corridor):
    assert reason_for(corridor, "why do cats purr", seconds=0.0) == NO_TIME


@pytest.mark.parametrize("stage", ["rank", "verify"])
def test_without_time_to_read_there_is_no_other_reason_than_unknown_words(corridor, stage):
    for question, expected in (("Why do cats purr?", NO_TIME), ("why do cats blorp", "None of your documents")):
        ranking = corridor.rank(Question(question), corridor.start(Deadline.after(30)))
        unread = replace(ranking, skipped=(stage,))
        assert reason(unread, corridor.decide(unread), corridor.index).startswith(expected)


def test_no_candidates_is_a_reason(corridor):
    ranking = corridor.rank(Question("why do cats purr"), corridor.start(Deadline.after(30)), depth=10)
    empty = replace(ranking, candidates=())
    assert reason(empty, corridor.decide(empty), corridor.index) == NOTHING_FOUND


def test_quotations_are_bounded(corridor):
    message = reason_for(corridor, " ".join(["x" * 5000, *(f"zq{n}zq" for n in range(50))]))
    assert len(message) < 300
    assert "or 48 other words; ask" in message


@pytest.mark.parametrize(
    "question", ["我的猫为什么睡觉", "\x00\x01", "a" * 20_000, "🐟🚲🌵", "'’-.'", "<script>alert(1)</script>"]
)
def test_hostile_questions_get_a_sentence(corridor, question):
    assert reason_for(corridor, question).endswith((".", "?"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            (("capital", 0.2), ("Cairo", 1.0)),
            "The nearest passage, in “Which river flows through Cairo?”, says nothing about “capital” and probably does"
            " not answer this (confidence 0.00, needed 0.38); ask in other words or add documents about it.",
        ),
        (
            (("capital", 0.6), ("Cairo", 1.0), ("grass", 0.1)),  # of an earlier question
            "Several passages are about this, and none clearly answers it; the nearest is in “Which river flows "
            "through Cairo?” (confidence 0.27, needed 0.38). Say more exactly what you want to know.",
        ),
        (
            tuple((f"word{number}", 0.0) for number in range(LONG + 1)),
            "The question says 17 things, and the nearest passage, in “Which river flows through Cairo?”, is about 0 "
            "of them; ask one thing at a time, in one sentence.",
        ),
    ],
)
def test_reasons_of_passages_that_were_read(corridor, words, expected):
    ranking = corridor.rank(Question("what is the capital of Cairo"), corridor.start(Deadline.after(30)))
    read = replace(ranking, covers={ranking.candidates[0].passage.id: Cover(0.3, words)})
    assert reason(read, corridor.decide(read), corridor.index) == expected


@pytest.mark.parametrize(
    ("turn", "named"),
    [("und für die Zwerge?", "Keines Ihrer Dokumente erwähnt “Zwerge”;"), ("and in Cairo?", "The nearest document,")],
)
def test_words_of_earlier_questions_and_stop_words_of_the_turn_are_no_reason(corridor, turn, named):
    readings = Readings((turn, f"Do zebras purr on Mondays? {turn}"))
    ranking = corridor.rank(Question(turn), corridor.start(Deadline.after(30)), readings=readings)
    message = reason(ranking, corridor.decide(ranking), corridor.index)
    assert message.startswith(named)
    assert "zebras" not in message


def test_a_passage_about_another_year_is_the_reason(corridor):
    ranking = corridor.rank(Question("Which river flows through Cairo in 2025?"), corridor.start(Deadline.after(30)))
    decision = corridor.decide(ranking)._replace(is_of_others=True)
    read = replace(
        ranking, covers={ranking.candidates[0].passage.id: Cover(0.9, (("2025", 0.9), ("river", 1.0), ("flows", 1.0)))}
    )
    assert reason(read, decision, corridor.index).startswith(
        "The nearest passage, in “Which river flows through Cairo?”, is about another year, version or number"
    )


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (
            "Wann bekomme ich das Blorptastik zurück?",
            "Keines Ihrer Dokumente erwähnt “bekomme … zurück” oder “Blorptastik”; fragen",
        ),
        ("Wie hoch ist der Blorpbeitrag?", "Keines Ihrer Dokumente erwähnt “Blorpbeitrag”; fragen"),
    ],
)
def test_german_verbs_are_quoted_as_typed_and_nouns_are_no_names(corridor, question, start):
    assert reason_for(corridor, question).startswith(start)


def test_a_word_that_is_meant_is_not_missed(corridor):
    ranking = corridor.rank(Question("why do kitties purr"), corridor.start(Deadline.after(30)))
    assert "None of your documents mentions “kitties”" in reason(ranking, corridor.decide(ranking), corridor.index)
    read = replace(ranking, covers={ranking.candidates[0].passage.id: Cover(0.9, (("kitties", 0.9), ("purr", 1.0)))})
    assert reason(read, corridor.decide(read), corridor.index).startswith("Several passages are about this")


def test_a_word_inside_a_compound_of_a_near_document_is_not_unknown(german):
    refusal = reason_for(german, "Hat der Kindergarten ein Blorptastik?")
    assert refusal.startswith("Keines Ihrer Dokumente erwähnt “Blorptastik”;"), "there is a Betriebskindergarten"
    assert "Kindergarten" not in refusal.partition(";")[0]


def test_a_word_whose_synonym_is_in_a_document_is_not_unknown(german):
    refusal = reason_for(german, "Was zahlen Erziehungsberechtigte für das Blorptastik?")
    assert "“Blorptastik”" in refusal
    assert "Erziehungsberechtigte" not in refusal


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Wie schnell sind die Blorptastik und der Zorps?", "Keines Ihrer Dokumente erwähnt “"),
        ("Où est le blorptastique de la ville ?", "Aucun de vos documents ne mentionne “"),
    ],
)
def test_a_refusal_is_in_the_language_of_the_question(corridor, question, expected):
    assert reason_for(corridor, question).startswith(expected)


def test_a_question_of_words_that_dutch_has_too_is_refused_in_german(german):
    refusal = reason_for(german, "Was kostet die Blorptastik M4?")
    assert refusal.startswith("Keines Ihrer Dokumente erwähnt “kostet”, “Blorptastik” oder “M4”;")


def test_one_word_is_answered_in_the_language_of_the_documents(german):
    answer = ask(german, "kilometergeld")
    assert answer.unsure
    assert answer.reason == GERMAN.unsure
    ranking = german.rank(Question("kilometergeld"), german.start(Deadline.after(30)))
    assert demoted_reason(ranking.candidates[0], ranking).startswith("“Kilometergeld” wurde in diesem Gespräch")


@pytest.mark.parametrize(
    ("question", "start"),
    [
        ("P2600 Kabel", "Keines Ihrer Dokumente erwähnt “P2600”; meinten Sie “P2600DW”?"),
        ("wo ist das malwerk", "Keines Ihrer Dokumente erwähnt “malwerk”; meinten Sie “Mahlwerk”?"),
        ("ist das Mahlwerk vom B2000 auch für den B3000", "Keines Ihrer Dokumente erwähnt “B3000”;"),
        ("Wo steht der B3000", "Keines Ihrer Dokumente erwähnt “B3000”;"),
    ],
)
def test_corrections_are_words_as_written_that_the_question_lacks(german, question, start):
    message = reason_for(german, question)
    assert message.startswith(start)
    assert "B2000" not in message.removeprefix(start).partition("Am nächsten")[0]


@pytest.mark.parametrize(
    ("question", "start"),
    [
        (
            "Betriebskindergarten",
            "“Betriebskindergarten” allein kann vieles fragen; stellen Sie eine ganze Frage. Am n",
        ),
        ("der Betriebskindergarten?", "“Betriebskindergarten” allein kann vieles fragen; stellen Sie eine ganze Frage"),
        ("gibt es einen betriebskindergarten", "Das nächste Dokument, “Gartenordnung”, "),
        ("Drucker", "“Drucker” allein kann vieles fragen; stellen Sie eine ganze Frage, etwa “Wie richte ich den D"),
    ],
)
def test_a_bare_word_is_told_to_ask_a_whole_question(german, question, start):
    assert reason_for(german, question).startswith(start)
