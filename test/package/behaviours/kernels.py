"""Behaviours of ElementwiseKernel, ReductionKernel, scans and ready-made kernels."""

import numpy as np
import pytest

from package.behaviours import behaviour
from package.behaviours.array_type import F, pair
from pycuda import elementwise, gpuarray, reduction, scan, tools
from pycuda.compiler import SourceModule
from support.arrays import same

f, i4, c8 = np.dtype(F), np.dtype(np.int32), np.dtype(np.complex64)


def row(*names):
    return behaviour(*names, of="pycuda.elementwise")


def call(function, *arrays, n=None):
    """Call a prepared kernel on arrays and numbers."""
    first = next(a for a in arrays if isinstance(a, gpuarray.GPUArray))
    values = [a.gpudata if isinstance(a, gpuarray.GPUArray) else a for a in arrays]
    function.prepared_call(first._grid, first._block, *values, n or first.size)


# -- ElementwiseKernel -----------------------------------------------------------------


@row("ElementwiseKernel", "ElementwiseKernel.__call__")
def elementwise_kernel(name):
    a, x = pair((50,))
    y = gpuarray.empty_like(x)
    kernel = elementwise.ElementwiseKernel(
        "float a, float *x, float *y",
        "y[i] = a * x[i] + b",
        "linear",
        False,
        [],
        preamble="#define ONE 1",
        loop_prep="float b = ONE",
        after_loop="(void)n",
    )
    assert kernel(2, x, y) is None
    same(y, 2 * a + 1)
    plain = elementwise.ElementwiseKernel("float *x", "x[i] = -x[i]")
    plain(x, slice=slice(10, 20, 3), stream=None)
    a[10:20:3] *= -1
    same(x, a)
    plain(x, range=slice(40, 10, -7))
    a[40:10:-7] *= -1
    same(x, a)
    for bad in ({"slice": slice(3), "range": slice(0, 3, 1)}, {"odd": 1}):
        with pytest.raises(TypeError):
            plain(x, **bad)
    with pytest.raises(TypeError):
        plain(x, range=slice(0, 3))


@row("ElementwiseKernel.get_texref")
def get_texref(name):
    a, x = pair((8,))
    kernel = elementwise.ElementwiseKernel(
        "float *y",
        "y[i] = tex1Dfetch(t, i)",
        preamble="texture<float, 1, cudaReadModeElementType> t;",
    )
    y = gpuarray.empty_like(x)
    x.bind_to_texref(kernel.get_texref("t", use_range=False))
    kernel(y)
    same(y, a)


@row("ElementwiseKernel.generate_stride_kernel_and_types")
def stride_kernel(name):
    kernel = elementwise.ElementwiseKernel("float *x", "x[i] = 1")
    make = kernel.generate_stride_kernel_and_types
    module, function, arguments = make(False)
    assert [argument.name for argument in arguments] == ["x", "n"]
    assert [argument.name for argument in make(True)[2]] == [
        "x",
        "start",
        "stop",
        "step",
    ]
    assert make(False)[1] is function and module.get_function("kernel")


@row("ElementwiseKernel.gen_kwargs")
def gen_kwargs(name):
    kernel = elementwise.ElementwiseKernel("float *x", "x[i] = 1", preamble="//")
    assert kernel.gen_kwargs == {
        "arguments": "float *x",
        "operation": "x[i] = 1",
        "name": "kernel",
        "keep": False,
        "options": None,
        "preamble": "//",
    }


@row("ScalarArg", "VectorArg", "context_dependent_memoize", "dtype_to_ctype")
def names_of_tools(name):
    assert getattr(elementwise, name) is getattr(tools, name)


@row("_get_real_dtype")
def real_dtype(name):
    assert elementwise._get_real_dtype(np.complex128) == np.float64
    assert elementwise._get_real_dtype(c8) == f


# -- ready-made kernels ----------------------------------------------------------------


