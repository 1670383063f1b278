"""Threads without a context, which use the context of pycuda.autoinit, and threads in
which another library has changed the driver's current context.
"""

import asyncio
import ctypes
import gc
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from ctypes import byref, c_uint64, c_void_p

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.driver import module_from_buffer
from pycuda.elementwise import ElementwiseKernel
from pycuda.interop import to_gpuarray
from pycuda.tools import DeviceMemoryPool, context_dependent_memoize
from support.child import run_child
from support.emulator import Driver
from support.faults import fail_calls  # noqa: F401
from support.no_context import library

pytestmark = pytest.mark.gpu

KERNEL = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .entry one(.param .u64 where) {
    .reg .b64 %rd<3>;
    .reg .b32 %r<2>;
    ld.param.u64 %rd1, [where];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [%rd2];
    add.u32 %r1, %r1, 1;
    st.global.u32 [%rd2], %r1;
    ret;
}
"""

NONE = "this thread has no current context"


def in_thread(function, *arguments):
    """Call in a new thread. Return the result or raise the exception here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


@pytest.fixture
def lent(ctx):
    """A context that all threads may use, on the stack of this thread."""
    _driver._lend_to_threads(ctx)
    yield ctx
    _driver._lend_to_threads(None)


@pytest.fixture(scope="module")
def raw():
    return Driver(library())


def current(raw):
    """Return the handle of the driver's current context, or None."""
    return raw.out(c_void_p, "CtxGetCurrent")


def owner(raw, memory):
    """Return the handle of the context of an address."""
    return raw.out(c_void_p, "PointerGetAttribute", 1, c_uint64(int(memory)))


# -- what works in a thread without a context


def launch():
    memory = drv.to_device(np.zeros(1, np.int32))
    function = module_from_buffer(KERNEL).get_function("one")
    function(memory, block=(1, 1, 1))
    function.prepare("P").prepared_call((1, 1), (1, 1, 1), memory)
    return drv.from_device(memory, 1, np.int32)[0] == 2


def stream_block():
    with drv.Stream() as stream:
        assert drv.Stream.get_current() == stream
        return (gpuarray.arange(4, dtype=np.int32) + 1).get().sum() == 10


def in_out():
    value = np.zeros(1, np.int32)
    module_from_buffer(KERNEL).get_function("one")(drv.InOut(value), block=(1, 1, 1))
    return value[0] == 1


def kernels():
    double = ElementwiseKernel("float *x", "x[i] *= 2", "double_it")
    x = gpuarray.to_gpu(np.ones(8, np.float32))
    double(x)
    return gpuarray.sum(x + x).get() == 32


def pool():
    pool = DeviceMemoryPool()
    memory = pool.allocate(100)
    drv.memset_d8(int(memory), 3, 100)
    return (drv.from_device(memory, 100, np.uint8) == 3).all()


def page():
    page = drv.pagelocked_zeros(4, np.int32)
    memory = drv.mem_alloc(16)
    drv.memset_d32(memory, 7, 4)
    drv.memcpy_dtoh_async(page, memory, drv.Stream())
    drv.Context.synchronize()
    return (page == 7).all()


def events():
    start, end = drv.Event(), drv.Event()
    start.record()
    end.record()
    end.synchronize()
    return end.time_since(start) >= 0


def copies():
    a, b = drv.mem_alloc(64), drv.mem_alloc(64)
    drv.memset_d8(a, 5, 64)
    copy = drv.Memcpy2D()
    copy.set_src_device(a)
    copy.set_dst_device(b)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 16
    copy.height = 4
    copy(aligned=True)
    return (drv.from_device(b, 64, np.uint8) == 5).all()


WORK = {
    "alloc": lambda: drv.mem_alloc(16) is not None,
    "launch": launch,
    "in_out": in_out,
    "stream_block": stream_block,
    "kernels": kernels,
    "pool": pool,
    "page": page,
    "events": events,
    "copies": copies,
    "info": lambda: drv.mem_get_info()[0] > 0,
    "device": lambda: drv.Context.get_device() == drv.Device(0),
    "limit": lambda: drv.Context.get_limit(drv.limit.STACK_SIZE) > 0,
    "synchronize": lambda: drv.Context.synchronize() is None,
    "array": lambda: drv.np_to_array(np.ones((2, 2), np.float32), "C") is not None,
    "managed": lambda: drv.managed_zeros(4, np.int32).sum() == 0,
}


