"""Abbreviations by language, and the words that often start a sentence: what the rules of sentences look up."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from qa_core.text.function_words import function_words
from qa_core.text.stop_words import word_set


class SentenceRules(NamedTuple):
    """Lower-case abbreviations without their last full stop.

    Those of `never` do not end a sentence; those of `seldom`, like initials, end one only before a word of `starters`.
    `pairs` matches spaced abbreviations ("z. B") at the end of a text. With `ordinals` a short number and its full stop
    ("3. Mai") are treated like an initial.
    """

    never: frozenset[str]
    seldom: frozenset[str]
    starters: frozenset[str]
    pairs: re.Pattern[str] | None = None
    ordinals: bool = False


ENGLISH = SentenceRules(
    never=word_set(
        "dr mr mrs ms mx prof sen gov gen col sgt lt capt cmdr rev hon messrs vs cf viz fig figs eq eqs ref refs vol "
        "vols pp approx ca e.g i.e eg ie resp incl esp spp nr nos"
    ),
    seldom=word_set(
        "etc inc ltd co corp jr sr ph.d m.d b.sc m.sc d.c u.s u.k u.n e.u u.s.a a.m p.m b.c a.d est min max avg hr hrs "
        "oz lb lbs ft jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun sp al st mt rep "
        "pres ch sec op eds tel ext ave blvd rd dept univ var subsp"
    ),
    starters=word_set(
        "A An The This That These Those It Its He She They We You I In On At By For From If When While After Before "
        "Although As But And Or So However Also Some Many Most Other Such There Their His Her Our My Your What Why How "
        "Who Where Which Is Are Do Does Can Because Since Unlike To With No Not Each Both Another One"
    ),
)
_EVERYWHERE = "dr mr mrs ms prof vs cf fig figs vol pp ca st ing tel nr max min"
_NEVER = {
    "ca": "sr sra núm pàg art p.ex av",
    "cs": "např tzv tj č čl odst str ul p bc mgr resp cca",
    "da": "f.eks bl.a dvs kl hr fr pkt stk tlf jf evt inkl ekskl vedr",
    "de": "z.b d.h u.a i.d.r o.g u.u v.a z.t bzw nrn abs art aufl bd dipl evtl ggf inkl exkl zzgl abzgl vgl hr hrn fr "
    "str sog abt anm ausg bsp kap lt mind gem geb gegr allg ausschl bes betr bez einschl entspr ff hrsg insb jew mag "
    "östl südl nördl westl rd s.o s.u tel.-nr verf vorm zz ziff jan feb apr aug sept okt nov dez mo di mi fr sa so",
    "es": "ee sr sra srta sres dra d dña ud uds p.ej art arts núm pág págs aprox avda c apdo cap ed lic ing",
    "et": "nt lk nr hr pr tn jne",
    "fi": "esim mm ym klo n ks puh os huom ns tri",
    "fr": "m mm mme mlle p.ex c.-à-d art al av bd chap env ex hab tél adj arr éd réf boul fbg mgr me",
    "hu": "pl ill kb sz u ifj id özv",
    "it": "sig sig.ra sigg dott dott.ssa avv art artt pag pagg n nn es cfr p.es cap ed geom rag on",
    "nl": "dhr mevr mw drs ir bijv b.v bv o.a d.w.z art blz p m.b.t i.v.m t.a.v nl evt incl excl resp jl mr tav zgn",
    "no": "f.eks bl.a dvs kl hr fr pkt stk tlf jf evt inkl ekskl vedr",
    "pl": "np m.in tzn tj ul pkt ust art godz ok str p mgr inż hab dot pt por red al",
    "pt": "sr sra srs dra eng art arts n núm pág págs p.ex aprox exmo exma av fl cap ed lic",
    "ro": "dl dna nr art alin pag str ex",
    "ru": "т.е т.к ул стр рис см напр руб тыс млн млрд им проф г-н г-жа ср табл гл",
    "sv": "t.ex bl.a dvs kl s.k f.n resp ev inkl exkl vard jfr",
    "tr": "örn sn av doç no cad sok",
    "uk": "т.е вул стор рис див напр грн тис млн ім проф",
}
_SELDOM = {
    "cs": "atd apod aj",
    "da": "osv m.m mv mfl",
    "de": "usw etc mio mrd std sek jh jhd u.v.m",
    "es": "etc ee.uu uu s.a s.l",
    "fi": "jne",
    "fr": "etc",
    "hu": "stb",
    "it": "ecc etc s.p.a s.r.l",
    "nl": "enz etc b.v n.v",
    "no": "osv m.m mv",
    "pl": "itd itp zł r",
    "pt": "etc s.a ltda",
    "ru": "т.д т.п др г гг",
    "sv": "osv m.m m.fl",
    "tr": "vb vs",
}
_PAIRS = {
    "de": r"\b(?:z\. ?[BT]|d\. ?h|u\. ?[aU]|i\. ?d\. ?R|o\. ?[gä]|v\. ?a|s\. ?[ou]|i\. ?A|i\. ?V|m\. ?E|z\. ?Hd)$",
    "da": r"\b(?:f\. ?eks|bl\. ?a)$",
    "es": r"\b(?:p\. ?ej)$",
    "fr": r"\b(?:p\. ?ex|c\. ?-?à-?d)$",
    "it": r"\b(?:p\. ?es)$",
    "nl": r"\b(?:d\. ?w\. ?z|o\. ?a|b\. ?v|m\. ?b\. ?t|i\. ?v\. ?m)$",
    "no": r"\b(?:f\. ?eks|bl\. ?a)$",
    "pl": r"\b(?:m\. ?in)$",
    "pt": r"\b(?:p\. ?ex)$",
    "ru": r"\b(?:т\. ?е|т\. ?к)$",
    "sv": r"\b(?:t\. ?ex|bl\. ?a|s\. ?k)$",
}


@cache
def sentence_rules(language: str) -> SentenceRules:
    """The rules of a language (ISO 639-1); those of English if there are no others."""
    if language not in _NEVER:
        return ENGLISH
    seldom = word_set(_SELDOM.get(language, ""))
    return SentenceRules(
        never=word_set(f"{_EVERYWHERE} {_NEVER[language]}") - seldom,
        seldom=seldom | (ENGLISH.seldom - word_set(_NEVER[language])),
        starters=frozenset(word.capitalize() for word in function_words(language)),
        pairs=re.compile(_PAIRS[language]) if language in _PAIRS else None,
        ordinals=language == "de",
    )
