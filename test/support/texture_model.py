"""A model of texture fetches in NumPy: the manual's formulas and our assumptions.

The CUDA programming guide defines the addresses, the formulas of the filters, the
filter fraction of 9 bits (8 of them after the point), the faces of a cube, and zeros
beyond linear memory.

No manual defines the rest. Experiments on an H200 confirmed A1 to A9, except for the
sums that A2 mentions:
A1  A coordinate minus 0.5 is rounded to the nearest 1/256 texel, halves upwards.
A2  Weights are multiples of 1/256 with the sum 1. They are divided along z, then x,
    then y (see `weigh`). Beyond an edge, the one texel has all the weight. Single
    floats of a layer are truncated 28 bits below the leading bit of the largest one,
    halves 15 bits below. The sum of these is exact. It is rounded once to single or
    half precision, halves away from zero. (For eight single floats that differ by
    orders of magnitude, 51 of 100,000 sums of an H200 are one unit lower.) Integers are
    widened to 16 bits after the sum and rounded to 16 bits, halves upwards. -128 counts
    as -128, and the sum is at least -1. Integers that are read as integers are
    filtered, too: the exact sum is rounded, halves upwards, if they have 8 or 16 bits,
    and down if they have 32.
A3  Point sampling takes the floor of the coordinate, without rounding it first.
A4  Normalized coordinates, wrapped into [0, 1) or [0, 2), are truncated to 21 bits
    after the point. Their product with the size is exact.
A5  Channels that the format lacks are 0, including alpha.
A6  The border color of an integer texture consists of the bits of the four floats.
A7  A layer is unsigned: a layer below 0 is the last one.
A8  A linear filter in one dimension lies halfway between row -1 and row 0. Row -1 is
    border if the second address mode is border.
A9  sRGB uses a coarse table with at most eight significant bits, up to 0.00375 from the
    exact curve. The table is recorded. A filter treats its values as halves, and the
    alpha channel as integers.
A10 A gather returns 0x7fffffff for every NaN, and zero for subnormal numbers. The fetch
    of a texel returns the texel's bits, and widens a signaling NaN of 16 bits to a
    signaling NaN.
"""

import functools
from dataclasses import dataclass

import numpy as np

from support.cc import ROOT
from support.rawtexture import BORDER, CLAMP, MIRROR, WRAP

FRACTION = 256
UNIT_STEPS = 1 << 21
GOLDEN = ROOT / "test/data/texture_filter.npz"


@functools.cache
def golden():
    """Return the results of an H200, which test/device/texture_golden.py recorded."""
    with np.load(GOLDEN) as file:
        return dict(file)


