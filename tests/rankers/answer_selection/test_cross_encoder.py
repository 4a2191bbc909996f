import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="a cross-encoder over a transformer needs the extra 'minilm'")

from qa_core.encoders.pair_tokens import PairConfig
from qa_core.training.loop import Training, seed_everything
from rankers.answer_selection.cross_encoder import CrossEncoder, open_cross_encoder
from rankers.training.answer_pool import AnswerPool, AnswerSet
from rankers.training.cross_encoder_training import (
    CrossEncoderTuning,
    TrainedCrossEncoder,
    optimiser,
    sample_epoch,
    tune_cross_encoder,
)
from rankers.training.pair_training import mean_average_precision

WORDS = ("cats", "sleep", "day", "why")
ANSWERS = tuple(f"do {word} ?" for word in WORDS)
SETS = [
    AnswerSet(f"{first} {second}", ANSWERS, tuple("cats" in answer for answer in ANSWERS))
    for first in WORDS
    for second in WORDS
]
POOL = AnswerPool.of(SETS)
CONFIG = PairConfig(max_length=16, dropout=0.0)
TUNING = CrossEncoderTuning(batch=16, epochs=8, patience=8, learning_rate=0.01, head_rate=0.01)
MIXED = [
    ("why do cats sleep ?", "day"),
    ("", ""),
    ("zzz qqq", "xxxx"),
    ("😀 😀", "מה נשמע"),
    ("day", "cats sleep day " * 30_000),
]


def scorer_of(folder: Path, config: PairConfig = CONFIG) -> TrainedCrossEncoder:
    seed_everything(1)
    return TrainedCrossEncoder.of(folder, config)


def tuned(
    scorer: TrainedCrossEncoder, tuning: CrossEncoderTuning = TUNING, *, pool: AnswerPool = POOL, **options
) -> Training:
    training = Training(scorer.model, optimiser(scorer, tuning), seed=1)
    for _ in tune_cross_encoder(training, scorer, pool, tuning, **options):
        pass
    return training


