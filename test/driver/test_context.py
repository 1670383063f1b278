"""Contexts: the stack of each thread, ownership, and destruction."""

import gc
import threading

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from support import no_context
from support.emulator import Driver
from support.faults import fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu


def works():
    """Whether memory can be allocated and used in the current context."""
    mem = drv.mem_alloc(16)
    drv.memset_d8(mem, 7, 16)
    host = np.zeros(16, np.uint8)
    drv.memcpy_dtoh(host, mem)
    return (host == 7).all()


def test_make_context_pushes_and_pop_takes_off():
    assert drv.Context.get_current() is None
    first = drv.Device(0).make_context()
    assert drv.Context.get_current() == first
    second = drv.Device(0).make_context(flags=drv.ctx_flags.SCHED_YIELD)
    assert drv.Context.get_current() == second
    assert first != second and hash(first) != hash(second)
    drv.Context.pop()
    assert drv.Context.get_current() == first and works()
    first.pop()
    assert drv.Context.get_current() is None
    first.detach()
    second.detach()


def test_push_again_and_again(ctx):
    ctx.push()
    ctx.push()
    ctx.pop()
    ctx.pop()
    assert drv.Context.get_current() == ctx and works()


def test_pop_of_an_empty_stack_is_a_logic_error():
    with pytest.raises(drv.LogicError, match="stack of contexts is empty"):
        drv.Context.pop()


@pytest.mark.parametrize(
    "use",
    [
        drv.mem_get_info,
        drv.Context.synchronize,
        lambda: drv.memset_d8(16, 0, 4),
        lambda: drv.mem_alloc(16),
    ],
)
def test_without_a_context_the_error_says_what_to_do(use):
    with pytest.raises(drv.LogicError, match="no current context; make one with"):
        use()


def test_retained_primary_contexts_are_one():
    device = drv.Device(0)
    a, b = device.retain_primary_context(), device.retain_primary_context()
    assert a == b and a is not b and hash(a) == hash(b)
    assert drv.Context.get_current() is None
    with a:
        assert drv.Context.get_device() == device and works()
    a.detach()
    with b:
        assert works()
    b.detach()


def test_what_one_wrapper_of_the_primary_context_made_lives_with_the_other():
    device = drv.Device(0)
    a, b = device.retain_primary_context(), device.retain_primary_context()
    with a:
        free_before = drv.mem_get_info()[0]
        mem, stream = drv.mem_alloc(1 << 20), drv.Stream()
        drv.memset_d8(mem, 5, 1 << 20)
    a.detach()
    with pytest.raises(drv.LogicError, match="was detached"):
        a.push()
    with b:
        assert (drv.from_device(mem, 4, np.uint8) == 5).all()
        stream.synchronize()
        mem.free()
        if _driver._is_emulated():  # a GPU has other users
            assert drv.mem_get_info()[0] == free_before
    b.detach()
    with pytest.raises(drv.LogicError, match="was detached"):
        stream.synchronize()


@pytest.mark.parametrize("pushed", [True, False])
def test_a_primary_context_that_another_library_has_reset(pushed):
    """It has ended, so detach() has nothing to release, and the device goes on."""
    device, library = drv.Device(0), Driver(no_context.library())
    for _ in range(2):
        context = device.retain_primary_context()
        memory = None
        if pushed:
            context.push()
            memory = drv.mem_alloc(8)
        library.ok("DevicePrimaryCtxReset", 0)
        context.detach()
        with pytest.raises(drv.LogicError, match="detached before"):
            context.detach()
        assert drv.Context.get_current() is None
        del memory
    context = device.retain_primary_context()
    context.push()
    assert drv.mem_alloc(8)
    context.pop()
    context.detach()


