"""pycuda.interop: sharing, copying and rejecting memory of other libraries.

Small objects with the documented attributes replace other libraries. The libraries
themselves are tested where they are installed and can reach the device.
"""

import ctypes
import gc
import importlib
import sys
import types
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray, interop
from pycuda.gpuarray import GPUArray
from pycuda.interop import from_gpuarray, to_gpuarray
from support.dlpack import WithDLPack

pytestmark = pytest.mark.gpu

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)


class WithInterface:
    """An array of a library with __cuda_array_interface__. It keeps its memory."""

    def __init__(self, array, **more):
        self.array = array
        interface = {**array.__cuda_array_interface__, **more}
        self.__cuda_array_interface__ = {
            key: value for key, value in interface.items() if value != "leave out"
        }


class Strided:
    """A container with gpudata, shape, dtype and strides, as in Theano."""

    def __init__(self, array, **more):
        self.array = array
        self.gpudata = array.ptr
        self.shape = array.shape
        self.dtype = str(array.dtype)
        self.strides = array.strides
        vars(self).update(more)


class Struct(ctypes.Structure):
    _fields_ = [
        ("data_host", ctypes.POINTER(ctypes.c_float)),
        ("data_device", ctypes.POINTER(ctypes.c_float)),
        ("on_device", ctypes.c_int),
        ("on_host", ctypes.c_int),
        ("size", ctypes.c_int * 2),
        ("is_trans", ctypes.c_int),
        ("owns_data", ctypes.c_int),
    ]


class Matrix:
    """A matrix as in CUDAMat: float32, by columns, and possibly transposed."""

    def __init__(self, array, size, is_trans=0, on_device=1):
        pointer = ctypes.cast(array.ptr, ctypes.POINTER(ctypes.c_float))
        self.array = array
        self.mat = Struct(
            data_device=pointer, on_device=on_device, size=size, is_trans=is_trans
        )


class Garray:
    """An array as in Gnumpy: rows in order, over a matrix of columns."""

    def __init__(self, array):
        self._base = Matrix(array, (1, array.size))
        self.shape = array.shape


CONTAINERS = [WithInterface, WithDLPack, Strided]


# -- sharing ---------------------------------------------------------------------------


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(
    "index", [np.s_[:], np.s_[::2, 1:], np.s_[::-1, ::-2], np.s_[1], np.s_[2, 3]]
)
def test_memory_is_shared(ctx, container, index):
    source = gpuarray.to_gpu(HOST)
    view = source[index]
    shared = to_gpuarray(container(view))
    assert type(shared) is GPUArray
    assert shared.ptr == view.ptr
    assert shared.shape == view.shape and shared.dtype == np.float32
    assert np.array_equal(shared.get(), HOST[index])
    shared += 100
    changed = HOST.copy()
    changed[index] += 100
    assert np.array_equal(source.get(), changed)


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_base_keeps_the_memory_alive(ctx, container):
    source = gpuarray.to_gpu(HOST)
    gone = weakref.ref(source)
    shared = to_gpuarray(container(source))
    del source
    gc.collect()
    assert np.array_equal(shared.get(), HOST)
    before = _driver._live_counts()["memory"]
    del shared
    gc.collect()
    assert gone() is None
    assert _driver._live_counts()["memory"] == before - 1


def test_the_base_is_the_array_of_the_other_library(ctx):
    for container in (WithInterface, Strided):
        x = container(gpuarray.to_gpu(HOST))
        assert to_gpuarray(x).base is x


def test_a_gpuarray_is_itself(ctx):
    class Mine(GPUArray):
        pass

    for array in (gpuarray.to_gpu(HOST), Mine(3, np.float64), gpuarray.zeros(0)):
        assert to_gpuarray(array) is array
        assert to_gpuarray(array, copyif=True) is array


@pytest.mark.parametrize("container", CONTAINERS[:2])
def test_dtypes(ctx, container):
    for dtype in "?bBhHiIlLefdFD":
        array = gpuarray.zeros(3, dtype)
        assert to_gpuarray(container(array)).dtype == dtype
    fields = np.dtype([("a", np.int32), ("b", np.float32)])
    array = gpuarray.to_gpu(np.array([(1, 2), (3, 4)], fields))
    assert to_gpuarray(WithInterface(array)).dtype == fields


