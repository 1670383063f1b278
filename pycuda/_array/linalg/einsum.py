"""Einstein's sums: through views, products of matrices, and reductions.

NumPy chooses the order for several operands. Each step takes two: axes that only one
of them has are summed first; axes that both have and the result lacks become the sum of
a product of matrices, and axes that all three have become its batch.
"""

from __future__ import annotations

import string

import numpy as np

from pycuda._array import reductions
from pycuda._array.copies import np_reshape
from pycuda._array.layout import broadcast_to
from pycuda._array.linalg.products import require_arrays, strided
from pycuda._array.numpy_calls import into
from pycuda._array.streams import on_stream
from pycuda._driver import matmul

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


class _Term:
    """An array with a label for each axis."""

    __slots__ = ("array", "labels")

    def __init__(self, array, labels):
        self.array, self.labels = array, labels

    def lengths(self):
        return dict(zip(self.labels, self.array.shape, strict=True))


# -- subscripts ------------------------------------------------------------------------


def _from_lists(operands):
    """Return the subscripts of operands that alternate with lists of axes."""
    arrays, parts = list(operands[0:-1:2]), list(operands[1::2])
    out = operands[-1] if len(operands) % 2 else None
    known = sorted({k for part in [*parts, out or ()] for k in part if k is not ...})
    letters = dict(zip(known, _LETTERS, strict=False))
    if len(letters) < len(known):
        raise ValueError(f"einsum takes up to {len(_LETTERS)} different axes")

    def text(part):
        return "".join("..." if k is ... else letters[k] for k in part)

    subscripts = ",".join(map(text, parts))
    return (subscripts if out is None else f"{subscripts}->{text(out)}"), arrays


def _split(subscripts, count):
    """Return the parts of the operands and of the result, which may be None."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    parts = left.split(",")
    if len(parts) != count:
        raise ValueError(
            f"einsum: {subscripts!r} has {len(parts)} operands, {count} were given"
        )
    for part in (*parts, right):
        rest = part.replace("...", "", 1)
        if rest and not (rest.isalpha() and rest.isascii()):
            raise ValueError(f"einsum: {part!r} in {subscripts!r} is no list of axes")
    return parts, right if arrow else None


def _labels(part, ndim, extra):
    """Return the labels of an operand's axes; those of an ellipsis are integers."""
    if "..." not in part:
        if len(part) != ndim:
            raise ValueError(f"einsum: {part!r} names {len(part)} axes of {ndim}")
        return [*part]
    before, _, after = part.partition("...")
    hidden = ndim - len(before) - len(after)
    if hidden < 0:
        raise ValueError(f"einsum: {part!r} names more than {ndim} axes")
    return [*before, *range(extra - hidden, extra), *after]


def _result_labels(right, terms, extra):
    """Return the labels of the result."""
    counts = {}
    for term in terms:
        for label in term:
            counts[label] = counts.get(label, 0) + 1
    if right is None:
        once = sorted(k for k, n in counts.items() if isinstance(k, str) and n == 1)
        return [*range(extra), *once]
    labels = [*right]
    if "..." in right:
        before, _, after = right.partition("...")
        labels = [*before, *range(extra), *after]
    elif extra and any(isinstance(k, int) for k in counts):
        raise ValueError("einsum: the result must have '...' if an operand has it")
    for label in labels:
        if label not in counts and isinstance(label, str):
            raise ValueError(f"einsum: no operand has the axis {label!r} of the result")
        if labels.count(label) > 1:
            raise ValueError(f"einsum: the result has the axis {label!r} twice")
    return labels


def _parsed(subscripts, operands):
    """Return a list of labels for each operand and those of the result."""
    parts, right = _split(subscripts, len(operands))
    hidden = [
        a.ndim - len(part.replace("...", ""))
        for part, a in zip(parts, operands, strict=True)
        if "..." in part
    ]
    extra = max(hidden, default=0)
    terms = [
        _labels(part, a.ndim, extra) for part, a in zip(parts, operands, strict=True)
    ]
    return terms, _result_labels(right, terms, extra)


