"""The corridor over a small home: ranking, abstention, spans, trace, and stages that are too slow."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from kg_index.answers.answerer import FactAnswer, ParsedQuestion
from kg_index.answers.topics import QuestionEntities
from qa_bot.answering.ask import Ask, Readings
from qa_bot.answering.confidence.calibration import Calibration
from qa_bot.answering.corridor import Corridor
from qa_bot.answering.deadline import Cancelled, Deadline, DeadlineExceededError
from qa_bot.answering.events import STAGES, SourcesFound, StageBegun, TextAdded
from qa_bot.answering.graph.facts import FactResult
from qa_bot.answering.scope import Scope
from qa_bot.answering.stages import passages
from qa_bot.answering.stages.decide import Calibrations
from qa_bot.home.config import Config
from qa_bot.home.sections import AnswerSection, FusionSection, RankingSection, RetrievalSection
from qa_core.types import AnswerSource, Question
from rankers.combination import LEARNED
from rankers.neural import NeuralRanker
from retrievers.expansion import LikelyAnswers
from tests.qa_bot.answering.small_corridor import PAIRS, SURE, UNSURE, ask


class SlowEncoder:
    """An encoder that always exceeds its deadline."""

    quick = False

    def __init__(self, encoder):
        self.dimension, self.fingerprint, self.knows = encoder.dimension, encoder.fingerprint, encoder.knows

    def encode(self, texts, *, side="question"):
        raise DeadlineExceededError


FORMULAS = Config(ranking=RankingSection(formula="evidence"))


def rank(corridor, question, *, seconds=30.0, now=time.monotonic, **options):
    return corridor.rank(Question(question), corridor.start(Deadline.after(seconds, now=now)), **options)


@pytest.mark.parametrize("method", ["mean", "rrf", "rule"])
@pytest.mark.parametrize("name", [row[0] for row in PAIRS])
def test_every_question_finds_its_own_document(corridor, method, name):
    question = next(row[1] for row in PAIRS if row[0] == name)
    answer = ask(corridor(config=Config(fusion=FusionSection(method))), question)
    assert answer.answered
    assert answer.sources[0].document == name
    assert answer.sources[0].url == f"https://example.org/{name}"


@pytest.mark.parametrize("formula", ["passages", "evidence", "clue", "thesis"])
def test_the_document_that_is_the_question_is_left_out(corridor, formula):
    opened = corridor(config=Config(ranking=RankingSection(formula=formula)))
    for id_ in ("cats", "cat", "facts"):  # the latter two name no document
        ranking = rank(opened, "Why do cats purr?", scope=Scope(leave_out=id_))
        documents = [candidate.passage.source.document for candidate in ranking.candidates]
        assert documents
        assert (documents[0] == "cats") == ("cats" in documents) == (id_ != "cats")


def test_the_thesis_multiplies_the_clue_by_the_score_of_the_passage_ranker(corridor):
    config = Config(ranking=RankingSection(formula="thesis", model_weight=0.1))
    likes = NeuralRanker("likes", Likes("moon"))
    ranked = rank(corridor(config=config, models=(likes,)), "Why do tides rise?").candidates
    assert {c.signals.rankers["likes"] for c in ranked} == {0.0, 1.0}
    for candidate in ranked:  # the similarity of the passage, which the ranker replaces, is not part of it
        signals = candidate.signals
        assert signals.combined == signals.clue
        assert candidate.score == pytest.approx(signals.clue * (1 + 0.1 * signals.rankers["likes"]))


def test_a_clue_without_a_body_has_the_snippet_of_its_passage(corridor):
    ranked = rank(corridor(config=Config(ranking=RankingSection(formula="clue"))), "vinegar").candidates
    assert next(c.signals.clue for c in ranked if c.passage.source.document == "rust") > 0  # no title has the word


@pytest.mark.parametrize("engine", ["keyword", "dense", "hybrid"])
def test_each_engine_ranks_alone(corridor, engine):
    ranking = rank(corridor(), "purring cats", mode=engine)
    assert ranking.candidates[0].passage.source.document == "cats"
    names = {ranked_list.name for ranked_list in ranking.lists}
    assert any(name == "evidence:passage" for name in names) == (engine != "keyword")
    assert any(name == "evidence:words" for name in names) == (engine != "dense")


def test_spans_link_the_answer_to_its_passages(corridor):
    answer = ask(corridor(), "Why do cats purr?")
    for source in answer.sources:
        if source.span is not None:
            assert answer.text[slice(*source.span)] == source.text[slice(*source.source_span)]
    assert answer.sources[0].span == (0, len(PAIRS[0][2]))
    documents = [source.document for source in answer.sources]
    assert len(documents) == len(set(documents))


def test_an_abstention_names_the_nearest_document(corridor):
    answer = ask(corridor(calibration=UNSURE), "Why do cats purr?")
    assert (answer.answered, answer.kind, answer.text) == (False, "none", "")
    assert "Why do cats purr?" in answer.reason
    assert answer.sources[0].document == "cats"
    assert all(source.span is None for source in answer.sources)


class StubFacts:
    """A graph with a constant answer and confidence, or one that exceeds its deadline."""

    def __init__(self, confidence, *, threshold=0.5, slow=False):
        self._result = FactResult(
            ParsedQuestion("", QuestionEntities((), ()), ()), FactAnswer("It is 42.", ()), confidence, threshold
        )
        self._slow = slow

    def find(self, question, *, check):
        if self._slow:
            raise DeadlineExceededError
        return self._result

    def sources(self, result):
        return (AnswerSource("42", "42", "graph", "42", "", result.confidence, "42", (6, 8), (0, 2)),)


@pytest.mark.parametrize(
    ("fact", "passage", "kind"),
    [
        (0.9, 0.5, "fact"),
        (0.9, 0.94, "fact"),  # a tie
        (0.9, 0.96, "passage"),
        (0.4, 0.6, "passage"),  # below its threshold
        (0.6, None, "fact"),
        (0.4, None, "none"),
    ],
)
def test_fact_and_passage_compete_by_confidence(corridor, fact, passage, kind):
    logit = 0.0 if passage is None else float(np.log(passage / (1 - passage)))
    calibration = Calibration((), (), (), (), logit, (0.0,) if passage else (0.99,), (1.0,))
    answer = ask(corridor(calibration=calibration, facts=StubFacts(fact)), "Why do cats purr?")
    assert answer.kind == kind
    assert answer.confidence == pytest.approx(fact if kind == "fact" else passage or 0.5, abs=1e-3)
    assert answer.sources[0].collection == ("graph" if kind == "fact" else "facts")
    assert answer.sources[-1].collection == "facts", "documents follow"


def test_a_slow_graph_is_skipped(corridor):
    answer = ask(corridor(facts=StubFacts(1.0, slow=True)), "Why do cats purr?")
    assert answer.kind == "passage"
    assert "facts" in answer.skipped


@pytest.mark.parametrize(("question", "word"), [("", "empty"), ("  ", "empty"), ("xqzt vrrb", "mentions")])
def test_questions_without_candidates_are_not_answered(index, corridor, question, word):
    answer = ask(corridor(encoder=None), question)
    assert not answer.answered
    assert word in answer.reason
    assert answer.sources == ()


def test_a_slow_encoder_is_skipped_and_named(corridor, encoder):
    answer = ask(corridor(encoder=SlowEncoder(encoder)), "Why do cats purr?")
    assert "dense" in answer.skipped
    assert "dense" in answer.timings


def test_one_worker_is_enough(index, encoder):
    with ThreadPoolExecutor(1) as alone:
        only = Corridor(index, encoder, Calibrations(*[SURE] * 6), Config(), alone)
        answer = ask(only, "Why do cats purr?")
    assert answer.sources[0].document == "cats"
    assert answer.skipped == ()


def test_without_the_encoder_the_keyword_calibration_is_used(corridor, encoder):
    late = corridor(encoder=SlowEncoder(encoder), calibration=UNSURE, keyword=SURE)
    assert ask(late, "Why do cats purr?").answered
    assert not ask(corridor(calibration=UNSURE, keyword=SURE), "Why do cats purr?").answered


def test_slow_ranking_falls_back_to_the_fused_order(corridor, monkeypatch, now):
    slow = corridor(config=FORMULAS)
    clue_scorer = slow._ranking._clue_scorer

    def slow_scorer(question, language):
        scorer = clue_scorer(question, language)
        return lambda passage: now.advance(0.2) or scorer(passage)

    monkeypatch.setattr(slow._ranking, "_clue_scorer", slow_scorer)
    answer = ask(slow, "Why do cats purr?", seconds=1.0, now=now)
    assert "rank" in answer.skipped
    ranking = rank(slow, "Why do cats purr?", seconds=1.0, now=now)
    assert ranking.candidates[0].passage.source.document == "cats"


class Likes:
    """A ranker's scorer that prefers passages with one word; `spend` is called for each batch."""

    def __init__(self, word, spend=lambda: None):
        self._word, self._spend = word, spend
        self.scored = 0

    def score(self, pairs):
        self._spend()
        self.scored += len(pairs)
        return np.array([self._word in passage for _, passage in pairs], dtype=np.float32)


