"""The method of conjugate gradients: ``CGStateContainer`` and ``solve_pkt_with_cg``.

Vectors and numbers stay on the device. An iteration is enqueued without waiting for
the previous one. Every ``CHECK_INTERVAL`` iterations the residual is computed from its
definition, and the square of its norm is copied to the host. The host reads it one
interval later, so that the device always has work.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pycuda import _hide_imports
from pycuda._driver import GPUArray, _plain_array
from pycuda.driver import DeviceMemoryPool, PageLockedMemoryPool
from pycuda.elementwise import _combination_by_address, get_elwise_kernel
from pycuda.gpuarray import empty_like, zeros_like
from pycuda.sparse._matrix import DeviceOperator
from pycuda.sparse.cg_graph import CGGraph, ConvergenceError as ConvergenceError
from pycuda.sparse.inner import AsyncInnerProduct, inner_product
from pycuda.sparse.operator import DiagonalPreconditioner, IdentityOperator
from pycuda.tools import (
    VectorArg,
    context_dependent_memoize,
    dtype_to_ctype,
)

__all__ = [
    "CGStateContainer",
    "CHECK_INTERVAL",
    "ConvergenceError",
    "solve_pkt_with_cg",
]
_hide_imports(globals())

#: The residual is computed from its definition once in so many iterations.
CHECK_INTERVAL = 20


def _division(quotient: str, x: str, y: str, dtype_y: Any, dtype_z: Any) -> str:
    """Return statements that set ``quotient`` to ``x / y``, or to 0 if ``y`` is 0."""
    z = dtype_to_ctype(dtype_z)
    if dtype_y.kind != "c":
        return f"{quotient} = {y} == 0 ? {z}(0) : {z}({x}) / {z}({y})"
    # The square of a small number may underflow to 0: scale both to about one.
    return (
        f"auto most = fmax(fabs({y}.real()), fabs({y}.imag())); "
        f"{quotient} = most == 0 ? {z}(0) : {z}({x} / most) / {z}({y} / most)"
    )


@context_dependent_memoize
def _guarded_div_kernel(dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
    return get_elwise_kernel(
        [VectorArg(dtype_x, "x"), VectorArg(dtype_y, "y"), VectorArg(dtype_z, "z")],
        _division("z[i]", "x[i]", "y[i]", dtype_y, dtype_z),
        "guarded_div",
    )


def _kernel_of_quotient(names: str, x: str, y: str, operation: str, dtype: Any) -> Any:
    """Return a kernel of vectors, with a ``factor`` that divides two scalars."""
    quotient = _division("factor", f"{x}[0]", f"{y}[0]", dtype, dtype)
    return get_elwise_kernel(
        [VectorArg(dtype, name) for name in names.split()],
        operation,
        "cg_step",
        loop_prep=f"{dtype_to_ctype(dtype)} factor; {quotient}",
    )


@context_dependent_memoize
def _advance_kernel(dtype: Any) -> Any:
    """Do both parts of a step at once: x += alpha d, residual -= alpha A d."""
    return _kernel_of_quotient(
        "delta curvature d product x residual",
        *("delta", "curvature"),
        "x[i] = x[i] + factor * d[i]; residual[i] = residual[i] - factor * product[i]",
        dtype,
    )


@context_dependent_memoize
def _turn_kernel(dtype: Any) -> Any:
    """Return the kernel of the next direction, d = step + beta d."""
    return _kernel_of_quotient(
        *("found delta step d", "found", "delta", "d[i] = step[i] + factor * d[i]"),
        dtype,
    )


def _is_gpu(value: Any) -> bool:
    return isinstance(value, GPUArray)


class CGStateContainer:
    """System of equations and the state of its solution.

    ``reset`` begins, ``run`` iterates.

    Parameters
    ----------
    operator : OperatorBase
        Matrix or operator that is Hermitian and positive definite.
    precon : OperatorBase, optional
        Operator that approximates the inverse. The default is the identity.
    pagelocked_allocator : callable, optional
        Function of a shape, a dtype and a stream that allocates the memory for numbers
        that are copied to the host. The default is a pool of its own.

    Attributes
    ----------
    operator : OperatorBase
        The operator of the system.
    precon : OperatorBase
        The preconditioner.
    pagelocked_allocator : callable
        The allocator of the memory for numbers that are copied to the host.
    rhs : pycuda.gpuarray.GPUArray
        The right-hand side, of shape (n,).
    x : pycuda.gpuarray.GPUArray
        The solution so far, of shape (n,).
    residual : pycuda.gpuarray.GPUArray
        The residual of ``x``, of shape (n,).
    d : pycuda.gpuarray.GPUArray
        The direction of the next step, of shape (n,).
    delta : pycuda.gpuarray.GPUArray
        The inner product of the residual and the preconditioned residual, without axes.
    real_delta_queue : list of AsyncInnerProduct
        The numbers that are being copied to the host, the oldest first.

    Raises
    ------
    TypeError
        If ``pagelocked_allocator`` is not callable.
    ValueError
        If the operator is not square, or if the preconditioner has another shape.

    See Also
    --------
    solve_pkt_with_cg : Solve a system with a PacketedSpMV.

    Examples
    --------
    >>> from pycuda.sparse.cg import CGStateContainer
    >>> from pycuda.sparse.csr import CsrSpMV
    >>> container = CGStateContainer(CsrSpMV(np.array([[4.0, 1], [1, 3]])))
    >>> container.reset(gpuarray.to_gpu(np.array([1.0, 2])))
    >>> x = container.run()
    >>> np.round(x.get(), 4)
    array([0.0909, 0.6364])
    """

    def __init__(
        self,
        operator: Any,
        precon: Any = None,
        pagelocked_allocator: Callable[..., Any] | None = None,
    ) -> None:
        rows, columns = operator.shape
        if rows != columns:
            raise ValueError(f"the operator has shape {operator.shape}: not square")
        if precon is None:
            precon = IdentityOperator(operator.dtype, rows)
        if precon.shape != operator.shape:
            raise ValueError(
                f"the preconditioner has shape {precon.shape}, the operator "
                f"{operator.shape}"
            )
        if pagelocked_allocator is not None and not callable(pagelocked_allocator):
            raise TypeError(
                "pagelocked_allocator must be a function of a shape, a dtype and a "
                f"stream, not {type(pagelocked_allocator).__name__}"
            )
        if pagelocked_allocator is None:
            host_pool = PageLockedMemoryPool()

            def pagelocked_allocator(shape: Any, dtype: Any, stream: Any) -> Any:
                return host_pool.allocate(shape, dtype)

        self.operator = operator
        self.precon = precon
        self.pagelocked_allocator = pagelocked_allocator
        # Freeing page-locked memory for each number would stop the device.
        self._allocator = DeviceMemoryPool().allocate

    # -- kernels -----------------------------------------------------------------------

    def make_lc2_kernel(self, dtype: Any, a_is_gpu: bool, b_is_gpu: bool) -> Any:
        """Return the prepared function of ``z = a * x + b * y``.

        Parameters
        ----------
        dtype : dtype_like
            Dtype of vectors and scalars.
        a_is_gpu : bool
            If true, ``a`` is the address of a scalar on the device.
        b_is_gpu : bool
            If true, ``b`` is the address of a scalar on the device.

        Returns
        -------
        Function
            The kernel. Its parameters are a, x, b, y, z, n.
        """
        dtype = np.dtype(dtype)
        descriptors = ((a_is_gpu, dtype, dtype), (b_is_gpu, dtype, dtype))
        return _combination_by_address(descriptors, dtype)

    def lc2(self, a: Any, x: Any, b: Any, y: Any, out: Any = None) -> GPUArray:
        """Return ``a * x + b * y`` of vectors.

        Parameters
        ----------
        a : number or GPUArray
            Factor, a number or an array of one element on the device.
        x : GPUArray
            First vector.
        b : number or GPUArray
            Factor, a number or an array of one element on the device.
        y : GPUArray
            Second vector.
        out : GPUArray, optional
            Array of the result's shape to which the result goes. The default is a new
            array.

        Returns
        -------
        GPUArray
            The result: ``out``, or a new array.

        Raises
        ------
        ValueError
            If the vectors differ in shape or dtype, or have gaps.
        """
        x, y = _plain_array(x), _plain_array(y)
        if x.shape != y.shape or x.dtype != y.dtype:
            raise ValueError(
                f"vectors of shape {x.shape} and {y.shape}, dtype {x.dtype} and "
                f"{y.dtype}, are not combined"
            )
        if out is None:
            out = empty_like(x)
        elif out.shape != x.shape or out.dtype != x.dtype:
            raise ValueError(
                f"out has shape {out.shape} and dtype {out.dtype}, the vectors "
                f"{x.shape} and {x.dtype}"
            )
        for vector in (x, y, _plain_array(out)):
            if not vector.flags.forc:
                raise ValueError(f"a vector of strides {vector.strides} has gaps")
        if not x.size:
            return out
        # Keep converted factors alive until the kernel is enqueued.
        factors = [
            factor.astype(x.dtype)
            if _is_gpu(factor) and factor.dtype != x.dtype
            else factor
            for factor in (a, b)
        ]
        values = [factor.ptr if _is_gpu(factor) else factor for factor in factors]
        kernel = self.make_lc2_kernel(x.dtype, _is_gpu(a), _is_gpu(b))
        kernel.prepared_async_call(
            x._grid,
            x._block,
            None,
            values[0],
            x.ptr,
            values[1],
            y.ptr,
            out.ptr,
            x.size,
        )
        return out

    def guarded_div_kernel(self, dtype_x: Any, dtype_y: Any, dtype_z: Any) -> Any:
        """Return the prepared function of ``z = x / y``, or 0 if ``y`` is 0.

        Parameters
        ----------
        dtype_x : dtype_like
            Dtype of ``x``.
        dtype_y : dtype_like
            Dtype of ``y``.
        dtype_z : dtype_like
            Dtype of ``z``.

        Returns
        -------
        Function
            The kernel. Its parameters are x, y, z, n.
        """
        return _guarded_div_kernel(*map(np.dtype, (dtype_x, dtype_y, dtype_z)))

    def guarded_div(self, a: GPUArray, b: GPUArray) -> GPUArray:
        """Return ``a / b``, and 0 where ``b`` is 0.

        Parameters
        ----------
        a : GPUArray
            Dividends.
        b : GPUArray
            Divisors, of the same shape.

        Returns
        -------
        GPUArray
            A new array of the common dtype.

        Raises
        ------
        ValueError
            If the shapes differ.
        """
        a, b = _plain_array(a), _plain_array(b)
        if a.shape != b.shape:
            raise ValueError(f"shapes {a.shape} and {b.shape} are not divided")
        dtype = np.result_type(a.dtype, b.dtype)
        result = GPUArray(a.shape, dtype, a.allocator)
        if result.size:
            self.guarded_div_kernel(a.dtype, b.dtype, dtype).prepared_async_call(
                a._grid, a._block, None, a.ptr, b.ptr, result.ptr, a.size
            )
        return result

    # -- iterations --------------------------------------------------------------------

    @staticmethod
    def _applied(operator: Any, operand: GPUArray, room: GPUArray) -> GPUArray:
        """Apply an operator, with existing memory for the result if possible."""
        can = issubclass(type(operator), (DeviceOperator, DiagonalPreconditioner))
        result: GPUArray = operator(operand, room) if can else operator(operand)
        if result.shape != operand.shape or result.dtype != operand.dtype:
            raise ValueError(
                f"{type(operator).__name__} made shape {result.shape} and dtype "
                f"{result.dtype} of shape {operand.shape} and dtype {operand.dtype}"
            )
        return result if result.flags.forc else result.copy()

    def reset(self, rhs: GPUArray, x: GPUArray | None = None) -> None:
        """Begin with a right-hand side and a start vector.

        Parameters
        ----------
        rhs : GPUArray
            Right-hand side, in the operator's dtype.
        x : GPUArray, optional
            Start vector, which is overwritten with the solution. The default is a new
            vector of zeros.

        Raises
        ------
        TypeError
            If a vector has another dtype.
        ValueError
            If a vector has another shape.
        """
        count = self.operator.shape[0]
        for vector, name in ((rhs, "rhs"), (x, "x")):
            if vector is None:
                continue
            if vector.shape != (count,):
                raise ValueError(
                    f"{name} has shape {vector.shape}; the operator takes ({count},)"
                )
            if vector.dtype != self.operator.dtype:
                raise TypeError(
                    f"{name} has dtype {vector.dtype}, the operator has "
                    f"{self.operator.dtype}"
                )
        self.rhs: GPUArray = rhs if rhs.flags.forc else rhs.copy()
        self.x: GPUArray = zeros_like(rhs) if x is None else x
        self._product, self._room = empty_like(rhs), empty_like(rhs)
        self.residual: GPUArray = empty_like(rhs)
        self._find_residual()
        self.d: GPUArray = self._applied(self.precon, self.residual, self._room).copy()
        self.delta: GPUArray = inner_product(self.residual, self.d, self._allocator)
        self.real_delta_queue: list[AsyncInnerProduct] = []

    def _find_residual(self) -> None:
        product = self._applied(self.operator, self.x, self._product)
        self.lc2(1, self.rhs, -1, product, out=self.residual)

    def one_iteration(self, compute_real_residual: bool = False) -> None:
        """Enqueue one iteration.

        Parameters
        ----------
        compute_real_residual : bool, optional
            If true, compute the residual from its definition, and add the square of its
            norm to ``real_delta_queue``.

        Notes
        -----
        The call does not wait.
        """
        product = self._applied(self.operator, self.d, self._product)
        curvature = inner_product(self.d, product, self._allocator)
        if compute_real_residual:
            alpha = self.guarded_div(self.delta, curvature)
            self.lc2(1, self.x, alpha, self.d, out=self.x)
            self._find_residual()
            self.real_delta_queue.append(self._square())
        else:
            vectors = (self.d, product, self.x, self.residual)
            self._run(_advance_kernel, self.delta, curvature, *vectors)
        step = self._applied(self.precon, self.residual, self._room)
        delta = inner_product(self.residual, step, self._allocator)
        self._run(_turn_kernel, delta, self.delta, step, self.d)
        self.delta = delta

    def _step(self, d: GPUArray, delta: GPUArray) -> GPUArray:
        """Enqueue an iteration with a direction; return the next inner product."""
        product = self._applied(self.operator, d, self._product)
        curvature = inner_product(d, product, self._allocator)
        self._run(_advance_kernel, delta, curvature, d, product, self.x, self.residual)
        step = self._applied(self.precon, self.residual, self._room)
        following = inner_product(self.residual, step, self._allocator)
        self._run(_turn_kernel, following, delta, step, d)
        return following

    def _is_plain(self) -> bool:
        """Return whether there is no preconditioner."""
        return type(self.precon) is IdentityOperator

    def to_graph(self, max_iterations: int | None = None, tol: float = 1e-7) -> CGGraph:
        """Return a graph that solves the system of ``reset`` at each launch.

        Its loops run on the device until the residual's norm is below ``tol`` times
        that of ``rhs``, or for ``max_iterations``.

        Parameters
        ----------
        max_iterations : int, optional
            Number of iterations at most.
        tol : float, optional
            Norm of the residual in parts of the norm of ``rhs``.

        Returns
        -------
        CGGraph
            The graph.
        """
        return CGGraph(self, max_iterations, tol)

    def _run(self, make: Any, *vectors: GPUArray) -> None:
        """Enqueue a kernel of vectors; the last one gives the number of elements."""
        last = vectors[-1]
        if last.size:
            pointers = [vector.ptr for vector in vectors]
            make(last.dtype).prepared_async_call(
                last._grid, last._block, None, *pointers, last.size
            )

    def _square(self) -> AsyncInnerProduct:
        return AsyncInnerProduct(
            self.residual, self.residual, self.pagelocked_allocator, self._allocator
        )

    def run(
        self,
        max_iterations: int | None = None,
        tol: float = 1e-7,
        debug_callback: Callable[..., Any] | None = None,
    ) -> GPUArray:
        """Iterate until the residual's norm is below ``tol`` times that of ``rhs``.

        Parameters
        ----------
        max_iterations : int, optional
            Number of iterations at most. The default is ten times the number of
            unknowns, at least 1000.
        tol : float, optional
            Norm of the residual in parts of the norm of ``rhs``.
        debug_callback : callable, optional
            Function ``(what, iterations, x, residual, d, delta)`` that is called after
            each iteration. ``what`` is "it", or "it+residual" if the residual was
            computed from its definition, and "end" before the return.

        Returns
        -------
        GPUArray
            The solution ``x``.

        Raises
        ------
        ConvergenceError
            If the residual is not small after the last iteration, or is not a finite
            number.

        Notes
        -----
        The call waits for the residual that ends the iteration.
        """
        if max_iterations is None:
            max_iterations = max(10 * self.operator.shape[0], 1000)
        scale = AsyncInnerProduct(
            self.rhs, self.rhs, self.pagelocked_allocator, self._allocator
        )
        self.real_delta_queue = [self._square()]
        bound = None
        iterations = 0
        while True:
            # One number may be in flight while the device works on the next interval.
            is_last = iterations >= max_iterations
            while self.real_delta_queue and (is_last or self._is_old()):
                found = abs(self.real_delta_queue.pop(0).wait())
                if bound is None:
                    bound = tol * tol * abs(scale.wait())
                if not math.isfinite(found):
                    raise ConvergenceError(
                        f"the residual is {found} after {iterations} iterations"
                    )
                if found <= bound:
                    self._tell(debug_callback, "end", iterations)
                    return self.x
            if is_last:
                raise ConvergenceError(
                    f"the residual's norm is {math.sqrt(found):.3g} after {iterations} "
                    f"iterations; {math.sqrt(bound or 0):.3g} was asked for"
                )
            iterations += 1
            is_real = iterations % CHECK_INTERVAL == 0 or iterations == max_iterations
            self.one_iteration(compute_real_residual=is_real)
            what = "it+residual" if is_real else "it"
            self._tell(debug_callback, what, iterations)

    def _is_old(self) -> bool:
        """Return whether the queue's first number has arrived or has a successor."""
        return len(self.real_delta_queue) > 1 or (
            self.real_delta_queue[0].get_host_result() is not None
        )

    def _tell(self, callback: Any, what: str, iterations: int) -> None:
        if callback is not None:
            callback(what, iterations, self.x, self.residual, self.d, self.delta)


