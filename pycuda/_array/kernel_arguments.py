"""The arguments of kernels that programs write: what a call may pass.

A kernel reads its arrays by address. An array of another dtype, or one that is too
short, would give wrong values or an illegal access, so each call is checked.
``_driver._gather`` accepts the plain cases. ``Arguments.arrange`` looks at the others:
it converts what can be converted, and raises errors that name the argument.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.c_types import VectorArg, dtype_to_ctype
from pycuda._array.copies import empty_alike
from pycuda._array.overlap import has_same_elements, shares_some
from pycuda._driver import GPUArray, _gather, _plain_array

_SCALAR, _POINTER, _ELEMENTS = range(3)


def _base_of(dtype):
    """Return (kind, bytes) of the numbers that elements are made of, or None."""
    if dtype.subdtype is not None:
        return _base_of(dtype.subdtype[0])
    if dtype.names is not None:
        bases = {_base_of(dtype[name]) for name in dtype.names}
        return bases.pop() if len(bases) == 1 else None
    if not dtype.isnative:
        return None
    if dtype.kind == "c":
        return "f", dtype.itemsize // 2
    return "i" if dtype.kind in "iumM" else dtype.kind, dtype.itemsize


def _is_bytes(dtype):
    """Is this memory of whatever a kernel reads there?"""
    return dtype.itemsize == 1 and dtype.kind in "iuSV" and dtype.names is None


def accepts(declared, dtype):
    """May a kernel that declares elements of one dtype be given those of another?

    Other names of the same type are accepted: integers of one size, a ``float4`` for
    four floats, a complex number for a ``float2``, the 16 bits of a half float as an
    integer. ``char *`` is a pointer to anything, and an array of bytes can hold
    anything.
    """
    if declared == dtype:
        return True
    if declared.itemsize == 1 and declared.names is None:
        return declared.kind != "b" or (dtype.itemsize == 1 and dtype.kind in "iu")
    if _is_bytes(dtype):
        return True
    if not (dtype.isnative and declared.isnative):
        return False
    if declared.itemsize == dtype.itemsize:
        if declared.names is not None and dtype.names is not None:
            return True
        if "V" in (declared.kind, dtype.kind) and None in (declared.names, dtype.names):
            plain = dtype if declared.names is not None else declared
            if plain.kind == "V" and plain.names is None:
                return True
        if {declared.kind, dtype.kind} <= set("iuf") and declared.itemsize == 2:
            return True
    elif declared.names is None and dtype.names is None:
        return False
    base = _base_of(declared)
    return base is not None and base == _base_of(dtype)


def _dtype_of(array):
    """Return the numpy.dtype of an array; None if a foreign type has none."""
    dtype = getattr(array, "dtype", None)
    if dtype is None:  # which numpy.dtype() takes for float64
        return None
    try:
        return np.dtype(dtype)
    except TypeError:
        return None


def count_of(array):
    """Return how many elements of an array a kernel works on.

    Programs assign a smaller ``mem_size`` to work on the first elements only. A larger
    one does not make the array larger.
    """
    size = _plain_array(array).mem_size
    label = array.mem_size
    return min(label, size) if isinstance(label, int) and label >= 0 else size


def _converts(declared):
    """May a bool array be converted for this parameter?"""
    return declared.kind in "iufc" and declared.itemsize > 1


def _type_name(dtype):
    try:
        return dtype_to_ctype(dtype)
    except ValueError:
        return str(dtype)


def wrong_dtype(what, declared, array):
    """Return the TypeError for an array of a dtype that a kernel does not read."""
    dtype = _dtype_of(array)
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
        f"kernel reads {_type_name(declared)}: {hint}"
    )


class ReadOnlyVector(VectorArg):
    """A vector argument whose elements the kernel cannot change."""

    def declarator(self):
        return f"const {super().declarator()}"


class Arguments:
    """The arguments of a kernel. ``elements`` names those used element by element."""

    def __init__(self, arguments, elements):
        self.arguments = tuple(arguments)
        vectors = [isinstance(argument, VectorArg) for argument in self.arguments]
        self._dtypes = tuple(
            argument.dtype if is_vector else None
            for argument, is_vector in zip(self.arguments, vectors, strict=True)
        )
        self._uses = bytes(
            _SCALAR if not is_vector else _ELEMENTS if a.name in elements else _POINTER
            for a, is_vector in zip(self.arguments, vectors, strict=True)
        )
        #: The place of the first array, which gives the number of elements.
        self.first = vectors.index(True) if True in vectors else -1

    def __len__(self):
        return len(self.arguments)

    def gather(self, args, extent=-1):
        """Return values for the prepared kernel, or None if arrange() must look."""
        return _gather(args, self._dtypes, self._uses, self.first, extent)

    def arrange(self, args, stream, extent=-1, least=0):
        """Return (values, first array, pairs to copy back, converted arguments).

        Indices from ``least`` to ``extent - 1`` are used; -1 is the size of the first
        array. Arrays of one shape must lie alike in memory for one index to find their
        elements: one that does not is worked on in a copy, which the stream makes, and
        which is copied back after the call. Arguments with the same elements share
        their copy. Arrays of bool are converted where the kernel declares numbers; it
        must not write to those.
        """
        values, back, converted = list(args), [], []
        first = None
        for k, (value, argument) in enumerate(zip(args, self.arguments, strict=False)):
            if self._uses[k] == _SCALAR:
                continue
            what = f"argument {k} ({argument.name})"
            if not hasattr(value, "gpudata"):
                raise TypeError(
                    f"{what} must be a GPUArray, not {type(value).__name__}"
                )
            value = _plain_array(value)
            dtype = _dtype_of(value)
            packed = value
            if dtype is not None and not accepts(argument.dtype, dtype):
                if dtype.kind != "b" or not _converts(argument.dtype):
                    raise wrong_dtype(what, argument.dtype, value)
                packed = value.astype(argument.dtype, stream)
                converted.append(k)
            shared = None if packed is not value else _copy_of(value, back)
            if shared is not None:
                packed = shared
            elif first is None:
                first = packed
                if not packed.flags.forc:
                    packed = first = _packed(packed, "C", stream)
                extent = count_of(args[k]) if extent < 0 else extent
            else:
                packed = _like_first(packed, first, argument, stream)
            if dtype is not None and hasattr(packed, "size"):
                self._check_size(k, what, value, packed, extent, least)
            if packed is not value and shared is None and k not in converted:
                back.append((value, packed))
            values[k] = 0 if packed.gpudata is None else packed.gpudata
        return values, first, back, converted

    def copies_before(self, args, back, stream):
        """Return (array, copy, copy of that or None) for the pairs to copy back.

        An array of which another argument has a part keeps what the kernel writes
        there. So of its copy only what the kernel changed may be copied back, and how
        the copy was before is kept.
        """
        arrays = [
            _plain_array(value)
            for value, use in zip(args, self._uses, strict=True)
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

    def _check_size(self, k, what, value, packed, extent, least):
        """Raise ValueError if the kernel would use elements that are not there."""
        declared, dtype = self.arguments[k].dtype, _dtype_of(packed)
        is_alias = declared.itemsize != dtype.itemsize
        if self._uses[k] != _ELEMENTS and not (is_alias and _is_bytes(dtype)):
            return
        size = packed.size * dtype.itemsize // max(declared.itemsize, 1)
        if k == self.first and not is_alias:
            size = max(size, packed.mem_size)
        if extent <= size and least >= 0:
            return
        if is_alias and _is_bytes(dtype):
            raise wrong_dtype(what, declared, value)
        first = self.arguments[self.first].name
        raise ValueError(
            f"{what} is an array of {value.dtype} with {value.size} elements, but the "
            f"kernel uses {_type_name(declared)} elements {least} to {extent - 1} of "
            f"it: pass an array of at least {extent} elements, or a range or slice "
            f"that ends before (without them the size of {first} is the limit)"
        )

    def read_only(self, converted):
        """Return the arguments with those at these places declared const."""
        return [
            ReadOnlyVector(a.dtype, a.name) if k in converted else a
            for k, a in enumerate(self.arguments)
        ]

    def writes(self, args, converted):
        """Return the TypeError for a kernel that writes to converted bool arrays."""
        places = ", ".join(f"{k} ({self.arguments[k].name})" for k in converted)
        dtype = self.arguments[converted[0]].dtype
        return TypeError(
            f"argument {places}: the array is of bool, and the kernel writes to it, or "
            f"hands on its address as one that may be written to; convert it before "
            f"with .astype(np.{dtype})"
        )


def _like_first(array, first, argument, stream):
    """Return an array, or a copy of it, whose elements lie as those of the first."""
    flags, wanted = array.flags, first.flags
    if (flags.c_contiguous and wanted.c_contiguous) or (
        flags.f_contiguous and wanted.f_contiguous
    ):
        return array
    if array.shape != first.shape:
        if flags.forc:
            return array
        raise RuntimeError(
            f"{argument.name} has gaps and another shape, {array.shape}, than the "
            f"first array, {first.shape}"
        )
    return _packed(array, "C" if wanted.c_contiguous else "F", stream)


def _packed(array, order, stream):
    """Return a copy that the stream makes; the array's own order does not count."""
    packed = GPUArray(array.shape, array.dtype, array.allocator, order=order)
    packed.set_async(array, stream)
    return packed


def _copy_of(array, back):
    """Return the copy that is made already of an array's elements, or None."""
    for value, packed in back:
        if has_same_elements(value, array):
            return packed
    return None
