"""The size of the compile cache, its eviction, and ``python -m pycuda.cache``."""

import builtins
import errno
import os
import subprocess
import sys
import time

import pytest

from pycuda import cache, compiler
from pycuda._compile import store, sweep, toolkit
from support.compilers import needs_nvcc

KERNEL = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"
HOUR = 3600


@pytest.fixture(autouse=True)
def folder(cache):
    return cache


def key(number):
    return f"{number:040x}"


def put(folder, number, size, age=0):
    """Store an entry of about this size, used this number of seconds ago."""
    path = folder / f"{key(number)}.cubin"
    assert store.save(str(path), b"", b"x" * size)
    then = time.time() - age
    os.utime(path, (then, then))
    return path


def total(folder):
    return sum(path.stat().st_size for path in folder.glob("*.cubin"))


# The bound


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("", 1 << 30),
        ("4711", 4711),
        ("20k", 20 << 10),
        ("5 M", None),
        ("1.5G", 3 << 29),
        ("1.25G", 5 << 28),
        ("0.0625M", 1 << 16),
        (".5k", 512),
        ("2.k", 2048),
        ("0.1", 0),
        (".", None),
        ("1,5G", None),
        ("\u0665", None),
        ("5M", 5 << 20),
        ("2GiB", 2 << 30),
        ("1tb", 1 << 40),
        ("0", 0),
        ("-1", None),
        ("much", None),
    ],
)
def test_bound_in_words(text, bound, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", text)
    monkeypatch.setattr(sweep, "_complained", set())
    if bound is None:
        with pytest.warns(UserWarning, match="PYCUDA_CACHE_SIZE"):
            assert sweep.bound() == 1 << 30
    else:
        assert sweep.bound() == (bound or None)


def test_wrong_bound_is_said_once_and_harms_nothing(folder, toy, monkeypatch, capsys):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "1,5G")
    monkeypatch.setattr(sweep, "_complained", set())
    with pytest.warns(UserWarning, match="not '1,5G'") as caught:
        for text in ("first", "second"):
            compiler.compile(text, nvcc=toy.path)
        assert run(capsys).endswith("bound    1.0 GiB\n")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert len(list(folder.glob("*.cubin"))) == 2


def test_oldest_used_go_first(folder, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "10000")
    ages = [50, 10, 40, 20, 30]
    paths = [put(folder, n, 1800, age * HOUR) for n, age in enumerate(ages)]
    assert all(path.exists() for path in paths)
    put(folder, 9, 1800)
    there = {age for age, path in zip(ages, paths, strict=True) if path.exists()}
    assert there == {10, 20, 30}  # also frees one tenth of the bound
    assert total(folder) <= 9000


def test_cache_stays_within_the_bound(folder, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "50000")
    for number in range(200):
        put(folder, number, 900)
        assert total(folder) <= 50000
    assert total(folder) > 40000


def test_no_bound_keeps_everything(folder, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "0")
    monkeypatch.setattr(sweep, "DEFAULT_BOUND", 1)
    for number in range(20):
        put(folder, number, 900)
    assert len(list(folder.glob("*.cubin"))) == 20


def test_entry_larger_than_the_bound_is_still_of_use(folder, toy, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "10")
    for _ in range(3):
        compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 1


def test_a_hit_is_a_use(folder, toy, monkeypatch):
    compiler.compile("first", nvcc=toy.path)
    (path,) = folder.glob("*.cubin")
    for age, changed in ((HOUR / 2, False), (2 * HOUR, True)):
        then = time.time() - age
        os.utime(path, (then, then))
        compiler.compile("first", nvcc=toy.path)
        assert (path.stat().st_mtime > then + 1) is changed
    assert len(toy.compilations) == 1


