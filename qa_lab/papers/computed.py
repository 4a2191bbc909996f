"""Figures of tables that are more than one row of an evaluation: counts of data, mining, community search, studies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from qa_core.measures.metrics import Score
from qa_lab.papers.declarations import Evaluated, Figures, Trained
from qa_lab.papers.measuring import Laboratory, count, score

if TYPE_CHECKING:
    from qa_lab.evaluate.community.systems import Bench
    from qa_lab.studies.study_report import StudyReport
    from qa_lab.train.relations.graph_mining import MinedTemplates

_COMMUNITY_NAMES = {"Success@1": "S@1", "RR@1000": "MRR@1K", "R@10": "R@10", "R@100": "R@100", "R@1000": "R@1K"}
_QUICK_PAIRS, _QUICK_QUERIES, _QUICK_STEPS = 1_500, 150, 1
_PAIRS, _QUERIES = 60_000, 3_000
_MINED, _QUICK_MINED = 200_000, 3_000
POOL = 25
"""Passages of BM25 to re-rank (Wang 2018, table 6.4)."""


def answer_statistics(laboratory: Laboratory, *, train: str, dev: str) -> Figures:
    """Questions and candidate answers of two files."""
    from qa_lab.data.answer_sets import read_answer_sets

    figures = {}
    for name, path in (("train", train), ("dev", dev)):
        sets = read_answer_sets([laboratory.setting.data / path]).examples
        figures[f"{name} questions"] = count(len(sets))
        figures[f"{name} pairs"] = count(sum(len(one.answers) for one in sets))
    return figures


def question_statistics(laboratory: Laboratory, *, data: str) -> Figures:
    """Labelled pairs, queries, candidates, and the mean number of relevant candidates of a query."""
    from qa_lab.data.question_pairs import read_question_pairs
    from qa_lab.evaluate.similar import Task

    questions = read_question_pairs([laboratory.setting.data / data]).examples
    task = Task.of(questions)
    return {
        "similar pairs": count(len(questions)),
        "queries": count(len(task.queries)),
        "candidates": count(len(task.texts)),
        "relevant of a query": Score.of({query: float(len(grades)) for query, grades in task.qrels.items()}),
    }


def community(laboratory: Laboratory, *, row: str, paper: bool = False) -> Figures:
    """One system of community retrieval (table 3.1)."""
    from qa_lab.evaluate.community.systems import ranked_by

    bench = _bench(laboratory, paper=paper)
    measured = bench.task.measured(ranked_by(row, bench, lambda _: None))
    return {name: measured[inner] for inner, name in _COMMUNITY_NAMES.items()}


def by_vocabulary(laboratory: Laboratory, *, row: str, dense: str) -> Figures:
    """R@1000 of questions with only known words, of the others, and of all (table 3.2)."""
    from qa_lab.evaluate.community.systems import in_vocabulary, ranked_by

    bench = _bench(laboratory, paper=False)
    if bench.dense_name != dense:  # its training takes nearly all of the time
        ranked_by(dense, bench, lambda _: None)
    ranked = bench.dense if row == dense else ranked_by(row, bench, lambda _: None)
    recall = bench.task.measured(ranked)["R@1000"].per_query
    known = {str(number) for number in in_vocabulary(bench)}
    return {
        "in vocabulary": Score.of({query: value for query, value in recall.items() if query in known}),
        "out of it": Score.of({query: value for query, value in recall.items() if query not in known}),
        "all": Score.of(recall),
    }


def _bench(laboratory: Laboratory, *, paper: bool) -> Bench:
    """Community questions by the sizes of the paper or ours; made once."""
    from dataclasses import replace

    from qa_lab.data.pairs import read_pairs
    from qa_lab.evaluate.community.systems import Bench, Options
    from qa_lab.evaluate.community.task import SETS, Task, sampled
    from qa_lab.train.settings import device_of
    from retrievers.training import query_expansion
    from retrievers.training.encoders.word_tower import PAPER

    def made() -> Bench:
        setting = laboratory.setting
        pairs = read_pairs([setting.data / name for name in SETS]).examples
        task = Task(
            sampled(pairs, _QUICK_PAIRS if setting.quick else _PAIRS, seed=0),
            queries=_QUICK_QUERIES if setting.quick else _QUERIES,
            seed=0,
        )
        options = Options(device=device_of().type)
        if setting.quick:
            options = replace(options, steps=_QUICK_STEPS)
        if paper:
            options = replace(
                options, words=PAPER, hidden=PAPER.hidden, tokens=PAPER.max_tokens, expansion=query_expansion.PAPER
            )
        folder = laboratory.folder(f"community-{paper}")
        return Bench(task, options, folder)

    return laboratory.once(f"community {paper}", made)


def mining(laboratory: Laboratory, *, paper: bool = False) -> Figures:
    """Templates mined from pairs of questions and answers (table 4.1)."""
    from kg_index.relations.pools import read_pools, read_relations
    from kg_index.relations.templates import TemplateTable
    from qa_bot.documents.graph import open_graph
    from qa_bot.home.folder import Home
    from qa_lab.train.relations.graph_mining import TEMPLATES

    folder, mined = _mined(laboratory, paper=paper)
    data = laboratory.setting.data
    questions = read_pools(
        data / "relations/sq.valid.withpool.tsv", read_relations(data / "relations/sq.relations.txt")
    )
    gold = {question.gold for question in questions}
    with open_graph(Home(_graph_home(laboratory))) as graph:
        covered = {name for name in gold if graph.triples.id_of(name) is not None}
    return {
        "pairs": count(mined.pairs),
        "mappings": count(mined.mappings),
        "mappings that share a word": count(mined.sharing_words),
        "relations of the questions": count(len(gold)),
        "of them in mappings": count(len(gold.intersection(TemplateTable.load(folder / TEMPLATES).relations))),
        "of them in the graph": count(len(covered)),
    }


def mined_relations(laboratory: Laboratory, *, weights: str, row: str = "model", paper: bool = False) -> Figures:
    """Accuracy of the network trained on mined templates with these weights (table 4.2)."""
    folder = _mined(laboratory, paper=paper)[0]
    preset = {"preset": "paper"} if paper else {}
    settings = {**preset, "model": "network", "mined": {"weights": weights}}
    quick = {"mined": {"epochs": 1, "hidden": 32}}
    model = Trained("relations", (str(folder),), settings, quick, quick_limit=None)
    name = laboratory.model(model).name
    evaluated = Evaluated(
        "relations",
        "relations/sq.valid.withpool.tsv",
        "model" if row == "model" else f"{name}, {row}",
        {"accuracy": "accuracy"},
        (model,),
        options={"relations": "relations/sq.relations.txt"},
    )
    return laboratory.measured(evaluated)


def compared_relations(laboratory: Laboratory, *, network: str) -> Figures:
    """Accuracy of a compared network on a fifth of the questions, trained on the others (table 4.2)."""
    names = "relations/sq.relations.txt"
    train, test = laboratory.once("relation pools", lambda: _split_pools(laboratory, names))
    settings, quick = {"model": network}, {"compared": {"epochs": 2}}
    model = Trained("relations", (str(train),), settings, quick, quick_limit=None, relations=names)
    measures, options = {"accuracy": "accuracy"}, {"relations": names}
    return laboratory.measured(Evaluated("relations", str(test), "model", measures, (model,), options=options))


def _split_pools(laboratory: Laboratory, names: str) -> tuple[Path, Path]:
    """Files of questions with pools, to train and to test; questions of one template are in one file."""
    from kg_index.relations.pools import read_pools, read_relations
    from qa_lab.data.splitting import split_by_hash

    data, folder = laboratory.setting.data, laboratory.folder("relation-pools")
    pools = data / "relations/sq.valid.withpool.tsv"
    lines = pools.read_text(encoding="utf-8").splitlines(keepends=True)
    templates = [question.template for question in read_pools(pools, read_relations(data / names))]
    # another key than that of `train relations`, which holds out questions of the first file
    parts = split_by_hash(zip(lines, templates, strict=True), 0.2, lambda row: f"test {row[1]}")
    paths = folder / "train.tsv", folder / "test.tsv"
    for path, part in zip(paths, parts, strict=True):
        path.write_text("".join(line for line, _ in part), encoding="utf-8")
    return paths


def _mined(laboratory: Laboratory, *, paper: bool) -> tuple[Path, MinedTemplates]:
    """The folder of templates, of paths of one step, and the figures of the run."""
    from qa_bot.home.folder import Home
    from qa_lab.train.relations.graph_mining import PRESETS, mine

    def made() -> tuple[Path, MinedTemplates]:
        setting = laboratory.setting
        paths = [setting.data / f"qa_pairs/{name}.jsonl.gz" for name in ("open_qa", "jeopardy")]
        out = laboratory.folder("mined-paper" if paper else "mined")
        most = _QUICK_MINED if setting.quick else _MINED
        home = Home(_graph_home(laboratory))
        choices = PRESETS["paper" if paper else "default"]
        return out, mine(home, paths, out, choices=choices, longest=1, processes=1, limit=most)

    return laboratory.once(f"mined {paper}", made)


def _graph_home(laboratory: Laboratory) -> Path:
    from qa_bot.documents.graph import add
    from qa_bot.home.folder import Home

    def made() -> Path:
        home = Home.open(laboratory.folder("graph-home"))
        data = laboratory.setting.data
        if not home.graph.is_dir():
            add(home, [data / "kg/fb15k237.nt.gz", data / "kg/fb15k237.labels.nt.gz"])
        return home.path

    return laboratory.once("graph", made)


def manner(laboratory: Laboratory, *, data: str, row: str, paper: bool = False) -> Figures:
    """Re-ranking of the first passages of BM25 by the stacked BLSTM (table 6.4); Recall@25 is of the pool."""
    from qa_lab.evaluate.community.pools import write_pools

    folder = laboratory.folder("manner")
    limit = 600 if laboratory.setting.quick else None
    pools = laboratory.once("manner", lambda: write_pools(laboratory.setting.data / data, folder, POOL, limit=limit))
    train, dev, test = (str(folder / f"{name}.tsv") for name in ("train", "dev", "test"))
    settings = {"preset": "paper"} if paper else {}
    quick = {"training": {"pointwise": {"epochs": 1}}}
    model = Trained("blstm", (train,), settings, quick, 30 if paper else 100, dev=dev)
    measures = {"P@1": "Success@1", "MRR": "RR"}
    models = (model,) if row == "model" else ()
    figures = laboratory.measured(Evaluated("answers", test, row, measures, models, quick_limit=None))
    return {f"Recall@{POOL}": Score.of(pools), **figures}


def study(
    laboratory: Laboratory, *, system: str, speaker: str, only: Sequence[str] = ("style", "topic", "log-perplexity")
) -> Figures:
    """Automatic measures of replies to the debate questions, in place of the judges of tables 8.3 and 8.4."""
    from qa_lab.studies.study_judges import SURPRISE, TOPIC

    report = laboratory.once("study", lambda: _study(laboratory))
    row = next(row for row in report.rows if row.engine == system)
    names = {"style": speaker, "topic": TOPIC, "log-perplexity": SURPRISE}
    return {name: row.scores[names[name]] for name in only if names[name] in row.scores}


def _study(laboratory: Laboratory) -> StudyReport:
    from qa_bot.home.starter import VOICES
    from qa_lab.studies.study import evaluate_study

    setting = laboratory.setting
    dialogue = setting.data / "dialogue"
    names = {"kennedy": "kennedy-speech", "songwriter": "singer-songwriter", "starwars": "starwars"}
    quick = {name: {"epochs": 1} for name in ("speaker", "forward")}
    personas = {
        name: laboratory.model(
            Trained("persona", (f"dialogue/personas/{file}.train.txt.gz",), {"name": name}, quick, 300)
        )
        for name, file in names.items()
    }
    return evaluate_study(
        dialogue / "debate_questions.tsv",
        base=VOICES / "base",
        personas=personas,
        dialogues=[dialogue / "self_dialogue.jsonl.gz"],
        style={name: dialogue / f"personas/{file}.valid.txt.gz" for name, file in names.items()},
        samples=1 if setting.quick else 3,
        seed=1,
        limit=4 if setting.quick else None,
        progress=setting.progress,
    )


def phrase_error(
    laboratory: Laboratory, *, data: str, model: Trained, part: str, number: int = 0, kind: str = ""
) -> Figures:
    """Mean absolute errors of addition and of a network in a band of the gold, or the changes in thirds of a ratio."""
    from qa_lab.evaluate.words.phrase_errors import THIRDS
    from qa_lab.evaluate.words.phrases import errors_of

    folder = laboratory.model(model)
    analysis = laboratory.once(f"errors {folder.name}", lambda: errors_of(laboratory.setting.data / data, folder))
    if part == "bands":
        cell = analysis.bands[number]
        return {"addition": score(cell.first), "recursive": score(cell.second)}
    cells = [cell for cell in getattr(analysis, part) if cell.name.endswith(f", {kind}")]
    assert len(cells) == THIRDS, "a cell for each third"
    thirds = ("lowest third", "middle third", "highest third")
    return {name: score(cell.change) for name, cell in zip(thirds, cells, strict=True)}
