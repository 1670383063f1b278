"""The argument parser of python/support/args.c, through functions that need no device.

The text signature of each function defines its parameters. A small model of Python's
rules computes the expected result of a call from it. The tests make the call with every
mix of positional and keyword arguments. No call reaches the driver, because one
argument always has a type that its converter rejects. The error names this argument.
"""

import ctypes
import importlib.util
import inspect
import itertools
import re
import subprocess
import sys
import sysconfig

import numpy as np
import pytest

import pycuda._driver as drv
from support import cc

REQUIRED = inspect.Parameter.empty


class Unfit:
    """A value that no converter accepts, and no code after the parser."""

    def __repr__(self):
        return "<unfit>"


UNFIT = Unfit()
GOOD_ARRAY = np.zeros(3)

INTEGER = "must be an integer, not Unfit"
POINTER = "must be a device pointer"
STREAM = "must be a Stream or None, not Unfit"
SHAPE = "must be an integer or a sequence of them, not Unfit"
BUFFER = "must be an array or a buffer, not Unfit"
ORDER = "must be 'C' or 'F', not <unfit>"
CONTEXT = "must be a Context or None, not Unfit"
ARRAY = "must be a numpy array, not Unfit"
DTYPE = None  # numpy words it

DEST, SRC = ("dest", 0, POINTER), ("src", 0, POINTER)
SIZE, STREAM_ = ("size", 1, INTEGER), ("stream", None, STREAM)
DATA, FLAGS = ("data", 1, INTEGER), ("flags", 0, INTEGER)
PITCH, WIDTH = ("pitch", 1, INTEGER), ("width", 1, INTEGER)
ROWS = [DEST, PITCH, DATA, WIDTH, ("height", 1, INTEGER)]
SHAPE_, DTYPE_ = ("shape", 3, SHAPE), ("dtype", np.float32, DTYPE)
PEERS = [("dest_context", None, CONTEXT), ("src_context", None, CONTEXT)]
HTOD, DTOH = [DEST, ("src", b"x", BUFFER)], [("dest", bytearray(1), BUFFER), SRC]
PAGELOCKED = [SHAPE_, DTYPE_, ("order", "C", ORDER), ("mem_flags", 0, INTEGER)]
ALIGNMENT = ("alignment", 64, INTEGER)
ALIGNED = [*PAGELOCKED[:3], ALIGNMENT]
LIKE = [("array", GOOD_ARRAY, ARRAY), ("mem_flags", 0, INTEGER)]

#: name -> parameters: (name, a valid value, the message about an invalid one).
FUNCTIONS = {
    "init": [FLAGS],
    "memcpy_htod": HTOD,
    "memcpy_htod_async": [*HTOD, STREAM_],
    "memcpy_dtoh": DTOH,
    "memcpy_dtoh_async": [*DTOH, STREAM_],
    "memcpy_dtod": [DEST, SRC, SIZE],
    "memcpy_dtod_async": [DEST, SRC, SIZE, STREAM_],
    "memcpy_peer": [DEST, SRC, SIZE, *PEERS],
    "memcpy_peer_async": [DEST, SRC, SIZE, *PEERS, STREAM_],
    "memset_d8": [DEST, DATA, SIZE],
    "memset_d16": [DEST, DATA, SIZE],
    "memset_d32": [DEST, DATA, SIZE],
    "memset_d8_async": [DEST, DATA, SIZE, STREAM_],
    "memset_d16_async": [DEST, DATA, SIZE, STREAM_],
    "memset_d32_async": [DEST, DATA, SIZE, STREAM_],
    "memset_d2d8": ROWS,
    "memset_d2d16": ROWS,
    "memset_d2d32": ROWS,
    "memset_d2d8_async": [*ROWS, STREAM_],
    "memset_d2d16_async": [*ROWS, STREAM_],
    "memset_d2d32_async": [*ROWS, STREAM_],
    "from_device": [("devptr", 0, POINTER), SHAPE_, DTYPE_, ("order", "C", ORDER)],
    "from_device_like": [("devptr", 0, POINTER), ("other_ary", GOOD_ARRAY, ARRAY)],
    "pagelocked_empty": PAGELOCKED,
    "pagelocked_zeros": PAGELOCKED,
    "pagelocked_empty_like": LIKE,
    "pagelocked_zeros_like": LIKE,
    "aligned_empty": ALIGNED,
    "aligned_zeros": ALIGNED,
    "aligned_empty_like": [LIKE[0], ALIGNMENT],
    "aligned_zeros_like": [LIKE[0], ALIGNMENT],
    "managed_empty": PAGELOCKED,
    "managed_zeros": PAGELOCKED,
    "managed_empty_like": LIKE,
    "managed_zeros_like": LIKE,
    "register_host_memory": [("ary", GOOD_ARRAY, ARRAY), FLAGS],
    "mem_alloc_pitch": [WIDTH, ("height", 1, INTEGER), ("access_size", 4, INTEGER)],
    "Stream": [FLAGS, ("priority", 0, INTEGER)],
    "Event": [FLAGS],
    "Context.attach": [FLAGS],
}

