"""The software device: copies, fills, arrays, textures, streams and events."""

import ctypes
import os
import threading
import time
from ctypes import byref, c_float, c_int, c_size_t, c_uint, c_uint64, c_void_p

from support.emulator import R, launch_parameters, size

pytest_plugins = ["support.emulator_fixtures"]

KIB = 1024
MIB = 1024 * 1024


# -- copies ----------------------------------------------------------------------------


def test_flat_copies(d, emu_ctx):
    a, b = d.alloc(64), d.alloc(64)
    data = bytes(range(64))
    d.write(a, data)
    d.ok("MemcpyDtoD", b, a, size(64))
    assert d.read(b, 64) == data
    d.ok("MemcpyDtoD", c_uint64(b.value + 8), b, size(32))  # the two overlap
    assert d.read(b, 40) == data[:8] + data[:32]
    host = ctypes.create_string_buffer(64)
    d.ok("Memcpy", c_uint64(ctypes.addressof(host)), a, size(64))
    assert host.raw == data
    d.ok("MemcpyAsync", b, c_uint64(ctypes.addressof(host)), size(64), None)
    stream = c_void_p(d.out(c_void_p, "StreamCreate", 1))
    d.ok("MemcpyHtoDAsync", a, b"q" * 64, size(64), stream)
    d.ok("MemcpyDtoDAsync", b, a, size(64), stream)
    d.ok("MemcpyDtoHAsync", host, b, size(64), stream)
    d.ok("StreamSynchronize", stream)
    assert host.raw == b"q" * 64
    d.ok("MemcpyHtoD", c_uint64(0), None, size(0))
    assert d.MemcpyHtoD(a, None, size(1)) == R.ERROR_INVALID_VALUE
    assert d.MemcpyHtoD(a, c_void_p(b.value), size(1)) == R.ERROR_INVALID_VALUE
    assert d.MemcpyDtoD(a, c_uint64(ctypes.addressof(host)), size(1)) == (
        R.ERROR_INVALID_VALUE
    )
    assert d.MemcpyHtoDAsync(a, b"x", size(1), a) == R.ERROR_INVALID_HANDLE
    d.ok("StreamDestroy", stream)
    assert d.MemcpyHtoDAsync(a, b"x", size(1), stream) == R.ERROR_INVALID_HANDLE
    d.ok("MemFree", a)
    d.ok("MemFree", b)


def test_memset(d, emu_ctx):
    p = d.alloc(4096)
    d.ok("MemsetD8", p, 0x11, size(4096))
    d.ok("MemsetD16", c_uint64(p.value + 2), 0x2233, size(1))
    d.ok("MemsetD32Async", c_uint64(p.value + 4), 0x44556677, size(1), None)
    assert d.read(p, 9) == bytes.fromhex("1111332277665544" + "11")
    d.ok("MemsetD2D8", p, size(64), 0, size(2), size(3))
    assert d.read(p, 131)[::64] == b"\0\0\0" and d.read(p, 130)[66:128] == b"\x11" * 62
    d.ok("MemsetD2D32Async", p, size(1024), 1, size(256), size(4), None)
    assert d.MemsetD2D32(p, size(1024), 1, size(256), size(5)) == R.ERROR_INVALID_VALUE
    assert d.MemsetD2D32(p, size(16), 1, size(5), size(2)) == R.ERROR_INVALID_VALUE
    for name, pitch in (("MemsetD2D32", 18), ("MemsetD2D32", 17), ("MemsetD2D16", 17)):
        fill = getattr(d, name)  # rows that begin between elements
        assert fill(p, size(pitch), 1, size(2), size(2)) == R.ERROR_INVALID_VALUE
        d.ok(name, p, size(pitch), 1, size(2), size(1))  # no matter for one row
    d.ok("MemsetD2D16", p, size(18), 1, size(2), size(2))
    assert d.MemsetD16(c_uint64(p.value + 1), 0, size(1)) == R.ERROR_INVALID_VALUE
    assert d.MemsetD32(p, 0, size(2**62 + 1)) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)


class Box2D(ctypes.Structure):
    _fields_ = [
        (side + name, kind)
        for side in ("src", "dst")
        for name, kind in [
            ("XInBytes", c_size_t),
            ("Y", c_size_t),
            ("MemoryType", c_uint),
            ("Host", c_void_p),
            ("Device", c_uint64),
            ("Array", c_void_p),
            ("Pitch", c_size_t),
        ]
    ] + [("WidthInBytes", c_size_t), ("Height", c_size_t)]


