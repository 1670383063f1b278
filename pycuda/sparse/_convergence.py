"""The error of iterations that do not converge, which ``pycuda.sparse.cg`` publishes."""

from __future__ import annotations


class ConvergenceError(RuntimeError):
    """The iterations ended or diverged before the residual was small."""

    __module__ = "pycuda.sparse.cg"
