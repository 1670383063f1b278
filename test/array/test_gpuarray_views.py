"""Views of a GPUArray: indexing, assignment, reshape, transpose, another dtype."""

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda._array.sources import moving
from pycuda.gpuarray import GPUArray, to_gpu
from support.arrays import DTYPES, same, sample

pytestmark = pytest.mark.gpu

HOST = np.arange(120, dtype=np.float32).reshape(4, 5, 6)

INDICES = [
    0,
    -1,
    np.int64(2),
    np.uint8(1),
    slice(None),
    slice(1, 3),
    slice(3, 1),
    slice(None, None, -1),
    slice(None, None, 2),
    slice(-2, None),
    slice(10, 20),
    slice(None, None, -3),
    Ellipsis,
    None,
    (),
    (0, 0, 0),
    (-1, -1, -1),
    (slice(1, 3), 2),
    (Ellipsis, 2),
    (Ellipsis, slice(None, None, -2)),
    (1, Ellipsis, 3),
    (None, 1, None, slice(2, 4)),
    (slice(None), slice(4, 0, -2), slice(None, None, 5)),
    (Ellipsis, None),
    (slice(0, 0), 1),
    (0, slice(None), slice(2, 2)),
]


@pytest.mark.parametrize("index", INDICES, ids=repr)
@pytest.mark.parametrize("order", ["C", "F"])
def test_basic_indexing(ctx, index, order):
    host = np.array(HOST, order=order)
    array = to_gpu(host)
    view = array[index]
    same(view, host[index])
    assert view.base is array
    if view.ndim and view.size:
        assert view.strides == host[index].strides or 1 in view.shape
        assert type(view.gpudata) is int
        offset = host[index].__array_interface__["data"][0] - host.ctypes.data
        assert view.ptr == array.ptr + offset


@pytest.mark.parametrize("index", INDICES, ids=repr)
def test_assignment_to_basic_indices(ctx, index):
    host = HOST.copy()
    array = to_gpu(host)
    host[index] = -1
    array[index] = -1
    same(array, host)
    values = np.arange(host[index].size, dtype=np.float32).reshape(host[index].shape)
    host[index] = values
    array[index] = values
    same(array, host)
    host[index] = values[::-1] if values.ndim else values
    array[index] = to_gpu(values)[::-1] if values.ndim else to_gpu(values)
    same(array, host)


def test_views_of_views(ctx):
    array = to_gpu(HOST)
    same(array[1:][:, ::2][..., 1:5][::-1, 1], HOST[1:][:, ::2][..., 1:5][::-1, 1])
    same(array.T[2:4][:, ::-1], HOST.T[2:4][:, ::-1])


@pytest.mark.parametrize(
    "index, text",
    [
        (4, "index 4 is out of bounds for axis 0 of length 4"),
        (-5, "index -5 is out of bounds"),
        ((0, 9), "axis 1"),
        ((0, 0, 0, 0), "too many indices"),
        ((Ellipsis, Ellipsis), "one Ellipsis"),
        ("x", "has no fields"),
        (1.5, "integer or boolean"),
        (1 << 80, "cannot fit|out of bounds"),
    ],
    ids=repr,
)
def test_wrong_indices(ctx, index, text):
    with pytest.raises(IndexError, match=text):
        to_gpu(HOST)[index]


def test_iteration_and_length(ctx):
    array = to_gpu(HOST)
    assert len(array) == 4
    assert [row.shape for row in array] == [(5, 6)] * 4
    first, *rest = array
    same(first, HOST[0])
    assert np.iterable(array) and not np.iterable(array[0, 0, 0])
    for function in (iter, list, len):
        with pytest.raises(TypeError, match="without axes"):
            function(array[0, 0, 0])


def test_elements_cannot_be_deleted(ctx):
    with pytest.raises(TypeError):
        del to_gpu(HOST)[0]


