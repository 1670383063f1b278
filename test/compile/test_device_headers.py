"""The headers for device code, under nvcc and NVRTC: pycuda-complex, pycuda-helpers."""

import cmath

import numpy as np
import pytest

import pycuda.driver as drv
from pycuda.compiler import SourceModule
from support.compilers import COMPILERS

pytestmark = pytest.mark.gpu


@pytest.fixture(params=COMPILERS)
def way(request):
    return request.param


# -- complex ---------------------------------------------------------------------------

#: Expressions of z, w (complex) and x (real), and the same in NumPy.
EXPRESSIONS = {
    "z + w": lambda z, w, x: z + w,
    "z - w": lambda z, w, x: z - w,
    "z * w": lambda z, w, x: z * w,
    "z / w": lambda z, w, x: z / w,
    "z + x": lambda z, w, x: z + x,
    "x - z": lambda z, w, x: x - z,
    "z * x": lambda z, w, x: z * x,
    "x / z": lambda z, w, x: x / z,
    "z / x": lambda z, w, x: z / x,
    "2 * z - 3": lambda z, w, x: 2 * z - 3,
    "z * 0.5 + 1": lambda z, w, x: z * 0.5 + 1,
    "-z": lambda z, w, x: -z,
    "+z": lambda z, w, x: z,
    "C(real(z), imag(w))": lambda z, w, x: z.real + 1j * w.imag,
    "C(z.real(), -z.imag())": lambda z, w, x: z.conj(),
    "conj(z)": lambda z, w, x: z.conj(),
    "C(abs(z))": lambda z, w, x: abs(z) + 0j,
    "C(arg(z))": lambda z, w, x: np.angle(z) + 0j,
    "C(norm(z))": lambda z, w, x: abs(z) ** 2 + 0j,
    "pycuda::polar(x, imag(z))": lambda z, w, x: x * np.exp(1j * z.imag),
    "pycuda::polar(x)": lambda z, w, x: x + 0j,
    "pycuda::sqrt(z)": lambda z, w, x: np.sqrt(z),
    "pycuda::exp(z)": lambda z, w, x: np.exp(z),
    "pycuda::log(z)": lambda z, w, x: np.log(z),
    "pycuda::log10(z)": lambda z, w, x: np.log10(z),
    "pow(z, w)": lambda z, w, x: z**w,
    "pow(z, x)": lambda z, w, x: z**x,
    "pow(x, z)": lambda z, w, x: x**z,
    "pow(z, 3)": lambda z, w, x: z**3,
    "pow(z, -2)": lambda z, w, x: z**-2.0,
    "pow(z, 0.5)": lambda z, w, x: np.sqrt(z),
    "sin(z)": lambda z, w, x: np.sin(z),
    "cos(z)": lambda z, w, x: np.cos(z),
    "tan(z)": lambda z, w, x: np.tan(z),
    "sinh(z)": lambda z, w, x: np.sinh(z),
    "cosh(z)": lambda z, w, x: np.cosh(z),
    "tanh(z)": lambda z, w, x: np.tanh(z),
    "asin(z)": lambda z, w, x: np.arcsin(z),
    "acos(z)": lambda z, w, x: np.arccos(z),
    "atan(z)": lambda z, w, x: np.arctan(z),
    "asinh(z)": lambda z, w, x: np.arcsinh(z),
    "acosh(z)": lambda z, w, x: np.arccosh(z),
    "atanh(z)": lambda z, w, x: np.arctanh(z),
    "C(z == w, z != z)": lambda z, w, x: (z == w) + 0j,
    "C(C(x) == x, C(x) != x)": lambda z, w, x: np.ones_like(z),
}

COMPLEX = """
#include <pycuda-complex.hpp>
typedef REAL R;
typedef pycuda::complex<R> C;
""" + "\n".join(
    f"""
__global__ void f{i}(C *out, const C *zs, const C *ws, const R *xs, int n)
{{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    C z = zs[i], w = ws[i];
    R x = xs[i];
    out[i] = {expression};
}}"""
    for i, expression in enumerate(EXPRESSIONS)
)


