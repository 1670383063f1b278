"""The sources of the kernels that C requests, one module for each family."""
