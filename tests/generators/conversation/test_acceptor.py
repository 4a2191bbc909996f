import math

import pytest
import torch

from generators.conversation.acceptor import Acceptor, AcceptorConfig, Examples, features, train_acceptor


def test_features_by_hand():
    log_p = torch.tensor([[0.5, 0.25, 0.25, 0.0]]).log()
    prior = torch.tensor([[0.1, 0.2, 0.3, 0.4]]).log()
    found = features(log_p, prior, torch.tensor([[1, 0]]))
    entropy = 1.5 * math.log(2)
    expected = [
        [math.log(0.25), entropy, math.log(0.2)],
        [math.log(0.5), entropy, math.log(0.1)],
    ]
    torch.testing.assert_close(found[0], torch.tensor(expected))


def separable(count: int) -> Examples:
    """Right where the first two features add up to more than 0; on quite another scale than 1."""
    torch.manual_seed(4)
    drawn = torch.randn(count, 3)
    return Examples(drawn * 7 - 20, (drawn[:, 0] + drawn[:, 1] > 0).float())


def test_it_learns_what_can_be_told():
    examples, config = separable(600), AcceptorConfig(hidden=8, epochs=8, batch=30, learning_rate=0.03)
    torch.manual_seed(1)
    acceptor = Acceptor(config)
    reports = list(train_acceptor(acceptor, examples, config, seed=1))
    assert reports[-1].loss < reports[0].loss
    with torch.no_grad():
        right = (acceptor.logits(examples.features) > 0) == (examples.right > 0)
        log_p = acceptor(examples.features)
    assert right.float().mean() > 0.95
    torch.testing.assert_close(log_p.exp() > 0.5, acceptor.logits(examples.features) > 0)


def test_the_same_seed_gives_the_same_acceptor():
    def trained() -> list[torch.Tensor]:
        torch.manual_seed(1)
        acceptor = Acceptor(AcceptorConfig(hidden=3))
        list(train_acceptor(acceptor, separable(200), AcceptorConfig(epochs=2, batch=50), seed=5))
        return list(acceptor.state_dict().values())

    assert all(torch.equal(one, other) for one, other in zip(trained(), trained(), strict=True))


def test_nothing_to_learn_from_is_refused():
    with pytest.raises(ValueError, match="Expected words to train the acceptor on, but got none"):
        next(train_acceptor(Acceptor(), Examples(torch.zeros(0, 3), torch.zeros(0)), AcceptorConfig(), seed=1))


def test_features_that_never_differ_do_no_harm():
    acceptor = Acceptor()
    acceptor.standardise(torch.ones(5, 3))
    assert acceptor(torch.ones(2, 3)).isfinite().all()