class Box3D(ctypes.Structure):
    _fields_ = [
        (side + name, kind)
        for side in ("src", "dst")
        for name, kind in [
            ("XInBytes", c_size_t),
            ("Y", c_size_t),
            ("Z", c_size_t),
            ("LOD", c_size_t),
            ("MemoryType", c_uint),
            ("Host", c_void_p),
            ("Device", c_uint64),
            ("Array", c_void_p),
            ("Context", c_void_p),
            ("Pitch", c_size_t),
            ("Height", c_size_t),
        ]
    ] + [("WidthInBytes", c_size_t), ("Height", c_size_t), ("Depth", c_size_t)]


HOST, DEVICE, ARRAY, UNIFIED = 1, 2, 3, 4


def test_copy_2d(d, emu_ctx):
    host = ctypes.create_string_buffer(bytes(range(100)), 100)  # 10 rows of 10
    p = d.alloc(16 * 4)
    c = Box2D(
        srcMemoryType=HOST,
        srcHost=ctypes.addressof(host),
        srcPitch=10,
        srcXInBytes=2,
        srcY=3,
        dstMemoryType=DEVICE,
        dstDevice=p.value,
        dstPitch=16,
        dstXInBytes=1,
        WidthInBytes=5,
        Height=4,
    )
    d.ok("Memcpy2D", byref(c))
    got = d.read(p, 64)
    for row in range(4):
        assert (
            got[16 * row + 1 : 16 * row + 6] == host.raw[32 + 10 * row : 37 + 10 * row]
        )
        assert got[16 * row + 6 : 16 * row + 16] == bytes(10)
    c.dstMemoryType = UNIFIED
    d.ok("Memcpy2DUnaligned", byref(c))
    d.ok("Memcpy2DAsync", byref(c), None)
    c.dstY = 1
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE  # a row too many
    c.dstY, c.dstPitch = 0, 4
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    c.dstPitch, c.srcXInBytes = 16, 5
    d.ok("Memcpy2D", byref(c))  # the last five bytes of each row
    c.srcXInBytes = 6
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE  # a byte of the next row
    c.srcXInBytes, c.dstXInBytes = 2, 12
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    c.srcXInBytes = c.dstXInBytes = 0
    c.dstPitch = 1 << 31
    for memory_type in DEVICE, UNIFIED:
        c.dstMemoryType = memory_type
        for row in 1 << 20, 1 << 32, 1 << 33, 1 << 63:  # host memory or unmapped
            c.dstY = row
            assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    c.dstY, c.dstDevice = 1 << 31, ctypes.addressof(host)
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    c.dstPitch, c.dstY, c.dstDevice = 10, 0, ctypes.addressof(host)
    d.ok("Memcpy2D", byref(c))
    c.dstPitch, c.dstDevice, c.dstMemoryType = 16, p.value, 9
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    assert d.Memcpy2D(None) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)


def test_copy_3d(d, emu_ctx):
    n = 4 * 5 * 6
    host = ctypes.create_string_buffer(bytes(range(n)), n)
    p = d.alloc(n)
    c = Box3D(
        srcMemoryType=HOST,
        srcHost=ctypes.addressof(host),
        srcPitch=6,
        srcHeight=5,
        srcZ=1,
        srcY=1,
        srcXInBytes=2,
        dstMemoryType=DEVICE,
        dstDevice=p.value,
        dstPitch=4,
        dstHeight=3,
        WidthInBytes=4,
        Height=3,
        Depth=2,
    )
    d.ok("Memcpy3D", byref(c))
    expected = b"".join(
        host.raw[(1 + z) * 30 + (1 + y) * 6 + 2 :][:4]
        for z in range(2)
        for y in range(3)
    )
    assert d.read(p, 24) == expected
    d.ok("Memcpy3DAsync", byref(c), None)
    c.dstDevice += n - 23
    assert d.Memcpy3D(byref(c)) == R.ERROR_INVALID_VALUE
    c.dstZ = 2**63
    assert d.Memcpy3D(byref(c)) == R.ERROR_INVALID_VALUE
    c.Depth = 0
    d.ok("Memcpy3D", byref(c))
    d.ok("MemFree", p)


# -- arrays, textures, surfaces --------------------------------------------------------


class Array3D(ctypes.Structure):
    _fields_ = [
        ("Width", c_size_t),
        ("Height", c_size_t),
        ("Depth", c_size_t),
        ("Format", c_uint),
        ("NumChannels", c_uint),
        ("Flags", c_uint),
    ]


