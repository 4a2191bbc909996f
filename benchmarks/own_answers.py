"""Does a trained ranker find a question's own answer among the 25 that BM25 retrieves? (thesis, ch. 6.3.4)

    python benchmarks/own_answers.py --data DIR [--set medical_forum|medquad|...] [--model FOLDER ...]

All answers are indexed, each question is the query, and what is retrieved is right where it was given to that very
question. Questions with such an answer in their pool count: 60 % to train on, 20 % to choose on, 20 % to measure on,
by a hash. Trees join BM25 with pools of networks that did not see the question. A wrong answer is trained on only
where it is the right one of another training question: a network would learn by heart that the others are always
wrong, and some of them are what is asked for in the end; `--keep-all` has them all, as the thesis. The starter encoder
was fitted to the pairs of the sets in FITTED, those held out here too: on them other vectors have to be named.
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
from qa_lab.evaluate.report import Row, as_json, caption, compared, markdown
from qa_lab.train.data.pairs import read_pairs, split
from qa_lab.train.rankers.blstm import BLSTM as BLSTM_VERB
from qa_lab.train.rankers.hyperqa import HYPERQA as HYPERQA_VERB
from qa_lab.train.request import Request
from rankers.answer_selection.blstm import POOLS, BLSTMScorer
from rankers.answer_selection.keyword_features import FEATURES, Keywords
from rankers.answer_selection.stacked import Inputs, folds, network_pools
from rankers.gbdt import BoostedTrees, GBDTConfig
from rankers.neural import TextPair
from retrievers.engines.local.keyword import Entry, KeywordIndex, KeywordWriter
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
THESIS = "thesis, 142,627 Yahoo manner questions: BM25 P@1 .380, RR .516; BLSTM + BM25 .428, .564"
RETRIEVED = ("bm25_retrieved", "bm25_to_best")
JOINED = {
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
class Asked:
    """A question and what BM25 retrieved for it, best first."""

    question: str
    answers: tuple[str, ...]
    scores: tuple[float, ...]
    labels: tuple[bool, ...]

    @property
    def right(self) -> list[str]:
        return [answer for answer, label in zip(self.answers, self.labels, strict=True) if label]

    def line(self, wrong: Callable[[str], bool] = lambda _: True) -> str:
        """As `qa-bot train` reads it, with the wrong answers that pass."""
        others = [a for a, label in zip(self.answers, self.labels, strict=True) if not label and wrong(a)]
        return json.dumps({"question": self.question, "answers": self.right, "negatives": others}) + "\n"


def retrieved(pairs: Sequence[Pair]) -> list[Asked]:
    """Every question and its pool; the index breaks ties by key, and keys are in the order of a hash."""
    own: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        own[pair.question].add(pair.answer)
    texts = sorted({pair.answer for pair in pairs}, key=lambda text: blake2b(text.encode()).digest())
    with tempfile.TemporaryDirectory() as folder:
        with KeywordWriter(Path(folder) / "keyword") as writer:
            writer.add(Entry(key, key, "", text) for key, text in enumerate(texts))
        index = KeywordIndex(Path(folder) / "keyword")
        hits = [index.search_text(question, DEPTH) for question in own]
    pools = [tuple(texts[key] for key in found.documents.tolist()) for found in hits]
    return [
        Asked(question, pool, tuple(found.scores.tolist()), tuple(text in own[question] for text in pool))
        for question, pool, found in zip(own, pools, hits, strict=True)
    ]


def parts(asked: Iterable[Asked]) -> dict[str, list[Asked]]:
    found = {each.question: each for each in asked if any(each.labels)}
    rest, test = split([Pair(question, "") for question in found], 0.2)
    train, dev = split(rest, 0.4)  # of the same hash: another fifth
    return {name: [found[p.question] for p in part] for name, part in (("train", train), ("dev", dev), ("test", test))}


def pairs_of(asked: Iterable[Asked]) -> list[TextPair]:
    return [(each.question, answer) for each in asked for answer in each.answers]


def features(asked: Sequence[Asked], pools: FloatArray, words: Inputs) -> dict[str, FloatArray]:
    """Columns (N,) by name for all pairs, from the network's pools (N, 3)."""
    scores = np.concatenate([each.scores for each in asked])
    to_best = np.concatenate([np.divide(each.scores, max(each.scores)) for each in asked])
    columns = [*pools.T, scores, to_best, *words.table(pairs_of(asked), FEATURES).T]
    return dict(zip((*POOLS, *RETRIEVED, *FEATURES), columns, strict=True))


def row(name: str, asked: Sequence[Asked], scores: FloatArray, options: argparse.Namespace) -> Row:
    given = iter(scores.tolist())
    run = {each.question: {answer: next(given) for answer in each.answers} for each in asked}
    qrels = {each.question: {a: int(r) for a, r in zip(each.answers, each.labels, strict=True)} for each in asked}
    measured = evaluate(qrels, run, ("P@1", "RR"))
    return Row("own answers", options.set, "last fifth", name, "", len(asked), measured)


