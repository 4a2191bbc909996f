"""A cached method computes once, and its object goes with its last reference."""

import gc
import weakref

from qa_core.method_cache import method_cache


class Squares:
    def __init__(self) -> None:
        self.computed: list[int] = []
        self.of = method_cache(self._of, maxsize=2)

    def _of(self, number: int) -> int:
        self.computed.append(number)
        return number * number


def test_results_are_kept() -> None:
    squares = Squares()
    assert [squares.of(number) for number in (3, 3, 4, 5, 3)] == [9, 9, 16, 25, 9]
    assert squares.computed == [3, 4, 5, 3], "two results are kept"


def test_the_object_goes_without_the_garbage_collector() -> None:
    gc.disable()
    try:
        squares = Squares()
        squares.of(3)
        reference = weakref.ref(squares)
        del squares
        assert reference() is None
    finally:
        gc.enable()
