import math

import numpy as np

from generators.inference.acceptor import acceptor_features


def test_features_by_hand():
    with np.errstate(divide="ignore"):
        log_p = np.log(np.array([[0.5, 0.25, 0.25, 0.0]], dtype=np.float32))
    prior = np.log(np.array([[0.1, 0.2, 0.3, 0.4]], dtype=np.float32))
    entropy = 1.5 * math.log(2)
    expected = [
        [math.log(0.25), entropy, math.log(0.2)],
        [math.log(0.5), entropy, math.log(0.1)],
    ]
    np.testing.assert_allclose(acceptor_features(log_p, prior, np.array([[1, 0]]))[0], expected, rtol=1e-5)
