"""Tables of Tay et al. (2018): HyperQA and its peers in answer selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from qa_lab.papers.computed import answer_statistics
from qa_lab.papers.declarations import (
    NO_DATA,
    Computed,
    Evaluated,
    PaperRow,
    Reported,
    Table,
    Trained,
)

PAPER = {"preset": "paper"}
"""Equation 9 of the paper."""
_QUICK: Mapping[str, Any] = {"pairs": {"epochs": 2}}
_QUESTIONS = 60


class _Set(NamedTuple):
    """A data set: what to train on, what to measure on, and the measures of its table."""

    train: str
    test: str
    measures: Mapping[str, str]


WIKIQA = _Set("wikiqa/train.tsv", "wikiqa/dev.tsv", {"MAP": "AP", "MRR": "RR"})
RAW = _Set("trecqa/train-all.tsv.gz", "trecqa/raw-dev.tsv", {"MAP": "AP", "MRR": "RR"})
CLEAN = _Set("trecqa/train-all.tsv.gz", "trecqa/clean-dev.tsv", {"MAP": "AP", "MRR": "RR"})
ELSEWHERE = ("LSTM", "NTN-LSTM", "CNTN", "ARC-I", "ARC-II", "AI-CNN")
"""Models that the paper measures on data that is not to be had, here on WikiQA."""
PEERS = ("qa-bilstm", "qa-cnn", "ap-bilstm", "ap-cnn")


def _model(data: _Set, model: str = "hyperqa", settings: Mapping[str, Any] | None = None) -> Trained:
    values = {**({"model": model} if model != "hyperqa" else {}), **(settings or {})}
    return Trained("hyperqa", (data.train,), values, _QUICK, _QUESTIONS, dev=data.test)


def _measured(data: _Set, model: str = "hyperqa", settings: Mapping[str, Any] | None = None) -> Evaluated:
    return Evaluated("answers", data.test, "model", data.measures, (_model(data, model, settings),), quick_limit=None)


def _bm25(data: _Set) -> Evaluated:
    return Evaluated("answers", data.test, "BM25", data.measures, quick_limit=None)


def _others(rows: Mapping[str, tuple[float, float]], measures: Sequence[str]) -> list[PaperRow]:
    return [PaperRow(name, dict(zip(measures, figures, strict=True))) for name, figures in rows.items()]


def _hyper(data: _Set, *figures: float) -> list[PaperRow]:
    published = dict(zip(data.measures, figures, strict=True))
    return [
        PaperRow("HyperQA", published, _measured(data), _measured(data, settings=PAPER)),
        PaperRow("CosineQA", {}, _measured(data, "cosineqa")),
        PaperRow("BM25", {}, _bm25(data)),
    ]


def _peers(data: _Set, figures: Mapping[str, tuple[float, float]]) -> list[PaperRow]:
    names = {"qa-bilstm": "QA-BiLSTM", "qa-cnn": "QA-CNN", "ap-bilstm": "AP-BiLSTM", "ap-cnn": "AP-CNN"}
    return [
        PaperRow(names[peer], dict(zip(data.measures, figures.get(peer, ()), strict=False)), _measured(data, peer))
        for peer in PEERS
    ]


def _perspectives(data: _Set, pointwise: tuple[float, float], pairwise: tuple[float, float]) -> list[PaperRow]:
    rows = (("MP-CNN", "mp-cnn", pointwise), ("Rank MP-CNN", "rank-mp-cnn", pairwise))
    return [
        PaperRow(name, dict(zip(data.measures, figures, strict=True)), _measured(data, model))
        for name, model, figures in rows
    ]


_SIZES = ("train questions", "train pairs", "dev questions", "dev pairs")


def _statistics(name: str, published: Mapping[str, float], data: _Set) -> PaperRow:
    return PaperRow(
        name, published, Computed(answer_statistics, (data.train, data.test), {"train": data.train, "dev": data.test})
    )


SETS = Table(
    "H 1",
    "Data sets",
    "YahooCQA and SemEvalCQA are not to be had.",
    _SIZES,
    (
        PaperRow("YahooCQA", {"train pairs": 253_000, "dev pairs": 31_700}, NO_DATA),
        _statistics("WikiQA", {"train pairs": 5_900, "dev pairs": 1_100}, WIKIQA),
        PaperRow("SemEvalCQA", {"train pairs": 36_000, "dev pairs": 2_400}, NO_DATA),
        _statistics("TrecQA", {"train pairs": 53_000, "dev pairs": 1_100}, RAW),
    ),
)

WIKI = Table(
    "H 2",
    "WikiQA",
    "WikiQA's test questions; here its development questions.",
    ("MAP", "MRR"),
    (
        *_others(
            {
                "PV": (0.511, 0.516),
                "PV and counts": (0.599, 0.609),
                "LCLR": (0.599, 0.609),
                "CNN and counts": (0.652, 0.665),
            },
            ("MAP", "MRR"),
        ),
        *_perspectives(WIKIQA, (0.693, 0.709), (0.701, 0.718)),
        *_peers(
            WIKIQA,
            {
                "qa-bilstm": (0.656, 0.670),
                "qa-cnn": (0.670, 0.682),
                "ap-bilstm": (0.671, 0.684),
                "ap-cnn": (0.688, 0.696),
            },
        ),
        *_hyper(WIKIQA, 0.712, 0.727),
        *(PaperRow(name, {}, _measured(WIKIQA, name.lower())) for name in ELSEWHERE),
    ),
)


def _without_data(rows: Mapping[str, tuple[float, float]], measures: Sequence[str]) -> tuple[PaperRow, ...]:
    return tuple(PaperRow(name, dict(zip(measures, row, strict=True)), NO_DATA) for name, row in rows.items())


YAHOO = Table(
    "H 3",
    "YahooCQA",
    "YahooCQA is not to be had; `qa-bot train hyperqa` and `eval answers` read such files.",
    ("P@1", "MRR"),
    _without_data(
        {
            "random": (0.200, 0.457),
            "BM25": (0.225, 0.493),
            "CNN": (0.413, 0.632),
            "CNTN": (0.465, 0.632),
            "LSTM": (0.465, 0.669),
            "NTN-LSTM": (0.545, 0.731),
            "HD-LSTM": (0.557, 0.735),
            "QA-BiLSTM": (0.508, 0.683),
            "QA-CNN": (0.564, 0.727),
            "AP-CNN": (0.560, 0.726),
            "AP-BiLSTM": (0.568, 0.731),
            "HyperQA": (0.683, 0.801),
        },
        ("P@1", "MRR"),
    ),
)

SEMEVAL = Table(
    "H 4",
    "SemEvalCQA",
    "The community threads of SemEval 2016 are not to be had; `train hyperqa` and `eval answers` read them.",
    ("P@1", "MAP"),
    _without_data(
        {
            "ARC-I": (0.741, 0.771),
            "ARC-II": (0.753, 0.780),
            "AP-CNN": (0.755, 0.771),
            "Kelp": (0.751, 0.792),
            "ConvKN": (0.755, 0.777),
            "AI-CNN": (0.763, 0.792),
            "AI-CNN and features": (0.769, 0.801),
            "HyperQA": (0.809, 0.795),
        },
        ("P@1", "MAP"),
    ),
)

TREC_RAW = Table(
    "H 5",
    "TrecQA, raw",
    "TrecQA's test questions; here raw-dev.",
    ("MAP", "MRR"),
    (
        *_others(
            {
                "Wang et al. (2007)": (0.603, 0.685),
                "Heilman and Smith (2010)": (0.609, 0.692),
                "Wang and Manning (2010)": (0.595, 0.695),
                "Yao et al. (2013)": (0.631, 0.748),
                "Severyn and Moschitti (2013)": (0.678, 0.736),
                "Yih et al. (2014)": (0.709, 0.770),
                "CNN (Yu et al.)": (0.711, 0.785),
                "CNN (Severyn and Moschitti)": (0.746, 0.808),
                "aNMM": (0.750, 0.811),
                "HD-LSTM": (0.750, 0.815),
            },
            ("MAP", "MRR"),
        ),
        *_perspectives(RAW, (0.762, 0.822), (0.780, 0.830)),
        *_hyper(RAW, 0.770, 0.825),
    ),
    "BLSTM with BM25 (.713, .791) is in T 6.3.",
)

TREC_CLEAN = Table(
    "H 6",
    "TrecQA, clean",
    "TrecQA's test questions with right and wrong answers; here clean-dev.",
    ("MAP", "MRR"),
    (
        *_perspectives(CLEAN, (0.777, 0.836), (0.801, 0.877)),
        *_peers(CLEAN, {"qa-bilstm": (0.728, 0.832), "ap-cnn": (0.753, 0.851)}),
        *_hyper(CLEAN, 0.784, 0.865),
    ),
)


def _cost(model: str) -> Reported:
    return Reported(
        _model(WIKIQA, model), {"parameters": "parameters", "pairs a second": "pairs_per_second", "MAP": "after/AP"}
    )


SUMMARY = Table(
    "H 7",
    "Size and speed",
    "The paper gives ratios (20 times fewer parameters than AP-BiLSTM, 32 times as fast; as many as AP-CNN, 3 times as "
    "fast). Here the models are trained on WikiQA.",
    ("parameters", "pairs a second", "MAP"),
    (
        PaperRow("HyperQA", {"parameters": 90_000}, _cost("hyperqa")),
        PaperRow("CosineQA", {}, _cost("cosineqa")),
        PaperRow("AP-BiLSTM", {}, _cost("ap-bilstm")),
        PaperRow("AP-CNN", {}, _cost("ap-cnn")),
        PaperRow("AI-CNN", {"parameters": 140_000}, _cost("ai-cnn")),
        PaperRow("MP-CNN", {"parameters": 10_000_000}, _cost("mp-cnn")),
        PaperRow("Rank MP-CNN", {"parameters": 10_000_000}, _cost("rank-mp-cnn")),
    ),
)

TABLES = (SETS, WIKI, YAHOO, SEMEVAL, TREC_RAW, TREC_CLEAN, SUMMARY)
