"""The data of calls of SciPy and scikit-learn: see array_api_calls.py."""

import numpy as np

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = RNG.normal(size=(40, 5))
POSITIVE = abs(X) + 0.1
COLUMN, OTHER = X[:, 0].copy(), Y[:, 0].copy()
SHARE = RNG.random(30)
SIGNAL = COLUMN + 1j * OTHER
LABELS = (COLUMN > 0).astype(np.int64)
GUESSES = (COLUMN + 0.5 * OTHER > 0).astype(np.int64)
TARGET = X @ np.arange(5.0)
