#!/usr/bin/env python3
"""Sparse matrices: bytes moved per second by ``y = A x``, compared with a copy.

    python bench/bench_sparse.py [--quick] [--rows N] [--rounds N] [--batches N]
                                 [--dtype float32|float64]... [--matrix NAME]...
                                 [--json PATH]

Five matrices are generated: Poisson's equation in two and three dimensions, random
columns, power laws for row lengths and columns, and a band. The bytes of a product
are the elements, the column indices (4 bytes) and the row pointers once, x once and y
once, whatever a form really moves. The bound is the speed of a copy, measured in the
same run.

"Gathers" is a kernel that only reads the column indices and the elements of x at these
indices, in the same order. Its speed is computed with the bytes of the whole product.
If the columns are far apart, each element of x costs 32 bytes from the level-2 cache,
and no kernel that goes through the rows is much faster than that.

The other columns are forms of this package (compressed rows, packeted, coordinate,
cuSPARSE called by this package), then CuPy and PyTorch if they are installed. All are
measured in turn, each package in its own process. Every result is first compared with
NumPy's. Packets are measured only for suitable matrices.
"""

import argparse
import statistics
import sys
import tempfile
import time
from functools import lru_cache

import common
import numpy as np
from bench_launch import child_env
from common import SubjectError

OURS = ("gathers", "csr", "packeted", "coordinate", "cusparse")
PEERS = ("cupy", "torch")
DTYPES = ("float32", "float64")
ROWS, QUICK_ROWS = 4_000_000, 250_000
CALLS = 100


# -- matrices --------------------------------------------------------------------------


