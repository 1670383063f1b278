"""A callback that refers to itself keeps the stream and the memory that it uses."""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv


def watch():
    stream = drv.Stream()  # FAULT
    values = drv.pagelocked_zeros(256, np.float32)  # FAULT

    def again(turns):
        if turns:
            values[:] += 1
            again(turns - 1)
        stream.synchronize()

    again(3)
    # + del again


watch()