#: An object is kept as it is while the parser runs and is looked at afterwards, so that
#: these refusals come after those of the other arguments.
LATE = {BUFFER, ARRAY}


def find(name):
    found = drv
    for part in name.split("."):
        found = getattr(found, part)
    return found


def parameters(name):
    """Return a row of FUNCTIONS, which must match the text signature."""
    signature = inspect.signature(find(name))
    rows = FUNCTIONS[name]
    assert [row[0] for row in rows] == list(signature.parameters)
    for parameter in signature.parameters.values():
        assert parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    required = [p.default is REQUIRED for p in signature.parameters.values()]
    assert required == sorted(required, reverse=True)
    return rows, sum(required)


# -- what a call must do, by Python's rules --------------------------------------------


def expected(function, rows, required, args, kwargs):
    """Return the exception of a call and its message, or None for Python's own."""
    names = [row[0] for row in rows]
    if len(args) > len(names):
        amount = "exactly" if required == len(names) else "at most"
        plural = "" if len(names) == 1 else "s"
        return TypeError, (
            f"{function}() takes {amount} {len(names)} argument{plural} "
            f"({len(args)} given)"
        )
    values = dict(zip(names, args, strict=False))
    for keyword, value in kwargs.items():
        if keyword not in names:
            return TypeError, (
                f"{function}() got an unexpected keyword argument '{keyword}'"
            )
        if keyword in values:
            return (
                TypeError,
                f"{function}() got multiple values for argument '{keyword}'",
            )
        values[keyword] = value
    late = None
    for i, (name, _, refusal) in enumerate(rows):
        if name not in values:
            if i < required:
                return TypeError, (
                    f"{function}() missing required argument '{name}' (pos {i + 1})"
                )
        elif values[name] is UNFIT:
            kind = ValueError if refusal is ORDER else TypeError
            said = None if refusal is DTYPE else f"{name} {refusal}"
            if refusal not in LATE:
                return kind, said
            late = kind, said
    return late


def mixes(rows, values):
    """Yield all ways to pass the values: the first k by position, others by keyword."""
    for k in range(len(rows) + 1):
        rest = [row[0] for row in rows[k:] if row[0] in values]
        if any(row[0] not in values for row in rows[:k]):
            break
        args = [values[row[0]] for row in rows[:k]]
        orders = itertools.permutations(rest) if len(rest) < 4 else [rest, rest[::-1]]
        for order in orders:
            yield args, {name: values[name] for name in order}


