"""The software device without kernels: entry points, devices, contexts, memory."""

import ctypes
import os
import threading
from ctypes import byref, c_int, c_size_t, c_uint, c_uint64, c_void_p

import pytest

from support.emulator import (
    EMPTY_KERNEL,
    R,
    child,
    functions,
    results,
    size,
)

pytest_plugins = ["support.emulator_fixtures"]

KIB = 1024
MIB = 1024 * 1024


# -- the table -------------------------------------------------------------------------


def test_required_symbols_are_all_there(emu_driver):
    missing = [
        row.name
        for row in functions()
        if row.caller == "REQUIRED" and row.name not in vars(emu_driver)
    ]
    assert missing == []


def look_up(d, name, version):
    pointer, status = c_void_p(), c_int(-1)
    code = d.lib.cuGetProcAddress_v2(name, byref(pointer), version, 0, byref(status))
    return code, pointer.value, status.value


def test_get_proc_address(emu_driver):
    code, pointer, status = look_up(emu_driver, b"cuMemAlloc", 3020)
    assert (code, status) == (0, 0) and pointer
    old = look_up(emu_driver, b"cuMemAlloc", 2000)  # with sizes of 32 bits
    assert (old[0], old[2]) == (0, 0) and old[1] != pointer
    new = b"cuMemAllocAsync"
    assert look_up(emu_driver, new, 11010) == (0, None, 2)
    assert look_up(emu_driver, b"cuNoSuchThing", 12000) == (0, None, 1)
    assert look_up(emu_driver, b"cuMemAlloc", 14000) == (0, pointer, 0)
    four = c_void_p()
    assert (
        emu_driver.lib.cuGetProcAddress(b"cuMemAlloc", byref(four), 3020, c_uint64(0))
        == 0
    )
    assert four.value == pointer


def test_error_names_and_texts(emu_driver):
    text = ctypes.c_char_p()
    for name, code in results().items():
        assert emu_driver.GetErrorName(code, byref(text)) == 0
        assert text.value.decode() == name
    assert emu_driver.GetErrorString(2, byref(text)) == 0
    assert text.value == b"out of memory"
    assert emu_driver.GetErrorName(12345, byref(text)) == R.ERROR_INVALID_VALUE
    assert text.value is None


# -- init, devices, environment --------------------------------------------------------


def test_before_init():
    out = child(
        "n = c_int()\n"
        "print(d.DeviceGetCount(byref(n)), d.CtxGetCurrent(byref(c_void_p())),"
        " d.DriverGetVersion(byref(n)), n.value, d.Init(1), d.Init(0), d.Init(0))"
    )
    assert out == "3 3 0 13000 1 0 0"


def test_device(d):
    count = int(os.environ.get("PYCUDA_EMULATOR_DEVICES", "1"))
    assert d.out(c_int, "DeviceGetCount") == count
    assert d.out(c_int, "DeviceGet", 0) == 0
    assert d.DeviceGet(byref(c_int()), count) == R.ERROR_INVALID_DEVICE
    name = ctypes.create_string_buffer(64)
    d.ok("DeviceGetName", name, 64, 0)
    assert name.value == b"PyCUDA software device"
    d.ok("DeviceGetName", name, 7, 0)
    assert name.value == b"PyCUDA"
    assert d.out(c_size_t, "DeviceTotalMem", 0) == 4 << 30
    attribute = {n: d.out(c_int, "DeviceGetAttribute", n, 0) for n in range(1, 148)}
    assert (attribute[75], attribute[76], attribute[10]) == (7, 5, 32)
    assert (
        attribute[1] == 1024 and attribute[8] == 48 * KIB and attribute[97] == 64 * KIB
    )
    assert d.DeviceGetAttribute(byref(c_int()), 148, 0) == R.ERROR_INVALID_VALUE
    assert d.DeviceGetAttribute(byref(c_int()), 1, 5) == R.ERROR_INVALID_DEVICE
    bus = ctypes.create_string_buffer(16)
    d.ok("DeviceGetPCIBusId", bus, 16, 0)
    assert d.out(c_int, "DeviceGetByPCIBusId", bus.value) == 0
    assert (
        d.DeviceGetByPCIBusId(byref(c_int()), b"0000:77:00.0") == R.ERROR_INVALID_DEVICE
    )


def test_names_of_devices(d):
    """The names differ. The number of a missing device is rejected."""
    names = []
    for device in range(d.out(c_int, "DeviceGetCount")):
        uuid = (ctypes.c_ubyte * 16)()
        d.ok("DeviceGetUuid", uuid, device)
        names.append(bytes(uuid))
    assert len(set(names)) == len(names)
    assert d.DeviceGetUuid(None, 0) == R.ERROR_INVALID_VALUE
    assert d.DeviceGetUuid(uuid, 99) == R.ERROR_INVALID_DEVICE
    for bus in (b"0:0", b"nonsense"):
        code = d.DeviceGetByPCIBusId(byref(c_int()), bus)
        assert code in (R.ERROR_INVALID_DEVICE, R.ERROR_INVALID_VALUE)