def test_use_in_a_read_only_cache_is_no_error(folder, toy, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    compiler.compile("first", nvcc=toy.path)
    (path,) = folder.glob("*.cubin")
    os.utime(path, (1, 1))
    monkeypatch.setattr(os, "utime", refuse)
    compiler.compile("first", nvcc=toy.path)
    assert len(toy.compilations) == 1


@pytest.mark.parametrize(
    "text",
    ["", "nonsense\n", "1 2 3\n", "7\n", "12345 0\n", "99999999999999999999 0\n"],
)
def test_damaged_or_old_count_is_made_anew(folder, text, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "5000")
    monkeypatch.setattr(sweep, "grown", lambda folder, size: None)
    for number in range(8):
        put(folder, number, 900, 8 - number)
    (folder / "usage").write_text(text)
    monkeypatch.undo()
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "5000")
    put(folder, 9, 900)
    assert total(folder) <= 5000
    since, counted = map(int, (folder / "usage").read_text().split())
    assert counted == total(folder)
    assert since <= time.time_ns()


def test_long_count_is_made_anew(folder):
    put(folder, 1, 900)
    with open(folder / "usage", "a") as file:
        file.write("1\n" * 10000)
    put(folder, 2, 900)
    assert len((folder / "usage").read_text().splitlines()) == 1


def test_foreign_files_are_not_touched(folder, monkeypatch):
    folder.mkdir()
    names = ["model.cubin", "notes.txt", ".profile", ".mine.part", "abc.ptx", ".x.lock"]
    for name in names:
        (folder / name).write_text("mine")
        os.utime(folder / name, (1, 1))
    (folder / f"{key(77)}.cubin").mkdir()
    (folder / f"{key(78)}.cubin").symlink_to("notes.txt")
    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "1000")
    for number in range(5):
        put(folder, number, 900)
    assert cache.main(["clear"]) == 0
    assert set(os.listdir(folder)) == {
        *names,
        "usage",
        f"{key(77)}.cubin",
        f"{key(78)}.cubin",
    }


def test_leftovers_go_once_they_are_dead(folder):
    put(folder, 1, 10)
    name = f".{key(2)}.cubin"
    old, young = folder / f"{name}.1.2.3.part", folder / f"{name}.4.5.6.part"
    for path in (old, young, folder / f"{name}.lock", folder / ".usage.1.2.part"):
        path.write_text("")
        os.utime(path, (1, 1))
    os.utime(young)
    sweep.sweep(str(folder), None)
    hidden = [entry for entry in os.listdir(folder) if entry.startswith(".")]
    assert hidden == [young.name]


def test_leftovers_go_with_the_first_store_of_a_day(folder):
    put(folder, 1, 10)
    draft = folder / f".{key(2)}.ptx.1.2.3.part"
    draft.write_text("")
    os.utime(draft, (1, 1))
    put(folder, 3, 10)
    assert draft.exists()
    since = time.time_ns() - 25 * HOUR * 10**9
    (folder / "usage").write_text(f"{since} 10\n")
    put(folder, 4, 10)
    assert not draft.exists()


