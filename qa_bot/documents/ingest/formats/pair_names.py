"""Names of columns and fields with questions and with answers, in several languages."""

from __future__ import annotations

QUESTIONS = {
    *("q", "question", "questions", "frage", "fragen", "pregunta", "preguntas", "domanda", "domande"),
    *("vraag", "vragen", "pergunta", "perguntas", "fråga", "spørgsmål", "spørsmål", "kysymys", "pytanie"),
    *("вопрос", "質問", "问题"),
}
ANSWERS = {
    *("a", "answer", "answers", "antwort", "antworten", "réponse", "réponses", "reponse", "reponses"),
    *("respuesta", "respuestas", "risposta", "risposte", "antwoord", "antwoorden", "resposta", "respostas"),
    *("svar", "vastaus", "odpowiedź", "ответ", "回答", "答案"),
}
COMPOUNDS = ("frage", "antwort", "vraag", "antwoord")
"""Ends of words that are the names of such columns: "Kundenfrage", "Standardantwort"."""
OTHER_COMPOUNDS = frozenset(["umfrage", "abfrage", "nachfrage", "rückfrage", "anfrage"])
TEXT = ("text", "text:", "title", "titel")
_OTHER_SUBJECTS = "number no no. nr nr. id count total type typ anzahl nummer art of status date datum last next score"
OTHER_SUBJECTS = frozenset(_OTHER_SUBJECTS.split())
"""Words of the names of columns that number, count or date questions."""
MOST_WORDS = 4


def is_named_by(name: str, words: set[str]) -> bool:
    """Whether the name of a column, in lower case, says more than one of the words: "your question", "answer text"."""
    parts = name.split()
    if not 0 < len(parts) <= MOST_WORDS or not OTHER_SUBJECTS.isdisjoint(parts):
        return False
    subject = parts[-2] if len(parts) > 1 and parts[-1] in TEXT else parts[-1]
    is_compound = (
        subject.endswith(tuple(word for word in COMPOUNDS if word in words)) and subject not in OTHER_COMPOUNDS
    )
    return len(subject) > 1 and (subject in words or is_compound)
