"""Launches with attributes: cooperative launches, priority, LaunchConfig; occupancy."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from pycuda.compiler import SourceModule
from support.faults import NOT_FOUND, fail_calls  # noqa: F401

pytestmark = pytest.mark.gpu

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each thread reads what its mirror image wrote before the barrier of the grid.
extern "C" __global__ void mirror(int *a)
{
    unsigned long long me = cg::this_grid().thread_rank();
    unsigned long long all = cg::this_grid().size();
    a[me] = 3 * me;
    cg::this_grid().sync();
    int seen = a[all - 1 - me];
    cg::this_grid().sync();
    a[me] = seen;
}

extern "C" __global__ void add(int *a, int n)
{
    a[blockIdx.x * blockDim.x + threadIdx.x] += n;
}

extern "C" __global__ void __launch_bounds__(128) small(int *a)
{
    extern __shared__ int s[];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}
"""


@pytest.fixture(scope="module")
def module_source():
    return SOURCE


@pytest.fixture
def mod(ctx):
    return SourceModule(SOURCE, no_extern_c=True)


@pytest.fixture
def mirror(mod):
    return mod.get_function("mirror")


@pytest.fixture
def add(mod):
    return mod.get_function("add")


MIRRORED = 3 * np.arange(256, dtype=np.int32)[::-1]
SHAPE = {"block": (64, 1, 1), "grid": (4, 1)}


def test_cooperative(mirror):
    a = np.zeros(256, np.int32)
    assert mirror(drv.InOut(a), **SHAPE, cooperative=True) is None
    assert (a == MIRRORED).all()


def test_cooperative_and_timed(mirror):
    a = np.zeros(256, np.int32)
    seconds = mirror(drv.InOut(a), **SHAPE, time_kernel=True, cooperative=True)
    assert (a == MIRRORED).all() and seconds > 0
    a[:] = 0
    assert mirror(drv.InOut(a), **SHAPE, cooperative=True, time_kernel=False) is None
    assert (a == MIRRORED).all()


def test_cooperative_prepared(mirror):
    memory = drv.mem_alloc(1024)
    mirror.prepare("P")
    for call in (
        lambda: mirror.prepared_call((4, 1), (64, 1, 1), memory, cooperative=True),
        lambda: mirror.prepared_async_call(
            (4, 1), (64, 1, 1), drv.Stream(), memory, cooperative=True
        ),
        lambda: mirror.prepared_timed_call(
            (4, 1), (64, 1, 1), memory, cooperative=True
        )(),
        lambda: mirror.prepared_call(
            (4, 1),
            (64, 1, 1),
            memory,
            launch_config=drv.LaunchConfig(cooperative=True),
        ),
    ):
        drv.memset_d32(memory, 0, 256)
        call()
        drv.Context.synchronize()
        assert (drv.from_device(memory, 256, np.int32) == MIRRORED).all()


def test_too_many_blocks_say_how_many_fit(mirror):
    memory = drv.mem_alloc(64)
    device = drv.Context.get_device()
    most = device.max_cooperative_blocks(mirror, 64)
    each = mirror.max_active_blocks(64)
    assert most == each * device.multiprocessor_count > 0
    with pytest.raises(drv.LogicError) as caught:
        mirror(memory, block=(64, 1, 1), grid=(most + 1, 1), cooperative=True)
    text = str(caught.value)
    assert text.startswith("cuLaunchKernelEx failed: ") and caught.value.code == 720
    assert f"{most + 1} blocks" in text and f"{most} fit ({each} on each" in text
    mirror.prepare("P")
    with pytest.raises(drv.LogicError, match=f"{most} fit"):
        mirror.prepared_call((most + 1, 1), (64, 1, 1), memory, cooperative=True)


def test_all_blocks_that_fit_run(mirror):
    most = drv.Context.get_device().max_cooperative_blocks(mirror, 32)
    a = np.zeros(32 * most, np.int32)
    mirror(drv.InOut(a), block=(32, 1, 1), grid=(most, 1), cooperative=True)
    assert (a == 3 * np.arange(a.size)[::-1]).all()


def test_priority_programmatic_and_other_attributes(add):
    a = np.zeros(64, np.int32)
    memory = drv.to_device(a)
    stream = drv.Stream()
    least, greatest = drv.Context.get_stream_priority_range()
    add(memory, np.int32(1), block=(64, 1, 1), stream=stream)
    add(memory, np.int32(2), block=(64, 1, 1), stream=stream, priority=greatest)
    add(memory, np.int32(4), block=(64, 1, 1), stream=stream, priority=np.int8(least))
    config = drv.LaunchConfig(
        priority=greatest,
        attributes={
            drv.launch_attribute.PREFERRED_SHARED_MEMORY_CARVEOUT: 50,
            drv.launch_attribute.MEM_SYNC_DOMAIN: 0,
        },
    )
    add(memory, np.int32(8), block=(64, 1, 1), stream=stream, launch_config=config)
    stream.synchronize()
    assert (drv.from_device_like(memory, a) == 15).all()


