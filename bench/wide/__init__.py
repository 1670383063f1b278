"""The rows of ``bench_wide.py``: one module for each topic.

A module has ``ROWS``, a list of ``Row``. It may have ``DATA``, which maps a name to the
expression that makes it with this package. Its rows use these data and ``COMMON``.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path

#: Data of all topics. ``n`` is the number of elements, ``rng`` a generator of curandom.
#: The expressions run with this package; the peers get the same memory.
COMMON = {
    "x": "uniform(n)",
    "y": "uniform(n)",
    "m": "uniform(n) < 0.5",
    "i": "np.minimum((uniform(n) * n).astype(np.int64), n - 1)",
    "k": "((uniform(n) - 0.5) * 4e9).astype(np.int32)",
    "v": "uniform(n)",
    "X": "x.reshape(n // 16, 16)",
    "Y": "x.reshape(side, side)",
    "row": "uniform(16)",
    "column": "uniform(n // 16).reshape(n // 16, 1)",
}


@dataclass(frozen=True)
class Row:
    """An operation and how each package writes it.

    ``both`` stands for the same text in all packages. A package without a text has no
    such operation. ``bytes`` is the number of bytes read and written for each of the n
    elements, for operations that memory bounds. ``most`` is the largest n measured.
    """

    name: str
    both: str | None = None
    ours: str | None = None
    cupy: str | None = None
    torch: str | None = None
    bytes: float | None = None
    most: int | None = None

    def texts(self):
        """Return the text of each package that has the operation."""
        found = {
            "ours": self.ours or self.both,
            "cupy": self.cupy or self.both,
            "torch": self.torch or self.both,
        }
        return {package: text for package, text in found.items() if text}


def topics():
    """Return the names of the topics: the modules beside this one."""
    here = Path(__file__).parent
    return sorted(path.stem for path in here.glob("[a-z]*.py"))


def load(names):
    """Return the topics named: the rows of each, and the expressions of its data."""
    rows, data = {}, {}
    for name in names:
        module = importlib.import_module(f"wide.{name}")
        rows[name] = module.ROWS
        data[name] = getattr(module, "DATA", {})
    return rows, data
