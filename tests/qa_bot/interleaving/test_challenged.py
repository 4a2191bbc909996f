"""A challenger in a home: answers drafted from both rankings, votes on them, and training from the votes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from qa_bot.answering.clock import DRAFTED
from qa_bot.bot import Bot
from qa_bot.cli.app import run
from qa_bot.home.folder import Home
from qa_bot.interleaving.challenger import TEAM
from qa_core.types import Question
from qa_lab.data.fusion_data import of_judgements
from qa_lab.evaluate.systems import rank
from rankers.fusion import FusionConfig, LearnedFusion
from rankers.gbdt import GBDTConfig

QUESTIONS = ("Why do cats sleep all day?", "How do I boil an egg?", "Why is the sky blue?", "How does bread rise?")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a challenger that ranks the formulas' first documents last."""
    home = Home.open(tmp_path_factory.mktemp("challenged") / "home").path
    questions = [Question(question, id=question) for question in QUESTIONS]
    with Bot.open(home, record=False) as bot:
        corridor = bot.corridor()
        ranked = {question.id: rank(corridor, question, engine="hybrid", depth=30).candidates for question in questions}
    qrels = {
        question: {candidate.passage.source.document: int(rank >= 20) for rank, candidate in enumerate(candidates)}
        for question, candidates in ranked.items()
    }
    lessons = of_judgements(questions, qrels, lambda question, depth: ranked[question.id], depth=30)
    config = FusionConfig(trees=GBDTConfig("lambdarank", trees=50, least=2), least=0.0)
    fusion = LearnedFusion.fit(lessons.scores, lessons.grades, config=config, keywords=lessons.keywords)
    fusion.save(home / "challenger", card="")
    return home


def flags(home: Path, share: float) -> dict[str, object]:
    return {"ranking.challenger": str(home / "challenger"), "ranking.challenge": share, "answer.precision": 0.0}


def test_drafted_answers_have_the_team_of_each_candidate(home: Path):
    with Bot.open(home, flags=flags(home, 1.0)) as bot:
        answers = [bot.ask(question, trace=True) for question in QUESTIONS for _ in range(4)]
    firsts = Counter(answer.trace["candidates"][0][TEAM] for answer in answers)
    assert set(firsts) == {0.0, 1.0}
    for answer in answers:
        assert answer.trace["models"]["challenger"]
        assert DRAFTED in answer.timings
        scores = [candidate["score"] for candidate in answer.trace["candidates"]]
        assert scores == sorted(scores, reverse=True)


def test_with_a_share_of_zero_nothing_is_drafted(home: Path):
    with Bot.open(home, flags=flags(home, 0.0)) as bot, Bot.open(home) as plain:
        for question in QUESTIONS:
            answer, unchanged = bot.ask(question, trace=True), plain.ask(question, trace=True)
            assert answer.trace["candidates"] == unchanged.trace["candidates"]
            assert "challenger" not in answer.trace["models"]


def test_evaluation_is_never_drafted(home: Path):
    with Bot.open(home, flags=flags(home, 1.0), record=False) as bot:
        ranking = rank(bot.corridor(), Question(QUESTIONS[0]), engine="hybrid", depth=30)
    assert not any(candidate.signals.drafted is not None for candidate in ranking.candidates)


def test_votes_on_drafts_decide_about_the_challenger(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Users vote for documents of the formulas and against documents of the challenger."""
    with Bot.open(home, flags=flags(home, 1.0)) as bot:
        for number in range(12):
            answer = bot.ask(QUESTIONS[number % 4], conversation=f"{number:032x}", trace=True)
            used = {source.document for source in answer.sources if source.span is not None}
            teams = [row.get(TEAM) for row in answer.trace["candidates"] if row["document"] in used]
            bot.vote(answer.id, "down" if 1.0 in teams else "up")
    (home / "qa-bot.toml").write_text(f'[ranking]\nchallenger = "{home / "challenger"}"\n')
    settings = tmp_path / "settings.toml"
    settings.write_text("folds = 2\n[votes]\nleast = 2\ndrafts = 2\n[fusion.trees]\ntrees = 5\nleast = 2\n")
    command = ["--home", str(home), "train", "fusion", "--from-feedback", "--config", str(settings)]
    assert run([*command, "--out", str(tmp_path / "out"), "--json"]) == 0
    tried = json.loads(capsys.readouterr().out)["votes"]["tried"]
    assert tried["wins"] == 0
    assert tried["losses"] >= 8
    assert run([*command, "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert "the challenger in force, as people voted on drafts from both: voters for it 0, against it" in shown
    assert "it is not better so far" in shown
