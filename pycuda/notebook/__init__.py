"""CUDA C in the cells of Jupyter notebooks and of IPython.

    %load_ext pycuda.notebook

The magic ``%%cuda`` compiles a cell, and its kernels become functions::

    %%cuda
    __global__ void scale(float *x, float by)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        x[i] *= by;
    }

    scale(x, 2.5)

Messages of the compiler and errors of kernels name the lines of the cell. What kernels
print appears in the output of the cell. ``%%cuda?`` lists the options.

:func:`progress` shows how far a loop is that gives work to the device.
``pycuda.show`` shows arrays as pictures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycuda import _hide_imports
from pycuda.notebook._kernel import Kernel, KernelTemplate
from pycuda.notebook._progress import progress

if TYPE_CHECKING:
    from pycuda.notebook._magic import CudaMagic

__all__ = [
    "Kernel",
    "KernelTemplate",
    "load_ipython_extension",
    "progress",
    "unload_ipython_extension",
]
_hide_imports(globals())

_loaded: CudaMagic | None = None


def load_ipython_extension(shell: Any) -> None:
    """Connect the extension to a shell; ``%load_ext pycuda.notebook`` does it.

    Parameters
    ----------
    shell : IPython.InteractiveShell
        The shell.

    Notes
    -----
    If no context is current, the one of ``pycuda.autoinit`` becomes current.
    """
    from pycuda.notebook._magic import CudaMagic

    global _loaded
    if _loaded is None:
        magic = CudaMagic(shell)
        magic.load()
        _loaded = magic


def unload_ipython_extension(shell: Any) -> None:
    """Disconnect the extension; ``%unload_ext pycuda.notebook`` does it.

    Parameters
    ----------
    shell : IPython.InteractiveShell
        The shell.
    """
    global _loaded
    if _loaded is not None:
        _loaded.unload()
        _loaded = None