@pytest.mark.parametrize("real", ["float", "double"])
def test_complex(ctx, way, real):
    module = SourceModule(
        "#pragma nv_diag_suppress 177\n" + COMPLEX.replace("REAL", real), compiler=way
    )
    rng = np.random.default_rng(5)
    n = 512
    z, w = rng.uniform(-3, 3, (2, n)) + 1j * rng.uniform(-3, 3, (2, n))
    z[:8] = [1.5, 0.5j, -1 + 0.5j, 0.01, 2 - 0.01j, 1 + 1e-3j, 0.3j, -2 - 2j]
    w[::16] = z[::16]
    kind = np.complex64 if real == "float" else np.complex128
    z, w = z.astype(kind), w.astype(kind)
    x = rng.uniform(0.1, 3, n).astype(z.real.dtype)
    out = np.zeros_like(z)
    for i, (expression, wanted) in enumerate(EXPRESSIONS.items()):
        module.get_function(f"f{i}")(
            drv.Out(out),
            drv.In(z),
            drv.In(w),
            drv.In(x),
            np.int32(n),
            block=(64, 1, 1),
            grid=(n // 64, 1),
        )
        wide = np.complex128
        with np.errstate(divide="ignore", invalid="ignore"):
            right = wanted(z.astype(wide), w.astype(wide), x.astype(np.float64))
        error = np.abs(out - right) / np.maximum(np.abs(right), 1e-3)
        most = np.nanmax(error) / np.finfo(x.dtype).eps
        print(f"  {expression}: {most:.1f} units in the last place")
        assert most < 200, expression
        assert np.isfinite(out).all(), expression


CORNERS = """
#include <pycuda-complex.hpp>
using pycuda::complex;
typedef complex<float> F;
typedef complex<double> D;
__constant__ F table[2];
__device__ F variable;
struct pair { F a; float b; };
__global__ void large(F *out, F *in)
{
    out[0] = in[0] / in[1];
    out[1] = pycuda::sqrt(in[2]);
    out[2] = tanh(in[3]);
    out[3] = tan(in[4]);
    out[4] = C_LOG(in[5]);
    out[5] = pycuda::sqrt(in[6]);
    out[6] = pow(in[7], 2);
    out[7] = pow(in[7], in[7]);
}
__global__ void types(F *out, D *wide, F by_value, struct pair p, const F *in)
{
    F zero, three = 3, product = by_value * 2;
    D sum = wide[0] + by_value; // the narrow one widens
    out[0] = zero;
    out[1] = three;
    out[2] = product;
    out[3] = p.a * p.b;
    out[4] = F(sum);
    wide[1] = by_value;
    wide[2] = sum;
    F assigned;
    assigned = sum;
    out[5] = assigned;
    out[6] = table[0] + variable;
    out[7] = in[0];
    out[7] += 1;
    out[7] *= in[0];
    out[7] -= wide[0];
    out[7] /= 2.0;
}
__global__ void reduce(F *out, const F *in)
{
    extern __shared__ float raw[];
    volatile F *part = (volatile F *)raw;
    int i = threadIdx.x;
    part[i] = in[i];
    __syncthreads();
    if (i < 16) { part[i] = part[i] + part[i + 16]; }
    __syncthreads();
    if (i < 8) { part[i] += part[i + 8]; }
    __syncthreads();
    if (i == 0) {
        volatile F sum = part[0];
        for (int k = 1; k < 8; k++) sum += part[k];
        part[0] = sum * 2;
        part[0] *= 0.5f;
        *out = part[0];
    }
}
"""


@pytest.fixture
def corners(ctx, way):
    return SourceModule(CORNERS.replace("C_LOG", "pycuda::log"), compiler=way)


def test_complex_corners(corners):
    big = np.float32(1e30)
    given = np.array(
        [
            big + big * 1j,
            big - big * 1j,
            3e38 + 3e38j,
            100 + 1j,
            1 - 100j,
            1 + 1e-4j,
            1e-38 + 1e-38j,
            0,
        ],
        np.complex64,
    )
    out = np.zeros(8, np.complex64)
    corners.get_function("large")(drv.Out(out), drv.In(given), block=(1, 1, 1))
    wide = given.astype(np.complex128)
    right = [
        wide[0] / wide[1],
        cmath.sqrt(wide[2]),
        cmath.tanh(wide[3]),
        cmath.tan(wide[4]),
        cmath.log(wide[5]),
        cmath.sqrt(wide[6]),
        0,
        0,
    ]
    for found, wanted in zip(out[:6], right[:6], strict=True):
        assert abs(found - wanted) <= 1e-5 * abs(wanted)
    assert abs(out[4].real - right[4].real) <= 1e-3 * abs(right[4].real)
    assert out[6] == 0
    assert out[7] == 1


def test_complex_types(corners):
    out, wide = np.zeros(8, np.complex64), np.zeros(3, np.complex128)
    wide[0] = 0.25 - 1j
    pointer, size = corners.get_global("table")
    assert size == 16
    drv.memcpy_htod(pointer, np.array([5 + 6j, 0], np.complex64))
    pointer, size = corners.get_global("variable")
    drv.memcpy_htod(pointer, np.array([1 + 1j], np.complex64))
    pair = np.zeros(1, np.dtype([("a", np.complex64), ("b", np.float32)]))
    pair["a"], pair["b"] = 1 + 2j, 3
    corners.get_function("types")(
        drv.Out(out),
        drv.InOut(wide),
        np.complex64(2 - 1j),
        pair[0],
        drv.In(np.array([2 + 1j], np.complex64)),
        block=(1, 1, 1),
    )
    wanted = [0, 3, 4 - 2j, 3 + 6j, 2.25 - 2j, 2.25 - 2j, 6 + 7j]
    assert list(out[:7]) == wanted
    assert out[7] == ((3 + 1j) * (2 + 1j) - (0.25 - 1j)) / 2
    assert list(wide) == [0.25 - 1j, 2 - 1j, 2.25 - 2j]


def test_complex_volatile(corners):
    given = (np.arange(32) + 1j * np.arange(32)[::-1]).astype(np.complex64)
    out = np.zeros(1, np.complex64)
    corners.get_function("reduce")(
        drv.Out(out), drv.In(given), block=(32, 1, 1), shared=32 * 8
    )
    assert out[0] == given.sum()


# -- helpers ---------------------------------------------------------------------------

#: dtype: the declared type of the texture, and the type of a read
ELEMENTS = {
    "float32": ("fp_tex_float", "float"),
    "float64": ("fp_tex_double", "double"),
    "complex64": ("fp_tex_cfloat", "pycuda::complex<float>"),
    "complex128": ("fp_tex_cdouble", "pycuda::complex<double>"),
    "int32": ("int", "int"),
    "uint32": ("unsigned int", "unsigned int"),
    "int16": ("short", "short"),
    "uint16": ("unsigned short", "unsigned short"),
    "int8": ("char", "char"),
    "uint8": ("unsigned char", "unsigned char"),
}

HELPERS = """
#include <pycuda-helpers.hpp>
texture<STORED, 1, cudaReadModeElementType> line;
texture<STORED, 2> image;
texture<STORED, cudaTextureType2DLayered, cudaReadModeElementType> layers;
texture<STORED, 3> volume;
surface<void, cudaSurfaceType2DLayered> flat;
surface<void, cudaSurfaceType3D> solid;
#define HERE int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z; \\
    int at = (k * blockDim.y + j) * blockDim.x + i;
__global__ void read_line(TYPE *out) { HERE out[at] = fp_tex1Dfetch(line, at); }
__global__ void read_image(TYPE *out) { HERE out[at] = fp_tex2D(image, i, j); }
__global__ void read_layers(TYPE *out)
{ HERE out[at] = fp_tex2DLayered(layers, i, j, k); }
__global__ void read_volume(TYPE *out) { HERE out[at] = fp_tex3D(volume, i, j, k); }
__global__ void move_flat(TYPE *out)
{
    HERE
    TYPE value;
    fp_surf2DLayeredread(&value, flat, i, j, k, cudaBoundaryModeClamp);
    fp_surf2DLayeredwrite((TYPE)(value + value), flat, i, j, k, cudaBoundaryModeTrap);
    out[at] = value;
}
__global__ void move_solid(TYPE *out)
{
    HERE
    TYPE value;
    fp_surf3Dread(&value, solid, i, j, k);
    fp_surf3Dwrite((TYPE)(value + value), solid, i, j, k);
    out[at] = value;
}
"""


def values(dtype, shape):
    rng = np.random.default_rng(17)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 60, shape).astype(dtype)
    numbers = rng.normal(size=shape)
    return (numbers + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)).astype(
        dtype
    )


