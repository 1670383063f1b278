"""Play Conway's game of life on a board whose opposite edges are connected.

    python examples/game_of_life.py --size 256 --steps 500

A block copies its tile and the cells around it to shared memory, so that every cell is
read from global memory about once instead of nine times. The board is full of gliders.
Every four steps, each glider has moved by one cell.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.compiler import SourceModule

parser = argparse.ArgumentParser(description="Play the game of life.")
parser.add_argument("--size", type=int, default=96, help="cells per side, 16 n")
parser.add_argument("--steps", type=int, default=8, help="how often the cells change")
parser.add_argument("--output", default="game_of_life.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())
size, steps = args.size, args.steps
if size < 16 or size % 16:
    parser.error("--size must be a multiple of 16")

TILE = 16
module = SourceModule(
    """
    __global__ void advance(unsigned char *to, const unsigned char *from, int size)
    {
        __shared__ unsigned char cells[TILE + 2][TILE + 2];
        int left = blockIdx.x * TILE + size - 1, top = blockIdx.y * TILE + size - 1;

        for (int i = threadIdx.y * TILE + threadIdx.x; i < (TILE + 2) * (TILE + 2);
             i += TILE * TILE) {
            int x = i % (TILE + 2), y = i / (TILE + 2);
            cells[y][x] = from[(top + y) % size * size + (left + x) % size];
        }
        __syncthreads();

        int around = 0;
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 3; x++)
                around += cells[threadIdx.y + y][threadIdx.x + x];
        int alive = cells[threadIdx.y + 1][threadIdx.x + 1];
        int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
        to[y * size + x] = around == 3 || (alive && around == 4);
    }
    """,
    options=[f"-DTILE={TILE}"],
)
advance = module.get_function("advance")

board = np.zeros((size, size), np.uint8)
glider = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], np.uint8)
for y in range(2, size, 16):
    for x in range(2, size, 16):
        board[y : y + 3, x : x + 3] = glider

now = gpuarray.to_gpu(board)
following = gpuarray.empty_like(now)
for _ in range(steps):
    advance(
        following,
        now,
        np.int32(size),
        block=(TILE, TILE, 1),
        grid=(size // TILE, size // TILE),
    )
    now, following = following, now
result = now.get()

on_host = board
for _ in range(steps):
    around = sum(
        np.roll(on_host, (y, x), (0, 1))
        for y in (-1, 0, 1)
        for x in (-1, 0, 1)
        if (y, x) != (0, 0)
    )
    on_host = ((around == 3) | (on_host & (around == 2))).astype(np.uint8)

print(f"{size} x {size} cells, {steps} steps, {result.sum()} alive")
moved = np.roll(board, (steps // 4, steps // 4), (0, 1))
right = np.array_equal(result, on_host)
if steps % 4 == 0:
    right &= np.array_equal(result, moved)
    print("gliders are", steps // 4, "cells on:", np.array_equal(result, moved))
print("cells that differ from NumPy's:", (result != on_host).sum())
# Living cells are white, those that lived at the start are grey.
shades = np.where(result == 1, 255, 100 * board).astype(np.uint8)
pycuda.show(np.kron(shades, np.ones((4, 4), np.uint8)), file=args.output)
if not right:
    sys.exit("the result is wrong")
