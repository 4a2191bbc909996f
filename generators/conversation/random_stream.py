"""Random numbers for drawing words: the stream that `torch.Generator().manual_seed(seed)` gives on the CPU, in numpy.

Both are the Mersenne Twister MT19937 (Matsumoto and Nishimura 1998). The same seed draws the same replies as versions
that drew with torch.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from qa_core.types import FloatArray, IntArray


class RandomStream:
    """One stream for one reply: every call advances it."""

    def __init__(self, seed: int) -> None:
        self._twister = np.random.RandomState(seed & 0xFFFFFFFF)

    def doubles(self, *shape: int) -> NDArray[np.float64]:
        """Uniform numbers from 0 to below 1, as `torch.rand(shape, dtype=torch.float64)`."""
        pairs = self._bits(*shape, 2).astype(np.uint64)
        bits = (pairs[..., 0] << np.uint64(32) | pairs[..., 1]) & np.uint64(2**53 - 1)
        return bits.astype(np.float64) * np.float64(2.0**-53)

    def singles(self, *shape: int) -> FloatArray:
        """Uniform numbers from 0 to below 1, as `torch.rand(shape)`."""
        return (self._bits(*shape) & np.uint32(2**24 - 1)).astype(np.float32) * np.float32(2.0**-24)

    def choose(self, p: FloatArray, count: int) -> IntArray:
        """`count` indices (B, N) of each of distributions (B, V), drawn with replacement.

        The same as `torch.multinomial(p, count, replacement=True)` if `count` is above 1.
        """
        totals = np.cumsum(p, axis=1, dtype=np.float32)
        totals /= totals[:, -1:]
        totals[:, -1] = 1
        pairs = zip(totals, self.doubles(len(p), count), strict=True)
        drawn = [np.searchsorted(total, uniform) for total, uniform in pairs]
        return np.array(drawn, dtype=np.int64).reshape(len(p), count)

    def _bits(self, *shape: int) -> NDArray[np.uint32]:
        return self._twister.randint(0, 2**32, size=shape, dtype=np.uint32)