def ready_made():
    """Return {name: (function, its dtypes, arguments, the expected z)}."""
    a, b = np.arange(1, 51, dtype=F), np.arange(50, 0, -1, dtype=F)
    x, y, z = gpuarray.to_gpu(a), gpuarray.to_gpu(b), gpuarray.zeros(50, F)
    c = (a + 1j * b).astype(c8)
    cx, cz = gpuarray.to_gpu(c), gpuarray.zeros(50, c8)
    back = gpuarray.to_gpu(np.arange(49, -1, -1, dtype=np.int32))
    crit = gpuarray.to_gpu(a - 25)
    e = elementwise
    truth = gpuarray.zeros(50, bool)
    two = gpuarray.to_gpu(np.array(2, F))

    def bound(made):
        kernel, (texture,) = made
        two.bind_to_texref_ext(texture)
        texture.kept = two  # the binding itself keeps no object alive
        return kernel

    return {
        "get_arange_kernel": lambda: (e.get_arange_kernel(f), (z, 3, 2), z, 1 + 2 * a),
        "get_axpbyz_kernel": lambda: (
            e.get_axpbyz_kernel(f, f, f),
            (2, x, 3, y, z),
            z,
            2 * a + 3 * b,
        ),
        "get_axpbz_kernel": lambda: (
            e.get_axpbz_kernel(f, f),
            (2, x, 3, z),
            z,
            2 * a + 3,
        ),
        "get_binary_func_kernel": lambda: (
            e.get_binary_func_kernel("fmaxf", f, f, f),
            (x, y, z),
            z,
            np.maximum(a, b),
        ),
        "get_binary_func_scalar_kernel": lambda: (
            e.get_binary_func_scalar_kernel("fmaxf", f, f, f),
            (x, 9, z),
            z,
            np.maximum(a, 9),
        ),
        "get_binary_minmax_kernel": lambda: (
            e.get_binary_minmax_kernel("min", f, f, f, use_scalar=False),
            (x, y, z),
            z,
            np.minimum(a, b),
        ),
        "get_binary_op_kernel": lambda: (
            e.get_binary_op_kernel(f, f, f, "-"),
            (x, y, z),
            z,
            a - b,
        ),
        "get_conj_kernel": lambda: (e.get_conj_kernel(c8, c8), (cx, cz), cz, c.conj()),
        "get_copy_kernel": lambda: (e.get_copy_kernel(f, f), (z, x), z, a),
        "get_fill_kernel": lambda: (e.get_fill_kernel(f), (4, z), z, 0 * a + 4),
        "get_fmod_kernel": lambda: (e.get_fmod_kernel(), (x, y, z), z, np.fmod(a, b)),
        "get_if_positive_kernel": lambda: (
            e.get_if_positive_kernel(f, f),
            (crit, x, y, z),
            z,
            np.where(a > 25, a, b),
        ),
        "get_imag_kernel": lambda: (e.get_imag_kernel(c8, f), (cx, z), z, c.imag),
        "get_ldexp_kernel": lambda: (
            e.get_ldexp_kernel(),
            (x, two + 0 * x, z),
            z,
            a * 4,
        ),
        "get_linear_combination_kernel": lambda: (
            bound(e.get_linear_combination_kernel(((False, f, f), (True, f, f)), f)),
            (3, x, y, z),
            z,
            3 * a + 2 * b,
        ),
        "get_logical_not_kernel": lambda: (
            e.get_logical_not_kernel(f, np.dtype(bool)),
            (crit, truth),
            truth,
            a == 25,
        ),
        "get_pow_array_kernel": lambda: (
            e.get_pow_array_kernel(f, f, f, True, False),
            (x, 2, z),
            z,
            a**2,
        ),
        "get_pow_kernel": lambda: (e.get_pow_kernel(f), (2, x, z), z, a**2),
        "get_put_kernel": lambda: (e.get_put_kernel(f, i4), (back, z, x), z, a[::-1]),
        "get_rdivide_elwise_kernel": lambda: (
            e.get_rdivide_elwise_kernel(f, f),
            (x, 2, z),
            z,
            2 / a,
        ),
        "get_real_kernel": lambda: (e.get_real_kernel(c8, f), (cx, z), z, c.real),
        "get_reverse_kernel": lambda: (e.get_reverse_kernel(f), (x, z), z, a[::-1]),
        "get_scalar_op_kernel": lambda: (
            e.get_scalar_op_kernel(f, f, f, ">="),
            (x, 25, z),
            z,
            (a >= 25).astype(F),
        ),
        "get_take_kernel": lambda: (
            e.get_take_kernel(f, i4)[0],
            (back, z, x),
            z,
            a[::-1],
        ),
        "get_take_put_kernel": lambda: (
            e.get_take_put_kernel(f, i4, True)[0],
            (back, back, z, x, 0),
            z,
            a,
        ),
        "get_unary_func_kernel": lambda: (
            e.get_unary_func_kernel("sqrtf", f),
            (x, z),
            z,
            np.sqrt(a),
        ),
        "get_where_kernel": lambda: (
            e.get_where_kernel(f, f),
            (crit, x, y, z),
            z,
            np.where(a != 25, a, b),
        ),
    }


