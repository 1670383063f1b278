"""Helpers that PyCUDA shares with PyOpenCL: layouts of arrays, names of C types."""
