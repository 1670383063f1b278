"""Nodes of a tree hold their parent, and their parent holds them."""

import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray


class Node:
    def __init__(self, size, parent=None):
        self.values = gpuarray.zeros(size, np.float32)  # FAULT
        self.parent = parent
        # + self.parent = parent and weakref.ref(parent)
        self.children = []


# + import weakref
root = Node(1000)
root.children.append(Node(500, root))
del root