@pytest.mark.parametrize("name", WORK)
def test_works_in_the_lent_context(lent, raw, name):
    def body():
        assert WORK[name]()
        return drv.Context.get_current(), current(raw)

    assert in_thread(body) == (None, lent.handle)
    _driver._lend_to_threads(None)
    with pytest.raises(drv.LogicError, match=NONE):
        in_thread(WORK[name])


# -- the thread's stack stays empty


def test_nothing_is_on_the_stack(lent):
    def body():
        assert drv.Context.get_current() is None
        memory = drv.mem_alloc(16)
        assert drv.Context.get_current() is None
        while drv.Context.get_current() is not None:  # as programs empty the stack
            drv.Context.pop()
        with pytest.raises(drv.LogicError, match="stack of contexts is empty"):
            drv.Context.pop()
        with pytest.raises(drv.LogicError, match="stack of contexts is empty"):
            lent.pop()
        drv.memset_d8(memory, 0, 16)  # and it works on

    in_thread(body)


def test_push_and_pop_around_the_work(lent, raw):
    def body():
        lent.push()
        assert drv.Context.get_current() == lent
        memory = drv.mem_alloc(16)
        lent.pop()
        assert drv.Context.get_current() is None
        assert current(raw) is None  # other libraries find the thread as it was
        drv.memset_d8(memory, 0, 16)
        with lent:
            drv.memset_d8(memory, 0, 16)
        assert drv.Context.get_current() is None

    in_thread(body)


def test_a_context_of_the_threads_own_goes_first(lent, raw):
    def body():
        before = drv.mem_alloc(16)
        own = drv.Device(0).make_context()
        assert drv.Context.get_current() == own
        memory = drv.mem_alloc(16)
        own.pop()
        after = drv.mem_alloc(16)
        owners = [owner(raw, x) for x in (before, memory, after)]
        assert owners == [lent.handle, own.handle, lent.handle]
        own.detach()

    in_thread(body)


def test_memoized_results_are_those_of_the_lent_context(lent):
    @context_dependent_memoize
    def made():
        return object()

    assert in_thread(made) is made()
    lent.pop()
    assert in_thread(made) is made()
    lent.push()


def test_what_a_thread_made_outlives_it(lent):
    array = in_thread(lambda: gpuarray.to_gpu(np.arange(5)))
    assert (array + 1).get().tolist() == [1, 2, 3, 4, 5]
    stream, event = in_thread(lambda: (drv.Stream(), drv.Event()))
    event.record(stream)
    event.synchronize()


# -- the lent context ends


def test_after_it_was_popped_in_the_main_thread(lent):
    lent.pop()
    assert in_thread(WORK["kernels"])
    assert drv.Context.get_current() is None
    assert WORK["kernels"]()  # in the main thread, too: nothing else is there
    lent.push()


def test_after_it_was_detached():
    context = drv.Device(0).make_context()
    _driver._lend_to_threads(context)
    begun, ended, errors = threading.Event(), threading.Event(), []

    def body():
        memory = drv.mem_alloc(16)
        begun.set()
        ended.wait(10)
        for call in (drv.mem_alloc, lambda size: drv.memset_d8(memory, 0, size)):
            try:
                call(16)
            except drv.LogicError as error:
                errors.append(str(error))

    thread = threading.Thread(target=body)
    thread.start()
    begun.wait(10)
    context.detach()
    ended.set()
    thread.join()
    assert NONE in errors[0] and "detached" in errors[1]
    with pytest.raises(drv.LogicError, match=NONE):
        in_thread(drv.mem_alloc, 16)
    _driver._lend_to_threads(None)


def test_after_the_program_dropped_it():
    context = drv.Device(0).make_context()
    _driver._lend_to_threads(context)
    context.pop()
    del context
    gc.collect()
    with pytest.raises(drv.LogicError, match=NONE):
        in_thread(drv.mem_alloc, 16)
    _driver._lend_to_threads(None)


def test_only_a_context_is_lent(ctx):
    with pytest.raises(TypeError, match="must be a Context or None, not int"):
        _driver._lend_to_threads(3)


def test_programs_with_contexts_of_their_own_keep_the_error(ctx):
    with pytest.raises(drv.LogicError, match=NONE):
        in_thread(drv.mem_alloc, 16)


@pytest.mark.parametrize("name", ["cuCtxPushCurrent", "cuCtxGetCurrent"])
def test_when_the_driver_refuses_the_lent_context(lent, fail_calls, name):  # noqa: F811
    def body():
        fail_calls(name, 1)
        with pytest.raises(drv.LogicError) as caught:
            drv.mem_alloc(16)
        assert caught.value.routine == name
        assert drv.mem_alloc(16)  # the next call tries again

    in_thread(body)


