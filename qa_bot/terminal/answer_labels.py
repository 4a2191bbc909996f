"""The labels around an answer in a terminal, in the language of the question."""

from __future__ import annotations

from typing import NamedTuple

from qa_bot.answering.wording.refusals import JUDGED, LEAST_WORDS, REFUSALS, Refusals
from qa_core.text.language_detection import language_of
from qa_core.types import Answer


class Labels(NamedTuple):
    """The words for one language; `understood` has a place for the question, `sources` is the plural."""

    understood: str
    source: str
    sources: str
    see_also: str
    nearest: str
    page: str
    slide: str
    row: str
    archived: str
    draft: str
    confidence: str
    skipped: str
    refusals: Refusals


ENGLISH = Labels(
    "understood as “{question}” (/raw asks it as written)",
    "Source", "Sources", "See also", "Nearest documents",
    "page", "slide", "row", "archived", "draft", "confidence", "skipped", REFUSALS["en"],
)  # fmt: skip
LABELS = {
    "en": ENGLISH,
    "de": Labels(
        "verstanden als „{question}“ (/raw fragt es wie geschrieben)",
        "Quelle", "Quellen", "Siehe auch", "Nächste Dokumente",
        "Seite", "Folie", "Zeile", "archiviert", "Entwurf", "Konfidenz", "ausgelassen", REFUSALS["de"],
    ),
    "fr": Labels(
        "compris comme « {question} » (/raw le demande tel quel)",
        "Source", "Sources", "Voir aussi", "Documents les plus proches",
        "page", "diapositive", "ligne", "archivé", "brouillon", "confiance", "omis", REFUSALS["fr"],
    ),
    "es": Labels(
        "entendido como «{question}» (/raw lo pregunta tal cual)",
        "Fuente", "Fuentes", "Véase también", "Documentos más cercanos",
        "página", "diapositiva", "fila", "archivado", "borrador", "confianza", "omitido", REFUSALS["es"],
    ),
    "it": Labels(
        "inteso come «{question}» (/raw lo chiede così com'è)",
        "Fonte", "Fonti", "Vedi anche", "Documenti più vicini",
        "pagina", "diapositiva", "riga", "archiviato", "bozza", "confidenza", "omesso", REFUSALS["it"],
    ),
}  # fmt: skip
"""By the code of the language."""


def labels_for(answer: Answer) -> Labels:
    """The labels in the language of a question, or of its answer if the question has only one or two words."""
    question = answer.question[:JUDGED]
    text = question if len(question.split()) >= LEAST_WORDS else answer.text[:JUDGED] or answer.reason
    language = language_of(text, is_question=text == question) or language_of(answer.text[:JUDGED] or answer.reason)
    return LABELS.get(language, ENGLISH)
