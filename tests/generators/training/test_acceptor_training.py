import numpy as np
import pytest
import torch

from generators.inference.acceptor import AcceptorConfig
from generators.training.acceptor_training import AcceptorNetwork, Examples, train_acceptor

NO_EXAMPLES = Examples(torch.zeros(0, 3), torch.zeros(0))


def separable(count: int) -> Examples:
    """Right if the first two features have a positive sum before they are scaled and shifted."""
    torch.manual_seed(4)
    drawn = torch.randn(count, 3)
    return Examples(drawn * 7 - 20, (drawn[:, 0] + drawn[:, 1] > 0).float())


def test_the_acceptor_learns_separable_examples():
    examples, config = separable(600), AcceptorConfig(hidden=8, epochs=8, batch=30, learning_rate=0.03)
    torch.manual_seed(1)
    acceptor = AcceptorNetwork(config)
    reports = list(train_acceptor(acceptor, examples, config, seed=1))
    assert reports[-1].loss < reports[0].loss
    with torch.no_grad():
        logits = acceptor(examples.features)
    right = (logits > 0) == (examples.right > 0)
    log_p = acceptor.inference()(examples.features.numpy())
    assert right.float().mean() > 0.95
    np.testing.assert_allclose(log_p, torch.nn.functional.logsigmoid(logits), rtol=1e-5, atol=1e-6)


def test_the_same_seed_gives_the_same_acceptor():
    def trained() -> list[torch.Tensor]:
        torch.manual_seed(1)
        acceptor = AcceptorNetwork(AcceptorConfig(hidden=3))
        list(train_acceptor(acceptor, separable(200), AcceptorConfig(epochs=2, batch=50), seed=5))
        return list(acceptor.state_dict().values())

    assert all(torch.equal(one, other) for one, other in zip(trained(), trained(), strict=True))


def test_training_without_examples_is_refused():
    with pytest.raises(ValueError, match="Expected words to train the acceptor on, but got none"):
        next(train_acceptor(AcceptorNetwork(AcceptorConfig()), NO_EXAMPLES, AcceptorConfig(), seed=1))


def test_constant_features_give_finite_logits():
    acceptor = AcceptorNetwork(AcceptorConfig())
    acceptor.standardise(torch.ones(5, 3))
    assert acceptor(torch.ones(2, 3)).isfinite().all()
