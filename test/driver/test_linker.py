"""Linker, and the modules of pycuda.compiler that link several texts."""

import gc
import os
import threading
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, compiler
from pycuda._compile import toolkit
from pycuda.compiler import DynamicModule, DynamicSourceModule
from support.child import run_child

pytestmark = pytest.mark.gpu

PTX, LIBRARY = drv.jit_input_type.PTX, drv.jit_input_type.LIBRARY

HEAD = ".version 6.0\n.target sm_50\n.address_size 64\n"
#: A function, and a kernel that stores the function's result for its second argument.
TWICE = (
    HEAD
    + """
.visible .func (.param .u32 result) twice(.param .u32 value)
{
    .reg .u32 %r<3>;
    ld.param.u32 %r1, [value];
    add.u32 %r2, %r1, %r1;
    st.param.u32 [result], %r2;
    ret;
}
"""
).encode()
STORE = (
    HEAD
    + """
.extern .func (.param .u32 result) twice(.param .u32 value);
.visible .global .u32 calls;
.visible .entry store(.param .u64 out, .param .u32 value)
{
    .reg .u32 %r<4>;
    .reg .u64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    {
        .param .u32 in;
        .param .u32 back;
        st.param.u32 [in], %r1;
        call (back), twice, (in);
        ld.param.u32 %r2, [back];
    }
    st.global.u32 [%rd2], %r2;
    ret;
}
"""
).encode()


def stored(module, value):
    """Return the result of STORE's kernel for a value."""
    out = np.zeros(1, np.uint32)
    store = module.get_function("store")
    store(drv.Out(out), np.uint32(value), block=(1, 1, 1))
    return int(out[0])


class Heard(list):
    """A message handler that records its arguments."""

    def __call__(self, *message):
        self.append(message)


# -- Linker ----------------------------------------------------------------------------


def test_two_texts_make_one_module(ctx):
    heard = Heard()
    linker = drv.Linker(heard)
    assert linker.add_data(TWICE, PTX) is None
    assert linker.add_data(data=STORE, input_type=PTX, name="store.ptx") is None
    module = linker.link_module()
    assert type(module) is drv.Module
    assert stored(module, 21) == 42
    assert module.get_global("calls")[1] == 4
    ((ok, info, error),) = heard
    assert ok is True and isinstance(info, str) and error == ""


def test_every_kind_of_buffer(ctx):
    for kind in (
        bytes,
        bytearray,
        lambda text: memoryview(bytearray(text)),
        lambda text: np.frombuffer(text, np.uint8),
        lambda text: text + b"\0",
    ):
        linker = drv.Linker()
        linker.add_data(kind(TWICE), int(PTX))
        linker.add_data(kind(STORE), PTX)
        assert stored(linker.link_module(), 4) == 8


def test_files(ctx, tmp_path):
    for name, text in (("twice.ptx", TWICE), ("störe.ptx", STORE)):
        (tmp_path / name).write_bytes(text)
    linker = drv.Linker()
    linker.add_file(tmp_path / "twice.ptx", PTX)
    linker.add_file(filename=os.fsencode(tmp_path / "störe.ptx"), input_type=PTX)
    assert stored(linker.link_module(), 3) == 6


def test_a_file_that_is_not_there(ctx, tmp_path):
    path = tmp_path / "nothing.ptx"
    with pytest.raises(drv.RuntimeError, match=f"{path}$") as caught:
        drv.Linker().add_file(str(path), PTX)
    assert caught.value.name == "CUDA_ERROR_FILE_NOT_FOUND"
    with pytest.raises(ValueError, match="null"):
        drv.Linker().add_file("a\0b", PTX)


