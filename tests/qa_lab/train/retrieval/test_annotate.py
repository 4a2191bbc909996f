import json
import shutil
from dataclasses import replace
from itertools import combinations_with_replacement
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest

from qa_lab.errors import RunError, SettingsError, TrainingDataError, TrainingError

pytest.importorskip("transformers", reason="a cross-encoder needs the extra 'minilm'")

from qa_bot.home.encoders import verify
from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.measures.metrics import Difference
from qa_core.networks.checkpoints import read_tensors
from qa_core.training.pair_classifier import PairClassifier
from qa_lab.data.pairs import read_pairs
from qa_lab.train.request import Request
from qa_lab.train.retrieval.annotate import ANNOTATE
from qa_lab.train.retrieval.annotation_models import folder_of
from qa_lab.train.retrieval.annotation_report import (
    AnnotationOutcome,
    Contrast,
    CrossQuality,
    Improved,
    Trained,
    markdown,
)
from qa_lab.train.retrieval.annotation_settings import CPU, PAPER, stages
from retrievers.training.annotation import Agreement
from retrievers.training.encoders.trainable_encoders import vectors
from retrievers.training.encoders.transformer_tower import TransformerConfig, TransformerTower

BAGS = [bag for size in (3, 4) for bag in combinations_with_replacement(("cats", "sleep", "day", "why", "do"), size)]
SETTINGS = """
start = "{start}"
{more}
[bi]
batch = 16
epochs = 1
learning_rate = 0.01
temperature = 0.1
[static]
new_words = 0
[cross]
max_length = 16
[tuning]
batch = 32
epochs = 2
learning_rate = 0.003
"""