def test_what_two_devices_can_do_together():
    said = child(
        "d.Init(0)\n"
        "print([d.out(c_int, 'DeviceGetP2PAttribute', n, 0, 1) for n in range(1, 5)])\n"
        "print([d.DeviceGetP2PAttribute(byref(c_int()), *bad)"
        " for bad in ((0, 0, 1), (5, 0, 1), (1, 0, 0), (1, 0, 2))])",
        PYCUDA_EMULATOR_DEVICES="2",
    ).splitlines()
    assert said[0] == "[0, 1, 1, 1]"  # all devices are at the same distance
    value, device = R.ERROR_INVALID_VALUE, R.ERROR_INVALID_DEVICE
    assert said[1] == str([value, value, device, device])


@pytest.mark.parametrize(
    "capability, optin, threads",
    [("7.0", 96, 2048), ("8.0", 163, 2048), ("8.6", 99, 1536), ("9.0", 227, 2048)],
)
def test_limits_of_other_devices(capability, optin, threads):
    said = child(
        "d.Init(0)\n"
        "print(*[d.out(c_int, 'DeviceGetAttribute', n, 0) for n in (75, 76, 97, 39)])",
        PYCUDA_EMULATOR_CAPABILITY=capability,
    )
    wanted = [*map(int, capability.split(".")), optin * KIB, threads]
    assert list(map(int, said.split())) == wanted


def test_environment_is_followed():
    out = child(
        "d.ok('Init', 0)\n"
        "print(d.out(c_int, 'DeviceGetCount'),"
        " d.out(c_int, 'DeviceGetAttribute', 75, 2),"
        " d.out(c_int, 'DeviceGetAttribute', 76, 2),"
        " d.out(c_size_t, 'DeviceTotalMem', 1))",
        PYCUDA_EMULATOR_DEVICES="3",
        PYCUDA_EMULATOR_CAPABILITY="8.6",
        PYCUDA_EMULATOR_MEMORY="96m",
        PYCUDA_EMULATOR_SEED="17",
    )
    assert out == f"3 8 6 {96 * MIB}"


@pytest.mark.parametrize(
    "name, value, code",
    [
        ("PYCUDA_EMULATOR_DEVICES", "two", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_DEVICES", "65", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_DEVICES", "-1", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_DEVICES", "0", R.ERROR_NO_DEVICE),
        ("PYCUDA_EMULATOR_CAPABILITY", "7", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_CAPABILITY", "7.55", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "much", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "0", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "99999999999G", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "257G", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "262145M", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "274877906945", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "1T", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "8t", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "0T", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "G", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_MEMORY", "1.5G", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_SEED", "1.5", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_FAULT", "cuMemAlloc", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_FAULT", "cuNothing:1:2", R.ERROR_INVALID_VALUE),
        ("PYCUDA_EMULATOR_LOG", "/no/such/folder/log", R.ERROR_INVALID_VALUE),
    ],
)
def test_bad_environment_is_said_in_one_sentence(name, value, code):
    out = child("print(d.Init(0)); print(d.message())", **{name: value})
    first, message = out.splitlines()
    assert int(first) == code
    assert name in message and message.endswith(".") and message.count("\n") == 0


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("1k", KIB), ("262144M", 2**38), ("256G", 2**38), (str(2**38), 2**38)],
)
def test_memory_up_to_the_largest_size(text, size):
    said = child(
        "d.ok('Init', 0)\nprint(d.out(c_size_t, 'DeviceTotalMem', 0))",
        PYCUDA_EMULATOR_MEMORY=text,
    )
    assert int(said) == size


@pytest.mark.skipif(
    "ASAN_OPTIONS" in os.environ, reason="AddressSanitizer needs terabytes of addresses"
)
def test_free_memory_is_what_can_be_allocated():
    """A limited address space also limits the device's free memory.

    Freed addresses are quarantined for a while, but not if memory is short.
    """
    said = child(
        "import resource\n"
        "resource.setrlimit(resource.RLIMIT_AS, (12 << 30, 12 << 30))\n"
        "d.ok('Init', 0)\n"
        "c = d.context()\n"
        "free, total = c_size_t(), c_size_t()\n"
        "for turn in range(3):\n"
        "    blocks = []\n"
        "    d.ok('MemGetInfo', byref(free), byref(total))\n"
        "    before = free.value\n"
        "    while True:\n"
        "        block = c_uint64()\n"
        "        if d.MemAlloc(byref(block), c_size_t(256 << 20)):\n"
        "            break\n"
        "        blocks.append(block)\n"
        "    d.ok('MemGetInfo', byref(free), byref(total))\n"
        "    print(before, len(blocks) << 28, free.value, total.value)\n"
        "    for block in blocks:\n"
        "        d.ok('MemFree', block)\n",
        PYCUDA_EMULATOR_MEMORY="200G",
    )
    for line in said.splitlines():
        before, taken, left, total = map(int, line.split())
        assert total == 200 << 30
        assert 1 << 30 < taken <= before < 12 << 30
        assert left < 256 * MIB  # the size that was requested and rejected
        assert before - taken < 512 * MIB


