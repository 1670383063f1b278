"""The C of driver/: unit tests under sanitizers, line coverage, NumPy as referee."""

import ctypes
import random
import re
import shutil
import sys

import numpy as np
import pytest

from support import cc

COMPILERS = cc.compilers()

pytestmark = pytest.mark.skipif(
    not COMPILERS, reason="neither gcc nor clang is installed"
)

TESTS = cc.ROOT / "test" / "c"
CORE = cc.SOURCE / "driver"
SANITIZE = ("-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
ENVIRONMENT = {"ASAN_OPTIONS": "detect_leaks=1", "PATH": "/usr/bin:/bin"}

#: The units of driver/ with a test program, and what linking that program takes.
UNITS = {
    "argument_buffer": ("-Wl,--wrap=malloc,--wrap=realloc",),
    "bins": (),
    "capture": ("-Wl,--wrap=realloc",),
    "driver_log": ("-pthread",),
    "events": ("-Wl,--wrap=calloc",),
    "host_threads": ("-pthread",),
    "memory_map": ("-Wl,--wrap=calloc",),
    "shape": (),
    "staging": ("-pthread", "-D_GNU_SOURCE="),
    "ticks": (),
    "virtual_range": ("-Wl,--wrap=calloc,--wrap=realloc",),
}
#: The other units that a unit needs.
WITH = {"memory_map": ["events"], "staging": ["ticks"]}


def build(compiler, unit, folder, flags):
    """Compile test/c/test_<unit>.c with driver/<unit>.c; return the program."""
    program = folder / f"test_{unit}"
    sources = [TESTS / f"test_{unit}.c"]
    if unit in UNITS:
        sources += [CORE / f"{name}.c" for name in [unit, *WITH.get(unit, [])]]
    strict = [*cc.STRICT, "-I", str(cc.SOURCE), *flags, *UNITS.get(unit, ())]
    cc.must(cc.compile_c(compiler, sources, program, strict))
    return program


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("unit", sorted(UNITS))
def test_unit(unit, compiler, tmp_path):
    program = build(compiler, unit, tmp_path, SANITIZE)
    said = cc.must(cc.run([program], env=ENVIRONMENT)).stdout
    assert int(re.fullmatch(r"(\d+) checks, 0 failed\n", said).group(1)) > 50


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("allowed = run->passed + self->used", "allowed = run->submitted + self->used"),
        ("return ended == part + 1;", "return ended != part + 2;"),
        ("part < self->used || ended == part - self->used + 1", "ended != part + 1"),
        ("from += view->strides[i - 1] -", "from += view->strides[i - 1] + 1 -"),
    ],
)
def test_pieces_that_are_used_too_early_are_noticed(
    right, wrong, tmp_path, monkeypatch
):
    text = (CORE / "staging.c").read_text()
    assert text.count(right) == 1
    (tmp_path / "staging.c").write_text(text.replace(right, wrong))
    shutil.copy(CORE / "ticks.c", tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "CORE", tmp_path)
    program = build(COMPILERS[0], "staging", tmp_path, ("-g", "-O1"))
    done = cc.run([program])
    assert done.returncode == 1
    assert "failed: " in done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_frame_reports_failures(compiler, tmp_path):
    done = cc.run([build(compiler, "check", tmp_path, SANITIZE)], env=ENVIRONMENT)
    assert done.returncode == 1
    assert done.stdout == "3 checks, 2 failed\n"
    assert "test_check.c:9: failed: 1 + 1 == 3" in done.stderr
    assert "test_check.c:10: failed: 2 * 3 is 6, not 7" in done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "line, report",
    [
        ("volatile size_t n = 4097; ab.store[n - 1] = ab.store[n];", "index 4097 out"),
        (
            "pcu_argument_buffer_reserve(&ab, 9999, 1); ab.data = ab.store;",
            "LeakSanitizer",
        ),
    ],
)
def test_sanitizers_are_on(line, report, compiler, tmp_path):
    source = tmp_path / "bad.c"
    source.write_text(
        '#include "driver/argument_buffer.h"\n'
        "int main(void)\n{\n"
        "    pcu_argument_buffer ab;\n    pcu_argument_buffer_init(&ab);\n"
        f"    {line}\n    return 0;\n}}\n"
    )
    program = tmp_path / "bad"
    flags = ["-std=c11", "-I", str(cc.SOURCE), *SANITIZE]
    cc.must(
        cc.compile_c(compiler, [source, CORE / "argument_buffer.c"], program, flags)
    )
    done = cc.run([program], env=ENVIRONMENT)
    assert done.returncode != 0
    assert report in done.stderr


# -- coverage --------------------------------------------------------------------------


