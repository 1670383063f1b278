"""The special cases that the array API standard lists, for each function.

The tables hold the facts of the standard's text (version 2024.12). A row has the
operands and the result. A word such as ``finite`` stands for each of its VALUES. A
result with a ``±`` may have either sign.
"""

import math

import numpy as np
import pytest

import pycuda.array_api as xp

pytestmark = pytest.mark.gpu

INF, NAN, PI = math.inf, math.nan, math.pi
POSITIVE = [0.5, 1.0, 2.0, 3.0, 89.5, 1e30]
NEGATIVE = [-value for value in POSITIVE]
ZEROS, INFINITIES = [0.0, -0.0], [INF, -INF]
NUMBERS = [*ZEROS, *POSITIVE, *NEGATIVE]

#: The values of an operand, by the words of the tables.
VALUES = {
    "0": [0.0],
    "-0": [-0.0],
    "±0": ZEROS,
    "1": [1.0],
    "-1": [-1.0],
    "inf": [INF],
    "-inf": [-INF],
    "±inf": INFINITIES,
    "nan": [NAN],
    "finite": NUMBERS,
    "nonzero": [*POSITIVE, *NEGATIVE],
    "positive": POSITIVE,
    "negative": NEGATIVE,
    "any": [*NUMBERS, *INFINITIES, NAN],
    "not_nan": [*NUMBERS, *INFINITIES],
    "not_0": [*POSITIVE, *NEGATIVE, *INFINITIES, NAN],
    "not_1": [*ZEROS, 0.5, -0.5, -1.0, 3.0, *INFINITIES],
    "not_inf": [*NUMBERS, NAN],
    ">0": [*POSITIVE, INF],
    "<0": [*NEGATIVE, -INF],
    ">1": [1.5, 3.0, 1e30, INF],
    "<1": [0.5, 0.0, -1.0, -INF],
    "<-1": [-1.5, -3.0, -1e30, -INF],
    "size>1": [1.5, -1.5, 1e30, *INFINITIES],
    "size1": [1.0, -1.0],
    "size<1": [0.5, -0.5, *ZEROS],
    "whole": [-3.0, 1.0, 2.0, 1e30],
    "half": [0.5, 1.5, -2.5],
    "odd>0": [1.0, 3.0, 89.0],
    "odd<0": [-1.0, -3.0, -89.0],
    "even>0": [0.5, 2.0, 2.5, 1e30, INF],
    "even<0": [-0.5, -2.0, -2.5, -1e30, -INF],
    "broken": [0.5, -1.5, 2.5],
    "-nan": [-NAN],
}

#: Results that depend on the operands. The others are numbers, with or without a ±.
RESULTS = {
    "x": lambda x: x,
    "even": lambda x: 2 * round(x / 2),
    "x1": lambda x1, x2: x1,
    "x2": lambda x1, x2: x2,
    "|x1|": lambda x1, x2: abs(x1),
    "|x2|": lambda x1, x2: abs(x2),
    "-|x1|": lambda x1, x2: -abs(x1),
    "signed_inf": lambda x1, x2: math.copysign(INF, x1) * math.copysign(1, x2),
    "inf*cos": lambda a, b: INF * math.cos(b),
    "inf*sin": lambda a, b: INF * math.sin(b),
    "0*cos": lambda a, b: math.copysign(0, math.cos(b)),
    "0*sin": lambda a, b: math.copysign(0, math.sin(b)),
}
NUMBER = {"pi": PI, "pi/2": PI / 2, "pi/4": PI / 4, "3pi/4": 3 * PI / 4}

