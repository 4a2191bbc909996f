"""Tables of Wieting et al. (2015): words and phrases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_lab.papers.computed import phrase_error
from qa_lab.papers.declarations import (
    NO_DATA,
    Computed,
    Evaluated,
    Joined,
    PaperRow,
    Table,
    Trained,
)

LEXICON = "paraphrase/ppdb-xl.lexicon.txt.gz"
COMPOUNDS = LEXICON
_LISTS = {"WS353": "ALL", "WS-SIM": "SIM", "WS-REL": "REL"}
_WORDS = ("SL999", *_LISTS)


def _words(row: str, *models: Trained, encoders: tuple[str, ...] = ()) -> Joined:
    """ρ on each list; SimLex-999 is not to be had."""
    return Joined(
        tuple(
            Evaluated(
                "words",
                f"paraphrase/wordsim/EN-WS-353-{part}.txt",
                row,
                {name: "spearman"},
                models,
                encoders=encoders,
                quick_limit=None,
            )
            for name, part in _LISTS.items()
        )
    )


def _paragram(**settings: Any) -> Trained:
    return Trained("paragram", (LEXICON,), settings, {"paragram": {"epochs": 1}}, 20_000)


TEXTS = "qa_pairs/jeopardy.jsonl.gz"


def skip_gram(dimension: int) -> Trained:
    """Word vectors trained on the texts of our data that have most words."""
    settings = {"skip_gram": {"dimension": dimension}}
    return Trained("words", (TEXTS,), settings, {"skip_gram": {"epochs": 2}}, 60_000)


def glove(dimension: int) -> Trained:
    """The same by GloVe."""
    settings = {"model": "glove", "glove": {"dimension": dimension}}
    return Trained("words", (TEXTS,), settings, {"glove": {"epochs": 4}}, 60_000)


_SMALL = {"dimension": 25}
_BY_PAPER = {"similarity": "dot", "sampling": "max", "epochs": 20, "learning_rate": 0.5}


def _paragram_25(*, constraints: bool, published: bool = False) -> Trained:
    settings = {**(_BY_PAPER if published else {}), "constraints": constraints}
    return _paragram(**_SMALL, paragram=settings)


def _small(constraints: bool) -> dict[str, Joined]:
    """25 dimensions, by the settings of the paper and by default."""
    return {
        "default": _words("model", _paragram_25(constraints=constraints)),
        "preset": _words("model", _paragram_25(constraints=constraints, published=True)),
    }


def _published(*figures: float) -> dict[str, float]:
    return dict(zip(_WORDS, figures, strict=False))


_INSTEAD = (
    "SimLex-999 and vectors of Wikipedia or the web are not to be had; here WS-353 and its parts, and the starter's "
    "words as initial vectors."
)
RATINGS = Table(
    "P 1",
    "Ratings of the annotated phrase pairs",
    "Mean deviation of the ratings, and share of the pairs; Annotated-PPDB is not to be had.",
    ("deviation", "share"),
    tuple(
        PaperRow(name, dict(zip(("deviation", "share"), figures, strict=True)), NO_DATA)
        for name, figures in {
            "[1, 2)": (0.66, 0.081),
            "[2, 3)": (1.05, 0.200),
            "[3, 4)": (0.93, 0.349),
            "[4, 5]": (0.59, 0.369),
        }.items()
    ),
)
_AGREED = ("ρ", "κ", "ρ with ML", "ρ within ML")
AGREEMENT = Table(
    "P 2",
    "Agreement of annotators",
    "ML-Paraphrase, which is not to be had.",
    _AGREED,
    tuple(
        PaperRow(name, dict(zip(_AGREED, figures, strict=True)), NO_DATA)
        for name, figures in {
            "JN": (0.87, 0.79, 0.56, 0.52),
            "NN": (0.64, 0.58, 0.38, 0.49),
            "VN": (0.73, 0.73, 0.55, 0.55),
        }.items()
    ),
)
WORDS = Table(
    "P 3",
    "Word similarity, 25 dimensions",
    f"{_INSTEAD} Skip-gram vectors are trained on `jeopardy`.",
    _WORDS,
    (
        PaperRow("skip-gram, 25", _published(0.21), _words("model", skip_gram(25))),
        PaperRow("skip-gram, 1000", _published(0.38), _words("model", skip_gram(1000))),
        PaperRow("paragram, 25", _published(0.56), **_small(False)),
        PaperRow("paragram, 25, constraints", _published(0.58), **_small(True)),
        PaperRow("annotators", _published(0.67), NO_DATA),
        PaperRow("starter's words, 256", {}, _words("starter", encoders=("starter",))),
    ),
)
SENTIMENT = Table(
    "P 4",
    "Sentiment by static vectors",
    "The sentences of the Stanford Sentiment Treebank are not to be had; `qa-bot eval sentiment` reads them.",
    ("accuracy",),
    (
        PaperRow("skip-gram, 25", {"accuracy": 0.770}, NO_DATA),
        PaperRow("skip-gram, 50", {"accuracy": 0.796}, NO_DATA),
        PaperRow("paragram, 25", {"accuracy": 0.809}, NO_DATA),
    ),
)

_KINDS = ("JN", "NN", "VN", "mean")
_BIGRAMS = tuple(f"{data} {kind}" for data in ("ML", "MLP") for kind in _KINDS)


def _bigrams(rows: Mapping[str, tuple[float, ...]]) -> tuple[PaperRow, ...]:
    return tuple(PaperRow(name, dict(zip(_BIGRAMS, figures, strict=False)), NO_DATA) for name, figures in rows.items())


BIGRAMS = Table(
    "P 5",
    "Bigrams by part of speech",
    "The bigrams of Mitchell and Lapata (ML) and their new annotation (MLP) are not to be had; `qa-bot eval phrases` "
    "reads them.",
    _BIGRAMS,
    _bigrams(
        {
            "skip-gram, 25, addition": (0.36, 0.44, 0.36, 0.39, 0.32, 0.35, 0.42, 0.36),
            "paragram, 25, addition": (0.44, 0.34, 0.48, 0.42, 0.50, 0.29, 0.58, 0.46),
            "paragram, 25, recursive": (0.51, 0.40, 0.50, 0.47, 0.57, 0.44, 0.55, 0.52),
        }
    ),
)

_PHRASES = ("ρ", "AUC")
_AUC = {"AUC": "AUC"}
_COMPOUNDS = "Annotated-PPDB is not to be had; here a tenth of PPDB's compounds and mismatched pairs, by AUC."


def _phrases(row: str, *models: Trained) -> Evaluated:
    return Evaluated("phrases", COMPOUNDS, row, _AUC, models, quick_limit=400)


def _sums(vectors: Trained) -> Evaluated:
    """Addition of word vectors; the pairs are those whose words have one."""
    return Evaluated("phrases", COMPOUNDS, "addition", _AUC, encoders=(vectors,), quick_limit=400)


def _network(composition: str, *, published: bool = False) -> Trained:
    settings: dict[str, Any] = {"phrases": {"composition": composition}}
    if published:
        settings["phrases"] |= {"sampling": "max", "epochs": 5, "batch": 2000}
    return Trained("phrases", (COMPOUNDS,), settings, {"phrases": {"epochs": 2}}, None)


def _phrase_row(name: str, rho: float, default: Evaluated | str, preset: Evaluated | None = None) -> PaperRow:
    return PaperRow(name, {"ρ": rho}, default, preset)


PHRASES = Table(
    "P 6",
    "Short phrases",
    _COMPOUNDS,
    _PHRASES,
    (
        _phrase_row("skip-gram, addition", 0.20, _sums(skip_gram(25))),
        _phrase_row(
            "paragram, addition",
            0.32,
            _sums(_paragram_25(constraints=False)),
            _sums(_paragram_25(constraints=False, published=True)),
        ),
        _phrase_row(
            "paragram, recursive",
            0.40,
            _phrases("model", _network("recursive")),
            _phrases("model", _network("recursive", published=True)),
        ),
        _phrase_row("PPDB's own score", 0.25, NO_DATA),
        _phrase_row("word overlap, strict", 0.26, _phrases("word overlap, strict")),
        _phrase_row("word overlap, lemmatised", 0.20, _phrases("word overlap, lemmatised")),
        _phrase_row("ε-SVR on PPDB's features", 0.33, _phrases("ε-SVR on surface features")),
        PaperRow("regression on surface features", {}, _phrases("regression on surface features")),
        PaperRow("starter's words, addition", {}, _phrases("addition, starter")),
        PaperRow("starter's words, addition trained on phrases", {}, _phrases("model", _network("addition"))),
    ),
    "Sums of skip-gram and Paragram vectors of 25 dimensions are measured on the pairs whose words have them. The "
    "recursive network starts from the starter's words. The lexicon has none of PPDB's 33 features: regressions read "
    "surface features, and predict each fold from 260 pairs (ε-SVR) or all pairs of the others.",
)

_ERRORS = ("addition", "recursive")


def _error(part: str, number: int) -> Computed:
    return Computed(
        phrase_error, (COMPOUNDS,), {"data": COMPOUNDS, "model": _network("recursive"), "part": part, "number": number}
    )


BANDS = Table(
    "P 7",
    "Mean absolute error by the gold rating",
    f"{_COMPOUNDS} Its gold has two values, the ends of the scale.",
    _ERRORS,
    tuple(
        PaperRow(name, dict(zip(_ERRORS, published, strict=True)), ours)
        for name, published, ours in (
            ("[1, 2)", (2.35, 2.08), _error("bands", 0)),
            ("[2, 3)", (1.56, 1.38), NO_DATA),
            ("[3, 4)", (0.87, 0.85), NO_DATA),
            ("[4, 5]", (0.43, 0.47), _error("bands", 3)),
        )
    ),
)
SHOWN = Table(
    "P 8",
    "Examples of errors",
    "Texts, without figures: `qa-bot eval phrases --errors` shows errors by kind.",
    ("pairs",),
    (PaperRow("examples", {"pairs": 8}, NO_DATA),),
)

_RATIOS = ("positive", "negative", "both")
_THIRDS = ("lowest third", "middle third", "highest third")
_CHANGES = {
    "length": ((-22.4, 10.0, 35.5), (-9.9, -11.1, -12.2), (-13.0, -6.4, -2.0)),
    "overlap": ((-4.5, 7.0, 19.4), (-11.3, -7.5, -15.0), (-10.6, -5.3, 0.0)),
}
RATIOS = Table(
    "P 9",
    "Change of the error by the recursive network, in per cent, by length and overlap ratio",
    _COMPOUNDS,
    _THIRDS,
    tuple(
        PaperRow(
            f"{part} ratio, {kind}",
            dict(zip(_THIRDS, _CHANGES[part][row], strict=True)),
            Computed(
                phrase_error,
                (COMPOUNDS,),
                {"data": COMPOUNDS, "model": _network("recursive"), "part": part, "kind": kind},
            ),
        )
        for part in _CHANGES
        for row, kind in enumerate(_RATIOS)
    ),
)

_LARGE = _paragram(paragram={"learning_rate": 0.01, "epochs": 1})
_LARGE_BY_PAPER = _paragram(paragram={"sampling": "max", "epochs": 10, "learning_rate": 0.5})
LARGE = Table(
    "P 10",
    "Word similarity, 300 dimensions",
    f"{_INSTEAD} GloVe vectors are trained on `jeopardy`.",
    _WORDS,
    (
        PaperRow("GloVe, 300", _published(0.376, 0.579, 0.630, 0.571), _words("model", glove(300))),
        PaperRow("starter's words, 256", {}, _words("starter", encoders=("starter",))),
        PaperRow(
            "paragram, tuned on WS353",
            _published(0.667, 0.769, 0.814, 0.730),
            _words("model", _LARGE),
            _words("model", _LARGE_BY_PAPER),
        ),
        PaperRow("paragram, tuned on SL999", _published(0.685, 0.720, 0.779, 0.652), NO_DATA),
        PaperRow("annotators", _published(0.67, 0.756), NO_DATA),
    ),
    "Paragram starts from the starter's words, which have 256 dimensions.",
)
LARGE_BIGRAMS = Table(
    "P 11",
    "Bigrams, 300 dimensions",
    "As P 5.",
    _BIGRAMS,
    _bigrams(
        {
            "GloVe, 300, addition": (0.40, 0.46, 0.37, 0.41, 0.39, 0.36, 0.45, 0.40),
            "paragram, tuned on WS353, addition": (0.52, 0.41, 0.49, 0.48, 0.55, 0.42, 0.55, 0.51),
            "paragram, tuned on SL999, addition": (0.51, 0.36, 0.51, 0.46, 0.57, 0.39, 0.59, 0.52),
        }
    ),
)
LARGE_PHRASES = Table(
    "P 12",
    "Short phrases, 300 dimensions",
    _COMPOUNDS,
    _PHRASES,
    (
        _phrase_row("GloVe, addition", 0.27, _sums(glove(300))),
        _phrase_row("paragram, tuned on WS353, addition", 0.43, _sums(_LARGE), _sums(_LARGE_BY_PAPER)),
        _phrase_row("paragram, tuned on SL999, addition", 0.41, NO_DATA),
    ),
)

TABLES = (
    RATINGS,
    AGREEMENT,
    WORDS,
    SENTIMENT,
    BIGRAMS,
    PHRASES,
    BANDS,
    SHOWN,
    RATIOS,
    LARGE,
    LARGE_BIGRAMS,
    LARGE_PHRASES,
)