READY = [
    "arange",
    "axpbyz",
    "axpbz",
    "binary_func",
    "binary_func_scalar",
    "binary_minmax",
    "binary_op",
    "conj",
    "copy",
    "fill",
    "fmod",
    "if_positive",
    "imag",
    "ldexp",
    "linear_combination",
    "logical_not",
    "pow",
    "pow_array",
    "put",
    "rdivide_elwise",
    "real",
    "reverse",
    "scalar_op",
    "take",
    "take_put",
    "unary_func",
    "where",
]


@row(*(f"get_{word}_kernel" for word in READY))
def ready_made_kernels(name):
    function, arguments, out, expected = ready_made()[name]()
    call(function, *arguments)
    same(out, expected, exact=False)
    assert ready_made()[name]()[0] is function or name == "get_binary_minmax_kernel"


@row("get_frexp_kernel", "get_modf_kernel")
def kernels_of_parts(name):
    a = np.array([1.5, -3.25, 100], F)
    x, one, two = gpuarray.to_gpu(a), gpuarray.zeros(3, F), gpuarray.zeros(3, F)
    call(getattr(elementwise, name)(), x, one, two)
    if name == "get_modf_kernel":
        one, two = two, one  # the whole part comes first
    first, second = getattr(np, name[4:-7])(a)
    same(one, first)
    same(two, second.astype(F))


@row("get_elwise_kernel", "get_elwise_kernel_and_types")
def elwise_kernel(name):
    a, x = pair((10,))
    make = getattr(elementwise, name)
    made = make(
        "float *x, float b",
        "x[i] += b * k",
        "add",
        False,
        None,
        preamble="",
        loop_prep="int k = 2",
        after_loop="",
    )
    if name == "get_elwise_kernel_and_types":
        module, made, arguments = made
        assert module.get_function("add")
        assert [argument.name for argument in arguments] == ["x", "b", "n"]
    call(made, x, 3)
    same(x, a + 6)


@row("get_elwise_module", "get_elwise_range_module")
def elwise_module(name):
    vector = tools.VectorArg(F, "x")
    ranged = name == "get_elwise_range_module"
    words = ["start", "stop", "step"] if ranged else ["n"]
    kind = np.intp if ranged else np.uintp
    arguments = [vector, *(tools.ScalarArg(kind, word) for word in words)]
    module = getattr(elementwise, name)(arguments, "x[i] = i", "index")
    function = module.get_function("index").prepare("P" + "l" * len(words))
    x = gpuarray.zeros(10, F)
    values = (2, 9, 3) if ranged else (10,)
    function.prepared_call((1, 1), (32, 1, 1), x.gpudata, *values)
    expected = np.zeros(10, F)
    expected[slice(*values)] = np.arange(10)[slice(*values)]
    same(x, expected)


# -- reductions ------------------------------------------------------------------------


def red(*names):
    return behaviour(*names, of="pycuda.reduction")


@red("ReductionKernel", "ReductionKernel.__call__")
def reduction_kernel(name):
    a, x = pair((3000,))
    kernel = reduction.ReductionKernel(
        F,
        "0",
        "max(a, b)",
        "scale * x[i]",
        "float *x, float scale",
        "most",
        False,
        [],
        "//",
    )
    asked = []
    got = kernel(
        x,
        2,
        stream=None,
        allocator=lambda n: asked.append(n) or gpuarray.drv.mem_alloc(n),
    )
    same(got, 2 * a.max())
    assert asked
    out = gpuarray.zeros((), F)
    assert kernel(x, 1, out=out) is out and out.get() == a.max()
    wrapped = []
    kernel(x, 1, kernel_wrapper=lambda function: wrapped.append(1) or function)
    assert wrapped
    with pytest.raises(ValueError):
        kernel(x, 1, out=gpuarray.zeros((), np.float64))
    with pytest.raises(ValueError):
        kernel(x, 1, out=gpuarray.zeros(0, F))


