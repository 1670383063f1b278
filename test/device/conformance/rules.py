"""Rules to compare an answer with the recorded one.

EXACT is the rule for all instructions except the `.approx` family. The rules of that
family have the bounds of the PTX manual (ISA 9.1, "Floating Point Instructions"). Every
rule compares the bits of infinities, NaN and the sign of zero.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Exact:
    def wrong(self, expected, got, bits):
        """Return the indices of elements that differ."""
        return np.nonzero(expected != got)[0]


EXACT = Exact()


@dataclass(frozen=True)
class Near:
    """Accept a distance in ulp, or a relative or an absolute error.

    ignore_low: this number of low bits is not counted in a ulp, but must be equal.
    """

    ulp: float = 0
    relative: float = 0
    absolute: float = 0
    ignore_low: int = 0

    def wrong(self, expected, got, bits):
        real = {32: np.float32, 64: np.float64}[bits]
        signed = {32: np.int32, 64: np.int64}[bits]
        e, g = expected.view(real), got.view(real)
        ordinary = np.isfinite(e) & np.isfinite(g)
        if self.ulp or self.absolute:  # accept zero for a number close to it
            ordinary &= (e != 0) | (g != 0)
        else:
            ordinary &= (e != 0) & (g != 0)
        i, j = expected.view(signed), got.view(signed)
        steps = np.abs((i >> self.ignore_low) - (j >> self.ignore_low))
        low = ((i ^ j) & ((1 << self.ignore_low) - 1)) == 0
        close = ((i < 0) == (j < 0)) & (steps <= self.ulp) & low
        with np.errstate(all="ignore"):
            wide_e, wide_g = e.astype(np.float64), g.astype(np.float64)
            error = np.abs(wide_e - wide_g)
            if self.relative:
                close |= error <= self.relative * np.abs(wide_e)
            if self.absolute:
                close |= error <= self.absolute
        return np.nonzero((expected != got) & ~(ordinary & close))[0]


#: ex2: at most 2 ulp over the full range.
EX2 = Near(ulp=2)
#: rcp: at most 1 ulp over the full range.
RCP = Near(ulp=1)
#: div: at most 2 ulp for divisors from 2^-126 to 2^126.
DIV = Near(ulp=2)
#: rsqrt: relative error at most 2^-22.9.
RSQRT = Near(relative=2.0**-22.9)
#: sqrt: relative error at most 2^-23.
SQRT = Near(relative=2.0**-23)
#: lg2: absolute error 2^-22 between 0.5 and 2, relative error 2^-22 elsewhere. Between
#: 0.5 and 2 the result is at most 1, elsewhere at least 1: one rule states both.
LG2 = Near(relative=2.0**-22, absolute=2.0**-22)
#: sin and cos: absolute error 2^-20.5 from -2 pi to 2 pi.
SIN_NEAR = Near(absolute=2.0**-20.5)
#: sin and cos: absolute error 2^-14.7 from -100 pi to 100 pi.
SIN_FAR = Near(absolute=2.0**-14.7)
#: tanh: relative error at most 2^-11.
TANH = Near(relative=2.0**-11)
#: rcp and rsqrt of f64 with ftz: a coarse approximation. The manual only says that the
#: upper word is computed and the lower word is zero. Accept one unit of the upper word.
GROSS64 = Near(ulp=1, ignore_low=32)
#: rsqrt.approx.f64 implements rsqrt(), with 1 ulp according to the programming guide.
RSQRT64 = Near(ulp=1)
