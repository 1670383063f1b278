"""The programs of ``bench_fuse.py``, each written once for a namespace of functions.

``xp`` has the functions of the array API standard, and what the standard lacks:
``pad`` and ``counts``. A program with ``steps`` is one step from a state to the next.
It is called as often as ``steps`` says.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Program:
    """A program. ``shapes`` and ``dtypes`` are those of its arguments.

    Arguments are random numbers, or what ``start`` makes of them. ``one_pass`` says
    that a kernel can read each argument once and write each result once. ``most`` is
    the largest number of elements. Of the elements of a result, the share ``chaotic``
    may be other ones: those that a rounding changes.
    """

    name: str
    source: Callable
    shapes: tuple
    dtypes: tuple
    tolerance: float
    steps: int
    one_pass: bool
    most: int
    start: Callable | None
    chaotic: float


PROGRAMS = {}


def program(
    *shapes,
    dtypes=None,
    tolerance=1e-4,
    steps=0,
    one_pass=False,
    most=2**24,
    start=None,
    chaotic=0.0,
):
    """Note a program. ``shapes`` are functions of the number of elements."""

    def note(function):
        types = dtypes or ("float32",) * len(shapes)
        name = function.__name__
        PROGRAMS[name] = Program(
            name=name,
            source=function,
            shapes=shapes,
            dtypes=types,
            tolerance=tolerance,
            steps=steps,
            one_pass=one_pass,
            most=most,
            start=start,
            chaotic=chaotic,
        )
        return function

    return note


def line(n):
    """Return the shape of n elements in a line."""
    return (n,)


def square(n):
    """Return the shape of a square of n elements."""
    side = int(n**0.5)
    return (side, side)


def rows(n):
    """Return the shape of rows of 256 elements."""
    return (max(n // 256, 1), 256)


def groups(*shape):
    """Return a function: the shape of groups of a shape that have n elements."""
    size = 1
    for length in shape:
        size *= length
    return lambda n: (max(n // size, 1), *shape)


def fixed(*shape):
    """Return a function: a shape that does not depend on the number of elements."""
    return lambda n: shape


# -- one pass --------------------------------------------------------------------------


@program(line, one_pass=True)
def copy(xp, a):
    """Read and write each element once: the bandwidth that others are compared with."""
    return a + 1


@program(line, line, line, line, one_pass=True)
def arithmetic(xp, a, b, c, d):
    """Add and multiply."""
    return a * b + c * d - a * 0.5


@program(line, line, one_pass=True)
def black_scholes(xp, price, strike):
    """Prices of options, with a rational approximation of the normal distribution."""
    price, strike = price + 0.5, strike + 0.5
    root = 0.2 * 0.5**0.5
    d1 = (xp.log(price / strike) + (0.03 + 0.02) * 0.5) / root
    d2 = d1 - root

    def normal(x):
        k = 1 / (1 + 0.2316419 * xp.abs(x))
        tail = 1.781477937 + k * (-1.821255978 + k * 1.330274429)
        tail = k * (0.31938153 + k * (-0.356563782 + k * tail))
        value = 1 - 0.39894228 * xp.exp(-0.5 * x * x) * tail
        return xp.where(x < 0, 1 - value, value)

    return price * normal(d1) - strike * 0.985 * normal(d2)


@program(square, square, one_pass=True, chaotic=0.02)
def escape(xp, x, y):
    """Fifty masked steps of an escape-time fractal."""
    real, imaginary = 3 * x - 2, 2 * y - 1
    a, b, times = real * 0, real * 0, real * 0
    for _ in range(50):
        inside = a * a + b * b < 4
        a, b = (
            xp.where(inside, a * a - b * b + real, a),
            xp.where(inside, 2 * a * b + imaginary, b),
        )
        times = times + inside
    return times


@program(square, one_pass=True)
def sobel(xp, u):
    """The size of the gradient of a picture."""
    right = u[:-2, 2:] + 2 * u[1:-1, 2:] + u[2:, 2:]
    left = u[:-2, :-2] + 2 * u[1:-1, :-2] + u[2:, :-2]
    below = u[2:, :-2] + 2 * u[2:, 1:-1] + u[2:, 2:]
    above = u[:-2, :-2] + 2 * u[:-2, 1:-1] + u[:-2, 2:]
    return xp.sqrt((right - left) ** 2 + (below - above) ** 2)


@program(rows, one_pass=True)
def softmax(xp, x):
    """Softmax of the rows."""
    e = xp.exp(x - xp.max(x, axis=1, keepdims=True))
    return e / xp.sum(e, axis=1, keepdims=True)


@program(rows, one_pass=True)
def layer_norm(xp, x):
    """Layer normalisation of the rows."""
    centered = x - xp.mean(x, axis=1, keepdims=True)
    variance = xp.mean(centered * centered, axis=1, keepdims=True)
    return centered / xp.sqrt(variance + 1e-5)


@program(rows, one_pass=True, tolerance=1e-3)
def standardisation(xp, x):
    """Rows with the mean 0 and the deviation 1."""
    centered = x - xp.mean(x, axis=1, keepdims=True)
    return centered / xp.std(x, axis=1, keepdims=True)


@program(line, line, one_pass=True)
def product_sum(xp, x, y):
    """The sum of the products of two vectors."""
    return xp.sum(x * y)


@program(groups(3, 3), lambda n: (max(n // 9, 1), 3), one_pass=True)
def small_matrices(xp, m, b):
    """Solve many systems of three equations by Cramer's rule."""

    def determinant(x, y, z):
        return (
            x[0] * (y[1] * z[2] - y[2] * z[1])
            - y[0] * (x[1] * z[2] - x[2] * z[1])
            + z[0] * (x[1] * y[2] - x[2] * y[1])
        )

    x, y, z = ([m[:, i, k] + 2 * (i == k) for i in range(3)] for k in range(3))
    right = [b[:, i] for i in range(3)]
    whole = determinant(x, y, z)
    solved = (
        determinant(right, y, z) / whole,
        determinant(x, right, z) / whole,
        determinant(x, y, right) / whole,
    )
    return xp.stack(solved, axis=1)


