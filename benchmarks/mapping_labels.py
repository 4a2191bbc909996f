"""Precision of mined mappings before and after denoising on a labelled sample (Wang 2018, ch. 4.3.4 and 4.3.5).

    python benchmarks/mapping_labels.py counts --templates FILE [--json]
    python benchmarks/mapping_labels.py draw --templates FILE --out FILE [--seed S] [--each N]
    python benchmarks/mapping_labels.py keep --drawn FILE
    python benchmarks/mapping_labels.py figures [--json]
    python benchmarks/mapping_labels.py show --templates FILE

`--templates` is `DIR/templates.tsv` of `qa-bot kg mine … --out DIR`; `counts` gives its figures of table 4.1. `draw`
takes three uniform samples of `--each` mappings: of all mappings with a path (`all`), of the mappings that denoising
keeps (`kept`), and of the kept mappings with one predicate (`one step`). Denoising keeps a mapping if F × K is above 0:
template and relation share a word, and not every template has the relation. A judge then fills the last column, seeing
template, relation and sample but no answer: does this relation answer a question of this form? right, wrong or unclear.

`keep` writes the labels to `mapping_labels.tsv` beside this file, with digests in place of the templates, whose text
belongs to the mined pairs; `show` restores the text. `figures` gives the share of right mappings with Wilson's 95 %
interval, where unclear ones count as not right, and the same share weighted by count.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kg_index.relations.keywords import KeywordMatcher
from kg_index.relations.template_rows import Row
from kg_index.relations.template_text import NO_PATH
from kg_index.relations.templates import TemplateTable
from kg_index.training.mapping_weights import f_weights, k_weights

LABELS = Path(__file__).with_name("mapping_labels.tsv")
COLUMNS = ("template", "relation", "count", "kept_by_denoising", "drawn", "label")
SAMPLES = ("all", "kept", "one step")
VERDICTS = ("right", "wrong", "unclear")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A mapping with its sample and the judge's label."""

    template: str  # or its digest
    relation: str
    count: float
    learnt: bool  # whether denoising kept it
    drawn: str
    label: str

    @property
    def right(self) -> bool:
        return self.label == "right"

    def line(self) -> str:
        learnt = "yes" if self.learnt else "no"
        return "\t".join((self.template, self.relation, f"{self.count:.6g}", learnt, self.drawn, self.label))


def digest(template: str) -> str:
    return hashlib.sha256(template.encode("utf-8")).hexdigest()[:16]


def kept_by(table: TemplateTable) -> NDArray[np.bool_]:
    """(E,) mappings with a path whose weight F × K is above 0."""
    has_path = np.array([relation != NO_PATH for relation in table.relations])[table.relation]
    return has_path & (f_weights(table) * k_weights(table, KeywordMatcher().overlap) > 0)


def counts(path: Path) -> dict[str, object]:
    """Counts of mappings before and after denoising; both keep the class "no path found"."""
    table = TemplateTable.load(path)
    with_path = np.array([relation != NO_PATH for relation in table.relations])[table.relation]  # (E,)
    single = np.array([" / " not in relation for relation in table.relations])[table.relation]
    owners, learnt = table.owners(), kept_by(table)

    def totals(which: NDArray[np.bool_]) -> dict[str, object]:
        relations = [table.relations[number] for number in np.unique(table.relation[which])]
        return {
            "mappings": int(which.sum()),
            "templates": len(np.unique(owners[which])),
            "of one step": int((which & single).sum()),
            "relations": len(relations),
            "relations of one step": sum(" / " not in relation for relation in relations),
            "predicates": len({part.removeprefix("^") for relation in relations for part in relation.split(" / ")}),
            "count": round(float(table.count[which].sum()), 1),
        }

    return {
        "templates": len(table),
        "mappings": len(table.relation),
        "no path found": {"templates": int((~with_path).sum()), "count": float(table.count[~with_path].sum())},
        "with a path": totals(with_path),
        "kept by denoising": totals(learnt),
        "share kept": round(float(learnt.sum() / max(with_path.sum(), 1)), 4),
    }


