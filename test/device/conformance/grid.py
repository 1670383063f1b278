"""PTX vectors that an assembler accepts or rejects: a grid of types and counts.

Each snippet is one line of a kernel's body. test/data/ptx_vectors.json has the verdicts
of NVIDIA's assembler, a string of + and - for each group. To record them, run
`python -m device.conformance.grid` in the folder test, with ptxas on the PATH.
"""

import json
import re
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "data" / "ptx_vectors.json"

HEADER = ".version 8.3\n.target sm_75\n.address_size 64\n"

#: Types of instructions.
TYPES = [
    "b8",
    "u8",
    "s8",
    "b16",
    "u16",
    "s16",
    "b32",
    "u32",
    "s32",
    "b64",
    "u64",
    "s64",
    "f16",
    "f32",
    "f64",
    "b128",
    "f16x2",
    "pred",
]

#: Types of registers.
REGISTERS = [
    "b8",
    "u8",
    "b16",
    "u16",
    "s16",
    "f16",
    "b32",
    "u32",
    "s32",
    "f32",
    "f16x2",
    "b64",
    "u64",
    "s64",
    "f64",
]

SIZES = {t: int(re.search(r"\d+", t)[0]) for t in TYPES if t != "pred"}
SIZES |= {"f16x2": 32, "pred": 1}


def lanes_of(kind):
    """Return the numbers of lanes that a vector register of such elements may have."""
    return [n for n in (2, 4) if n * SIZES[kind] <= 128]


def declarations():
    lines = [f".reg .{t} {t}_<9>;" for t in (*REGISTERS, "b128", "pred")]
    for kind in REGISTERS:
        for n in lanes_of(kind):
            lines.append(f".reg .v{n} .{kind} v{n}{kind}, w{n}{kind};")
    return "\n".join(lines)


def braces(kind, count, first=0):
    return "{" + ", ".join(f"{kind}_{first + i}" for i in range(count)) + "}"


def packs():
    for kind in [
        "b8",
        "b16",
        "b32",
        "b64",
        "b128",
        "u16",
        "u32",
        "s32",
        "u64",
        "f32",
        "f64",
    ]:
        for part in [
            "b8",
            "u8",
            "b16",
            "u16",
            "f16",
            "b32",
            "s32",
            "f32",
            "f16x2",
            "b64",
            "f64",
        ]:
            for count in (1, 2, 3, 4, 8):
                parts = braces(part, count)
                yield f"mov.{kind} {kind}_8, {parts};"
                yield f"mov.{kind} {parts}, {kind}_8;"
    for kind, part in (("b16", "b8"), ("b32", "b16"), ("b64", "b32")):
        for whole in REGISTERS:
            yield f"mov.{kind} {whole}_8, {braces(part, 2)};"
            yield f"mov.{kind} {braces(part, 2)}, {whole}_8;"
        for other in REGISTERS:
            yield f"mov.{kind} {kind}_8, {{{part}_0, {other}_1}};"
            yield f"mov.{kind} {{{part}_0, {other}_1}}, {kind}_8;"
        for n in (2, 4):
            for element in REGISTERS:
                if n in lanes_of(element):
                    yield f"mov.{kind} {kind}_8, v{n}{element};"
                    yield f"mov.{kind} v{n}{element}, {kind}_8;"
    yield "mov.b64 {b32_0, _}, b64_8;"
    yield "mov.b64 {_, b32_0}, b64_8;"
    yield "mov.b64 {_, _}, b64_8;"
    yield "mov.b64 b64_8, {b32_0, _};"
    yield "mov.b64 b64_8, {1, b32_0};"
    yield "mov.b64 b64_8, {1, 2};"
    yield "mov.b64 {b32_0, b32_1}, {b32_2, b32_3};"
    yield "mov.b64 v2b32, w2b32;"


def moves():
    for kind in TYPES:
        for n in (2, 4, 8):
            for register in REGISTERS:
                first, second = braces(register, n), braces(register, n, 1)
                if n < 8 or register in ("b16", "b32"):
                    yield f"mov.v{n}.{kind} {first}, {second};"
                if n in lanes_of(register):
                    yield f"mov.v{n}.{kind} v{n}{register}, w{n}{register};"
    for n in (2, 4):
        yield f"mov.v{n}.u32 v{n}u32, w{6 - n}u32;"
        yield f"mov.v{n}.u32 {braces('u32', 6 - n)}, v{n}u32;"
        yield f"mov.v{n}.u32 v{n}u32, {braces('u32', 6 - n)};"
        yield f"mov.v{n}.u32 v{n}u32, u32_0;"
        yield f"mov.v{n}.u32 v{n}u32, 5;"
        yield f"mov.v{n}.u32 u32_0, v{n}u32;"
        yield f"mov.u32 u32_0, v{n}u32;"
        yield f"mov.u32 v{n}u32, w{n}u32;"
        yield f"add.u32 v{n}u32, v{n}u32, w{n}u32;"
        yield f"mov.v{n}.u32 v{n}u32, %tid;"
        yield f"mov.v{n}.u32 v{n}u32, %laneid;"
    yield "mov.v2.u32 {u32_0, f32_0}, {u32_1, f32_1};"
    yield "mov.v2.u32 {u32_0, u64_0}, {u32_1, u64_1};"
    yield "mov.v2.u32 {u32_0, _}, v2u32;"


