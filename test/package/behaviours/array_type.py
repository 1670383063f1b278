"""Behaviours of the attributes and methods of GPUArray."""

import operator
import warnings

import numpy as np
import pytest

import pycuda.driver as drv
from package.behaviours import behaviour
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from support.arrays import same

F = np.float32


def row(*names):
    return behaviour(*(f"GPUArray.{name}" for name in names))


def host(shape=(3, 4), dtype=F, start=1):
    """Return an array of different numbers."""
    return np.arange(start, start + int(np.prod(shape)), dtype=dtype).reshape(shape)


def pair(shape=(3, 4), dtype=F, start=1):
    """Return (numpy array, the same on the device)."""
    a = host(shape, dtype, start)
    return a, gpuarray.to_gpu(a)


# -- construction and attributes -------------------------------------------------------


@behaviour("GPUArray", "empty")
def construction(name):
    make = getattr(gpuarray, name)
    x = make((2, 3), F)
    assert isinstance(x, gpuarray.GPUArray)
    assert (x.shape, x.dtype, x.strides, x.base) == ((2, 3), F, (12, 4), None)
    y = make((2, 3), F, drv.mem_alloc, x, x.gpudata, (4, 8), "F")
    assert y.base is x and y.strides == (4, 8) and y.flags.f_contiguous
    for shape in (6, np.int64(6), [6], np.array([6]), (6,)):
        assert make(shape, F).shape == (6,)
    assert make(0, F).gpudata is None
    with pytest.raises(ValueError):
        make(3, F, order="A")
    with pytest.raises(AssertionError):
        make(3, F, base=x)


@row("__array_priority__")
def array_priority(name):
    assert gpuarray.GPUArray.__array_priority__ == 100
    a, x = pair()
    same(F(2) * x, F(2) * a)


@row("__cuda_array_interface__")
def cuda_array_interface(name):
    _, x = pair()
    seen = x.T.__cuda_array_interface__
    assert seen["shape"] == (4, 3) and seen["strides"] == (4, 16)
    assert seen["data"] == (x.ptr, False) and seen["typestr"] == "<f4"
    assert seen["version"] == 3 and seen["stream"] is None
    assert gpuarray.empty(0, F).__cuda_array_interface__["data"] == (0, False)


@row("ndim")
def ndim(name):
    assert [gpuarray.empty(s, F).ndim for s in ((), 3, (2, 3))] == [0, 1, 2]


@row("flags")
def flags(name):
    _, x = pair()
    got = [(v.flags.c_contiguous, v.flags.f_contiguous) for v in (x, x.T, x[:, ::2])]
    assert got == [(True, False), (False, True), (False, False)]
    assert x.flags.forc and x.T.flags.forc and not x[:, ::2].flags.forc


@row("shape", "strides", "dtype", "size", "mem_size", "nbytes")
def assignable(name):
    x = gpuarray.zeros((2, 6), F)
    values = {
        "shape": ((2, 6), (3, 4)),
        "strides": ((24, 4), (4, 8)),
        "dtype": (np.dtype(F), np.dtype(np.int32)),
        "size": (12, 7),
        "mem_size": (12, 7),
        "nbytes": (48, 7),
    }
    before, after = values[name]
    assert getattr(x, name) == before and type(getattr(x, name)) is type(before)
    setattr(x, name, after)
    assert getattr(x, name) == after


@row("itemsize")
def itemsize(name):
    assert gpuarray.empty(3, np.complex128).itemsize == 16


@row("allocator")
def allocator(name):
    asked = []

    def allocate(size):
        asked.append(size)
        return drv.mem_alloc(size)

    x = gpuarray.empty(4, F)
    assert x.allocator is drv.mem_alloc
    x.allocator = allocate
    assert (x + 1)[1:].allocator is allocate and asked == [16]


