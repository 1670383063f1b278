"""Behaviours of the functions of pycuda.gpuarray and pycuda.cumath."""

import builtins

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import pycuda.compyte.array
import pycuda.driver as drv
import pycuda.elementwise
from package.behaviours import behaviour
from package.behaviours.array_type import F, host, pair
from pycuda import characterize, cumath, gpuarray
from support.arrays import same

NP_FUNCTIONS = {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}


# -- names of other modules ------------------------------------------------------------


@behaviour(
    "_ArrayFlags",
    "_as_strided",
    "_builtin_max",
    "_builtin_min",
    "_c_contiguous_strides",
    "_f_contiguous_strides",
    "_get_common_dtype_base",
    "drv",
    "elementwise",
    "has_double_support",
    "np",
)
def other_names(name):
    expected = {
        "_ArrayFlags": type(gpuarray.empty(1, F).flags),
        "_as_strided": as_strided,
        "_builtin_max": builtins.max,
        "_builtin_min": builtins.min,
        "_c_contiguous_strides": pycuda.compyte.array.c_contiguous_strides,
        "_f_contiguous_strides": pycuda.compyte.array.f_contiguous_strides,
        "_get_common_dtype_base": pycuda.compyte.array.get_common_dtype,
        "drv": drv,
        "elementwise": pycuda.elementwise,
        "has_double_support": characterize.has_double_support,
        "np": np,
    }
    assert getattr(gpuarray, name) is expected[name]
    if name == "has_double_support":
        assert gpuarray.has_double_support() is True


# -- helpers ---------------------------------------------------------------------------


@behaviour("_array_like_helper")
def array_like_helper(name):
    _, x = pair()
    assert gpuarray._array_like_helper(x, None, "C") == (F, "C", None)
    assert gpuarray._array_like_helper(x.T, np.int8, "A") == (np.int8, "F", None)
    dtype, _, strides = gpuarray._array_like_helper(x.T, np.float64, "K")
    assert dtype == np.float64 and strides == (8, 32)


@behaviour("_compact_strides")
def compact_strides(name):
    _, x = pair((3, 4))
    assert gpuarray._compact_strides(x[:, ::2]) == [8, 4]
    assert gpuarray._compact_strides(x[:, ::2].T) == [4, 8]


@behaviour("_get_broadcasted_binary_op_result")
def broadcasted_result(name):
    _, x = pair()
    get = gpuarray._get_broadcasted_binary_op_result
    got = get(x, gpuarray.zeros((), np.float64))
    assert got.shape == (3, 4) and got.dtype == np.float64
    assert get(x, x, lambda a, b: np.dtype(bool)).dtype == bool


@behaviour("_get_common_dtype")
def common_dtype(name):
    _, x = pair()
    get = gpuarray._get_common_dtype
    assert get(x, 2.5) == F and get(x, np.float64(2.5)) == np.float64
    assert get(gpuarray.zeros(1, np.int32), x) == np.float64
    assert get(x, gpuarray.zeros(1, np.complex128)) == np.complex128


@behaviour("_logical_op")
def logical_op(name):
    x = gpuarray.to_gpu(np.array([0, 1, 2], np.int32))
    y = gpuarray.to_gpu(np.array([0, 0, 1], np.int32))
    got = gpuarray._logical_op(x, y, None, None, "logical_and")
    same(got, np.array([False, False, True]))


@behaviour("_memcpy_discontig")
def memcpy_discontig(name):
    a, x = pair()
    gpuarray._memcpy_discontig(x[:, ::2], x[:, 1::2])
    a[:, ::2] = a[:, 1::2]
    same(x, a)
    got = np.zeros((3, 8), F)[:, ::2]
    gpuarray._memcpy_discontig(got, x)
    np.testing.assert_array_equal(got, a)
    gpuarray._memcpy_discontig(x[1:], host((2, 4)), async_=False, stream=None)
    same(x[1:], host((2, 4)))
    with pytest.raises(ValueError):
        gpuarray._memcpy_discontig(x, x[1:])
    with pytest.raises(TypeError):
        gpuarray._memcpy_discontig(x, x.astype(np.float64))


@behaviour("_splay_backend", "splay")
def splay(name):
    device = drv.Context.get_device()
    call = getattr(gpuarray, name)
    most = 32 * device.get_attribute(drv.device_attribute.MULTIPROCESSOR_COUNT)
    for n in (1, 100, 5000, 10**7):
        (bx, by), (tx, ty, tz) = call(n, device)
        assert by == ty == tz == 1 and tx % 32 == 0 and 32 <= tx <= 128
        assert 1 <= bx <= most
        if name == "splay":
            assert call(n) == call(n, dev=device)


