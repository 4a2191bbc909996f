"""Tables of Wang (2018), chapter 8, and of Chiu and Shinzato (2022): replies, personas, and annotated pairs."""

from __future__ import annotations

from collections.abc import Mapping

from qa_lab.papers.computed import study
from qa_lab.papers.declarations import (
    NO_DATA,
    TRANSFORMER,
    Computed,
    Evaluated,
    PaperRow,
    Reported,
    Table,
    Trained,
)

_DIALOGUES = "dialogue/self_dialogue.jsonl.gz"
_RANKED = {"MRR": "RR", "P@1": "P@1"}


def _ranked(row: str) -> Evaluated:
    model, options = ("voices/base",), {"held_out": 0.05}
    return Evaluated("dialogue", _DIALOGUES, row, _RANKED, model, options=options, limit=1_000, quick_limit=60)


def _direction(name: str, rr: float, success: float, row: str) -> PaperRow:
    return PaperRow(name, {"MRR": rr, "P@1": success}, _ranked(row))


REPLIES = Table(
    "T 8.2",
    "The true reply among 20",
    "Yahoo! Answers is not to be had; here held-out turns of Self-dialogue and the shipped base model.",
    ("MRR", "P@1"),
    (
        _direction("p(T∣S)", 0.224, 0.075, "forward"),
        _direction("p(T∣S) / p(T)", 0.652, 0.524, "forward/LM"),
        _direction("p(S∣T)", 0.687, 0.556, "backward"),
    ),
)

_STUDY = (
    "dialogue/debate_questions.tsv",
    _DIALOGUES,
    *(
        f"dialogue/personas/{name}.{part}.txt.gz"
        for name in ("kennedy-speech", "singer-songwriter", "starwars")
        for part in ("train", "valid")
    ),
)
_SYSTEMS = ("MOS", "style", "topic", "log-perplexity")


def _system(name: str, published: tuple[float, ...], system: str, speaker: str = "kennedy") -> PaperRow:
    figures = dict(zip(_SYSTEMS, published, strict=False))
    return PaperRow(name, figures, Computed(study, _STUDY, {"system": system, "speaker": speaker}))


QUALITY = Table(
    "T 8.3",
    "Quality and style of replies",
    "Mean opinion scores (1 to 5) and the share of replies that judges take for Kennedy's; judges are not to be had. "
    "Ours are automatic: the share by a classifier of style, cosine with the hint, and log-perplexity.",
    _SYSTEMS,
    (
        _system("vanilla sampling", (2.286,), "vanilla"),
        _system("selective sampling", (2.681, 0.1042), "selective"),
        _system("rank", (2.477, 0.2188), "rank"),
        _system("multiply", (2.627, 0.1354), "multiply"),
        _system("finetune", (2.597, 0.2083), "finetune"),
        _system("finetune, cg-ir", (2.627, 0.2031), "finetune+cg-ir"),
        _system("finetune, cg-topic", (2.667, 0.2109), "finetune+cg-topic"),
        _system("songwriter", (2.373,), "songwriter, finetune+cg-topic", "songwriter"),
        _system("Star Wars", (2.677,), "starwars, finetune+cg-topic", "starwars"),
    ),
)

_STEERED = ("style", "topic")


def _steered(name: str, speaker: str, ours: tuple[float, float], base: tuple[float, float]) -> list[PaperRow]:
    system = "finetune+cg-topic" if speaker == "kennedy" else f"{speaker}, finetune+cg-topic"
    rows = {f"{name}, steered": (ours, system), f"{name}, base": (base, "selective")}
    return [
        PaperRow(
            title,
            dict(zip(_STEERED, figures, strict=True)),
            Computed(study, _STUDY, {"system": engine, "speaker": speaker, "only": list(_STEERED)}),
        )
        for title, (figures, engine) in rows.items()
    ]


STEERED = Table(
    "T 8.4",
    "Style and topic of steered replies",
    "Shares of replies that judges take for the persona's, and for related to the hint; judges are not to be had. Ours "
    "are the share by a classifier of style, and the cosine with the hint.",
    _STEERED,
    (
        *_steered("Kennedy", "kennedy", (0.21, 0.33), (0.10, 0.22)),
        *_steered("Star Wars", "starwars", (0.27, 0.14), (0.03, 0.08)),
        *_steered("songwriter", "songwriter", (0.31, 0.17), (0.23, 0.09)),
    ),
)

_MEDQUAD = "medquad/medquad.zip"
_ANNOTATED = Trained(
    "annotate",
    (_MEDQUAD,),
    {"queries": 1200, "cross_pairs": 4000, "threshold": 0.4},
    {"queries": 60, "cross_pairs": 200, "top": 10, "bi": {"epochs": 2}, "tuning": {"epochs": 1}},
    quick_limit=600,
    base=TRANSFORMER,
)
_PUBLISHED = Trained("annotate", (_MEDQUAD,), {"preset": "paper"}, _ANNOTATED.quick, 600, base=TRANSFORMER)
_INSTEAD = "Product titles of an online shop are not to be had; here questions and answers of MedQuAD."


def _labels(name: str, published: Mapping[str, float], measures: Mapping[str, str]) -> PaperRow:
    return PaperRow(name, published, Reported(_ANNOTATED, measures), Reported(_PUBLISHED, measures))


def _accuracy(name: str, published: float, way: str) -> PaperRow:
    return _labels(name, {"accuracy": published}, {"accuracy": f"rows/{way}/Success@1"})


LABELLED = Table(
    "X 2",
    "New queries with given labels",
    _INSTEAD,
    ("accuracy",),
    (
        _accuracy("given labels", 0.7356, "given"),
        _accuracy("given labels ∩ cross-encoder", 0.7575, "intersection"),
    ),
)
UNLABELLED = Table(
    "X 3",
    "New queries without labels",
    _INSTEAD,
    ("accuracy",),
    (_accuracy("first found", 0.6985, "top-1"), _accuracy("cross-encoder", 0.7423, "cross-encoder")),
)


def _queries(name: str, published: int, way: str) -> PaperRow:
    return _labels(name, {"queries": published}, {"queries": f"rows/{way}/queries"})


QUERIES = Table(
    "X 4",
    "Queries with a pair to train on",
    _INSTEAD,
    ("queries",),
    (
        _queries("given labels", 46_160, "given"),
        _queries("cross-encoder", 42_186, "cross-encoder"),
        _queries("given labels ∩ cross-encoder", 36_872, "intersection"),
    ),
)
EXAMPLES = Table(
    "X 5",
    "A pair that the intersection removes",
    "A pair of texts, without figures.",
    ("pairs",),
    (PaperRow("a removed pair", {"pairs": 1}, NO_DATA),),
)
AGREEMENT = Table(
    "X 6",
    "Test queries by the system that is right",
    _INSTEAD,
    ("queries",),
    tuple(
        _labels(name, {"queries": published}, {"queries": f"contrasts/intersection/all/{cell}"})
        for name, published, cell in (
            ("neither", 2_227, "neither"),
            ("only given labels", 196, "only_first"),
            ("only the intersection", 414, "only_second"),
            ("both", 7_154, "both"),
        )
    ),
)

TABLES = (REPLIES, QUALITY, STEERED, LABELLED, UNLABELLED, QUERIES, EXAMPLES, AGREEMENT)
