"""Run the kernels of test/data/matrix_product.ptx and print a digest of each:
`python -m device.tensor_cores.product` in test/."""

import hashlib
from pathlib import Path

import numpy as np

import pycuda.driver as drv

TEXT = Path(__file__).resolve().parents[2] / "data" / "matrix_product.ptx"
KERNELS = ("with_wmma", "with_mma", "with_wgmma")
SIDE = 64


def product(kernel, a, b):
    """Return a @ b.T + 1 in single precision."""
    result = drv.to_device(np.zeros((SIDE, SIDE), np.float32))
    given = [drv.to_device(x.astype(np.float16)) for x in (a, b)]
    function = drv.module_from_buffer(TEXT.read_bytes()).get_function(kernel)
    function(*given, result, block=(128, 1, 1), grid=(1, 1))
    return drv.from_device(result, (SIDE, SIDE), np.float32)


def main():
    drv.init()
    context = drv.Device(0).make_context()
    random = np.random.PCG64(7).random_raw(2 * SIDE * SIDE) % np.uint64(4096)
    numbers = random.astype(np.float64).reshape(2, SIDE, SIDE) / 1024 - 2
    whole = np.round(numbers * 4)
    for kernel in KERNELS:
        exact = (product(kernel, *whole) == whole[0] @ whole[1].T + 1).all()
        rounded = product(kernel, *numbers)
        digest = hashlib.sha1(rounded.tobytes()).hexdigest()[:16]
        print(kernel, "exact" if exact else "wrong", digest)
    context.pop()


if __name__ == "__main__":
    main()
