"""The arguments of kernels with a program's code, and the checks of each call.

A kernel reads its arrays by address. An array of another dtype, or one that is too
short, may give wrong values or an illegal access, so each call is checked. It goes on
with a warning where PyCUDA's programs may be right.
``_driver._KernelCall`` accepts the plain cases.
``Arguments.arrange`` converts what can be converted, and raises errors that name the
argument.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import empty_alike, has_same_elements, shares_some
from pycuda._array.kernels.c_types import VectorArg, dtype_to_ctype
from pycuda._driver import (
    GPUArray,
    PyCUDAWarning,
    _allocated,
    _check_arrays,
    _is_strict,
    _plain_array,
    _use_rest,
)
from pycuda._warning import forgive, warn_settled


def _base_of(dtype):
    """Return (kind, size) of the numbers in an element; None if they differ."""
    if dtype.subdtype is not None:
        return _base_of(dtype.subdtype[0])
    if dtype.names is not None:
        bases = {_base_of(dtype[name]) for name in dtype.names}
        return bases.pop() if len(bases) == 1 else None
    if not dtype.isnative:
        return None
    if dtype.kind == "c":
        return "f", dtype.itemsize // 2
    kind = "i" if dtype.kind in "iumM" else dtype.kind
    return kind, dtype.itemsize


def is_bytes(dtype):
    """Return whether elements are plain bytes, which a kernel may read as any type."""
    return dtype.itemsize == 1 and dtype.kind in "iuSV" and dtype.names is None


def _accepts_same_size(declared, dtype):
    """Return whether elements of one size stand for each other, whatever their base.

    That is so for two structures, for bytes without a type, and for 16 bits, which hold
    a half float or an integer.
    """
    if declared.names is not None and dtype.names is not None:
        return True
    opaque = declared if declared.names is None else dtype
    if opaque.kind == "V":
        return True
    return declared.itemsize == 2 and {declared.kind, dtype.kind} <= set("iuf")


def accepts(declared, dtype):
    """Return whether a kernel that declares one dtype may be given another.

    Other names of the same type are accepted: integers of one size, a ``float4`` for
    four floats, a complex number for a ``float2``, the 16 bits of a half float as an
    integer. ``char *`` is a pointer to anything, and an array of bytes can hold
    anything.
    """
    if declared == dtype:
        return True
    if declared.itemsize == 1 and declared.names is None:
        return declared.kind != "b" or (dtype.itemsize == 1 and dtype.kind in "iu")
    if is_bytes(dtype):
        return True
    if not (dtype.isnative and declared.isnative):
        return False
    if declared.itemsize == dtype.itemsize:
        if _accepts_same_size(declared, dtype):
            return True
    elif declared.names is None and dtype.names is None:
        return False
    base = _base_of(declared)
    return base is not None and base == _base_of(dtype)


def dtype_of(array):
    """Return the numpy.dtype of an array; None if a foreign type has none."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:  # numpy.dtype(None) is float64
        return None
    try:
        return np.dtype(dtype)
    except TypeError:
        return None


def takes_bool(declared):
    """Return whether a bool array can be converted for a parameter of this dtype."""
    return declared.kind in "iufc" and declared.itemsize > 1


def type_name(dtype):
    """Return the name of a dtype in C, or in NumPy if C has none."""
    try:
        return dtype_to_ctype(dtype)
    except ValueError:
        return str(dtype)


def wrong_dtype(what, declared, array):
    """Return the TypeError for an array of a dtype that the kernel does not accept."""
    dtype = dtype_of(array)
    if declared.names is not None:
        hint = f"pass an array of dtype {declared}"
    elif dtype.names is not None or dtype.kind not in "biufc":
        hint = f"pass an array of {declared}"
    elif declared.kind == "b":
        hint = "convert it with .astype(bool)"
    else:
        hint = f"convert it with .astype(np.{declared})"
        if declared.itemsize == dtype.itemsize:
            hint += f", or reinterpret its bits with .view(np.{declared})"
    size = getattr(array, "size", "unknown")
    return TypeError(
        f"{what} is an array of {dtype} with {size} elements, but the "
        f"kernel reads {type_name(declared)}: {hint}"
    )


# -- arguments -------------------------------------------------------------------------


# How a kernel uses an argument; type/kernel_call.h has the same values.
_SCALAR, _POINTER, _ELEMENTS = range(3)


