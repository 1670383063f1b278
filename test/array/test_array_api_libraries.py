"""Libraries for arrays of any kind, with GPUArrays."""

import re
from pathlib import Path

import numpy as np
import pytest

import pycuda.array_api as xp
from pycuda.gpuarray import GPUArray, to_gpu
from support.child import run_child

pytestmark = pytest.mark.gpu

FOLDER = Path(__file__).resolve().parents[1]


def calls_of(library):
    """Return the report of support/array_api_calls.py: name and result of each call."""
    done = run_child(
        f"""
        import sys
        sys.path.insert(0, {str(FOLDER)!r})
        from support.array_api_calls import main
        main({library!r})
        """,
        timeout=500,
        check=False,
        SCIPY_ARRAY_API="1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line]


def test_scipy():
    pytest.importorskip("scipy", minversion="1.15")
    calls = calls_of("scipy")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 90


def test_scikit_learn():
    pytest.importorskip("sklearn", minversion="1.8")
    calls = calls_of("sklearn")
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) > 40


@pytest.mark.parametrize(
    ("library", "count"), [("dask", 60), ("xarray", 45), ("einops", 15)]
)
def test_libraries_of_duck_arrays(library, count):
    pytest.importorskip(library)
    calls = calls_of(library)
    assert [call for call in calls if call[1] != "same"] == []
    assert len(calls) >= count


REGISTERED = """
import sys, warnings
warnings.simplefilter("error")
{imports}
import numpy as np
import pycuda.autoinit
from pycuda.gpuarray import to_gpu
x = to_gpu(np.arange(24.0).reshape(4, 6))
print(einops.reduce(einops.rearrange(x, "a b -> b a"), "a b -> b", "sum").get())
d = da.from_array(x, chunks=3)
print((x - d).sum().compute(), d.mean(axis=0).compute()[1], sizeof(x))
print(type(d.to_backend("numpy").compute()).__name__)
"""
IMPORTS = ["import pycuda.gpuarray", "import dask.array as da, einops"]


@pytest.mark.parametrize("first", [0, 1], ids=["pycuda first", "pycuda last"])
def test_registrations(first):
    pytest.importorskip("dask")
    pytest.importorskip("einops")
    imports = [*(IMPORTS[::-1] if first else IMPORTS), "from dask.sizeof import sizeof"]
    done = run_child(REGISTERED.format(imports="\n".join(imports)))
    assert done.stdout.splitlines() == [
        "[ 15.  51.  87. 123.]",
        "0.0 10.0 192",
        "ndarray",
    ]


MADE = """
import numpy as np, dask
import dask.array as da
from dask.array.backends import array_creation_dispatch as table
from importlib.metadata import EntryPoint
import pycuda.autoinit
assert "pycuda" not in table._lookup
found = EntryPoint("pycuda", {value!r}, "dask.array.backends").load()()
assert found is table.dispatch("pycuda")
from pycuda.gpuarray import GPUArray
on_host = da.from_array(np.arange(4), chunks=2)
moved = on_host.to_backend("pycuda")
assert moved.to_backend("pycuda") is moved
with dask.config.set({{"array.backend": "pycuda"}}):
    made = [da.ones(5, chunks=2), da.zeros((2, 3)), da.full(3, 7), da.arange(1, 4)]
    made += [da.empty(3), da.ones(2, meta=np.empty(0)), on_host.to_backend()]
    made += [da.nonzero(moved)[0], da.argtopk(moved, 2)]
    made += [make(3).to_backend() for make in (da.random.random, da.eye)]
    made += [da.random.RandomState(1).uniform(size=3)]
for d in (moved, *made):
    x = d.compute()
    greatest = "" if d is made[4] else np.ceil(float(x.max()))
    print(type(x).__name__, x.dtype, x.shape, greatest)
"""


