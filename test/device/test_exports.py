"""The names that the software device's library exports, and their versions."""

import ctypes
import dataclasses
import os
import re
from ctypes import byref, c_int, c_uint, c_uint64, c_void_p
from pathlib import Path

import pytest

from device import proc_address
from support import cc
from support.emulator import LIBRARY, ROOT, R, child, functions

pytest_plugins = ["support.emulator_fixtures"]

NAMES = ROOT / "test" / "data" / "driver_exports.tsv"
DEFAULT, LEGACY, PER_THREAD = 0, 1, 2
FOUND, NOT_FOUND, TOO_LOW = 0, 1, 2


def exports():
    """Return the rows of the list: those of the toolkit's stub library, and others."""
    stub, others = NAMES.read_text().split("\n\n")
    parts = []
    for text in (stub, others):
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        cells = (line.split("\t") for line in lines)
        parts.append({name: (int(v), int(abi)) for name, v, abi in cells})
    return parts


def exported(path):
    """Return the names of the functions that a library exports, as readelf says."""
    done = cc.must(cc.run(["readelf", "-W", "--dyn-syms", path]))
    rows = (line.split() for line in done.stdout.splitlines())
    return {
        row[7] for row in rows if len(row) == 8 and row[3] == "FUNC" and row[6] != "UND"
    }


def stub_library():
    """Return the driver's stub library in the toolkit, or None."""
    home = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    for folder in ("lib64", "lib", "targets/x86_64-linux/lib"):
        path = home / folder / "stubs" / "libcuda.so"
        if path.exists():
            return path
    return None


def test_all_names_of_the_driver():
    """n of n: the list has 637 names, and so has the library."""
    stub, others = exports()
    assert len(stub) == 637
    library = ctypes.CDLL(LIBRARY)
    assert [name for name in {**stub, **others} if not hasattr(library, name)] == []


@pytest.mark.skipif(stub_library() is None, reason="no toolkit with a stub library")
def test_the_list_is_that_of_the_toolkit():
    stub, _ = exports()
    assert exported(stub_library()) == set(stub)
    assert set(stub) <= exported(LIBRARY)


def exports_of_table(rows):
    """Return the names that the rows of abi/functions.h export, and their versions."""
    return {name: version for row in rows for name, version in row.exports}


def mixed_abis(rows):
    """Return the functions whose rows do not have one ABI each."""
    known, found = {**exports()[0], **exports()[1]}, {}
    wrong = []
    for row in (row for row in rows if row.is_built):
        base = re.sub(r"_v\d$", "", row.name)
        abis = {known[name][1] for name, _ in row.exports if name in known}
        others = found.setdefault(base, set())
        if len(abis) != 1 or abis & others:
            wrong.append(row.name)
        others |= abis
    return wrong


def test_the_table_has_the_names_and_versions_of_the_driver():
    known = {**exports()[0], **exports()[1]}
    assert exports_of_table(functions()) == {n: v for n, (v, _) in known.items()}
    assert mixed_abis(functions()) == []


@pytest.mark.parametrize(
    "name, other, mixed",
    [
        ("CtxCreate", ("cuCtxCreate_v3", 11040), ["CtxCreate", "CtxCreate_v3"]),
        ("MemAlloc", ("cuMemAlloc", 2000), ["MemAlloc"]),
    ],
)
def test_an_export_of_another_abi_is_found(name, other, mixed):
    rows = [
        dataclasses.replace(row, exports=(*row.exports, other))
        if row.name == name
        else row
        for row in functions()
    ]
    assert mixed_abis(rows) == mixed


@pytest.mark.skipif(cc.cuda_include() is None, reason="no cudaTypedefs.h")
def test_versions_are_those_of_the_header():
    """cudaTypedefs.h has one type for each function and version."""
    text = (cc.cuda_include() / "cudaTypedefs.h").read_text()
    types = re.findall(r"\*PFN_(cu\w+?)_v(\d+)(_pt[sd][sz])?\)", text)
    ours = {**exports()[0], **exports()[1]}
    rows = {
        (re.sub(r"_v\d|_pt[sd][sz]", "", name), version, "_pt" in name)
        for name, (version, _) in ours.items()
    }
    lacking = [
        (name, version, suffix)
        for name, version, suffix in types
        if (name, int(version), bool(suffix)) not in rows
    ]
    assert lacking == []


