"""Sparse matrices on the device, and the method of conjugate gradients.

These modules multiply a matrix by a vector: ``csr`` (compressed rows, the fastest for
most matrices), ``packeted`` (PacketedSpMV), ``coordinate`` (CoordinateSpMV), and
``cusparse`` through NVIDIA's library. ``cg`` solves systems of equations, ``operator``
has preconditioners, ``inner`` asynchronous inner products. Matrices of SciPy are
accepted and returned, but SciPy is not required.
"""

from pycuda import _hide_imports

__all__: list[str] = []  # its modules are imported by name
_hide_imports(globals())
