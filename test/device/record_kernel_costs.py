"""Ask Nsight Compute on a GPU what the kernels of cost_kernels.py cost.

    cd test && python -m device.record_kernel_costs

It writes the table of test_kernel_costs.
"""

import csv
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).parents[1] / "data" / "kernel_costs.tsv"

HEAD = """\
# What Nsight Compute {version} counts for the kernels of device/cost_kernels.py on an
# NVIDIA H200, compiled by {compiler}.
# loads, stores, atomics: requests and sectors of 32 bytes in global memory. local:
# requests. shared: wavefronts of loads, stores and atomics; conflicts: those above the
# least. warps, threads: instructions executed. branches, divergent: branch targets.
"""

GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SHARED = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{}.sum"
BRANCHES = "smsp__sass_branch_targets{}.sum"

#: The columns, and the metrics whose sums they are.
COLUMNS = {
    "load_requests": [GLOBAL.format("requests", "ld")],
    "load_sectors": [GLOBAL.format("sectors", "ld")],
    "store_requests": [GLOBAL.format("requests", "st")],
    "store_sectors": [GLOBAL.format("sectors", "st")],
    "atomic_requests": [GLOBAL.format("requests", op) for op in ("atom", "red")],
    "atomic_sectors": [GLOBAL.format("sectors", op) for op in ("atom", "red")],
    "local_loads": ["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"],
    "local_stores": ["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"],
    "shared_loads": [SHARED.format("ld")],
    "shared_stores": [SHARED.format("st")],
    "shared_atomics": [SHARED.format("atom")],
    "load_conflicts": [CONFLICTS.format("ld")],
    "store_conflicts": [CONFLICTS.format("st")],
    "warps": ["smsp__inst_executed.sum"],
    "threads": ["smsp__thread_inst_executed.sum"],
    "branches": [BRANCHES.format("")],
    "divergent": [BRANCHES.format("_threads_divergent")],
    "registers": ["launch__registers_per_thread"],
}


def number(text):
    return round(float(text.replace(",", "")))


def printed(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    metrics = ",".join(name for names in COLUMNS.values() for name in names)
    options = ["--clock-control", "none", "--csv", "--page", "raw"]
    program = [sys.executable, "-m", "device.cost_kernels"]
    text = printed("ncu", *options, "--metrics", metrics, *program)
    lines = [line for line in text.splitlines() if line.startswith('"')]
    head = HEAD.format(
        version=printed("ncu", "--version").split("Version ")[1].split()[0],
        compiler=printed("nvcc", "--version").split("Build ")[1].split("/")[0],
    )
    with FILE.open("w") as file:
        file.write(head + "\t".join(["kernel", *COLUMNS]) + "\n")
        for row in csv.DictReader(lines):
            if row["ID"]:  # the first row has the units
                values = [
                    sum(number(row[n]) for n in each) for each in COLUMNS.values()
                ]
                name = row["Kernel Name"].split("(")[0]
                file.write("\t".join([name, *map(str, values)]) + "\n")


if __name__ == "__main__":
    main()