def calls(rows, required):
    """Yield calls, of right or wrong form, that raise before they reach the driver."""
    names = [row[0] for row in rows]
    fit = {row[0]: row[1] for row in rows}
    optional = names[required:]
    for unfit in names:
        values = {**fit, unfit: UNFIT}
        for left_out in itertools.chain.from_iterable(
            itertools.combinations(optional, n) for n in range(len(optional) + 1)
        ):
            if unfit not in left_out:
                yield from mixes(
                    rows, {n: v for n, v in values.items() if n not in left_out}
                )
    everything = dict.fromkeys(names, UNFIT)
    yield from mixes(rows, everything)
    for missing in names[:required]:
        yield from mixes(rows, {n: v for n, v in fit.items() if n != missing})
    for args, kwargs in mixes(rows, fit):
        yield args, {**kwargs, "unknown": 0}
        yield args, {"unknown": 0, **kwargs}
        yield args, {**kwargs, names[0].upper(): 0}
        for i in range(len(args)):
            yield args, {**kwargs, names[i]: args[i]}
    for extra in (1, 2, 20):
        yield [*fit.values()] + [UNFIT] * extra, {}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_mix(name):
    function = find(name)
    rows, required = parameters(name)
    short = name.rpartition(".")[2]
    seen = set()
    for args, kwargs in calls(rows, required):
        wanted = expected(short, rows, required, args, kwargs)
        assert wanted is not None, "such a call would reach the driver"
        with pytest.raises(Exception) as caught:
            function(*args, **kwargs)
        assert caught.type is wanted[0], (args, kwargs)
        if wanted[1] is None:
            seen.add("numpy's")
            assert re.search("Unfit|data type", str(caught.value)), (args, kwargs)
        else:
            seen.add(wanted[1].replace(short, ""))
            assert str(caught.value).startswith(wanted[1]), (args, kwargs)
    assert len(seen) >= 4 + len(rows), seen


# -- functions with arguments that are only taken by position --------------------------


def missing(function, name, position):
    return f"{function}() missing required argument '{name}' (pos {position})"


def unexpected(function, name):
    return f"{function}() got an unexpected keyword argument '{name}'"


def too_many(function, amount, given):
    return f"{function}() takes {amount} ({given} given)"


IPC_FLAGS = "must be a pycuda._driver.ipc_mem_flags or an int"

POSITIONAL = [
    ("Context.set_limit", [], {}, missing("set_limit", "limit", 1)),
    ("Context.set_limit", [0], {}, missing("set_limit", "value", 2)),
    ("Context.set_limit", [0], {"value": 0}, unexpected("set_limit", "value")),
    ("Context.set_limit", [0] * 3, {}, too_many("set_limit", "exactly 2 arguments", 3)),
    ("Context.enable_peer_access", [], {}, missing("enable_peer_access", "peer", 1)),
    (
        "Context.enable_peer_access",
        [],
        {"flags": 0},
        missing("enable_peer_access", "peer", 1),
    ),
    (
        "Context.enable_peer_access",
        [],
        {"peer": UNFIT},
        "peer must be a Context, not Unfit",
    ),
    ("Context.disable_peer_access", [UNFIT], {}, "peer must be a Context, not Unfit"),
    ("Device", [], {}, missing("Device", "number_or_pci_bus_id", 1)),
    ("Device", [0, 1], {}, too_many("Device", "exactly 1 argument", 2)),
    (
        "Device",
        [],
        {"number_or_pci_bus_id": 0},
        unexpected("Device", "number_or_pci_bus_id"),
    ),
    ("Device", [UNFIT], {}, "device number must be an integer, not Unfit"),
    ("Device", [1.0], {}, "device number must be an integer, not float"),
    ("Event.from_ipc_handle", [], {}, missing("from_ipc_handle", "handle", 1)),
    ("IPCMemoryHandle", [], {}, missing("IPCMemoryHandle", "ipc_handle", 1)),
    ("IPCMemoryHandle", [], {"flags": 1}, unexpected("IPCMemoryHandle", "flags")),
    ("IPCMemoryHandle", [b"", 1.5], {}, f"flags {IPC_FLAGS}, not float"),
    (
        "IPCMemoryHandle",
        [b"", drv.event_flags.DEFAULT],
        {},
        f"flags {IPC_FLAGS}, not pycuda._driver.event_flags",
    ),
    ("Device.count", [0], {}, too_many("count", "exactly 0 arguments", 1)),
]


