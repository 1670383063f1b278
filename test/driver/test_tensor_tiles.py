"""Kernels that read and write tiles of an array through a TensorMap.

They need compute capability 9.0. Each test runs in a child process that asks the
software device for it. A GPU ignores that.
"""

import pytest

import pycuda.driver as drv
from pycuda import _driver
from support.child import run_child
from support.compilers import needs_nvcc
from support.emulator import PATH

pytestmark = pytest.mark.gpu

BEGIN = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray
from support.tiles import column, load, load_column, store, swizzled, tile

SWIZZLE = drv.tensor_map_swizzle

def counted(shape, dtype=np.uint16):
    return np.arange(np.prod(shape)).reshape(shape).astype(dtype)

def check_load(array, box, at, swizzle=0, steps=None, **options):
    map = drv.TensorMap(gpuarray.to_gpu(array), box, swizzle, steps, **options)
    expected, inside, index = tile(array, box, at, steps)
    got = load(map, at, expected.nbytes)
    assert (got == swizzled(expected, swizzle)).all(), (box, at, swizzle, steps)

def check_store(array, box, at, swizzle=0, steps=None):
    target = gpuarray.to_gpu(array)
    map = drv.TensorMap(target, box, swizzle, steps)
    part, inside, index = tile(array, box, at, steps)
    values = (60000 - counted(part.shape, np.int64)).astype(array.dtype)
    store(map, at, swizzled(values, swizzle))
    expected = array.copy()
    expected[tuple(axis[inside] for axis in index)] = values[inside]
    assert (target.get() == expected).all(), (box, at, swizzle, steps)
"""


@pytest.fixture(autouse=True)
def needs_tensor_maps():
    drv.init()
    if not _driver._is_emulated() and drv.Device(0).compute_capability() < (9, 0):
        pytest.skip("tensor maps need compute capability 9.0")


def run(code, **env):
    env.update(PYCUDA_EMULATOR_CAPABILITY="9.0", PYTHONPATH=PATH)
    return run_child(BEGIN + code, **env)


#: (shape, box, corner) for 1 to 5 dimensions, within the array and across its edges.
RANKS = """
ranks = [
    ((1000,), (64,), [(8,), (0,), (968,), (-16,)]),
    ((60, 104), (8, 16), [(3, 8), (-3, -8), (57, 96), (57, 504), (500, 0)]),
    ((10, 12, 40), (3, 4, 16), [(2, 3, 8), (9, -1, 32)]),
    ((5, 6, 8, 16), (2, 2, 3, 8), [(1, 2, 1, 8), (4, 5, -2, 0)]),
    ((5, 4, 4, 4, 16), (2, 2, 2, 3, 8), [(1, 1, 2, 1, 8), (4, 3, -1, 3, 8)]),
]
"""


def test_loads_of_all_dimensions():
    run(f"""{RANKS}
for shape, box, corners in ranks:
    for at in corners:
        check_load(counted(shape), box, at)
check_load(counted((2, 16)), (2, 16), (-(2**31), 2**31 - 16))
""")


def test_stores_of_all_dimensions():
    """A tile that is written must begin at coordinates that are not negative."""
    run(f"""{RANKS}
for shape, box, corners in ranks:
    for at in corners:
        if min(at) >= 0:
            check_store(counted(shape), box, at)
""")


def test_the_end_of_a_line_is_written_in_units_of_16_bytes():
    """The elements between the last one of a row and the next unit belong to nobody."""
    run("""
whole = gpuarray.to_gpu(counted((60, 104)))
target = whole[:, :100]
part, inside, index = tile(whole.get(), (8, 16), (3, 96))
values = counted((8, 16)) + 30000
expected = whole.get()
expected[3:11, 96:104] = values[:, :8]
store(drv.TensorMap(target, (8, 16)), (3, 96), values)
assert (whole.get() == expected).all()
map = drv.TensorMap(target, (8, 16))
got = load(map, (3, 96), 256).view(np.uint16).reshape(8, 16)
assert (got[:, :4] == values[:, :4]).all() and not got[:, 4:].any()
""")


@pytest.mark.parametrize(
    "copy",
    [
        "check_load(counted((60, 104)), (8, 16), (3, 7))",
        "check_store(counted((60, 104)), (8, 16), (3, 4))",
        "check_store(counted((60, 104)), (8, 16), (-1, 8))",
    ],
)
def test_illegal_coordinates(copy):
    """Not a multiple of 16 bytes, or negative: the context is lost, and with it all."""
    code = f"""
try:
    {copy}
except drv.LogicError as error:
    print(error.code)
