"""Arrays from and to files: NumPy reads what this package writes, and the other way."""

import contextlib
import gzip
import io
import os
import pickle
import sys
import threading
import types
import zipfile
import zlib

import numpy as np
import pytest

from pycuda import gpuarray
from pycuda._array import files
from pycuda.gpuarray import to_gpu
from support.child import run_child
from support.emulator import LIBRARY

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.filterwarnings("ignore:Stored array in format 3.0"),
]

RNG = np.random.default_rng(5)
BIG = RNG.random((300, 200))  # 480 kB
RECORD = np.dtype([("x", np.float32), ("n", np.int16)])

HOSTS = {
    "vector": np.arange(1000, dtype=np.int32),
    "Fortran": np.asfortranarray(BIG),
    "no axes": np.array(2.5),
    "empty": np.zeros((0, 3), np.float32),
    "bool": BIG > 0.5,
    "complex": (BIG + 1j).astype(np.complex64),
    "half": BIG.astype(np.float16),
    "records": np.array([(1.5, 2), (2.5, 3)], RECORD),
    "Latin-1": np.array([(1,)], [("größe", np.int32)]),
    "UTF-8": np.array([(1,)], [("δ", np.int32)]),
    "long header": np.zeros(2, [(f"field{i:04}", np.int8) for i in range(400)]),
}


def is_same(one, other):
    """Whether two host arrays have the same elements, shape, dtype and order."""
    return (
        one.dtype == other.dtype
        and one.shape == other.shape
        and one.flags.f_contiguous == other.flags.f_contiguous
        and one.tobytes() == other.tobytes()
    )


@pytest.mark.parametrize("change", ["element", "shape", "dtype", "order"])
def test_the_comparison_finds_differences(change):
    other = {
        "element": BIG.copy(),
        "shape": BIG.reshape(-1),
        "dtype": BIG.view(np.int64),
        "order": np.asfortranarray(BIG),
    }[change]
    if change == "element":
        other[-1, -1] += 1
    assert is_same(BIG, BIG.copy())
    assert not is_same(BIG, other)


@pytest.fixture(params=["path", "str", "file", "unbuffered", "memory", "gzip"])
def kind(request):
    """How a test opens its file."""
    return request.param


def opened(kind, path, mode):
    """Return a file to give to a function, in a context manager."""
    if kind == "path":
        return contextlib.nullcontext(path)
    if kind == "str":
        return contextlib.nullcontext(str(path))
    if kind == "memory":
        return Memory(path, mode)
    if kind == "gzip":
        return gzip.open(path, mode)
    return path.open(mode, buffering=0 if kind == "unbuffered" else -1)


class Memory(io.BytesIO):
    """A file in memory that is read from a path, or written to it at the end."""

    def __init__(self, path, mode):
        super().__init__(path.read_bytes() if mode == "rb" else b"")
        self.path = path if mode == "wb" else None

    def close(self):
        if self.path is not None:
            self.path.write_bytes(self.getvalue())
        super().close()


# -- .npy ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", HOSTS)
def test_load_what_numpy_saves(ctx, tmp_path, kind, name):
    path = tmp_path / "x.npy"
    with opened(kind, path, "wb") as file:
        np.save(file, HOSTS[name])
    with opened(kind, path, "rb") as file:
        assert is_same(gpuarray.load(file).get(), HOSTS[name])


@pytest.mark.parametrize("save", [np.save, gpuarray.save])
@pytest.mark.parametrize("name", HOSTS)
def test_numpy_loads_what_is_saved(ctx, tmp_path, kind, name, save):
    path = tmp_path / "x.npy"
    with opened(kind, path, "wb") as file:
        save(file, to_gpu(HOSTS[name]))
    with opened(kind, path, "rb") as file:
        assert is_same(np.load(file), HOSTS[name])


