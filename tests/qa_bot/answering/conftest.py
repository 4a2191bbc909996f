"""Time that stands still until a test moves it."""

import pytest


class FakeTime:
    """Reads like `time.monotonic`."""

    def __init__(self) -> None:
        self._seconds = 100.0

    def __call__(self) -> float:
        return self._seconds

    def advance(self, seconds: float) -> None:
        self._seconds += seconds


@pytest.fixture
def now() -> FakeTime:
    return FakeTime()
