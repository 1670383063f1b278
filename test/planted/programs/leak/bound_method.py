"""An object holds its buffer and a bound method of itself: a reference cycle."""

import pycuda.autoinit  # noqa: F401
import pycuda.driver as drv


class Solver:
    def __init__(self, size):
        self.buffer = drv.mem_alloc(size)  # FAULT
        self.step = self.plain_step

    def plain_step(self):
        drv.memset_d8(self.buffer, 0, 16)

    def close(self):
        self.buffer = None


def solve():
    solver = Solver(1 << 20)
    solver.step()
    # + solver.close()


solve()
