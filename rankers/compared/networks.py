"""Compared networks by name.

Every network takes the word vectors (N, T, D) and the mask (N, T) of the first texts, then those (N, S, D) and (N, S)
of the second, and gives scores (N,). Masks are true at real words; vectors in the padding never change a score.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import nn

from rankers.compared.ai_cnn import AICNN
from rankers.compared.arc import ArcI, ArcII
from rankers.compared.mp_cnn import MPCNN
from rankers.compared.shape import ComparedShape, Network, check_shape
from rankers.compared.tensor_matching import CNTN, LSTM, TensorLSTM

NETWORKS: Mapping[Network, Callable[[int, ComparedShape], nn.Module]] = {
    "mp-cnn": MPCNN,
    "lstm": LSTM,
    "ntn-lstm": TensorLSTM,
    "cntn": CNTN,
    "arc-i": ArcI,
    "arc-ii": ArcII,
    "ai-cnn": AICNN,
}


def network_of(dimension: int, shape: ComparedShape) -> nn.Module:
    """An untrained network over word vectors of this dimension. Raises ValueError for impossible sizes."""
    check_shape(shape)
    return NETWORKS[shape.network](dimension, shape)