def test_options_are_pairs(ctx):
    options = [(drv.jit_option.MAX_REGISTERS, 32), (7, np.int64(3))]
    linker = drv.Linker(None, iter(options), True)
    linker.add_data(TWICE, PTX)
    linker.add_data(STORE, PTX)
    assert stored(linker.link_module(), 1) == 2
    for wrong in ([(drv.jit_option.TARGET,)], [3], 5):
        with pytest.raises(TypeError):
            drv.Linker(None, wrong)
    with pytest.raises(ValueError, match="at most 40 options"):
        drv.Linker(None, [(drv.jit_option.MAX_REGISTERS, 32)] * 41)


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: drv.Linker(message_handler=None), TypeError, "message_handler"),
        (lambda: drv.Linker(1, 2, 3, 4), TypeError, r"at most 3 arguments \(4 given"),
        (lambda: drv.Linker().add_data(TWICE), TypeError, "'input_type'"),
        (lambda: drv.Linker().add_data("text", PTX), TypeError, "bytes, not str"),
        (lambda: drv.Linker().add_data(5, PTX), TypeError, "data must be an array or"),
        (lambda: drv.Linker().add_data(TWICE, "PTX"), TypeError, "input_type must be"),
        (
            lambda: drv.Linker().add_data(TWICE, drv.jit_option.TARGET),
            TypeError,
            "jit_input_type or an int, not pycuda._driver.jit_option",
        ),
        (lambda: drv.Linker().add_data(TWICE, PTX, b"n"), TypeError, "name must be a"),
        (lambda: drv.Linker().add_data(TWICE, PTX, "a\0"), ValueError, "null char"),
        (lambda: drv.Linker().add_file(5, PTX), TypeError, "int"),
        (lambda: drv.Linker().link_module(1), TypeError, "takes no arguments"),
    ],
)
def test_wrong_arguments(ctx, call, error, said):
    with pytest.raises(error, match=said):
        call()


def test_a_link_that_fails_says_why_and_ends(ctx):
    heard = Heard()
    linker = drv.Linker(heard)
    linker.add_data(STORE, PTX, "store.ptx")
    with pytest.raises(drv.Error) as caught:
        linker.link_module()
    ((ok, _, error),) = heard
    assert ok is False and "twice" in error
    assert str(caught.value).endswith(error)
    assert caught.value.routine == "cuLinkComplete"
    for again in (linker.link_module, lambda: linker.add_data(TWICE, PTX)):
        with pytest.raises(drv.LogicError, match="released before"):
            again()


def test_damaged_text_fails_at_the_latest_when_linked(ctx):
    heard = Heard()
    linker = drv.Linker(heard)
    with pytest.raises(drv.Error):
        linker.add_data(b".version 6.0 rubbish", PTX, "rubbish.ptx")
        linker.link_module()
    assert len(heard) == 1 and heard[0][0] is False


def test_it_links_once(ctx):
    linker = drv.Linker()
    linker.add_data(TWICE, PTX)
    linker.link_module()
    with pytest.raises(drv.LogicError, match="cuLinkComplete failed.*released before"):
        linker.link_module()


def test_what_the_handler_raises_goes_through(ctx):
    def handler(ok, info, error):
        raise ZeroDivisionError("mine")

    before = _driver._live_counts()["module"]
    for texts in ([TWICE, STORE], [STORE]):  # a success and a failure
        linker = drv.Linker(handler)
        for text in texts:
            linker.add_data(text, PTX)
        with pytest.raises(ZeroDivisionError, match="mine"):
            linker.link_module()
    assert _driver._live_counts()["module"] == before


def test_the_handler_may_begin_again(ctx):
    """The handler sees a finished linker, and can use it for another link."""

    def handler(ok, info, error):
        with pytest.raises(drv.LogicError):
            linker.add_data(TWICE, PTX)
        linker.__init__()
        linker.add_data(TWICE, PTX)

    linker = drv.Linker(handler)
    linker.add_data(TWICE, PTX)
    first = linker.link_module()
    second = linker.link_module()
    assert first is not second
    assert _driver._live_counts()["link"] == 0


def test_init_again_drops_what_was_added(ctx):
    linker = drv.Linker()
    linker.add_data(STORE, PTX)
    linker.__init__()
    assert _driver._live_counts()["link"] == 1
    linker.add_data(TWICE, PTX)
    linker.link_module()


