"""In common expressions and statements, a GPUArray behaves like a NumPy array.

The deliberate differences are at the end.
"""

import copy
import math
import operator
import pickle

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import sample

pytestmark = [pytest.mark.gpu, pytest.mark.filterwarnings("ignore")]

NAMES = {"np": np, "math": math, "operator": operator, "copy": copy, "pickle": pickle}

#: Expressions of an array ``a`` of 4 x 6 floats.
EXPRESSIONS = [
    "a[::-1]",
    "a[:, ::-2]",
    "a[..., None]",
    "a[None]",
    "a[np.newaxis, 1]",
    "a[..., -1]",
    "a[-1, -1]",
    "a[3:1]",
    "a[1:100]",
    "a[::-1, ::-1]",
    "a.T[::2]",
    "a + a.T.T",
    "a + a[0]",
    "a[:, :1] + a[0]",
    "a - 1",
    "1 - a",
    "-a",
    "-a",
    "abs(a)",
    "a ** 2",
    "2 ** a",
    "a ** 0.5",
    "a // 3",
    "a % 3",
    "-a // 3",
    "-a % 3",
    "divmod(a, 5)",
    "a / 0",
    "a == 3",
    "a != a[0]",
    "a > 5",
    "(a > 5) & (a < 10)",
    "(a > 5) | (a < 3)",
    "~(a > 5)",
    "(a > 5) ^ (a > 7)",
    "a.astype(int) << 2",
    "a.astype(int) >> 1",
    "a.astype('f2') * 2",
    "a.astype('f2') + a",
    "a.astype(bool)",
    "a.astype(bool) | a.astype(bool)",
    "a.astype(bool) * a.astype(bool)",
    "a.astype(bool) * 2",
    "a.astype(complex) * 1j",
    "a.astype('c8').real",
    "a.astype('c8').imag",
    "a.astype('c8').conj()",
    "abs(a.astype('c8') * 1j)",
    "a * np.float64(2)",
    "np.float64(2) * a",
    "np.float32(2) * a",
    "a * np.array(2.0)",
    "a * True",
    "a + np.int64(1)",
    "a + 2**40",
    "a.astype('i1') + 1",
    "a[a > 5]",
    "a[[0, 2]]",
    "a[[0, 2], [1, 3]]",
    "a[:, [1, 0]]",
    "a[np.array([True, False, True, False])]",
    "a[a > 1000]",
    "a[[]]",
    "len(a)",
    "a.ndim, a.shape, a.size, a.dtype, a.nbytes, a.itemsize, a.strides",
    "repr(a)",
    "str(a)",
    'f"{a}"',
    'f"{a[0, 1]:.3f}"',
    "float(a[0, 1])",
    "int(a[0, 1])",
    "bool(a[0, 1])",
    "complex(a[0, 1])",
    "a[0, 1].item()",
    "a.tolist()",
    "5 in a",
    "99 in a",
    "list(map(float, a[0]))",
    "[r.sum().item() for r in a]",
    "max(map(float, a[0]))",
    "sum(a)",
    "sorted(map(float, a[0]))",
    "a.sum()",
    "a.sum(axis=0)",
    "a.sum(1)",
    "a.sum(axis=(0, 1))",
    "a.sum(axis=-1, keepdims=True)",
    "a.mean()",
    "a.std(axis=0)",
    "a.var(axis=1)",
    "a.min(), a.max()",
    "a.argmin(), a.argmax(axis=1)",
    "a.any(), a.all()",
    "a.cumsum()",
    "a.cumsum(axis=0)",
    "a.prod(axis=0)",
    "np.sum(a)",
    "np.mean(a, axis=0)",
    "np.max(a)",
    "np.sqrt(a)",
    "np.sin(a)",
    "np.exp(-a)",
    "np.maximum(a, 5)",
    "np.where(a > 5, a, 0)",
    "np.clip(a, 2, 5)",
    "np.concatenate([a, a])",
    "np.stack([a, a])",
    "np.dot(a[0], a[0])",
    "a.reshape(-1)",
    "a.reshape(2, 12)",
    "a.reshape((3, 8))",
    "a.ravel()",
    "a.flatten()",
    "a.T.flatten()",
    "a.transpose(1, 0)",
    "a.T.copy()",
    "a.copy()",
    "a.squeeze()",
    "a[None].squeeze()",
    "copy.copy(a)",
    "copy.deepcopy(a)",
    "pickle.loads(pickle.dumps(a))",
    "np.zeros_like(a)",
    "np.ones_like(a, dtype=int)",
    "np.full_like(a, 7)",
    "np.isnan(a / a)",
    "np.isfinite(a)",
    "a.view('i4')",
    "a.view(np.uint8).shape",
    "a.round(1)",
    "np.ndim(a), np.shape(a), np.size(a)",
    "a.real is a",
    "a.imag",
    "np.arange(3)[a[0, 2].astype(int).item()]",
    "[10, 20, 30][a[0, 1].astype(int)]",
    "a.T.strides",
    "a[:, 1].strides",
    "np.result_type(a, 1.5)",
    "a.flags.c_contiguous, a.T.flags.f_contiguous",
    "np.array_equal(a, a)",
    "np.allclose(a, a + 1e-9)",
    "np.add.reduce(a)",
    "np.multiply.outer(a[0], a[0])",
    "a[0].tolist()",
    "a.base is None",
    "a[1:].base is a",
    "a.swapaxes(0, 1)",
    "hash(a)",
    'a + "x"',
    "a + None",
    "a[10]",
    "a[0, 0, 0]",
    "a + a[:, :3]",
    "a.reshape(5, 5)",
    "a[1.5]",
    "a['x']",
    "bool(a)",
    "float(a)",
    "int(a)",
    "a.astype('f8').dtype",
    'a < "x"',
    "a[0][0]",
    "a[-1][::-1]",
    "a.nonzero()",
    "a.take([0, 5])",
    "a.sum(dtype='f8')",
    "a.astype('i1').sum()",
    "a.astype('u1').prod(axis=1)",
    "a.mean(dtype='f8')",
    "-(a.astype('u1'))",
    "a.astype('u1') - 5",
    "round(a)",
    "np.round(a / 3, 2)",
    '"%s" % a[0, 0]',
    '"%.2f" % a[0, 1]',
    '"%d" % a[0, 1]',
    "math.floor(a[0, 1])",
    "operator.index(a[0, 1].astype(int))",
    "range(a[0, 3].astype(int))",
    "a[a[0, 1].astype(int)]",
    "a.__len__()",
    "a.mean(axis=None, keepdims=True)",
    "np.add(a, a, out=a)",
    "np.hypot(a, a)",
    "np.arctan2(a, a)",
    "np.logaddexp(a, a)",
    "np.sign(a - 3)",
    "np.floor_divide(a, 2)",
    "np.power(a, 2)",
    "np.square(a)",
    "np.isclose(a, a)",
    "np.count_nonzero(a)",
    "np.cumprod(a[0] + 1)",
    "np.diff(a)",
    "np.flip(a)",
    "np.roll(a, 1)",
    "np.vstack([a, a])",
    "np.split(a, 2)",
    "np.expand_dims(a, 0)",
    "np.broadcast_to(a[0], (2, 6))",
    "np.empty_like(a).shape",
]