def accesses():
    for kind in TYPES:
        for n in (1, 2, 4, 8):
            vector = f".v{n}" if n > 1 else ""
            for register in REGISTERS:
                if n == 8 and register not in ("b32", "f32", "u64"):
                    continue  # ptxas 13.0 crashes with narrower ones
                listed = braces(register, n)
                yield f"ld.global{vector}.{kind} {listed}, [b64_8];"
                yield f"st.global{vector}.{kind} [b64_8], {listed};"
                if n in lanes_of(register):
                    yield f"ld.shared{vector}.{kind} v{n}{register}, [b64_8];"
                    yield f"st.shared{vector}.{kind} [b64_8], v{n}{register};"
    for n in (2, 4):
        for count in (1, 2, 3, 4, 8):
            yield f"ld.global.v{n}.u32 {braces('u32', count)}, [b64_8];"
            yield f"st.global.v{n}.u32 [b64_8], {braces('u32', count)};"
    for other in REGISTERS:
        yield f"ld.global.v2.u16 {{u32_0, {other}_1}}, [b64_8];"
        yield f"st.global.v2.u16 [b64_8], {{u32_0, {other}_1}};"
    yield "ld.global.v2.u32 {_, u32_1}, [b64_8];"
    yield "st.global.v2.u32 [b64_8], {_, u32_1};"
    yield "st.global.v2.u32 [b64_8], {1, 2};"
    yield "ld.global.u32 v2u32, [b64_8];"
    yield "st.global.u32 [b64_8], v2u32;"
    yield "st.global.v4.u32 [b64_8], %tid;"


def declared():
    for space in ("reg", "local", "shared", "param"):
        for n in (2, 4):
            for kind in TYPES:
                yield f".{space} .v{n} .{kind} made;"
        for words in (".v3 .u32", ".v8 .u16", ".u32 .v2", ".v2", ".v2 .u32"):
            yield f".{space} {words} made;"


def selectors():
    for kind in ("u16", "u32", "f32"):
        for selector in "xyzwrgbac":
            yield f"mov.{kind} {kind}_0, v4{kind}.{selector};"
            yield f"mov.{kind} v4{kind}.{selector}, {kind}_0;"
        for selector in "xyrg":
            yield f"mov.{kind} {kind}_0, v2{kind}.{selector};"
    for special in ("tid", "ntid", "ctaid", "nctaid", "laneid", "warpid", "clock"):
        for selector in (".x", ".y", ".z", ".w", ""):
            yield f"mov.u32 u32_0, %{special}{selector};"
    yield "mov.u32 u32_0, u32_1.x;"
    yield "add.u32 v4u32.x, v4u32.y, v2u32.x;"
    yield "ld.global.u32 v4u32.x, [b64_8];"
    yield "st.global.u32 [b64_8], v4u32.y;"
    yield "mov.b64 b64_0, {v4u32.x, v4u32.w};"
    yield "mov.v4.u32 v4u32, {v4u32.z, v4u32.w, v4u32.x, v4u32.y};"


GROUPS = {f.__name__: f for f in (packs, moves, accesses, declared, selectors)}


def snippets(group):
    return list(dict.fromkeys(GROUPS[group]()))


def module(lines, name="k"):
    """Return a kernel of these lines, and the number of the first line."""
    head = f"{HEADER}.visible .entry {name}()\n{{\n{declarations()}\n"
    # Give each line its own scope, for the declarations.
    body = "".join(f"{{ {line} }}\n" for line in lines)
    return f"{head}{body}ret;\n}}\n", head.count("\n") + 1


def assemble(ptxas, lines):
    """Return {line: whether the assembler accepts it}."""
    verdicts, left = dict.fromkeys(lines, True), list(lines)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "grid.ptx"
        while left:
            text, first = module(left)
            source.write_text(text)
            done = subprocess.run(
                [ptxas, "-arch=sm_75", "-O0", "-o", "/dev/null", source],
                check=False, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
            if done.returncode == 0:
                break
            wrong = {int(n) - first for n in re.findall(r"line (\d+);", done.stderr)}
            bad = [left[i] for i in wrong if 0 <= i < len(left)]
            if not bad:
                raise RuntimeError(done.stderr)
            verdicts.update(dict.fromkeys(bad, False))
            left = [line for line in left if verdicts[line]]
    return verdicts


def digest(lines):
    return f"{zlib.crc32('|'.join(lines).encode()):08x}"


def record(ptxas="ptxas"):
    found = {}
    for group in GROUPS:
        lines = snippets(group)
        verdicts = assemble(ptxas, lines)
        marks = "".join("+" if verdicts[line] else "-" for line in lines)
        found[group] = {"digest": digest(lines), "verdicts": marks}
        print(f"{group}: {marks.count('+')} of {len(lines)} taken")
    DATA.write_text(json.dumps(found, indent=1) + "\n")


def recorded(group):
    """Return the verdicts of the snippets, in their order."""
    found = json.loads(DATA.read_text())[group]
    if found["digest"] != digest(snippets(group)):
        raise ValueError(
            f"{group}: recorded for other snippets (device.conformance.grid)"
        )
    return [mark == "+" for mark in found["verdicts"]]


if __name__ == "__main__":
    record(*sys.argv[1:])
