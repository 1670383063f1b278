"""Conjugate gradients, their inner products, operators."""

import gc
import math

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.sparse import cg, inner, packeted
from pycuda.sparse._matrix import HostCSR
from pycuda.sparse.cg import CGStateContainer, ConvergenceError, solve_pkt_with_cg
from pycuda.sparse.csr import CsrSpMV
from pycuda.sparse.inner import AsyncInnerProduct
from pycuda.sparse.operator import (
    DiagonalPreconditioner,
    IdentityOperator,
    OperatorBase,
)
from pycuda.sparse.packeted import PacketedSpMV
from pycuda.tools import PageLockedMemoryPool, clear_context_caches
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def no_streams_stay(ctx):
    """Clear the pool of streams, which a context keeps until its caches are cleared."""
    inner._at_exit()
    yield
    clear_context_caches()
    gc.collect()


def line(n, dtype="float64", diagonal=2.0, off=-1.0):
    """Return the matrix of neighbors in a line: Hermitian and positive definite."""
    rows = np.repeat(np.arange(n), 3)
    columns = rows + np.tile([-1, 0, 1], n)
    data = np.tile(np.array([off, diagonal, np.conj(off)]), n)
    there = (columns >= 0) & (columns < n)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[there], minlength=n))])
    return HostCSR(indptr, columns[there], data[there], (n, n), dtype)


def dense(host):
    result = np.zeros(host.shape, host.dtype)
    rows = np.repeat(np.arange(host.shape[0]), np.diff(host.indptr))
    result[rows, host.indices] = host.data
    return result


def pagelocked(shape, dtype, stream):
    return drv.pagelocked_empty(shape, dtype)


# -- operators -------------------------------------------------------------------------


def test_the_identity(ctx):
    operator = IdentityOperator(np.float32, 5)
    assert isinstance(operator, OperatorBase)
    assert (operator.dtype, operator.my_dtype) == (np.float32, np.float32)
    assert (operator.shape, operator.n) == ((5, 5), 5)
    x = gpuarray.zeros(5, np.float32)
    assert operator(x) is x


def test_a_diagonal(ctx):
    diagonal = to_gpu(np.array([1.0, 2.0, 3.0]))
    operator = DiagonalPreconditioner(diagonal)
    assert isinstance(operator, OperatorBase)
    assert operator.diagonal is diagonal
    assert (operator.dtype, operator.shape) == (np.float64, (3, 3))
    x, y = gpuarray.full(3, 10.0), gpuarray.zeros(3)
    assert operator(x).get().tolist() == [10, 20, 30]
    assert operator(x, y) is y and y.get().tolist() == [10, 20, 30]


def test_the_base_says_what_is_missing(ctx):
    class Nothing(OperatorBase):
        pass

    operator = Nothing()
    for use in (lambda o: o.dtype, lambda o: o.shape, lambda o: o(None)):
        with pytest.raises(NotImplementedError, match="Nothing"):
            use(operator)


# -- inner products --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_an_inner_product(ctx, dtype):
    a = np.arange(6).astype(dtype)
    b = np.arange(6, 12).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a, b = a + 1j, b - 2j
    asked = []

    def allocate(shape, dtype, stream):
        asked.append((shape, dtype, stream))
        return pagelocked(shape, dtype, stream)

    product = AsyncInnerProduct(to_gpu(a), to_gpu(b), allocate)
    assert product.pagelocked_allocator is allocate
    assert product.gpu_result.shape == ()
    assert product.gpu_result.dtype == dtype
    assert not product.gpu_finished and product.host_dest is None
    assert product.copy_stream is None and product.copy_finished_evt is None
    product.gpu_finished_evt.synchronize()
    while product.get_host_result() is None:
        assert product.gpu_finished
        product.copy_finished_evt.synchronize()
    assert product.get_host_result() == np.vdot(a, b)
    assert product.get_host_result() == product.wait()
    (shape, given, stream), *more = asked
    assert (shape, given, more) == ((), np.dtype(dtype), [])
    assert isinstance(stream, drv.Stream)
    assert product.host_dest[()] == np.vdot(a, b)


