"""Functions and methods with ``stream=`` enqueue all their work in that stream.

The software device defers streams. Stream a sets the operand, and b is the current
stream. Work that a function enqueues in another stream than a reads the operand too
early, or has not run after the program has waited for a.
"""

import inspect
import re

import pytest

from pycuda import cumath, gpuarray
from pycuda.gpuarray import GPUArray
from support.child import run_child

pytestmark = pytest.mark.gpu

START = """
import warnings
import numpy as np
import pycuda.driver as drv
from pycuda import cumath, gpuarray
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import set_default_allocator

warnings.simplefilter("ignore")  # of set() from another shape
drv.init()
context = drv.Device(0).make_context()
# from a pool: freeing memory of the driver waits for all streams
set_default_allocator(drv.DeviceMemoryPool().allocate)
a, b = drv.Stream(1), drv.Stream(1)  # NON_BLOCKING

class Foreign:
    "The stream a as another library's object."
    def __cuda_stream__(self):
        return 0, a.handle

foreign = Foreign()

N = 20000  # several tiles of a scan, several segments of a reduction
v = drv.pagelocked_empty(N, np.float32)
v[:] = (np.arange(N) * 7 + 3) % 11 + 1
v /= 11
x, y = gpuarray.zeros(N, np.float32), gpuarray.zeros(N, np.float32)
one = gpuarray.zeros(N, np.float32) + 1
mask = gpuarray.arange(N, dtype=np.int32) % 3 > 0
index = gpuarray.to_gpu(np.arange(0, N, 3))
place = gpuarray.to_gpu(np.arange(len(index)))
ticks = gpuarray.to_gpu(np.array([0.2, 0.5, 0.8], np.float32))
zero = gpuarray.zeros(N, np.float32)
page = drv.pagelocked_zeros(N, np.float32)
double = ElementwiseKernel("float *x, float *y", "y[i] = 2 * x[i]")
total = ReductionKernel(np.float64, "0", "a + b", "x[i]", "float *x")
inclusive = InclusiveScanKernel(np.float32, "a + b")
exclusive = ExclusiveScanKernel(np.float32, "a + b", "0")
kept = []


def into(array, work):
    "What the work puts into an array."
    work(array)
    return array


def whole():
    "Eleven times x, as integers."
    numbers = into(y, lambda y: x._axpbz(11, 0.5, y, stream=a))
    return numbers.astype(np.int32, stream=a)


def early():
    "Dirty memory of the sizes that results and temporaries have."
    for size in (*[1, 4, 5, 40] * 4, len(index), N):
        for dtype in (np.uint8, np.float32, np.int64):
            kept.append(GPUArray(size, dtype).fill(211))
    for array in (y, zero):
        array.fill(0)
    x.fill(0)
    page[:] = 0
    kept.clear()
    context.synchronize()


def look(name, work, want):
    early()
    with b:
        x.set_async(v, stream=a)
        result = work()
        a.synchronize()
    got = result.get() if isinstance(result, GPUArray) else np.array(result)
    want = want() if callable(want) else want
    if got.shape != np.shape(want) or not np.allclose(got, want, 1e-5, equal_nan=True):
        print(name, got, want)
    context.synchronize()
"""

REDUCTIONS = ["all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min"]
REDUCTIONS += ["std", "sum", "var"]
UNARY = {
    **{name: name for name in ("ceil", "cos", "cosh", "exp", "fabs", "floor", "log")},
    **{name: name for name in ("log10", "sin", "sinh", "sqrt", "tan", "tanh")},
    **{name: name for name in ("exp2", "expm1", "log1p", "log2")},
    **{name: f"arc{name[1:]}" for name in ("acos", "asin", "atan", "asinh", "atanh")},
}

NAN_REDUCTIONS = ["nanargmax", "nanargmin", "nanmax", "nanmean", "nanmin", "nanstd"]
NAN_REDUCTIONS += ["nansum", "nanvar"]
MEDIANS = ["median", "nanmedian"]
QUANTILES = ["quantile", "nanquantile"]
PERCENTILES = ["percentile", "nanpercentile"]

