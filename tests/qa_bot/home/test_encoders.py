"""Encoders by name, by folder and from the hub; refusals of unusable folders."""

import http.server
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from qa_bot.home import encoders
from qa_bot.home.encoders import EncoderError, fetch, resolve, verify, with_known_words
from qa_core.encoders.mapped_tensors import map_tensors, write_tensors
from qa_core.encoders.sentence_layout import Prompts
from qa_core.encoders.static_encoder import StaticEncoder, weights_match

NAME = "someone/tiny"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def test_starter_by_name(tmp_path: Path) -> None:
    encoder = resolve("starter", models=tmp_path)
    assert isinstance(encoder, StaticEncoder)
    near, far = encoder.encode(["How do I boil an egg?", "The weather in Oslo"]) @ encoder.encode(["cooking eggs"])[0]
    assert near > far + 0.2
    assert encoder.knows("cat")
    assert not encoder.knows("xqzzt")
    assert not list(tmp_path.iterdir())


def test_starter_matches_its_configuration() -> None:
    assert weights_match(encoders.ENCODER)
    card = (encoders.ENCODER / "README.md").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in card
    assert "Apache" in card
    assert sum(path.stat().st_size for path in encoders.ENCODER.iterdir()) < 20_000_000


def test_a_transformer_may_know_further_words(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = resolve(str(tiny_bert), models=tmp_path)
    knowing = with_known_words(encoder, {"goldfish"})
    assert [encoder.knows(word) for word in ("cats", "goldfish", "zzzz")] == [True, False, False]
    assert [knowing.knows(word) for word in ("cats", "goldfish", "zzzz")] == [True, True, False]
    assert knowing.fingerprint == encoder.fingerprint


def test_transformer_folder_by_path(tiny_bert: Path, tmp_path: Path) -> None:
    encoder = resolve(str(tiny_bert), models=tmp_path / "models")
    assert encoder.dimension == 8
    (graphs,) = (tmp_path / "models" / "graphs").iterdir()
    assert graphs.name.startswith("tiny-")


def test_prompts_are_read_before_each_text(tiny_bert: Path, tmp_path: Path) -> None:
    plain = resolve(str(tiny_bert), models=tmp_path)
    prompted = resolve(str(tiny_bert), models=tmp_path, prompts=Prompts("why ", "do "))
    for side, text in (("question", "why cats"), ("answer", "do cats")):
        np.testing.assert_allclose(prompted.encode(["cats"], side=side), plain.encode([text], side=side), atol=1e-6)
    assert prompted.fingerprint != plain.fingerprint
    assert resolve(str(tiny_bert), models=tmp_path, prompts=Prompts()).fingerprint == plain.fingerprint


def test_static_folder_by_path(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(encoders.ENCODER, tmp_path / "mine"))
    assert resolve(str(folder), models=tmp_path).fingerprint == resolve("starter", models=tmp_path).fingerprint


def test_changed_weights_get_another_cache(tiny_bert: Path, tmp_path: Path) -> None:
    before = encoders.cache_of(tiny_bert, tmp_path)
    assert encoders.cache_of(tiny_bert, tmp_path) == before
    write_tensors(tiny_bert / "model.safetensors", {"other": np.ones(3, dtype=np.float32)})
    assert encoders.cache_of(tiny_bert, tmp_path) != before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/no/such/place", "Expected an encoder in the folder /no/such/place, but there is no such folder"),
        ("strater", "Expected an encoder in the folder strater, but there is no such folder"),
        (NAME, f"it is not here yet; run `qa-bot use {NAME}`, which fetches it"),
    ],
)
def test_unknown_name_is_refused_with_advice(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(EncoderError, match=message):
        resolve(name, models=tmp_path)


def only_weights(folder: Path) -> None:
    (folder / "modules.json").unlink()
    (folder / "config.json").unlink()


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    shutil.rmtree(folder / "onnx")


def only_pickle(folder: Path) -> None:
    without_weights(folder)
    (folder / "pytorch_model.bin").write_bytes(b"\x80")


def write_config(name: str, content: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_text(content, encoding="utf-8")


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def other_architecture(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    write_tensors(folder / "model.safetensors", {"transformer.layer.0.weight": np.ones((2, 2), dtype=np.float32)})


def not_a_number(folder: Path) -> None:
    shutil.rmtree(folder / "onnx")
    weights = {name: np.array(tensor) for name, tensor in map_tensors(folder / "model.safetensors").items()}
    weights["encoder.layer.0.output.dense.bias"][:] = np.nan
    write_tensors(folder / "model.safetensors", weights)


POOLING = "1_Pooling/config.json"
MAX_POOLING = '{"word_embedding_dimension": 8, "pooling_mode_max_tokens": true}'
OTHER_DIMENSION = '{"word_embedding_dimension": 9, "pooling_mode": "mean"}'


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (only_pickle, r"only pytorch_model\.bin: a pickle can run any program"),
        (without_weights, r"Expected model\.safetensors in .*, but it is not there"),
        (cut_weights, "Expected a whole safetensors file"),
        (other_architecture, "belongs to another architecture"),
        (only_weights, "Expected a folder in sentence-transformers or Hugging Face layout"),
        (write_config(POOLING, MAX_POOLING), "Expected mean or cls pooling"),
        (write_config("config.json", "{}"), "Expected 'model_type'"),
        (not_a_number, r"Expected vectors of length 1 .*but got nan"),
        (write_config(POOLING, OTHER_DIMENSION), "Expected vectors of 9 numbers .*but got 8"),
    ],
)
def test_unusable_folder_is_refused_with_a_reason(
    tiny_bert: Path, tmp_path: Path, damage: object, message: str
) -> None:
    assert callable(damage)
    damage(tiny_bert)
    with pytest.raises(EncoderError, match=message):
        verify(tiny_bert, models=tmp_path / "models")


@pytest.fixture
def graph() -> bool:
    """Whether the hub has the ONNX graph; its other weights are a pickle."""
    return True


@pytest.fixture
def published(tiny_bert: Path, graph: bool) -> dict[str, bytes]:
    """The files of the tiny model by their names on the hub."""
    (tiny_bert / "model.safetensors").unlink()
    if not graph:
        shutil.rmtree(tiny_bert / "onnx")
    files = {
        path.relative_to(tiny_bert).as_posix(): path.read_bytes() for path in tiny_bert.rglob("*") if path.is_file()
    }
    return {**files, "pytorch_model.bin": b"\x80", "train.py": b"print()"}


@pytest.fixture
def hub(published: dict[str, bytes]) -> Iterator[str]:
    """A local hub with one model."""
    siblings = [{"rfilename": name, "size": len(content)} for name, content in published.items()]
    about = json.dumps({"_id": "1", "id": NAME, "modelId": NAME, "sha": COMMIT, "siblings": siblings}).encode()

    tree = json.dumps(
        [{"type": "file", "path": name, "size": len(content), "oid": "0"} for name, content in published.items()]
    ).encode()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.reply(send=False)

        def do_GET(self) -> None:
            self.reply(send=True)

        def reply(self, *, send: bool) -> None:
            path = self.path.partition("?")[0]
            if path.startswith(f"/api/models/{NAME}/tree/"):
                content: bytes | None = tree
            elif path.startswith(f"/api/models/{NAME}"):
                content = about
            else:
                content = published.get(path.removeprefix(f"/{NAME}/resolve/{COMMIT}/"))
            self.send_response(404 if content is None else 200)
            self.send_header("ETag", f'"{len(content or b"")}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            if send and content:
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_fetch_asks_for_consent_and_skips_pickles(hub: str, published: dict[str, bytes], tmp_path: Path) -> None:
    confirmed: list[tuple[str, int]] = []

    def confirm(what: str, size: int) -> bool:
        confirmed.append((what, size))
        return True

    folder = fetch(NAME, tmp_path, confirm, endpoint=hub)
    assert folder == tmp_path / "someone--tiny"
    expected = published.keys() - {"pytorch_model.bin", "train.py"}
    assert {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} == expected
    ((what, size),) = confirmed
    assert NAME in what
    assert size == sum(len(published[name]) for name in expected)
    assert resolve(NAME, models=tmp_path).dimension == 8
    assert fetch(NAME, tmp_path, confirm, endpoint=hub) == folder
    assert len(confirmed) == 1


def test_without_consent_nothing_is_fetched(hub: str, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="nothing was fetched"):
        fetch(NAME, tmp_path / "models", lambda *_: False, endpoint=hub)
    assert not list((tmp_path / "models").glob("*"))


@pytest.mark.parametrize("graph", [False])
def test_only_pickles_on_the_hub_are_refused_before_asking(hub: str, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="a pickle can run any program"):
        fetch(NAME, tmp_path, lambda *_: pytest.fail("asked"), endpoint=hub)


def test_unreachable_hub_is_reported(tmp_path: Path) -> None:
    with pytest.raises(
        EncoderError, match=f"Expected {NAME} from the hub, but got: .*; check the name and the connection"
    ):
        fetch(NAME, tmp_path, lambda *_: True, endpoint="http://127.0.0.1:9")


def test_unknown_model_is_reported(hub: str, tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match=r"Expected someone/else from the hub, but got: .*404"):
        fetch("someone/else", tmp_path, lambda *_: True, endpoint=hub)


@pytest.mark.parametrize("name", ["tiny", "../tiny", "a/b/c", "a/..", "https://a/b"])
def test_only_hub_ids_are_fetched(tmp_path: Path, name: str) -> None:
    with pytest.raises(EncoderError, match="Expected a hub id"):
        fetch(name, tmp_path, lambda *_: True)


@pytest.mark.parametrize("name", ["", "  "])
def test_empty_name_is_refused(tmp_path, name):
    with pytest.raises(EncoderError, match="name of an encoder"):
        encoders.locate(name, models=tmp_path)