def test_a_result_is_none_until_it_is_there(ctx, monkeypatch):
    a = to_gpu(np.ones(3))
    product = AsyncInnerProduct(a, a, pagelocked)
    product.gpu_finished_evt.synchronize()

    class Late:
        done = False

        def query(self):
            return self.done

    product.gpu_finished_evt = late = Late()
    assert product.get_host_result() is None and not product.gpu_finished
    late.done = True
    product.get_host_result()
    assert product.gpu_finished
    assert product.wait() == 3


def test_wait(ctx):
    a = to_gpu(np.arange(4.0))
    assert AsyncInnerProduct(a, a, pagelocked).wait() == 14


def test_a_pool_of_memory(ctx):
    pool = PageLockedMemoryPool()
    a = to_gpu(np.arange(4.0))
    product = AsyncInnerProduct(a, a, pool.allocate)
    assert product.wait() == 14 and product.pagelocked_allocator == pool.allocate
    assert pool.active_blocks == 1


def test_the_pool_of_streams(ctx):
    assert inner.STREAM_POOL == []
    a = to_gpu(np.ones(3))
    product = AsyncInnerProduct(a, a, pagelocked)
    product.wait()
    assert len(inner.STREAM_POOL) == 1 and product.copy_stream is None
    stream = inner.STREAM_POOL[0]()
    other = drv.Device(0).make_context()
    # A stream belongs to its context. Another context gets its own stream.
    theirs = inner.get_stream()
    assert theirs is not stream and len(inner.STREAM_POOL) == 1
    other.pop()
    assert inner.get_stream() is stream and inner.STREAM_POOL == []
    another = inner.get_stream()
    assert isinstance(another, drv.Stream) and another is not stream
    AsyncInnerProduct(a, a, pagelocked).wait()
    assert inner.STREAM_POOL != []
    inner._at_exit()
    assert inner.STREAM_POOL == []
    other.detach()


def test_streams_that_went_with_their_context(ctx):
    a = to_gpu(np.ones(3))
    AsyncInnerProduct(a, a, pagelocked).wait()
    clear_context_caches()
    assert [reference() for reference in inner.STREAM_POOL] == [None]
    assert isinstance(inner.get_stream(), drv.Stream)
    assert inner.STREAM_POOL == []


# -- parts of an iteration -------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_linear_combinations(ctx, dtype):
    container = CGStateContainer(IdentityOperator(dtype, 3))
    x, y = to_gpu(np.array([1, 2, 3], dtype)), to_gpu(np.array([10, 20, 30], dtype))
    two, three = (to_gpu(np.array(number, dtype)) for number in (2, 3))
    for a in (2, two):
        for b in (3, three):
            assert container.lc2(a, x, b, y).get().tolist() == [32, 64, 96]
    for other in ("float64", "int32"):  # converted, whatever its size
        two, three = (to_gpu(np.array(number, other)) for number in (2, 3))
        assert container.lc2(two, x, three, y).get().tolist() == [32, 64, 96]
    out = gpuarray.zeros_like(x)
    assert container.lc2(1, x, -1, y, out=out) is out
    assert out.get().tolist() == [-9, -18, -27]
    assert container.lc2(1, x, -1, y, out=x) is x
    assert x.get().tolist() == [-9, -18, -27]
    for bad in (y[:2], y.astype(np.complex64)):
        with pytest.raises(ValueError, match="not combined"):
            container.lc2(1, x, 1, bad)
    with pytest.raises(ValueError, match="out has shape"):
        container.lc2(1, x, 1, y, out=y[:2])
    wide = gpuarray.zeros(6, dtype)
    with pytest.raises(ValueError, match="gaps"):
        container.lc2(1, x, 1, wide[::2])


