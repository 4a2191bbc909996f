import math

import ir_measures
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from qa_core.measures.metrics import (
    MEASURES,
    Score,
    accuracy,
    avg_score,
    avg_score_condensed,
    evaluate,
    liveqa,
    paired_bootstrap,
    prec_at,
    spearman,
    standard_error,
    succ_at,
    unjudged_at_1,
)

QRELS = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": 3}, "q3": {"a": 1}}
RUN = {"q1": {"b": 9.0, "a": 8.0, "x": 7.0, "c": 6.0}, "q2": {"a": 1.0}}


def test_hand_worked_figures():
    scores = evaluate(QRELS, RUN)
    # q1 ranks b a x c with a and c relevant: AP (1/2 + 2/4) / 2; q2 is perfect; q3 has no results
    assert scores["AP"].per_query == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert scores["AP"].mean == 0.5
    assert scores["AP"].standard_error == pytest.approx(0.5 / math.sqrt(3))
    assert scores["RR"].per_query == {"q1": 0.5, "q2": 1.0, "q3": 0.0}
    assert scores["P@1"].per_query == {"q1": 0.0, "q2": 1.0, "q3": 0.0}
    gain = 1 / math.log2(3) + 2 / math.log2(5)
    ideal = 2 + 1 / math.log2(3)
    assert scores["nDCG@10"].per_query["q1"] == pytest.approx(gain / ideal)
    assert set(scores) == set(MEASURES)


def test_relevant_raises_the_least_grade_of_binary_measures_only():
    scores = evaluate(QRELS, RUN, ["RR", "R@100", "nDCG@10"], relevant=2)
    assert scores["RR"].per_query == {"q1": 0.25, "q2": 1.0, "q3": 0.0}
    assert scores["R@100"].per_query == {"q1": 1.0, "q2": 1.0, "q3": 0.0}
    assert scores["nDCG@10"].per_query == evaluate(QRELS, RUN, ["nDCG@10"])["nDCG@10"].per_query


def test_a_query_without_relevant_documents_counts():
    assert evaluate({"q1": {"a": 1}, "q2": {"a": 0}}, {"q1": {"a": 1.0}, "q2": {"a": 1.0}}, ["AP"])["AP"].mean == 0.5


def test_unjudged_queries_do_not_count():
    assert evaluate({"q1": {"a": 1}}, {"q1": {"a": 1.0}, "q2": {"b": 1.0}}, ["AP"])["AP"].mean == 1.0


def test_negative_grades_gain_nothing():
    assert evaluate({"q": {"a": -2, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}, ["nDCG@10", "P@1"])["P@1"].mean == 0.0


def test_an_empty_run_is_zero_everywhere():
    assert {score.mean for score in evaluate(QRELS, {}).values()} == {0.0}
    assert {score.mean for score in evaluate(QRELS, {"q1": {}}).values()} == {0.0}


grades = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), min_size=1)
scored = st.dictionaries(st.sampled_from("abcdefghxyz"), st.integers(-1000, 1000))


@settings(max_examples=50)
@given(st.dictionaries(st.sampled_from("123"), grades, min_size=1), st.lists(scored, min_size=3, max_size=3))
def test_agrees_with_trec_eval_where_nothing_ties(qrels, lists):
    run = {
        query: {d: float(s) for d, s in documents.items() if list(documents.values()).count(s) == 1}
        for query, documents in zip("123", lists, strict=True)
        if query in qrels
    }
    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    run = {query: documents for query, documents in run.items() if documents}
    expected = ir_measures.calc_aggregate(measures, qrels, run)
    scores = evaluate(qrels, run)
    for measure in measures:
        assert scores[str(measure)].mean == pytest.approx(expected[measure])


def test_a_constant_score_gives_the_random_figure():
    queries, documents = 2000, 10
    qrels = {f"q{q}": {f"d{d}": int(d == 0) for d in range(documents)} for q in range(queries)}
    run = {query: dict.fromkeys(judged, 1.0) for query, judged in qrels.items()}
    scores = evaluate(qrels, run, ["RR", "P@1"])
    # one relevant document at a uniform rank of ten: E[1/rank] = H(10) / 10, P(rank = 1) = 1/10
    expected = {"RR": sum(1 / rank for rank in range(1, 11)) / 10, "P@1": 0.1}
    for name, value in expected.items():
        assert abs(scores[name].mean - value) < 4 * scores[name].standard_error


def test_ties_do_not_see_the_order_of_the_file():
    qrels = {"q": {"a": 1}}
    documents = [*"zyxwva"]
    one, other = (dict.fromkeys(order, 0.5) for order in (documents, reversed(documents)))
    assert evaluate(qrels, {"q": one}, ["RR"])["RR"].mean == evaluate(qrels, {"q": other}, ["RR"])["RR"].mean


@pytest.mark.parametrize("name", ["S@1", "P", "P@0", "AP@ten", "__import__('os')", ""])
def test_an_unknown_measure_is_named(name):
    with pytest.raises(ValueError, match=r"Expected a measure such as AP, .*, but got"):
        evaluate(QRELS, RUN, [name])


