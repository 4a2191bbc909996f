"""Time that stands still until a test moves it, and a corridor over six pairs."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from qa_bot.answering.corridor import Corridor
from qa_bot.answering.models.ranker_loading import ConfiguredRankers
from qa_bot.answering.stages.decide import Calibrations
from qa_bot.documents.sync import add
from qa_bot.home.config import Config
from qa_bot.home.folder import Home
from qa_bot.home.generations import Generations
from qa_bot.home.index import Index
from tests.qa_bot.answering.small_corridor import PAIRS, SURE


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


@pytest.fixture(scope="module")
def index(tmp_path_factory, encoder):
    folder = tmp_path_factory.mktemp("corridor")
    source = folder / "pairs.jsonl"
    rows = [{"id": i, "question": q, "answer": a, "url": f"https://example.org/{i}"} for i, q, a in PAIRS]
    source.write_text("\n".join(map(json.dumps, rows)))
    home = Home.open(folder / "home")
    add(home, Config(), encoder, [source], collection="facts")
    generation = Generations(home.index).current()
    return Index(generation)


@pytest.fixture
def corridor(index, encoder):
    with ThreadPoolExecutor(4) as workers:

        def opened(
            *,
            encoder=encoder,
            calibration=SURE,
            config=None,
            keyword=None,
            models=(),
            fusion=None,
            facts=None,
            personas=None,
            expander=None,
        ):
            return Corridor(
                index,
                encoder,
                Calibrations(*[calibration, keyword or calibration] * 3),
                config or Config(),
                workers,
                rankers=ConfiguredRankers(tuple(models), fusion),
                facts=facts,
                personas=lambda: personas,
                expander=expander,
            )

        yield opened
