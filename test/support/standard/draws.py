"""One call of a function of the standard, and the random choices of the cases."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from support.standard.operands import Generator
from support.standard.results import Tolerance

EXACT = Tolerance()


@dataclass(frozen=True)
class Case:
    """A call: the name of a function, or of a method of the first argument."""

    name: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    tolerance: Tolerance = EXACT
    #: The errors of which the call must raise one; none: it returns a result.
    raises: tuple[type[Exception], ...] = ()

    def __str__(self) -> str:
        words = [repr(value) for value in self.args]
        words += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        return f"{self.name}({', '.join(words)})"


class Draw:
    """A random generator that limits the data types of each function.

    Each combination of data types needs kernels of its own, so a short run takes
    ``variety`` of them for each function.
    """

    def __init__(self, seed: int, variety: int, types_seed: int | None = None) -> None:
        self.rng: Generator = np.random.default_rng(seed)
        self._types_seed = seed if types_seed is None else types_seed
        self._variety = variety
        self._chosen: dict[str, list[str]] = {}

    def dtype(self, name: str, candidates: tuple[str, ...]) -> str:
        """Return a data type for a function."""
        chosen = self._chosen.get(name)
        if chosen is None:
            count = min(self._variety, len(candidates))
            types = np.random.default_rng([self._types_seed, zlib.crc32(name.encode())])
            chosen = self._chosen[name] = [
                str(one) for one in types.choice(candidates, count, replace=False)
            ]
        return chosen[int(self.rng.integers(len(chosen)))]

    def chance(self, share: float) -> bool:
        """Return True for a share of the calls."""
        return bool(self.rng.random() < share)

    def one(self, *values: Any) -> Any:
        """Return one of some values."""
        return values[int(self.rng.integers(len(values)))]

    def whole(self, low: int, high: int) -> int:
        """Return an integer from ``low`` to ``high``."""
        return int(self.rng.integers(low, high + 1))


Drawer: TypeAlias = Callable[[Draw, str], Case]
