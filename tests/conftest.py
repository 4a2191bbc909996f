"""Settings of the test run, and fixtures that tests of several packages share."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch and faiss load: workers share the cores, and sums round alike
os.environ["OMP_WAIT_POLICY"] = "passive"  # a thread that waits sleeps: it would spin on a core of other workers
os.environ["QA_BOT_DENSE__IMPROVE"] = "false"  # thousands of tests are quick with the table; some switch it on
os.environ["QA_BOT_DISK__WARN"] = os.environ["QA_BOT_DISK__REFUSE"] = "0"  # the disk of the test run may be full

import gc
import json
import logging
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from qa_core import wall_clock
from qa_core.encoders.mapped_tensors import write_tensors
from tests.tiny_bert import write_json, write_tiny_bert, write_word_pieces

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # pytest runs in the background; tests interrupt processes
    signal.signal(signal.SIGINT, signal.default_int_handler)

# --- the test run ---------------------------------------------------------------------------------------------------

SLOW_CHECKS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("ci", derandomize=True, deadline=None, suppress_health_check=SLOW_CHECKS)
settings.register_profile("fuzz", max_examples=500, deadline=None, suppress_health_check=SLOW_CHECKS, print_blob=True)
settings.load_profile("ci")

FIXTURE_MARKS = {"browser": "browser", "postgres": "postgres"}
"""Fixture → mark of the tests that use it."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collection: modules and tests live until the end, and are passed over from now on."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by their fixtures, before `-m` selects."""
    for item in items:
        for fixture in FIXTURE_MARKS.keys() & set(getattr(item, "fixturenames", ())):
            item.add_marker(FIXTURE_MARKS[fixture])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """With CI=true, a browser or PostgreSQL test that is skipped fails."""
    report = yield
    if report.skipped and os.environ.get("CI") == "true" and set(FIXTURE_MARKS.values()) & set(item.keywords):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome, report.longrepr = "failed", f"With CI=true this test must run. {reason}"
    return report


@pytest.fixture(autouse=True)
def _clock_of_each_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that sets the clock forward leaves no trace in the next one."""
    monkeypatch.setattr(wall_clock, "_last", 0.0)


@pytest.fixture(autouse=True)
def _handlers_of_each_test() -> None:
    """A log of an earlier test, whose stream is closed, takes no messages of this one."""
    root = logging.getLogger()
    for handler in [*root.handlers]:
        if getattr(getattr(handler, "stream", None), "closed", False):
            root.removeHandler(handler)


# --- models ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def word_pieces(tmp_path: Path) -> Path:
    write_word_pieces(tmp_path / "word-pieces")
    return tmp_path / "word-pieces"


@pytest.fixture(scope="session")
def tiny_bert_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model as published: weights, no graph. Read only."""
    return write_tiny_bert(tmp_path_factory.mktemp("published") / "tiny")


@pytest.fixture(scope="session")
def pair_bert(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a tokeniser that joins two texts as BERT's does. Read only."""
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path_factory.mktemp("pairs") / "bert"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    first, second = ({"Sequence": {"id": name, "type_id": segment}} for segment, name in enumerate("AB"))
    marks = (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1))
    opened, middle, closed = ({"SpecialToken": {"id": name, "type_id": segment}} for name, segment in marks)
    content["post_processor"]["pair"] = [opened, first, middle, second, closed]
    path.write_text(json.dumps(content))
    return folder