def test_a_context_is_needed():
    with pytest.raises(drv.LogicError, match="cuLinkCreate failed.*no current context"):
        drv.Linker()


def test_it_works_in_its_own_context(ctx):
    linker = drv.Linker()
    linker.add_data(TWICE, PTX)
    other = drv.Device(0).make_context()
    linker.add_data(STORE, PTX)
    module = linker.link_module()
    assert drv.Context.get_current() == other
    other.pop()
    assert stored(module, 5) == 10
    drv.Linker()  # released while no context is current, and after the other ended
    other.detach()


def test_a_linker_of_a_context_that_ended():
    context = drv.Device(0).make_context()
    linker = drv.Linker()
    context.pop()
    context.detach()
    with pytest.raises(drv.LogicError, match="was detached"):
        linker.add_data(TWICE, PTX)
    with pytest.raises(drv.LogicError, match="was detached"):
        linker.link_module()


def test_a_linker_without_init(ctx):
    blank = drv.Linker.__new__(drv.Linker)
    with pytest.raises(drv.LogicError, match="__init__ of this .*Linker was not"):
        blank.link_module()


def test_it_is_collected_with_its_handler(ctx):
    class Named(drv.Linker):
        pass

    heard = Heard()
    heard.linker = Named(heard)
    gone = weakref.ref(heard.linker)
    del heard
    gc.collect()
    assert gone() is None
    assert _driver._live_counts()["link"] == 0


def test_threads_link_apart(ctx):
    results = {}

    def work(number):
        with ctx:
            linker = drv.Linker()
            linker.add_data(TWICE, PTX)
            linker.add_data(STORE, PTX)
            results[number] = stored(linker.link_module(), number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2 * n for n in range(8)}


#: The software device reads the pipe until its other end is closed.
BUSY = """
import os, sys, threading
import pycuda.driver as drv

drv.init()
context = drv.Device(0).make_context()
linker = drv.Linker()
os.mkfifo("pipe")

def work():
    with context:
        linker.add_file("pipe", drv.jit_input_type.PTX)

thread = threading.Thread(target=work)
thread.start()
with open("pipe", "wb") as pipe:  # waits for the reader, who is inside the call
    for use in (
        lambda: linker.add_data(b"x", 1),
        linker.link_module,
        linker.__init__,
    ):
        try:
            use()
        except drv.LogicError as error:
            print(error)
    pipe.write({text!r})
thread.join()
linker.link_module()
context.pop()
"""


def test_one_thread_at_a_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code = BUSY.replace("{text!r}", repr(TWICE))
    said = run_child(code, PYCUDA_DRIVER="emulator").stdout.splitlines()
    calls = ("cuLinkAddData", "cuLinkComplete", "cuLinkCreate")
    assert said == [
        f"{call} failed: invalid resource handle - another thread is using this Linker"
        for call in calls
    ]


#: Each driver call fails in turn, and nothing may be left.
FAULTS = """
import ctypes, gc, os
import pycuda, pycuda.driver as drv
from pycuda import _driver

drv.init()
lib = ctypes.CDLL(os.path.join(os.path.dirname(pycuda.__file__),
                               "libpycuda_emulator.so"))
lib.emu_fault_fired.restype = ctypes.c_ulonglong
own = drv.Device(0).make_context()

def work(linker):
    linker.add_data({twice!r}, 1)
    linker.add_data({store!r}, 1)
    linker.link_module()

def sweep(begin, attempt):
    for n in range(1, 100):
        begun, fired, failed = begin(), lib.emu_fault_fired(), 0
        current = drv.Context.get_current()
        assert lib.emu_fault_set(None, n, 999) == 0
        try:
            attempt(begun)
        except drv.Error as error:
            assert error.code == 999, error
            failed = 1
        fired = lib.emu_fault_fired() - fired
        lib.emu_fault_clear()
        del begun
        gc.collect()
        assert drv.Context.get_current() == current
        counts = _driver._live_counts()
        assert counts["link"] == counts["module"] == 0
        if not fired:
            return
        yield failed

print(*sweep(lambda: None, lambda none: work(drv.Linker(lambda *said: None))))

def begin():
    with own:
        return drv.Linker()

other = drv.Device(0).make_context()
print(*sweep(begin, work))
other.pop()
own.pop()
"""


