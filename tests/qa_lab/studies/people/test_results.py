import json
import math
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from qa_bot.cli import entry_points
from qa_bot.cli.app import run
from qa_lab.studies.people.answers import read_answers
from qa_lab.studies.people.forms import StudyKey
from qa_lab.studies.people.material import Case, write_cases
from qa_lab.studies.people.results import PeopleReport, report
from tests.qa_lab.studies.people.conftest import Save, rated

ANN, BOB = rated((4, 5, 3), (2, 1, 3)), rated((4, 5, 1), (4, 1, 3))


@pytest.fixture
def files(saved: Save) -> list[Path]:
    return [
        saved("1-1", "Ann", ANN, {("mars", "voice"), ("tea", "voice"), ("mars", "topic")}),
        saved("2-1", "Bob", BOB, {("mars", "voice"), ("tea", "plain")}),
    ]


@pytest.fixture
def scores(files: list[Path], key: StudyKey) -> PeopleReport:
    return report(read_answers(files, key), key)


def test_mean_opinion_scores_by_hand(scores: PeopleReport):
    """Plain has 4, 2, 4, 4: mean 3.5, s² = 3/3 = 1, standard error 1/2; by context 4 and 3, voice 5 and 1."""
    quality = {opinion.system: opinion for opinion in scores.opinions if opinion.measure == "quality"}
    plain, voice = quality["plain"], quality["voice"]
    assert (plain.ratings, plain.mean, plain.standard_error) == (4, 3.5, 0.5)
    assert plain.difference is None
    assert (voice.mean, voice.standard_error) == (3.0, pytest.approx(math.sqrt(16 / 3) / 2))
    assert voice.difference is not None
    assert voice.difference.difference == pytest.approx(((5 - 4) + (1 - 3)) / 2)
    assert voice.p == 1.0  # of +1 and −2 with any signs, the sums are ±1 and ±3: all at least as large
    assert quality["topic"].mean == 2.5


def test_shares_of_ticked_replies_by_hand(scores: PeopleReport):
    shares = {(o.measure, o.system): (o.mean, o.ratings) for o in scores.opinions if o.measure != "quality"}
    assert shares == {
        ("style", "plain"): (0.25, 4),
        ("style", "voice"): (0.75, 4),
        ("topic", "plain"): (0.25, 4),
        ("topic", "topic"): (0.25, 4),
    }


def test_agreement_by_hand(scores: PeopleReport):
    """Quality: pairs 44 24 55 11 31 33, so D_o = (2 · 4 + 2 · 4) / 12."""
    values = [4, 4, 2, 4, 5, 5, 1, 1, 3, 1, 3, 3]
    chance = sum((c - k) ** 2 for c in values for k in values) / (12 * 11)
    assert scores.alpha["quality"] == pytest.approx(1 - (16 / 12) / chance)
    assert set(scores.alpha) == {"quality", "style", "topic"}
    assert scores.judges == 2


def test_the_report_is_a_table_and_an_object(scores: PeopleReport):
    lines = scores.text().splitlines()
    assert lines[0] == "| system | ratings | quality (MOS) | style | topic |"
    assert lines[2] == "| plain | 4 | 3.500 ± 0.500 | 25.0% | 25.0% |"
    assert lines[3].startswith("| voice | 4 | 3.000 ± 1.155 (-0.500 [-2.000, +1.000], p 1.000) | 75.0% (+50.0 points [")
    assert "agreement of 2 judges (Krippendorff's α): quality 0." in lines[-1]
    rows = json.loads(json.dumps(scores.as_dict()))["rows"]
    assert rows[0] == {"system": "plain", "measure": "quality", "ratings": 4, "mean": 3.5, "se": 0.5}
    assert rows[1]["difference"] == -0.5


def test_one_rating_has_no_standard_error(key: StudyKey, saved: Save):
    path = saved("1-1", "Ann", {("mars", "plain"): 3})
    one = report(read_answers([path], key, partial=True), key)
    assert [(o.system, o.mean) for o in one.opinions if o.measure == "quality"] == [("plain", 3.0)]
    assert one.as_dict()["rows"][0]["se"] is None
    assert one.as_dict()["alpha"]["quality"] is None


def test_the_verb_makes_and_reads_a_study(cases: list[Case], tmp_path: Path, capsys, monkeypatch):
    point = EntryPoint("study", "qa_lab.studies.commands:app", entry_points.GROUP)
    monkeypatch.setattr(entry_points, "_entry_points", lambda: [point])
    write_cases(tmp_path / "replies.jsonl", cases)
    out = tmp_path / "made"
    arguments = ["--judges", "1", "--persona", "Captain", "--style", "voice"]
    assert run(["study", "make", str(tmp_path / "replies.jsonl"), "--out", str(out), *arguments]) == 0
    assert "1 forms in" in capsys.readouterr().out
    key = StudyKey.load(out)
    answers = [
        {"item": number, "quality": 3, "style": False if item.style else None, "topic": None}
        for number, item in key.forms["1-1"].items()
    ]
    whole = {"format": 1, "study": key.study, "form": "1-1", "judge": "Ann", "answers": answers}
    (tmp_path / "ann.json").write_text(json.dumps(whole))
    assert run(["study", "read", str(out), str(tmp_path / "ann.json")]) == 0
    assert "| voice | 2 | 3.000 ± 0.000 (+0.000 [+0.000, +0.000], p 1.000) |" in capsys.readouterr().out
    assert run(["study", "read", str(out), str(tmp_path / "ann.json"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["judges"] == 1
    (tmp_path / "ann.json").write_text(json.dumps({**whole, "answers": answers[1:]}))
    assert run(["study", "read", str(out), str(tmp_path / "ann.json")]) == 1
    assert "Expected 10 answers, but got " in capsys.readouterr().err
