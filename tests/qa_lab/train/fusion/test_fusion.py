"""`train fusion` from answer selection data, from a judged collection, and from people's votes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from qa_bot.answering.models.ranker_loading import RankerError, open_configured, open_ranker, open_rankers
from qa_bot.bot import Bot
from qa_bot.cli.app import run
from qa_bot.home.folder import Home
from qa_bot.home.sections import RankingSection
from qa_core.types import Question
from qa_lab.data.fusion_data import of_judgements
from qa_lab.errors import SettingsError, TrainingDataError
from qa_lab.evaluate.answers import evaluate_answers
from qa_lab.evaluate.systems import rank
from qa_lab.train.fusion.fusion import FUSION
from qa_lab.train.request import Request
from rankers.fusion import FusedScorer, FusionConfig, LearnedFusion
from rankers.gbdt import GBDTConfig

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
    outcome = FUSION.run(replace(request_, plots=True))
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
    FUSION.run(request_)
    keywords_alone = tmp_path / "first"
    request_.out.rename(keywords_alone)
    request_.config.write_text(f'models = "{keywords_alone}"\n' + SMALL)
    with pytest.raises(SettingsError, match=r"models: .*is a learned fusion; name it by ranking\.fusion"):
        FUSION.run(request_)
    request_.config.write_text('models = "nowhere"\n' + SMALL)
    with pytest.raises(SettingsError, match="models: Expected a trained ranker in nowhere"):
        FUSION.run(request_)


def test_held_out_questions_take_the_place_of_cross_validation(request_: Request, data: Path):
    outcome = FUSION.run(replace(request_, dev=str(data)))
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
    outcome = FUSION.run(replace(request_, data=(folder,)))
    assert outcome.questions == 12
    assert outcome.fusion["RR"] > 0.9
    assert {"combined", "evidence:words", "title_similarity"} <= outcome.stages.keys()
    home = Home.open(tmp_path / "home")
    with Bot.open(home.path, flags={"ranking.fusion": str(request_.out)}) as bot:
        answer = bot.ask("Why do cats sleep all day?", trace=True)
    assert "learned" in answer.timings
    assert answer.trace["models"]["rankers"] == ["learned"]
    assert all("learned" in item for item in answer.trace["candidates"])


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return Home.open(tmp_path / "home").path


@pytest.fixture
def voted(request_: Request, home: Path, tmp_path: Path) -> Request:
    """To learn from few votes."""
    request_.config.write_text("folds = 3\n[votes]\nleast = 4\ndrafts = 5\n[fusion.trees]\ntrees = 20\nleast = 2\n")
    return replace(request_, data=(), feedback=home)


def ask_and_vote(home: Path, votes_by_question: Mapping[str, Sequence[bool]], *, fusion: str = "") -> None:
    """Each question is asked in as many conversations, which vote on the answer."""
    with Bot.open(home, flags={"ranking.fusion": fusion or None}) as bot:
        for question, votes in votes_by_question.items():
            for number, up in enumerate(votes):
                answer = bot.ask(question, conversation=f"{number:032x}")
                bot.store.save_feedback(answer.id, "up" if up else "down")


ASKED = (
    "Why do cats sleep all day?",
    "How do I boil an egg?",
    "Why is the sky blue?",
    "How does bread rise?",
    "Why do leaves change colour in autumn?",
    "How do vaccines work?",
)


@pytest.mark.slow
def test_votes_of_a_home(voted: Request, home: Path):
    ask_and_vote(home, dict.fromkeys(ASKED, (True, True)))
    outcome = FUSION.run(voted)
    assert outcome.questions == 6
    assert outcome.candidates > 60
    assert outcome.votes is not None
    assert (outcome.votes.voters, outcome.votes.better) == (2, False)
    printed = outcome.text(voted.out)
    assert "against the present ranking, interleaved, by" in printed
    assert "keep the present one: it wins 0 questions and loses" in printed
    assert f"or let people decide: qa-bot config set ranking.challenger {voted.out}" in printed
    assert "use it:" not in printed
    assert outcome.as_dict()["votes"]["better"] is False
    card = (voted.out / "README.md").read_text()
    assert "So it was not better: it wins 0 questions" in card
    fusion = LearnedFusion.load(voted.out)
    assert "evidence:words" in fusion.names
    assert fusion.prior is not None
    with Bot.open(home, flags={"ranking.fusion": str(voted.out)}) as bot:
        answer = bot.ask("Why do cats sleep all day?", trace=True)
    scores = [item["learned"] for item in answer.trace["candidates"]]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score < 1 for score in scores)


def test_a_fusion_that_wins_against_the_one_in_force_is_recommended(voted: Request, home: Path, tmp_path: Path):
    """The fusion in force learned to rank the best documents last, and users dislike its answers."""
    backwards = tmp_path / "backwards"
    questions = [Question(question, id=question) for question in ASKED]
    with Bot.open(home, record=False) as bot:
        corridor = bot.corridor()
        ranked = {item.id: rank(corridor, item, engine="hybrid", depth=30).candidates for item in questions}
        qrels = {
            question: {item.passage.source.document: int(number >= 15) for number, item in enumerate(candidates)}
            for question, candidates in ranked.items()
        }
        lessons = of_judgements(questions, qrels, lambda question, depth: ranked[question.id], depth=30)
    config = FusionConfig(trees=GBDTConfig("lambdarank", trees=50, least=2), least=0.0)
    LearnedFusion.fit(lessons.scores, lessons.grades, config=config, keywords=lessons.keywords).save(backwards, card="")
    ask_and_vote(home, dict.fromkeys(ASKED, (True, True)))
    (home / "qa-bot.toml").write_text(f'[ranking]\nfusion = "{backwards}"\n')
    outcome = FUSION.run(voted)
    assert outcome.votes is not None
    assert outcome.votes.better, outcome.votes.shortcomings
    assert outcome.votes.present_ndcg == pytest.approx(outcome.stages["the present ranking"]["nDCG@10"], abs=1e-6)
    assert f"use it: qa-bot config set ranking.fusion {voted.out}" in outcome.text(voted.out)
    assert "So it was better." in (voted.out / "README.md").read_text()


def test_too_few_votes_are_counted(voted: Request, home: Path):
    with pytest.raises(
        TrainingDataError, match="Expected votes on at least 4 different questions, but got 0, 4 too few"
    ):
        FUSION.run(voted)
    ask_and_vote(home, {ASKED[0]: (True, True, False), "why do cats sleep ALL day": (True,), ASKED[1]: (True,)})
    with pytest.raises(TrainingDataError, match="but got 2, 2 too few; vote on more answers in the chat, or lower"):
        FUSION.run(voted)
    voted.config.write_text("")
    with pytest.raises(
        TrainingDataError, match="Expected votes on at least 20 different questions, but got 2, 18 too few"
    ):
        FUSION.run(voted)


def test_settings_of_votes_are_checked(voted: Request):
    voted.config.write_text("[votes]\nagree = 0\nunvoted = 0.0\n")
    with pytest.raises(
        SettingsError, match=r"Expected counts of 1 or more .* but got votes\.agree = 0, votes\.unvoted = 0"
    ):
        FUSION.settings(voted)
    voted.config.write_text('[fusion.trees]\nobjective = "lambdarank"\n')
    with pytest.raises(
        SettingsError, match="Expected the objective cross_entropy, which learns from votes, but got lam"
    ):
        FUSION.settings(voted)
    voted.config.write_text('[fusion.trees]\nobjective = "cross_entropy"\n')
    with pytest.raises(SettingsError, match="Expected the objective lambdarank or binary, but got cross_entropy"):
        FUSION.settings(replace(voted, feedback=None))


def test_the_command_line_learns_from_the_votes_of_its_home(
    voted: Request, home: Path, capsys: pytest.CaptureFixture[str]
):
    ask_and_vote(home, dict.fromkeys(ASKED, (True, False)))
    command = ["--home", str(home), "train", "fusion", "--from-feedback", "--config", str(voted.config)]
    command += ["--out", str(voted.out)]
    assert run([*command, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["votes"].keys() == {"interleaved", "ndcg", "present_ndcg", "voices", "voters", "tried", "better"}
    assert printed["votes"]["interleaved"].keys() == {"wins", "losses", "ties", "p", "margin"}
    assert run(command) == 0
    shown = capsys.readouterr().out
    assert ("use it:" in shown) == printed["votes"]["better"]
    assert ("keep the present one:" in shown) != printed["votes"]["better"]
    voted.config.write_text("")
    assert run(command) == 1
    error = capsys.readouterr().err
    assert "Expected votes on at least 20 different questions, but got 6, 14 too few" in error


def test_what_cannot_be_used_is_refused(request_: Request, tmp_path: Path):
    with pytest.raises(SettingsError, match="Expected no --resume"):
        FUSION.settings(replace(request_, resume=True))
    request_.config.write_text("folds = 1\n")
    with pytest.raises(SettingsError, match="Expected folds and depth of 2 or more"):
        FUSION.settings(request_)
    request_.config.write_text("[fusion]\nleast = 1.5\n")
    with pytest.raises(SettingsError, match=r"least from 0 to 1, but got .* least = 1\.5"):
        FUSION.settings(request_)
    request_.config.write_text("folds = 13\n")
    with pytest.raises(TrainingDataError, match="Expected at least 13 questions"):
        FUSION.run(request_)
    with pytest.raises(RankerError, match=r"Expected the --out of a `qa-bot train fusion`"):
        open_configured(RankingSection(fusion=str(tmp_path / "nowhere")))
    assert open_rankers("") == ()
