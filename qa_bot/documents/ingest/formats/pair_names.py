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