@pytest.mark.parametrize(("name", "args", "kwargs", "said"), POSITIONAL)
def test_positional_only(name, args, kwargs, said):
    with pytest.raises(TypeError) as caught:
        find(name)(*args, **kwargs)
    assert caught.type is TypeError
    assert str(caught.value) == said


#: Methods of C whose arguments CPython itself counts.
ONE_ARGUMENT = [
    "Context.get_limit",
    "Context.set_cache_config",
    "Context.set_shared_config",
    "bitlog2",
    "mem_alloc",
    "mem_get_address_range",
    "mem_get_ipc_handle",
]


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_one_argument(name):
    function = find(name)
    (parameter,) = inspect.signature(function).parameters.values()
    assert parameter.kind is inspect.Parameter.POSITIONAL_ONLY
    for args, kwargs in [([], {}), ([1, 2], {}), ([], {parameter.name: 1})]:
        with pytest.raises(TypeError, match=rf"\b{re.escape(name)}\(\) takes "):
            function(*args, **kwargs)


NO_ARGUMENT = [
    "Context.get_cache_config",
    "Context.get_current",
    "Context.get_device",
    "Context.get_shared_config",
    "Context.get_stream_priority_range",
    "Context.pop",
    "Context.synchronize",
]


@pytest.mark.parametrize("name", NO_ARGUMENT)
def test_no_argument(name):
    function = find(name)
    assert not inspect.signature(function).parameters
    said = rf"^{re.escape(name)}\(\) takes no "
    for args, kwargs in [([0], {}), ([], {"x": 0}), ([0], {"x": 0})]:
        with pytest.raises(TypeError, match=said):
            function(*args, **kwargs)


def test_bitlog2_converts():
    assert [drv.bitlog2(n) for n in (0, 1, 2, 3, 4, 255, 256, 2**64 - 1)] == [
        0, 0, 1, 1, 2, 7, 8, 63,
    ]  # fmt: skip
    assert drv.bitlog2(np.int64(1024)) == 10
    assert drv.bitlog2(True) == 0
    assert drv.bitlog2(drv.jit_target.COMPUTE_80) == 6
    with pytest.raises(TypeError, match="^value must be an integer, not float$"):
        drv.bitlog2(8.0)
    with pytest.raises(TypeError, match="^value must be an integer, not str$"):
        drv.bitlog2("8")
    for number in (-1, 2**64, 10**30, -(10**30)):
        with pytest.raises(OverflowError) as caught:
            drv.bitlog2(number)
        assert str(caught.value) == (
            f"value is {number}; it must be between 0 and {2**64 - 1}"
        )


def test_an_index_that_raises_is_heard():
    class Raises:
        def __index__(self):
            raise ZeroDivisionError("mine")

    for function in (drv.bitlog2, drv.init, drv.Stream, drv.Device, drv.mem_alloc):
        with pytest.raises(ZeroDivisionError, match="^mine$"):
            function(Raises())


@pytest.mark.parametrize("number", [-1, 2**32, 2**100])
@pytest.mark.parametrize("name", ["init", "Stream", "Event", "Context.attach"])
def test_unsigned_flags(name, number):
    said = f"flags is {number}; it must be between 0 and {2**32 - 1}"
    for args, kwargs in [([number], {}), ([], {"flags": number})]:
        with pytest.raises(OverflowError) as caught:
            find(name)(*args, **kwargs)
        assert str(caught.value) == said


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_fills_take_what_fits_the_element(bits):
    for name in (f"memset_d{bits}", f"memset_d{bits}_async"):
        for data in (-1, 2**bits):
            with pytest.raises(OverflowError) as caught:
                find(name)(dest=0, data=data, size=1)
            assert str(caught.value) == (
                f"data is {data}; it must be between 0 and {2**bits - 1}"
            )
        with pytest.raises(TypeError, match="^size must be an integer"):
            find(name)(dest=0, data=2**bits - 1, size=UNFIT)


