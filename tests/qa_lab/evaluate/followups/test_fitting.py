import numpy as np
import pytest

from qa_bot.conversation.followups.scoring import NAMES
from qa_lab.evaluate.followups.dialogues import Dialogue, Turn
from qa_lab.evaluate.followups.fitting import Example, cross_fitted, examples, fit, token_f1


@pytest.mark.parametrize(
    ("text", "expected", "score"),
    [
        ("Is tea hot?", "is TEA hot", 1.0),
        ("Is it hot?", "Is tea hot?", 2 / 3),  # 2 of 3 words either way
        ("a a b", "a b", 4 / 5),  # 2 · 2 / (3 + 2)
        ("", "tea", 0.0),
        ("?", "!", 1.0),
    ],
)
def test_token_f1_counts_words_with_their_number(text: str, expected: str, score: float) -> None:
    assert token_f1(text, expected) == pytest.approx(score)


def test_the_weight_of_one_feature_is_where_its_gradient_vanishes() -> None:
    rows = np.zeros((2, len(NAMES)))
    rows[1, 0] = 1.0
    (weight, *others) = fit([Example(rows, np.array([0.25, 0.75]))]).weights
    # d/dw: σ(w) − 3/4 + w/2 = 0
    assert 1 / (1 + np.exp(-weight)) - 0.75 + 0.5 * weight == pytest.approx(0, abs=1e-3)
    assert not any(others)


TEA = Dialogue("1", (Turn("What is tea?", "What is tea?"), Turn("Is it hot?", "Is tea hot?")))
ROSES = Dialogue("2", (Turn("How do roses grow?", "How do roses grow?"), Turn("Are they red?", "Are roses red?")))


def test_targets_are_the_candidates_nearest_to_the_manual_rewrite() -> None:
    target = examples([TEA])[0].target
    assert target.sum() == pytest.approx(1)
    assert target.argmax() == 1  # candidate 0 is the unchanged turn
    assert target[0] < 1e-9


def test_folds_keep_dialogues_apart() -> None:
    held = [[item.name for item in part] for _, part in cross_fitted([TEA, ROSES], folds=2)]
    assert held == [["1"], ["2"]]
