"""The Python array API standard for GPUArrays, version 2025.12.

``x.__array_namespace__()`` returns this module. Programs and libraries that are written
for the standard run on GPUArrays with it. https://data-apis.org/array-api describes the
functions; ``doc/array_api.rst`` says where GPUArray's operators differ.
"""

from __future__ import annotations

import importlib as _importlib
import sys as _sys
from types import ModuleType
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

import numpy as _np

from pycuda import _hide_imports
from pycuda._public import publish as _publish
from pycuda.array_api import (
    _creation,
    _data_types,
    _elementwise,
    _manipulation,
    _searching,
    _statistics,
)

if _TYPE_CHECKING:
    from pycuda.array_api import fft, linalg, special
    from pycuda.array_api._creation import *  # noqa: F403
    from pycuda.array_api._data_types import *  # noqa: F403
    from pycuda.array_api._elementwise import *  # noqa: F403
    from pycuda.array_api._manipulation import *  # noqa: F403
    from pycuda.array_api._searching import *  # noqa: F403
    from pycuda.array_api._statistics import *  # noqa: F403

__array_api_version__ = "2025.12"

e: float = float(_np.e)
inf: float = float(_np.inf)
nan: float = float(_np.nan)
newaxis = None
pi: float = float(_np.pi)

__all__ = [
    "__array_api_version__",
    "e",
    "fft",
    "inf",
    "linalg",
    "nan",
    "newaxis",
    "pi",
    "special",
]
__all__ += _creation.__all__
__all__ += _data_types.__all__
__all__ += _elementwise.__all__
__all__ += _manipulation.__all__
__all__ += _searching.__all__
__all__ += _statistics.__all__
_parts = _creation, _data_types, _elementwise, _manipulation, _searching, _statistics
_names = {name: getattr(part, name) for part in _parts for name in part.__all__}
_publish({**_names, "__name__": __name__})
_hide_imports(globals())

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def _namespace_of(array: object, /, *, api_version: str | None = None) -> ModuleType:
    """Return this module: GPUArray.__array_namespace__."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"version {api_version!r} of the array API standard is not one of "
            f"{', '.join(_VERSIONS)}"
        )
    return _sys.modules[__name__]


#: Names beyond the standard for which xarray, SciPy and others look in the namespace.
#: NumPy's functions of these names run on GPUArrays.
_BEYOND = (
    *("cross", "cumprod", "cumsum", "diag", "einsum", "gradient", "lib", "median"),
    *("pad", "quantile", "transpose"),
)


def __getattr__(name: str) -> _Any:
    """Load an extension, or complete a function, when it is used first."""
    if name in ("fft", "linalg", "special"):
        return _importlib.import_module(f"{__name__}.{name}")
    if name == "float16":  # not in the standard; SciPy and scikit-learn look for it
        return _np.dtype(_np.float16)
    if name in _BEYOND:
        return getattr(_np, name)
    if name == "logspace":  # of numbers
        return _importlib.import_module("pycuda.gpuarray").logspace
    if name not in _names:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    _importlib.import_module(f"{__name__}._docs").complete(_names[name])
    return globals().setdefault(name, _names[name])
