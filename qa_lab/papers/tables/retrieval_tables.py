"""Tables of Wang (2018), chapters 3 and 4, and of Gillick et al. (2018): retrieval, relations, similar questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from qa_lab.papers.computed import (
    by_vocabulary,
    community,
    compared_relations,
    manner,
    mined_relations,
    mining,
    question_statistics,
)
from qa_lab.papers.declarations import (
    NO_DATA,
    Computed,
    Evaluated,
    Joined,
    PaperRow,
    Table,
    Trained,
)
from qa_lab.papers.tables.word_tables import glove, skip_gram

COMMUNITY_SETS = (
    "qa_pairs/open_qa.jsonl.gz",
    "qa_pairs/opentriviaqa.jsonl.gz",
    "qa_pairs/squad_sentences.jsonl.gz",
    "qa_pairs/medical_forum.jsonl.gz",
    "medquad/medquad.zip",
)
_COMMUNITY = ("S@1", "MRR@1K", "R@10", "R@100", "R@1K")


def _community(row: str, *, paper: bool = False) -> Computed:
    return Computed(community, COMMUNITY_SETS, {"row": row, **({"paper": True} if paper else {})})


def _line(name: str, figures: tuple[float, ...], row: str, *, sized: bool = True) -> PaperRow:
    published = dict(zip(_COMMUNITY, figures, strict=True)) if figures else {}
    return PaperRow(name, published, _community(row), _community(row, paper=True) if sized else None)


COMMUNITY = Table(
    "T 3.1",
    "Community question answering",
    "Yahoo! Answers is not to be had; here questions of five sets and the answers of all held-out questions. Whole "
    "rows have 60,000 pairs, 3,000 questions, and about 300 steps for what is trained; the paper trains on millions of "
    "pairs.",
    _COMMUNITY,
    (
        _line("BM25", (0.215, 0.258, 0.338, 0.452, 0.560), "bm25", sized=False),
        _line("RM3", (0.178, 0.224, 0.316, 0.435, 0.557), "rm3", sized=False),
        _line("NMT", (0.186, 0.230, 0.313, 0.444, 0.570), "nmt"),
        _line("triplet", (0.008, 0.018, 0.033, 0.128, 0.401), "triplet"),
        _line("softmax", (0.020, 0.040, 0.075, 0.236, 0.553), "softmax-20"),
        _line("SLAM, 20 negatives", (0.131, 0.191, 0.307, 0.555, 0.792), "slam-20"),
        _line("SLAM, 200 negatives", (0.288, 0.367, 0.523, 0.739, 0.873), "slam-200"),
        _line("SLAM, 2000 negatives", (0.371, 0.442, 0.590, 0.758, 0.878), "slam-2000"),
        _line("the starter's table", (), "starter", sized=False),
        _line("the starter's table, SLAM, 2000 negatives", (), "starter-slam", sized=False),
    ),
)

_PARTS = ("in vocabulary", "out of it", "all")


def _fused(row: str) -> Computed:
    return Computed(by_vocabulary, COMMUNITY_SETS, {"row": row, "dense": "starter-slam"})


VOCABULARY = Table(
    "T 3.2",
    "R@1K by whether all words of a question are known",
    "MS MARCO is not to be had; here the questions of T 3.1 and the trained table of the starter.",
    _PARTS,
    (
        PaperRow("dense", dict(zip(_PARTS, (0.8685, 0.3621, 0.7619), strict=True)), _fused("starter-slam")),
        PaperRow("BM25", dict(zip(("in vocabulary", "all"), (0.8346, 0.8578), strict=True)), _fused("bm25")),
        PaperRow("in-vocabulary rule", dict(zip(_PARTS, (0.9234, 0.9201, 0.9227), strict=True)), _fused("hybrid")),
        PaperRow("reciprocal rank", {}, _fused("fused")),
    ),
)

_GRAPH = (
    "kg/fb15k237.nt.gz",
    "kg/fb15k237.labels.nt.gz",
    "qa_pairs/open_qa.jsonl.gz",
    "qa_pairs/jeopardy.jsonl.gz",
    "relations/sq.valid.withpool.tsv",
    "relations/sq.relations.txt",
)
_COUNTS = ("pairs", "mappings", "mappings that share a word", "relations of the questions", "of them in mappings")

MAPPINGS = Table(
    "T 4.1",
    "Templates mined without labels",
    "Ten million pairs and two million entities of Freebase; here FB15k-237 with pairs of `open_qa` and `jeopardy`, "
    "and paths of one step. The last column, which the paper does not have, is the most that any mining can find.",
    (*_COUNTS, "of them in the graph"),
    (
        PaperRow(
            "mining",
            dict(zip(_COUNTS, (10_704_262, 4_407_295, 229_393, 1_034, 905), strict=True)),
            Computed(mining, _GRAPH, {"paper": False}),
            Computed(mining, _GRAPH, {"paper": True}),
        ),
    ),
)

_POOLS = "relations/sq.valid.withpool.tsv"
_NAMES = {"relations": "relations/sq.relations.txt"}


def _relations(row: str, *models: Trained, encoders: tuple[str, ...] = ()) -> Evaluated:
    measures = {"accuracy": "accuracy"}
    return Evaluated("relations", _POOLS, row, measures, models, encoders=encoders, options=_NAMES, quick_limit=500)


def _compared(name: str, accuracy: float, network: str) -> PaperRow:
    data = (_POOLS, *_NAMES.values())
    return PaperRow(name, {"accuracy": accuracy}, Computed(compared_relations, data, {"network": network}))


def _mined(name: str, accuracy: float, weights: str, row: str = "model", by_paper: str = "model") -> PaperRow:
    options = {"weights": weights, "row": row}
    return PaperRow(
        name,
        {"accuracy": accuracy},
        Computed(mined_relations, _GRAPH, options),
        Computed(mined_relations, _GRAPH, {**options, "row": by_paper, "paper": True}),
    )


RELATIONS = Table(
    "T 4.2",
    "Relation detection",
    "SimpleQuestions' test questions; here its valid questions. The networks of the first rows train on 75,910 "
    "questions in the paper; ours on four fifths of the valid questions, and are asked the others. All rows but "
    "these are asked all questions.",
    ("accuracy",),
    (
        _compared("BiLSTM with relation names", 0.889, "bilstm"),
        _compared("BiCNN", 0.900, "bicnn"),
        _compared("AMPCNN", 0.913, "ampcnn"),
        _compared("HR-BiLSTM", 0.933, "hr-bilstm"),
        PaperRow("keywords", {"accuracy": 0.449}, _relations("keywords"), _relations("shared words")),
        _mined("uniform weights", 0.528, "uniform"),
        _mined("F", 0.581, "F"),
        _mined("F + K", 0.649, "F+K"),
        _mined("F + K + S", 0.707, "F+K+S"),
        _mined("F + K + S, keywords first", 0.781, "F+K+S", "keywords first", "shared words first"),
        PaperRow("cosine of the starter's vectors", {}, _relations("starter", encoders=("starter",))),
        PaperRow("keywords and cosine", {}, _relations("together", encoders=("starter",))),
    ),
)

_FORUM = "qa_pairs/medical_forum.jsonl.gz"
_RERANKED = ("Recall@25", "P@1", "MRR")


def _manner(row: str, *, paper: bool = False) -> Computed:
    return Computed(manner, (_FORUM,), {"data": _FORUM, "row": row, **({"paper": True} if paper else {})})


MANNER = Table(
    "T 6.4",
    "Re-ranking of the first 25 passages",
    "Yahoo! Answers' manner questions are not to be had; here questions of a medical forum. Recall@25 is that of "
    "BM25's pools; the paper's figure is not legible.",
    _RERANKED,
    (
        PaperRow("BM25", {"P@1": 0.3799, "MRR": 0.5157}, _manner("BM25")),
        PaperRow("BLSTM and BM25", {"P@1": 0.4277, "MRR": 0.5640}, _manner("model"), _manner("model", paper=True)),
    ),
)

QUORA, MEDQUAD = "quora/dev.tsv", "medquad/medquad.zip"
_SIZES = ("similar pairs", "queries", "candidates", "relevant of a query")


def _statistics(data: str) -> Computed:
    return Computed(question_statistics, (data,), {"data": data})


QUESTIONS = Table(
    "D 1",
    "Sets of similar questions",
    "Quora is its published development set here; AskUbuntu and Paralex are not to be had, MedQuAD replaces them.",
    _SIZES,
    (
        PaperRow("Quora", dict(zip(_SIZES, (139_306, 9_218, 19_081, 2.55), strict=True)), _statistics(QUORA)),
        PaperRow("AskUbuntu", dict(zip(_SIZES, (13_010, 1_224, 4_023, 11.73), strict=True)), NO_DATA),
        PaperRow("MedQuAD", {}, _statistics(MEDQUAD)),
    ),
)

_HALF = 0.5
_PAPER: Mapping[str, Any] = {"preset": "paper"}


def _similar(row: str, *models: Trained) -> Joined:
    """On both sets."""
    sets = {"Quora": QUORA, "second set": MEDQUAD}
    return Joined(
        tuple(
            Evaluated("similar", data, row, {name: "AP@100"}, models, options={"held_out": _HALF})
            for name, data in sets.items()
        )
    )


def _trained(*data: str, base: str = "", settings: Mapping[str, Any] | None = None) -> Trained:
    quick = {"dual": {"epochs": 2}}
    return Trained("similar", data, {"test": _HALF, **(settings or {})}, quick, 4_000, base=base)


_WORD2VEC, _GLOVE = skip_gram(300), glove(300)


def _both(first: float, second: float) -> dict[str, float]:
    return {"Quora": first, "second set": second}


def _dual(name: str, published: Mapping[str, float], *data: str) -> list[PaperRow]:
    """From random words by the paper and by default, and from the starter's words."""
    return [
        PaperRow(
            name, published, _similar("model", _trained(*data)), _similar("model", _trained(*data, settings=_PAPER))
        ),
        PaperRow(f"{name}, from the starter's words", {}, _similar("model", _trained(*data, base="starter"))),
    ]


