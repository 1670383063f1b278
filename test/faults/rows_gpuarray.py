"""Rows: GPUArray. A call without failures loads the kernels before."""

import io
import os
import tempfile

import numpy as np

import pycuda.driver as drv
from pycuda import _driver, gpuarray, tools
from pycuda._driver import matmul as multiply
from pycuda.elementwise import ElementwiseKernel

from .row import calls, row

HOST = np.arange(24, dtype=np.float32).reshape(4, 6)
LARGE = np.arange(1 << 18, dtype=np.float64)  # 2 MiB


def array(w):
    return gpuarray.to_gpu(HOST)


def labelled(a):
    """Give the array a false label, and a shape of launches."""
    a.size, a._block = 1, (32, 1, 1)
    return a


def warm(name, function, make=array, **more):
    """Add a row whose call runs once before the attempts."""

    def prepare(w):
        thing = make(w)
        function(thing)
        return lambda: function(thing)

    row(name, prepare, **more)


def npy_file(count):
    """Return a function that makes a file of an array."""
    file = io.BytesIO()
    np.save(file, np.ones(count, np.float32))
    return lambda w: io.BytesIO(file.getvalue())


def load(file):
    file.seek(0)
    return gpuarray.load(file)


def path(w):
    """Make a file of an array that goes through the page-locked pieces."""
    w.folder = tempfile.TemporaryDirectory(prefix="pycuda-faults-")
    np.save(name := os.path.join(w.folder.name, "array.npy"), LARGE)
    return name


def large(w):
    return path(w), gpuarray.to_gpu(LARGE)


row("ArrayFlags", lambda w: lambda: drv.ArrayFlags(HOST))
row("GPUArray", lambda w: lambda: drv.GPUArray((4, 6), np.float32))
calls(
    "GPUArray (given memory)",
    lambda memory: drv.GPUArray((4, 4), np.int32, gpudata=memory, order="F"),
    "memory",
)
row("to_gpu", lambda w: lambda: drv.to_gpu(HOST))
row("to_gpu (gaps)", lambda w: lambda: drv.to_gpu(HOST[:, ::2]))
calls("to_gpu_async", lambda stream: drv.to_gpu_async(HOST, stream=stream), "stream")
# NumPy writes a header with sorted(d.items()), in which CPython crashes if there is no
# memory; test_faults.py has it without NumPy and without the package.
for _name, _call, _make in (
    ("GPUArray.tofile", lambda a: a.tofile(io.BytesIO()), array),
    ("pycuda.gpuarray: load", load, npy_file(24)),
    ("pycuda.gpuarray: load (large)", load, npy_file(30_000)),
    ("pycuda.gpuarray: load (a path)", gpuarray.load, path),
    ("pycuda.gpuarray: fromfile", lambda p: gpuarray.fromfile(p, np.int8), path),
    ("pycuda.gpuarray: save (a path)", lambda a: gpuarray.save(*a), large),
    ("pycuda.gpuarray: save", lambda a: gpuarray.save(io.BytesIO(), a), array),
    ("pycuda.gpuarray: savez", lambda a: gpuarray.savez(io.BytesIO(), a), array),
):
    reason = "NumPy's and Python's code for files fails otherwise, and may crash"
    warm(_name, _call, _make, own_allocations=reason)
warm(
    "GPUArray.to_numpy",
    lambda a: a.to_numpy(),
    no_allocations="CPython may lose an exception while it makes a traceback",
)
warm("ArrayFlags.__getitem__", lambda a: a.flags["C_CONTIGUOUS"])
for _name in ("c_contiguous", "f_contiguous", "forc"):
    warm(f"ArrayFlags.{_name}", lambda a, name=_name: getattr(a.flags, name))
for _name in (
    *("T", "allocator", "base", "device", "dtype", "flags", "gpudata", "imag"),
    *("itemsize", "mT", "mem_size", "nbytes", "ndim", "ptr", "real", "shape"),
    *("size", "strides"),
    "__cuda_array_interface__",
):
    warm(f"GPUArray.{_name}", lambda a, name=_name: getattr(a, name))
