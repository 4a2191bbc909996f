"""Misspelt words of questions, and words that stay."""

import pytest

from qa_bot.answering.spelling import corrected, distance
from qa_bot.bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_bot.home.starter import ENCODER
from qa_core.encoders.static_encoder import StaticEncoder

PAGE = """# Safety

The defibrillator hangs at the reception. A guild of helpers meets each month.

## Leave

Maternity leave has a length of sixteen weeks. Call the ops team in an emergency.
The door shows E07 if it is locked. Guests use the Wi-Fi after they sign up.
"""


@pytest.fixture(scope="module")
def encoder():
    return StaticEncoder.load(ENCODER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("spelling")
    (folder / "page.md").write_text(PAGE)
    add(Home.open(folder / "home"), Config(), encoder, [folder / "page.md"])
    return folder


@pytest.fixture(scope="module")
def index(folder):
    return Index(Generations(Home.open(folder / "home").index).current())


def test_more_passages_are_searched_if_the_first_have_no_near_word(index, encoder, monkeypatch):
    counts = []
    hits = index.keyword_hits

    def counted(query, k, only=None):
        counts.append(k)
        return hits(query, k, only).at(slice(k))

    monkeypatch.setattr(index, "keyword_hits", counted)
    monkeypatch.setattr("qa_bot.answering.spelling.SEARCHED", (0, 2))
    assert corrected("lenght", index, encoder) == "length"
    assert counts == [0, 2]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("were is the defribillator", "were is the defibrillator"),  # a letter at the wrong place
        ("materntiy leave lenght?", "maternity leave length?"),  # swaps
        ("what is a gild", "what is a guild"),  # a letter is missing
        ("matirnety leave", "maternity leave"),  # two errors of a long word
        ("default of OPS_LENGHT_2?", "default of OPS_LENGTH_2?"),  # a part of an identifier
        ("is there wifi before signup", "is there Wi-Fi before sign up"),  # written in two parts
        ("wat lenght have leaves", "wat length have leaves"),  # "wat" is Dutch, but all documents are English
        ("which lenghts", "which length"),  # the documents have only the singular
    ],
)
def test_a_word_that_nothing_knows_becomes_the_nearest_word_of_the_documents(index, encoder, question, meant):
    assert corrected(question, index, encoder) == meant


@pytest.mark.parametrize(
    ("code", "meant"), [("E7", "E07"), ("e007", "e07"), ("E07", "E07"), ("E08", "E08"), ("R07", "R07")]
)
def test_a_code_has_as_many_zeros_as_in_the_documents(index, encoder, code, meant):
    assert corrected(f"what is {code}?", index, encoder) == f"what is {meant}?"


@pytest.mark.parametrize(
    "question",
    [
        "where is the evacuation plan",  # English, though the documents do not have it
        "who is Lenght",  # a name
        "oops, the ops team",  # "ops" has a letter less
        "guild walkie-talkie",  # WordNet has the whole word
        "lingdth of leave",  # two errors, not of vowels alone
        "zzyzx qwrtp",  # nothing is near
        "che lenght in hotel, come si vede",  # Italian, with a word that is English, too
        "Wo ist der Defribillator und wie lange ist er da?",  # German
        "",
        "lenght " * 100,
    ],
)
def test_other_words_stay(index, encoder, question):
    assert corrected(question, index, encoder) == question


GERMAN_PAGE = """# Ausweis

Die Fernleihe kostet wenig. Gruppenräume bucht man für drei Stunden, auch wählen und schalten die Helfer Minuten später.
Ein neues Passwort bekommt, wer seinen Bibliotheksausweis zeigt.

## Bibliothek

Die Öffnungszeiten der Bibliothek stehen an der Tür. Wer seinen Ausweis verloren hat, meldet sich bei der Leitung.
"""