#: Expressions that are also tested with other dtypes, scalars and empty arrays.
OF_ALL = [
    "a + a",
    "a * 2",
    "a == a",
    "a != 0",
    "a.T",
    "a[...]",
    "a[None]",
    "a.sum()",
    "a.any()",
    "a.copy()",
    "a.astype(bool)",
    "a.astype('c16')",
    "a.reshape(-1)",
    "a.flatten()",
    "abs(a)",
    "-a",
    "a.tolist()",
    "repr(a)",
    "str(a)",
    "f'{a}'",
    "a.size, a.ndim, a.shape",
    "np.where(a, a, a)",
    "np.isfinite(a)",
    "np.concatenate([np.atleast_1d(a)] * 2)",
    "pickle.loads(pickle.dumps(a))",
    "copy.deepcopy(a)",
    "1 in a",
    "a.mean()",
    "np.square(a)",
    "np.conjugate(a)",
    "a.real",
    "a[a == a]",
    "np.array_equal(a, a)",
]


def answer(expression, a):
    """Return (class of the error or None, value)."""
    try:
        return None, eval(expression, dict(NAMES), {"a": a})
    except Exception as error:  # the test compares the class
        return type(error), str(error)


def plain(value):
    if isinstance(value, GPUArray):
        return value.get()
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    return value