def test_broadcast_in_assignment(ctx):
    array, host = to_gpu(HOST), HOST.copy()
    row = np.arange(6, dtype=np.float64)
    array[1:3] = to_gpu(row)
    host[1:3] = row
    same(array, host)
    array[:, 0] = [[1, 2, 3, 4, 5, 6]]
    host[:, 0] = [[1, 2, 3, 4, 5, 6]]
    same(array, host)
    with pytest.raises(ValueError, match=r"\(4,\).*\(4, 5, 6\)"):
        array[...] = to_gpu(np.ones(4, np.float32))


@pytest.mark.parametrize("make", [to_gpu, np.copy])
def test_values_with_more_axes(ctx, make):
    """An assignment ignores leading axes of length 1."""
    array, host = to_gpu(HOST), HOST.copy()
    row = np.arange(6, dtype=np.float32).reshape(1, 1, 1, 6)
    for value in (row, row.astype(np.int8), row[..., ::-2], row[..., :1]):
        index = np.s_[1, :, : 6 if value.shape[-1] == 1 else value.shape[-1]]
        array[index] = make(value)
        host[index] = value
        same(array, host)
    array[2, 3, 4] = make(np.full((1, 1), 7.0))
    host[2, 3, 4] = 7
    same(array, host)
    for wrong in (np.ones((2, 6)), np.ones((1, 5)), np.ones((1, 6, 1))):
        with pytest.raises(ValueError, match="broadcast"):
            array[0, 0] = make(wrong)


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8"])
def test_floats_that_are_no_integers(ctx, dtype):
    x = gpuarray.zeros(3, dtype)
    with pytest.raises(ValueError, match="NaN"):
        x[0] = float("nan")
    with pytest.raises(ValueError, match="NaN"):
        x.fill(np.float32("nan"))
    for value in (np.inf, -np.inf, np.float32(1e30), -1e19, 2.0**64):
        with pytest.raises(OverflowError, match="range"):
            x[0] = value
    same(x, np.zeros(3, dtype))
    x[:] = 100.75
    same(x, np.full(3, 100, dtype))
    x[:] = -0.5
    same(x, np.zeros(3, dtype))


def test_overlapping_assignment(ctx):
    array, host = to_gpu(np.arange(10)), np.arange(10)
    array[1:] = array[:-1]
    host[1:] = host[:-1].copy()
    same(array, host)
    array += array[::-1]
    same(array, host + host[::-1])


# -- shapes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, shape",
    [
        ((120,), (120,)),
        (((6, 20),), (6, 20)),
        (([2, 3, -1],), (2, 3, 20)),
        ((-1,), (120,)),
        ((4, 5, 6), (4, 5, 6)),
        ((1, 120, 1), (1, 120, 1)),
        ((np.array([8, 15]),), (8, 15)),
        ((np.int32(120),), (120,)),
    ],
)
def test_reshape(ctx, args, shape):
    array = to_gpu(HOST)
    result = array.reshape(*args)
    assert result.shape == shape
    same(result, HOST.reshape(shape))
    assert result.ptr == array.ptr


def test_reshape_to_the_same_shape_is_the_array(ctx):
    array = to_gpu(HOST)
    assert array.reshape(4, 5, 6) is array


@pytest.mark.parametrize(
    "args", [(7,), ((-1, -1),), (7, -1), (0, -1), ((1 << 40, 1 << 40),)]
)
def test_impossible_shapes(ctx, args):
    with pytest.raises(ValueError):
        to_gpu(HOST).reshape(*args)


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize("stored", ["C", "F"])
def test_orders_of_reshape(ctx, order, stored):
    host = np.asarray(HOST, order=stored)
    if order == "A" or order == stored:  # the order of the memory, so nothing moves
        same(
            to_gpu(host).reshape((10, 12), order=order),
            host.reshape(10, 12, order=order),
        )
    with pytest.raises(TypeError, match="the keyword order, not 'ordre'"):
        to_gpu(host).reshape((10, 12), ordre=order)


@pytest.mark.parametrize("shape", [(2**40, 2**40), (2**31, 2**31, 2), (0, 2**62, 4)])
def test_shapes_that_are_too_big(ctx, shape):
    with pytest.raises(ValueError, match="too big"):
        gpuarray.empty(shape, np.float32)


