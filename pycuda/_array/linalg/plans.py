"""Plans of products along axes: the steps of einsum and tensordot.

A plan depends on shapes and dtypes only, so it serves every call that has the same.
"""

from __future__ import annotations

import numpy as np

from pycuda._array.copies import np_reshape
from pycuda._array.layout import broadcast_to
from pycuda._driver import (
    GPUArray,
    _any,
    _plain_array,
    _sum,
    matmul,
)


def strided(a, shape, strides):
    """Return a view of ``a``, from its first element, with another shape."""
    base, a = a, _plain_array(a)
    if 0 in shape or a.gpudata is None:
        return GPUArray(shape, a.dtype, a.allocator)
    view = GPUArray(
        shape, a.dtype, a.allocator, base=base, gpudata=a.gpudata, strides=strides
    )
    view._counts_as = a._counts_as
    return view


class Term:
    """An array in a plan: its number, and a label and a length for each axis."""

    __slots__ = ("dtype", "labels", "lengths", "number")

    def __init__(self, number, labels, lengths, dtype):
        self.number, self.labels, self.dtype = number, list(labels), dtype
        self.lengths = dict(zip(labels, lengths, strict=True))

    def shape(self, labels):
        return tuple(self.lengths[k] for k in labels)


class Plan:
    """Steps that compute arrays from earlier ones. The first are the operands."""

    def __init__(self, count, dtype):
        self.steps = []  # (function, numbers of its arrays)
        self.count = count
        self.dtype = dtype

    def add_step(self, function, *numbers):
        """Add a step that gets the arrays of these numbers. Return the result's."""
        self.steps.append((function, numbers))
        return self.count + len(self.steps) - 1

    def add(self, function, *terms, labels, lengths, dtype=None):
        """Add a step. Return the term that it makes."""
        number = self.add_step(function, *(term.number for term in terms))
        return Term(number, labels, lengths, dtype or terms[0].dtype)

    def run(self, operands):
        """Return the last array."""
        arrays = list(operands)
        for function, numbers in self.steps:
            arrays.append(function(*[arrays[k] for k in numbers]))
        return arrays[-1]

    # Each of the following adds a step if there is something to do.

    def arranged(self, term, labels):
        """Add a view with the axes in the order of labels that all are there."""
        if labels == term.labels:
            return term
        order = [term.labels.index(k) for k in labels]
        return self.add(
            lambda a: a.transpose(order),
            *(term,),
            labels=labels,
            lengths=term.shape(labels),
        )

    def repeated(self, term, lengths):
        """Add a view in which axes of length 1 have the lengths of a dict."""
        shape = tuple(lengths.get(k, n) for k, n in term.lengths.items())
        if shape == term.shape(term.labels):
            return term
        return self.add(
            lambda a: broadcast_to(a, shape), term, labels=term.labels, lengths=shape
        )

    def summed(self, term, kept):
        """Add the sum along the axes that nothing else has."""
        axes = tuple(i for i, k in enumerate(term.labels) if k not in kept)
        if not axes:
            return term
        labels = [k for k in term.labels if k in kept]
        dtype = self.dtype
        if dtype.kind == "b":
            function = lambda a: _any(a, axis=axes)  # noqa: E731
        else:
            function = lambda a: _sum(a, dtype, axis=axes)  # noqa: E731
        lengths = term.shape(labels)
        return self.add(function, term, labels=labels, lengths=lengths, dtype=dtype)

    def reshaped(self, term, shape):
        """Add the array with another shape, for a step that needs no labels."""
        if shape == term.shape(term.labels):
            return term
        return self.add(
            lambda a: np_reshape(a, shape),
            *(term,),
            labels=range(len(shape)),
            lengths=shape,
        )

    def multiplied(self, a, b):
        """Add the elementwise product of terms that share no axis to be summed."""
        labels = [*a.labels, *(k for k in b.labels if k not in a.labels)]
        indices, views = [], []
        for term in (a, b):
            own = [k for k in labels if k in term.labels]
            views.append(self.arranged(term, own))
            indices.append(tuple(slice(None) if k in own else None for k in labels))
        one, two = indices
        dtype, is_bool = self.dtype, self.dtype.kind == "b"
        converts = a.dtype != dtype and b.dtype != dtype

        def multiply(left, right):
            left, right = left[one], right[two]
            if is_bool:
                return left & right
            if converts:
                left = left.astype(dtype)
            return left * right

        lengths = [max(a.lengths.get(k, 1), b.lengths.get(k, 1)) for k in labels]
        lengths = [
            0 if 0 in (a.lengths.get(k, 1), b.lengths.get(k, 1)) else n
            for k, n in zip(labels, lengths, strict=True)
        ]
        return self.add(multiply, *views, labels=labels, lengths=lengths, dtype=dtype)

    def contracted(self, a, b, kept):
        """Add the product of two terms, summed along the axes not in ``kept``."""
        a = self.summed(a, {*kept, *b.labels})
        b = self.summed(b, {*kept, *a.labels})
        shared = [k for k in a.labels if k in b.labels]
        sums = [k for k in shared if k not in kept]
        if not sums:
            return self.multiplied(a, b)
        # Where one operand has length 1, the sum is over the other.
        full = {k: a.lengths[k] if b.lengths[k] == 1 else b.lengths[k] for k in shared}
        sum_lengths = {k: full[k] for k in sums}
        a, b = self.repeated(a, sum_lengths), self.repeated(b, sum_lengths)
        batch = {k: full[k] for k in shared if k in kept}
        return self.product(a, b, batch, sums)

    def product(self, a, b, batch, sums):
        """Add the matrix product of two terms, summed along the axes ``sums``.

        ``batch`` has the labels of the other axes that both have, and their lengths.
        """
        shared = {*batch, *sums}
        free_a = [k for k in a.labels if k not in shared]
        free_b = [k for k in b.labels if k not in shared]
        length, columns = count(a.shape(sums)), count(b.shape(free_b))
        rows = (count(a.shape(free_a)),) if batch or not free_a else a.shape(free_a)
        left = self.arranged(a, [*batch, *free_a, *sums])
        right = self.arranged(b, [*batch, *sums, *free_b])
        left = self.reshaped(left, (*a.shape(batch), *rows, length))
        right = self.reshaped(right, (*b.shape(batch), length, columns))
        dtype = self.dtype
        made = (*batch.values(), *rows, columns)
        product = self.add(
            lambda x, y: matmul(x, y, None, dtype),
            *(left, right),
            labels=range(len(made)),
            lengths=made,
            dtype=dtype,
        )
        lengths = (*batch.values(), *a.shape(free_a), *b.shape(free_b))
        product = self.reshaped(product, lengths)
        return Term(product.number, [*batch, *free_a, *free_b], lengths, dtype)

    def without_repeats(self, term, labels, lengths):
        """Add the diagonal of axes that have the same label."""
        twice = [k for k in labels if labels.count(k) > 1]
        kept = list(dict.fromkeys(labels))
        if not twice:
            return term
        shape = tuple(
            lengths[k] if k in twice else n
            for k, n in zip(labels, term.lengths.values(), strict=True)
        )
        final = dict(zip(labels, shape, strict=True))

        def diagonal(a):
            a = broadcast_to(a, shape)
            strides = dict.fromkeys(kept, 0)
            for label, stride in zip(labels, a.strides, strict=True):
                strides[label] += stride
            return strided(a, tuple(final.values()), tuple(strides.values()))

        return self.add(diagonal, term, labels=kept, lengths=final.values())


def count(lengths):
    return int(np.prod(lengths, dtype=np.int64))