class Array2D(ctypes.Structure):
    _fields_ = [
        ("Width", c_size_t),
        ("Height", c_size_t),
        ("Format", c_uint),
        ("NumChannels", c_uint),
    ]


FLOAT, BYTE = 32, 1


def test_arrays(d, emu_ctx):
    a = c_void_p(d.out(c_void_p, "ArrayCreate", byref(Array2D(7, 5, FLOAT, 2))))
    got = Array2D()
    d.ok("ArrayGetDescriptor", byref(got), a)
    assert (got.Width, got.Height, got.Format, got.NumChannels) == (7, 5, FLOAT, 2)
    data = os.urandom(7 * 5 * 8)
    host = ctypes.create_string_buffer(data, len(data))
    back = ctypes.create_string_buffer(len(data))
    c = Box2D(
        srcMemoryType=HOST,
        srcHost=ctypes.addressof(host),
        srcPitch=56,
        dstMemoryType=ARRAY,
        dstArray=a,
        WidthInBytes=56,
        Height=5,
    )
    d.ok("Memcpy2D", byref(c))
    c = Box2D(
        srcMemoryType=ARRAY,
        srcArray=a,
        dstMemoryType=HOST,
        dstHost=ctypes.addressof(back),
        dstPitch=56,
        WidthInBytes=56,
        Height=5,
    )
    d.ok("Memcpy2D", byref(c))
    assert back.raw == data
    c.srcY = 1
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    c.srcY, c.WidthInBytes = 0, 50  # not whole elements
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_VALUE
    d.ok("ArrayDestroy", a)
    assert d.ArrayDestroy(a) == R.ERROR_INVALID_HANDLE
    assert d.Memcpy2D(byref(c)) == R.ERROR_INVALID_HANDLE


def test_flat_array_copies(d, emu_ctx):
    a = c_void_p(d.out(c_void_p, "ArrayCreate", byref(Array2D(64, 0, BYTE, 1))))
    b = c_void_p(d.out(c_void_p, "ArrayCreate", byref(Array2D(64, 1, BYTE, 1))))
    p = d.alloc(64)
    data = bytes(range(64))
    d.ok("MemcpyHtoA", a, size(0), data, size(64))
    d.ok("MemcpyAtoA", b, size(8), a, size(4), size(16))
    d.ok("MemcpyAtoD", p, b, size(0), size(64))
    assert d.read(p, 64) == bytes(8) + data[4:20] + bytes(40)
    d.ok("MemcpyDtoA", a, size(60), p, size(4))
    host = ctypes.create_string_buffer(64)
    d.ok("MemcpyAtoH", host, a, size(0), size(64))
    assert host.raw == data[:60] + bytes(4)
    d.ok("MemcpyHtoAAsync", a, size(0), data, size(64), None)
    d.ok("MemcpyAtoHAsync", host, a, size(0), size(64), None)
    assert host.raw == data
    assert d.MemcpyHtoA(a, size(1), data, size(64)) == R.ERROR_INVALID_VALUE
    assert d.MemcpyHtoA(p, size(0), data, size(1)) == R.ERROR_INVALID_HANDLE
    d.ok("MemFree", p)
    d.ok("ArrayDestroy", a)
    d.ok("ArrayDestroy", b)


def test_array_memory_counts(d, emu_ctx):
    free = d.info()[0]
    a = c_void_p(
        d.out(c_void_p, "Array3DCreate", byref(Array3D(16, 16, 16, FLOAT, 4, 2)))
    )
    assert d.info()[0] == free - 16**3 * 16
    d.ok("ArrayDestroy", a)
    for bad in (
        Array3D(0, 1, 1, FLOAT, 1, 0),
        Array3D(4, 4, 4, FLOAT, 3, 0),
        Array3D(4, 4, 4, 77, 1, 0),
        Array3D(4, 0, 4, FLOAT, 1, 0),
        Array3D(4, 5, 6, FLOAT, 1, 4),
        Array3D(4, 4, 7, FLOAT, 1, 5),
        Array3D(4, 4, 0, FLOAT, 1, 1),
    ):
        assert d.Array3DCreate(byref(c_void_p()), byref(bad)) == R.ERROR_INVALID_VALUE
    huge = Array3D(1 << 27, 1 << 27, 1 << 27, FLOAT, 4, 0)
    assert d.Array3DCreate(byref(c_void_p()), byref(huge)) == R.ERROR_OUT_OF_MEMORY
    assert d.info()[0] == free