@pytest.mark.parametrize(("a", "b"), [(False, False), (True, False), (True, True)])
def test_the_kernel_of_combinations(ctx, a, b):
    container = CGStateContainer(IdentityOperator(np.float64, 2))
    kernel = container.make_lc2_kernel(np.float64, a, b)
    assert container.make_lc2_kernel(np.dtype(np.float64), a, b) is kernel
    x, y, z = to_gpu(np.array([1.0, 2.0])), to_gpu(np.ones(2)), gpuarray.zeros(2)
    five = to_gpu(np.array(5.0))
    first = five.ptr if a else 5.0
    second = five.ptr if b else 5.0
    kernel.prepared_call(x._grid, x._block, first, x.ptr, second, y.ptr, z.ptr, 2)
    assert z.get().tolist() == [10, 15]


def test_guarded_division(ctx):
    container = CGStateContainer(IdentityOperator(np.float64, 2))
    a, b = to_gpu(np.array([6.0, 5.0])), to_gpu(np.array([3.0, 0.0]))
    assert container.guarded_div(a, b).get().tolist() == [2, 0]
    mixed = container.guarded_div(a.astype(np.float32), b)
    assert mixed.dtype == np.float64 and mixed.get().tolist() == [2, 0]
    kernel = container.guarded_div_kernel(np.float64, np.float64, np.float32)
    out = gpuarray.zeros(2, np.float32)
    kernel.prepared_call(a._grid, a._block, a.ptr, b.ptr, out.ptr, 2)
    assert out.get().tolist() == [2, 0]
    with pytest.raises(ValueError, match="not divided"):
        container.guarded_div(a, b[:1])


def test_the_state(ctx):
    host = line(8)
    operator = CsrSpMV(host)
    container = CGStateContainer(operator, None, pagelocked)
    assert container.operator is operator
    assert isinstance(container.precon, IdentityOperator)
    assert container.pagelocked_allocator is pagelocked
    rhs = np.arange(8.0)
    container.reset(to_gpu(rhs))
    np.testing.assert_array_equal(container.rhs.get(), rhs)
    np.testing.assert_array_equal(container.x.get(), np.zeros(8))
    np.testing.assert_array_equal(container.residual.get(), rhs)
    np.testing.assert_array_equal(container.d.get(), rhs)
    assert container.delta.get() == rhs @ rhs
    assert container.real_delta_queue == []
    # One iteration, by NumPy.
    alpha = (rhs @ rhs) / (rhs @ (dense(host) @ rhs))
    residual = rhs - alpha * (dense(host) @ rhs)
    container.one_iteration()
    np.testing.assert_allclose(container.x.get(), alpha * rhs)
    np.testing.assert_allclose(container.residual.get(), residual, atol=1e-12)
    beta = (residual @ residual) / (rhs @ rhs)
    np.testing.assert_allclose(container.d.get(), residual + beta * rhs)
    assert container.real_delta_queue == []
    container.one_iteration(compute_real_residual=True)
    (square,) = container.real_delta_queue
    wanted = rhs - dense(host) @ container.x.get()
    np.testing.assert_allclose(container.residual.get(), wanted, atol=1e-12)
    assert math.isclose(square.wait(), wanted @ wanted, rel_tol=1e-9)


def test_a_start_vector(ctx):
    host = line(12)
    solution = np.arange(12.0) % 5
    container = CGStateContainer(CsrSpMV(host))
    x = to_gpu(solution + 0.5)
    container.reset(to_gpu(dense(host) @ solution), x)
    residual = dense(host) @ np.full(12, -0.5)
    np.testing.assert_array_equal(container.residual.get(), residual)
    assert container.run() is x
    np.testing.assert_allclose(x.get(), solution, atol=1e-6)


# -- solving ---------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 17, 100])
def test_it_converges(ctx, dtype, n):
    off = -1 + 0.5j if np.dtype(dtype).kind == "c" else -1
    host = line(n, dtype, 4, off)
    rhs = np.random.default_rng(n).standard_normal(n).astype(dtype)
    tol = 1e-5 if np.dtype(dtype).itemsize < 8 or dtype == "complex64" else 1e-10
    container = CGStateContainer(CsrSpMV(host))
    container.reset(to_gpu(rhs))
    x = container.run(tol=tol)
    norm = np.linalg.norm(dense(host) @ x.get() - rhs)
    assert norm < 1.5 * tol * np.linalg.norm(rhs)