ONE = {
    "abs": "nan nan, -0 0, -inf inf",
    "acos": "nan nan, >1 nan, <-1 nan, 1 0",
    "acosh": "nan nan, <1 nan, 1 0, inf inf",
    "asin": "nan nan, >1 nan, <-1 nan, 0 0, -0 -0",
    "asinh": "nan nan, 0 0, -0 -0, inf inf, -inf -inf",
    "atan": "nan nan, 0 0, -0 -0, inf pi/2, -inf -pi/2",
    "atanh": "nan nan, <-1 nan, >1 nan, -1 -inf, 1 inf, 0 0, -0 -0",
    "ceil": "whole x, inf inf, -inf -inf, 0 0, -0 -0, nan nan",
    "cos": "nan nan, ±0 1, ±inf nan",
    "cosh": "nan nan, ±0 1, ±inf inf",
    "exp": "nan nan, ±0 1, inf inf, -inf 0",
    "expm1": "nan nan, 0 0, -0 -0, inf inf, -inf -1",
    "floor": "whole x, inf inf, -inf -inf, 0 0, -0 -0, nan nan",
    "isfinite": "±inf 0, nan 0, finite 1",
    "isinf": "±inf 1, nan 0, finite 0",
    "isnan": "nan 1, ±inf 0, finite 0",
    "log": "nan nan, <0 nan, ±0 -inf, 1 0, inf inf",
    "log1p": "nan nan, <-1 nan, -1 -inf, -0 -0, 0 0, inf inf",
    "log2": "nan nan, <0 nan, ±0 -inf, 1 0, inf inf",
    "log10": "nan nan, <0 nan, ±0 -inf, 1 0, inf inf",
    "round": "whole x, inf inf, -inf -inf, 0 0, -0 -0, nan nan, half even",
    "sign": "<0 -1, ±0 0, >0 1, nan nan",
    "signbit": "0 0, -0 1, inf 0, -inf 1, positive 0, negative 1, nan 0, -nan 1",
    "sin": "nan nan, 0 0, -0 -0, ±inf nan",
    "sinh": "nan nan, 0 0, -0 -0, inf inf, -inf -inf",
    "sqrt": "nan nan, <0 nan, 0 0, -0 -0, inf inf",
    "tan": "nan nan, 0 0, -0 -0, ±inf nan",
    "tanh": "nan nan, 0 0, -0 -0, inf 1, -inf -1",
    "trunc": "whole x, inf inf, -inf -inf, 0 0, -0 -0, nan nan",
}

