"""Ask a GPU which accesses near an allocation fault, and write the table of test_zones.

    cd test && python -m device.record_mapped_blocks

Each walk has a process of its own, since a fault ends the context.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FILE = Path(__file__).parents[1] / "data" / "mapped_blocks.tsv"
MIB = 1 << 20
SIZES = [16, 400, 512, 4096, 65536, MIB, 2 * MIB - 512, 2 * MIB, 2 * MIB + 4]
SIZES += [3 * MIB, 8 * MIB]

HEAD = """\
# Which accesses near an allocation of cuMemAlloc fault on an H200, driver for CUDA 13,
# in a new context. A kernel of one thread touched one byte after the other, every 512
# bytes up to 64 KiB away and every 4 KiB from there, for 40 MiB, until one faulted.
# size: bytes of the allocation. others: allocations of the same size made before it.
# offset: of its address in a block of 2 MiB. side: behind its end, or before its start.
# access: read or write. fault: distance of the byte that faulted from the start of the
# allocation; "none" within 40 MiB.
size\tothers\toffset\tside\taccess\tfault
"""

WALK = """
import json, os, sys
import numpy as np
import pycuda.driver as drv
size, others, side, access = json.loads(sys.argv[1])
drv.init()
context = drv.Device(0).make_context()
from pycuda.compiler import SourceModule
touch = SourceModule('''
__global__ void touch(unsigned char *p, long long d, int write, unsigned *out)
{
    if (write)
        p[d] = 7;
    else
        *out = p[d];
}
''').get_function("touch")
out = drv.mem_alloc(4)
kept = [drv.mem_alloc(size) for _ in range(others)]
p = drv.mem_alloc(size)
behind = side == "behind"
distance = size + -(int(p) + size) % 512 if behind else -1
fault = "none"
while abs(distance) < 40 << 20:
    try:
        touch(p, np.int64(distance), np.int32(access == "write"), out, block=(1, 1, 1))
        context.synchronize()
    except drv.Error:
        fault = distance
        break
    step = 512 if abs(distance) - size * behind < 1 << 16 else 4096
    distance += step if behind else -step
print(size, others, int(p) % (2 << 20), side, access, fault, sep="\\t", flush=True)
os._exit(0)  # the context may be lost
"""


def walk(case):
    command = [sys.executable, "-c", WALK, json.dumps(case)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    cases = [
        (size, others, side, "read")
        for size in SIZES
        for side in ("behind", "before")
        for others in (0, 3)
    ]
    cases += [
        (n, 0, side, "write") for n in (400, 4096) for side in ("behind", "before")
    ]
    with ThreadPoolExecutor(6) as pool:
        FILE.write_text(HEAD + "".join(pool.map(walk, cases)), encoding="utf-8")


if __name__ == "__main__":
    main()