def alike(ours, theirs):
    ours = plain(ours)
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            alike(one, other)
    elif isinstance(theirs, (np.ndarray, np.generic)):
        ours = np.asarray(ours)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        rough = 1e-2 if theirs.dtype == np.float16 else 1e-5
        np.testing.assert_allclose(ours, theirs, rtol=rough, atol=1e-6)
    else:
        assert ours == theirs


#: These treat a bool array as an array of numbers.
COUNTING = ["a + a", "-a", "np.square(a)", "np.conjugate(a)"]


def compare(expression, host):
    like = host
    if host.dtype == bool and expression in COUNTING:
        like = host.astype(np.int64)
    theirs, expected = answer(expression, like.copy())
    ours, got = answer(expression, to_gpu(host))
    if theirs is None:
        assert ours is None, got
        alike(got, expected)
    else:
        assert ours is not None, f"numpy: {theirs.__name__}: {expected}"
        known = {ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError}
        wanted = [kind for kind in known if issubclass(theirs, kind)]
        assert any(issubclass(ours, kind) for kind in wanted), (ours, got)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_expressions(ctx, expression):
    compare(expression, np.arange(24, dtype=np.float32).reshape(4, 6))


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (3,), (2, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "bool", "complex64", "int8", "uint64"])
def test_expressions_of_other_arrays(ctx, dtype, shape):
    host = np.array(sample(dtype, shape))
    for expression in OF_ALL:
        if expression in ("a.mean()",) and host.size == 0:
            continue  # NumPy warns and returns nan, as GPUArray does
        compare(expression, host)


@pytest.mark.parametrize("order", ["C", "F"])
def test_expressions_of_views(ctx, order):
    wide = np.array(np.arange(120, dtype=np.float64).reshape(4, 5, 6), order=order)
    for cut in (np.s_[:, ::2], np.s_[::-1, 1], np.s_[..., 3], np.s_[1:, :, ::-2]):
        for expression in ("a + 1", "a * a", "a.sum(axis=0)", "a[::-1]", "a.copy()"):
            expected = eval(expression, {}, {"a": wide[cut]})
            alike(eval(expression, {}, {"a": to_gpu(wide)[cut]}), expected)


# -- statements ------------------------------------------------------------------------

STATEMENTS = [
    "a[1:] += a[:-1]",
    "a[:-1] += a[1:]",
    "a += a[::-1]",
    "a[:] = a[::-1]",
    "a[:, 1:] = a[:, :-1]",
    "a[::2] -= a[1::2]",
    "a *= a[0]",
    "a //= 2",
    "a %= 3",
    "a **= 2",
    "a /= 4",
    "a[1] = a[0]",
    "a[0], a[1] = a[1].copy(), a[0].copy()",
    "a[None, ..., :2] = 5",
    "a[1, 2] = np.float64(3)",
    "a[-1, ::-1] = [1, 2, 3, 4, 5, 6]",
    "a[:, 0] = [1, 2, 3, 4]",
    "a[[0, 2]] += 1",
    "a[[0, 0]] += 1",
    "a[a > 5] *= 2",
    "a[a > 5] = a[a > 5] + 1",
    "a[a > 100] = 1",
    "a[:, [1, 0]] = a[:, [0, 1]]",
    "a[...] = True",
    "a[1:1] = 7",
    "a[2] = np.arange(6)",
    "a.T[0] = 9",
    "a.T[...] = a.T[::-1].copy()",
    "a.fill(3)",
    "b = a; b += 1",
    "b = a[1]; b *= 2",
    "b = a.reshape(-1); b[3] = 100",
    "np.add(a, a, out=a)",
    "np.negative(a, out=a[::-1])",
    "np.copyto(a, 7)",
]


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "complex64"])
def test_statements(ctx, statement, dtype):
    host = np.arange(24).reshape(4, 6).astype(dtype)
    a = to_gpu(host)
    try:
        exec(statement, dict(NAMES), {"a": host})
        failed = None
    except TypeError as error:  # NumPy's own of a dtype
        failed = error
    if failed is not None:
        with pytest.raises(TypeError):
            exec(statement, dict(NAMES), {"a": a})
        return
    exec(statement, dict(NAMES), {"a": a})
    alike(a, host)