# -- making arrays ---------------------------------------------------------------------


@behaviour("to_gpu", "to_gpu_async")
def to_gpu(name):
    a = host()
    call = getattr(gpuarray, name)
    for source in (a, np.asfortranarray(a), a[:, ::2], a[::-1], np.float64(3)):
        got = call(source, allocator=drv.mem_alloc)
        drv.Context.synchronize()
        same(got, source)
    assert call(np.asfortranarray(a)).strides == (4, 12)
    if name == "to_gpu_async":
        got = call(a, stream=drv.Stream())
        drv.Context.synchronize()
        same(got, a)
    with pytest.raises(TypeError):
        call([1, 2])


@behaviour("empty_like", "zeros_like", "ones_like")
def like(name):
    a, x = pair()
    call, theirs = getattr(gpuarray, name), getattr(np, name)
    for array, other in ((x, a), (x.T, a.T), (x[:, ::2], a[:, ::2])):
        for order in "CFAK":
            got = call(array, np.int16, order)
            expected = theirs(other, np.int16, order)
            assert (got.shape, got.dtype) == (expected.shape, expected.dtype)
            assert got.strides == expected.strides
            if name != "empty_like":
                same(got, expected)
    assert call(x).dtype == F


@behaviour("zeros", "ones")
def filled(name):
    call, theirs = getattr(gpuarray, name), getattr(np, name)
    same(call((2, 3)), theirs((2, 3)))
    same(call((2, 3), np.int8, drv.mem_alloc, "F"), theirs((2, 3), np.int8))
    assert call((2, 3), order="F").flags.f_contiguous
    same(call(0), theirs(0))


@behaviour("arange")
def arange(name):
    same(gpuarray.arange(5, dtype=F), np.arange(5, dtype=F))
    same(gpuarray.arange(1, 8, 3, np.dtype(np.int32)), np.arange(1, 8, 3, np.int32))
    same(gpuarray.arange(0, 1, 0.3, dtype=np.float64), np.arange(0, 1, 0.3))
    stream = drv.Stream()
    got = gpuarray.arange(5, dtype=F, allocator=drv.mem_alloc, stream=stream)
    stream.synchronize()
    same(got, np.arange(5, dtype=F))
    with pytest.warns(UserWarning):
        assert gpuarray.arange(3).dtype == np.arange(3).dtype


@behaviour("concatenate")
def concatenate(name):
    a, x = pair()
    for axis in (0, 1, -1):
        got = gpuarray.concatenate((x, x, x), axis, allocator=None)
        same(got, np.concatenate((a, a, a), axis))
    with pytest.raises(ValueError):
        gpuarray.concatenate([x, x[0]])


@behaviour("stack")
def stack(name):
    a, x = pair()
    for axis in (0, 1, -1):
        got = gpuarray.stack([x, x + 1], axis=axis, allocator=None)
        same(got, np.stack([a, a + 1], axis))
        assert got.flags.c_contiguous == (axis == 0)


# -- elements --------------------------------------------------------------------------


@behaviour("where", "if_positive")
def choice(name):
    a = np.array([-1, 0, 2, 0], F)
    x, then, other = gpuarray.to_gpu(a), *(gpuarray.zeros(4, F) + k for k in (1, 2))
    expected = np.where(a > 0 if name == "if_positive" else a, F(1), F(2))
    call = getattr(gpuarray, name)
    same(call(x, then, other), expected)
    out = gpuarray.zeros(4, F)
    assert call(x, then, other, out=out, stream=None) is out
    same(out, expected)


@behaviour("maximum", "minimum")
def extremes(name):
    a, x = pair()
    b, y = pair(start=5)
    call, theirs = getattr(gpuarray, name), getattr(np, name)
    same(call(x, y[::-1]), theirs(a, b[::-1]))
    same(call(x, 5), theirs(a, 5))
    same(call(5, x), theirs(5, a))
    out = gpuarray.empty_like(x)
    assert call(x, y, out=out, stream=None) is out
    same(out, theirs(a, b))