def lines_missed(unit, folder):
    """Return the lines of a unit of driver/ that no test ran, and the number run."""
    program = build("gcc", unit, folder, ("--coverage", "-O0"))
    cc.must(cc.run([program], cwd=folder))
    data = sorted(folder.glob("*.gcda"))
    cc.must(cc.run(["gcov", "-o", folder, *data], cwd=folder))
    ran = {}
    for report in folder.glob("*.gcov"):
        if report.stem not in (f"{unit}.c", f"{unit}.h"):
            continue
        # An inline of a header has a block for each file that uses it.
        for line in report.read_text().splitlines():
            found = re.fullmatch(r"\s*([\d#=]+)\*?:\s*(\d+):(.*)", line)
            if found:
                count, number, text = found.groups()
                place = f"{report.stem}:{number}: {text.strip()}"
                ran[place] = ran.get(place, False) or count.isdigit()
    return {place for place, done in ran.items() if not done}, sum(ran.values())


needs_gcov = pytest.mark.skipif(
    not (shutil.which("gcc") and shutil.which("gcov")),
    reason="line coverage needs gcc with gcov",
)


@needs_gcov
@pytest.mark.parametrize(
    "unit, fewest", [("argument_buffer", 25), ("bins", 50), ("shape", 100)]
)
def test_every_line_is_tested(unit, fewest, tmp_path):
    missed, ran = lines_missed(unit, tmp_path)
    assert missed == set()
    assert ran >= fewest


@needs_gcov
def test_coverage_check_can_fail(tmp_path, monkeypatch):
    folder = tmp_path / "tests"
    folder.mkdir()
    text = (TESTS / "test_shape.c").read_text()
    call = "    test_extent();\n"
    assert call in text
    text = text.replace(call, "    (void)test_extent;\n")
    (folder / "test_shape.c").write_text(text)
    shutil.copy(TESTS / "check.h", folder)
    monkeypatch.setattr(sys.modules[__name__], "TESTS", folder)
    missed, _ = lines_missed("shape", tmp_path)
    assert any("reach" in line for line in missed)


# -- NumPy as a referee ----------------------------------------------------------------


#: NumPy 2 moved it.
byte_bounds = getattr(np, "byte_bounds", None) or np.lib.array_utils.byte_bounds


class Slice(ctypes.Structure):
    """pcu_slice of driver/shape.h."""

    _fields_ = [
        ("start", ctypes.c_ssize_t),
        ("stop", ctypes.c_ssize_t),
        ("step", ctypes.c_ssize_t),
        ("has_start", ctypes.c_bool),
        ("has_stop", ctypes.c_bool),
    ]


@pytest.fixture(scope="module")
def shape(tmp_path_factory):
    """driver/shape.c as a library."""
    library = tmp_path_factory.mktemp("shape") / "shape.so"
    flags = [*cc.STRICT, "-O2", "-fPIC", "-shared"]
    cc.must(cc.compile_c(COMPILERS[0], [CORE / "shape.c"], library, flags))
    loaded = ctypes.CDLL(str(library))
    loaded.pcu_is_c_contiguous.restype = ctypes.c_bool
    loaded.pcu_is_f_contiguous.restype = ctypes.c_bool
    return loaded


def sizes(values):
    return (ctypes.c_size_t * max(len(values), 1))(*values)


def distances(values):
    return (ctypes.c_ssize_t * max(len(values), 1))(*values)


def random_shape(rng, most=5):
    lengths = (0, 1, 1, 2, 3, 4, 7)
    return tuple(rng.choice(lengths) for _ in range(rng.randrange(most + 1)))


def random_end(rng, length):
    return rng.choice(
        [
            None,
            None,
            sys.maxsize,
            -sys.maxsize - 1,
            rng.randint(-length - 3, length + 3),
        ]
    )


def random_slice(rng, length):
    steps = [None, 1, 2, 3, -1, -2, -3, length + 1, sys.maxsize, -sys.maxsize]
    return slice(random_end(rng, length), random_end(rng, length), rng.choice(steps))


def our_slice(piece):
    return Slice(
        piece.start or 0,
        piece.stop or 0,
        1 if piece.step is None else piece.step,
        piece.start is not None,
        piece.stop is not None,
    )


def sliced(shape, array, pieces):
    """Slice every axis of an array with driver/shape; return shape, strides, offset."""
    lengths, strides, offset = [], [], 0
    for piece, length, stride in zip(pieces, array.shape, array.strides, strict=True):
        new_length, new_stride = ctypes.c_size_t(), ctypes.c_ssize_t()
        moved = ctypes.c_ssize_t()
        assert (
            shape.pcu_view_slice(
                ctypes.byref(our_slice(piece)),
                ctypes.c_size_t(length),
                ctypes.c_ssize_t(stride),
                ctypes.byref(new_length),
                ctypes.byref(new_stride),
                ctypes.byref(moved),
            )
            == 0
        )
        lengths.append(new_length.value)
        strides.append(new_stride.value)
        offset += moved.value
    return tuple(lengths), tuple(strides), offset


