"""Names and shapes of the weights that a configuration asks for, to check a file before anything runs."""

from __future__ import annotations

from generators.inference.acceptor import FEATURES, AcceptorConfig
from generators.inference.language_model import LanguageModelConfig
from qa_core.networks.decoder_types import Seq2SeqConfig

Shapes = dict[str, tuple[int, ...]]


def encoder_decoder_shapes(config: Seq2SeqConfig) -> Shapes:
    """Of `qa_core.networks.seq2seq.Seq2Seq`."""
    table, width = (config.vocabulary, config.dimension), config.dimension if config.tied else config.hidden
    shapes: Shapes = {}
    for side in ("source",) if config.tied else ("source", "target"):
        shapes |= {f"{side}.{name}": table for name in ("E_tune", "E_pre")[: 1 + config.pretrained]}
    directions = 1 + config.bidirectional
    shapes |= _lstm("encoder", config.dimension, config.hidden // directions, config.layers, directions)
    shapes |= _lstm("decoder", config.dimension + config.topic_dim, config.hidden, config.layers)
    if config.topics and config.topic_width:
        shapes["topics.weight"] = (config.topic_width, config.topics)
    shapes["attention.W_a"] = (config.hidden, config.hidden)
    shapes["attention.W_c.weight"] = (width, 2 * config.hidden)
    return shapes | _output(config.vocabulary, width, tied=config.tied)


def language_model_shapes(config: LanguageModelConfig) -> Shapes:
    """Of `generators.training.language_network.LanguageNetwork`."""
    width = config.dimension if config.tied else config.hidden
    shapes: Shapes = {"words.E_tune": (config.vocabulary, config.dimension), "z.weight": (width, config.hidden)}
    shapes |= _lstm("lstm", config.dimension, config.hidden, config.layers)
    return shapes | _output(config.vocabulary, width, tied=config.tied)


def acceptor_shapes(config: AcceptorConfig) -> Shapes:
    """Of `generators.training.acceptor_training.AcceptorNetwork`."""
    return {
        "mean": (FEATURES,),
        "scale": (FEATURES,),
        "layers.0.weight": (config.hidden, FEATURES),
        "layers.0.bias": (config.hidden,),
        "layers.2.weight": (1, config.hidden),
        "layers.2.bias": (1,),
    }


def _lstm(name: str, inputs: int, hidden: int, layers: int, directions: int = 1) -> Shapes:
    shapes: Shapes = {}
    for layer in range(layers):
        read = inputs if layer == 0 else hidden * directions
        for end in ("", "_reverse")[:directions]:
            shapes |= {
                f"{name}.weight_ih_l{layer}{end}": (4 * hidden, read),
                f"{name}.weight_hh_l{layer}{end}": (4 * hidden, hidden),
                f"{name}.bias_ih_l{layer}{end}": (4 * hidden,),
                f"{name}.bias_hh_l{layer}{end}": (4 * hidden,),
            }
    return shapes


def _output(vocabulary: int, width: int, *, tied: bool) -> Shapes:
    return {"output.bias": (vocabulary,), **({} if tied else {"output.weight": (vocabulary, width)})}