def test_without_strides_it_is_in_c_order(ctx):
    array = gpuarray.to_gpu(HOST)
    for x in (
        WithInterface(array, strides=None),
        WithInterface(array, strides="leave out"),
        Strided(array, strides=None),
    ):
        assert to_gpuarray(x).strides == (16, 4)


def test_broadcast_arrays(ctx):
    row = gpuarray.to_gpu(HOST[0])
    x = WithInterface(row, shape=(2, 4), strides=(0, 4))
    assert np.array_equal(to_gpuarray(x).get(), [HOST[0], HOST[0]])


@pytest.mark.parametrize("container", CONTAINERS[:2])
def test_arrays_without_elements(ctx, container):
    shared = to_gpuarray(container(gpuarray.zeros((0, 3), np.int16)))
    assert shared.shape == (0, 3) and shared.dtype == np.int16
    assert shared.get().shape == (0, 3)


def test_managed_and_page_locked_memory(ctx):
    for allocation in (
        drv.managed_zeros(4, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL),
        drv.pagelocked_zeros(4, np.float32, mem_flags=drv.host_alloc_flags.DEVICEMAP),
    ):
        allocation[:] = 1, 2, 3, 4
        x = types.SimpleNamespace(
            gpudata=allocation.base.get_device_pointer(),
            shape=(4,),
            dtype=np.float32,
            base=allocation,
        )
        shared = to_gpuarray(x)
        shared *= 2
        ctx.synchronize()
        assert allocation.tolist() == [2, 4, 6, 8]
        del shared, x, allocation


# -- matrices by columns ---------------------------------------------------------------


def test_matrices_of_columns(ctx):
    columns = gpuarray.to_gpu(HOST.T.copy())  # the memory of HOST, column by column
    plain = to_gpuarray(Matrix(columns, (3, 4)))
    assert plain.flags.f_contiguous and plain.ptr == columns.ptr
    assert np.array_equal(plain.get(), HOST)
    transposed = to_gpuarray(Matrix(columns, (3, 4), is_trans=1))
    assert transposed.shape == (4, 3) and transposed.flags.c_contiguous
    assert np.array_equal(transposed.get(), HOST.T)
    plain[0] = -1
    assert (transposed.get()[:, 0] == -1).all()


def test_arrays_on_top_of_matrices(ctx):
    host = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    rows = gpuarray.to_gpu(host)
    shared = to_gpuarray(Garray(rows))
    assert shared.flags.c_contiguous
    assert np.array_equal(shared.get(), host)


def test_a_matrix_that_is_on_the_host_only(ctx):
    array = gpuarray.to_gpu(HOST)
    with pytest.raises(ValueError, match="host memory only"):
        to_gpuarray(Matrix(array, (3, 4), on_device=0))


# -- what is refused, and what is copied when asked for --------------------------------


class ReadOnlyDLPack(WithDLPack):
    """Read-only memory, which DLPack 1 can express."""

    def __dlpack__(self, *, stream=None, max_version=None):
        capsule = self.array.__dlpack__(stream=stream, max_version=(1, 0))
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = (
            ctypes.c_void_p,
            [ctypes.py_object, ctypes.c_char_p],
        )
        # version (8 bytes), context, deleter, then flags
        flags = pointer(capsule, b"dltensor_versioned") + 24
        ctypes.c_uint64.from_address(flags).value |= 1
        return capsule


@pytest.mark.parametrize("kind", ["interface", "dlpack"])
def test_read_only_memory(ctx, kind):
    source = gpuarray.to_gpu(HOST)
    x = (
        WithInterface(source, data=(source.ptr, True))
        if kind == "interface"
        else ReadOnlyDLPack(source)
    )
    with pytest.raises(ValueError, match="read-only.*copyif=True"):
        to_gpuarray(x)
    copied = to_gpuarray(x, copyif=True)
    assert copied.ptr != source.ptr
    copied += 1
    assert np.array_equal(source.get(), HOST)
    assert np.array_equal(copied.get(), HOST + 1)


