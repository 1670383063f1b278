"""Compare random arrays, layouts, operators, scalars and axes with NumPy.

PYCUDA_PROPERTY_CASES sets the number of cases of each test. The cases are the same in
every run. A number in PYCUDA_PROPERTY_SEED selects other cases.
"""

import operator
import os

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest

from pycuda import gpuarray
from pycuda.gpuarray import to_gpu
from support.arrays import DTYPES, numbers, same, sample

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.module_context,
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]

CASES = int(os.environ.get("PYCUDA_PROPERTY_CASES", "60"))
SEED = os.environ.get("PYCUDA_PROPERTY_SEED")


def settings(test):
    """Use the requested number of cases and seed."""
    if SEED is not None:
        test = hypothesis.seed(int(SEED))(test)
    return hypothesis.settings(
        max_examples=CASES, suppress_health_check=list(hypothesis.HealthCheck)
    )(test)


# A few dtypes of each kind, because every pair needs its own kernel.
FEW = [np.dtype(name) for name in ("bool", "int8", "uint16", "int64")]
FEW += [np.dtype(name) for name in ("float16", "float32", "float64", "complex64")]
EXACT = [operator.add, operator.sub, operator.lt, operator.eq, operator.ge]
EXACT += [operator.floordiv, operator.mod, operator.and_, operator.xor]


shapes = st.lists(st.integers(0, 7), min_size=0, max_size=4).map(tuple)


@st.composite
def slices(draw, length):
    bound = st.none() | st.integers(-length - 2, length + 2)
    step = draw(st.sampled_from([None, 1, 2, 3, -1, -2, -3]))
    return slice(draw(bound), draw(bound), step)


@st.composite
def layouts(draw, ndim):
    """Draw a function that changes the layout of an array."""
    axes = draw(st.permutations(range(ndim)))
    cuts = [draw(slices(7)) for _ in range(ndim)]
    turn = draw(st.booleans())
    return lambda a: (a.transpose(axes) if turn and ndim else a)[(*cuts, ...)]


@st.composite
def operands(draw):
    """Draw a host array and the same array in another layout."""
    shape = draw(shapes)
    dtype = draw(st.sampled_from(FEW))
    host = np.array(sample(dtype, shape, draw(st.integers(0, 99))))
    return host, draw(layouts(len(shape)))


@settings
@hypothesis.given(operands(), st.data())
def test_binary_operators(operand, data):
    host, layout = operand
    a, x = layout(host), layout(to_gpu(host))
    function = data.draw(st.sampled_from(EXACT))
    # An operand that broadcasts: some axes dropped or of length 1.
    shape = [1 if data.draw(st.booleans()) else length for length in a.shape]
    shape = shape[data.draw(st.integers(0, len(shape))) :]
    b = sample(data.draw(st.sampled_from(FEW)), shape, 7)
    compare(function, a, b, x, to_gpu(b))
    compare(function, b, a, to_gpu(b), x)


def compare(function, a, b, x, y):
    try:
        expected = function(*numbers(function, a, b))
    except TypeError:
        with pytest.raises(TypeError):
            function(x, y)
        return
    same(function(x, y), expected)


@settings
@hypothesis.given(
    operands(),
    st.sampled_from(EXACT),
    st.integers(-100, 100)
    | st.floats(-100, 100, width=16)
    | st.sampled_from([np.float32(0.1), np.int16(7), np.float64(1.7), True, 2j]),
)
def test_scalars(operand, function, number):
    host, layout = operand
    a, x = layout(host), layout(to_gpu(host))
    for swapped in (False, True):
        pair = (number, a) if swapped else (a, number)
        try:
            expected = np.asarray(function(*numbers(function, *pair)))
        except (TypeError, OverflowError):
            with pytest.raises((TypeError, OverflowError)):
                function(*((number, x) if swapped else (x, number)))
            continue
        same(function(*((number, x) if swapped else (x, number))), expected)


@settings
@hypothesis.given(operands(), st.data())
def test_reductions(operand, data):
    host, layout = operand
    a, x = layout(host), layout(to_gpu(host))
    name = data.draw(st.sampled_from(["sum", "min", "max", "any", "all", "argmax"]))
    axis = None
    if a.ndim and data.draw(st.booleans()):
        axis = data.draw(st.integers(-a.ndim, a.ndim - 1))
    try:
        expected = np.asarray(getattr(np, name)(a, axis=axis))
    except ValueError:
        with pytest.raises(ValueError):
            getattr(gpuarray, name)(x, axis=axis)
        return
    # Sums of these samples are exact, except in half precision.
    exact = not (name == "sum" and expected.dtype == np.float16)
    same(getattr(gpuarray, name)(x, axis=axis), expected, exact=exact)


@settings
@hypothesis.given(operands(), st.data())
def test_views_and_assignment(operand, data):
    host, layout = operand
    array = to_gpu(host)
    a, x = layout(host), layout(array)
    same(x, a)
    same(x.copy(), a)
    same(
        x.astype(np.float64) if a.dtype.kind != "c" else x,
        a.astype(np.float64) if a.dtype.kind != "c" else a,
    )
    order = data.draw(st.permutations([a.size, 1, 1]))
    if a.size and not x.flags.forc:
        same(x.reshape(*order), a.reshape(order))
    values = sample(data.draw(st.sampled_from(FEW[1:7])), a.shape, 3)
    if a.dtype.kind != "b" and a.dtype.kind != "u":
        a[...] = values
        x[...] = to_gpu(values)
        same(array, host)


@settings
@hypothesis.given(st.data())
def test_indices(data):
    shape = data.draw(shapes.filter(lambda s: s and 0 not in s))
    host = sample(data.draw(st.sampled_from(DTYPES)), shape, 5)
    axis = data.draw(st.integers(0, len(shape) - 1))
    index = np.array(
        data.draw(st.lists(st.integers(-shape[axis], shape[axis] - 1), max_size=5)),
        np.int64,
    )
    where = (slice(None, None, data.draw(st.sampled_from([1, -1, 2]))),) * axis + (
        index,
    )
    same(to_gpu(host)[where], host[where])
    mask = sample(bool, shape, data.draw(st.integers(0, 99)))
    same(to_gpu(host)[to_gpu(mask)], host[mask])
