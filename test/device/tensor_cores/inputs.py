"""Inputs of the multiplications: the same numbers with any version of NumPy.

A style says how the exponents of an operand are distributed. The addends C follow the
products, so that sums have terms of similar and of very different sizes.
"""

import zlib

import numpy as np

from .forms import BITS

#: (bits of the exponent, bits of the mantissa, whether the format has infinities)
FORMATS = {
    "f64": (11, 52, True),
    "f32": (8, 23, True),
    "tf32": (8, 23, True),  # the instructions ignore the low bits
    "f16": (5, 10, True),
    "bf16": (8, 7, True),
    "e4m3": (4, 3, False),
    "e5m2": (5, 2, True),
}

#: Styles of A and B, and of C. Warp i has the styles number i modulo the count.
STYLES = (
    ("near", "near"),
    ("wide", "near"),
    ("near", "zero"),
    ("integers", "integers"),
    ("wide", "wide"),
    ("small", "small"),
    ("any", "any"),
    ("large", "large"),
    ("few", "near"),
    ("finite", "finite"),
    ("near", "wide"),
    ("rare", "near"),
    ("mid", "zero"),
    ("mid", "near"),
    ("few", "zero"),
    ("mid", "mid"),
)


class Source:
    """Random integers of a seed."""

    def __init__(self, text):
        self.bits = np.random.PCG64(zlib.crc32(text.encode()))

    def words(self, count):
        return self.bits.random_raw(count)

    def below(self, count, limit):
        return (self.words(count) >> np.uint64(33)) % np.uint64(limit)


def _exponents(source, count, style, bias, top):
    """Return biased exponents between 0 and top - 1."""
    centre, span = {
        "near": (bias, 3),
        "mid": (bias, max(2, bias // 2)),
        "wide": (bias, 12),
        "small": (2, 2),
        "large": (top - 3, 2),
        "finite": (bias, top),
        "few": (bias, 5),
        "rare": (bias, 4),
    }[style]
    low, high = max(0, centre - span), min(top - 1, centre + span)
    return low + source.below(count, high - low + 1).astype(np.int64)


def floats(source, count, kind, style):
    """Return the bits of `count` numbers of a floating-point type, as uint64."""
    width, mantissa, infinite = FORMATS[kind]
    top = (1 << width) - 1 if infinite else 1 << width
    words = source.words(count)
    if style == "any":
        return words >> np.uint64(64 - BITS[kind])
    if style == "zero":
        return (words >> np.uint64(63)) << np.uint64(width + mantissa)
    bias = (1 << (width - 1)) - 1
    fraction = words & np.uint64((1 << mantissa) - 1)
    sign = words >> np.uint64(63)
    if style == "integers":
        size = (words >> np.uint64(20)) % np.uint64(1 << min(mantissa, 3))
        return _integers(size, sign, width, mantissa, bias)
    exponent = _exponents(source, count, style, bias, top).astype(np.uint64)
    if kind == "e4m3":  # the largest mantissa of the largest exponent is NaN
        fraction = np.where((exponent == 15) & (fraction == 7), 6, fraction)
    bits = sign << np.uint64(width + mantissa) | exponent << np.uint64(mantissa)
    bits |= fraction.astype(np.uint64)
    choice = source.below(count, 64)
    if style == "few":  # most are zero
        bits = np.where(
            choice < 44, bits & ~np.uint64((1 << (width + mantissa)) - 1), bits
        )
    if style == "rare":  # infinities and NaN
        special = np.uint64(((1 << width) - 1) << mantissa) | (fraction & np.uint64(1))
        bits = np.where(choice == 0, special, bits)
    return bits.astype(np.uint64)


def _integers(size, sign, width, mantissa, bias):
    bits = np.zeros(len(size), np.uint64)
    for shift in range(3):
        here = (size >> np.uint64(shift)) == 1
        fraction = (size << np.uint64(mantissa - shift)) & np.uint64(
            (1 << mantissa) - 1
        )
        bits = np.where(here, np.uint64((bias + shift) << mantissa) | fraction, bits)
    return bits.astype(np.uint64) | sign << np.uint64(width + mantissa)


def numbers(source, count, kind, style):
    """Return the bits of `count` elements of any type, as uint64."""
    if kind in FORMATS:
        return floats(source, count, kind, style)
    words = source.words(count) >> np.uint64(64 - BITS[kind])
    if kind == "s32" and style not in ("any", "large", "finite"):
        words = (words >> np.uint64(16)) - np.uint64(1 << 15) & np.uint64(0xFFFFFFFF)
    return words


def packed(elements, kind):
    """Return elements as bytes, the first ones in the low bits."""
    bits = BITS[kind]
    if bits >= 8:
        return elements.astype(f"<u{bits // 8}").tobytes()
    parts = elements.reshape(-1, 8 // bits).astype(np.uint8)
    whole = np.zeros(len(parts), np.uint8)
    for i in range(8 // bits):
        whole |= parts[:, i] << (i * bits)
    return whole.tobytes()


def operand(source, lanes, registers, kind, styles):
    """Return one array of shape (warps, registers, lanes) with registers of elements.

    styles: a style for each warp.
    """
    dtype, bits = ("<u8", 64) if kind == "f64" else ("<u4", 32)
    each = lanes * registers * bits // BITS[kind]
    data = b"".join(packed(numbers(source, each, kind, s), kind) for s in styles)
    return np.frombuffer(data, dtype).reshape(len(styles), registers, lanes)


def indices(source, warps, kind):
    """Return the metadata of sparse matrices: pairs of increasing indices."""
    pairs = np.array([0x4, 0x8, 0xC, 0x9, 0xD, 0xE], np.uint64)
    if kind == "tf32":
        pairs = np.array([0x4, 0xE], np.uint64)
    found = np.zeros(warps * 32, np.uint64)
    for nibble in range(8):
        found |= pairs[source.below(warps * 32, len(pairs)).astype(int)] << np.uint64(
            4 * nibble
        )
    return found.astype("<u4").reshape(warps, 1, 32)


def of_form(form, warps, seed=""):
    """Return the operands of a form by name: a, b, c and, if it is sparse, e."""
    source = Source(form.name + seed)
    styles = [STYLES[i % len(STYLES)] for i in range(warps)]
    found = {}
    for name, kind, registers in zip(
        "abc", form.types[1:], form.registers[1:], strict=True
    ):
        mine = [s[1 if name == "c" else 0] for s in styles]
        found[name] = operand(source, 32, registers, kind, mine)
    if form.sparse:
        found["e"] = indices(source, warps, form.types[1])
    return found