def test_each_call_that_fails():
    """It raises an exception, unless the clean-up retries it or warns."""
    code = FAULTS.replace("{twice!r}", repr(TWICE)).replace("{store!r}", repr(STORE))
    done = run_child(code, check=False, PYCUDA_DRIVER="emulator")
    assert done.returncode == 0, done.stderr
    current, foreign = (line.split() for line in done.stdout.splitlines())
    assert current[:4] == ["1"] * 4  # begin, add twice, link
    assert foreign.count("1") >= 5


# -- DynamicModule ---------------------------------------------------------------------

TWO_FILES = (
    "extern __device__ int shared_by_both;\n"
    "__device__ int scale(int x) { return shared_by_both * x; }\n",
    "__device__ int shared_by_both = 7;\n"
    "__device__ int scale(int x);\n"
    "__global__ void scaled(int *a) { a[threadIdx.x] = scale(a[threadIdx.x]); }\n",
)

FAMILY = """
__global__ void child(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) a[i] += 1;
}
__global__ void parent(int *a, int n)
{
    if (threadIdx.x == 0) child<<<(n + 31) / 32, 32>>>(a, n);
}
"""


def test_two_files_link(ctx):
    heard = Heard()
    module = DynamicModule(message_handler=heard)
    assert module.module is None and type(module.linker) is drv.Linker
    for text in TWO_FILES:
        assert module.add_source(text, nvcc_options=["-rdc=true"]) is module
    assert module.link() is module
    assert module.linker is None and type(module.module) is drv.Module
    values = np.arange(10, dtype=np.int32)
    module.get_function("scaled")(drv.InOut(values), block=(10, 1, 1))
    assert (values == 7 * np.arange(10)).all()
    assert module.get_global("shared_by_both")[1] == 4
    assert [message[0] for message in heard] == [True]


def test_all_ways_of_adding(ctx, tmp_path):
    (tmp_path / "twice.ptx").write_bytes(TWICE)
    module = DynamicModule()
    assert module.add_data(STORE, PTX, name="store.ptx") is module
    assert module.add_file(str(tmp_path / "twice.ptx"), PTX) is module
    assert stored(module.link(), 8) == 16


def test_it_is_linked_once(ctx):
    module = DynamicModule().add_data(TWICE, PTX)
    with pytest.raises(RuntimeError, match="no functions before link"):
        module.get_function("twice")
    module.link()
    for again in (
        module.link,
        lambda: module.add_data(TWICE, PTX),
        lambda: module.add_source("", nvcc_options=[]),
        lambda: module.add_file("x", PTX),
        lambda: module.add_stdlib("cudadevrt"),
    ):
        with pytest.raises(RuntimeError, match="DynamicModule was linked before"):
            again()


def test_a_link_that_failed_is_over_too(ctx):
    module = DynamicModule().add_data(STORE, PTX)
    with pytest.raises(drv.Error, match="twice"):
        module.link()
    assert module.linker is None and module.module is None