@pytest.mark.parametrize("name", ["cuCtxSetCurrent", "cuCtxGetCurrent"])
def test_when_the_driver_does_not_change_back(ctx, raw, foreign, fail_calls, name):  # noqa: F811
    raw.ok("CtxSetCurrent", foreign)
    fail_calls(name, 1)
    with pytest.raises(drv.LogicError) as caught:
        drv.mem_alloc(16)
    assert caught.value.routine == name
    assert owner(raw, drv.mem_alloc(16)) == ctx.handle


# -- every kind of thread


def square(x):
    return int((gpuarray.to_gpu(np.full(3, x)) ** 2).get()[0])


def test_a_pool_of_threads(lent):
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(square, range(20))) == [x * x for x in range(20)]


def test_asyncio_to_thread(lent):
    async def main():
        return await asyncio.gather(*(asyncio.to_thread(square, x) for x in range(8)))

    assert asyncio.run(main()) == [x * x for x in range(8)]


def test_a_thread_of_c(lent):
    """A thread that Python did not start makes two callbacks."""
    libc, seen = ctypes.CDLL(None), []

    @ctypes.CFUNCTYPE(c_void_p, c_void_p)
    def body(argument):
        seen.append(square(7))
        return None

    for _ in range(2):
        thread = ctypes.c_ulong()
        assert libc.pthread_create(byref(thread), None, body, None) == 0
        assert libc.pthread_join(thread, None) == 0
    assert seen == [49, 49]


@pytest.mark.software(why="a real driver may crash on a dead handle")
@pytest.mark.parametrize("leave", ["pop", "detach"])
def test_contexts_below_the_top_that_another_library_ended(ctx, raw, leave):
    """They are removed with the top. Using one of them is an error."""
    below = [drv.Device(0).make_context() for _ in range(2)]
    top = drv.Device(0).make_context()
    for context in below:
        raw.ok("CtxDestroy", c_void_p(context.handle))
    assert drv.Context.get_current() is top
    (drv.Context.pop if leave == "pop" else top.detach)()
    assert drv.Context.get_current() is ctx
    drv.mem_alloc(16).free()
    with pytest.raises(drv.LogicError, match="another library has ended this context"):
        below[0].push()
    assert drv.Context.get_current() is ctx
    if leave == "pop":
        top.detach()


# -- another library's context


@pytest.fixture
def foreign(raw):
    """A context that is unknown to the package."""
    context = raw.context()
    raw.ok("CtxPopCurrent", byref(c_void_p()))
    yield context
    raw.ok("CtxDestroy", context)


@pytest.mark.parametrize("name", WORK)
def test_calls_after_another_library_changed_the_context(ctx, raw, foreign, name):
    raw.ok("CtxSetCurrent", foreign)
    assert WORK[name]()
    assert current(raw) == ctx.handle


@pytest.mark.parametrize("name", WORK)
def test_in_a_thread_where_another_library_works(lent, raw, foreign, name):
    def body():
        raw.ok("CtxSetCurrent", foreign)
        assert WORK[name]()
        raw.ok("CtxSetCurrent", foreign)
        assert WORK[name]()

    in_thread(body)


def test_each_call_looks_again(ctx, raw, foreign):
    """Use existing objects right after calls of the other library."""
    function = module_from_buffer(KERNEL).get_function("one")
    memory = drv.to_device(np.zeros(1, np.int32))
    event, x = drv.Event(), gpuarray.to_gpu(np.arange(3))
    for call in (
        lambda: function(memory, block=(1, 1, 1)),
        lambda: event.record(),
        lambda: event.synchronize(),
        lambda: (x + x).get(),
        lambda: x.fill(3),
        lambda: drv.memset_d8(memory, 0, 4),
        lambda: drv.memcpy_dtod(memory, x.gpudata, 4),
        lambda: drv.Context.synchronize(),
        lambda: x.get(),
    ):
        raw.ok("CtxSetCurrent", foreign)
        call()