# -- cuGetProcAddress ------------------------------------------------------------------


def look_up(d, name, version, flags=DEFAULT):
    pointer, status = c_void_p(), c_int(-1)
    code = d.lib.cuGetProcAddress_v2(
        name, byref(pointer), version, c_uint64(flags), byref(status)
    )
    return code, pointer.value, status.value


def address(d, name):
    return ctypes.cast(getattr(d.lib, name), c_void_p).value


#: Functions with another ABI in a newer version: the versions and the exported names.
ABIS = [
    ("cuCtxCreate", {3020: "_v2", 11040: "_v3", 12050: "_v4", 99990: "_v4"}),
    ("cuCtxGetDevice", {2000: "", 12090: "", 13000: "_v2"}),
    ("cuCtxSynchronize", {2000: "", 13000: "_v2"}),
    ("cuMemPrefetchAsync", {8000: "", 12010: "", 12020: "_v2", 13000: "_v2"}),
    ("cuMemAdvise", {8000: "", 12020: "_v2"}),
    ("cuStreamGetCtx", {9020: "", 12050: "_v2"}),
    ("cuEventElapsedTime", {2000: "", 12080: "_v2"}),
    ("cuDeviceGetUuid", {9020: "", 11040: "_v2"}),
    ("cuGetProcAddress", {11030: "", 12000: "_v2"}),
    ("cuGraphInstantiate", {10000: "", 11000: "_v2", 13000: "_v2"}),
    ("cuMemAlloc", {2000: "", 3020: "_v2"}),
]


@pytest.mark.parametrize("name, versions", ABIS)
def test_the_abi_that_was_asked_for(emu_driver, name, versions):
    for version, suffix in versions.items():
        wanted = address(emu_driver, name + suffix)
        assert look_up(emu_driver, name.encode(), version) == (0, wanted, FOUND)


def test_flags_choose_the_default_stream(emu_driver):
    name = b"cuMemcpyHtoD"
    plain = address(emu_driver, "cuMemcpyHtoD_v2")
    threads = address(emu_driver, "cuMemcpyHtoD_v2_ptds")
    assert look_up(emu_driver, name, 13000, LEGACY)[1] == plain
    assert look_up(emu_driver, name, 13000, PER_THREAD)[1] == threads
    low = look_up(emu_driver, name, 6000, PER_THREAD)  # 7.0 has that form
    assert low == (0, None, TOO_LOW)
    stream = address(emu_driver, "cuStreamGetCtx_v2_ptsz")
    assert look_up(emu_driver, b"cuStreamGetCtx", 13000, PER_THREAD)[1] == stream
    both = LEGACY | PER_THREAD
    assert look_up(emu_driver, name, 13000, both)[1] == threads
    init = address(emu_driver, "cuInit")  # it has one form only
    assert look_up(emu_driver, b"cuInit", 13000, PER_THREAD)[1] == init
    assert look_up(emu_driver, name, 13000, 4)[0] == R.ERROR_INVALID_VALUE


def test_each_name_and_version_as_an_h200_answers(emu_driver):
    """1,632 names and versions, each with the three flags."""
    known, wrong = proc_address.exports(), []
    for name, version, answers in proc_address.recorded():
        names = [exported for exported, _ in known[name]]
        for flag, expected in enumerate(answers):
            found = proc_address.answer(emu_driver.lib, names, name, version, flag)
            if found != expected:
                wrong.append((name, version, flag, expected, found))
    assert wrong == []


def test_names_that_are_missing(emu_driver):
    """A missing function is no error of the newer form, but one of the older form."""
    assert look_up(emu_driver, b"cuNothing", 13000) == (0, None, NOT_FOUND)
    assert look_up(emu_driver, b"cuMemAlloc_v2", 13000) == (0, None, NOT_FOUND)
    low = look_up(emu_driver, b"cuLibraryLoadData", 11080)
    assert low == (0, None, TOO_LOW)
    lib = emu_driver.lib
    pointer = c_void_p(7)
    for name in (b"cuNothing", b"cuLibraryLoadData"):
        code = lib.cuGetProcAddress(name, byref(pointer), 11080, c_uint64(0))
        assert (code, pointer.value) == (R.ERROR_NOT_FOUND, 7)
    none = lib.cuGetProcAddress_v2(None, byref(pointer), 12000, c_uint64(0), None)
    assert none == R.ERROR_INVALID_VALUE


