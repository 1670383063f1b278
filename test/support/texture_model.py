"""What a texture fetch gives, in NumPy: the manual's formulas and our assumptions.

From the CUDA programming guide: addresses, the formulas of the filters, a filter
fraction of 9 bits of which 8 are fraction, cube faces, zeros beyond linear memory.

No manual says the rest. An H200 has answered A1 to A6, except where it is said:
A1  a coordinate minus 0.5 is rounded to the nearest 1/256 texel, halves upwards;
A2  weights are whole numbers of 1/256 whose sum is 256. Of four, the one of the two
    second texels is rounded, halves upwards; the others are what is left. Of eight,
    see `weigh`: uncertain, one step off at 17 of 202 random places of an H200. The
    sum is exact, rounded once to single precision, halves away from zero. Integers
    are widened to 16 bits and the sum is rounded to 16 bits, halves upwards (seen of
    unsigned ones, assumed of signed ones); sums of halves are rounded to halves;
A3  point sampling takes floor of the coordinate, without rounding it first;
A4  normalised coordinates are multiplied by the size without an error: uncertain, an
    H200 takes the texel above at a few places less than 1/128 before an edge, and
    rounds otherwise, in a way not found, where a coordinate wraps;
A5  channels that the format lacks are 0, alpha too;
A6  the border colour of an integer texture is the bits of the four floats;
A7  a layer is unsigned: one below 0 is the last;
A8  a linear filter in one dimension lies halfway between row -1, which is border where
    the second address mode says so, and row 0. That the second mode decides is
    uncertain: the modes were all border when it was seen;
A9  sRGB has a coarse table, up to 0.00375 from the exact curve: its values are unknown;
A10 a gather has the NaN 0x7fffffff alone and zeros for subnormal numbers; the fetch of
    a texel has the texel's bits, and widens a signalling NaN of 16 bits to one.
"""

from dataclasses import dataclass

import numpy as np

from support.rawtexture import BORDER, CLAMP, MIRROR, WRAP

FRACTION = 256