def solve_pkt_with_cg(
    pkt_spmv: Any,
    b: GPUArray,
    precon: Any = None,
    x: GPUArray | None = None,
    tol: float = 1e-7,
    max_iterations: int | None = None,
    debug: bool = False,
    pagelocked_allocator: Callable[..., Any] | None = None,
) -> tuple[GPUArray, int, int]:
    """Solve ``A x = b`` with a PacketedSpMV.

    Parameters
    ----------
    pkt_spmv : PacketedSpMV
        Matrix that is Hermitian and positive definite.
    b : GPUArray
        Right-hand side, in the matrix's order.
    precon : OperatorBase, optional
        Preconditioner of permuted vectors: ``DiagonalPreconditioner(spmv.permute(v))``.
    x : GPUArray, optional
        Start vector, in the matrix's order. The default is zeros.
    tol : float, optional
        Norm of the residual in parts of the norm of ``b``.
    max_iterations : int, optional
        Number of iterations at most. The default is ten times the number of unknowns,
        at least 1000.
    debug : bool, optional
        If true, print the residual's norm each time it is computed from its definition,
        and wait for it.
    pagelocked_allocator : callable, optional
        Function of a shape, a dtype and a stream that allocates the memory for numbers
        that are copied to the host.

    Returns
    -------
    solution : GPUArray
        The solution, in the matrix's order.
    iterations : int
        Number of iterations.
    residuals : int
        Number of residuals computed from their definition.

    Raises
    ------
    ConvergenceError
        If the residual is not small after the last iteration, or is not a finite
        number.

    Examples
    --------
    >>> from pycuda.sparse.cg import solve_pkt_with_cg
    >>> from pycuda.sparse.packeted import PacketedSpMV
    >>> A = PacketedSpMV(np.array([[4.0, 1], [1, 3]]), is_symmetric=True)
    >>> x, iterations, _ = solve_pkt_with_cg(A, gpuarray.to_gpu(np.array([1.0, 2])))
    >>> np.round(x.get(), 4)
    array([0.0909, 0.6364])
    """
    counts = {"it": 0, "it+residual": 0}

    def count(what: str, iterations: int, *state: Any) -> None:
        if what in counts:
            counts[what] += 1
        if debug and what == "it+residual":
            norm = math.sqrt(abs(inner_product(state[1], state[1]).get()))
            print(f"iteration {iterations}: the residual's norm is {norm:.6g}")

    container = CGStateContainer(pkt_spmv, precon, pagelocked_allocator)
    start = None if x is None else pkt_spmv.permute(x)
    container.reset(pkt_spmv.permute(b), start)
    solution = container.run(max_iterations, tol, count)
    return pkt_spmv.unpermute(solution), sum(counts.values()), counts["it+residual"]
