"""Agreement between judges, corrected for chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

Distance = Callable[[Any, Any], float]
"""How much two labels differ: 0 for equal ones."""


def nominal(c: Hashable, k: Hashable) -> float:
    """`δ² = [c ≠ k]`: labels are equal or not."""
    return float(c != k)


def interval(c: float, k: float) -> float:
    """`δ² = (c − k)²`: labels are numbers whose differences count, such as ratings that are averaged."""
    return (c - k) ** 2


def krippendorff_alpha(units: Iterable[Sequence[Hashable]], distance: Distance = nominal) -> float:
    """`α = 1 − D_o / D_e`: 1 is full agreement, 0 agreement by chance, NaN if undefined.

    A unit holds its labels by any number of judges; units with fewer than two labels are ignored.
    With `o_ck = Σ_u n_uc (n_uk − [c = k]) / (m_u − 1)`, `D_o = Σ_{c≠k} o_ck δ²_ck / n` and
    `D_e = Σ_{c≠k} n_c n_k δ²_ck / (n (n − 1))` (Krippendorff 2011, §C and §D).
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    totals = sum(paired, Counter[Hashable]())
    n = totals.total()
    chance = _disagreements(totals, distance)
    if not chance:
        return float("nan")
    differing = sum(_disagreements(unit, distance) / (unit.total() - 1) for unit in paired)
    return 1 - (n - 1) * differing / chance


def _disagreements(labels: Counter[Hashable], distance: Distance) -> float:
    """The sum of distances over ordered pairs of labels."""
    counts = labels.items()
    return sum(one * other * distance(c, k) for c, one in counts for k, other in counts if c != k)
