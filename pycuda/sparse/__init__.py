"""Sparse matrices on the device, and the method of conjugate gradients.

Products of a matrix with a vector are in ``pycuda.sparse.csr`` (compressed rows, the
fastest one for most matrices), ``packeted`` (PacketedSpMV) and ``coordinate``
(CoordinateSpMV), and through NVIDIA's library in ``cusparse``; ``cg`` solves systems,
``operator`` has preconditioners, ``inner`` inner products that arrive by themselves.
SciPy's matrices are taken and given, but SciPy itself is not needed.
"""
