"""Random numbers in device memory.

``sources`` has the source of all kernels, ``generator`` the base class of generators,
``kinds`` a row and the public class for each kind, and ``rand``.
"""
