from pathlib import Path

import numpy as np
import pytest

from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.evaluate.datasets import DatasetError
from qa_lab.evaluate.words.phrase_ranking import rank_phrases
from qa_lab.evaluate.words.phrases import errors_of, evaluate_phrases, judged
from retrievers.training.phrases.phrase_model import PhraseModel

WORDS = ("old", "aged", "man", "person", "house", "mansion", "red", "blue")
MATRIX = np.array([[5, 0, 0], [5, 1, 0], [0, 5, 0], [0, 5, 1], [0, 0, 5], [1, 0, 5], [3, -3, 0], [0, -3, 3]])


@pytest.fixture
def vectors() -> WordVectors:
    return WordVectors(WORDS, MATRIX.astype(np.float32))


@pytest.fixture
def base(vectors: WordVectors, tmp_path: Path) -> Path:
    write_glove(vectors, tmp_path / "base.txt")
    return tmp_path / "base.txt"


@pytest.fixture
def model(vectors: WordVectors, tmp_path: Path) -> Path:
    PhraseModel.of(vectors, "recursive", noise=0.0).save(tmp_path / "model", card="")
    return tmp_path / "model"


def annotated(tmp_path: Path) -> Path:
    path = tmp_path / "annotated.tsv"
    path.write_text("old man\taged person\t5\nold house\taged mansion\t4\nold man\tblue house\t1\nred\tblue\t2\n")
    return path


def test_rows_of_scored_pairs(tmp_path: Path, base: Path, model: Path):
    rows = evaluate_phrases(annotated(tmp_path), models=[model], encoders=[str(base)])
    assert [row.engine for row in rows] == [
        "addition",
        "recursive, untrained",
        "recursive, trained",
        "addition of its vectors",
        "word overlap, strict",
        "word overlap, lemmatised",
    ]
    assert all(row.queries == 4 for row in rows)
    assert rows[0].scores["AUC"].mean == 1
    assert rows[0].scores["Spearman"].mean == pytest.approx(0.8)  # red and blue are further apart than man and house
    assert rows[4].scores["AUC"].mean == 0.5
    assert rows[1].versus is not None


@pytest.mark.slow
def test_a_database_without_scores_is_set_against_mismatched_pairs(tmp_path: Path, base: Path):
    lines = [f"{a} {b}\t{c} {d}" for a in WORDS for b in WORDS for c in WORDS for d in WORDS if len({a, b, c, d}) == 4]
    path = tmp_path / "database.tsv"
    path.write_text("\n".join(lines[::7]))
    rows = evaluate_phrases(path, encoders=[str(base)], limit=40)
    assert rows[0].queries == 40
    strict = next(row for row in rows if row.engine == "word overlap, strict")
    assert strict.scores["AUC"].mean == 0.5
    assert [row.engine for row in rows[-2:]] == ["regression on surface features", "ε-SVR on surface features"]
    assert [p.left for p in judged(path, known=lambda _: True)] == [p.left for p in judged(path, known=lambda _: True)]


def test_each_group_has_a_correlation(tmp_path: Path, base: Path):
    path = tmp_path / "bigrams.txt"
    kinds = {
        "adjectivenouns": ["old man aged person 7", "red house old man 1"],
        "verbobjects": ["man house man person 2"],
    }
    path.write_text("\n".join(f"p1 {kind} 1 {row}" for kind, rows in kinds.items() for row in rows))
    first = evaluate_phrases(path, encoders=[str(base)])[0]
    assert first.scores["Spearman adjectivenouns"].mean == pytest.approx(1)
    assert np.isnan(first.scores["Spearman verbobjects"].mean)


def test_nothing_to_measure(tmp_path: Path, base: Path):
    path = tmp_path / "few.tsv"
    path.write_text("old man\taged person\n")
    with pytest.raises(DatasetError, match="Expected pairs of phrases of both kinds"):
        evaluate_phrases(path, encoders=[str(base)])
    with pytest.raises(DatasetError, match="does not exist"):
        evaluate_phrases(tmp_path / "none.tsv", encoders=[str(base)])
    path.write_text("?\t!\t1\n??\t!!\t2\n")
    with pytest.raises(DatasetError, match="got 0 that can be measured"):
        evaluate_phrases(path, encoders=[str(base)])


def test_a_database_is_ranked_anew(tmp_path: Path, model: Path):
    data, out = tmp_path / "ppdb.txt", tmp_path / "ranked.txt"
    lines = ["[NP] ||| old man ||| old house ||| a=1 ||| 0-0", "[NP] ||| old man ||| aged person ||| a=2 ||| 0-0"]
    data.write_text("\n".join([*lines, "!? ||| old", "red\tzork", "alone"]) + "\n")
    ranked = rank_phrases(data, model, out)
    written = out.read_text().splitlines()
    assert written[0].startswith(f"{lines[1]} ||| score=0.9")
    assert written[1].startswith(f"{lines[0]} ||| score=")
    assert written[2] == "red\tzork\t0.0000"
    assert ranked.pairs == 3
    assert sorted(reject.reason.split(",")[0] for reject in ranked.rejects) == [
        "Expected a binary tree over at least one token",
        "Expected two phrases",
    ]
    with pytest.raises(ValueError, match="name a new one"):
        rank_phrases(data, model, data)


def test_errors_of_a_model_are_set_against_addition(tmp_path: Path, base: Path, model: Path):
    results = errors_of(annotated(tmp_path), model, encoder=str(base))
    assert results.names == (f"addition, {base}", "recursive, model")
    assert sum(cell.pairs for cell in results.bands) == 4
    (tmp_path / "lexicon.txt").write_text("old aged\nman person\nhouse mansion\n")
    wider = errors_of(annotated(tmp_path), model, encoder=str(base), lexicon=[tmp_path / "lexicon.txt"])
    overlaps = {cell.name: cell.pairs for cell in wider.overlap}
    assert overlaps["(0.67, 1.00], positive"] == 2
