import json
import shutil
from pathlib import Path

import pytest

from qa_core.encoders.sentence_layout import Prompts, SentenceLayout, architecture


@pytest.fixture
def folder(tiny_bert_source: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_bert_source, tmp_path / "model"))


def write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def test_reads_what_the_folder_says(folder: Path) -> None:
    layout = SentenceLayout.read(folder)
    assert (layout.pooling, layout.dimension, layout.max_length) == ("mean", 8, 16)
    assert (layout.question_prompt, layout.answer_prompt) == ("", "")
    assert architecture(layout.weights) == "bert"


@pytest.mark.parametrize(
    ("stated", "positions", "cap", "length"),
    [(512, 512, None, 256), (512, 512, 400, 400), (128, 512, None, 128), (None, 64, None, 64), (None, None, None, 256)],
)
def test_the_least_limit_counts(
    folder: Path, stated: int | None, positions: int | None, cap: int | None, length: int
) -> None:
    write(folder / "sentence_bert_config.json", {"max_seq_length": stated})
    write(folder / "config.json", {"model_type": "bert", "max_position_embeddings": positions})
    assert SentenceLayout.read(folder, max_length=cap).max_length == length


@pytest.mark.parametrize(
    ("config", "pooling"),
    [
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "cls"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}, "mean"),
        ({"pooling_mode": "cls"}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_both_spellings_of_pooling(folder: Path, config: dict[str, object], pooling: str) -> None:
    write(folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 8, **config})
    assert SentenceLayout.read(folder).pooling == pooling


def test_each_side_has_its_prompt(folder: Path) -> None:
    prompts = {"query": "query: ", "passage": "passage: "}
    write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    layout = SentenceLayout.read(folder)
    assert (layout.question_prompt, layout.answer_prompt) == ("query: ", "passage: ")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("modules.json", "{}", "modules Transformer, Pooling"),
        ("modules.json", "[1]", "Expected a list of modules"),
        ("modules.json", "{", "Expected a list of modules"),
        ("modules.json", '[{"type": "x.StaticEmbedding", "path": ""}]', "but got StaticEmbedding"),
        (
            "1_Pooling/config.json",
            '{"pooling_mode_max_tokens": true}',
            r"mean or cls pooling .*pooling_mode_max_tokens",
        ),
        ("1_Pooling/config.json", '{"pooling_mode": "weightedmean"}', "mean or cls pooling .*weightedmean"),
        (
            "1_Pooling/config.json",
            '{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true}',
            "mean or cls pooling",
        ),
        ("1_Pooling/config.json", '{"pooling_mode": "cls"}', "word_embedding_dimension"),
        ("config.json", "[]", "Expected a JSON object"),
        ("config.json", "{", "Expected JSON"),
    ],
)
def test_what_cannot_be_used_is_named(folder: Path, name: str, content: str, message: str) -> None:
    (folder / name).write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        SentenceLayout.read(folder)


@pytest.mark.parametrize("name", ["config.json", "1_Pooling/config.json"])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=name.replace(".", r"\.")):
        SentenceLayout.read(folder)


def test_a_plain_transformer_has_the_mean_of_its_states(folder: Path) -> None:
    known = SentenceLayout.read(folder)
    (folder / "modules.json").unlink()
    plain = SentenceLayout.read(folder)
    assert (plain.weights, plain.dimension, plain.pooling) == (folder, known.dimension, "mean")
    (folder / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(ValueError, match="Expected 'hidden_size'"):
        SentenceLayout.read(folder)
    (folder / "config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"neither modules\.json nor a config"):
        SentenceLayout.read(folder)


def test_prompts_replace_those_of_the_model(folder: Path) -> None:
    stated = {"prompts": {"query": "query: ", "passage": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(stated), encoding="utf-8")
    layout = SentenceLayout.read(folder, prompts=Prompts(question="Question: "))
    assert (layout.question_prompt, layout.answer_prompt) == ("Question: ", "passage: ")


def test_missing_and_incomplete_folders_have_different_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        SentenceLayout.read(tmp_path / "nowhere")


def test_a_configuration_without_architecture_is_refused(folder: Path) -> None:
    write(folder / "config.json", {})
    with pytest.raises(ValueError, match="Expected 'model_type'"):
        architecture(folder)