@behaviour("logical_and", "logical_or", "logical_not")
def logic(name):
    a, b = np.array([0, 1, 2, 0], F), np.array([0, 0, 3, 1], np.int32)
    x, y = gpuarray.to_gpu(a), gpuarray.to_gpu(b)
    call, theirs = getattr(gpuarray, name), getattr(np, name)
    out = gpuarray.empty(4, bool)
    if name == "logical_not":
        same(call(x), theirs(a))
        assert call(x, out, allocator=drv.mem_alloc) is out
        same(out, theirs(a))
        return
    same(call(x, y), theirs(a, b))
    same(call(x, 1), theirs(a, 1))
    assert call(0, y, out=out, allocator=None) is out
    same(out, theirs(0, b))
    assert call(1, 0).get() == theirs(1, 0)


@behaviour("reshape", "transpose")
def shapes(name):
    a, x = pair()
    if name == "reshape":
        same(gpuarray.reshape(x, 2, 6), a.reshape(2, 6))
        same(gpuarray.reshape(x, (6, 2), order="C"), a.reshape(6, 2))
    else:
        same(gpuarray.transpose(x), a.T)
        same(gpuarray.transpose(x, axes=(0, 1)), a)


@behaviour("take")
def take(name):
    a, x = pair((20,))
    index = np.array([3, 0, 19], np.int32)
    same(gpuarray.take(x, gpuarray.to_gpu(index)), a[index])
    out = gpuarray.empty(3, F)
    assert gpuarray.take(x, gpuarray.to_gpu(index), out=out, stream=None) is out
    same(out, a[index])
    with pytest.raises(IndexError):
        gpuarray.take(x, gpuarray.to_gpu(np.array([20]))).get()


@behaviour("multi_take", "multi_put", "multi_take_put")
def multi(name):
    hosts = [host((6,)), host((6,), start=50)]
    arrays = [gpuarray.to_gpu(h) for h in hosts]
    source, target = np.array([5, 0, 2], np.int32), np.array([1, 3, 0], np.int32)
    s, t = gpuarray.to_gpu(source), gpuarray.to_gpu(target)
    outs = [gpuarray.zeros(4, F) for _ in arrays]
    if name == "multi_take":
        for got, a in zip(gpuarray.multi_take(arrays, s), hosts, strict=True):
            same(got, a[source])
        few = [o[:3] for o in outs]
        assert gpuarray.multi_take(arrays, s, out=few, stream=None)[1] is few[1]
        same(outs[1][:3], hosts[1][source])
        return
    expected = np.zeros((2, 4), F)
    if name == "multi_put":
        got = gpuarray.multi_put([a[:3] for a in arrays], t, out=outs, stream=None)
        expected[:, target] = [a[:3] for a in hosts]
        assert gpuarray.multi_put([a[:3] for a in arrays], t, (4,))[0].shape == (4,)
    else:
        got = gpuarray.multi_take_put(arrays, t, s, out=outs, stream=None)
        expected[:, target] = [a[source] for a in hosts]
        moved = gpuarray.multi_take_put(
            arrays, t[:1], s[1:2], dest_shape=(4,), src_offsets=[1, 2]
        )
        assert [m.get()[1] for m in moved] == [hosts[0][1], hosts[1][2]]
    for one, wanted in zip(got, expected, strict=True):
        same(one, wanted)


# -- reductions ------------------------------------------------------------------------


@behaviour("any", "all")
def tests(name):
    call, theirs = getattr(gpuarray, name), getattr(np, name)
    for a in (np.array([0, 0, 1], F), np.zeros(3, np.int8), np.ones(3, bool)):
        got = call(gpuarray.to_gpu(a), stream=None, allocator=drv.mem_alloc)
        assert got.shape == () and got.dtype == bool
        assert got.get() == theirs(a)


@behaviour("sum", "dot", "max", "min")
def reductions(name):
    a, x = pair((5, 7))
    if name == "dot":
        same(gpuarray.dot(x, x), np.vdot(a, a))
        got = gpuarray.dot(x, x, np.float64, stream=drv.Stream(), allocator=None)
        drv.Context.synchronize()
        same(got, np.vdot(a, a).astype(np.float64))
        return
    same(getattr(gpuarray, name)(x), getattr(np, name)(a))
    got = getattr(gpuarray, name)(x, stream=drv.Stream())
    drv.Context.synchronize()
    same(got, getattr(np, name)(a))
    if name == "sum":
        same(gpuarray.sum(x, np.float64, None, None), a.sum(dtype=np.float64))
        small = np.full(300, 100, np.int8)
        same(gpuarray.sum(gpuarray.to_gpu(small)), small.sum())


