"""Reports of the software device about asynchronous copies that are wrong.

Each runs in a child process, because the fault breaks the context. GPUs report only the
code, and hang where a wait never ends.
"""

import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.child import run_child
from support.emulator import PATH

try:
    drv.init()
    IS_SOFTWARE = _driver._is_emulated()
except drv.Error:
    IS_SOFTWARE = False

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not IS_SOFTWARE, reason="needs the software device"),
]

BEGIN = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from support.tiles import HEAD, load, load_kernel, place

array = gpuarray.to_gpu(np.arange(60 * 104, dtype=np.uint16).reshape(60, 104))
map = drv.TensorMap(array, (8, 16))

def launch(body, *arguments):
    text = HEAD + f'''.visible .entry k(.param .align 64 .b8 map[128], .param .u64 data)
    {{
        .reg .b32 %r<9>; .reg .b64 %q<9>; .reg .pred %p<9>;
        mov.b64 %q1, map;
        cvta.param.u64 %q1, %q1;
        ld.param.u64 %q2, [data];
        mov.u32 %r1, %tid.x;
        setp.ne.u32 %p1, %r1, 0;
        {body}
    }}'''
    kernel = drv.module_from_buffer(text.encode()).get_function("k")
    kernel(map, array, block=(64, 1, 1))
    drv.Context.synchronize()
"""

#: Thread 0 begins a copy of 256 bytes to `room`, and all threads meet.
COPY = """
        @%p1 bra Meet;
        mbarrier.init.shared::cta.b64 [object], 1;
        mbarrier.arrive.expect_tx.shared::cta.b64 _, [object], {expected};
        {copy}
        Meet:
        bar.sync 0;
"""
TILE = """mov.u32 %r2, 8; mov.u32 %r3, {row};
        cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes
            [room+{to}], [%q1, {{{coordinates}}}], [object];"""
RANGE = """cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes
            [room+{to}], [%q2+{source}], 256, [object];"""
WAIT = """
        Again:
        mbarrier.try_wait.parity.shared::cta.b64 %p2, [object], 0;
        @!%p2 bra Again;
"""
READ = """
        mov.u32 %r4, room;
        mad.lo.u32 %r4, %r1, 4, %r4;
        ld.shared.u32 %r5, [%r4];
        ret;
"""


def tile(to=0, rank=2, row=3, expected=256):
    coordinates = ", ".join(["%r2", "%r3", "%r3"][:rank])
    copy = TILE.format(to=to, rank=rank, row=row, coordinates=coordinates)
    return COPY.format(copy=copy, expected=expected)


def range_of(to=0, source=0):
    return COPY.format(copy=RANGE.format(to=to, source=source), expected=256)


def report(code, **env):
    """Run code that ends with an error of the driver. Return its text."""
    env.update(PYCUDA_EMULATOR_CAPABILITY="9.0", PYTHONPATH=PATH)
    code = f"""{BEGIN}
try:
{code}
except drv.Error as error:
    print(error)
else:
    print("no error")
"""
    return run_child(code, check=False, **env).stdout


def of_kernel(body, **env):
    return report(f"    launch('''{body}''')", **env)


@pytest.mark.parametrize(
    ("body", "code", "text"),
    [
        (tile(to=64), "MISALIGNED_ADDRESS", "which is no multiple of 128"),
        (tile(to=32640), "ILLEGAL_ADDRESS", "which has 33792 bytes"),
        (tile(rank=3), "ILLEGAL_INSTRUCTION", "another number of dimensions"),
        (range_of(to=8), "MISALIGNED_ADDRESS", "must be multiples of 16"),
        (range_of(source=4), "MISALIGNED_ADDRESS", "must be multiples of 16"),
        (range_of(source=12480), "ILLEGAL_ADDRESS", "beyond the end"),
        (range_of(to=32640), "ILLEGAL_ADDRESS", "which has 33792 bytes"),
        (
            range_of().replace("%q2", "%q3").replace("@%p1", "mov.u64 %q3, 16;\n@%p1"),
            "ILLEGAL_ADDRESS",
            "no allocation is near",
        ),
        (
            tile().replace("[object];\n        Meet", "[room+4];\n        Meet"),
            "ILLEGAL_ADDRESS",
            "the mbarrier of a copy",
        ),
    ],
)
def test_faults(body, code, text):
    said = of_kernel(body + "ret;")
    assert f"CUDA_ERROR_{code}" in said and text in said, said


def test_a_map_that_is_none():
    said = report("    load(np.zeros(1, 'V128')[0], (3, 8), 256)")
    assert "CUDA_ERROR_ILLEGAL_INSTRUCTION" in said
    assert "was not written by cuTensorMapEncodeTiled" in said


def test_an_array_that_was_freed():
    said = report("    array.gpudata.free()\n    load(map, (3, 8), 256)")
    assert "CUDA_ERROR_ILLEGAL_ADDRESS" in said and "has been freed" in said


def test_a_wait_for_bytes_that_never_come():
    said = of_kernel(tile(expected=512) + WAIT + READ)
    assert "deadlock: all blocks that are resident loop for ever" in said, said


@pytest.mark.parametrize("copy", [tile(), range_of()])
def test_a_missing_wait_is_a_race(copy):
    """The barrier does not order the copy, but a wait for the mbarrier does."""
    said = of_kernel(copy + READ, PYCUDA_EMULATOR_CHECK="race")
    assert "race: read of 4 bytes" in said, said
    assert "the copy that thread (0, 0, 0) began, with no wait" in said
    for check in ("race", "all"):
        said = of_kernel(copy + WAIT + READ, PYCUDA_EMULATOR_CHECK=check)
        assert said == "no error\n"


def test_reading_beside_the_tile_is_seen():
    """The copy has written 256 bytes, and the block reads 512."""
    body = tile() + WAIT + READ.replace("%r1, 4", "%r1, 8")
    said = of_kernel(body, PYCUDA_EMULATOR_CHECK="init")
    assert "uninitialised read of 4 bytes at offset 1280" in said


@pytest.mark.parametrize(
    "text",
    [
        "tensormap.replace.tile.rank.global.b1024.b32 [%q2], 1;",
        "cp.async.bulk.tensor.2d.global.shared::cta.im2col_no_offs.bulk_group"
        " [%q1, {%r2, %r3}], [room];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%q2], [room], 16;",
        "cp.async.bulk.shared::cta.shared::cluster.bulk_group [room], [room], 16;",
        "mbarrier.arrive.shared::cluster.b64 %q3, [%r2];",
        "mbarrier.init.global.b64 [%q2], 1;",
    ],
)
def test_forms_that_are_refused(text):
    said = of_kernel(text + " ret;")
    assert "JIT compilation failed" in said and text.split(".")[0] in said, said
