"""Quoted replies and signatures."""

import pytest

from qa_bot.documents.ingest.formats.mail.quoted_replies import without_quotes

OWN = "Yes, the door is open until six."


@pytest.mark.parametrize(
    "history",
    [
        "On Mon, 3 Mar 2025 at 10:15, Ann Lee <ann@example.org> wrote:\n> When does it close?\n> Ann",
        "On Mon, 3 Mar 2025 at 10:15, Ann Lee\n<ann@example.org>\nwrote:\n\n> When does it close?",
        "Am 03.03.25 um 10:15 schrieb Ann Lee:\n> Wann?",
        "Am Mo., 3. März 2025 um 10:15 Uhr schrieb Ann Lee <ann@example.org>:\n\nWann?",
        "Le lun. 3 mars 2025 à 10:15, Ann Lee <ann@example.org> a écrit :\n> Quand ?",
        "-----Original Message-----\nFrom: Ann\nSent: Monday\nTo: Bob\nSubject: Door\n\nWhen?",
        "-----Ursprüngliche Nachricht-----\nVon: Ann\nWann?",
        "______\nVon: Ann Lee\nGesendet: Montag, 3. März 2025\nAn: Bob\nBetreff: Tür\n\nWann?",
        "**From:** Ann Lee\n**Sent:** Monday\n**To:** Bob\n**Subject:** Door\n\nWhen?",
        "De : Ann\nEnvoyé : lundi\nÀ : Bob\nObjet : Porte\n\nQuand ?",
        "On Wed, Mar 5, 2025, Ann Lee wrote:\n\nWhen?",
        'On 3/5/25, 9:15 AM, "Ann Lee" wrote:\nWhen?',
        "On Wednesday, March 5th, 2025 at 9:15 AM, Ann Lee <ann@example.org> wrote:\nWhen?",
        "On Wed, 2025-03-05 at 09:15 +0100, Ann Lee wrote:\nWhen?",
        "Am 05.03.2025 schrieb Ann Lee:\n\nWann?",
        "El mié, 5 mar 2025 a las 9:15, Ann (<ann@example.org>) escribió:\n¿Cuándo?",
        "El 5 de marzo de 2025, Ann escribió:\n¿Cuándo?",
        "Le 5 mars 2025, Ann a écrit :\nQuand ?",
        "Op wo 5 mrt 2025 om 09:15 schreef Ann <ann@example.org>:\nWanneer?",
        "Op 5 mrt. 2025, om 09:15 heeft Ann <ann@example.org> het volgende geschreven:\nWanneer?",
        "On Wednesday Ann wrote:\n\n> When?",
        "Von: Ann\nDatum: 5. März, 9:15\nAn: Bob\n\nWann?",
        "From: Ann <ann@example.org>\nTo: Bob\nSubject: Door\n\nWhen?",
        "De: Ann\nEnviado el: lunes\nPara: Bob\nAsunto: Puerta\n\n¿Cuándo?",
        "Van: Ann\nVerzonden: maandag\nAan: Bob\nOnderwerp: Deur\n\nWanneer?",
        "**Gesendet:** Montag\n**Von:** Ann\n**An:** Bob\n**Betreff:** Tür\n\nWann?",
        "-- \nBob Ray\nDoor Department",
        "--\nBob Ray",
        "Sent from my iPhone",
        "Von meinem iPhone gesendet",
    ],
)
def test_history_and_signature_are_cut(history):
    assert without_quotes(f"{OWN}\n\n{history}").rstrip("_\n ") == OWN


def test_answers_between_quotations_are_kept():
    text = "On 3 March Ann Lee wrote:\n> When does it close?\nAt six.\n> And when does it open?\n\nAt nine."
    assert without_quotes(text) == "> When does it close?\n\nAt six.\n\n> And when does it open?\n\nAt nine."


def test_an_answer_below_the_whole_mail_stands_alone():
    text = "On 3 March Ann Lee wrote:\n> When does it close?\n> Ann\n\nAt six."
    assert without_quotes(text) == "At six."


def test_long_and_older_quotations_are_cut():
    text = f"> {'x' * 400}\nAt six.\n> Hi,\n>\n> When?\n>> Older.\nAt nine."
    assert without_quotes(text) == "At six.\n\n> When?\n\nAt nine."


@pytest.mark.parametrize(
    "text",
    [
        "> A mail that only quotes\n> is kept whole.",
        "From: here to there it takes an hour.\nThat is long.",
        "On Monday we wrote: a letter. It was long.",
        "The list:\n-- one\n" + "line\n" * 20 + "the end",
        "Hi,\n\nOn Monday the caretaker wrote:\n\nUse the ramp.\n\nSo please do.",
        "Am Dienstag schrieb die Firma:\nNehmt die Rampe.",
        "On page 12 of the guide for 2019 the author wrote:\nUse the ramp.",
        "On Monday we open the yard at 8:15.\nIn the evening Ann wrote:\nUse the ramp.",
        "Our trip:\n\nFrom: Bonn\nTo: Kiel\nDate: 3 June\nSubject: boats\n\nThe bus leaves at nine.",
    ],
)
def test_other_text_is_kept(text):
    assert without_quotes(text) == text


def test_code_that_is_cut_in_two_ends():
    assert (
        without_quotes("Run:\n```\nopen door\nOn 5 May 2024 at 9:15 Ann wrote:\nWhen?\n```")
        == "Run:\n```\nopen door\n```"
    )
    assert without_quotes("Run it.\n\n```\n--\nAnn Lee\n```") == "Run it."
