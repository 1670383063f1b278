"""Objects load with every pickle protocol, or refuse to be dumped."""

import copy
import pickle

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool

pytestmark = pytest.mark.gpu

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Labelled(gpuarray.GPUArray):
    """A subclass with its own state."""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arrays(ctx, protocol):
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    labelled = Labelled((3, 4), np.float32)
    labelled.set(host)
    labelled.label = "mine"
    arrays = [
        gpuarray.to_gpu(host),
        gpuarray.to_gpu(host.copy("F")),
        gpuarray.to_gpu(host)[::-2, 1:],
        gpuarray.to_gpu(host.view(np.complex64)),
        gpuarray.to_gpu(host[0, 0].reshape(())),
        gpuarray.empty((0, 3), np.int8),
        labelled,
    ]
    for array in arrays:
        back = pickle.loads(pickle.dumps(array, protocol))
        assert type(back) is type(array)
        assert (back.shape, back.dtype) == (array.shape, array.dtype)
        assert (back.get() == array.get()).all()
        assert back.gpudata is None or back.ptr != array.ptr
    assert back.label == "mine"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_resources_of_the_driver_are_refused(ctx, protocol):
    module = SourceModule("__global__ void f() {}")
    pool = DeviceMemoryPool()
    resources = [
        drv.mem_alloc(16),
        pool.allocate(16),
        module.module,
        module.get_function("f"),
        drv.pagelocked_empty(4, np.int32).base,
        drv.aligned_empty(4, np.int32).base,
        drv.Stream(),
        drv.Event(),
        drv.Context.get_current(),
        drv.Context.get_device(),
        pool,
    ]
    for resource in resources:
        name = type(resource).__name__
        with pytest.raises(TypeError, match=f"cannot pickle .*{name}' object"):
            pickle.dumps(resource, protocol)
        with pytest.raises(TypeError, match=f"cannot pickle .*{name}' object"):
            copy.copy(resource)


def test_no_type_without_a_constructor_can_be_written():
    """Protocols 0 and 1 would write such an object and fail to load it."""
    types = {each for each in vars(_driver).values() if isinstance(each, type)}
    without = [each for each in types if each.__flags__ & 1 << 7]
    # Classes that only hold numbers have no instances.
    without = [
        t for t in without if not any(isinstance(v, int) for v in vars(t).values())
    ]
    assert {"DeviceAllocation", "Module", "Function"} < {t.__name__ for t in without}
    for each in without:
        assert each.__reduce__ is not object.__reduce__, each


def test_a_subclass_may_write_itself(ctx):
    """A class with __reduce__ can be written with every protocol."""
    for protocol in PROTOCOLS:
        holder = pickle.loads(pickle.dumps(Holder(7), protocol))
        assert type(holder) is Holder and holder.get_pointer() == 7


class Holder(drv.PointerHolderBase):
    def __init__(self, address):
        super().__init__()
        self.address = address

    def get_pointer(self):
        return self.address

    def __reduce__(self):
        return Holder, (self.address,)
