"""Calls for which the standard demands an error."""

from __future__ import annotations

from typing import Any

import numpy as np

from support.standard.draws import Case, Draw, Drawer
from support.standard.operands import Operand, Type

_ROW = Operand(np.arange(3.0))
_MATRIX = Operand(np.arange(6.0).reshape(2, 3))
_CUBE = Operand(np.arange(24.0).reshape(2, 3, 4))
_NUMBER = Operand(np.asarray(2.5))
_WHOLE = Operand(np.asarray([1, 2, 3]))
_COMPLEX = Operand(np.asarray(1 + 2j))

_SHAPE = (ValueError, IndexError)
_TYPE = (TypeError, ValueError)

#: (name, arguments, keywords, errors)
_REFUSED: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("asarray", ([1, 2],), {"copy": False}, (ValueError,)),
    ("astype", (_COMPLEX, Type("float64")), {}, (TypeError,)),
    ("broadcast_arrays", (_ROW, _CUBE), {}, (ValueError,)),
    ("broadcast_shapes", ((2, 3), (4,)), {}, (ValueError,)),
    ("broadcast_to", (_CUBE, (2, 3)), {}, (ValueError,)),
    ("concat", ([_ROW, _MATRIX],), {}, _SHAPE),
    ("concat", ([_ROW, _ROW],), {"axis": 1}, _SHAPE),
    ("cumulative_sum", (_MATRIX,), {}, (ValueError,)),
    ("cumulative_prod", (_MATRIX,), {}, (ValueError,)),
    ("expand_dims", (_ROW, 3), {}, (IndexError,)),
    ("expand_dims", (_ROW, -3), {}, (IndexError,)),
    ("finfo", (Type("int32"),), {}, _TYPE),
    ("flip", (_ROW,), {"axis": 1}, _SHAPE),
    ("iinfo", (Type("float32"),), {}, _TYPE),
    ("isdtype", (Type("int32"), "whole"), {}, _TYPE),
    ("matmul", (_ROW, _NUMBER), {}, (ValueError,)),
    ("matmul", (_MATRIX, _MATRIX), {}, (ValueError,)),
    ("matrix_transpose", (_ROW,), {}, (ValueError,)),
    ("meshgrid", (_ROW, _WHOLE), {}, _TYPE),
    ("moveaxis", (_MATRIX, 2, 0), {}, _SHAPE),
    ("nonzero", (_NUMBER,), {}, _TYPE),
    ("permute_dims", (_MATRIX, (0, 0)), {}, (ValueError,)),
    ("reshape", (_MATRIX, (4,)), {}, (ValueError,)),
    ("squeeze", (_MATRIX, 0), {}, (ValueError,)),
    ("stack", ([_ROW, _MATRIX],), {}, (ValueError,)),
    ("sum", (_ROW,), {"axis": 1}, _SHAPE),
    ("max", (_ROW,), {"axis": -2}, _SHAPE),
    ("sort", (_ROW,), {"axis": 1}, _SHAPE),
    ("take", (_MATRIX, _WHOLE), {}, (ValueError,)),
    ("tensordot", (_MATRIX, _MATRIX), {"axes": 1}, (ValueError,)),
    ("tril", (_ROW,), {}, (ValueError,)),
    ("triu", (_ROW,), {}, (ValueError,)),
    ("unstack", (_ROW,), {"axis": 1}, _SHAPE),
    ("vecdot", (_ROW, _MATRIX), {"axis": -2}, _SHAPE),
    ("vecdot", (_ROW, Operand(np.arange(4.0))), {}, (ValueError,)),
    ("linalg.cross", (_MATRIX, _MATRIX), {"axis": -2}, (ValueError,)),
    ("linalg.outer", (_MATRIX, _ROW), {}, (ValueError,)),
    ("array.__bool__", (_ROW,), {}, _TYPE),
    ("array.__complex__", (_ROW,), {}, _TYPE),
    ("array.__float__", (_ROW,), {}, _TYPE),
    ("array.__float__", (_COMPLEX,), {}, (TypeError,)),
    ("array.__index__", (_NUMBER,), {}, (TypeError,)),
    ("array.__int__", (_COMPLEX,), {}, (TypeError,)),
    ("array.__int__", (_ROW,), {}, _TYPE),
    ("array.__array_namespace__", (_ROW,), {"api_version": "1999.01"}, (ValueError,)),
    ("array.mT", (_ROW,), {}, (ValueError,)),
    ("array.__matmul__", (_ROW, _NUMBER), {}, (ValueError,)),
    ("info.dtypes", (), {"kind": "whole"}, (ValueError,)),
]


def _refused(pick: Draw, name: str) -> Case:
    function, args, keywords, errors = pick.one(*_REFUSED)
    return Case(function, args, keywords, raises=errors)


DRAWERS: dict[str, Drawer] = {"errors": _refused}
