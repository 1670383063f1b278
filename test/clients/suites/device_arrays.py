"""Arrays on the device for the tests of clients, through ctypes and libcuda.so.1."""

import ctypes

import numpy as np

_cuda = ctypes.CDLL("libcuda.so.1")


def _call(name, *arguments):
    code = getattr(_cuda, name)(*arguments)
    if code != 0:
        raise RuntimeError(f"{name} returned {code}")


def _start():
    """Make the primary context of device 0 current."""
    context = ctypes.c_void_p()
    _call("cuInit", 0)
    _call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    _call("cuCtxSetCurrent", context)


class DeviceArray:
    """A contiguous array on the device, with the protocols of several libraries."""

    def __init__(self, values, dtype=None):
        values = np.ascontiguousarray(values)
        self.shape = values.shape
        self.dtype = dtype or values.dtype
        self._host = values.dtype
        self._size = values.nbytes
        address = ctypes.c_uint64()
        _call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(self._size))
        self.address = address.value
        _call("cuMemcpyHtoD_v2", address, self._pointer(values), self._bytes())

    def _bytes(self):
        return ctypes.c_size_t(self._size)

    @staticmethod
    def _pointer(values):
        return values.ctypes.data_as(ctypes.c_void_p)

    def data_ptr(self):
        return self.address

    def get(self):
        """Return the values."""
        values = np.empty(self.shape, self._host)
        address = ctypes.c_uint64(self.address)
        _call("cuMemcpyDtoH_v2", self._pointer(values), address, self._bytes())
        return values

    def __del__(self):
        _cuda.cuMemFree_v2(ctypes.c_uint64(self.address))


_start()