@behaviour("subset_sum", "subset_dot", "subset_min", "subset_max")
def subsets(name):
    a, x = pair((20,))
    b, y = pair((20,), start=3)
    index = np.array([4, 0, 19, 4], np.int32)
    s = gpuarray.to_gpu(index)
    call = getattr(gpuarray, name)
    taken = a[index]
    if name == "subset_dot":
        same(call(s, x, y), taken.dot(b[index]))
        same(call(s, x, y, np.float64, None, None), taken.astype(float).dot(b[index]))
        return
    same(call(s, x), getattr(taken, name[7:])())
    got = call(s, x, stream=drv.Stream())
    drv.Context.synchronize()
    same(got, getattr(taken, name[7:])())
    if name == "subset_sum":
        same(call(s, x, np.float64), taken.sum(dtype=np.float64))


# -- vector types ----------------------------------------------------------------------

SCALARS = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16}
SCALARS |= {"int": np.int32, "uint": np.uint32, "long": np.int64, "ulong": np.uint64}
SCALARS |= {"longlong": np.int64, "ulonglong": np.uint64}
SCALARS |= {"float": np.float32, "double": np.float64}
VECTORS = [
    f"{base}{count}"
    for base in SCALARS
    for count in range(1, 3 if base in ("longlong", "ulonglong", "double") else 5)
]


@behaviour("vec")
def vec(name):
    assert all(hasattr(gpuarray.vec, vector) for vector in VECTORS)


@behaviour(*(f"vec.{vector}" for vector in VECTORS))
def vector_dtypes(name):
    dtype, count = getattr(gpuarray.vec, name), int(name[-1])
    assert dtype.names == tuple("xyzw"[:count])
    assert all(dtype[field] == SCALARS[name[:-1]] for field in dtype.names)
    assert dtype.itemsize == count * dtype["x"].itemsize
    x = gpuarray.zeros(2, dtype)
    assert x.get().tolist() == [(0,) * count] * 2


@behaviour(*(f"vec.make_{vector}" for vector in VECTORS))
def vector_makers(name):
    make, count = getattr(gpuarray.vec, name), int(name[-1])
    numbers = (7, 8, 9, 10)[:count]
    value = make(*numbers)
    assert value.shape == () and value.dtype == getattr(gpuarray.vec, name[5:])
    assert value.item() == numbers
    assert make(**dict(zip("xyzw", numbers, strict=False))).item() == numbers
    for wrong in ((), (1,) * (count + 1)):
        with pytest.raises(TypeError):
            make(*wrong)


# -- pycuda.cumath ---------------------------------------------------------------------

UNARY = ["acos", "asin", "atan", "ceil", "cos", "cosh", "exp", "fabs", "floor", "log"]
UNARY += ["log10", "sin", "sinh", "sqrt", "tan", "tanh"]


@behaviour(*UNARY, of="pycuda.cumath")
def functions(name):
    call, theirs = getattr(cumath, name), getattr(np, NP_FUNCTIONS.get(name, name))
    for dtype in (F, np.float64):
        a = (np.arange(1, 31) / 32).astype(dtype)
        x = gpuarray.to_gpu(a)
        same(call(x), theirs(a), exact=False)
        out = gpuarray.empty_like(x)
        stream = drv.Stream()
        assert call(x, out=out, stream=stream) is out
        stream.synchronize()
        same(out, theirs(a), exact=False)
    with pytest.raises(AssertionError):
        call(x, out=gpuarray.empty(30, F))
    with pytest.warns(DeprecationWarning):
        assert call(x, out) is not out


@behaviour("fmod", "frexp", "ldexp", "modf", of="pycuda.cumath")
def numbers_and_parts(name):
    a = np.array([-5.5, 0, 0.75, 9.25], F)
    x = gpuarray.to_gpu(a)
    call = getattr(cumath, name)
    if name == "fmod":
        same(
            call(x, gpuarray.to_gpu(F([2, 3, 0.5, 4])), stream=None),
            np.fmod(a, F([2, 3, 0.5, 4])),
        )
        return
    if name == "ldexp":
        same(
            call(x, gpuarray.to_gpu(F([1, 2, 3, -1.9])), stream=None),
            np.ldexp(a, [1, 2, 3, -1]),
        )
        return
    first, second = call(x, stream=None)
    one, two = getattr(np, name)(a)
    same(first, one)
    same(second, two.astype(F))
