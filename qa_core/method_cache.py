"""A cache of a bound method that does not keep its object alive.

As an attribute of `self`, `lru_cache(self.method)` is a reference cycle: files that the object holds open are closed
only by the garbage collector.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast
from weakref import WeakMethod

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def method_cache(method: Callable[Arguments, Result], *, maxsize: int) -> Callable[Arguments, Result]:
    """The method with the results of the last `maxsize` calls; it may be called while its object exists."""
    reference = WeakMethod(method)

    @lru_cache(maxsize=maxsize)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        bound = reference()
        assert bound is not None, "the object of a cached method is gone"
        return bound(*args, **kwargs)

    return cast("Callable[Arguments, Result]", call)
