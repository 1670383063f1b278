"""Arrays of several memory layouts, for tests of functions that move elements."""

import numpy as np

from pycuda.gpuarray import to_gpu


def numbers(shape, dtype=np.float32):
    """Return an array of the host with different elements."""
    count = int(np.prod(shape))
    return (np.arange(count) % 251 - 100).astype(dtype).reshape(shape)


def layouts(host):
    """Yield arrays of several memory layouts, each on the host and on the device."""
    device = to_gpu(host)
    yield host, device
    if host.ndim == 0:
        return
    wide = np.repeat(host, 2, axis=-1)
    yield wide[..., ::2], to_gpu(wide)[..., ::2]
    yield host[::-1], device[::-1]
    yield host.T, device.T
    order = np.asfortranarray(host)
    yield order, to_gpu(order)
