"""All rows: importing this fills the table of row.py."""

from . import rows_compiler, rows_core, rows_kernels, rows_memory  # noqa: F401