@pytest.mark.parametrize("kind", ["file", "unbuffered", "memory", "gzip"])
def test_several_arrays_in_one_file(ctx, tmp_path, kind):
    path = tmp_path / "x.npy"
    with opened(kind, path, "wb") as file:
        np.save(file, to_gpu(BIG))
        np.save(file, BIG[0])
        to_gpu(BIG[1]).tofile(file)
        np.save(file, to_gpu(BIG[2]))
    with opened(kind, path, "rb") as file:
        assert is_same(np.load(file), BIG)
        assert is_same(gpuarray.load(file).get(), BIG[0])
        assert is_same(gpuarray.fromfile(file, BIG.dtype, 200).get(), BIG[1])
        assert is_same(gpuarray.load(file).get(), BIG[2])
        with pytest.raises(EOFError, match="no data left"):
            gpuarray.load(file)


def test_a_path_gets_its_extension(ctx, tmp_path):
    np.save(tmp_path / "x", to_gpu(BIG))
    np.savez(str(tmp_path / "y"), to_gpu(BIG))
    np.save(tmp_path / "z.npy", to_gpu(BIG))
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "y.npz", "z.npy"]


@pytest.mark.parametrize("view", ["[::2, ::3]", "[:, 5]", "[::-1]", "[7:, 3:]", ".T"])
def test_views(ctx, tmp_path, view):
    """Those with gaps are in C order in the file, as NumPy's are."""
    path = tmp_path / "x.npy"
    np.save(path, eval(f"to_gpu(BIG){view}"))
    ours = path.read_bytes()
    np.save(path, eval(f"BIG{view}"))
    assert ours == path.read_bytes()


def test_a_field_of_records(ctx, tmp_path):
    np.save(tmp_path / "x.npy", to_gpu(HOSTS["records"])["n"])
    assert np.load(tmp_path / "x.npy").tolist() == [2, 3]


@pytest.mark.parametrize("name", ["vector", "Fortran", "records"])
def test_the_other_byte_order(ctx, tmp_path, kind, name):
    """The array has the elements in the byte order of the GPU."""
    host = HOSTS[name]
    path = tmp_path / "x.npy"
    with opened(kind, path, "wb") as file:
        np.save(file, host.astype(host.dtype.newbyteorder(">")))
    with opened(kind, path, "rb") as file:
        assert is_same(gpuarray.load(file).get(), host)