class Trainings:
    """`qa-bot train` on parts of the questions, in a folder."""

    def __init__(self, folder: Path, dev: Sequence[Asked], options: argparse.Namespace) -> None:
        self.folder, self.options = folder, options
        self.told: dict[str, str] = {}
        (folder / "dev.jsonl").write_text("".join(each.line() for each in dev[: options.watched]), encoding="utf-8")

    def blstm(self, name: str, asked: Sequence[Asked]) -> BLSTMScorer:
        started, request = time.process_time(), self._request(name, asked, BLSTM)
        self._tell(name, BLSTM_VERB.run(request).parameters, started)
        return BLSTMScorer.load(request.out)

    def unseen(self, asked: Sequence[Asked]) -> FloatArray:
        """Pools (N, 3) of all pairs, each from the network of the other half of the questions."""
        half = folds([each.question for each in asked], 2)
        networks = [self.blstm(f"half {n}", [a for a, h in zip(asked, half, strict=True) if h != n]) for n in (0, 1)]
        return np.vstack([network_pools(networks[h], pairs_of([a])) for a, h in zip(asked, half, strict=True)])

    def hyperqa(self, asked: Sequence[Asked]) -> Path:
        started, request = time.process_time(), self._request("HyperQA", asked, HYPERQA)
        self._tell("HyperQA", HYPERQA_VERB.run(request).parameters, started)
        return request.out

    def _request(self, name: str, asked: Sequence[Asked], config: str) -> Request:
        right = {answer for each in asked for answer in each.right}
        lines = [each.line(lambda text: self.options.keep_all or text in right) for each in asked]
        (self.folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
        (self.folder / f"{name}.toml").write_text(config.format(**vars(self.options)), encoding="utf-8")
        paths = {end: self.folder / f"{name}.{end}" for end in ("jsonl", "toml")}
        dev = str(self.folder / "dev.jsonl")
        return Request((paths["jsonl"],), self.folder / name, config=paths["toml"], dev=dev, seed=self.options.seed)

    def _tell(self, name: str, parameters: int, started: float) -> None:
        self.told[name] = f"{parameters:,} parameters, {time.process_time() - started:.0f} processor seconds"


def ranked(of: dict[str, list[Asked]], words: Inputs, trainings: Trainings, options: argparse.Namespace) -> list[Row]:
    train, test = of["train"], of["test"]
    pairs, rows = pairs_of(test), []

    def add(name: str, scores: FloatArray) -> None:
        rows.append(row(name, test, scores, options))
        sys.stderr.write(f"{markdown(rows[-1:]).splitlines()[-1]} {trainings.told.get(name, '')}\n")

    add("BM25", np.concatenate([each.scores for each in test]))
    models = {"HyperQA": trainings.hyperqa(train), **{path.name: path for path in options.model}}
    for name, path in models.items():
        add(name, open_ranker(path).score(pairs))
    network = trainings.blstm("BLSTM", train)
    columns = features(test, network_pools(network, pairs), words)
    add("BLSTM", columns[POOLS[0]])
    seen = features(train, trainings.unseen(train), words)
    labels = [label for each in train for label in each.labels]
    groups = np.repeat(np.arange(len(train)), [len(each.answers) for each in train])
    config = GBDTConfig(objective="lambdarank", seed=options.seed)
    for name, chosen in JOINED.items():
        table, own = (np.stack([part[column] for column in chosen], axis=1) for part in (seen, columns))
        add(name, BoostedTrees.fit(table, labels, names=chosen, groups=groups, config=config).score(own))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", choices=SETS, default="medical_forum")
    parser.add_argument("--limit", type=int, help="pairs")
    parser.add_argument("--model", type=Path, action="append", default=[], help="folder of one more ranker")
    parser.add_argument("--vectors", help="file of word vectors or static encoder's folder; the starter's unless named")
    parser.add_argument("--keep-all", action="store_true")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--patience", type=int, default=3, help="epochs of the BLSTM without a better MAP")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--hidden", type=int, default=48)
    parser.add_argument("--watched", type=int, default=60, help="questions whose MAP keeps the best epoch")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.set in FITTED and not options.vectors:
        parser.error(f"Expected --vectors for {options.set}, since the starter encoder was fitted to its pairs.")
    options.vectors = options.vectors or STARTER
    torch.set_num_threads(1)
    asked = retrieved(read_pairs([options.data / SETS[options.set]], limit=options.limit).examples)
    of = parts(asked)
    words = Inputs(Keywords.of(answer for each in asked for answer in each.answers))
    with tempfile.TemporaryDirectory() as folder:
        trainings = Trainings(Path(folder), of["dev"], options)
        rows = ranked(of, words, trainings, options)
    told = {"questions": len(asked), **{name: len(part) for name, part in of.items()}, "trained": trainings.told}
    by_p = [each.versus for each in compared(rows, "P@1")]
    rows = compared(rows, "RR")
    if options.json:
        gained = {r.name: [d.difference, d.low, d.high, d.p] for r, d in zip(rows, by_p, strict=True) if d}
        sys.stdout.write(json.dumps({**as_json(rows), **told, "P@1 - first": gained}) + "\n")
        return
    sys.stdout.write(f"{told}\n{caption(rows)}\n{markdown(rows)}\n{THESIS}\n")
    for each, gain in zip(rows, by_p, strict=True):
        if gain:
            sys.stdout.write(f"{each.name}: P@1 {gain.difference:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]\n")


if __name__ == "__main__":
    main()
