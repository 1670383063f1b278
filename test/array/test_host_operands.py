"""Which functions take arrays and lists of the host: the table in doc/arrays.rst."""

import re

import numpy as np
import pytest

from pycuda.gpuarray import GPUArray, to_gpu
from support.pages import DOC

pytestmark = pytest.mark.gpu

X = np.array([3, 1, 2, 2], np.float32)
SAME = np.array([2, 5, 2, 7], np.float32)
WIDE = SAME.astype(np.float64)
INDEX = np.array([1, 0, 2, 1])
MASK = np.array([True, False, True, False])
RISING = np.array([0.0, 1.0, 3.0, 7.0])


def changed(change):
    """Return a function that changes its first argument, and returns that."""

    def run(a, b):
        change(a, b)
        return a

    return run


def diagonal(a, b):
    a = a.reshape(2, 2)
    np.fill_diagonal(a, b)
    return a


def trapezoid(a, b):
    if not hasattr(np, "trapezoid"):
        pytest.skip("trapezoid is in NumPy 2.0 and later")
    return np.trapezoid(a, b)


#: Each function with a second argument. A name may have several calls.
BOTH = {
    "values": (changed(lambda a, b: a.__setitem__(..., b)), WIDE),
    "copyto": (changed(lambda a, b: np.copyto(a, b)), SAME),
    "put": (changed(lambda a, b: np.put(a, [0, 3], b)), WIDE[:2]),
    "putmask": (changed(lambda a, b: np.putmask(a, a > 1, b)), SAME),
    "place": (changed(lambda a, b: np.place(a, a > 1, b)), SAME),
    "put_along_axis": (changed(lambda a, b: np.put_along_axis(a, INDEX, b, 0)), [9.0]),
    "fill_diagonal": (diagonal, WIDE[:2]),
    "insert": (lambda a, b: np.insert(a, 1, b), WIDE),
    "append": (lambda a, b: np.append(a, b), WIDE),
    "isin": (lambda a, b: np.isin(a, b), WIDE),
    "union1d": (lambda a, b: np.union1d(a, b), WIDE),
    "intersect1d": (lambda a, b: np.intersect1d(a, b), WIDE),
    "setdiff1d": (lambda a, b: np.setdiff1d(a, b), WIDE),
    "setxor1d": (lambda a, b: np.setxor1d(a, b), WIDE),
    "...": (lambda a, b: a[b], INDEX),
    "take": (lambda a, b: np.take(a, b), INDEX),
    "take_along_axis": (lambda a, b: np.take_along_axis(a, b, 0), INDEX),
    "put at": (changed(lambda a, b: np.put(a, b, 9)), INDEX),
    "put_along_axis at": (changed(lambda a, b: np.put_along_axis(a, b, 9, 0)), INDEX),
    "insert at": (lambda a, b: np.insert(a, b, 9), INDEX[:2]),
    "delete": (lambda a, b: np.delete(a, b), INDEX),
    "repeat": (lambda a, b: np.repeat(a, b), INDEX),
    "add.at": (changed(lambda a, b: np.add.at(a, b, 1)), INDEX),
    "mask": (lambda a, b: a[b], MASK),
    "extract": (lambda a, b: np.extract(b, a), MASK),
    "compress": (lambda a, b: np.compress(b, a), MASK),
    "piecewise": (lambda a, b: np.piecewise(a, [b], [1, 2]), MASK),
    "digitize": (lambda a, b: np.digitize(a, b), RISING),
    "histogram": (lambda a, b: np.histogram(a, b)[0], RISING),
    "quantile": (lambda a, b: np.quantile(a, b), np.array([0.2, 0.5])),
    "percentile": (lambda a, b: np.percentile(a, b), np.array([20.0, 50.0])),
    "gradient": (lambda a, b: np.gradient(a, b), RISING),
}
ARRAYS = {
    "concatenate": (lambda a, b: np.concatenate([a, b]), WIDE),
    "stack": (lambda a, b: np.stack([b, a]), WIDE),
    "vstack": (lambda a, b: np.vstack([a, b]), WIDE),
    "hstack": (lambda a, b: np.hstack([b, a]), WIDE),
    "dstack": (lambda a, b: np.dstack([a, b]), WIDE),
    "column_stack": (lambda a, b: np.column_stack([a, b]), WIDE),
    "block": (lambda a, b: np.block([a, b]), WIDE),
}
LISTS = {
    "interp": (lambda a, b: np.interp(a, b, b), RISING),
    "convolve": (lambda a, b: np.convolve(a, b), WIDE),
    "correlate": (lambda a, b: np.correlate(a, b), WIDE),
    "cov": (lambda a, b: np.cov(a, b), WIDE),
    "corrcoef": (lambda a, b: np.corrcoef(a, b), WIDE),
    "trapezoid": (trapezoid, RISING),
    "polyval": (lambda a, b: np.polyval(b, a), WIDE),
    "polyadd": (lambda a, b: np.polyadd(a, b), WIDE),
    "polysub": (lambda a, b: np.polysub(a, b), WIDE),
    "polymul": (lambda a, b: np.polymul(a, b), WIDE),
    "histogram2d": (lambda a, b: np.histogram2d(a, b)[0], WIDE),
    "histogramdd": (lambda a, b: np.histogramdd([a, b])[0], WIDE),
    "average": (lambda a, b: np.average(a, weights=b), WIDE),
    "meshgrid": (lambda a, b: np.meshgrid(a, b)[1], WIDE),
    "ediff1d": (lambda a, b: np.ediff1d(a, to_end=b), SAME),
    "choose": (lambda a, b: np.choose(a.astype(int) % 2, [b, a]), WIDE),
    "ravel_multi_index": (
        lambda a, b: np.ravel_multi_index([a.astype(int), b], (9, 9)),
        INDEX,
    ),
}
NEITHER = {
    "add": (lambda a, b: a + b, WIDE),
    "where": (lambda a, b: np.where(a > 1, a, b), WIDE),
    "where of a mask": (lambda a, b: np.where(b, a, a), MASK),
    "clip": (lambda a, b: np.clip(a, b, None), WIDE),
    "dot": (lambda a, b: np.dot(a, b), WIDE),
    "matmul": (lambda a, b: np.matmul(a, b), WIDE),
    "sum": (lambda a, b: np.sum(a, where=b), MASK),
    "bincount": (lambda a, b: np.bincount(a.astype(int), weights=b), WIDE),
    "histogram of weights": (lambda a, b: np.histogram(a, 3, weights=b)[0], WIDE),
    "searchsorted": (lambda a, b: np.searchsorted(a, b), WIDE),
}


