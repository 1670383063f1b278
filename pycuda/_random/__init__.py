"""Random numbers in device memory.

``sources`` has the source of all kernels, ``kinds`` a row for each kind of generator.
``generator`` has the base class, ``pseudorandom`` and ``quasirandom`` the public
classes, ``rand`` the function without a generator. ``curand_library`` finds NVIDIA's
library and header.
"""