def test_host_memory(ctx):
    class OnHost:
        def __dlpack_device__(self):
            return 1, 0

        def __dlpack__(self, **keywords):
            return HOST.__dlpack__(**keywords)

        def __array__(self, dtype=None, copy=None):
            return HOST

    for x in (HOST, HOST.T, HOST[::2], np.float32(3), OnHost()):
        with pytest.raises(ValueError, match="host memory.*copyif=True"):
            to_gpuarray(x)
        copied = to_gpuarray(x, copyif=True)
        assert np.array_equal(copied.get(), np.asarray(x))


def test_memory_of_the_primary_context(ctx, primary_ctx):
    """The primary context is on top, so the memory of the other one is foreign."""
    source = gpuarray.to_gpu(HOST)
    drv.Context.pop()
    try:
        for view, host in ((source, HOST), (source[:, ::2], HOST[:, ::2])):
            x = WithInterface(view)
            with pytest.raises(ValueError, match="another context.*autoprimaryctx"):
                to_gpuarray(x)
            copied = to_gpuarray(x, copyif=True)
            assert np.array_equal(copied.get(), host)
            copied += 1
            assert np.array_equal(copied.get(), host + 1)
        assert drv.Context.get_current() == ctx
    finally:
        primary_ctx.push()
    assert np.array_equal(source.get(), HOST)
    assert to_gpuarray(x).ptr == source.ptr  # where it belongs


def test_memory_of_a_third_context(ctx):
    other = drv.Device(0).make_context()
    source = gpuarray.to_gpu(HOST)
    other.pop()
    for copyif in (False, True):
        with pytest.raises(ValueError, match="context"):
            to_gpuarray(WithInterface(source), copyif=copyif)
    del source
    other.detach()


@pytest.mark.gpus(2)
def test_memory_of_another_device(ctx):
    other = drv.Device(1).retain_primary_context()
    with other:
        source = gpuarray.to_gpu(HOST)
    with pytest.raises(ValueError, match="on device 1, not the current"):
        to_gpuarray(WithInterface(source))
    copied = to_gpuarray(WithInterface(source), copyif=True)
    assert np.array_equal(copied.get(), HOST)
    del source
    other.detach()


def bad_inputs(array):
    address = array.ptr
    yield WithInterface(array, mask=array), "mask"
    yield WithInterface(array, typestr=">f4", descr=[("", ">f4")]), "swapped"
    yield WithInterface(array, data=(address + 2, False)), "multiples of 4"
    yield WithInterface(array, strides=(16, 2)), "multiples of 4"
    yield WithInterface(array, strides=(4,)), "2 axes and 1 strides"
    yield WithInterface(array, shape=(3, -4)), "shape"
    yield WithInterface(array, stream=0), "stream 0"
    yield WithInterface(array, typestr="leave out"), "typestr"
    yield types.SimpleNamespace(__cuda_array_interface__=[1]), "not a mapping"
    yield WithInterface(array, data=(HOST.ctypes.data, False)), "unknown to CUDA"


def test_bad_descriptions_are_refused_with_copyif_too(ctx):
    array = gpuarray.to_gpu(HOST)
    assert to_gpuarray(WithInterface(array)).ptr == array.ptr
    for x, message in bad_inputs(array):
        for copyif in (False, True):
            with pytest.raises(ValueError, match=message):
                to_gpuarray(x, copyif=copyif)


def test_a_library_that_gives_nothing_away(ctx):
    class Tensor:
        @property
        def __cuda_array_interface__(self):
            raise RuntimeError("it requires grad; detach() it")

    with pytest.raises(ValueError, match=r"Tensor.*requires grad; detach"):
        to_gpuarray(Tensor())


def test_what_is_no_array(ctx):
    for x in (None, 3, "text", [1, 2], object()):
        with pytest.raises(TypeError, match="no array"):
            to_gpuarray(x)


def test_without_a_context():
    with pytest.raises(drv.LogicError):
        to_gpuarray(
            Strided(types.SimpleNamespace(ptr=16, shape=(1,), dtype="f4", strides=(4,)))
        )


