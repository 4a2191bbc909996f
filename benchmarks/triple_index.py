"""Load and look-up times of the triple index, pyoxigraph, rdflib and the hash tables of Wang (2018), ch. 4.3.2.

    python benchmarks/triple_index.py [FILES.nt.gz …] [--triples N] [--seed N] [--only NAMES] [--workers N]

Without files, N synthetic triples are written first: subjects and objects by a power law over N / 5 entities, 400
predicates, a quarter of the objects literals. Each form is loaded in a fresh process from the same compressed files;
rdflib loads the first 200,000 triples only. Look-ups are of random facts of the graph; a time ends when all ids of the
result (pyoxigraph, rdflib: terms) have been read. Peak memory is anonymous memory, without mapped files.
`--only index --triples 20000000` shows the needs of a large graph: constant memory, disk in proportion to the triples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

LOOKUPS = 20_000  # single look-ups of each kind
BATCH = 1_000
SAMPLE = 200_000  # triples that rdflib loads
FORMS = ("index", "hash", "pyoxigraph", "rdflib")
E = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


def write_synthetic(path: Path, triples: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    entities = triples // 5
    with gzip.open(path, "wt", compresslevel=1) as lines:
        for start in range(0, triples, 100_000):
            count = min(100_000, triples - start)
            s, o = (entities * rng.random((2, count)) ** 2).astype(int).tolist()
            p = (400 * rng.random(count) ** 3).astype(int).tolist()
            kind = rng.integers(0, 8, count).tolist()
            rows = zip(s, p, o, kind, strict=True)
            lines.write("".join(f"<{E}entity/Q{a}> <{E}property/p{b}> {_object(c, k)} .\n" for a, b, c, k in rows))


def _object(number: int, kind: int) -> str:
    if kind == 0:
        return f'"{number}"^^<{XSD}integer>'
    return f'"the name of number {number}"@en' if kind == 1 else f"<{E}entity/Q{number}>"


def peak_of(work: Callable[[], Any]) -> tuple[Any, float, int]:
    """Result, seconds and peak anonymous memory in MB."""
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.02):
            status = Path("/proc/self/status").read_text()
            peak = max(peak, int(status.split("RssAnon:")[1].split()[0]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    begun = time.perf_counter()
    try:
        result = work()
        return result, time.perf_counter() - begun, peak // 1024
    finally:
        done.set()
        watcher.join()


def timed(look_up: Callable[..., Any], rows: list[tuple[Any, ...]]) -> str:
    """Median and 99th percentile in µs."""
    for row in rows[:200]:
        look_up(*row)
    times = np.empty(len(rows))
    for i, row in enumerate(rows):
        begun = time.perf_counter_ns()
        look_up(*row)
        times[i] = time.perf_counter_ns() - begun
    return "{:.1f} / {:.1f}".format(*np.percentile(times / 1000, [50, 99]))


def timed_many(look_up: Callable[..., Any], a: Any, b: Any) -> float:
    """µs a look-up, median of the batches."""
    times = []
    for start in range(0, len(a), BATCH):
        begun = time.perf_counter()
        look_up(a[start : start + BATCH], b[start : start + BATCH])
        times.append((time.perf_counter() - begun) * 1e6 / BATCH)
    return round(float(np.median(times)), 2)


def facts(columns: tuple[Any, Any, Any], seed: int) -> tuple[Any, Any, Any]:
    rows = np.random.default_rng(seed).integers(0, len(columns[0]), LOOKUPS)
    s, p, o = (column[rows] for column in columns)
    return s, p, o


def run_index(files: list[Path], folder: Path, seed: int, memory: int, workers: int | None) -> dict[str, Any]:
    from kg_index.building.loading import load
    from kg_index.triples.triple_index import TripleIndex

    ends: dict[str, float] = {}
    sizes = [0]
    begun = time.perf_counter()

    def progress(stage: str, done: int, total: int | None) -> None:
        ends[stage] = round(time.perf_counter() - begun, 1)
        if stage != "read":  # sorted runs and index files share the folder
            sizes.append(sum(path.stat().st_size for path in folder.parent.glob(f"{folder.name}.partial/**/*")))

    loaded, seconds, peak = peak_of(
        lambda: load(files, folder, memory=memory << 20, workers=workers, progress=progress)
    )
    used = os.times()
    begun = time.perf_counter()
    index = TripleIndex(folder)
    opened = time.perf_counter() - begun
    s, p, o = facts(index.columns(), seed)
    terms = [(index.term(number),) for number in o.tolist()]
    size = sum(path.stat().st_size for path in folder.iterdir())
    text = (folder / "terms.text").stat().st_size
    return {
        **_load(len(index), seconds, peak),
        "by file": [counts.triples for counts in loaded.counts],
        "stages end at": ends,
        "core seconds": round(used.user + used.system + used.children_user + used.children_system, 1),
        "peak MB of a worker, files and all": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10,
        "disk MB": size >> 20,
        "disk MB while building": max(sizes) >> 20,
        "bytes a triple": round((size - text) / len(index), 1),
        "text bytes a triple": round(text / len(index), 1),
        "terms": loaded.stats.totals.terms,
        "open ms": round(opened * 1000, 2),
        **lookups(index, s, p, o),
        "predicates_of": timed(index.predicates_of, [(x,) for x in s.tolist()]),
        "facts": timed(index.facts, [(x,) for x in s.tolist()]),
        "id_of": timed(index.id_of, terms),
        "term": timed(index.term, [(x,) for x in o.tolist()]),
        "paths ≤ 2": timed(index.paths, list(zip(s[:2000].tolist(), o[:2000].tolist(), strict=True))),
    }


def run_hash(files: list[Path], folder: Path, seed: int, memory: int, workers: int | None) -> dict[str, Any]:
    from hash_triples import HashTriples

    from kg_index.triples.triple_index import TripleIndex

    index = TripleIndex(folder)
    columns = index.columns()
    hashed, seconds, peak = peak_of(lambda: HashTriples(*columns))
    return {
        **_load(len(hashed), seconds, peak),
        "bytes a triple": round(hashed.nbytes / len(hashed), 1),
        **lookups(hashed, *facts(columns, seed)),
    }


def lookups(form: Any, s: Any, p: Any, o: Any) -> dict[str, Any]:
    kinds = {"SP→O": (form.objects, s, p), "OP→S": (form.subjects, p, o), "SO→P": (form.predicates, s, o)}
    many = {
        "SP→O": (form.objects_many, s, p),
        "OP→S": (form.subjects_many, p, o),
        "SO→P": (form.predicates_many, s, o),
    }
    single = {
        kind: timed(look_up, list(zip(a.tolist(), b.tolist(), strict=True))) for kind, (look_up, a, b) in kinds.items()
    }
    sizes = {f"{kind} results": round(len(look_up(a, b).values) / len(a), 1) for kind, (look_up, a, b) in many.items()}
    return single | {f"{kind} of 1,000": timed_many(*row) for kind, row in many.items()} | sizes


def run_pyoxigraph(files: list[Path], folder: Path, seed: int, memory: int, workers: int | None) -> dict[str, Any]:
    import pyoxigraph

    store = pyoxigraph.Store(folder.with_name("oxigraph"))

    def load() -> None:
        for file in files:
            with gzip.open(file) as content:
                store.bulk_load(cast(IO[bytes], content), pyoxigraph.RdfFormat.N_TRIPLES)
        store.optimize()

    _, seconds, peak = peak_of(load)
    rows = [next(pyoxigraph.parse(line, format=pyoxigraph.RdfFormat.N_TRIPLES)) for line in sampled(files, seed)]
    size = sum(path.stat().st_size for path in folder.with_name("oxigraph").iterdir())

    def look_up(s: Any, p: Any, o: Any) -> list[Any]:
        return list(store.quads_for_pattern(s, p, o, None))

    return {
        **_load(len(store), seconds, peak),
        "disk MB": size >> 20,
        "SP→O": timed(look_up, [(q.subject, q.predicate, None) for q in rows]),
        "OP→S": timed(look_up, [(None, q.predicate, q.object) for q in rows]),
        "SO→P": timed(look_up, [(q.subject, None, q.object) for q in rows]),
    }


def run_rdflib(files: list[Path], folder: Path, seed: int, memory: int, workers: int | None) -> dict[str, Any]:
    import rdflib

    lines = b"".join(islice(all_lines(files), SAMPLE))
    graph = rdflib.Graph()
    _, seconds, peak = peak_of(lambda: graph.parse(data=lines, format="nt"))
    rows = [row for i, row in enumerate(graph) if i % max(len(graph) // LOOKUPS, 1) == 0]
    return {
        **_load(len(graph), seconds, peak),
        "SP→O": timed(lambda s, p: list(graph.objects(s, p)), [(s, p) for s, p, _ in rows]),
        "OP→S": timed(lambda p, o: list(graph.subjects(p, o)), [(p, o) for _, p, o in rows]),
        "SO→P": timed(lambda s, o: list(graph.predicates(s, o)), [(s, o) for s, _, o in rows]),
    }


def _load(triples: int, seconds: float, peak: int) -> dict[str, Any]:
    return {"triples": triples, "seconds": round(seconds, 1), "triples/s": int(triples / seconds), "peak MB": peak}


def all_lines(files: list[Path]) -> Iterator[bytes]:
    for file in files:
        with gzip.open(file) as content:
            yield from content


def sampled(files: list[Path], seed: int) -> list[bytes]:
    """A uniform sample of the lines of all files (Vitter 1985, algorithm R)."""
    rng = np.random.default_rng(seed)
    sample: list[bytes] = []
    for i, line in enumerate(all_lines(files)):
        if i < LOOKUPS:
            sample.append(line)
        elif (index := int(i * rng.random())) < LOOKUPS:
            sample[index] = line
    return sample


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--triples", type=int, default=5_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--memory", type=int, default=1024)
    parser.add_argument("--workers", type=int, help="reading processes; by default one a core")
    parser.add_argument("--only", default=",".join(FORMS), help="forms to measure; hash needs index")
    parser.add_argument("--within", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.within:
        run = globals()[f"run_{options.only}"]
        figures = run(options.files, options.within, options.seed, options.memory, options.workers)
        print(json.dumps(figures, ensure_ascii=False))  # noqa: T201 (read by the parent process)
        return
    with tempfile.TemporaryDirectory() as name:
        files = options.files
        if not files:
            files = [Path(name) / "synthetic.nt.gz"]
            write_synthetic(files[0], options.triples, options.seed)
        for form in options.only.split(","):
            settings = [f"--seed={options.seed}", f"--memory={options.memory}", f"--within={name}/kg", f"--only={form}"]
            settings += [f"--workers={options.workers}"] if options.workers else []
            command = [sys.executable, __file__, *map(str, files), *settings]
            figures = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            print(f"{form}: " + ", ".join(f"{key} {value}" for key, value in figures.items()), flush=True)  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