# -- stencils --------------------------------------------------------------------------


@program(square, steps=50)
def stencil(xp, u):
    """Fifty steps of a 5-point stencil with a boundary of zeros."""
    inner = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    return (xp.pad(0.25 * inner, 1),)


@program(square, square, steps=300, most=2**22, tolerance=1e-3)
def wave(xp, u, before):
    """Three hundred steps of the wave equation on a torus."""
    around = xp.roll(u, 1, axis=0) + xp.roll(u, -1, axis=0)
    around = around + xp.roll(u, 1, axis=1) + xp.roll(u, -1, axis=1)
    return 2 * u - before + 0.1 * (around - 4 * u), u


@program(square, steps=20)
def life(xp, u):
    """Twenty steps of the game of life; what is more than 0.5 is alive."""
    one, zero = xp.ones_like(u), xp.zeros_like(u)
    u = xp.where(u > 0.5, one, zero)
    lines = u + xp.roll(u, 1, axis=0) + xp.roll(u, -1, axis=0)
    around = lines + xp.roll(lines, 1, axis=1) + xp.roll(lines, -1, axis=1) - u
    alive = (around == 3) | ((around == 2) & (u > 0.5))
    return (xp.where(alive, one, zero),)


@program(square, square)
def shrinking(xp, u, before):
    """Ten steps of the wave equation; the region shrinks by one element a step."""
    for _ in range(min(10, (u.shape[0] - 1) // 2)):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        inner = u[1:-1, 1:-1]
        following = 2 * inner - before[1:-1, 1:-1] + 0.1 * (around - 4 * inner)
        u, before = following, inner
    return u


@program(square, square, steps=20)
def reaction_diffusion(xp, u, v):
    """Twenty steps of the Gray-Scott model on a torus."""

    def laplacian(w):
        around = xp.roll(w, 1, axis=0) + xp.roll(w, -1, axis=0)
        return around + xp.roll(w, 1, axis=1) + xp.roll(w, -1, axis=1) - 4 * w

    reaction = u * v * v
    return (
        u + 0.16 * laplacian(u) - reaction + 0.035 * (1 - u),
        v + 0.08 * laplacian(v) + reaction - 0.1 * v,
    )


@program(square)
def pyramid(xp, u):
    """Four levels of an image pyramid: blur each axis, and take every second."""
    levels = []
    for _ in range(4):
        if min(u.shape) < 5:
            break
        u = 0.25 * (u[:-2, :] + 2 * u[1:-1, :] + u[2:, :])
        u = 0.25 * (u[:, :-2] + 2 * u[:, 1:-1] + u[:, 2:])
        u = u[::2, ::2]
        levels.append(u + 0)
    return tuple(levels)


# -- reductions ------------------------------------------------------------------------


@program(rows, fixed(256), tolerance=1e-3)
def logistic(xp, x, w):
    """Five steps of a logistic regression."""
    for _ in range(5):
        errors = 1 / (1 + xp.exp(-(x @ w))) - 0.5
        w = w - 0.1 * (errors @ x) / x.shape[0]
    return w


@program(lambda n: (int(n**0.5), 3), tolerance=1e-3)
def n_body(xp, x):
    """Accelerations of bodies."""
    apart = x[None, :, :] - x[:, None, :]
    squares = xp.sum(apart * apart, axis=2) + 0.01
    return xp.sum(apart / (squares * xp.sqrt(squares))[:, :, None], axis=1)


def residual(x, r, p, rr):
    """Return the state of conjugate gradients from which the first step begins."""
    return x * 0, r, r, (r * r).sum()


@program(square, square, square, fixed(), steps=20, tolerance=1e-3, start=residual)
def conjugate_gradients(xp, x, r, p, rr):
    """Twenty steps of conjugate gradients for a Laplace operator on a torus."""
    around = xp.roll(p, 1, axis=0) + xp.roll(p, -1, axis=0)
    around = around + xp.roll(p, 1, axis=1) + xp.roll(p, -1, axis=1)
    ap = 5 * p - around
    alpha = rr / xp.sum(p * ap)
    x, r = x + alpha * p, r - alpha * ap
    new = xp.sum(r * r)
    return x, r, r + (new / rr) * p, new


@program(groups(8), fixed(2, 2), tolerance=1e-3)
def kalman(xp, measured, f):
    """Eight steps of many Kalman filters with two states."""
    count = measured.shape[0]
    f = xp.triu(f + 1)
    x = xp.zeros_like(measured[:, :2])
    p = xp.zeros_like(measured[:, :4]).reshape(count, 2, 2) + 1
    for k in range(8):
        x = x @ f.T
        p = f @ p @ f.T + 0.01
        gain = p[:, :, 0] / (p[:, 0, 0] + 0.1)[:, None]
        x = x + gain * (measured[:, k] - x[:, 0])[:, None]
        p = p - gain[:, :, None] * p[:, None, 0, :]
    return x


@program(groups(8), tolerance=1e-3)
def gram_schmidt(xp, a):
    """Make eight columns orthonormal by the modified Gram-Schmidt process."""
    columns = []
    for k in range(8):
        v = a[:, k] - 0.5
        for q in columns:
            v = v - xp.sum(q * v) * q
        columns.append(v / xp.sqrt(xp.sum(v * v)))
    return xp.stack(columns, axis=1)


@program(line, dtypes=("float64",), tolerance=1e-6)
def moving_statistics(xp, x):
    """Mean and deviation of each window of 64 elements."""
    sums = xp.cumulative_sum(x)
    squares = xp.cumulative_sum(x * x)
    mean = (sums[64:] - sums[:-64]) / 64
    variance = (squares[64:] - squares[:-64]) / 64 - mean * mean
    return mean, xp.sqrt(xp.where(variance > 0, variance, xp.zeros_like(variance)))


@program(groups(4), fixed(8, 4), steps=3, tolerance=1e-3)
def k_means(xp, x, centers):
    """Three steps of k-means: eight clusters of points with four coordinates."""
    apart = x[:, None, :] - centers[None, :, :]
    nearest = xp.argmin(xp.sum(apart * apart, axis=2), axis=1)
    member = xp.stack([nearest == k for k in range(8)], axis=1)
    weights = xp.where(member, xp.ones_like(x[:, :1]), xp.zeros_like(x[:, :1]))
    counts = xp.sum(weights, axis=0) + 1e-6
    return x, (weights.T @ x) / counts[:, None]


@program(rows, lambda n: (max(n // 256, 1),), dtypes=("float32", "int64"))
def cross_entropy(xp, x, labels):
    """The mean cross entropy of logits and labels."""
    most = xp.max(x, axis=1, keepdims=True)
    logarithm = xp.log(xp.sum(xp.exp(x - most), axis=1)) + most[:, 0]
    picked = xp.take_along_axis(x, labels[:, None], axis=1)[:, 0]
    return xp.mean(logarithm - picked)


@program(square, square, steps=5, tolerance=1e-2)
def phase_retrieval(xp, u, magnitude):
    """Five steps that find a picture with a given size of its Fourier transform."""
    field = xp.fft.fftn(u)
    field = magnitude * field / (xp.abs(field) + 1e-3)
    u = xp.real(xp.fft.ifftn(field)) * u.shape[0]
    return xp.where(u > 0, u, xp.zeros_like(u)), magnitude


@program(square, dtypes=("uint8",))
def equalisation(xp, u):
    """Equalise the histogram of a picture."""
    flat = u.reshape(-1)
    sums = xp.cumulative_sum(xp.counts(flat, 256)) / flat.shape[0]
    return xp.take(sums, flat)
