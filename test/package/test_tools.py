"""pycuda.tools without a device: choosing a device, caches, occupancy, C types."""

import os
import re
import subprocess
import sys
import types

import numpy as np
import pytest

from pycuda import driver, tools
from pycuda.compyte import dtypes


class FakeDevice:
    """A device with the attributes that the choice of a device uses."""

    ordinals = range(3)

    def __init__(self, ordinal):
        if ordinal not in self.ordinals:
            raise driver.LogicError(f"cuDeviceGet failed: no device {ordinal}")
        self.ordinal = ordinal

    @classmethod
    def count(cls):
        return len(cls.ordinals)

    def make_context(self):
        return ("context of", self.ordinal)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    monkeypatch.setattr(driver, "Device", FakeDevice)
    return tmp_path


class Current:
    """Replaces driver.Context: returns the current context, and can be one itself."""

    current = None

    @classmethod
    def get_current(cls):
        return cls.current


@pytest.fixture
def current(monkeypatch):
    monkeypatch.setattr("pycuda._context_cache.Context", Current)
    yield Current
    Current.current = None
    tools.clear_context_caches()


# The default context


def test_maker_that_is_no_function(home):
    with pytest.raises(TypeError, match="ctx_maker must be a callable or None"):
        tools.make_default_context(3)


def test_choice_of_the_device_in_order(home, monkeypatch):
    def chosen():
        return tools.make_default_context(lambda device: device.ordinal)

    assert chosen() == 0
    (home / ".cuda_device").write_text("1\n")
    assert chosen() == 1
    (home / ".cuda-device").write_text(" 2 ")
    assert chosen() == 2
    monkeypatch.setenv("CUDA_DEVICE", "0")
    assert chosen() == 0


def test_default_maker_is_make_context(home, monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "2")
    assert tools.make_default_context() == ("context of", 2)


def test_first_device_that_allows_a_context(home):
    tried = []

    def maker(device):
        tried.append(device.ordinal)
        if device.ordinal < 2:
            raise driver.LogicError("cuCtxCreate failed: exclusive")
        return device.ordinal

    assert tools.make_default_context(maker) == 2
    assert tried == [0, 1, 2]


def test_error_tells_what_each_device_said(home):
    def maker(device):
        raise driver.MemoryError(f"cuCtxCreate failed: reason {device.ordinal}")

    with pytest.raises(RuntimeError) as caught:
        tools.make_default_context(maker)
    for ordinal in range(3):
        assert f"device {ordinal}: cuCtxCreate failed: reason {ordinal}" in str(
            caught.value
        )


def test_no_device_at_all(home, monkeypatch):
    monkeypatch.setattr(FakeDevice, "ordinals", range(0))
    with pytest.raises(RuntimeError, match="no CUDA device"):
        tools.make_default_context()


def test_error_that_is_not_the_drivers_is_not_hidden(home):
    def maker(device):
        raise KeyError("a mistake in the maker")

    with pytest.raises(KeyError):
        tools.make_default_context(maker)


def test_chosen_device_that_does_not_exist(home, monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "7")
    with pytest.raises(
        RuntimeError, match="device 7.*CUDA_DEVICE.*no device 7"
    ) as caught:
        tools.make_default_context()
    assert isinstance(caught.value, driver.Error)


@pytest.mark.parametrize("text", ["first", "", "1.5", "2147483648", "-99999999999"])
def test_choice_that_is_no_number(home, monkeypatch, text):
    (home / ".cuda-device").write_text(text)
    with pytest.raises(ValueError, match=re.escape(str(home / ".cuda-device"))):
        tools.make_default_context()
    monkeypatch.setenv("CUDA_DEVICE", text)
    with pytest.raises(ValueError, match="variable CUDA_DEVICE"):
        tools.make_default_context()


def test_get_default_device_is_deprecated(home, monkeypatch):
    with pytest.deprecated_call():
        assert tools.get_default_device(1).ordinal == 1
    monkeypatch.setenv("CUDA_DEVICE", "2")
    with pytest.deprecated_call():
        assert tools.get_default_device(1).ordinal == 2


# Automatic contexts

