"""Reranking of the 25 answers that BM25 retrieves for a question (Wang 2018, ch. 6.3.4).

    python benchmarks/own_answers.py --data DIR [--set medical_forum|medquad|...] [--model FOLDER ...]

All answers are indexed and each question is a query; a retrieved answer is right if it answers this question in the
data. Only questions with a right answer in their pool are used: a hash assigns 60 % to training, 20 % to model
selection and 20 % to the test. Trees combine BM25 with pools of networks that did not see the question. A wrong answer
is a training example only if it is right for another training question; otherwise a network memorises answers that are
always wrong, and some of them are right for test questions. `--keep-all` trains on all wrong answers, as Wang does. The
starter encoder was fitted to all pairs of the sets in FITTED, so these sets need other vectors.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
import torch

from qa_bot.answering.models.ranker_loading import open_ranker
from qa_bot.home.encoders import STARTER
from qa_core.measures.metrics import evaluate
from qa_core.types import FloatArray
from qa_lab.data.pairs import read_pairs, split
from qa_lab.evaluate.report import Row, as_json, caption, compared, markdown
from qa_lab.train.rankers.blstm import BLSTM as BLSTM_VERB
from qa_lab.train.rankers.hyperqa import HYPERQA as HYPERQA_VERB
from qa_lab.train.request import Request
from rankers.answer_selection.blstm import POOLS, BLSTMScorer
from rankers.answer_selection.keyword_features import FEATURES, Keywords
from rankers.answer_selection.stacked import Inputs, folds, network_pools
from rankers.gbdt import BoostedTrees, GBDTConfig
from rankers.neural import TextPair
from retrievers.engines.local.keyword import KeywordIndex
from retrievers.engines.local.keyword_writer import Entry, KeywordWriter
from retrievers.training.examples import Pair

SETS = {
    "medical_forum": "qa_pairs/medical_forum.jsonl.gz",
    "medquad": "medquad/medquad.zip",
    "squad_sentences": "qa_pairs/squad_sentences.jsonl.gz",
    "open_qa": "qa_pairs/open_qa.jsonl.gz",
    "covid_faq": "qa_pairs/covid_faq.tsv",
}
FITTED = ("medical_forum", "squad_sentences")
DEPTH = 25
PUBLISHED = "Wang (2018), 142,627 Yahoo manner questions: BM25 P@1 .380, RR .516; BLSTM + BM25 .428, .564"
RETRIEVED = ("bm25_retrieved", "bm25_to_best")
COMBINED = {
    "BLSTM + BM25, by trees": (*POOLS, *RETRIEVED),
    "BM25 and word features, by trees": (*RETRIEVED, *FEATURES),
    "BLSTM, BM25 and word features, by trees": (*POOLS, *RETRIEVED, *FEATURES),
}
BLSTM = """use = "network"
network = {{layers = {layers}, hidden = {hidden}, max_question = 20, max_answer = 32}}
training = {{learning_rate = 0.003, pointwise = {{epochs = {epochs}, patience = {patience}, balanced = true}}}}
minimum = 2
pretrained = "{vectors}"
"""
HYPERQA = """pretrained = "{vectors}"
pairs = {{epochs = 15}}
"""


@dataclass(frozen=True, slots=True)
class PooledQuestion:
    """A question and the answers that BM25 retrieves, best first."""

    question: str
    answers: tuple[str, ...]
    scores: tuple[float, ...]
    labels: tuple[bool, ...]

    @property
    def right(self) -> list[str]:
        return [answer for answer, label in zip(self.answers, self.labels, strict=True) if label]

    def line(self, wrong: Callable[[str], bool] = lambda _: True) -> str:
        """A line of training data for `qa-bot train`, with the wrong answers that `wrong` accepts."""
        others = [a for a, label in zip(self.answers, self.labels, strict=True) if not label and wrong(a)]
        return json.dumps({"question": self.question, "answers": self.right, "negatives": others}) + "\n"


def retrieved(pairs: Sequence[Pair]) -> list[PooledQuestion]:
    """All questions with their pools. The index breaks ties by key; keys follow a hash, to avoid a bias."""
    right: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        right[pair.question].add(pair.answer)
    texts = sorted({pair.answer for pair in pairs}, key=lambda text: blake2b(text.encode()).digest())
    with tempfile.TemporaryDirectory() as folder:
        with KeywordWriter(Path(folder) / "keyword") as writer:
            writer.add(Entry(key, key, "", text) for key, text in enumerate(texts))
        index = KeywordIndex(Path(folder) / "keyword")
        results = [index.search_text(question, DEPTH) for question in right]
    pools = [tuple(texts[key] for key in hits.documents.tolist()) for hits in results]
    return [
        PooledQuestion(question, pool, tuple(hits.scores.tolist()), tuple(text in right[question] for text in pool))
        for question, pool, hits in zip(right, pools, results, strict=True)
    ]


def parts(questions: Iterable[PooledQuestion]) -> dict[str, list[PooledQuestion]]:
    usable = {question.question: question for question in questions if any(question.labels)}
    rest, test = split([Pair(text, "") for text in usable], 0.2)
    train, dev = split(rest, 0.4)  # by the same hash, so another fifth of all
    return {name: [usable[p.question] for p in part] for name, part in (("train", train), ("dev", dev), ("test", test))}


def pairs_of(questions: Iterable[PooledQuestion]) -> list[TextPair]:
    return [(question.question, answer) for question in questions for answer in question.answers]


def features(questions: Sequence[PooledQuestion], pools: FloatArray, words: Inputs) -> dict[str, FloatArray]:
    """Columns (N,) by name for all pairs, from the network's pools (N, 3)."""
    scores = np.concatenate([question.scores for question in questions])
    to_best = np.concatenate([np.divide(question.scores, max(question.scores)) for question in questions])
    columns = [*pools.T, scores, to_best, *words.table(pairs_of(questions), FEATURES).T]
    return dict(zip((*POOLS, *RETRIEVED, *FEATURES), columns, strict=True))