def count_of(array):
    """Return the number of elements of an array that a kernel works on.

    Programs assign a smaller ``mem_size`` to work on the first elements only. A larger
    one does not make the array larger.
    """
    size = _plain_array(array).mem_size
    label = array.mem_size
    if isinstance(label, int) and label >= 0:
        return min(label, size)
    return size


class ReadOnlyVector(VectorArg):
    """A vector argument whose elements the kernel cannot change."""

    def declarator(self):
        return f"const {super().declarator()}"


def _use_of(argument, elements):
    """Return how a kernel uses an argument, in the words of ``_KernelCall``."""
    if not isinstance(argument, VectorArg):
        return _SCALAR
    return _ELEMENTS if argument.name in elements else _POINTER


class Arguments:
    """The arguments of a kernel.

    ``elements`` names the arrays of which the kernel uses the elements 0 to n - 1.
    """

    def __init__(self, arguments, elements):
        self.arguments = tuple(arguments)
        #: How the kernel uses each argument, and what it declares.
        self.uses = bytes(_use_of(each, elements) for each in self.arguments)
        self.dtypes = tuple(
            None if use == _SCALAR else argument.dtype
            for argument, use in zip(self.arguments, self.uses, strict=True)
        )
        #: The lines of the program that have warned, by argument.
        self._warned = {}
        arrays = [k for k, use in enumerate(self.uses) if use != _SCALAR]
        #: The place of the first array, which gives the number of elements.
        self.first = arrays[0] if arrays else -1

    def __len__(self):
        return len(self.arguments)

    def arrange(self, args, stream, extent=-1, least=0):
        """Return (values, first array, pairs to copy back, converted arguments).

        The kernel uses the indices from ``least`` to ``extent - 1``; an ``extent`` of
        -1 is the size of the first array. One index finds the same element of all
        arrays of one shape, so they must have the same order in memory. For an array
        that has another order the stream makes a copy, which is copied back after the
        call. Arguments with the same elements share their copy. Arrays of bool are
        converted where the kernel declares numbers. The kernel must not write to those.
        """
        values, back, converted, arrays = list(args), [], [], []
        first, is_beyond = None, False
        for k, (given, argument) in enumerate(zip(args, self.arguments, strict=False)):
            if self.uses[k] == _SCALAR:
                continue
            what = f"argument {k} ({argument.name})"
            value = _array_of(what, given)
            packed = _converted(what, argument.dtype, value, stream)
            shared = None
            if packed is not value:
                converted.append(k)
            else:
                shared = _copy_of(value, back)
            if shared is not None:
                packed = shared
            elif first is None:
                if not packed.flags.forc:
                    packed = _packed(packed, "C", stream)
                first = packed
                if extent < 0:
                    extent = count_of(given)
            else:
                packed = _like_first(packed, first, argument, stream)
            is_beyond |= self._is_beyond(k, what, value, packed, extent, least)
            arrays.append(packed)
            if packed is not value and shared is None and k not in converted:
                back.append((value, packed))
            values[k] = 0 if packed.gpudata is None else packed.gpudata
        if is_beyond:  # such kernels read neighbours in the other arrays, too
            for array in arrays:
                _use_rest(_address_of(array))
        return values, first, back, converted

    def copies_before(self, args, back, stream):
        """Return (array, copy, earlier copy or None) for the pairs to copy back.

        If another argument shares some elements of an array, the kernel may write to
        them directly. Then only the elements that the kernel changed in the copy may be
        copied back. The earlier copy shows which these are.
        """
        arrays = [
            _plain_array(value)
            for value, use in zip(args, self.uses, strict=True)
            if use != _SCALAR
        ]
        triples = []
        for array, packed in back:
            before = None
            if any(shares_some(array, other) for other in arrays):
                before = empty_alike(packed)
                before.set_async(packed, stream)
            triples.append((array, packed, before))
        return triples

    def _is_beyond(self, k, what, value, packed, extent, least):
        """Return whether the kernel uses elements outside of the array.

        That is a warning, once for each line of the program, if the driver gave that
        memory to the array's allocation; else ValueError. With PYCUDA_STRICT, and under
        a check, it is always an error.
        """
        if dtype_of(value) is None or not hasattr(packed, "size"):
            return False
        declared, dtype = self.arguments[k].dtype, dtype_of(packed)
        is_alias = declared.itemsize != dtype.itemsize
        if self.uses[k] != _ELEMENTS and not (is_alias and is_bytes(dtype)):
            return False
        size = packed.size * dtype.itemsize // max(declared.itemsize, 1)
        if k == self.first and not is_alias:
            size = max(size, packed.mem_size)
        if extent <= size and least >= 0:
            return False
        first = self.arguments[self.first].name
        found = (
            f"{what} is an array of {value.dtype} with {value.size} elements, but the "
            f"kernel uses {type_name(declared)} elements {least} to {extent - 1} of it"
        )
        step = (
            f"pass an array of at least {extent} elements, or a range or slice that "
            f"ends before (without them the size of {first} is the limit)"
        )
        is_copy = packed is not value and dtype_of(value).kind != "b"
        if _is_strict() or is_copy or not has(packed, declared, least, extent):
            if is_alias and is_bytes(dtype):
                raise wrong_dtype(what, declared, value)
            raise ValueError(f"{found}: {step}")
        text = (
            f"{found}. The driver gave it that memory, because it rounds sizes up, so "
            f"the kernel runs; with PYCUDA_STRICT=1 this is an error: {step}"
        )
        warn_settled(text, PyCUDAWarning, self._warned.setdefault(k, set()))
        return True

    def read_only(self, converted):
        """Return the arguments with those at these places declared const."""
        return [
            ReadOnlyVector(a.dtype, a.name) if k in converted else a
            for k, a in enumerate(self.arguments)
        ]

    def other_count(self, given):
        """Return the TypeError for a call with another number of arguments."""
        declared = ", ".join(argument.declarator() for argument in self.arguments)
        plural = "s" * (len(self) != 1)
        return TypeError(
            f"the kernel takes {len(self)} argument{plural} ({given} given): {declared}"
        )

    def writes(self, args, converted):
        """Return the TypeError for a kernel that writes to converted bool arrays."""
        places = ", ".join(f"{k} ({self.arguments[k].name})" for k in converted)
        dtype = self.arguments[converted[0]].dtype
        return TypeError(
            f"argument {places}: the array is of bool, and the kernel writes to it or "
            f"passes its address to code that may write; convert the array before with "
            f".astype(np.{dtype})"
        )