#: Polynomials, curves, bits and places: a part of FUNCTIONS.
CURVES = {
    "convolve": ("gpuarray.convolve(x, x[:5], stream=a)", "np.convolve(v, v[:5])"),
    "correlate": ("gpuarray.correlate(x, x[:5], stream=a)", "np.correlate(v, v[:5])"),
    "cov": ("gpuarray.cov(x, stream=a)", "np.cov(v)"),
    "corrcoef": (
        "gpuarray.corrcoef(x, x[::-1], stream=a)",
        "np.corrcoef(v, v[::-1])",
    ),
    "histogram2d": (
        "gpuarray.histogram2d(x, x, 4, [[0, 1.05]] * 2, stream=a)[0]",
        "np.histogram2d(v, v, 4, [[0, 1.05]] * 2)[0]",
    ),
    "histogramdd": (
        "gpuarray.histogramdd(x.reshape(-1, 2), 4, [[0, 1.05]] * 2, stream=a)[0]",
        "np.histogramdd(v.reshape(-1, 2), 4, [[0, 1.05]] * 2)[0]",
    ),
    "interp": (
        "gpuarray.interp(x, ticks, ticks, stream=a)",
        "np.interp(v, ticks.get(), ticks.get())",
    ),
    "polyadd": ("gpuarray.polyadd(x, x[:5], stream=a)", "np.polyadd(v, v[:5])"),
    "polysub": ("gpuarray.polysub(x, x[:5], stream=a)", "np.polysub(v, v[:5])"),
    "polymul": ("gpuarray.polymul(x[:9], x[:5], stream=a)", "np.polymul(v[:9], v[:5])"),
    "polyder": ("gpuarray.polyder(x, stream=a)", "np.polyder(v)"),
    "polyint": ("gpuarray.polyint(x, stream=a)", "np.polyint(v)"),
    "polyval": ("gpuarray.polyval(x[:4], x, stream=a)", "np.polyval(v[:4], v)"),
    "trapezoid": ("gpuarray.trapezoid(x, stream=a)", "(v[1:] + v[:-1]).sum() / 2"),
    "unwrap": (
        "gpuarray.unwrap(x, period=0.5, stream=a)",
        "np.unwrap(v, period=0.5)",
    ),
    "choose": (
        "gpuarray.choose(place[:2], [x[:2], x[2:4]], stream=a)",
        "v[[0, 3]]",
    ),
    "diag_indices": ("gpuarray.diag_indices(N, stream=a)[0]", "np.arange(N)"),
    "fill_diagonal": (
        "into(x.reshape(100, 200), lambda m: gpuarray.fill_diagonal(m, 7, stream=a))",
        "np.where(np.eye(100, 200), 7, v.reshape(100, 200))",
    ),
    "ravel_multi_index": (
        "gpuarray.ravel_multi_index((whole(), whole()), (16, 16), stream=a)",
        "17 * (11 * v + 0.5).astype(int)",
    ),
    "unravel_index": (
        "gpuarray.unravel_index(whole(), (4, 4), stream=a)[1]",
        "(11 * v + 0.5).astype(int) % 4",
    ),
    "packbits": (
        "gpuarray.packbits(x.astype(np.uint8, stream=a), stream=a)",
        "np.packbits(v.astype(np.uint8))",
    ),
    "unpackbits": (
        "gpuarray.unpackbits(whole().astype(np.uint8, stream=a), stream=a)",
        "np.unpackbits((11 * v + 0.5).astype(np.uint8))",
    ),
}