def test_more_axes_than_there_are(ctx):
    most = 64
    array = to_gpu(HOST)
    assert array[(None,) * (most - 3)].ndim == most
    for more in ((None,) * (most - 2), (None,) * (most + 1)):
        with pytest.raises(IndexError, match="more than 64 axes"):
            array[more]
    assert array.reshape((1,) * (most - 1) + (-1,)).ndim == most
    with pytest.raises(ValueError, match="at most 64 axes"):
        array.reshape((1,) * most + (-1,))


def test_reshape_of_packed_memory_follows_the_memory(ctx):
    host = np.array(HOST, order="F")
    array = to_gpu(host)
    same(array.ravel(), host.ravel(order="F"))
    same(array.reshape(6, 20, order="F"), host.reshape(6, 20, order="F"))
    assert array.reshape(6, 20, order="F").flags.f_contiguous


@pytest.mark.parametrize("shape", [(120,), (20, 6), (2, 2, 5, 6), (4, 30)])
@pytest.mark.parametrize(
    "index", [np.s_[:], np.s_[:, ::-1], np.s_[::-1, :, ::-1]], ids=repr
)
def test_reshape_of_gaps_follows_the_indices(ctx, shape, index):
    wide = np.arange(4 * 10 * 6, dtype=np.int32).reshape(4, 10, 6)
    same(to_gpu(wide)[:, ::2][index].reshape(shape), wide[:, ::2][index].reshape(shape))


def test_reshape_of_gaps_copies_only_if_it_must(ctx):
    array = to_gpu(HOST)[:, :, ::2]
    assert array.reshape(20, 3).ptr == array.ptr
    assert array[:, ::2].reshape(-1).ptr != array.ptr


def test_reshape_of_gaps_ignores_strides_of_axes_of_one(ctx):
    array = to_gpu(HOST).transpose(1, 0, 2)
    even = array[:, :1, ::2]  # an axis of length 1 whose stride fits neither side
    flat = even.reshape(15)
    assert flat.ptr == array.ptr
    same(flat, HOST.transpose(1, 0, 2)[:, :1, ::2].reshape(15))
    flat.fill(0)
    assert not even.get().any()
    assert array[:, :2, ::2].reshape(30).ptr != array.ptr  # with length 2 it counts


def test_flags_are_those_of_the_present_layout(ctx):
    array = GPUArray((4, 6), np.float32)
    before = array.flags
    assert before.c_contiguous and not before.f_contiguous
    array.strides = (4, 16)
    assert array.flags.f_contiguous and not array.flags.c_contiguous
    array.shape = (24,)
    array.strides = (8,)
    assert not array.flags.forc
    assert before.c_contiguous  # of then


def test_copies_of_broadcast_arrays_have_their_order(ctx):
    """An axis of stride 0 keeps its position."""
    array = to_gpu(HOST[0])
    for wide in (
        np.broadcast_to(array, (3, 5, 6)),
        np.broadcast_to(array[:, :1], (5, 6)),
    ):
        assert 0 in wide.strides
        copy = wide.copy()
        assert copy.flags.c_contiguous
        same(copy, np.ascontiguousarray(wide.get()))


LAYOUTS = [  # shape, strides in elements, whether elements share memory
    ((3, 6), (0, 1), True),
    ((6, 3), (1, 0), True),
    ((1, 6), (0, 1), False),
    ((9, 3), (1, 1), True),  # windows
    ((9, 3), (2, 1), True),
    ((9, 3), (3, 1), False),
    ((9, 3), (4, 1), False),
    ((3, 3), (2, 3), False),  # 0 2 4, 3 5 7, 6 8 10
    ((4, 3), (2, 3), True),  # 3 * 2 == 2 * 3
    ((2, 2, 4), (8, 0, 1), True),
    ((2, 3, 4), (24, 8, 2), False),
]


