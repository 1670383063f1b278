"""What instructions of PTX cost: the one place with these numbers.

A GPU runs machine code, which ptxas makes of PTX. Some instructions vanish there, such
as copies between registers, and others become several. ``WEIGHTS`` says how many
machine instructions an instruction of PTX is, ``FLOPS`` how many operations on
floating-point numbers a lane does for it.

A key is an opcode, and words that the instruction has behind it in any order. The key
with the most words counts: ``div.f64`` is ``div.rn.f64``, but not ``div.rn.f32``. An
opcode that is in no key has the weight 1, and no operations.
"""

from __future__ import annotations

import functools
import re

#: Machine instructions of an instruction of PTX, on the path that most values take.
WEIGHTS: dict[str, float] = {
    # Copies, and what has no instruction of its own.
    "mov": 0,
    "mov.u32": 1,  # mostly of special registers, such as %tid.x
    "cvta": 0,
    "st.param": 0,
    "pragma": 0,
    "ret": 2,  # and what prepares a function
    "neg": 0,  # a sign of the operand
    "abs": 0,
    "not": 0.5,  # a part of the next logical operation
    "cvt.u64.u32": 0,
    "cvt.s64.s32": 0.5,
    "cvt.u32.u64": 0,
    "cvt.s32.s64": 0,
    # 64-bit integers: two instructions of 32 bits. The address of an array's element
    # is one instruction, so the addition behind mul.wide costs little.
    "add.s64": 0.5,
    "add.u64": 0.5,
    "sub.s64": 2,
    "sub.u64": 2,
    "shl.b64": 1.5,
    "shr.s64": 2,
    "shr.u64": 2,
    "and.b64": 2,
    "or.b64": 2,
    "xor.b64": 2,
    "setp.s64": 2,
    "setp.u64": 2,
    "selp.b64": 2,
    "min.s64": 4,
    "max.s64": 4,
    "min.u64": 4,
    "max.u64": 4,
    "mul.lo.s64": 4,
    "mul.lo.u64": 4,
    "mad.lo.s64": 4,
    "mad.lo.u64": 4,
    "mul.hi.s64": 8,
    "mul.hi.u64": 8,
    # Integer division is a program.
    "div.s32": 22,
    "div.u32": 17,
    "rem.s32": 22,
    "rem.u32": 18,
    "div.s64": 75,
    "div.u64": 70,
    "rem.s64": 75,
    "rem.u64": 70,
    "div.s16": 12,
    "div.u16": 10,
    "rem.s16": 12,
    "rem.u16": 10,
    # Floating point: the fast path of the program.
    "div.rn.f32": 10,
    "div.full.f32": 6,
    "div.approx.f32": 5,
    "rcp.rn.f32": 8,
    "rcp.approx.f32": 4,
    "rcp.approx.ftz.f32": 1,
    "sqrt.rn.f32": 9,
    "sqrt.approx.f32": 4,
    "sqrt.approx.ftz.f32": 2,
    "rsqrt.approx.f32": 4,
    "rsqrt.approx.ftz.f32": 1,
    "ex2.approx.f32": 4,
    "ex2.approx.ftz.f32": 1,
    "lg2.approx.f32": 4,
    "lg2.approx.ftz.f32": 1,
    "sin.approx.f32": 2,
    "cos.approx.f32": 2,
    "div.f64": 18,
    "rcp.rn.f64": 12,
    "sqrt.rn.f64": 16,
    # Others.
    "bfe": 2,
    "bfi": 2,
    "membar": 2,
    "fence": 2,
}

#: Operations on floating-point numbers of a lane. Types of two numbers count twice.
FLOPS: dict[str, float] = {
    "fma": 2,
    "mad.f32": 2,
    "mad.f64": 2,
    **dict.fromkeys(("add", "sub", "mul", "div", "rcp", "sqrt", "rsqrt"), 1),
    **dict.fromkeys(("ex2", "lg2", "sin", "cos", "tanh"), 1),
}

_FLOATS = {"f16", "bf16", "f32", "f64", "f16x2", "bf16x2", "f32x2", "tf32"}
_PAIRS = {"f16x2", "bf16x2", "f32x2"}
_TILE = re.compile(r"m(\d+)n(\d+)k(\d+)")


def _found(table: dict[str, float], text: str) -> float | None:
    """Return the value of the key with the most words, None if no key fits."""
    opcode, *words = text.split(".")
    best, most = None, -1
    for key, value in table.items():
        first, *needed = key.split(".")
        if first == opcode and len(needed) > most and set(needed) <= set(words):
            best, most = value, len(needed)
    return best


def _weight(text: str) -> float:
    """Return how many machine instructions an instruction of PTX is."""
    found = _found(WEIGHTS, text)
    return 1 if found is None else found


weight = functools.cache(_weight)


def _flops(text: str) -> float:
    """Return how many floating-point operations a lane does for an instruction."""
    opcode, *words = text.split(".")
    if opcode in ("mma", "wmma") and not {"load", "store"} & set(words):
        tile = next(filter(None, map(_TILE.fullmatch, words)), None)
        if tile is not None and _FLOATS & set(words):
            m, n, k = map(int, tile.groups())
            return 2 * m * n * k / 32
    if not _FLOATS & set(words):
        return 0
    found = _found(FLOPS, text) or 0
    return 2 * found if _PAIRS & set(words) else found


flops = functools.cache(_flops)