# -- a call that succeeds --------------------------------------------------------------


class Holder(drv.PointerHolderBase):
    """Host memory, for a method that needs no device."""

    def __init__(self, array):
        self.array = array

    def get_pointer(self):
        return self.array.ctypes.data


def test_defaults_and_values_arrive():
    array = np.arange(16, dtype=np.uint8)
    holder = Holder(array)
    for args, kwargs in mixes(
        [("size",), ("offset",)], {"size": 4, "offset": np.int32(3)}
    ):
        assert bytes(holder.as_buffer(*args, **kwargs)) == bytes(range(3, 7))
    for args, kwargs in mixes([("size",), ("offset",)], {"size": 5}):
        assert bytes(holder.as_buffer(*args, **kwargs)) == bytes(range(5))
    view = holder.as_buffer(1, 2)
    view[0] = 99
    assert array[2] == 99


AS_BUFFER = [
    ([], {}, TypeError, missing("as_buffer", "size", 1)),
    ([], {"offset": 1}, TypeError, missing("as_buffer", "size", 1)),
    ([1, 2, 3], {}, TypeError, too_many("as_buffer", "at most 2 arguments", 3)),
    (
        [1],
        {"size": 1},
        TypeError,
        "as_buffer() got multiple values for argument 'size'",
    ),
    ([1], {"start": 1}, TypeError, unexpected("as_buffer", "start")),
    ([UNFIT], {}, TypeError, "size must be an integer, not Unfit"),
    ([1, UNFIT], {}, TypeError, "offset must be an integer, not Unfit"),
    ([-1], {}, OverflowError, f"size is -1; it must be between 0 and {2**64 - 1}"),
    ([1, -1], {}, OverflowError, f"offset is -1; it must be between 0 and {2**64 - 1}"),
    ([2**63], {}, OverflowError, f"size is {2**63}; at most {2**63 - 1} is possible"),
]


@pytest.mark.parametrize(("args", "kwargs", "error", "said"), AS_BUFFER)
def test_as_buffer_refuses(args, kwargs, error, said):
    assert ctypes.sizeof(ctypes.c_size_t) == 8
    with pytest.raises(error) as caught:
        Holder(np.zeros(1)).as_buffer(*args, **kwargs)
    assert caught.type is error
    assert str(caught.value) == said


HANDLERS = [drv.ArgumentHandler, drv.In, drv.Out, drv.InOut]


@pytest.mark.parametrize("handler", HANDLERS)
def test_handlers_take_an_array(handler):
    array = np.zeros(4)
    for made in (handler(array), handler(array=array), handler(ary=array)):
        assert type(made) is handler
        assert made.array is array
        assert made.dev_alloc is None


@pytest.mark.parametrize("handler", HANDLERS)
@pytest.mark.parametrize(
    ("args", "kwargs", "said"),
    [
        ([], {}, missing("ArgumentHandler", "array", 1)),
        ([1, 2], {}, too_many("ArgumentHandler", "exactly 1 argument", 2)),
        (
            [1],
            {"array": 1},
            "ArgumentHandler() got multiple values for argument 'array'",
        ),
        ([1], {"ary": 1}, "ArgumentHandler() got multiple values for argument 'ary'"),
        ([], {"array": 1, "ary": 1}, unexpected("ArgumentHandler", "array")),
        ([], {"arr": 1}, unexpected("ArgumentHandler", "arr")),
        (
            [[1, 2]],
            {},
            "an argument handler takes an array (an object with nbytes), not list",
        ),
        (
            [],
            {"array": None},
            "an argument handler takes an array (an object with nbytes), not NoneType",
        ),
    ],
)
def test_handlers_refuse(handler, args, kwargs, said):
    with pytest.raises(TypeError) as caught:
        handler(*args, **kwargs)
    assert caught.type is TypeError
    assert str(caught.value) == said.replace("ArgumentHandler", handler.__name__)


