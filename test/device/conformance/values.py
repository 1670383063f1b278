"""Inputs for the kernels: all pairs of special values, and random values.

All inputs are NumPy arrays of unsigned integers that hold bit patterns. Random values
come from RandomState.bytes. NumPy never changes its stream, so the recorded answers
stay valid.
"""

import zlib

import numpy as np

#: Threads of a block in elementwise kernels. Inputs are padded to a multiple of it.
BLOCK = 64

#: Exponent and fraction bits of the floating types.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}

_UINT = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}

_RANDOM = 512


def uint(bits):
    """Return the NumPy type of bit patterns of this width."""
    return _UINT[bits]


def width(kind):
    """Return the number of bits of a PTX type."""
    if kind == "pred":
        return 8
    if kind.endswith("x2"):
        return 2 * width(kind[:-2])
    return int(kind.lstrip("bfsu"))


def source(name):
    """Return a random source that depends only on the name."""
    return np.random.RandomState(zlib.crc32(name.encode()))


def random_bits(rng, bits, count):
    return np.frombuffer(rng.bytes(count * bits // 8), dtype=uint(bits)).copy()


def pad(array, multiple=BLOCK):
    """Repeat the first elements until the length is a multiple."""
    return np.resize(array, -(-len(array) // multiple) * multiple)


def array(values, bits):
    """Return integers of any sign as bit patterns."""
    return np.array([v & ((1 << bits) - 1) for v in values], dtype=uint(bits))


# -- floating point -------------------------------------------------------------------


def pack(kind, sign, exponent, fraction):
    """Join the fields of a number to its bits. The exponent is unbiased."""
    e, m = FORMATS[kind]
    biased = exponent + (1 << (e - 1)) - 1
    return sign << (e + m) | biased << m | fraction


def float_specials(kind):
    """Return zeros, denormals, limits, infinities, all kinds of NaN, and ties."""
    e, m = FORMATS[kind]
    top, half, full = 1 << (e - 1), 1 << (m - 1), (1 << m) - 1
    third = full // 3
    both = [
        pack(kind, 0, 1 - top, f)
        for f in (0, 1, half, full)  # zero and denormals
    ]
    both += [
        pack(kind, 0, 2 - top, 0),
        pack(kind, 0, 2 - top, 1),
        pack(kind, 0, 0, 0),
        pack(kind, 0, 0, 1),
        pack(kind, 0, -1, full),
        pack(kind, 0, -1, 0),
        pack(kind, 0, 0, half),
        pack(kind, 0, 1, half >> 1),
        pack(kind, 0, top - 1, full),
        pack(kind, 0, top, 0),
        pack(kind, 0, top, half),
        pack(kind, 0, top, full),
    ]
    single = [
        pack(kind, 0, top, 1),  # signaling NaN
        pack(kind, 1, top, third & ~half),
        pack(kind, 0, top, half | third),
        pack(kind, 0, -m, 0),
        pack(kind, 0, -m - 1, 0),
        pack(kind, 1, -m - 1, 0),
        pack(kind, 0, -m - 1, 1),
        pack(kind, 0, m, 0),
        pack(kind, 0, m, 1),
        pack(kind, 0, m, full),
        pack(kind, 0, -2, third),
        pack(kind, 1, 1, 0x921FB54442D18 >> (52 - m)),  # -pi
        pack(kind, 0, top // 2, 0),
        pack(kind, 0, -top // 2, 1),
        pack(kind, 0, 3, 1 << (m - 2)),
    ]
    sign = 1 << (e + m)
    return array(both + [v | sign for v in both] + single, 1 + e + m)


def random_floats(kind, rng, count):
    """Return random bits, moderate exponents, short fractions and tiny numbers."""
    e, m = FORMATS[kind]
    bits = 1 + e + m
    raw = random_bits(rng, bits, count).astype(np.uint64)
    pick = random_bits(rng, 8, count) & 3
    sign = raw >> np.uint64(bits - 1)
    fraction = raw & np.uint64((1 << m) - 1)
    middle = (1 << (e - 1)) - 1
    span = min(8, middle - 1)
    wobble = (raw >> np.uint64(m)) % np.uint64(2 * span)
    moderate = np.uint64(middle - span) + wobble
    low = np.uint64(m // 2 - 1)
    short = fraction >> low << low
    tiny = (raw >> np.uint64(m)) % np.uint64(3)
    exponent = np.select([pick == 3], [tiny], moderate)
    fraction = np.where(pick == 2, short, fraction)
    made = sign << np.uint64(bits - 1) | exponent << np.uint64(m) | fraction
    return np.where(pick == 0, raw, made).astype(uint(bits))


def neighbours(kind, rng, values):
    """Move each value by up to three units, and change the sign of some."""
    bits = width(kind)
    steps = random_bits(rng, 8, len(values)).astype(np.uint64)
    moved = values.astype(np.uint64) + steps % np.uint64(7) - np.uint64(3)
    moved ^= (steps >> np.uint64(7)) << np.uint64(bits - 1)
    return moved.astype(uint(bits))


def _product(kind, a, b):
    """Return the negated product, rounded in any way, as an addend that cancels.

    Where a and b are NaN, return a, because processors choose differently.
    """
    real = {"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}
    x, y = a, b
    if kind == "bf16":
        x, y = (v.astype(np.uint32) << 16 for v in (a, b))
    with np.errstate(all="ignore"):
        product = -(x.view(real[kind]) * y.view(real[kind]))
    bits = product.view(x.dtype)
    if kind == "bf16":
        bits = (bits >> 16).astype(np.uint16)
    return np.where(np.isnan(product), a, bits)


# -- integers -------------------------------------------------------------------------


def integer_specials(bits):
    top = 1 << (bits - 1)
    return array(
        [0, 1, 2, 3, 5, 7, 10, 31, 32, 33, 63, 64, 100, 127, 128, 255]
        + [-1, -2, -3, -10, -128, top - 1, top - 2, top, top + 1]
        + [0x5555555555555555, 0xAAAAAAAAAAAAAAAA, top // 2, 0x0123456789ABCDEF],
        bits,
    )


def random_integers(rng, bits, count):
    """Return random integers of all lengths, half of them negated."""
    raw = random_bits(rng, bits, count)
    control = random_bits(rng, 16, count)
    shorter = raw >> (control % bits).astype(raw.dtype)
    return np.where(control >> 15, ~shorter, shorter)


#: Shift counts: all within a word, and some far beyond any width.
SHIFTS = [*range(67), 127, 128, 255, 256, 0xFFFF, 0x10000, 0x80000000, 0xFFFFFFFF]


# -- vectors of operands --------------------------------------------------------------


def specials(kind):
    if kind.endswith("x2"):
        low = specials(kind[:-2])
        bits = width(kind)
        return low.astype(uint(bits)) | np.roll(low, 7).astype(uint(bits)) << bits // 2
    return float_specials(kind) if kind in FORMATS else integer_specials(width(kind))


def randoms(kind, rng, count):
    if kind.endswith("x2"):
        bits = width(kind)
        low, high = (randoms(kind[:-2], rng, count) for _ in range(2))
        return low.astype(uint(bits)) | high.astype(uint(bits)) << bits // 2
    if kind in FORMATS:
        return random_floats(kind, rng, count)
    return random_integers(rng, width(kind), count)


def unary(kind, name, extra=(), count=_RANDOM):
    """Return all special values, the extra values, and random values."""
    rng = source(name)
    parts = [specials(kind), array(extra, width(kind)), randoms(kind, rng, count)]
    return [pad(np.concatenate(parts))]


def binary(kind, name, count=_RANDOM):
    """Return all pairs of special values, then random and neighboring pairs."""
    rng = source(name)
    first = specials(kind)
    a = np.repeat(first, len(first))
    b = np.tile(first, len(first))
    more = randoms(kind, rng, count)
    other = randoms(kind, rng, count)
    if kind in FORMATS:
        close = neighbours(kind, rng, more)
        other = np.where(np.arange(count) % 3 == 0, close, other)
    else:
        other = np.where(np.arange(count) % 8 == 0, more, other)
    return [pad(np.concatenate([a, more])), pad(np.concatenate([b, other]))]


def ternary(kind, name, count=2560):
    """Return random triples of special and random values, and sums that cancel."""
    rng = source(name)
    pool = specials(kind)
    columns = []
    for _ in range(3):
        chosen = pool[random_bits(rng, 32, count) % len(pool)]
        pick = random_bits(rng, 8, count) % 5 < 2
        columns.append(np.where(pick, chosen, randoms(kind, rng, count)))
    a, b, c = columns
    if kind in FORMATS:
        cancel = neighbours(kind, rng, _product(kind, a, b))
        c = np.where(np.arange(count) % 3 == 0, cancel, c)
    return [pad(a), pad(b), pad(c)]


def shifts(kind, name, count=_RANDOM):
    """Return values of a type, and 32-bit shift counts."""
    rng = source(name)
    counts = array(SHIFTS, 32)
    chosen = np.array([-1, 1 << (width(kind) - 1), 0x0123456789ABCDEF, 0x71C3A965])
    values = array([int(v) for v in chosen], width(kind))
    a = np.repeat(values, len(counts))
    b = np.tile(counts, len(values))
    more = random_bits(rng, 32, count) % 80
    return [
        pad(np.concatenate([a, randoms(kind, rng, count)])),
        pad(np.concatenate([b, more.astype(np.uint32)])),
    ]