@pytest.mark.parametrize("text, version", [("12.4", 12040), ("13.3", 13030)])
def test_the_reported_version(text, version):
    """An older driver lacks the newer functions."""
    said = child(
        "n = c_int(); d.ok('DriverGetVersion', byref(n)); p = c_void_p()\n"
        "def has(name):\n"
        "    get = d.lib.cuGetProcAddress_v2\n"
        "    return get(name, byref(p), 13000, c_uint64(0), None) == 0 and bool(p)\n"
        "print(n.value, has(b'cuMemPrefetchBatchAsync'), has(b'cuCtxCreate'),"
        " d.Init(0))",
        PYCUDA_EMULATOR_DRIVER_VERSION=text,
    )
    assert said == f"{version} {version >= 13000} True 0"


@pytest.mark.parametrize("text", ["12", "12.", "12.45", "9.2", "x", "13.0.1"])
def test_a_version_that_is_none(text):
    said = child("print(d.Init(0), d.message())", PYCUDA_EMULATOR_DRIVER_VERSION=text)
    assert said.startswith(f"{R.ERROR_INVALID_VALUE} PYCUDA_EMULATOR_DRIVER_VERSION")


# -- functions that are not built ------------------------------------------------------


@pytest.mark.parametrize(
    "export, name",
    [
        ("cuMulticastCreate", "cuMulticastCreate"),
        ("cuMemcpyDtoH", "cuMemcpyDtoH_v1"),
        ("cuWaitExternalSemaphoresAsync_ptsz", "cuWaitExternalSemaphoresAsync"),
    ],
)
def test_what_is_not_built_says_so(emu_driver, export, name):
    count = emu_driver.lib.emu_call_count(name.encode())
    assert getattr(emu_driver.lib, export)() == R.ERROR_NOT_SUPPORTED
    assert emu_driver.lib.emu_call_count(name.encode()) == count + 1
    assert emu_driver.log()[-1] == (name, R.ERROR_NOT_SUPPORTED)
    assert f"does not have {name}." in emu_driver.message()


@pytest.mark.filterwarnings("ignore:The software device does not have cuGetExportTable")
def test_private_tables_are_not_imitated(emu_driver):
    table = c_void_p()
    code = emu_driver.lib.cuGetExportTable(byref(table), (ctypes.c_ubyte * 16)())
    assert (code, table.value) == (R.ERROR_NOT_SUPPORTED, None)


# -- the default stream of a thread ----------------------------------------------------


def test_each_thread_has_a_default_stream():
    said = child(
        "import threading\n"
        "d.Init(0); c = d.context()\n"
        "def number(handle):\n"
        "    return d.last(c_uint64, 'StreamGetId', c_void_p(handle))\n"
        "own = number(2); seen = []\n"
        "def work():\n"
        "    d.ok('CtxSetCurrent', c)\n"
        "    seen.extend([number(1), number(2), number(2)])\n"
        "    n = c_uint64()\n"
        "    d.lib.cuStreamGetId_ptsz(None, byref(n)); seen.append(n.value)\n"
        "t = threading.Thread(target=work); t.start(); t.join()\n"
        "print(seen[0] == number(1) == number(0), seen[1] != own, len(set(seen[1:])))\n"
        "d.ok('CtxDestroy', c)\n"
        "print(d.live(), d.lib.emu_abandoned_count())"
    )
    assert said.splitlines() == ["True True 1", "{} 0"]