#: Functions of pycuda.gpuarray: (call, expected result).
FUNCTIONS = {
    **CURVES,
    **{f: (f"gpuarray.{f}(x, stream=a)", f"np.{f}(v)") for f in REDUCTIONS},
    "prod": ("gpuarray.prod(x[:5], stream=a)", "v[:5].prod()"),
    "arange": ("gpuarray.arange(N, dtype=np.float32, stream=a)", "np.arange(N)"),
    "cumsum": ("gpuarray.cumsum(x, stream=a)", "v.cumsum(dtype=float)"),
    "cumprod": ("gpuarray.cumprod(x[:5], stream=a)", "v[:5].cumprod()"),
    "nonzero": ("gpuarray.nonzero(x, stream=a)[0]", "np.flatnonzero(v)"),
    "flatnonzero": ("gpuarray.flatnonzero(x, stream=a)", "np.flatnonzero(v)"),
    "argwhere": ("gpuarray.argwhere(x, stream=a)[:, 0]", "np.flatnonzero(v)"),
    "cummax": ("gpuarray.cummax(x, stream=a)", "np.maximum.accumulate(v)"),
    "cummin": ("gpuarray.cummin(x, stream=a)", "np.minimum.accumulate(v)"),
    "nancumsum": ("gpuarray.nancumsum(x, stream=a)", "v.cumsum(dtype=float)"),
    "nancumprod": ("gpuarray.nancumprod(x[:5], stream=a)", "v[:5].cumprod()"),
    "cumulative_sum": (
        "gpuarray.cumulative_sum(x, include_initial=True, stream=a)",
        "np.append(0, v.cumsum(dtype=float))",
    ),
    "cumulative_prod": ("gpuarray.cumulative_prod(x[:5], stream=a)", "v[:5].cumprod()"),
    "dot": ("gpuarray.dot(x, x, stream=a)", "v.astype(float).dot(v)"),
    "where": ("gpuarray.where(x, one, zero, stream=a)", "np.ones(N)"),
    "if_positive": ("gpuarray.if_positive(x, one, zero, stream=a)", "np.ones(N)"),
    "maximum": ("gpuarray.maximum(x, zero, stream=a)", "v"),
    "minimum": ("gpuarray.minimum(x, one, stream=a)", "v"),
    "take": ("gpuarray.take(x, index, stream=a)", "v[::3]"),
    "concatenate": ("gpuarray.concatenate((x, x), stream=a)", "np.append(v, v)"),
    "stack": ("gpuarray.stack((x, x), stream=a)", "np.stack((v, v))"),
    "vstack": ("gpuarray.vstack((x, x), stream=a)", "np.stack((v, v))"),
    "hstack": ("gpuarray.hstack((x, x), stream=a)", "np.append(v, v)"),
    "dstack": ("gpuarray.dstack((x, x), stream=a)", "np.dstack((v, v))"),
    "column_stack": ("gpuarray.column_stack((x, x), stream=a)",)
    + ("np.column_stack((v, v))",),
    "block": ("gpuarray.block([x, x], stream=a)", "np.append(v, v)"),
    "select": ("gpuarray.select([mask], [x], stream=a)", "np.where(mask.get(), v, 0)"),
    "append": ("gpuarray.append(x, x[:3], stream=a)", "np.append(v, v[:3])"),
    "insert": ("gpuarray.insert(x, [1, 5], 7, stream=a)",)
    + ("np.insert(v, [1, 5], 7)",),
    "delete": ("gpuarray.delete(x, [1, 5], stream=a)", "np.delete(v, [1, 5])"),
    "roll": ("gpuarray.roll(x, 3, stream=a)", "np.roll(v, 3)"),
    "repeat": ("gpuarray.repeat(x, 2, stream=a)", "np.repeat(v, 2)"),
    "tile": ("gpuarray.tile(x, 2, stream=a)", "np.tile(v, 2)"),
    "pad": ("gpuarray.pad(x, 2, 'edge', stream=a)", "np.pad(v, 2, 'edge')"),
    "resize": ("gpuarray.resize(x, 2 * N, stream=a)", "np.resize(v, 2 * N)"),
    "take_along_axis": ("gpuarray.take_along_axis(x, index, stream=a)", "v[::3]"),
    "put": (
        "into(y, lambda y: gpuarray.put(y, place, x[:len(index)], stream=a))",
        "np.append(v[:len(index)], np.zeros(N - len(index)))",
    ),
    "put_along_axis": (
        "into(y, lambda y: gpuarray.put_along_axis(y, place, x[:len(index)], 0, "
        "stream=a))",
        "np.append(v[:len(index)], np.zeros(N - len(index)))",
    ),
    "multi_take": ("gpuarray.multi_take([x], index, stream=a)[0]", "v[::3]"),
    "multi_put": (
        "gpuarray.multi_put([x[:len(index)]], place, out=[y], stream=a)[0]",
        "np.append(v[:len(index)], np.zeros(N - len(index)))",
    ),
    "multi_take_put": (
        "gpuarray.multi_take_put([x], place, index, len(index), src_offsets=[1], "
        "stream=a)[0]",
        "v[1::3]",
    ),
    "subset_sum": ("gpuarray.subset_sum(index, x, stream=a)", "v[::3].sum()"),
    "subset_dot": ("gpuarray.subset_dot(index, x, x, stream=a)", "v[::3].dot(v[::3])"),
    "subset_min": ("gpuarray.subset_min(index, x, stream=a)", "v[::3].min()"),
    "subset_max": ("gpuarray.subset_max(index, x, stream=a)", "v[::3].max()"),
    "to_gpu_async": ("gpuarray.to_gpu_async(v, stream=a)", "v"),
    # reductions, counts and searches
    **{f: (f"gpuarray.{f}(x, stream=a)", f"np.{f}(v)") for f in NAN_REDUCTIONS},
    "nanprod": ("gpuarray.nanprod(x[:5], stream=a)", "v[:5].prod()"),
    "average": ("gpuarray.average(x, stream=a)", "v.mean()"),
    "ptp": ("gpuarray.ptp(x, stream=a)", "np.ptp(v)"),
    "bincount": (
        "gpuarray.bincount(place, x[:len(index)], stream=a)",
        "v[:len(index)]",
    ),
    "digitize": ("gpuarray.digitize(x, [0.2, 0.5, 0.8], stream=a)",)
    + ("np.digitize(v, [0.2, 0.5, 0.8])",),
    "histogram": ("gpuarray.histogram(x, 7, stream=a)[0]", "np.histogram(v, 7)[0]"),
    "histogram_bin_edges": ("gpuarray.histogram_bin_edges(x, 7, stream=a)",)
    + ("np.histogram_bin_edges(v, 7)",),
    "searchsorted": ("gpuarray.searchsorted(ticks, x, stream=a)",)
    + ("np.searchsorted(ticks.get(), v)",),
    # sorts and what needs them
    "sort": ("gpuarray.sort(x, stream=a)", "np.sort(v)"),
    "argsort": ("gpuarray.argsort(x, stable=True, stream=a)",)
    + ("np.argsort(v, kind='stable')",),
    "lexsort": ("gpuarray.lexsort((one, x), stream=a)",)
    + ("np.argsort(v, kind='stable')",),
    "partition": (
        "np.sort(gpuarray.partition(x, 5000, stream=a)[:5000].get(stream=a))",
        "np.sort(v)[:5000]",
    ),
    "argpartition": (
        "np.sort(v[gpuarray.argpartition(x, 5000, stream=a)[:5000].get(stream=a)])",
        "np.sort(v)[:5000]",
    ),
    "top_k": ("gpuarray.top_k(x, 5000, stream=a)[0]", "np.sort(v)[::-1][:5000]"),
    "unique": ("gpuarray.unique(x, stream=a)", "np.unique(v)"),
    "isin": ("gpuarray.isin(x, x[:9000], stream=a)", "np.isin(v, v[:9000])"),
    "union1d": ("gpuarray.union1d(x[:50], x[20:], stream=a)", "np.unique(v)"),
    "intersect1d": ("gpuarray.intersect1d(x[:900], x[20:], stream=a)",)
    + ("np.unique(v[20:900])",),
    "setdiff1d": ("gpuarray.setdiff1d(x, x[:900], stream=a)",)
    + ("np.setdiff1d(v, v[:900])",),
    "setxor1d": ("gpuarray.setxor1d(x[:900], x, stream=a)",)
    + ("np.setxor1d(v[:900], v)",),
    **{f: (f"gpuarray.{f}(x, stream=a)", "np.median(v)") for f in MEDIANS},
    **{f: (f"gpuarray.{f}(x, 0.3, stream=a)", f"np.{f}(v, 0.3)") for f in QUANTILES},
    **{f: (f"gpuarray.{f}(x, 30, stream=a)", f"np.{f}(v, 30)") for f in PERCENTILES},
    # products
    "matmul": (
        "gpuarray.matmul(x.reshape(100, 200), x.reshape(200, 100), stream=a)",
        "v.reshape(100, 200) @ v.reshape(200, 100)",
    ),
    "matvec": ("gpuarray.matvec(x.reshape(100, 200), x[:200], stream=a)",)
    + ("v.reshape(100, 200) @ v[:200]",),
    "vecmat": ("gpuarray.vecmat(x[:100], x.reshape(100, 200), stream=a)",)
    + ("v[:100] @ v.reshape(100, 200)",),
    "vecdot": ("gpuarray.vecdot(*[x.reshape(100, 200)] * 2, stream=a)",)
    + ("(v.reshape(100, 200) ** 2).sum(1)",),
    "tensordot": ("gpuarray.tensordot(*[x.reshape(100, 200)] * 2, stream=a)",)
    + ("v.astype(float).dot(v)",),
    "einsum": (
        "gpuarray.einsum('ij,kj->ik', *[x[:600].reshape(3, 200)] * 2, stream=a)",
    )
    + ("v[:600].reshape(3, 200) @ v[:600].reshape(3, 200).T",),
    # copies
    "copy": ("gpuarray.copy(x, stream=a)", "v"),
    "asarray": ("gpuarray.asarray(x, np.float64, stream=a)", "v"),
    "ascontiguousarray": ("gpuarray.ascontiguousarray(x[::2], stream=a)", "v[::2]"),
    "asfortranarray": ("gpuarray.asfortranarray(x.reshape(100, 200), stream=a)",)
    + ("v.reshape(100, 200)",),
    # matrices and grids
    "diag": ("gpuarray.diag(x[:50], 1, stream=a)", "np.diag(v[:50], 1)"),
    "diagflat": ("gpuarray.diagflat(x[:50].reshape(5, 10), stream=a)",)
    + ("np.diag(v[:50])",),
    "tril": ("gpuarray.tril(x.reshape(100, 200), stream=a)",)
    + ("np.tril(v.reshape(100, 200))",),
    "triu": ("gpuarray.triu(x.reshape(100, 200), stream=a)",)
    + ("np.triu(v.reshape(100, 200))",),
    "vander": ("gpuarray.vander(x[:50], 4, stream=a)", "np.vander(v[:50], 4)"),
    "meshgrid": ("gpuarray.meshgrid(x[:100], x[:200], stream=a)[1]",)
    + ("np.meshgrid(v[:100], v[:200])[1]",),
    "eye": ("gpuarray.eye(100, 200, 3, stream=a)", "np.eye(100, 200, 3)"),
    "identity": ("gpuarray.identity(100, stream=a)", "np.eye(100)"),
    "tri": ("gpuarray.tri(100, 200, 3, stream=a)", "np.tri(100, 200, 3)"),
    "tril_indices": ("gpuarray.tril_indices(100, stream=a)[0]",)
    + ("np.tril_indices(100)[0]",),
    "triu_indices": ("gpuarray.triu_indices(100, stream=a)[1]",)
    + ("np.triu_indices(100)[1]",),
    "indices": ("gpuarray.indices((100, 200), stream=a)", "np.indices((100, 200))"),
    "linspace": ("gpuarray.linspace(1, 2, N, stream=a)", "np.linspace(1, 2, N)"),
    "logspace": ("gpuarray.logspace(1, 2, N, stream=a)", "np.logspace(1, 2, N)"),
    "geomspace": ("gpuarray.geomspace(1, 2, N, stream=a)", "np.geomspace(1, 2, N)"),
    "fromfunction": (
        "gpuarray.fromfunction(lambda i, j: i + 2 * j, (100, 200), stream=a)",
        "np.fromfunction(lambda i, j: i + 2 * j, (100, 200))",
    ),
}