TWO = {
    "add": """nan any nan, any nan nan, inf -inf nan, -inf inf nan, inf inf inf,
        -inf -inf -inf, inf finite inf, -inf finite -inf, finite inf inf,
        finite -inf -inf, -0 -0 -0, -0 0 0, 0 -0 0, 0 0 0, ±0 nonzero x2,
        nonzero ±0 x1""",
    "atan2": """nan any nan, any nan nan, >0 ±0 pi/2, 0 >0 0, 0 0 0, 0 -0 pi, 0 <0 pi,
        -0 >0 -0, -0 0 -0, -0 -0 -pi, -0 <0 -pi, <0 ±0 -pi/2, positive inf 0,
        positive -inf pi, negative inf -0, negative -inf -pi, inf finite pi/2,
        -inf finite -pi/2, inf inf pi/4, inf -inf 3pi/4, -inf inf -pi/4,
        -inf -inf -3pi/4""",
    "copysign": """any <0 -|x1|, any -0 -|x1|, any 0 |x1|, any >0 |x1|, any -nan -|x1|,
        any nan |x1|""",
    "divide": """nan any nan, any nan nan, ±inf ±inf nan, ±0 ±0 nan, 0 >0 0, -0 >0 -0,
        0 <0 -0, -0 <0 0, >0 0 inf, >0 -0 -inf, <0 0 -inf, <0 -0 inf, inf positive inf,
        inf negative -inf, -inf positive -inf, -inf negative inf, positive inf 0,
        positive -inf -0, negative inf -0, negative -inf 0""",
    "equal": """nan any 0, any nan 0, inf inf 1, -inf -inf 1, ±0 ±0 1, 1 1 1""",
    # The standard allows Python's and NumPy's results where they differ from its own.
    "floor_divide": """nan any nan, any nan nan, ±inf ±inf nan, ±0 ±0 nan, 0 >0 0,
        -0 >0 -0, 0 <0 -0, -0 <0 0, >0 0 inf, >0 -0 -inf, <0 0 -inf, <0 -0 inf,
        ±inf nonzero nan, positive inf 0, positive -inf -1, negative inf -1,
        negative -inf 0""",
    "greater": "nan any 0, any nan 0, inf finite 1, finite -inf 1, ±0 ±0 0",
    "hypot": """±inf any inf, any ±inf inf, ±0 any |x2|, any ±0 |x1|, not_inf nan nan,
        nan not_inf nan""",
    "less": "nan any 0, any nan 0, finite inf 1, -inf finite 1, ±0 ±0 0",
    "logaddexp": "nan any nan, any nan nan, inf not_nan inf, not_nan inf inf",
    "maximum": "nan any nan, any nan nan",
    "minimum": "nan any nan, any nan nan",
    "multiply": """nan any nan, any nan nan, ±inf ±0 nan, ±0 ±inf nan,
        ±inf ±inf signed_inf, ±inf nonzero signed_inf, nonzero ±inf signed_inf,
        0 -0 -0, -0 -0 0, -0 positive -0, -0 negative 0""",
    "nextafter": "nan any nan, any nan nan, -0 0 0, 0 -0 -0",
    "not_equal": """nan any 1, any nan 1, inf -inf 1, -inf inf 1, ±0 ±0 0, 1 -1 1""",
    "pow": """not_1 nan nan, any ±0 1, nan not_0 nan, size>1 inf inf, size>1 -inf 0,
        size1 ±inf 1, 1 not_nan 1, size<1 inf 0, size<1 -inf inf, inf >0 inf, inf <0 0,
        -inf odd>0 -inf, -inf even>0 inf, -inf odd<0 -0, -inf even<0 0, 0 >0 0,
        0 <0 inf, -0 odd>0 -0, -0 even>0 0, -0 odd<0 -inf, -0 even<0 inf,
        negative broken nan""",
    "remainder": """nan any nan, any nan nan, ±inf ±inf nan, ±0 ±0 nan, ±0 >0 0,
        ±0 <0 -0, nonzero ±0 nan, ±inf nonzero nan, positive inf x1, positive -inf x2,
        negative inf x2, negative -inf x1""",
    "subtract": """nan any nan, any nan nan, inf inf nan, -inf -inf nan, inf -inf inf,
        -inf inf -inf, inf finite inf, finite inf -inf, -0 0 -0, 0 -0 0""",
}

#: Functions of complex numbers with a real result: the parts, and the result.
PARTS = {
    "abs": """±inf any inf, any ±inf inf, ±0 any |x2|, any ±0 |x1|, nan finite nan,
        finite nan nan, nan nan nan""",
    "isfinite": "nan any 0, any nan 0, ±inf any 0, any ±inf 0, finite finite 1",
    "isinf": "±inf any 1, any ±inf 1, finite finite 0, nan finite 0, finite nan 0",
    "isnan": "nan any 1, any nan 1, not_nan not_nan 0",
}

