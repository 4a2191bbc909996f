"""Agreement between judges, corrected for chance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence


def krippendorff_alpha(units: Iterable[Sequence[Hashable]]) -> float:
    """`α = 1 − D_o / D_e` of nominal labels: 1 is full agreement, 0 agreement by chance, NaN if undefined.

    A unit holds its labels by any number of judges; units with fewer than two labels are ignored.
    With `o_ck = Σ_u n_uc (n_uk − [c = k]) / (m_u − 1)`, `D_o = Σ_{c≠k} o_ck / n` and
    `D_e = Σ_{c≠k} n_c n_k / (n (n − 1))` (Krippendorff 2011, §C).
    """
    paired = [Counter(unit) for unit in units if len(unit) > 1]
    totals = sum(paired, Counter[Hashable]())
    n = totals.total()
    chance = n * n - sum(count * count for count in totals.values())
    if not chance:
        return float("nan")
    differing = sum(_disagreements(unit) / (unit.total() - 1) for unit in paired)
    return 1 - (n - 1) * differing / chance


def _disagreements(labels: Counter[Hashable]) -> int:
    """Ordered pairs of labels that differ."""
    return labels.total() ** 2 - sum(count * count for count in labels.values())