def test_options_of_the_compilation_are_kept(ctx, tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 3\n")
    module = DynamicModule(
        "nvcc", None, False, True, None, None, False, [str(tmp_path)]
    )
    assert (module.nvcc, module.keep, module.no_extern_c) == ("nvcc", False, True)
    assert (module.arch, module.code, module.cache_dir) == (None, None, False)
    assert module.include_dirs == [str(tmp_path)] and module.cuda_libdir is None
    assert module.libptn == "lib%s.a"
    module.add_source(
        '#include "value.h"\n'
        "template <int n> __device__ int f() { return n; }\n"
        'extern "C" __global__ void put(int *a) { *a = f<VALUE>(); }\n'
    ).link()
    out = np.zeros(1, np.int32)
    module.get_function("put")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 3


def test_a_kernel_launches_a_kernel(ctx):
    module = DynamicSourceModule(FAMILY, cache_dir=False)
    values = np.arange(1000, dtype=np.int32)
    parent = module.get_function("parent")
    parent(drv.InOut(values), np.int32(1000), block=(32, 1, 1))
    assert (values == np.arange(1000) + 1).all()
    assert module.linker is None


def test_options_that_are_there_are_not_doubled(ctx, monkeypatch):
    seen = []
    real = compiler.compile

    def spy(source, *, options, **how):
        seen.append(options)
        return real(source, options=options, **how)

    monkeypatch.setattr(compiler, "compile", spy)
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", ["-O2"])
    added = ["-rdc=true", "-lcudadevrt"]
    mine = ["--relocatable-device-code=true", "-lcudadevrt"]
    DynamicSourceModule(FAMILY)
    DynamicSourceModule(FAMILY, options=[])
    DynamicSourceModule(FAMILY, options=mine)
    assert seen == [["-O2", *added], added, mine]
    assert compiler.DEFAULT_NVCC_FLAGS == ["-O2"]
    assert mine == ["--relocatable-device-code=true", "-lcudadevrt"]


def test_a_module_needs_a_context():
    with pytest.raises(drv.LogicError, match="no current context"):
        DynamicModule()


def test_an_old_device_cannot_link(ctx, monkeypatch):

    class Old:
        @staticmethod
        def get_device():
            return Old()

        def compute_capability(self):
            return (3, 0)

    monkeypatch.setattr(drv, "Context", Old)
    with pytest.raises(RuntimeError, match="3.5, and this device has 3.0"):
        DynamicModule()


# -- the toolkit's libraries -----------------------------------------------------------


@pytest.fixture
def no_toolkit(monkeypatch, tmp_path):
    for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolkit, "homes", lambda: [])
    monkeypatch.setattr(toolkit, "in_wheels", lambda parts: [])
    return tmp_path


def place(folder, name="libcudadevrt.a"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(b"!<arch>\n")
    return str(folder)


def located(**how):
    module = DynamicModule(**how)
    assert (module.libdir, module.libptn) == module._locate_cuda_libdir()
    return module.libdir


def test_where_the_libraries_are_looked_for(ctx, no_toolkit, monkeypatch):
    here = no_toolkit
    nvcc = here / "toolkit" / "bin" / "nvcc"
    nvcc.parent.mkdir(parents=True)
    nvcc.write_text("")
    nvcc.chmod(0o755)
    beside = place(here / "toolkit" / "lib64")
    assert located(nvcc=str(nvcc)) == beside
    monkeypatch.setenv("PATH", str(nvcc.parent))
    assert located() == beside

    on_path = place(here / "libraries")
    monkeypatch.setenv("LD_LIBRARY_PATH", f"{here}/nothing:{on_path}")
    assert located() == on_path

    rooted = place(here / "root" / "lib64")
    monkeypatch.setenv("CUDA_ROOT", str(here / "root"))
    assert located() == rooted

    assert located(cuda_libdir=str(here / "anywhere")) == str(here / "anywhere")


def test_no_library_anywhere(ctx, no_toolkit):
    module = DynamicModule()
    assert module.libdir is None
    with pytest.raises(RuntimeError, match="libcudadevrt.a was not found.*cuda_libdir"):
        module._locate_cuda_libdir()
    with pytest.raises(RuntimeError, match="was not found"):
        module.add_stdlib("cublas_device")
    module.add_data(TWICE, PTX).link()  # which needs none


def test_a_library_that_is_not_in_its_folder(ctx, tmp_path):
    module = DynamicModule(cuda_libdir=str(tmp_path))
    with pytest.raises(OSError, match="no such library") as caught:
        module.add_stdlib("nothing")
    assert caught.value.filename == str(tmp_path / "libnothing.a")