def test_mismatched_files_are_noticed():
    with pytest.raises(ValueError, match=r"judged queries \(such as 'q1'\), but got only others \(such as '1'\)"):
        evaluate(QRELS, {"1": {"a": 1.0}})
    with pytest.raises(ValueError, match="at least one query"):
        evaluate({}, RUN)
    with pytest.raises(ValueError, match="score of document 'a' for query 'q2', but got NaN"):
        evaluate(QRELS, {"q2": {"a": math.nan}})


GRADED = {"q1": {"a": 3, "b": 1}, "q2": {"a": 2}, "q3": {"a": 1}, "q4": {"a": -2}, "q5": {"a": 1}}
RANKED = {"q1": ["b", "a"], "q2": ["x", "a"], "q3": ["a"], "q4": ["a"]}


def test_liveqa_measures_by_hand():
    assert avg_score(GRADED, RANKED).per_query == {"q1": 1.0, "q2": 0.0, "q3": 1.0, "q4": 0.0, "q5": 0.0}
    assert avg_score(GRADED, RANKED).mean == 0.4
    assert avg_score_condensed(GRADED, RANKED).mean == pytest.approx((1 + 2 + 1 + 0 + 0) / 5)
    assert succ_at(GRADED, RANKED, i=2).mean == pytest.approx(2 / 5)
    assert prec_at(GRADED, RANKED, i=2).mean == pytest.approx(2 / 4)
    assert succ_at(GRADED, RANKED, i=3).mean == 0.0
    assert unjudged_at_1(GRADED, RANKED).mean == pytest.approx(1 / 4)


def test_abstention_costs_success_but_not_precision():
    scores = liveqa(GRADED, RANKED, abstained={"q2", "q4"})
    assert scores["prec@2+"].mean == 1.0
    assert scores["succ@2+"].mean == pytest.approx(2 / 5)
    assert scores["avg_score"].mean == scores["avg_score_forced"].mean == 0.4
    assert scores["unjudged@1"].mean == 0.0
    assert liveqa(GRADED, RANKED, abstained={"q1"})["avg_score"].mean == pytest.approx(1 / 5)
    assert list(scores) == [
        *("avg_score", "avg_score_forced", "avg_score_condensed", "unjudged@1"),
        *("succ@2+", "succ@3+", "succ@4+", "prec@2+", "prec@3+", "prec@4+"),
    ]


def test_precision_of_no_answer_at_all_has_no_value():
    assert math.isnan(prec_at(GRADED, {}, i=2).mean)


def test_accuracy_counts_the_missing_as_wrong():
    score = accuracy({"1": "x", "2": "y", "3": None}, {"1": "x", "2": "x", "4": "z"})
    assert score.per_query == {"1": 1.0, "2": 0.0, "3": 0.0}
    assert score.mean == pytest.approx(1 / 3)


def test_standard_error_by_hand():
    assert standard_error([1, 2, 3, 4]) == pytest.approx(math.sqrt(5 / 3) / 2)
    assert math.isnan(standard_error([1]))
    assert math.isnan(Score.of({}).mean)


values = st.lists(st.integers(-5, 5).map(float), min_size=2, max_size=20)


@settings(max_examples=50)
@given(values, values)
def test_spearman_agrees_with_scipy(x, y):
    n = min(len(x), len(y))
    x, y = x[:n], y[:n]
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert math.isnan(spearman(x, y))
    else:
        assert spearman(x, y) == pytest.approx(scipy.stats.spearmanr(x, y).statistic)


def test_spearman_refuses_what_it_cannot_pair():
    with pytest.raises(ValueError, match="but got 2 and 3 values"):
        spearman([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="NaN"):
        spearman([1, math.nan], [1, 2])


def paired(size, shift, seed):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=size)
    return ({str(i): float(v) for i, v in enumerate(a + shift)}, {str(i): 0.0 for i in range(size)})


def test_bootstrap_interval_matches_the_normal_one():
    a, b = paired(400, 0.2, seed=1)
    result = paired_bootstrap(a, b, seed=0)
    mean, error = np.mean(list(a.values())), standard_error(list(a.values()))
    assert result.difference == pytest.approx(mean)
    assert result.low == pytest.approx(mean - 1.96 * error, abs=0.01)
    assert result.high == pytest.approx(mean + 1.96 * error, abs=0.01)
    assert result.p == pytest.approx(2 * scipy.stats.norm.sf(mean / error), abs=0.01)


def test_bootstrap_is_the_same_for_the_same_seed_in_any_order():
    a, b = paired(50, 0.1, seed=2)
    backwards = dict(reversed(a.items()))
    assert paired_bootstrap(a, b, seed=3, samples=100) == paired_bootstrap(backwards, b, seed=3, samples=100)
    assert paired_bootstrap(a, b, seed=3, samples=100) != paired_bootstrap(a, b, seed=4, samples=100)


def test_no_difference_is_no_evidence():
    a, _ = paired(10, 0.0, seed=0)
    result = paired_bootstrap(a, a, seed=0, samples=100)
    assert (result.difference, result.low, result.high, result.p) == (0.0, 0.0, 0.0, 1.0)


def test_bootstrap_wants_the_same_queries():
    with pytest.raises(ValueError, match=r"same queries, but got 1 and 2; unpaired: \['2'\]"):
        paired_bootstrap({"1": 0.0}, {"1": 0.0, "2": 0.0}, seed=0)