def test_fork_leaves_the_child_without_a_device():
    out = child(
        "d.ok('Init', 0)\n"
        "c = d.context()\n"
        "p = os.fork()\n"
        "if p == 0:\n"
        "    n = c_int()\n"
        "    codes = {d.Init(0), d.DeviceGetCount(byref(n)), d.CtxPopCurrent(None),"
        " d.CtxDestroy(c)}\n"
        "    os._exit(0 if codes == {3} and not d.live() else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]), d.CtxDestroy(c))"
    )
    assert out == "0 0"


def test_fork_before_init_may_init():
    out = child(
        "p = os.fork()\n"
        "if p == 0:\n"
        "    os._exit(d.Init(0))\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]))"
    )
    assert out == "0"


# -- contexts --------------------------------------------------------------------------


def test_context_stack(d):
    a = d.context()
    b = d.context()
    assert d.out(c_void_p, "CtxGetCurrent") == b.value
    assert d.out(c_void_p, "CtxPopCurrent") == b.value
    assert d.out(c_void_p, "CtxGetCurrent") == a.value
    d.ok("CtxPushCurrent", b)
    d.ok("CtxSetCurrent", a)  # replaces the top
    assert d.out(c_void_p, "CtxPopCurrent") == a.value
    assert d.out(c_void_p, "CtxPopCurrent") == a.value
    assert d.CtxPopCurrent(None) == R.ERROR_INVALID_CONTEXT
    assert d.out(c_void_p, "CtxGetCurrent") is None
    assert d.MemAlloc(byref(c_uint64()), size(4)) == R.ERROR_INVALID_CONTEXT
    d.ok("CtxSetCurrent", a)
    d.ok("CtxSetCurrent", None)
    d.ok("CtxDestroy", a)
    d.ok("CtxDestroy", b)
    assert d.CtxDestroy(a) == R.ERROR_CONTEXT_IS_DESTROYED
    assert d.CtxPushCurrent(a) == R.ERROR_INVALID_CONTEXT


def test_destroyed_context_on_another_stack(d):
    context = d.context()
    seen = []

    def work():
        d.ok("CtxPushCurrent", context)
        ready.set()
        gone.wait(10)
        seen.append(d.MemAlloc(byref(c_uint64()), size(4)))
        seen.append(d.CtxPopCurrent(byref(c_void_p())))

    ready, gone = threading.Event(), threading.Event()
    thread = threading.Thread(target=work)
    thread.start()
    assert ready.wait(10)
    d.ok("CtxDestroy", context)
    gone.set()
    thread.join()
    assert seen == [R.ERROR_CONTEXT_IS_DESTROYED, 0]


def test_context_queries(d, emu_ctx):
    assert d.out(c_int, "CtxGetDevice") == 0
    assert d.last(c_uint, "CtxGetApiVersion", emu_ctx) == 3020
    assert d.last(c_uint64, "CtxGetId", emu_ctx) == d.last(c_uint64, "CtxGetId", None)
    other = d.context(flags=4)
    assert d.out(c_uint, "CtxGetFlags") == 4
    assert d.last(c_uint64, "CtxGetId", emu_ctx) != d.last(c_uint64, "CtxGetId", other)
    d.ok("CtxDestroy", other)
    assert d.CtxCreate(byref(c_void_p()), 3, 0) == R.ERROR_INVALID_VALUE
    assert d.CtxCreate(byref(c_void_p()), 0, 9) == R.ERROR_INVALID_DEVICE
    assert d.out(c_size_t, "CtxGetLimit", 0) == 1024
    d.ok("CtxSetLimit", 0, size(5000))
    assert d.out(c_size_t, "CtxGetLimit", 0) == 5008
    assert d.out(c_size_t, "CtxGetLimit", 2) == 8 * MIB
    assert d.CtxGetLimit(byref(c_size_t()), 77) == R.ERROR_UNSUPPORTED_LIMIT
    d.ok("CtxSetCacheConfig", 2)
    assert d.out(c_int, "CtxGetCacheConfig") == 2
    least, greatest = c_int(), c_int()
    d.ok("CtxGetStreamPriorityRange", byref(least), byref(greatest))
    assert least.value == 0 > greatest.value
    d.ok("CtxSynchronize")


