"""Arrays: the Python around the C type ``GPUArray``, and kernels with a program's code.

==================  ====================================================================
foundations         layout, copies, creation, growable, host, html,
                    numpy_calls
``sources``         the sources of the kernels that C requests
``kernels``         kernels with a program's code, and the compilation of all kernels;
                    C calls compilation
``functions``       the functions of ``pycuda.gpuarray``, one module for each topic
``linalg``          products, norms, systems of equations, decompositions
``numpy_protocol``  NumPy's functions, ufuncs and methods on arrays; C calls them
==================  ====================================================================

A file imports only files of its own room that do not import it, and files of the rooms
above it in this table. Public modules publish names of these (``_public.py``).
"""