def test_host_memory_takes_a_part_at_a_time(ctx, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_PART", 1001)
    path = tmp_path / "x.npy"
    for host in (BIG, BIG.astype(">f8"), HOSTS["records"]):
        native = host.astype(host.dtype.newbyteorder("="))
        np.save(path, host)
        assert is_same(gpuarray.load(path).get(), native)
        np.save(path, to_gpu(native))
        assert is_same(np.load(path), native)


def test_a_file_that_appends(ctx, tmp_path):
    path = tmp_path / "x.npy"
    for host in (BIG, BIG[0]):
        with path.open("ab") as file:
            np.save(file, to_gpu(host))
    with path.open("rb") as file:
        assert is_same(np.load(file), BIG) and is_same(np.load(file), BIG[0])


class Counted(io.FileIO):
    """A file that counts its bytes, and passes at most 70,001 at a time."""

    count = 0

    def read(self, size):
        data = super().read(min(size, 70_001))
        self.count += len(data)
        return data

    def write(self, data):
        size = super().write(data[:70_001])
        self.count += size
        return size


class Around:
    """An object around a file that counts its bytes, as progress bars do."""

    def __init__(self, path, mode):
        self.raw, self.count = io.FileIO(path, mode), 0

    def __getattr__(self, name):
        return getattr(self.raw, name)

    def read(self, size):
        self.count += size
        return self.raw.read(size)

    def write(self, data):
        self.count += len(data)
        return self.raw.write(data)


@pytest.mark.parametrize("kind", [Counted, Around])
def test_files_that_do_more(ctx, tmp_path, kind):
    """All bytes pass through the methods of such a file, which may take only some."""
    path = tmp_path / "x.npy"
    for host in (BIG, BIG[0]):
        file = kind(path, "w")
        np.save(file, to_gpu(host))
        assert is_same(np.load(path), host)
        assert file.count == path.stat().st_size
        file = kind(path, "r")
        assert is_same(gpuarray.load(file).get(), host)
        assert file.count >= path.stat().st_size


@pytest.mark.parametrize("host", [BIG, BIG[0]], ids=["large", "small"])
def test_pipes(ctx, host):
    def give():
        with open(writes, "wb", 0) as file:
            file.write(host.tobytes())

    reads, writes = os.pipe()
    thread = threading.Thread(target=give)
    thread.start()
    with open(reads, "rb", 0) as file:
        x = gpuarray.fromfile(file, host.dtype, host.size)
    thread.join()
    assert is_same(x.get(), host.reshape(-1))

    def take():
        with open(reads, "rb") as file:
            found.append(file.read())

    found = []
    reads, writes = os.pipe()
    thread = threading.Thread(target=take)
    thread.start()
    with open(writes, "wb", 0) as file:
        np.save(file, to_gpu(host))
    thread.join()
    assert is_same(np.load(io.BytesIO(found[0])), host)


def test_a_pipe_that_takes_no_more(ctx):
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    error = pytest.raises(BlockingIOError)
    with open(reads, "rb"), open(writes, "wb", 0) as target, error:
        to_gpu(BIG).tofile(target)


def test_allocator_and_unused_arguments(ctx, tmp_path):
    import pycuda.driver as drv

    sizes = []

    def allocator(size):
        sizes.append(size)
        return drv.mem_alloc(size)

    np.save(tmp_path / "x.npy", BIG)
    x = gpuarray.load(tmp_path / "x.npy", "r", True, allocator=allocator)
    assert sizes == [BIG.nbytes]
    assert is_same(x.get(), BIG)


def test_a_host_array_is_numpy_s(ctx, tmp_path):
    gpuarray.save(tmp_path / "x.npy", [1, None])
    assert np.load(tmp_path / "x.npy", allow_pickle=True).tolist() == [1, None]
    with pytest.raises(ValueError, match="Object arrays"):
        gpuarray.save(tmp_path / "x.npy", [1, None], allow_pickle=False)


@pytest.mark.parametrize("function", ["asarray(x)", "array(x)", "savetxt('x', x)"])
def test_numpy_converts_nothing_else(ctx, function):
    with pytest.raises(TypeError, match=r"get\(\)"):
        eval(f"np.{function}", {"np": np, "x": to_gpu(BIG)})


# -- .npz ------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [16 << 20, 1000])
@pytest.mark.parametrize("compresses", [False, True])
@pytest.mark.parametrize("saves", ["numpy", "numpy for us", "ours"])
def test_archives(ctx, tmp_path, monkeypatch, saves, compresses, part):
    """A part of 1000 bytes lets large entries be read where they are in the file."""
    monkeypatch.setattr(files, "_PART", part)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    checked = []
    checksum = files._checksum
    monkeypatch.setattr(
        files, "_checksum", lambda *a: checked.append(a) or checksum(*a)
    )
    home = gpuarray if saves == "ours" else np
    save = home.savez_compressed if compresses else home.savez
    path = tmp_path / "x.npz"
    x = BIG if saves == "numpy" else to_gpu(BIG)
    save(path, x, BIG[0], small=to_gpu(BIG[1, :3]) if x is not BIG else BIG[1, :3])
    with np.load(path) as arrays:
        assert sorted(arrays.files) == ["arr_0", "arr_1", "small"]
        assert is_same(arrays["arr_0"], BIG) and is_same(arrays["arr_1"], BIG[0])
    with gpuarray.load(path) as arrays:
        assert sorted(arrays) == ["arr_0", "arr_1", "small"]
        assert len(arrays) == 3 and "small" in arrays and "x" not in arrays
        assert is_same(arrays["arr_0"].get(), BIG)
        assert is_same(arrays["arr_1.npy"].get(), BIG[0])
        assert is_same(arrays["small"].get(), BIG[1, :3])
        with pytest.raises(KeyError, match=r"'x' is not .* of .*x\.npz; it has: \w+, "):
            arrays["x"]
    is_direct = part == 1000 and not compresses
    assert len(checked) == (2 * 3 if is_direct else 0)  # two entries, three threads
    with pytest.raises(ValueError, match="is closed"):
        arrays["small"]


@pytest.mark.parametrize("count, words", [(1, r"has: arr_0\W+$"), (12, "and 2 more")])
def test_a_name_that_an_archive_lacks(ctx, count, words):
    file = io.BytesIO()
    np.savez(file, *np.eye(count))
    file.seek(0)
    with gpuarray.load(file) as arrays, pytest.raises(KeyError, match=words):
        arrays["b"]


def test_an_archive_in_a_file_object(ctx, tmp_path):
    file = io.BytesIO()
    np.savez(file, x=to_gpu(BIG))
    file.seek(0)
    assert is_same(gpuarray.load(file)["x"].get(), BIG)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("text", b"hello")
    with (tmp_path / "x.npz").open("rb") as file:
        assert gpuarray.load(file)["text"] == b"hello"


def test_only_load_makes_archives():
    with pytest.raises(TypeError, match="gpuarray.load returns one"):
        gpuarray.NpzFile()


@pytest.mark.parametrize("sizes", [(0, 5), (5, 0), (1, 1), (1000, 3, 70001)])
def test_checksums_of_parts(sizes):
    parts = [RNG.bytes(size) for size in sizes]
    crc = 0
    for part in parts:
        crc = files._join(crc, zlib.crc32(part), len(part))
    assert crc == zlib.crc32(b"".join(parts))


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("part", [16 << 20, 1000])
def test_a_wrong_checksum(ctx, tmp_path, monkeypatch, part, place):
    monkeypatch.setattr(files, "_PART", part)
    path = tmp_path / "x.npz"
    np.savez(path, x=to_gpu(BIG))
    data = bytearray(path.read_bytes())
    data[int(BIG.nbytes * place)] ^= 1
    path.write_bytes(data)
    with pytest.raises(zipfile.BadZipFile, match=r"x\.npy"):
        gpuarray.load(path)["x"]


@pytest.mark.parametrize("part", [16 << 20, 1000])
def test_an_entry_ends_before_the_next(ctx, tmp_path, monkeypatch, part):
    """Its header tells of more elements than there are."""
    monkeypatch.setattr(files, "_PART", part)
    data = io.BytesIO()
    np.save(data, BIG)
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", data.getvalue().replace(b"(300,", b"(400,"))
        archive.writestr("y.npy", data.getvalue())
    with gpuarray.load(tmp_path / "x.npz") as arrays:
        assert is_same(arrays["y"].get(), BIG)
        with pytest.raises(ValueError, match=r"x\.npy in .*x\.npz is truncated"):
            arrays["x"]


def test_a_name_twice(ctx, tmp_path):
    for save in (np.savez, gpuarray.savez_compressed):
        with pytest.raises(ValueError, match="arr_0"):
            save(tmp_path / "x.npz", to_gpu(BIG), arr_0=BIG)


# -- without a header ------------------------------------------------------------------


def test_raw_files(ctx, tmp_path, kind):
    path = tmp_path / "x.bin"
    with opened(kind, path, "wb") as file:
        to_gpu(np.asfortranarray(BIG)).tofile(file)
    flat = BIG.reshape(-1)
    for count, offset in ((-1, 0), (100, 0), (-1, 80), (3, 8), (0, 0)):
        with opened(kind, path, "rb") as file:
            x = gpuarray.fromfile(file, np.float64, count, offset=offset)
        end = None if count < 0 else offset // 8 + count
        assert is_same(x.get(), flat[offset // 8 : end])
    with opened(kind, path, "rb") as file:
        assert gpuarray.fromfile(file, ">f8").dtype == np.float64
    for count in (2, 30_000):
        with opened(kind, path, "rb") as file:
            x = gpuarray.fromfile(file, (np.float64, (2,)), count)
        assert is_same(x.get(), flat[: 2 * count].reshape(count, 2))


def test_text_is_numpy_s(ctx, tmp_path):
    path = tmp_path / "x.txt"
    to_gpu(HOSTS["vector"]).tofile(path, ",", "%d")
    assert path.read_text().startswith("0,1,2,")
    x = gpuarray.fromfile(path, np.int32, sep=",")
    assert is_same(x.get(), HOSTS["vector"])


# -- errors ----------------------------------------------------------------------------


@pytest.mark.parametrize("big", [True, False])
def test_truncated_files(ctx, tmp_path, kind, big):
    path = tmp_path / "x.npy"
    data = io.BytesIO()
    np.save(data, BIG if big else BIG[0, :3])
    write = gzip.open if kind == "gzip" else open
    with write(path, "wb") as file:
        file.write(data.getvalue()[:-5])
    error = pytest.raises(ValueError, match=r"(x\.npy|Memory) is truncated")
    with opened(kind, path, "rb") as file, error:
        gpuarray.load(file)


def test_wrong_files(ctx, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, np.array([None]), allow_pickle=True)
    with pytest.raises(ValueError, match=r"x\.npy has elements of dtype object"):
        gpuarray.load(path, allow_pickle=True)
    path.write_bytes(b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}\n")
    with pytest.raises(ValueError, match=r"x\.npy: "):
        gpuarray.load(path)
    for header in (
        "'<f4', 'fortran_order': False, 'shape': (-1,)",
        "'<f4', 'fortran_order': False, 'shape': (-30000, -2)",
        "('<f4', (2,)), 'fortran_order': False, 'shape': (3,)",
    ):
        text = f"{{'descr': {header}}}\n".encode()
        data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text
        path.write_bytes(data + bytes(240_000))
        with pytest.raises(ValueError, match=r"x\.npy: no array has shape"):
            gpuarray.load(path)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"x\.npy is neither .*fromfile"):
        gpuarray.load(path)
    path.write_bytes(b"")
    with pytest.raises(EOFError, match=r"x\.npy has no data"):
        gpuarray.load(path)
    with pytest.raises(FileNotFoundError, match=r"none\.npy"):
        gpuarray.load(tmp_path / "none.npy")


@pytest.mark.parametrize("reads", [True, False])
def test_a_file_that_is_open_as_text(ctx, tmp_path, reads):
    path = tmp_path / "x.txt"
    path.write_text("12345678")
    x = to_gpu(BIG[0])
    calls = [x.tofile, lambda file: gpuarray.save(file, x)]
    if reads:
        calls = [gpuarray.load, lambda file: gpuarray.fromfile(file, np.uint8)]
    mode = "rb" if reads else "wb"
    with open(path, mode[0]) as file:
        for call in calls:
            with pytest.raises(TypeError, match=f"x.txt is open as .* mode='{mode}'"):
                call(file)


def test_an_array_in_the_place_of_the_file(ctx, tmp_path):
    with pytest.raises(TypeError, match="file is a GPUArray; the file comes first"):
        gpuarray.save(to_gpu(BIG), tmp_path / "x.npy")


def test_wrong_raw_files(ctx, tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(bytes(10))
    with pytest.raises(
        ValueError, match=r"x\.bin has 10 bytes, not a multiple of .* 8"
    ):
        gpuarray.fromfile(path, np.float64)
    with pytest.raises(ValueError, match=r"x\.bin is truncated"):
        gpuarray.fromfile(path, np.float64, 2)
    with pytest.raises(TypeError, match="needs a dtype"):
        gpuarray.fromfile(path, None)
    with pytest.raises(ValueError, match="no bytes"):
        gpuarray.fromfile(path, "V0")
    with pytest.raises(ValueError, match="Python objects"):
        gpuarray.fromfile(path, object, 1)


def test_a_disk_that_is_full(ctx):
    error = pytest.raises(OSError, match="No space left on device: '/dev/full'")
    with open("/dev/full", "wb", buffering=0) as file, error:
        to_gpu(BIG).tofile(file)


# -- bars ------------------------------------------------------------------------------


@pytest.fixture
def bars(monkeypatch):
    """The bars that were made, each a list of its description, total and updates."""
    made = []

    class Bar:
        def __init__(self, total, desc, **_):
            self.marks = [desc, total]
            made.append(self.marks)

        def update(self, size):
            self.marks.append(size)

        def close(self):
            self.marks.append("closed")

    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=Bar))
    monkeypatch.setattr(files, "_STEP", 200_000)
    return made


def test_a_bar_of_tqdm(ctx, tmp_path, monkeypatch, bars):
    monkeypatch.setattr(files, "_PART", 200_000)
    path = tmp_path / "x.npy"
    marks = ["x.npy", 480_000, 200_000, 200_000, 80_000, "closed"]
    gpuarray.save(path, to_gpu(BIG), progress=True)
    assert is_same(gpuarray.load(path, progress=True).get(), BIG)
    assert bars == [marks, marks]
    path.write_bytes(path.read_bytes()[:-1])
    gpuarray.fromfile(path, np.int8, progress=True)
    assert bars[2][-1] == "closed"


@pytest.mark.parametrize("large", [True, False])
@pytest.mark.parametrize("terminal", [True, False])
def test_which_files_have_a_bar(ctx, tmp_path, monkeypatch, bars, terminal, large):
    monkeypatch.setattr(files, "_LARGE", 480_000 + (not large))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    gpuarray.save(tmp_path / "x.npy", to_gpu(BIG), progress=False)
    assert bars == []
    np.save(tmp_path / "x.npy", to_gpu(BIG))
    gpuarray.load(tmp_path / "x.npy")
    assert len(bars) == (2 if terminal and large else 0)


def test_without_tqdm(ctx, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    monkeypatch.setattr(files, "_LARGE", 0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    gpuarray.save(tmp_path / "x.npy", to_gpu(BIG))
    with pytest.raises(ImportError, match="Install tqdm"):
        gpuarray.load(tmp_path / "x.npy", progress=True)


# -- pickles ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["vector", "Fortran", "no axes", "records"])
def test_out_of_band_buffers(ctx, name):
    """Protocol 5 leaves the elements out of the pickle."""
    x = to_gpu(HOSTS[name])
    buffers = []
    data = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert sum(buffer.raw().nbytes for buffer in buffers) == x.nbytes
    assert len(data) < 400 or name == "records"
    assert is_same(pickle.loads(data, buffers=buffers).get(), HOSTS[name])
    with pytest.raises(pickle.UnpicklingError):
        pickle.loads(data, buffers=[])


# -- through the pieces ----------------------------------------------------------------

PRELUDE = f"""
import ctypes, os, resource, sys, threading
import numpy as np
import pycuda.autoinit
import pycuda.driver as drv
from pycuda import gpuarray

TOTAL = 64 << 10
rng = np.random.default_rng(0)
device = ctypes.CDLL({LIBRARY!r})
device.emu_call_count.restype = ctypes.c_ulonglong

def parts(call):
    '''How many copies of the bus a call makes.'''
    names = b"cuMemcpyHtoDAsync", b"cuMemcpyDtoHAsync"
    before = sum(map(device.emu_call_count, names))
    call()
    return sum(map(device.emu_call_count, names)) - before

def numbers(size):
    return rng.integers(0, 255, size, dtype=np.uint8)

gpuarray.to_gpu(numbers(TOTAL)).get()  # makes the pieces
"""


def run(code, tmp_path, staging="64K,threads=4"):
    """Return the lines that the code prints in a directory, with 16 pieces of 4 KiB."""
    code = f"{PRELUDE}\nos.chdir({str(tmp_path)!r})\n{code}"
    return run_child(code, PYCUDA_STAGING=staging).stdout.splitlines()


software = pytest.mark.software(why="it counts the calls of the software device")


@software
@pytest.mark.parametrize(
    ("staging", "expected"), [("64K,threads=4", "True True"), ("0", "False False")]
)
def test_files_pass_through_the_pieces(tmp_path, staging, expected):
    code = """
x = gpuarray.to_gpu(numbers(4 * TOTAL))
print(
    parts(lambda: np.save("x.npy", x)) > 32,
    parts(lambda: gpuarray.load("x.npy")) > 32,
)
"""
    assert run(code, tmp_path, staging) == [expected]


@software
@pytest.mark.parametrize("staging", ["64K,threads=4", "0"])
def test_a_file_that_shrinks_while_it_is_read(tmp_path, staging):
    code = """
import types
from pycuda._array import files

class Bar:
    def __init__(self, **_):
        pass

    def update(self, size):
        os.truncate("x.npy", 2 * TOTAL)

    def close(self):
        pass

files._STEP = files._PART = TOTAL
sys.modules["tqdm"] = types.SimpleNamespace(tqdm=Bar)
np.save("x.npy", numbers(4 * TOTAL))
try:
    gpuarray.load("x.npy", progress=True)
except ValueError as error:
    print(error)
"""
    said = run(code, tmp_path, staging)
    assert said[0].startswith("x.npy is truncated: the array has 262144 bytes, ")


@software
def test_sizes_and_offsets(tmp_path):
    code = """
for size in (1, 4095, 4096, 5000, TOTAL - 1, TOTAL, TOTAL + 1, 10 * TOTAL + 77):
    for offset in (0, 1, 4095, 4096, 70_000):
        host, before, behind = numbers(size), numbers(offset), numbers(9)
        x = gpuarray.to_gpu(host)
        with open("x.bin", "wb") as file:
            file.write(before)
            x.tofile(file)
            file.write(behind)
        data = np.fromfile("x.bin", np.uint8)
        assert (data == np.concatenate([before, host, behind])).all(), (size, offset)
        with open("x.bin", "rb") as file:
            y = gpuarray.fromfile(file, np.uint8, size, offset=offset)
            assert file.read() == behind.tobytes()
        assert (y.get() == host).all(), (size, offset)
host = np.asfortranarray(numbers(10 * TOTAL).reshape(TOTAL, 10))
np.save("x.npy", gpuarray.to_gpu(host)[:, 3:])
assert (np.load("x.npy") == host[:, 3:]).all()
assert (gpuarray.load("x.npy").get() == host[:, 3:]).all()
print("end")
"""
    assert run(code, tmp_path) == ["end"]


@software
def test_the_pieces_are_in_use_for_a_part(tmp_path):
    """The parts that host memory takes then need not begin with an element."""
    code = """
from pycuda._array import files
class Bar:
    def update(self, size): sizes.append(size)
    def close(self): pass
files._bar, files._STEP = (lambda *_: Bar()), 70_001  # leaves less than a piece
dtype = np.dtype([("a", "i4"), ("b", "f8")])
host = numbers(211_008).view(dtype)
sizes = []
np.save("x.npy", gpuarray.to_gpu(host))
x = gpuarray.load("x.npy")
print(x.get().tobytes() == np.load("x.npy").tobytes() == host.tobytes(), sizes)
"""
    sizes = 2 * [70_001, 70_001, 70_001, 1005]
    assert run(code, tmp_path) == [f"True {sizes}"]


@software
def test_files_that_are_not_in_the_page_cache(tmp_path):
    """The pages are dropped as far as the file system does so."""
    code = """
host = numbers(32 * TOTAL)
np.save("x.npy", gpuarray.to_gpu(host))
fd = os.open("x.npy", os.O_RDONLY)
os.fsync(fd)
for begin, size in ((0, 0), (0, TOTAL), (8 * TOTAL, TOTAL), (31 * TOTAL, 0)):
    os.posix_fadvise(fd, begin, size, os.POSIX_FADV_DONTNEED)
    assert (gpuarray.load("x.npy").get() == host).all()
print("end")
"""
    assert run(code, tmp_path) == ["end"]


@software
def test_errors_of_the_file(tmp_path):
    """They name the file. The next copy is right."""
    code = """
host = numbers(4 * TOTAL)
x = gpuarray.to_gpu(host)
x.tofile("x.bin")
def error(call):
    try:
        print("no error:", call())
    except OSError as error:
        print(error)
def check():
    assert (gpuarray.fromfile("x.bin", np.uint8).get() == host).all()
fd = os.open("x.bin", os.O_RDONLY)
error(lambda: x._move_file(fd, 1, 0, host.nbytes, False))  # 1 byte is missing
check()
error(lambda: x._move_file(fd, 0, 0, host.nbytes, True))  # it cannot write
check()
with open("x.bin", "rb") as file: error(lambda: x.tofile(file))
resource.setrlimit(resource.RLIMIT_FSIZE, (2 * TOTAL, 2 * TOTAL))
error(lambda: np.save("y.npy", x))
check()
print(x._move_file(fd, 0, 0, host.nbytes, False))
"""
    assert run(code, tmp_path) == [
        "[Errno 61] No data available",
        "[Errno 9] Bad file descriptor",
        "[Errno 9] Bad file descriptor: 'x.bin'",
        "[Errno 27] File too large: 'y.npy'",
        "True",
    ]


@software
def test_errors_of_the_device(tmp_path):
    code = """
host = numbers(4 * TOTAL)
x = gpuarray.to_gpu(host)
for up, name in ((True, b"cuMemcpyHtoDAsync"), (False, b"cuMemcpyDtoHAsync")):
    for number in (1, 2, 16, 17, 63):
        x.tofile("x.bin")
        assert device.emu_fault_set(name, number, 1) == 0
        try:
            gpuarray.fromfile("x.bin", np.uint8) if up else x.tofile("y.bin")
        except drv.LogicError:
            print("error", end=" ")
        device.emu_fault_clear()
        assert (gpuarray.fromfile("x.bin", np.uint8).get() == host).all()
"""
    assert run(code, tmp_path) == ["error " * 10]


@software
def test_the_interpreter_lock_is_free(tmp_path):
    """The counterpart is a call that keeps the lock."""
    code = """
sys.setswitchinterval(1e-5)
x = gpuarray.to_gpu(numbers(64 << 20))
x.tofile("x.bin")
fd, turns, ends = os.open("x.bin", os.O_RDONLY), 0, False
def count():
    global turns
    while not ends: turns += 1
thread = threading.Thread(target=count)
thread.start()
def counted(call):
    before = turns
    call()
    return turns - before
most = max(counted(lambda: x._move_file(fd, 0, 0, x.nbytes, False)) for i in range(5))
keeps = ctypes.PyDLL(None).usleep
least = min(counted(lambda: keeps(5000)) for i in range(5))
ends = True
thread.join()
print(most > 10 * (least + 1))
"""
    assert run(code, tmp_path) == ["True"]


@software
def test_the_private_method_checks_its_bytes(tmp_path):
    code = """
x = gpuarray.to_gpu(numbers(4 * TOTAL))
fd = os.open("x", os.O_RDWR | os.O_CREAT)
for array, begin, size in ((x, 1, x.nbytes), (x, x.nbytes + 1, 0), (x[::2], 0, 1)):
    try:
        array._move_file(fd, 0, begin, size, True)
    except ValueError as error:
        print(error)
"""
    assert run(code, tmp_path) == [
        "no 262144 bytes from byte 1 on in a contiguous array of 262144",
        "no 0 bytes from byte 262145 on in a contiguous array of 262144",
        "no 1 bytes from byte 0 on in a contiguous array of 131072",
    ]


@software
def test_a_mapped_file_is_a_source(tmp_path):
    code = """
host = numbers(4 * TOTAL).reshape(4, -1)
np.save("x.npy", host)
mapped = np.load("x.npy", mmap_mode="r")
print(parts(lambda: gpuarray.to_gpu(mapped)) > 32)
print((gpuarray.to_gpu(mapped).get() == host).all())
print((gpuarray.to_gpu(mapped[:, ::2]).get() == host[:, ::2]).all())
"""
    assert run(code, tmp_path) == ["True", "True", "True"]