def test_arrays_that_dask_makes():
    pytest.importorskip("dask")
    text = (FOLDER.parent / "pyproject.toml").read_text()
    (value,) = re.findall(r'dask.array.backends"\]\npycuda = "(.*)"', text)
    assert run_child(MADE.format(value=value)).stdout.splitlines() == [
        "GPUArray int64 (4,) 3.0",
        "GPUArray float64 (5,) 1.0",
        "GPUArray float64 (2, 3) 0.0",
        "GPUArray int64 (3,) 7.0",
        "GPUArray int64 (3,) 3.0",
        "GPUArray float64 (3,) ",
        "ndarray float64 (2,) 1.0",
        "GPUArray int64 (4,) 3.0",
        "GPUArray int64 (3,) 3.0",
        "GPUArray int64 (2,) 3.0",
        "GPUArray float64 (3,) 1.0",
        "GPUArray float64 (3, 3) 1.0",
        "ndarray float64 (3,) 1.0",
    ]


def test_copies_in_host_memory(ctx):
    """xarray and others call to_numpy() where they need the elements."""
    x = to_gpu(np.arange(6.0).reshape(2, 3)[:, ::2])
    assert type(x.to_numpy()) is np.ndarray
    np.testing.assert_array_equal(x.to_numpy(), x.get())
    xr = pytest.importorskip("xarray")
    array = xr.DataArray(x, dims=("a", "b"))
    assert type(array.as_numpy().data) is np.ndarray
    with pytest.raises(TypeError, match=r"call \.get"):
        _ = array.values


def test_tables_of_another_version_make_a_warning():
    done = run_child(
        """
        import sys, types, warnings
        sys.modules["dask"] = types.ModuleType("dask")
        sys.modules["dask.sizeof"] = types.ModuleType("dask.sizeof")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            import pycuda.gpuarray
        print([w.message for w in caught])
        """
    )
    assert "this version of dask does not take GPUArrays" in done.stdout


REALS = np.array([-200.7, -41.25, -2, -1, 0, 0.5, 0.99, 1, 1.001, 2, 3.5, 60, 101])
ORDERS = np.array([-1, 0.5, 1, 1.0001, 2, 3, 4, 20, 101, np.nan])[:, None]
FIRST = [-100.25, -5.75, -3, -0.3, -1e-9, 0, 1e-8, 0.5, 1, 11.9, 100, 1e9, np.inf]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("zeta", (REALS,)),
        ("zeta", (ORDERS[:7], np.array(FIRST))),
        ("zeta", (ORDERS, np.array(FIRST[4:]))),
        ("polygamma", (np.arange(-1, 9)[:, None], np.array(FIRST[1:]))),
        ("chdtrc", (np.array([[-1], [0], [0.5], [30], [np.inf]]), np.array(FIRST))),
    ],
)
def test_zeta_functions(ctx, name, arguments):
    """They have SciPy's values, at poles, at negative numbers and for large orders."""
    special = pytest.importorskip("scipy.special")
    ours = getattr(xp.special, name)
    with np.errstate(all="ignore"):
        expected = getattr(special, name)(*arguments)
    found = ours(*map(to_gpu, arguments))
    np.testing.assert_allclose(found.get(), expected, 3e-13)
    single = ours(*(to_gpu(a.astype("f4")) for a in arguments))
    assert single.dtype == np.float32
    with pytest.raises(TypeError, match="at least one"):
        ours(*(2.0 for _ in arguments))


def test_special_functions_of_scipy(ctx):
    special = pytest.importorskip("scipy.special")
    numbers = np.linspace(0.1, 0.9, 5)
    x = to_gpu(numbers)
    for name, count in (("psi", 1), ("erfinv", 1), ("betaln", 2), ("fdtr", 3)):
        function = getattr(special, name)
        found = function(*(x,) * count)
        assert isinstance(found, GPUArray)
        np.testing.assert_allclose(found.get(), function(*(numbers,) * count), 1e-12)
    out = to_gpu(np.empty(5))
    assert special.gamma(x, out=out) is out
    np.testing.assert_allclose(out.get(), special.gamma(numbers), 1e-12)
    with pytest.raises(TypeError, match="jv has no counterpart"):
        special.jv(1.0, x)
    with pytest.raises(TypeError, match=r"scipy.special.psi of GPUArrays: .*where"):
        special.psi(x, where=numbers > 1)
