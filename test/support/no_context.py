"""Record what driver calls return without a current context, or with another one.

    python -m support.no_context [none | other]

prints a line for each call, in the form of test/data/no_context.txt. It works with
NVIDIA's driver and with the software device (PYCUDA_DRIVER=emulator). All objects
belong to a context that is current in the main thread. A second thread makes the calls.
It has no current context or, with ``other``, another context on the same device.
"""

import ctypes
import os
import sys
import threading
from ctypes import byref, c_size_t, c_uint, c_void_p
from pathlib import Path

from support.emulator import LIBRARY, Driver

SOURCE = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .global .align 4 .u32 g;
.visible .entry k() { ret; }
"""

LEGACY, PER_THREAD = 1, 2  # the handles of the default streams
ROOM = 4096
QUERIES = {"EventQuery", "StreamQuery"}  # their results depend on the progress of work


class Objects:
    """All objects that the calls use, made in the current context."""

    def __init__(self, driver):
        d = self.driver = driver
        d.ok("Init", 0)
        self.context = d.context()
        d.ok("CtxPopCurrent", byref(c_void_p()))
        self.other = d.context()
        d.ok("CtxPopCurrent", byref(c_void_p()))
        d.ok("CtxPushCurrent", self.context)
        self.module = d.module(SOURCE)
        self.second_module = d.module(SOURCE)
        self.kernel = d.function(self.module, b"k")
        self.memory = d.alloc(ROOM)
        self.target = d.alloc(ROOM)
        self.host = c_void_p(d.out(c_void_p, "MemHostAlloc", c_size_t(ROOM), 0))
        self.stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
        self.start = c_void_p(d.out(c_void_p, "EventCreate", 0))
        self.end = c_void_p(d.out(c_void_p, "EventCreate", 0))
        for event in (self.start, self.end):
            d.ok("EventRecord", event, self.stream)
        d.ok("StreamSynchronize", self.stream)
        self.pageable = ctypes.create_string_buffer(ROOM)
        self.out = ctypes.create_string_buffer(ROOM)
        self.room = c_size_t()


def calls(o):
    """Yield (description, name, arguments) of each call, in order."""
    out = o.out
    n = c_size_t(16)
    function = o.kernel
    null = None
    shape = (function, 1, 1, 1, 1, 1, 1, 0)
    legacy, per_thread = c_void_p(LEGACY), c_void_p(PER_THREAD)
    room = byref(o.room)

    return [
        ("cuModuleGetFunction . . b'k'", "ModuleGetFunction", (out, o.module, b"k")),
        (
            "cuModuleGetFunction . . b'nope'",
            "ModuleGetFunction",
            (out, o.module, b"nope"),
        ),
        (
            "cuModuleGetGlobal_v2 . . . b'g'",
            "ModuleGetGlobal",
            (out, room, o.module, b"g"),
        ),
        (
            "cuModuleGetGlobal_v2 . . . b'nope'",
            "ModuleGetGlobal",
            (out, room, o.module, b"nope"),
        ),
        ("cuModuleGetTexRef . . b'nope'", "ModuleGetTexRef", (out, o.module, b"nope")),
        ("cuFuncGetAttribute . 0 .", "FuncGetAttribute", (out, 0, function)),
        ("cuFuncSetAttribute . 8 0", "FuncSetAttribute", (function, 8, 0)),
        ("cuFuncSetCacheConfig . 0", "FuncSetCacheConfig", (function, 0)),
        ("cuFuncGetModule . .", "FuncGetModule", (out, function)),
        (
            "cuFuncGetParamInfo . 0 . .",
            "FuncGetParamInfo",
            (function, c_size_t(0), out, room),
        ),
        (
            "cuOccupancyMaxActiveBlocksPerMultiprocessor . . 32 .",
            "OccupancyMaxActiveBlocksPerMultiprocessor",
            (out, function, 32, c_size_t(0)),
        ),
        (
            "cuLaunchKernel . 1 1 1 1 1 1 0 . . NULL",
            "LaunchKernel",
            (*shape, o.stream, null, null),
        ),
        (
            "cuLaunchKernel . 1 1 1 1 1 1 0 NULL . NULL",
            "LaunchKernel",
            (*shape, null, null, null),
        ),
        (
            "cuLaunchKernel . 1 1 1 1 1 1 0 LEGACY . NULL",
            "LaunchKernel",
            (*shape, legacy, null, null),
        ),
        (
            "cuLaunchKernel . 1 1 1 1 1 1 0 PER_THREAD . NULL",
            "LaunchKernel",
            (*shape, per_thread, null, null),
        ),
        ("cuEventQuery .", "EventQuery", (o.start,)),
        ("cuEventSynchronize .", "EventSynchronize", (o.start,)),
        ("cuEventElapsedTime . . .", "EventElapsedTime", (out, o.start, o.end)),
        ("cuEventRecord . .", "EventRecord", (o.start, o.stream)),
        ("cuEventRecord . NULL", "EventRecord", (o.start, null)),
        ("cuEventRecord . LEGACY", "EventRecord", (o.start, legacy)),
        ("cuEventCreate . 0", "EventCreate", (out, 0)),
        ("cuStreamCreate . 0", "StreamCreate", (out, 0)),
        ("cuStreamQuery .", "StreamQuery", (o.stream,)),
        ("cuStreamQuery NULL", "StreamQuery", (null,)),
        ("cuStreamSynchronize .", "StreamSynchronize", (o.stream,)),
        ("cuStreamSynchronize NULL", "StreamSynchronize", (null,)),
        ("cuStreamWaitEvent . . 0", "StreamWaitEvent", (o.stream, o.start, 0)),
        ("cuStreamWaitEvent NULL . 0", "StreamWaitEvent", (null, o.start, 0)),
        ("cuStreamGetFlags . .", "StreamGetFlags", (o.stream, out)),
        ("cuStreamGetFlags NULL .", "StreamGetFlags", (null, out)),
        ("cuStreamGetPriority . .", "StreamGetPriority", (o.stream, out)),
        ("cuStreamGetCtx . .", "StreamGetCtx", (o.stream, out)),
        ("cuStreamGetCtx NULL .", "StreamGetCtx", (null, out)),
        ("cuStreamIsCapturing . .", "StreamIsCapturing", (o.stream, out)),
        ("cuStreamIsCapturing NULL .", "StreamIsCapturing", (null, out)),
        ("cuMemcpyHtoD_v2 . . .", "MemcpyHtoD", (o.memory, o.pageable, n)),
        ("cuMemcpyDtoH_v2 . . .", "MemcpyDtoH", (o.pageable, o.memory, n)),
        ("cuMemcpyDtoD_v2 . . .", "MemcpyDtoD", (o.target, o.memory, n)),
        (
            "cuMemcpyHtoDAsync_v2 . . . .",
            "MemcpyHtoDAsync",
            (o.memory, o.host, n, o.stream),
        ),
        (
            "cuMemcpyDtoHAsync_v2 . . . .",
            "MemcpyDtoHAsync",
            (o.host, o.memory, n, o.stream),
        ),
        (
            "cuMemcpyDtoDAsync_v2 . . . .",
            "MemcpyDtoDAsync",
            (o.target, o.memory, n, o.stream),
        ),
        (
            "cuMemcpyHtoDAsync_v2 . . . NULL",
            "MemcpyHtoDAsync",
            (o.memory, o.host, n, null),
        ),
        (
            "cuMemcpyDtoDAsync_v2 . . . NULL",
            "MemcpyDtoDAsync",
            (o.target, o.memory, n, null),
        ),
        (
            "cuMemcpyPeer . . . . .",
            "MemcpyPeer",
            (o.target, o.context, o.memory, o.context, n),
        ),
        (
            "cuMemcpyPeerAsync . . . . . .",
            "MemcpyPeerAsync",
            (o.target, o.context, o.memory, o.context, n, o.stream),
        ),
        ("cuMemsetD8_v2 . 0 .", "MemsetD8", (o.memory, 0, n)),
        ("cuMemsetD8Async . 0 . .", "MemsetD8Async", (o.memory, 0, n, o.stream)),
        ("cuMemsetD8Async . 0 . NULL", "MemsetD8Async", (o.memory, 0, n, null)),
        ("cuMemAlloc_v2 . .", "MemAlloc", (out, n)),
        ("cuMemAllocPitch_v2 . . . . 4", "MemAllocPitch", (out, room, n, n, 4)),
        ("cuMemAllocManaged . . 1", "MemAllocManaged", (out, n, 1)),
        ("cuMemHostAlloc . . 0", "MemHostAlloc", (out, n, 0)),
        (
            "cuMemHostRegister_v2 . . 0",
            "MemHostRegister",
            (o.pageable, c_size_t(ROOM), 0),
        ),
        ("cuMemGetInfo_v2 . .", "MemGetInfo", (out, room)),
        ("cuMemGetAddressRange_v2 . . .", "MemGetAddressRange", (out, room, o.memory)),
        ("cuPointerGetAttribute . 1 .", "PointerGetAttribute", (out, 1, o.memory)),
        ("cuPointerGetAttribute . 2 .", "PointerGetAttribute", (out, 2, o.memory)),
        (
            "cuMemHostGetDevicePointer_v2 . . 0",
            "MemHostGetDevicePointer",
            (out, o.host, 0),
        ),
        ("cuMemHostGetFlags . .", "MemHostGetFlags", (out, o.host)),
        ("cuCtxSynchronize ", "CtxSynchronize", ()),
        ("cuCtxGetDevice .", "CtxGetDevice", (out,)),
        ("cuCtxGetFlags .", "CtxGetFlags", (out,)),
        ("cuCtxGetLimit . 0", "CtxGetLimit", (out, 0)),
        ("cuCtxGetCacheConfig .", "CtxGetCacheConfig", (out,)),
        ("cuCtxGetStreamPriorityRange . .", "CtxGetStreamPriorityRange", (out, room)),
        ("cuCtxGetApiVersion . .", "CtxGetApiVersion", (o.context, out)),
        ("cuCtxGetApiVersion NULL .", "CtxGetApiVersion", (null, out)),
        ("cuCtxPopCurrent_v2 .", "CtxPopCurrent", (out,)),
        ("cuCtxGetCurrent .", "CtxGetCurrent", (out,)),
        ("cuModuleLoadData . .", "ModuleLoadData", (out, SOURCE)),
        ("cuLinkCreate_v2 0 NULL NULL .", "LinkCreate", (c_uint(0), null, null, out)),
        ("cuMemAllocAsync . . .", "MemAllocAsync", (out, n, o.stream)),
        ("cuMemAllocAsync . . NULL", "MemAllocAsync", (out, n, null)),
        ("cuMemFreeHost .", "MemFreeHost", (o.host,)),
        ("cuMemFree_v2 .", "MemFree", (o.memory,)),
        ("cuEventDestroy_v2 .", "EventDestroy", (o.start,)),
        ("cuStreamDestroy_v2 .", "StreamDestroy", (o.stream,)),
        ("cuModuleUnload .", "ModuleUnload", (o.second_module,)),
    ]


def result(driver, name, arguments):
    """Return the CUresult, or None if the driver lacks the function."""
    function = getattr(driver, name, None)
    return function(*arguments) if function else None


def record(driver, mode="none"):
    """Make each call in a fresh thread. Return {description: CUresult}."""
    objects, codes = Objects(driver), {}

    def body():
        for words, name, arguments in calls(objects):
            if mode == "other" and "CtxPopCurrent" in words:
                continue
            if mode == "other":  # ignore what the previous call made current
                driver.ok("CtxSetCurrent", objects.other)
            if name in QUERIES:  # a busy GPU may still have earlier work to do
                driver.ok("StreamSynchronize", objects.stream)
            codes[words] = result(driver, name, arguments)
        if mode == "other":
            driver.ok("CtxPopCurrent", byref(c_void_p()))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    driver.ok("CtxDestroy", objects.context)
    driver.ok("CtxDestroy", objects.other)
    return codes


def read(path):
    """Read a table from a file, in the form that record() returns."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    rows = (line.rpartition(": ") for line in lines if line and line[0] != "#")
    return {words: int(code) for words, _, code in rows}


def library():
    """Return the library that pycuda would load: the software device or NVIDIA's."""
    emulated = os.environ.get("PYCUDA_DRIVER") == "emulator"
    return LIBRARY if emulated else "libcuda.so.1"


if __name__ == "__main__":
    table = record(Driver(library()), *sys.argv[1:2])
    for words, code in table.items():
        print(f"{words}: {code}")