def test_counts(ctx):
    """In exact arithmetic, a line of n equal points takes n / 2 iterations. The check
    after 20 iterations detects it."""
    told = []
    container = CGStateContainer(CsrSpMV(line(30)))
    container.reset(to_gpu(np.ones(30)))
    container.run(debug_callback=lambda *state: told.append(state))
    whats = [state[0] for state in told]
    assert whats[:20] == ["it"] * 19 + ["it+residual"]
    assert whats[-1] == "end" and whats.count("end") == 1
    # The host may see the first number one interval later, but not more.
    assert 20 <= told[-1][1] <= 40
    assert [state[1] for state in told[:-1]] == list(range(1, told[-1][1] + 1))
    state = told[-1][2:]
    parts = (container.x, container.residual, container.d, container.delta)
    assert all(a is b for a, b in zip(state, parts, strict=True))


def test_what_is_solved_takes_no_iteration(ctx):
    container = CGStateContainer(CsrSpMV(line(30)))
    told = []
    container.reset(gpuarray.zeros(30))
    x = container.run(debug_callback=lambda *state: told.append(state[:2]))
    assert x.get().tolist() == [0] * 30
    assert told[-1][0] == "end" and told[-1][1] <= 20


def test_a_preconditioner_saves_iterations(ctx):
    n = 200
    host = line(n, diagonal=4.0)
    scale = np.geomspace(1, 100, n)
    rows = np.repeat(np.arange(n), np.diff(host.indptr))
    host.data[:] *= scale[rows] * scale[host.indices]
    rhs = to_gpu(np.random.default_rng(0).standard_normal(n))
    counts = []
    for precon in (None, DiagonalPreconditioner(to_gpu(1 / (4 * scale**2)))):
        container = CGStateContainer(CsrSpMV(host), precon)
        container.reset(rhs)
        told = []
        container.run(debug_callback=lambda *s, told=told: told.append(s[1]))
        counts.append(told[-1])
    assert counts[1] <= 60 < counts[0]


def test_too_few_iterations(ctx):
    container = CGStateContainer(CsrSpMV(line(200)))
    container.reset(to_gpu(np.random.default_rng(0).standard_normal(200)))
    with pytest.raises(ConvergenceError, match="after 30 iterations"):
        container.run(max_iterations=30)
    assert issubclass(ConvergenceError, RuntimeError)
    # It continues from its last state.
    container.run()


def test_a_system_without_a_solution_stalls(ctx):
    """A constant matrix only reaches multiples of the vector of ones."""
    operator = CsrSpMV(np.ones((6, 6)))
    container = CGStateContainer(operator)
    container.reset(to_gpu(np.array([1.0, -1, 1, -1, 1, -1])))
    with pytest.raises(ConvergenceError, match="norm is 2.45 after 1000"):
        container.run()


def test_numbers_that_are_none(ctx):
    container = CGStateContainer(CsrSpMV(line(30)))
    container.reset(to_gpu(np.full(30, np.nan)))
    with pytest.raises(ConvergenceError, match="nan after"):
        container.run()


def test_operators_of_ones_own(ctx):
    class Twice(OperatorBase):
        dtype = np.dtype(np.float64)
        shape = (4, 4)

        def __call__(self, operand):
            return 2 * operand

    container = CGStateContainer(Twice(), Twice())
    container.reset(to_gpu(np.arange(4.0)))
    np.testing.assert_allclose(container.run().get(), np.arange(4) / 2)


@pytest.mark.parametrize("bad", ["shape", "dtype"])
def test_an_operator_that_makes_something_else(ctx, bad):
    class Odd(OperatorBase):
        dtype = np.dtype(np.float64)
        shape = (4, 4)

        def __call__(self, operand):
            return operand[:3] if bad == "shape" else operand.astype(np.float32)

    container = CGStateContainer(Odd())
    with pytest.raises(ValueError, match="Odd made"):
        container.reset(gpuarray.ones(4))


