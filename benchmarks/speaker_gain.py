"""Style of replies drawn by multiplying and by the fine-tuned model: log p by the speaker minus log p by the base.

    python benchmarks/speaker_gain.py --questions debate_questions.tsv [--model BASE] [--persona DIR …] [--seed S]

Nats a word over all drawn replies, before they are ranked. Multiplying is drawn without an acceptor, with the acceptor
of the base, and with its own. Without `--model` and `--persona` the shipped voices are measured.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from generators.conversation.chat_model import ChatModel
from generators.conversation.ranking import GenerationConfig
from generators.personas.persona import Persona
from generators.personas.persona_decoder import finetuned_decoder, multiplied_decoder
from qa_bot.home.starter import VOICES
from qa_lab.studies.speaker_gain import speaker_gain
from qa_lab.studies.study import read_questions


def main() -> None:
    options = arguments()
    base = ChatModel.load(options.model)
    questions = [example.question for example in read_questions(options.questions)][: options.limit]
    sys.stdout.write("| persona | drawn by | nats a word |\n| --- | --- | --- |\n")
    for folder in options.persona:
        persona = Persona.load(folder, base)
        multiply, selective = multiplied_decoder(persona), GenerationConfig(options.candidates)
        systems = {
            "multiply, without an acceptor": (multiply, replace(selective, method="vanilla")),
            "multiply, acceptor of the base": (replace(multiply, acceptor=base.acceptor), selective),
            "multiply": (multiply, selective),
            "finetune": (finetuned_decoder(persona), selective),
        }
        for name, (decoder, generation) in systems.items():
            gain = speaker_gain(persona, decoder, questions, generation=generation, seed=options.seed)
            sys.stdout.write(f"| {persona.config.name} | {name} | {gain:+.3f} |\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=Path, required=True, help="a question, a tab and a hint on each line")
    parser.add_argument("--model", type=Path, default=VOICES / "base", help="the chat model")
    parser.add_argument("--persona", type=Path, nargs="+", default=[VOICES / "captain", VOICES / "gardener"])
    parser.add_argument("--candidates", type=int, default=12, help="replies to each question")
    parser.add_argument("--limit", type=int, help="number of questions at most")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
