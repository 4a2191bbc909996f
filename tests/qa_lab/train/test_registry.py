"""Every model that the command line knows has its run, and the tasks that measure them can be reached."""

import pytest

from qa_lab.commands.training import TrainedModel
from qa_lab.train.registry import verb
from qa_lab.train.request import Request

WORDS = ["kitten cat feline", "car automobile", "boat ship vessel", "happy glad", "large big huge", "small little tiny"]


@pytest.mark.parametrize("model", list(TrainedModel))
def test_every_model_has_its_run(model, tmp_path):
    chosen = verb(model.value)
    based = model in (TrainedModel.annotate, TrainedModel.cross_encoder)
    base = {"base": tmp_path} if based else {}
    assert chosen.epochs(Request((tmp_path,), tmp_path / "out", **base)) >= 1
    assert chosen.measure


def test_a_model_nobody_trains_is_refused():
    with pytest.raises(ValueError, match="Expected a model that can be trained, but got 'poems'"):
        verb("poems")


def test_word_vectors_are_trained_and_measured_on_the_command_line(qa_bot, tmp_path):
    lexicon, scored = tmp_path / "pairs.txt", tmp_path / "scored.tsv"
    lexicon.write_text("\n".join(WORDS) + "\n")
    scored.write_text("cat\tkitten\t9\ncar\tboat\t4\nhappy\ttiny\t1\nlarge\thuge\t8\n")
    settings = tmp_path / "settings.toml"
    settings.write_text("further = false\n[paragram]\nepochs = 1\nbatch = 4\n")
    done = qa_bot(
        "train", "paragram", "--data", lexicon, "--out", tmp_path / "words", "--dev", scored, "--config", settings
    )
    assert done.code == 0, done.err
    assert str(tmp_path / "words") in done.out
    called = qa_bot("eval", "words", "--data", scored, "--model", tmp_path / "words", "--encoder", "starter", "--json")
    assert called.code == 0, called.err
    assert [row["encoder"] for row in called.json["models"]]
    assert all(-1 <= row["spearman"] <= 1 for row in called.json["models"])


def test_similar_questions_are_measured_on_the_command_line(qa_bot, write_lines):
    pairs = [{"question": f"why do {w} sleep?", "similar": f"what makes {w} sleepy?"} for w in ("cats", "dogs", "bats")]
    called = qa_bot("eval", "similar", "--data", write_lines("pairs.jsonl", *pairs), "--json")
    assert called.code == 0, called.err
    assert {"dense", "BM25", "identity", "TF-IDF"} <= {row["engine"] for row in called.json["models"]}
    assert called.json["AP@100"] > 0.5


def test_words_of_texts_serve_the_means_of_similar_questions(qa_bot, write_lines, tmp_path):
    texts, settings = tmp_path / "texts.txt", tmp_path / "settings.toml"
    days = ("monday", "tuesday", "wednesday", "thursday")
    texts.write_text("".join(f"cats sleep all {day}\ndogs bark all {day}\nbirds sing all {day}\n" for day in days))
    settings.write_text("minimum = 1\n[skip_gram]\ndimension = 4\nepochs = 1\nsubsample = 1.0\n")
    done = qa_bot(
        "train", "words", "--data", texts, "--out", tmp_path / "words", "--config", settings, "--dev", "0.3", "--json"
    )
    assert done.code == 0, done.err
    assert done.json["words"] >= 4
    pairs = [{"question": f"do {w} sing?", "similar": f"{w} sing?"} for w in ("cats", "dogs", "birds")]
    called = qa_bot(
        "eval", "similar", "--data", write_lines("pairs.jsonl", *pairs), "--model", tmp_path / "words", "--json"
    )
    assert called.code == 0, called.err
    means = [row for row in called.json["models"] if row["encoder"] == "vectors.txt"]
    assert [row["engine"] for row in means] == ["mean", "IDF mean"]


@pytest.mark.parametrize("options", [["--run", "ranked.txt"], ["--errors"]])
def test_what_needs_a_model_says_so(qa_bot, tmp_path, options):
    data = tmp_path / "phrases.txt"
    data.write_text("a big car\ta large automobile\t4\n")
    called = qa_bot("eval", "phrases", "--data", data, *options)
    assert called.code == 2
    assert "Expected --model DIR" in called.err
