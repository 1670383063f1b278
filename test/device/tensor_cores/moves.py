"""Kernels that move matrices: wmma.load and store, ldmatrix, stmatrix, movmatrix."""

from dataclasses import dataclass

import numpy as np

from . import inputs
from .forms import BITS, size, wmma_registers
from .kernels import Registers, braces, entry, place, transfers

#: Bytes of memory of a warp.
MEMORY = 8192


@dataclass(frozen=True)
class Move:
    name: str
    loads: bool  # from memory to registers
    registers: int
    kind: str  # of the registers
    lines: tuple  # {r} are the registers, {address} is that of the memory
    shared: bool = False


SHAPES = {
    "f16": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "bf16": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "s8": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "u8": ("m16n16k16", "m32n8k16", "m8n32k16"),
    "f32": ("m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8"),
    "s32": ("m16n16k16", "m32n8k16", "m8n32k16", "m8n8k32", "m8n8k128"),
    "tf32": ("m16n16k8",),
    "f64": ("m8n8k4",),
    "s4": ("m8n8k32",),
    "u4": ("m8n8k32",),
    "b1": ("m8n8k128",),
}


def _matrices(kind):
    found = {"f32": "c", "s32": "c", "f16": "abc", "f64": "abc"}
    return found.get(kind, "ab")


def _stride(which, kind, shape, layout):
    """Return a stride in elements, larger than a line by the least amount allowed."""
    m, n, k = size(shape)
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n)}[which]
    line = columns if layout == "row" else rows
    return line + max(1, 128 // BITS[kind])


def wmma_moves():
    found = []
    for kind, shapes in SHAPES.items():
        for shape in shapes:
            for which in _matrices(kind):
                for layout in ("row", "col"):
                    fixed = {"a": "row", "b": "col"}.get(which, layout)
                    if BITS[kind] < 8 and layout != fixed:
                        continue
                    found.extend(_wmma(which, kind, shape, layout))
    return found


def _wmma(which, kind, shape, layout):
    count = wmma_registers(which, kind, shape)
    stride = _stride(which, kind, shape, layout)
    words = f"sync.aligned.{layout}.{shape}"
    name = f"wmma.load.{which}.{words}.global.{kind}"
    yield Move(name, True, count, kind, (f"{name} {{r}}, [{{address}}], {stride};",))
    if which == "c":
        name = f"wmma.store.d.{words}.global.{kind}"
        line = f"{name} [{{address}}], {{r}}, {stride};"
        yield Move(name, False, count, kind, (line,))


def lane_moves():
    found = []
    rows = ("mov.u32 %m7, %m0;", "mad.lo.u32 %m7, %m7, 2704, 640;")
    rows += ("and.b32 %m7, %m7, 0x1ff0;", "add.u32 %m7, %m7, %m3;")
    for count in (1, 2, 4):
        for trans in ("", ".trans"):
            name = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            line = f"{name} {{r}}, [%m7];"
            found.append(Move(name, True, count, "b32", (*rows, line), True))
            name = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
            line = f"{name} [%m7], {{r}};"
            found.append(Move(name, False, count, "b32", (*rows, line), True))
    return found


def moves():
    return wmma_moves() + lane_moves()


def kernel(move):
    """Return the kernel: parameters pd and ps, memory and registers or the reverse."""
    pool = Registers()
    registers = pool.take(move.kind, move.registers)
    memory, other = ("ps", "pd") if move.loads else ("pd", "ps")
    lines = [
        f"ld.param.u64 %q0, [{memory}];",
        f"mul.wide.u32 %q1, %m1, {MEMORY};",
        "add.s64 %q0, %q0, %q1;",
    ]
    if not move.loads:
        lines += place(other, "%q2", registers) + transfers("ld", registers, "%q2")
    if move.shared:
        lines += _copies(True)
    text = "\n".join(move.lines)
    lines.append(text.replace("{r}", braces(registers)).replace("{address}", "%q0"))
    if move.shared:
        lines += _copies(False)
    if move.loads:
        lines += place(other, "%q2", registers) + transfers("st", registers, "%q2")
    return entry(["pd", "ps"], lines)


def _copies(to_shared):
    """Copy the memory of the warp to shared memory or back."""
    source, target = ("global", "shared") if to_shared else ("shared", "global")
    begin = (
        [f".shared .align 128 .b8 near[{MEMORY}];"] if to_shared else ["bar.sync 0;"]
    )
    label = "In" if to_shared else "Out"
    near, far = "[%m5]", "[%q4]"
    return begin + [
        "mov.u32 %m3, near;",
        "mad.lo.u32 %m5, %m0, 4, %m3;",
        "mul.wide.u32 %q4, %m0, 4;",
        "add.s64 %q4, %q0, %q4;",
        "mov.u32 %m6, 0;",
        f"{label}:",
        f"ld.{source}.u32 %m4, {far if to_shared else near};",
        f"st.{target}.u32 {near if to_shared else far}, %m4;",
        "add.u32 %m5, %m5, 128;",
        "add.s64 %q4, %q4, 128;",
        "add.u32 %m6, %m6, 128;",
        f"setp.lt.u32 %p0, %m6, {MEMORY};",
        f"@%p0 bra {label};",
        "bar.sync 0;",
    ]


def operands(move, warps=4):
    """Return the memory or the registers that a kernel reads."""
    source = inputs.Source(move.name)
    if move.loads:
        data = source.words(warps * MEMORY // 8)
        return {
            "ps": np.frombuffer(data.astype("<u8").tobytes(), "<u4").reshape(warps, -1)
        }
    wide = move.kind == "f64"
    data = source.words(warps * move.registers * 32).reshape(warps, -1, 32)
    return {"ps": data if wide else (data >> np.uint64(32)).astype(np.uint32)}


def empty(move, warps=4):
    if move.loads:
        dtype = np.uint64 if move.kind == "f64" else np.uint32
        return np.zeros((warps, move.registers, 32), dtype)
    return np.zeros((warps, MEMORY // 4), np.uint32)


def transposition():
    """Return the kernel of movmatrix: parameters pd and ps, registers."""
    lines = place("ps", "%q0", ["%r0"]) + transfers("ld", ["%r0"], "%q0")
    lines.append("movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r0;")
    lines += place("pd", "%q1", ["%r1"]) + transfers("st", ["%r1"], "%q1")
    return entry(["pd", "ps"], lines)
