"""A tiny transformer is taught a few words of German."""

import json
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from qa_core.encoders.graphs.quantisation import float_weights
from qa_core.encoders.sentence_layout import SentenceLayout
from qa_core.encoders.static_encoder import sha256
from qa_core.encoders.transformer_encoder import MADE_WITH, TransformerEncoder
from qa_lab.fit.language.add_words import GRAPH, agreement, extended, learnt_before, main
from qa_lab.fit.language.sources import SampleConfig, Sources, english_of, sampled
from qa_lab.fit.language.translations import Translation
from tests.qa_lab.fit.language.test_translations import write_catalogue
from tests.tiny_bert import write_json, write_tiny_bert

transformers = pytest.importorskip("transformers", reason="a transformer is converted by the extra 'minilm'")
ENGLISH = ("cat", "dog", "bird", "sleeps", "eats", "runs", "the", "quickly")
GERMAN = {"katze": "cat", "hund": "dog", "vogel": "bird", "schlaft": "sleeps", "frisst": "eats", "lauft": "runs"}


@pytest.fixture
def shipped(tmp_path: Path) -> Path:
    """A quantised transformer of 700 words, some of them unused, as the shipped one; its float weights beside it."""
    from qa_core.encoders.graphs.export import export_onnx
    from qa_core.encoders.graphs.quantisation import quantise

    folder = write_tiny_bert(tmp_path / "shipped")
    content = json.loads((folder / "tokenizer.json").read_text())
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = [
        "[PAD]",
        "[unused0]",
        "[unused1]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        *letters,
        *(f"##{x}" for x in letters),
        *ENGLISH,
    ]
    tokens += [f"filler{number}" for number in range(700 - len(tokens))]
    content["model"]["vocab"] = {token: place for place, token in enumerate(tokens)}
    for token in content["added_tokens"]:
        token["id"] = tokens.index(token["content"])
    for name, special in content["post_processor"]["special_tokens"].items():
        special["ids"] = [tokens.index(name)]
    config = transformers.BertConfig(
        vocab_size=700,
        hidden_size=128,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=32,
    )
    transformers.set_seed(0)
    transformers.BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    (folder / "tokenizer.json").write_text(json.dumps(content))
    write_json(
        folder / "1_Pooling" / "config.json", {"word_embedding_dimension": 128, "pooling_mode_mean_tokens": True}
    )
    (folder / "onnx").mkdir()
    export_onnx(folder, tmp_path / "float.onnx")
    quantise(tmp_path / "float.onnx", folder / GRAPH)
    write_json(folder / MADE_WITH, {"weights_sha256": sha256(folder / GRAPH), "made_with": {"seed": 0}})
    return folder


@pytest.mark.slow
def test_german_words_have_the_vectors_of_english_ones(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "de").write_text("".join(f"{word}\t0.001\n" for word in GERMAN))
    (tmp_path / "en").write_text("".join(f"{word}\t0.001\n" for word in ENGLISH))
    (tmp_path / "ding").write_text("".join(f"{word} :: {english}\n" for word, english in GERMAN.items()))
    words = [*GERMAN.items()]
    write_catalogue(
        tmp_path / "programs" / "zoo" / "de" / "zoo.mo",
        {f"the {b} {d} quickly {b}": f"the {a} {c} quickly {a}" for a, b in words[:3] for c, d in words[3:]},
    )
    options = {
        "language": "de", "encoder": shipped, "minilm": shipped, "frequencies": tmp_path / "de",
        "english": tmp_path / "en",
        "dictionary": tmp_path / "ding", "catalogues": tmp_path / "programs", "work": tmp_path / "work",
        "out": tmp_path / "out", "pieces": 12, "epochs": 40, "threads": 1,
    }  # fmt: skip
    monkeypatch.setattr("qa_lab.fit.language.sources.SampleConfig", partial(SampleConfig, held=2))
    monkeypatch.setattr(
        sys, "argv", ["add_words", *(str(part) for name, value in options.items() for part in (f"--{name}", value))]
    )
    main()
    before, after = (TransformerEncoder.load_prepared(folder) for folder in (shipped, tmp_path / "out"))
    english = ["the cat sleeps", "the dog eats quickly", "bird"]
    np.testing.assert_array_equal(before.encode(english), after.encode(english))
    assert after.extends == {before.fingerprint}
    assert json.loads((tmp_path / "out" / MADE_WITH).read_text())["languages"] == ["de", "en"]
    assert SentenceLayout.read(tmp_path / "out").dimension == 128
    german = ["the katze schlaft", "the hund frisst quickly", "vogel"]
    cosines = after.encode(german) @ after.encode(english).T
    assert cosines.argmax(axis=1).tolist() == [0, 1, 2]
    assert cosines.diagonal().mean() > (before.encode(german) @ before.encode(english).T).diagonal().mean() + 0.1