def draw(path: Path, *, size: int, seed: int) -> Iterator[Labelled]:
    """Mappings to label, uniformly and without repetition within each sample."""
    table, rng = TemplateTable.load(path), np.random.default_rng(seed)
    with_path = np.array([relation != NO_PATH for relation in table.relations])[table.relation]
    learnt, owners = kept_by(table), table.owners()
    single = np.array([" / " not in relation for relation in table.relations])[table.relation]
    for name, which in zip(SAMPLES, (with_path, learnt, learnt & single), strict=True):
        indices = np.flatnonzero(which)
        for index in rng.choice(indices, min(size, len(indices)), replace=False).tolist():
            template, relation = table.template(owners[index]), table.relations[table.relation[index]]
            yield Labelled(template, relation, float(table.count[index]), bool(learnt[index]), name, "")


def write(path: Path, rows: Iterable[Labelled]) -> None:
    lines = ["\t".join(COLUMNS), *(row.line() for row in rows)]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read(path: Path, *, labelled: bool = True) -> list[Labelled]:
    """Read labelled mappings. Raises ValueError with the number of an invalid line."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()[1:], start=2):
        columns = line.split("\t")
        if len(columns) != len(COLUMNS) or (labelled and columns[-1] not in VERDICTS):
            raise ValueError(
                f"{path}, line {number}: Expected {', '.join(COLUMNS)}, the last one among {', '.join(VERDICTS)}."
            )
        template, relation, count, learnt, drawn, label = columns
        rows.append(Labelled(template, relation, float(count), learnt == "yes", drawn, label))
    return rows


def figures(rows: Sequence[Labelled]) -> dict[str, object]:
    drawn = {name: [row for row in rows if row.drawn == name] for name in SAMPLES}
    return {
        "before denoising": shares(drawn["all"]),
        "after denoising": shares(drawn["kept"]),
        "after denoising, one step": shares(drawn["one step"]),
        "kept of the sample of all": shares([row for row in drawn["all"] if row.learnt]),
        "left out of the sample of all": shares([row for row in drawn["all"] if not row.learnt]),
    }


def shares(rows: Sequence[Labelled]) -> dict[str, object]:
    """Shares of right mappings, uniform and weighted by count; unclear ones are not right."""
    right, weight = sum(row.right for row in rows), sum(row.count for row in rows)
    low, high = wilson(right, len(rows))
    by_count = sum(row.count for row in rows if row.right) / weight if weight else math.nan
    labels = {label: sum(row.label == label for row in rows) for label in VERDICTS}
    summary = (right / len(rows) if rows else math.nan, low, high, by_count)
    return labels | dict(zip(("share", "low", "high", "share by count"), (round(x, 3) for x in summary), strict=True))


def wilson(right: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Wilson's interval for a share; 0 to 1 without observations."""
    if not n:
        return 0.0, 1.0
    share, spread = right / n, z * z / n
    middle, half = share + spread / 2, z * math.sqrt(share * (1 - share) / n + spread / n / 4)
    return (middle - half) / (1 + spread), (middle + half) / (1 + spread)


def shown(rows: Sequence[Labelled], mined: Iterable[Row]) -> Iterator[Labelled]:
    """The rows with the text of those templates that the table has."""
    texts = {digest(row.template): row.template for row in mined}
    return (replace(row, template=texts.get(row.template, row.template)) for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("counts", "draw", "keep", "figures", "show"))
    for name in ("--templates", "--drawn", "--out"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    payload: dict[str, object] = {}
    match options.task:
        case "counts":
            payload = counts(options.templates)
        case "draw":
            write(options.out, draw(options.templates, size=options.each, seed=options.seed))
        case "keep":
            write(LABELS, (replace(row, template=digest(row.template)) for row in read(options.drawn)))
        case "show":
            rows = shown(read(LABELS), TemplateTable.load(options.templates).rows())
            payload = {str(number): row.line() for number, row in enumerate(rows, start=1)}
        case "figures":
            payload = figures(read(LABELS))
    if payload:
        text = (
            json.dumps(payload, indent=2) if options.json else "\n".join(f"{name}: {x}" for name, x in payload.items())
        )
        print(text)  # noqa: T201 (a tool run by hand)


if __name__ == "__main__":
    main()