def test_primary_context(d):
    a = d.out(c_void_p, "DevicePrimaryCtxRetain", 0)
    assert d.out(c_void_p, "DevicePrimaryCtxRetain", 0) == a
    flags, active = c_uint(), c_int()
    d.ok("DevicePrimaryCtxGetState", 0, byref(flags), byref(active))
    assert active.value == 1
    assert d.CtxDestroy(c_void_p(a)) == R.ERROR_INVALID_CONTEXT
    d.ok("DevicePrimaryCtxRelease", 0)
    d.ok("CtxPushCurrent", c_void_p(a))
    d.ok("MemFree", d.alloc(64))
    d.ok("CtxPopCurrent", None)
    d.ok("DevicePrimaryCtxRelease", 0)
    d.ok("DevicePrimaryCtxGetState", 0, byref(flags), byref(active))
    assert active.value == 0
    assert d.DevicePrimaryCtxRelease(0) == R.ERROR_INVALID_CONTEXT
    d.ok("DevicePrimaryCtxSetFlags", 0, 4)
    d.ok("DevicePrimaryCtxGetState", 0, byref(flags), byref(active))
    assert (flags.value, active.value) == (4, 0)
    d.ok("DevicePrimaryCtxSetFlags", 0, 0)


def test_reset_primary_context_frees_all(emu_driver):
    d = emu_driver
    context = c_void_p(d.out(c_void_p, "DevicePrimaryCtxRetain", 0))
    before = d.lib.emu_abandoned_count()
    d.ok("CtxPushCurrent", context)
    d.alloc(100)
    d.out(c_void_p, "StreamCreate", 0)
    d.ok("CtxPopCurrent", None)
    d.ok("DevicePrimaryCtxReset", 0)
    assert d.live() == {}
    assert d.lib.emu_abandoned_count() == before + 2


def test_destroying_a_context_frees_what_it_owns(emu_driver):
    d = emu_driver
    before = d.lib.emu_abandoned_count()
    context = d.context()
    pointer = d.alloc(100)
    d.out(c_void_p, "MemHostAlloc", size(100), 0)
    d.out(c_uint64, "MemAllocManaged", size(100), 1)
    d.out(c_uint64, "MemAllocAsync", size(100), None)
    memory = ctypes.create_string_buffer(100)
    d.ok("MemHostRegister", memory, size(100), 0)
    d.out(c_void_p, "EventCreate", 0)
    d.module(EMPTY_KERNEL)
    assert len(d.live()) == 7
    d.ok("CtxDestroy", context)
    assert d.live() == {}
    assert d.lib.emu_abandoned_count() == before + 7
    again = d.context()
    assert d.MemFree(pointer) == R.ERROR_INVALID_VALUE
    assert d.info()[0] == d.info()[1]
    d.ok("CtxDestroy", again)


# -- memory ----------------------------------------------------------------------------


def test_memory_info_is_exact(d, emu_ctx):
    start, total = d.info()
    assert start == total == 4 << 30
    a, b = d.alloc(1), d.alloc(MIB + 1)
    assert d.info()[0] == start - 512 - (MIB + 512)
    d.ok("MemFree", a)
    d.ok("MemFree", b)
    assert d.info()[0] == start


def test_out_of_memory(d, emu_ctx):
    free, _ = d.info()
    big = d.alloc(free - 512)
    small = d.alloc(512)
    assert d.MemAlloc(byref(c_uint64()), size(1)) == R.ERROR_OUT_OF_MEMORY
    d.ok("MemFree", small)
    d.ok("MemFree", big)
    for n in (free + 1, 1 << 50, 2**64 - 1):
        assert d.MemAlloc(byref(c_uint64()), size(n)) == R.ERROR_OUT_OF_MEMORY
    assert d.MemAlloc(byref(c_uint64()), size(0)) == R.ERROR_INVALID_VALUE
    assert d.info()[0] == free


def test_freed_and_foreign_pointers_are_refused(d, emu_ctx):
    for n in (16, 100_000, 10 * MIB):
        pointer = d.alloc(n)
        d.write(pointer, b"x" * 16)
        assert d.MemFree(c_uint64(pointer.value + 1)) == R.ERROR_INVALID_VALUE
        d.ok("MemFree", pointer)
        assert d.MemFree(pointer) == R.ERROR_INVALID_VALUE
        assert d.MemcpyHtoD(pointer, b"x", size(1)) == R.ERROR_INVALID_VALUE
        buffer = ctypes.create_string_buffer(4)
        assert d.MemcpyDtoH(buffer, pointer, size(1)) == R.ERROR_INVALID_VALUE
        assert d.MemsetD8(pointer, 0, size(1)) == R.ERROR_INVALID_VALUE
        again = d.alloc(n)
        assert again.value != pointer.value  # freed addresses are quarantined
        d.ok("MemFree", again)
    assert d.MemFree(c_uint64(0)) == 0
    assert d.MemFree(c_uint64(0xDEAD0000)) == R.ERROR_INVALID_VALUE