def test_a_capture_of_the_default_stream_of_a_thread(d, emu_ctx):
    lib, graph = d.lib, c_void_p()
    memory = d.alloc(64)
    unsupported = R.ERROR_STREAM_CAPTURE_UNSUPPORTED
    assert lib.cuStreamBeginCapture_v2(None, 2) == unsupported
    assert lib.cuStreamBeginCapture_v2_ptsz(None, 2) == 0
    assert lib.cuMemsetD8Async_ptsz(memory, 7, ctypes.c_size_t(64), None) == 0
    assert lib.cuStreamEndCapture_ptsz(None, byref(graph)) == 0
    count = ctypes.c_size_t()
    d.ok("GraphGetNodes", graph, None, byref(count))
    assert count.value == 1
    d.ok("GraphDestroy", graph)
    text = ctypes.create_string_buffer(b"some bytes", 64)
    assert lib.cuMemcpyHtoD_v2_ptds(memory, text, ctypes.c_size_t(64)) == 0
    assert d.read(memory, 10) == b"some bytes"
    assert lib.cuStreamBeginCapture_v2_ptsz(None, 2) == 0
    assert lib.cuMemcpyHtoD_v2_ptds(memory, text, ctypes.c_size_t(64)) == unsupported
    assert lib.cuStreamEndCapture_ptsz(None, byref(graph)) != 0
    assert lib.cuStreamBeginCapture_v2_ptsz(None, 2) == 0
    assert lib.cuMemsetD8_v2_ptds(memory, 7, ctypes.c_size_t(64)) == unsupported
    assert lib.cuStreamEndCapture_ptsz(None, byref(graph)) != 0
    d.ok("MemFree", memory)


# -- newer forms -----------------------------------------------------------------------


class CreateParams(ctypes.Structure):
    _fields_ = [("affinity", c_void_p), ("count", c_int), ("graphics", c_void_p)]


def test_contexts_by_the_newer_calls(d):
    context, device = c_void_p(), c_int(-1)
    assert d.CtxCreate_v4(byref(context), None, 0, 0) == 0
    assert d.CtxGetDevice_v2(byref(device), context) == 0
    assert device.value == 0
    assert d.CtxSynchronize_v2(context) == 0
    assert d.CtxSynchronize_v2(None) == 0
    assert d.CtxSetFlags(4) == 0
    assert d.out(c_uint, "CtxGetFlags") == 4
    assert d.CtxSetFlags(3) == R.ERROR_INVALID_VALUE
    d.ok("CtxDestroy", context)
    assert d.CtxSynchronize_v2(context) == R.ERROR_INVALID_CONTEXT
    assert d.CtxGetDevice_v2(byref(device), None) == R.ERROR_INVALID_CONTEXT
    graphics = CreateParams(None, 0, 1)
    refused = d.CtxCreate_v4(byref(context), byref(graphics), 0, 0)
    assert refused == R.ERROR_NOT_SUPPORTED
    some = (c_uint * 2)(0, 3)  # three multiprocessors
    assert d.CtxCreate_v3(byref(context), some, 1, 0, 0) == (
        R.ERROR_UNSUPPORTED_EXEC_AFFINITY
    )


def test_facts_about_a_device(d):
    major, minor = c_int(), c_int()
    d.ok("DeviceComputeCapability", byref(major), byref(minor), 0)
    assert (major.value, minor.value) == (
        d.out(c_int, "DeviceGetAttribute", 75, 0),
        d.out(c_int, "DeviceGetAttribute", 76, 0),
    )
    properties = (c_int * 14)()
    d.ok("DeviceGetProperties", properties, 0)
    assert list(properties[:4]) == [1024, 1024, 1024, 64]
    assert properties[9] == 32 and properties[13] == 512


def test_attributes_of_a_stream(d, emu_ctx):
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    other = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    value = (c_int * 16)(-3)
    d.ok("StreamSetAttribute", stream, 8, value)  # the priority
    assert d.last(c_int, "StreamGetPriority", stream) == -3
    value[0] = 2
    d.ok("StreamSetAttribute", stream, 3, value)  # the policy of waiting
    d.ok("StreamCopyAttributes", other, stream)
    found = (c_int * 16)()
    d.ok("StreamGetAttribute", other, 3, found)
    assert found[0] == 2
    assert d.StreamGetAttribute(other, 77, found) == R.ERROR_INVALID_VALUE
    context, green = c_void_p(), c_void_p(1)
    d.ok("StreamGetCtx_v2", stream, byref(context), byref(green))
    assert (context.value, green.value) == (emu_ctx.value, None)
    assert d.last(c_int, "StreamGetDevice", stream) == 0
    d.ok("StreamDestroy", stream)
    d.ok("StreamDestroy", other)