# -- arguments of a subclass -----------------------------------------------------------


def test_a_subclass_of_device_takes_more():
    """Its own __init__ takes the other arguments and calls ours with the ordinal."""

    class Named(drv.Device):
        def __init__(self, number, name, *, colour):
            super().__init__(number)

    with pytest.raises(TypeError, match=r"missing 2 required positional arguments"):
        Named(colour="red")
    with pytest.raises(
        TypeError, match="^device number must be an integer, not Unfit$"
    ):
        Named(UNFIT, "a", colour="red")
    with pytest.raises(OverflowError, match=f"^device number is {2**31}; it must be"):
        Named(2**31, "a", colour="red")


def test_a_subclass_of_a_handler_takes_more():
    class Named(drv.InOut):
        def __init__(self, array, name):
            super().__init__(array)
            self.name = name

    array = np.zeros(2)
    made = Named(array, name="x")
    assert (made.array is array, made.name) == (True, "x")


# -- errors that come after the parser, still before the driver ------------------------


def read_only():
    array = np.zeros(4)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (
            lambda: drv.memcpy_htod(0, np.zeros(8)[::2]),
            ValueError,
            "src is not contiguous; pass numpy.ascontiguousarray of it",
        ),
        (
            lambda: drv.memcpy_dtoh(dest=np.zeros((4, 4))[:, :2], src=0),
            ValueError,
            "dest is not contiguous; pass numpy.ascontiguousarray of it",
        ),
        (lambda: drv.memcpy_dtoh(read_only(), 0), ValueError, "dest is read-only"),
        (
            lambda: drv.memcpy_dtoh(b"x", 0),
            ValueError,
            "dest is not a contiguous, writable buffer",
        ),
        (
            lambda: drv.memcpy_htod(0, memoryview(b"abcd")[::2]),
            ValueError,
            "src is not a contiguous buffer",
        ),
        (
            lambda: drv.memcpy_htod(0, np.array([None])),
            TypeError,
            "src holds Python objects, which no GPU can read",
        ),
        (
            lambda: drv.memcpy_htod(-1, b"x"),
            OverflowError,
            f"dest is -1; it must be between 0 and {2**64 - 1}",
        ),
        (
            lambda: drv.memcpy_htod(np.zeros(1), b"x"),
            TypeError,
            "dest must be a device pointer (an int, a DeviceAllocation, a "
            "PointerHolderBase, ...), not numpy.ndarray",
        ),
        (
            lambda: drv.pagelocked_empty((2,) * 65, np.float32),
            ValueError,
            "shape has 65 dimensions; at most 64 are possible",
        ),
        (
            lambda: drv.pagelocked_empty((2, -1), np.float32),
            OverflowError,
            f"shape is -1; it must be between 0 and {2**63 - 1}",
        ),
        (
            lambda: drv.pagelocked_empty(3, object),
            TypeError,
            "pagelocked_empty: dtype('O') holds Python objects, which no GPU can read; "
            "give a dtype of numbers, such as numpy.float32",
        ),
        (
            lambda: drv.pagelocked_empty(2**62, np.float64),
            ValueError,
            "shape and dtype make an array larger than the address space",
        ),
        (
            lambda: drv.pagelocked_empty_like(np.zeros((4, 4))[:, :2]),
            ValueError,
            "array is neither C- nor Fortran-contiguous",
        ),
        (
            lambda: drv.module_from_buffer("text"),
            TypeError,
            "a module is loaded from bytes, not str; encode PTX text first",
        ),
        (
            lambda: drv.module_from_buffer(b"", [(drv.limit.STACK_SIZE, 1)]),
            TypeError,
            "option must be a pycuda._driver.jit_option or an int, not "
            "pycuda._driver.limit",
        ),
        (
            lambda: drv.module_from_buffer(options=[(0, 1, 2)], buffer=b""),
            TypeError,
            "options must be pairs (jit_option, int)",
        ),
        (
            lambda: drv.module_from_buffer(b"", options=[(0, 2**32)]),
            OverflowError,
            f"option value is {2**32}; it must be between 0 and {2**32 - 1}",
        ),
        (
            lambda: drv.Context.set_limit(drv.func_cache.PREFER_L1, 1),
            TypeError,
            "limit must be a pycuda._driver.limit or an int, not "
            "pycuda._driver.func_cache",
        ),
        (
            lambda: drv.Context.set_limit(drv.limit.STACK_SIZE, -1),
            OverflowError,
            f"value is -1; it must be between 0 and {2**64 - 1}",
        ),
        (
            lambda: drv.Context.set_cache_config("PREFER_L1"),
            TypeError,
            "config must be a pycuda._driver.func_cache or an int, not str",
        ),
    ],
)
def test_values_that_do_not_fit(call, error, said):
    with pytest.raises(error) as caught:
        call()
    assert caught.type is error
    assert str(caught.value) == said


