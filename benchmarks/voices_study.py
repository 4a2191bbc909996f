"""The human study of persona replies in Wang (2018), ch. 8.6.4, tables 8.3 and 8.4, with automatic measures.

    python benchmarks/voices_study.py --questions debate_questions.tsv --model BASE --dialogues FILE …
        --persona kennedy=DIR=VALID … [--out DIR] [--seed S] [--encoder E] [--samples 3] [--careful]

`--questions` has a question, a tab and a hint on each line. A persona is its name, its folder and a file of sentences
that it was not trained on; most systems speak like the first. `--careful` samples with the product's defaults
(temperature .7 among 50 words, agreement with the hint 2); otherwise words are sampled from the model's distribution.
`--out` gets the table, sample replies, the report as JSON, and all replies, for `qa-bot study make`. See
`qa_lab/studies/study.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from generators.conversation.decoding import Sampling
from generators.conversation.ranking import GenerationConfig
from qa_lab.studies.people.material import write_cases
from qa_lab.studies.study import HELD_OUT, SAMPLES, evaluate_study

CAREFUL = GenerationConfig(agreement=2.0, sampling=Sampling(temperature=0.7, top_k=50, shortest=3))


def main() -> None:
    options = arguments()
    parts = [option.split("=", 2) for option in options.persona]
    if wrong := ["=".join(fields) for fields in parts if len(fields) != 3]:
        sys.exit(f"Expected --persona NAME=FOLDER=SENTENCES, but got {wrong[0]}.")
    began = time.monotonic()
    report = evaluate_study(
        options.questions,
        base=options.model,
        personas={name: Path(folder) for name, folder, _ in parts},
        dialogues=options.dialogues,
        style={name: Path(valid) for name, _, valid in parts},
        samples=options.samples,
        seed=options.seed,
        held_out=options.held_out,
        encoder=options.encoder,
        generation=CAREFUL if options.careful else GenerationConfig(),
        limit=options.limit,
        progress=lambda stage, done: print(  # noqa: T201 (a tool run by hand)
            f"{time.monotonic() - began:.0f} s  {stage}: {done}", file=sys.stderr
        ),
    )
    sys.stdout.write(report.text() + "\n")
    if options.out is None:
        sys.stdout.write(report.samples() + "\n")
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "study.md").write_text(report.text() + "\n", encoding="utf-8")
    (options.out / "samples.md").write_text(report.samples() + "\n", encoding="utf-8")
    write_cases(options.out / "replies.jsonl", report.cases())
    (options.out / "study.json").write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="the chat model")
    parser.add_argument("--dialogues", type=Path, nargs="+", required=True, help="its training data")
    parser.add_argument("--persona", nargs="+", required=True, metavar="NAME=FOLDER=SENTENCES")
    parser.add_argument("--held-out", type=float, default=HELD_OUT, help="share of held-out dialogues")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", default="starter")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--careful", action="store_true")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
