"""Drive NVIDIA GPUs from Python.

``__version__`` is the version of this package. ``VERSION``, ``VERSION_STATUS`` and
``VERSION_TEXT`` name the release of PyCUDA whose interface this package has; programs
compare ``VERSION`` as a tuple. ``show`` shows arrays as pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from pycuda import _start as _start  # at once, because it notes the current folder

if _TYPE_CHECKING:
    import os as _os

# The build reads this line, and everything that names a version has it from here. The
# part before the plus sign is the release of PyCUDA.
__version__ = "2026.1+c.1"

VERSION_TEXT = __version__.partition("+")[0]
VERSION_STATUS = ""
VERSION = tuple(int(part) for part in VERSION_TEXT.split("."))


def show(
    *arrays: _Any,
    low: float | None = None,
    high: float | None = None,
    colors: object = None,
    file: str | _os.PathLike[str] | None = None,
) -> None:
    """Show arrays as pictures, side by side.

    An array has the shape (height, width), or (height, width, channels) with 3 or 4
    channels. It is a GPUArray, a ``pycuda.driver.Array``, an array of NumPy or of
    another library. ``low`` and ``high`` are the numbers that become black and white.
    By default they are the smallest and the largest number; bytes, and arrays with
    channels, are shown as they are. NaN is transparent. ``colors`` is "fire", "ice",
    "balance" or the name of a colormap of Matplotlib, or a table of n rows of red,
    green and blue from 0 to 255.

    In a notebook the picture is in the output of the cell. On a terminal it is made of
    characters. Otherwise only its size is printed. ``file`` also writes the picture
    into a file.
    """
    from pycuda._show import show as show_them

    show_them(arrays, low, high, colors, file)