class FakeGPUArray:
    """An array with the attributes that the helpers use."""

    def __init__(self, array):
        self.gpudata = drv.to_device(np.ravel(array, "K"))
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype

    class flags:
        forc = True


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_helpers(ctx, way, dtype):
    stored, type_ = ELEMENTS[dtype]
    source = HELPERS.replace("STORED", stored).replace("TYPE", type_)
    module = SourceModule(source, compiler=way)

    def run(name, like, block, texrefs=()):
        out = np.zeros(block[::-1], dtype)
        module.get_function(name)(drv.Out(out), block=block, texrefs=list(texrefs))
        return out

    for order in "CF":
        data = np.asarray(values(dtype, (2, 3, 4)), order=order)
        block = data.shape if order == "F" else data.shape[::-1]
        seen = data.T if order == "F" else data
        for make in (
            drv.np_to_array,
            lambda a, o: drv.gpuarray_to_array(FakeGPUArray(a), o),
        ):
            volume = module.get_texref("volume")
            volume.set_array(make(data, order))
            found = run("read_volume", data, block, [volume])
            assert np.array_equal(found, seen)
        flat = data[1] if order == "C" else data[..., 1]
        flat = np.asarray(flat, order=order)
        image = module.get_texref("image")
        drv.bind_array_to_texref(drv.np_to_array(flat, order), image)
        block2 = (*(flat.shape if order == "F" else flat.shape[::-1]), 1)
        found = run("read_image", flat, block2, [image])[0]
        assert np.array_equal(found, flat.T if order == "F" else flat)
        if dtype not in ("int8", "int16", "uint8", "uint16", "complex64", "complex128"):
            drv.bind_array_to_texref(drv.matrix_to_array(flat, order, True), image)
            found = run("read_image", flat, block2, [image])[0]
            assert np.array_equal(found, flat.T if order == "F" else flat)
        one_layer = drv.np_to_array(flat, order, allowSurfaceBind=True)
        module.get_texref("layers").set_array(one_layer)
        module.get_surfref("flat").set_array(one_layer)
        found = run("read_layers", flat, block2)[0]
        assert np.array_equal(found, flat.T if order == "F" else flat)
        assert np.array_equal(run("move_flat", flat, block2)[0], found)
        assert np.array_equal(run("read_layers", flat, block2)[0], found + found)
        solid = drv.np_to_array(data, order, allowSurfaceBind=True)
        module.get_surfref("solid").set_array(solid)
        volume.set_array(solid)
        assert np.array_equal(run("move_solid", data, block), seen)
        assert np.array_equal(run("read_volume", data, block), seen + seen)

    line = module.get_texref("line")
    data = values(dtype, 24)
    kept = FakeGPUArray(data)
    hacks = {"allow_double_hack": True, "allow_complex_hack": True}
    assert drv.gpuarray_to_texref(kept, line, **hacks) == 0
    assert np.array_equal(run("read_line", data, (24, 1, 1), [line])[0, 0], data)