@pytest.fixture(scope="module")
def german_index(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("german")
    (folder / "seite.md").write_text(GERMAN_PAGE)
    add(Home.open(folder / "home"), Config(), encoder, [folder / "seite.md"])
    return Index(Generations(Home.open(folder / "home").index).current())


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("fernlaihe kosten", "fernleihe kosten"),  # ai for ei
        ("Pasword", "passwort"),  # one s, and d for t
        ("grupenraum buchen wie lange", "gruppenräume buchen wie lange"),  # one p, another form
        ("oefnungszeiten der Bibliotek", "öffnungszeiten der bibliothek"),
        ("Ausweiss verlohren, was tun?", "ausweis verloren, was tun?"),
        ("Wer hat meinen Auswies?", "Wer hat meinen ausweis?"),  # swapped letters
        ("Was macht die Letiung?", "Was macht die leitung?"),
    ],
)
def test_german_letters_that_people_confuse_are_corrected(german_index, encoder, question, meant):
    assert corrected(question, german_index, encoder) == meant


@pytest.mark.parametrize(
    "question",
    [
        "Ab wann darf man den Saal mieten?",  # not "minuten"
        "Wir wollen wissen, wer die Schulden der Bibliothek kennt",  # not "wählen" and "schalten"
        "Wer leitet die Bibliothek?",  # the stem of "Leitung"
        "Wer hat einen Ausweisk?",  # no ending of inflection
        "Wer hat Geld für den Bibliothekar?",  # not "Bibliothek"
        "Gibt es ein Gruppenfest?",  # not "Gruppenräume": it ends with "Fest"
        "Où est le pasword de la bibliotek ?",  # French
    ],
)
def test_other_german_words_stay(german_index, encoder, question):
    assert corrected(question, german_index, encoder) == question


@pytest.mark.parametrize(
    ("word", "other", "edits"),
    [
        ("lenght", "length", 1),
        ("gild", "guild", 1),
        ("leaves", "leave", 1),
        ("kitten", "sitting", 3),
        ("", "ab", 2),
        ("same", "same", 0),
    ],
)
def test_edits_by_hand(word, other, edits):
    assert distance(word, other) == edits


def test_the_answer_says_how_the_question_was_understood(folder):
    written, meant = "were does the defribillator hang", "were does the defibrillator hang"
    with Bot.open(folder / "home") as bot:
        alone, turn = bot.ask(written), bot.ask(written, conversation="c")
    assert [(answer.question, answer.understood) for answer in (alone, turn)] == [(written, meant)] * 2


NAMED = """# Machines

## Overview
The Brezza 300 (BZ300) is small. The Brezza 500 (BZ500) is large.

## Descaling
Descale the Brezza 300 every two months, the Brezza 500 every three.

## Devices
Bring Your Own Device (BYOD) is allowed for mail.

## Insurance
Loss of BYOD phones is insured.

## Contract
BYOD phones need a contract. The second factor (MFA) is a code.
"""


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("How do I descale the BZ500?", "How do I descale the Brezza 500?"),
        ("bz300 or BZ500?", "Brezza 300 or Brezza 500?"),
        ("Is bring your own device insured?", "Is BYOD insured?"),
        ("Is BYOD insured?", "Is BYOD insured?"),  # two passages have only this
        ("How do I descale the Brezza 500?", "How do I descale the Brezza 500?"),
        ("Is the Brezza 500 (BZ500) large?", "Is the Brezza 500 (BZ500) large?"),
        ("Is MFA a code?", "Is MFA a code?"),  # the words before it have other initials
        ("How do I descale the BZ700?", "How do I descale the BZ700?"),
    ],
)
def test_a_name_is_the_one_that_more_passages_have(tmp_path, encoder, question, meant):
    (tmp_path / "machines.md").write_text(NAMED)
    home = Home.open(tmp_path / "home")
    add(home, Config(), encoder, [tmp_path / "machines.md"])
    generation = Generations(home.index).current()
    assert generation is not None
    assert corrected(question, Index(generation), encoder) == meant