#: Functions of complex numbers: the parts of the operand, and of the result.
COMPLEX = {
    "acos": """±0 0 pi/2 -0, ±0 nan pi/2 nan, finite inf pi/2 -inf, nonzero nan nan nan,
        -inf positive pi -inf, inf positive 0 -inf, -inf inf 3pi/4 -inf,
        inf inf pi/4 -inf, ±inf nan nan ±inf, nan finite nan nan, nan inf nan -inf,
        nan nan nan nan""",
    "acosh": """±0 0 0 pi/2, finite inf inf pi/2, nonzero nan nan nan, 0 nan nan ±pi/2,
        -inf positive inf pi, inf positive inf 0, -inf inf inf 3pi/4, inf inf inf pi/4,
        ±inf nan inf nan, nan finite nan nan, nan inf inf nan, nan nan nan nan""",
    "asinh": """0 0 0 0, positive inf inf pi/2, finite nan nan nan, inf positive inf 0,
        inf inf inf pi/4, nan 0 nan 0, nan nonzero nan nan, nan inf ±inf nan,
        nan nan nan nan""",
    "atanh": """0 0 0 0, 0 nan 0 nan, 1 0 inf 0, positive inf 0 pi/2,
        nonzero nan nan nan, inf positive 0 pi/2, inf inf 0 pi/2, inf nan 0 nan,
        nan finite nan nan, nan inf ±0 pi/2, nan nan nan nan""",
    "cosh": """0 0 1 0, 0 inf nan ±0, 0 nan nan ±0, nonzero inf nan nan,
        nonzero nan nan nan, inf 0 inf 0, inf nonzero inf*cos inf*sin, inf inf ±inf nan,
        inf nan inf nan, nan ±0 nan ±0, nan nonzero nan nan, nan nan nan nan""",
    "exp": """±0 0 1 0, finite inf nan nan, finite nan nan nan, inf 0 inf 0,
        -inf finite 0*cos 0*sin, inf nonzero inf*cos inf*sin, -inf inf ±0 ±0,
        inf inf ±inf nan, -inf nan ±0 ±0, inf nan ±inf nan, nan 0 nan 0,
        nan not_0 nan nan, nan nan nan nan""",
    "expm1": """±0 0 0 0, finite inf nan nan, finite nan nan nan, inf 0 inf 0,
        -inf finite -1 0*sin, inf nonzero inf*cos inf*sin, -inf inf -1 ±0,
        inf inf ±inf nan, -inf nan -1 ±0, inf nan ±inf nan, nan 0 nan 0,
        nan not_0 nan nan, nan nan nan nan""",
    "log": """-0 0 -inf pi, 0 0 -inf 0, finite inf inf pi/2, finite nan nan nan,
        -inf positive inf pi, inf positive inf 0, -inf inf inf 3pi/4, inf inf inf pi/4,
        ±inf nan inf nan, nan finite nan nan, nan inf inf nan, nan nan nan nan""",
    "log1p": """-1 0 -inf 0, finite inf inf pi/2, finite nan nan nan,
        -inf positive inf pi, inf positive inf 0, -inf inf inf 3pi/4, inf inf inf pi/4,
        ±inf nan inf nan, nan finite nan nan, nan inf inf nan, nan nan nan nan""",
    "sign": "±0 ±0 0 0, nan any nan nan, any nan nan nan",
    "sinh": """0 0 0 0, 0 inf ±0 nan, 0 nan ±0 nan, positive inf nan nan,
        positive nan nan nan, inf 0 inf 0, inf positive inf*cos inf*sin,
        inf inf ±inf nan, inf nan ±inf nan, nan 0 nan 0, nan nonzero nan nan,
        nan nan nan nan""",
    # The text has "-infinity" twice where C's Annex G has the results in this order.
    "sqrt": """±0 0 0 0, any inf inf inf, finite nan nan nan, -inf positive 0 inf,
        inf positive inf 0, -inf nan nan ±inf, inf nan inf nan, nan finite nan nan,
        nan nan nan nan""",
    "tanh": """0 0 0 0, nonzero inf nan nan, 0 inf 0 nan, nonzero nan nan nan,
        0 nan 0 nan, inf positive 1 0, inf inf 1 ±0, inf nan 1 ±0, nan 0 nan 0,
        nan nonzero nan nan, nan nan nan nan""",
}
ODD = {"asinh", "atanh", "sinh", "tanh"}

#: f(z) is g(iz), or g(iz) / i: the standard defines these by the others.
TURNED = {"cos": "cosh", "sin": "sinh", "tan": "tanh", "asin": "asinh", "atan": "atanh"}


