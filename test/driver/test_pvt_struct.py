"""pycuda._pvt_struct: native packing with complex numbers.

The standard library's struct in native mode defines the results of all common formats.
NumPy and ctypes define the others.
"""

import array
import ctypes
import gc
import inspect
import random
import struct
import sys
import weakref

import numpy as np
import pytest

from pycuda import _pvt_struct as pvt

INTEGERS = "bBhHiIlLqQnNP"
SIGNED = "bhilqn"
KNOWN = "xcsp?fdFD" + INTEGERS


def limits(code):
    bits = 8 * struct.calcsize(code)
    if code in SIGNED:
        return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    return (-(2 ** (bits - 1)) if code == "P" else 0), 2**bits - 1


# -- single formats --------------------------------------------------------------------


@pytest.mark.parametrize("code", INTEGERS)
def test_integers_pack_as_in_struct(code):
    low, high = limits(code)
    for value in {low, high, 0, 1, 7, high // 2, max(low, -1)}:
        packed = pvt.pack(code, value)
        assert packed == struct.pack(code, value)
        assert pvt.unpack(code, packed) == struct.unpack(code, packed)


@pytest.mark.parametrize("code", INTEGERS)
def test_integers_out_of_range(code):
    low, high = limits(code)
    for value in (low - 1, high + 1, 2**64, -(2**64), 2**200, -(2**200)):
        with pytest.raises(pvt.error):
            pvt.pack(code, value)


@pytest.mark.parametrize("code", INTEGERS)
@pytest.mark.parametrize("value", [1.0, "1", None, 1j, b"1", np.float32(1), [1]])
def test_integers_want_integers(code, value):
    with pytest.raises(pvt.error, match="not an integer"):
        pvt.pack(code, value)


class Index:
    def __index__(self):
        return 5


@pytest.mark.parametrize("code", INTEGERS)
@pytest.mark.parametrize(
    "value", [Index(), np.int8(5), np.uint64(5), np.array(5), np.array(5, np.uint8)]
)
def test_integers_by_index(code, value):
    assert pvt.pack(code, value) == struct.pack(code, 5)


def test_bool_is_an_integer():
    assert pvt.pack("i", True) == struct.pack("i", 1)


@pytest.mark.parametrize("code", "fd")
def test_reals(code):
    for value in (0.0, -0.0, 1.5, -2, 1e30, float("inf"), Index(), np.float32(2.5)):
        assert pvt.pack(code, value) == struct.pack(code, value)
    assert pvt.pack(code, np.array(2.5)) == struct.pack(code, 2.5)
    assert np.isnan(pvt.unpack(code, pvt.pack(code, float("nan")))[0])
    for value in ("1", None, 1j, b"1", np.zeros(3)):
        with pytest.raises(pvt.error, match="not a float"):
            pvt.pack(code, value)
    with pytest.raises(pvt.error):
        pvt.pack(code, 10**400)


def test_large_double_becomes_infinite_float():
    assert pvt.unpack("f", pvt.pack("f", 1e300)) == (float("inf"),)
    assert pvt.pack("d", 1e300) == struct.pack("d", 1e300)


@pytest.mark.parametrize("code, dtype", [("F", np.complex64), ("D", np.complex128)])
@pytest.mark.parametrize(
    "value", [0, 1.5, 1 - 2j, -1.0, Index(), np.complex64(3 + 4j), np.array(5 - 6j)]
)
def test_complex(code, dtype, value):
    wanted = 5 if isinstance(value, Index) else value
    packed = pvt.pack(code, value)
    assert packed == np.asarray(wanted, dtype).tobytes()
    (back,) = pvt.unpack(code, packed)
    assert type(back) is complex
    assert back == complex(wanted)


@pytest.mark.parametrize("code", "FD")
@pytest.mark.parametrize("value", ["1", None, b"1", [1], np.zeros(3), 10**400])
def test_complex_wants_numbers(code, value):
    with pytest.raises(pvt.error, match="not a complex number"):
        pvt.pack(code, value)


def test_bools():
    for value in (0, 1, "", "x", [], [0], None, 2.5, np.array(0), np.array(3)):
        assert pvt.pack("?", value) == bytes([bool(value)])
    assert pvt.unpack("3?", b"\x00\x01\x80") == (False, True, True)

    class Undecided:
        def __bool__(self):
            raise LookupError("later")

    with pytest.raises(LookupError, match="later"):
        pvt.pack("?", Undecided())


def test_chars():
    assert pvt.pack("c3c", b"a", b"b", bytearray(b"c"), b"\0") == b"abc\0"
    assert pvt.unpack("4c", b"abc\0") == (b"a", b"b", b"c", b"\0")
    for value in (b"", b"ab", "a", 97, None):
        with pytest.raises(pvt.error, match="length 1"):
            pvt.pack("c", value)


@pytest.mark.parametrize("code", "sp")
@pytest.mark.parametrize("count", ["", 1, 2, 3, 4, 5, 200, 300])
@pytest.mark.parametrize("text", [b"", b"a", b"abcd", b"z" * 280])
def test_strings_are_struct_s(code, count, text):
    form = f"{count}{code}"
    packed = pvt.pack(form, text)
    assert packed == struct.pack(form, text)
    assert pvt.unpack(form, packed) == struct.unpack(form, packed)


def test_empty_strings():
    # The standard library fails to unpack 0p, so it is no referee here.
    for form in ("0s", "0p"):
        assert pvt.pack(form, b"text") == b""
        assert pvt.unpack(form, b"") == (b"",)


def test_broken_pascal_length_is_cut():
    assert pvt.unpack("3p", b"\xffab") == (b"ab",)


def test_strings_take_any_buffer():
    assert pvt.pack("4s", bytearray(b"ab")) == b"ab\0\0"
    assert pvt.pack("4s", np.arange(6, dtype=np.uint8)) == b"\0\1\2\3"
    assert pvt.pack("4s", memoryview(b"wxyz")[1:3]) == b"xy\0\0"
    for value in ("text", 5, None, np.arange(9, dtype=np.uint8)[::2]):
        with pytest.raises(pvt.error, match="bytes-like"):
            pvt.pack("4s", value)


# -- layout ----------------------------------------------------------------------------

CTYPES = {
    "c": ctypes.c_char,
    "b": ctypes.c_int8,
    "h": ctypes.c_short,
    "i": ctypes.c_int,
    "l": ctypes.c_long,
    "q": ctypes.c_longlong,
    "n": ctypes.c_ssize_t,
    "P": ctypes.c_void_p,
    "?": ctypes.c_bool,
    "f": ctypes.c_float,
    "d": ctypes.c_double,
}


@pytest.mark.parametrize("code", sorted(CTYPES))
def test_alignment_is_the_compiler_s(code):
    size, align = ctypes.sizeof(CTYPES[code]), ctypes.alignment(CTYPES[code])
    assert pvt.calcsize(code) == size
    assert pvt.calcsize("b" + code) == align + size
    assert pvt.calcsize("b0" + code) == align
    assert pvt.calcsize(code + "b") == size + 1


@pytest.mark.parametrize("form, size", [("F", 8), ("D", 16), ("bF", 12), ("bD", 24)])
def test_complex_sizes(form, size):
    assert pvt.calcsize(form) == size


@pytest.mark.parametrize("form", ["b3s", "b?", "b5p", "bx", "bc"])
def test_bytes_have_no_alignment(form):
    assert pvt.calcsize(form) == struct.calcsize(form)


def test_gaps_are_zero():
    assert pvt.pack("bi", -1, -1) == b"\xff\0\0\0\xff\xff\xff\xff"
    assert pvt.pack("b3xb", 1, 2) == b"\1\0\0\0\2"
    room = bytearray(b"\xee" * 10)
    pvt.pack_into("bi", room, 1, 1, 2)
    assert room == b"\xee" + struct.pack("bi", 1, 2) + b"\xee"


def test_no_values():
    assert pvt.pack("") == b""
    assert pvt.unpack("", b"") == ()
    assert pvt.pack("3x") == b"\0\0\0"
    assert pvt.unpack("0i", b"") == ()


def random_format(rng):
    codes = "xcbBhHiIlLqQnNP?fds"
    parts, values = [], []
    for _ in range(rng.randrange(8)):
        code = rng.choice(codes)
        count = rng.choice([None, None, None, 0, 1, 2, 3, 5])
        parts.append(rng.choice(["", "", " ", "\t\n"]))
        parts.append(code if count is None else f"{count}{code}")
        number = 1 if count is None else count
        if code == "s":
            values.append(rng.randbytes(rng.randrange(6)))
        elif code == "c":
            values += [rng.randbytes(1) for _ in range(number)]
        elif code == "?":
            values += [rng.random() < 0.5 for _ in range(number)]
        elif code in "fd":
            values += [rng.uniform(-1e6, 1e6) for _ in range(number)]
        elif code != "x":
            values += [rng.randint(*limits(code)) for _ in range(number)]
    return rng.choice(["", "@"]) + "".join(parts), values


def test_random_formats_are_struct_s():
    rng = random.Random(20)
    for _ in range(5000):
        form, values = random_format(rng)
        packed = struct.pack(form, *values)
        assert pvt.calcsize(form) == len(packed)
        assert pvt.pack(form, *values) == packed
        assert pvt.unpack(form, packed) == struct.unpack(form, packed)
        compiled = pvt.Struct(form)
        assert compiled.pack(*values) == packed
        assert compiled.unpack(packed) == struct.unpack(form, packed)
        offset = rng.randrange(5)
        ours, theirs = bytearray(b"\xaa" * 500), bytearray(b"\xaa" * 500)
        compiled.pack_into(ours, offset, *values)
        struct.pack_into(form, theirs, offset, *values)
        assert ours == theirs
        assert pvt.unpack_from(form, ours, offset) == struct.unpack(form, packed)


def random_text(rng):
    return "".join(rng.choice("@0123456789 bcdifsxp?QP<=z\0") for _ in range(5))


def test_random_texts_are_judged_as_struct_does():
    rng = random.Random(21)
    judged = {True: 0, False: 0}
    for _ in range(20000):
        form = random_text(rng)
        try:
            wanted = struct.calcsize(form)
        except struct.error:
            wanted = None
        if form.startswith(("<", "=")):
            wanted = None
        judged[wanted is None] += 1
        if wanted is None:
            with pytest.raises(pvt.error):
                pvt.calcsize(form)
        else:
            assert pvt.calcsize(form) == wanted
    assert min(judged.values()) > 500


# -- formats that are refused ----------------------------------------------------------


@pytest.mark.parametrize("form", ["<i", ">i", "=i", "!i", "i@", " @i", "3 i", "é"])
def test_bad_formats(form):
    with pytest.raises((pvt.error, UnicodeEncodeError)):
        pvt.calcsize(form)


def test_no_other_characters():
    for number in range(256):
        form = bytes([number])
        if chr(number) in KNOWN:
            assert pvt.calcsize(form) == pvt.Struct(form).size
        elif form.isspace() or form == b"@":
            assert pvt.calcsize(form) == 0
        else:
            with pytest.raises(pvt.error):
                pvt.calcsize(form)


@pytest.mark.parametrize(
    "form, why",
    [
        ("3", "without format"),
        ("i3", "without format"),
        (f"{sys.maxsize + 1}b", "overflow"),
        (f"{sys.maxsize}i", "too long"),
        (f"{sys.maxsize}bb", "too long"),
        (f"{sys.maxsize - 1}bi", "too long"),
        ("z", "bad char"),
    ],
)
def test_why_a_format_is_bad(form, why):
    for refuse in (pvt.calcsize, pvt.Struct, pvt.pack):
        with pytest.raises(pvt.error, match=why):
            refuse(form)


def test_largest_size():
    assert pvt.calcsize(f"{sys.maxsize}x") == sys.maxsize


@pytest.mark.parametrize("form", [None, 3, bytearray(b"i"), ["i"]])
def test_format_types(form):
    for refuse in (pvt.calcsize, pvt.Struct, pvt.pack):
        with pytest.raises(TypeError, match="must be a str or bytes object"):
            refuse(form)


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_number_of_values(values):
    message = rf"expected 2 items for packing \(got {len(values)}\)"
    with pytest.raises(pvt.error, match="pack " + message):
        pvt.pack("ii", *values)
    with pytest.raises(pvt.error, match="pack_into " + message):
        pvt.pack_into("ii", bytearray(8), 0, *values)


# -- buffers ---------------------------------------------------------------------------


def test_offsets():
    room = bytearray(12)
    pvt.pack_into("i", room, 4, 7)
    pvt.pack_into("i", room, -4, 8)
    assert struct.unpack("3i", room) == (0, 7, 8)
    assert pvt.unpack_from("i", room, 4) == (7,)
    assert pvt.unpack_from("i", room, offset=-4) == (8,)
    assert pvt.unpack_from("i", buffer=room) == (0,)
    assert pvt.Struct("i").unpack_from(buffer=room, offset=4) == (7,)
    pvt.pack_into("i", room, np.int64(0), 9)
    assert pvt.unpack_from("i", room) == (9,)
    assert pvt.unpack_from("", room, 12) == ()


@pytest.mark.parametrize("offset", [9, 12, 13, -3, -1, -13, sys.maxsize, -sys.maxsize])
def test_offsets_out_of_range(offset):
    room = bytearray(12)
    with pytest.raises(pvt.error):
        pvt.pack_into("i", room, offset, 1)
    with pytest.raises(pvt.error):
        pvt.unpack_from("i", room, offset)
    assert room == bytes(12)


def test_wrong_buffers():
    with pytest.raises(pvt.error, match="buffer of 4 bytes"):
        pvt.unpack("i", b"12345")
    with pytest.raises(TypeError):
        pvt.unpack("i", "1234")
    with pytest.raises(TypeError):
        pvt.unpack_from("i", 5)
    for readonly in (b"1234", "1234"):
        with pytest.raises((TypeError, BufferError)):
            pvt.pack_into("i", readonly, 0, 1)
    room = bytearray(4)
    with pytest.raises(TypeError):
        pvt.pack_into("i", room, "0", 1)
    with pytest.raises(IndexError):
        pvt.pack_into("i", room, 2**80, 1)
    for offset, value in ((5, 1), (-5, 1), (0, "x"), (0, 2**40)):
        with pytest.raises(pvt.error):
            pvt.pack_into("i", room, offset, value)
    with pytest.raises(pvt.error):
        pvt.unpack("q", room)
    with pytest.raises(pvt.error):
        pvt.unpack_from("i", room, 1)
    room.append(0)  # BufferError if a failed call still holds the buffer
    with memoryview(room), pytest.raises(BufferError):
        room.append(0)


@pytest.mark.parametrize(
    "call",
    [
        lambda: pvt.pack(),
        lambda: pvt.pack_into(),
        lambda: pvt.unpack("i"),
        lambda: pvt.unpack("i", b"1234", 0),
        lambda: pvt.unpack_from("i"),
        lambda: pvt.unpack_from("i", b"1234", place=0),
        lambda: pvt.Struct(),
        lambda: pvt.Struct("i", 1),
        lambda: pvt.Struct("i").unpack(),
        lambda: pvt.Struct("i").unpack_from(),
    ],
)
def test_missing_arguments(call):
    with pytest.raises(TypeError):
        call()


def test_pack_into_missing_arguments():
    with pytest.raises(pvt.error, match="buffer argument"):
        pvt.pack_into("i")
    with pytest.raises(pvt.error, match="offset argument"):
        pvt.Struct("i").pack_into(bytearray(4))


# -- Struct, error, module -------------------------------------------------------------


def test_struct_attributes():
    for form in ("@bi", b"@bi"):
        compiled = pvt.Struct(form)
        assert compiled.format == b"@bi"
        assert compiled.size == 8
    with pytest.raises(AttributeError):
        compiled.size = 3
    assert pvt.Struct(format="i").size == 4


def test_struct_is_subclassable():
    class Pair(pvt.Struct):
        def __init__(self, code, extra=None):
            super().__init__(code * 2)
            self.extra = extra

    pair = Pair("h", extra=self_reference())
    assert pair.pack(1, 2) == struct.pack("2h", 1, 2)
    pair.itself = pair
    gone = weakref.ref(pair)
    del pair
    gc.collect()
    assert gone() is None


def self_reference():
    items = []
    items.append(items)
    return items


def test_struct_without_init():
    empty = pvt.Struct.__new__(pvt.Struct)
    for use in (
        lambda: empty.pack(1),
        lambda: empty.pack_into(bytearray(4), 0, 1),
        lambda: empty.unpack(b""),
        lambda: empty.unpack_from(b""),
        lambda: empty.format,
        lambda: empty.size,
    ):
        with pytest.raises(RuntimeError, match="not initialized"):
            use()


def test_struct_changed_while_packing():
    compiled = pvt.Struct("3i")

    class Meddler:
        def __index__(self):
            compiled.__init__("100d")
            pvt._clearcache()
            gc.collect()
            return 6

    assert compiled.pack(Meddler(), 7, 8) == struct.pack("3i", 6, 7, 8)
    assert compiled.size == 800
    with pytest.raises(pvt.error):
        compiled.__init__("z")
    assert compiled.size == 800


def test_exceptions_of_values_stay():
    class Broken:
        def __index__(self):
            raise ZeroDivisionError("mine")

        __float__ = __complex__ = __index__

    for code in "iQPfdFD":
        with pytest.raises(ZeroDivisionError, match="mine"):
            pvt.pack(code, Broken())


def test_error_class():
    assert issubclass(pvt.error, Exception)
    assert not issubclass(pvt.error, struct.error)
    assert (pvt.error.__module__, pvt.error.__qualname__) == ("struct", "error")


def test_cache_forgets():
    assert pvt.pack("i", 1) == pvt.pack(b"i", 1)
    for number in range(300):
        assert pvt.calcsize(f"{number}s") == number
    assert pvt._clearcache() is None
    assert pvt.pack("i", 1) == struct.pack("i", 1)


def test_signatures():
    found = {
        name: str(inspect.signature(getattr(pvt, name)))
        for name in ("pack", "pack_into", "unpack", "unpack_from", "calcsize", "Struct")
    }
    assert found == {
        "pack": "(format, /, *values)",
        "pack_into": "(format, buffer, offset, /, *values)",
        "unpack": "(format, buffer, /)",
        "unpack_from": "(format, /, buffer, offset=0)",
        "calcsize": "(format, /)",
        "Struct": "(format)",
    }
    assert str(inspect.signature(pvt.Struct.pack)) == "(self, /, *values)"


def leaks(use):
    """Whether each round of calls leaves more memory blocks."""
    counts = array.array("q", [0] * 6)  # so that counting adds no block itself
    for round in range(len(counts)):
        for _ in range(500):
            use()
        gc.collect()
        counts[round] = sys.getallocatedblocks()
    return all(
        after > before for before, after in zip(counts, counts[1:], strict=False)
    )


counts_blocks = pytest.mark.skipif(
    sys.getallocatedblocks() == 0, reason="PYTHONMALLOC=malloc counts no blocks"
)


@counts_blocks
def test_nothing_leaks():
    def use():
        for form, values in (("bF4s?", (1, 2j, b"ab", 3)), ("3i", (1, 2))):
            compiled = pvt.Struct(form)
            try:
                packed = compiled.pack(*values)
            except pvt.error:
                continue
            compiled.unpack(packed)
            pvt.unpack(form, packed)
            pvt.pack_into(form, bytearray(99), 3, *values)

    assert not leaks(use)


@counts_blocks
def test_leak_check_can_fail():
    kept = []
    assert leaks(lambda: kept.append(pvt.Struct("i")))
