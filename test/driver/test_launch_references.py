"""A launch does not change the reference counts of its arguments.

Each rule that converts an argument to a parameter has a row. Each row is launched many
times with the ordinary, the prepared and the old call, and in launches that fail.
"""

import gc
import sys

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool

pytestmark = pytest.mark.gpu

LAUNCHES = 200
SOURCE = """
struct pair { int a, b; };
__global__ void of_pointer(void *p) {}
__global__ void of_char(char x) {}
__global__ void of_short(short x) {}
__global__ void of_bits(unsigned short x) {}
__global__ void of_int(int x) {}
__global__ void of_float(float x) {}
__global__ void of_long(long long x) {}
__global__ void of_double(double x) {}
__global__ void of_floats(float2 x) {}
__global__ void of_two_doubles(double2 x) {}
__global__ void of_pair(pair x) {}
__global__ void of_ints(int4 x) {}
"""


class Interface:
    """An array of another library."""

    def __init__(self, memory, **more):
        self.interface = {
            "shape": (4,),
            "typestr": "<f4",
            "data": (int(memory) + 2**40 - 2**40, False),
            "version": 3,
            **more,
        }

    @property
    def __cuda_array_interface__(self):
        return self.interface


class Mapping:
    """An interface that is not a dict."""

    def __init__(self, entries):
        self.entries = entries

    def __getitem__(self, key):
        return self.entries[key]

    def __len__(self):
        return len(self.entries)


class InterfaceOfMapping(Interface):
    @property
    def __cuda_array_interface__(self):
        return Mapping(self.interface)


class WithGpudata:
    def __init__(self, gpudata):
        self.gpudata = gpudata


class Holder(drv.PointerHolderBase):
    def __init__(self, memory):
        super().__init__()
        self.memory = memory

    def get_pointer(self):
        return int(self.memory)


class Handler(drv.ArgumentHandler):
    """A handler that a program defines."""

    def __init__(self, ary, memory):
        super().__init__(ary)
        self.memory = memory

    def get_device_alloc(self):
        return self.memory

    def pre_call(self, stream):
        pass

    def post_call(self, stream):
        pass


class OwnScalar(np.float32):
    pass


class OwnArray(gpuarray.GPUArray):
    pass


PAIR = np.dtype([("a", np.int32), ("b", np.int32)])