def test_what_is_made_belongs_to_the_thread_s_context(ctx, raw, foreign):
    """This includes pools and linkers, which enter their own context."""
    memory = drv.to_device(np.zeros(1, np.int32))
    pool, linker = DeviceMemoryPool(), drv.Linker()
    linker.add_data(KERNEL, drv.jit_input_type.PTX, "one")
    raw.ok("CtxSetCurrent", foreign)
    assert owner(raw, drv.mem_alloc(8)) == ctx.handle
    raw.ok("CtxSetCurrent", foreign)
    page = drv.pagelocked_empty(4, "i4").base
    assert owner(raw, page.get_device_pointer()) == ctx.handle
    raw.ok("CtxSetCurrent", foreign)
    assert owner(raw, pool.allocate(1000)) == ctx.handle
    raw.ok("CtxSetCurrent", foreign)
    module = linker.link_module()
    module.get_function("one")(memory, block=(1, 1, 1))
    assert drv.from_device(memory, 1, np.int32)[0] == 1


@pytest.mark.gpus(2)
def test_the_current_device_of_another_library(ctx, raw):
    """After a call like torch.cuda.set_device(1), our next call uses our device."""
    second = drv.Device(1).retain_primary_context()
    raw.ok("CtxSetCurrent", c_void_p(second.handle))
    assert drv.Context.get_device() == drv.Device(0)
    assert owner(raw, drv.mem_alloc(16)) == ctx.handle
    second.detach()


def test_without_a_context_of_ours_another_library_s_is_used(raw, foreign):
    raw.ok("CtxPushCurrent", foreign)
    memory = drv.mem_alloc(16)
    assert owner(raw, memory) == foreign.value == current(raw)
    del memory
    gc.collect()
    raw.ok("CtxPopCurrent", byref(c_void_p()))


class WithInterface:
    """An array of another library."""

    def __init__(self, array):
        self.array = array
        self.__cuda_array_interface__ = array.__cuda_array_interface__


def test_arrays_of_another_library_where_only_its_context_is_current(raw, foreign):
    raw.ok("CtxPushCurrent", foreign)
    array = gpuarray.to_gpu(np.arange(4))
    shared = to_gpuarray(WithInterface(array))
    assert shared.get().tolist() == [0, 1, 2, 3]
    del shared
    raw.ok("CtxPopCurrent", byref(c_void_p()))
    with pytest.raises(drv.LogicError, match=NONE):
        to_gpuarray(WithInterface(array))
    raw.ok("CtxPushCurrent", foreign)
    del array
    gc.collect()
    raw.ok("CtxPopCurrent", byref(c_void_p()))


def test_what_dies_while_another_context_is_current(ctx, raw, foreign, recwarn):
    function = module_from_buffer(KERNEL).get_function("one")
    held = [
        function,
        drv.Stream(),
        drv.Event(),
        drv.mem_alloc(8),
        gpuarray.zeros(3, "f4"),
    ]
    held += [drv.pagelocked_empty(4, "i4"), drv.np_to_array(np.ones((2, 2), "f4"), "C")]
    held += [drv.managed_empty(4, "i4")]
    del function
    while held:
        raw.ok("CtxSetCurrent", foreign)
        held.pop()
        gc.collect()
    assert not recwarn.list
    drv.Context.synchronize()


# -- whole programs


def test_environment_forbids():
    run_child(
        """
        import threading
        import pycuda.autoinit, pycuda.driver as drv

        def body():
            try:
                drv.mem_alloc(16)
            except drv.LogicError as error:
                print(error)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        """,
        PYCUDA_AUTOINIT_THREADS="0",
    ).stdout.index(NONE)


def test_after_a_fork():
    out = run_child(
        """
        import os, threading
        import pycuda.autoinit, pycuda.driver as drv
        from pycuda import gpuarray

        def body():
            try:
                drv.mem_alloc(16)
            except drv.LogicError as error:
                print("was forked" in str(error), flush=True)

        thread = threading.Thread(target=lambda: gpuarray.zeros(3, "f4"))
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            thread = threading.Thread(target=body)
            thread.start()
            thread.join()
            os._exit(0)
        os.waitpid(child, 0)
        """,
        PYTHONWARNINGS="ignore",
    ).stdout  # Python 3.12 warns of forks with threads
    assert out == "True\n"


def test_at_exit():
    """Threads still work when the interpreter exits, with objects in many places."""
    out = run_child("""
        import atexit, threading, time
        import pycuda.autoinit, pycuda.driver as drv
        from pycuda import gpuarray

        kept, started = [], threading.Event()

        def forever():
            x = gpuarray.zeros(100, "f4")
            kept.append(x)
            while True:
                kept[:] = [x + 1, drv.mem_alloc(16), drv.Stream()]
                started.set()

        class Late:
            def __init__(self):
                self.memory = drv.mem_alloc(16)

            def __del__(self):
                self.memory.free()

        def quiet():
            try:
                forever()
            except drv.Error:
                pass  # the context has gone

        threading.Thread(target=quiet, daemon=True).start()
        def slow():
            time.sleep(0.2)
            kept.append(drv.mem_alloc(16))

        threading.Thread(target=slow).start()  # the interpreter waits for it
        atexit.register(lambda: print("end"))
        late = Late()
        started.wait()
        """).stdout
    assert out == "end\n"


