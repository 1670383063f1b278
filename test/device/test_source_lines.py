"""The line of a report is one of the program, not of an inlined header of CUDA."""

import pytest

from support.child import run_child

pytestmark = pytest.mark.software(why="a GPU reports no lines")

TOOLKIT = (
    "/usr/local/cuda/bin/../targets/x86_64-linux/include/device_atomic_functions.hpp"
)
WHEEL = "/opt/site-packages/nvidia/cu13/include/sm_32_intrinsics.hpp"
#: The .file directives come first or last; nvcc writes them last.
FILES = f'.file 1 "/me/kernel.cu"\n.file 2 "{TOOLKIT}"\n.file 3 "/me/own.h"\n' + (
    f'.file 4 "{WHEEL}"\n'
)
KERNEL = """
.version 8.0
.target sm_75
.address_size 64
{before}
.visible .entry fault()
{{
    .reg .b64 %p<2>;
    {loc}
    mov.u64 %p1, 16;
    st.global.u64 [%p1], %p1;
    ret;
}}
{after}
"""
CHILD = """
import sys
import pycuda.driver as drv

drv.init()
for ptx in {texts!r}:
    context = drv.Device(0).make_context()
    try:
        kernel = drv.module_from_buffer(ptx.encode()).get_function("fault")
        kernel(block=(1, 1, 1))
        context.synchronize()
    except drv.LogicError as error:
        print(*(row.strip() for row in str(error).splitlines() if ".cu:" in row
                or ".h:" in row or ".hpp:" in row))
    context.pop()
"""
INTO = ", function_name $L0, inlined_at "
#: The .loc directives before the store, and the line to report.
CASES = {
    "the program's own line": (".loc 1 5 2", "/me/kernel.cu:5"),
    "a header of the toolkit": (f".loc 2 107 3{INTO}1 6 9", "/me/kernel.cu:6"),
    "a header of a wheel": (f".loc 4 8 3{INTO}1 7 9", "/me/kernel.cu:7"),
    "an own function": (f".loc 1 2 3{INTO}1 9 9", "/me/kernel.cu:2"),
    "an own header": (f".loc 3 4 3{INTO}1 9 9", "/me/own.h:4"),
    "a header in an own function": (
        f".loc 1 2 29{INTO}1 7 9\n.loc 2 107 3{INTO}1 2 29",
        "/me/kernel.cu:2",
    ),
    "a header in a header": (
        f".loc 4 11 2{INTO}1 8 1\n.loc 2 107 3{INTO}4 11 2",
        "/me/kernel.cu:8",
    ),
    "a header that is not inlined": (".loc 2 107 3", f"{TOOLKIT}:107"),
    "no numbers": (f".loc 1 5 2\n.loc 1 6 2{INTO}x", "/me/kernel.cu:6"),
}


@pytest.mark.parametrize("is_first", [False, True])
def test_the_line_of_the_program_is_reported(is_first):
    before, after = (FILES, "") if is_first else ("", FILES)
    texts = [
        KERNEL.format(loc=loc, before=before, after=after) for loc, _ in CASES.values()
    ]
    printed = run_child(CHILD.format(texts=texts), PYCUDA_DRIVER="emulator").stdout
    assert [row.split(" ")[-1] for row in printed.splitlines()] == [
        where for _, where in CASES.values()
    ]