@pytest.mark.parametrize("way", ["keyword", "config", "prepared"])
def test_programmatic(add, way):
    """Two launches of one stream; without griddepcontrol the order is the usual one."""
    capability = drv.Context.get_device().compute_capability()
    if not _driver._is_emulated() and capability < (9, 0):
        pytest.skip("programmatic dependent launches need compute capability 9.0")
    a = np.zeros(64, np.int32)
    memory = drv.to_device(a)
    stream = drv.Stream()
    add.prepare("Pi")
    for _ in range(3):
        if way == "keyword":
            add(
                memory,
                np.int32(1),
                block=(64, 1, 1),
                stream=stream,
                programmatic=True,
            )
        elif way == "config":
            config = drv.LaunchConfig(programmatic=True)
            add(memory, np.int32(1), block=64, stream=stream, launch_config=config)
        else:
            add.prepared_async_call(
                (1, 1), (64, 1, 1), stream, memory, 1, programmatic=1
            )
    stream.synchronize()
    assert (drv.from_device_like(memory, a) == 3).all()


def test_events_in_attributes(add):
    memory = drv.to_device(np.zeros(64, np.int32))
    event = drv.Event(drv.event_flags.DISABLE_TIMING)
    stream, other = drv.Stream(), drv.Stream()
    config = drv.LaunchConfig(
        attributes={drv.launch_attribute.LAUNCH_COMPLETION_EVENT: event}
    )
    dead = weakref.ref(event)
    if drv.get_driver_version() < 12030:
        pytest.skip("launch completion events need CUDA 12.3")
    add(memory, np.int32(1), block=(64, 1, 1), stream=stream, launch_config=config)
    other.wait_for_event(event)
    other.synchronize()
    stream.synchronize()
    assert event.query()
    del event
    gc.collect()
    assert dead() is not None  # the configuration holds it
    del config
    gc.collect()
    assert dead() is None


def test_launch_config():
    config = drv.LaunchConfig(
        cooperative=True,
        cluster=(2, 1),
        priority=-3,
        attributes={drv.launch_attribute.PRIORITY: 5, 77: b"\1\2", 6: False},
    )
    assert config.attributes == {
        drv.launch_attribute.PRIORITY: -3,
        77: b"\1\2",
        drv.launch_attribute.PROGRAMMATIC_STREAM_SERIALIZATION: False,
        drv.launch_attribute.COOPERATIVE: True,
        drv.launch_attribute.CLUSTER_DIMENSION: (2, 1),
    }
    assert "COOPERATIVE: True" in repr(config)
    config.attributes.clear()
    assert len(config.attributes) == 5  # a copy each time
    assert drv.LaunchConfig().attributes == {}
    window = (0x1000, 512, 0.5, 2, 1)
    drv.LaunchConfig(attributes={drv.launch_attribute.ACCESS_POLICY_WINDOW: window})
    drv.LaunchConfig(attributes={drv.launch_attribute.MEM_SYNC_DOMAIN_MAP: (0, 1)})


@pytest.mark.parametrize(
    ("keywords", "error", "text"),
    [
        ({"priority": "high"}, TypeError, "priority"),
        ({"priority": 1 << 40}, OverflowError, "priority"),
        ({"cluster": "ab"}, TypeError, "cluster"),
        ({"cluster": (1, 2, 3, 4)}, drv.LogicError, "cluster"),
        ({"attributes": 3}, TypeError, "mapping"),
        ({"attributes": [(8, 1)]}, TypeError, "mapping"),
        ({"attributes": {"PRIORITY": 3}}, TypeError, "attributes"),
        ({"attributes": {8: 1.5}}, TypeError, r"attributes\[8\]"),
        ({"attributes": {9: 3}}, TypeError, "default, remote"),
        ({"attributes": {9: (1, 300)}}, OverflowError, r"attributes\[9\]"),
        ({"attributes": {1: (1, 2)}}, TypeError, "hit ratio"),
        ({"attributes": {7: 3}}, TypeError, "Event"),
        ({"attributes": {12: (3, 0)}}, TypeError, "Event"),
        ({"attributes": {99: bytes(65)}}, ValueError, "64 bytes"),
        ({"attributes": dict.fromkeys(range(30, 60), 1)}, ValueError, "at most 24"),
        ({"unknown": 1}, TypeError, "unknown"),
    ],
)
def test_wrong_attributes(keywords, error, text):
    with pytest.raises(error, match=text):
        drv.LaunchConfig(**keywords)