@red(
    "ReductionKernel.dtype_out",
    "ReductionKernel.block_size",
    "ReductionKernel.stage1_func",
    "ReductionKernel.stage2_func",
    "ReductionKernel.stage1_arg_types",
    "ReductionKernel.stage2_arg_types",
)
def reduction_attributes(name):
    kernel = reduction.ReductionKernel(np.float64, "0", "a+b", "x[i]", "float *x")
    value = getattr(kernel, name)
    if name.endswith("func"):
        a, x = pair((100,))
        out = gpuarray.zeros((), np.float64)
        block = (kernel.block_size, 1, 1)
        source = [] if name == "stage1_func" else [out.gpudata]
        kernel.stage1_func((1, 1), block, None, out.gpudata, x.gpudata, 1, 100)
        if name == "stage2_func":
            value((1, 1), block, None, out.gpudata, *source, x.gpudata, 1, 1)
        else:
            value((1, 1), block, None, out.gpudata, x.gpudata, 1, 50)
            a = a[:50]
        assert out.get() == a.sum()
        return
    expected = {
        "dtype_out": np.dtype(np.float64),
        "block_size": 512,
        "stage1_arg_types": ["P", "P", "I", "N"],
        "stage2_arg_types": ["P", "P", "P", "I", "N"],
    }
    assert value == expected[name]


@red(
    "get_all_kernel",
    "get_any_kernel",
    "get_dot_kernel",
    "get_minmax_kernel",
    "get_subset_dot_kernel",
    "get_subset_minmax_kernel",
    "get_subset_sum_kernel",
    "get_sum_kernel",
)
def ready_made_reductions(name):
    a, x = pair((700,), start=-20)
    index = np.array([3, 699, 3], np.int32)
    s, part = gpuarray.to_gpu(index), a[index]
    d, b = np.dtype(np.float64), np.dtype(bool)
    get = getattr(reduction, name)
    cases = {
        "get_all_kernel": ((b, f), (x,), a.all()),
        "get_any_kernel": ((b, f), (x,), a.any()),
        "get_dot_kernel": ((d, f, f), (x, x), a.astype(d).dot(a)),
        "get_minmax_kernel": (("max", f), (x,), a.max()),
        "get_subset_dot_kernel": ((d, i4, f, f), (s, x, x), part.astype(d).dot(part)),
        "get_subset_minmax_kernel": (("min", f, i4), (s, x), part.min()),
        "get_subset_sum_kernel": ((d, i4, f), (s, x), part.sum(dtype=d)),
        "get_sum_kernel": ((d, f), (x,), a.sum(dtype=d)),
    }
    dtypes, arrays, expected = cases[name]
    assert get(*dtypes)(*arrays).get() == expected
    assert get(*dtypes) is get(*dtypes)
    if name == "get_minmax_kernel":
        with pytest.raises(TypeError):
            get("min", b)


@red("get_minmax_neutral")
def minmax_neutral(name):
    get = reduction.get_minmax_neutral
    assert "MY_INFINITY" in get("min", f) and get("max", f).startswith("-")
    assert get("max", np.dtype(np.uint8)) == "0"
    assert get("min", np.dtype(np.int8)).startswith("127")
    with pytest.raises(TypeError):
        get("min", c8)


@red("get_reduction_kernel_and_types", "get_reduction_module")
def reduction_parts(name):
    a, x = pair((100,))
    out = gpuarray.zeros((), F)
    if name == "get_reduction_module":
        module = reduction.get_reduction_module(
            "float", 64, "0", "a+b", "x[i]", [tools.VectorArg(F, "x")], "add"
        )
        assert isinstance(module, SourceModule)
        function = module.get_function("add").prepare("PPIN")
    else:
        function, types = reduction.get_reduction_kernel_and_types(
            1, "float", 64, "0", "a+b", arguments=[tools.VectorArg(F, "x")]
        )
        assert types == ["P", "P", "I", "N"]
    function.prepared_call((1, 1), (64, 1, 1), out.gpudata, x.gpudata, 2, 100)
    assert out.get() == a.sum()


