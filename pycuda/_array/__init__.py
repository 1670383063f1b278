"""Arrays: the Python around the C type ``GPUArray``, and kernels with a program's code.

=================  =====================================================================
foundations        context_cache, c_types, streams, layout, copies, overlap
generated kernels  kernel_request (C calls it), sources, compilation
functions          creation, joining, operations, masks, masked, reductions, cumulative,
                   launch_shape, texture_binding, vector_types
index arrays       elements
kernels            elementwise_kernel, reduction_kernel, scan_kernel; kernel_arguments,
                   argument_names, argument_dtypes, used_elements, elementwise_module,
                   copy_back
NumPy's protocols  numpy_ufuncs, numpy_functions, numpy_methods (C calls them),
                   numpy_reductions, numpy_shapes, numpy_calls
=================  =====================================================================

A file imports only files of this room that do not import it, and nothing above the
room. The public modules import what they publish; ``public_names`` gives it their name.
"""