@row("gpudata")
def gpudata(name):
    _, x = pair()
    assert isinstance(x.gpudata, drv.DeviceAllocation)
    assert x[1:].gpudata == int(x.gpudata) + 16 and type(x[1:].gpudata) is int
    assert x.T.gpudata is x.gpudata
    a, y = pair(start=100)
    x.gpudata = y.gpudata
    same(x, a)


@row("base")
def base(name):
    _, x = pair()
    assert x.base is None and x[1:].base is x
    assert x.T.base is x and x[1:].T.base is x
    view = x[1:]
    view.base = None
    assert view.base is None


@row("ptr")
def ptr(name):
    _, x = pair()
    assert x.ptr == int(x.gpudata) and x[0, 1:].ptr == x.ptr + 4
    with pytest.raises(AttributeError):
        gpuarray.empty(0, F).ptr  # noqa: B018


@row("_grid", "_block")
def grid_and_block(name):
    for size in (1, 100, 10_000):
        x = gpuarray.empty(size, F)
        assert (x._grid, x._block) == gpuarray.splay(size)
        assert getattr(x, name) == gpuarray.splay(size)[name == "_block"]


@row("T")
def t(name):
    a, x = pair((2, 3, 4))
    same(x.T, a.T)
    assert x.T.ptr == x.ptr


@row("real", "imag")
def parts(name):
    a = np.array([[1 + 2j, 3], [-1j, 5]], np.complex64, order="F")
    x = gpuarray.to_gpu(a)
    same(getattr(x, name), getattr(a, name))
    assert getattr(x, name).strides == (4, 8)
    b, y = pair()
    same(getattr(y, name), getattr(b, name))
    assert (y.real is y) and y.imag is not y


# -- moving ----------------------------------------------------------------------------


@row("set", "set_async")
def setting(name):
    a, x = pair()
    assert getattr(x, name)(a + 1, stream=drv.Stream()) is None
    drv.Context.synchronize()
    same(x, a + 1)
    getattr(x, name)(gpuarray.to_gpu(a))
    same(x, a)
    if name == "set":
        x.set(a * 2, async_=True, stream=None)
        drv.Context.synchronize()
        same(x, a * 2)
    with pytest.raises(ValueError):
        getattr(x, name)(a[:2])
    with pytest.raises(ValueError):
        getattr(x, name)(a.astype(np.float64))
    with pytest.warns(UserWarning):
        getattr(x, name)(a.ravel())
    drv.Context.synchronize()
    same(x, a)
    x.set(np.asfortranarray(a))  # by index, not by address
    same(x, a)


@row("get", "get_async")
def getting(name):
    a, x = pair()
    call = getattr(x, name)
    stream = drv.Stream()
    got = call(stream=stream) if name == "get" else call(stream)
    stream.synchronize()
    np.testing.assert_array_equal(got, a)
    assert got.flags.writeable
    into = np.zeros_like(a)
    assert call(ary=into) is into
    drv.Context.synchronize()
    np.testing.assert_array_equal(into, a)
    assert getattr(x.T, name)().flags.f_contiguous
    with pytest.raises(ValueError):
        call(ary=np.zeros(5, F))
    with pytest.raises(TypeError):
        call(ary=np.zeros((3, 4)))
    with pytest.warns(DeprecationWarning):
        call(ary=np.zeros(12, F))
    if name == "get":
        assert isinstance(x.get(pagelocked=True).base, drv.PagelockedHostAllocation)


@row("copy")
def copy(name):
    a, x = pair()
    for view, expected in ((x, a), (x.T, a.T), (x[:, ::2], a[:, ::2])):
        got = view.copy()
        same(got, expected)
        assert got.ptr != view.ptr and got.flags.forc
    assert x.T.copy().strides == x.T.strides


@row("astype")
def astype(name):
    a, x = pair()
    same(x.astype(np.int16), a.astype(np.int16))
    same(x.T.astype(np.float64, stream=drv.Stream()), a.T.astype(np.float64))
    again = x.astype(F)
    same(again, a)
    assert again.ptr != x.ptr


