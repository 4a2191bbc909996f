"""Encoders and rerankers in Hugging Face layout, in each architecture: their ONNX graphs equal the models in torch."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors

pytest.importorskip("transformers", reason="published models need the extra 'minilm'")

import transformers

from qa_bot.answering.models.hub_rankers import fetch_ranker
from qa_bot.answering.models.ranker_loading import open_rankers
from qa_bot.home import encoders
from qa_bot.home.encoders import EncoderError, resolve
from rankers.answer_selection.pretrained_cross_encoder import open_reranker

SENTENCE = "why do cats sleep all day they hunt at dawn fish ? ."
WORDS = ["<pad>", "<unk>", "<s>", "</s>", *SENTENCE.split()]
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}
DISTIL = {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32}
ARCHITECTURES: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("BertConfig", {}),
    "roberta": ("RobertaConfig", {"type_vocab_size": 1}),
    "xlm-roberta": ("XLMRobertaConfig", {"type_vocab_size": 1}),
    "deberta": ("DebertaConfig", {**RELATIVE, "max_relative_positions": -1}),
    "deberta-v2": (
        "DebertaV2Config",
        {**RELATIVE, "position_buckets": 8, "norm_rel_ebd": "layer_norm", "position_biased_input": False},
    ),
    "mpnet": ("MPNetConfig", {}),
    "modernbert": (
        "ModernBertConfig",
        {"local_attention": 8, "bos_token_id": 2, "eos_token_id": 3, "cls_token_id": 2, "sep_token_id": 3},
    ),
    "distilbert": ("DistilBertConfig", DISTIL),
    "electra": ("ElectraConfig", {"embedding_size": 16}),
}
"""Model type → class of its configuration and settings beside the sizes."""
SIZES = {
    "vocab_size": len(WORDS),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
SHARED = ("vocab_size", "max_position_embeddings", "pad_token_id")
PAIRS = [("why do cats sleep ?", "they hunt at dawn ."), ("fish", "cats sleep all day " * 20), ("", "")]
TEXTS = ["cats sleep", "why do cats sleep all day ? they hunt at dawn . fish"]
EACH = [pytest.param(name, marks=() if name == "bert" else pytest.mark.slow) for name in ARCHITECTURES]


class Published(NamedTuple):
    folder: Path
    model: Any  # of transformers


@pytest.fixture
def publish(tmp_path: Path) -> Callable[..., Published]:
    """Writes a small model with random weights, as `save_pretrained` does."""

    def write(name: str, *, head: str, **options: Any) -> Published:
        kind, extra = ARCHITECTURES[name]
        sizes = {key: SIZES[key] for key in SHARED} if name == "distilbert" else SIZES
        torch.manual_seed(1)
        model = getattr(transformers, head).from_config(getattr(transformers, kind)(**sizes, **extra, **options))
        for weight in model.parameters():
            if weight.dim() > 1:
                torch.nn.init.normal_(weight, std=0.5)
        model.eval().save_pretrained(tmp_path / name)
        vocabulary = {word: number for number, word in enumerate(WORDS)}
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single="<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1", special_tokens=[("<s>", 2), ("</s>", 3)]
        )
        tokenizer.save(str(tmp_path / name / "tokenizer.json"))
        return Published(tmp_path / name, model)

    return write


@pytest.mark.parametrize("name", EACH)
def test_an_encoder_has_the_mean_of_its_hidden_states(publish: Callable[..., Published], name: str) -> None:
    published = publish(name, head="AutoModel")
    encoder = resolve(str(published.folder), models=published.folder.parent)
    rows = encoder.tokeniser.sequences(TEXTS)
    assert {len(row) for row in rows} == {4, 15}
    with torch.no_grad():
        states = [published.model(input_ids=torch.tensor([row]))[0][0].mean(0).numpy() for row in rows]  # (D,)
    expected = np.array([state / np.linalg.norm(state) for state in states])
    np.testing.assert_allclose(encoder.encode(TEXTS), expected, atol=1e-5)


@pytest.mark.parametrize("name", EACH)
def test_a_reranker_has_the_logits_of_its_classifier(publish: Callable[..., Published], name: str) -> None:
    published = publish(name, head="AutoModelForSequenceClassification", num_labels=1)
    scorer = open_reranker(published.folder, cache=published.folder.parent / "graphs", threads=2)
    expected = []
    for pair in PAIRS:
        encoding = scorer.tokeniser.tokenizer.encode(*pair)
        assert len(encoding.ids) <= 62
        segments = {"token_type_ids": torch.tensor([encoding.type_ids])} if name in ("bert", "electra") else {}
        with torch.no_grad():
            expected.append(float(published.model(input_ids=torch.tensor([encoding.ids]), **segments).logits[0, 0]))
    np.testing.assert_allclose(scorer.score(PAIRS), expected, atol=1e-4)
    assert np.ptp(expected) > 1e-3
    graphs = published.folder.parent / "graphs"
    assert [path.name for path in graphs.iterdir()] == ["pairs.onnx"]
    written = (graphs / "pairs.onnx").stat().st_mtime_ns
    np.testing.assert_array_equal(open_reranker(published.folder, cache=graphs).score(PAIRS), scorer.score(PAIRS))
    assert (graphs / "pairs.onnx").stat().st_mtime_ns == written


@pytest.mark.slow
def test_a_reranker_is_used_by_its_folder(
    publish: Callable[..., Published], qa_bot: Callable[..., Any], home: Path
) -> None:
    """It scores the first documents of the default formula, and its scores are blended with the evidence."""
    folder = publish("bert", head="AutoModelForSequenceClassification", num_labels=1).folder
    used = qa_bot("use", "--ranker", f"{folder}@both:5")
    assert (used.code, used.out.startswith("Passages are now ranked by ")) == (0, True)
    answered = qa_bot("ask", "why do cats sleep all day?", "--trace", "--json")
    trace = answered.json["trace"]
    assert trace["models"]["rankers"] == ["bert"]
    assert ["bert" in candidate for candidate in trace["candidates"][:7]] == [True] * 5 + [False] * 2
    assert qa_bot("use", "--ranker", home / "nothing").code == 1
    assert qa_bot("use").code == qa_bot("use", "starter", "--ranker", folder).code == 2
    assert qa_bot("config", "set", "ranking.models", "").code == 0
    assert qa_bot("ask", "why do cats sleep all day?", "--trace", "--json").json["trace"]["models"]["rankers"] == []


def test_a_reranker_is_fetched_by_its_name(
    publish: Callable[..., Published], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reranker = publish("bert", head="AutoModelForSequenceClassification", num_labels=1).folder
    encoder = publish("mpnet", head="AutoModel").folder
    hub = {"someone/reranker": reranker, "someone/encoder": encoder}

    def download(name: str, part: Path, confirm: Callable[[str, int], bool], _: object) -> None:
        assert confirm(name, 1)
        shutil.copytree(hub[name], part)

    monkeypatch.setattr(encoders, "_download", download)
    models = tmp_path / "models"
    with pytest.raises(EncoderError, match="Expected a reranker, a model …ForSequenceClassification"):
        fetch_ranker("someone/encoder", models, lambda *_: True)
    assert not (models / "someone--encoder").exists()
    assert fetch_ranker("someone/reranker", models, lambda *_: True) == models / "someone--reranker"
    (ranker,) = open_rankers("someone/reranker:3", models=models)
    assert (ranker.name, ranker.depth) == ("someone--reranker", 3)
    assert np.isfinite(ranker.scorer.score(PAIRS)).all()
