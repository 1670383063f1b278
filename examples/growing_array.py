"""Collect results whose number is not known before, in an array that grows in place.

Points of the plane are tested in batches. A kernel counts the points inside a curve in
each batch and packs them. The packed points are appended to a GrowableArray, which maps
more memory behind the rows that it has. So no point is copied twice, and the view that
was made of the first batch stays valid.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule(
    """
    // Pack the points inside the lemniscate (x^2 + y^2)^2 < x^2 - y^2.
    __global__ void pack(const float2 *points, int n, float2 *found, int *count)
    {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i >= n)
            return;
        float2 p = points[i];
        float r = p.x * p.x + p.y * p.y;
        if (r * r < p.x * p.x - p.y * p.y)
            found[atomicAdd(count, 1)] = p;
    }
    """
)
pack = module.get_function("pack")


def inside(points):
    r = (points**2).sum(axis=1)
    return r * r < points[:, 0] ** 2 - points[:, 1] ** 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--points", type=int, default=20_000, help="of a batch")
    parser.add_argument("--output", default="growing_array.png", help="the image file")
    options = parser.parse_args()
    print("device:", pycuda.autoinit.device.name())

    rng = np.random.default_rng(1)
    found = gpuarray.GrowableArray(np.float32, row=(2,))
    packed = gpuarray.empty((options.points, 2), np.float32)
    count = gpuarray.zeros((), np.int32)
    expected, first = [], None
    for _ in range(options.batches):
        points = rng.uniform(-1, 1, (options.points, 2)).astype(np.float32)
        expected.append(points[inside(points)])
        count.fill(0)
        pack(
            gpuarray.to_gpu(points),
            np.int32(options.points),
            packed,
            count,
            block=(128, 1, 1),
            grid=(-(-options.points // 128), 1),
        )
        found.append(packed[: int(count.get())])
        if first is None:
            first = found.array

    expected = np.concatenate(expected)
    got = found.get()
    area = 4 * len(found) / (options.batches * options.points)
    print(f"{found}: area {area:.2f} of 1")
    print(f"pieces of memory: {found.memory.mappings}")
    counts = np.histogram2d(
        got[:, 1], got[:, 0], (120, 240), [(-0.6, 0.6), (-1.2, 1.2)]
    )[0]
    picture = np.kron(counts, np.ones((3, 3)))
    pycuda.show(picture, colors="ice", file=options.output)
    # The threads of a batch pack their points in any order.
    same = len(got) == len(expected) and np.array_equal(
        np.sort(got.view(np.complex64).ravel()),
        np.sort(expected.view(np.complex64).ravel()),
    )
    if not same:
        sys.exit("the points are wrong")
    if first.ptr != found.array.ptr or not inside(first.get()).all():
        sys.exit("the view is wrong")


if __name__ == "__main__":
    main()
