"""Texture references of the driver: .texref and .surfref of hand-written PTX."""

import gc

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.rawtexture import BORDER, CLAMP, MIRROR, WRAP
from support.texture_bench import HEIGHT, WIDTH, Bench, array_of, places, rng_of, texels
from support.texture_model import Model

pytestmark = pytest.mark.gpu

PTX = b"""
.version 6.4
.target sm_50
.address_size 64
.visible .global .texref image;
.global .texref line;
.visible .global .surfref canvas;
.visible .global .b64 ordinary;

.visible .entry read2d(.param .u64 out, .param .u64 at, .param .u32 n)
{
    .reg .pred %p<2>;
    .reg .f32 %f<8>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [at];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd3, %r5, 8;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.v2.f32 {%f1, %f2}, [%rd4];
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [image, {%f1, %f2}];
    mul.wide.s32 %rd5, %r5, 16;
    add.s64 %rd6, %rd1, %rd5;
    st.global.v4.f32 [%rd6], {%f3, %f4, %f5, %f6};
done:
    ret;
}

.visible .entry fetch(.param .u64 out)
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [line, {%r1}];
    mul.wide.s32 %rd2, %r1, 4;
    add.s64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r2;
    ret;
}

.visible .entry paint(.param .u32 value)
{
    .reg .b32 %r<6>;
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %tid.y;
    shl.b32 %r4, %r2, 2;
    suld.b.2d.b32.trap {%r5}, [canvas, {%r4, %r3}];
    add.s32 %r5, %r5, %r1;
    sust.b.2d.b32.trap [canvas, {%r4, %r3}], {%r5};
    ret;
}
"""


@pytest.fixture
def module(ctx):
    return drv.module_from_buffer(PTX)


@pytest.fixture
def bench():
    bench = Bench.__new__(Bench)
    bench.emulated = _driver._is_emulated()
    return bench


def read(module, at, texref):
    out = np.zeros((len(at[0]), 4), np.float32)
    module.get_function("read2d")(
        drv.Out(out),
        drv.In(np.ascontiguousarray(np.transpose(at))),
        np.int32(len(out)),
        block=(64, 1, 1),
        grid=(-(-len(out) // 64), 1),
        texrefs=[texref],
    )
    return out


@pytest.mark.parametrize("unit", [False, True], ids=["texels", "unit"])
@pytest.mark.parametrize("linear", [False, True], ids=["point", "linear"])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_texture(module, bench, dtype, linear, unit):
    rng = rng_of("texref", dtype, linear, unit)
    data = texels(rng, dtype, depth=1, channels=4)
    pitch = 512
    rows = np.zeros((HEIGHT, pitch), np.uint8)
    rows[:, : WIDTH * 4 * data.itemsize] = data.reshape(HEIGHT, -1).view(np.uint8)
    memory = drv.to_device(rows)
    descriptor = drv.ArrayDescriptor()
    descriptor.width, descriptor.height = WIDTH, HEIGHT
    descriptor.format, descriptor.num_channels = drv.dtype_to_array_format(dtype), 4
    texref = module.get_texref("image")
    texref.set_filter_mode(drv.filter_mode(int(linear)))
    texref.set_flags(drv.TRSF_NORMALIZED_COORDINATES if unit else 0)
    for pitched in (False, True):
        if pitched:
            texref.set_address_2d(memory, descriptor, pitch)
            assert texref.get_address() == int(memory)
        else:
            texref.set_array(array_of(data[0]))
        assert texref.get_format() == (descriptor.format, 4)
        for mode in (WRAP, CLAMP, MIRROR, BORDER):
            for dim in range(2):
                texref.set_address_mode(dim, drv.address_mode(mode))
            model = Model(data, 2, (mode,) * 3, linear, unit)
            at = places(rng, (WIDTH, HEIGHT), unit)
            bench.compare(
                f"{dtype} mode {mode} linear {linear} unit {unit} pitched {pitched}",
                read(module, at, texref),
                model.fetch(at),
                range_=np.ptp(model.values()) if linear else None,
                sides=2,
                uncertain=None if linear else model.near_an_edge(at, 1 / 128),
            )


def test_linear_memory(module):
    data = np.arange(-5, 27, dtype=np.int32)
    memory = drv.to_device(data)
    texref = module.get_texref("line")
    texref.set_format(drv.array_format.SIGNED_INT32, 1)
    assert texref.set_address(memory, data.nbytes) == 0
    out = np.zeros(32, np.int32)
    fetch = module.get_function("fetch")
    fetch(drv.Out(out), block=(32, 1, 1), texrefs=[texref])
    assert np.array_equal(out, data)
    other = drv.to_device(data * 2)
    texref.set_address(other, data.nbytes)
    fetch(drv.Out(out), block=(32, 1, 1))
    assert np.array_equal(out, data * 2)
    with pytest.raises(drv.LogicError, match="allow_offset"):
        texref.set_address(int(memory) + 4, 16)
    assert texref.set_address(int(memory) + 4, 16, allow_offset=True) == 4


def test_surface(module):
    data = np.arange(15, dtype=np.int32).reshape(3, 5, 1)
    array = array_of(data, drv.array3d_flags.SURFACE_LDST)
    surfref = module.get_surfref("canvas")
    surfref.set_array(array)
    assert surfref.get_array() is array
    paint = module.get_function("paint")
    for times in (1, 2):
        paint(np.int32(100), block=(5, 3, 1), texrefs=[surfref])
        assert np.array_equal(array.get(), data[..., 0] + 100 * times)
    with pytest.raises(drv.LogicError, match="SURFACE_LDST"):
        surfref.set_array(array_of(data))


def test_state_is_the_drivers(module):
    one, other = module.get_texref("image"), module.get_texref("image")
    one.set_filter_mode(drv.filter_mode.LINEAR)
    one.set_address_mode(1, drv.address_mode.MIRROR)
    one.set_flags(drv.TRSF_READ_AS_INTEGER)
    one.set_format(drv.array_format.HALF, 2)
    assert other.get_filter_mode() is drv.filter_mode.LINEAR
    assert other.get_address_mode(1) is drv.address_mode.MIRROR
    assert other.get_flags() == drv.TRSF_READ_AS_INTEGER
    assert other.get_format() == (drv.array_format.HALF, 2)
    array = array_of(np.zeros((3, 5, 1), np.float32))
    one.set_array(array)
    assert other.get_array() is array
    assert other.get_format() == (drv.array_format.FLOAT, 1)


def test_array_is_kept(module):
    texref = module.get_texref("image")
    texref.set_array(array_of(np.full((3, 5, 4), 7, np.float32)))
    gc.collect()
    assert (read(module, [[0.5], [0.5]], texref) == 7).all()
    texref.set_array(array_of(np.full((3, 5, 4), 8, np.float32)))
    gc.collect()
    assert _driver._live_counts()["array"] == 1
    assert (read(module, [[0.5], [0.5]], texref) == 8).all()


def test_listed_but_never_bound(module):
    texref = module.get_texref("image")
    with pytest.raises(drv.LogicError, match="'image', is bound to nothing"):
        read(module, [[0.5], [0.5]], texref)


def test_names(module):
    for name in ("canvas", "ordinary", "nowhere", "read2d"):
        with pytest.raises(drv.LogicError, match=f"no texture reference '{name}'"):
            module.get_texref(name)
    with pytest.raises(drv.LogicError, match="no surface reference 'image'"):
        module.get_surfref("image")
