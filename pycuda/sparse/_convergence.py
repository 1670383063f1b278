"""The error of iterations that do not converge. ``pycuda.sparse.cg`` publishes it."""

from __future__ import annotations


class ConvergenceError(RuntimeError):
    """The iterations ended or diverged before the residual was small."""

    __module__ = "pycuda.sparse.cg"