def test_running_over_an_end_is_refused(d, emu_ctx):
    for n in (1, 511, 512, 513, 32 * KIB, 64 * KIB, 65 * KIB, 3 * MIB):
        a, b = d.alloc(n), d.alloc(n)
        assert a.value % 512 == b.value % 512 == 0
        d.write(a, b"a" * n)
        assert d.MemcpyHtoD(a, b"a" * (n + 1), size(n + 1)) == R.ERROR_INVALID_VALUE
        assert d.MemsetD8(c_uint64(a.value + n), 0, size(1)) == R.ERROR_INVALID_VALUE
        assert d.MemsetD8(c_uint64(a.value - 1), 0, size(1)) == R.ERROR_INVALID_VALUE
        assert d.read(b, n) == bytes(n)
        d.ok("MemFree", a)
        d.ok("MemFree", b)


def test_address_range(d, emu_ctx):
    pointer = d.alloc(1000)
    base, n = c_uint64(), c_size_t()
    d.ok("MemGetAddressRange", byref(base), byref(n), c_uint64(pointer.value + 999))
    assert (base.value, n.value) == (pointer.value, 1000)
    assert d.MemGetAddressRange(byref(base), None, c_uint64(pointer.value + 1000)) == (
        R.ERROR_NOT_FOUND
    )
    d.ok("MemFree", pointer)


def test_pitched(d, emu_ctx):
    pointer, pitch = c_uint64(), c_size_t()
    d.ok("MemAllocPitch", byref(pointer), byref(pitch), size(1000), size(3), 4)
    assert pitch.value == 1024
    for bad in ((0, 3, 4), (10, 0, 4), (10, 3, 5)):
        code = d.MemAllocPitch(
            byref(c_uint64()), byref(pitch), size(bad[0]), size(bad[1]), bad[2]
        )
        assert code == R.ERROR_INVALID_VALUE
    huge = d.MemAllocPitch(
        byref(c_uint64()), byref(pitch), size(1 << 40), size(1 << 40), 4
    )
    assert huge == R.ERROR_OUT_OF_MEMORY
    d.ok("MemFree", pointer)


def test_page_locked_memory(d, emu_ctx):
    memory = c_void_p(d.out(c_void_p, "MemHostAlloc", size(100), 3))
    ctypes.memset(memory, 65, 100)
    device = d.out(c_uint64, "MemHostGetDevicePointer", memory, 0)
    assert d.read(c_uint64(device), 100) == b"A" * 100
    assert d.out(c_uint, "MemHostGetFlags", memory) == 3
    assert d.MemFree(c_uint64(memory.value)) == R.ERROR_INVALID_VALUE
    assert d.info()[0] == d.info()[1]  # not memory of the device
    pointer = d.alloc(100)
    assert d.MemFreeHost(c_void_p(pointer.value)) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", pointer)
    d.ok("MemFreeHost", memory)
    assert d.MemFreeHost(memory) == R.ERROR_INVALID_VALUE
    assert d.MemcpyHtoD(c_uint64(device), b"x", size(1)) == R.ERROR_INVALID_VALUE


def test_registered_memory(d, emu_ctx):
    memory = ctypes.create_string_buffer(b"registered memory", 4096)
    address = ctypes.addressof(memory)
    assert d.MemHostUnregister(memory) == R.ERROR_HOST_MEMORY_NOT_REGISTERED
    d.ok("MemHostRegister", memory, size(4096), 2)
    assert d.MemHostRegister(c_void_p(address + 4000), size(10), 0) == (
        R.ERROR_HOST_MEMORY_ALREADY_REGISTERED
    )
    device = d.out(c_uint64, "MemHostGetDevicePointer", c_void_p(address + 5), 0)
    assert d.read(c_uint64(device), 5) == memory.raw[5:10]
    assert (
        d.MemcpyDtoH(memory, c_uint64(address + 4095), size(2)) == R.ERROR_INVALID_VALUE
    )
    d.ok("MemHostUnregister", memory)
    assert d.MemcpyDtoD(c_uint64(address), c_uint64(address), size(2)) == (
        R.ERROR_INVALID_VALUE
    )
    assert d.MemHostRegister(None, size(1), 0) == R.ERROR_INVALID_VALUE