def test_mipmapped_arrays(d, emu_ctx):
    shape = Array3D(16, 8, 0, FLOAT, 1, 0)
    m = c_void_p(d.out(c_void_p, "MipmappedArrayCreate", byref(shape), 99))
    sides = []
    for level in range(5):
        a = c_void_p(d.out(c_void_p, "MipmappedArrayGetLevel", m, level))
        got = Array3D()
        d.ok("Array3DGetDescriptor", byref(got), a)
        sides.append((got.Width, got.Height))
    assert sides == [(16, 8), (8, 4), (4, 2), (2, 1), (1, 1)]
    assert d.MipmappedArrayGetLevel(byref(a), m, 5) == R.ERROR_INVALID_VALUE
    assert d.ArrayDestroy(a) == R.ERROR_INVALID_HANDLE
    d.ok("MipmappedArrayDestroy", m)
    assert d.MipmappedArrayDestroy(m) == R.ERROR_INVALID_HANDLE


def resource_of_array(array):
    r = (c_uint64 * 18)()
    r[0], r[1] = 0, array.value
    return r


def test_textures_and_surfaces(d, emu_ctx):
    a = c_void_p(d.out(c_void_p, "Array3DCreate", byref(Array3D(8, 8, 0, FLOAT, 1, 2))))
    texture = (c_uint * 26)(1, 1, 1, 1, 2)
    t = c_uint64(
        d.out(c_uint64, "TexObjectCreate", resource_of_array(a), texture, None)
    )
    got = (c_uint * 26)()
    d.ok("TexObjectGetTextureDesc", got, t)
    assert list(got) == list(texture)
    back = (c_uint64 * 18)()
    d.ok("TexObjectGetResourceDesc", back, t)
    assert back[1] == a.value
    assert d.TexObjectGetResourceViewDesc(back, t) == R.ERROR_INVALID_VALUE
    s = c_uint64(d.out(c_uint64, "SurfObjectCreate", resource_of_array(a)))
    assert d.TexObjectDestroy(s) == R.ERROR_INVALID_VALUE
    d.ok("TexObjectDestroy", t)
    assert d.TexObjectDestroy(t) == R.ERROR_INVALID_VALUE
    again = d.out(c_uint64, "TexObjectCreate", resource_of_array(a), texture, None)
    assert again != t.value  # an old handle never becomes valid again
    d.ok("TexObjectDestroy", c_uint64(again))
    d.ok("SurfObjectDestroy", s)
    d.ok("ArrayDestroy", a)
    assert d.TexObjectCreate(byref(t), resource_of_array(a), texture, None) == (
        R.ERROR_INVALID_HANDLE
    )
    plain = c_void_p(d.out(c_void_p, "ArrayCreate", byref(Array2D(8, 8, FLOAT, 1))))
    assert (
        d.SurfObjectCreate(byref(s), resource_of_array(plain)) == R.ERROR_INVALID_VALUE
    )
    d.ok("ArrayDestroy", plain)


QUERIED = (
    *("width", "height", "depth", "array_size", "num_mipmap_levels", "num_samples"),
    *("channel_data_type", "channel_order", "normalized_coords", "memory_layout"),
    *("force_unnormalized_coords", "filter_mode"),
    *("addr_mode_0", "addr_mode_1", "addr_mode_2"),
)
#: Format, and its number in the queries if it is read as elements, and as floats. The
#: numbers are those of OpenCL.
FORMATS = (
    *((0x01, 0x10DA, 0x10D2), (0x02, 0x10DB, 0x10D3), (0x03, 0x10DC, 0x10DC)),
    *((0x08, 0x10D7, 0x10D0), (0x09, 0x10D8, 0x10D1), (0x0A, 0x10D9, 0x10D9)),
    *((0x10, 0x10DD, 0x10DD), (0x20, 0x10DE, 0x10DE)),
)
ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}


def module_of_queries(d):
    text = ".version 6.4\n.target sm_75\n.address_size 64\n"
    text += ".visible .entry ask(.param .u64 t, .param .u64 p) {\n"
    text += ".reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    text += "ld.param.u64 %rd1, [t]; ld.param.u64 %rd2, [p];\n"
    for i, word in enumerate(QUERIED):
        text += f"txq.{word}.b32 %r1, [%rd1]; st.global.u32 [%rd2+{4 * i}], %r1;\n"
    return d.module(f"{text}ret; }}".encode())


