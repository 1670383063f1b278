"""The driver's calls on tensor maps: what an H200's driver accepts and refuses.

On a GPU the same tests run with its driver.
"""

import ctypes
from ctypes import c_int, c_uint32, c_uint64, c_void_p

import pytest

from support.emulator import R

pytest_plugins = ["support.emulator_fixtures"]

U8, U16, F32 = 0, 1, 7


class Map:
    """128 aligned bytes."""

    def __init__(self):
        self.room = ctypes.create_string_buffer(256)
        start = ctypes.addressof(self.room)
        self.address = (start + 127) // 128 * 128

    def __bytes__(self):
        return ctypes.string_at(self.address, 128)


def numbers(kind, values):
    return (kind * max(1, len(values)))(*values)


class Request:
    """The arguments of a call, of which a test changes some."""

    def __init__(self, d, memory, **changes):
        self.d, self.memory = d, memory
        self.type, self.dims, self.strides = U16, (128, 60), (256,)
        self.box, self.steps = (64, 8), None
        self.interleave = self.swizzle = self.promotion = self.fill = 0
        self.offset = self.align = 0
        self.lower = self.upper = None
        self.channels, self.pixels = 16, 8
        self.__dict__.update(changes)

    def encode(self):
        """Return the code, and the map."""
        made, rank = Map(), len(self.dims)
        where = c_void_p(made.address + self.align)
        common = [
            *(where, self.type, rank, c_void_p(self.memory.value + self.offset)),
            numbers(c_uint64, self.dims),
            numbers(c_uint64, self.strides),
        ]
        modes = [
            numbers(c_uint32, self.steps or (1,) * rank),
            *(self.interleave, self.swizzle, self.promotion, self.fill),
        ]
        if self.lower is None:
            box = numbers(c_uint32, self.box)
            return self.d.TensorMapEncodeTiled(*common, box, *modes), made
        corners = numbers(c_int, self.lower), numbers(c_int, self.upper)
        code = self.d.TensorMapEncodeIm2col(
            *common, *corners, self.channels, self.pixels, *modes
        )
        return code, made


@pytest.fixture
def memory(d, emu_ctx):
    address = d.alloc(1 << 16)
    yield address
    d.ok("MemFree", address)


FOUR = {"dims": (16, 4, 32, 3), "strides": (256, 1024, 4096), "box": (8, 2, 8, 2)}
IMAGES = {
    "dims": (16, 7, 6, 3),
    "strides": (32, 224, 1344),
    "lower": (-1, -1),
    "upper": (0, 1),
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"swizzle": 3},
        {"box": (16, 256), "swizzle": 1},
        {"box": (8, 8), "swizzle": 3},
        {"steps": (8, 3)},
        {"promotion": 3},
        {"align": 32},
        {"align": 8},
        {"type": F32, "fill": 1, "dims": (64, 60), "box": (4, 1)},
        {"type": U8, "dims": (256, 60), "box": (256, 8)},
        {"dims": (1000,), "strides": (), "box": (64,)},
        {"strides": (16,)},
        {"strides": (0,)},
        {**FOUR, "interleave": 1},
        {**FOUR, "interleave": 1, "swizzle": 2},
        {**FOUR, "interleave": 2, "swizzle": 1},
        IMAGES,
        {**IMAGES, "channels": 8, "pixels": 1024},
        {**IMAGES, "lower": (-128, -128), "upper": (127, 127)},
    ],
)
def test_accepted(d, memory, changes):
    assert Request(d, memory, **changes).encode()[0] == R.SUCCESS


@pytest.mark.parametrize(
    "changes",
    [
        {"box": (0, 8)},
        {"box": (64, 257)},
        {"box": (2, 8)},
        {"box": (64, 8), "swizzle": 2},
        {"swizzle": 4},
        {"swizzle": 6},
        {"steps": (1, 9)},
        {"steps": (1, 0)},
        {"promotion": 4},
        {"fill": 1},
        {"type": 16},
        {"dims": (0, 60)},
        {"strides": (8,)},
        {"offset": 8},
        {"interleave": 1},
        {**FOUR, "interleave": 1, "box": (2, 2, 8, 2)},
        {**FOUR, "interleave": 2},
        {**IMAGES, "channels": 3},
        {**IMAGES, "channels": 512},
        {**IMAGES, "pixels": 1025},
        {**IMAGES, "lower": (-129, 0)},
        {**IMAGES, "dims": (16, 7), "strides": (32,)},
    ],
)
def test_refused(d, memory, changes):
    assert Request(d, memory, **changes).encode()[0] == R.ERROR_INVALID_VALUE


def test_another_address(d, memory):
    """The map with a new address is the one that is encoded with it."""
    _, first = Request(d, memory).encode()
    _, second = Request(d, memory, offset=512).encode()
    assert bytes(first) != bytes(second)
    d.ok(
        "TensorMapReplaceAddress", c_void_p(first.address), c_void_p(memory.value + 512)
    )
    assert bytes(first) == bytes(second)
    code = d.TensorMapReplaceAddress(
        c_void_p(first.address), c_void_p(memory.value + 8)
    )
    assert code == R.ERROR_INVALID_VALUE
