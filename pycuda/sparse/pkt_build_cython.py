"""``build_pkt_data_structure`` under the name of PyCUDA's version of it in Cython."""

from pycuda.sparse.pkt_build import build_pkt_data_structure

__all__ = ["build_pkt_data_structure"]