@row("fill")
def fill(name):
    x = gpuarray.empty((3, 4), F)
    assert x.fill(7) is x
    same(x, np.full((3, 4), 7, F))
    x.fill(np.array(2, F), stream=drv.Stream())
    drv.Context.synchronize()
    x[:, ::2].fill(0)
    assert x.get().sum() == 12


@row("reverse")
def reverse(name):
    a, x = pair()
    same(x.reverse(), a[::-1, ::-1])
    same(x.reverse(stream=drv.Stream()), a[::-1, ::-1])
    same(x.T.reverse(), a.T[::-1, ::-1])


# -- text, truth, length ---------------------------------------------------------------


@row("__str__", "__repr__")
def texts(name):
    a, x = pair()
    render = {"__str__": str, "__repr__": repr}[name]
    assert render(x) == render(a)


@row("__hash__")
def hashing(name):
    with pytest.raises(TypeError):
        hash(gpuarray.empty(3, F))


@row("__bool__")
def truth(name):
    assert bool(gpuarray.full((1, 1), 2.0)) is True
    assert bool(gpuarray.zeros((), F)) is False
    for size in (0, 2):
        with pytest.raises(ValueError):
            bool(gpuarray.zeros(size, F))


@row("__len__")
def length(name):
    assert len(gpuarray.empty((3, 4), F)) == 3
    with pytest.raises(TypeError):
        len(gpuarray.empty((), F))


# -- arithmetic ------------------------------------------------------------------------


@row("_axpbyz", "_axpbz", "_elwise_multiply", "_rdiv_scalar", "_div")
def into_out(name):
    a, x = pair()
    b, y = pair(start=5)
    arguments, expected = {
        "_axpbyz": ((2, y, 3), 2 * a + 3 * b),
        "_axpbz": ((2, 3), 2 * a + 3),
        "_elwise_multiply": ((y,), a * b),
        "_rdiv_scalar": ((2,), 2 / a),
        "_div": ((y,), a / b),
    }[name]
    for stream in (None, drv.Stream()):
        out = gpuarray.zeros((3, 4), F)
        assert getattr(x, name)(*arguments, out, stream=stream) is out
        drv.Context.synchronize()
        same(out, expected.astype(F), exact=False)


@row("_new_like_me")
def new_like_me(name):
    _, x = pair()
    assert x.T._new_like_me().strides == x.T.strides
    assert x.T._new_like_me(np.float64).strides == (24, 8)
    assert x._new_like_me(dtype=np.int8, order="F").strides == (1, 3)

    class Own(gpuarray.GPUArray):
        pass

    assert type(Own((2,), F)._new_like_me()) is Own


@row("mul_add")
def mul_add(name):
    a, x = pair()
    b, y = pair(start=5)
    same(x.mul_add(2, y, 3), 2 * a + 3 * b)
    out = gpuarray.empty_like(x)
    assert x.mul_add(selffac=1, other=y, otherfac=-1, out=out, stream=None) is out
    same(out, a - b)


OPERATORS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "truediv": operator.truediv,
    "pow": operator.pow,
}


@row("__add__", "__sub__", "__mul__", "__truediv__", "__pow__", "__div__")
def operators(name):
    function = OPERATORS[name.strip("_")]
    ours = function
    if name == "__div__":  # the name in Python 2, which Python 3 never calls

        def ours(one, other):
            return one.__div__(other)

    a, x = pair()
    b, y = pair(start=2)
    exact = name != "__pow__"
    same(ours(x, y / 16), function(a, b / 16), exact=False)
    same(ours(x, 2), function(a, 2), exact)
    expected = function(a, np.full_like(a, 0.5, np.float64))
    same(ours(x, np.float64(0.5)), expected, False)
    same(ours(x, gpuarray.to_gpu(F(2))), function(a, F(2)), exact)
    same(ours(x, gpuarray.to_gpu(b[0])), function(a, b[0]), False)
    integers = gpuarray.to_gpu(np.array([5, 7, 9], np.int32))
    same(ours(integers, 2), function(integers.get(), 2))
    with pytest.raises(ValueError):
        ours(x, gpuarray.zeros(5, F))