#: Name: kernel, and what makes the argument from 400 bytes of device memory. The
#: numbers are those of the rules in the documentation of a launch's arguments.
ARGUMENTS = {
    # 1: NumPy's scalars
    "int8": ("of_char", lambda m: np.int8(-100)),
    "uint8": ("of_char", lambda m: np.uint8(200)),
    "bool": ("of_char", lambda m: np.bool_(True)),
    "int16": ("of_short", lambda m: np.int16(-30000)),
    "uint16": ("of_short", lambda m: np.uint16(60000)),
    "float16": ("of_bits", lambda m: np.float16(1.5)),
    "int32": ("of_int", lambda m: np.int32(2**30)),
    "uint32": ("of_int", lambda m: np.uint32(2**31)),
    "float32": ("of_float", lambda m: np.float32(2.5)),
    "float32 of a subclass": ("of_float", lambda m: OwnScalar(2.5)),
    "int64": ("of_long", lambda m: np.int64(2**60)),
    "uint64": ("of_long", lambda m: np.uint64(2**63)),
    "longlong": ("of_long", lambda m: np.longlong(2**60)),
    "ulonglong": ("of_long", lambda m: np.ulonglong(2**63)),
    "datetime64": ("of_long", lambda m: np.datetime64(2**40, "s")),
    "float64": ("of_double", lambda m: np.float64(2.5)),
    "complex64": ("of_floats", lambda m: np.complex64(2.5j)),
    "complex128": ("of_two_doubles", lambda m: np.complex128(2.5j)),
    # 2: allocations
    "allocation": ("of_pointer", lambda m: drv.mem_alloc(64)),
    "pool's allocation": ("of_pointer", lambda m: DeviceMemoryPool().allocate(64)),
    # 3: handlers
    "In": ("of_pointer", lambda m: drv.In(np.zeros(5))),
    "Out": ("of_pointer", lambda m: drv.Out(np.zeros(5))),
    "InOut": ("of_pointer", lambda m: drv.InOut(np.zeros(5))),
    "handler of a program": ("of_pointer", lambda m: Handler(np.zeros(5), m)),
    # 4: NumPy's arrays
    "managed array": (
        "of_pointer",
        lambda m: drv.managed_empty(
            5, np.float32, mem_flags=drv.mem_attach_flags.GLOBAL
        ),
    ),
    "array by value": ("of_ints", lambda m: np.arange(4, dtype=np.int32)),
    "array of no axes": ("of_int", lambda m: np.array(5, np.int32)),
    "array of a structure": ("of_pair", lambda m: np.zeros((), PAIR)),
    # 5: an element of a structured array
    "structure": ("of_pair", lambda m: np.zeros(3, PAIR)[1]),
    # 6: __cuda_array_interface__
    "GPUArray": ("of_pointer", lambda m: gpuarray.zeros(5, np.float32)),
    "empty GPUArray": ("of_pointer", lambda m: gpuarray.empty(0, np.float32)),
    "GPUArray of a subclass": ("of_pointer", lambda m: OwnArray(5, np.float32)),
    "interface": ("of_pointer", lambda m: Interface(m)),
    "interface that is a mapping": ("of_pointer", lambda m: InterfaceOfMapping(m)),
    "interface with a stream": ("of_pointer", lambda m: Interface(m, stream=1)),
    "interface without a stream": ("of_pointer", lambda m: Interface(m, stream=None)),
    # 7: gpudata
    "gpudata, an allocation": ("of_pointer", lambda m: WithGpudata(m)),
    "gpudata, an int": ("of_pointer", lambda m: WithGpudata(int(m))),
    "gpudata, nothing": ("of_pointer", lambda m: WithGpudata(None)),
    "pointer holder": ("of_pointer", lambda m: Holder(m)),
    # beyond PyCUDA's rules: buffers by value
    "bytes": ("of_long", lambda m: bytes(range(8))),
    "bytearray": ("of_long", lambda m: bytearray(8)),
    "memoryview": ("of_long", lambda m: memoryview(bytearray(8))),
}

#: Arguments that a launch rejects, and the exceptions.
REFUSED = {
    "int": ("of_int", lambda m: 10**6, TypeError),
    "float": ("of_float", lambda m: float("2.5"), TypeError),
    "str": ("of_int", lambda m: "five", TypeError),
    "object": ("of_int", lambda m: object(), TypeError),
    "longdouble": ("of_double", lambda m: np.longdouble(2), TypeError),
    "scalar of another size": ("of_double", lambda m: np.float32(2), TypeError),
    "array with gaps": ("of_ints", lambda m: np.zeros(8, np.int32)[::2], ValueError),
    "array of objects": ("of_ints", lambda m: np.array([m]), TypeError),
    "data that is no pair": ("of_pointer", lambda m: Interface(m, data=5), TypeError),
    "data without an address": (
        "of_pointer",
        lambda m: Interface(m, data=(None, False)),
        TypeError,
    ),
    "a stream that is no number": (
        "of_pointer",
        lambda m: Interface(m, stream="one"),
        TypeError,
    ),
    "an address of the wrong size": ("of_int", lambda m: Interface(m), TypeError),
    "gpudata that is no address": (
        "of_pointer",
        lambda m: WithGpudata("here"),
        (TypeError, ValueError),
    ),
}


@pytest.fixture(scope="module")
def kernels():
    """The kernels, and memory for arguments, in a context for all tests here."""
    context = drv.Device(0).make_context()
    try:
        module = SourceModule(SOURCE)
        memory = drv.mem_alloc(400)
        functions = {
            name: module.get_function(name)
            for name in SOURCE.replace("(", " ").split()
            if name.startswith("of_")
        }
        context.pop()
        yield context, functions, memory
        context.push()
        del functions, module, memory
    finally:
        drv.Context.pop()