# -- a keyword that is no string -------------------------------------------------------

WRONG_KEYWORD = """
import pycuda._driver as drv
for made in drv.In, drv.Stream, drv.Event, drv.Device:
    for keyword in 1, b"array", None:
        try:
            made(**{keyword: 1})
        except TypeError as error:
            assert "keywords must be strings" in str(error), error
        else:
            raise SystemExit("it was taken")
print("refused")
"""


def test_a_keyword_that_is_no_string():
    """The test runs in a child process, because a failure is a crash."""
    done = subprocess.run(
        [sys.executable, "-c", WRONG_KEYWORD],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "refused\n"), done.stderr


# -- reading text signatures -----------------------------------------------------------

needs_compiler = pytest.mark.skipif(not cc.compilers(), reason="needs a C compiler")


def compile_signatures(folder, *macros):
    """Compile test/c/signatures.c, a module with the parser alone."""
    flags = ["-std=c11", "-shared", "-fPIC", "-Wall", "-Werror", *macros]
    flags += ["-DNPY_NO_DEPRECATED_API=NPY_1_7_API_VERSION"]
    for include in (sysconfig.get_path("include"), np.get_include()):
        flags += ["-isystem", include]
    source = cc.ROOT / "test" / "c" / "signatures.c"
    return cc.compile_c(cc.compilers()[0], [source], folder / "signatures.so", flags)


def build_signatures(folder, *macros):
    """Compile and import the module."""
    cc.must(compile_signatures(folder, *macros))
    library = folder / "signatures.so"
    spec = importlib.util.spec_from_file_location("signatures", library)
    return importlib.util.module_from_spec(spec)


@pytest.fixture(scope="module")
def call(tmp_path_factory):
    if not cc.compilers():
        pytest.skip("needs a C compiler")
    return build_signatures(tmp_path_factory.mktemp("signatures")).call


def test_a_text_signature_is_the_description(call):
    text = "f($self, a, /, b=(1, ')'), *, long_name={'x,': [2]})\n--\n\nReturn."
    assert call(text, 1) == (1, None, None)
    assert call(text, 1, 2, long_name=3) == (1, 2, 3)
    assert call(text, 1, **{"long" + "_name": 3, "".join("b"): 2}) == (1, 2, 3)
    for args, kwargs, said in [
        ([], {}, "f() missing required argument 'a' (pos 1)"),
        ([1, 2, 3], {}, "f() takes at most 2 positional arguments (3 given)"),
        ([], {"a": 1}, "f() got an unexpected keyword argument 'a'"),
        ([1, 2], {"b": 1}, "f() got multiple values for argument 'b'"),
    ]:
        with pytest.raises(TypeError) as caught:
            call(text, *args, **kwargs)
        assert str(caught.value) == said
    with pytest.raises(ValueError, match="^b is an ellipsis$"):
        call(text, 1, ..., long_name=...)
    for name in ("f", "_f"):
        with pytest.raises(TypeError, match="^f takes a GPUArray, not NotImplemented$"):
            call(f"{name}(a)\n--\n\n", NotImplemented)