@row(
    "__radd__",
    "__rsub__",
    "__rmul__",
    "__rdiv__",
    "__rtruediv__",
    "__rpow__",
)
def reflected(name):
    function = OPERATORS[name.strip("_")[1:]]
    a, x = pair()
    if name == "__rdiv__":
        same(x.__rdiv__(3), 3 / a)
        return
    same(function(3, x), function(3, a), exact=name != "__rpow__")
    same(function(F(2), x), function(F(2), a), exact=name != "__rpow__")
    unsigned = np.array([1, 2, 3], np.uint8)
    if name != "__rpow__":
        same(function(3, gpuarray.to_gpu(unsigned)), function(3, unsigned))


@row(
    "__iadd__",
    "__isub__",
    "__imul__",
    "__idiv__",
    "__itruediv__",
    "__ipow__",
)
def in_place(name):
    function = OPERATORS[name.strip("_")[1:]]
    change = getattr(operator, name, None) or (lambda x, y: x.__idiv__(y))
    a, x = pair()
    b, y = pair(start=2)
    before = x
    x = change(x, 2)
    assert x is before and x.dtype == F
    same(x, function(a, 2), exact=False)
    x = change(x, y / 16)
    same(x, function(function(a, 2), b / 16), exact=False)
    with pytest.raises(TypeError):  # the result is of a wider kind
        change(gpuarray.zeros(3, np.int32), 0.5)
    if name == "__itruediv__":
        assert operator.itruediv(y, 1) is y


@row("__pos__")
def positive(name):
    _, x = pair()
    assert +x is x


@row("__neg__")
def negative(name):
    for dtype in (F, np.uint8, np.complex64):
        a, x = pair(dtype=dtype)
        same(-x, -a)


@row("__abs__")
def absolute(name):
    a = np.array([3 + 4j, -5], np.complex64)
    same(abs(gpuarray.to_gpu(a)), abs(a))
    assert abs(gpuarray.to_gpu(a)).dtype == F
    same(abs(gpuarray.to_gpu(np.array([-2, 3], np.int8))), np.array([2, 3], np.int8))


@row("_pow")
def power(name):
    a, x = pair()
    got = x._pow(2, new=True)
    same(got, a**2)
    assert x._pow(2, new=False) is x
    same(x, a**2)


@row("__eq__", "__ne__", "__le__", "__ge__", "__lt__", "__gt__")
def comparisons(name):
    function = getattr(operator, name)
    a, x = pair()
    b, y = pair(start=5)
    for left, right, expected in (
        (x, y[::-1], function(a, b[::-1])),
        (x, 5, function(a, 5)),
        (x, gpuarray.to_gpu(F(5)), function(a, F(5))),
        (5, x, function(5, a)),
    ):
        same(function(left, right), expected)
    if name == "__eq__":
        assert (x == None) is False and (x == "text") is False  # noqa: E711
    if name == "__ne__":
        assert (x != None) is True  # noqa: E711


@row("conj", "conjugate")
def conjugate(name):
    a = np.array([[1 + 2j, 3], [-1j, 5]], np.complex64, order="F")
    x = gpuarray.to_gpu(a)
    got = getattr(x, name)()
    same(got, a.conj())
    assert got.strides == x.strides
    out = gpuarray.empty((2, 2), np.complex128)
    assert getattr(x, name)(out=out) is out
    same(out, a.conj().astype(np.complex128))
    _, real = pair()
    assert getattr(real, name)() is real


@row("any", "all")
def tests(name):
    a, x = pair(start=0)
    got = getattr(x, name)()
    assert got.shape == () and got.dtype == bool and got.get() == getattr(a, name)()
    assert getattr(x, name)(stream=None, allocator=drv.mem_alloc).shape == ()
    same(getattr(x, name)(axis=0), getattr(a, name)(axis=0))


# -- shapes ----------------------------------------------------------------------------