def _checked_lengths(terms, operands):
    """Return the length of every label; axes of length 1 broadcast."""
    lengths = {}
    for labels, a in zip(terms, operands, strict=True):
        for label, length in zip(labels, a.shape, strict=True):
            known = lengths.get(label, 1)
            if known != 1 and length not in (1, known):
                raise ValueError(
                    f"einsum: the axis {label!r} has lengths {known} and {length}"
                )
            lengths[label] = length if known == 1 else known
    return lengths


# -- one operand -----------------------------------------------------------------------


def _without_repeats(array, labels, lengths):
    """Return a term in which every label is there once: the diagonal of the others."""
    array = broadcast_to(
        array,
        tuple(
            lengths[k] if labels.count(k) > 1 else n
            for k, n in zip(labels, array.shape, strict=True)
        ),
    )
    kept = list(dict.fromkeys(labels))
    if len(kept) < len(labels):
        strides = dict.fromkeys(kept, 0)
        for label, stride in zip(labels, array.strides, strict=True):
            strides[label] += stride
        shape = dict(zip(labels, array.shape, strict=True))
        array = strided(
            array,
            tuple(shape[k] for k in kept),
            tuple(strides[k] for k in kept),
        )
    return _Term(array, kept)


def _summed(term, kept, dtype):
    """Return a term without the axes that nothing else has."""
    axes = tuple(i for i, k in enumerate(term.labels) if k not in kept)
    if not axes:
        return term
    labels = [k for k in term.labels if k in kept]
    if dtype.kind == "b":
        return _Term(reductions.any(term.array, axis=axes), labels)
    return _Term(reductions.sum(term.array, dtype, axis=axes), labels)


def _arranged(term, labels):
    """Return a view with the axes in the order of labels that all are there."""
    return term.array.transpose([term.labels.index(k) for k in labels])


# -- two operands ----------------------------------------------------------------------


def _multiplied(a, b, dtype):
    """Return the elementwise product of terms that share no axis to be summed."""
    labels = [*a.labels, *(k for k in b.labels if k not in a.labels)]
    views = []
    for term in (a, b):
        own = [k for k in labels if k in term.labels]
        index = tuple(slice(None) if k in own else None for k in labels)
        views.append(_arranged(term, own)[index])
    left, right = views
    if dtype.kind == "b":
        return _Term(left & right, labels)
    if left.dtype != dtype and right.dtype != dtype:
        left = left.astype(dtype)
    return _Term(left * right, labels)


def _merged(array, count, axes, length):
    """Return an array whose ``axes`` last axes are one; ``count`` are before them."""
    if axes == 1:
        return array
    return np_reshape(array, (*array.shape[:count], length))


