"""Words of questions and passages: stems, character 4-grams, the language of a question, its asking sentences."""

from __future__ import annotations

import re

from qa_core.text.analysis import sentences, terms
from qa_core.text.analysis import words as folded_words
from qa_core.text.stop_words import word_set

ENGLISH = word_set(
    "a an the of in on at to for and or but is are was were be been being do does did doing has have had having i me "
    "my mine we us our ours you your yours he she it its they them their this that these those there here what which "
    "who whom whose when where why how can could may might must shall should will would if then than so as by with "
    "from into about over up out not no am some any get got s t re ve ll d m don please hi hello thanks just also very "
    "one"
)
GERMAN = word_set(
    "der die das und ist wie wo wen wer wann ich zu im in den dem ein eine einer für auf mit von hat habe viele welche "
    "welcher kommt wird bei nach zahlt hoch stelle rufe wenn"
)
FRENCH = word_set(
    "le la les de des du un une est quel quelle quels combien qui que il faut être par pour sur au aux mon ma en dans "
    "dois je quoi où ne pas et"
)
_STOP_STEMS = frozenset(terms(" ".join(ENGLISH), stop=False))
_STOP_WORDS = ENGLISH | GERMAN | FRENCH
_GERMAN_LETTERS, _FRENCH_LETTERS = re.compile("[äöüß]"), re.compile("[éèêàçù]")
LETTERS_BONUS = 0.15
LEAST_SHARE = 0.12
LONG_QUESTION = 30
GRAM = 4


def words(text: str) -> list[str]:
    """Words in lower case, without their contractions' endings."""
    return [part for word in folded_words(text) for part in word.split("'")]


def stems(text: str) -> list[str]:
    """English stems without stop words."""
    return [stem for stem in terms(text, stop=False) if stem not in _STOP_STEMS]


def character_grams(text: str) -> list[str]:
    """Character 4-grams within words, which bridge typing errors, compounds and inflection of any language."""
    grams: list[str] = []
    for word in words(text):
        if word not in _STOP_WORDS:
            framed = f"_{word}_"
            grams += [framed[at : at + GRAM] for at in range(max(1, len(framed) - GRAM + 1))]
    return grams


def is_english(text: str) -> bool:
    """Whether German and French function words and letters are no more frequent than English words."""
    tokens = words(text)
    shares = {
        name: sum(token in known for token in tokens) / max(1, len(tokens))
        for name, known in (("de", GERMAN), ("fr", FRENCH), ("en", ENGLISH))
    }
    shares["de"] += LETTERS_BONUS * bool(_GERMAN_LETTERS.search(text.lower()))
    shares["fr"] += LETTERS_BONUS * bool(_FRENCH_LETTERS.search(text.lower()))
    foreign = max(shares["de"], shares["fr"])
    return foreign <= LEAST_SHARE or foreign <= shares["en"]


def focus(question: str) -> str:
    """The asking sentences of a long message with the sentence before them; a short question unchanged."""
    parts = [question[start:end] for start, end in sentences(question)]
    asking = [number for number, part in enumerate(parts) if part.endswith("?")]
    if len(question.split()) < LONG_QUESTION or not asking:
        return question
    return " ".join(parts[max(0, asking[0] - 1) : asking[-1] + 1])