for _name, _call in {
    "astype": lambda a: a.astype(np.int64),
    "conj": lambda a: a.conj(),
    "conjugate": lambda a: a.conjugate(),
    "copy": lambda a: a.copy(),
    "fill": lambda a: a.fill(3),
    "get": lambda a: a.get(),
    "get_async": lambda a: a.get_async(),
    "mul_add": lambda a: a.mul_add(2, a, 3),
    "ravel": lambda a: a.ravel(),
    "reshape": lambda a: a.reshape(6, -1),
    "reverse": lambda a: a.reverse(),
    "set": lambda a: a.set(HOST),
    "set_async": lambda a: a.set_async(HOST),
    "squeeze": lambda a: a.squeeze(),
    "to_device": lambda a: a.to_device(a.device),
    "transpose": lambda a: a.transpose(1, 0),
    "view": lambda a: a.view(np.int32),
    "__len__": len,
    "__iter__": iter,
    "__getitem__": lambda a: a[1:3, ::-2],
}.items():
    warm(f"GPUArray.{_name}", _call)
for _name, _call in {
    "a + a": lambda a: a + a,
    "a + 2 * a[::-1]": lambda a: a + 2 * a[::-1],
    "2 * a": lambda a: 2 * a,
    "a += a[::-1]": lambda a: a.__iadd__(a[::-1]),
    "a < 3": lambda a: a < 3,
    "divmod": lambda a: divmod(a, 7),
    "a[1] = 5": lambda a: a.__setitem__(1, 5),
    "a[:, ::2] = host": lambda a: a.__setitem__(
        (slice(None), slice(0, 6, 2)), HOST[:, :3]
    ),
    "gaps to host": lambda a: a[:, ::2].get(),
    "gaps from host": lambda a: a[:, ::2].set(HOST[:, :3]),
    "reshape with a copy": lambda a: a[:, ::2].reshape(-1)[::2].reshape(2, 3),
    "to_gpu": drv.to_gpu,
    "to_gpu of gaps": lambda a: drv.to_gpu(a[::2, ::2]),
    "set labels": lambda a: setattr(a, "nbytes", 3) or a.get(),
    "a.shape = ...": lambda a: setattr(a, "shape", (6, 4)) or a.get(),
    "a.dtype = ...": lambda a: setattr(a, "dtype", np.int32) or a.get(),
    "_plain_array": lambda a: _driver._plain_array(labelled(a)),
    "a._grid = ...": lambda a: setattr(a, "_grid", (1, 1)) or a._grid,
    "a ** -1": lambda a: a.view(np.uint32) ** -1,
    "(a < 3) + (a > 1)": lambda a: (a < 3) + (a > 1),
    "(a < 3) * (a > 1)": lambda a: (a < 3) * (a > 1),
    "_counts_as": lambda a: (a < 3)._counts_as,
    "dot of comparisons": lambda a: gpuarray.dot(a < 3, a > 1),
    "sum": gpuarray.sum,
    "sum of columns": lambda a: gpuarray.sum(a, axis=0),
}.items():
    warm(f"GPUArray: {_name}", _call)


warm("matmul", lambda a: multiply(a, a.T))
for _name, _call in {
    "a @ a.T": lambda a: a @ a.T,
    "a @ vector": lambda a: a @ a[0],
    "matmul of two dtypes": lambda a: multiply(a, a.T.view(np.int32)),
    "matmul into columns": lambda a: multiply(a[:3].T[:4], a[:3, :4], a[:, 1:5]),
    "matmul over itself": lambda a: multiply(a[:, :4], a[:, :4], a[:, :4]),
}.items():
    warm(f"GPUArray: {_name}", _call)


NO_VALUE = {
    ("cuPointerGetAttribute", 1): "some memory has no value for an attribute",
}
NO_ANSWER = {
    "cuPointerGetAttribute": "what the driver cannot say of memory is what is usual"
}
for _name, _call in {
    "__dlpack__": lambda a: a.__dlpack__(max_version=(1, 0)),
    "__dlpack_device__": lambda a: a.__dlpack_device__(),
}.items():
    warm(f"GPUArray.{_name}", _call, absorbs=NO_ANSWER)
warm(
    "GPUArray: __dlpack__ (copy)",
    lambda a: a[:, ::2].__dlpack__(copy=True, stream=1),
    absorbs=NO_ANSWER,
)
warm("_pointer_facts", lambda a: _driver._pointer_facts(a.ptr), absorbs=NO_VALUE)