@dataclass
class Model:
    data: np.ndarray  # [z][y][x][channel]
    sides: int  # coordinates, the layer not counted
    modes: tuple = (CLAMP, CLAMP, CLAMP)
    linear: bool = False
    unit: bool = False  # normalised coordinates
    as_integer: bool = False
    border: tuple = (0, 0, 0, 0)
    srgb: bool = False

    def values(self):
        """Texels as float64, or as integers where they stay integers."""
        data = self.data
        if data.dtype.kind == "f":
            return data.astype(np.float64)
        if self.as_integer or data.itemsize == 4:
            return data.astype(np.int64)
        most = np.iinfo(data.dtype).max
        unit = np.maximum(data.astype(np.float32) / np.float32(most), np.float32(-1))
        unit = unit.astype(np.float64)
        if self.srgb:
            curve = np.where(
                unit <= 0.04045, unit / 12.92, ((unit + 0.055) / 1.055) ** 2.4
            ).astype(np.float32)
            unit[..., :3] = curve[..., :3]
        return unit

    def mode(self, k):
        mode = self.modes[k]
        return mode if self.unit or mode == BORDER else CLAMP

    def place(self, x, k, n):
        """Coordinates in texels."""
        u = np.asarray(x).astype(np.float64)
        if not self.unit:
            return u
        if self.mode(k) == WRAP:
            u = u - np.floor(u)
        if self.mode(k) == MIRROR:
            u = u - 2 * np.floor(u / 2)
        return u * n

    def index(self, i, k, n):
        """Texel numbers; -1 is the border."""
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

    def texels(self, z, y, x):
        values = self.values()
        outside = (x < 0) | (y < 0) | (z < 0)
        found = values[np.maximum(z, 0), np.maximum(y, 0), np.maximum(x, 0)]
        border = np.asarray(self.border)[: values.shape[-1]]
        return np.where(outside[:, None], border, found)

    def taps(self, coordinates):
        """For each side, the two texel numbers and the weight of the second, of 256."""
        sizes = self.data.shape[2::-1]
        for k in range(self.sides):
            u = self.place(coordinates[k], k, sizes[k])
            fixed = np.floor((u - 0.5) * FRACTION + 0.5).astype(np.int64)
            i = fixed // FRACTION
            weight = fixed % FRACTION
            yield (
                self.index(i, k, sizes[k]),
                self.index(i + 1, k, sizes[k]),
                weight,
            )

    def fetch(self, coordinates, layer=None):
        """[point][channel] of float32, or int64."""
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
        unit = self.unit_of_a_filter()
        weights = weigh([part for _, _, part in taps])
        total = np.zeros((len(zero), self.data.shape[-1]))
        for tap in range(1 << self.sides):
            for k, sides in enumerate(taps):
                at[k] = sides[tap >> k & 1]
            weight = weights[tap] / FRACTION
            found = self.texels(at[2], at[1], at[0])
            found = found if unit == 1 else np.floor(found * unit + 0.5)
            total += weight[:, None] * found
        if self.sides == 1 and layer is None and self.mode(1) == BORDER:
            border = np.asarray(self.border)[: total.shape[-1]]
            border = border if unit == 1 else np.floor(border * unit + 0.5)
            total = (total + border) / 2
        if unit != 1:
            return (np.floor(total + 0.5) / unit).astype(np.float32)
        if self.data.dtype == np.float16:
            return total.astype(np.float16).astype(np.float32)
        return single(total)

    def unit_of_a_filter(self):
        """Of integers, the widest of 16 bits: a sum counts in such steps."""
        if self.data.dtype.kind == "f" or self.srgb:
            return 1
        return 65535 if self.data.dtype.kind == "u" else 32767

    def gather(self, coordinates, channel, layer=None):
        zero = np.zeros(len(coordinates[0]), np.int64)
        z = zero if layer is None else self.layer(layer)
        x, y = list(self.taps(coordinates))[:2]
        corners = [(0, 1), (1, 1), (1, 0), (0, 0)]
        columns = [self.texels(z, y[j], x[i])[:, channel] for i, j in corners]
        return np.stack(columns, axis=1)

    def near_an_edge(self, coordinates, distance):
        """Where rounding may decide which texel a point sample takes."""
        sizes = self.data.shape[2::-1]
        near = np.zeros(len(coordinates[0]), bool)
        for k in range(self.sides):
            u = self.place(coordinates[k], k, sizes[k])
            near |= np.abs(u - np.round(u)) < distance
        return near


def share(weight, part):
    return (weight * part + FRACTION // 2) // FRACTION


def single(values):
    """To single precision, halves away from zero."""
    below = values.astype(np.float32)
    beyond = np.where(values < 0, -np.inf, np.inf).astype(np.float32)
    above = np.nextafter(below, beyond)
    with np.errstate(invalid="ignore"):
        half = values - below == above.astype(np.float64) - values
    return np.where(half & (np.abs(below) < np.abs(values)), above, below)


def weigh_square(x, y):
    both = share(x, y)
    return [FRACTION - x - y + both, x - both, y - both, both]


def weigh(parts):
    """Weights of the taps, of 256; bit k of a tap's number is the second of side k."""
    if len(parts) == 1:
        return [FRACTION - parts[0], parts[0]]
    if len(parts) == 2:
        return weigh_square(*parts)
    x, y, z = parts
    square = weigh_square(x, z)
    weights, before, total = [None] * 8, 0, 0
    for at in (1, 3, 2, 0):  # the running sum is rounded
        tap = (at & 1) + 4 * (at >> 1)
        total = total + square[at]
        after = share(total, y)
        weights[tap + 2] = after - before
        weights[tap] = square[at] - weights[tap + 2]
        before = after
    return weights


def face_of(direction):
    """Face number and the place on the face, both parts in [0, 1]."""
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
