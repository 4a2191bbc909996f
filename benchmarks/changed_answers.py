"""Which answers a change of the code makes better or worse, over every collection of questions.

    python benchmarks/changed_answers.py measure --to before.jsonl [--data ../shared/data] [--encoder starter]
    python benchmarks/changed_answers.py compare before.jsonl after.jsonl [--show]

`measure` asks the questions and dialogues of `benchmarks/collections`, of `workplace` below the data, and of each
`--also FOLDER` (with `documents/` or `data/`). Homes with quick vectors stay in `--homes`: delete the folder after a
change of a reader or an index. `--encoder starter` measures the better vectors. `compare` prints the score of each set
and with `--show` each answer whose grade differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import orjson

from qa_bot.home.encoders import STARTER, TABLE
from qa_core.measures.metrics import Score
from qa_lab.evaluate.workplace.evaluation import evaluate_workplace
from qa_lab.evaluate.workplace.grading import POINTS
from qa_lab.evaluate.workplace.pipelines import STARTER_DATA

COLLECTIONS = Path(__file__).parent / "collections"
PROCESSES = 2
SHOWN = 300
"""Characters of an answer that `--show` prints."""


class QuestionSet(NamedTuple):
    name: str
    documents: Path
    questions: Path


class Setting(NamedTuple):
    encoder: str
    homes: Path


def sets(data: Path, further: Sequence[Path]) -> Iterator[QuestionSet]:
    """Sets of questions and of dialogues, by the name of their folder."""
    for folder in [*sorted(path for path in COLLECTIONS.iterdir() if path.is_dir()), *further]:
        named = next((path for path in (folder / "documents", folder / "data") if path.exists()), Path(STARTER_DATA))
        for questions in sorted(folder.glob("*.jsonl")):
            yield QuestionSet(f"{folder.name} {questions.stem}", named, questions)
    for questions in sorted((data / "workplace").glob("*.jsonl")):
        name, kind, *_ = questions.name.split(".")
        yield QuestionSet(f"{name} {kind}", questions.parent / name, questions)


def replies(of: QuestionSet, setting: Setting) -> list[dict[str, Any]]:
    """The graded replies to a set, in its order."""
    is_temporary = str(of.documents) == STARTER_DATA or setting.encoder != TABLE
    home = None if is_temporary else setting.homes / of.name.split()[0]
    (result,) = evaluate_workplace(of.documents, of.questions, encoders=[setting.encoder], home=home)
    titles = {reply.question.id: reply.question.turn.question for reply in result.replies}
    return [
        {"set": of.name, "title": titles[reply["_id"]], **reply}
        for reply in result.as_dict(with_replies=True)["replies"]
    ]


def of_folder(group: list[QuestionSet], setting: Setting) -> list[dict[str, Any]]:
    """Sets over the same documents share a home, so that one process asks them."""
    return [reply for of in group for reply in replies(of, setting)]


def measure(arguments: argparse.Namespace) -> None:
    setting = Setting(arguments.encoder, arguments.homes)
    folders = [path.name for path in [*COLLECTIONS.iterdir(), *arguments.also]]
    if repeated := {name for name in folders if folders.count(name) > 1}:
        raise SystemExit(f"Expected folders with distinct names, but got {', '.join(repeated)} twice; rename one.")
    by_folder: dict[Path, list[QuestionSet]] = defaultdict(list)
    for of in sets(arguments.data, arguments.also):
        by_folder[of.documents].append(of)
    with ProcessPoolExecutor(PROCESSES) as pool, arguments.to.open("wb") as file:
        for graded in pool.map(of_folder, by_folder.values(), [setting] * len(by_folder)):
            file.writelines(orjson.dumps(reply, option=orjson.OPT_APPEND_NEWLINE) for reply in graded)
            _say(f"{graded[0]['set']}: {_mean(graded):.3f}", to=sys.stderr)


def compare(arguments: argparse.Namespace) -> None:
    before, after = (_read(path) for path in (arguments.before, arguments.after))
    kinds: dict[bool, list[tuple[float, float]]] = defaultdict(list)
    for name in (name for name in before if name in after):
        earlier, later = (list(graded[name].values()) for graded in (before, after))
        kinds["dialogues" in name].append((_mean(earlier), _mean(later)))
        mark = "" if abs(_mean(earlier) - _mean(later)) < 1e-9 else f"  {_mean(later) - _mean(earlier):+.4f}"
        _say(f"{name:28} {_mean(earlier):.4f} {_mean(later):.4f}{mark}")
        if arguments.show:
            _show(before[name], after[name])
    for is_dialogues, means in sorted(kinds.items()):
        first, second = (sum(column) / len(means) for column in zip(*means, strict=True))
        _say(f"{len(means)} sets of {'dialogues' if is_dialogues else 'questions'}: {first:.4f} {second:.4f}")


def _show(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> None:
    for id_, later in after.items():
        earlier = before.get(id_)
        if earlier is not None and earlier["grade"] != later["grade"]:
            _say(f"    {earlier['grade']} -> {later['grade']}  {id_}: {later['title']}")
            _say(f"        before: {_shown(earlier)}\n        after:  {_shown(later)}")


def _say(line: str, *, to: TextIO = sys.stdout) -> None:
    print(line, file=to)


def _shown(reply: dict[str, Any]) -> str:
    source = reply["documents"][:1] or [reply["reason"]]
    return f"[{source[0]}] {' '.join(reply['answer'].split())[:SHOWN]}"


def _read(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Set → id → reply."""
    graded: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for line in path.read_bytes().splitlines():
        reply = orjson.loads(line)
        graded[reply["set"]][reply["_id"]] = reply
    return graded


def _mean(graded: Iterable[dict[str, Any]]) -> float:
    return Score.of({f"{of['set']}/{of['_id']}": POINTS[of["grade"]] for of in graded}).mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    measured = verbs.add_parser("measure")
    measured.add_argument("--to", type=Path, required=True)
    measured.add_argument("--data", type=Path, default=Path("../shared/data"))
    measured.add_argument("--also", type=Path, action="append", default=[])
    measured.add_argument("--encoder", choices=(TABLE, STARTER), default=TABLE)
    measured.add_argument("--homes", type=Path, default=Path(tempfile.gettempdir()) / "qa-bot-homes")
    measured.set_defaults(verb=measure)
    compared = verbs.add_parser("compare")
    compared.add_argument("before", type=Path)
    compared.add_argument("after", type=Path)
    compared.add_argument("--show", action="store_true")
    compared.set_defaults(verb=compare)
    arguments = parser.parse_args()
    arguments.verb(arguments)


if __name__ == "__main__":
    main()
