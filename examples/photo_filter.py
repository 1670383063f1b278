"""Remove the noise of photographs, and keep their edges.

    python examples/photo_filter.py *.jpg --output filtered
    python examples/photo_filter.py --size 2160 3840 --times 30

Each pixel becomes a mean of its neighbours. Near neighbours of a similar colour weigh
most, so noise is smoothed and edges stay sharp (a bilateral filter). The pictures go
through several streams: while the device filters one, others are copied, and the host
reads and writes files. Without files the program makes noisy pictures of its own and
compares the results with NumPy's. --times N measures N pictures in three ways.
"""

import argparse
import sys
import time
from collections import deque
from pathlib import Path

import numpy as np

import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule

BLOCK = 16
SOURCE = """
#define SIDE (BLOCK + 2 * RADIUS)

// The bytes of a pixel are red, green and blue in x, y and z; the last one is unused.
__global__ void smooth(uchar4 *to, const uchar4 *from, int width, int height,
                       float distance, float difference)
{
    __shared__ uchar4 tile[SIDE][SIDE];
    int left = blockIdx.x * BLOCK - RADIUS;
    int top = blockIdx.y * BLOCK - RADIUS;

    // Load the pixels of the block and a border. Repeat the edge of the picture.
    for (int y = threadIdx.y; y < SIDE; y += BLOCK)
        for (int x = threadIdx.x; x < SIDE; x += BLOCK) {
            int column = min(max(left + x, 0), width - 1);
            int row = min(max(top + y, 0), height - 1);
            tile[y][x] = from[row * width + column];
        }
    __syncthreads();

    int x = blockIdx.x * BLOCK + threadIdx.x;
    int y = blockIdx.y * BLOCK + threadIdx.y;
    if (x >= width || y >= height)
        return;
    uchar4 mine = tile[threadIdx.y + RADIUS][threadIdx.x + RADIUS];
    float red = 0, green = 0, blue = 0, sum = 0;
    for (int j = -RADIUS; j <= RADIUS; j++)
        for (int i = -RADIUS; i <= RADIUS; i++) {
            uchar4 p = tile[threadIdx.y + RADIUS + j][threadIdx.x + RADIUS + i];
            float r = p.x - mine.x, g = p.y - mine.y, b = p.z - mine.z;
            float weight = expf(distance * (i * i + j * j)
                                + difference * (r * r + g * g + b * b));
            red += weight * p.x;
            green += weight * p.y;
            blue += weight * p.z;
            sum += weight;
        }
    to[y * width + x] = make_uchar4(red / sum + 0.5f, green / sum + 0.5f,
                                    blue / sum + 0.5f, 255);
}
"""


class Slot:
    """A stream, and page-locked and device memory for one picture."""

    def __init__(self):
        self.stream = drv.Stream()
        self.shape = (0, 0, 4)
        self.reserve((1, 1, 4))

    def reserve(self, shape):
        """Prepare the memory for a picture. It grows, and is used again otherwise."""
        if np.prod(shape) > np.prod(self.shape):
            self.host_in = drv.pagelocked_empty(shape, np.uint8)
            self.host_out = drv.pagelocked_empty(shape, np.uint8)
            self.device_in = drv.mem_alloc(self.host_in.nbytes)
            self.device_out = drv.mem_alloc(self.host_out.nbytes)
        elif shape != self.shape:
            self.host_in = self.host_in.reshape(-1)[: np.prod(shape)].reshape(shape)
            self.host_out = self.host_out.reshape(-1)[: np.prod(shape)].reshape(shape)
        self.shape = shape


