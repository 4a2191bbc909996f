import json
from dataclasses import replace
from pathlib import Path

import pytest

from qa_lab.errors import SettingsError, TrainingDataError, TrainingError
from qa_lab.train.phrases.phrases import PHRASES
from qa_lab.train.request import Request
from retrievers.training.phrases.phrase_model import PhraseModel

MODEL = "phrases"
SYLLABLES = ("ba", "co", "du", "fe", "gi", "ha", "jo", "ku", "le", "mi", "na", "po")
WORDS = tuple(first + second + last for first in SYLLABLES for second in SYLLABLES for last in "nr")


def test_a_run_leaves_a_model_with_card_and_curve(request_: Request, tmp_path: Path):
    outcome = PHRASES.run(request_)
    assert (outcome.rejected, outcome.left_out["with digits"], outcome.measure) == (1, 1, "AUC")
    assert outcome.after >= outcome.before
    assert json.loads(json.dumps(outcome.as_dict()))["after"]["AUC"] == pytest.approx(outcome.after, abs=1e-6)
    assert f"{outcome.after:.3f}" in outcome.text(request_.out)
    model = PhraseModel.load(request_.out)
    assert len(model.words) == len(WORDS)
    card = (request_.out / "README.md").read_text()
    assert all(part in card for part in ("| composition | recursive |", "words.txt"))


def test_development_pairs_with_scores_are_measured_by_correlation(request_: Request, tmp_path: Path):
    rows = [f"{WORDS[n]} {WORDS[n + 1]}\t{WORDS[n + 2]} {WORDS[n + 3]}\t{n % 5}" for n in range(12)]
    (tmp_path / "dev.tsv").write_text("\n".join(rows))
    outcome = PHRASES.run(replace(request_, dev=str(tmp_path / "dev.tsv")))
    assert (outcome.measure, outcome.held_out) == ("Spearman", 12)
    assert outcome.after > outcome.before


@pytest.mark.parametrize(
    ("text", "error", "reason"),
    [
        ("[phrases]\nbatch = 0\n", SettingsError, "phrases.batch = 0"),
        ("[phrases]\nword_rate = -1.0\n", SettingsError, "phrases.word_rate = -1.0"),
        ("[phrases]\nsampling = 'min'\n", SettingsError, "sampling"),
        ("[phrases]\ncomposition = 'addition'\nword_rate = 0.0\n", TrainingError, "addition with word_rate 0"),
        (
            "vocabulary = 1\n",
            TrainingDataError,
            "none of them is left; left out: .*69 with unknown words|70 with unknown",
        ),
    ],
)
def test_settings_that_cannot_be(request_: Request, text: str, error: type[Exception], reason: str):
    assert request_.config is not None
    request_.config.write_text(text)
    with pytest.raises(error, match=reason):
        PHRASES.run(request_)


def test_data_that_cannot_be_trained_on(request_: Request, tmp_path: Path):
    for share in ("0", "0.95", "1.5"):
        with pytest.raises(TrainingDataError, match=r"a share between 0 and 0\.9"):
            PHRASES.run(replace(request_, dev=share))
    with pytest.raises(TrainingDataError, match="Expected development pairs of both kinds, but got 0 from"):
        PHRASES.run(replace(request_, dev="0.01", limit=8))
    identical = tmp_path / "identical.tsv"
    identical.write_text("\n".join([f"{WORDS[0]} {WORDS[1]}\t{WORDS[2]} {WORDS[3]}"] * 9))
    dev = tmp_path / "dev.tsv"
    dev.write_text(f"{WORDS[0]} {WORDS[9]}\t{WORDS[7]}\t1\n{WORDS[0]}\t{WORDS[8]}\t0\n")
    settings = tmp_path / "none.toml"
    settings.write_text("test = 0.0\n[preparation]\nedits = 0\noverlap = 2.0\n")
    with pytest.raises(TrainingError, match="at least three different phrases"):
        PHRASES.run(replace(request_, data=(identical,), dev=str(dev), config=settings))


def test_training_that_does_harm_is_told(request_: Request, caplog: pytest.LogCaptureFixture):
    assert request_.config is not None
    request_.config.write_text(request_.config.read_text().replace("word_rate = 0.1", "composition_rate = 30.0"))
    outcome = PHRASES.run(request_)
    assert outcome.after < outcome.before
    assert "Expected training to help, but got AUC" in caplog.text


def test_a_batch_larger_than_the_data_is_all_of_it(request_: Request):
    assert request_.config is not None
    request_.config.write_text(request_.config.read_text().replace("batch = 20", "batch = 5000"))
    assert PHRASES.run(request_).pairs < 70