def test_wrong_keywords_of_calls(add):
    memory = drv.to_device(np.zeros(64, np.int32))
    one = np.int32(1)
    with pytest.raises(TypeError, match="LaunchConfig, not dict"):
        add(memory, one, block=64, launch_config={})
    with pytest.raises(TypeError, match="priority"):
        add(memory, one, block=64, priority="high")
    with pytest.raises(ValueError, match="not 'clusters'"):
        add(memory, one, block=64, clusters=2)
    add.prepare("Pi")
    with pytest.raises(TypeError, match="unexpected keyword argument 'clusters'"):
        add.prepared_call((1, 1), (64, 1, 1), memory, 1, clusters=2)
    with pytest.raises(TypeError, match="priority"):
        add.prepared_call((1, 1), (64, 1, 1), memory, 1, priority="high")
    assert (drv.from_device(memory, 64, np.int32) == 0).all()


def test_none_and_names_made_at_run_time(add):
    memory = drv.to_device(np.zeros(64, np.int32))
    names = [
        "".join(["co", "operative"]),
        "".join(["prio", "rity"]),
        "".join(["clu", "ster"]),
    ]
    add(memory, np.int32(1), block=64, **dict.fromkeys(names))
    add(memory, np.int32(1), block=64, **{names[0]: True}, launch_config=None)
    add.prepare("Pi")
    add.prepared_call((1, 1), (64, 1, 1), memory, 1, **dict.fromkeys(names))
    add.prepared_call((1, 1), (64, 1, 1), memory, 1, **{names[0]: True})
    assert (drv.from_device(memory, 64, np.int32) == 4).all()


def test_a_keyword_replaces_the_attribute_of_a_config(mirror):
    most = drv.Context.get_device().max_cooperative_blocks(mirror, 64)
    config = drv.LaunchConfig(cooperative=True, priority=-1)
    many = {"block": (64, 1, 1), "grid": (most + 1, 1), "launch_config": config}
    memory = drv.mem_alloc(256 * (most + 1))
    with pytest.raises(drv.LogicError, match="fit"):
        mirror(memory, **many)
    keywords = [("cooperative", False), *many.items()]
    for order in (keywords, keywords[::-1]):
        add_many = dict(order)
        # the kernel of another function: mirror itself would wait for ever
        module_add = SourceModule(SOURCE, no_extern_c=True).get_function("add")
        module_add(memory, np.int32(0), **add_many)
    drv.Context.synchronize()


def test_a_config_with_a_released_event(ctx, add):
    event = drv.Event(drv.event_flags.DISABLE_TIMING)
    config = drv.LaunchConfig(attributes={7: (event, 0, True)})
    other = drv.Device(0).make_context()
    own = drv.Event(drv.event_flags.DISABLE_TIMING)
    dead = drv.LaunchConfig(attributes={7: own})
    other.pop()
    other.detach()
    memory = drv.to_device(np.zeros(64, np.int32))
    with pytest.raises(drv.LogicError, match="cuLaunchKernelEx"):
        add(memory, np.int32(1), block=64, launch_config=dead)
    del config


def test_a_refused_launch_names_its_shape(add, fail_calls):  # noqa: F811
    memory = drv.to_device(np.zeros(64, np.int32))
    fail_calls("cuLaunchKernelEx", 1, code=NOT_FOUND)
    with pytest.raises(drv.LogicError, match=r"add with grid \(1, 1, 1\)"):
        add(memory, np.int32(1), block=64, cooperative=True)


# -- occupancy -------------------------------------------------------------------------


def test_occupancy(mod, add):
    device = drv.Context.get_device()
    threads, blocks = add.suggest_block()
    assert 32 <= threads <= 1024
    assert blocks == add.max_active_blocks(threads) * device.multiprocessor_count
    assert add.max_active_blocks((16, 4)) == add.max_active_blocks(64) > 0
    small = mod.get_function("small")
    assert small.suggest_block()[0] <= 128 and small.suggest_block(limit=64)[0] <= 64
    assert small.suggest_block(lambda n: 4 * n)[0] <= 128
    shared = small.available_shared(128, 2)
    assert 0 < shared <= small.available_shared(128)
    assert small.max_active_blocks(128, 4 << 10) <= small.max_active_blocks(128)
    assert device.max_cooperative_blocks(small) > 0


def test_suggestions_of_both_ways_agree(add):
    assert add.suggest_block(lambda threads: 0) == add.suggest_block()
    with pytest.raises(ZeroDivisionError):
        add.suggest_block(lambda threads: 1 // 0)
    with pytest.raises(TypeError, match="shared"):
        add.suggest_block(lambda threads: "x")


@pytest.mark.parametrize("block", [0, (4, 0), (1 << 20, 1 << 20)])
def test_occupancy_of_wrong_blocks(add, block):
    with pytest.raises((ValueError, OverflowError)):
        add.max_active_blocks(block)


def test_the_kernel_of_another_device_or_context(ctx, add):
    with pytest.raises(TypeError, match="Function, not int"):
        drv.Device(0).max_cooperative_blocks(3)
    if drv.Device.count() > 1:
        with pytest.raises(ValueError, match="is loaded on device 0"):
            drv.Device(1).max_cooperative_blocks(add)
    other = drv.Device(0).make_context()
    assert add.max_active_blocks(64) > 0  # in its own context
    other.pop()
    other.detach()