def test_an_operator_that_makes_gaps(ctx):
    class Gappy(OperatorBase):
        dtype = np.dtype(np.float64)
        shape = (4, 4)

        def __call__(self, operand):
            wide = gpuarray.zeros(8)
            wide[::2] = 2 * operand
            return wide[::2]

    container = CGStateContainer(Gappy(), Gappy())
    container.reset(to_gpu(np.arange(4.0)))
    np.testing.assert_allclose(container.run().get(), np.arange(4) / 2)


def test_a_right_hand_side_with_gaps(ctx):
    host = line(8)
    rhs = to_gpu(np.arange(16.0))[::2]
    container = CGStateContainer(CsrSpMV(host))
    container.reset(rhs)
    found = dense(host) @ container.run().get()
    np.testing.assert_allclose(found, rhs.get(), atol=1e-9)


def test_what_does_not_fit(ctx):
    operator = CsrSpMV(line(8))
    with pytest.raises(ValueError, match="not square"):
        CGStateContainer(CsrSpMV(np.ones((2, 3))))
    with pytest.raises(ValueError, match="preconditioner"):
        CGStateContainer(operator, IdentityOperator(np.float64, 7))
    container = CGStateContainer(operator)
    with pytest.raises(ValueError, match=r"rhs has shape \(7,\)"):
        container.reset(gpuarray.zeros(7))
    with pytest.raises(TypeError, match="rhs has dtype float32"):
        container.reset(gpuarray.zeros(8, np.float32))
    with pytest.raises(ValueError, match=r"x has shape \(7,\)"):
        container.reset(gpuarray.zeros(8), gpuarray.zeros(7))


def test_packets(ctx, monkeypatch, capsys):
    monkeypatch.setattr(packeted, "_ROOM", 512)
    host = line(100, diagonal=4.0)
    operator = PacketedSpMV(host, True, np.float64)
    rhs = np.random.default_rng(3).standard_normal(100)
    x, iterations, residuals = solve_pkt_with_cg(operator, to_gpu(rhs))
    np.testing.assert_allclose(dense(host) @ x.get(), rhs, atol=1e-6)
    assert 20 <= iterations <= 60 and 1 <= residuals <= 3
    assert capsys.readouterr().out == ""
    # Again, with all optional arguments.
    start = to_gpu(x.get() + 0.125)
    precon = DiagonalPreconditioner(operator.permute(gpuarray.full(100, 0.25)))
    pool = PageLockedMemoryPool()

    def allocate(shape, dtype, stream):
        return pool.allocate(shape, dtype)

    y, iterations, residuals = solve_pkt_with_cg(
        operator, to_gpu(rhs), precon, start, 1e-9, 200, True, allocate
    )
    np.testing.assert_allclose(y.get(), x.get(), atol=1e-6)
    assert capsys.readouterr().out.count("the residual's norm is") == residuals
    with pytest.raises(ConvergenceError):
        solve_pkt_with_cg(operator, to_gpu(rhs), max_iterations=3, tol=1e-12)


# -- what goes to the driver -----------------------------------------------------------


def test_an_iteration_waits_for_nothing(ctx, fail_calls):  # noqa: F811
    container = CGStateContainer(
        CsrSpMV(line(50)), DiagonalPreconditioner(gpuarray.full(50, 0.5))
    )
    container.reset(to_gpu(np.arange(50.0)))
    container.one_iteration()
    container.one_iteration()
    never = (
        *("cuMemAlloc", "cuMemFree", "cuMemcpyDtoH", "cuMemcpyHtoD", "cuEventQuery"),
        *("cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize"),
        *("cuMemcpyDtoHAsync", "cuModuleLoadData"),
    )
    before = [fail_calls.count(name) for name in never]
    launches = fail_calls.count("cuLaunchKernel")
    for _ in range(5):
        container.one_iteration()
    assert [fail_calls.count(name) for name in never] == before
    assert fail_calls.count("cuLaunchKernel") > launches
    # The counterpart: waits are counted.
    container.delta.get()
    assert [fail_calls.count(name) for name in never] != before


