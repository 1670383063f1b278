"""Programs that fault and PTX that is rejected, for test_textures.py."""

FAULTY = """
import ctypes, sys
sys.path.insert(0, {path!r})
import numpy as np
import pycuda.driver as drv
from pycuda import compiler
from support.rawtexture import *
from support.texture_bench import (
    DEPTH,
    HEIGHT,
    POINTS,
    WIDTH,
    Bench,
    directions,
    places,
    rng_of,
    texels,
)
from support.texture_kernels import SOURCE

drv.init()
context = drv.Device(0).make_context()
image = compiler.compile(SOURCE, no_extern_c=True, target="ptx")
module, store = drv.module_from_buffer(image), Store()
data = np.zeros((1, 5, 7, 1), np.float32)
array = store.array(data, 2, SURFACE)
texture, surface = store.texture(of_array(array)), store.surface(array)
at, layer, out = np.zeros((3, 1), np.float32), np.zeros(1, np.int32), drv.mem_alloc(64)
one, size = np.int32(1), (np.int32(7), np.int32(5), np.int32(1))
block = dict(block=(1, 1, 1))

def fetch(handle):
    module.get_function("fetch_2d_float4")(
        np.uint64(handle), drv.In(at), drv.In(layer), out, one, **block)

def load(handle, x, y):
    shift = np.array([(x, y, 0)], "i4,i4,i4")[0]
    kernel = module.get_function("load_2d_int1_trap")
    kernel(np.uint64(handle), out, *size, shift, **block)

try:
    {code}
    context.synchronize()
    print("no error")
except drv.Error as error:
    print(type(error).__name__, error.code)
if store.raw.emulated:
    last_message = ctypes.CDLL(LIBRARY).emu_last_message
    last_message.restype = ctypes.c_char_p
    print(last_message().decode())
"""

FAULTS = {
    # the wrong access, and the report of the software device
    "no such texture": ("fetch(0xdead0000beef)", 719, "names no texture"),
    "null texture": ("fetch(0)", 719, "names no texture"),
    "destroyed texture": (
        "store.destroy(texture); fetch(texture.value)",
        719,
        "names no texture",
    ),
    "freed array": (
        "store.destroy(array); fetch(texture.value)",
        700,
        "the memory of the texture",
    ),
    "surface as texture": ("fetch(surface.value)", 719, "names a surface"),
    "texture as surface": ("load(texture.value, 0, 0)", 719, "names a texture"),
    "beyond the row": ("load(surface.value, 7, 0)", 700, "byte 28 of row 0"),
    "before the row": ("load(surface.value, -1, 0)", 700, "byte -4 of row 0"),
    "beyond the rows": ("load(surface.value, 0, 5)", 700, "row 5 of slice"),
    "between elements": (
        "module.get_function('reduce_odd')(np.uint64(surface.value), **block)",
        716,
        "4 bytes at byte 2",
    ),
}

PTX = """
.version 6.4
.target sm_75
.address_size 64
.global .texref image;
.global .b64 plain;
.visible .entry f(.param .u64 handle)
{{
    .reg .pred %p<2>;
    .reg .b16 %rs<5>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<9>;
    ld.param.u64 %rd1, [handle];
    {0}
    ret;
}}
"""
MALFORMED = [
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3}, [%rd1, {%f1, %f2}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%r1, {%f1, %f2}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%rd1, %f2}];",
    "tex.2d.v4.f32.f32 {%rd1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
    "tex.2d.v4.f64.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
    "tex.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
    "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}];",
    "tex.grad.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], {%f1}, {%f2};",
    "tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f3}];",
    "txq.wrap.b32 %r1, [%rd1];",
    "txq.width.b32 %rd2, [%rd1];",
    "suq.filter_mode.b32 %r1, [%rd1];",
    "suld.b.2d.v4.b64.trap {%rd1, %rd2, %rd3, %rd1}, [%rd1, {%r1, %r2}];",
    "suld.b.2d.b32.trap {%rs1}, [%rd1, {%r1, %r2}];",
    "suld.b.2d.v2.b32.trap {%r1}, [%rd1, {%r1, %r2}];",
    "suld.b.cube.b32.trap {%r1}, [%rd1, {%r1, %r2, %r3, %r3}];",
    "sust.b.2d.b32.trap [%rd1, {%r1}], {%r2};",
    "sust.b.2d.v2.b32.trap [%rd1, {%r1, %r2}], {%r2, %rs1};",
    "sured.b.add.2d.f32.trap [%rd1, {%r1, %r2}], %f1;",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [plain, {%f1, %f2}];",
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [nowhere, {%f1, %f2}];",
    "suld.b.2d.b32.trap {%r1}, [plain, {%r1, %r2}];",
]
RARE = (
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2}], %f3;",
    "tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2, %r3, %r3}];",
)
