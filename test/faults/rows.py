"""Import all rows, which fills the table of row.py."""

from . import (  # noqa: F401
    rows_boxes,
    rows_compiler,
    rows_core,
    rows_fft,
    rows_gpuarray,
    rows_graphs,
    rows_kernels,
    rows_memory,
    rows_more,
    rows_nccl,
    rows_pools,
    rows_reductions,
    rows_stream_memory,
    rows_texture_arrays,
    rows_textures,
)