def test_trained_rankers_reorder_the_first_candidates(corridor):
    """With w_p = 1000 the rankers' scores decide; with w_p = 0 nothing changes."""
    plain = ask(corridor(), "Why do cats purr in the moon?", trace=True)
    order = [source.document for source in plain.sources]
    texts = {row[0]: row[2] for row in PAIRS if row[0] != order[0]}
    liked = next(word for word in ("steep", "Yeast", "vinegar") if any(word in text for text in texts.values()))
    models = [NeuralRanker("cheap", Likes(liked)), NeuralRanker("costly", Likes("nothing"), depth=2)]
    heavy = Config(ranking=RankingSection(model_weight=1000.0))
    answer = ask(corridor(config=heavy, models=models), "Why do cats purr in the moon?", trace=True)
    first, *_, last = answer.trace["candidates"]
    assert liked in answer.sources[0].text
    assert first["cheap"] == 1
    assert "costly" in first
    assert "costly" not in last
    assert models[1].scorer.scored == 2
    assert {"cheap", "costly"} <= answer.timings.keys()
    assert answer.trace["models"]["rankers"] == ["cheap", "costly"]
    assert answer.confidence == plain.confidence or answer.sources[0].document != order[0]
    light = corridor(config=Config(ranking=RankingSection(model_weight=0.0)), models=models)
    assert [source.document for source in ask(light, "Why do cats purr in the moon?").sources] == order