def test_copies_in_a_batch(d, emu_ctx):
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    memory = [d.alloc(16) for _ in range(3)]
    d.write(memory[0], b"0123456789abcdef")
    targets = (c_uint64 * 2)(memory[1].value, memory[2].value)
    sources = (c_uint64 * 2)(memory[0].value, memory[0].value + 8)
    sizes = (ctypes.c_size_t * 2)(16, 8)
    attributes, first = (c_int * 6)(1), (ctypes.c_size_t * 1)(0)
    count = ctypes.c_size_t
    batch = (targets, sizes, count(2), attributes, first, count(1))
    arguments = (batch[0], sources, *batch[1:])
    d.ok("MemcpyBatchAsync_v2", *arguments, stream)
    d.ok("StreamSynchronize", stream)
    assert d.read(memory[1], 16) == b"0123456789abcdef"
    assert d.read(memory[2], 8) == b"89abcdef"
    assert d.MemcpyBatchAsync_v2(*arguments, None) == R.ERROR_INVALID_VALUE
    failed, sizes[1] = ctypes.c_size_t(9), 1000
    code = d.MemcpyBatchAsync(*arguments, byref(failed), stream)
    assert (code, failed.value) == (R.ERROR_INVALID_VALUE, 1)
    d.ok("StreamDestroy", stream)
    for block in memory:
        d.ok("MemFree", block)


def test_the_pool_of_a_place(d):
    place = (c_int * 2)(1, 0)
    pool = d.out(c_void_p, "MemGetDefaultMemPool", place, 1)
    assert pool == d.out(c_void_p, "DeviceGetDefaultMemPool", 0)
    assert d.out(c_void_p, "MemGetMemPool", place, 1) == pool
    d.ok("MemSetMemPool", place, 1, c_void_p(pool))
    assert d.MemSetMemPool(place, 2, c_void_p(pool)) == R.ERROR_INVALID_VALUE
    nowhere = (c_int * 2)(1, 99)
    code = d.MemGetMemPool(byref(c_void_p()), nowhere, 1)
    assert code == R.ERROR_INVALID_DEVICE


HOST, DEVICE = 1, 2  # what cuPointerGetAttribute says of them


@pytest.mark.parametrize(
    "place, type_, kind, memory",
    [(2, 1, "host", HOST), (3, 1, "host", HOST), (1, 2, "managed", DEVICE)],
)
@pytest.mark.parametrize("default", [True, False])
def test_pools_of_memory_that_the_host_reaches(
    d, emu_ctx, place, type_, kind, memory, default
):
    location = (c_int * 2)(place, 0)
    if default:
        pool = c_void_p(d.out(c_void_p, "MemGetMemPool", location, type_))
    else:
        properties = (ctypes.c_ubyte * 88)()
        ctypes.memmove(properties, (c_int * 4)(type_, 0, place, 0), 16)
        pool = c_void_p(d.out(c_void_p, "MemPoolCreate", properties))
        ctypes.memmove(properties, (c_int * 4)(type_, 1, place, 0), 16)
        shared = d.MemPoolCreate(byref(c_void_p()), properties)
        assert shared == R.ERROR_NOT_SUPPORTED
    size = ctypes.c_size_t(100)
    block = c_uint64(d.out(c_uint64, "MemAllocFromPoolAsync", size, pool, None))
    assert d.lib.emu_live_count(kind.encode()) == 1
    used, kind_of, found = c_uint64(), c_uint(), c_uint64()
    d.ok("MemPoolGetAttribute", pool, 7, byref(used))
    assert used.value >= 100
    ctypes.memset(block.value, 7, 100)  # by the host
    assert d.read(block, 100) == b"\7" * 100
    d.ok("PointerGetAttribute", byref(found), 17, block)
    assert found.value == pool.value
    d.ok("PointerGetAttribute", byref(kind_of), 2, block)
    assert kind_of.value == memory
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 0))
    d.ok("StreamBeginCapture", stream, 2)
    code = d.MemAllocFromPoolAsync(byref(found), size, pool, stream)
    assert code == R.ERROR_NOT_SUPPORTED
    d.StreamEndCapture(stream, byref(found))
    d.ok("StreamDestroy", stream)
    access = (c_int * 3)(place, 0, 3)
    d.ok("MemPoolSetAccess", pool, access, ctypes.c_size_t(1))
    d.ok("MemFreeAsync", block, None)
    assert d.lib.emu_live_count(kind.encode()) == 0
    if not default:
        d.ok("MemPoolDestroy", pool)


