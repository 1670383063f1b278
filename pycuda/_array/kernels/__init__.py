"""Kernels with a program's code, and the compilation of the kernels of arrays."""
