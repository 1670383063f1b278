"""A daemon thread still runs when the program ends, and holds a buffer."""

import threading

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv


def serve(ready, end):
    with drv_context:
        buffer = drv.mem_alloc(8192)  # FAULT
        drv.memset_d8(buffer, 0, 8192)
        ready.set()
        end.wait()
        del buffer


drv_context = pycuda.autoinit.context
ready, end = threading.Event(), threading.Event()
thread = threading.Thread(target=serve, args=(ready, end), daemon=True)
thread.start()
ready.wait()
# + end.set()
# + thread.join()
