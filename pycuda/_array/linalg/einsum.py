"""Einstein's sums: through views, products of matrices, and reductions.

NumPy chooses the order for several operands. Each step takes two: axes that only one
of them has are summed first; axes that both have and the result lacks become the sum of
a product of matrices, and axes that all three have become its batch.

The subscripts, shapes and dtypes decide all steps. The plan of a call, which is a list
of steps, is kept for the next call.
"""

from __future__ import annotations

import functools
import string

import numpy as np

from pycuda._array.copies import on_stream
from pycuda._array.linalg.plans import Plan, Term
from pycuda._array.linalg.products import require_arrays
from pycuda._array.numpy_calls import into

_LETTERS = string.ascii_uppercase + string.ascii_lowercase


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
            f"einsum: {subscripts!r} has {len(parts)} operand{'s' * (len(parts) != 1)} "
            f"({count} given)"
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


def _parsed(subscripts, shapes):
    """Return a list of labels for each operand and those of the result."""
    parts, right = _split(subscripts, len(shapes))
    hidden = [
        len(shape) - len(part.replace("...", ""))
        for part, shape in zip(parts, shapes, strict=True)
        if "..." in part
    ]
    extra = max(hidden, default=0)
    terms = [
        _labels(part, len(shape), extra)
        for part, shape in zip(parts, shapes, strict=True)
    ]
    return terms, _result_labels(right, terms, extra)


def _checked_lengths(terms, shapes):
    """Return the length of every label; axes of length 1 broadcast."""
    lengths = {}
    for labels, shape in zip(terms, shapes, strict=True):
        for label, length in zip(labels, shape, strict=True):
            known = lengths.get(label, 1)
            if known != 1 and length not in (1, known):
                raise ValueError(
                    f"einsum: the axis {label!r} has lengths {known} and {length}"
                )
            lengths[label] = length if known == 1 else known
    return lengths


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
        np.broadcast_to(np.empty((), np.int8), term.shape(term.labels))
        for term in terms
    ]
    text += "->" + "".join(letters[k] for k in labels)
    return np.einsum_path(text, *shapes, optimize=optimize)[0][1:]


def _operands(plan, parsed, shapes, dtypes, lengths):
    """Return the terms of the operands, in which each label occurs once."""
    terms = []
    for number, (names, shape) in enumerate(zip(parsed, shapes, strict=True)):
        term = Term(number, range(len(shape)), shape, dtypes[number])
        term = plan.without_repeats(term, names, lengths)
        kept = list(dict.fromkeys(names))
        terms.append(Term(term.number, kept, term.lengths.values(), dtypes[number]))
    return terms


def _contracted(plan, terms, labels, path):
    """Add the products of all terms, in the order of a path. Return the last term."""
    for numbers in path:
        chosen = [terms[k] for k in numbers]
        terms = [term for k, term in enumerate(terms) if k not in numbers]
        while len(chosen) > 1:
            first, second, *chosen = chosen
            others = [k for term in (*terms, *chosen) for k in term.labels]
            chosen.insert(0, plan.contracted(first, second, {*labels, *others}))
        terms.append(chosen[0])
    return terms[0]


def _planned(subscripts, shapes, dtypes, dtype, optimize):
    """Return the plan of a call."""
    parsed, labels = _parsed(subscripts, shapes)
    lengths = _checked_lengths(parsed, shapes)
    plan = Plan(len(shapes), dtype)
    terms = _operands(plan, parsed, shapes, dtypes, lengths)
    path = _path(terms, labels, lengths, optimize)
    last = plan.summed(_contracted(plan, terms, labels, path), labels)
    own = [k for k in labels if k in last.labels]
    last = plan.arranged(last, own)
    index = tuple(slice(None) if k in own else None for k in labels)
    if None in index:  # no operand has the axes of the ellipsis
        number = plan.add_step(lambda a: a[index], last.number)
    else:
        number = last.number
    if last.dtype != dtype:
        plan.add_step(lambda a: a.astype(dtype), number)
    elif not plan.steps or number != plan.count + len(plan.steps) - 1:
        plan.add_step(lambda a: a[...], number)  # the operand itself
    return plan


_kept_plan = functools.lru_cache(maxsize=256)(_planned)


def _as_asked(operands, dtype, casting):
    """Return the operands, converted where the dtype is of a narrower kind."""
    for number, a in enumerate(operands):
        if not np.can_cast(a.dtype, dtype, casting):
            raise TypeError(
                f"einsum: operand {number} of dtype {a.dtype} cannot become {dtype} by "
                f"{casting!r} casting"
            )
    return [
        a if np.can_cast(a.dtype, dtype, "same_kind") else a.astype(dtype)
        for a in operands
    ]


def einsum(
    subscripts,
    *operands,
    out=None,
    dtype=None,
    casting="safe",
    optimize=True,
    stream=None,
):
    """Return Einstein's sum of products of arrays, as ``numpy.einsum`` defines it.

    Parameters
    ----------
    subscripts : str or GPUArray
        Subscripts such as "ij,jk->ik" or "...ij,...j". Without them a list of axes
        follows each operand.
    *operands : GPUArray
        The operands.
    out : GPUArray, optional
        Array of the result's shape to which the result goes. The default is a new
        array.
    dtype : dtype_like, optional
        Dtype in which to compute. The default is the common dtype.
    casting : str, optional
        Rule of NumPy for the conversion of operands.
    optimize : bool or str, optional
        Order of several operands, as for ``numpy.einsum_path``. False takes them from
        left to right.
    stream : Stream, optional
        Stream in which the work is enqueued. The default is the current stream.

    Returns
    -------
    GPUArray
        The result: ``out``, a new array, or a view of the operand for subscripts such
        as "ij->ji".

    Raises
    ------
    TypeError
        If the rule does not allow to compute an operand in ``dtype``.
    ValueError
        If subscripts and shapes do not fit.

    See Also
    --------
    matmul : The product of matrices.

    Notes
    -----
    The call does not wait.

    Examples
    --------
    >>> a = gpuarray.to_gpu(np.array([[1, 2], [3, 4]]))
    >>> gpuarray.einsum("ij,kj->ik", a, a)
    array([[ 5, 11],
           [11, 25]])
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists((subscripts, *operands))
    require_arrays("einsum", *operands)
    dtypes = tuple([a.dtype for a in operands])
    if dtype is not None or casting != "safe":
        dtype = np.result_type(*dtypes) if dtype is None else np.dtype(dtype)
        with on_stream(stream):
            operands = _as_asked(operands, dtype, casting)
        dtypes = tuple([a.dtype for a in operands])
    else:
        dtype = np.result_type(*dtypes)
    shapes = tuple([a.shape for a in operands])
    find = _kept_plan
    if optimize is not True and optimize is not False:
        find = _planned  # a list of steps has no hash
    plan = find(subscripts, shapes, dtypes, dtype, optimize)
    if stream is None:
        return into(plan.run(operands), out)
    with on_stream(stream):
        return into(plan.run(operands), out)
