"""A chat model of a few words, a persona on it, and folders of tiny transformers."""

from pathlib import Path

import numpy as np
import pytest
import torch

from generators.conversation.chat_model import ChatModel
from generators.conversation.chat_text import ChatConfig
from generators.conversation.detokenise import Casing
from generators.inference.acceptor import AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from generators.personas.persona import Persona, PersonaConfig, changed
from generators.personas.quotations import Quotations
from generators.training.trainable_chat import TrainableChat
from qa_core.networks.decoder_types import END_ID, Seq2SeqConfig


@pytest.fixture
def texts() -> list[str]:
    return [
        "where do cats sleep?",
        "in the House.",
        "who sleeps in the House?",
        "my cats do.",
        "why?",
        "they are tired.",
    ]


@pytest.fixture
def chat_config() -> ChatConfig:
    """Tied word vectors, two layers, no dropout."""
    network = Seq2SeqConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=True, uniform=0.5)
    language = LanguageModelConfig(60, dimension=6, hidden=8, layers=2, dropout=0.0, tied=True, uniform=0.5)
    return ChatConfig(network, language, AcceptorConfig(hidden=4), max_source=8, max_target=6)


@pytest.fixture
def trainable_chat(texts: list[str], chat_config: ChatConfig) -> TrainableChat:
    """Random weights."""
    torch.manual_seed(2)
    return TrainableChat.of(texts * 3, chat_config)


@pytest.fixture
def chat_model(trainable_chat: TrainableChat) -> ChatModel:
    return trainable_chat.inference()


@pytest.fixture
def persona(chat_model: ChatModel) -> Persona:
    """A persona with other output biases than its base."""
    torch.manual_seed(5)
    bias = torch.randn(len(chat_model.vocabulary)).numpy()
    bias[END_ID] = 1.5
    speaker_bias = np.roll(bias, -9)
    speaker_bias[END_ID] = 1.5
    sentences = ["Cats sleep .", "my House ?", "who do they do ?"]
    return Persona(
        PersonaConfig("sailor", chat_model.fingerprint, weights=(1.0, 0.5)),
        chat_model,
        changed(chat_model.forward, {"output.bias": bias}),
        changed(chat_model.acceptor, {"layers.2.bias": np.array([0.3], dtype=np.float32)}),
        changed(chat_model.acceptor, {"layers.2.bias": np.array([-0.2], dtype=np.float32)}),
        changed(chat_model.language, {"output.bias": speaker_bias}),
        Quotations.of(chat_model, sentences, [("why?",)] * 3),
        Casing({"cats": "Cats"}),
    )


TURN_MARK = "<|turn|>"
CHAT_TEMPLATE = (
    "{% for message in messages %}<|turn|>{{ message.role[0] }}:{{ message.content }}<|over|>{% endfor %}"
    "{% if add_generation_prompt %}<|turn|>a:{% endif %}"
)


def byte_tokenizer(**settings):
    """A tokenizer with a token for each byte, two marks of turns, and the special tokens of the settings."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: index for index, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(mark, special=True) for mark in (TURN_MARK, "<|over|>")])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **settings)


@pytest.fixture(scope="session")
def transformer_folder(tmp_path_factory: pytest.TempPathFactory):
    """Returns the folder of a tiny transformer with random weights, built once for each kind."""
    transformers = pytest.importorskip("transformers", reason="a local transformer needs the extra 'minilm'")
    made: dict[str, Path] = {}

    def build(kind: str, tokenizer):
        size, end = len(tokenizer) + 3, tokenizer.eos_token_id  # three rows that the tokenizer does not use
        few = {"vocab_size": size, "eos_token_id": end, "bos_token_id": tokenizer.bos_token_id, "pad_token_id": end}
        plain = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
        llama = {**few, **plain, "intermediate_size": 24, "num_key_value_heads": 2, "max_position_embeddings": 64}
        both = {"encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
        configs = {
            "gpt2": lambda: transformers.GPT2Config(**few, n_positions=64, n_embd=16, n_layer=2, n_head=2),
            "llama": lambda: transformers.LlamaConfig(**llama),
            "mistral": lambda: transformers.MistralConfig(**llama, sliding_window=5),
            "opt": lambda: transformers.OPTConfig(
                **few, **plain, ffn_dim=24, word_embed_proj_dim=16, max_position_embeddings=64
            ),
            "bloom": lambda: transformers.BloomConfig(**few, hidden_size=16, n_layer=2, n_head=2),
            "t5": lambda: transformers.T5Config(
                **few, d_model=16, d_kv=8, d_ff=24, num_layers=2, num_heads=2, decoder_start_token_id=end
            ),
            "bart": lambda: transformers.BartConfig(
                **few,
                **both,
                d_model=16,
                encoder_ffn_dim=24,
                decoder_ffn_dim=24,
                max_position_embeddings=64,
                decoder_start_token_id=end,
            ),
        }
        mapping = transformers.AutoModelForSeq2SeqLM if kind in ("t5", "bart") else transformers.AutoModelForCausalLM
        torch.manual_seed(4)
        model = mapping.from_config(configs[kind]()).eval()
        with torch.no_grad():
            for weights in model.parameters():
                weights.normal_(std=0.5)
            if kind == "bart":
                model.final_logits_bias.normal_()
                model.generation_config.forced_bos_token_id = 3
        return model

    def folder(kind: str, *, template: bool = False) -> Path:
        name = f"{kind}-{template}"
        if name not in made:
            settings = {"eos_token": "<|end|>", **({"chat_template": CHAT_TEMPLATE} if template else {})}
            tokenizer = byte_tokenizer(**settings, **({"bos_token": "<|begin|>"} if kind == "llama" else {}))
            made[name] = tmp_path_factory.mktemp(name)
            model = build(kind, tokenizer)
            if template:
                model.generation_config.eos_token_id = [tokenizer.convert_tokens_to_ids("<|over|>")]
            model.save_pretrained(made[name])
            tokenizer.save_pretrained(made[name])
        return made[name]

    return folder