def expected_value(word, operands):
    """Return the number that a word stands for, and whether its sign is open."""
    if word in RESULTS:
        return RESULTS[word](*operands), False
    sign = -1.0 if word.startswith("-") else 1.0
    number = word.lstrip("±-")
    value = NUMBER[number] if number in NUMBER else float(number)
    return sign * value, word.startswith("±")


def expand(table, count, dtype):
    """Yield the operands, rounded to a dtype, and expected values of each row."""
    real = np.finfo(dtype).dtype
    for row in table.split(","):
        words = row.split()
        choices = [np.array(VALUES[word], real).astype(float) for word in words[:count]]
        for operands in np.array(np.meshgrid(*choices)).reshape(count, -1).T:
            yield (
                tuple(operands),
                [expected_value(word, operands) for word in words[count:]],
            )


def agree(got, expected, is_open):
    """Return whether a number is the expected one, with its sign."""
    if math.isnan(expected):
        return math.isnan(got)
    if is_open:
        got, expected = abs(got), abs(expected)
    if math.copysign(1, got) != math.copysign(1, expected):
        return False
    return got == expected or math.isclose(got, expected, rel_tol=1e-6)


def check(name, cases, operands):
    """Call a function with the operands and compare the parts of its results."""
    got = getattr(xp, name)(*(xp.asarray(each) for each in operands)).get()
    parts = [got.real, got.imag] if got.dtype.kind == "c" else [got]
    wrong = [
        (name, given, [part[i] for part in parts], wanted)
        for i, (given, wanted) in enumerate(cases)
        if not all(
            agree(float(part[i]), *each)
            for part, each in zip(parts, wanted, strict=True)
        )
    ]
    assert not wrong


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ONE)
def test_one_real_operand(ctx, name, dtype):
    cases = list(expand(ONE[name], 1, dtype))
    check(name, cases, np.array([x for x, _ in cases], dtype).T)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_two_real_operands(ctx, name, dtype):
    cases = list(expand(TWO[name], 2, dtype))
    check(name, cases, np.array([x for x, _ in cases], dtype).T)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", PARTS)
def test_real_functions_of_complex_numbers(ctx, name, dtype):
    cases = list(expand(PARTS[name], 2, dtype))
    check(name, cases, [np.array([complex(*z) for z, _ in cases], dtype)])


def mirrored(name, cases):
    """Add the conjugates of cases, and the opposites of those of an odd function."""
    for (a, b), ((re, any_re), (im, any_im)) in cases:
        turns = [(1, 1), (1, -1)]
        if name in ODD:
            turns += [(-1, 1), (-1, -1)]
        for x, y in turns:
            yield (x * a, y * b), [(x * re, any_re), (y * im, any_im)]


def turned(name, cases):
    """Return the cases of a function that is another one of iz."""
    for (a, b), (re, im) in cases:
        if name == "cos":
            yield (b, -a), [re, im]
        else:
            yield (b, -a), [im, (-re[0], re[1])]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", [*COMPLEX, *TURNED])
def test_complex_numbers(ctx, name, dtype):
    base = TURNED.get(name, name)
    cases = expand(COMPLEX[base], 2, dtype)
    if base != "sign":  # its zeros have no sign
        cases = mirrored(base, cases)
    if name in TURNED:
        cases = turned(name, cases)
    cases = list(cases)
    check(name, cases, [np.array([complex(*z) for z, _ in cases], dtype)])


def test_a_wrong_result_is_found(ctx, monkeypatch):
    """The comparison sees the sign of a zero, a NaN and a value."""
    monkeypatch.setattr(xp, "sqrt", lambda x: xp.abs(x))
    with pytest.raises(AssertionError):
        test_one_real_operand(None, "sqrt", "float32")
    assert not agree(-0.0, 0.0, False) and agree(-0.0, 0.0, True)
    assert not agree(1.0, NAN, False) and not agree(NAN, 1.0, True)