# -- the helpers around Array ----------------------------------------------------------


def test_formats_of_dtypes():
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"):
        wanted = (
            name.upper().replace("UINT", "UNSIGNED_INT").replace("FLOAT32", "FLOAT")
        )
        if wanted.startswith("INT"):
            wanted = f"SIGNED_{wanted}"
        assert drv.dtype_to_array_format(name) is getattr(drv.array_format, wanted)
    assert drv.dtype_to_array_format(np.float16) is drv.array_format.HALF
    for wrong in (np.float64, np.int64, np.complex64, bool, ">f4", "f4,f4"):
        with pytest.raises(TypeError, match="dtype"):
            drv.dtype_to_array_format(wrong)


def test_matrix_to_array(ctx):
    data = values("float32", (3, 5))
    for order in ("C", "c"):
        array = drv.matrix_to_array(data, order)
        told = array.get_descriptor()
        assert (told.width, told.height, told.num_channels) == (5, 3, 1)
        assert np.array_equal(array.get(), data)
    for order in ("F", "f"):
        for given in (data, np.asfortranarray(data), np.repeat(data, 2, 1)[:, ::2]):
            array = drv.matrix_to_array(given, order)
            told = array.get_descriptor()
            assert (told.width, told.height) == (3, 5)
            assert np.array_equal(array.get(), data.T)
    for wrong in ("K", None, "CF"):
        with pytest.raises(drv.LogicError, match="order"):
            drv.matrix_to_array(data, wrong)
    with pytest.raises(drv.LogicError, match="2 dimensions"):
        drv.matrix_to_array(data[0], "C")
    with pytest.raises(TypeError, match="float64"):
        drv.matrix_to_array(data.astype(np.float64), "C")
    hacked = drv.matrix_to_array(data.astype(np.float64), "C", allow_double_hack=True)
    told = hacked.get_descriptor()
    assert (told.format, told.num_channels) == (drv.array_format.SIGNED_INT32, 2)
    assert np.array_equal(hacked.get().view(np.float64)[..., 0], data)


