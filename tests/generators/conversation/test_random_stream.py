import numpy as np
import pytest
import torch

from generators.conversation.random_stream import RandomStream


@pytest.mark.parametrize("seed", [0, 1, 2**31 + 5, 2**47 + 12345])
def test_random_numbers_equal_those_of_torch(seed: int):
    stream, generator = RandomStream(seed), torch.Generator().manual_seed(seed)
    p = torch.rand(5, 7, generator=generator).softmax(1)
    assert stream.singles(5, 7).tolist() == torch.rand(5, 7, generator=generator.manual_seed(seed)).tolist()
    for _ in range(2):
        drawn = torch.multinomial(p, 4, replacement=True, generator=generator)
        assert stream.choose(p.numpy(), 4).tolist() == drawn.tolist()
        doubles = torch.rand(3, 2, generator=generator, dtype=torch.float64)
        assert stream.doubles(3, 2).tolist() == doubles.tolist()


def test_choosing_from_no_rows():
    assert RandomStream(1).choose(np.zeros((0, 4), dtype=np.float32), 3).shape == (0, 3)
