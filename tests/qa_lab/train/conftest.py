"""Small runs of every training verb."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from qa_core.encoders.mapped_tensors import write_tensors
from qa_core.vectors.word_vectors import WordVectors, write_glove
from qa_lab.train.request import Request

NAMES = [first + last for first in ("ba", "ce", "di", "fo", "gu", "ka") for last in ("lor", "min", "tes", "von", "zar")]
HEAD = "qid\tquestion\tanswer\tlabel"
TOPICS = ("sea sand wave boat shell", "war tank army siege truce", "cake bread flour oven yeast")
SAILING = ("sea", "wind", "sail", "ship", "storm", "calm", "harbour", "captain", "rope", "anchor", "wave", "is", "was")
PHRASE_WORDS = tuple(
    first + second + last
    for first in ("ba", "co", "du", "fe", "gi", "ha", "jo", "ku", "le", "mi", "na", "po")
    for second in ("ba", "co", "du", "fe", "gi", "ha", "jo", "ku", "le", "mi", "na", "po")
    for last in "nr"
)
Build = Callable[[str], Request]


@dataclass
class StopAfter:
    """Interrupts a run at its n-th report."""

    reports: int

    def __call__(self, _progress: object) -> None:
        self.reports -= 1
        if self.reports == 0:
            raise InterruptedError


@pytest.fixture
def stop_after() -> type[StopAfter]:
    return StopAfter


@pytest.fixture
def build_request(tmp_path: Path, request: pytest.FixtureRequest) -> Build:
    """`build_request("dense")`: a request that trains in a moment, with `out`, data and settings in `tmp_path`."""
    return lambda name: build(name, tmp_path, request)


@pytest.fixture
def request_(request: pytest.FixtureRequest, build_request: Build) -> Request:
    """A request for the `MODEL` of the module."""
    return build_request(request.module.MODEL)


@pytest.fixture(scope="session")
def build_in(request: pytest.FixtureRequest) -> Callable[[str, Path], Request]:
    """The same in any folder."""
    return lambda name, folder: build(name, folder, request)


@pytest.fixture
def pairs_file(tmp_path: Path) -> Path:
    """Thirty questions, each answered by the name it asks for."""
    return qa_pairs(tmp_path)


@pytest.fixture
def static_folder(word_pieces: Path) -> Path:
    """A static encoder over the tiny word pieces."""
    vectors = np.random.default_rng(0).normal(size=(12, 8)).astype(np.float16)
    write_tensors(word_pieces / "model.safetensors", {"vectors": vectors})
    (word_pieces / "config.json").write_text(json.dumps({"kind": "static"}), encoding="utf-8")
    return word_pieces


# --- one small run of each verb -------------------------------------------------------------------------------------


def build(name: str, folder: Path, request: pytest.FixtureRequest) -> Request:
    made = BUILDERS[name](folder)
    return replace(made, base=request.getfixturevalue("pair_bert")) if name == "cross-encoder" else made


def written(path: Path, lines: Iterable[object]) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path


def request_of(folder: Path, data: Path, settings: str, *, dev: str = "0.3", seed: int = 3) -> Request:
    config = folder / "settings.toml"
    config.write_text(settings)
    return Request((data,), folder / "out", config=config, dev=dev, seed=seed)


def qa_pairs(folder: Path) -> Path:
    rows = [
        {"question": f"where does {name} live", "answer": f"the house of {name} is number {number}"}
        for number, name in enumerate(NAMES)
    ]
    return written(folder / "pairs.jsonl", rows)


def paraphrases(folder: Path) -> Path:
    """Twenty pairs of questions that ask the same, and twenty that do not."""
    same = [f"1\twhere does {name} live\twhat is the address of {name}\t{n}" for n, name in enumerate(NAMES[:20])]
    other = [f"0\twhere does {name} live\twhen does {name} sleep\t{n}" for n, name in enumerate(NAMES[:20])]
    return written(folder / "quora.tsv", [*same, *other])


def vectors_file(path: Path, words: Sequence[str], size: int) -> Path:
    write_glove(WordVectors(tuple(words), np.random.default_rng(0).normal(size=(len(words), size)).astype("f4")), path)
    return path


def dense(folder: Path) -> Request:
    settings = 'model = "mean"\n[words]\nminimum = 1\ndimension = 16\n[slam]\nepochs = 4\nbatch = 16\n'
    return request_of(folder, qa_pairs(folder), settings + "learning_rate = 0.05\n")


def expansion(folder: Path) -> Request:
    settings = "minimum = 1\n[network]\nvocabulary = 100\ndimension = 8\nhidden = 8\n"
    return request_of(folder, qa_pairs(folder), settings + "[training]\nepochs = 3\nbatch = 8\n")


def similar(folder: Path) -> Request:
    return request_of(folder, paraphrases(folder), "[words]\ndimension = 16\n[dual]\nepochs = 3\nbatch = 8\n")


def words(folder: Path) -> Request:
    """Texts of four words about three topics, as many as differ of sixty."""
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(TOPICS[number % 3].split(), size=4, replace=False)) for number in range(60)]
    settings = "minimum = 1\n[skip_gram]\ndimension = 8\nbatch = 50\nepochs = 4\nshared = 8\nsubsample = 1.0\n"
    return request_of(folder, written(folder / "texts.txt", texts), settings)


def paragram(folder: Path) -> Request:
    """A lexicon of ten pairs; start vectors of twenty names and a word that no lexicon has."""
    names = NAMES[:20]
    lexicon = [f"{names[n]} {names[n + 1]}" for n in range(0, 20, 2)]
    data = written(folder / "lexicon.txt", [*lexicon, f"{names[0]} unheard"])
    scored = [f"{names[n]}\t{names[n + 1]}\t9" for n in range(0, 20, 2)]
    dev = written(folder / "scored.txt", [*scored, *(f"{names[n]}\t{names[n + 2]}\t1" for n in range(10))])
    made = request_of(folder, data, "[paragram]\nepochs = 4\nbatch = 5\nregularisation = 0.0\n", dev=str(dev))
    return replace(made, base=vectors_file(folder / "start.txt", (*names, "alone"), 8))


def phrases(folder: Path) -> Request:
    words = PHRASE_WORDS
    rows = [f"{words[3 * n]} {words[3 * n + 1]}\t{words[3 * n + 2]} {words[-1 - n]}" for n in range(70)]
    settings = "test = 0.1\n[phrases]\nepochs = 3\nbatch = 20\nword_rate = 0.1\nsampling = 'mix'\n"
    data = written(folder / "pairs.tsv", [*rows, "broken", "with 7\tdigits of"])
    made = request_of(folder, data, settings + "[preparation]\nedits = 1\noverlap = 2.0\n")
    return replace(made, base=vectors_file(folder / "words.txt", words, 6))


def hyperqa(folder: Path) -> Request:
    """Sixteen questions, each with its answer and two of others."""
    names = NAMES[:16]
    rows = [
        f"{number}\twhere does {name} live\t{names[(number + shift) % 16]} lives at home\t{int(not shift)}"
        for number, name in enumerate(names)
        for shift in range(3)
    ]
    vectors = vectors_file(folder / "vectors.txt", ("where", "does", "live", "lives", "at", "home", *names), 8)
    settings = f'pretrained = "{vectors}"\n[pairs]\nepochs = 4\nbatch = 16\n[hyper]\nprojection = 12\n'
    return request_of(folder, written(folder / "answers.tsv", [HEAD, *rows]), settings, dev="0.4")


def blstm(folder: Path) -> Request:
    """Twenty questions with two answers, the right one named in the question."""
    rows = [HEAD]
    for number, name in enumerate(NAMES[:20]):
        rows.append(f"{number}\twhere is {name}\t{name} is in the house {number}\t1")
        rows.append(f"{number}\twhere is {name}\t{NAMES[number - 1]} is in the house\t0")
    settings = 'pretrained = ""\n[network]\ndimension = 6\nhidden = 4\nlayers = 1\n[training]\nlearning_rate = 0.02\n'
    settings += "[training.pointwise]\nepochs = 2\nbatch = 16\n[trees]\ntrees = 10\nleast = 2\n"
    return request_of(folder, written(folder / "judged.tsv", rows), settings)


def encoder_decoder(folder: Path) -> Request:
    settings = "minimum = 1\n[model.network]\nvocabulary = 100\ndimension = 8\nhidden = 8\n"
    return request_of(folder, qa_pairs(folder), settings + "[training]\nepochs = 3\nbatch = 8\n")


def cross_encoder(folder: Path) -> Request:
    rows = [
        f"Q{n}\twhy {'sleep ' * n}\t{answer} {'day ' * n}\t{int(answer == 'cats')}"
        for n in range(1, 16)
        for answer in ("cats", "do", "unhappy")
    ]
    settings = "graph = false\n[cross]\nmax_length = 16\n[tuning]\nepochs = 2\nbatch = 8\nnegatives = 1\n"
    return request_of(folder, written(folder / "answers.tsv", [HEAD, *rows]), settings, dev="0.4")


def entailment(folder: Path) -> Request:
    settings = "test = 0.3\n[words]\ndimension = 8\nhidden = 8\n[training]\nepochs = 3\nbatch = 8\nidentical = 4\n"
    return request_of(folder, paraphrases(folder), settings)


def fusion(folder: Path) -> Request:
    """Twelve questions, of whose three answers the right one shares two words with it."""
    rows = [HEAD]
    for number, name in enumerate(NAMES[:12]):
        question = f"{number}\twhere are {name} kept at night"
        rows += [f"{question}\t{name} are kept in the cellar\t1", f"{question}\t{name} cost three coins\t0"]
        rows.append(f"{question}\tit rained on Sunday\t0")
    settings = 'folds = 3\n[fusion.trees]\nobjective = "lambdarank"\ntrees = 20\nleast = 2\n'
    return request_of(folder, written(folder / "answers.tsv", rows), settings, seed=1)


def relations(folder: Path) -> Request:
    words = {1: "voice", 2: "pen", 3: "cradle", 4: "grave"}  # the words alone suggest wrong relations
    rows = [f"{gold}\t1 2 3 4\tthe {word} {n} of #head_entity#" for n in range(8) for gold, word in words.items()]
    names = written(folder / "names.txt", ("/a/born_in", "/a/died_in", "/a/wrote", "/a/sings"))
    settings = "hidden = 16\n[training]\nepochs = 12\nbatch = 4\nlearning_rate = 0.01\n"
    return replace(request_of(folder, written(folder / "pools.tsv", rows), settings, seed=2), relations=names)


def chat(folder: Path) -> Request:
    rows = [
        {"turns": [f"do you like my {animal} number {n} ?", f"I like your {animal}.", "Thanks!"]}
        for n in range(4)
        for animal in ("cat", "dog", "cow", "hen", "fox")
    ]
    network = "vocabulary = 100\ndimension = 4\nhidden = 6\n"
    settings = f"minimum = 1\nexamples = 50\n[model.network]\n{network}[model.language]\n{network}"
    parts = {"forward": 2, "language": 1, "backward": 2}
    settings += "".join(f"[{name}]\nepochs = {epochs}\nbatch = 20\n" for name, epochs in parts.items())
    return request_of(folder, written(folder / "dialogues.jsonl", rows), settings)


def sailor(count: int) -> list[str]:
    rng = np.random.default_rng(0)
    return [f"The {' '.join(rng.choice(SAILING, size=4))} {number}." for number in range(count)]


def persona(folder: Path) -> Request:
    """Sixty sentences, over a chat model that has learned nothing."""
    import torch

    from generators.conversation.chat_text import ChatConfig
    from generators.inference.acceptor import AcceptorConfig
    from generators.inference.language_model import LanguageModelConfig
    from generators.training.trainable_chat import TrainableChat
    from qa_core.networks.decoder_types import Seq2SeqConfig

    torch.manual_seed(1)
    sizes = {"dimension": 8, "hidden": 8, "layers": 1, "dropout": 0.0, "tied": True}
    config = ChatConfig(Seq2SeqConfig(80, **sizes), LanguageModelConfig(80, **sizes), AcceptorConfig(hidden=4))
    config = replace(config, max_source=10, max_target=10)
    TrainableChat.of([*sailor(40), "who are you?"], config).inference().save(folder / "base", card="# Card\n")
    settings = "examples = 200\n[speaker]\nepochs = 4\nbatch = 16\nlearning_rate = 0.05\n"
    settings += "[forward]\nepochs = 3\nbatch = 16\nlearning_rate = 0.05\n"
    made = request_of(folder, written(folder / "sailor.txt", sailor(60)), settings, dev="0.1")
    return replace(made, base=folder / "base", out=folder / "sailor")


def grid(folder: Path) -> Request:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(TOPICS[number % 3].split(), size=4)) for number in range(240)]
    data = written(folder / "turns.jsonl", ({"turns": texts[start : start + 4]} for start in range(0, 240, 4)))
    settings = "minimum = 2\n[grid]\nheight = 6\nwidth = 8\nwindow = 3\n[training]\nsteps = 6\nwide = [5]\n"
    return request_of(folder, data, settings + "wide_steps = 2\n", dev="0.1", seed=1)


BUILDERS: dict[str, Callable[[Path], Request]] = {
    "dense": dense,
    "expansion": expansion,
    "similar": similar,
    "words": words,
    "paragram": paragram,
    "phrases": phrases,
    "hyperqa": hyperqa,
    "blstm": blstm,
    "encoder-decoder": encoder_decoder,
    "cross-encoder": cross_encoder,
    "entailment": entailment,
    "fusion": fusion,
    "relations": relations,
    "chat": chat,
    "persona": persona,
    "grid": grid,
}
