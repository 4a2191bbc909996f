"""Words that tell how a noun is spoken of: people, relations, plurals that stand before nouns."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


PEOPLE = listed(
    "aunt author baby boss boy boyfriend brother child children colleague cousin dad daddy daughter doctor driver "
    "father friend girl girlfriend granddad granddaughter grandfather grandma grandmother grandpa grandson guy "
    "husband inventor kid king lady man men mom mother mum neighbor neighbour nephew niece nurse painter parent "
    "partner patient person player president queen scientist sister son student teacher toddler uncle wife woman "
    "women writer"
)
"""Nouns of which "it" is not said."""
MEN = listed(
    "boy boyfriend brother dad daddy father granddad grandfather grandpa grandson guy husband king man nephew son "
    "tomcat uncle"
)
WOMEN = listed(
    "aunt daughter girl girlfriend granddaughter grandma grandmother lady mom mother mum niece queen sister wife woman"
)
PETS = listed("cat dog hamster horse kitten kitty parrot pet puppy rabbit tomcat")
"""Nouns of which "he", "she" and "it" are said."""
RELATIONS = listed(
    "advantage age argument author benefit capital cause characteristic complication cons cost cure currency danger "
    "definition diagnosis diameter difference disadvantage dose effect evidence example factor feature finding "
    "founder function height history impact importance ingredient inventor key kind language largest length main "
    "meaning member method name origin outlook part people population price principle prognosis pros purpose reason "
    "requirement result risk role sign similarity site size source stage symptom test theme therapy treatment type "
    "use uses vaccine variation way weight"
)
"""Nouns of which one asks "of what?"."""
PLAIN = listed(
    "average best biggest common different early important key likely main major most original other possible "
    "primary typical usual warning"
)
"""Adjectives that make no name of a noun: "the main effect" is of something, "the greenhouse effect" is not."""
NO_NOUNS = listed("afraid alone asleep awake brings early hurts ill late red sore tall")
"""What the rules take for nouns where it stands alone."""
NOUNS_IN_S = listed("arms customs glasses goods operations sales savings sports systems")
"""Plurals that stand before nouns: "a savings account"."""
EPONYMOUS = listed(
    "anaemia anemia ataxia chorea comet constant contracture dementia disease disorder encephalopathy law lymphoma "
    "palsy phenomenon principle sarcoma syndrome theorem tumor tumour"
)
"""What is called after a person: the name belongs to it."""
PERSONS = frozenset(["person", "people", "persons", "human", "humans"])
"""What a graph calls the kind of people."""
PLACES = listed(
    "capital city continent country county district island lake location mountain nation ocean place province region "
    "river sea state territory town village"
)
"""What it calls the kinds of places."""


def is_person(phrase: str) -> bool:
    """Whether the last word of a phrase names people."""
    word = phrase.split()[-1].casefold()
    return word in PEOPLE or word.removesuffix("s") in PEOPLE