#: The uses of autoinit's context in programs.
OLD_PROGRAMS = {
    "pop and detach at the end": """
        autoinit.context.pop()
        autoinit.context.detach()
    """,
    "detach, then a context of its own": """
        autoinit.context.detach()
        assert drv.Context.get_current() is None
        context = drv.Device(0).make_context(flags=drv.ctx_flags.SCHED_YIELD)
        assert works()
        context.pop()
        context.detach()
    """,
    "detach at exit": """
        import atexit
        atexit.register(autoinit.context.detach)
    """,
    "pop at exit": """
        import atexit
        atexit.register(autoinit.context.pop)
        kept = drv.mem_alloc(16)
    """,
    "one more context": """
        other = drv.Device(0).make_context()
        assert other != autoinit.context and drv.Context.get_current() == other
        assert works()
        other.pop()
        assert drv.Context.get_current() == autoinit.context
        other.detach()
    """,
    "make_default_context": """
        from pycuda.tools import make_default_context
        context = make_default_context()
        assert context != autoinit.context and works()
        context.pop()
        context.detach()
    """,
    "settings": """
        drv.Context.set_limit(drv.limit.STACK_SIZE, 4096)
        assert autoinit.context.get_limit(drv.limit.STACK_SIZE) == 4096
        autoinit.context.set_cache_config(drv.func_cache.PREFER_L1)
        autoinit.context.synchronize()
        assert autoinit.context.get_device() == autoinit.device
        assert autoinit.context.get_api_version() > 3000
    """,
    "push and pop in a thread": """
        def body():
            autoinit.context.push()
            try:
                assert works()
            finally:
                autoinit.context.pop()
            assert drv.Context.get_current() is None

        in_thread(body)
    """,
    "pop in the main thread, push in another": """
        autoinit.context.pop()

        def body():
            autoinit.context.push()
            assert works()
            drv.Context.pop()

        in_thread(body)
        autoinit.context.push()
    """,
    "a context in each thread": """
        def body():
            context = autoinit.device.make_context()
            assert context != autoinit.context and works()
            context.pop()
            context.detach()

        in_thread(body)
        in_thread(body)
    """,
    "del": """
        autoinit.context.pop()
        del autoinit.context
    """,
    "None": """
        autoinit.context = None
    """,
    "get_current": """
        assert drv.Context.get_current() == autoinit.context
        assert hash(drv.Context.get_current()) == hash(autoinit.context)
        assert {autoinit.context: 1}[drv.Context.get_current()] == 1
    """,
    "empties the stack": """
        while drv.Context.get_current() is not None:
            drv.Context.pop()
        autoinit.context.push()
    """,
    "after a fault": """
        from pycuda._driver import _is_emulated, module_from_buffer
        if _is_emulated():  # a fault may cost a GPU's process its device
            fault = module_from_buffer(KERNEL).get_function("one")
            try:
                fault(np.intp(8), block=(1, 1, 1))
                drv.Context.synchronize()
            except drv.Error:
                pass
            autoinit.context.detach()
            context = drv.Device(0).make_context()
            assert works()
            context.pop()
    """,
    "both modules": """
        import pycuda.autoprimaryctx
        assert works()
        primary = pycuda.autoprimaryctx.context
        assert drv.Context.get_current() == primary
    """,
}

START = f"""
    import threading
    import numpy as np
    from pycuda import autoinit, gpuarray
    import pycuda.driver as drv

    KERNEL = {KERNEL!r}

    def works():
        x = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
        return (x + x).get().sum() == 12

    def in_thread(function):
        errors = []

        def body():
            try:
                function()
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if errors:
            raise errors[0]

    assert works()
"""


CASES = [
    *((name, None) for name in OLD_PROGRAMS),
    ("pop and detach at the end", "own"),
    ("detach, then a context of its own", "own"),
    ("detach at exit", "own"),
    ("push and pop in a thread", "own"),
    ("None", "own"),
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_old_programs(name, kind):
    program = textwrap.dedent(START) + textwrap.dedent(OLD_PROGRAMS[name])
    run_child(program, PYCUDA_AUTOINIT=kind)
