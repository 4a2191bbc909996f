"""Two padded texts as random word vectors."""

import pytest
import torch
from torch import Tensor


@pytest.fixture
def pair() -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Vectors (1, 6, 4) and mask of a text of four words, vectors (1, 5, 4) and mask of one of three."""
    generator = torch.Generator().manual_seed(3)
    first, second = torch.randn(1, 6, 4, generator=generator), torch.randn(1, 5, 4, generator=generator)
    return first, torch.arange(6)[None] < 4, second, torch.arange(5)[None] < 3