@pytest.mark.parametrize("shape, strides, shares", LAYOUTS)
def test_writing_to_elements_that_share_memory(ctx, shape, strides, shares):
    """It would depend on the order of threads."""
    memory = to_gpu(np.arange(64.0))
    array = GPUArray(
        shape,
        np.float64,
        base=memory,
        gpudata=memory.gpudata,
        strides=tuple(8 * each for each in strides),
    )
    other = to_gpu(np.arange(64.0)[: array.size].reshape(shape))

    def add():
        np.add(array, other, out=array)

    def multiply():
        nonlocal array
        array *= 2

    def assign():
        array[...] = other

    def assign_host():
        array[...] = other.get()

    for write in (add, multiply, assign, assign_host):
        if shares:
            with pytest.raises(ValueError, match="share memory"):
                write()
            same(memory, np.arange(64.0))
        else:
            write()
    if not shares:
        same(array, other.get())
    array[...] = 3  # one value
    same(array, np.full(shape, 3.0))


def test_squeeze(ctx):
    array = to_gpu(HOST.reshape(1, 4, 1, 30))
    assert array.squeeze().shape == (4, 30)
    same(array.squeeze(), HOST.reshape(4, 30))


@pytest.mark.parametrize(
    "axes", [None, (0, 1, 2), (2, 0, 1), [1, 2, 0], (-1, 0, 1), (0, -1, 1)]
)
def test_transpose(ctx, axes):
    array = to_gpu(HOST)
    same(array.transpose(axes), HOST.transpose(axes))
    same(gpuarray.transpose(array, axes), HOST.transpose(axes))
    if axes is not None:
        same(array.transpose(np.array(axes)), HOST.transpose(axes))
        same(array.transpose(*axes), HOST.transpose(axes))


def test_transposing_shares_the_memory(ctx):
    array = to_gpu(HOST)
    assert array.T.gpudata is array.gpudata
    assert array.T.base is array
    assert array.T.T.base is array
    assert array.T.flags.f_contiguous


@pytest.mark.parametrize("axes", [(0, 1), (0, 1, 1), (0, 1, 3), (0, 1, -4)])
def test_wrong_axes(ctx, axes):
    with pytest.raises(ValueError):
        to_gpu(HOST).transpose(axes)


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.float64, np.complex128])
def test_view_as_another_dtype(ctx, dtype):
    host = np.arange(32, dtype=np.float32).reshape(4, 8)
    same(to_gpu(host).view(dtype), host.view(dtype))
    transposed = to_gpu(host).T.view(dtype)
    same(transposed, host.view(dtype).T)


@pytest.mark.parametrize("keywords", [{"axis": (0, 1, 2)}, {"axes": (0,), "more": 1}])
def test_wrong_keywords_of_transpose(ctx, keywords):
    with pytest.raises(TypeError, match="the axes, or the keyword axes"):
        to_gpu(HOST).transpose(**keywords)
    with pytest.raises(TypeError, match="the axes, or the keyword axes"):
        to_gpu(HOST).transpose(0, 1, 2, axes=(0, 1, 2))


@pytest.mark.parametrize("shape", [(1, 4, 1), (4, 1), (1, 1), (3, 1, 4)])
def test_view_with_axes_of_one(ctx, shape):
    host = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    ours = to_gpu(host).view(np.int16)
    assert ours.size == 2 * host.size
    assert ours.get().tobytes() == host.tobytes()


@pytest.mark.parametrize("dtype", [object, "S0", "V0"])
def test_view_as_what_a_device_has_not(ctx, dtype):
    with pytest.raises(TypeError, match="cannot be viewed as dtype"):
        to_gpu(HOST).view(dtype)


@pytest.mark.parametrize("kind", [np.recarray, np.ma.MaskedArray])
def test_view_as_a_class_of_numpy(ctx, kind):
    text = rf"view takes a dtype, and {kind.__name__} is a class of NumPy: .* get\(\)"
    with pytest.raises(TypeError, match=text):
        to_gpu(HOST).view(kind)