AUTOMATIC = """
import atexit, sys
from pycuda import driver, tools

class Context:
    stack = []
    @classmethod
    def get_current(cls):
        return cls.stack[-1] if cls.stack else None
    def get_device(self):
        return "device"
    def push(self):
        self.stack.append(self)
    def pop(self):
        print("pop")
        self.stack.pop()

class Device:
    count = staticmethod(lambda: 1)
    def __init__(self, ordinal):
        pass
    def make_context(self):
        print("made")
        context = Context()
        context.push()
        return context
    def retain_primary_context(self):
        print("retained")
        return Context()

def refuse():
    raise driver.LogicError("context is destroyed")

driver.Context, driver.Device = Context, Device
driver.init = lambda flags=0: print("init")
tools._lend_to_threads = lambda context: print("lent" if context else "back")
atexit.register(lambda: print(module.context, len(Context.stack)))
module = __import__("pycuda." + sys.argv[1], fromlist=["context"])
assert module.context is Context.stack[-1] and module.device == "device"
exec(sys.argv[2])
"""


@pytest.mark.parametrize(
    ("name", "kind", "how"),
    [
        ("autoinit", "", "retained"),
        ("autoinit", "primary", "retained"),
        ("autoinit", "own", "made"),
        ("autoprimaryctx", "own", "retained"),
    ],
)
@pytest.mark.parametrize(
    ("code", "end"),
    [
        ("pass", ["back", "pop", "None", "0"]),
        ("Context.stack.pop()", ["back", "None", "0"]),
        ("Context().push()", ["back", "None", "2"]),
        ("Context.get_current = refuse", ["back", "None", "1"]),
    ],
)
def test_automatic_context_lasts_until_exit(name, kind, how, code, end):
    done = run_automatic(name, code, PYCUDA_AUTOINIT=kind)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["init", how, "lent", *end]


def run_automatic(name, code="pass", **more):
    environ = {k: v for k, v in os.environ.items() if k != "CUDA_DEVICE"}
    return subprocess.run(
        [sys.executable, "-c", AUTOMATIC, name, code],
        check=False,
        env={**environ, "HOME": "/nowhere", **more},
        capture_output=True,
        text=True,
    )


def test_automatic_context_is_kept_from_other_threads():
    done = run_automatic("autoinit", PYCUDA_AUTOINIT_THREADS="0")
    assert done.stdout.split() == [
        "init",
        "retained",
        "back",
        "back",
        "pop",
        "None",
        "0",
    ]


@pytest.mark.parametrize(
    ("name", "word", "known"),
    [
        ("PYCUDA_AUTOINIT", "mine", "primary or own"),
        ("PYCUDA_AUTOINIT_THREADS", "none", "1 (or on, true, yes) or 0"),
    ],
)
def test_automatic_context_of_an_unknown_kind(name, word, known):
    done = run_automatic("autoinit", **{name: word})
    assert done.returncode == 1
    message = f"{name} is '{word}'; set it to {known}"
    assert f"ValueError: {message}" in done.stderr


# Debugging from the command line