def queries(d, module, texture):
    """Return all that a kernel can query about a texture."""
    out = d.alloc(4 * len(QUERIED))
    function = d.function(module, b"ask")
    parameters = launch_parameters(texture, out)
    d.ok("LaunchKernel", function, 1, 1, 1, 1, 1, 1, 0, None, parameters, None)
    found = (c_uint * len(QUERIED)).from_buffer_copy(d.read(out, 4 * len(QUERIED)))
    d.ok("MemFree", out)
    return dict(zip(QUERIED, found, strict=True))


def test_queries_of_textures(d, emu_ctx):
    module = module_of_queries(d)
    for number, (form, raw, normal) in enumerate(FORMATS):
        channels, layers = (1, 2, 4)[number % 3], number % 2
        shape = Array3D(8, 6, 5, form, channels, layers)
        a = c_void_p(d.out(c_void_p, "Array3DCreate", byref(shape)))
        for flags, kind in ((1, raw), (2, normal)):
            if flags == 1 and raw == normal:
                flags = 0
            texture = (c_uint * 26)(0, 1, 2, 0, flags)
            t = c_uint64(
                d.out(c_uint64, "TexObjectCreate", resource_of_array(a), texture, None)
            )
            unit = flags == 2
            found = list(queries(d, module, t).values())
            assert found[:6] == [8, 6, 0 if layers else 5, 5 if layers else 0, 1, 1]
            assert found[6:10] == [kind, ORDERS[channels], unit, 0]
            assert found[10:] == [not unit, 0, 0, 1, 2]
            d.ok("TexObjectDestroy", t)
        d.ok("ArrayDestroy", a)
    d.ok("ModuleUnload", module)


def test_queries_of_cubes_and_linear_memory(d, emu_ctx):
    module, texture = module_of_queries(d), (c_uint * 26)()
    cubes = Array3D(8, 8, 12, FLOAT, 1, 1 | 4)
    a, p = c_void_p(d.out(c_void_p, "Array3DCreate", byref(cubes))), d.alloc(1024)
    linear = (c_uint64 * 18)()
    linear[0], linear[1], linear[2], linear[3] = 2, p.value, FLOAT | 1 << 32, 1024
    found = []
    for resource in (resource_of_array(a), linear):
        t = c_uint64(d.out(c_uint64, "TexObjectCreate", resource, texture, None))
        found.append(queries(d, module, t))
        d.ok("TexObjectDestroy", t)
    sides = ("width", "height", "array_size", "memory_layout")
    assert [found[0][side] for side in sides] == [8, 8, 2, 0]
    assert [found[1][side] for side in sides] == [256, 0, 0, 1]
    d.ok("ArrayDestroy", a)
    d.ok("MemFree", p)
    d.ok("ModuleUnload", module)


def test_linear_texture_must_lie_in_memory(d, emu_ctx):
    p = d.alloc(1024)
    r = (c_uint64 * 18)()
    r[0], r[1], r[2], r[3] = 2, p.value, FLOAT | 1 << 32, 1024
    texture = (c_uint * 26)()
    t = c_uint64(d.out(c_uint64, "TexObjectCreate", r, texture, None))
    d.ok("TexObjectDestroy", t)
    r[3] = 1028
    assert d.TexObjectCreate(byref(t), r, texture, None) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)


# -- streams and events ----------------------------------------------------------------


def test_streams(d, emu_ctx):
    s = c_void_p(d.out(c_void_p, "StreamCreateWithPriority", 1, -99))
    assert d.lib.emu_live_count(b"stream") == 1
    n = c_int()
    d.ok("StreamGetPriority", s, byref(n))
    assert n.value == -5
    flags = c_uint()
    d.ok("StreamGetFlags", s, byref(flags))
    assert flags.value == 1
    owner = c_void_p()
    d.ok("StreamGetCtx", s, byref(owner))
    assert owner.value == emu_ctx.value
    first, second = c_uint64(), c_uint64()
    d.ok("StreamGetId", s, byref(first))
    d.ok("StreamGetId", None, byref(second))
    assert first.value != second.value
    d.ok("StreamQuery", s)
    d.ok("StreamQuery", None)
    assert d.StreamCreate(byref(c_void_p()), 2) == R.ERROR_INVALID_VALUE
    other = d.context()
    e = c_void_p(d.out(c_void_p, "EventCreate", 0))
    assert d.EventRecord(e, s) == R.ERROR_INVALID_HANDLE  # another context's stream
    d.ok("EventDestroy", e)
    d.ok("CtxDestroy", other)
    d.ok("StreamDestroy", s)
    assert d.StreamQuery(s) == R.ERROR_INVALID_HANDLE
    assert d.StreamDestroy(s) == R.ERROR_INVALID_HANDLE
    assert d.StreamDestroy(None) == R.ERROR_INVALID_HANDLE