def test_many_registrations_stay_sorted(d, emu_ctx):
    whole = ctypes.create_string_buffer(200 * 64)
    at = [ctypes.addressof(whole) + 64 * ((i * 77) % 200) for i in range(200)]
    for a in at:
        d.ok("MemHostRegister", c_void_p(a), size(64), 0)
    for a in at[::-1]:
        assert d.out(c_uint64, "MemHostGetDevicePointer", c_void_p(a + 63), 0) == a + 63
    for a in at[1::2] + at[::2]:
        d.ok("MemHostUnregister", c_void_p(a))


def test_managed_memory(d, emu_ctx):
    pointer = c_uint64(d.out(c_uint64, "MemAllocManaged", size(64), 1))
    ctypes.memset(pointer.value, 7, 64)  # the host may write it
    assert d.read(pointer, 64) == b"\7" * 64
    d.ok("MemPrefetchAsync", pointer, size(64), -1, None)
    assert d.MemPrefetchAsync(pointer, size(65), 0, None) == R.ERROR_INVALID_VALUE
    d.ok("MemAdvise", pointer, size(64), 3, 0)
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    d.ok("StreamAttachMemAsync", stream, pointer, size(0), 4)
    assert d.StreamAttachMemAsync(None, pointer, size(0), 4) == R.ERROR_INVALID_VALUE
    d.ok("StreamDestroy", stream)
    assert d.MemAllocManaged(byref(c_uint64()), size(64), 3) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", pointer)


def test_addresses_are_reused_in_the_end():
    """Make more allocations than the quarantine holds. Nothing may grow without bound.

    The test has its own process, because other tests use up addresses.
    """
    child(
        """
d.ok("Init", 0)
context = d.context()
for n, occupied, kept in ((100, 2 << 20, 8_000), (200_000, 2 << 20, 60_000)):
    seen = []
    for _ in range(140_000):
        pointer = c_uint64()
        assert d.MemAlloc(byref(pointer), c_size_t(n)) == 0
        seen.append(pointer.value)
        assert d.MemFree(pointer) == 0
    assert len(set(seen[:kept])) == kept
    assert (max(seen) - min(seen)) / occupied < 120_000
"""
    )


def test_memory_is_zeroed_however_often_it_was_used(d, emu_ctx):
    pointer = d.alloc(10 * MIB)
    d.ok("MemsetD8", pointer, 255, size(10 * MIB))
    d.ok("MemFree", pointer)
    again = d.alloc(10 * MIB)
    assert d.read(again, 10 * MIB) == bytes(10 * MIB)
    d.ok("MemFree", again)


def test_pools(d, emu_ctx):
    default = c_void_p(d.out(c_void_p, "DeviceGetDefaultMemPool", 0))
    assert d.out(c_void_p, "DeviceGetMemPool", 0) == default.value
    props = (ctypes.c_ubyte * 88)()
    ctypes.memmove(props, (c_int * 4)(1, 0, 1, 0), 16)
    pool = c_void_p(d.out(c_void_p, "MemPoolCreate", props))
    a = c_uint64(d.out(c_uint64, "MemAllocFromPoolAsync", size(1000), pool, None))
    used = c_uint64()
    d.ok("MemPoolGetAttribute", pool, 7, byref(used))
    assert used.value == 1024
    b = c_uint64(d.out(c_uint64, "MemAllocAsync", size(1000), None))
    d.ok("MemPoolDestroy", pool)
    assert d.MemPoolDestroy(pool) == R.ERROR_INVALID_VALUE
    assert d.MemPoolDestroy(default) == R.ERROR_INVALID_VALUE
    d.write(a, b"alive")
    d.ok("MemFreeAsync", a, None)
    assert d.MemFreeAsync(a, None) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", b)


def pool_on(d, device=0):
    props = (ctypes.c_ubyte * 88)()
    ctypes.memmove(props, (c_int * 4)(1, 0, 1, device), 16)
    return c_void_p(d.out(c_void_p, "MemPoolCreate", props))


def test_a_pool_in_place_of_the_default(d, emu_ctx):
    default = c_void_p(d.out(c_void_p, "DeviceGetDefaultMemPool", 0))
    pool, used = pool_on(d), c_uint64()
    d.ok("DeviceSetMemPool", 0, pool)
    assert d.out(c_void_p, "DeviceGetMemPool", 0) == pool.value
    assert d.out(c_void_p, "DeviceGetDefaultMemPool", 0) == default.value
    a = c_uint64(d.out(c_uint64, "MemAllocAsync", size(1000), None))
    d.ok("MemPoolGetAttribute", pool, 7, byref(used))
    assert used.value == 1024
    d.ok("MemFreeAsync", a, None)
    d.ok("MemPoolTrimTo", pool, size(0))
    assert d.DeviceSetMemPool(0, emu_ctx) == R.ERROR_INVALID_VALUE
    assert d.DeviceSetMemPool(99, pool) == R.ERROR_INVALID_DEVICE
    d.ok("MemPoolDestroy", pool)
    assert d.out(c_void_p, "DeviceGetMemPool", 0) == default.value
    for call in ("MemPoolTrimTo", "MemPoolSetAccess"):
        assert getattr(d, call)(pool, size(0), size(0)) == R.ERROR_INVALID_VALUE
    assert d.DeviceSetMemPool(0, pool) == R.ERROR_INVALID_VALUE