IN_PYTHON = "Python's own frames lose the exception when a traceback finds no memory"
IN_NUMPY = "NumPy's choice among overrides keeps its references when it finds no memory"
warm("GPUArray.all", lambda a: a.all(), no_allocations=IN_PYTHON)
warm("GPUArray.any", lambda a: a.any(), no_allocations=IN_PYTHON)


#: The driver returns this error after the last parameter.
NO_MORE = {("cuFuncGetParamInfo", 1): "it says that there are no more parameters"}


def forgetful(call):
    """Clear the caches of the context, which are not counted when they die with it."""

    def run(a):
        try:
            call(a)
        finally:
            tools.clear_context_caches()

    return run


# Methods that call a function of pycuda.gpuarray.
for _name, _call in {
    "argmax": lambda a: a.argmax(),
    "argmin": lambda a: a.argmin(axis=1),
    "argpartition": lambda a: a.argpartition(2),
    "argsort": lambda a: a.argsort(axis=0),
    "clip": lambda a: a.clip(2, 9),
    "cumprod": lambda a: a.cumprod(axis=1),
    "cumsum": lambda a: a.cumsum(),
    "dot": lambda a: a.ravel().dot(a.ravel()),
    "flatten": lambda a: a.flatten(),
    "item": lambda a: a.item(3),
    "max": lambda a: a.max(),
    "mean": lambda a: a.mean(axis=0),
    "min": lambda a: a.min(),
    "nonzero": lambda a: a.nonzero(),
    "partition": lambda a: a.partition(2),
    "prod": lambda a: a.prod(),
    "ptp": lambda a: a.ptp(),
    "round": lambda a: a.round(1),
    "searchsorted": lambda a: a[1].searchsorted(a, side="right"),
    "sort": lambda a: a.sort(axis=0),
    "std": lambda a: a.std(),
    "sum": lambda a: a.sum(axis=1, keepdims=True),
    "swapaxes": lambda a: a.swapaxes(0, 1),
    "take": lambda a: a.take(np.array([1, 3])),
    "tolist": lambda a: a.tolist(),
    "diagonal": lambda a: a.diagonal(1),
    "trace": lambda a: a.trace(),
    "var": lambda a: a.var(),
}.items():
    warm(
        f"GPUArray.{_name}",
        forgetful(_call),
        absorbs=NO_MORE,
        no_allocations=IN_PYTHON,
    )
warm("GPUArray: np.sqrt", np.sqrt, no_allocations=IN_NUMPY)
warm(
    "GPUArray: a scalar of NumPy", lambda a: np.float32(2) * a, no_allocations=IN_NUMPY
)


def big(w):
    return gpuarray.zeros(40_000, np.float32)


warm("GPUArray: sum of two kernels", gpuarray.sum, big)
warm(
    "GPUArray: a copy by tiles",
    lambda a: a.reshape(200, 200).T.reshape(-1),
    big,
)


def indexable(w):
    """Return an array of integers, and an array of one element."""
    return gpuarray.to_gpu(np.array(3))


warm("GPUArray.__index__", lambda a: a.__index__(), indexable)
warm("GPUArray.__int__", int, indexable)


class Texref:
    """A stand-in for a texture reference. The row is about the array's part."""

    def set_address(self, memory, size, allow_offset=False):
        return 0

    def set_format(self, format, channels):
        pass


warm("GPUArray.bind_to_texref", lambda a: a.bind_to_texref(Texref()))
warm("GPUArray.bind_to_texref_ext", lambda a: a.bind_to_texref_ext(Texref(), 1))


# -- index arrays, joins, elements in other places -------------------------------------


def indexed(w):
    """Return an array and two index arrays on the device."""
    index = gpuarray.to_gpu(np.array([3, -1, 0]))
    return gpuarray.to_gpu(HOST), index, gpuarray.to_gpu(np.array([1, 2, 5], np.int32))


def assign(things):
    array, index, other = things
    array[index, other] = 7
    array[index] = array[index]


for _name, _call in {
    "index arrays": lambda t: t[0][t[1], t[2]],
    "an index array and a list": lambda t: t[0][t[1], [1, 2, 3]],
    "assignment to index arrays": assign,
    "take along an axis": lambda t: _driver._take(t[0], t[1], axis=0),
    "take into": lambda t: _driver._take(
        t[0], t[2], gpuarray.empty_like(t[0][:3]), axis=0
    ),
    "put": lambda t: _driver._put(t[0], t[2], t[0][0, :3]),
    "concatenate": lambda t: _driver._join([t[0], t[0]], 1, False),
    "stack of gaps": lambda t: _driver._join([t[0][:, ::2], HOST[:, ::2]], 1, True),
    "roll": lambda t: _driver._remap(t[0], 0, t[0].shape, (1, 2)),
}.items():
    warm(f"GPUArray: {_name}", _call, indexed)