def _address_of(array):
    """Return the address of an array, also of a foreign type."""
    return 0 if array.gpudata is None else int(array.gpudata)


def has(array, declared, least, extent):
    """Return whether the driver gave elements to the memory of an array."""
    size, address = declared.itemsize, _address_of(array)
    low, high = address + min(least, 0) * size, address + extent * size
    begin, end = _allocated(address) or (high, low)
    return begin <= low and high <= end


def _array_of(what, value):
    """Return an argument as a plain array; TypeError if it is no array."""
    if not hasattr(value, "gpudata"):
        raise TypeError(f"{what} must be a GPUArray, not {type(value).__name__}")
    plain = _plain_array(value)
    if isinstance(plain, GPUArray):
        _check_arrays(plain)  # of the current context
    return plain


def _converted(what, declared, array, stream):
    """Return an array, or a bool array converted to the dtype that is declared.

    A kernel reads the bytes of other dtypes as its own.
    """
    dtype = dtype_of(array)
    if dtype is None or accepts(declared, dtype):
        return array
    if dtype.kind != "b" or not takes_bool(declared):
        forgive(str(wrong_dtype(what, declared, array)), TypeError)
        return array
    return array.astype(declared, stream)


def _like_first(array, first, argument, stream):
    """Return an array, or a copy of it, in the memory order of the first array."""
    flags, wanted = array.flags, first.flags
    if (flags.c_contiguous and wanted.c_contiguous) or (
        flags.f_contiguous and wanted.f_contiguous
    ):
        return array
    if array.shape != first.shape:
        if flags.forc:
            return array
        raise RuntimeError(
            f"{argument.name} has gaps, and its shape {array.shape} is not that of the "
            f"first array, {first.shape}"
        )
    return _packed(array, "C" if wanted.c_contiguous else "F", stream)


def _packed(array, order, stream):
    """Return a copy in this order of memory, which the stream makes."""
    packed = GPUArray(array.shape, array.dtype, array.allocator, order=order)
    packed.set_async(array, stream)
    return packed


def _copy_of(array, back):
    """Return the copy that was already made of an array's elements, or None."""
    for value, packed in back:
        if has_same_elements(value, array):
            return packed
    return None