@pytest.mark.parametrize("name", ["owned", "team", "cascade", "title_similarity", "dense:titles"])
def test_a_ranker_may_have_any_name(corridor, name):
    """A regression test: such scores were confused with signals of the corridor."""
    plain = ask(corridor(), "Why do cats purr?", trace=True)
    named = ask(corridor(models=[NeuralRanker(name, Likes("nothing"))]), "Why do cats purr?", trace=True)
    assert (named.text, named.confidence) == (plain.text, plain.confidence)
    assert named.confidence < 1.0
    for before, after in zip(plain.trace["candidates"], named.trace["candidates"], strict=True):
        assert {key: after.get(key) for key in before} == before


def test_a_slow_ranker_is_skipped_and_the_order_stays(corridor, now):
    slow = NeuralRanker("slow", Likes("Yeast", lambda: now.advance(0.4)), batch=1)
    answer = ask(corridor(models=[slow]), "Why do cats purr?", seconds=1.0, now=now)
    assert answer.skipped == ("slow",)
    assert answer.sources[0].document == "cats"


class Reversing:
    """A fusion that reverses the order of the passages."""

    def __init__(self, spend=lambda: None):
        self._spend = spend

    def rank(self, question, candidates, *, check):
        self._spend()
        check()
        return [candidate.scored(float(rank), learned=float(rank)) for rank, candidate in enumerate(candidates)][::-1]


def test_a_learned_fusion_decides_the_final_order(corridor):
    plain = ask(corridor(), "Why do cats purr?", trace=True)
    turned = ask(corridor(fusion=Reversing()), "Why do cats purr?", trace=True)
    documents = [[candidate["document"] for candidate in answer.trace["candidates"]] for answer in (plain, turned)]
    assert documents[1] == documents[0][::-1]
    assert turned.trace["candidates"][0][LEARNED] == len(documents[0]) - 1
    assert turned.trace["models"]["rankers"] == [LEARNED]
    assert LEARNED in turned.timings


def test_a_slow_fusion_is_skipped_and_the_order_stays(corridor, now):
    answer = ask(corridor(fusion=Reversing(lambda: now.advance(0.6))), "Why do cats purr?", seconds=1.0, now=now)
    assert answer.skipped == (LEARNED,)
    assert answer.sources[0].document == "cats"


def test_an_expired_deadline_gives_a_reason_instead_of_an_answer(corridor):
    answer = ask(corridor(), "Why do cats purr?", seconds=0.0)
    assert not answer.answered
    assert set(answer.skipped) >= {"keyword", "dense"}
    assert "longer deadline" in answer.reason


def test_readings_are_searched_in_place_of_the_question(corridor):
    readings = Readings(("and why?", "Why does bread dough rise? and why?"))
    assert ask(corridor(), "and why?", readings=readings).sources[0].document == "bread"


def test_the_trace_shows_every_search(corridor):
    trace = ask(corridor(), "Why do cats purr?", trace=True).trace
    best = trace["candidates"][0]
    searches = {f"evidence:{name}" for name in ("passage", "unit", "words", "pieces", "title", "title words")}
    assert {"fusion", "combined", "title_similarity", "passage_similarity", *searches} <= set(best)