@pytest.mark.parametrize(
    "place, call",
    [(builtins, "open"), (os, "scandir"), (os, "unlink"), (os, "replace")],
)
def test_folder_that_cannot_be_swept_is_no_error(folder, monkeypatch, place, call):
    put(folder, 1, 900)
    os.unlink(folder / "usage")
    real = getattr(place, call)

    def refuse(path, *args, **kwargs):
        if "usage" in str(path) or call in ("scandir", "unlink"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(path, *args, **kwargs)

    monkeypatch.setenv("PYCUDA_CACHE_SIZE", "10")
    monkeypatch.setattr(place, call, refuse)
    path = folder / f"{key(2)}.cubin"
    assert store.save(str(path), b"", b"x")
    assert path.exists()


# The program


def run(capsys, *arguments):
    assert cache.main(arguments) == 0
    return capsys.readouterr().out


def test_program_in_a_process_of_its_own(folder):
    put(folder, 1, 10)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pycuda.cache"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert done.stdout.split()[:4] == ["folder", str(folder), "entries", "1"]
    assert done.stdout.split()[-3:] == ["bound", "1.0", "GiB"]


def test_empty_cache(folder, capsys):
    assert run(capsys, "size") == "0\n"
    assert run(capsys, "list") == ""
    assert "removed 0 entries" in run(capsys, "clear")
    assert "entries  0" in run(capsys)
    assert not folder.exists()


@needs_nvcc
def test_list_says_what_entries_are(folder, capsys, toy, monkeypatch):
    monkeypatch.setattr(toolkit, "_facts", {})  # known ones would not be stored
    compiler.compile(KERNEL, arch="sm_80")
    compiler.compile(KERNEL + "#define TWO\n", arch="sm_80", target="ptx")
    compiler.compile("no kernel", nvcc=toy.path)
    lines = run(capsys, "list").splitlines()
    assert len(lines) == 5
    about = [line for line in lines if " facts " in line]
    assert len(about) == 2
    assert all(line.endswith("about the compiler") for line in about)
    kernels = [line for line in lines if line.endswith("sm_80: one")]
    assert [line.split()[4] for line in kernels] in (
        [["cubin", "ptx"], ["ptx", "cubin"]]
    )
    assert all(" nvcc " in line for line in kernels)


def test_damaged_entry_is_listed_as_one(folder, capsys):
    put(folder, 1, 10).write_bytes(b"?")
    assert run(capsys, "list").endswith("damaged or gone\n")


def test_size_is_that_of_the_entries(folder, capsys):
    put(folder, 1, 100)
    put(folder, 2, 200)
    assert int(run(capsys, "size")) == total(folder) == cache.size()
    assert "entries  2" in run(capsys)


def test_clear(folder, capsys):
    put(folder, 1, 100, age=72 * HOUR)
    put(folder, 2, 100)
    assert "removed 1 entries" in run(capsys, "clear", "--older-than", "2.5")
    (left,) = cache.entries()
    assert left.path == str(folder / f"{key(2)}.cubin")
    assert "removed 1 entries" in run(capsys, "clear")
    assert cache.entries() == []
    assert int((folder / "usage").read_text().split()[1]) == 0


def test_clear_by_any_age(folder, capsys):
    for age, gone in (("inf", 0), ("1e300", 0), ("-1e300", 1), ("-inf", 1), ("0", 1)):
        put(folder, 1, 100, age=HOUR)
        assert f"removed {gone} entries" in run(capsys, "clear", f"--older-than={age}")
    put(folder, 1, 100)
    for wrong in ("nan", "much"):
        with pytest.raises(SystemExit) as ended:
            cache.main(["clear", "--older-than", wrong])
        assert ended.value.code == 2
        assert "invalid" in capsys.readouterr().err
    with pytest.raises(ValueError, match="nan"):
        cache.clear(older_than_days=float("nan"))
    assert len(cache.entries()) == 1


@pytest.mark.parametrize("command", ["list", "size", ""])
def test_reader_that_has_seen_enough(folder, command):
    for number in range(300):
        put(folder, number, 10)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pycuda.cache", *command.split()],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_another_folder(folder, capsys, tmp_path):
    put(tmp_path / "other", 1, 100)
    assert run(capsys, "--dir", str(tmp_path / "other"), "size") != "0\n"
    assert run(capsys, "size") == "0\n"
    assert cache.folder(tmp_path) == str(tmp_path)
    assert cache.clear(tmp_path / "other")[0] == 1


def test_wrong_command_ends_with_usage(capsys):
    with pytest.raises(SystemExit) as ended:
        cache.main(["explode"])
    assert ended.value.code == 2
    assert "usage: python -m pycuda.cache" in capsys.readouterr().err


def test_cache_is_compiled_into_while_it_is_cleared(folder, toy):
    """Entries removed between two uses are compiled again."""
    for _ in range(3):
        assert b"text" in compiler.compile("text", nvcc=toy.path)
        cache.clear()
    assert len(toy.compilations) == 3