@pytest.fixture(scope="module")
def saved(pair_bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model after a short training, with both graphs. Read only."""
    scorer = scorer_of(pair_bert)
    tuned(scorer, replace(TUNING, epochs=4))
    folder = tmp_path_factory.mktemp("saved") / "model"
    scorer.save(folder, card="# card\n")
    return folder


def test_the_graph_scores_like_torch(saved: Path):
    scores = TrainedCrossEncoder.load(saved).score(MIXED)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(CrossEncoder.load(saved, int8=False).score(MIXED), scores, atol=1e-4)
    assert np.ptp(scores) > 1e-2
    quick = CrossEncoder.load(saved)  # int8, because it exists
    assert np.abs(quick.score(MIXED) - scores).max() < 0.5
    assert not np.array_equal(quick.score(MIXED), scores)


@pytest.mark.parametrize("int8", [False, True])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_score_is_bit_for_bit_independent_of_other_pairs(saved: Path, int8: bool, threads: int, assert_independent):
    scorer = CrossEncoder.load(saved, int8=int8, threads=threads)
    assert_independent(scorer.score, MIXED, rtol=0, atol=0)


def test_models_without_segments_and_of_other_architectures(pair_bert: Path, tmp_path: Path):
    from qa_core.encoders.graphs import export as onnx_export

    scorer = scorer_of(pair_bert)
    scorer.save(tmp_path / "model", card="", graph=False)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(onnx_export, "_cut_last", lambda model: None)  # as for any other architecture
        scorer.save(tmp_path / "model", card="", int8=False)
    assert not (tmp_path / "model" / "model.int8.onnx").exists()
    scores = CrossEncoder.load(tmp_path / "model").score(MIXED)
    np.testing.assert_allclose(scores, scorer.score(MIXED), atol=1e-4)


def test_serving_loads_no_torch(saved: Path):
    code = (
        "import sys\nfrom pathlib import Path\nfrom rankers.answer_selection.cross_encoder import CrossEncoder\n"
        f"CrossEncoder.load(Path({str(saved)!r})).score([('cats', 'sleep')])\n"
        "print(*{'torch', 'transformers'} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_new_weights_do_away_with_old_graphs(saved: Path, pair_bert: Path, tmp_path: Path):
    scorer = scorer_of(pair_bert)
    scorer.save(tmp_path / "model", card="")
    assert (tmp_path / "model" / "model.int8.onnx").is_file()
    scorer.save(tmp_path / "model", card="", graph=False)
    with pytest.raises(FileNotFoundError, match=r"a graph at .*model\.onnx"):
        CrossEncoder.load(tmp_path / "model")
    assert isinstance(open_cross_encoder(tmp_path / "model"), TrainedCrossEncoder)
    assert isinstance(open_cross_encoder(saved), CrossEncoder)


def test_damaged_graphs_are_refused(saved: Path, pair_bert: Path, tmp_path: Path):
    from qa_core.encoders.graphs.export import export_pair_graph

    with pytest.raises(FileNotFoundError, match=r"config\.json"):
        CrossEncoder.load(tmp_path / "none")
    scorer = scorer_of(pair_bert)
    scorer.save(tmp_path / "nan", card="", int8=False)
    with torch.no_grad():
        scorer.model.output.bias.fill_(float("nan"))
    export_pair_graph(tmp_path / "nan" / "transformer", scorer.model.output, tmp_path / "nan" / "model.onnx")
    with pytest.raises(ValueError, match="a finite score"):
        CrossEncoder.load(tmp_path / "nan")
    (tmp_path / "nan" / "model.onnx").write_bytes(b"cut")
    with pytest.raises(ValueError, match="an ONNX graph"):
        CrossEncoder.load(tmp_path / "nan")
    head = json.loads((saved / "config.json").read_text())
    (tmp_path / "nan" / "config.json").write_text(json.dumps({**head, "kind": "Other"}))
    with pytest.raises(ValueError, match="kind PairConfig, but got 'Other'"):
        CrossEncoder.load(tmp_path / "nan")


def test_a_tokeniser_of_more_words_than_the_graph_is_refused(saved: Path, tmp_path: Path):
    import shutil

    folder = Path(shutil.copytree(saved, tmp_path / "other"))
    path = folder / "transformer" / "tokenizer.json"
    content = json.loads(path.read_text())
    vocabulary = content["model"]["vocab"]
    content["model"]["vocab"] = {word: row + (500 if row > 4 else 0) for word, row in vocabulary.items()}
    content["model"]["vocab"]["why"] = 500
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="of one vocabulary"):
        CrossEncoder.load(folder)


def test_the_weights_of_the_highest_development_figure_are_kept(pair_bert: Path):
    scorer = scorer_of(pair_bert)
    training = tuned(scorer, replace(TUNING, epochs=4), held_out=POOL)
    figures = [progress.dev for progress in training.history if progress.dev is not None]
    assert training.best is not None
    assert mean_average_precision(scorer, POOL) == training.best.dev == max(figures)


def test_a_resumed_run_ends_with_the_same_model(pair_bert: Path, assert_resumes):
    tuning = replace(TUNING, epochs=3, negatives=1, elsewhere=0.5)

    def begin():
        scorer = scorer_of(pair_bert, replace(CONFIG, dropout=0.1))
        return scorer, Training(scorer.model, optimiser(scorer, tuning), seed=1)

    def run(scorer, training):
        return tune_cross_encoder(training, scorer, POOL, tuning, report_every=1)

    assert_resumes(begin, run, step=3)


def test_pairs_of_an_epoch():
    sets = [
        AnswerSet("a", ("right", "w1", "w2", "w3"), (True, False, False, False)),
        AnswerSet("b", ("good", "fine", "bad"), (True, True, False)),
        AnswerSet("c", ("none",), (False,)),
    ]
    pool = AnswerPool.of(sets)
    rng = np.random.default_rng(0)
    question, answer, label = sample_epoch(pool, CrossEncoderTuning(), rng)
    assert len(label) == 8
    question, answer, label = sample_epoch(pool, CrossEncoderTuning(negatives=2), rng)
    assert [int(((question == q) & (label == 0)).sum()) for q in range(3)] == [2, 1, 0]
    assert label.sum() == 3
    wrong = {*zip(question[label == 0].tolist(), answer[label == 0].tolist(), strict=True)}
    assert wrong <= {*zip(pool.question[~pool.label].tolist(), pool.answer[~pool.label].tolist(), strict=True)}
    drawn = [
        sample_epoch(pool, CrossEncoderTuning(negatives=1, elsewhere=1.0), np.random.default_rng(n)) for n in range(20)
    ]
    right = {*zip(pool.question[pool.label].tolist(), pool.answer[pool.label].tolist(), strict=True)}
    for question, answer, label in drawn:
        pairs = {*zip(question[label == 0].tolist(), answer[label == 0].tolist(), strict=True)}
        assert not pairs & right
    assert len({tuple(answer.tolist()) for _, answer, _ in drawn}) > 10


def test_frozen_layers_stay_and_others_move(pair_bert: Path):
    scorer = scorer_of(pair_bert)
    before = {name: weight.clone() for name, weight in scorer.model.named_parameters()}
    tuned(scorer, replace(TUNING, epochs=1, frozen=1))
    moved = {name for name, weight in scorer.model.named_parameters() if not torch.equal(weight, before[name])}
    assert moved == {"output.weight", "output.bias"}
    with pytest.raises(ValueError, match="at most 1 layers to freeze, but got 2"):
        optimiser(scorer, replace(TUNING, frozen=2))


def test_pairs_of_one_kind_are_refused(pair_bert: Path):
    scorer = scorer_of(pair_bert)
    training = Training(scorer.model, optimiser(scorer, TUNING), seed=1)
    with pytest.raises(ValueError, match="all 1 are right"):
        next(tune_cross_encoder(training, scorer, AnswerPool.of([AnswerSet("a", ("b",), (True,))]), TUNING))