"""
    assert run(code, check=False).stdout == "715\n"


@pytest.mark.parametrize("check", ["check_load", "check_store"])
def test_swizzles(check):
    run(f"""
array = counted((60, 128))
for swizzle, columns in ((SWIZZLE.SWIZZLE_32B, 16), (SWIZZLE.SWIZZLE_64B, 32),
                         (SWIZZLE.SWIZZLE_128B, 64)):
    {check}(array, (32, columns), (3, 8), int(swizzle))
    {check}(array, (32, columns), (40, 104), int(swizzle))
{check}(counted((8, 10, 64)), (5, 3, 64), (1, 1, 0), 3)
{check}(counted((60, 208), np.uint8), (16, 128), (3, 16), 3)
""")


@pytest.mark.parametrize("check", ["check_load", "check_store"])
def test_element_strides(check):
    run(f"""
check, array = {check}, counted((60, 104))
for at in ((3, 8), (52, 8), (-4, 8)):
    for step in (2, 3, 8):
        if check is check_load or at[0] >= 0:
            check(array, (8, 16), at, 0, (step, 1))
{check}(counted((10, 12, 40)), (4, 5, 16), (0, 1, 8), 0, (3, 2, 1))
""")


def test_columns_of_pixels():
    """3 to 5 dimensions, offsets, padding at all sides, steps, the last image."""
    run("""
cases = [
    ((4, 9, 32), (0,), (0,), 16, 12, (0, 0, 0), (0,), None),
    ((4, 9, 32), (-1,), (-1,), 16, 12, (0, -1, 8), (2,), None),
    ((3, 6, 7, 16), (-1, -1), (-1, -1), 16, 20, (0, -1, -1, 0), (1, 2), None),
    ((3, 6, 7, 16), (-1, -1), (1, 0), 16, 40, (1, 2, 3, 0), (0, 1), None),
    ((3, 6, 7, 16), (-1, -1), (1, 0), 16, 40, (2, 4, 3, 0), (0, 1), None),
    ((3, 6, 7, 16), (-1, -1), (-1, -1), 16, 20, (0, -1, -1, 0), (1, 1), (1, 2, 2, 1)),
    ((2, 3, 5, 4, 8), (-1,) * 3, (-1,) * 3, 8, 60, (0, -1, -1, -1, 0), (2, 1, 1), None),
]
for shape, lower, upper, channels, pixels, at, offsets, steps in cases:
    array = counted(shape)
    map = drv.TensorMap.im2col(
        gpuarray.to_gpu(array), lower, upper, channels, pixels, element_strides=steps)
    expected = column(array, at, offsets, lower, upper, channels, pixels, steps)
    got = load_column(map, at, offsets, expected.nbytes)
    assert (got == swizzled(expected, 0)).all(), shape
array = counted((3, 6, 7, 64))
map = drv.TensorMap.im2col(
    gpuarray.to_gpu(array), (-1, -1), (-1, -1), 64, 20, swizzle=3)
expected = column(array, (0, -1, -1, 0), (1, 1), (-1, -1), (-1, -1), 64, 20)
got = load_column(map, (0, -1, -1, 0), (1, 1), expected.nbytes)
assert (got == swizzled(expected, 3)).all()
""")


def test_rows_that_are_narrower_than_the_swizzle():
    """Each row of the tile begins a line of the swizzle; fewer bytes are copied."""
    run("""