# -- green contexts --------------------------------------------------------------------


class Resource(ctypes.Structure):
    _fields_ = [
        ("type", c_uint),
        ("private", ctypes.c_ubyte * 92),
        ("count", c_uint),
        ("least", c_uint),
        ("step", c_uint),
        ("more", c_uint * 9),
    ]


def parts_of_device(d, least, most=8):
    whole, rest, parts = Resource(), Resource(), (Resource * most)()
    count = c_uint(most)
    d.ok("DeviceGetDevResource", 0, byref(whole), 1)
    code = d.DevSmResourceSplitByCount(
        parts, byref(count), byref(whole), byref(rest), 0, least
    )
    return code, whole, list(parts[: count.value]), rest


def test_parts_of_a_device(d):
    code, whole, parts, rest = parts_of_device(d, 3)
    assert code == 0
    assert whole.count == d.out(c_int, "DeviceGetAttribute", 16, 0) == 8
    assert [part.count for part in parts] == [4, 4] and rest.type == 0
    code, _, parts, rest = parts_of_device(d, 2, most=1)
    assert [part.count for part in parts] == [2] and rest.count == 6
    code = parts_of_device(d, 9)[0]
    assert code == R.ERROR_INVALID_RESOURCE_CONFIGURATION
    assert d.DeviceGetDevResource(0, byref(whole), 7) == R.ERROR_INVALID_RESOURCE_TYPE
    description, two = c_void_p(), (Resource * 2)(whole, whole)
    code = d.DevResourceGenerateDesc(byref(description), two, 2)
    assert code == R.ERROR_INVALID_RESOURCE_CONFIGURATION


def test_a_green_context(d):
    _, _, parts, _ = parts_of_device(d, 2)
    description = c_void_p()
    d.ok("DevResourceGenerateDesc", byref(description), byref(parts[0]), 1)
    green = c_void_p(d.out(c_void_p, "GreenCtxCreate", description, 0, 1))
    assert d.GreenCtxCreate(byref(green), description, 0, 0) == R.ERROR_INVALID_VALUE
    context = c_void_p(d.out(c_void_p, "CtxFromGreenCtx", green))
    found = Resource()
    d.ok("GreenCtxGetDevResource", green, byref(found), 1)
    assert found.count == 2
    d.ok("CtxGetDevResource", context, byref(found), 1)
    assert found.count == 2
    primary = c_void_p(d.out(c_void_p, "DevicePrimaryCtxRetain", 0))
    assert context.value != primary.value
    d.ok("CtxGetDevResource", primary, byref(found), 1)
    assert found.count == 8
    assert d.last(c_uint64, "GreenCtxGetId", green) > 0
    stream = c_void_p()
    d.ok("GreenCtxStreamCreate", byref(stream), green, 1, -1)
    assert d.last(c_void_p, "StreamGetGreenCtx", stream) == green.value
    assert d.last(c_void_p, "StreamGetCtx", stream) == context.value
    d.ok("CtxPushCurrent", context)
    assert d.out(c_void_p, "CtxGetCurrent") == context.value
    event = c_void_p(d.out(c_void_p, "EventCreate", 0))
    d.ok("CtxPopCurrent", None)
    d.ok("GreenCtxRecordEvent", green, event)
    d.ok("GreenCtxWaitEvent", green, event)
    d.ok("EventSynchronize", event)
    d.ok("CtxPushCurrent", context)
    d.ok("EventDestroy", event)
    d.ok("StreamDestroy", stream)
    assert d.out(c_void_p, "CtxPopCurrent") == context.value
    d.ok("DevicePrimaryCtxRelease", 0)
    d.ok("GreenCtxDestroy", green)
    assert d.CtxPushCurrent(context) == R.ERROR_INVALID_CONTEXT
    invalid = R.ERROR_INVALID_HANDLE
    assert d.GreenCtxDestroy(green) == invalid
    assert d.GreenCtxRecordEvent(green, event) == invalid
    assert d.CtxFromGreenCtx(byref(context), green) == invalid