@row("reshape")
def reshape(name):
    a, x = pair()
    for args in ((12,), (2, 6), ((6, 2),), ([-1, 3],), (-1,)):
        same(x.reshape(*args), a.reshape(*args))
        assert x.reshape(*args).ptr == x.ptr
    assert x.reshape(3, 4) is x
    same(x.T.reshape(12), a.ravel())  # in the order of memory
    same(x.T.reshape(6, 2, order="F"), a.T.reshape(6, 2, order="F"))
    for bad in ((5,), (-1, -1)):
        with pytest.raises(ValueError):
            x.reshape(bad)


@row("ravel")
def ravel(name):
    a, x = pair()
    same(x.ravel(), a.ravel())
    same(x.T.ravel(), a.ravel())
    same(x[:, ::2].ravel(), a[:, ::2].ravel())


@row("view")
def view(name):
    a, x = pair()
    same(x.view(np.int32), a.view(np.int32))
    same(x.view(dtype=np.uint8), a.view(np.uint8))
    same(x.view(np.float64), a.view(np.float64))
    assert x.view().ptr == x.ptr and x.T.view(np.uint8).shape == (16, 3)
    with pytest.raises(ValueError):
        x[:, :3].copy().view(np.float64)


@row("squeeze")
def squeeze(name):
    a, x = pair((1, 3, 1, 4))
    same(x.squeeze(), a.squeeze())
    assert x.squeeze().ptr == x.ptr


@row("transpose")
def transpose(name):
    a, x = pair((2, 3, 4))
    for axes in (None, (1, 0, 2), [2, 0, 1], (-1, 0, 1)):
        same(x.transpose(axes), a.transpose(axes))
    same(x.transpose(axes=(1, 0, 2)), a.transpose((1, 0, 2)))
    assert x.transpose((1, 0, 2)).gpudata is x.gpudata
    with pytest.raises(ValueError):
        x.transpose((0, 1))


@row("__getitem__")
def getitem(name):
    a, x = pair((3, 4, 5))
    for index in np.s_[1, -1, ::-2, ..., None, 1:, (1, ..., 2), (..., None, 3), 5:3]:
        same(x[index], a[index])
    assert x[1].base is x
    with pytest.raises(IndexError):
        x[3]
    same(x[[2, 0]], a[[2, 0]])
    same(x[x > 30], a[a > 30])


@row("__setitem__")
def setitem(name):
    a, x = pair((3, 4))
    for index, value in (
        (np.s_[1], 5),
        (np.s_[:, ::2], 7),
        (np.s_[::-1], host((3, 4), start=50)),
        (np.s_[0], np.arange(4)),
    ):
        a[index] = value
        x[index] = value
        same(x, a)
    x[1:] = gpuarray.to_gpu(host((2, 4)))
    a[1:] = host((2, 4))
    same(x, a)
    with pytest.raises(ValueError):
        x[0] = gpuarray.zeros(3, F)


# -- texture references ----------------------------------------------------------------

TEXTURE = """
texture<{type}, 1, cudaReadModeElementType> tex;
__global__ void fetch({type} *out)
{{
    out[threadIdx.x] = tex1Dfetch(tex, threadIdx.x);
}}
"""


@row("bind_to_texref", "bind_to_texref_ext")
def bind(name):
    a, x = pair((8,))
    ext = name == "bind_to_texref_ext"
    module = SourceModule(TEXTURE.format(type="float2" if ext else "float"))
    texref = module.get_texref("tex")
    if ext:
        assert x.bind_to_texref_ext(texref, 2, False, False, False) == 0.0
    else:
        offset = x.bind_to_texref(texref, allow_offset=False)
        assert offset == 0 and isinstance(offset, float)
    out = gpuarray.zeros(8, F)
    threads = 4 if ext else 8
    module.get_function("fetch")(out, block=(threads, 1, 1), texrefs=[texref])
    same(out, a)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((drv.LogicError, RuntimeError)):
            x[::2].bind_to_texref(texref)
