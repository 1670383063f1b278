"""Managed memory: advice, prefetching, attributes of ranges."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

KNOWN = drv.mem_range_attribute


@pytest.fixture
def x(ctx):
    x = drv.managed_empty(1 << 18, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL)
    x[:] = 1
    return x


def known(x, name, **more):
    return drv.mem_range_get_attribute(x, getattr(KNOWN, name), **more)


def test_advice(x):
    advice, device = drv.mem_advice, drv.Context.get_device()
    assert known(x, "READ_MOSTLY") is False
    assert known(x, "PREFERRED_LOCATION") is None
    assert known(x, "ACCESSED_BY") == []
    drv.mem_advise(x, advice.SET_READ_MOSTLY)
    drv.mem_advise(x.base, advice.SET_PREFERRED_LOCATION, "host")
    drv.mem_advise(int(x.base), advice.SET_ACCESSED_BY, device, size=x.nbytes)
    assert known(x, "READ_MOSTLY") is True
    assert known(x.base, "PREFERRED_LOCATION") == "host"
    assert known(int(x.base), "ACCESSED_BY", size=x.nbytes) == [device]
    drv.mem_advise(x, advice.SET_PREFERRED_LOCATION)
    assert known(x, "PREFERRED_LOCATION") == device
    assert known(x, "PREFERRED_LOCATION_TYPE") == 1
    assert known(x, "PREFERRED_LOCATION_ID") == 0
    drv.mem_advise(x, advice.UNSET_READ_MOSTLY)
    drv.mem_advise(x, advice.UNSET_PREFERRED_LOCATION, device)
    drv.mem_advise(x, advice.UNSET_ACCESSED_BY, 0)
    assert known(x, "READ_MOSTLY") is False
    assert known(x, "PREFERRED_LOCATION") is None
    assert known(x, "ACCESSED_BY") == []


def test_prefetching(x):
    stream, device = drv.Stream(), drv.Context.get_device()
    drv.mem_prefetch(x)
    drv.Context.synchronize()
    assert known(x, "LAST_PREFETCH_LOCATION") == device
    drv.mem_prefetch(memory=x.base, location="host", stream=stream)
    stream.synchronize()
    assert known(x, "LAST_PREFETCH_LOCATION") == "host"
    with stream:
        drv.mem_prefetch(x, 0)
    stream.synchronize()
    assert known(x, "LAST_PREFETCH_LOCATION") == device
    assert x.sum() == x.size


def test_prefetching_several_arrays(x):
    stream, device = drv.Stream(), drv.Context.get_device()
    y = drv.managed_empty(1 << 16, np.int32, mem_flags=drv.mem_attach_flags.GLOBAL)
    for where in (stream, None):
        drv.mem_prefetch_batch([x, y], stream=where)
        drv.Context.synchronize()
        assert known(x, "LAST_PREFETCH_LOCATION") == device
        assert known(y, "LAST_PREFETCH_LOCATION") == device
        drv.mem_prefetch_batch((x, y), ["host", device], where)
        drv.Context.synchronize()
        assert known(x, "LAST_PREFETCH_LOCATION") == "host"
        assert known(y, "LAST_PREFETCH_LOCATION") == device
        drv.mem_prefetch_batch([x, y], "host", stream=where)
        drv.mem_prefetch_batch([])


@pytest.mark.parametrize("missing", ["cuMemPrefetchBatchAsync", "cuMemPrefetchAsync"])
def test_older_drivers(x, fail_calls, missing):  # noqa: F811
    name = {"cuMemPrefetchAsync": "cuMemPrefetchAsync_v2"}.get(missing, missing)
    fail_calls(name, 1, code=500)  # what the stub of a missing function returns
    drv.mem_prefetch_batch([x], "host", drv.Stream() if name == missing else None)
    assert known(x, "LAST_PREFETCH_LOCATION") == "host"
    fail_calls("cuMemAdvise_v2", 1, code=500)
    drv.mem_advise(x, drv.mem_advice.SET_ACCESSED_BY, "host")
    assert known(x, "ACCESSED_BY") == ["host"]
    for function in ("cuMemAdvise_v2", "cuMemPrefetchAsync_v2"):
        fail_calls(function, 1, code=500)
    with pytest.raises(drv.Error, match="needs a driver for CUDA 12.2"):
        drv.mem_advise(x, drv.mem_advice.SET_ACCESSED_BY, ("host_numa", 0))
    with pytest.raises(drv.Error, match="needs a driver for CUDA 12.2"):
        drv.mem_prefetch(x, "host_numa_current")


def test_numa_nodes_of_the_host(x):
    if drv.get_driver_version() < 12020:
        pytest.skip("CUDA 12.2 brought these places")
    drv.mem_prefetch(x, ("host_numa", 0))
    drv.Context.synchronize()
    assert x.sum() == x.size


def test_wrong_arguments(x):
    with pytest.raises(ValueError, match="location must be a Device.*not 'moon'"):
        drv.mem_prefetch(x, "moon")
    with pytest.raises(TypeError, match="location must be a Device, the number"):
        drv.mem_prefetch(x, 1.5)
    with pytest.raises(TypeError, match="size must be given"):
        drv.mem_prefetch(int(x.base))
    with pytest.raises(ValueError, match="there are 1 arrays, but 2 locations"):
        drv.mem_prefetch_batch([x], ["host", 0])
    with pytest.raises(drv.LogicError, match="cuMemRangeGetAttribute failed"):
        drv.mem_range_get_attribute(x, 99)
    with pytest.raises(drv.LogicError, match="cuMemAdvise"):
        drv.mem_advise(x, 77)
    if _driver._is_emulated():  # a GPU with system memory support takes any address
        with pytest.raises(drv.LogicError):
            drv.mem_prefetch(drv.mem_alloc(100))