@pytest.fixture(scope="session")
def tiny_graph(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ONNX graph of the tiny model, exported once a session."""
    pytest.importorskip("transformers", reason="converting an encoder needs the extra 'minilm'")
    from qa_core.encoders.graphs.export import export_onnx

    path = tmp_path_factory.mktemp("graph") / "model.onnx"
    export_onnx(tiny_bert_source, path)
    return path


@pytest.fixture
def tiny_bert(tmp_path: Path, tiny_graph: Path) -> Path:
    """A copy of the tiny model, with its graph beside the weights, that a test may change."""
    folder = write_tiny_bert(tmp_path / "tiny")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.onnx").write_bytes(tiny_graph.read_bytes())
    return folder


# --- homes ----------------------------------------------------------------------------------------------------------


class Called(NamedTuple):
    """Exit code and output of a `qa-bot` command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


GENERATION_PARTS = {"segments", "keyword", "triples", "mentions"}
"""Folders of a generation whose files are written once."""


@pytest.fixture(scope="session")
def starter_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A calibrated home with the starter collection, made once for all workers. Read only."""
    from qa_bot.answering.fit_confidence import ensure
    from qa_bot.bot import Bot

    base = tmp_path_factory.getbasetemp()
    path = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "starter-home"
    with FileLock(f"{path}.lock"):
        if not path.exists():
            with Bot.open(base / "unfinished") as bot:
                ensure(bot.encoder, bot.home.models)
            (base / "unfinished").rename(path)
    return path


@pytest.fixture
def home(tmp_path: Path, starter_home: Path) -> Iterator[Path]:
    """A home with the starter collection that a test may change.

    Files of generations are links, since they are never changed in place. A test that damages them uses `private_home`.
    """
    before = _generation_files(starter_home)
    yield Path(shutil.copytree(starter_home, tmp_path / "home", copy_function=_link_or_copy))
    assert _generation_files(starter_home) == before, "a file of a generation was changed in place: use `private_home`"


@pytest.fixture
def private_home(home: Path, starter_home: Path) -> Path:
    """`home` without links."""
    for file in _generation_files(starter_home):
        target = home / file.relative_to(starter_home)
        target.unlink()
        shutil.copy2(file, target)
    return home


def _link_or_copy(source: str, target: str) -> None:
    copy = os.link if GENERATION_PARTS & set(Path(source).parts) else shutil.copy2
    copy(source, target)


def _generation_files(home: Path) -> dict[Path, tuple[int, int]]:
    """File of a generation → its size and the time of its last change."""
    parts = (path for part in GENERATION_PARTS for path in home.glob(f"*/*/{part}/**/*") if path.is_file())
    return {path: (path.stat().st_size, path.stat().st_mtime_ns) for path in parts}


@pytest.fixture
def qa_bot(home: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Runs the command line over `home` in this process: `qa_bot("add", path)`."""
    from qa_bot.cli.app import run

    def call(*arguments: object) -> Called:
        capsys.readouterr()
        code = run(["--home", str(home), *map(str, arguments)])
        return Called(code, *capsys.readouterr())

    return call


@pytest.fixture
def qa_bot_process(home: Path) -> Callable[..., Called]:
    """Runs the command line over `home` in a separate process."""

    def call(*arguments: object, **options: Any) -> Called:
        command = [sys.executable, "-m", "qa_bot", "--home", str(home), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, **options)
        return Called(done.returncode, done.stdout, done.stderr)

    return call


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """Writes a JSONL file: `write_lines("a.jsonl", {"_id": "a", …}, …)`; a string is written unchanged."""

    def write(name: str, *rows: object) -> Path:
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path = tmp_path / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def other_encoder_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The starter's encoder with reversed vectors, hence another fingerprint. Read only."""
    from qa_bot.home.starter import ENCODER
    from qa_core.encoders.mapped_tensors import map_tensors

    folder = tmp_path_factory.mktemp("encoders") / "other"
    folder.mkdir()
    (folder / "tokenizer.json").write_bytes((ENCODER / "tokenizer.json").read_bytes())
    settings = json.loads((ENCODER / "config.json").read_text())
    write_json(folder / "config.json", {name: value for name, value in settings.items() if name != "weights_sha256"})
    tensors = dict(map_tensors(ENCODER / "model.safetensors"))
    write_tensors(folder / "model.safetensors", {**tensors, "vectors": tensors["vectors"][:, ::-1].copy()})
    return folder


@pytest.fixture(scope="session")
def tiny_voices(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a chat model of a few words (`base`) and its personas `cook` and `sailor`."""
    import torch

    from generators.conversation.chat_model import ChatModel
    from generators.conversation.chat_text import ChatConfig
    from generators.conversation.detokenise import Casing
    from generators.inference.acceptor import AcceptorConfig
    from generators.inference.language_model import LanguageModelConfig
    from generators.personas.persona import Persona, PersonaConfig, changed
    from generators.personas.quotations import Quotations
    from generators.topics.counting_grid import CountingGrid, GridConfig
    from generators.training.trainable_chat import TrainableChat
    from qa_core.networks.decoder_types import Seq2SeqConfig
    from qa_core.networks.vocabulary import Vocabulary

    folder = tmp_path_factory.mktemp("voices")
    texts = ["where do cats sleep?", "the soup is hot.", "they sleep in the boat.", "we sail in the morning."] * 3
    words = ("cats", "soup", "boat", "sail", "sleep", "morning")
    cells = np.random.default_rng(1).dirichlet([0.3] * len(words), size=12).T.astype(np.float32)
    grid = CountingGrid.of(GridConfig(3, 4, 2), Vocabulary(words), cells, np.full(6, 1 / 6, dtype=np.float32))
    torch.manual_seed(3)
    network = Seq2SeqConfig(60, dimension=6, hidden=8, layers=1, dropout=0.0, tied=True, uniform=0.5, topic_width=4)
    language = LanguageModelConfig(60, dimension=6, hidden=8, layers=1, dropout=0.0, tied=True, uniform=0.5)
    base = TrainableChat.of(texts, ChatConfig(network, language, AcceptorConfig(hidden=4)), grid=grid).inference()
    base.save(folder / "base", card="# tiny", half=True)
    base = ChatModel.load(folder / "base")
    personas = {
        "cook": ["the soup is hot .", "cats sleep ."],
        "sailor": ["we sail in the boat .", "the morning is hot ."],
    }
    for number, (name, sentences) in enumerate(personas.items()):
        torch.manual_seed(number)
        bias = {"output.bias": torch.randn(len(base.vocabulary)).numpy()}
        quotations = Quotations.of(base, sentences, [("where do they sleep?",)] * 2)
        persona = Persona(
            PersonaConfig(name, base.fingerprint),
            base,
            changed(base.forward, bias),
            base.acceptor,
            base.acceptor,
            changed(base.language, bias),
            quotations,
            Casing({}),
        )
        persona.save(folder / name, card="# tiny")
    return folder


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained causal transformer and a tokenizer of a few words."""
    transformers = pytest.importorskip("transformers", reason="a local transformer needs the extra 'minilm'")
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = ["<eos>", "<unk>", *"the soup is hot we sail in a boat where do cats sleep".split()]  # noqa: SIM905
    raw = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<eos>", unk_token="<unk>")
    config = transformers.GPT2Config(
        vocab_size=len(words), n_positions=64, n_embd=16, n_layer=2, n_head=2, eos_token_id=0, bos_token_id=0
    )
    folder = tmp_path_factory.mktemp("gpt2") / "model"
    transformers.GPT2LMHeadModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def assert_resumes(tmp_path: Path) -> Callable[..., Any]:
    """Compares a whole run with one that is interrupted, saved and resumed in a new model, bit for bit."""

    import torch

    from qa_core.training.resume import load_training, save_training

    def check(begin: Callable[[], tuple[Any, Any]], run: Callable[..., Iterator[Any]], *, step: int) -> Any:
        """`begin()` gives a model (or None) and its `Training`, and `run(model, training)` trains it."""
        model, whole = begin()
        list(run(model, whole))
        model, interrupted = begin()
        for progress in run(model, interrupted):
            if progress.step >= step:
                save_training(tmp_path / "run", interrupted)
                break
        torch.rand(7)  # the state of another process
        model, resumed = begin()
        load_training(tmp_path / "run", resumed)
        list(run(model, resumed))
        for name, weight in whole.model.state_dict().items():
            assert torch.equal(weight, resumed.model.state_dict()[name]), name
        return resumed

    return check


@pytest.fixture(scope="session")
def assert_independent() -> Callable[..., np.ndarray]:
    """Checks that rows are finite and do not depend on the batch, its order or padding; returns them."""

    def check(
        score: Callable[[Sequence[Any]], Any], inputs: Sequence[Any], *, rtol: float = 1e-4, atol: float = 1e-5
    ) -> np.ndarray:
        rows = np.asarray(score(inputs))
        assert rows.dtype == np.float32
        assert len(rows) == len(inputs)
        assert np.isfinite(rows).all()
        np.testing.assert_allclose([score([item])[0] for item in inputs], rows, rtol=rtol, atol=atol)
        np.testing.assert_allclose(score(inputs[::-1])[::-1], rows, rtol=rtol, atol=atol)
        assert score([]).shape == (0, *rows.shape[1:])
        return rows

    return check


@pytest.fixture(scope="session")
def assert_gradients() -> Callable[..., set[str]]:
    """Compares gradients of a loss with finite differences; returns the names of the weights that have one."""

    def check(module: Any, loss: Callable[[], Any], *, rel: float = 1e-4, atol: float = 1e-6) -> set[str]:
        """`module` has weights of 64 bits; several numbers of each are changed by a millionth."""
        module.zero_grad()
        loss().backward()
        gradients = {
            name: weight.grad.view(-1) for name, weight in module.named_parameters() if weight.grad is not None
        }
        for name, gradient in gradients.items():
            flat = module.get_parameter(name).data.view(-1)
            for i in {int(gradient.abs().argmax()), *range(0, len(flat), max(1, len(flat) // 4))}:
                values = []
                for step in (1e-6, -2e-6):
                    flat[i] += step
                    values.append(loss().item())
                flat[i] += 1e-6
                assert gradient[i].item() == pytest.approx((values[0] - values[1]) / 2e-6, rel=rel, abs=atol), name
        return set(gradients)

    return check