def run_debug(*arguments):
    command = [sys.executable, "-m", "pycuda.debug", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_debug_runs_a_script(tmp_path):
    script = tmp_path / "script.py"
    (tmp_path / "beside.py").write_text("")
    script.write_text(
        "import sys, beside, pycuda.driver as d\n"
        "print(__name__, sys.argv[1:], d.CUDA_DEBUGGING)\n"
        "sys.exit(3)\n"
    )
    done = run_debug(script, "a", "-b")
    assert done.stdout == "__main__ ['a', '-b'] True\n"
    assert done.returncode == 3


def test_debug_without_a_script(tmp_path):
    assert run_debug().returncode == 2
    done = run_debug(tmp_path / "nothing.py")
    assert done.returncode == 2
    assert "nothing.py" in done.stderr


# Caches of contexts


@pytest.fixture
def counted():
    calls = []

    @tools.context_dependent_memoize
    def function(a, b=0):
        calls.append((a, b))
        return object()

    yield function, calls
    tools.context_dependent_memoized_functions.remove(function)


def test_memoized_in_each_context_apart(current, counted):
    function, calls = counted
    first, second = Current(), Current()
    results = {}
    for context in (first, second, None, first, second, None):
        current.current = context
        result = function(1, 2)
        assert results.setdefault(context, result) is result
    assert len(calls) == 3
    assert len(set(results.values())) == 3


def test_memoize_keys(current, counted):
    function, calls = counted
    current.current = Current()
    assert function(1, 2) is function(1, 2)
    assert function(1, b=2) is function(1, b=2)
    assert function(1, 2) is not function(1, b=2)
    assert len(calls) == 2
    assert function(1, b=3) is not function(1, b=2)
    assert function(a=1, b=3) is function(b=3, a=1) is not function(a=3, b=1)
    assert calls == [(1, 2), (1, 2), (1, 3), (1, 3), (3, 1)]
    with pytest.raises(TypeError):
        function([])
    assert function.__name__ == "function"


def test_functions_do_not_share_results(current):
    @tools.context_dependent_memoize
    def one():
        return 1

    @tools.context_dependent_memoize
    def two():
        return 2

    assert (one(), two(), one(), two()) == (1, 2, 1, 2)
    assert tools.context_dependent_memoized_functions[-2:] == [one, two]
    del tools.context_dependent_memoized_functions[-2:]


def test_clear_context_caches(current, counted):
    function, calls = counted
    contexts = [Current(), Current(), None]
    for _ in range(2):
        for context in contexts:
            current.current = context
            function(1)
        tools.clear_context_caches()
    assert len(calls) == 6


def test_failure_is_not_remembered(current):
    calls = []

    @tools.context_dependent_memoize
    def fails():
        calls.append(1)
        raise KeyError("inside")

    for _ in range(2):
        with pytest.raises(KeyError):
            fails()
    assert len(calls) == 2
    tools.context_dependent_memoized_functions.remove(fails)


def test_caches_die_with_their_context(current):
    import gc
    import weakref

    class Result:
        def __init__(self, context):
            self.context = context

    @tools.context_dependent_memoize
    def compiled():
        return Result(Current.current)

    current.current = Current()
    gone = weakref.ref(current.current), weakref.ref(compiled())
    current.current = None
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    tools.context_dependent_memoized_functions.remove(compiled)


# Occupancy


class Figures:
    """The attributes of one device. A missing one raises as the driver does."""

    max_threads_per_block = 1024
    warp_size = 32
    max_registers_per_block = 65536
    max_shared_memory_per_block = 49152

    def __init__(self, capability, **more):
        self.capability = capability
        vars(self).update(more)

    def compute_capability(self):
        return self.capability


H200 = Figures(
    (9, 0),
    max_threads_per_multiprocessor=2048,
    max_blocks_per_multiprocessor=32,
    max_registers_per_multiprocessor=65536,
    max_shared_memory_per_multiprocessor=233472,
    reserved_shared_memory_per_block=1024,
)


def test_device_data_is_the_devices():
    data = tools.DeviceData(H200)
    assert (data.max_threads, data.warp_size, data.warps_per_mp) == (1024, 32, 64)
    assert (data.thread_blocks_per_mp, data.registers) == (32, 65536)
    assert (data.shared_memory, data.shared_memory_per_mp) == (49152, 233472)
    assert (data.smem_alloc_granularity, data.smem_granularity) == (128, 32)
    assert data.register_allocation_unit == "warp"


@pytest.mark.parametrize(
    ("capability", "blocks"), [((2, 0), 8), ((3, 5), 16), ((7, 5), 32)]
)
def test_device_data_of_an_old_driver(capability, blocks):
    data = tools.DeviceData(Figures(capability))
    assert data.thread_blocks_per_mp == blocks
    assert data.warps_per_mp == 64
    assert data.registers_per_mp == 65536


# Computed by hand from the limits above: 64 warps, 32 blocks, 65536 registers (in units
# of 256 per warp), 233472 bytes (1024 reserved per block, in units of 128).
@pytest.mark.parametrize(
    ("use", "blocks", "limit", "occupancy"),
    [
        ({"threads": 256}, 8, "warps", 1.0),
        ({"threads": 32}, 32, "device", 0.5),
        ({"threads": 33}, 32, "device", 1.0),
        ({"threads": 256, "registers": 32}, 8, "regs", 1.0),
        ({"threads": 256, "registers": 33}, 6, "regs", 0.75),
        ({"threads": 256, "registers": 64}, 4, "regs", 0.5),
        ({"threads": 128, "shared_mem": 48 * 1024}, 4, "smem", 0.25),
        # 10 blocks without the reserved bytes
        ({"threads": 128, "shared_mem": 22 * 1024}, 9, "smem", 36 / 64),
        ({"threads": 1024, "shared_mem": 1}, 2, "warps", 1.0),
        ({"threads": 96}, 21, "warps", 63 / 64),
    ],
)
def test_occupancy(use, blocks, limit, occupancy):
    record = tools.OccupancyRecord(tools.DeviceData(H200), **use)
    assert (record.tb_per_mp, record.limited_by) == (blocks, limit)
    assert record.occupancy == occupancy
    assert record.warps_per_mp == occupancy * 64
    assert (blocks, limit) == min(record.tb_per_mp_limits)


@pytest.mark.parametrize(
    "use",
    [
        {"threads": 1025},
        {"threads": 32, "shared_mem": 49153},
        {"threads": 1024, "registers": 65},
    ],
)
def test_occupancy_beyond_the_device(use):
    data = tools.DeviceData(H200)
    with pytest.raises(ValueError, match="the device has"):
        tools.OccupancyRecord(data, **use)
    within = {name: value - 1 for name, value in use.items()}
    assert tools.OccupancyRecord(data, **{**within, "threads": use["threads"] - 1})


@pytest.mark.parametrize(
    ("name", "wrong", "least"),
    [
        ("threads", [0, -1, 256.5, float("nan"), float("inf")], 1),
        ("shared_mem", [-1, 0.5], 0),
        ("registers", [-1, 0.5], 0),
    ],
)
def test_occupancy_of_no_block(name, wrong, least):
    data = tools.DeviceData(H200)
    for value in wrong:
        with pytest.raises(ValueError, match=f"{name} must be a whole number"):
            tools.OccupancyRecord(data, **{"threads": 32, name: value})
    assert tools.OccupancyRecord(data, **{"threads": 32, name: least}).tb_per_mp == 32


def test_occupancy_takes_any_whole_number():
    data = tools.DeviceData(H200)
    whole = tools.OccupancyRecord(data, 200)
    for threads in (200.0, np.int32(200), np.uint8(200)):
        assert vars(tools.OccupancyRecord(data, threads)) == vars(whole)


def test_device_data_of_no_device():
    with pytest.raises(TypeError, match="dev must be a Device or None, not int"):
        tools.DeviceData(3)


def test_alignment():
    data = tools.DeviceData(H200)
    assert [data.align_bytes(size) for size in (4, 8, 16)] == [64, 128, 128]
    with pytest.raises(ValueError, match="2 bytes"):
        data.align_bytes(2)
    assert (data.align(1), data.align(64), data.align(65)) == (64, 64, 128)
    assert data.align(129, word_size=8) == 256
    assert (data.align_words(4), data.align_words(8)) == (16, 16)
    assert data.align_dtype(17, 4) == 32
    assert (data.coalesce(1), data.coalesce(16), data.coalesce(17)) == (16, 16, 32)


def test_texture_channels():
    count = tools.DeviceData.make_valid_tex_channel_count
    assert [count(size) for size in (1, 2, 3, 4)] == [1, 2, 4, 4]
    with pytest.raises(ValueError, match="at most 4"):
        count(5)


def test_small_arithmetic():
    assert tools._exact_div(12, 4) == 3
    with pytest.raises(AssertionError):
        tools._exact_div(13, 4)
    assert [tools._int_ceiling(n, 8) for n in (0, 1, 8, 9)] == [0, 8, 8, 16]
    assert [tools._int_floor(n, 8) for n in (0, 7, 8, 17)] == [0, 0, 8, 16]
    assert (tools._int_ceiling(5), tools._int_floor(5)) == (5, 5)


# C types

NAMES = {
    np.bool_: "bool",
    np.int8: "signed char",
    np.uint8: "unsigned char",
    np.int16: "short",
    np.uint16: "unsigned short",
    np.int32: "int",
    np.uint32: "unsigned",
    np.int64: "long",
    np.uint64: "unsigned long",
    np.float32: "float",
    np.float64: "double",
    np.complex64: "pycuda::complex<float>",
    np.complex128: "pycuda::complex<double>",
}


@pytest.mark.parametrize(("dtype", "name"), NAMES.items())
def test_names_of_dtypes(dtype, name):
    assert tools.dtype_to_ctype(dtype) == name
    assert tools.base_dtype_to_ctype(np.dtype(dtype)) == name
    argument = tools.parse_c_arg(f"{name} x")
    assert argument.dtype == dtype
    assert argument.declarator() == f"{name} x"


@pytest.mark.parametrize("dtype", [None, np.float16, np.longdouble, ">f4", "S3", "V4"])
def test_dtypes_without_a_name(dtype):
    with pytest.raises(ValueError, match="dtype"):
        tools.dtype_to_ctype(dtype)


def test_texture_names():
    names = [
        tools.dtype_to_ctype(t, with_fp_tex_hack=True) for t in ("f", "d", "F", "D")
    ]
    assert names == ["fp_tex_float", "fp_tex_double", "fp_tex_cfloat", "fp_tex_cdouble"]
    assert tools.dtype_to_ctype(np.int32, with_fp_tex_hack=True) == "int"


@pytest.mark.parametrize(
    ("text", "kind", "dtype", "char"),
    [
        ("float x", tools.ScalarArg, "f4", "f"),
        ("const double  x", tools.ScalarArg, "f8", "d"),
        ("float *x", tools.VectorArg, "f4", "P"),
        ("const float* __restrict__ x", tools.VectorArg, "f4", "P"),
        ("int * const x", tools.VectorArg, "i4", "P"),
        ("volatile int x[]", tools.VectorArg, "i4", "P"),
        ("int x[ 16 ]", tools.VectorArg, "i4", "P"),
        ("unsigned x", tools.ScalarArg, "u4", "I"),
        ("unsigned int x", tools.ScalarArg, "u4", "I"),
        ("int unsigned x", tools.ScalarArg, "u4", "I"),
        ("signed x", tools.ScalarArg, "i4", "i"),
        ("char x", tools.ScalarArg, "i1", "b"),
        ("signed char x", tools.ScalarArg, "i1", "b"),
        ("unsigned char *x", tools.VectorArg, "u1", "P"),
        ("short int x", tools.ScalarArg, "i2", "h"),
        ("long unsigned int x", tools.ScalarArg, "u8", "L"),
        ("long long x", tools.ScalarArg, "i8", "l"),
        ("unsigned long long x", tools.ScalarArg, "u8", "L"),
        ("size_t x", tools.ScalarArg, "u8", "L"),
        ("uint8_t x", tools.ScalarArg, "u1", "B"),
        ("pycuda::complex<float> x", tools.ScalarArg, "c8", "F"),
        ("pycuda::complex< double > *x", tools.VectorArg, "c16", "P"),
    ],
)
def test_declarations(text, kind, dtype, char):
    argument = tools.parse_c_arg(text)
    assert type(argument) is kind
    assert argument.name == "x"
    assert argument.dtype == np.dtype(dtype)
    assert argument.struct_char == char
    assert tools.get_arg_type(text) == char


@pytest.mark.parametrize(
    "text", ["", "x", "float", "nothing x", "float **x", "float *x[]"]
)
def test_declarations_that_are_none(text):
    with pytest.raises(ValueError, match="'"):
        tools.parse_c_arg(text)


def test_arguments():
    argument = tools.VectorArg(np.float32, "x")
    assert argument.declarator() == "float *x"
    assert repr(argument) == "VectorArg('x', float32)"
    assert isinstance(argument, tools.Argument)


@pytest.fixture
def registry(monkeypatch):
    known = dtypes.TYPE_REGISTRY
    for name in ("name_to_dtype", "dtype_to_name"):
        monkeypatch.setattr(known, name, dict(getattr(known, name)))


def test_registered_structs(registry):
    pair = np.dtype([("a", np.int32), ("b", np.float32)])
    assert tools.get_or_register_dtype("pair", pair) == pair
    assert tools.get_or_register_dtype(["pair", "struct pair"], pair) == pair
    assert tools.get_or_register_dtype("pair") == pair
    assert tools.dtype_to_ctype(pair) == "pair"
    assert tools.parse_c_arg("const pair *p").dtype == pair
    assert tools.parse_c_arg("struct pair p").struct_char == "8s"
    with pytest.raises(RuntimeError, match="already means"):
        tools.get_or_register_dtype("pair", np.float32)
    with pytest.raises(KeyError):
        tools.get_or_register_dtype("unknown")


def test_register_dtype_is_deprecated(registry):
    pair = np.dtype([("a", np.int32), ("b", np.float64)])
    with pytest.deprecated_call():
        tools.register_dtype(pair, "pair")
    with pytest.deprecated_call(), pytest.raises(RuntimeError, match="'pair'"):
        tools.register_dtype(pair, "other")
    with pytest.deprecated_call():
        tools.register_dtype(pair, "other", alias_ok=True)
    assert tools.parse_c_arg("other x").dtype == pair
    assert tools.dtype_to_ctype(pair) == "pair"


def test_windows_has_a_short_long(registry, monkeypatch):
    tools._fill_dtype_registry(respect_windows=False)
    assert tools.parse_c_arg("long x").dtype == np.int64
    monkeypatch.setattr(dtypes, "os", types.SimpleNamespace(name="nt"))
    tools._fill_dtype_registry(respect_windows=True)
    assert tools.parse_c_arg("long x").dtype == np.int32
    assert tools.dtype_to_ctype(np.int32) == "int"