SIMILAR = Table(
    "D 2",
    "MAP@100 of similar questions",
    "Quora and AskUbuntu; here half of the questions of Quora's development set, and of MedQuAD as the second set (A). "
    "Skip-Thought vectors and Paralex (P) are not to be had; the starter's words replace them. word2vec and GloVe "
    "are trained on `jeopardy` instead of the news and the web.",
    ("Quora", "second set"),
    (
        PaperRow("identity", _both(0.459, 0.144), _similar("identity")),
        PaperRow("TF-IDF", _both(0.772, 0.356), _similar("TF-IDF")),
        PaperRow("BM25", _both(0.837, 0.365), _similar("BM25")),
        PaperRow("mean of word2vec", _both(0.784, 0.284), _similar("mean, vectors.txt", _WORD2VEC)),
        PaperRow("IDF mean of word2vec", _both(0.854, 0.331), _similar("IDF mean, vectors.txt", _WORD2VEC)),
        PaperRow("IDF mean of GloVe", _both(0.852, 0.334), _similar("IDF mean, vectors.txt", _GLOVE)),
        PaperRow("IDF mean of word2vec of Paralex", _both(0.860, 0.335), NO_DATA),
        PaperRow("Skip-Thought", _both(0.733, 0.196), NO_DATA),
        PaperRow("mean of the starter's words", {}, _similar("mean, starter")),
        PaperRow("IDF mean of the starter's words", {}, _similar("IDF mean, starter")),
        PaperRow("starter encoder", {}, _similar("dense, starter")),
        PaperRow("dual encoder, P", _both(0.876, 0.373), NO_DATA),
        *_dual("dual encoder, Q", _both(0.904, 0.358), QUORA),
        *_dual("dual encoder, A", _both(0.845, 0.459), MEDQUAD),
        *_dual("dual encoder, Q and A", _both(0.883, 0.422), QUORA, MEDQUAD),
        PaperRow("dual encoder, P and Q", _both(0.905, 0.373), NO_DATA),
        PaperRow("dual encoder, P and A", _both(0.875, 0.460), NO_DATA),
        PaperRow("dual encoder, P, Q and A", _both(0.899, 0.455), NO_DATA),
    ),
    "Other losses are in the results of retrieval.",
)

TABLES = (COMMUNITY, VOCABULARY, MAPPINGS, RELATIONS, MANNER, QUESTIONS, SIMILAR)
