"""Rows: modules, functions, launches, and objects passed as arguments."""

import os
import tempfile
import warnings

import numpy as np

import pycuda.driver as drv
from pycuda import _driver

from .row import PTX, SIZE, calls, row

BLOCK = (SIZE // 4, 1, 1)
ONE = np.int32(1)

# -- modules ---------------------------------------------------------------------------


def _in_file(w):
    handle, path = tempfile.mkstemp(suffix=".ptx")
    os.write(handle, PTX)
    os.close(handle)
    w.paths = [*getattr(w, "paths", []), path]
    return lambda: drv.module_from_file(path)


#: The driver returns this error after the last parameter.
NO_MORE = {("cuFuncGetParamInfo", 1): "it says that there are no more parameters"}


def _ignore(*_):
    pass


row("module_from_buffer", lambda w: lambda: drv.module_from_buffer(PTX))
row(
    "module_from_buffer (options)",
    lambda w: (
        lambda: drv.module_from_buffer(
            PTX, [(drv.jit_option.MAX_REGISTERS, 32)], _ignore
        )
    ),
)
row("module_from_file", _in_file)
row("Module (dropped)", lambda w: [drv.module_from_buffer(PTX)].clear)
calls("Module.get_function", lambda m: m.get_function("add"), "module")
calls("Module.get_global", lambda m: m.get_global("table"), "module")

# -- functions -------------------------------------------------------------------------

FUNCTION_ATTRIBUTES = [
    name.lower()
    for name in vars(drv.function_attribute)
    if name.isupper() and hasattr(drv.Function, name.lower())
]

calls(
    "Function.get_attribute",
    lambda f: f.get_attribute(drv.function_attribute.NUM_REGS),
    "function",
)
calls(
    "Function.set_attribute",
    lambda f: f.set_attribute(
        drv.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024
    ),
    "function",
)
calls(
    "Function.num_regs",
    lambda f: f.num_regs,
    "function",
    also=[f"Function.{name}" for name in FUNCTION_ATTRIBUTES],
)
calls(
    "Function.set_cache_config",
    lambda f: f.set_cache_config(drv.func_cache.PREFER_L1),
    "function",
)
calls(
    "Function.set_shared_config",
    lambda f: f.set_shared_config(drv.shared_config.FOUR_BYTE_BANK_SIZE),
    "function",
)
calls("Function.handle", lambda f: f.handle, "function")
calls("Function.name", lambda f: f.name, "function")

# -- launches --------------------------------------------------------------------------


def _recent(w):
    w.function(w.memory, ONE, block=BLOCK)
    return drv.recent_launches


row(
    "recent_launches",
    _recent,
    also=(
        "LaunchRecord",
        *(f"LaunchRecord.{name}" for name in drv.LaunchRecord.__match_args__),
    ),
)
row("_note_library_call", lambda w: lambda: _driver._note_library_call("made", 0))
calls(
    "Function.__call__",
    lambda f, m: f(m, ONE, block=BLOCK),
    "function",
    "memory",
    absorbs=NO_MORE,
)


def _call_with_another_type(f, m):
    """Pass a float for the integer. The first of the two calls remembers the line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            f(m, np.float32(1), block=BLOCK)


calls(
    "Function.__call__ (another type)",
    _call_with_another_type,
    "function",
    "memory",
    absorbs=NO_MORE,
    no_allocations="the text is written in Python, where CPython loses exceptions",
)
calls(
    "Function.__call__ (stream)",
    lambda f, m, s: f(m, ONE, block=BLOCK, grid=(1, 1), stream=s, shared=16),
    "function",
    "memory",
    "stream",
    absorbs=NO_MORE,
)
calls(
    "Function.__call__ (timed)",
    lambda f, m: f(m, ONE, block=BLOCK, time_kernel=True),
    "function",
    "memory",
    absorbs=NO_MORE,
)
calls(
    "Function.__call__ (handlers)",
    lambda f, h: f(drv.InOut(h), ONE, block=BLOCK),
    "function",
    "host",
    absorbs=NO_MORE,
)
calls("Function.prepare", lambda f: f.prepare("Pi"), "function", absorbs=NO_MORE)
calls(
    "Function.arg_format",
    lambda f: setattr(f, "arg_format", "Pi"),
    "function",
    absorbs=NO_MORE,
)
calls(
    "Function.prepared_call",
    lambda f, m: f.prepared_call((1, 1), BLOCK, m, 1),
    "prepared",
    "memory",
)
calls(
    "Function.prepared_async_call",
    lambda f, m, s: f.prepared_async_call((1, 1), BLOCK, s, m, 1),
    "prepared",
    "memory",
    "stream",
)
calls(
    "Function.prepared_timed_call",
    lambda f, m: f.prepared_timed_call((1, 1), BLOCK, m, 1)(),
    "prepared",
    "memory",
)

# -- launches with attributes, occupancy -----------------------------------------------

COOPERATIVE = drv.LaunchConfig(cooperative=True)

row("LaunchConfig", lambda w: lambda: drv.LaunchConfig(True, priority=-1))
row("LaunchConfig.attributes", lambda w: lambda: COOPERATIVE.attributes)
row(
    "LaunchConfig (event)",
    lambda w: (
        lambda event: (
            lambda: drv.LaunchConfig(
                attributes={drv.launch_attribute.PROGRAMMATIC_EVENT: (event, 0, 1)}
            )
        )
    )(w.event),
)
calls(
    "Function.__call__ (attributes)",
    lambda f, m: f(m, ONE, block=BLOCK, cooperative=True, priority=-1),
    "function",
    "memory",
    absorbs=NO_MORE,
)
calls(
    "Function.__call__ (launch_config)",
    lambda f, m: f(m, ONE, block=BLOCK, launch_config=COOPERATIVE, time_kernel=True),
    "function",
    "memory",
    absorbs=NO_MORE,
)
calls(
    "Function.prepared_call (attributes)",
    lambda f, m: f.prepared_call((1, 1), BLOCK, m, 1, cooperative=True),
    "prepared",
    "memory",
)
calls(
    "Function.prepared_timed_call (attributes)",
    lambda f, m: f.prepared_timed_call((1, 1), BLOCK, m, 1, cooperative=True)(),
    "prepared",
    "memory",
)
calls("Function.max_active_blocks", lambda f: f.max_active_blocks(64), "function")
calls("Function.suggest_block", lambda f: f.suggest_block(), "function")
calls(
    "Function.suggest_block (function)",
    lambda f: f.suggest_block(lambda threads: 4 * threads, 128),
    "function",
)
calls(
    "Function.__call__ (size)",
    lambda f, m: f(m, ONE, size=1),
    "function",
    "memory",
    absorbs=NO_MORE,
)
calls(
    "Function.prepared_call (size)",
    lambda f, m: f.prepared_call(m, 1, size=1),
    "prepared",
    "memory",
)
calls("Function.available_shared", lambda f: f.available_shared(64), "function")
calls(
    "Function.max_active_clusters",
    lambda f: f.max_active_clusters(2, 64),
    "function",
)
calls("Function.max_cluster_size", lambda f: f.max_cluster_size(64), "function")
calls(
    "Device.max_cooperative_blocks",
    lambda d, f: d.max_cooperative_blocks(f),
    "device",
    "function",
)

# -- tensor maps, modules of other libraries -------------------------------------------


class _Interface:
    """An array of another library on memory of the world."""

    def __init__(self, memory, shape=(8, 8)):
        self.__cuda_array_interface__ = {
            "shape": shape,
            "typestr": "<f4",
            "data": (int(memory), False),
            "version": 3,
        }


def _map(memory):
    return drv.TensorMap(_Interface(memory), (4, 4))


calls("TensorMap", _map, "memory")
calls(
    "TensorMap.im2col",
    lambda m: drv.TensorMap.im2col(_Interface(m, (2, 4, 8)), (0,), (0,), 4, 4),
    "memory",
)
calls("TensorMap.__bytes__", bytes, lambda w: _map(w.memory))
calls("TensorMap.array", lambda m: m.array, lambda w: _map(w.memory))
calls("Module.handle", lambda m: m.handle, "module")
calls("Module.from_handle", lambda m: drv.Module.from_handle(m.handle, m), "module")
calls(
    "Function.from_handle",
    lambda f: drv.Function.from_handle(f.handle, f),
    "function",
    absorbs={"cuFuncGetName": "the name is for messages; it is then 'kernel'"},
)


class _Producer:
    """An array of another library that has DLPack only."""

    def __init__(self, memory):
        self.memory = memory

    def __dlpack__(self, *, stream=None, max_version=None, **more):
        return self.memory.as_dlpack(SIZE // 4, np.int32)

    def __dlpack_device__(self):
        return 2, 0


calls(
    "Function.__call__ (DLPack)",
    lambda f, p: f(p, ONE, block=BLOCK),
    "function",
    lambda w: _Producer(w.memory),
    absorbs={
        **NO_MORE,
        "cuPointerGetAttribute": "memory that the driver does not know is the device's",
        "cuStreamIsCapturing": "the stream counts as not captured",
    },
)

# -- the old functions -----------------------------------------------------------------

calls("Function.param_set", lambda f, m: f.param_set(m, ONE), "old_style", "memory")
calls("Function.param_set_size", lambda f: f.param_set_size(12), "old_style")
calls("Function.param_seti", lambda f: f.param_seti(8, 1), "old_style")
calls("Function.param_setf", lambda f: f.param_setf(8, 1.0), "old_style")
calls(
    "Function.param_setv",
    lambda f, h: f.param_setv(8, h[:1]),
    "old_style",
    "host",
)
calls("Function.set_block_shape", lambda f: f.set_block_shape(8, 1, 1), "old_style")
calls("Function.set_shared_size", lambda f: f.set_shared_size(16), "old_style")
calls("Function.launch", lambda f: f.launch(), "old_style")
calls("Function.launch_grid", lambda f: f.launch_grid(1, 1), "old_style")
calls(
    "Function.launch_grid_async",
    lambda f, s: f.launch_grid_async(1, 1, s),
    "old_style",
    "stream",
)

# -- arguments -------------------------------------------------------------------------


def _handler(kind):
    def make(w):
        handler = kind(w.host)
        return lambda: (handler.get_device_alloc(), handler.pre_call(None))

    return make


for _kind in (drv.In, drv.Out, drv.InOut):
    row(_kind.__name__, lambda w, kind=_kind: lambda: kind(w.host))
row("ArgumentHandler", lambda w: lambda: drv.ArgumentHandler(w.host))
row(
    "ArgumentHandler.get_device_alloc",
    lambda w: drv.ArgumentHandler(w.host).get_device_alloc,
)
row("ArgumentHandler.array", lambda w: lambda: drv.ArgumentHandler(w.host).array)
row("ArgumentHandler.dev_alloc", lambda w: lambda: drv.In(w.host).dev_alloc)
row(
    "ArgumentHandler.pre_call",
    lambda w: lambda: drv.ArgumentHandler(w.host).pre_call(None),
)


def _pre_call(w):
    handler = drv.In(w.host)
    handler.get_device_alloc()
    return lambda: handler.pre_call(None)


def _post_call(w):
    handler = drv.Out(w.host)
    handler.get_device_alloc()
    return lambda: handler.post_call(None)


row("In.pre_call", _pre_call)
row("Out.post_call", _post_call)
