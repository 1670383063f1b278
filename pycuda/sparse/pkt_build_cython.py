"""``build_pkt_data_structure`` under the name of PyCUDA's version of it in Cython."""

from pycuda import _hide_imports
from pycuda.sparse.pkt_build import build_pkt_data_structure

__all__ = ["build_pkt_data_structure"]
_hide_imports(globals())