def test_view_that_does_not_fit(ctx):
    with pytest.raises(ValueError, match="float64"):
        to_gpu(np.zeros((4, 3), np.float32)).view(np.float64)
    with pytest.raises(ValueError):
        to_gpu(np.zeros((4, 4), np.float32))[:, ::2].view(np.float64)
    scalar = to_gpu(np.float32(1))
    assert scalar.view(np.int32).get() == 0x3F800000


# -- joining ---------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_concatenate(ctx, axis):
    arrays = [HOST, HOST[::-1], HOST[:, ::-1]]
    got = gpuarray.concatenate(
        [to_gpu(HOST), to_gpu(HOST)[::-1], to_gpu(HOST)[:, ::-1]], axis
    )
    same(got, np.concatenate(arrays, axis))
    assert got.flags.c_contiguous


def test_concatenate_of_what_does_not_fit(ctx):
    with pytest.raises(ValueError, match=r"\(4, 5, 6\).*\(4, 5\)"):
        gpuarray.concatenate([to_gpu(HOST), to_gpu(HOST)[..., 0]])
    with pytest.raises(ValueError):
        gpuarray.concatenate([])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_stack(ctx, axis):
    flat = HOST[0]
    got = gpuarray.stack([to_gpu(flat), to_gpu(flat) + 1], axis)
    same(got, np.stack([flat, flat + 1], axis))
    assert got.flags.c_contiguous if axis == 0 else got.flags.f_contiguous


# -- creation --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_zeros_ones_full(ctx, dtype, order):
    for ours, theirs in ((gpuarray.zeros, np.zeros), (gpuarray.ones, np.ones)):
        got = ours((2, 3), dtype, order=order)
        same(got, theirs((2, 3), dtype))
        assert got.flags.f_contiguous == (order == "F")
    same(gpuarray.full((2, 3), 1, dtype), np.ones((2, 3), dtype))
    assert gpuarray.zeros(3).dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_like(ctx, order):
    bases = [HOST, np.array(HOST, order="F"), HOST.transpose(1, 0, 2)]
    for base in bases:
        like = gpuarray.empty_like(to_gpu(base), order=order)
        assert like.strides == np.empty_like(base, order=order).strides
        assert gpuarray.zeros_like(to_gpu(base), np.int8, order).dtype == np.int8
    same(gpuarray.ones_like(to_gpu(HOST)), np.ones_like(HOST))
    same(gpuarray.zeros_like(to_gpu(HOST)[:, ::2]), np.zeros_like(HOST[:, ::2]))


def test_arange(ctx):
    same(gpuarray.arange(12, dtype=np.float32), np.arange(12, dtype=np.float32))
    same(gpuarray.arange(3, 30, 4, np.dtype(np.int32)), np.arange(3, 30, 4, np.int32))
    same(gpuarray.arange(5, 0, -2, dtype=np.int8), np.arange(5, 0, -2, np.int8))
    for name in ("u1", "u2", "u4", "u8"):
        dtype = np.dtype(name)
        for numbers in ((5, 0, -1), (250, -1, -50), (7, 0, -2.0), (7, 0, np.int64(-3))):
            same(gpuarray.arange(*numbers, dtype), np.arange(*numbers, dtype))
    with pytest.raises(OverflowError):
        gpuarray.arange(-2, 5, dtype=np.uint8)
    same(gpuarray.arange(5, 5, dtype=np.int8), np.arange(5, 5, dtype=np.int8))
    same(
        gpuarray.arange(0, 1, 0.25, dtype=np.complex64),
        np.arange(0, 1, 0.25, dtype=np.complex64),
    )
    with pytest.warns(UserWarning, match="dtype"):
        assert gpuarray.arange(3).dtype == np.int64


