"""Precompiled headers of NVRTC: which programs have them, and their folder."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pycuda import cache as user_cache, compiler
from pycuda._compile import nvrtc, nvrtc_program, precompiled, sweep
from pycuda.driver import CompileError
from support.child import run_child

HEADER = "cuda/std/cstdint"
SOURCE = (
    "// one\n#include <cuda/std/cstdint>\n\n__global__ void k(int *x)\n{ *x = %s; }"
)


def has_headers():
    """Return whether NVRTC is there, with libcu++ and precompiled headers (12.8)."""
    if nvrtc.find() is None:
        return False
    folders = nvrtc._own_folders(nvrtc.find())
    if not any(os.path.isfile(os.path.join(each, HEADER)) for each in folders):
        return False
    return hasattr(nvrtc_program.library(nvrtc.find())._dll, "nvrtcGetPCHCreateStatus")


def addresses_can_be_fixed():
    worker = subprocess.run(
        [sys.executable, "-I", "-S", precompiled._WORKER],
        input=b"",
        capture_output=True,
        check=False,
    )
    return b"EOFError" in worker.stderr  # it read its order


needs_headers = pytest.mark.skipif(
    not has_headers() or not addresses_can_be_fixed(),
    reason="needs NVRTC 12.8 with libcu++, and processes without random addresses",
)


@pytest.fixture(autouse=True)
def surroundings(cache, monkeypatch):
    monkeypatch.setattr(precompiled, "_works", None)


@pytest.fixture
def in_process(monkeypatch):
    """Count the compilations in this process."""
    count = []
    real = nvrtc_program._compile
    monkeypatch.setattr(
        nvrtc_program, "_compile", lambda *all: count.append(1) or real(*all)
    )  # fmt: skip
    return count


def build(value, **how):
    how = {"no_extern_c": True, "compiler": "nvrtc", "target": "ptx", **how}
    return compiler.compile(SOURCE % value, arch="sm_80", **how)


def made(cache):
    return [path for path, _, _ in precompiled.files(str(cache / precompiled.FOLDER))]


# -- the file


@needs_headers
def test_the_second_program_uses_the_file(cache, in_process):
    first = build(7)
    (path,) = made(cache)
    before = os.stat(path)
    time.sleep(0.01)
    second = build(8)
    assert made(cache) == [path]
    after = os.stat(path)
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    assert after.st_mtime_ns > before.st_mtime_ns  # it was used
    assert b", 7;" in first
    assert b", 8;" in second
    assert in_process == []


@needs_headers
def test_another_process_uses_the_file(cache):
    program = f"""
    from pycuda import compiler
    from pycuda._compile import nvrtc_program
    nvrtc_program._compile = None
    compiler.compile({SOURCE % 9!r}, no_extern_c=True, compiler="nvrtc",
                     target="ptx", arch="sm_80")
    """
    build(7)
    (path,) = made(cache)
    number = os.stat(path).st_ino
    run_child(program)
    assert made(cache) == [path]
    assert os.stat(path).st_ino == number


@needs_headers
def test_the_result_is_that_of_a_plain_compilation(cache, monkeypatch):
    for _ in range(2):
        with_headers = build(7, cache_dir=str(cache / "a"), options=["-lineinfo"])
        os.unlink(next((cache / "a").glob("*.ptx")))
    monkeypatch.setenv(precompiled.VARIABLE, "0")
    plain = build(7, cache_dir=str(cache / "b"), options=["-lineinfo"])
    assert made(cache / "b") == []

    def code(ptx):
        return [line for line in ptx.splitlines() if line.startswith((b"\t", b"."))]

    assert [x for x in code(with_headers) if b".file" not in x] == [
        x for x in code(plain) if b".file" not in x
    ]


@needs_headers
def test_messages_have_the_lines_of_the_source(cache, in_process):
    for _ in range(2):
        with pytest.raises(CompileError, match="undefined_word") as error:
            build("undefined_word")
        assert "kernel.cu(5): error" in error.value.stderr
        assert "recompiled" not in error.value.stderr
        assert "Remark" not in error.value.stderr
    assert in_process == []
    assert b", 5;" in build("__LINE__")
    with pytest.warns(UserWarning, match=r"kernel\.cu\(5\).*unused") as record:
        build("3; int unused")
    assert "PCH" not in str(record[0].message)


@needs_headers
def test_options_and_headers_have_files_of_their_own(cache):
    build(1)
    build(1, options=["-DA"])
    assert len(made(cache)) == 2
    source = (SOURCE % 1).replace("// one", "#define B 1")
    compiler.compile(source, no_extern_c=True, compiler="nvrtc", arch="sm_80")
    assert len(made(cache)) == 3


@needs_headers
def test_name_expressions(cache):
    source = "#include <cuda/std/cstdint>\ntemplate <class T> __global__ void f(T) {}"
    context_free = compiler._CompileRequest(
        source, no_extern_c=True, compiler="nvrtc", target="ptx", arch="sm_80"
    )
    from pycuda._compile.build import build as built, prepare

    for name in ("f<int>", "f<cuda::std::uint8_t>"):
        image, (symbol,), _ = built(prepare(context_free), [name])
        assert symbol.encode() in image
    assert len(made(cache)) == 1


@needs_headers
def test_a_damaged_file_is_replaced(cache, in_process):
    build(1)
    (path,) = made(cache)
    content = Path(path).read_bytes()
    middle = len(content) // 2
    for number, wrong in enumerate(
        (content[:middle], content[:middle] + b"?" + content[middle + 1 :], b"x")
    ):
        Path(path).write_bytes(wrong)
        assert b", %d;" % (number + 2) in build(number + 2)
        (path,) = made(cache)
        assert len(Path(path).read_bytes()) == len(content)
    assert in_process == []


@needs_headers
def test_a_file_that_nvrtc_cannot_make(cache, in_process):
    build(1)
    (path,) = made(cache)
    os.unlink(path)
    nothing = Path(path.rpartition("-")[0] + "-00000000.pch")
    nothing.write_bytes(b"")  # what the worker leaves then
    assert b", 2;" in build(2)
    assert in_process == [1]
    assert made(cache) == [str(nothing)]


@needs_headers
def test_a_worker_that_is_killed(cache, in_process, monkeypatch, tmp_path):
    script = tmp_path / "worker.py"
    script.write_text(f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})")
    monkeypatch.setattr(precompiled, "_WORKER", str(script))
    assert b", 2;" in build(2)
    assert in_process == [1]


@needs_headers
@pytest.mark.parametrize("answer", ["", "print('hello')", "import sys; sys.exit(1)"])
def test_a_worker_without_an_answer(cache, in_process, monkeypatch, tmp_path, answer):
    script = tmp_path / "worker.py"
    script.write_text(answer)
    monkeypatch.setattr(precompiled, "_WORKER", str(script))
    assert b", 2;" in build(2)
    assert b", 3;" in build(3)
    assert in_process == [1, 1]
    assert precompiled._works is False  # it is not tried again


@needs_headers
def test_files_of_the_user_are_not_compiled_in_advance(cache, tmp_path, in_process):
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "own.h").write_text("#define OWN 5\n")
    source = (SOURCE % "OWN").replace(HEADER, "cuda/own.h")
    how = {"no_extern_c": True, "compiler": "nvrtc", "target": "ptx", "arch": "sm_80"}
    compiler.compile(source, include_dirs=[str(tmp_path)], **how)
    assert made(cache) == []
    assert in_process == [1]


@needs_headers
def test_no_file_without_a_cache_or_a_wish(cache, monkeypatch, in_process):
    build(1, cache_dir=False)
    build(2, keep=True)
    monkeypatch.setenv(precompiled.VARIABLE, "0")
    build(3)
    assert made(cache) == []
    assert len(in_process) == 3


# -- the folder


def fill(folder, sizes):
    folder.mkdir(parents=True)
    for number, size in enumerate(sizes):
        path = folder / f"{number:040x}-7fff0000-0000000a.pch"
        path.write_bytes(b"x" * size)
        os.utime(path, (1000 + number, 1000 + number))


def test_the_folder_is_bounded(cache, monkeypatch):
    folder = cache / precompiled.FOLDER
    fill(folder, [400, 400, 400, 400])
    (folder / "others.pch").write_bytes(b"of somebody else")
    draft = folder / f"{7:040x}-7fff0000-123.part"
    draft.write_bytes(b"")
    monkeypatch.setenv(sweep.VARIABLE, "1700")  # 850 for headers
    precompiled._sweep(str(folder))
    assert [int(os.path.basename(p)[:40], 16) for p in made(cache)] == [2, 3, 7]
    os.utime(draft, (1000, 1000))
    monkeypatch.setenv(sweep.VARIABLE, "1")
    precompiled._sweep(str(folder))
    assert len(made(cache)) == 1
    assert (folder / "others.pch").exists()


def test_clear_removes_them(cache):
    fill(cache / precompiled.FOLDER, [400, 500])
    assert user_cache.clear() == (2, 900)
    assert made(cache) == []


def test_the_summary_names_them(cache, capsys):
    fill(cache / precompiled.FOLDER, [400, 624])
    user_cache._print_summary(str(cache))
    assert "2 precompiled, 1.0 KiB" in capsys.readouterr().out


def test_a_full_disk(cache, monkeypatch):
    class Disk:
        f_bavail, f_frsize = 10, 4096

    monkeypatch.setattr(os, "statvfs", lambda path: Disk)
    assert not precompiled._has_room(str(cache / "x"), "a" * 40)
    fill(cache / "y", [10])
    assert precompiled._has_room(str(cache / "y"), f"{0:040x}")
    assert not precompiled._has_room("/dev/null/x", "a" * 40)


# -- the parts of a program

# fmt: off
PROGRAMS = [
    ("#include <cub/a.h>\nint x;", ["cub/a.h"], '#line 2 ""\nint x;'),
    ('#line 1 "k.cu"\n\n// a\n#include <cub/a.h> // b\n#include <b.h>\nint x;',
     ["cub/a.h", "b.h"], '#line 5 "k.cu"\nint x;'),
    ("/* a\n b */\n#include <cub/a.h>\nint x;", ["cub/a.h"], '#line 4 ""\nint x;'),
    ("/* a */ int x;\n#include <cub/a.h>", None, None),
    ("#define A 1\n#undef B\n#include <thrust/a.h>", ["thrust/a.h"], '#line 4 ""'),
    ("#define A \\\n 1\n#include <cub/a.h>", None, None),
    ("#if A\n#include <cub/a.h>\n#endif", None, None),
    ('#include "cub/a.h"', None, None),
    ("int x;\n#include <cub/a.h>", None, None),
    ("#include <stdint.h>\nint x;", None, None),
    ("#include <cooperative_groups.h>\n#if A\n#include <cub/a.h>\n#endif",
     ["cooperative_groups.h"], '#line 2 ""\n#if A\n#include <cub/a.h>\n#endif'),
]
# fmt: on


@pytest.mark.parametrize(("text", "names", "rest"), PROGRAMS)
def test_parts_of_programs(text, names, rest):
    parts = precompiled.split(text)
    if names is None:
        assert parts is None
        return
    assert parts.names == names
    assert parts.rest == f"#include <pycuda-opening>\n#pragma nv_hdrstop\n{rest}"
    assert "#line" not in parts.opening


@pytest.mark.parametrize("option", ["--pre-include=a.h", "--pch", "--use-pch=a"])
def test_options_that_exclude_them(option):
    assert precompiled.is_usable(["-arch=sm_80"])
    assert not precompiled.is_usable(["-arch=sm_80", option])