@pytest.fixture
def kernel(kernels):
    """Look kernels up, in their context."""
    context, functions, memory = kernels
    context.push()
    yield functions.__getitem__, memory
    gc.collect()
    context.pop()


def attributes(thing):
    """Return the attributes of an object and their values, by name."""
    names = ("interface", "gpudata", "array", "base", "ctx", "memory", "data", "dtype")
    found = {"itself": thing, "type": type(thing)}
    for name in names:
        try:
            found[name] = object.__getattribute__(thing, name)
        except (AttributeError, TypeError):
            continue
    interface = found.get("interface")
    if isinstance(interface, dict):
        found["the pair"] = interface["data"]
        if isinstance(interface["data"], tuple):
            found["the address"] = interface["data"][0]
    return found


def counts(watched):
    return {name: sys.getrefcount(thing) for name, thing in watched.items()}


#: The interpreter's cache of attributes holds the names of lookups, up to 4096 of them.
clear_caches = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache


def settle():
    """Drop garbage, and what the interpreter's caches hold."""
    gc.collect()
    clear_caches()


def one_round(call, watched):
    """Call many times. Return the names of the counts that have grown."""
    settle()
    before, blocks = counts(watched), sys.getallocatedblocks()
    for _ in range(LAUNCHES):
        call()
    settle()
    grown = sys.getallocatedblocks() - blocks
    after = counts(watched)
    # the interpreter's own count of None moves a little
    changed = [n for n in watched if abs(after[n] - before[n]) >= LAUNCHES // 2]
    return changed + (["memory"] if grown >= LAUNCHES // 2 else [])


def leaks(call, arg, function):
    """Return the names of the counts that grow in each of three rounds of calls."""
    watched = {**attributes(arg), "function": function, "None": None}
    found = one_round(call, watched)  # what is made once is made now
    for _ in range(2):
        if found:
            found = [name for name in one_round(call, watched) if name in found]
    return found


GRID = {"block": (1, 1, 1), "grid": (1, 1)}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_launch_keeps_no_reference(kernel, name):
    look_up, memory = kernel
    which, make = ARGUMENTS[name]
    function, arg = look_up(which), make(memory)
    assert leaks(lambda: function(arg, **GRID), arg, function) == []
    timed = dict(GRID, time_kernel=True)
    assert leaks(lambda: function(arg, **timed), arg, function) == []


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_launch_that_fails_keeps_no_reference(kernel, name):
    look_up, memory = kernel
    which, make = ARGUMENTS[name]
    function, arg = look_up(which), make(memory)

    def bad_block():
        with pytest.raises(drv.LogicError):
            function(arg, block=(4096, 1, 1), grid=(1, 1))

    def bad_keyword():
        with pytest.raises(ValueError, match="colour"):
            function(arg, **GRID, colour=arg)

    def too_many():
        with pytest.raises(TypeError, match="2 given"):
            function(arg, arg, **GRID)

    for call in bad_block, bad_keyword, too_many:
        assert leaks(call, arg, function) == [], call.__name__


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_argument_keeps_no_reference(kernel, name, strict):
    look_up, memory = kernel
    which, make, error = REFUSED[name]
    function, arg = look_up(which), make(memory)

    def call():
        with pytest.raises(error):
            function(arg, **GRID)

    assert leaks(call, arg, function) == []


PREPARED = {
    "pointer, an int": ("of_pointer", "P", lambda m: int(m)),
    "pointer, an allocation": ("of_pointer", "P", lambda m: drv.mem_alloc(64)),
    "pointer, of a pool": ("of_pointer", "P", lambda m: DeviceMemoryPool().allocate(9)),
    "pointer, NumPy's": ("of_pointer", [np.intp], lambda m: np.intp(int(m))),
    "pointer, a holder": ("of_pointer", "P", lambda m: Holder(m)),
    "char": ("of_char", "b", lambda m: np.int8(5)),
    "int": ("of_int", "i", lambda m: 10**6),
    "int, NumPy's": ("of_int", [np.int32], lambda m: np.int32(10**6)),
    "unsigned, an array": ("of_int", "I", lambda m: np.array(7, np.uint32)),
    "long": ("of_long", "q", lambda m: 2**60),
    "float": ("of_float", "f", lambda m: 2.5),
    "float, NumPy's": ("of_float", "f", lambda m: np.float32(2.5)),
    "double": ("of_double", "d", lambda m: np.float64(2.5)),
    "complex": ("of_two_doubles", "D", lambda m: 2.5 + 1j),
    "structure": ("of_pair", [PAIR], lambda m: np.zeros((), PAIR)),
    "bytes": ("of_pair", "8s", lambda m: b"12345678"),
}


@pytest.mark.parametrize("name", PREPARED)
def test_prepared_calls_keep_no_reference(kernel, name):
    look_up, memory = kernel
    which, form, make = PREPARED[name]
    function, arg = look_up(which), make(memory)
    prepared = function.prepare(form)
    stream = drv.Stream()
    calls = [
        lambda: prepared.prepared_call((1, 1), (1, 1, 1), arg),
        lambda: prepared.prepared_async_call((1, 1), (1, 1, 1), stream, arg),
        lambda: prepared.prepared_timed_call((1, 1), (1, 1, 1), arg)(),
        lambda: function.prepare(form),
    ]
    for call in calls:
        assert leaks(call, arg, function) == []
        assert leaks(call, stream, function) == []

    def wrong_count():
        with pytest.raises(Exception, match="prepared for 1"):
            prepared.prepared_call((1, 1), (1, 1, 1), arg, arg)

    def wrong_value():
        with pytest.raises(Exception, match="argument 0"):
            prepared.prepared_call((1, 1), (1, 1, 1), Ellipsis)

    for call in wrong_count, wrong_value:
        assert leaks(call, arg, function) == [], call.__name__


@pytest.mark.parametrize("name", ["int32", "float32", "allocation", "array by value"])
def test_old_calls_keep_no_reference(kernel, name):
    look_up, memory = kernel
    which, make = ARGUMENTS[name]
    function, arg = look_up(which), make(memory)
    stream = drv.Stream()
    function.set_block_shape(1, 1, 1)

    def call():
        function.param_set(arg)
        function.launch()
        function.launch_grid(1, 1)
        function.launch_grid_async(1, 1, stream)

    assert leaks(call, arg, function) == []
    assert leaks(call, stream, function) == []
    block = np.zeros({"of_int": 4, "of_float": 4, "of_pointer": 8}.get(which, 16), "b")

    def packed():
        function._launch_kernel((1, 1), (1, 1, 1), block, 0, None)

    assert leaks(packed, block, function) == []


class Leaking(Interface):
    """An argument that leaks its entries: the error that the test must find."""

    kept = []

    def __init__(self, memory, what):
        super().__init__(memory)
        self.what = what

    @property
    def __cuda_array_interface__(self):
        Leaking.kept.append(attributes(self)[self.what])
        return self.interface


@pytest.mark.parametrize("what", ["itself", "interface", "the pair", "the address"])
def test_a_lost_reference_is_found(kernel, what):
    look_up, memory = kernel
    function, arg = look_up("of_pointer"), Leaking(memory, what)
    try:
        assert what in leaks(lambda: function(arg, **GRID), arg, function)
    finally:
        Leaking.kept.clear()


@pytest.mark.skipif(
    sys.getallocatedblocks() == 0, reason="PYTHONMALLOC=malloc counts no blocks"
)
def test_lost_memory_is_found(kernel):
    look_up, memory = kernel
    function, arg, kept = look_up("of_pointer"), Interface(memory), []

    def call():
        kept.append(object())
        function(arg, **GRID)

    assert leaks(call, arg, function) == ["memory"]


def test_names_that_the_interpreter_caches_are_no_leak(kernel):
    """A lookup by a new str leaves it in the cache: 200 more in each of some rounds."""
    look_up, memory = kernel
    function, arg, number = look_up("of_pointer"), Interface(memory), iter(range(10**6))
    things = [type(f"Thing{i}", (), {})() for i in range(64)]

    def call():
        n = next(number)
        hasattr(things[n % 64], f"attribute{n}")

    clear_caches()
    assert leaks(call, arg, function) == []