def test_a_new_life_of_the_primary_context_has_nothing_of_the_old():
    device = drv.Device(0)
    first = device.retain_primary_context()
    with first:
        mem = drv.mem_alloc(64)
    first.detach()
    second = device.retain_primary_context()
    with second:
        others = drv.mem_alloc(64)
        with pytest.raises(drv.LogicError, match="was detached"):
            drv.memset_d8(mem, 1, 64)
        mem.free()  # went with the first life, without a release in the second
        drv.memset_d8(others, 1, 64)
    second.detach()


def test_with_pops_after_an_exception(ctx):
    other = drv.Device(0).make_context()
    other.pop()
    with pytest.raises(KeyError), other:
        assert drv.Context.get_current() == other
        raise KeyError
    assert drv.Context.get_current() == ctx
    other.detach()


def test_with_may_detach_inside(ctx):
    other = drv.Device(0).make_context()
    other.pop()
    with other as entered:
        assert entered is other
        other.detach()
        assert drv.Context.get_current() == ctx
    assert drv.Context.get_current() == ctx and works()


def test_detach_of_the_current_one_uncovers_the_next(ctx):
    other = drv.Device(0).make_context()
    other.detach()
    assert drv.Context.get_current() == ctx and works()
    with pytest.raises(drv.LogicError, match="detached before"):
        other.detach()
    with pytest.raises(drv.LogicError, match="detached"):
        other.push()


def test_dead_entries_are_dropped(ctx):
    other = drv.Device(0).make_context()
    ctx.push()
    other.detach()
    ctx.pop()
    assert drv.Context.get_current() == ctx and works()


def test_nothing_works_without_a_context():
    for make in (drv.Stream, drv.Event, lambda: drv.mem_alloc(8)):
        with pytest.raises(drv.LogicError, match="no current context"):
            make()


def test_a_resource_keeps_its_context():
    context = drv.Device(0).make_context()
    mem = drv.mem_alloc(1024)
    handle = context.handle
    context.pop()
    del context
    gc.collect()
    again = drv.Device(0).make_context()
    assert again.handle != handle, "the first context must still be there"
    again.pop()
    again.detach()
    del mem


def test_release_when_another_context_is_current():
    first = drv.Device(0).make_context()
    mem, stream, event = drv.mem_alloc(64), drv.Stream(), drv.Event()
    host = drv.pagelocked_empty(16, np.int8)
    second = drv.Device(0).make_context()
    del mem, stream, event, host
    gc.collect()
    assert drv.Context.get_current() == second and works()
    second.pop()
    second.detach()
    assert drv.Context.get_current() == first and works()
    first.pop()
    first.detach()


@pytest.mark.parametrize("call", ["cuCtxPopCurrent", "cuCtxPushCurrent"])
@pytest.mark.parametrize("what", ["push", "pop"])
def test_a_push_or_pop_that_fails_changes_nothing(call, what, fail_calls):  # noqa: F811
    first, second = (drv.Device(0).make_context() for _ in range(2))
    if what == "push":
        second.pop()
    current = drv.Context.get_current()
    fail_calls(call, 1)
    with pytest.raises(drv.LogicError) as caught:
        getattr(second, what)()
    assert caught.value.routine == call
    assert drv.Context.get_current() == current and works()
    if what == "push":
        second.push()
    assert drv.Context.get_current() == second and works()
    second.pop()
    assert drv.Context.get_current() == first and works()
    first.pop()
    assert drv.Context.get_current() is None
    second.detach()
    first.detach()


@pytest.mark.parametrize("explicit", [True, False])
def test_release_in_a_context_that_cannot_be_left(explicit, fail_calls):  # noqa: F811
    """A warning reports the failure, and the memory is released."""
    first = drv.Device(0).make_context()
    before = _driver._live_counts()
    mem = drv.mem_alloc(64)
    second = drv.Device(0).make_context()
    fail_calls("cuCtxPopCurrent", 1, 2)  # it is retried
    if explicit:
        with pytest.raises(drv.LogicError) as caught:
            mem.free()
        assert caught.value.routine == "cuCtxPopCurrent"
        with pytest.raises(drv.LogicError, match="released before"):
            mem.free()
    else:
        with pytest.warns(UserWarning, match="cuCtxPopCurrent"):
            del mem
    assert _driver._live_counts()["memory"] == before["memory"]
    Driver().ok("CtxPopCurrent", None)  # where the driver's stack was left
    assert works()
    for context in (second, first):
        context.pop()
        context.detach()