def test_one_number_an_interval_comes_back(ctx, fail_calls):  # noqa: F811
    container = CGStateContainer(CsrSpMV(line(500)))
    container.reset(to_gpu(np.random.default_rng(0).standard_normal(500)))
    before = fail_calls.count("cuMemcpyDtoHAsync")
    told = []
    container.run(debug_callback=lambda *state: told.append(state[0]))
    copies = fail_calls.count("cuMemcpyDtoHAsync") - before
    # Waits of the intervals, of the start and of the right-hand side.
    assert told.count("it+residual") <= copies + 1 <= told.count("it+residual") + 3
    assert len(told) > 10 * copies


def test_the_interval(ctx):
    assert cg.CHECK_INTERVAL == 20


def test_results_are_arrays(ctx):
    container = CGStateContainer(CsrSpMV(line(5)))
    container.reset(gpuarray.ones(5))
    assert isinstance(container.run(), GPUArray)


# -- as a graph ------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_a_graph_solves_without_the_host(ctx, dtype):
    host = line(200, dtype, 2.5)
    solution = np.random.default_rng(4).random(200).astype(dtype)
    rhs = to_gpu(dense(host) @ solution)
    tol = 1e-5 if dtype == "float32" else 1e-10
    solver = CGStateContainer(CsrSpMV.from_arrays(*parts(host)))
    solver.reset(rhs)
    graph = solver.to_graph(tol=tol)
    stream = drv.Stream()
    graph.launch(stream)
    x = graph.wait()
    assert x is graph.x
    assert np.allclose(x.get(), solution, atol=20 * tol)
    numbers = graph.numbers()
    assert 5 < numbers["iterations"] < 200
    assert numbers["residuals"] >= 2
    assert numbers["found"] <= numbers["bound"]
    graph.launch(stream)  # starts at the solution
    graph.wait()
    assert graph.numbers()["iterations"] == 0
    rhs.set(dense(host) @ (2 * solution))  # the graph reads what is there
    graph.launch(stream)
    assert np.allclose(graph.wait().get(), 2 * solution, atol=40 * tol)


def parts(host):
    return host.indptr, host.indices, host.data, host.shape


def test_a_graph_with_a_preconditioner(ctx):
    host = line(100, diagonal=4.0)
    rhs = to_gpu(np.arange(100.0))
    inverse = DiagonalPreconditioner(to_gpu(np.full(100, 0.25)))
    solver = CGStateContainer(CsrSpMV.from_arrays(*parts(host)), inverse)
    solver.reset(rhs)
    graph = solver.to_graph(tol=1e-12)
    del solver, rhs, inverse
    gc.collect()
    graph.launch()
    expected = np.linalg.solve(dense(host), np.arange(100.0))
    assert np.allclose(graph.wait().get(), expected)


def test_a_graph_that_does_not_converge(ctx):
    host = line(100)
    solver = CGStateContainer(CsrSpMV.from_arrays(*parts(host)))
    rhs = to_gpu(np.ones(100))
    solver.reset(rhs)
    graph = solver.to_graph(max_iterations=5, tol=1e-12)
    graph.launch()
    with pytest.raises(ConvergenceError, match="after 5 iterations"):
        graph.wait()
    rhs.fill(np.nan)
    graph.launch()
    with pytest.raises(ConvergenceError, match="nan"):
        graph.wait()


def test_products_with_cut_rows_are_captured(ctx):
    n = 6000
    indptr = np.array([0, n, *range(n + 1, 2 * n)])
    indices = np.concatenate([np.arange(n), np.arange(1, n)])
    host = HostCSR(indptr, indices, np.ones(len(indices)), (n, n), "float64")
    matrix = CsrSpMV.from_arrays(*parts(host))
    x = to_gpu(np.arange(float(n)))
    expected = matrix(x).get()
    y = gpuarray.empty_like(x)
    stream = drv.Stream()
    with stream.capture() as graph:
        matrix(x, y)
    executable = graph.instantiate()
    assert (matrix(x).get() == expected).all()
    executable.launch(stream)
    stream.synchronize()
    assert (y.get() == expected).all()
