"""The loader accepts and rejects the same PTX vectors as NVIDIA's assembler.

The verdicts of the assembler are in test/data/ptx_vectors.json (conformance/grid.py).
"""

import shutil

import pytest

from device.conformance import grid
from support.emulator import DriverError
from support.emulator_arrays import Arrays

pytest_plugins = ["support.emulator_fixtures"]

#: Accepted here, although the assembler rejects the mix of types.
LENIENT = {
    "mov.v2.u32 {u32_0, f32_0}, {u32_1, f32_1};",
    "ld.global.v2.u16 {u32_0, f32_1}, [b64_8];",
    "st.global.v2.u16 [b64_8], {u32_0, f32_1};",
    "ld.global.v2.u16 {u32_0, f16x2_1}, [b64_8];",
    "st.global.v2.u16 [b64_8], {u32_0, f16x2_1};",
}


@pytest.fixture
def load(d, emu_ctx):
    """Load a line. Return None, or the message with which the loader rejects it."""
    arrays = Arrays(d)

    def load_line(line):
        try:
            arrays.load(grid.module([line])[0])
            d.ok("ModuleUnload", arrays.modules.pop())
        except DriverError as error:
            return str(error)
        return None

    return load_line


@pytest.mark.parametrize("group", grid.GROUPS)
def test_the_grid(load, group):
    wrong = []
    lines, verdicts = grid.snippets(group), grid.recorded(group)
    for line, taken in zip(lines, verdicts, strict=True):
        words = load(line)
        if (words is None) != (taken or line in LENIENT):
            wrong.append((line, words))
        elif words:
            assert "INVALID_PTX" in words, (line, words)
            assert "error: ptx, line" in words, (line, words)
    assert not wrong, (len(wrong), wrong[:5])
    assert 0 < sum(verdicts) < len(verdicts)  # both verdicts occur


@pytest.mark.skipif(not shutil.which("ptxas"), reason="needs ptxas on PATH")
@pytest.mark.parametrize("group", grid.GROUPS)
def test_the_recorded_verdicts_are_the_assembler_s(group):
    lines = grid.snippets(group)
    verdicts = grid.assemble("ptxas", lines)
    assert [verdicts[line] for line in lines] == grid.recorded(group)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("mov.b64 b64_8, " + grid.braces("b8", 8) + ";", "has 8 elements, not 2 or 4"),
        ("mov.v8.u16 b16_0, b16_1;", "at most 4 elements"),
        ("mov.b64 b64_8, {b16_0, b16_1};", "not the 64 bits of the whole"),
        ("mov.u64 u64_8, {b32_0, b32_1};", "as .b16, .b32, .b64 or .b128"),
        ("mov.b64 {_, _}, b64_8;", "no element of the destination"),
        ("mov.b64 b64_8, {b32_0, b16_1};", "differ in width"),
        ("mov.b64 b64_8, {b16_1, b32_0};", "differ in width"),
        ("mov.v4.u32 v4u32, w2u32;", "not a vector of 4 elements"),
        ("mov.v2.u32 v2f32, w2f32;", "a register of floats"),
        ("mov.u32 u32_0, u16_0;", "another size"),
        (".reg .v4 .f64 made;", "more than 128 bits"),
        (".reg .v8 .u16 made;", "cannot have '.v8'"),
        (".param .v4 .f32 made;", "declare an array of bytes"),
        ("ld.global.v2.u32 v4u32, [b64_8];", "not a vector of 2 elements"),
        (
            "ld.global.v8.u32 " + grid.braces("b32", 8) + ", [b64_8];",
            "8 elements of 32",
        ),
        ("bar.sync 1, 48;", "not a multiple of 32"),
        ("bar.sync 16;", "there are 16"),
    ],
)
def test_the_reason(load, line, reason):
    assert reason in (load(line) or "taken")


def test_verdicts_belong_to_their_snippets(monkeypatch):
    monkeypatch.setitem(grid.GROUPS, "moves", lambda: iter(["mov.u32 u32_0, 1;"]))
    with pytest.raises(ValueError, match="recorded for other snippets"):
        grid.recorded("moves")