class PhotoFilter:
    """The filter, with its kernel and its slots.

    radius: how many neighbours to each side count, in pixels. strength: differences of
    colour below this number count as noise. streams: how many pictures are under way.
    """

    def __init__(self, radius=3, strength=40.0, streams=3):
        self.radius = radius
        self.distance = np.float32(-1 / (2 * (0.6 * radius) ** 2))
        self.difference = np.float32(-1 / (2 * strength**2))
        options = [f"-DBLOCK={BLOCK}", f"-DRADIUS={radius}"]
        module = SourceModule(SOURCE, options=options)
        self.smooth = module.get_function("smooth").prepare("PPiiff")
        self.slots = [Slot() for _ in range(streams)]

    def launch(self, to, source, shape, stream):
        height, width, _ = shape
        grid = (-(-width // BLOCK), -(-height // BLOCK))
        numbers = (width, height, self.distance, self.difference)
        self.smooth.prepared_async_call(
            grid, (BLOCK, BLOCK, 1), stream, to, source, *numbers
        )

    def start(self, slot):
        """Enqueue the work on the picture in slot.host_in."""
        drv.memcpy_htod_async(slot.device_in, slot.host_in, slot.stream)
        self.launch(slot.device_out, slot.device_in, slot.shape, slot.stream)
        drv.memcpy_dtoh_async(slot.host_out, slot.device_out, slot.stream)

    def filtered(self, pictures):
        """Filter pictures, arrays of shape (height, width, 4). Yield the results.

        The result is valid until the next one is asked for.
        """
        free, busy = deque(self.slots), deque()
        for picture in pictures:
            if not free:
                yield finish(busy[0])
                free.append(busy.popleft())
            slot = free.popleft()
            slot.reserve(picture.shape)
            slot.host_in[:] = picture
            self.start(slot)
            busy.append(slot)
        while busy:
            yield finish(busy.popleft())


def finish(slot):
    slot.stream.synchronize()
    return slot.host_out


def with_numpy(picture, radius, distance, difference):
    """Compute the same with NumPy."""
    height, width, _ = picture.shape
    mine = picture[..., :3].astype(np.float32)
    edge = np.pad(mine, ((radius, radius), (radius, radius), (0, 0)), mode="edge")
    total, weights = np.zeros_like(mine), np.zeros((height, width, 1), np.float32)
    for j in range(2 * radius + 1):
        for i in range(2 * radius + 1):
            other = edge[j : j + height, i : i + width]
            away = (i - radius) ** 2 + (j - radius) ** 2
            unlike = ((other - mine) ** 2).sum(axis=2, keepdims=True)
            weight = np.exp(distance * away + difference * unlike)
            total += weight * other
            weights += weight
    return (total / weights + np.float32(0.5)).astype(np.uint8)


def noisy_picture(height, width, seed):
    """Return a picture without noise, and the same with noise."""
    y, x = np.mgrid[:height, :width] / max(height, width)
    shade = (80 + 120 * y)[..., None] * np.array([0.5, 0.8, 1.1])
    for k, colour in enumerate(([235, 200, 60], [210, 70, 60], [70, 160, 90])):
        disc = (x - 0.2 - 0.25 * k) ** 2 + (y - 0.35) ** 2 < (0.08 + 0.03 * k) ** 2
        shade[disc] = colour
    shade[(x * 12 % 2 < 1) & (y > 0.55)] = [40, 45, 60]
    noise = np.random.default_rng(seed).normal(0, 18, shade.shape)
    clean, noisy = (np.full((height, width, 4), 255, np.uint8) for _ in range(2))
    clean[..., :3] = np.clip(shade, 0, 255)
    noisy[..., :3] = np.clip(shade + noise, 0, 255)
    return clean, noisy


def noise(picture, clean):
    """Return the root mean square of the difference."""
    difference = picture[..., :3].astype(np.float32) - clean[..., :3]
    return float(np.sqrt((difference**2).mean()))


def measure(photo_filter, count, shape):
    """Print the time for a picture, in three ways."""
    ordinary = noisy_picture(*shape[:2], seed=0)[1]
    result = np.empty_like(ordinary)
    slots = photo_filter.slots
    for slot in slots:
        slot.reserve(ordinary.shape)
        slot.host_in[:] = ordinary

    def one_by_one():
        for _ in range(count):
            drv.memcpy_htod(slots[0].device_in, ordinary)
            photo_filter.launch(
                slots[0].device_out, slots[0].device_in, ordinary.shape, None
            )
            drv.memcpy_dtoh(result, slots[0].device_out)

    def in_streams(used):
        for number in range(count):
            slot = used[number % len(used)]
            slot.stream.synchronize()
            photo_filter.start(slot)
        for slot in used:
            slot.stream.synchronize()

    for name, run in (
        ("ordinary memory, one by one", one_by_one),
        ("page-locked memory, one stream", lambda: in_streams(slots[:1])),
        (f"page-locked memory, {len(slots)} streams", lambda: in_streams(slots)),
    ):
        run()
        best = np.inf
        for _ in range(3):
            begin = time.perf_counter()
            run()
            best = min(best, time.perf_counter() - begin)
        print(f"{name}: {best / count * 1e3:.3f} ms a picture")


def from_files(photo_filter, names, folder):
    """Filter the pictures in files and write the results to a folder."""
    from PIL import Image

    folder.mkdir(parents=True, exist_ok=True)
    pictures = (np.asarray(Image.open(name).convert("RGBA")) for name in names)
    for name, result in zip(names, photo_filter.filtered(pictures), strict=True):
        path = folder / (Path(name).stem + ".png")
        Image.fromarray(result[..., :3]).save(path)
        print("written:", path)


def own_pictures(photo_filter, count, shape, path):
    """Filter noisy pictures and check the results. Return whether they are right."""
    pairs = [noisy_picture(*shape, seed) for seed in range(count)]
    results = photo_filter.filtered(noisy for _, noisy in pairs)
    right = True
    for number, ((clean, noisy), result) in enumerate(zip(pairs, results, strict=True)):
        wanted = with_numpy(
            noisy, photo_filter.radius, photo_filter.distance, photo_filter.difference
        )
        worst = np.abs(result[..., :3].astype(int) - wanted).max()
        before, after = noise(noisy, clean), noise(result, clean)
        print(f"picture {number}: noise {before:.1f} before, {after:.1f} after")
        right = right and worst <= 1 and after < before / 2
        if number == 0:
            pycuda.show(noisy[..., :3], result[..., :3], file=path)
    return right


def main():
    parser = argparse.ArgumentParser(description="Remove the noise of photographs.")
    parser.add_argument("files", nargs="*", help="image files to read, with Pillow")
    parser.add_argument("--output", type=Path, help="the folder, or the file, to write")
    parser.add_argument("--radius", type=int, default=3, help="in pixels, 1 to 8")
    parser.add_argument(
        "--strength", type=float, default=40.0, help="how much colours may differ"
    )
    parser.add_argument("--streams", type=int, default=3, help="pictures at a time")
    parser.add_argument(
        "--size", type=int, nargs=2, default=(240, 320), metavar=("HEIGHT", "WIDTH")
    )
    parser.add_argument("--times", type=int, help="measure this many pictures")
    args = parser.parse_args()
    if not 1 <= args.radius <= 8:
        parser.error(f"the radius must be from 1 to 8, not {args.radius}")

    print("device:", pycuda.autoinit.device.name())
    photo_filter = PhotoFilter(args.radius, args.strength, args.streams)
    if args.times:
        measure(photo_filter, args.times, args.size)
    elif args.files:
        from_files(photo_filter, args.files, args.output or Path("filtered"))
    elif not own_pictures(
        photo_filter, 4, args.size, args.output or Path("photo_filter.png")
    ):
        sys.exit("the result is wrong")


if __name__ == "__main__":
    main()
