"""The functions of ``pycuda.gpuarray``, one module for each topic."""
