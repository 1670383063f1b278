"""The counts of the software device are those of Nsight Compute on an H200.

The table has what the hardware counted for the kernels of cost_kernels.py. Requests,
sectors, wavefronts and conflicts are equal, except where ptxas joins accesses of PTX.
"""

import csv
import json
from pathlib import Path

import pytest

from device import cost_kernels
from support.child import run_child
from support.compilers import needs_nvcc

TABLE = Path(__file__).parents[1] / "data" / "kernel_costs.tsv"

#: Kernels whose accesses ptxas joins or moves: (column, on an H200, here).
JOINED = {
    "product_tiled": [("shared_loads", 12288, 16384)],  # four floats at once
    "softmax_row": [("shared_loads", 1024, 2048)],
    "shared_stride2": [("shared_stores", 128, 256), ("store_conflicts", 0, 128)],
    "reduce_strided": [("shared_loads", 5568, 6080), ("load_conflicts", 3968, 4480)],
    "local_array": [("local_stores", 1024, 640)],
    "histogram_wide": [("atomic_sectors", 16329, 16326)],
}

#: Kernels with branches that ptxas keeps; it makes predicates of the others.
BRANCHES = ["branch_parity", "branch_warp", "loop_by_lane", "grid_stride", "copy"]

COLUMNS = [
    "load_requests",
    "load_sectors",
    "store_requests",
    "store_sectors",
    "atomic_requests",
    "atomic_sectors",
    "local_loads",
    "local_stores",
    "shared_loads",
    "shared_stores",
    "shared_atomics",
    "load_conflicts",
    "store_conflicts",
]


def recorded():
    with TABLE.open() as file:
        lines = [line for line in file if not line.startswith("#")]
    return {row["kernel"]: row for row in csv.DictReader(lines, delimiter="\t")}


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """What the software device counts, by kernel and column."""
    prefix = str(tmp_path_factory.mktemp("counts") / "c")
    environment = {
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_CHECK": None,
        "PYCUDA_EMULATOR_CAPABILITY": "9.0",
        "PYCUDA_EMULATOR_COUNT": "accesses",
        "PYCUDA_EMULATOR_COUNT_LOG": prefix,
    }
    code = f"""
    import json, os, sys
    sys.path.insert(0, {str(Path(__file__).parents[1])!r})
    import pycuda.autoinit
    from device import cost_kernels
    from pycuda import _counts
    from pycuda.compiler import SourceModule

    prefix = os.environ["PYCUDA_EMULATOR_COUNT_LOG"]
    cost_kernels.run(SourceModule(cost_kernels.source(), no_extern_c=True))
    _counts.write(prefix)
    print(json.dumps(cost_kernels.costs(_counts.read(prefix))))
    """
    return json.loads(run_child(code, **environment).stdout)


def test_the_table_has_all_kernels():
    assert list(recorded()) == list(cost_kernels.ROWS)


@needs_nvcc
@pytest.mark.parametrize("kernel", cost_kernels.ROWS)
def test_memory_costs_what_it_costs_on_a_gpu(counted, kernel):
    row = recorded()[kernel]
    found = counted[kernel]
    differences = [
        (column, int(row[column]), found.get(column, 0))
        for column in COLUMNS
        if int(row[column]) != found.get(column, 0)
    ]
    assert differences == JOINED.get(kernel, [])


@needs_nvcc
@pytest.mark.parametrize("kernel", BRANCHES)
def test_warps_divide_as_often_as_on_a_gpu(counted, kernel):
    assert counted[kernel].get("divergent", 0) == int(recorded()[kernel]["divergent"])


@needs_nvcc
def test_instructions_are_about_those_of_a_gpu(counted):
    ratios = [
        counted[kernel]["warps"] / int(row["warps"])
        for kernel, row in recorded().items()
    ]
    assert min(ratios) > 0.7 and max(ratios) < 1.35
    differences = sorted(abs(ratio - 1) for ratio in ratios)
    assert differences[len(differences) // 2] < 0.06