array = counted((60, 128))
for swizzle, span in ((1, 32), (2, 64), (3, 128)):
    map = drv.TensorMap(gpuarray.to_gpu(array), (16, 8), swizzle)
    lines = np.zeros((16, span // 2), np.uint16)
    lines[:, :8], *_ = tile(array, (16, 8), (3, 8))
    whole = load(map, (3, 8), 256, 16 * span)
    found = swizzled(lines, swizzle)
    places = np.flatnonzero(found)
    assert (whole[places] == found[places]).all()
""")


def test_interleaved_layouts():
    """A tile has one slice of channels, whatever the box says."""
    run("""
for interleave, channels, swizzle in ((1, 8, 0), (1, 8, 2), (2, 16, 1)):
    array = counted((3, 4, 5, 10, channels))
    source = gpuarray.to_gpu(array)
    for box, at in (((2, 1, 2, 8), (0, 1, 1, 1)), ((2, 9, 2, 8), (2, 3, 4, 5)),
                    ((1, 1, 3, 8), (1, 2, -1, -2))):
        map = drv.TensorMap(source, box, swizzle, interleave=interleave)
        one = (box[0], 1, *box[2:], channels)
        expected, *_ = tile(array, one, (*at, 0))
        assert (load(map, at, expected.nbytes) == swizzled(expected, swizzle)).all()
""")


def test_rounding_to_tf32():
    run("""
bits = [0x3F801000, 0x3F803000, 0x3F800FFF, 0x3F801001, 0x7F7FF000, 0x7F7FEFFF,
        0x7F800000, 0xFF800001, 0x00001000, 0x00001001, 0x807FF000, 0]
rounded = [0x3F800000, 0x3F804000, 0x3F800000, 0x3F802000, 0x7F800000, 0x7F7FE000,
           0x7F800000, 0x7FFFE000, 0, 0x2000, 0x80800000, 0]
source = gpuarray.to_gpu(np.array(bits, np.uint32).view(np.float32))
for kind in (drv.tensor_map_data_type.TFLOAT32, drv.tensor_map_data_type.TFLOAT32_FTZ):
    map = drv.TensorMap(source, (12,), data_type=kind)
    assert load(map, (0,), 48).view(np.uint32).tolist() == rounded
""")


def test_types():
    run("""
for dtype in ("uint8", "int8", "uint16", "int32", "uint64", "int64", "float16",
              "float32", "float64"):
    array = counted((20, 32), dtype)
    check_load(array, (4, 16), (18, 16))
    check_store(array.astype(dtype) % 50, (4, 16), (18, 16))
""")


def test_fill_with_nan():
    run("""
for dtype in ("float16", "float32", "float64"):
    array = counted((20, 32), dtype)
    map = drv.TensorMap(gpuarray.to_gpu(array), (4, 32), oob_fill=1)
    expected, inside, _ = tile(array, (4, 32), (18, 16))
    got = load(map, (18, 16), expected.nbytes).view(dtype).reshape(expected.shape)
    assert np.isnan(got[~inside]).all() and (got[inside] == expected[inside]).all()
""")


def test_a_view_of_an_array():
    """The map has the strides of the view."""
    run("""
array = gpuarray.to_gpu(counted((64, 128)))
view = array[8:40:2, 16:64]
map = drv.TensorMap(view, (4, 16))
expected, *_ = tile(view.get(), (4, 16), (14, 40))
assert (load(map, (14, 40), expected.nbytes) == swizzled(expected, 0)).all()
""")


@pytest.mark.parametrize(
    ("operation", "dtype"),
    [
        *[("add", t) for t in ("uint32", "int32", "uint64", "float32", "float64")],
        *[(op, t) for op in ("min", "max") for t in ("int32", "uint64", "int64")],
        *[(op, t) for op in ("and", "or", "xor") for t in ("uint32", "uint64")],
        ("add", "float16"),
    ],
)
def test_reductions(operation, dtype, reductions):
    assert f"{operation} {dtype} True" in reductions


@pytest.fixture(scope="module")
def reductions():
    """One child for all of them."""
    done = run("""
kinds = [("add", np.add, "uint32 int32 uint64 float32 float64 float16"),
         ("min", np.minimum, "int32 uint64 int64"),
         ("max", np.maximum, "int32 uint64 int64"),
         ("and", np.bitwise_and, "uint32 uint64"),
         ("or", np.bitwise_or, "uint32 uint64"),
         ("xor", np.bitwise_xor, "uint32 uint64")]
box, at = (4, 16), (17, 24)
for name, function, dtypes in kinds:
    for dtype in dtypes.split():
        array = counted((20, 32), dtype)
        target = gpuarray.to_gpu(array)
        part, inside, index = tile(array, box, at)
        values = (counted(box, "int64")[::-1] * 7).astype(dtype)
        store(drv.TensorMap(target, box), at, values, name)
        place = tuple(axis[inside] for axis in index)
        expected = array.copy()
        expected[place] = function(expected[place], values[inside])
        print(name, dtype, (target.get() == expected).all())
""")
    return done.stdout.splitlines()


#: A kernel as a user writes it: a block transposes tiles of a matrix.
TRANSPOSE = r"""
#include <cuda.h>

extern "C" __global__ void transpose(const __grid_constant__ CUtensorMap from,
                                     const __grid_constant__ CUtensorMap to)
{
    __shared__ __align__(128) float tile[32][32], turned[32][32];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier);
    int x = blockIdx.x * 32, y = blockIdx.y * 32, done = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(b), "r"((unsigned)sizeof tile) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
                     "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(&from),
                        "r"(x), "r"(y), "r"(b) : "memory");
    }
    __syncthreads();
    while (!done)
        asm volatile("{ .reg .pred p;"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
    for (int i = 0; i < 32; i++)
        turned[threadIdx.x][i] = tile[i][threadIdx.x];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group"
                     " [%0, {%1, %2}], [%3];"
                     :: "l"(&to), "r"(y), "r"(x),
                        "r"((unsigned)__cvta_generic_to_shared(turned)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
"""


@needs_nvcc
@pytest.mark.parametrize("check", [None, "all"])
def test_a_kernel_in_cuda_c(check):
    run(
        f"""
from pycuda.compiler import SourceModule
module = SourceModule(r'''{TRANSPOSE}''', no_extern_c=True, arch="sm_90")
array = np.random.default_rng(1).random((100, 72), np.float32)
source, target = gpuarray.to_gpu(array), gpuarray.zeros((72, 100), np.float32)
transpose = module.get_function("transpose")
box = (32, 32)
maps = drv.TensorMap(source, box), drv.TensorMap(target, box)
transpose(*maps, block=(32, 1, 1), grid=(3, 4))
assert (target.get() == array.T).all()
target.fill(0)
transpose.prepare([np.dtype("V128")] * 2)
transpose.prepared_call((3, 4), (32, 1, 1), *maps)
assert (target.get() == array.T).all()
""",
        PYCUDA_EMULATOR_CHECK=check,
    )


#: A kernel that describes a matrix itself, and copies a tile of it.
OWN_MAP = r"""
#include <cuda/ptx>
namespace ptx = cuda::ptx;

extern "C" __global__ void copy_tile(const float *from, float *to, unsigned char *map,
                                     int rows, int columns, int x, int y)
{
    __shared__ __align__(128) unsigned words[32];
    __shared__ __align__(128) float tile[8][32];
    __shared__ __align__(8) unsigned long long barrier;
    unsigned b = (unsigned)__cvta_generic_to_shared(&barrier);
    auto space = ptx::space_shared;
    int done = 0;

    words[threadIdx.x] = 0;
    __syncwarp();
    if (threadIdx.x == 0) {
        ptx::tensormap_replace_global_address(space, words, (unsigned long long)from);
        ptx::tensormap_replace_rank(space, words, 1);
        ptx::tensormap_replace_box_dim(space, words, ptx::n32_t<0>{}, 32);
        ptx::tensormap_replace_box_dim(space, words, ptx::n32_t<1>{}, 8);
        ptx::tensormap_replace_global_dim(space, words, ptx::n32_t<0>{}, columns);
        ptx::tensormap_replace_global_dim(space, words, ptx::n32_t<1>{}, rows);
        ptx::tensormap_replace_global_stride(space, words, ptx::n32_t<0>{},
                                             4ull * columns);
        ptx::tensormap_replace_element_size(space, words, ptx::n32_t<0>{}, 1);
        ptx::tensormap_replace_element_size(space, words, ptx::n32_t<1>{}, 1);
        ptx::tensormap_replace_elemtype(space, words, ptx::n32_t<7>{});
        ptx::tensormap_replace_interleave_layout(space, words, ptx::n32_t<0>{});
        ptx::tensormap_replace_swizzle_mode(space, words, ptx::n32_t<0>{});
        ptx::tensormap_replace_fill_mode(space, words, ptx::n32_t<0>{});
    }
    __syncwarp();
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, ptx::scope_gpu, map, words,
                                 ptx::n32_t<128>{});
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, ptx::scope_gpu, map,
                                       ptx::n32_t<128>{});
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                     :: "r"(b), "r"((unsigned)sizeof tile) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
                     "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     :: "r"((unsigned)__cvta_generic_to_shared(tile)), "l"(map),
                        "r"(x), "r"(y), "r"(b) : "memory");
    }
    __syncwarp();
    while (!done)
        asm volatile("{ .reg .pred p;"
                     " mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;"
                     " selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(b) : "memory");
    for (int i = 0; i < 8; i++)
        to[32 * i + threadIdx.x] = tile[i][threadIdx.x];
}
"""


@needs_nvcc
def test_a_map_that_a_kernel_makes():
    run(f"""
from pycuda.compiler import SourceModule
module = SourceModule(r'''{OWN_MAP}''', no_extern_c=True, arch="sm_90a",
                      options=["-std=c++17"])
array = np.random.default_rng(1).random((20, 64), np.float32)
source, target = gpuarray.to_gpu(array), gpuarray.empty((8, 32), np.float32)
map = gpuarray.zeros(128, np.uint8)
copy_tile = module.get_function("copy_tile")
sizes = np.int32(20), np.int32(64)
for x, y in ((0, 0), (16, 5), (40, 15)):
    copy_tile(source, target, map, *sizes, np.int32(x), np.int32(y), block=(32, 1, 1))
    expected = np.zeros((8, 32), np.float32)
    inside = array[y : y + 8, x : x + 32]
    expected[: inside.shape[0], : inside.shape[1]] = inside
    assert (target.get() == expected).all(), (x, y)
""")