def _contracted(a, b, kept, dtype):
    """Return the product of two terms, summed along the axes not in ``kept``."""
    a = _summed(a, {*kept, *b.labels}, dtype)
    b = _summed(b, {*kept, *a.labels}, dtype)
    shared = [k for k in a.labels if k in b.labels]
    sums = [k for k in shared if k not in kept]
    lengths_a, lengths_b = a.lengths(), b.lengths()
    for label in [k for k in sums if lengths_a[k] != lengths_b[k]]:
        # One operand has length 1 there, so the sum is over the other.
        shape = [max(lengths_a[label], lengths_b[label])]
        term, own = (a, lengths_a) if lengths_a[label] == 1 else (b, lengths_b)
        full = tuple(shape[0] if k == label else own[k] for k in term.labels)
        term.array = broadcast_to(term.array, full)
        own[label] = shape[0]
    if not sums:
        return _multiplied(a, b, dtype)
    batch = [k for k in shared if k in kept]
    free_a = [k for k in a.labels if k not in shared]
    free_b = [k for k in b.labels if k not in shared]
    length = int(np.prod([lengths_a[k] for k in sums], dtype=np.int64))
    rows = int(np.prod([lengths_a[k] for k in free_a], dtype=np.int64))
    columns = int(np.prod([lengths_b[k] for k in free_b], dtype=np.int64))
    left = _merged(
        _arranged(a, batch + free_a + sums), len(batch + free_a), len(sums), length
    )
    right = _merged(
        _arranged(b, batch + sums + free_b), len(batch + sums), len(free_b), columns
    )
    if batch:
        left = np_reshape(left, (*left.shape[: len(batch)], rows, length))
    elif not free_a:
        left = left[None]
    right = np_reshape(right, (*right.shape[: len(batch)], length, columns))
    product = matmul(left, right, dtype=dtype)
    outer = [max(lengths_a[k], lengths_b[k]) for k in batch]
    shape = (*outer, *(lengths_a[k] for k in free_a), *(lengths_b[k] for k in free_b))
    return _Term(np_reshape(product, shape), batch + free_a + free_b)


# -- the whole -------------------------------------------------------------------------


def _path(terms, labels, lengths, optimize):
    """Return NumPy's order: numbers of operands for each step."""
    if len(terms) <= 2:
        return [tuple(range(len(terms)))]
    letters = dict(zip(lengths, _LETTERS, strict=False))
    if len(letters) < len(lengths) or not optimize:
        return [(0, 1)] * (len(terms) - 1)
    text = ",".join("".join(letters[k] for k in term.labels) for term in terms)
    shapes = [
        np.broadcast_to(np.empty((), np.int8), term.array.shape) for term in terms
    ]
    text += "->" + "".join(letters[k] for k in labels)
    return np.einsum_path(text, *shapes, optimize=optimize)[0][1:]


def _contract_all(terms, labels, lengths, dtype, optimize):
    """Contract the terms pair by pair. Return the last."""
    for numbers in _path(terms, labels, lengths, optimize):
        chosen = [terms[k] for k in numbers]
        terms = [term for k, term in enumerate(terms) if k not in numbers]
        while len(chosen) > 1:
            first, second, *chosen = chosen
            others = [k for term in (*terms, *chosen) for k in term.labels]
            chosen.insert(0, _contracted(first, second, {*labels, *others}, dtype))
        terms.append(chosen[0])
    return _summed(terms[0], labels, dtype)


def einsum(subscripts, *operands, out=None, dtype=None, optimize=True, stream=None):
    """Return Einstein's sum of products of GPUArrays, as ``numpy.einsum`` defines it.

    The subscripts are a string such as ``"ij,jk->ik"`` or ``"...ij,...j"``, or lists of
    axes after each operand. A result that is a view of the operand, such as
    ``"ij->ji"``, is returned as a view. NumPy's ``einsum_path`` chooses the order of
    several operands; ``optimize`` is passed to it, False takes them from left to right.
    Products of matrices are ``matmul``'s. ValueError if subscripts and shapes do not
    fit.
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    require_arrays("einsum", *operands)
    parsed, labels = _parsed(subscripts, operands)
    lengths = _checked_lengths(parsed, operands)
    if dtype is None:
        dtype = np.result_type(*(a.dtype for a in operands))
    dtype = np.dtype(dtype)
    with on_stream(stream):
        terms = [
            _without_repeats(a, names, lengths)
            for a, names in zip(operands, parsed, strict=True)
        ]
        last = _contract_all(terms, labels, lengths, dtype, optimize)
        array = _with_all_labels(last, labels)
        if array.dtype != dtype:
            array = array.astype(dtype)
        return into(array, out)


def _with_all_labels(term, labels):
    """Return the result with its axes in order; an ellipsis may be missing in all."""
    own = [k for k in labels if k in term.labels]
    array = _arranged(term, own)
    return array[tuple(slice(None) if k in own else None for k in labels)]