@pytest.fixture(scope="module")
def start(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static encoder over the tiny words, that finds some of the answers first."""
    folder = tmp_path_factory.mktemp("static")
    shutil.copy(tiny_bert_source / "tokenizer.json", folder)
    vectors = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float16)
    write_tensors(folder / "model.safetensors", {"vectors": vectors})
    (folder / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def whole(pair_bert: Path, start: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Request, AnnotationOutcome]:
    """A finished run over every bag of three or four words, answered by the same words backwards."""
    folder = tmp_path_factory.mktemp("whole")
    rows = [json.dumps({"question": " ".join(bag), "answer": answer(bag)}) for bag in BAGS]
    (folder / "pairs.jsonl").write_text("\n".join(rows))
    request = Request((folder / "pairs.jsonl",), folder / "out", base=pair_bert, dev="0.2", seed=3)
    request = configured_as(request, folder, start, "improve = true")
    return request, ANNOTATE.run(request)


@pytest.fixture
def usual(whole: tuple[Request, AnnotationOutcome], start: Path, tmp_path: Path) -> Request:
    """The same without its improvement, not begun yet."""
    return configured_as(replace(whole[0], out=tmp_path / "out"), tmp_path, start)


def answer(bag: tuple[str, ...]) -> str:
    return " ".join(reversed(bag)) + " ?"


def configured_as(request: Request, folder: Path, start: Path | str, more: str = "") -> Request:
    path = folder / "settings.toml"
    for usual in ("top = 3", "development = 0.25", "threshold = 0.2"):
        more += "" if usual.split()[0] + " " in more else "\n" + usual
    path.write_text(SETTINGS.format(start=start, more=more))
    return replace(request, config=path)


def weights(folder: Path) -> dict[str, np.ndarray]:
    files = sorted(folder.rglob("*.safetensors"))
    return {f"{path.relative_to(folder)}:{name}": t.numpy() for path in files for name, t in read_tensors(path).items()}


def test_a_run_with_given_labels(whole: tuple[Request, AnnotationOutcome], tmp_path: Path):
    request, outcome = whole
    assert [row.name for row in outcome.rows] == ["given", "intersection", "top-1", "cross-encoder"]
    assert sum(outcome.queries.values()) < len(BAGS) - outcome.test  # the rest is for development
    assert outcome.answers == len(BAGS)
    labelled, intersection, top, cross = outcome.rows
    assert 0 < intersection.pairs <= min(labelled.pairs, cross.pairs)
    assert top.pairs == top.queries == outcome.queries["new bi-encoders"]
    assert outcome.reach == labelled.queries / outcome.queries["new bi-encoders"]
    for row in outcome.rows:
        assert verify(request.out / row.name, models=tmp_path / "models").dimension == 8
        assert len(read_pairs([request.out / "pairs" / f"{row.name}.jsonl"]).examples) == row.pairs
    assert len(outcome.contrasts) == 2
    for contrast in outcome.contrasts:
        cells = contrast.all
        assert cells.neither + cells.only_first + cells.only_second + cells.both == outcome.test
        assert sum(part.both for part in contrast.ranges) == cells.both
        assert contrast.difference.difference == pytest.approx((cells.only_second - cells.only_first) / outcome.test)
    page = (request.out / "comparison.md").read_text()
    assert "| given labels ∩ cross-encoder |" in page
    assert "fed back" in page
    assert json.loads((request.out / "comparison.json").read_text()) == json.loads(json.dumps(outcome.as_dict()))
    assert "| training pairs |" in (request.out / "given" / "README.md").read_text()
    assert not (request.out / "training").exists()
    assert f"qa-bot use {request.out / 'intersection'}" in outcome.text(request.out)


def test_the_labels_are_those_of_data_and_cross_encoder(whole: tuple[Request, AnnotationOutcome]):
    request, outcome = whole
    labels = [json.loads(line) for line in (request.out / "labels.jsonl").read_text().splitlines()]
    right = {" ".join(bag): answer(bag) for bag in BAGS}
    assert all(label["given"] == (right[label["query"]] == label["candidate"]) for label in labels)
    assert all(label["match"] == (label["probability"] > 0.2) for label in labels)
    logits = PairClassifier.load(request.out / "known-cross").score([(e["query"], e["candidate"]) for e in labels])
    np.testing.assert_allclose([label["probability"] for label in labels], 1 / (1 + np.exp(-logits)), atol=1e-5)
    assert len({label["query"] for label in labels}) + outcome.test < len(BAGS)


def test_without_given_labels(usual: Request, tmp_path: Path, start: Path):
    questions = tmp_path / "questions.txt"
    lines = [" ".join(bag) for bag in combinations_with_replacement(("unhappy", "cats", "day", "why"), 3)]
    questions.write_text("\n".join([*lines, "", lines[0]]) + "\n")
    request = configured_as(usual, tmp_path, start, f'questions = "{questions}"\nthreshold = 0.1')
    outcome = ANNOTATE.run(request)
    assert [row.name for row in outcome.rows] == ["top-1", "cross-encoder"]
    assert outcome.reach is outcome.cross.precision is None
    labels = [json.loads(line) for line in (request.out / "labels.jsonl").read_text().splitlines()]
    assert {label["given"] for label in labels} == {None}
    known = {" ".join(bag) for bag in BAGS}
    assert {label["query"] for label in labels} == set(lines) - known
    questions.unlink()
    with pytest.raises(TrainingDataError, match=r"a question a line in .*but there is no such file"):
        ANNOTATE.run(request)


def test_an_encoder_that_is_there_is_the_known_one(usual: Request, tmp_path: Path, start: Path):
    request = configured_as(usual, tmp_path, start, f'known = "{start}"')
    outcome = ANNOTATE.run(request)
    assert not (request.out / "known-bi").exists()
    assert outcome.known > 0


@pytest.mark.parametrize("epoch", [2, 5])
def test_interrupted_and_resumed_it_is_the_same_run(
    whole: tuple[Request, AnnotationOutcome], tmp_path: Path, epoch: int
):
    """In the midst of the cross-encoder, and after the labels."""
    seen: list[int] = []

    def stop(progress):
        seen.append(progress.epoch)
        if progress.epoch == epoch:
            raise InterruptedError

    request, outcome = whole
    cut = replace(request, out=tmp_path / "cut")
    with pytest.raises(InterruptedError):
        ANNOTATE.run(cut, on_progress=stop)
    assert ANNOTATE.run(replace(cut, resume=True), on_progress=lambda progress: seen.append(progress.epoch)) == outcome
    assert seen == sorted(seen)  # what was done is not done again
    assert seen[-1] == ANNOTATE.epochs(request) == 10
    for name in ("known-bi", "known-cross", "cross-encoder"):
        ours, theirs = weights(cut.out / name), weights(request.out / name)
        assert ours.keys() == theirs.keys()
        for key in ours:
            np.testing.assert_allclose(ours[key], theirs[key], rtol=0, atol=1e-5, err_msg=f"{name} {key}")
    with pytest.raises(RunError, match="got a finished run"):
        ANNOTATE.run(replace(cut, resume=True))


def test_a_run_that_was_asked_for_otherwise_does_not_go_on(usual: Request, tmp_path: Path):
    with pytest.raises(RunError, match="no saved run"):
        ANNOTATE.run(replace(usual, resume=True))

    stop = Mock(side_effect=InterruptedError)
    with pytest.raises(InterruptedError):
        ANNOTATE.run(usual, on_progress=stop)
    with pytest.raises(RunError, match="seed = 4 instead of 3"):
        ANNOTATE.run(replace(usual, resume=True, seed=4))
    with pytest.raises(InterruptedError):  # anew
        ANNOTATE.run(replace(usual, seed=4), on_progress=stop)
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "letter.txt").write_text("mine")
    with pytest.raises(RunError, match="other files"):
        ANNOTATE.run(replace(usual, out=tmp_path / "theirs"))


def test_nothing_the_cross_encoder_likes_leaves_a_row_without_a_figure(usual: Request, tmp_path: Path, start: Path):
    request = configured_as(usual, tmp_path, start, "threshold = 0.999999")
    outcome = ANNOTATE.run(request)
    rows = {row.name: row for row in outcome.rows}
    assert rows["cross-encoder"].accuracy is rows["intersection"].accuracy is None
    assert rows["cross-encoder"].pairs == 0
    assert rows["given"].accuracy is not None
    assert outcome.contrasts == ()
    assert "too few pairs" in (request.out / "comparison.md").read_text()


def test_settings(usual: Request, tmp_path: Path, start: Path):
    assert ANNOTATE.settings(replace(usual, config=None)) == CPU
    assert (PAPER.bi.batch, PAPER.bi.learning_rate, PAPER.bi.temperature, PAPER.bi.epochs) == (128, 1e-5, 1.0, 20)
    assert (PAPER.cross.max_length, PAPER.tuning.batch, PAPER.tuning.epochs) == (256, 128, 10)
    assert (PAPER.tuning.warm_up, PAPER.tuning.learning_rate) == (0.1, 1e-5)
    assert (PAPER.top, PAPER.threshold, PAPER.transformer.max_tokens) == (50, 0.5, 64)
    assert dict(stages(PAPER))["known-cross"] == 10
    with pytest.raises(SettingsError, match="Expected --base DIR"):
        ANNOTATE.run(replace(usual, base=None))
    with pytest.raises(SettingsError, match="the folder of an encoder"):
        ANNOTATE.run(configured_as(usual, tmp_path, tmp_path / "none"))
    with pytest.raises(SettingsError, match=r"neither modules\.json"):
        ANNOTATE.run(configured_as(replace(usual, base=tmp_path), tmp_path, "base"))
    for more, message in (
        ("top = 0", "positive numbers, but got top = 0"),
        ("threshold = 1.0", r"threshold = 1\.0"),
        ("development = 0.0", r"development = 0\.0"),
        ("tops = 3", "the nearest is top"),
        ('top = "3"', "top"),
    ):
        with pytest.raises(SettingsError, match=message):
            ANNOTATE.run(configured_as(usual, tmp_path, start, more))


def test_bad_data(usual: Request, write_lines, tmp_path: Path):
    same = write_lines("same.jsonl", *({"question": f"q {n}", "answer": "always this"} for n in range(9)))
    few = write_lines("few.jsonl", *({"question": f"q {n}", "answer": f"a {n}"} for n in range(3)))
    blank = write_lines("blank.jsonl", {"question": " ", "answer": "a"}, {"question": "q", "answer": ""})
    unknown = write_lines("unknown.jsonl", *({"question": f"xyz{n}", "answer": f"zyx{n}"} for n in range(60)))
    cases: list[tuple[Path, type[Exception], str]] = [
        (same, TrainingDataError, "two questions with different answers"),
        (few, TrainingDataError, "at least 2 queries in each set"),
        (blank, TrainingDataError, "question-answer pairs"),
        (unknown, TrainingDataError, "known bi-encoder finds none"),
    ]
    for path, kind, message in cases:
        with pytest.raises(kind, match=message):
            ANNOTATE.run(replace(usual, data=(path,)))
    with pytest.raises(TrainingDataError, match="share between 0 and 1"):
        ANNOTATE.run(replace(usual, dev="1.5"))
    usual.config.write_text(usual.config.read_text().replace("max_length = 16", "max_length = 64"))
    with pytest.raises(TrainingError, match="max_length"):
        ANNOTATE.run(usual)


def test_test_questions_from_a_file_of_their_own(usual: Request, write_lines):
    rows = [{"question": " ".join(bag), "answer": answer(bag)} for bag in BAGS[:9]]
    outcome = ANNOTATE.run(replace(usual, dev=str(write_lines("test.jsonl", *rows))))
    assert outcome.test == 9
    assert outcome.answers == len(BAGS)
    assert sum(outcome.queries.values()) <= len(BAGS) - 9


def test_the_page_worked_by_hand():
    cells = Agreement(2, 1, 3, 4)
    outcome = AnnotationOutcome(
        answers=1000,
        queries={"known bi-encoder": 20, "known cross-encoder": 21, "new bi-encoders": 22},
        test=10,
        seed=7,
        top=50,
        known=0.25,
        reach=0.5,
        cross=CrossQuality(100, 25, 0.125, precision=0.75, recall=0.5),
        rows=(Trained("given", 30, 20, 0.5, 0.1), Trained("intersection", 0, 0, None, None, "too few pairs")),
        contrasts=(Contrast("given", "intersection", cells, (cells,), Difference(0.2, -0.1, 0.5, 0.2)),),
        improved=Improved(0.25, 0.3, 0.5, 0.4, 200, 60),
    )
    page = markdown(outcome)
    assert "| none (known bi-encoder) |  |  | 0.2500 |  |" in page
    assert "| given labels | 30 | 20 | 0.5000 | 0.1000 |" in page
    assert "| given labels ∩ cross-encoder | 0 | 0 | too few pairs |  |" in page
    assert "| all | 2 | 1 | 3 | 4 |" in page
    assert "precision 0.750, recall 0.500" in page
    assert "| bi-encoder, S@1 | 0.2500 | 0.3000 |" in page
    assert outcome.as_dict()["rows"][0] == {
        "name": "given",
        "pairs": 30,
        "queries": 20,
        "Success@1": 0.5,
        "Success@1_se": 0.1,
    }
    assert "given labels: 30 pairs of 20 queries, S@1 0.500" in outcome.text(Path("out"))


def test_a_plain_transformer_is_a_base(usual: Request, tiny_bert_source: Path, tmp_path: Path):
    """A folder in Hugging Face layout, as `save_pretrained` writes it, is trained and saved in the same layout."""
    plain = tmp_path / "plain"
    shutil.copytree(tiny_bert_source, plain, ignore=shutil.ignore_patterns("modules.json", "1_Pooling", "sentence_*"))
    assert folder_of("base", replace(usual, base=plain)) == plain
    tower = TransformerTower.of(plain, TransformerConfig())
    tower.save(tmp_path / "saved", card="", made_with={})
    assert not (tmp_path / "saved" / "modules.json").exists()
    again = TransformerTower.of(tmp_path / "saved", TransformerConfig())
    rows = [vectors(encoder, ["why do cats sleep"], side="question") for encoder in (tower, again)]
    np.testing.assert_array_equal(*rows)
    (plain / "config.json").write_text("{}")
    with pytest.raises(SettingsError, match="Expected a transformer to start bi-encoders from"):
        folder_of("base", replace(usual, base=plain))
