"""A function of NumPy with GPUArrays gives what it gives with NumPy's arrays."""

import numpy as np
import pytest

from pycuda.gpuarray import GPUArray, to_gpu


def on_device(value):
    """Return arrays, also those in tuples and lists, as GPUArrays."""
    if isinstance(value, np.ndarray):
        return to_gpu(value)
    if isinstance(value, (list, tuple)):
        return type(value)(on_device(item) for item in value)
    return value


def on_host(value):
    """Return GPUArrays, also those in tuples and lists, as NumPy's arrays."""
    if isinstance(value, GPUArray):
        return value.get()
    if isinstance(value, (list, tuple)):
        return [on_host(item) for item in value]
    return value


def _flat(value):
    """Return the items of nested tuples and lists, or the value itself."""
    if isinstance(value, (list, tuple)):
        return [item for part in value for item in _flat(part)]
    return [value]


def _check(wanted, found, tolerance):
    if isinstance(wanted, (list, tuple)):
        assert len(wanted) == len(found)
        for one, other in zip(wanted, found, strict=True):
            _check(one, other, tolerance)
    elif isinstance(wanted, (np.ndarray, np.generic)) and not isinstance(found, bool):
        wanted = np.asarray(wanted)
        assert found.dtype == wanted.dtype
        assert found.shape == wanted.shape
        if wanted.dtype.kind in "biu":
            np.testing.assert_array_equal(found, wanted)
        else:
            np.testing.assert_allclose(found, wanted, tolerance, tolerance)
    else:
        assert found == wanted


def agree(function, *args, tolerance=1e-6, **kwargs):
    """Compare a call with arrays of both kinds: results, or types of errors.

    All arrays of the result must be GPUArrays.
    """
    given = on_device(args), {k: on_device(v) for k, v in kwargs.items()}
    try:
        wanted = function(*args, **kwargs)
    except Exception as error:
        # NumPy's errors of casting are private classes.
        kind = TypeError if isinstance(error, TypeError) else type(error)
        with pytest.raises(kind):
            function(*given[0], **given[1])
        return
    found = function(*given[0], **given[1])
    for result in _flat(found):
        assert isinstance(result, (GPUArray, bool, np.dtype, type))
    _check(wanted, on_host(found), tolerance)


def agree_in_place(function, array, *args, **kwargs):
    """Compare what a call makes of its first argument."""

    def changed(a, *args, **kwargs):
        a = a.copy()
        function(a, *args, **kwargs)
        return a

    agree(changed, array, *args, **kwargs)
