"""Drive NVIDIA GPUs from Python.

A program imports a module for each part. ``pycuda.autoinit`` makes a context and
``pycuda.compiler`` compiles CUDA C. ``pycuda.driver`` has memory, streams, events and
graphs. ``pycuda.gpuarray`` has arrays that compute like NumPy's. ``pycuda.cumath``,
``curandom``, ``linalg``, ``fft`` and ``sparse`` compute with them. ``elementwise``,
``reduction``, ``scan`` and ``sort`` make kernels from expressions, ``fuse`` from
functions of arrays. ``python -m pycuda`` lists the tools; its ``doctor`` says what this
machine has.

``__version__`` is the version of this package. ``VERSION``, ``VERSION_STATUS`` and
``VERSION_TEXT`` name the release of PyCUDA whose interface this package has; programs
compare ``VERSION`` as a tuple. ``show`` shows arrays as pictures.
"""

from __future__ import annotations

import builtins as _builtins
import sys as _sys
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

    Parameters
    ----------
    *arrays : GPUArray, pycuda.driver.Array or array_like
        Arrays of the shape (height, width), or (height, width, channels) with 3 or 4
        channels; also of other libraries.
    low, high : float, optional
        Numbers that become black and white. The defaults are the smallest and the
        largest number; bytes, and arrays with channels, are shown as they are.
    colors : str or array_like, optional
        Table of colors for arrays without channels: "fire", "ice", "balance", the name
        of a colormap of Matplotlib, or n rows of red, green and blue from 0 to 255. The
        default is gray.
    file : path_like, optional
        File into which the picture is written, too.

    Notes
    -----
    In a notebook the picture is in the output of the cell. On a terminal it is made of
    characters. Otherwise only its size is printed. NaN is transparent. The call waits
    for the arrays.

    Examples
    --------
    >>> pycuda.show(gpuarray.zeros((2, 3)))
    3 x 2 pixels, float64 from 0 to 0
    """
    from pycuda._show import show as show_them

    show_them(arrays, low, high, colors, file)


def _hide_imports(namespace: dict[str, _Any]) -> None:
    """Make ``dir`` of a public module, and so ``help``, list what the module offers.

    ``namespace`` is the module's ``globals()``. The lists have ``__all__``, loaded
    submodules, the attributes of every module, and names of builtins, which ``__all__``
    never has: ``from module import *`` must not replace builtins.
    """
    machinery = {"__dir__", "__getattr__"}

    def is_listed(name: str, value: object) -> bool:
        if name.startswith("_"):
            return name.endswith("__") and name not in machinery
        path = f"{namespace['__name__']}.{name}"
        return hasattr(_builtins, name) or _sys.modules.get(path) is value

    def names() -> list[str]:
        module = _sys.modules[namespace["__name__"]]
        others = [name for name, value in namespace.items() if is_listed(name, value)]
        return sorted({*module.__all__, *others})

    namespace["__dir__"] = names


__all__ = ["VERSION", "VERSION_STATUS", "VERSION_TEXT", "show"]
_hide_imports(globals())
