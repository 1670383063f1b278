"""NumPy's functions of products: einsum, tensordot, norms, and their like."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pycuda import gpuarray, linalg
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import COMPLEX, DTYPES, FLOATS, whole_numbers as values

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.module_context,
    pytest.mark.filterwarnings("ignore:divide by zero"),
]
NUMBERS = [np.dtype(name) for name in ("int32", "uint8", "float32", "complex64")]


def same(got, expected):
    """Assert that an array of the device is equal to NumPy's, up to rounding."""
    assert isinstance(got, GPUArray)
    host = got.get()
    expected = np.asarray(expected)
    assert host.dtype == expected.dtype
    assert host.shape == expected.shape
    if expected.dtype.kind in "fc":
        eps = 8 * np.finfo(expected.dtype).eps
        np.testing.assert_allclose(host, expected, rtol=eps, atol=eps)
    else:
        np.testing.assert_array_equal(host, expected)


def on_both(function, *operands):
    """Compare a function of NumPy for host arrays and for arrays of the device."""
    expected = function(*operands)
    same(function(*map(to_gpu, operands)), expected)


# -- einsum ----------------------------------------------------------------------------

SUMS = [
    ("ij->ji", (3, 4)),
    ("ij", (3, 4)),
    ("ba", (3, 4)),
    ("ii->i", (4, 4)),
    ("ii", (4, 4)),
    ("iij->j", (3, 3, 2)),
    ("ij->", (3, 4)),
    ("ijk->ki", (2, 3, 4)),
    ("...ij->...ji", (2, 3, 4)),
    ("i...->...", (2, 3, 4)),
    ("i,i", (5,), (5,)),
    ("i,i->i", (5,), (5,)),
    ("i,j->ji", (3,), (4,)),
    ("ij,jk", (3, 4), (4, 5)),
    ("ij,jk->ki", (3, 4), (4, 5)),
    ("ij,kj->ik", (3, 4), (5, 4)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (6, 4, 5)),
    ("...ij,j", (2, 3, 4), (4,)),
    ("bhqd,bhkd->bhqk", (2, 3, 4, 5), (2, 3, 6, 5)),
    ("ijk,kjl->il", (2, 3, 4), (4, 3, 5)),
    ("ijkl,jmln->ikmn", (2, 3, 2, 3), (3, 4, 3, 2)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("ij,ij->i", (3, 4), (3, 4)),
    ("ij,ij->j", (3, 4), (3, 4)),
    ("ijk,ik->j", (2, 3, 4), (2, 4)),
    ("ij,kl->", (2, 3), (4, 5)),
    ("ii,ij->j", (3, 3), (3, 4)),
    ("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
    ("ij,jk,ki", (2, 3), (3, 4), (4, 2)),
    ("a,b,c->abc", (2,), (3,), (4,)),
    ("ai,bi,ci->abc", (2, 6), (3, 6), (4, 6)),
    ("ij,j,jk,k->i", (3, 4), (4,), (4, 5), (5,)),
    ("ij,jk->ik", (0, 3), (3, 2)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("ij,jk->ik", (2, 1), (3, 4)),
    (",i->i", (), (3,)),
]


@pytest.mark.parametrize("dtype", [np.dtype(bool), *NUMBERS], ids=str)
@pytest.mark.parametrize(("text", "shapes"), [(t, s) for t, *s in SUMS], ids=str)
def test_einsum(text, shapes, dtype):
    operands = [values(dtype, shape, k) for k, shape in enumerate(shapes)]
    expected = np.einsum(text, *operands)
    on_device = [to_gpu(a) for a in operands]
    same(np.einsum(text, *on_device), expected)
    same(gpuarray.einsum(text, *on_device, optimize=False), expected)


def test_einsum_of_lists():
    a, b = values("f", (3, 4)), values("f", (4, 5))
    x, y = to_gpu(a), to_gpu(b)
    same(gpuarray.einsum(x, [0, 1], y, [1, 2]), a @ b)
    same(gpuarray.einsum(x, [0, 1], y, [1, 2], [2, 0]), (a @ b).T)
    same(gpuarray.einsum(x, [..., 1], y, [1, 2], [..., 2]), a @ b)


def test_einsum_options():
    a = values("f", (3, 4))
    x = to_gpu(a)
    out = gpuarray.zeros((3, 3), np.float64)
    assert np.einsum("ij,kj->ik", x, x, out=out) is out
    same(out, (a @ a.T).astype(np.float64))
    same(np.einsum("ij,kj->ik", x, x, dtype=np.float64), (a @ a.T).astype(np.float64))
    view = gpuarray.einsum("ij->ji", x)
    view[0, 1] = 77
    assert x[1, 0].get() == 77
    path, text = np.einsum_path("ij,jk,kl->il", x, x.T, x)
    assert path[0] == "einsum_path" and "Optimized" in text
    mixed = gpuarray.einsum("ij,j->i", to_gpu(a.astype(np.int16)), to_gpu(a[0]))
    same(mixed, np.einsum("ij,j->i", a.astype(np.int16), a[0]))


@pytest.mark.parametrize(
    ("text", "shapes", "words"),
    [
        ("ij,jk->ik", [(2, 3), (4, 5)], "lengths 3 and 4"),
        ("ij->i", [(2,)], "'ij' names 2 axes of 1"),
        ("ij->k", [(2, 3)], "no operand has the axis 'k'"),
        ("ij->ii", [(2, 3)], "twice"),
        ("ij", [(2, 3), (2, 3)], r"1 operand \(2 given\)"),
        ("ij,ij", [(2, 3)], r"2 operands \(1 given\)"),
        ("i1->i", [(2, 3)], "no list of axes"),
        ("...->", [(2, 3)], "must have"),
    ],
)
def test_wrong_subscripts(text, shapes, words):
    with pytest.raises(ValueError, match=words):
        gpuarray.einsum(text, *(gpuarray.zeros(shape) for shape in shapes))


@settings(max_examples=60)
@given(data=st.data())
def test_any_subscripts(data):
    lengths = {k: data.draw(st.integers(1, 4), k) for k in "abcd"}
    count = data.draw(st.integers(1, 3))
    parts = [data.draw(st.text("abcd", max_size=3)) for _ in range(count)]
    used = sorted({*"".join(parts)})
    result = data.draw(st.lists(st.sampled_from(used), unique=True)) if used else []
    text = f"{','.join(parts)}->{''.join(result)}"
    hosts = [
        values("int64", tuple(lengths[k] for k in part), n)
        for n, part in enumerate(parts)
    ]
    same(gpuarray.einsum(text, *map(to_gpu, hosts)), np.einsum(text, *hosts))


# -- products --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
def test_tensordot(dtype):
    a, b = values(dtype, (2, 3, 4), 1), values(dtype, (4, 3, 5), 2)
    for axes in (1, ([1, 2], [1, 0]), ([2], [0]), (1, 1), ((-1, -2), (0, 1)), 0):
        on_both(lambda x, y, axes=axes: np.tensordot(x, y, axes), a, b)
    on_both(lambda x, y: np.tensordot(x, y, 0), a[0, :0], b[0])
    with pytest.raises(ValueError, match="differ along"):
        np.tensordot(to_gpu(a), to_gpu(b), 2)


PAIRS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((2, 4, 3), (3,)),
    ((2, 4, 3), (3, 5)),
    ((2, 4, 3), (6, 3, 5)),
    ((3,), (6, 3, 5)),
    ((), (2, 3)),
]


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_dot(dtype, shapes):
    a, b = (values(dtype, shape, k) for k, shape in enumerate(shapes))
    on_both(np.dot, a, b)
    same(to_gpu(a).dot(to_gpu(b)), np.dot(a, b))
    if b.ndim > 1:
        on_both(np.inner, a, np.ascontiguousarray(b.swapaxes(-1, -2)))


@pytest.mark.parametrize("name", ["dot", "inner", "kron"])
def test_an_array_of_the_host_is_refused_by_the_name_of_the_function(name):
    function, x = getattr(np, name), to_gpu(np.ones(3))
    for pair in ((x, x.get()), (x.get(), x)):
        with pytest.raises(TypeError, match=f"^{name} takes GPUArrays, not ndarray; "):
            function(*pair)
    assert function(x, np.float64(2)).get().tolist() == [2, 2, 2]
    assert function(x, np.array(2.0)).get().tolist() == [2, 2, 2]


def test_dot_of_numbers():
    a = values("f", (2, 3))
    same(np.dot(to_gpu(a), np.float32(3)), a * 3)
    same(np.inner(np.float32(2), to_gpu(a)), a * 2)
    out = gpuarray.zeros((2, 2), np.float32)
    assert np.dot(to_gpu(a), to_gpu(a.T.copy()), out=out) is out
    same(out, a @ a.T)
    # The function of PyCUDA is flat, whatever the shapes.
    same(gpuarray.dot(to_gpu(a), to_gpu(a)), (a * a).sum())


@pytest.mark.parametrize("dtype", [*NUMBERS, *FLOATS[1:], *COMPLEX], ids=str)
def test_vecdot(dtype):
    a, b = values(dtype, (4, 1, 3), 1), values(dtype, (5, 3), 2)
    expected = (a.conj() * b).sum(-1, dtype=dtype)
    same(gpuarray.vecdot(to_gpu(a), to_gpu(b)), expected)
    same(np.vecdot(to_gpu(a), to_gpu(b)), expected)
    moved = np.moveaxis(a, -1, 0).copy(), b.T.copy()
    same(
        gpuarray.vecdot(*map(to_gpu, (moved[0][:, 0], moved[1][:, :4])), axis=0),
        (moved[0][:, 0].conj() * moved[1][:, :4]).sum(0, dtype=dtype),
    )
    on_both(np.vdot, values(dtype, (2, 3)), values(dtype, (3, 2), 1))


def test_vecdot_of_bool():
    a, b = values(bool, (4, 3), 1), values(bool, (4, 3), 2)
    same(gpuarray.vecdot(to_gpu(a), to_gpu(b)), (a & b).any(-1))
    with pytest.raises(ValueError, match="differ along axis"):
        gpuarray.vecdot(to_gpu(a), to_gpu(b[:, :2].copy()))


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="NumPy has matvec since 2.2")
def test_matvec():
    a, v = values("F", (2, 3, 4), 1), values("F", (2, 4), 2)
    w = values("F", (2, 3), 3)
    on_both(np.matvec, a, v)
    on_both(np.vecmat, w, a)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_outer_and_kron(dtype):
    a, b = values(dtype, (2, 3), 1), values(dtype, (4,), 2)
    if dtype.kind != "b":  # which is counted on the device: see the arithmetic of bool
        on_both(np.outer, a, b)
        on_both(np.kron, a, b)
        on_both(np.kron, a, values(dtype, (3, 2), 3))
        on_both(np.kron, b, values(dtype, (2, 1, 3), 3))


@pytest.mark.parametrize("dtype", ["int32", "float32", "complex128"])
def test_cross(dtype):
    a, b = values(dtype, (4, 3), 1), values(dtype, (5, 1, 3), 2)
    on_both(np.cross, a, b)
    on_both(lambda x, y: np.cross(x, y, axis=0), a[:3], a[1:])
    on_both(lambda x, y: np.cross(x, y, axisc=0), a, a[::-1].copy())
    with pytest.raises(ValueError, match="2 or 3"):
        gpuarray.cross(gpuarray.zeros(4), gpuarray.zeros(4))


@pytest.mark.parametrize("dtype", [t for t in DTYPES if t.kind != "b"], ids=str)
@pytest.mark.parametrize("count", [0, 1, 16, 301])
def test_cross_of_packed_vectors(dtype, count):
    a, b = values(dtype, (count, 3), 1), values(dtype, (count + 1, 3), 2)
    on_both(np.cross, a, b[1:].copy())
    device = gpuarray.cross(to_gpu(a), to_gpu(b)[1:])  # not at a multiple of 16 bytes
    same(device, np.cross(a, b[1:]))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_diagonals(dtype):
    a = values(dtype, (3, 4, 5))
    x = to_gpu(a)
    for offset in (-5, -2, 0, 1, 3, 9):
        for axes in ((0, 1), (1, 0), (2, 0), (-1, -2)):
            same(np.diagonal(x, offset, *axes), np.diagonal(a, offset, *axes))
            same(x.diagonal(offset, *axes), a.diagonal(offset, *axes))
            same(np.trace(x, offset, *axes), np.trace(a, offset, *axes))
    x.diagonal()[...] = 1
    assert (x.get()[1, 1] == 1).all()
    same(linalg.trace(x), x.get().trace())
    with pytest.raises(ValueError, match="two axes"):
        x[0, 0].diagonal()
    with pytest.raises(ValueError, match="same axis"):
        x.diagonal(0, 1, -2)


def test_chains():
    a = [values("d", shape) for shape in ((2, 6), (6, 3), (3, 5), (5, 2))]
    x = [to_gpu(each) for each in a]
    same(np.linalg.multi_dot(x), np.linalg.multi_dot(a))
    same(
        linalg.multi_dot([x[0][0], *x[1:3], x[3][:, 0]]),
        a[0][0] @ a[1] @ a[2] @ a[3][:, 0],
    )
    same(linalg.matrix_transpose(x[0]), a[0].T)


# -- norms -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int16", "float32", "float64", "complex64"])
def test_norms(dtype):
    a = values(dtype, (3, 4, 5)) + 1
    a = a.astype(dtype)
    norm = np.linalg.norm
    on_both(norm, a)
    for order in (None, 1, 2, 3, 0.5, 0, np.inf, -np.inf, -1):
        for keep in (False, True):
            on_both(lambda x, o=order, k=keep: norm(x, o, 1, k), a)
        on_both(lambda x, o=order: norm(x, o), a[0, 0].copy())
    for order in (None, "fro", 1, -1, np.inf, -np.inf):
        for axes in ((0, 1), (2, 0), (-2, -1)):
            for keep in (False, True):
                on_both(lambda x, o=order, a=axes, k=keep: norm(x, o, a, k), a)
    same(linalg.vector_norm(to_gpu(a), axis=(0, 2)), norm_over(a, (0, 2)))
    same(linalg.matrix_norm(to_gpu(a)), norm(a, "fro", (1, 2)))
    same(linalg.matrix_norm(to_gpu(a), ord=1), norm(a, 1, (1, 2)))


def norm_over(a, axes):
    """Return the root of the sum of squares along several axes."""
    wide = a.astype(np.float64) if a.dtype.kind in "iu" else a
    return np.sqrt((abs(wide) ** 2).sum(axes))


def test_wrong_norms():
    x = gpuarray.zeros((2, 3, 4))
    for arguments, words in (
        ((1,), "axes|axis"),
        (("nonsense", (0, 1)), "nonsense"),
        (("fro", 0), "vectors"),
        ((None, (0, 0)), "twice"),
        ((None, 5), "axis 5"),
    ):
        with pytest.raises(ValueError, match=words):
            linalg.norm(x, *arguments)
    with pytest.raises(ValueError, match="two axes"):
        linalg.matrix_norm(x[0, 0])
    with pytest.raises(TypeError, match="to_gpu"):
        linalg.norm(np.zeros(3))