# -- streams ---------------------------------------------------------------------------


def calls_while(function, monkeypatch):
    """Return the streams that the function waited for."""
    waited = []
    original = interop._wait_for_stream
    monkeypatch.setattr(
        interop, "_wait_for_stream", lambda s: (waited.append(s), original(s))
    )
    function()
    return waited


def test_the_stream_of_an_array_is_waited_for(ctx, monkeypatch):
    array = gpuarray.to_gpu(HOST)
    stream = drv.Stream()
    for named in (1, 2, stream.handle):
        x = WithInterface(array, stream=named)
        assert calls_while(lambda x=x: to_gpuarray(x), monkeypatch) == [named]
        monkeypatch.undo()
    assert calls_while(lambda: to_gpuarray(WithInterface(array)), monkeypatch) == []


def test_the_stream_of_an_array_that_only_dlpack_knows(ctx):
    class Tensor(WithInterface, WithDLPack):
        asked = []

        def __dlpack__(self, **keywords):
            self.asked.append(keywords["stream"])
            if len(self.asked) > 1:
                raise BufferError("no type for that")
            return super().__dlpack__(**keywords)

    x = Tensor(gpuarray.to_gpu(HOST))
    with drv.Stream() as stream:
        shared = to_gpuarray(x)
        assert Tensor.asked == [stream.handle]
        assert shared.base is x
    assert to_gpuarray(x).ptr == shared.ptr
    assert Tensor.asked == [stream.handle, 1]


def test_handles_of_streams(ctx):
    with pytest.raises(OverflowError, match="stream is 0"):
        _driver._wait_for_stream(0)
    with pytest.raises(TypeError):
        _driver._wait_for_stream("one")
    with drv.Stream() as stream:
        _driver._wait_for_stream(1)
        _driver._wait_for_stream(stream.handle)


# -- what the driver knows about a pointer ---------------------------------------------


def test_pointer_facts(ctx):
    memory = drv.mem_alloc(16)
    assert _driver._pointer_facts(int(memory) + 4) == (ctx.handle, 0, 2, False)
    managed = drv.managed_zeros(4, np.uint8, mem_flags=drv.mem_attach_flags.GLOBAL)
    assert _driver._pointer_facts(managed.ctypes.data)[3] is True
    locked = drv.pagelocked_zeros(4, np.uint8)
    assert _driver._pointer_facts(locked.ctypes.data)[2] == 1
    assert _driver._pointer_facts(HOST.ctypes.data) is None
    with pytest.raises(TypeError):
        _driver._pointer_facts("one")


# -- to other libraries ----------------------------------------------------------------


def test_strided_containers(ctx):
    array = gpuarray.to_gpu(HOST)[:, ::2]
    strided = from_gpuarray(array, "strided")
    assert (strided.gpudata, strided.shape) == (array.ptr, (3, 2))
    assert (strided.strides, strided.dtype) == ((16, 8), np.float32)
    assert (strided.ndim, strided.size, strided.nbytes) == (2, 6, 24)
    assert strided.base is array
    back = to_gpuarray(strided)
    assert back.base is strided and back.ptr == array.ptr
    assert np.array_equal(back.get(), HOST[:, ::2])
    assert from_gpuarray(gpuarray.zeros(0), "strided").gpudata == 0


def test_column_major_matrices(ctx):
    array = gpuarray.to_gpu(np.asfortranarray(HOST))
    matrix = from_gpuarray(array, "column-major")
    assert matrix.shape == (3, 4) and list(matrix.mat.size) == [3, 4]
    assert matrix.mat.data_device == array.ptr
    assert (matrix.mat.on_device, matrix.mat.on_host) == (1, 0)
    assert (matrix.mat.is_trans, matrix.mat.owns_data) == (0, 0)
    assert matrix.p_mat.contents.data_device == array.ptr
    back = to_gpuarray(matrix)
    assert back.ptr == array.ptr and np.array_equal(back.get(), HOST)
    gone = weakref.ref(array)
    del array, back
    gc.collect()
    assert gone() is not None
    del matrix
    gc.collect()
    assert gone() is None