def test_slow_ranking_falls_back_to_the_order_of_the_words(corridor, monkeypatch, now):
    monkeypatch.setattr(passages, "_channels", lambda *_: now.advance(2.0) or ({}, {}))
    monkeypatch.setattr(passages, "_sum", lambda *_: pytest.fail("there is no time left"))
    slow = corridor()
    monkeypatch.setattr(passages, "scaled", lambda *_, **__: pytest.fail("there is no time left"))
    ranking = rank(slow, "Why do cats purr?", seconds=1.0, now=now)
    assert ranking.skipped == ("rank",)
    assert ranking.candidates[0].passage.source.document == "cats"


def test_the_trace_shows_every_stage_of_the_formulas(corridor):
    trace = ask(corridor(config=FORMULAS), "Why do cats purr?", trace=True).trace
    assert {query["name"] for query in trace["queries"]} == {"whole:all", "whole:title", "dense"}
    best = trace["candidates"][0]
    assert best["document"] == "cats"
    assert {"fusion", "clue", "title_similarity", "passage_similarity", "whole:all", "dense:titles"} <= set(best)
    assert trace["models"] == {"encoder": "starter", "rankers": []}
    assert ask(corridor(), "Why do cats purr?").trace is None


def test_relevance_feedback_retrieves_documents_without_a_word_of_the_question(corridor):
    question = "What causes the tides?"

    def documents(feedback):
        config = Config(retrieval=RetrievalSection(feedback=feedback))
        ranking = rank(corridor(config=config), question, mode="keyword")
        return [candidate.passage.source.document for candidate in ranking.candidates]

    assert documents(0) == ["tides"]
    assert documents(1)[:2] == ["tides", "moon"]  # by way of "moon" and "earth" in the answer about tides


class Guesses:
    """Generates one answer, and notes for which texts."""

    def __init__(self, *words, seconds=0.0, now=None):
        self.words, self.seconds, self.now, self.asked = words, seconds, now, []

    def likely_answers(self, question, *, language, check):
        self.asked.append((question, language))
        if self.now is not None:
            self.now.advance(self.seconds)
        check()
        return LikelyAnswers(((self.words, -1.0),), terms=5, weight=0.5)


@pytest.mark.parametrize("config", [None, FORMULAS])
def test_words_of_generated_answers_are_searched_too(corridor, config):
    guesses, question = Guesses("yeast"), "What causes the tides?"
    ranking = rank(corridor(config=config, expander=guesses), question, mode="keyword")
    assert [candidate.passage.source.document for candidate in ranking.candidates] == ["tides", "bread"]
    assert guesses.asked == [(question, "en")]
    assert ranking.formulation.content_terms == ("caus", "tide")  # confidence does not count the guessed words


def test_answers_that_take_too_long_expand_nothing(corridor, now):
    late = corridor(expander=Guesses("yeast", seconds=2.1, now=now))
    ranking = rank(late, "What causes the tides?", mode="keyword", seconds=10.0, now=now)
    assert ranking.skipped == ("expand",)
    assert [candidate.passage.source.document for candidate in ranking.candidates] == ["tides"]


def test_the_limit_bounds_the_answer(corridor):
    answer = ask(corridor(config=Config(answer=AnswerSection(limit=20))), "Why do cats purr?")
    assert 0 < len(answer.text) <= 20


@pytest.mark.slow
def test_a_question_of_a_hundred_thousand_words(corridor):
    assert ask(corridor(), "why do cats purr " * 25_000).sources[0].document == "cats"


def test_a_listener_receives_stages_sources_and_pieces_of_the_text(corridor):
    events = []
    answer = ask(corridor(), "Why do cats purr?", listen=events.append)
    assert [e.stage for e in events if isinstance(e, StageBegun)] == [
        stage for stage in STAGES if stage != "style"
    ]  # no persona was requested
    assert [e.sources for e in events if isinstance(e, SourcesFound)] == [answer.sources]
    pieces = [e.text for e in events if isinstance(e, TextAdded)]
    assert "".join(pieces) == answer.text
    assert events.index(SourcesFound(answer.sources)) < events.index(TextAdded(pieces[0]))


def test_an_abstention_has_sources_but_no_text(corridor):
    events = []
    answer = ask(corridor(calibration=UNSURE), "Why do cats purr?", listen=events.append)
    assert not any(isinstance(e, TextAdded) for e in events)
    assert SourcesFound(answer.sources) in events


def test_a_cancelled_question_is_not_answered(corridor):
    cancelled = Event()
    cancelled.set()
    opened = corridor()
    with pytest.raises(Cancelled):
        opened.answer(Ask(Question("Why do cats purr?")), opened.start(Deadline.after(10, cancelled)))
