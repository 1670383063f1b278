"""Kernels that copy a tile by a TensorMap, and the tile that NumPy expects."""

import warnings

import numpy as np

import pycuda.driver as drv
from pycuda import gpuarray

# A tile fills a part of the room, and the kernels copy all of it to the host: the trial
# of their first block finds that.
warnings.filterwarnings("ignore", "a kernel has a fault", drv.PyCUDAWarning)

#: Bytes of shared memory that the kernels have for a tile.
ROOM = 32768

#: Bytes of shared memory over which a swizzle moves runs of 16 bytes.
SPANS = {0: 0, 1: 0x10, 2: 0x30, 3: 0x70}

LOAD = """
.visible .entry {name}{rank}(.param .align 64 .b8 {name}{rank}_map[128],
    .param .align 4 .b8 {name}{rank}_at[20], {more}
    .param .u32 {name}{rank}_bytes,
    .param .u64 {name}{rank}_out)
{{
    .reg .b32 %r<20>; .reg .b64 %q<20>; .reg .pred %p<4>;
    {begin}
    ld.param.u32 %r7, [{name}{rank}_bytes];
    ld.param.u64 %q2, [{name}{rank}_out];
    mov.b64 %q1, {name}{rank}_map;
    cvta.param.u64 %q1, %q1;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra meet{rank};
    mbarrier.init.shared::cta.b64 [object], 1;
    fence.proxy.async.shared::cta;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [object], %r7;
    cp.async.bulk.tensor.{rank}d.shared::cluster.global{mode}.mbarrier::complete_tx::bytes
        [room], [%q1, {{{coordinates}}}], [object]{by};
meet{rank}:
    bar.sync 0;
wait{rank}:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [object], 0;
    @!%p1 bra wait{rank};
    mov.u32 %r8, %r1;
next{rank}:
    setp.ge.u32 %p2, %r8, {words};
    @%p2 bra done{rank};
    mul.lo.u32 %r9, %r8, 4;
    cvt.u64.u32 %q3, %r9;
    add.u64 %q4, %q2, %q3;
    mov.u32 %r10, room;
    add.u32 %r10, %r10, %r9;
    ld.shared.u32 %r11, [%r10];
    st.global.u32 [%q4], %r11;
    add.u32 %r8, %r8, %r2;
    bra next{rank};
done{rank}:
    ret;
}}
"""

STORE = """
.visible .entry {name}{rank}(.param .align 64 .b8 {name}{rank}_map[128],
    .param .align 4 .b8 {name}{rank}_at[20], .param .u64 {name}{rank}_from)
{{
    .reg .b32 %r<20>; .reg .b64 %q<20>; .reg .pred %p<4>;
    {begin}
    ld.param.u64 %q2, [{name}{rank}_from];
    mov.b64 %q1, {name}{rank}_map;
    cvta.param.u64 %q1, %q1;
    mov.u32 %r8, %r1;
next{rank}:
    setp.ge.u32 %p2, %r8, {words};
    @%p2 bra copied{rank};
    mul.lo.u32 %r9, %r8, 4;
    cvt.u64.u32 %q3, %r9;
    add.u64 %q4, %q2, %q3;
    mov.u32 %r10, room;
    add.u32 %r10, %r10, %r9;
    ld.global.u32 %r11, [%q4];
    st.shared.u32 [%r10], %r11;
    add.u32 %r8, %r8, %r2;
    bra next{rank};
copied{rank}:
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra done{rank};
    {opcode} [%q1, {{{coordinates}}}], [room];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
done{rank}:
    ret;
}}
"""

HEAD = f"""
.version 8.3
.target sm_90
.address_size 64
.shared .align 1024 .b8 room[{ROOM}];
.shared .align 8 .b64 object;
"""


def _fields(name, rank):
    """The fields of all texts: thread in %r1, threads in %r2, coordinates in %r12..."""
    registers = [f"%r{12 + i}" for i in range(rank)]
    begin = ["mov.u32 %r1, %tid.x;", "mov.u32 %r2, %ntid.x;"]
    begin += [
        f"ld.param.s32 {register}, [{name}{rank}_at+{4 * i}];"
        for i, register in enumerate(registers)
    ]
    return {
        "name": name,
        "rank": rank,
        "begin": "\n".join(begin),
        "coordinates": ", ".join(registers),
        "words": ROOM // 4,
    }


def _store_opcode(rank, operation):
    reduce, dot = ("reduce.", f".{operation}") if operation else ("", "")
    return (
        f"cp.{reduce}async.bulk.tensor.{rank}d.global.shared::cta{dot}.tile.bulk_group"
    )