def test_channels_and_flags(ctx):
    data = values("uint8", (3, 5, 4))
    array = drv.make_multichannel_2d_array(data, "C")
    told = array.get_descriptor()
    assert (told.width, told.height, told.num_channels) == (5, 3, 4)
    assert np.array_equal(array.get(), data)
    array = drv.make_multichannel_2d_array(data.T, "F")
    assert np.array_equal(array.get(), data)
    with pytest.raises(drv.LogicError, match="3 dimensions"):
        drv.make_multichannel_2d_array(data[0], "C")
    with pytest.raises(drv.LogicError, match="channels"):
        drv.make_multichannel_2d_array(values("uint8", (3, 5, 3)), "C")

    flags = drv.array3d_flags
    plane, cube = values("float32", (3, 5)), values("float32", (2, 3, 5))
    for given, surface, wanted in (
        (plane, False, (5, 3, 0, 0)),
        (plane, True, (5, 3, 1, flags.SURFACE_LDST | flags.ARRAY3D_LAYERED)),
        (cube, False, (5, 3, 2, 0)),
        (cube, True, (5, 3, 2, flags.SURFACE_LDST)),
    ):
        for make in (drv.np_to_array, drv.gpuarray_to_array):
            source = FakeGPUArray(given) if make is drv.gpuarray_to_array else given
            told = make(source, "C", allowSurfaceBind=surface).get_descriptor_3d()
            assert (told.width, told.height, told.depth, told.flags) == wanted
    for make in (drv.np_to_array, drv.gpuarray_to_array):
        with pytest.raises(drv.LogicError, match="order"):
            make(cube, "c")
    with pytest.raises(drv.LogicError, match="2 or 3 dimensions"):
        drv.np_to_array(plane[0], "C")
    with pytest.raises(drv.LogicError, match="is not in order 'F'"):
        drv.gpuarray_to_array(FakeGPUArray(plane), "F")


def test_rows_with_gaps(ctx):
    data = values("float32", (3, 8))
    rows = FakeGPUArray(data)
    rows.shape = (3, 5)  # a view of the first columns
    assert np.array_equal(drv.gpuarray_to_array(rows, "C").get(), data[:, :5])


def test_bind_helpers(ctx):
    texref = drv.TextureReference()
    texref.set_filter_mode(drv.filter_mode.LINEAR)
    texref.set_address_mode(0, drv.address_mode.WRAP)
    texref.set_address_mode(1, drv.address_mode.MIRROR)
    array = drv.matrix_to_array(values("float32", (3, 5)), "C")
    drv.bind_array_to_texref(array, texref)
    assert texref.get_array() is array
    assert texref.get_filter_mode() is drv.filter_mode.POINT
    assert [texref.get_address_mode(dim) for dim in (0, 1)] == [1, 1]
    drv.matrix_to_texref(values("int32", (3, 5)), texref, "F")
    assert texref.get_array().get_descriptor().width == 3

    doubles = FakeGPUArray(values("float64", 8))
    with pytest.raises(TypeError, match="float64"):
        drv.gpuarray_to_texref(doubles, texref)
    with pytest.raises(drv.LogicError, match="more than a texture"):
        drv.gpuarray_to_texref(doubles, texref, channels=4, allow_double_hack=True)
    drv.gpuarray_to_texref(doubles, texref, channels=2, allow_double_hack=True)
    assert texref.get_format() == (drv.array_format.SIGNED_INT32, 4)
    doubles.flags = type("flags", (), {"forc": False})
    with pytest.raises(drv.LogicError, match="gaps"):
        drv.gpuarray_to_texref(doubles, texref, allow_double_hack=True)


def test_set_and_get(ctx):
    descriptor = drv.ArrayDescriptor3D()
    descriptor.width, descriptor.height, descriptor.depth = 4, 3, 2
    descriptor.format, descriptor.num_channels = drv.array_format.HALF, 2
    array = drv.Array(descriptor)
    data = values("float16", (2, 3, 4, 2))
    array.set(data)
    assert np.array_equal(array.get(), data)
    array.set(source=memoryview(bytes(96)))
    assert not array.get().any()
    array.set(drv.to_device(data))
    assert np.array_equal(array.get(), data)
    stream = drv.Stream()
    host = drv.pagelocked_empty(data.shape, np.float16)
    host[:] = -data
    array.set(host, stream=stream)
    stream.synchronize()
    assert np.array_equal(array.get(), -data)
    with pytest.raises(ValueError, match="94 bytes, the array 96"):
        array.set(bytes(94))
    with pytest.raises(ValueError, match="contiguous"):
        array.set(data[..., ::-1])
    with pytest.raises(ValueError, match="pitch is 15"):
        array.set(drv.to_device(data), pitch=15)
    with pytest.raises(TypeError, match="pitch"):
        array.set(data, pitch=16)
    with pytest.raises(TypeError, match="source"):
        array.set(None)
    with pytest.raises(TypeError, match="stream"):
        array.set(data, stream=3)
    array.free()
    with pytest.raises(drv.LogicError, match="released"):
        array.get()
    with pytest.raises(drv.LogicError, match="released"):
        array.set(data)
