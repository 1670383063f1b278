"""Arrays: what is around the C type ``GPUArray``, and kernels of programs' own text."""
