"""Refusals, and notices above an answer, in the language of the question; in English if it has no table here."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from functools import cache
from string import Formatter

from qa_core.text.language_detection import language_of

LEAST_WORDS = 3
"""A question of fewer words may be a name in another language."""
JUDGED = 300
"""Characters of a question that tell its language: after the deadline of a long one there is no time for more."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """Sentences with named places; `{start}` is `mentions`, and titles and words come with quotation marks."""

    unknown: str
    unsure: str
    instead: str  # above questions that the documents answer
    from_starter: str
    empty_question: str
    no_time: str
    nothing_found: str
    nothing_in_scope: str
    nothing_named: str
    voted_down: str
    mentions: str
    did_you_mean: str
    check_name: str
    other_words: str
    leave_out: str
    alone: str  # with a title that is a question
    alone_nearest: str  # with another
    too_long: str
    too_long_read: str
    has_every_word: str
    lacks: str
    says_nothing: str
    several: str
    of_others: str
    either: str  # between the last two of several words
    more_words: str


ENGLISH = Refusals(
    unknown="I don't know.",
    unsure="I am not sure, this comes nearest:",
    instead="Your documents answer these:",
    from_starter="Your documents do not answer this; the starter collection, which came with qa-bot, does.",
    empty_question="The question is empty; ask something.",
    no_time="There was no time to find an answer; allow a longer deadline.",
    nothing_found="Nothing in your documents has anything in common with this question; add documents or ask "
    "otherwise.",
    nothing_in_scope="None of the documents that you asked has anything in common with this question; ask others, or "
    "ask otherwise.",
    nothing_named="The question names nothing that could be looked for; say what it is about.",
    voted_down="{title} was voted down in this conversation, and nothing else fits well enough; vote it up to have it "
    "back, ask in other words or add documents.",
    mentions="None of your documents mentions {words}",
    did_you_mean="{start}; did you mean {words}?",
    check_name="{start}; check how the name is written, or add documents about it.",
    other_words="{start}; ask in other words, or add documents about it.",
    leave_out="{start}; leave it out, ask in other words, or add documents about it. The nearest is {title}.",
    alone="{words} alone could ask many things; ask a whole question, such as {title}.",
    alone_nearest="{words} alone could ask many things; ask a whole question. The nearest document is {title}.",
    too_long="The question says {all} things, and the nearest document, {title}, has {some} of them; ask one thing at "
    "a time, in one sentence.",
    too_long_read="The question says {all} things, and the nearest passage, in {title}, is about {some} of them; ask "
    "one thing at a time, in one sentence.",
    has_every_word="The nearest document, {title}, has every word of the question, but probably does not answer it "
    "(confidence {confidence:.2f}, needed {threshold:.2f}); ask in other words or add documents about it.",
    lacks="The nearest document, {title}, does not mention {words} and probably does not answer this "
    "(confidence {confidence:.2f}, needed {threshold:.2f}); ask in other words or add documents about it.",
    says_nothing="The nearest passage, in {title}, says nothing about {words} and probably does not answer this "
    "(confidence {confidence:.2f}, needed {threshold:.2f}); ask in other words or add documents about it.",
    several="Several passages are about this, and none clearly answers it; the nearest is in {title} "
    "(confidence {confidence:.2f}, needed {threshold:.2f}). Say more exactly what you want to know.",
    of_others="The nearest passage, in {title}, is about another year, version or number than the question; ask in "
    "other words or add documents about it.",
    either="or",
    more_words="{count} other words",
)

GERMAN = Refusals(
    unknown="Das weiß ich nicht.",
    unsure="Ich bin nicht sicher, das kommt am nächsten:",
    instead="Das beantworten Ihre Dokumente:",
    from_starter="Ihre Dokumente beantworten das nicht; die Startsammlung, die zu qa-bot gehört, beantwortet es.",
    empty_question="Die Frage ist leer; fragen Sie etwas.",
    no_time="Die Zeit reichte nicht, um eine Antwort zu finden; geben Sie eine längere Frist.",
    nothing_found="Nichts in Ihren Dokumenten hat mit dieser Frage zu tun; fügen Sie Dokumente hinzu oder fragen Sie "
    "anders.",
    nothing_in_scope="Keines der gefragten Dokumente hat mit dieser Frage zu tun; fragen Sie andere, oder "
    "fragen Sie anders.",
    nothing_named="Die Frage nennt nichts, wonach gesucht werden kann; sagen Sie, worum es geht.",
    voted_down="{title} wurde in diesem Gespräch abgelehnt, und nichts anderes passt gut genug; stimmen Sie dafür, um "
    "es zurückzuholen, fragen Sie mit anderen Worten oder fügen Sie Dokumente hinzu.",
    mentions="Keines Ihrer Dokumente erwähnt {words}",
    did_you_mean="{start}; meinten Sie {words}?",
    check_name="{start}; prüfen Sie, wie der Name geschrieben wird, oder fügen Sie Dokumente darüber hinzu.",
    other_words="{start}; fragen Sie mit anderen Worten, oder fügen Sie Dokumente darüber hinzu.",
    leave_out="{start}; lassen Sie es weg, fragen Sie mit anderen Worten, oder fügen Sie Dokumente darüber hinzu. Am "
    "nächsten kommt {title}.",
    alone="{words} allein kann vieles fragen; stellen Sie eine ganze Frage, etwa {title}.",
    alone_nearest="{words} allein kann vieles fragen; stellen Sie eine ganze Frage. Am nächsten kommt {title}.",
    too_long="Die Frage sagt {all} Dinge, und das nächste Dokument, {title}, hat {some} davon; fragen Sie eines nach "
    "dem anderen, in einem Satz.",
    too_long_read="Die Frage sagt {all} Dinge, und die nächste Stelle, in {title}, handelt von {some} davon; fragen "
    "Sie eines nach dem anderen, in einem Satz.",
    has_every_word="Das nächste Dokument, {title}, hat jedes Wort der Frage, beantwortet sie aber wahrscheinlich nicht "
    "(Sicherheit {confidence:.2f}, nötig {threshold:.2f}); fragen Sie mit anderen Worten oder fügen Sie Dokumente "
    "darüber hinzu.",
    lacks="Das nächste Dokument, {title}, erwähnt {words} nicht und beantwortet das wahrscheinlich nicht "
    "(Sicherheit {confidence:.2f}, nötig {threshold:.2f}); fragen Sie mit anderen Worten oder fügen Sie Dokumente "
    "darüber hinzu.",
    says_nothing="Die nächste Stelle, in {title}, sagt nichts über {words} und beantwortet das wahrscheinlich nicht "
    "(Sicherheit {confidence:.2f}, nötig {threshold:.2f}); fragen Sie mit anderen Worten oder fügen Sie Dokumente "
    "darüber hinzu.",
    several="Mehrere Stellen handeln davon, und keine beantwortet es klar; die nächste ist in {title} "
    "(Sicherheit {confidence:.2f}, nötig {threshold:.2f}). Sagen Sie genauer, was Sie wissen wollen.",
    of_others="Die nächste Stelle, in {title}, handelt von einem anderen Jahr, einer anderen Version oder Nummer "
    "als die Frage; fragen Sie mit anderen Worten oder fügen Sie Dokumente darüber hinzu.",
    either="oder",
    more_words="{count} weitere Wörter",
)

FRENCH = Refusals(
    unknown="Je ne sais pas.",
    unsure="Je ne suis pas sûr, voici ce qui s'en approche le plus :",
    instead="Vos documents répondent à ceci :",
    from_starter="Vos documents n'y répondent pas ; la collection de départ, fournie avec qa-bot, y répond.",
    empty_question="La question est vide ; demandez quelque chose.",
    no_time="Le temps a manqué pour trouver une réponse ; accordez un délai plus long.",
    nothing_found="Rien dans vos documents n'a de rapport avec cette question ; ajoutez des documents ou demandez "
    "autrement.",
    nothing_in_scope="Aucun des documents interrogés n'a de rapport avec cette question ; interrogez-en d'autres, ou "
    "demandez autrement.",
    nothing_named="La question ne nomme rien que l'on puisse chercher ; dites de quoi il s'agit.",
    voted_down="{title} a été rejeté dans cette conversation, et rien d'autre ne convient assez ; votez pour le "
    "rétablir, demandez autrement ou ajoutez des documents.",
    mentions="Aucun de vos documents ne mentionne {words}",
    did_you_mean="{start} ; vouliez-vous dire {words} ?",
    check_name="{start} ; vérifiez comment le nom s'écrit, ou ajoutez des documents à ce sujet.",
    other_words="{start} ; demandez en d'autres mots, ou ajoutez des documents à ce sujet.",
    leave_out="{start} ; enlevez-le, demandez en d'autres mots, ou ajoutez des documents à ce sujet. Le plus proche "
    "est {title}.",
    alone="{words} à lui seul peut demander bien des choses ; posez une question entière, par exemple {title}.",
    alone_nearest="{words} à lui seul peut demander bien des choses ; posez une question entière. Le plus proche est "
    "{title}.",
    too_long="La question dit {all} choses, et le document le plus proche, {title}, en a {some} ; demandez une chose à "
    "la fois, en une phrase.",
    too_long_read="La question dit {all} choses, et le passage le plus proche, dans {title}, traite de {some} d'entre "
    "elles ; demandez une chose à la fois, en une phrase.",
    has_every_word="Le document le plus proche, {title}, contient chaque mot de la question, mais n'y répond "
    "probablement pas (confiance {confidence:.2f}, requise {threshold:.2f}) ; demandez en d'autres mots ou ajoutez des "
    "documents à ce sujet.",
    lacks="Le document le plus proche, {title}, ne mentionne pas {words} et n'y répond probablement pas "
    "(confiance {confidence:.2f}, requise {threshold:.2f}) ; demandez en d'autres mots ou ajoutez des documents à ce "
    "sujet.",
    says_nothing="Le passage le plus proche, dans {title}, ne dit rien de {words} et n'y répond probablement pas "
    "(confiance {confidence:.2f}, requise {threshold:.2f}) ; demandez en d'autres mots ou ajoutez des documents à ce "
    "sujet.",
    several="Plusieurs passages en traitent, et aucun n'y répond clairement ; le plus proche est dans {title} "
    "(confiance {confidence:.2f}, requise {threshold:.2f}). Dites plus précisément ce que vous voulez savoir.",
    of_others="Le passage le plus proche, dans {title}, traite d'une autre année, version ou d'un autre numéro que "
    "la question ; demandez en d'autres mots ou ajoutez des documents à ce sujet.",
    either="ou",
    more_words="{count} autres mots",
)

SPANISH = Refusals(
    unknown="No lo sé.",
    unsure="No estoy seguro, esto es lo más cercano:",
    instead="Sus documentos responden a esto:",
    from_starter="Sus documentos no lo responden; la colección inicial, que viene con qa-bot, sí.",
    empty_question="La pregunta está vacía; pregunte algo.",
    no_time="No hubo tiempo para encontrar una respuesta; permita un plazo más largo.",
    nothing_found="Nada en sus documentos tiene que ver con esta pregunta; añada documentos o pregunte de otro modo.",
    nothing_in_scope="Ninguno de los documentos consultados tiene que ver con esta pregunta; consulte otros, o "
    "pregunte de otro modo.",
    nothing_named="La pregunta no nombra nada que se pueda buscar; diga de qué se trata.",
    voted_down="{title} fue rechazado en esta conversación, y nada más encaja lo suficiente; vote a favor para "
    "recuperarlo, pregunte con otras palabras o añada documentos.",
    mentions="Ninguno de sus documentos menciona {words}",
    did_you_mean="{start}; ¿quería decir {words}?",
    check_name="{start}; compruebe cómo se escribe el nombre, o añada documentos sobre ello.",
    other_words="{start}; pregunte con otras palabras, o añada documentos sobre ello.",
    leave_out="{start}; quítelo, pregunte con otras palabras, o añada documentos sobre ello. Lo más cercano es "
    "{title}.",
    alone="{words} por sí solo puede preguntar muchas cosas; haga una pregunta completa, por ejemplo {title}.",
    alone_nearest="{words} por sí solo puede preguntar muchas cosas; haga una pregunta completa. Lo más cercano es "
    "{title}.",
    too_long="La pregunta dice {all} cosas, y el documento más cercano, {title}, tiene {some} de ellas; pregunte una "
    "cosa a la vez, en una frase.",
    too_long_read="La pregunta dice {all} cosas, y el pasaje más cercano, en {title}, trata de {some} de ellas; "
    "pregunte una cosa a la vez, en una frase.",
    has_every_word="El documento más cercano, {title}, tiene cada palabra de la pregunta, pero probablemente no la "
    "responde (confianza {confidence:.2f}, necesaria {threshold:.2f}); pregunte con otras palabras o añada documentos "
    "sobre ello.",
    lacks="El documento más cercano, {title}, no menciona {words} y probablemente no lo responde "
    "(confianza {confidence:.2f}, necesaria {threshold:.2f}); pregunte con otras palabras o añada documentos sobre "
    "ello.",
    says_nothing="El pasaje más cercano, en {title}, no dice nada de {words} y probablemente no lo responde "
    "(confianza {confidence:.2f}, necesaria {threshold:.2f}); pregunte con otras palabras o añada documentos sobre "
    "ello.",
    several="Varios pasajes tratan de esto, y ninguno lo responde claramente; el más cercano está en {title} "
    "(confianza {confidence:.2f}, necesaria {threshold:.2f}). Diga con más exactitud qué quiere saber.",
    of_others="El pasaje más cercano, en {title}, trata de otro año, versión o número que la pregunta; pregunte con "
    "otras palabras o añada documentos sobre ello.",
    either="o",
    more_words="{count} palabras más",
)

ITALIAN = Refusals(
    unknown="Non lo so.",
    unsure="Non sono sicuro, questo è ciò che più si avvicina:",
    instead="I suoi documenti rispondono a questo:",
    from_starter="I suoi documenti non rispondono; la raccolta iniziale, fornita con qa-bot, sì.",
    empty_question="La domanda è vuota; chieda qualcosa.",
    no_time="Non c'è stato tempo per trovare una risposta; conceda un termine più lungo.",
    nothing_found="Nulla nei suoi documenti ha a che fare con questa domanda; aggiunga documenti o chieda in altro "
    "modo.",
    nothing_in_scope="Nessuno dei documenti consultati ha a che fare con questa domanda; ne consulti altri, o chieda "
    "in altro modo.",
    nothing_named="La domanda non nomina nulla che si possa cercare; dica di che cosa si tratta.",
    voted_down="{title} è stato respinto in questa conversazione, e nient'altro è abbastanza adatto; voti a favore per "
    "riaverlo, chieda con altre parole o aggiunga documenti.",
    mentions="Nessuno dei suoi documenti menziona {words}",
    did_you_mean="{start}; intendeva {words}?",
    check_name="{start}; controlli come si scrive il nome, o aggiunga documenti al riguardo.",
    other_words="{start}; chieda con altre parole, o aggiunga documenti al riguardo.",
    leave_out="{start}; lo tolga, chieda con altre parole, o aggiunga documenti al riguardo. Il più vicino è {title}.",
    alone="{words} da solo può chiedere molte cose; faccia una domanda intera, per esempio {title}.",
    alone_nearest="{words} da solo può chiedere molte cose; faccia una domanda intera. Il più vicino è {title}.",
    too_long="La domanda dice {all} cose, e il documento più vicino, {title}, ne ha {some}; chieda una cosa alla "
    "volta, in una frase.",
    too_long_read="La domanda dice {all} cose, e il passo più vicino, in {title}, ne tratta {some}; chieda una cosa "
    "alla volta, in una frase.",
    has_every_word="Il documento più vicino, {title}, ha ogni parola della domanda, ma probabilmente non risponde "
    "(confidenza {confidence:.2f}, richiesta {threshold:.2f}); chieda con altre parole o aggiunga documenti al "
    "riguardo.",
    lacks="Il documento più vicino, {title}, non menziona {words} e probabilmente non risponde "
    "(confidenza {confidence:.2f}, richiesta {threshold:.2f}); chieda con altre parole o aggiunga documenti al "
    "riguardo.",
    says_nothing="Il passo più vicino, in {title}, non dice nulla di {words} e probabilmente non risponde "
    "(confidenza {confidence:.2f}, richiesta {threshold:.2f}); chieda con altre parole o aggiunga documenti al "
    "riguardo.",
    several="Più passi ne trattano, e nessuno risponde chiaramente; il più vicino è in {title} "
    "(confidenza {confidence:.2f}, richiesta {threshold:.2f}). Dica con più precisione che cosa vuole sapere.",
    of_others="Il passo più vicino, in {title}, tratta di un altro anno, versione o numero rispetto alla domanda; "
    "chieda con altre parole o aggiunga documenti in proposito.",
    either="o",
    more_words="altre {count} parole",
)

REFUSALS = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH, "es": SPANISH, "it": ITALIAN}
"""By the code of the language."""
UNKNOWN = tuple(refusals.unknown for refusals in REFUSALS.values())
REMARKS = tuple(remark for refusals in REFUSALS.values() for remark in (refusals.unsure, refusals.from_starter))
"""Sentences before an answer: that it is unsure, or from the starter collection."""


def refusals_for(question: str, likely: str = "en") -> Refusals:
    """The sentences in the language of a question.

    Args:
        likely: the language where two words do not say it.
    """
    head = question[:JUDGED]
    is_short = len(head.split()) < LEAST_WORDS
    return REFUSALS.get(likely if is_short else language_of(head, likely, is_question=True), ENGLISH)


def refusals_of(reason: str) -> Refusals:
    """The sentences of which a reason for no answer is one; the English ones if it is none of them."""
    return next((refusals for part, refusals in _fixed_parts() if part in reason), ENGLISH)


@cache
def _fixed_parts() -> list[tuple[str, Refusals]]:
    """The longest part of each sentence between its places, without mere words."""
    parts = (
        (max((part for part, *_ in Formatter().parse(sentence)), key=len), refusals)
        for refusals in REFUSALS.values()
        for sentence in astuple(refusals)
    )
    return [(part, refusals) for part, refusals in parts if len(part.split()) > 1]
