"""The sentences of small talk and of remarks about answers, in English, German and French."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from qa_bot.answering.scope import Knowledge
from qa_core.text.small_talk import Talk


@dataclass(frozen=True, slots=True)
class Nouns:
    """Singular and plural of what answers come from, as after "from"."""

    document: str
    documents: str
    fact: str
    facts: str
    other: str
    others: str
    owners_first: str  # with the places `{owners}` and `{rest}`
    joined: str
    none: str
    thousands: str

    def count(self, knowledge: Knowledge) -> str:
        """For instance "1,234 documents and 1 fact", or "2 documents of yours, then from 225 others and 1 fact"."""
        documents, facts = (
            (knowledge.documents, self.document, self.documents),
            (knowledge.facts, self.fact, self.facts),
        )
        if not knowledge.further:
            return self._joined(documents, facts)
        rest = self._joined((knowledge.further, self.other, self.others), facts)
        return self.owners_first.format(owners=self._joined(documents), rest=rest)

    def _joined(self, *counts: tuple[int, str, str]) -> str:
        """Numbers with their singular or plural; nothing is not named."""
        parts = [
            f"{count:,} {one if count == 1 else many}".replace(",", self.thousands)
            for count, one, many in counts
            if count
        ]
        return self.joined.join(parts) or self.none


@dataclass(frozen=True, slots=True)
class TalkWording:
    """Sentences with named places; `{knowledge}` is what answers come from."""

    nouns: Nouns
    fixed: Mapping[Talk, str]
    nothing: Mapping[Talk, str]
    """Without an answer that could be repeated, shortened or explained."""
    understood: str
    no_answer: str
    from_graph: str
    taken_from: str
    like_title: str
    has_words: str
    and_also: str
    others: str
    other: str
    how_sure: str
    no_documents: str
    comes_from: str
    further: str
    nearest: str

    def reply(self, talk: Talk, knowledge: Knowledge) -> str:
        """The sentences of small talk that is about no answer."""
        return self.fixed[talk].format(knowledge=self.nouns.count(knowledge))


ENGLISH = TalkWording(
    nouns=Nouns(
        "document",
        "documents",
        "fact",
        "facts",
        "other",
        "others",
        "{owners} of yours, then from {rest}",
        " and ",
        none="documents, of which there are none yet",
        thousands=",",
    ),
    fixed={
        "greeting": "Hello! Ask me something: I answer from {knowledge}, and name my sources.",
        "identity": "I am qa-bot, a program and no person. I answer questions from {knowledge}, and say where each "
        "answer comes from.",
        "abilities": "I answer questions from {knowledge}, and say where each answer comes from. You can go on with a "
        "question such as “and in winter?”, or say “shorter”, “repeat”, “why this answer?” or “more sources”.",
        "farewell": "Goodbye!",
        "thanks": "You're welcome.",
        "wellbeing": "I am well, thank you. What would you like to know?",
        "praise": "All right. Ask on whenever you like.",
        "blame": "I am sorry. Vote the answer down and I will look elsewhere in this conversation, or ask in other "
        "words.",
    },
    nothing={
        "repeat": "There is nothing to repeat yet; ask me something.",
        "shorter": "There is no answer yet to shorten; ask me something.",
        "why": "There is no answer yet to explain; ask me something.",
        "sources": "There is no answer yet that has sources; ask me something.",
    },
    understood="I understood the question as “{question}”.",
    no_answer="I gave no answer.",
    from_graph="The graph says so of {title}:",
    taken_from="It is taken from {title} ({collection}), which fits the question best.",
    like_title="its title is {share} like it in meaning",
    has_words="it has {share} of what the question's words weigh",
    and_also=" and ",
    others="{count} further documents added to it.",
    other="1 further document added to it.",
    how_sure="How sure I am: {share}.",
    no_documents="There are no documents about this.",
    comes_from="The answer comes from:",
    further="Further documents about this:",
    nearest="The nearest documents:",
)

GERMAN = TalkWording(
    nouns=Nouns(
        "Dokument",
        "Dokumenten",
        "Tatsache",
        "Tatsachen",
        "weiteren",
        "weiteren",
        "{owners} von Ihnen, dann aus {rest}",
        " und ",
        none="Dokumenten, noch gibt es keine",
        thousands=".",
    ),
    fixed={
        "greeting": "Hallo! Fragen Sie mich etwas: Ich antworte aus {knowledge} und nenne meine Quellen.",
        "identity": "Ich bin qa-bot, ein Programm und kein Mensch. Ich beantworte Fragen aus {knowledge} und sage, "
        "woher jede Antwort stammt.",
        "abilities": "Ich beantworte Fragen aus {knowledge} und sage, woher jede Antwort stammt. Fragen Sie weiter, "
        "etwa „und im Winter?“, oder sagen Sie „kürzer“, „noch einmal“, „warum diese Antwort?“ oder „mehr Quellen“.",
        "farewell": "Auf Wiedersehen!",
        "thanks": "Gern geschehen.",
        "wellbeing": "Danke, gut. Was möchten Sie wissen?",
        "praise": "Gut. Fragen Sie gern weiter.",
        "blame": "Das tut mir leid. Stimmen Sie gegen die Antwort, dann suche ich in diesem Gespräch woanders, oder "
        "fragen Sie mit anderen Worten.",
    },
    nothing={
        "repeat": "Es gibt noch nichts zu wiederholen; fragen Sie mich etwas.",
        "shorter": "Es gibt noch keine Antwort zu kürzen; fragen Sie mich etwas.",
        "why": "Es gibt noch keine Antwort zu erklären; fragen Sie mich etwas.",
        "sources": "Es gibt noch keine Antwort mit Quellen; fragen Sie mich etwas.",
    },
    understood="Ich habe die Frage als „{question}“ verstanden.",
    no_answer="Ich habe keine Antwort gegeben.",
    from_graph="Der Graph sagt das über {title}:",
    taken_from="Die Antwort steht in {title} ({collection}); das passt am besten zur Frage.",
    like_title="der Titel ist der Bedeutung nach zu {share} ähnlich",
    has_words="darin steht {share} von dem, was die Wörter der Frage wiegen",
    and_also=" und ",
    others="{count} weitere Dokumente haben dazu beigetragen.",
    other="Ein weiteres Dokument hat dazu beigetragen.",
    how_sure="So sicher bin ich: {share}.",
    no_documents="Dazu gibt es keine Dokumente.",
    comes_from="Die Antwort stammt aus:",
    further="Weitere Dokumente dazu:",
    nearest="Die nächsten Dokumente:",
)

FRENCH = TalkWording(
    nouns=Nouns(
        "document",
        "documents",
        "fait",
        "faits",
        "autre",
        "autres",
        "{owners} à vous, puis de {rest}",
        " et ",
        none="documents, il n'y en a pas encore",
        thousands=" ",
    ),
    fixed={
        "greeting": "Bonjour ! Posez-moi une question : je réponds à partir de {knowledge} et je cite mes sources.",
        "identity": "Je suis qa-bot, un programme et non une personne. Je réponds aux questions à partir de "
        "{knowledge}, et je dis d'où vient chaque réponse.",
        "abilities": "Je réponds aux questions à partir de {knowledge}, et je dis d'où vient chaque réponse. "
        "Continuez, par exemple par « et en hiver ? », ou dites « plus court », « encore une fois », "
        "« pourquoi cette réponse ? » ou « plus de sources ».",
        "farewell": "Au revoir !",
        "thanks": "Je vous en prie.",
        "wellbeing": "Je vais bien, merci. Que voulez-vous savoir ?",
        "praise": "Bien. Continuez quand vous voulez.",
        "blame": "Je suis désolé. Votez contre la réponse et je chercherai ailleurs dans cette conversation, ou "
        "demandez en d'autres mots.",
    },
    nothing={
        "repeat": "Il n'y a encore rien à répéter ; posez-moi une question.",
        "shorter": "Il n'y a encore aucune réponse à raccourcir ; posez-moi une question.",
        "why": "Il n'y a encore aucune réponse à expliquer ; posez-moi une question.",
        "sources": "Il n'y a encore aucune réponse avec des sources ; posez-moi une question.",
    },
    understood="J'ai compris la question ainsi : « {question} ».",
    no_answer="Je n'ai pas donné de réponse.",
    from_graph="Le graphe le dit de {title} :",
    taken_from="La réponse vient de {title} ({collection}), qui convient le mieux à la question.",
    like_title="son titre lui ressemble par le sens à {share}",
    has_words="il contient {share} du poids des mots de la question",
    and_also=" et ",
    others="{count} autres documents y ont contribué.",
    other="Un autre document y a contribué.",
    how_sure="Ma certitude : {share}.",
    no_documents="Aucun document n'en parle.",
    comes_from="La réponse vient de :",
    further="Autres documents à ce sujet :",
    nearest="Les documents les plus proches :",
)

WORDINGS = {"en": ENGLISH, "de": GERMAN, "fr": FRENCH}


def wording_of(language: str) -> TalkWording:
    """The sentences in a language; in English if it has none here."""
    return WORDINGS.get(language, ENGLISH)