def from_stencil(sides, dtype):
    """Return the matrix of a grid: 2 * axes on the diagonal, -1 for each neighbour."""
    count = int(np.prod(sides))
    index = np.arange(count, dtype=np.int32)
    columns, values = [], []
    step = count
    for side in sides:
        step //= side
        place = index // step % side
        for by, there in ((-step, place > 0), (step, place < side - 1)):
            columns.append(np.where(there, index + np.int32(by), -1))
            values.append(-1)
    columns.append(index)
    values.append(2 * len(sides))
    columns = np.stack(columns, axis=1)
    # The point in the middle has all neighbours.
    order = np.argsort(columns[len(columns) // 2])
    columns, values = columns[:, order], np.array(values, dtype)[order]
    there = columns >= 0
    data = np.broadcast_to(values, columns.shape)[there]
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return indptr, columns[there], data, (count, count)


def poisson2d(rows, dtype):
    side = max(round(rows**0.5), 2)
    return from_stencil((side, side), dtype)


def poisson3d(rows, dtype):
    side = max(round(rows ** (1 / 3)), 2)
    return from_stencil((side, side, side), dtype)


def random(rows, dtype, per_row=16):
    """Return a matrix with random columns and half the requested number of rows."""
    rows = max(rows // 2, 2)
    rng = np.random.default_rng(1)
    columns = rng.integers(0, rows, (rows, per_row), np.int32)
    columns.sort(axis=1)
    data = rng.standard_normal(rows * per_row, np.float32).astype(dtype)
    indptr = np.arange(rows + 1, dtype=np.int64) * per_row
    return indptr, columns.ravel(), data, (rows, rows)


def power_law(rows, dtype):
    """Return a matrix with power laws and half the requested number of rows.

    The row lengths are those of a graph whose degrees fall with the power 2.1; the
    longest row has a tenth of all columns. Low column numbers are the most frequent, as
    in a graph whose vertices are ordered by degree.
    """
    rows = max(rows // 2, 2)
    rng = np.random.default_rng(2)
    lengths = np.minimum(4 * (1 - rng.random(rows)) ** (-1 / 1.1), rows / 10)
    lengths = np.maximum(lengths.astype(np.int64), 1)
    lengths[rows // 3] = max(rows // 10, 1)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    nnz = int(indptr[-1])
    # The rank of a column is drawn with a density that falls with the power 0.9.
    columns = (rows * rng.random(nnz) ** 10).astype(np.int32)
    data = rng.standard_normal(nnz, np.float32).astype(dtype)
    return indptr, np.minimum(columns, rows - 1), data, (rows, rows)


def banded(rows, dtype, half=15):
    """Return 31 adjacent diagonals, with half the requested number of rows."""
    rows = max(rows // 2, 2)
    columns = np.arange(rows, dtype=np.int32)[:, None] + np.arange(
        -half, half + 1, dtype=np.int32
    )
    there = (columns >= 0) & (columns < rows)
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    columns = columns[there]
    rng = np.random.default_rng(3)
    data = rng.standard_normal(len(columns), np.float32).astype(dtype)
    return indptr, columns, data, (rows, rows)


MATRICES = {
    "poisson2d": ("2D Poisson", poisson2d),
    "poisson3d": ("3D Poisson", poisson3d),
    "random": ("random", random),
    "power_law": ("power law", power_law),
    "banded": ("banded", banded),
}
SYMMETRIC = ("poisson2d", "poisson3d", "banded")


@lru_cache(maxsize=1)
def generated(name, rows, dtype):
    """Return (indptr, indices, data, shape), x, A x and the scale of its errors."""
    matrix = MATRICES[name][1](rows, dtype)
    indptr, indices, data, shape = matrix
    x = np.random.default_rng(4).standard_normal(shape[1]).astype(dtype)
    products = data.astype(np.float64) * x[indices]
    places = indptr[:-1]  # no row is empty
    y = np.add.reduceat(products, places)
    scale = np.add.reduceat(np.abs(products), places)
    return matrix, x, y, scale


def bytes_of(nnz, shape, dtype):
    """Return the bytes that any product with compressed rows has to move."""
    size = np.dtype(dtype).itemsize
    rows, columns = shape
    return nnz * (size + 4) + (rows + 1) * 4 + (rows + columns) * size


GATHERS = """
#include <pycuda-sparse.hpp>
using namespace pycuda_sparse;

extern "C" __global__ void gather(const int *indices, const {value} *x, {value} *sink,
                                  int groups)
{{
    {value} sum = 0;
    const int step = gridDim.x * blockDim.x;
#pragma unroll 2
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < groups; i += step) {{
        const int4 columns = __ldcs((const int4 *)indices + i);
        sum += fetch(x + columns.x) + fetch(x + columns.y);
        sum += fetch(x + columns.z) + fetch(x + columns.w);
    }}
    // The result is never used, but the compiler cannot know that.
    if (sum == {value}(1.2345e30))
        *sink = sum;
}}
"""


def check(y, name, rows, dtype):
    """Raise RuntimeError if a product is wrong; its speed would mean nothing."""
    _, _, wanted, scale = generated(name, rows, dtype)
    worst = float(np.max(np.abs(y - wanted) / scale))
    if not worst < 100 * np.finfo(dtype).eps:
        raise RuntimeError(f"the product is wrong by {worst:.2g} of its terms")


# -- subjects --------------------------------------------------------------------------


def suits(form, name):
    """Return whether a form suits a matrix. Packets need matrices of neighbours."""
    return form != "packeted" or name in SYMMETRIC


def cases_of(forms, rows, dtypes, synchronize):
    """Return cases ``form:matrix:dtype``; each keeps its data until the next one runs.

    ``forms`` are functions of (matrix, x) that return a call and a function that
    fetches y, or None if there is no product.
    """
    kept = {}

    def timed(key, make):
        form, name, dtype = key

        def run(calls):
            if kept.get("key") != key:
                kept.clear()
                call, fetch = make(*generated(name, rows, dtype)[:2])
                call()
                if fetch is not None:
                    check(fetch(), name, rows, dtype)
                kept.update(key=key, call=call)
            call = kept["call"]
            for _ in range(calls):
                call()
            synchronize()

        return run

    return {
        f"{form}:{name}:{dtype}": timed((form, name, dtype), make)
        for form, make in forms.items()
        for name in MATRICES
        for dtype in dtypes
        if suits(form, name)
    }


def prepare_pycuda(rows, dtypes):
    import pycuda
    import pycuda.driver as drv
    from pycuda.compiler import SourceModule
    from pycuda.gpuarray import GPUArray, to_gpu
    from pycuda.sparse._matrix import HostCSR
    from pycuda.sparse.coordinate import CoordinateSpMV
    from pycuda.sparse.csr import CsrSpMV
    from pycuda.sparse.cusparse import CusparseSpMV
    from pycuda.sparse.packeted import PacketedSpMV

    drv.init()
    context = drv.Device(0).make_context()

    def form(kind):
        def make(matrix, x):
            operator = kind(HostCSR(*matrix))
            x, y = to_gpu(x), GPUArray((operator.shape[0],), operator.dtype)
            return lambda: operator(x, y), y.get

        return make

    def packeted(matrix, x):
        operator = PacketedSpMV(HostCSR(*matrix), True)
        x = operator.permute(to_gpu(x))
        y = GPUArray((operator.shape[0],), operator.dtype)
        return lambda: operator(x, y), lambda: operator.unpermute(y).get()

    def gathers(matrix, x):
        _, indices, data, _ = matrix
        value = "float" if x.dtype == np.float32 else "double"
        text = GATHERS.format(value=value)
        kernel = SourceModule(text, no_extern_c=True).get_function("gather")
        kernel.prepare("PPPi")
        indices, x, sink = to_gpu(indices), to_gpu(x), GPUArray((1,), x.dtype)
        groups = len(data) // 4
        grid = (min(-(-groups // 256), 8192), 1)
        arguments = (grid, (256, 1, 1), indices.ptr, x.ptr, sink.ptr, groups)
        keep = (indices, x, sink)
        return lambda: (kernel.prepared_call(*arguments), keep), None

    forms = {"gathers": gathers, "csr": form(CsrSpMV), "packeted": packeted}
    forms |= {"coordinate": form(CoordinateSpMV), "cusparse": form(CusparseSpMV)}
    absent = {}
    if why_not := CusparseSpMV(np.eye(1)).why_not:
        absent["cusparse"] = why_not
        del forms["cusparse"]
    cases = cases_of(forms, rows, dtypes, context.synchronize)
    nbytes = 64 * rows
    ends = []

    def copy(calls):
        if not ends:
            ends.extend(drv.mem_alloc(nbytes) for _ in range(2))
        for _ in range(calls):
            drv.memcpy_dtod_async(*ends, nbytes, None)
        context.synchronize()

    def forget(calls):
        ends.clear()

    cases |= {"copy": copy, "forget": forget}
    header = {"version": pycuda.__version__, "device": drv.Device(0).name()}
    return (
        {**header, "copy bytes": 2 * nbytes, "absent": absent},
        cases,
        context.synchronize,
    )


def prepare_cupy(rows, dtypes):
    import cupy
    from cupyx.scipy import sparse

    def form(matrix, x):
        indptr, indices, data, shape = matrix
        arrays = tuple(map(cupy.asarray, (data, indices, indptr.astype(np.int32))))
        operator, x = sparse.csr_matrix(arrays, shape=shape), cupy.asarray(x)
        results = []

        def call():
            results[:] = [operator @ x]

        return call, lambda: results[0].get()

    wait = cupy.cuda.Device().synchronize
    cases = cases_of({"cupy": form}, rows, dtypes, wait)
    return {"version": cupy.__version__}, cases, wait


def prepare_torch(rows, dtypes):
    import torch

    torch.zeros(1, device="cuda")

    def form(matrix, x):
        indptr, indices, data, shape = matrix
        arrays = (indptr.astype(np.int32), indices, data)
        arrays = [torch.from_numpy(array).cuda() for array in arrays]
        operator = torch.sparse_csr_tensor(*arrays, size=shape)
        x = torch.from_numpy(x).cuda()
        results = []

        def call():
            results[:] = [operator @ x]

        return call, lambda: results[0].cpu().numpy()

    wait = torch.cuda.synchronize
    return (
        {"version": torch.__version__},
        cases_of({"torch": form}, rows, dtypes, wait),
        wait,
    )


PREPARE = {"pycuda": prepare_pycuda, "cupy": prepare_cupy, "torch": prepare_torch}


# -- measuring -------------------------------------------------------------------------


def forms_of(subjects):
    """Return pairs (form, subject that has it), this package first."""
    pairs = [(form, "pycuda") for form in OURS] + [(name, name) for name in PEERS]
    return [
        (form, subjects[name])
        for form, name in pairs
        if name in subjects
        and any(c.startswith(f"{form}:") for c in subjects[name].header["cases"])
    ]


def measure(name, dtype, args, subjects, failed):
    """Return a row: gigabytes per second by form, for the median of all batches."""
    (indptr, _, data, shape), *_ = generated(name, args.rows, dtype)
    moved = bytes_of(len(data), shape, dtype)
    row, copies = {}, []
    pycuda = subjects["pycuda"]
    for form, subject in forms_of(subjects):
        ns = []
        if not suits(form, name):
            continue
        try:
            for _ in range(args.rounds):
                ns += subject.ask(f"{form}:{name}:{dtype}", args.batches, CALLS)
        except SubjectError as error:
            failed.append(str(error))
            if subject.process.poll() is not None:
                raise
            continue
        row[form] = moved / statistics.median(ns)
        copies += pycuda.ask("copy", args.batches, CALLS)
    copy = pycuda.header["copy bytes"] / statistics.median(copies)
    return {
        "matrix": name,
        "dtype": dtype,
        "shape": list(shape),
        "nnz": len(data),
        "longest row": int(np.diff(indptr).max()),
        "bytes": moved,
        "copy GB/s": copy,
        "GB/s": row,
        "percent": {form: 100 * speed / copy for form, speed in row.items()},
    }


def start(directory, args):
    env = child_env(directory)
    what = ["--rows", str(args.rows), *(f"--dtype={dtype}" for dtype in args.dtype)]
    commands = {
        name: [sys.executable, __file__, "--serve", name, *what] for name in PREPARE
    }
    return common.start_subjects(commands, env)


def run(args):
    began = time.time()
    failed = []
    with tempfile.TemporaryDirectory(prefix="bench-") as directory:
        subjects, missing = start(directory, args)
        try:
            rows = [
                measure(name, dtype, args, subjects, failed)
                for dtype in args.dtype
                for name in args.matrix
            ]
            headers = {name: subject.header for name, subject in subjects.items()}
        finally:
            for subject in subjects.values():
                subject.close()
    return {
        "environment": common.environment(),
        "device": headers["pycuda"]["device"],
        "versions": {name: header["version"] for name, header in headers.items()},
        "missing": {**missing, **headers["pycuda"].get("absent", {})},
        "failed": failed,
        "seconds": time.time() - began,
        "products": rows,
    }


def report(result):
    """Return the table as text: gigabytes per second and percent of a copy."""
    names = [
        form
        for form in (*OURS, *PEERS)
        if any(form in row["GB/s"] for row in result["products"])
    ]

    def cell(row, form):
        if form not in row["GB/s"]:
            return "-"
        return f"{row['GB/s'][form]:,.1f} ({row['percent'][form]:.0f}%)"

    rows = [
        [
            f"{MATRICES[row['matrix']][0]}, {row['dtype']}",
            f"{row['shape'][0]:,}",
            f"{row['nnz']:,}",
            f"{row['copy GB/s']:,.1f}",
            *(cell(row, form) for form in names),
        ]
        for row in result["products"]
    ]
    head = ["GB/s (of a copy)", "rows", "elements", "copy", *names]
    text = common.table(head, rows)
    for name, reason in result["missing"].items():
        text += f"\n{name}: {reason}"
    for reason in result["failed"]:
        text += f"\nfailed: {reason}"
    return f"{result['device']}\n\n{text}"


def main(argv=None):
    parser = common.parser(__doc__, "small and only once", rounds=None)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--dtype", action="append", choices=DTYPES)
    parser.add_argument("--matrix", action="append", choices=sorted(MATRICES))
    parser.add_argument("--serve", choices=sorted(PREPARE), help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    args.rows = args.rows or (QUICK_ROWS if args.quick else ROWS)
    args.rounds = args.rounds or (1 if args.quick else 3)
    args.dtype = args.dtype or list(DTYPES)
    args.matrix = args.matrix or list(MATRICES)
    if args.rows < 8:
        parser.error("--rows must be at least 8")
    if args.serve:
        common.serve_prepared(lambda: PREPARE[args.serve](args.rows, args.dtype))
        return 0
    result = common.measured(run, args)
    common.conclude(args, result, report(result))
    return 1 if result["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
