"""Solve Poisson's equation on a square plate by conjugate gradients.

The matrix is made from NumPy arrays, without SciPy. The matrix and the vectors stay on
the device, and the host reads the residual only every 20 iterations.
"""

import argparse
import sys

import numpy as np

import pycuda.autoinit  # makes a context
from pycuda import gpuarray
from pycuda.sparse.cg import CGStateContainer
from pycuda.sparse.coordinate import CoordinateSpMV
from pycuda.sparse.csr import CsrSpMV

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--output", default="heat_on_a_plate.png", help="the image file")
args = parser.parse_args()
print("device:", pycuda.autoinit.device.name())

side = 31
place = np.arange(side * side).reshape(side, side)
pairs = [(place[1:], place[:-1]), (place[:, 1:], place[:, :-1])]
one = np.concatenate([a.ravel() for a, _ in pairs])
other = np.concatenate([b.ravel() for _, b in pairs])
rows = np.concatenate([place.ravel(), one, other])
columns = np.concatenate([place.ravel(), other, one])
values = np.where(rows == columns, 4.0, -1.0)

order = np.lexsort((columns, rows))
pointers = np.searchsorted(rows[order], np.arange(side * side + 1))
shape = (side * side, side * side)
matrix = CsrSpMV.from_arrays(pointers, columns[order], values[order], shape)

heat = np.zeros((side, side))
heat[side // 2, side // 2] = 1  # a heat source in the middle
b = gpuarray.to_gpu(heat.ravel())

steps = []
solver = CGStateContainer(matrix)
solver.reset(b)
x = solver.run(
    tol=1e-10, debug_callback=lambda what, number, *state: steps.append(what)
)

plate = x.get().reshape(side, side)
again = CoordinateSpMV.from_arrays(rows, columns, values, shape)(x)
print("residual:", abs(again.get() - heat.ravel()).max())
print("hottest in the middle:", plate.argmax() == plate.size // 2)
print("the same from all sides:", np.allclose(plate, plate[::-1].T))
print("iterations:", len(steps) - 1)
pycuda.show(np.kron(plate**0.5, np.ones((12, 12))), colors="fire", file=args.output)
if abs(again.get() - heat.ravel()).max() > 1e-9:
    sys.exit("the solution is wrong")