@pytest.mark.parametrize(
    ("parameters", "given", "said"),
    [
        ("", 1, "f() takes exactly 0 arguments (1 given)"),
        ("$self, /", 1, "f() takes exactly 0 arguments (1 given)"),
        ("a", 2, "f() takes exactly 1 argument (2 given)"),
        ("a, *, b=1", 2, "f() takes at most 1 positional argument (2 given)"),
        ("*, a=1, b=2", 1, "f() takes keywords only"),
    ],
)
def test_too_many_arguments(call, parameters, given, said):
    with pytest.raises(TypeError) as caught:
        call(f"f({parameters})\n--\n\n", *range(given))
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("f", "no function"),
        ("f(a", "no comma"),
        ("f(a)", "no line of two dashes"),
        ("f(a)\n--\nReturn.", "no line of two dashes"),
        ("f(a b)\n--\n\n", "no comma"),
        ("f(, a)\n--\n\n", "no name"),
        ("f(a=)\n--\n\n", "no default value"),
        ("f(a='x)\n--\n\n", "no default value"),
        ("f(a=(1)\n--\n\n", "no default value"),
        ("f(a=1, b)\n--\n\n", "a parameter without a default behind"),
        ("f(a, *, b=1, *, long_name=2)\n--\n\n", "no name"),
        ("f(a, **kwargs)\n--\n\n", "no comma"),
        ("f(nonsense)\n--\n\n", "a name that the vocabulary does not have"),
        ("f(long)\n--\n\n", "a name that the vocabulary does not have"),
        ("f(long_name_2)\n--\n\n", "a name that the vocabulary does not have"),
        ("f(" + "a=1, " * 17 + "b=2)\n--\n\n", "too many parameters"),
    ],
)
def test_a_wrong_text_is_refused(call, text, said):
    with pytest.raises(SystemError) as caught:
        call(text, 1)
    line = text.partition("\n")[0]
    assert str(caught.value).startswith(f"signature {line}: {said}")


@needs_compiler
def test_a_module_with_a_wrong_text_does_not_start(tmp_path):
    for parameters, wrong in [("a, b=1", False), ("a, nonsense", True)]:
        folder = tmp_path / parameters
        folder.mkdir()
        planted = rf'-DPLANTED="f({parameters})\n--\n\nReturn."'
        if wrong:
            with pytest.raises(SystemError, match="does not have at 'nonsense"):
                build_signatures(folder, planted)
        else:
            build_signatures(folder, planted)


@needs_compiler
def test_a_member_of_another_type_does_not_compile(tmp_path):
    """A converter would write beyond the member, or leave a part of it."""
    for macro in ("STORED", "ONLY"):
        cc.must(compile_signatures(tmp_path, f"-D{macro}=PyObject *"))
        failed = compile_signatures(tmp_path, f"-D{macro}=int")
        assert failed.returncode != 0
        assert "_Generic" in failed.stderr


def test_every_function_with_keywords_is_described():
    """The parser refuses a call with too many arguments before all other checks."""
    own = {"_launch_kernel"}
    for name, function in vars(drv).items():
        if inspect.isbuiltin(function) and name not in own:
            kinds = [p.kind for p in inspect.signature(function).parameters.values()]
            if inspect.Parameter.VAR_POSITIONAL not in kinds:
                with pytest.raises(TypeError, match="takes|expected"):
                    function(*[UNFIT] * 99)