@dataclass
class Model:
    data: np.ndarray  # [z][y][x][channel]
    sides: int  # coordinates, without the layer
    modes: tuple = (CLAMP, CLAMP, CLAMP)
    linear: bool = False
    unit: bool = False  # normalized coordinates
    as_integer: bool = False
    border: tuple = (0, 0, 0, 0)
    srgb: bool = False

    def values(self):
        """Return the texels as float64, or as integers if a fetch returns integers."""
        data = self.data
        if data.dtype.kind == "f":
            return data.astype(np.float64)
        if self.as_integer or data.itemsize == 4:
            return data.astype(np.int64)
        most = np.iinfo(data.dtype).max
        unit = np.maximum(data.astype(np.float32) / np.float32(most), np.float32(-1))
        unit = unit.astype(np.float64)
        if self.srgb:
            unit[..., :3] = golden()["srgb"][data[..., :3]]
        return unit

    def mode(self, k):
        mode = self.modes[k]
        return mode if self.unit or mode == BORDER else CLAMP

    def place(self, x, k, n):
        """Return the coordinates in texels."""
        u = np.asarray(x).astype(np.float64)
        if not self.unit:
            return u
        if self.mode(k) == WRAP:
            u = u - np.floor(u)
        if self.mode(k) == MIRROR:
            u = u - 2 * np.floor(u / 2)
        return np.floor(u * UNIT_STEPS) / UNIT_STEPS * n

    def index(self, i, k, n):
        """Return the numbers of the texels; -1 is the border."""
        mode = self.mode(k)
        if mode == WRAP:
            return i % n
        if mode == MIRROR:
            i = i % (2 * n)
            return np.where(i < n, i, 2 * n - 1 - i)
        if mode == BORDER:
            return np.where((i < 0) | (i >= n), -1, i)
        return np.clip(i, 0, n - 1)

    def layer(self, number):
        count = self.data.shape[0]
        number = np.asarray(number)
        return np.where(number < 0, count - 1, np.minimum(number, count - 1))

    def texels(self, z, y, x, values=None):
        values = self.values() if values is None else values
        outside = (x < 0) | (y < 0) | (z < 0)
        found = values[np.maximum(z, 0), np.maximum(y, 0), np.maximum(x, 0)]
        border = np.asarray(self.border)[: values.shape[-1]]
        return np.where(outside[:, None], border, found)

    def taps(self, coordinates):
        """Return, for each axis, two texel numbers and the second's weight of 256."""
        sizes = self.data.shape[2::-1]
        for k in range(self.sides):
            u = self.place(coordinates[k], k, sizes[k])
            fixed = np.floor((u - 0.5) * FRACTION + 0.5).astype(np.int64)
            i = fixed // FRACTION
            weight = fixed % FRACTION
            first, second = self.index(i, k, sizes[k]), self.index(i + 1, k, sizes[k])
            yield first, second, np.where(first == second, 0, weight)

    def fetch(self, coordinates, layer=None):
        """Return [point][channel] as float32 or int64."""
        zero = np.zeros(len(coordinates[0]), np.int64)
        z = zero if layer is None else self.layer(layer)
        at = [zero, zero, z]
        if not self.linear:
            sizes = self.data.shape[2::-1]
            for k in range(self.sides):
                u = np.floor(self.place(coordinates[k], k, sizes[k])).astype(np.int64)
                at[k] = self.index(u, k, sizes[k])
            found = self.texels(at[2], at[1], at[0])
            return found.astype(np.float32) if found.dtype.kind == "f" else found
        taps = list(self.taps(coordinates))
        if self.sides == 1 and layer is None and self.mode(1) == BORDER:
            taps.append((zero - 1, zero, zero + FRACTION // 2))
        weights = weigh([part for _, _, part in taps])
        channels = []
        for c in range(self.data.shape[-1]):
            adds = self.arithmetic(c)
            values = adds.enter(self.data, self.values())
            found = []
            for tap in range(1 << len(taps)):
                for k, sides in enumerate(taps):
                    at[k] = sides[tap >> k & 1]
                texel = self.texels(at[2], at[1], at[0], values)[:, c]
                border = (at[0] < 0) | (at[1] < 0) | (at[2] < 0)
                found.append(np.where(border, adds.border(texel), texel))
            total = sum(
                adds.blend(found[k : k + 4], weights[k : k + 4])
                for k in range(0, len(found), 4)
            )
            channels.append(adds.leave(total))
        found = np.stack(channels, axis=1)
        return found.astype(np.int64 if isinstance(adds, Wholes) else np.float32)

    def arithmetic(self, channel):
        kind, size = self.data.dtype.kind, self.data.itemsize
        if kind != "f" and (self.as_integer or size == 4):
            return Wholes(size)
        if kind == "f":
            return Floats(28, 24, -125) if size == 4 else Floats(15, 11, -13)
        if self.srgb and channel < 3:
            return Floats(15, 11, -13)
        return Integers(np.iinfo(self.data.dtype).max, kind == "i")

    def gather(self, coordinates, channel, layer=None):
        zero = np.zeros(len(coordinates[0]), np.int64)
        z = zero if layer is None else self.layer(layer)
        x, y = list(self.taps(coordinates))[:2]
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        columns = [self.texels(z, y[j], x[i])[:, channel] for i, j in corners]
        return np.stack(columns, axis=1)

    def near_an_edge(self, coordinates, distance):
        """Return where rounding may decide which texel a point sample takes."""
        sizes = self.data.shape[2::-1]
        near = np.zeros(len(coordinates[0]), bool)
        for k in range(self.sides):
            u = self.place(coordinates[k], k, sizes[k])
            near |= np.abs(u - np.round(u)) < distance
        return near


@dataclass
class Floats:
    """Sums truncated `kept` bits below the leading bit, rounded to `rounded` bits."""

    kept: int
    rounded: int
    least: int  # the exponent of subnormal numbers

    def enter(self, data, values):
        return values

    def border(self, value):
        return value

    def blend(self, found, weights):
        found, weights = np.array(found), np.array(weights)
        counts = np.where((weights > 0) & np.isfinite(found), np.abs(found), 0)
        step = np.ldexp(1.0, np.frexp(counts.max(axis=0))[1] - self.kept)
        with np.errstate(invalid="ignore"):
            terms = np.trunc(found / step) * step * weights / FRACTION
        return np.where(weights > 0, terms, 0).sum(axis=0)

    def leave(self, total):
        """Round, halves away from zero."""
        exponent = np.maximum(np.frexp(total)[1], self.least)
        step = np.ldexp(1.0, exponent - self.rounded)
        return np.copysign(np.floor(np.abs(total) / step + 0.5) * step, total)


@dataclass
class Integers:
    """Exact sums, then widened to 16 bits and rounded, halves upwards."""

    most: int
    signed: bool

    def enter(self, data, values):
        return data.astype(np.float64)

    def border(self, value):
        return np.floor(np.asarray(value, np.float64) * self.most + 0.5)

    def blend(self, found, weights):
        return (np.array(found) * np.array(weights)).sum(axis=0) / FRACTION

    def leave(self, total):
        if self.most == 127:
            total = 258 * total + np.floor(total / 16) / 8
        elif self.most == 255:
            total = 257 * total
        whole = 32767 if self.signed else 65535
        return np.maximum(np.floor(total + 0.5) / whole, -1)


@dataclass
class Wholes:
    """Exact sums, rounded halves upwards, those of 32 bits down."""

    size: int

    def enter(self, data, values):
        return data.astype(np.float64)

    def border(self, value):
        return value

    def blend(self, found, weights):
        return (np.array(found) * np.array(weights)).sum(axis=0) / FRACTION

    def leave(self, total):
        return np.floor(total + (0.5 if self.size < 4 else 0))


def divide(whole, place, up):
    """Divide a weight between two neighbors. A half goes to the second if `up`."""
    second = (whole * place + FRACTION // 2 - (not up)) // FRACTION
    return whole - second, second


def weigh(parts):
    """Return the taps' weights of 256. Bit k of a tap's number selects on axis k."""
    x, y, z = [*parts, 0, 0][:3]
    weights = {}
    for k, layer in enumerate((FRACTION - z, z)):
        for i, column in enumerate(divide(layer, x, True)):
            for j, weight in enumerate(divide(column, y, i == 1)):
                weights[4 * k + 2 * j + i] = weight + np.zeros_like(x)
    return [weights[tap] for tap in range(1 << len(parts))]


def face_of(direction):
    """Return the number of the face and the coordinates on it, in [0, 1]."""
    x, y, z = (np.asarray(part, np.float64) for part in direction)
    ax, ay, az = np.abs(x), np.abs(y), np.abs(z)
    on_x, on_y = (ax > ay) & (ax > az), (ay > ax) & (ay > az)
    face = np.where(
        on_x, np.where(x < 0, 1, 0), np.where(on_y, np.where(y < 0, 3, 2), 4 + (z < 0))
    )
    m = np.where(on_x, ax, np.where(on_y, ay, az))
    s = np.choose(face, [-z, z, x, x, x, -x])
    t = np.choose(face, [-y, -y, z, -z, -y, -y])
    return face, ((s / m + 1) / 2, (t / m + 1) / 2)
