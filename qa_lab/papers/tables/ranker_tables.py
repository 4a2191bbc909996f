"""Tables of Wang (2018), chapters 5 to 7: paraphrase, answer selection, and whole answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_lab.papers.declarations import NO_DATA, NOT_IMPLEMENTED, Evaluated, PaperRow, Table, Trained

ACCURACY = {"accuracy": "accuracy"}
MAP_MRR = {"MAP": "AP", "MRR": "RR"}
TRECQA, TRECQA_DEV = "trecqa/train-all.tsv.gz", "trecqa/raw-dev.tsv"
QUORA = "quora/dev.tsv"
LIVEQA = {"avg-score": "avg_score"} | {f"{name}@{i}+": f"{name}@{i}+" for name in ("succ", "prec") for i in (2, 3, 4)}
PUBLISHED_SYSTEM = {"ranking.formula": "thesis"}
"""The corridor as in Wang (2018), ch. 7."""
_FEW = 10
"""Questions of TrecQA with `--quick`; each has about 40 answers to train on."""
_HELD_OUT = 0.1


def _entailment(**settings: Any) -> Evaluated:
    quick = {"training": {"epochs": 1, "batch": 100, "identical": 100}}
    model = Trained("entailment", (QUORA,), {"test": _HELD_OUT, **settings}, quick, 1_000)
    return Evaluated("paraphrase", QUORA, "model", ACCURACY, (model,), options={"held_out": _HELD_OUT})


def _answers(row: str, *models: Trained, encoders: tuple[str, ...] = ()) -> Evaluated:
    return Evaluated("answers", TRECQA_DEV, row, MAP_MRR, models, encoders=encoders, quick_limit=20)


def _blstm(settings: Mapping[str, Any]) -> Evaluated:
    quick = {"training": {"pointwise": {"epochs": 1}}}
    model = Trained("blstm", (TRECQA,), settings, quick, _FEW, dev=TRECQA_DEV, quick_dev="0.3")
    return _answers("model", model)


def _layers(number: int, use: str, *, both_ways: bool = True) -> dict[str, Evaluated]:
    """By the paper's sizes and by ours."""
    network = {"layers": number, "bidirectional": both_ways}
    return {
        "preset": _blstm({"preset": "paper", "use": use, "network": network}),
        "default": _blstm({"use": use, "network": network}),
    }


def _liveqa(*, published: bool = False) -> Evaluated:
    home = PUBLISHED_SYSTEM if published else {}
    return Evaluated("liveqa", "liveqa_med", "hybrid", LIVEQA, engines=("hybrid",), home=home, quick_limit=20)


def _published(*figures: float) -> dict[str, float]:
    return dict(zip(LIVEQA, figures, strict=True))


def _without(rows: Mapping[str, Any], reason: str, *measures: str) -> tuple[PaperRow, ...]:
    """Rows that are not measured, each with a figure or several."""
    values = {name: value if isinstance(value, tuple) else (value,) for name, value in rows.items()}
    return tuple(PaperRow(name, dict(zip(measures, value, strict=False)), reason) for name, value in values.items())


PARAPHRASE = Table(
    "T 5.1",
    "Questions that ask the same",
    "Quora, 384,000 pairs to train on; here the published development set of 10,000 pairs, a tenth of its questions "
    "held out and the others to train on.",
    ("accuracy",),
    (
        PaperRow("Siamese-CNN", {"accuracy": 0.7960}, _entailment(model="siamese-cnn")),
        PaperRow("multi-perspective CNN", {"accuracy": 0.8138}, _entailment(model="multi-perspective-cnn")),
        PaperRow("Siamese-LSTM", {"accuracy": 0.8258}, _entailment(model="siamese")),
        PaperRow("multi-perspective LSTM", {"accuracy": 0.8321}, _entailment(model="multi-perspective")),
        PaperRow("L.D.C.", {"accuracy": 0.8555}, _entailment(model="ldc")),
        PaperRow("BiMPM", {"accuracy": 0.8817}, _entailment(model="bimpm")),
        PaperRow("pt-DECATT, words", {"accuracy": 0.8754}, _entailment(model="decomposable")),
        PaperRow("pt-DECATT, characters", {"accuracy": 0.8840}),
        PaperRow("neural dual entailment", {"accuracy": 0.8892}, _entailment(), _entailment(preset="paper")),
        PaperRow(
            "starter encoder, cosine",
            {},
            Evaluated("paraphrase", QUORA, "starter", ACCURACY, options={"held_out": _HELD_OUT}),
        ),
    ),
)

