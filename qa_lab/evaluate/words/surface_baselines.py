"""Surface baselines for phrase pairs: word overlap, and regressions on surface features."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVR

from qa_lab.data.phrases.phrase_preparation import Phrased
from qa_lab.data.phrases.string_similarity import edit_distance, length_ratio, nearly, overlap
from retrievers.training.phrases.forbidden_negatives import lemmas_among

Matrix = NDArray[np.float64]
FOLDS = 5
RIDGE = 1.0
PENALTIES = [2.0**power for power in range(-5, 8, 2)]
MARGINS = [2.0**power for power in range(-8, 0, 2)]
DEVELOPMENT = 260
"""Pairs that the paper tunes and trains on."""
SEED = 0


def strict_overlap(pairs: Sequence[Phrased]) -> list[float]:
    """The share of the shorter phrase's words that the longer one has."""
    return [overlap(pair.left.tokens, pair.right.tokens) for pair in pairs]


def lemmatised_overlap(pairs: Sequence[Phrased]) -> list[float]:
    """Overlap of dictionary forms, by WordNet's rules of detachment among the words of all pairs."""
    forms = lemmas_among({token for pair in pairs for token in (*pair.left.tokens, *pair.right.tokens)})
    of = {token: {token, *forms(token)} for pair in pairs for phrase in pair.key for token in phrase}
    return [overlap(p.left.tokens, p.right.tokens, lambda a, b: not of[a].isdisjoint(of[b])) for p in pairs]


def ridge_regression(pairs: Sequence[Phrased]) -> list[float]:
    """The gold of each pair, predicted from `features` by a ridge regression on the other folds."""
    return _predicted(pairs, ridge)


def support_vector_regression(pairs: Sequence[Phrased]) -> list[float]:
    """The same by `support_vectors` on `DEVELOPMENT` pairs of the other folds (Wieting et al. 2015, §6.4)."""
    rng = np.random.default_rng(SEED)

    def predict(inputs: Matrix, gold: Matrix, queries: Matrix) -> Matrix:
        drawn = rng.permutation(len(inputs))[:DEVELOPMENT]
        return support_vectors(inputs[drawn], gold[drawn], queries)

    return _predicted(pairs, predict)


def _predicted(pairs: Sequence[Phrased], predict: Callable[[Matrix, Matrix, Matrix], Matrix]) -> list[float]:
    """The gold of each pair by the other folds; a pair and its mismatched one, with the same left phrase, share one."""
    inputs = features(pairs)  # (P, F)
    gold = np.array([pair.gold or 0.0 for pair in pairs])
    numbers: dict[tuple[str, ...], int] = {}
    folds = np.array([numbers.setdefault(pair.left.tokens, len(numbers)) % FOLDS for pair in pairs])
    predicted = np.zeros(len(pairs))
    for fold in np.unique(folds):
        inside = folds == fold
        if not inside.all():
            predicted[inside] = predict(inputs[~inside], gold[~inside], inputs[inside])
    return [float(value) for value in predicted]


def features(pairs: Sequence[Phrased]) -> NDArray[np.float64]:
    """(P, F): overlaps, lengths, edits, letter trigrams, first and last words, and the features in the data."""
    lemmatised = lemmatised_overlap(pairs)
    names = sorted({name for pair in pairs for name, _ in pair.features})
    rows = []
    for pair, lemmas in zip(pairs, lemmatised, strict=True):
        extra = dict(pair.features)
        rows.append([lemmas, *_looks(pair.left.tokens, pair.right.tokens), *(extra.get(name, 0.0) for name in names)])
    return np.array(rows, dtype=np.float64)


def _looks(left: Sequence[str], right: Sequence[str]) -> list[float]:
    a, b = "".join(left), "".join(right)
    return [
        overlap(left, right),
        overlap(left, right, nearly),
        length_ratio(left, right),
        len(left),
        len(right),
        len(a),
        len(b),
        1 - edit_distance(a, b) / max(len(a), len(b)),
        _jaccard(_trigrams(a), _trigrams(b)),
        left[0] == right[0],
        left[-1] == right[-1],
        left[0][0] == right[0][0],
    ]


def ridge(
    inputs: NDArray[np.float64], gold: NDArray[np.float64], queries: NDArray[np.float64], *, penalty: float = RIDGE
) -> NDArray[np.float64]:
    """Predictions (Q,) for `queries` (Q, F) of a ridge regression fitted to `inputs` (P, F) and `gold` (P,).

    `min ‖y − Xw − c‖² + λ‖w‖²`, with features scaled to unit variance.
    """
    model = make_pipeline(StandardScaler(), Ridge(alpha=penalty)).fit(inputs, gold)
    predicted: NDArray[np.float64] = model.predict(queries)
    return predicted


def support_vectors(inputs: Matrix, gold: Matrix, queries: Matrix) -> Matrix:
    """Predictions (Q,) of an ε-SVR with radial kernel whose C and ε are chosen by five folds of the inputs (P, F).

    Features are scaled to [0, 1]. The paper names neither kernel nor range; both are LIBSVM's defaults here, and C and
    ε are powers of two.
    """
    model = make_pipeline(MinMaxScaler(), SVR(gamma="auto"))
    grid = {"svr__C": PENALTIES, "svr__epsilon": MARGINS}
    folds = min(FOLDS, len(inputs))
    chosen = (
        GridSearchCV(model, grid, cv=folds, scoring="neg_mean_squared_error").fit(inputs, gold) if folds > 1 else None
    )
    predicted: Matrix = (chosen or model.fit(inputs, gold)).predict(queries)
    return predicted


def _trigrams(text: str) -> set[str]:
    padded = f"  {text} "
    return {padded[i : i + 3] for i in range(len(padded) - 2)}


def _jaccard(a: set[str], b: set[str]) -> float:
    return len(a & b) / len(a | b)
