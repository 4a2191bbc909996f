"""A challenger in a home: answers drafted from both rankings, votes on them, and what `train fusion` makes of them."""

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
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.fusion_data import of_judgements
from rankers.fusion import FusionConfig, LearnedFusion
from rankers.gbdt import GBDTConfig

ASKED = ("Why do cats sleep all day?", "How do I boil an egg?", "Why is the sky blue?", "How does bread rise?")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a challenger that puts last what the formulas put first."""
    home = Home.open(tmp_path_factory.mktemp("challenged") / "home").path
    questions = [Question(question, id=question) for question in ASKED]
    with Bot.open(home, record=False) as bot:
        corridor = bot.corridor()
        ranked = {each.id: rank(corridor, each, engine="hybrid", depth=30).candidates for each in questions}
    qrels = {
        question: {each.passage.source.document: int(place >= 20) for place, each in enumerate(found)}
        for question, found in ranked.items()
    }
    lessons = of_judgements(questions, qrels, lambda question, depth: ranked[question.id], depth=30)
    config = FusionConfig(trees=GBDTConfig("lambdarank", trees=50, least=2), least=0.0)
    fusion = LearnedFusion.fit(lessons.scores, lessons.grades, config=config, keywords=lessons.keywords)
    fusion.save(home / "challenger", card="")
    return home


def flags(home: Path, share: float) -> dict[str, object]:
    return {"ranking.challenger": str(home / "challenger"), "ranking.challenge": share, "answer.precision": 0.0}


def test_answers_are_drafted_and_say_who_brought_what(home: Path):
    with Bot.open(home, flags=flags(home, 1.0)) as bot:
        answers = [bot.ask(question, trace=True) for question in ASKED for _ in range(4)]
    firsts = Counter(answer.trace["candidates"][0][TEAM] for answer in answers)
    assert set(firsts) == {0.0, 1.0}
    for answer in answers:
        assert answer.trace["models"]["challenger"]
        assert DRAFTED in answer.timings
        scores = [each["score"] for each in answer.trace["candidates"]]
        assert scores == sorted(scores, reverse=True)


def test_without_its_share_nothing_is_drafted(home: Path):
    with Bot.open(home, flags=flags(home, 0.0)) as bot, Bot.open(home) as plain:
        for question in ASKED:
            answer, as_ever = bot.ask(question, trace=True), plain.ask(question, trace=True)
            assert answer.trace["candidates"] == as_ever.trace["candidates"]
            assert "challenger" not in answer.trace["models"]


def test_evaluation_is_never_drafted(home: Path):
    with Bot.open(home, flags=flags(home, 1.0), record=False) as bot:
        found = rank(bot.corridor(), Question(ASKED[0]), engine="hybrid", depth=30)
    assert not any(each.signals.drafted is not None for each in found.candidates)


def test_votes_on_drafts_decide_about_the_challenger(home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """People like what the formulas bring, and not what the challenger brings."""
    with Bot.open(home, flags=flags(home, 1.0)) as bot:
        for number in range(12):
            answer = bot.ask(ASKED[number % 4], conversation=f"{number:032x}", trace=True)
            used = {each.document for each in answer.sources if each.span is not None}
            brought = [each[TEAM] for each in answer.trace["candidates"] if each["document"] in used and TEAM in each]
            bot.vote(answer.id, "down" if 1.0 in brought else "up")
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
