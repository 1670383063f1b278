"""NumPy's functions, ufuncs and methods, applied to GPUArrays."""
