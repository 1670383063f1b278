"""The counts of the software device's benchmark. Speeds are not tested."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.compilers import needs_nvcc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_emulator  # noqa: E402

PROGRAM = """.version 9.0
.target sm_75
.address_size 64
.visible .entry other()
{
	ret;
}
.visible .entry loop(
	.param .u32 loop_param_0
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<4>;
	// a comment;
	ld.param.u32 	%r1, [loop_param_0];
	setp.eq.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB1_2;

$L__BB1_1:
	.pragma "nounroll";
	add.s32 	%r1, %r1, -1; // another
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L__BB1_1;
	@%p1 mov.u32 	%r2, 0;

$L__BB1_2:
	ret;
}
"""


def test_blocks_and_their_sizes():
    program, sizes = bench_emulator.with_counters(PROGRAM, "loop")
    assert sizes == [3, 3, 1, 1]
    lines = [line.strip() for line in program.splitlines()]
    assert ".visible .global .align 8 .b64 counters[4];" in lines
    places = [i for i, line in enumerate(lines) if line.startswith("red.global")]
    assert [lines[i + 1].split()[0] for i in places] == [
        "ld.param.u32",
        "add.s32",
        "@%p1",
        "ret;",
    ]
    left = [line for line in lines if "counters" not in line]
    assert left == [line.strip() for line in PROGRAM.splitlines()]


@needs_nvcc
@pytest.mark.gpu
@pytest.mark.software(why="a benchmark of it")
def test_quick_run(tmp_path):
    path = tmp_path / "result.json"
    command = [sys.executable, BENCH / "bench_emulator.py", "--quick", "--json", path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    assert result["device"] == "PyCUDA software device" and result["cpu"]
    rows = {row["kernel"]: row for row in result["rows"]}
    assert set(rows) == {"saxpy", "reduction", "matmul", "mandelbrot", "exponentials"}
    for name, row in rows.items():
        assert name in done.stdout
        assert row["best"] == pytest.approx(
            row["lane_instructions"] / row["best_s"] / 1e9
        )
    # No lane exits early: all lanes run the whole kernel.
    assert rows["saxpy"]["lane_instructions"] % (1 << 16) == 0
    assert 10 <= rows["saxpy"]["lane_instructions"] >> 16 <= 40