def test_release_after_the_context_is_gone(recwarn):
    context = drv.Device(0).make_context()
    mem, stream = drv.mem_alloc(64), drv.Stream()
    host = drv.pagelocked_empty(4, np.int8)
    context.detach()
    del mem, stream, host
    gc.collect()
    assert not recwarn.list


def test_release_in_another_thread_without_a_context(ctx):
    before = _driver._live_counts()["memory"]
    held = [drv.mem_alloc(1 << 20)]
    assert _driver._live_counts()["memory"] == before + 1
    free = drv.mem_get_info()[0]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert _driver._live_counts()["memory"] == before
    if _driver._is_emulated():  # other processes also use a GPU's memory
        assert drv.mem_get_info()[0] == free + (1 << 20)


def test_every_thread_has_its_own_stack(ctx):
    seen = []

    def body():
        seen.append(drv.Context.get_current())
        ctx.push()
        seen.append(drv.Context.get_current() == ctx and works())
        ctx.pop()
        seen.append(drv.Context.get_current())

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [None, True, None]
    assert drv.Context.get_current() == ctx


def test_a_thread_may_end_with_contexts_on_its_stack(ctx):
    def body():
        ctx.push()
        drv.Device(0).make_context()

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert works()


def test_a_cycle_through_a_resource_is_collected(ctx):
    mem = drv.mem_alloc(64)
    mem.me = mem
    del mem
    gc.collect()
    stream = drv.Stream()
    stream.ring = [stream]
    del stream
    gc.collect()


def test_limits_and_configuration(ctx):
    size = drv.Context.get_limit(drv.limit.STACK_SIZE)
    drv.Context.set_limit(drv.limit.STACK_SIZE, 4096)
    assert drv.Context.get_limit(drv.limit.STACK_SIZE) == 4096
    ctx.set_limit(drv.limit.STACK_SIZE, size)
    assert isinstance(drv.Context.get_cache_config(), drv.func_cache)
    drv.Context.set_cache_config(drv.func_cache.PREFER_L1)
    assert isinstance(drv.Context.get_shared_config(), drv.shared_config)
    assert ctx.get_api_version() >= 3010
    drv.Context.synchronize()
    with pytest.raises(TypeError, match="limit must be a"):
        drv.Context.get_limit(drv.func_cache.PREFER_L1)


def test_contexts_take_attributes_and_weak_references(ctx):
    import weakref

    ctx.note = "mine"
    assert weakref.ref(ctx)().note == "mine"
    assert drv.Context.get_current() is not None
    assert (ctx == None) is False  # noqa: E711
    with pytest.raises(TypeError):
        drv.Context()


@pytest.mark.gpus(2)
def test_peer_access_and_copies():
    first = drv.Device(0).make_context()
    a = drv.to_device(np.arange(256, dtype=np.int32))
    second = drv.Device(1).make_context()
    b = drv.mem_alloc(1024)
    drv.memcpy_peer(b, a, 1024, dest_context=second, src_context=first)
    assert (drv.from_device(b, 256, np.int32) == np.arange(256)).all()
    if drv.Device(1).can_access_peer(drv.Device(0)):
        second.enable_peer_access(first)
        drv.memset_d32(b, 0, 256)
        drv.memcpy_dtod(b, a, 1024)
        assert (drv.from_device(b, 256, np.int32) == np.arange(256)).all()
        drv.Context.disable_peer_access(first)
    for context in (second, first):
        context.pop()
        context.detach()