@pytest.mark.parametrize(
    ("args", "kwargs", "wanted"),
    [
        ((0, 10), {"step": 2}, (0, 10, 2)),
        ((4,), {"start": 1}, (1, 4, 1)),
        ((), {"stop": 4}, (0, 4, 1)),
        ((), {"start": 2, "stop": 9, "step": 3}, (2, 9, 3)),
        ((10,), {"step": 3}, (0, 10, 3)),
        ((10,), {"start": 1, "step": 4}, (1, 10, 4)),
        ((1, 3), {"step": None}, (1, 3, 1)),
    ],
)
def test_arange_by_keyword(ctx, args, kwargs, wanted):
    expected = np.arange(*wanted, dtype=np.int32)
    same(gpuarray.arange(*args, **kwargs, dtype=np.int32), expected)
    same(gpuarray.arange(*args, np.dtype(np.int32), **kwargs), expected)


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((1, 4), {"start": 1}, "start is given by position and by keyword"),
        ((1, 4), {"stop": 4}, "stop is given"),
        ((4,), {"stop": 4}, "stop is given"),
        ((1, 4, 1), {"step": 1}, "step is given"),
        ((4, np.dtype("f4")), {"dtype": np.float32}, "dtype is given"),
        ((), {}, "needs a stop"),
        ((), {"start": 1}, "needs a stop"),
        ((4,), {"end": 5}, "not end"),
    ],
)
def test_arange_refuses(ctx, args, kwargs, words):
    with pytest.raises(ValueError, match=words):
        gpuarray.arange(*args, **kwargs)
    with pytest.raises(TypeError, match="up to 3 numbers"):
        gpuarray.arange(1, 2, 3, 4)


