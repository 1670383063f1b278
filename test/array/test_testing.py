"""pycuda.testing against numpy.testing: which arrays pass, and what messages say."""

import itertools
import re

import numpy as np
import pytest

from pycuda import gpuarray, profile, testing
from pycuda.gpuarray import to_gpu

pytestmark = pytest.mark.gpu

NAN, INF = np.nan, np.inf
VALUES = {
    "numbers": np.array([1.0, 2.0, 3.0, 4.0]),
    "near": np.array([1.0, 2.0, 3.0, 4.0 + 1e-7]),
    "far": np.array([1.0, 2.5, 3.0, 4.0]),
    "one NaN": np.array([1.0, NAN, 3.0, 4.0]),
    "infinity": np.array([1.0, INF, 3.0, 4.0]),
    "less infinity": np.array([1.0, -INF, 3.0, 4.0]),
    "float32": np.float32([1, 2, 3, 4]),
    "half": np.float16([1, 2, 3, 4]),
    "integers": np.int64([1, 2, 3, 4]),
    "large": np.int64([1, 2, 3, 2**60]),
    "one more": np.int64([1, 2, 3, 2**60 + 1]),
    "bytes": np.uint8([1, 2, 3, 255]),
    "bool": np.array([True, False, True, True]),
    "complex": np.array([1, 2, 3 + 1j, NAN]),
    "square": np.array([[1.0, 2.0], [3.0, 4.0]]),
    "scalar": np.array(1.0),
    "ones": np.ones(4),
    "empty": np.zeros(0),
    "strided": np.array([1.0, 0, 2.0, 0, 3.0, 0, 4.0, 0])[::2],
}
OTHERS = ("numbers", "near", "one NaN", "infinity", "one more", "bytes", "scalar")
PLACES = {
    "both on the device": (to_gpu, to_gpu),
    "actual": (to_gpu, np.asarray),
    "desired": (np.asarray, to_gpu),
    "none": (np.asarray, np.asarray),
}


def passes(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize(
    ("places", "strict"),
    [*((name, False) for name in PLACES), (next(iter(PLACES)), True)],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_passes_is_what_passes_in_numpy(ctx, places, strict):
    first, second = PLACES[places]
    seen = set()
    for name, other in itertools.product(VALUES, OTHERS):
        a, b = VALUES[name], VALUES[other]
        for function, options in (
            ("assert_array_equal", {}),
            ("assert_allclose", {}),
            ("assert_allclose", {"rtol": 0, "atol": 0.5}),
            ("assert_allclose", {"equal_nan": False}),
        ):
            if function == "assert_allclose" and "bool" in (name, other):
                continue  # NumPy cannot subtract bools
            call = {**options, "strict": strict}
            theirs = passes(getattr(np.testing, function), a, b, **call)
            ours = passes(getattr(testing, function), first(a), second(b), **call)
            assert ours == theirs, (function, name, other, call)
            seen.add(theirs)
    assert seen == {True, False}


def message(function, *args, **kwargs):
    with pytest.raises(AssertionError) as caught:
        function(*args, **kwargs)
    return str(caught.value)


@pytest.mark.parametrize("places", PLACES)
def test_the_message_shows_both_sides_and_indices(ctx, places):
    first, second = PLACES[places]
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    b = a.copy()
    b[1, 2], b[2, 0] = 7, NAN
    text = message(testing.assert_array_equal, first(a), second(b), err_msg="run 3")
    lines = text.splitlines()
    assert lines[0] == "2 of 12 elements differ (16.7%)"
    assert lines[1].startswith("actual:  shape (3, 4), dtype float32, on the ")
    assert lines[3] == "run 3"
    assert lines[-3:] == [
        "index   actual  desired",
        "[1, 2]  6.0     7.0",
        "[2, 0]  8.0     nan",
    ]
    assert "largest absolute difference: 1.0" in lines


def test_a_long_list_is_cut(ctx):
    text = message(testing.assert_array_equal, gpuarray.zeros(1000, np.int32), 1)
    assert text.splitlines()[0] == "1,000 of 1,000 elements differ (100%)"
    assert text.endswith("[9]    0       1\n... and 990 more")


def test_a_number_as_actual(ctx):
    text = message(testing.assert_array_equal, 1, to_gpu(np.int32([1, 5])))
    assert text.endswith("[1]    1       5")
    text = message(testing.assert_allclose, to_gpu(np.float64(2)), 3.0)
    assert text.endswith("[]     2.0     3.0")


def test_shapes_and_dtypes_that_differ(ctx):
    x = gpuarray.zeros((2, 3), np.float32)
    text = message(testing.assert_allclose, x, np.zeros((3, 2)))
    assert text.startswith("the shapes differ\nactual:  shape (2, 3), dtype float32")
    assert "desired: shape (3, 2), dtype float64, on the host" in text
    text = message(testing.assert_allclose, x, np.zeros((2, 3)), strict=True)
    assert text.startswith("the dtypes differ\n")


def test_the_difference_of_integers_does_not_overflow(ctx):
    a, b = np.int8([100, 0]), np.int8([-100, 0])
    for x, y in ((a, b), (b, a)):
        text = message(testing.assert_array_equal, to_gpu(x), to_gpu(y))
        assert "largest absolute difference: 200" in text


def test_the_rule_is_in_the_message(ctx):
    x = gpuarray.zeros(3, np.float32)
    text = message(testing.assert_allclose, x, x + 1, rtol=0.25, atol=1e-3)
    assert "3 of 3 elements differ by more than 0.001 + 0.25 * abs(desired)" in text


@pytest.mark.parametrize("dtype", [">f8", ">i2", np.longdouble])
def test_numbers_that_only_the_host_has(ctx, dtype):
    x, y = to_gpu(VALUES["numbers"]), np.array([1, 2, 3, 4], dtype)
    for function in (testing.assert_allclose, testing.assert_array_equal):
        function(x, y)
        function(y, x)
        with pytest.raises(AssertionError, match=r"\[3\] +4.0 +5"):
            function(x, np.array([1, 2, 3, 5], dtype))


@pytest.mark.parametrize("places", PLACES)
def test_records_are_not_compared_with_a_tolerance(ctx, places):
    first, second = PLACES[places]
    values = np.zeros(3, [("mass", "f4"), ("id", "i4")])
    with pytest.raises(TypeError, match=r"compare by field, such as x\['mass'\]"):
        testing.assert_allclose(first(values), second(values))
    testing.assert_allclose(first(values)["mass"], second(values)["mass"])


def test_records_are_compared_on_the_host(ctx):
    values = np.zeros(3, [("mass", "f4"), ("id", "i4")])
    other = values.copy()
    testing.assert_array_equal(to_gpu(values), other)
    other["id"][1] = 4
    text = message(testing.assert_array_equal, to_gpu(values), other)
    assert re.search(r"\[1\] +\(0\.0?, 0\) +\(0\.0?, 4\)", text)


def test_only_the_elements_shown_are_copied(ctx):
    x = gpuarray.zeros(100_000, np.float32)
    y = x + 0
    y[5] = 1
    message(testing.assert_array_equal, x, y)  # compile the kernels
    with profile.timeline() as record:
        message(testing.assert_array_equal, x, y)
    copied = [s.bytes for s in record.spans if s.kind == "copy to host"]
    assert 0 < sum(copied) < 200
    with profile.timeline() as record:
        np.testing.assert_array_equal(x.get(), x.get())
    assert sum(s.bytes for s in record.spans if s.kind == "copy to host") == 800_000