PRIOR = Table(
    "T 6.2",
    "Prior work on answer selection",
    "TrecQA. The rows are figures of other papers.",
    ("MAP", "MRR"),
    _without(
        {
            "random": (0.3965, 0.4929),
            "Wang et al. (2007)": (0.6029, 0.6852),
            "Heilman and Smith (2010)": (0.6091, 0.6917),
            "Wang and Manning (2010)": (0.5951, 0.6951),
            "Yao et al. (2013)": (0.6307, 0.7477),
            "Severyn and Moschitti (2013)": (0.6781, 0.7358),
            "Yih et al. (2013), BDT": (0.6940, 0.7894),
            "Yih et al. (2013), LCLR": (0.7092, 0.7700),
        },
        NOT_IMPLEMENTED,
        "MAP",
        "MRR",
    ),
)

SELECTION = Table(
    "T 6.3",
    "Answer selection",
    "TrecQA's test questions, by the protocol of that time (`--keep short`); here raw-dev, questions with both labels.",
    ("MAP", "MRR"),
    (
        PaperRow("BM25", {"MAP": 0.6370, "MRR": 0.7076}, _answers("BM25")),
        PaperRow("LSTM, one layer", {"MAP": 0.5302, "MRR": 0.5956}, **_layers(1, "network", both_ways=False)),
        PaperRow("BLSTM, one layer", {"MAP": 0.5636, "MRR": 0.6304}, **_layers(1, "network")),
        PaperRow("BLSTM, three layers", {"MAP": 0.5928, "MRR": 0.6721}, **_layers(3, "network")),
        PaperRow("BLSTM, three layers, and BM25", {"MAP": 0.7134, "MRR": 0.7913}, **_layers(3, "stacked")),
        PaperRow("starter encoder, cosine", {}, _answers("starter", encoders=("starter",))),
    ),
)


def _likelihood(limit: int, **settings: str) -> Trained:
    quick = {"training": {"epochs": 1}}
    return Trained("encoder-decoder", ("wikiqa/train.tsv",), settings, quick, limit, dev="wikiqa/dev.tsv")


_LIKELIHOOD = _likelihood(200, pretrained="starter")
_LIKELIHOOD_PAPER = _likelihood(60, preset="paper")


def _reranked(row: str, model: Trained = _LIKELIHOOD) -> Evaluated:
    grades = [("2+", 2), ("3+", 3), ("4+", 4)]
    names = {f"{ours}@{name}": f"{inner}@{i}+" for ours, inner in (("MAP", "AP"), ("MRR", "RR")) for name, i in grades}
    measures = {"nDCG": "nDCG@10", **names}
    return Evaluated("liveqa", "liveqa_med", row, measures, (model,), quick_limit=20)


def _rerank_figures(*figures: float) -> dict[str, float]:
    return dict(zip(RERANKED_MEASURES, figures, strict=True))


RERANKED_MEASURES = ("nDCG", "MAP@2+", "MAP@3+", "MAP@4+", "MRR@2+", "MRR@3+", "MRR@4+")
RERANKED = Table(
    "T 6.5",
    "Re-ranking of submitted answers",
    "Answers to TREC LiveQA 2015, whose judgements are not to be had; here the first documents of the pipeline for "
    "LiveQA-Med. nDCG is at 10. The encoder-decoder learns from WikiQA's right answers instead of 4.4 million pairs.",
    RERANKED_MEASURES,
    (
        PaperRow(
            "lower bound",
            _rerank_figures(0.3924, 0.2225, 0.1232, 0.0519, 0.0800, 0.0524, 0.0274),
            _reranked("lower bound"),
        ),
        PaperRow(
            "upper bound",
            _rerank_figures(1.0, 1.0, 0.7977, 0.4668, 1.0, 0.7977, 0.4668),
            _reranked("upper bound"),
        ),
        PaperRow("BM25", _rerank_figures(0.5636, 0.4307, 0.2631, 0.1205, 0.4303, 0.2555, 0.1174), _reranked("bm25")),
        PaperRow(
            "encoder-decoder",
            _rerank_figures(0.6346, 0.5124, 0.3390, 0.1657, 0.5645, 0.3672, 0.1779),
            _reranked("model"),
            _reranked("model", _LIKELIHOOD_PAPER),
        ),
        PaperRow("pipeline", {}, _reranked("pipeline")),
    ),
)

_SITE = {"R@100": "R@100", "P@1": "P@1", "MRR": "RR"}


