"""How long a call takes on the device: the function ``measure`` of pycuda.tools."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pycuda.driver as drv
from pycuda._page import bytes_text, time_text

#: A repeat is so many seconds long, or longer if one call is.
_LEAST = 1e-3

#: The greatest number of calls of a repeat.
_MOST_CALLS = 1000


@dataclass(frozen=True, repr=False)
class Measurement:
    """The times of a call, as ``measure`` returns them.

    As a text it is a line with the median, the quartiles and the bytes per second.

    Parameters
    ----------
    name : str
        The name of what was called.
    times : tuple of float
        The seconds of a call in each repeat.
    calls : int
        The number of calls of a repeat.
    nbytes : int
        The bytes of a call, 0 if they are not known.
    """

    __slots__ = {
        "name": "The name of what was called.",
        "times": "The seconds of a call in each repeat.",
        "calls": "The number of calls of a repeat.",
        "nbytes": "The bytes of a call, 0 if they are not known.",
    }

    name: str
    times: tuple[float, ...]
    calls: int
    nbytes: int

    @property
    def median(self) -> float:
        """The median of the times, in seconds."""
        return statistics.median(self.times)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The times, in seconds, between which the middle half of all is."""
        if len(self.times) == 1:
            return self.times[0], self.times[0]
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return low, high

    @property
    def spread(self) -> float:
        """The difference of the quartiles, in seconds."""
        low, high = self.quartiles
        return high - low

    @property
    def bytes_per_second(self) -> float | None:
        """The bytes of a call over the median; None if they are not known."""
        return self.nbytes / self.median if self.nbytes and self.median else None

    def __str__(self) -> str:
        low, high = (time_text(t * 1e9) for t in self.quartiles)
        repeats = f"{len(self.times)} repeat" + "s" * (len(self.times) > 1)
        calls = f"{self.calls} call" + "s" * (self.calls > 1)
        text = (
            f"{self.name}: {time_text(self.median * 1e9)} (half of the repeats from "
            f"{low} to {high}; {repeats} of {calls})"
        )
        if self.bytes_per_second is not None:
            rate = self.bytes_per_second / 1e9
            text += f", {rate:,.4g} GB/s of {bytes_text(self.nbytes)}"
        return text

    __repr__ = __str__


def _bytes_of(values: Iterable[Any]) -> int:
    """Return the bytes of arrays on the device, each memory once."""
    found: dict[int, int] = {}
    for value in values:
        if isinstance(value, drv.ArgumentHandler):
            array = getattr(value, "array", None)
            found[id(array)] = int(getattr(array, "nbytes", 0))
        elif isinstance(value, drv.GPUArray) and value.size:
            pointer = int(value.gpudata)
            found[pointer] = max(found.get(pointer, 0), int(value.nbytes))
    return sum(found.values())


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", None) or getattr(function, "name", None)
    return str(name or type(function).__name__)


def measure(
    function: Callable[..., Any],
    *args: Any,
    repeats: int = 20,
    warm_up: int = 3,
    nbytes: int | None = None,
    **kwargs: Any,
) -> Measurement:
    """Return how long a call takes on the device.

    Parameters
    ----------
    function : callable
        A kernel, or a function of Python that starts work.
    *args
        Arguments of the call.
    repeats : int, optional
        How many times to measure. Each repeat makes as many calls as fill a
        millisecond, at most 1000.
    warm_up : int, optional
        How many calls come before, to compile and to fill caches. There is at least
        one.
    nbytes : int, optional
        The bytes that a call reads and writes, for the bytes per second. The default is
        those of the arrays on the device among the arguments and of an array that the
        call returns, as if each was moved once, and those of ``In``, ``Out`` and
        ``InOut``.
    **kwargs
        Keywords of the call, for a kernel ``block`` and ``grid``. The events are
        recorded in ``stream`` if it is one of them, else in the current stream.

    Returns
    -------
    Measurement
        The times in seconds. Printed, it is one line with the median, the quartiles
        and the bytes per second.

    Raises
    ------
    TypeError
        If ``function`` is not callable.
    ValueError
        If ``repeats`` is less than 1 or ``warm_up`` negative.

    See Also
    --------
    pycuda.profile.timeline : What a program does, and when.

    Notes
    -----
    Events of the stream measure. A time is that of the device, or that of the calls on
    the host if these take longer, so it is what the call costs in a program that makes
    many of them. Work in other streams counts only if the stream waits for it. The call
    runs many times: a kernel that changes its input sees it changed.

    Examples
    --------
    >>> from pycuda.tools import measure
    >>> x = gpuarray.zeros(1 << 16, np.float32)
    >>> measured = measure(gpuarray.sum, x, repeats=5)
    >>> len(measured.times), measured.median > 0
    (5, True)
    """
    if not callable(function):
        raise TypeError(f"measure takes a function, not {function!r}")
    if repeats < 1 or warm_up < 0:
        raise ValueError(
            f"measure takes at least one repeat, and no negative number of calls "
            f"before; not repeats={repeats}, warm_up={warm_up}"
        )
    stream = kwargs.get("stream")

    def seconds_of(calls: int) -> float:
        begin, end = drv.Event(), drv.Event()
        begin.record(stream)
        for _ in itertools.repeat(None, calls):
            function(*args, **kwargs)
        end.record(stream)
        end.synchronize()
        return end.time_since(begin) / 1e3

    result = function(*args, **kwargs)
    if nbytes is None:
        nbytes = _bytes_of([*args, *kwargs.values(), result])
    del result
    for _ in range(warm_up - 1):
        function(*args, **kwargs)
    one = max(seconds_of(1), 1e-9)
    calls = max(1, min(_MOST_CALLS, round(_LEAST / one + 0.5)))
    times = tuple(seconds_of(calls) / calls for _ in range(repeats))
    return Measurement(_name_of(function), times, calls, nbytes)