def first_index(w):
    """Return a call that makes the report of a context, but no kernel."""
    array, index, _ = indexed(w)
    array[np.array([0, 1, 2])]  # the host has checked these
    return lambda: array[index]


row(
    "GPUArray: the first index array",
    first_index,
    changes={"cuLaunchKernel": "the context keeps the report that it has made"},
)


def long_array(w):
    """Return an array whose scans and masks need look-back."""
    return gpuarray.zeros(70_000, np.float32)


for _name, _call in {
    "cumsum": lambda a: _driver._cumsum(a),
    "cumsum of columns": lambda a: _driver._cumsum(a.reshape(35_000, 2), 0),
    "cumsum of a transposed array": lambda a: _driver._cumsum(a.reshape(700, 100).T, 1),
    "cumulative_sum": lambda a: _driver._cumulative_sum(a, include_initial=True),
    "cumsum into gaps": lambda a: _driver._cumsum(a[:100:2], out=a[100:200:2]),
    "cumsum into another dtype": lambda a: _driver._cumsum(
        a[:50].view(np.int32), out=a[100:150]
    ),
    "_accumulate": lambda a: _driver._accumulate(_driver._array_ops["maximum"], a),
    "nonzero": lambda a: _driver._nonzero(a.reshape(700, 100)),
    "flatnonzero": lambda a: _driver._flatnonzero(a[::2]),
    "argwhere": lambda a: _driver._argwhere(a.reshape(700, 100)),
    "x[mask]": lambda a: a[a == 0],
    "x[mask] = number": lambda a: a.__setitem__(a == 0, 5),
    "x[mask] = array": lambda a: a.__setitem__(a == 0, a[::-1]),
    "x[mask] = values of the host": lambda a: a.__setitem__(a == 0, np.zeros(70_000)),
}.items():
    warm(f"GPUArray: {_name} of 70,000", _call, long_array)
warm(
    "_sort",
    lambda a: _driver._sort(a, 0, True, True),
    lambda w: gpuarray.to_gpu(np.arange(9000, dtype=np.complex64)),
)
warm(
    "_sort by NumPy",
    lambda a: _driver._sort(a, 0, True, True),
    lambda w: gpuarray.to_gpu(np.arange(9000, dtype=np.float64)),
    own_allocations="CPython loses the error if memory is missing in os.environ.get",
)
for _name, _call in {
    "tril": lambda a: gpuarray.tril(a),
    "triu of a transposed array": lambda a: gpuarray.triu(a.T, 1),
    "tri": lambda a: gpuarray.tri(4, 6, 1),
    "eye": lambda a: gpuarray.eye(4),
    "linspace": lambda a: gpuarray.linspace(0.0, 1.0, 9),
    "diagonal": lambda a: gpuarray.diagonal(a, 1),
    "__array_namespace__": lambda a: a.__array_namespace__(),
}.items():
    warm(f"GPUArray: {_name}", _call)


def square(w):
    """Return a matrix that is as large as a tile."""
    return gpuarray.zeros((64, 64), np.float32)


for _name, _call in {
    "x + x.T by tiles": lambda a: a + a.T,
    "triu of a transposed array by tiles": lambda a: gpuarray.triu(a.T, 1),
    "cross of packed vectors": lambda a: gpuarray.cross(
        a[:3].T.copy(), a[3:6].T.copy()
    ),
}.items():
    warm(f"GPUArray: {_name}", _call, square)


def kernel_and_array(w):
    """Return a kernel whose calls C handles, and its array."""
    return ElementwiseKernel("float a, float *x", "x[i] *= a"), array(w)


for _name, _keywords in {
    "a range": {"range": range(1, 20, 3)},
    "a slice": {"slice": slice(None, None, -2)},
}.items():
    warm(
        f"ElementwiseKernel over {_name}",
        lambda pair, more=_keywords: pair[0](2.0, pair[1], **more),
        kernel_and_array,
    )
