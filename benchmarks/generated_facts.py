"""Accuracy of facts on questions generated from templates and the graph's triples.

    python benchmarks/generated_facts.py --home HOME --templates DIR [--pairs PATH …] [--questions N] [--seed S]

DIR is an output folder of `qa-bot kg mine`. A template is used if it shares a word with one predicate that has most of
its counts. A question is a template filled with the label of the subject of a triple; predicates, their templates and
their triples are drawn uniformly. Questions of `--pairs` are left out, because templates were mined from them. An
answer is right if it has exactly the objects of the subject and predicate. The figures are given with and without the
templates.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np

from kg_index.answers.lookup import Lookup
from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.template_text import NO_PATH, SLOT, path_steps
from kg_index.relations.templates import KNOWN, TemplateTable
from qa_bot.answering.graph.facts import Facts, open_facts
from qa_bot.documents.ingest.records import Record
from qa_bot.home.config import load_config
from qa_bot.home.folder import Home
from qa_bot.home.sections import FactsSection
from qa_core.measures.metrics import Score
from qa_lab.data.pairs import items, pair_of

MIN_SHARE = 0.5  # of a template's counts on its predicate
MIN_COUNT = 1.5  # so that several pairs agree
MIN_WORDS = 3  # of a template, without its slot


def usable(table: TemplateTable, lookup: Lookup) -> dict[int, list[str]]:
    """Templates by predicate."""
    matcher, by_predicate = KeywordMatcher(), defaultdict(list)
    for template in table.templates():
        likely = [row for row in table.lookup(template) if row.relation != NO_PATH]
        if not likely or likely[0].times < MIN_COUNT or len(template.split()) <= MIN_WORDS:
            continue
        steps = path_steps(likely[0].relation)
        share = likely[0].times / sum(row.times for row in likely)
        if len(steps) > 1 or steps[0][1] or share < MIN_SHARE or not matcher.overlap(template, likely[0].relation):
            continue
        predicate = lookup.triples.id_of(steps[0][0])
        if predicate is not None:
            by_predicate[predicate].append(template)
    return by_predicate


def generated(
    by_predicate: dict[int, list[str]], lookup: Lookup, known: set[str], *, questions: int, seed: int
) -> Iterator[tuple[str, int, int]]:
    """Questions with their subject and predicate."""
    rng, predicates = np.random.default_rng(seed), sorted(by_predicate)
    triples = {p: lookup.triples.with_predicate(p)[0] for p in predicates}
    seen = set(known)
    for _ in range(100 * questions):
        predicate = int(rng.choice(predicates))
        subject = int(rng.choice(triples[predicate]))
        template = str(rng.choice(by_predicate[predicate]))
        question = template.replace(SLOT, lookup.label(subject)) + "?"
        if question.casefold() not in seen:
            seen.add(question.casefold())
            yield question, subject, predicate
            if len(seen) - len(known) == questions:
                return


def measure(facts: Facts, questions: list[tuple[str, int, int]]) -> dict[str, object]:
    right, correct, linked, seconds = {}, {}, {}, []
    for number, (question, subject, predicate) in enumerate(questions):
        began = time.perf_counter()
        result = facts.find(question)
        seconds.append(time.perf_counter() - began)
        objects = set(facts.lookup.triples.objects(subject, predicate).tolist())
        best = result.parsed.interpretations[0].interpretation if result.parsed.interpretations else None
        key = str(number)
        right[key] = float(best is not None and not best.counted and set(best.answers) == objects)
        linked[key] = float(best is not None and best.topic.id == subject)
        if result.accepted:
            correct[key] = right[key]
    p50, p99 = np.percentile(1e3 * np.array(seconds), (50, 99))
    by_measure = {"accuracy": right, "linked": linked, "precision": correct}
    scores = {
        name: [round(Score.of(s).mean, 3), round(Score.of(s).standard_error, 3)] for name, s in by_measure.items() if s
    }
    return {
        **scores,
        "answered": round(len(correct) / len(questions), 3),
        "p50_ms": round(p50, 2),
        "p99_ms": round(p99, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--templates", type=Path, required=True)
    parser.add_argument("--pairs", type=Path, nargs="*", default=[])
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    home, table = Home.open(options.home), TemplateTable.load(options.templates / KNOWN)
    known = {
        pair.question.casefold()
        for item in items(options.pairs)
        if isinstance(item, Record) and (pair := pair_of(item))
    }
    with ExitStack() as stack:
        config = load_config(home.path)
        plain = open_facts(home, replace(config, facts=FactsSection()), stack)
        with_templates = open_facts(home, replace(config, facts=FactsSection(templates=str(options.templates))), stack)
        by_predicate = usable(table, plain.lookup)
        questions = list(generated(by_predicate, plain.lookup, known, questions=options.questions, seed=options.seed))
        figures = {
            "templates": sum(map(len, by_predicate.values())),
            "predicates": len(by_predicate),
            "questions": len(questions),
            "plain": measure(plain, questions),
            "templates known": measure(with_templates, questions),
            "examples": [question for question, _, _ in questions[:10]],
        }
    print(json.dumps(figures, indent=2, ensure_ascii=False))  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
