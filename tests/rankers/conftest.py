import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from rankers.neural import PairScorer, TextPair


@pytest.fixture(scope="session")
def pair_bert(tiny_bert_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model with a tokeniser that joins two texts as BERT's does. Read only."""
    folder = Path(shutil.copytree(tiny_bert_source, tmp_path_factory.mktemp("pairs") / "bert"))
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    first, second = ({"Sequence": {"id": name, "type_id": segment}} for segment, name in enumerate("AB"))
    marks = (("[CLS]", 0), ("[SEP]", 0), ("[SEP]", 1))
    opened, middle, closed = ({"SpecialToken": {"id": name, "type_id": segment}} for name, segment in marks)
    content["post_processor"]["pair"] = [opened, first, middle, second, closed]
    path.write_text(json.dumps(content))
    return folder


@pytest.fixture
def assert_independent() -> Callable[..., np.ndarray]:
    """Checks that scores are finite and do not depend on the batch, its order or padding; returns them."""

    def check(scorer: PairScorer, pairs: Sequence[TextPair], *, rtol: float = 1e-4, atol: float = 1e-5) -> np.ndarray:
        scores = scorer.score(pairs)
        assert scores.dtype == np.float32
        assert np.isfinite(scores).all()
        np.testing.assert_allclose([scorer.score([pair])[0] for pair in pairs], scores, rtol=rtol, atol=atol)
        np.testing.assert_allclose(scorer.score(pairs[::-1])[::-1], scores, rtol=rtol, atol=atol)
        assert scorer.score([]).shape == (0,)
        return scores

    return check