def _known_item(engine: str, home: Mapping[str, object] | None = None) -> Evaluated:
    return Evaluated(
        "known-item", "medquad/medquad.zip", engine, _SITE, engines=(engine,), home=home or {}, quick_limit=50
    )


KNOWN_ITEM = Table(
    "T 7.1",
    "Known-item search",
    "1,000 questions of Yahoo! Answers, not to be had; here unique titles of MedQuAD. BM25 of every word replaces "
    "the search of the site. Recall is at 100.",
    ("R@100", "P@1", "MRR"),
    (
        PaperRow("search of the site", {"R@100": 0.8464, "P@1": 0.5873, "MRR": 0.6434}, _known_item("plain")),
        PaperRow(
            "clue retrieval and ranking",
            {"R@100": 0.9100, "P@1": 0.8950, "MRR": 0.9008},
            _known_item("hybrid"),
            _known_item("hybrid", PUBLISHED_SYSTEM),
        ),
    ),
)


def _track(number: str, year: str, others: tuple[str, Mapping[str, float]], ours: Mapping[str, float]) -> Table:
    return Table(
        f"T {number}",
        f"TREC LiveQA {year}",
        f"The judgements of {year} are not to be had; here the development questions of LiveQA-Med 2017.",
        tuple(LIVEQA),
        (PaperRow(*others, NO_DATA), PaperRow("the system", ours, _liveqa(), _liveqa(published=True))),
    )


TRACK_2015 = _track(
    "7.2",
    "2015",
    ("mean of all runs", _published(0.465, 0.262, 0.146, 0.060, 0.284, 0.159, 0.065)),
    _published(1.081, 0.532, 0.359, 0.190, 0.543, 0.367, 0.195),
)
TRACK_2016 = _track(
    "7.3",
    "2016",
    ("mean of all runs", _published(0.5766, 0.3042, 0.1898, 0.0856, 0.3919, 0.2429, 0.1080)),
    _published(1.1547, 0.5606, 0.3951, 0.1990, 0.5964, 0.4203, 0.2117),
)
TRACK_2017 = Table(
    "T 7.4",
    "TREC LiveQA 2017",
    "Main and medical questions of 2017. The main ones are not to be had; the medical ones are the development "
    "questions of LiveQA-Med, over MedQuAD instead of the web.",
    tuple(LIVEQA),
    (
        PaperRow("medical, median", _published(0.417, 0.245, 0.142, 0.059, 0.331, 0.178, 0.078), NO_DATA),
        PaperRow(
            "medical, the system",
            _published(0.637, 0.392, 0.265, 0.098, 0.404, 0.273, 0.101),
            _liveqa(),
            _liveqa(published=True),
        ),
        PaperRow("main, median", _published(0.777, 0.421, 0.250, 0.126, 0.482, 0.286, 0.144), NO_DATA),
        PaperRow("main, the system", _published(1.139, 0.567, 0.387, 0.198, 0.577, 0.393, 0.201), NO_DATA),
    ),
)

_PREFERENCES = ("people", "tie", "system")
_JUDGES = "needs judges: `qa-bot compare`"


def _preferences(number: str, title: str, rows: Mapping[str, tuple[float, float, float]]) -> Table:
    made = tuple(PaperRow(name, dict(zip(_PREFERENCES, row, strict=True)), _JUDGES) for name, row in rows.items())
    data = "Shares of preferences of three judges a question, by grade; replies of Yahoo! Answers are not to be had."
    return Table(f"T {number}", title, data, _PREFERENCES, made)


FIRST_REPLY = _preferences(
    "7.5",
    "The first reply of people against the system",
    {
        "grade 1": (0.31, 0.47, 0.22),
        "grade 2": (0.12, 0.52, 0.35),
        "grade 3": (0.17, 0.38, 0.45),
        "grade 4": (0.12, 0.46, 0.43),
        "all": (0.21, 0.46, 0.33),
    },
)
BEST_REPLY = _preferences(
    "7.6",
    "The asker's best answer against the system",
    {
        "grade 1": (0.62, 0.31, 0.07),
        "grade 2": (0.58, 0.37, 0.05),
        "grade 3": (0.27, 0.54, 0.20),
        "grade 4": (0.20, 0.55, 0.25),
        "all": (0.44, 0.43, 0.14),
    },
)

TABLES = (
    PARAPHRASE,
    PRIOR,
    SELECTION,
    RERANKED,
    KNOWN_ITEM,
    TRACK_2015,
    TRACK_2016,
    TRACK_2017,
    FIRST_REPLY,
    BEST_REPLY,
)