def row(name: str, questions: Sequence[PooledQuestion], scores: FloatArray, options: argparse.Namespace) -> Row:
    values = iter(scores.tolist())
    run = {q.question: {answer: next(values) for answer in q.answers} for q in questions}
    qrels = {q.question: {a: int(label) for a, label in zip(q.answers, q.labels, strict=True)} for q in questions}
    measured = evaluate(qrels, run, ("P@1", "RR"))
    return Row("own answers", options.set, "last fifth", name, "", len(questions), measured)


class Trainings:
    """Runs of `qa-bot train` on parts of the questions, in a folder."""

    def __init__(self, folder: Path, dev: Sequence[PooledQuestion], options: argparse.Namespace) -> None:
        self.folder, self.options = folder, options
        self.costs: dict[str, str] = {}
        lines = [question.line() for question in dev[: options.watched]]
        (folder / "dev.jsonl").write_text("".join(lines), encoding="utf-8")

    def blstm(self, name: str, questions: Sequence[PooledQuestion]) -> BLSTMScorer:
        started, request = time.process_time(), self._request(name, questions, BLSTM)
        self._record(name, BLSTM_VERB.run(request).parameters, started)
        return BLSTMScorer.load(request.out)

    def unseen(self, questions: Sequence[PooledQuestion]) -> FloatArray:
        """Pools (N, 3) of all pairs, each from the network of the other half of the questions."""
        halves = list(zip(questions, folds([question.question for question in questions], 2), strict=True))
        networks = [self.blstm(f"half {n}", [question for question, half in halves if half != n]) for n in (0, 1)]
        return np.vstack([network_pools(networks[half], pairs_of([question])) for question, half in halves])

    def hyperqa(self, questions: Sequence[PooledQuestion]) -> Path:
        started, request = time.process_time(), self._request("HyperQA", questions, HYPERQA)
        self._record("HyperQA", HYPERQA_VERB.run(request).parameters, started)
        return request.out

    def _request(self, name: str, questions: Sequence[PooledQuestion], config: str) -> Request:
        right = {answer for question in questions for answer in question.right}
        lines = [question.line(lambda text: self.options.keep_all or text in right) for question in questions]
        (self.folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        (self.folder / f"{name}.toml").write_text(config.format(**vars(self.options)), encoding="utf-8")
        paths = {end: self.folder / f"{name}.{end}" for end in ("jsonl", "toml")}
        dev = str(self.folder / "dev.jsonl")
        return Request((paths["jsonl"],), self.folder / name, config=paths["toml"], dev=dev, seed=self.options.seed)

    def _record(self, name: str, parameters: int, started: float) -> None:
        self.costs[name] = f"{parameters:,} parameters, {time.process_time() - started:.0f} processor seconds"


def ranked(
    questions: dict[str, list[PooledQuestion]], words: Inputs, trainings: Trainings, options: argparse.Namespace
) -> list[Row]:
    train, test = questions["train"], questions["test"]
    pairs, rows = pairs_of(test), []

    def add(name: str, scores: FloatArray) -> None:
        rows.append(row(name, test, scores, options))
        sys.stderr.write(f"{markdown(rows[-1:]).splitlines()[-1]} {trainings.costs.get(name, '')}\n")

    add("BM25", np.concatenate([question.scores for question in test]))
    models = {"HyperQA": trainings.hyperqa(train), **{path.name: path for path in options.model}}
    for name, path in models.items():
        add(name, open_ranker(path).score(pairs))
    network = trainings.blstm("BLSTM", train)
    columns = features(test, network_pools(network, pairs), words)
    add("BLSTM", columns[POOLS[0]])
    seen = features(train, trainings.unseen(train), words)
    labels = [label for question in train for label in question.labels]
    groups = np.repeat(np.arange(len(train)), [len(question.answers) for question in train])
    config = GBDTConfig(objective="lambdarank", seed=options.seed)
    for name, chosen in COMBINED.items():
        fitted, tested = (np.stack([part[column] for column in chosen], axis=1) for part in (seen, columns))
        add(name, BoostedTrees.fit(fitted, labels, names=chosen, groups=groups, config=config).score(tested))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=SETS, default="medical_forum")
    parser.add_argument("--limit", type=int, help="pairs")
    parser.add_argument("--model", type=Path, action="append", default=[], help="folder of another ranker")
    parser.add_argument("--vectors", help="file of word vectors, or folder of a static encoder; by default the starter")
    parser.add_argument("--keep-all", action="store_true")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--patience", type=int, default=3, help="epochs of the BLSTM without a better MAP")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--watched", type=int, default=60, help="questions whose MAP selects the best epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.set in FITTED and not options.vectors:
        parser.error(f"Expected --vectors for {options.set}, because the starter encoder was fitted to its pairs.")
    options.vectors = options.vectors or STARTER
    torch.set_num_threads(1)
    questions = retrieved(read_pairs([options.data / SETS[options.set]], limit=options.limit).examples)
    split_questions = parts(questions)
    words = Inputs(Keywords.of(answer for question in questions for answer in question.answers))
    with tempfile.TemporaryDirectory() as folder:
        trainings = Trainings(Path(folder), split_questions["dev"], options)
        rows = ranked(split_questions, words, trainings, options)
    sizes = {name: len(part) for name, part in split_questions.items()}
    summary = {"questions": len(questions), **sizes, "trained": trainings.costs}
    by_p = [row.versus for row in compared(rows, "P@1")]
    rows = compared(rows, "RR")
    if options.json:
        gained = {r.name: [d.difference, d.low, d.high, d.p] for r, d in zip(rows, by_p, strict=True) if d}
        sys.stdout.write(json.dumps({**as_json(rows), **summary, "P@1 - first": gained}) + "\n")
        return
    sys.stdout.write(f"{summary}\n{caption(rows)}\n{markdown(rows)}\n{PUBLISHED}\n")
    for shown, gain in zip(rows, by_p, strict=True):
        if gain:
            sys.stdout.write(f"{shown.name}: P@1 {gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]\n")


if __name__ == "__main__":
    main()
