"""What driver calls return in a thread that has no current context, or a foreign one.

    python -m support.no_context [none | other]

prints the table: a line for each call, in the form of test/data/no_context.txt. It works
with NVIDIA's driver and with the software device (PYCUDA_DRIVER=emulator). All objects
belong to a context that is current in the main thread; the calls are made in a second
thread, which has no current context or, with ``other``, another one on the same device.
"""

import ctypes
import os
import sys
import threading
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

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


class Objects:
    """Everything that the calls name, made in the current context."""

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
        self.option = (c_void_p * 4)()


def calls(o):
    """(the call in words, the call) in the order in which they are made."""
    d, out = o.driver, o.out
    n = c_size_t(16)
    function = o.kernel
    null = None
    options = (c_uint(0), null, null)

    def launch(stream):
        return d.LaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, null, null)

    return [
        ("cuModuleGetFunction . . b'k'", lambda: d.ModuleGetFunction(out, o.module, b"k")),
        ("cuModuleGetFunction . . b'nope'", lambda: d.ModuleGetFunction(out, o.module, b"nope")),
        ("cuModuleGetGlobal_v2 . . . b'g'", lambda: d.ModuleGetGlobal(out, byref(o.room), o.module, b"g")),
        ("cuModuleGetGlobal_v2 . . . b'nope'", lambda: d.ModuleGetGlobal(out, byref(o.room), o.module, b"nope")),
        ("cuModuleGetTexRef . . b'nope'", lambda: d.ModuleGetTexRef(out, o.module, b"nope")),
        ("cuFuncGetAttribute . 0 .", lambda: d.FuncGetAttribute(out, 0, function)),
        ("cuFuncSetAttribute . 8 0", lambda: d.FuncSetAttribute(function, 8, 0)),
        ("cuFuncSetCacheConfig . 0", lambda: d.FuncSetCacheConfig(function, 0)),
        ("cuFuncGetModule . .", lambda: d.FuncGetModule(out, function)),
        ("cuFuncGetParamInfo . 0 . .", lambda: d.FuncGetParamInfo(function, c_size_t(0), out, byref(o.room))),
        ("cuOccupancyMaxActiveBlocksPerMultiprocessor . . 32 .", lambda: d.OccupancyMaxActiveBlocksPerMultiprocessor(out, function, 32, c_size_t(0))),
        ("cuLaunchKernel . 1 1 1 1 1 1 0 . . NULL", lambda: launch(o.stream)),
        ("cuLaunchKernel . 1 1 1 1 1 1 0 NULL . NULL", lambda: launch(null)),
        ("cuLaunchKernel . 1 1 1 1 1 1 0 LEGACY . NULL", lambda: launch(c_void_p(LEGACY))),
        ("cuLaunchKernel . 1 1 1 1 1 1 0 PER_THREAD . NULL", lambda: launch(c_void_p(PER_THREAD))),
        ("cuEventQuery .", lambda: d.EventQuery(o.start)),
        ("cuEventSynchronize .", lambda: d.EventSynchronize(o.start)),
        ("cuEventElapsedTime . . .", lambda: d.EventElapsedTime(out, o.start, o.end)),
        ("cuEventRecord . .", lambda: d.EventRecord(o.start, o.stream)),
        ("cuEventRecord . NULL", lambda: d.EventRecord(o.start, null)),
        ("cuEventRecord . LEGACY", lambda: d.EventRecord(o.start, c_void_p(LEGACY))),
        ("cuEventCreate . 0", lambda: d.EventCreate(out, 0)),
        ("cuStreamCreate . 0", lambda: d.StreamCreate(out, 0)),
        ("cuStreamQuery .", lambda: d.StreamQuery(o.stream)),
        ("cuStreamQuery NULL", lambda: d.StreamQuery(null)),
        ("cuStreamSynchronize .", lambda: d.StreamSynchronize(o.stream)),
        ("cuStreamSynchronize NULL", lambda: d.StreamSynchronize(null)),
        ("cuStreamWaitEvent . . 0", lambda: d.StreamWaitEvent(o.stream, o.start, 0)),
        ("cuStreamWaitEvent NULL . 0", lambda: d.StreamWaitEvent(null, o.start, 0)),
        ("cuStreamGetFlags . .", lambda: d.StreamGetFlags(o.stream, out)),
        ("cuStreamGetFlags NULL .", lambda: d.StreamGetFlags(null, out)),
        ("cuStreamGetPriority . .", lambda: d.StreamGetPriority(o.stream, out)),
        ("cuStreamGetCtx . .", lambda: d.StreamGetCtx(o.stream, out)),
        ("cuStreamGetCtx NULL .", lambda: d.StreamGetCtx(null, out)),
        ("cuStreamIsCapturing . .", lambda: d.StreamIsCapturing(o.stream, out)),
        ("cuStreamIsCapturing NULL .", lambda: d.StreamIsCapturing(null, out)),
        ("cuMemcpyHtoD_v2 . . .", lambda: d.MemcpyHtoD(o.memory, o.pageable, n)),
        ("cuMemcpyDtoH_v2 . . .", lambda: d.MemcpyDtoH(o.pageable, o.memory, n)),
        ("cuMemcpyDtoD_v2 . . .", lambda: d.MemcpyDtoD(o.target, o.memory, n)),
        ("cuMemcpyHtoDAsync_v2 . . . .", lambda: d.MemcpyHtoDAsync(o.memory, o.host, n, o.stream)),
        ("cuMemcpyDtoHAsync_v2 . . . .", lambda: d.MemcpyDtoHAsync(o.host, o.memory, n, o.stream)),
        ("cuMemcpyDtoDAsync_v2 . . . .", lambda: d.MemcpyDtoDAsync(o.target, o.memory, n, o.stream)),
        ("cuMemcpyHtoDAsync_v2 . . . NULL", lambda: d.MemcpyHtoDAsync(o.memory, o.host, n, null)),
        ("cuMemcpyDtoDAsync_v2 . . . NULL", lambda: d.MemcpyDtoDAsync(o.target, o.memory, n, null)),
        ("cuMemcpyPeer . . . . .", lambda: d.MemcpyPeer(o.target, o.context, o.memory, o.context, n)),
        ("cuMemcpyPeerAsync . . . . . .", lambda: d.MemcpyPeerAsync(o.target, o.context, o.memory, o.context, n, o.stream)),
        ("cuMemsetD8_v2 . 0 .", lambda: d.MemsetD8(o.memory, 0, n)),
        ("cuMemsetD8Async . 0 . .", lambda: d.MemsetD8Async(o.memory, 0, n, o.stream)),
        ("cuMemsetD8Async . 0 . NULL", lambda: d.MemsetD8Async(o.memory, 0, n, null)),
        ("cuMemAlloc_v2 . .", lambda: d.MemAlloc(out, n)),
        ("cuMemAllocPitch_v2 . . . . 4", lambda: d.MemAllocPitch(out, byref(o.room), n, n, 4)),
        ("cuMemAllocManaged . . 1", lambda: d.MemAllocManaged(out, n, 1)),
        ("cuMemHostAlloc . . 0", lambda: d.MemHostAlloc(out, n, 0)),
        ("cuMemHostRegister_v2 . . 0", lambda: d.MemHostRegister(o.pageable, c_size_t(ROOM), 0)),
        ("cuMemGetInfo_v2 . .", lambda: d.MemGetInfo(out, byref(o.room))),
        ("cuMemGetAddressRange_v2 . . .", lambda: d.MemGetAddressRange(out, byref(o.room), o.memory)),
        ("cuPointerGetAttribute . 1 .", lambda: d.PointerGetAttribute(out, 1, o.memory)),
        ("cuPointerGetAttribute . 2 .", lambda: d.PointerGetAttribute(out, 2, o.memory)),
        ("cuMemHostGetDevicePointer_v2 . . 0", lambda: d.MemHostGetDevicePointer(out, o.host, 0)),
        ("cuMemHostGetFlags . .", lambda: d.MemHostGetFlags(out, o.host)),
        ("cuCtxSynchronize ", lambda: d.CtxSynchronize()),
        ("cuCtxGetDevice .", lambda: d.CtxGetDevice(out)),
        ("cuCtxGetFlags .", lambda: d.CtxGetFlags(out)),
        ("cuCtxGetLimit . 0", lambda: d.CtxGetLimit(out, 0)),
        ("cuCtxGetCacheConfig .", lambda: d.CtxGetCacheConfig(out)),
        ("cuCtxGetStreamPriorityRange . .", lambda: d.CtxGetStreamPriorityRange(out, byref(o.room))),
        ("cuCtxGetApiVersion . .", lambda: d.CtxGetApiVersion(o.context, out)),
        ("cuCtxGetApiVersion NULL .", lambda: d.CtxGetApiVersion(null, out)),
        ("cuCtxPopCurrent_v2 .", lambda: d.CtxPopCurrent(out)),
        ("cuCtxGetCurrent .", lambda: d.CtxGetCurrent(out)),
        ("cuModuleLoadData . .", lambda: d.ModuleLoadData(out, SOURCE)),
        ("cuLinkCreate_v2 0 NULL NULL .", lambda: d.LinkCreate(*options, out)),
        ("cuMemAllocAsync . . .", lambda: d.MemAllocAsync(out, n, o.stream)),
        ("cuMemAllocAsync . . NULL", lambda: d.MemAllocAsync(out, n, null)),
        ("cuMemFreeHost .", lambda: d.MemFreeHost(o.host)),
        ("cuMemFree_v2 .", lambda: d.MemFree(o.memory)),
        ("cuEventDestroy_v2 .", lambda: d.EventDestroy(o.start)),
        ("cuStreamDestroy_v2 .", lambda: d.StreamDestroy(o.stream)),
        ("cuModuleUnload .", lambda: d.ModuleUnload(o.second_module)),
    ]  # fmt: skip