def test_attributes_of_a_pool(d, emu_ctx):
    pool = pool_on(d)

    def get(attribute, type_=c_uint64):
        value = type_(99)
        d.ok("MemPoolGetAttribute", pool, attribute, byref(value))
        return value.value

    def put(attribute, value):
        return d.MemPoolSetAttribute(pool, attribute, byref(value))

    for reuse in (1, 2, 3):
        assert get(reuse, c_int) == 1
        assert put(reuse, c_int(0)) == 0
    assert [get(reuse, c_int) for reuse in (1, 2, 3)] == [0, 0, 0]
    assert put(4, c_uint64(1 << 33)) == 0
    assert get(4) == 1 << 33
    a = c_uint64(d.out(c_uint64, "MemAllocFromPoolAsync", size(1000), pool, None))
    d.ok("MemFreeAsync", a, None)
    assert [get(attribute) for attribute in (5, 6, 7, 8)] == [0, 1024, 0, 1024]
    assert put(8, c_uint64(1)) == R.ERROR_INVALID_VALUE  # can only be set to 0
    assert put(8, c_uint64(0)) == 0
    assert get(8) == 0
    for attribute in (5, 7, 77):  # programs cannot set the current value
        assert put(attribute, c_uint64(0)) == R.ERROR_INVALID_VALUE
    assert d.MemPoolGetAttribute(pool, 77, byref(c_uint64())) == R.ERROR_INVALID_VALUE
    assert d.MemPoolSetAttribute(pool, 1, None) == R.ERROR_INVALID_VALUE
    d.ok("MemPoolDestroy", pool)


@pytest.mark.parametrize("flags, lent", [(3, True), (0, False)])
def test_memory_of_a_pool_for_other_devices(flags, lent):
    """Copies may access all memory. The access of a kernel is checked at its launch."""
    said = child(
        "d.Init(0); a = d.context(0); b = d.context(1)\n"
        "props = (ctypes.c_ubyte * 88)()\n"
        "ctypes.memmove(props, (c_int * 4)(1, 0, 1, 0), 16)\n"
        "pool = c_void_p(d.out(c_void_p, 'MemPoolCreate', props))\n"
        "def access(kind, device, flags):\n"
        "    place = (c_int * 3)(kind, device, flags)\n"
        "    return d.MemPoolSetAccess(pool, place, c_size_t(1))\n"
        "print(access(1, 1, 3), access(1, 99, 3), access(7, 1, 3))\n"
        "print(access(1, 0, 0), access(1, 1, 2))\n"
        f"print(access(1, 1, {flags}))\n"
        "d.ok('CtxPopCurrent', None)\n"
        "p = c_uint64(d.out(c_uint64, 'MemAllocFromPoolAsync', c_size_t(64), pool,"
        " None))\n"
        "d.ok('CtxPushCurrent', b)\n"
        "m = d.module(FAULTY_KERNEL); f = d.function(m, b'poke')\n"
        "parameters = launch_parameters(p)\n"
        "code = d.LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)\n"
        "print(code or d.CtxSynchronize(), d.message())",
        PYCUDA_EMULATOR_DEVICES="2",
    )
    assert lent or "of device 0, to which this context has no peer access" in said
    said = said.split()
    invalid = str(R.ERROR_INVALID_VALUE)
    device = str(R.ERROR_INVALID_DEVICE)
    assert said[:6] == ["0", device, device, invalid, invalid, "0"]
    assert (said[6] == "0") is lent
    assert lent or said[6] == str(R.ERROR_ILLEGAL_ADDRESS)


# -- pointers --------------------------------------------------------------------------