def test_no_column_major_matrices(ctx):
    for array in (
        gpuarray.to_gpu(HOST),  # row by row
        gpuarray.to_gpu(HOST.astype(np.float64, order="F")),
        gpuarray.zeros(3, np.float32),
        gpuarray.to_gpu(np.asfortranarray(HOST))[::2],
    ):
        for kind in ("column-major", "cudamat"):
            with pytest.raises(ValueError, match="column"):
                from_gpuarray(array, kind)


def fake(monkeypatch, name, **contents):
    """Add a fake module of another library."""
    module = types.ModuleType(name)
    vars(module).update(contents)
    parent, _, child = name.rpartition(".")
    if parent:
        monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
        setattr(sys.modules[parent], child, module)
    monkeypatch.setitem(sys.modules, name, module)


def test_cudamat_by_its_attributes(ctx, monkeypatch):
    class CUDAMatrix:
        def __init__(self, struct):
            assert type(struct) is Struct
            self.mat = struct

    fake(monkeypatch, "cudamat", cudamat=Struct, CUDAMatrix=CUDAMatrix)
    array = gpuarray.to_gpu(np.asfortranarray(HOST))
    matrix = from_gpuarray(array, "cudamat")
    assert matrix.base is array and matrix.mat.owns_data == 0
    assert np.array_equal(to_gpuarray(matrix).get(), HOST)
    monkeypatch.setattr(sys.modules["cudamat"], "cudamat", ctypes.c_int)
    with pytest.raises(ValueError, match="4 bytes, not the"):
        from_gpuarray(array, "cudamat")


RUNTIME_KINDS = {
    "cupy": ("cupy", "from_dlpack"),
    "torch": ("torch", "from_dlpack"),
    "jax": ("jax.dlpack", "from_dlpack"),
    "numba": ("numba.cuda", "as_cuda_array"),
}


@pytest.mark.parametrize("kind", RUNTIME_KINDS)
def test_the_calls_of_other_libraries(primary_ctx, monkeypatch, kind):
    """The package calls the library's documented function and checks its result."""
    module, function = RUNTIME_KINDS[kind]
    array = gpuarray.to_gpu(HOST)
    asked = []

    def share(x):
        asked.append(x)
        return WithInterface(array)

    fake(monkeypatch, module, **{function: share})
    assert from_gpuarray(array, kind).array is array
    assert asked == [array] or asked[0] is array
    with drv.Stream() as stream:
        from_gpuarray(array, kind)
        if kind == "numba":
            assert asked[-1].__cuda_array_interface__["stream"] == stream.handle

    other = gpuarray.to_gpu(HOST)
    fake(monkeypatch, module, **{function: lambda x: WithInterface(other)})
    with pytest.raises(ValueError, match="has copied"):
        from_gpuarray(array, kind)

    def refuse(x):
        raise RuntimeError("no such layout")

    fake(monkeypatch, module, **{function: refuse})
    with pytest.raises(ValueError, match=f"{kind} does not take.*no such layout"):
        from_gpuarray(array, kind)


@pytest.mark.parametrize("kind", RUNTIME_KINDS)
def test_memory_of_a_context_of_its_own_goes_to_no_library(ctx, monkeypatch, kind):
    module, function = RUNTIME_KINDS[kind]
    fake(monkeypatch, module, **{function: WithInterface})
    with pytest.raises(ValueError, match="context of its own.*autoprimaryctx"):
        from_gpuarray(gpuarray.to_gpu(HOST), kind)


