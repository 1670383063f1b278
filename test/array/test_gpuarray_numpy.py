"""NumPy's functions, its ufuncs' methods and keywords, and its methods on GPUArrays."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import same, sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

HOST = sample(np.float32, (4, 5), 3)
MASK = np.arange(20).reshape(4, 5) % 3 > 0


# -- methods of ufuncs -----------------------------------------------------------------

REDUCED = [np.add, np.multiply, np.minimum, np.maximum, np.logical_and, np.logical_or]


@pytest.mark.parametrize("ufunc", REDUCED, ids=lambda u: u.__name__)
@pytest.mark.parametrize("dtype", ["bool", "int8", "float32"])
def test_reduce(ctx, ufunc, dtype):
    a = (HOST % 3).astype(dtype)
    x = to_gpu(a)
    for keywords in ({}, {"axis": 1}, {"axis": None}, {"axis": (0, 1)}):
        same(ufunc.reduce(x, **keywords), ufunc.reduce(a, **keywords), exact=False)
    same(ufunc.reduce(x, keepdims=True), ufunc.reduce(a, keepdims=True), exact=False)
    out = GPUArray(5, ufunc.reduce(a).dtype)
    assert ufunc.reduce(x, out=out) is out
    same(out, ufunc.reduce(a), exact=False)
    for keywords in ({"initial": 1}, {"initial": 1, "where": MASK}):
        theirs = dict(keywords)
        ours = {k: to_gpu(v) if k == "where" else v for k, v in keywords.items()}
        same(ufunc.reduce(x, **ours), ufunc.reduce(a, **theirs), exact=False)
    same(ufunc.reduce(to_gpu(a[0, 0])), ufunc.reduce(a[0, 0]))


def test_reduce_in_another_dtype(ctx):
    a = HOST.astype(np.int8)
    for dtype in (np.float32, np.int16):
        same(np.add.reduce(to_gpu(a), dtype=dtype), np.add.reduce(a, dtype=dtype))
        same(
            np.maximum.reduce(to_gpu(a), dtype=dtype), np.maximum.reduce(a, dtype=dtype)
        )


@pytest.mark.parametrize("ufunc", [np.add, np.multiply], ids=lambda u: u.__name__)
def test_accumulate(ctx, ufunc):
    a = (np.arange(12).reshape(3, 4) % 5).astype(np.int32)
    x = to_gpu(a)
    same(ufunc.accumulate(x), ufunc.accumulate(a))
    same(ufunc.accumulate(x, axis=1), ufunc.accumulate(a, axis=1))
    same(
        ufunc.accumulate(x, 1, dtype=np.float64),
        ufunc.accumulate(a, 1, dtype=np.float64),
    )
    out = GPUArray((3, 4), ufunc.accumulate(a).dtype)
    assert ufunc.accumulate(x, out=out) is out
    same(out, ufunc.accumulate(a))


def test_outer(ctx):
    a, b = np.arange(3.0), np.arange(4.0).reshape(2, 2)
    same(np.subtract.outer(to_gpu(a), to_gpu(b)), np.subtract.outer(a, b))
    same(np.multiply.outer(to_gpu(a), 2), np.multiply.outer(a, 2))


def ask(x, ufunc, method, *args, **kwargs):
    """Call __array_ufunc__ as NumPy does.

    NumPy 2.4 keeps a reference to the arguments for good if the call raises.
    """
    return x.__array_ufunc__(ufunc, method, x, *args, **kwargs)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda x: np.isnat(x), "numpy.isnat has no counterpart"),
        (lambda x: ask(x, np.subtract, "reduce"), "numpy.subtract.reduce has no"),
        (lambda x: ask(x, np.subtract, "accumulate"), "numpy.subtract.accumulate has"),
        (lambda x: ask(x, np.add, "reduceat", [0, 1]), "numpy.add.reduceat has no"),
        (lambda x: np.hypot.at(x, [0], 1), "numpy.hypot.at has no"),
        (lambda x: ask(x, np.ldexp, "reduce"), "numpy.ldexp.reduce has no"),
        (lambda x: np.add(x, x, casting="unsafe"), "numpy.add .*casting"),
        (lambda x: np.add(x, x, signature="ff->f"), "numpy.add .*signature"),
        (lambda x: ask(x, np.add, "reduce", nonsense=1), "nonsense"),
        (lambda x: np.poly(x), "numpy.poly has no"),
        (lambda x: np.polydiv(x, x), "numpy.polydiv has no"),
        (lambda x: np.roots(x), "numpy.roots has no"),
        (lambda x: np.cumsum(x, nonsense=1), "nonsense"),
        (lambda x: np.zeros_like(x, subok=False), "numpy.zeros_like .*subok"),
        (lambda x: np.add(x, np.ones((4, 5))), "to_gpu"),
        (lambda x: np.add(x, x, where=np.ones((4, 5), bool)), "to_gpu"),
        (lambda x: np.add(x, x, where=x), "where must be of bool"),
    ],
)
def test_what_is_not_there_is_named(ctx, call, text):
    with pytest.raises(TypeError, match=text):
        call(to_gpu(HOST))


def test_shapes_that_do_not_fit_are_named(ctx):
    x = to_gpu(HOST)
    for call in (np.dot, np.matmul):
        with pytest.raises(ValueError, match=r"\(4, 5\) and \(4, 5\)"):
            call(x, x)


def test_types_with_rules_of_their_own_are_asked(ctx):
    class Other:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__, method

        def __array_function__(self, function, types, args, kwargs):
            return function.__name__

    x = to_gpu(HOST)
    assert np.gcd(x, Other()) == ("gcd", "__call__")
    assert np.add.outer(x, Other()) == ("add", "outer")
    assert np.stack([x, Other()]) == "stack"


# -- where= and initial= ---------------------------------------------------------------


def test_where_of_ufuncs(ctx):
    x, m = to_gpu(HOST), to_gpu(MASK)
    out, expected = gpuarray.full((4, 5), 7, np.float32), np.full((4, 5), 7, np.float32)
    assert np.add(x, 1, out=out, where=m) is out
    np.add(HOST, 1, out=expected, where=MASK)
    same(out, expected)
    np.sqrt(abs(x), out=out, where=m[0])
    np.sqrt(abs(HOST), out=expected, where=MASK[0])
    same(out, expected)
    got = np.multiply(x, 2, where=m).get()
    np.testing.assert_array_equal(got[MASK], 2 * HOST[MASK])
    same(np.negative(x, where=True), -HOST)
    assert np.add(x[0], 1, where=m).shape == (4, 5)
    whole = gpuarray.full((4, 5), 7.0, np.float64)
    np.add(x, 1, out=whole, where=m)  # another dtype of the same kind
    assert whole.get()[MASK].tolist() == (HOST + 1)[MASK].tolist()
    one, two = (gpuarray.zeros((4, 5), np.float32) for _ in range(2))
    np.modf(x, out=(one, two), where=m)
    a, b = np.zeros((4, 5), np.float32), np.zeros((4, 5), np.float32)
    np.modf(HOST, out=(a, b), where=MASK)
    same(one, a)
    same(two, b)
    with pytest.raises(ValueError, match=r"\(4, 5\).*\(5,\)"):
        np.add(x[0], 1, out=gpuarray.zeros(5, np.float32), where=m)
    with pytest.raises(TypeError, match="int32"):
        np.add(x, 1, out=gpuarray.zeros((4, 5), np.int32), where=m)


@pytest.mark.parametrize("name", ["sum", "prod", "any", "all", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float64", "complex64"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1)])
def test_where_of_reductions(ctx, name, dtype, axis):
    a = (HOST / 4).astype(dtype)
    for mask in (MASK, MASK[0], MASK[:, :1]):
        expected = np.asarray(getattr(np, name)(a, axis=axis, where=mask))
        got = getattr(np, name)(to_gpu(a), axis=axis, where=to_gpu(mask))
        same(got, expected, exact=False, ulps=16)


@pytest.mark.parametrize("name", ["min", "max"])
def test_least_and_greatest_of_some(ctx, name):
    x = to_gpu(HOST)
    theirs, ours = getattr(np, name), getattr(gpuarray, name)
    for initial in (-100, 0, 2.5, 100):
        same(ours(x, initial=initial), theirs(HOST, initial=initial))
        same(
            ours(x, axis=1, initial=initial, where=to_gpu(MASK)),
            theirs(HOST, axis=1, initial=initial, where=MASK),
        )
    same(ours(x[:0], axis=0, initial=3), theirs(HOST[:0], axis=0, initial=3))
    with pytest.raises(ValueError, match="initial"):
        ours(x, where=to_gpu(MASK))
    with pytest.raises(OverflowError):
        ours(x.astype(np.int32), initial=np.inf)


def test_initial_of_sums(ctx):
    a = HOST.astype(np.int16)
    same(gpuarray.sum(to_gpu(a), initial=10), a.sum(initial=10))
    same(np.prod(to_gpu(a % 3), axis=0, initial=2), np.prod(a % 3, axis=0, initial=2))
    out = GPUArray(4, np.int64)
    assert gpuarray.sum(to_gpu(a), axis=1, initial=10, out=out) is out
    same(out, a.sum(1, initial=10))


def test_where_on_a_stream(ctx):
    stream = drv.Stream()
    x, m = to_gpu(HOST.astype(np.float64)), to_gpu(MASK)
    results = [
        gpuarray.sum(x, stream=stream, where=m),
        gpuarray.mean(x, stream=stream, where=m),
        gpuarray.std(x, stream=stream, where=m),
    ]
    stream.synchronize()
    for got, name in zip(results, ("sum", "mean", "std"), strict=True):
        same(got, getattr(HOST.astype(np.float64), name)(where=MASK), exact=False)


def test_masks_that_do_not_fit(ctx):
    x = to_gpu(HOST)
    with pytest.raises(ValueError, match="broadcast"):
        gpuarray.sum(x, where=to_gpu(MASK[:, :3]))
    with pytest.raises(ValueError, match="broadcast"):
        gpuarray.sum(x[0], where=to_gpu(MASK))


# -- functions -------------------------------------------------------------------------

A = HOST
B = np.arange(12, dtype=np.int32).reshape(3, 1, 4)
C = (HOST + 1j * HOST[::-1]).astype(np.complex64)

#: Functions of a module and an array. NumPy defines the expected results.
FUNCTIONS = [
    lambda a: np.sum(a, axis=0),
    lambda a: np.ptp(a, axis=1),
    lambda a: np.ptp(a, axis=1, keepdims=True),
    lambda a: np.ptp(a, 0, keepdims=True),
    lambda a: np.argmin(a, axis=1),
    lambda a: np.cumsum(a, axis=1),
    lambda a: np.count_nonzero(a, axis=0),
    lambda a: np.dot(a[0], a[1]),
    lambda a: np.inner(a[0], a[1]),
    lambda a: np.vdot(a[0], a[1]),
    lambda a: np.outer(a[0], a[:, 1]),
    lambda a: np.where(a > 0, a, -a),
    lambda a: np.where(a > 0)[1],
    lambda a: np.concatenate([a, a], axis=1),
    lambda a: np.concatenate([a, a], axis=None),
    lambda a: np.stack([a, a], axis=1),
    lambda a: np.vstack([a, a[0]]),
    lambda a: np.hstack([a, a]),
    lambda a: np.hstack([a[0], a[1]]),
    lambda a: np.split(a, 2)[1],
    lambda a: np.array_split(a, 3, axis=1)[0],
    lambda a: np.array_split(a, [1, 3], axis=1)[1],
    lambda a: np.ravel(a.T),
    lambda a: np.reshape(a, (2, -1)),
    lambda a: np.reshape(a, (2, 10), order="F"),
    lambda a: np.reshape(a.T, (2, 10), order="F"),
    lambda a: np.reshape(a.T, (2, 10), order="A"),
    lambda a: np.ravel(a[:, ::2], order="F"),
    lambda a: np.transpose(a),
    lambda a: np.squeeze(a[:, None]),
    lambda a: np.squeeze(a[None, :, None], axis=0),
    lambda a: np.squeeze(a[..., None], axis=-1),
    lambda a: np.squeeze(a[None, ..., None], axis=(-1, 0)),
    lambda a: np.expand_dims(a, 1),
    lambda a: np.expand_dims(a, (0, -1)),
    lambda a: np.swapaxes(a, 0, 1),
    lambda a: np.moveaxis(a[None], 0, -1),
    lambda a: np.moveaxis(a[None], [0, 1], [2, 0]),
    lambda a: np.flip(a),
    lambda a: np.flip(a, 1),
    lambda a: np.flipud(a),
    lambda a: np.fliplr(a),
    lambda a: np.roll(a, 3),
    lambda a: np.roll(a, -1, axis=1),
    lambda a: np.roll(a, (1, 2), axis=(0, 1)),
    lambda a: np.broadcast_to(a, (2, 4, 5)),
    lambda a: np.atleast_1d(a[0, 0]),
    lambda a: np.atleast_2d(a[0]),
    lambda a: np.diff(a),
    lambda a: np.diff(a, n=2, axis=0),
    lambda a: np.take(a, [1, 0], axis=1),
    lambda a: np.take(a.T, [3, 1]),
    lambda a: np.nonzero(a)[0],
    lambda a: np.flatnonzero(a.T),
    lambda a: np.clip(a, -1, 2),
    lambda a: np.clip(a, None, 2),
    lambda a: np.round(a),
    lambda a: np.around(a, 1),
    lambda a: np.zeros_like(a),
    lambda a: np.full_like(a, 3),
    lambda a: np.copy(a),
    lambda a: np.isreal(a),
    lambda a: np.iscomplex(a),
    lambda a: np.isclose(a, a + 1e-7),
    lambda a: np.isclose(a, 1.0),
    lambda a: a.sum(axis=1),
    lambda a: a.prod(),
    lambda a: a.min(0),
    lambda a: a.max(axis=(0, 1), keepdims=True),
    lambda a: a.argmax(),
    lambda a: a.mean(axis=0),
    lambda a: a.var(ddof=1),
    lambda a: a.std(axis=1),
    lambda a: a.cumsum(),
    lambda a: a.cumprod(axis=1),
    lambda a: a.clip(0, 1),
    lambda a: a.round(1),
    lambda a: a.T.flatten(),
    lambda a: a.flatten(order="F"),
    lambda a: a.swapaxes(0, -1),
    lambda a: a.take([0, -1]),
    lambda a: a.nonzero()[1],
    lambda a: a[0].dot(a[1]),
    lambda a: a.squeeze(),
]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.array([1, 2, 250], "u1"), np.array([2, 1, 255], "u1")),
        (np.array([-120, 5], "i1"), np.array([-128, 120], "i1")),
        (np.array([True, False]), np.array([True, True])),
        (np.array([2**63 - 1, 1]), np.array([-(2**63), 1])),
        (np.array([250, 1], "u1"), 255),
        (np.array([250, 1], "u1"), np.uint8(255)),
        (np.array([250.0, 1.0], "f4"), 255),
        (np.array([1 + 1j, 9]), 1 + 2j),
    ],
)
@pytest.mark.parametrize("near", [{"rtol": 0.1}, {"atol": 2}, {"atol": 6}])
def test_isclose_of_integers(ctx, a, b, near):
    """Differences do not wrap around."""
    there = to_gpu(b) if isinstance(b, np.ndarray) else b
    same(np.isclose(to_gpu(a), there, **near), np.isclose(a, b, **near))
    assert np.allclose(to_gpu(a), there, **near) == np.allclose(a, b, **near)
    same(np.isclose(there, to_gpu(a), **near), np.isclose(b, a, **near))


def test_item_by_a_flat_index(ctx):
    x = to_gpu(A)
    for index in (0, 3, A.size - 1, -1, -A.size):
        assert x.item(index) == A.item(index)
    for index in (A.size, -A.size - 1):
        with pytest.raises(IndexError, match=f"{index} "):
            x.item(index)


@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_functions(ctx, number):
    function = FUNCTIONS[number]
    got = function(to_gpu(A))
    assert isinstance(got, GPUArray)
    same(got, function(A), exact=False, ulps=8)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.shape(a),
        lambda a: np.ndim(a),
        lambda a: np.size(a, 1),
        lambda a: np.iscomplexobj(a),
        lambda a: np.isrealobj(a),
        lambda a: np.result_type(a, np.float64),
        lambda a: np.allclose(a, a + 1e-9),
        lambda a: np.allclose(a, a + 1),
        lambda a: np.array_equal(a, a[::-1]),
        lambda a: np.may_share_memory(a, a[1:]),
        lambda a: np.may_share_memory(a[:1], a[1:]),
        lambda a: np.array_repr(a),
        lambda a: np.array_str(a),
        lambda a: np.array2string(a, precision=2),
        lambda a: a[0, 1].item(),
        lambda a: a.item(7),
        lambda a: a.item(1, 2),
        lambda a: a.tolist(),
    ],
)
def test_functions_that_give_no_array(ctx, function):
    for a in (A, C):
        assert function(to_gpu(a)) == function(a)


def test_functions_of_complex_numbers(ctx):
    for function in (np.round, np.real, np.imag, np.flip, np.iscomplex):
        same(function(to_gpu(C)), function(C))
    same(np.vdot(to_gpu(C[0]), to_gpu(C[1])), np.vdot(C[0], C[1]), exact=False)


def test_copyto(ctx):
    x, a = to_gpu(A), A.copy()
    np.copyto(x, 3)
    np.copyto(a, 3)
    same(x, a)
    np.copyto(x, to_gpu(A), where=to_gpu(MASK))
    np.copyto(a, A, where=MASK)
    same(x, a)
    with pytest.raises(TypeError, match="complex64.*float32"):
        np.copyto(x, to_gpu(C))


def test_errors_of_functions(ctx):
    x = to_gpu(A)
    for call in (
        lambda: np.squeeze(x, 0),
        lambda: np.expand_dims(x, 4),
        lambda: np.split(x, 3),
        lambda: np.broadcast_to(x, (2, 5)),
        lambda: np.moveaxis(x, [0, 1], [0]),
        lambda: np.swapaxes(x, 0, 2),
        lambda: x.item(),
        lambda: x.nonzero() and x[0, 0].nonzero(),
    ):
        with pytest.raises(ValueError):
            call()


def test_out_of_functions(ctx):
    x = to_gpu(A)
    out = GPUArray((4, 5), np.float32)
    assert np.cumsum(x, axis=1, out=out) is out
    same(out, np.cumsum(A, axis=1))
    assert np.clip(x, 0, 1, out=out) is out
    same(out, np.clip(A, 0, 1))
    with pytest.raises(ValueError, match=r"\(4, 5\).*\(5,\)"):
        np.cumsum(x, axis=1, out=GPUArray(5, np.float32))


def test_membership(ctx):
    x = to_gpu(B)
    assert 5 in x and 50 not in x and to_gpu(np.int32(7)) in x
    assert None not in x and "text" not in x
    assert 5.5 not in x and np.int64(11) in x
    assert 0 not in gpuarray.zeros(0, np.float32)


def test_astype_without_a_copy(ctx):
    x = to_gpu(HOST)
    assert x.astype(np.float32, copy=False) is x
    same(x.astype(np.float64, copy=False), HOST.astype(np.float64))
    for copied in (x.astype(np.float32), x.astype(np.float32, copy=True)):
        assert copied.ptr != x.ptr
        same(copied, HOST)
    with pytest.raises(TypeError):
        x.astype(np.float32, None, False)


def test_methods_that_serve_numpys_functions(ctx):
    x = to_gpu(B)
    assert int(np.sum(a=x).get()) == B.sum()
    assert int(np.max(a=x, axis=None).get()) == B.max()
    same(np.count_nonzero(x, 0, keepdims=True), np.count_nonzero(B, 0, keepdims=True))
    for function in (np.sum, np.mean, np.std, np.argmax):
        out = to_gpu(np.zeros((), np.float64 if function is not np.argmax else np.intp))
        with pytest.raises(TypeError, match=r"takes a GPUArray, not ndarray; copy it"):
            function(B, out=out)
    with pytest.raises(TypeError, match=r"numpy.sum of GPUArrays: .*'colour'"):
        x.__array_function__(np.sum, (type(x),), (x,), {"colour": 1})