#: Other ways to call them, and other functions with a stream.
MORE = {
    "take into": ("gpuarray.take(x, index, y[:len(index)], a)", "v[::3]"),
    "concatenate into": ("gpuarray.concatenate((x[:5], x[5:]), out=y, stream=a)", "v"),
    "concatenate of gaps": ("gpuarray.concatenate((x[::2], x[1::2]), stream=a)",)
    + ("np.append(v[::2], v[1::2])",),
    "pad with values": (
        "gpuarray.pad(x, 2, constant_values=(1, 2), stream=a)",
        "np.pad(v, 2, constant_values=(1, 2))",
    ),
    "take of gaps": ("gpuarray.take(x[::2], index[:3000], stream=a)", "v[:18000:6]"),
    "mean along": ("gpuarray.mean(x.reshape(100, 200), axis=0, stream=a)",)
    + ("v.reshape(100, 200).mean(0)",),
    "var along": ("gpuarray.var(x.reshape(100, 200), axis=1, stream=a)",)
    + ("v.reshape(100, 200).var(1)",),
    # the dirty memory of a result is true
    "all of zeros": ("gpuarray.all(y, stream=a)", "False"),
    "any of zeros": ("gpuarray.any(y, stream=a)", "False"),
    "masked sum": ("gpuarray.sum(x, where=mask, stream=a)",)
    + ("v.sum(where=mask.get(), dtype=float)",),
    "sum into": ("gpuarray.sum(x, out=y[:1].reshape(()), stream=a)", "v.sum()"),
    "average with weights": (
        "gpuarray.average(x, weights=x, returned=True, stream=a)[0]",
        "np.average(v, weights=v)",
    ),
    "bincount of new numbers": (
        "gpuarray.bincount(whole(), stream=a)",
        "np.bincount(np.rint(11 * v).astype(int))",
    ),
    "searchsorted in new numbers": (
        "gpuarray.searchsorted(gpuarray.cumsum(x, stream=a), one, stream=a)",
        "np.searchsorted(v.cumsum(dtype=float), np.ones(N))",
    ),
    "histogram with weights": (
        "gpuarray.histogram(x, 7, (0, 1), weights=x, stream=a)[0]",
        "np.histogram(v, 7, (0, 1), weights=v)[0]",
    ),
    "sort along": ("gpuarray.sort(x.reshape(100, 200), 0, stream=a)",)
    + ("np.sort(v.reshape(100, 200), 0)",),
    "top_k of few": ("gpuarray.top_k(x, 5, stream=a)[0]", "np.sort(v)[::-1][:5]"),
    "median of short lines": ("gpuarray.median(x.reshape(-1, 8), 1, stream=a)",)
    + ("np.median(v.reshape(-1, 8), 1)",),
    "quantile with weights": (
        "gpuarray.quantile(x, 0.3, weights=x, method='inverted_cdf', stream=a)",
        "np.quantile(v, 0.3, weights=v, method='inverted_cdf')",
    ),
    "median along": ("gpuarray.median(x.reshape(100, 200), 0, stream=a)",)
    + ("np.median(v.reshape(100, 200), 0)",),
    "einsum of three": ("gpuarray.einsum('i,i,i', x, x, x, stream=a)",)
    + ("(v.astype(float) ** 3).sum()",),
    "matmul into": (
        "gpuarray.matmul(*[x[:100].reshape(10, 10)] * 2, y[:100].reshape(10, 10), "
        "stream=a)",
        "v[:100].reshape(10, 10) @ v[:100].reshape(10, 10)",
    ),
    "asarray of an array of the host": (
        "gpuarray.asarray(v.reshape(100, 200), order='F', stream=a)",
        "v.reshape(100, 200)",
    ),
    "asarray with a copy": ("gpuarray.asarray(x, copy=True, stream=a)", "v"),
    "diag of a matrix": ("gpuarray.diag(x.reshape(100, 200), 3, stream=a)",)
    + ("np.diag(v.reshape(100, 200), 3)",),
    "scan": ("inclusive(x, y, stream=a)", "v.cumsum(dtype=float)"),
    "scan of bools": (
        "inclusive(x.astype(np.int32, stream=a).astype(bool, stream=a), y, stream=a)",
        "(v == 1).cumsum()",
    ),
    "exclusive": ("exclusive(x, y, stream=a)", "v.cumsum(dtype=float) - v"),
    "lines": ("gpuarray.cumsum(x.reshape(100, 200), 0, stream=a)",)
    + ("v.reshape(100, 200).cumsum(0)",),
    "reduction": ("total(x, stream=a)", "v.sum(dtype=float)"),
    "elementwise": ("into(y, lambda y: double(x, y, stream=a))", "2 * v"),
    # arrays with gaps are packed first
    "reduction of gaps": ("total(x[::2], stream=a)", "v[::2].sum(dtype=float)"),
    "scan of gaps": ("inclusive(x[::2], y[::2], stream=a)",)
    + ("v[::2].cumsum(dtype=float)",),
    "sums of gaps": ("gpuarray.cumsum(x.reshape(2, -1)[:, ::4], stream=a)",)
    + ("v[::4].cumsum(dtype=float)",),
    "elementwise from gaps": (
        "into(y[:N // 2], lambda z: double(x[::2], z, stream=a))",
        "2 * v[::2]",
    ),
    "elementwise into gaps": (
        "into(y[::2], lambda z: double(x[:N // 2], z, stream=a))",
        "2 * v[:N // 2]",
    ),
    "put of few numbers": (
        "into(y, lambda y: gpuarray.put(y, place, [7, 8], stream=a))",
        "np.append(np.resize([7, 8], len(index)), np.zeros(N - len(index)))",
    ),
    "put of gaps": (
        "gpuarray.multi_put([x.reshape(-1, 4)[:100, :2]], place[:200], 200, "
        "stream=a)[0]",
        "v.reshape(-1, 4)[:100, :2].ravel()",
    ),
    "set from gaps": (
        "into(y, lambda y: y[:200].set_async(x.reshape(-1, 4)[:100, :2], a))[:200]",
        "v.reshape(-1, 4)[:100, :2].ravel()",
    ),
    "get of gaps": ("x[::2].get(stream=a)", "v[::2]"),
    "fill of gaps": ("into(y[::2], lambda z: z.fill(3, stream=a))",)
    + ("np.full(N // 2, 3)",),
}

