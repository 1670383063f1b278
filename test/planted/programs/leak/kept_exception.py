"""A function keeps its last error. The traceback holds the frame, and so the memory."""

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv


def compute():
    scratch = drv.mem_alloc(1 << 16)  # FAULT
    last_error = None
    try:
        drv.memcpy_dtod(scratch, scratch, 1 << 40)
    except drv.Error as error:
        last_error = error
    print("failed" if last_error else "computed")
    # + last_error = None


compute()
