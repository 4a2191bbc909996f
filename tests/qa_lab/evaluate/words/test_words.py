import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import rankdata

from qa_bot.home.encoders import STARTER
from qa_bot.home.starter import ENCODER
from qa_core.measures.significance import dependent_correlations
from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.report import as_json, markdown
from qa_lab.evaluate.words.similarities import Scored, SimilarityList
from qa_lab.evaluate.words.words import correlation, evaluate_words, not_better, spearman_error

# cosines with `sun`: sky 1, sea .6, mud 0
VECTORS = WordVectors(("sun", "sky", "sea", "mud"), np.array([[1, 0], [2, 0], [0.6, 0.8], [0, 3]], dtype=np.float32))


@pytest.fixture(autouse=True)
def _home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("QA_BOT_HOME", str(tmp_path / "home"))


@pytest.fixture
def lists(tmp_path: Path) -> Path:
    folder = tmp_path / "lists"
    folder.mkdir()
    (folder / "same.txt").write_text("sun sky 9\nsun sea 5\nsun mud 1\nsun unheard 4\n")
    (folder / "turned.txt").write_text("sun sky 1\nsun sea 5\nsun mud 9\n")
    return folder


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    write_glove(VECTORS, folder / "vectors.txt")
    return folder


def test_correlation_of_known_pairs():
    scored = SimilarityList(
        "l", tuple(Scored("sun", word, score) for word, score in (("sky", 3), ("sea", 1), ("mud", 2)))
    )
    # ranks 3, 2, 1 against 3, 1, 2: 1 − 6 · (0 + 1 + 1) / (3 · 8) = 1/2
    assert correlation(scored, VECTORS) == (pytest.approx(0.5), 1.0)
    rho, covered = correlation(SimilarityList("l", (Scored("sun", "x", 1), Scored("sun", "sky", 2))), VECTORS)
    assert math.isnan(rho)
    assert covered == 0.5


def test_the_standard_error_by_hand():
    # (1 − .25) √((1 + .125) / 100) = .75 · .1060660
    assert spearman_error(0.5, 103) == pytest.approx(0.0795495, abs=1e-6)
    assert math.isnan(spearman_error(0.5, 3))


def test_a_row_a_model(lists: Path, vectors: Path):
    rows = evaluate_words(lists, models=[vectors, vectors / "vectors.txt"])
    assert [row.encoder for row in rows] == [str(vectors), str(vectors / "vectors.txt")]
    means = {name: score.mean for name, score in rows[0].scores.items() if not name.startswith("p ")}
    assert means == {
        "spearman": pytest.approx(0.0),
        "spearman same": pytest.approx(1.0),
        "spearman turned": pytest.approx(-1.0),
        "covered": pytest.approx(6 / 7),
    }
    assert rows[0].queries == 7
    assert "| vectors.txt |" in markdown(rows)
    (row,) = evaluate_words(lists / "same.txt", models=[vectors])
    payload = as_json([row])
    assert (payload["task"], payload["data"], payload["spearman"], payload["covered"]) == ("words", "same", 1.0, 0.75)


def test_a_limit_and_the_starter(lists: Path):
    (row,) = evaluate_words(lists / "same.txt", limit=3)
    assert (row.encoder, row.queries, row.scores["covered"].mean) == (STARTER, 3, 1.0)
    assert row.scores["spearman"].mean > 0
    (same,) = evaluate_words(lists / "same.txt", encoders=[str(ENCODER)], limit=3)
    assert same.scores["spearman"].mean == row.scores["spearman"].mean


def test_a_limit_counts_the_pairs_of_all_lists(lists: Path, vectors: Path):
    (row,) = evaluate_words(lists, models=[vectors], limit=6)
    assert row.queries == 6
    assert row.scores["spearman turned"].mean == pytest.approx(-1.0)  # of its first two pairs
    (first,) = evaluate_words(lists, models=[vectors], limit=4)
    assert (first.queries, "spearman turned" in first.scores) == (4, False)


def test_bad_models(lists: Path, tmp_path: Path):
    broken = tmp_path / "v.txt"
    broken.write_text("sun 1 2\nsky 1\n")
    with pytest.raises(DatasetError, match=r"v.txt.*line 2"):
        evaluate_words(lists, models=[broken])
    broken.write_text("other 1 2\n")
    with pytest.raises(DatasetError, match=r"Expected word vectors in .*, but got none"):
        evaluate_words(lists, models=[broken])
    with pytest.raises(DatasetError, match="there is no such folder"):
        evaluate_words(lists, models=[tmp_path / "none"])


def test_the_starter_on_wordsim():
    data = Path(os.environ.get("QA_BOT_DATA", "../shared/data")) / "paraphrase" / "wordsim" / "EN-WS-353-SIM.txt"
    if not data.is_file():
        pytest.skip(f"no {data}; set QA_BOT_DATA to the folder with the data sets")
    (row,) = evaluate_words(data)
    assert row.queries == 203
    assert row.scores["spearman"].mean > 0.7


def test_two_models_are_compared_on_the_pairs_that_both_know():
    """ρ of three scores with seven others by brute force, over the words that both tables have."""
    rng = np.random.default_rng(3)
    words = tuple("abcdefghij")
    first, second = (WordVectors(words[:count], rng.normal(size=(count, 3)).astype(np.float32)) for count in (10, 9))
    pairs = tuple(Scored(left, "a", float(number % 5)) for number, left in enumerate(words[1:]))
    scored = SimilarityList("toy", pairs)
    known = [pair for pair in pairs if pair.left != "j"]
    columns = [[pair.score for pair in known]]
    columns += [[table.cosine(pair.left, "a") for pair in known] for table in (second, first)]
    r = np.corrcoef([rankdata(column) for column in columns])
    expected = dependent_correlations(r[0, 1], r[0, 2], r[1, 2], 8)
    assert not_better(scored, second, first) == pytest.approx(expected)
    assert math.isnan(not_better(scored, first, first))


def test_rows_of_several_models_have_p(lists, vectors):
    first, second = evaluate_words(lists / "same.txt", models=[vectors], encoders=[STARTER])
    assert list(first.scores) == list(second.scores) == ["spearman", "covered", "p"]
    assert math.isnan(first.scores["p"].mean)
