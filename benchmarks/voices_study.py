"""What can be measured without judges of the thesis' human study of voices (ch. 8.6.4, tables 8.3 and 8.4).

    python benchmarks/voices_study.py --questions debate_questions.tsv --model BASE --dialogues FILE …
        --persona kennedy=DIR=VALID … [--out DIR] [--seed S] [--encoder E] [--samples 3] [--careful]

`--questions` has a question and a hint a line, with a tab between them; a persona is its folder, and a file of
sentences that it was not trained on; the first is the one that most systems speak like. `--careful` draws as the
product does by default (temperature .7 among 50 words, agreement with the hint 2), else words are drawn as the model
says. `--out` gets the table, the samples to read, and everything as JSON. See `qa_lab/studies/study.py`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from generators.conversation.decoding import Sampling
from generators.conversation.ranking import GenerationConfig
from qa_lab.studies.study import HELD_OUT, SAMPLES, evaluate_study

CAREFUL = GenerationConfig(agreement=2.0, sampling=Sampling(temperature=0.7, top_k=50, shortest=3))


def main() -> None:
    options = arguments()
    parts = [each.split("=", 2) for each in options.persona]
    if wrong := next((given for each, given in zip(parts, options.persona, strict=True) if len(each) != 3), None):
        sys.exit(f"Expected --persona NAME=FOLDER=SENTENCES, but got {wrong}.")
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
        progress=lambda doing, done: sys.stderr.write(f"{time.monotonic() - began:.0f} s  {doing}: {done}\n"),
    )
    sys.stdout.write(report.text() + "\n")
    if options.out is None:
        sys.stdout.write(report.samples() + "\n")
        return
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "study.md").write_text(report.text() + "\n", encoding="utf-8")
    (options.out / "samples.md").write_text(report.samples() + "\n", encoding="utf-8")
    (options.out / "study.json").write_text(json.dumps(report.as_dict(), indent=1) + "\n", encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="the chat model")
    parser.add_argument("--dialogues", type=Path, nargs="+", required=True, help="what it was trained on")
    parser.add_argument("--persona", nargs="+", required=True, metavar="NAME=FOLDER=SENTENCES")
    parser.add_argument("--held-out", type=float, default=HELD_OUT, help="share of the dialogues kept aside")
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--encoder", default="starter")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--careful", action="store_true")
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