SPIN = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .entry spin(.param .u64 flags) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<2>;
    .reg .pred %p;
    ld.param.u64 %rd1, [flags];
    mov.u32 %r1, 1;
    st.volatile.global.u32 [%rd1], %r1;
again:
    ld.volatile.global.u32 %r1, [%rd1+4];
    setp.eq.u32 %p, %r1, 0;
    @%p bra again;
    ret;
}
"""


def test_a_stream_is_busy_while_a_kernel_of_another_thread_runs(d, emu_ctx):
    """The kernel signals that it runs, and runs until the test stops it."""
    flags = c_void_p(d.out(c_void_p, "MemHostAlloc", size(8), 0))
    started, end = (ctypes.c_uint.from_address(flags.value + at) for at in (0, 4))
    started.value = end.value = 0
    m = d.module(SPIN)
    spin = d.function(m, b"spin")
    s, other = (c_void_p(d.out(c_void_p, "StreamCreate", 1)) for _ in range(2))
    parameters = launch_parameters(c_uint64(flags.value))
    codes = []

    def launch():
        d.ok("CtxSetCurrent", emu_ctx)
        codes.append(d.LaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, parameters, None))
        codes.append(d.StreamSynchronize(s))

    thread = threading.Thread(target=launch)
    thread.start()
    try:
        deadline = time.monotonic() + 60
        while not started.value:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        assert d.StreamQuery(s) == R.ERROR_NOT_READY
        assert d.StreamQuery(other) == 0
    finally:
        end.value = 1
        thread.join(60)
    assert codes == [0, 0]
    assert d.StreamQuery(s) == 0
    for stream in (s, other):
        d.ok("StreamDestroy", stream)
    d.ok("ModuleUnload", m)
    d.ok("MemFreeHost", flags)


def test_events(d, emu_ctx):
    a, b = (c_void_p(d.out(c_void_p, "EventCreate", 0)) for _ in range(2))
    no_time = c_void_p(d.out(c_void_p, "EventCreate", 2))
    ms = c_float()
    assert d.EventElapsedTime(byref(ms), a, b) == R.ERROR_INVALID_HANDLE  # not recorded
    p = d.alloc(64 * MIB)
    d.ok("EventRecord", a, None)
    d.ok("MemsetD8", p, 1, size(64 * MIB))
    d.ok("EventRecordWithFlags", b, None, 0)
    d.ok("StreamWaitEvent", None, b, 0)
    d.ok("EventSynchronize", b)
    d.ok("EventQuery", b)
    d.ok("EventElapsedTime", byref(ms), a, b)
    assert 0.01 < ms.value < 60_000
    d.ok("EventElapsedTime", byref(ms), b, a)
    assert ms.value < 0
    d.ok("EventRecord", no_time, None)
    assert d.EventElapsedTime(byref(ms), a, no_time) == R.ERROR_INVALID_HANDLE
    assert d.EventElapsedTime(byref(ms), no_time, a) == R.ERROR_INVALID_HANDLE
    assert d.EventCreate(byref(c_void_p()), 4) == R.ERROR_INVALID_VALUE
    d.ok("MemFree", p)
    for e in (a, b, no_time):
        d.ok("EventDestroy", e)
        assert d.EventDestroy(e) == R.ERROR_INVALID_HANDLE


def test_host_functions_run_and_may_not_call_the_driver(d, emu_ctx):
    seen = []

    @ctypes.CFUNCTYPE(None, c_void_p)
    def function(data):
        seen.append((data, d.MemAlloc(byref(c_uint64()), size(4))))

    @ctypes.CFUNCTYPE(None, c_void_p, c_int, c_void_p)
    def callback(stream, status, data):
        seen.append((stream, status, data))

    d.ok("LaunchHostFunc", None, function, c_void_p(5))
    d.ok("StreamAddCallback", None, callback, c_void_p(6), 0)
    d.ok("CtxSynchronize")
    assert seen == [(5, R.ERROR_NOT_PERMITTED), (None, 0, 6)]
    assert d.log()[-3:] == [
        ("cuLaunchHostFunc", 0),
        ("cuStreamAddCallback", 0),
        ("cuCtxSynchronize", 0),
    ]
