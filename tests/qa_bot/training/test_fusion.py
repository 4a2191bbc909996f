"""`train fusion` from answer selection data, from a judged collection, and from people's votes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from qa_bot.bot import Bot
from qa_bot.config import RankingSection
from qa_bot.evaluation.answers import evaluate_answers
from qa_bot.home import Home
from qa_bot.rankers import RankerError, open_cascade, open_ranker, open_rankers
from qa_bot.training.fusion import configured, train_fusion
from qa_bot.training.pairs import TrainingDataError
from qa_bot.training.request import Request
from qa_bot.training.settings import SettingsError
from rankers.fusion import FusedScorer, LearnedFusion

THINGS = ("apples", "bread", "cheese", "dates", "eggs", "figs", "grapes", "honey", "ice", "jam", "kale", "lemons")
SMALL = 'folds = 3\n[fusion.trees]\nobjective = "lambdarank"\ntrees = 20\nleast = 2\n'


@pytest.fixture
def data(write_lines: Callable[..., Path]) -> Path:
    """Twelve questions, of whose three answers the right one shares two words with it."""
    rows = ["qid\tquestion\tanswer\tlabel"]
    for number, thing in enumerate(THINGS):
        rows.append(f"{number}\twhere are {thing} kept at night\t{thing} are kept in the cellar\t1")
        rows.append(f"{number}\twhere are {thing} kept at night\t{thing} cost three coins\t0")
        rows.append(f"{number}\twhere are {thing} kept at night\tit rained on Sunday\t0")
    return write_lines("answers.tsv", *rows)


@pytest.fixture
def request_(data: Path, tmp_path: Path) -> Request:
    settings = tmp_path / "settings.toml"
    settings.write_text(SMALL)
    return Request((data,), tmp_path / "fusion", config=settings, seed=1)


def test_answer_selection_data_makes_a_fusion_that_can_be_measured(request_: Request, data: Path, tmp_path: Path):
    outcome = train_fusion(replace(request_, plots=True))
    assert (request_.out / "importances.png").read_bytes().startswith(b"\x89PNG")
    assert (outcome.questions, outcome.candidates, outcome.held_out) == (12, 36, 0)
    assert outcome.fusion["AP"] == 1
    assert outcome.stages["bm25"]["AP"] == 1
    assert sum(outcome.importances.values()) == pytest.approx(1)
    assert "by cross-validation" in outcome.text(request_.out)
    assert "the fusion, by cross-validation" in (request_.out / "README.md").read_text()
    scorer = open_ranker(request_.out)
    assert isinstance(scorer, FusedScorer)
    pairs = [("where are figs kept at night", a) for a in ("it rained on Sunday", "figs are kept in the cellar")]
    assert scorer.score(pairs).argmax() == 1
    rows = evaluate_answers(data, models=[request_.out])
    assert rows[1].scores["AP"].mean == 1
    assert str(tmp_path) not in (request_.out / "README.md").read_text()


def test_a_fusion_joins_rankers_of_the_settings(request_: Request, tmp_path: Path):
    train_fusion(request_)
    keywords_alone = tmp_path / "first"
    request_.out.rename(keywords_alone)
    request_.config.write_text(f'models = "{keywords_alone}"\n' + SMALL)
    with pytest.raises(SettingsError, match=r"models: .*is a learned fusion; name it by ranking\.fusion"):
        train_fusion(request_)
    request_.config.write_text('models = "nowhere"\n' + SMALL)
    with pytest.raises(SettingsError, match="models: Expected a trained ranker in nowhere"):
        train_fusion(request_)


def test_held_out_questions_take_the_place_of_cross_validation(request_: Request, data: Path):
    outcome = train_fusion(replace(request_, dev=str(data)))
    assert outcome.held_out == 12
    assert "on 12 held-out questions" in outcome.text(request_.out)


def test_a_judged_collection(request_: Request, tmp_path: Path):
    folder = tmp_path / "judged"
    folder.mkdir()
    corpus = [
        {"_id": f"{t}-{i}", "title": f"{t} {w}", "text": f"{t} are {w}."}
        for t in THINGS
        for i, w in enumerate(("kept cool", "sold", "red"))
    ]
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, corpus)))
    queries = [{"_id": t, "text": f"how are {t} kept"} for t in THINGS]
    (folder / "dev.queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    lines = [f"{t}\t{t}-{i}\t{grade}" for t in THINGS for i, grade in enumerate((3, 0, 0))]
    (folder / "dev.qrels.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines]))
    outcome = train_fusion(replace(request_, data=(folder,)))
    assert outcome.questions == 12
    assert outcome.fusion["RR"] > 0.9
    assert {"evidence", "clue", "title_similarity"} <= outcome.stages.keys()
    home = Home.open(tmp_path / "home")
    with Bot.open(home.path, flags={"ranking.fusion": str(request_.out)}) as bot:
        answer = bot.ask("Why do cats sleep all day?", trace=True)
    assert "learned" in answer.timings
    assert answer.trace["models"]["rankers"] == ["learned"]
    assert all("learned" in each for each in answer.trace["candidates"])


def test_votes_of_a_home(request_: Request, tmp_path: Path):
    home = Home.open(tmp_path / "home")
    questions = ["Why do cats sleep all day?", "How do I boil an egg?", "Why is the sky blue?", "How does bread rise?"]
    with Bot.open(home.path) as bot:
        answers = [bot.ask(question) for question in questions]
        with pytest.raises(TrainingDataError, match="Expected votes on at least 3 answers, but got 0"):
            train_fusion(replace(request_, data=(), feedback=home.path))
        for place, answer in enumerate(answers):
            bot.store.save_feedback(answer.id, "up" if place else "down")
    outcome = train_fusion(replace(request_, data=(), feedback=home.path))
    assert outcome.questions == 4
    assert outcome.candidates > 40
    fusion = LearnedFusion.load(request_.out)
    assert "evidence" in fusion.names
    assert np.isfinite([outcome.fusion["RR"]]).all()


def test_what_cannot_be_used_is_refused(request_: Request, tmp_path: Path):
    with pytest.raises(SettingsError, match="Expected no --resume"):
        configured(replace(request_, resume=True))
    request_.config.write_text("folds = 1\n")
    with pytest.raises(SettingsError, match="Expected folds and depth of 2 or more"):
        configured(request_)
    request_.config.write_text("[fusion]\nleast = 1.5\n")
    with pytest.raises(SettingsError, match=r"least from 0 to 1, but got .* least = 1\.5"):
        configured(request_)
    request_.config.write_text("folds = 13\n")
    with pytest.raises(TrainingDataError, match="Expected at least 13 questions"):
        train_fusion(request_)
    with pytest.raises(RankerError, match=r"Expected the --out of a `qa-bot train fusion`"):
        open_cascade(RankingSection(fusion=str(tmp_path / "nowhere")))
    assert open_rankers("") == ()
