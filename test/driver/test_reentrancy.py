"""Arguments that run code during a call, and other hostile objects."""

import contextlib
import gc
import sys
import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver, gpuarray
from pycuda.compiler import SourceModule
from support.child import run_child

pytestmark = pytest.mark.gpu

SOURCE = """
__global__ void one(int *p, int v) { *p = v; }
__global__ void two(long long *p, int v, int w) { *p = v + w; }
__global__ void nothing() { }
"""


@pytest.fixture
def mod(ctx):
    return SourceModule(SOURCE)


def test_prepare_in_the_middle_of_a_prepared_call(mod):
    two = mod.get_function("two").prepare("Pii")
    out = drv.mem_alloc(8)

    class Value:
        def __index__(self):
            two.prepare("qqq")
            return 5

    two.prepared_call((1, 1), (1, 1, 1), out, Value(), 4)
    assert drv.from_device(out, 1, np.int64)[0] == 9


def test_prepare_in_the_middle_with_freed_memory_overwritten():
    """The plan of the call must be alive, because Python overwrites freed memory."""
    done = run_child(
        f"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
two = SourceModule('''{SOURCE}''').get_function("two").prepare("Pii")
out = drv.mem_alloc(8)
class Value:
    def __index__(self):
        two.prepare("qqq")
        return 5
two.prepared_call((1, 1), (1, 1, 1), out, Value(), 4)
print(drv.from_device(out, 1, np.int64)[0])
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout == "9\n"


@pytest.mark.parametrize("change", ["del one.arg_format", "one.prepare('qqq')", "pass"])
def test_a_plan_that_goes_while_the_grid_is_converted(change):
    """The call uses the plan with which it started. The next call uses the new one."""
    done = run_child(
        f"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
one = SourceModule('''{SOURCE}''').get_function("two").prepare("Pii")
out = drv.mem_alloc(8)
class Grid:
    def __index__(self):
        try:
            {change}
        except TypeError:
            pass
        return 1
one.prepared_call((Grid(), 1), (1, 1, 1), out, 5, 4)
print(drv.from_device(out, 1, np.int64)[0])
try:
    one.prepared_call((1, 1), (1, 1, 1), out, 6, 4)
except AttributeError:
    pass
print(drv.from_device(out, 1, np.int64)[0])
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout == ("9\n9\n" if change.startswith("del") else "9\n10\n")


def test_a_number_that_has_its_function_described_anew():
    """The description of the parameters is kept during the conversion of arguments."""
    done = run_child(
        f"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
two = SourceModule('''{SOURCE}''').get_function("two")
out = drv.mem_alloc(8)
class Number(np.int16):
    def __index__(self):
        two.set_attribute(drv.function_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT, 0)
        two(out, np.int32(1), np.int32(2), block=(1, 1, 1))
        return 5
two(out, Number(3), np.int32(4), block=(1, 1, 1))
print(drv.from_device(out, 1, np.int64)[0])
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout == "9\n"


@pytest.mark.parametrize("handler", ["In", "Out", "InOut"])
@pytest.mark.parametrize("question", [1, 2, 3, 4, None])
def test_device_memory_deleted_when_it_says_its_address(handler, question):
    """The call keeps the memory that it passes to the kernel."""
    done = run_child(
        f"""
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda.compiler import SourceModule
one = SourceModule('''{SOURCE}''').get_function("one")
class Memory(drv.PointerHolderBase):
    asked = 0
    def __init__(self):
        self.memory = drv.mem_alloc(4)
    def get_pointer(self):
        self.asked += 1
        if self.asked == {question}:
            del argument.dev_alloc
        return int(self.memory)
array = np.zeros(1, np.int32)
argument = drv.{handler}(array)
memory = argument.dev_alloc = Memory()
one(argument, np.int32(5), block=(1, 1, 1))
print(array[0], drv.from_device(int(memory.memory), 1, np.int32)[0])
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout == ("0 5\n" if handler == "In" else "5 5\n")


@pytest.mark.parametrize("subclass", [False, True])
@pytest.mark.parametrize("push", [True, False])
def test_results_after_another_context_became_current(ctx, mod, subclass, push):
    """The results come from the memory of the launch."""
    other = drv.Device(0).make_context()
    other.pop()

    class Pushes(drv.ArgumentHandler):
        def get_device_alloc(self):
            return scratch

        def post_call(self, stream):
            if push:
                other.push()

    class Mine(drv.InOut):
        pass

    source = "__global__ void fill(int *a, int *b) { *b = 7; }"
    fill = SourceModule(source).get_function("fill")
    scratch = drv.mem_alloc(4)
    array = np.zeros(1, np.int32)
    handler = (Mine if subclass else drv.InOut)(array)
    fill(Pushes(array), handler, block=(1, 1, 1))
    assert array[0] == 7
    if push:
        drv.Context.pop()
    assert drv.Context.get_current() is ctx
    other.detach()


def test_a_handler_whose_memory_goes_before_its_results_are_copied(mod):
    class Deletes(drv.ArgumentHandler):
        def get_device_alloc(self):
            return scratch

        def post_call(self, stream):
            del handler.dev_alloc

    source = "__global__ void fill(int *a, int *b) { *b = 7; }"
    fill = SourceModule(source).get_function("fill")
    scratch = drv.mem_alloc(4)
    array = np.zeros(1, np.int32)
    handler = drv.Out(array)
    fill(Deletes(array), handler, block=(1, 1, 1))
    assert array[0] == 7
    assert handler.dev_alloc is None


@pytest.mark.parametrize(
    "operation",
    [lambda a: a + a, gpuarray.sum, lambda a: a.set(a.T)],
    ids=["sum of arrays", "reduction", "transpose"],
)
@pytest.mark.parametrize("change", ["detach", "pop", "nothing"])
def test_a_context_that_goes_while_a_kernel_is_made(ctx, operation, change):
    """No kernel is loaded or launched in the next context of the stack."""
    other = drv.Device(0).make_context()
    array = gpuarray.zeros((64, 64), np.float32)
    before = sys.getprofile()
    modules = _driver._live_counts()["module"]
    errors = {
        "detach": pytest.raises(drv.LogicError, match="was detached during the call"),
        "pop": pytest.raises(drv.LogicError, match="another context became current"),
        "nothing": contextlib.nullcontext(),
    }

    def profile(frame, event, argument):
        if frame.f_code.co_name == "kernel_images":
            sys.setprofile(before)
            {"detach": other.detach, "pop": drv.Context.pop}.get(change, int)()

    sys.setprofile(profile)
    try:
        with errors[change]:
            operation(array)
    finally:
        sys.setprofile(before)
    if change != "nothing":
        assert _driver._live_counts()["module"] == modules
        assert drv.Context.get_current() is ctx
    if change != "detach":
        other.detach()
    ctx.synchronize()
    assert (gpuarray.zeros(4, np.float32) + 1).get().tolist() == [1, 1, 1, 1]


@contextlib.contextmanager
def while_a_kernel_is_made(action):
    """Run the action once, when C first requests a kernel."""
    before = sys.getprofile()
    ran = []

    def profile(frame, event, argument):
        if frame.f_code.co_name == "kernel_images":
            sys.setprofile(before)
            ran.append(action())

    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)
    assert len(ran) == 1


@pytest.fixture
def new_ctx():
    """A context without kernels."""
    context = drv.Device(0).make_context()
    yield context
    context.pop()
    context.detach()


@pytest.mark.parametrize("operation", [lambda a: a + a, gpuarray.sum])
def test_memory_that_is_freed_while_a_kernel_is_made(new_ctx, operation):
    array = gpuarray.to_gpu(np.ones((64, 96), np.float32))
    error = pytest.raises(drv.LogicError, match="cuLaunchKernel failed")
    with while_a_kernel_is_made(array.gpudata.free), error:
        operation(array)
    new_ctx.synchronize()


def test_memory_that_is_freed_while_a_transpose_is_made(new_ctx):
    array = gpuarray.to_gpu(np.ones((64, 96), np.float32))
    target = gpuarray.empty((96, 64), np.float32)
    error = pytest.raises(drv.LogicError, match="cuLaunchKernel failed")
    with while_a_kernel_is_made(array.gpudata.free), error:
        target[...] = array.T
    new_ctx.synchronize()


@pytest.mark.parametrize(
    "operation, length",
    [(lambda a: a + a, 1024), (lambda a: a.sum(), 1024), (lambda a: a.sum(), 1 << 20)],
    ids=["elementwise", "reduction", "reduction in segments"],
)
@pytest.mark.parametrize("offset", [0, 4])
def test_memory_that_is_replaced_while_a_kernel_is_made(
    new_ctx, operation, length, offset
):
    """The result is that of the new memory, also at an address of another alignment."""
    array = gpuarray.to_gpu(np.ones(length, np.float32))
    other = gpuarray.to_gpu(np.full(length + 1, 2, np.float32))[offset // 4 :][:length]
    old = array.gpudata

    def replace():
        array.gpudata = int(other.gpudata)
        old.free()

    with while_a_kernel_is_made(replace):
        result = operation(array)
    np.testing.assert_array_equal(result.get(), operation(np.full(length, 2.0)))


@pytest.mark.parametrize("operation", [lambda a: a + a, gpuarray.sum])
def test_a_dtype_that_changes_while_a_kernel_is_made(new_ctx, operation):
    array = gpuarray.to_gpu(np.ones(64, np.float32))

    def change():
        array.dtype = np.dtype(np.int32)

    error = pytest.raises(RuntimeError, match="dtype of an .* changed during the call")
    with while_a_kernel_is_made(change), error:
        operation(array)


def test_a_shape_that_changes_while_a_kernel_is_made(new_ctx):
    array = gpuarray.to_gpu(np.ones((8, 8), np.float32))

    def change():
        array.shape = (4, 4)

    error = pytest.raises(ValueError, match="cannot be broadcast to shape")
    with while_a_kernel_is_made(change), error:
        array + gpuarray.zeros((8, 8), np.float32)
    array = gpuarray.to_gpu(np.ones((8, 8), np.float32))
    error = pytest.raises(RuntimeError, match="changed during the call")
    with while_a_kernel_is_made(change), error:
        gpuarray.sum(array)


@pytest.mark.parametrize("drops", [True, False])
def test_a_wrapper_of_the_context_that_goes_while_a_kernel_is_made(drops):
    """The kernel is its, the arrays are of another wrapper, which keeps the primary
    context: the operation goes on."""
    done = run_child(
        f"""
import gc, sys
import numpy as np
import pycuda.driver as drv
from pycuda import gpuarray, tools
drv.init()
first = drv.Device(0).retain_primary_context()
first.push()
allocate = tools.DeviceMemoryPool().allocate
a = gpuarray.zeros(100_000, np.float32, allocator=allocate)
a.fill(1)
drv.Context.pop()
def profile(frame, event, argument):
    if frame.f_code.co_name != "kernel_images":
        return
    sys.setprofile(None)
    drv.Context.pop()
    first.push()
    if {drops}:
        wrapper.clear()
        gc.collect()
for operation in [
    lambda: (a + a).get()[:2],
    lambda: gpuarray.sum(a, allocator=allocate).get(),
    lambda: gpuarray.sum(a[:100], allocator=allocate).get(),
]:
    wrapper = [drv.Device(0).retain_primary_context()]
    wrapper[0].push()
    sys.setprofile(profile)
    print(operation())
    drv.Context.pop()
""",
        PYTHONMALLOC="debug",
    )
    assert done.stdout == "[2. 2.]\n100000.0\n100.0\n"


def test_a_list_that_empties_itself(mod):
    nothing = mod.get_function("nothing")

    class One:
        def __init__(self, items):
            self.items = items

        def __index__(self):
            self.items.clear()
            return 1

    for keyword in ("block", "grid"):
        items = []
        items.extend(One(items) for _ in range(3))
        nothing(**{"block": (1, 1, 1), keyword: items})
    items = []
    items.extend(One(items) for _ in range(3))
    assert drv.pagelocked_empty(items, np.int8).shape == (1, 1, 1)


def test_a_handler_without_its_array(mod):
    one = mod.get_function("one")
    handler = drv.InOut(np.zeros(1, np.int32))
    del handler.array
    with pytest.raises(AttributeError, match="array of this handler was deleted"):
        one(handler, np.int32(1), block=(1, 1, 1))


def test_a_handler_whose_array_is_exchanged_meanwhile(ctx):
    handler = drv.In(np.zeros(1 << 20, np.uint8))
    stop = threading.Event()

    def exchange():
        while not stop.is_set():
            handler.array = np.zeros(1 << 20, np.uint8)

    thread = threading.Thread(target=exchange)
    thread.start()
    for _ in range(200):
        handler.pre_call(None)
    stop.set()
    thread.join()


def test_a_long_chain_of_handlers():
    chain = np.zeros(1)
    for _ in range(200_000):
        handler = drv.ArgumentHandler(np.zeros(0))
        handler.array = chain
        chain = handler
    del chain, handler
    gc.collect()


def test_what_post_call_raises_is_heard(mod):
    class Broken(drv.In):
        @property
        def post_call(self):
            raise KeyError("mine")

    array = np.zeros(1, np.int32)
    with pytest.raises(KeyError, match="mine"):
        mod.get_function("one")(Broken(array), np.int32(1), block=(1, 1, 1))


def test_an_interrupt_is_not_a_wrong_value(mod):
    class Interrupts:
        def __index__(self):
            raise KeyboardInterrupt

    one = mod.get_function("one").prepare("Pi")
    with pytest.raises(KeyboardInterrupt):
        one.prepared_call((1, 1), (1, 1, 1), 0, Interrupts())


def test_a_wrong_prepared_value_names_its_cause(mod):
    one = mod.get_function("one").prepare("Pi")
    with pytest.raises(Exception, match="argument 1") as caught:
        one.prepared_call((1, 1), (1, 1, 1), 0, "5")
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.bytes_(b"abcd"), "no numpy.bytes_"),
        (np.str_("a"), "no numpy.str_"),
        (np.array([None]), "Python objects"),
    ],
)
def test_values_that_have_no_bytes_for_a_device(mod, value, text):
    with pytest.raises(TypeError, match=text):
        mod.get_function("one")(drv.mem_alloc(4), value, block=(1, 1, 1))


def test_an_array_is_no_pointer(mod):
    with pytest.raises(TypeError, match=r"0 \(int \*p\) of 'one' is a pointer"):
        mod.get_function("one")(np.zeros(1, np.int32), np.int32(1), block=(1, 1, 1))


def test_too_short_a_parameter_block(mod, strict):
    one = mod.get_function("one")
    with pytest.raises(TypeError, match="one takes 12 bytes of parameters, 4 were"):
        one._launch_kernel((), (1,), b"1234", 0, None)


def test_pointers_of_other_libraries(mod):
    class IntOnly:
        def __init__(self, mem):
            self.mem = mem

        def __int__(self):
            return int(self.mem)

    class Holder:
        pass

    class Interface:
        pass

    one, out = mod.get_function("one"), drv.mem_alloc(4)
    holder, interface = Holder(), Interface()
    holder.gpudata = IntOnly(out)
    interface.__cuda_array_interface__ = {"data": [int(out), False]}
    for value, argument in enumerate((holder, interface)):
        one(argument, np.int32(value), block=(1, 1, 1))
        assert drv.from_device(out, 1, np.int32)[0] == value


def test_a_launch_raises_the_limit_of_shared_memory(mod):
    first, second = mod.get_function("nothing"), mod.get_function("nothing")
    size = 1 + first.max_dynamic_shared_size_bytes
    most = drv.Context.get_device().max_shared_memory_per_block_optin
    if most < size:
        pytest.skip("this device has no more shared memory to opt in to")
    first(block=(1, 1, 1), shared=size)
    assert first.max_dynamic_shared_size_bytes == size
    second.prepare("").prepared_call((1, 1), (1, 1, 1), shared_size=size)
    second(block=(1, 1, 1), shared=most - second.shared_size_bytes)
    with pytest.raises(drv.LogicError, match="than a block of this device can have"):
        first(block=(1, 1, 1), shared=most + 1)
    with pytest.raises(drv.LogicError, match="takes at most"):
        first(block=(1024, 2, 1), shared=size)


def test_garbage_is_collected_though_collection_is_off(ctx):
    gc.disable()
    try:
        free, _ = drv.mem_get_info()
        half = int(free * 0.6)
        ring = [drv.mem_alloc(half)]
        ring.append(ring)
        del ring
        drv.mem_alloc(half).free()
    finally:
        gc.enable()


def test_constructors_of_subclasses(ctx):
    class Named(drv.Stream):
        def __init__(self, name):
            super().__init__()
            self.name = name

    class Forgetful(drv.Event):
        def __init__(self, flags):
            pass

    named = Named("copy")
    assert named.name == "copy" and named.is_done()
    before = _driver._live_counts()["stream"]
    # Another thread may be waiting for the stream that a second __init__ would end.
    with pytest.raises(drv.LogicError, match="called before"):
        named.__init__("again")
    assert _driver._live_counts()["stream"] == before
    assert named.name == "copy" and named.is_done()
    with pytest.raises(drv.LogicError, match="__init__ of this .* was not called"):
        Forgetful(0).record()


def test_keywords_of_the_interface(mod):
    out = drv.to_device(bf_obj=np.zeros(1, np.int32))
    like = drv.mem_alloc_like(ary=np.zeros(4))
    assert mod.module.get_function(name="one").name == "one"
    with pytest.raises(drv.LogicError, match="has no 'x'"):
        mod.module.get_global(name="x")
    with pytest.raises(drv.RuntimeError):
        drv.module_from_file(filename="missing.cubin")
    with pytest.raises(ValueError, match="null character"):
        mod.get_function("one\0two")
    del out, like


def test_only_one_thread_detaches():
    context = drv.Device(0).make_context()
    context.pop()
    ended, refused = [], []
    start = threading.Barrier(4)

    def body():
        start.wait()
        try:
            context.detach()
            ended.append(1)
        except drv.LogicError:
            refused.append(1)

    threads = [threading.Thread(target=body) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(ended), len(refused)) == (1, 3)


def test_a_context_detached_by_another_thread(ctx):
    other = drv.Device(0).make_context()
    thread = threading.Thread(target=other.detach)
    thread.start()
    thread.join()
    assert drv.Context.get_current() == ctx
    drv.mem_alloc(8).free()
    third = drv.Device(0).make_context()
    third.pop()
    third.detach()
    assert drv.Context.get_current() == ctx


def test_attach_finds_our_own_context(ctx):
    assert drv.Context.attach() is ctx
    mem = drv.mem_alloc(64)
    ctx.pop()
    assert drv.Context.get_current() is ctx
    del mem


def test_a_with_block_out_of_balance(ctx):
    other = drv.Device(0).make_context()
    other.pop()
    with pytest.raises(drv.LogicError, match="did not pop every context"), other:
        drv.Context.pop()
    assert drv.Context.get_current() is ctx
    other.detach()


def test_a_chain_of_dead_contexts_that_clean_each_other_up(ctx):
    class Pops:
        def __del__(self):
            drv.Context.get_current()

    others = [drv.Device(0).make_context() for _ in range(4)]
    for other in others:
        other.note = Pops()
    for other in others:
        other.detach()
    del other, others
    gc.collect()
    assert drv.Context.get_current() is ctx


def test_a_launch_in_a_forked_child_says_so():
    run_child(
        """
        import os, warnings
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as drv
        from pycuda.compiler import SourceModule
        k = SourceModule("__global__ void k() { }").get_function("k")
        k(block=(1, 1, 1))
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
        if pid == 0:
            status = 0
            for call in (
                lambda: k(block=(1, 1, 1)),
                lambda: drv.pagelocked_empty(4, np.int8),
                lambda: drv.mem_alloc(0),
                drv.Context.pop,
            ):
                try:
                    call()
                    status |= 1
                except drv.LogicError as error:
                    status |= 0 if "forked" in str(error) else 2
            os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        """
    )


# -- textures, arrays and pointers -----------------------------------------------------


def image_of(value):
    """A one-dimensional Array of four floats, all of one value."""
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height = 4, 1
    descriptor.format, descriptor.num_channels = drv.array_format.FLOAT, 1
    image = drv.Array(descriptor)
    image.set(np.full(4, value, np.float32))
    return image


class Empties:
    """A number that empties the list that contains it."""

    def __init__(self, items):
        self.items = items

    def __index__(self):
        self.items.clear()
        return 1

    def __float__(self):
        return float(self.__index__())


class Releases(Empties):
    """A number that releases a texture array."""

    def __index__(self):
        self.items.free()
        return 0


def test_sequences_of_textures_that_empty_themselves(ctx):
    image = image_of(1)
    modes = []
    modes.extend(Empties(modes) for _ in range(3))
    colour = []
    colour.extend(Empties(colour) for _ in range(4))
    texture = drv.TextureObject(image, address_mode=modes, border_color=colour)
    assert modes == colour == []
    texture.free()
    with pytest.raises(TypeError, match="address_mode must be an address_mode or a"):
        drv.TextureObject(image, address_mode=1.5)
    with pytest.raises(TypeError, match="border_color must be a sequence of up to 4"):
        drv.TextureObject(image, border_color=1.5)


@pytest.mark.parametrize(
    ("routine", "call"),
    [
        ("cuTexObjectCreate", lambda i, n: drv.TextureObject(i, border_color=[n])),
        ("cuMemcpy3D", lambda i, n: i.set(n)),
        ("cuArray3DGetDescriptor", lambda i, n: drv.memcpy_atod(1 << 20, i, n, 4)),
        ("cuArray3DGetDescriptor", lambda i, n: drv.memcpy_dtoa(i, 0, n, 4)),
        (
            "cuArray3DGetDescriptor",
            lambda i, n: drv.memcpy_atoa(image_of(2), 0, i, n, 4),
        ),
    ],
)
def test_an_array_released_in_mid_call(ctx, routine, call):
    image = image_of(1)
    with pytest.raises(drv.LogicError, match="Array was released before") as raised:
        call(image, Releases(image))
    assert raised.value.routine == routine


def test_an_array_released_before_a_copy_of_rows(ctx):
    image = image_of(1)
    copy = drv.Memcpy2D()
    copy.set_src_array(image)
    copy.set_dst_host(np.zeros(4, np.float32))
    copy.width_in_bytes, copy.height = 16, 1
    image.free()
    with pytest.raises(drv.LogicError, match="Array was released before") as raised:
        copy()
    assert raised.value.routine == "cuMemcpy2D"
    with pytest.raises(drv.LogicError, match="Array was released before") as raised:
        copy.set_src_array(image)
    assert raised.value.routine == "cuArray3DGetDescriptor"
    with pytest.raises(TypeError, match="array must be an Array, not int"):
        copy.set_src_array(5)


def test_a_holder_that_points_to_itself():
    class Itself(drv.PointerHolderBase):
        def get_pointer(self):
            return self

    class Another(drv.PointerHolderBase):
        def get_pointer(self):
            return PointsTo()

    class PointsTo(drv.PointerHolderBase):
        def get_pointer(self):
            return 4096

    for use in (int, drv.mem_get_address_range, lambda x: x.as_buffer(4)):
        with pytest.raises(RecursionError):
            use(Itself())
    assert int(Another()) == 4096


def test_an_interface_without_a_length(mod):
    one = mod.get_function("one")

    class Endless:
        def __getitem__(self, key):
            raise AssertionError("asked after an error")

    class Array:
        __cuda_array_interface__ = Endless()

    with pytest.raises(TypeError, match="len"):
        one(Array(), np.int32(1), block=(1, 1, 1))


class Again:
    """Garbage that runs code when it is collected, and then becomes garbage again."""

    def __init__(self, work):
        self.work = work
        self.itself = self

    def __del__(self):
        if self.work():
            Again(self.work)


@pytest.fixture
def hasty_collection():
    """Run the garbage collector at every allocation of an object."""
    thresholds = gc.get_threshold()
    gc.collect()
    yield
    gc.set_threshold(*thresholds)
    gc.enable()
    gc.collect()


TEXTURE = """
texture<float, 1> image;
__global__ void read(float *p) { *p = tex1D(image, 0.5f); }
"""


@pytest.mark.parametrize("launches", [False, True])
def test_a_texture_bound_anew_while_it_is_stored(ctx, hasty_collection, launches):
    mod = SourceModule(TEXTURE)
    image = mod.get_texref("image")
    read = mod.get_function("read").prepare("P")
    out, unused = drv.mem_alloc(4), drv.mem_alloc(4)
    for value in range(3):  # an event, and objects that were replaced
        image.set_array(image_of(value))
        read.prepared_call((1, 1), (1, 1, 1), out)
    bound = []

    def bind_anew():
        bound.append(100 + len(bound))
        image.set_array(image_of(bound[-1]))
        if launches:
            read.prepared_call((1, 1), (1, 1, 1), unused)
        return len(bound) < 40

    image.set_array(image_of(50))
    gc.disable()
    Again(bind_anew)
    gc.set_threshold(1)
    gc.enable()
    try:
        read.prepared_call((1, 1), (1, 1, 1), out)
        gc.disable()
        read.prepared_call((1, 1), (1, 1, 1), out)
        last = image.get_array().get().flat[0]
        assert drv.from_device(out, 1, np.float32)[0] == last
        assert last == (bound[-1] if bound else 50)
    finally:
        bound.extend([0] * 40)  # what is garbage now is so for the last time


def test_a_capsule_taken_while_it_is_taken(ctx, hasty_collection):
    memory = drv.mem_alloc(16)
    capsule = memory.as_dlpack(4, np.float32)
    taken = []

    def take():
        with contextlib.suppress(BufferError):  # the other one was first
            taken.append(drv.from_dlpack(capsule))

    gc.disable()
    Again(take)
    gc.set_threshold(1)
    gc.enable()
    take()
    gc.collect()
    assert len(taken) == 1
    assert int(taken.pop()) == int(memory)


def test_garbage_that_uses_a_context_while_another_is_made(ctx, hasty_collection):
    """The new context is current afterwards, also in the driver."""
    used = []

    def use():
        used.append(drv.mem_alloc(4))
        return len(used) < 40

    gc.disable()
    Again(use)
    gc.set_threshold(1)
    gc.enable()
    try:
        other = drv.Device(0).make_context()
        gc.disable()
        assert drv.Context.get_current() == other
        assert drv.Context.attach() == other  # the driver's own answer
        drv.Context.pop()
        other.pop()
        assert drv.Context.get_current() == ctx
        assert drv.Context.attach() == ctx
        drv.Context.pop()
        other.detach()
    finally:
        used.extend([None] * 40)
    ctx.pop()
    with pytest.raises(drv.LogicError, match="no current context"):
        drv.Context.attach()
    ctx.push()