def load_kernel(rank):
    text = HEAD + LOAD.format(**_fields("load", rank), more="", mode="", by="")
    return drv.module_from_buffer(text.encode()).get_function(f"load{rank}")


def column_kernel(rank):
    """A load of columns of pixels, with the offsets as one more parameter."""
    fields = _fields("column", rank)
    registers = [f"%h{i}" for i in range(rank - 2)]
    loads = (
        f"ld.param.u16 {register}, [column{rank}_by+{2 * i}];"
        for i, register in enumerate(registers)
    )
    fields["begin"] = "\n".join([".reg .b16 %h<4>;", fields["begin"], *loads])
    text = HEAD + LOAD.format(
        **fields,
        more=f".param .align 2 .b8 column{rank}_by[6],",
        mode=".im2col",
        by=f", {{{', '.join(registers)}}}",
    )
    return drv.module_from_buffer(text.encode()).get_function(f"column{rank}")


def store_kernel(rank, operation=""):
    name = operation or "store"
    text = STORE.format(**_fields(name, rank), opcode=_store_opcode(rank, operation))
    module = drv.module_from_buffer((HEAD + text).encode())
    return module.get_function(f"{name}{rank}")


def place(at):
    """Coordinates, in the order of the shape, as the kernels take them."""
    coordinates = np.zeros(5, np.int32)
    coordinates[: len(at)] = at[::-1]
    return coordinates


def load(tensor_map, at, count, room_size=None):
    """Copy the tile of `count` bytes at these coordinates. Return the room."""
    room = gpuarray.zeros(ROOM, np.uint8)
    kernel = load_kernel(len(at))
    kernel(tensor_map, place(at), np.uint32(count), room, block=(128, 1, 1))
    return room.get()[: room_size or count]


def load_column(tensor_map, at, offsets, count):
    """The same for a map of columns, moved by offsets in the order of the shape."""
    room = gpuarray.zeros(ROOM, np.uint8)
    by = np.zeros(3, np.uint16)
    by[: len(offsets)] = offsets[::-1]
    column_kernel(len(at))(
        tensor_map, place(at), by, np.uint32(count), room, block=(128, 1, 1)
    )
    return room.get()[:count]


def store(tensor_map, at, content, operation=""):
    """Copy bytes to the room and from there to the tile at these coordinates."""
    room = np.zeros(ROOM, np.uint8)
    room[: content.nbytes] = content.reshape(-1).view(np.uint8)
    kernel = store_kernel(len(at), operation)
    kernel(tensor_map, place(at), gpuarray.to_gpu(room), block=(128, 1, 1))


def tile(array, box, at, steps=None, fill=0):
    """The elements of a box of an array; `fill` stands for those outside."""
    steps = steps or (1,) * len(box)
    axes = [
        start + step * np.arange(-(-size // step))
        for size, start, step in zip(box, at, steps, strict=True)
    ]
    inside = np.ones([len(axis) for axis in axes], bool)
    grid = np.meshgrid(*axes, indexing="ij")
    for axis, size in zip(grid, array.shape, strict=True):
        inside &= (axis >= 0) & (axis < size)
    index = tuple(
        np.clip(axis, 0, size - 1) for axis, size in zip(grid, array.shape, strict=True)
    )
    return np.where(inside, array[index], array.dtype.type(fill)), inside, index


def column(array, at, offsets, lower, upper, channels, pixels, steps=None):
    """The pixels that a copy in im2col mode takes from an array (N, ..., C)."""
    space = array.ndim - 2
    steps = steps or (1,) * array.ndim
    image, *where, first = at
    rows = []
    for _ in range(pixels):
        place = [w + o for w, o in zip(where, offsets, strict=True)]
        inside = 0 <= image < array.shape[0] and all(
            0 <= p < size for p, size in zip(place, array.shape[1:-1], strict=True)
        )
        row = np.zeros(channels, array.dtype)
        if inside:
            part = array[(image, *place)][first : first + channels]
            row[: len(part)] = part
        rows.append(row)
        for i in reversed(range(space)):
            where[i] += steps[i + 1]
            if where[i] < array.shape[i + 1] + upper[i]:
                break
            where[i] = lower[i]
        else:
            image += 1
    return np.array(rows)


def swizzled(values, swizzle):
    """The bytes of a tile in the order in which a swizzle leaves them."""
    flat = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
    place = np.arange(flat.size)
    found = np.empty_like(flat)
    found[place ^ (place >> 3 & SPANS[swizzle])] = flat
    return found