CUMATH = {
    **{
        name: (f"cumath.{name}(x, stream=a)", f"np.{numpys}(v)")
        for name, numpys in UNARY.items()
    },
    # one more, because the results of numbers below one are NaN
    "acosh": (
        "cumath.acosh(into(y, lambda y: x._axpbz(1, 1, y, stream=a)), stream=a)",
        "np.arccosh(v + 1)",
    ),
    "fmod": ("cumath.fmod(x, one, stream=a)", "v % 1"),
    "frexp": ("cumath.frexp(x, stream=a)[1]", "np.frexp(v)[1]"),
    "ldexp": ("cumath.ldexp(x, one, stream=a)", "2 * v"),
    "modf": ("cumath.modf(x, stream=a)[0]", "v % 1"),
}

METHODS = {
    "all": ("x.all(stream=a)", "True"),
    "any": ("x.any(stream=a)", "True"),
    "astype": ("x.astype(np.float64, stream=a)", "v"),
    "fill": ("y.fill(3, stream=a)", "np.full(N, 3)"),
    "get": ("x.get(stream=a)", "v"),
    "get_async": ("x.get_async(a, page)", "v"),
    "set": ("into(y, lambda y: y.set(x, stream=a))", "v"),
    "set_async": ("into(y, lambda y: y.set_async(x, stream=a))", "v"),
    "mul_add": ("x.mul_add(2, one, 3, stream=a)", "2 * v + 3"),
    "reverse": ("x.reverse(stream=a)", "v[::-1]"),
    # there is no work: it returns the array
    "to_device": ("x.to_device(x.device, stream=a)", "v"),
    "_axpbyz": ("into(y, lambda y: x._axpbyz(2, one, 3, y, stream=a))", "2 * v + 3"),
    "_axpbz": ("into(y, lambda y: x._axpbz(2, 3, y, stream=a))", "2 * v + 3"),
    "_div": ("into(y, lambda y: one._div(x, y, stream=a))", "1 / v"),
    "_elwise_multiply": (
        "into(y, lambda y: x._elwise_multiply(x, y, stream=a))",
        "v * v",
    ),
    "_rdiv_scalar": ("into(y, lambda y: x._rdiv_scalar(2, y, stream=a))", "2 / v"),
}

