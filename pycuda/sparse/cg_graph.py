"""Conjugate gradients as a graph with loops: ``CGGraph``.

The device itself decides when the solution is found. The graph has two loops. The
inner one does iterations, until the residual that they update is small. The outer one
computes the residual from its definition and begins anew, until that one is small. So a
launch needs the host neither for numbers nor for decisions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import pycuda.driver as drv
from pycuda import _hide_imports
from pycuda._array.kernels.compilation import load
from pycuda._driver import GPUArray
from pycuda._public import published_by
from pycuda.gpuarray import zeros
from pycuda.sparse.inner import inner_product
from pycuda.tools import context_dependent_memoize, dtype_to_ctype

__all__ = ["CGGraph", "ConvergenceError"]
_hide_imports(globals())

_TEXT = """#include <pycuda-complex.hpp>
typedef {value} T;

extern "C" __device__ __cudart_builtin__ void CUDARTAPI
cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned int value);

// The squares of norms, and the iterations of a launch.
struct progress {{
    double bound, found;
    long long iterations, residuals;
}};

static __device__ double size_of(const {value} *square)
{{
    return {size};
}}

static __device__ bool goes_on(const progress *p, long long most)
{{
    return isfinite(p->found) && p->found > p->bound && p->iterations < most;
}}

extern "C" __global__ void limit(progress *p, const T *square, double factor)
{{
    p->bound = factor * size_of(square);
    p->iterations = p->residuals = 0;
}}

extern "C" __global__ void begin(progress *p, const T *square, long long most,
                                 cudaGraphConditionalHandle outer,
                                 cudaGraphConditionalHandle inner)
{{
    p->found = size_of(square);
    p->residuals++;
    bool more = goes_on(p, most);
    cudaGraphSetConditional(outer, more);
    cudaGraphSetConditional(inner, more);
}}

extern "C" __global__ void step(progress *p, const T *square, T *delta, const T *next,
                                long long most, cudaGraphConditionalHandle inner)
{{
    p->found = size_of(square);
    p->iterations++;
    *delta = *next;
    cudaGraphSetConditional(inner, goes_on(p, most));
}}
"""
_ONE = {"block": (1, 1, 1)}
_PROGRESS = np.dtype(
    [("bound", "f8"), ("found", "f8"), ("iterations", "i8"), ("residuals", "i8")]
)


@published_by("pycuda.sparse.cg")
class ConvergenceError(RuntimeError):
    """The iterations ended or diverged before the residual was small."""


def kernel_text(dtype: np.dtype[Any]) -> str:
    """Return the source of the kernels that decide, for vectors of a dtype."""
    size = (
        "fabs((double)square->real())" if dtype.kind == "c" else "fabs((double)*square)"
    )
    return _TEXT.format(value=dtype_to_ctype(dtype), size=size)


@context_dependent_memoize
def _functions(dtype: np.dtype[Any]) -> tuple[Any, Any, Any]:
    module = load(kernel_text(dtype), ["-w"])
    limit, begin, step = map(module.get_function, ("limit", "begin", "step"))
    return limit, begin, step


class CGGraph:
    """The solution of a system by one launch of a graph, without the host.

    ``CGStateContainer.to_graph`` makes it, after ``reset``. Each ``launch`` takes the
    present values of ``rhs`` and, as the start, of ``x``, and leaves the solution in
    ``x``. It needs a driver for CUDA 12.3.

    Parameters
    ----------
    state : pycuda.sparse.cg.CGStateContainer
        The system, after ``reset``.
    max_iterations : int or None
        Most iterations of a launch. None is ten for each row, and at least 1,000.
    tol : float
        Bound of the residual's norm, relative to that of ``rhs``.

    Notes
    -----
    ``graph`` is the Graph, ``executable`` its GraphExec. ``progress`` is device memory
    with two float64, the squares of the bound and of the residual's norm, and two
    int64, the numbers of iterations and of residuals computed from their definition.
    """

    def __init__(self, state: Any, max_iterations: int | None, tol: float) -> None:
        if max_iterations is None:
            max_iterations = max(10 * state.operator.shape[0], 1000)
        self.rhs: GPUArray = state.rhs
        self.x: GPUArray = state.x
        self.max_iterations: int = max_iterations
        self.tol: float = tol
        self.progress: GPUArray = zeros(4, np.float64)
        self._state = state
        self._most = np.int64(max_iterations)
        self._warm_up()
        self.graph: drv.Graph = drv.Graph()
        self._build()
        self.executable: drv.GraphExec = self.graph.instantiate()
        self._stream: drv.Stream | None = None

    def _warm_up(self) -> None:
        """Do one step with other vectors: it makes what libraries need at first use."""
        state = self._state
        room = state.x.copy()
        product = state._applied(state.operator, room, state._product)
        state._applied(state.precon, product, state._room)
        drv.Context.synchronize()

    def _build(self) -> None:
        state, graph = self._state, self.graph
        limit, begin, step = _functions(np.dtype(self.x.dtype))
        stream = drv.Stream()
        with stream.capture(graph):
            scale = inner_product(self.rhs, self.rhs)
            limit(self.progress, scale, np.float64(self.tol**2), **_ONE)
        outer = graph.condition(1)
        body = graph.add_while(outer, after=graph.leaves).bodies[0]
        inner = body.condition()
        with stream.capture(body):
            state._find_residual()
            first = state._applied(state.precon, state.residual, state._room)
            d = first.copy()
            delta = inner_product(state.residual, d)
            square = self._square(delta)
            begin(self.progress, square, self._most, outer, inner, **_ONE)
        loop = body.add_while(inner, after=body.leaves).bodies[0]
        with stream.capture(loop):
            following = state._step(d, delta)
            square = self._square(following)
            step(self.progress, square, delta, following, self._most, inner, **_ONE)

    def _square(self, delta: GPUArray) -> GPUArray:
        """Return the square of the residual's norm."""
        state = self._state
        if state._is_plain():
            return delta
        return inner_product(state.residual, state.residual)

    def launch(self, stream: drv.Stream | None = None) -> None:
        """Enqueue the solution in a stream.

        Parameters
        ----------
        stream : Stream, optional
            Stream in which the work is enqueued. The default is the current stream.

        Notes
        -----
        The call does not wait.
        """
        self._stream = stream or drv.Stream.get_current()
        self.executable.launch(stream)

    def wait(self) -> GPUArray:
        """Wait for the last launch, and return the solution.

        Returns
        -------
        GPUArray
            The array ``x``.

        Raises
        ------
        ConvergenceError
            If the residual is not small or not a finite number.
        """
        if self._stream is not None:
            self._stream.synchronize()
        else:
            drv.Context.synchronize()
        numbers = self.numbers()
        if not math.isfinite(numbers["found"]):
            raise ConvergenceError(
                f"the residual is {numbers['found']} after {numbers['iterations']} "
                "iterations"
            )
        if numbers["found"] > numbers["bound"]:
            raise ConvergenceError(
                f"the residual's norm is {math.sqrt(numbers['found']):.3g} after "
                f"{numbers['iterations']} iterations; "
                f"{math.sqrt(numbers['bound']):.3g} was asked for"
            )
        return self.x

    def numbers(self) -> dict[str, Any]:
        """Return the numbers of the last launch.

        Returns
        -------
        dict
            ``bound`` and ``found``, the squares of the bound and of the residual's
            norm, ``iterations``, and ``residuals``, how many of them were computed
            from their definition.

        Notes
        -----
        The call waits for the copy to the host.
        """
        record = self.progress.get().view(_PROGRESS)[0]
        return {name: record[name].item() for name in _PROGRESS.names or ()}