# -- scans -----------------------------------------------------------------------------


def scans(*names):
    return behaviour(*names, of="pycuda.scan")


@scans(
    "InclusiveScanKernel",
    "InclusiveScanKernel.__call__",
    "ExclusiveScanKernel",
    "ExclusiveScanKernel.__call__",
    "_ScanKernelBase",
    "_ScanKernelBase.__call__",
)
def scan_kernels(name):
    for exclusive in (False, True):
        one_scan(name, exclusive)


def one_scan(name, exclusive):
    kind = scan.ExclusiveScanKernel if exclusive else scan.InclusiveScanKernel
    assert issubclass(kind, scan._ScanKernelBase)
    kernel = kind(np.int32, "a + b", 0, "mine", [], "//", None)
    a = np.arange(1, 2000, dtype=np.int32)
    expected = np.cumsum(a, dtype=np.int32) - (a if exclusive else 0)
    x = gpuarray.to_gpu(a)
    out = gpuarray.empty_like(x)
    assert kernel(x, out, None, None) is out
    same(out, expected)
    same(x, a)
    assert kernel(input_ary=x, output_ary=None, allocator=None, stream=None) is x
    same(x, expected)
    assert kernel(gpuarray.zeros(0, np.int32)).size == 0
    with pytest.raises(ValueError):
        kernel(gpuarray.zeros((2, 2), np.int32))
    if exclusive:
        with pytest.raises(ValueError):
            kind(np.int32, "a + b")
    if name == "_ScanKernelBase":
        own = scan._ScanKernelBase(np.int32, "max(a, b)")
        got = own(gpuarray.to_gpu(np.array([1, 3, 2], np.int32))).get()
        assert got.tolist() == [1, 3, 3]


@scans(
    "_ScanKernelBase.dtype",
    "_ScanKernelBase.neutral",
    "_ScanKernelBase.scan_wg_size",
    "_ScanKernelBase.update_wg_size",
    "_ScanKernelBase.scan_wg_seq_batches",
    "_ScanKernelBase.scan_intervals_knl",
    "_ScanKernelBase.final_update_knl",
)
def scan_attributes(name):
    kernel = scan.ExclusiveScanKernel(np.int32, "a + b", 5)
    value = getattr(kernel, name)
    if name == "dtype":
        assert value == np.int32
    elif name == "neutral":
        assert value == 5
    elif name.endswith("knl"):
        assert value.num_regs >= 0
    else:
        assert isinstance(value, int) and value > 0


@scans(
    "InclusiveScanKernel.final_update_tp",
    "ExclusiveScanKernel.final_update_tp",
    "INCLUSIVE_UPDATE_SOURCE",
    "EXCLUSIVE_UPDATE_SOURCE",
    "SCAN_INTERVALS_SOURCE",
    "SHARED_PREAMBLE",
)
def scan_texts(name):
    texts = {
        "INCLUSIVE_UPDATE_SOURCE": scan.INCLUSIVE_UPDATE_SOURCE,
        "EXCLUSIVE_UPDATE_SOURCE": scan.EXCLUSIVE_UPDATE_SOURCE,
        "SCAN_INTERVALS_SOURCE": scan.SCAN_INTERVALS_SOURCE,
        "SHARED_PREAMBLE": scan.SHARED_PREAMBLE,
    }
    assert "SCAN_EXPR" in scan.SHARED_PREAMBLE or "{scan_expr}" in scan.SHARED_PREAMBLE
    assert scan.InclusiveScanKernel.final_update_tp is scan.INCLUSIVE_UPDATE_SOURCE
    assert scan.ExclusiveScanKernel.final_update_tp is scan.EXCLUSIVE_UPDATE_SOURCE
    if name in texts:
        assert isinstance(texts[name], str) and "{" in texts[name]