def test_pieces_that_were_learnt_before_begin_with_their_vectors(shipped: Path) -> None:
    rows = torch.ones(3, 128)
    learnt_before(shipped, ["cat", "katze", "bird"], rows)
    place = json.loads((shipped / "tokenizer.json").read_text())["model"]["vocab"]["bird"]
    bird = float_weights(shipped / GRAPH)["embeddings.word_embeddings.weight"][place]
    np.testing.assert_array_equal(rows[2].numpy(), bird)
    assert rows[1].tolist() == [1.0] * 128
    assert rows[0].tolist() != rows[2].tolist()


def test_frequent_words_phrases_and_prose_are_learnt_from() -> None:
    entries = [
        Translation("Buch", ("book",), "ding"),
        Translation("Buch", ("volume",), "ding"),
        Translation("Bibliotheksausweis", ("library card",), "ding"),
        Translation("Zebra", ("zebra",), "ding"),
        Translation("ein Buch gut lesen", ("to read a book well",), "ding"),
        Translation("zwei Wörter", ("two words",), "ding"),
    ]
    prose = [Translation(f"Das ist Satz {number}.", ("This is a sentence.",), "manual") for number in range(5)]
    config = SampleConfig(words=1, long_words=1, phrases=1, sentences=4, held=1)
    learnt, held = sampled(Sources({"buch": 0.1}, {}, entries, prose), np.random.default_rng(0), config)
    assert learnt[:3] == [Translation("Buch", ("book", "volume"), "ding"), entries[2], entries[4]]
    assert len(learnt) == 6
    assert len(held) == 1
    assert held[0] not in learnt


def test_new_pieces_take_unused_places_first() -> None:
    content = json.dumps({"model": {"vocab": {"[PAD]": 0, "[unused0]": 1, "cat": 2}}})
    extended_content, places = extended(content, ["katze", "hund"])
    assert places == [1, 3]
    assert json.loads(extended_content)["model"]["vocab"] == {"[PAD]": 0, "katze": 1, "cat": 2, "hund": 3}
    assert extended(content, ["katze", "hund"], into_unused=False)[1] == [3, 4]


def test_a_piece_has_the_translations_of_the_word_that_it_is_a_form_of() -> None:
    meanings = {"urlaub": ["holiday"], "straße": ["street"], "katze": ["cat"], "katz": ["kitty"]}
    pieces = ("urlaub", "urlaubs", "##katz", "##strasse", "strasse", "hund")
    assert [[*english_of(piece, meanings)] for piece in pieces] == [
        ["holiday"], ["holiday"], ["kitty"], ["street"], ["street"], [],
    ]  # fmt: skip


def test_agreement_counts_nearest_neighbours() -> None:
    vectors = np.array([[1.0, 0.0], [0.8, 0.6]], np.float32)
    targets = np.array([[1.0, 0.0], [0.96, 0.28]], np.float32)
    figures = agreement(vectors, targets)  # cosines [[1, .96], [.8, .936]]
    assert figures["cosine"] == pytest.approx(0.968)
    assert figures["translation is nearest"] == 1.0
    assert figures["text is nearest"] == 0.5