TABLES = {
    "functions": FUNCTIONS,
    "more": MORE,
    "cumath": CUMATH,
    "methods": METHODS,
}


def late(table):
    lines = [
        f"look({name!r}, lambda: {call}, lambda: {want})"
        for name, (call, want) in table.items()
    ]
    done = run_child(
        START + "\n".join([*lines, "print(drv.Device(0).name())"]),
        timeout=600,
        PYCUDA_EMULATOR_STREAMS="late",
    )
    *wrong, device = done.stdout.splitlines()
    return wrong, "software" in device


@pytest.mark.parametrize("stream", ["a", "foreign"])
@pytest.mark.parametrize("table", TABLES)
def test_all_work_goes_to_the_stream(table, stream):
    wrong, _ = late(
        {
            name: (re.sub(r"\ba(?=[,)])", stream, call), want)
            for name, (call, want) in TABLES[table].items()
        }
    )
    assert wrong == []


def test_work_that_is_queued_elsewhere_is_noticed():
    calls = ["gpuarray.maximum(x, zero)", "gpuarray.maximum(x, zero, stream=b)"]
    calls += ["gpuarray.maximum(x, zero, stream=drv.Stream())"]
    wrong, is_late = late({str(n): (call, "v") for n, call in enumerate(calls)})
    if is_late:
        assert [line.split()[0] for line in wrong if line[0].isdigit()] == [*"012"]


def named(owner):
    """Return the names of functions with a stream."""
    for name in dir(owner):
        value = getattr(owner, name)
        if not callable(value) or inspect.isclass(value):
            continue
        try:
            parameters = inspect.signature(value).parameters
        except ValueError:  # of NumPy or Python
            continue
        if "stream" in parameters and not name.startswith("__"):
            yield name


@pytest.mark.parametrize(
    ("owner", "table"),
    [(gpuarray, FUNCTIONS), (cumath, CUMATH), (GPUArray, METHODS)],
    ids=["functions", "cumath", "methods"],
)
def test_nothing_that_takes_a_stream_is_missing(owner, table):
    public = {name for name in named(owner) if owner is GPUArray or name[0] != "_"}
    if owner is gpuarray:
        public.add("arange")  # its stream is one of **kwargs
    assert public - {"from_dlpack"} == set(table)  # test_dlpack.py tests that one