def test_statements_of_bits(ctx):
    for dtype in ("bool", "int16"):
        host = sample(dtype, (4, 6))
        a = to_gpu(host)
        for change in (operator.ior, operator.iand, operator.ixor):
            change(host, host[::-1].copy())
            change(a, a[::-1])
            alike(a, host)


# -- other things that programs do -----------------------------------------------------


def test_large_arrays_are_printed_in_part(ctx):
    host = np.arange(5000.0)
    assert str(to_gpu(host)) == str(host) and "..." in str(host)
    assert repr(to_gpu(host)) == repr(host)


def test_a_subclass(ctx):
    class Named(GPUArray):
        name = "none"

        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.name = "made"

        def double(self):
            return self * 2

    x = Named((3,), np.float32)
    x[...] = [1, 2, 3]
    assert x.name == "made" and type(x.double()) is Named
    assert x.double().tolist() == [2, 4, 6] and (x + x).name == "made"
    again = pickle.loads(pickle.dumps(gpuarray.arange(3, dtype=np.float32)))
    assert again.tolist() == [0, 1, 2]
    assert np.sum(x).item() == 6 and np.sin(x).shape == (3,)


def test_arguments_and_unpacking(ctx):
    a, b, c = to_gpu(np.arange(6.0).reshape(3, 2))
    assert (a.tolist(), b.tolist(), c.tolist()) == ([0, 1], [2, 3], [4, 5])
    assert [*map(float, to_gpu(np.arange(3.0)))] == [0, 1, 2]
    assert dict(zip("ab", to_gpu(np.arange(2)), strict=True))["b"].item() == 1
    assert [i for i, _ in enumerate(to_gpu(np.arange(3)))] == [0, 1, 2]
    assert list(reversed(to_gpu(np.arange(3))))[0].item() == 2


# -- what differs on purpose -----------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("np.asarray(a)", r"\.get\(\)"),
        ("np.array(a)", r"\.get\(\)"),
        ("np.mean([a, a])", r"\.get\(\)"),
        ("a + np.ones(6)", "to_gpu"),
        ("np.ones(6) + a", "to_gpu"),
        ("np.polydiv(a, a)", "numpy.polydiv"),
        ("np.roots(a)", "numpy.roots"),
        ("np.matmul(a, np.ones((6, 4)))", "matmul"),
        ("np.einsum('ij,jk', a, np.ones((6, 4)))", "einsum"),
        ("np.poly(a)", "numpy.poly"),
        ("a + [1] * 6", "list"),
        ("a @ 'text'", "@"),
        ("hash(a)", "hash"),
    ],
)
def test_what_is_refused_says_why(ctx, expression, text):
    with pytest.raises(TypeError, match=text):
        eval(expression, dict(NAMES), {"a": gpuarray.zeros((4, 6), np.float32)})


def test_what_differs(ctx):
    host = np.arange(6.0).reshape(2, 3)
    a = to_gpu(host)
    assert (a == None) is False and (a != None) is True  # noqa: E711
    assert (a == "text") is False
    assert isinstance(a[0, 0], GPUArray)  # without a copy to the host
    assert a.fill(3) is a
    assert to_gpu(host).T.ravel().tolist() == host.ravel().tolist()  # as it lies
