"""German and French questions over German and French documents, with the English starter encoder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from qa_bot import Bot
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from qa_core.encoders.static_encoder import StaticEncoder

DOCUMENTS = {
    "urlaub": "Der Urlaubsantrag wird spätestens zwei Wochen vor der Reise gestellt. Die Führungskraft genehmigt ihn.",
    "reisen": "Für Fahrten mit dem eigenen Auto gilt eine Kilometerpauschale von 30 Cent. Belege sind unnötig.",
    "strasse": "Das Büro liegt in der Hauptstraße. Am Empfang werden Gäste mit einem Gruß begrüßt.",
    "kueche": "Die Küche darf von allen benutzt werden. Geräte sind nach der Benutzung zu reinigen.",
    "conges": "Chaque salarié dispose de vingt-sept jours de congés payés. La demande est adressée au responsable.",
    "repas": "Les tickets-restaurant ont une valeur de neuf euros. Ils sont distribués aux employées et aux employés.",
    "trains": "Les déplacements en train sont réservés par le secrétariat. Les frais d'hôtel sont remboursés.",
    "leave": "Every employee has 27 days of annual leave. The request is sent to the manager in the portal.",
    "kitchen": "The kitchen may be used by all. Devices have to be cleaned after use, and dishes go into the washer.",
    "badge": "The badge opens the garage. Lost badges are reported to the reception, which gives out new ones.",
}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory, encoder: StaticEncoder) -> Home:
    """A home with German, French and English documents."""
    folder = tmp_path_factory.mktemp("languages")
    path = folder / "documents.jsonl"
    rows = [{"_id": name, "title": "", "text": text} for name, text in DOCUMENTS.items()]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    home = Home.open(folder / "home")
    add(home, Config(), encoder, [path])
    return home


@pytest.fixture(scope="module")
def bot(mixed: Home) -> Iterator[Bot]:
    with Bot.open(mixed.path) as bot:
        yield bot


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Wie hoch ist die Kilometerpauschale?", "reisen"),
        ("WIE HOCH IST DIE KILOMETERPAUSCHALE", "reisen"),
        ("Wer genehmigt Urlaubsanträge?", "urlaub"),
        ("Wie stelle ich einen Antrag auf Urlaub?", "urlaub"),
        ("Urlaub", "urlaub"),
        ("Pauschale für Kilometer", "reisen"),
        ("Wo ist die Hauptstrasse?", "strasse"),
        ("Gruesse am Empfang", "strasse"),
        ("Grüße am Empfang", "strasse"),
        ("Darf ich die Kueche benutzen?", "kueche"),
        ("Muss man die Küchengeräte reinigen?", "kueche"),
        ("Combien de jours de congé payé ai-je ?", "conges"),
        ("combien de conges payes", "conges"),
        ("Quelle est la valeur d'un ticket-restaurant ?", "repas"),
        ("tickets restaurants pour une employée", "repas"),
        ("Qui réserve le train ?", "trains"),
        ("frais d’hotel", "trains"),
        ("How many days of leave do I get?", "leave"),
        ("May I use the kitchen?", "kitchen"),
        ("my badge is lost", "badge"),
    ],
)
@pytest.mark.parametrize("engine", ["keyword", "hybrid"])
def test_documents_are_found_in_the_language_of_the_question(
    bot: Bot, question: str, document: str, engine: str
) -> None:
    assert bot.search(question, engine=engine)[0].passage.source.document == document


def test_an_answer_names_the_language_of_its_source(bot: Bot) -> None:
    answer = bot.ask("Wie hoch ist die Kilometerpauschale für Fahrten mit dem eigenen Auto?")
    assert answer.answered
    assert (answer.sources[0].document, answer.sources[0].language) == ("reisen", "de")


def test_the_index_counts_passages_by_language(mixed: Home) -> None:
    generation = Generations(mixed.index).current()
    assert generation is not None
    assert Index(generation).languages == {"de": 4, "fr": 3, "en": 3}


def test_reasons_quote_german_words(bot: Bot) -> None:
    answer = bot.ask("Wie hoch ist die Zorbelgebühr?")
    assert not answer.answered
    assert "Zorbelgebühr" in answer.reason


def test_rebuilding_detects_the_languages_of_documents_stored_without(
    empty_home: Home, encoder: StaticEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qa_bot.documents.sync import repair

    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({"_id": "reisen", "text": DOCUMENTS["reisen"]}), encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr("qa_bot.documents.cutting.cut_record.language_of", lambda text, default: "")
        add(empty_home, Config(), encoder, [path])
    languages = [Index(Generations(empty_home.index).current()).languages]
    repair(empty_home, Config(), encoder)
    languages.append(Index(Generations(empty_home.index).current()).languages)
    assert languages == [{"en": 1}, {"de": 1, "en": 0}]