def check(call, second):
    """Compare a call with NumPy's."""
    expected = call(X.copy(), second)
    found = call(to_gpu(X), second)
    assert isinstance(found, GPUArray)
    np.testing.assert_allclose(found.get(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", [*BOTH, *ARRAYS])
def test_arrays_are_taken(ctx, name):
    call, second = (BOTH | ARRAYS)[name]
    check(call, np.asarray(second))


@pytest.mark.parametrize("name", [*BOTH, *LISTS])
def test_lists_are_taken(ctx, name):
    call, second = (BOTH | LISTS)[name]
    if name == "take_along_axis" or name == "put_along_axis at":  # not by NumPy
        assert call(to_gpu(X), list(second)).get().size == X.size
    else:
        check(call, np.asarray(second).tolist())


@pytest.mark.parametrize("name", [*LISTS, *NEITHER])
def test_arrays_are_refused(ctx, name):
    call, second = (LISTS | NEITHER)[name]
    with pytest.raises(TypeError, match="GPUArray"):
        call(to_gpu(X), second)
    assert call(to_gpu(X), to_gpu(second)) is not None


@pytest.mark.parametrize("name", ["add", "where", "searchsorted", "sum"])
def test_lists_are_refused(ctx, name):
    call, second = NEITHER[name]
    with pytest.raises(TypeError):
        call(to_gpu(X), second.tolist())


@pytest.mark.parametrize("function", [np.insert, np.isin, np.gradient])
def test_the_array_itself_is_one_of_the_device(ctx, function):
    array = to_gpu(np.array([1.0, 2, 3, 5], np.float32))
    rest = (1, array) if function is np.insert else (array,)
    with pytest.raises(TypeError, match=f"{function.__name__} takes GPUArrays, not nd"):
        function(X, *rest)


@pytest.mark.parametrize(
    "function",
    [np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack],
)
def test_lists_are_not_joined(ctx, function):
    with pytest.raises(TypeError, match="only GPUArrays can be joined, not list"):
        function([to_gpu(X), WIDE.tolist()])


def test_set_takes_an_array(ctx):
    array = to_gpu(X)
    array.set(SAME)
    assert (array.get() == SAME).all()
    with pytest.raises(TypeError, match="must be a numpy array, not list"):
        array.set(SAME.tolist())


def test_the_page_lists_these_functions():
    section = (DOC / "arrays.rst").read_text().partition(".. _host-operands:")[2]
    rows = re.findall(r"^   \* - (.*(?:\n       .*)*)", section, re.MULTILINE)[:9]
    listed = re.findall(r"``(?:np\.)?([^`]+)``", " ".join(rows))
    short = {re.sub(r"x\[\.*|\] = |\]|x\.", "", name) or "..." for name in listed}
    tested = {name.split(" at")[0] for name in (*BOTH, *ARRAYS, *LISTS, "set")}
    assert short == tested