def test_a_library_that_is_not_there(primary_ctx, monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(ImportError, match=r"'cupy'\) needs the package cupy"):
        from_gpuarray(gpuarray.to_gpu(HOST), "cupy")


def test_torch_has_no_negative_strides(primary_ctx, monkeypatch):
    fake(monkeypatch, "torch", from_dlpack=WithInterface)
    with pytest.raises(ValueError, match="negative strides"):
        from_gpuarray(gpuarray.to_gpu(HOST)[::-1], "torch")


def test_unknown_kinds_and_arguments(ctx):
    array = gpuarray.to_gpu(HOST)
    with pytest.raises(
        ValueError, match="no kind 'tensorflow'; there are column-major"
    ):
        from_gpuarray(array, "tensorflow")
    with pytest.raises(ValueError, match=r"no kind 'numpy'.* the method get\(\)"):
        from_gpuarray(array, "numpy")
    with pytest.raises(TypeError, match="takes a GPUArray, not a numpy"):
        from_gpuarray(HOST, "strided")


# -- the libraries themselves ----------------------------------------------------------

REAL = "the library itself works on a real GPU only"


def library(name):
    """Import a library, or skip the test and name the missing library."""
    return pytest.importorskip(name, reason=f"{name} is not installed")


@pytest.mark.hardware(why=REAL)
def test_cupy(primary_ctx):
    cupy = library("cupy")
    theirs = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)
    ours = to_gpuarray(theirs[::-1, ::2])
    assert ours.base is not None and ours.ptr == theirs[::-1, ::2].data.ptr
    ours += 100
    primary_ctx.synchronize()
    assert np.array_equal(cupy.asnumpy(theirs)[::-1, ::2], HOST[::-1, ::2] + 100)
    array = gpuarray.to_gpu(HOST)
    back = from_gpuarray(array[:, 1:], "cupy")
    back *= 2
    cupy.cuda.get_current_stream().synchronize()
    assert np.array_equal(array.get()[:, 1:], HOST[:, 1:] * 2)
    del ours, theirs, back


@pytest.mark.hardware(why=REAL)
def test_torch(primary_ctx):
    torch = library("torch")
    theirs = torch.arange(12, dtype=torch.float32, device="cuda").reshape(3, 4)
    ours = to_gpuarray(theirs.T)
    assert ours.ptr == theirs.data_ptr() and ours.shape == (4, 3)
    ours += 100
    primary_ctx.synchronize()
    assert np.array_equal(theirs.cpu().numpy(), HOST + 100)
    array = gpuarray.to_gpu(HOST)
    back = from_gpuarray(array[::2], "torch")
    back *= 2
    torch.cuda.synchronize()
    assert np.array_equal(array.get()[::2], HOST[::2] * 2)
    on_host = torch.arange(3)
    with pytest.raises(ValueError, match="host memory"):
        to_gpuarray(on_host)
    assert to_gpuarray(on_host, copyif=True).get().tolist() == [0, 1, 2]
    wanting = torch.ones(3, device="cuda", requires_grad=True)
    with pytest.raises(ValueError, match="grad"):
        to_gpuarray(wanting)
    del ours, theirs, back


@pytest.mark.hardware(why=REAL)
def test_jax(primary_ctx, monkeypatch):
    # Without this, it takes most of the memory of the GPU for good.
    monkeypatch.setenv("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    library("jax")
    jnp = importlib.import_module("jax.numpy")
    jax = importlib.import_module("jax")
    if not any(device.platform == "gpu" for device in jax.devices()):
        pytest.skip("jax is installed without its CUDA plugin")
    theirs = jnp.arange(12, dtype=jnp.float32).reshape(3, 4)
    ours = to_gpuarray(theirs, copyif=True)
    assert np.array_equal(ours.get(), HOST)
    address, readonly = theirs.__cuda_array_interface__["data"]
    if readonly:
        assert ours.ptr != address
        with pytest.raises(ValueError, match="read-only"):
            to_gpuarray(theirs)
    else:
        assert ours.ptr == address
    array = gpuarray.to_gpu(HOST)
    back = from_gpuarray(array, "jax")
    assert np.array_equal(np.asarray(back * 2), HOST * 2)
    del ours, theirs, back


@pytest.mark.hardware(why=REAL)
def test_numba(primary_ctx):
    library("numba")
    cuda = pytest.importorskip("numba.cuda", reason="numba is without numba-cuda")
    theirs = cuda.to_device(HOST)
    ours = to_gpuarray(theirs)
    ours += 100
    primary_ctx.synchronize()
    assert np.array_equal(theirs.copy_to_host(), HOST + 100)
    array = gpuarray.to_gpu(HOST)
    back = from_gpuarray(array[:, ::2], "numba")
    assert np.array_equal(back.copy_to_host(), HOST[:, ::2])
    del ours, theirs, back