def random_view(rng):
    """Return a random array of random layout."""
    dims = random_shape(rng)
    dtype = rng.choice([np.int8, np.int32, np.float64, np.complex128])
    array = np.empty(dims, dtype, order=rng.choice("CF"))
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    return view(array, [random_slice(rng, length) for length in array.shape])


def view(array, pieces):
    """Slice an array; the ellipsis keeps one without axes from becoming a scalar."""
    return array[(*pieces, ...)]


def test_slices_are_numpy_s(shape):
    rng = random.Random(1)
    for _ in range(3000):
        array = random_view(rng)
        pieces = [random_slice(rng, length) for length in array.shape]
        wanted = view(array, pieces)
        lengths, strides, offset = sliced(shape, array, pieces)
        assert lengths == wanted.shape
        address = array.__array_interface__["data"][0]
        assert offset == wanted.__array_interface__["data"][0] - address
        for ours, theirs, length in zip(strides, wanted.strides, lengths, strict=True):
            # The stride of a step that is never taken may be anything.
            assert ours == theirs or length <= 1


def test_slices_are_python_s(shape):
    rng = random.Random(2)
    for _ in range(5000):
        length = rng.choice([0, 1, 2, 5, 100, sys.maxsize])
        piece = random_slice(rng, min(length, 200))
        found = (ctypes.c_ssize_t * 3)()
        assert (
            shape.pcu_slice_resolve(
                ctypes.byref(our_slice(piece)), ctypes.c_size_t(length), found
            )
            == 0
        )
        wanted = range(length)[piece]
        assert found[2] == len(wanted)
        if wanted:
            assert found[0] == wanted[0]
            assert found[1] == wanted.step


def test_layouts_are_numpy_s(shape):
    rng = random.Random(3)
    for _ in range(3000):
        array = random_view(rng)
        dims, item = sizes(array.shape), ctypes.c_size_t(array.itemsize)
        strides, out = distances(array.strides), ctypes.c_size_t()
        assert shape.pcu_shape_count(array.ndim, dims, ctypes.byref(out)) == 0
        assert out.value == array.size
        is_c = shape.pcu_is_c_contiguous(array.ndim, dims, strides, item)
        is_f = shape.pcu_is_f_contiguous(array.ndim, dims, strides, item)
        assert (is_c, is_f) == (array.flags.c_contiguous, array.flags.f_contiguous)
        for order, fill in (("C", shape.pcu_strides_c), ("F", shape.pcu_strides_f)):
            packed = distances(array.shape)
            assert fill(array.ndim, dims, item, packed) == 0
            if array.size:
                wanted = np.empty(array.shape, array.dtype, order=order).strides
                assert tuple(packed)[: array.ndim] == wanted


def test_extent_is_numpy_s(shape):
    rng = random.Random(4)
    for _ in range(2000):
        array = random_view(rng)
        low, high = ctypes.c_ssize_t(), ctypes.c_ssize_t()
        assert (
            shape.pcu_extent(
                array.ndim,
                sizes(array.shape),
                distances(array.strides),
                ctypes.c_size_t(array.itemsize),
                ctypes.byref(low),
                ctypes.byref(high),
            )
            == 0
        )
        first = array.__array_interface__["data"][0]
        wanted = byte_bounds(array) if array.size else (first, first)
        assert (first + low.value, first + high.value) == wanted


def test_broadcasts_are_numpy_s(shape):
    rng = random.Random(5)
    fits = 0
    for _ in range(4000):
        a, b = random_view(rng), random_view(rng)
        ndim, out = ctypes.c_int(), sizes([0] * 8)
        rc = shape.pcu_broadcast_shapes(
            a.ndim, sizes(a.shape), b.ndim, sizes(b.shape), ctypes.byref(ndim), out
        )
        try:
            wanted = np.broadcast_shapes(a.shape, b.shape)
        except ValueError:
            assert rc == -1
            continue
        fits += 1
        assert rc == 0
        assert tuple(out)[: ndim.value] == wanted
        strides = distances([9] * 8)
        assert (
            shape.pcu_broadcast_strides(
                a.ndim, sizes(a.shape), distances(a.strides), ndim.value, out, strides
            )
            == 0
        )
        theirs = np.broadcast_to(a, wanted).strides
        for place, length in enumerate(wanted):
            assert strides[place] == theirs[place] or length <= 1
    assert fits > 500
