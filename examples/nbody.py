"""Simulate bodies that all attract each other.

    python examples/nbody.py --bodies 16384 --steps 100

A thread computes the force on one body. The block loads the other bodies in tiles to
shared memory, where all its threads read them. The first step is compared with NumPy's.
Every force has an equal opposite force, so the momentum must not change.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Move bodies that attract each other.")
parser.add_argument("--bodies", type=int, default=1024)
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--output", default="nbody.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())
count = args.bodies

TILE = 64
SOFTENING, STEP = 0.01, 0.005
module = SourceModule(
    """
    // w is the mass of a body.
    __global__ void accelerate(float4 *velocity, const float4 *body, int count,
                               float softening, float step)
    {
        __shared__ float4 tile[TILE];
        int me = blockIdx.x * TILE + threadIdx.x;
        float4 here = body[min(me, count - 1)];
        float3 pull = {0, 0, 0};
        for (int start = 0; start < count; start += TILE) {
            int other = start + threadIdx.x;
            tile[threadIdx.x] = other < count ? body[other] : make_float4(0, 0, 0, 0);
            __syncthreads();
            for (int k = 0; k < TILE; k++) {
                float x = tile[k].x - here.x;
                float y = tile[k].y - here.y;
                float z = tile[k].z - here.z;
                float square = x * x + y * y + z * z + softening;
                float force = tile[k].w / (square * sqrtf(square));
                pull.x += force * x;
                pull.y += force * y;
                pull.z += force * z;
            }
            __syncthreads();
        }
        if (me < count) {
            velocity[me].x += step * pull.x;
            velocity[me].y += step * pull.y;
            velocity[me].z += step * pull.z;
        }
    }

    __global__ void move(float4 *body, const float4 *velocity, int count, float step)
    {
        int me = blockIdx.x * TILE + threadIdx.x;
        if (me < count) {
            body[me].x += step * velocity[me].x;
            body[me].y += step * velocity[me].y;
            body[me].z += step * velocity[me].z;
        }
    }
    """,
    options=[f"-DTILE={TILE}"],
)
accelerate = module.get_function("accelerate").prepare("PPiff")
move = module.get_function("move").prepare("PPif")

random = np.random.default_rng(6)
body = random.standard_normal((count, 4)).astype(np.float32)
body[:, 2] *= 0.2  # a disc, which turns
body[:, 3] = 1 / count
velocity = np.zeros_like(body)
velocity[:, 0], velocity[:, 1] = -0.6 * body[:, 1], 0.6 * body[:, 0]
velocity[:, :3] += 0.1 * random.standard_normal((count, 3))


def momentum(velocity):
    return (velocity[:, :3].astype(np.float64) * body[:, 3:]).sum(axis=0)


def velocity_after_one_step():
    place, mass = body[:, :3].astype(np.float64), body[:, 3]
    away = place[None] - place[:, None]
    square = (away**2).sum(axis=2) + SOFTENING
    return velocity[:, :3] + STEP * (away * (mass / square**1.5)[..., None]).sum(axis=1)


grid, block = (-(-count // TILE), 1), (TILE, 1, 1)
bodies, velocities = gpuarray.to_gpu(body), gpuarray.to_gpu(velocity)
paths = gpuarray.empty((args.steps, count, 4), np.float32)
error = 0.0
start, end = drv.Event(), drv.Event()
start.record()
for number in range(args.steps):
    accelerate.prepared_call(
        grid, block, velocities.gpudata, bodies.gpudata, count, SOFTENING, STEP
    )
    if number == 0 and count <= 2000:
        error = np.abs(velocities.get()[:, :3] - velocity_after_one_step()).max()
    move.prepared_call(grid, block, bodies.gpudata, velocities.gpudata, count, STEP)
    paths[number] = bodies
end.record()
end.synchronize()

drift = np.abs(momentum(velocities.get()) - momentum(velocity)).max()
seconds = start.time_till(end) / 1000
print(f"{count} bodies, {args.steps} steps")
print(f"pulls: {args.steps * count**2 / seconds / 1e9:.3f} G a second")
print(f"first step, largest difference: {error:.0e}")
print(f"change of momentum: {drift:.0e}")
x, y, _, _ = paths.get().reshape(-1, 4).T
visits = np.histogram2d(y, x, (400, 600), [(-2, 2), (-3, 3)])[0]
pycuda.show(np.log1p(visits), colors="fire", file=args.output)
if not (error < 1e-5 and drift < 1e-5):
    sys.exit("the result is wrong")
