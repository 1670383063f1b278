"""The forms of mma and wgmma up to sm_90a, a row each."""

from dataclasses import dataclass

#: Bits of an element by the type in the text of the instruction.
BITS = {
    "f64": 64,
    "f32": 32,
    "s32": 32,
    "tf32": 32,
    "f16": 16,
    "bf16": 16,
    "e4m3": 8,
    "e5m2": 8,
    "s8": 8,
    "u8": 8,
    "s4": 4,
    "u4": 4,
    "b1": 1,
}


@dataclass(frozen=True)
class Form:
    """A multiplication of a warp: the words of the instruction and its operands."""

    text: str  # the instruction without its operands
    shape: tuple  # rows, columns, depth
    types: tuple  # of D, A, B, C
    registers: tuple  # of D, A, B, C
    sparse: str = ""  # the selector: A has half of its elements, and there are indices

    @property
    def name(self):
        return self.text + (f".select{self.sparse}" if self.sparse else "")


def size(shape):
    """Return (rows, columns, depth) of a word such as m16n8k16."""
    m, rest = shape[1:].split("n")
    n, k = rest.split("k")
    return int(m), int(n), int(k)


def registers(elements, kind):
    """Return how many registers of a lane hold the elements of a matrix."""
    if kind == "f64":
        return elements // 32
    return max(1, elements * BITS[kind] // 1024)


def _mma(shape, types, layout="row.col", before="", after="", sparse="", words="mma"):
    m, n, k = size(shape)
    d, a, b, c = types
    copies = 4 if shape == "m8n8k4" and a == "f16" else 1
    half = 2 if sparse else 1
    counts = (
        registers(m * n * copies, d),
        registers(m * k * copies // half, a),
        registers(k * n * copies, b),
        registers(m * n * copies, c),
    )
    text = f"{words}.sync.aligned.{shape}.{layout}{before}.{d}.{a}.{b}.{c}{after}"
    return Form(text, (m, n, k), types, counts, sparse)


def _floats():
    for shape in ("m16n8k16", "m16n8k8"):
        for d in ("f32", "f16"):
            yield _mma(shape, (d, "f16", "f16", d))
        yield _mma(shape, ("f32", "bf16", "bf16", "f32"))
    for shape in ("m16n8k8", "m16n8k4"):
        yield _mma(shape, ("f32", "tf32", "tf32", "f32"))
    for a in ("e4m3", "e5m2"):
        for b in ("e4m3", "e5m2"):
            for d in ("f32", "f16"):
                yield _mma("m16n8k32", (d, a, b, d))
                yield _mma("m16n8k16", (d, a, b, d))
    for la in ("row", "col"):
        for lb in ("row", "col"):
            for d, c in (("f32", "f32"), ("f16", "f16"), ("f32", "f16")):
                yield _mma("m8n8k4", (d, "f16", "f16", c), f"{la}.{lb}")
    for shape in ("m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"):
        yield _mma(shape, ("f64", "f64", "f64", "f64"))
    for rounding in (".rz", ".rm", ".rp"):
        yield _mma("m16n8k8", ("f64",) * 4, before=rounding)
        yield _mma("m8n8k4", ("f64",) * 4, before=rounding)


def _integers():
    for bits, shapes in (
        (8, ("m8n8k16", "m16n8k16", "m16n8k32")),
        (4, ("m8n8k32", "m16n8k32", "m16n8k64")),
    ):
        for shape in shapes:
            for a in "su":
                for b in "su":
                    for before in ("", ".satfinite"):
                        types = ("s32", f"{a}{bits}", f"{b}{bits}", "s32")
                        yield _mma(shape, types, before=before)
    for shape in ("m8n8k128", "m16n8k128", "m16n8k256"):
        for combine in (".xor.popc", ".and.popc"):
            yield _mma(shape, ("s32", "b1", "b1", "s32"), after=combine)


def _sparse():
    rows = [
        ("m16n8k16", "f16", ("f32", "f16"), "0123"),
        ("m16n8k32", "f16", ("f32", "f16"), "01"),
        ("m16n8k16", "bf16", ("f32",), "01"),
        ("m16n8k32", "bf16", ("f32",), "1"),
        ("m16n8k8", "tf32", ("f32",), "013"),
        ("m16n8k16", "tf32", ("f32",), "01"),
        ("m16n8k64", "e4m3", ("f32",), "0"),
        ("m16n8k64", "e5m2", ("f32",), "0"),
        ("m16n8k32", "s8", ("s32",), "01"),
        ("m16n8k64", "u8", ("s32",), "0"),
        ("m16n8k64", "s4", ("s32",), "01"),
        ("m16n8k128", "u4", ("s32",), "0"),
    ]
    for words in ("mma.sp::ordered_metadata", "mma.sp"):
        for shape, a, results, selectors in rows:
            for d in results:
                for selector in selectors:
                    yield _mma(shape, (d, a, a, d), sparse=selector, words=words)


def multiplications():
    """Return the forms of mma."""
    return [*_floats(), *_integers(), *_sparse()]


def wmma_multiplications():
    """Return the forms of wmma.mma. The layouts of A and B do not matter for them."""
    found = []
    for shape in ("m16n16k16", "m32n8k16", "m8n32k16"):
        for d in ("f32", "f16"):
            for c in ("f32", "f16"):
                found.append(_wmma(shape, (d, "f16", "f16", c)))
        found.append(_wmma(shape, ("f32", "bf16", "bf16", "f32")))
        found.extend(_wmma(shape, ("s32", a, a, "s32")) for a in ("s8", "u8"))
    found.append(_wmma("m16n16k8", ("f32", "tf32", "tf32", "f32")))
    found.append(_wmma("m8n8k4", ("f64",) * 4))
    found.extend(_wmma("m8n8k32", ("s32", a, a, "s32")) for a in ("s4", "u4"))
    found.append(_wmma("m8n8k128", ("s32", "b1", "b1", "s32")))
    return found


def wmma_registers(which, kind, shape):
    """Return the number of registers of a fragment of wmma."""
    m, n, k = size(shape)
    elements = {"a": m * k, "b": k * n, "c": m * n, "d": m * n}[which]
    if kind == "f16" and which in "ab":
        return 8
    return registers(elements, kind)


def _wmma(shape, types):
    d, a, b, c = types
    counts = tuple(
        wmma_registers(which, kind, shape)
        for which, kind in zip("dabc", types, strict=True)
    )
    if a == "f16":
        text = f"wmma.mma.sync.aligned.row.col.{shape}.{d}.{c}"
    elif a == "b1":
        text = f"wmma.mma.xor.popc.sync.aligned.row.col.{shape}.{d}.{a}.{b}.{c}"
    else:
        text = f"wmma.mma.sync.aligned.row.col.{shape}.{d}.{a}.{b}.{c}"
    return Form(text, size(shape), types, counts)
