"""The clients: where their tests are, and what they need to find the device."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

from pycuda import emulator

SUITES = Path(__file__).parent / "suites"
ROOT = Path(__file__).resolve().parents[2]


@dataclasses.dataclass(frozen=True)
class Client:
    """A program of others, and its tests."""

    name: str
    #: The modules or packages with unittest tests.
    modules: tuple[str, ...]
    #: Tests that run in the project's own suite; they take seconds. Without them, the
    #: client runs in `make clients` only.
    quick: tuple[str, ...]
    #: The version of the client whose tests these are.
    version: str
    #: The source archive that has the tests, if the wheel has none.
    source: str = ""
    #: Packages of Debian, which are unpacked into the environment.
    debian: tuple[str, ...] = ()
    #: Variables beside those of pycuda.emulator.environment().
    variables: tuple[tuple[str, str], ...] = ()
    #: The version of the driver that the client must see.
    driver_version: str | None = None
    #: Whether the tests use this package too.
    with_pycuda: bool = False

    def folder(self, environment):
        """Return the folder in which the tests run."""
        if self.source:
            return next(environment.glob("source/*/test"))
        return SUITES


def variables(client, environment):
    """Return the environment variables for a run of a client.

    {library} and {environment} in a value of the client are replaced.
    """
    drop = ("PYTHON", "PYCUDA_EMULATOR", "PYCUDA_DRIVER", "TRITON", "WARP", "NUMBA")
    found = {
        name: value for name, value in os.environ.items() if not name.startswith(drop)
    }
    found.update(emulator.environment(found, driver_version=client.driver_version))
    for name, value in client.variables:
        found[name] = value.format(library=emulator.library(), environment=environment)
    found["PYTHONNOUSERSITE"] = "1"
    if client.with_pycuda:
        found["PYTHONPATH"] = str(ROOT)
    return found


_TESTS = "numba.cuda.tests."

_NUMBA = Client(
    name="numba",
    version="numba-cuda 0.30.4",
    modules=tuple(
        _TESTS + name
        for name in ("core", "cudadrv", "cudapy", "doc_examples", "nocuda", "nrt")
    ),
    quick=(
        _TESTS + "cudapy.test_atomics.TestCudaAtomics.test_atomic_add",
        _TESTS + "cudapy.test_array.TestCudaArray.test_gpu_array_zero_length",
        _TESTS + "cudapy.test_sm.TestSharedMemoryIssue.test_issue_2393",
        _TESTS + "cudadrv.test_events.TestCudaEvent.test_event_elapsed",
        _TESTS + "doc_examples.test_vecadd.TestVecAdd.test_ex_vecadd",
    ),
)

_TINY = "test_tiny.TestTiny."
_TINYGRAD = Client(
    name="tinygrad",
    version="tinygrad 0.12.0",
    source="tinygrad==0.12.0",
    modules=("test_tiny",),
    quick=(_TINY + "test_plus", _TINY + "test_gemm", _TINY + "test_jit"),
    variables=(
        ("CUDA", "1"),
        ("CUDA_PTX", "1"),
        ("CUDA_PATH", "{library}"),
        ("CACHEDB", "{environment}/cache.db"),
    ),
)
#: The operators: each is compared with PyTorch, which makes the environment large.
_TINYGRAD_OPS = dataclasses.replace(
    _TINYGRAD, name="tinygrad_ops", modules=("test_ops",), quick=()
)

_CUDA_CORE = Client(
    name="cuda_core",
    version="cuda.core 1.2.2",
    modules=("cuda_core",),
    quick=(
        "cuda_core.Code.test_program",
        "cuda_core.Memory.test_device_memory",
        "cuda_core.Launches.test_cluster",
        "cuda_core.Graphs.test_while_node",
    ),
)

_TRITON = Client(
    name="triton",
    version="triton 3.9.0",
    modules=("triton_kernels",),
    quick=(
        "triton_kernels.Kernels.test_softmax",
        "triton_kernels.Products.test_half_with_a_warp_group",
    ),
    variables=(
        ("TRITON_CACHE_DIR", "{environment}/kernels"),
        ("TRITON_DEFAULT_FP_FUSION", "1"),
    ),
    with_pycuda=True,
)

_WARP = Client(
    name="warp",
    version="warp-lang 1.19.0",
    modules=("warp_kernels",),
    quick=("warp_kernels.Kernels.test_functions",),
    variables=(("WARP_CACHE_PATH", "{environment}/kernels"),),
    # Warp assembles PTX to machine code for a driver that is older than its compiler.
    driver_version="13.5",
    with_pycuda=True,
)

#: These compare with their backends for the CPU, or with known answers.
_TAICHI = Client(
    name="taichi",
    version="taichi 1.7.4",
    modules=("taichi_kernels",),
    quick=(),
)
_HALIDE = Client(
    name="halide",
    version="halide 21.0.0",
    modules=("halide_kernels",),
    quick=(),
)
_HASHCAT = Client(
    name="hashcat",
    version="hashcat of Debian",
    modules=("hashcat_attacks",),
    quick=(),
    debian=("hashcat", "hashcat-data", "libminizip1", "libxxhash0"),
    variables=(("HASHCAT", "{environment}/debian/usr/share/hashcat"),),
)

#: These run the tests that a library has for arrays of any kind with GPUArrays.
_LIBRARIES = tuple(
    Client(
        name=version.partition(" ")[0].replace("-", "_"),
        version=version,
        modules=(f"{version.partition(' ')[0].replace('-', '_')}_tests",),
        quick=(),
        with_pycuda=True,
    )
    for version in (
        "scikit-learn 1.9.1",
        "scipy 1.17.1",
        "array-api-extra 0.11.5",
        "einops 0.8.2",
        "dask 2026.8.0",
        "xarray 2026.9.0",
    )
)
#: It uses this package. The program of the page on autotuning runs with the tests.
_KERNEL_TUNER = Client(
    name="kernel_tuner",
    version="kernel_tuner 1.5.0",
    modules=("kernel_tuner_runs",),
    quick=(),
    variables=(("PYCUDA_CACHE_DIR", "{environment}/kernels"),),
    with_pycuda=True,
)

CLIENTS = {
    client.name: client
    for client in (
        *(_NUMBA, _CUDA_CORE, _TINYGRAD, _TINYGRAD_OPS, _TRITON, _WARP),
        *(_TAICHI, _HALIDE, _HASHCAT, _KERNEL_TUNER, *_LIBRARIES),
    )
}