@pytest.mark.parametrize("stored", ["C", "F"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_reshape_to_the_same_shape(ctx, stored, order):
    """The requested order is used even if the shape stays."""
    host = np.asarray(np.arange(24, dtype=np.int32).reshape(2, 3, 4), order=stored)
    array = to_gpu(host)
    for shape in ((2, 3, 4), (2, -1, 4)):
        got = array.reshape(shape, order=order)
        memory = host.ravel(order="K")
        expected = memory.reshape(2, 3, 4, order=order)
        assert got.strides == expected.strides and got.ptr == array.ptr
        same(got, expected)
        assert (got is array) == (stored == order)
    same(array.reshape((2, 3, 4), order="A"), host)
    same(np.reshape(array, (2, 3, 4)), host)
    same(np.reshape(array, (2, 3, 4), order="F"), host)


def test_reshape_of_what_has_one_order_only(ctx):
    """With one axis both orders are the same. With gaps, the indices decide."""
    line = to_gpu(np.arange(6))
    assert line.reshape(6, order="F") is line
    flat = to_gpu(np.arange(6).reshape(1, 6))
    assert flat.reshape((1, 6), order="F") is flat
    host = np.arange(24).reshape(4, 6)
    gaps = to_gpu(host)[:, ::2]
    for order in "CF":
        same(gaps.reshape((4, 3), order=order), host[:, ::2])


def test_a_mask_in_fortran_order(ctx):
    """Assignment with a mask uses its indices, not its memory order."""
    host = np.arange(12).reshape(3, 4)
    mask = np.asfortranarray(host % 3 == 0)
    for behind in ((), (2,)):
        values = np.zeros((3, 4, *behind))
        array = to_gpu(values)
        array[to_gpu(mask)] = 5
        values[mask] = 5
        same(array, values)


def test_records(ctx):
    dtype = gpuarray.vec.float3
    host = np.zeros((3, 4), dtype)
    host["y"] = np.arange(12).reshape(3, 4)
    array = to_gpu(host)
    same(array[::-1, ::2].copy(), host[::-1, ::2])
    array[1] = gpuarray.vec.make_float3(1, 2, 3)
    host[1] = (1, 2, 3)
    same(array, host)
    array.fill(gpuarray.vec.make_float3(4, 5, 6))
    assert array.get()["z"].tolist() == [[6] * 4] * 3
    with pytest.raises(TypeError, match="add does not take"):
        array + array


FIELDS = {
    "mass": r"a field is the whole index: x\['mass'\].* no views of several fields",
    "weight": r"no field 'weight'; its fields are \('mass', 'n'\)",
}


@pytest.mark.parametrize("name", FIELDS)
def test_an_index_by_name_says_what_is_the_case(ctx, name):
    records = to_gpu(np.zeros((3, 2), [("mass", "f4"), ("n", "i4")]))
    for index in ([name, "n"], (0, name), *(["weight"] if name == "weight" else [])):
        with pytest.raises(IndexError, match=FIELDS[name]):
            records[index]
        with pytest.raises(IndexError, match=FIELDS[name]):
            records[index] = 1
    with pytest.raises(
        IndexError, match=f"'{name}' is the name of a .* float32 has no"
    ):
        gpuarray.zeros(3, np.float32)[name]
    with pytest.raises(IndexError, match="must be of integer or boolean"):
        records[[1.5]]


def test_fields_at_odd_addresses_are_refused(ctx):
    memory = GPUArray(64, np.int8)
    odd = GPUArray(4, np.float32, base=memory, gpudata=memory.ptr + 1)
    with pytest.raises(ValueError, match="multiples of 4"):
        odd + 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_unaligned_runs(ctx, dtype):
    host = sample(dtype, 70)
    array = to_gpu(host)
    for begin in range(4):
        same(array[begin:] == array[begin:], np.ones(70 - begin, bool))
        same(array[begin:].copy(), host[begin:])


# -- copies that exchange axes ---------------------------------------------------------

EXCHANGED = [
    ((70, 90), (1, 0)),
    ((64, 128), (1, 0)),
    ((3, 70, 40), (0, 2, 1)),
    ((40, 3, 70), (2, 1, 0)),
    ((33, 2, 3, 66), (3, 1, 2, 0)),
    ((130, 300), (1, 0)),
    ((70, 600), (1, 0)),
    ((600, 70), (1, 0)),
]


@pytest.mark.parametrize("dtype", ["u1", "u2", "f2", "f4", "f8", "c8", "c16"])
def test_exchanged_axes(ctx, dtype):
    """Test tiles at edges, additional axes, and elements of every size."""
    for shape, order in EXCHANGED:
        host = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        x = to_gpu(host)
        target = gpuarray.empty([shape[k] for k in order], dtype)
        target[...] = x.transpose(order)
        same(target, host.transpose(order))
        same(x, host)


def test_exchanged_axes_of_parts(ctx):
    """Test offsets and rows that are not multiples of a word, and reversed axes."""
    for dtype in ("u1", "u2", "f4"):
        host = np.arange(150 * 170).reshape(150, 170).astype(dtype)
        x = to_gpu(host)
        for part in (np.s_[1:, 3:], np.s_[:, 1:168], np.s_[::-1], np.s_[:, ::-1]):
            target = gpuarray.zeros((180, 160), dtype)
            want = np.zeros((180, 160), dtype)
            rows, columns = host[part].T.shape
            target[2 : 2 + rows, 5 : 5 + columns] = x[part].T
            want[2 : 2 + rows, 5 : 5 + columns] = host[part].T
            same(target, want)


def test_an_array_becomes_its_own_transpose(ctx):
    host = np.arange(100 * 100, dtype=np.float32).reshape(100, 100)
    x = to_gpu(host)
    x[...] = x.T
    same(x, host.T)


def test_which_copies_go_through_tiles(monkeypatch):
    made = []
    text_of = moving.transpose_text

    def noted(request):
        made.append((request.raw_bytes, request.tile, request.vector, request.ndim))
        return text_of(request)

    monkeypatch.setattr(moving, "transpose_text", noted)
    context = drv.Device(0).make_context()  # kernels belong to a context
    try:
        x = to_gpu(np.zeros((64, 96), np.float32))
        y = to_gpu(np.zeros((64, 6), np.float32))
        for source in (x[::2, ::3], x[:, ::-1], y.T, x.T.T):
            source.copy()
            gpuarray.empty(source.shape, source.dtype)[...] = source
        assert made == []
        gpuarray.empty((96, 64), np.float32)[...] = x.T
        assert made == [(4, 64, 1, 0)]
        del x, y, source
    finally:
        context.pop()