def test_pointer_attributes(d, emu_ctx):
    p = d.alloc(100)
    inside = c_uint64(p.value + 10)

    def get(attribute, type_, pointer=inside):
        value = type_()
        d.ok("PointerGetAttribute", byref(value), attribute, pointer)
        return value.value

    assert get(1, c_void_p) == emu_ctx.value
    assert get(2, c_uint) == 2
    assert get(3, c_uint64) == inside.value
    assert get(8, ctypes.c_ubyte) == 0
    assert get(9, c_int) == 0
    assert get(11, c_uint64) == p.value and get(12, c_size_t) == 100
    assert d.PointerGetAttribute(byref(c_uint64()), 4, inside) == R.ERROR_INVALID_VALUE
    beyond = c_uint64(p.value + 100)
    assert d.PointerGetAttribute(byref(c_uint64()), 2, beyond) == R.ERROR_INVALID_VALUE
    host = c_void_p(d.out(c_void_p, "MemHostAlloc", size(10), 0))
    assert get(2, c_uint, host) == 1 and get(4, c_uint64, host) == host.value
    managed = c_uint64(d.out(c_uint64, "MemAllocManaged", size(10), 1))
    assert get(8, ctypes.c_ubyte, managed) == 1
    kind, ordinal, id_ = c_uint(9), c_int(9), c_uint64(9)
    where = (c_void_p * 3)(*(ctypes.addressof(v) for v in (kind, ordinal, id_)))
    d.ok("PointerGetAttributes", 3, (c_uint * 3)(2, 9, 7), where, p)
    assert (kind.value, ordinal.value) == (2, 0) and id_.value > 0
    d.ok("PointerGetAttributes", 3, (c_uint * 3)(2, 9, 7), where, c_uint64(1234))
    assert (kind.value, ordinal.value, id_.value) == (0, -2, 0)
    unknown = (c_uint * 3)(2, 9, 77)
    assert d.PointerGetAttributes(3, unknown, where, p) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)
    d.ok("MemFree", managed)
    d.ok("MemFreeHost", host)


def test_what_memory_can_be_used_for(d, emu_ctx):
    p, pool = d.alloc(100), pool_on(d)
    pooled = c_uint64(d.out(c_uint64, "MemAllocFromPoolAsync", size(8), pool, None))

    def get(attribute, type_=ctypes.c_ubyte, pointer=p):
        value = type_(9)
        d.ok("PointerGetAttribute", byref(value), attribute, pointer)
        return value.value

    assert get(6) == 1  # copies are never asynchronous
    assert (get(10), get(10, pointer=pooled)) == (1, 0)  # for other processes
    assert get(13) == 1  # mapped
    assert get(14, c_uint64) == 0  # no kind of handle
    assert get(15) == 0 and get(21) == 0  # no other hardware
    assert get(16, c_uint) == 3  # read and written
    assert get(17, c_uint64, pooled) == pool.value
    assert d.PointerGetAttribute(byref(c_uint64()), 17, p) == R.ERROR_INVALID_VALUE
    flag, owner = ctypes.c_ubyte(9), c_uint64(9)
    where = (c_void_p * 2)(ctypes.addressof(flag), ctypes.addressof(owner))
    d.ok("PointerGetAttributes", 2, (c_uint * 2)(6, 17), where, p)
    assert (flag.value, owner.value) == (1, 0)
    d.ok("PointerSetAttribute", byref(c_uint(1)), 6, p)
    for value, attribute, pointer in (
        (None, 6, p),
        (byref(c_uint(1)), 7, p),
        (byref(c_uint(1)), 6, c_uint64(1234)),
    ):
        code = d.PointerSetAttribute(value, attribute, pointer)
        assert code == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)
    d.ok("MemFreeAsync", pooled, None)
    d.ok("MemPoolDestroy", pool)


def test_a_handle_of_mapped_memory_again(d, emu_ctx):
    """As the driver's: it is valid after the last handle was released."""
    granule = 2 * MIB
    properties = (c_int * 8)(1, 0, 1, 0)
    none = c_uint64(0)
    address = d.out(c_uint64, "MemAddressReserve", size(granule), none, none, none)
    handle = d.out(c_uint64, "MemCreate", size(granule), properties, c_uint64(0))
    d.ok("MemMap", c_uint64(address), size(granule), size(0), c_uint64(handle), 0)
    for _ in range(2):
        d.ok("MemRelease", c_uint64(handle))
        assert d.MemRelease(c_uint64(handle)) == R.ERROR_INVALID_VALUE
        again = d.out(c_uint64, "MemRetainAllocationHandle", c_void_p(address + 5))
        assert again == handle
    d.ok("MemRetainAllocationHandle", byref(c_uint64()), c_void_p(address))
    d.ok("MemUnmap", c_uint64(address), size(granule))
    for _ in range(2):
        d.ok("MemRelease", c_uint64(handle))
    code = d.MemRetainAllocationHandle(byref(c_uint64()), c_void_p(address))
    assert code == R.ERROR_INVALID_VALUE
    d.ok("MemAddressFree", c_uint64(address), size(granule))
    assert d.lib.emu_live_count(b"physical") == 0
