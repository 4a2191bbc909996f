"""English function words, with and without contractions; negations, also German ones."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FUNCTION_WORDS = word_set(
    "a about above across after again against ago all almost along already also although always am among an and "
    "another any anybody anyone anything anyway are around as at away back be because been before behind being below "
    "beside besides between beyond both but by can cannot could despite did do does doing done down during each either "
    "else enough etc even ever every everybody everyone everything except few for from further had has have having he "
    "hence her here hers herself him himself his how however i if in indeed instead into is it its itself just least "
    "less lot lots many may maybe me might mine more most much must my myself near neither never no nobody none nor "
    "not nothing now nowhere of off often oh ok okay on once one ones only onto or other others otherwise our ours "
    "ourselves out over own per perhaps please quite rather re really regarding same several shall she should since so "
    "some somebody someone something sometimes somewhere soon still such than thank thanks that the their theirs them "
    "themselves then there therefore these they this those though through throughout thus to together too toward "
    "towards under until unless up upon us very via was we well were what whatever when whenever where wherever "
    "whether which while who whoever whole whom whose why will with within without would yes yet you your yours "
    "yourself yourselves later"
)
_VERBS = "are could did do does had has have is must should was were would"
_PRONOUNS = "i you he she it we they"
STOP_WORDS = (
    FUNCTION_WORDS
    | {f"{verb}n't" for verb in _VERBS.split()}
    | {f"{pronoun}'{ending}" for pronoun in _PRONOUNS.split() for ending in ("d", "ll", "s", "re", "ve", "m")}
)
"""Function words and contractions ("don't", "she's"), in lower case."""

NEGATIONS = word_set(
    "not no never none nothing nobody nowhere neither nor without cannot hardly nicht kein keine keinen keiner keinem "
    "keines nie niemals nichts niemand nirgends ohne"
)
"""Case-folded; "n't" at the end of a word is a negation, too."""