def result(call):
    """The CUresult, or None where the driver has no such function."""
    try:
        return call()
    except AttributeError:
        return None


def record(driver, mode="none"):
    """Make every call in a fresh thread; return {the call in words: CUresult}."""
    objects, codes = Objects(driver), {}

    def body():
        for words, call in calls(objects):
            if mode == "other" and "CtxPopCurrent" in words:
                continue
            if mode == "other":  # what the call before left current does not matter
                driver.ok("CtxSetCurrent", objects.other)
            codes[words] = result(call)
        if mode == "other":
            driver.ok("CtxPopCurrent", byref(c_void_p()))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    driver.ok("CtxDestroy", objects.context)
    driver.ok("CtxDestroy", objects.other)
    return codes


def read(path):
    """The table in a file, as record() gives it."""
    lines = (line.rstrip("\n") for line in open(path, encoding="utf-8"))
    rows = (line.rpartition(": ") for line in lines if line and line[0] != "#")
    return {words: int(code) for words, _, code in rows}


def library():
    """The driver that pycuda would take: the software device's, or NVIDIA's."""
    emulated = os.environ.get("PYCUDA_DRIVER") == "emulator"
    return LIBRARY if emulated else "libcuda.so.1"


if __name__ == "__main__":
    table = record(Driver(library()), *sys.argv[1:2])
    for words, code in table.items():
        print(f"{words}: {code}")
