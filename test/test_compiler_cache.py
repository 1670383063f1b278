"""The compile cache: when it answers, when it must not, what its files may suffer."""

import errno
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from pycuda import _cache, _nvcc, _toolkit, compiler
from pycuda.driver import CompileError
from support.compilers import REAL_NVCC, make_counting, make_toy, needs_nvcc

KERNEL = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("PYCUDA_", "TOY_")) or name in _nvcc.ENVIRONMENT:
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compiler, "_current_device", lambda driver: None)
    monkeypatch.setattr(_cache, "_complained", False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path / "cache"


@pytest.fixture
def toy(tmp_path):
    return make_toy(tmp_path)


@pytest.fixture
def headers(tmp_path):
    """Two folders of headers, a.h of the second including b.h there."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    write_old(tmp_path / "second/a.h", '#include "b.h"\nA one')
    write_old(tmp_path / "second/b.h", "B one")
    return tmp_path


def write_old(path, text, age=60):
    """Write a file as if that had been done a while ago."""
    path.write_text(text)
    then = time.time_ns() - int(age * 1e9)
    os.utime(path, ns=(then, then))


def compile_with(headers, toy, **how):
    folders = [headers / "first", headers / "second"]
    return compiler.compile(
        '#include "a.h"\nbody', nvcc=toy.path, include_dirs=folders, **how
    )


def entry_in(cache):
    (entry,) = cache.glob("*.cubin")
    return entry


def drafts_in(cache):
    return [name for name in os.listdir(cache) if name.startswith(".")]


def nothing_in(cache):
    return not cache.exists() or set(os.listdir(cache)) <= {"usage"}


def child(code, *arguments, **how):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


# Hits


def test_hit_starts_nothing(toy, monkeypatch):
    first = compiler.compile("text", nvcc=toy.path)
    assert len(toy.calls) == 3  # two questions and a compilation
    monkeypatch.setattr(_toolkit, "_facts", {})
    assert compiler.compile("text", nvcc=toy.path) == first
    assert len(toy.calls) == 3


FRESH = """
import sys
from pycuda import compiler
compiler._current_device = lambda driver: None
source, nvcc = sys.argv[1:]
image = compiler.compile(source, nvcc=nvcc, options=["-arch=sm_80"])
print("subprocess" in sys.modules, len(image))
"""


@pytest.mark.parametrize(
    "make", [make_toy, pytest.param(make_counting, marks=needs_nvcc)]
)
def test_hit_in_a_fresh_process_starts_nothing(make, tmp_path):
    counted = make(tmp_path)
    answers = []
    for _ in range(2):
        out, err = child(FRESH, KERNEL, counted.path).communicate()
        assert err == ""
        answers.append(out.split())
    assert len(counted.calls) == 3
    assert answers[0][0] == "True"
    assert answers[1] == ["False", answers[0][1]]


@pytest.mark.parametrize("count", [0, 5])
def test_work_of_a_hit(toy, tmp_path, monkeypatch, count):
    """One file is opened, the compiler and each header are looked at once."""
    for number in range(count):
        write_old(tmp_path / f"h{number}.h", f"header {number}")
    lines = [f'#include "h{number}.h"' for number in range(count)]
    source = "\n".join([*lines, KERNEL * 20])
    asked = []

    def noted(name, real):
        def call(path, *args, **kwargs):
            asked.append((name, os.path.basename(os.fsdecode(path))))
            return real(path, *args, **kwargs)

        return call

    def once():
        return compiler.compile(source, nvcc=toy.path, include_dirs=[tmp_path])

    once()
    monkeypatch.setattr("builtins.open", noted("open", open))
    for name in ("stat", "lstat", "utime", "scandir", "open", "listdir"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    once()
    monkeypatch.undo()
    opened = [name for call, name in asked if call == "open"]
    assert len(opened) == 1
    assert opened[0].endswith(".cubin")
    looked = [name for call, name in asked if call != "open"]
    assert sorted(looked) == sorted(["toy-nvcc", *(f"h{n}.h" for n in range(count))])
    assert len(toy.compilations) == 1


# What makes a difference


def test_each_input_makes_a_difference(toy, monkeypatch, tmp_path):
    def compile(source="text", **how):
        return compiler.compile(source, nvcc=toy.path, **how)

    variants = [
        {},
        {"source": "other"},
        {"options": ["-DA"]},
        {"options": ["-DA", "-DB"]},
        {"options": ["-DA-DB"]},
        {"arch": "sm_80"},
        {"arch": "sm_90"},
        {"code": "sm_80"},
        {"target": "ptx"},
        {"no_extern_c": True},
        {"include_dirs": [tmp_path]},
    ]
    for _ in range(2):
        for variant in variants:
            compile(**variant)
    assert len(toy.compilations) == len(variants)
    monkeypatch.setenv("NVCC_APPEND_FLAGS", "-DC")
    compile()
    assert len(toy.compilations) == len(variants) + 1


def test_relative_folders_are_those_of_the_current_directory(
    toy, tmp_path, monkeypatch
):
    for name in ("here", "there"):
        (tmp_path / name / "inc").mkdir(parents=True)
        write_old(tmp_path / name / "inc/a.h", f"header of {name}")
    for how in ({"include_dirs": ["inc"]}, {"options": ["-Iinc"]}):
        for name in ("here", "there"):
            monkeypatch.chdir(tmp_path / name)
            image = compiler.compile('#include "a.h"', nvcc=toy.path, **how)
            assert f"header of {name}".encode() in image


@pytest.mark.parametrize(
    ("options", "depends"),
    [
        ([], False),
        (["-O3", "-DX=1", "--ptxas-options=-v", "-I/usr/share"], False),
        (["-I", "/usr/share"], False),
        (["-Iinc"], True),
        (["-I", "inc"], True),
        (["-include", "x.h"], True),
        (["--pre-include=x.h"], True),
        (["-Xcompiler=-Iinc"], True),
        (["--options-file=flags"], True),
    ],
)
def test_options_that_depend_on_the_current_directory(options, depends):
    assert compiler._depends_on_cwd(options) is depends


def test_another_version_in_the_same_place_compiles_anew(toy, tmp_path, monkeypatch):
    compiler.compile("text", nvcc=toy.path)
    monkeypatch.setenv("TOY_VERSION", "toy compiler, release 14.0")
    make_toy(tmp_path)  # a new file: new inode or new time
    os.utime(toy.path, ns=(1, 1))
    compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 2


# Included files


@pytest.mark.parametrize("name", ["second/a.h", "second/b.h"])
def test_changed_header_compiles_anew(headers, toy, name):
    before = compile_with(headers, toy)
    assert compile_with(headers, toy) == before
    assert len(toy.compilations) == 1
    path = headers / name
    write_old(path, path.read_text().replace("one", "two"), age=30)
    assert path.stat().st_size == len(path.read_text())
    after = compile_with(headers, toy)
    assert b"two" in after
    assert len(toy.compilations) == 2


def test_header_touched_but_not_changed_is_a_hit(headers, toy, cache):
    compile_with(headers, toy)
    for age in (30, 0):
        write_old(headers / "second/a.h", '#include "b.h"\nA one', age)
        before = entry_in(cache).read_bytes()
        compile_with(headers, toy)
        # A time that is settled is taken over; a fresh one could hide a second change.
        assert (entry_in(cache).read_bytes() != before) == (age == 30)
    assert len(toy.compilations) == 1


def test_header_that_appears_earlier_on_the_path_counts(headers, toy):
    compile_with(headers, toy)
    write_old(headers / "first/b.h", "B shadowed")
    compile_with(headers, toy)
    write_old(headers / "first/a.h", "A shadowed")
    assert b"A shadowed" in compile_with(headers, toy)
    assert len(toy.compilations) >= 2


def test_deleted_header_is_the_compilers_error(headers, toy):
    compile_with(headers, toy)
    (headers / "second/b.h").unlink()
    with pytest.raises(CompileError, match=r"no file b\.h"):
        compile_with(headers, toy)


def test_header_changed_during_the_compilation_is_not_trusted(
    headers, toy, monkeypatch, cache
):
    monkeypatch.setenv("TOY_TOUCH", str(headers / "second/b.h"))
    monkeypatch.setenv("TOY_TOUCH_TEXT", "B two")
    assert b"B one" in compile_with(headers, toy)
    assert list(cache.glob("*.cubin")) == []
    monkeypatch.delenv("TOY_TOUCH")
    time.sleep(0.02)
    assert b"B two" in compile_with(headers, toy)


@needs_nvcc
def test_real_compiler_reports_what_it_read(tmp_path):
    counted = make_counting(tmp_path)
    folder = tmp_path / "with a space"
    folder.mkdir()

    def compile():
        source = '#include "outer.h"\n__global__ void f(int *a) { *a = VALUE; }'
        return compiler.compile(
            source, nvcc=counted.path, arch="sm_80", include_dirs=[folder], target="ptx"
        )

    write_old(folder / "outer.h", '#include "inner $1.h"\n')
    write_old(folder / "inner $1.h", "#define VALUE 4711\n")
    assert b"4711" in compile()
    assert b"4711" in compile()
    assert len(counted.calls) == 3
    write_old(folder / "inner $1.h", "#define VALUE 1174\n", age=30)
    assert b"1174" in compile()


@needs_nvcc
def test_names_given_by_the_source_are_no_files(tmp_path, monkeypatch):
    """A generator that says where its lines come from need not leave that behind."""
    counted = make_counting(tmp_path)
    source = '#line 7 "templates/sum of all.mako"\n# 9 "b.mako"\n' + KERNEL
    for _ in range(2):
        compiler.compile(source, nvcc=counted.path, arch="sm_80", target="ptx")
    assert len(counted.calls) == 3


def test_make_rules_are_understood():
    text = "out/k.o : a.cu \\\n  /with\\ space/b.h \\\r\n  c$$d.h\n"
    text += "out/k.o : a.cu e\\#f.h\n"
    assert _cache.parse_dependencies(text) == [
        "a.cu",
        "/with space/b.h",
        "c$d.h",
        "e#f.h",
    ]


def test_toolkit_and_system_headers_are_not_listed_one_by_one():
    paths = [
        "/opt/cuda/bin/../include/cuda.h",
        "/usr/include/stdio.h",
        "/usr/include/stdc-predef.h",
        "/usr/include/c++/12/vector",
        "/usr/lib/gcc/x86_64-linux-gnu/12/include/float.h",
        "/usr/include/own/kernel.h",
        "/usr/include/own.h",
        "/home/user/x.h",
    ]
    assert _cache._listed(paths, ["/opt/cuda/include"]) == [
        "/usr/include/stdc-predef.h",
        "/usr/include/own/kernel.h",
        "/usr/include/own.h",
        "/home/user/x.h",
    ]


# Damage


@pytest.mark.parametrize("length", [0, 1, 9, 20, 37, 38, 60, -1])
def test_truncated_entry_is_a_miss(headers, toy, cache, length):
    image = compile_with(headers, toy)
    whole = entry_in(cache).read_bytes()
    entry_in(cache).write_bytes(whole[:length])
    assert compile_with(headers, toy) == image
    assert len(toy.compilations) == 2
    assert entry_in(cache).read_bytes() == whole


def test_corrupted_entry_is_a_miss(toy, cache):
    image = compiler.compile("text", nvcc=toy.path)
    whole = entry_in(cache).read_bytes()
    places = [0, 12, 31, len(whole) // 2, len(whole) - 1]
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 0x40
        entry_in(cache).write_bytes(damaged)
        assert compiler.compile("text", nvcc=toy.path) == image
    assert len(toy.compilations) == 1 + len(places)


def test_corrupted_facts_are_asked_again(toy, cache, monkeypatch):
    compiler.compile("text", nvcc=toy.path)
    (facts,) = cache.glob("nvcc-*")
    facts.write_bytes(facts.read_bytes()[:-3])
    monkeypatch.setattr(_toolkit, "_facts", {})
    compiler.compile("text", nvcc=toy.path)
    assert toy.calls.count(["--version"]) == 2
    assert len(toy.compilations) == 1


# Disks that take nothing


def compile_two(toy, **how):
    for source in ("one", "two"):
        assert source.encode() in compiler.compile(source, nvcc=toy.path, **how)


def only_one_complaint(caught):
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 1
    assert "cannot be kept" in texts[0]
    assert "PYCUDA_CACHE_DIR" in texts[0]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["open", "replace", "makedirs"])
def test_disk_that_fails_costs_one_warning(toy, cache, monkeypatch, code, call):
    real = getattr(os, call)

    def refuse(path, *args, **kwargs):
        if os.fspath(path).startswith(str(cache)):
            raise OSError(code, os.strerror(code))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(os, call, refuse)
    with pytest.warns(UserWarning) as caught:
        compile_two(toy)
    only_one_complaint(caught)
    monkeypatch.undo()
    assert nothing_in(cache)


def test_write_that_stops_halfway_leaves_nothing(toy, cache, monkeypatch):
    def run_full(path, data):
        Path(path).write_bytes(data[:10])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(_cache, "_write", run_full)
    with pytest.warns(UserWarning, match="full"):
        compiler.compile("text", nvcc=toy.path)
    assert nothing_in(cache)


def test_place_that_cannot_be(toy, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning) as caught:
        compile_two(toy, cache_dir=str(tmp_path / "file/sub"))
    only_one_complaint(caught)


def test_read_only_cache_still_answers(headers, toy, cache, monkeypatch):
    image = compile_with(headers, toy)
    # A new time would have the entry written again, which must not be missed.
    write_old(headers / "second/a.h", '#include "b.h"\nA one', age=30)
    cache.chmod(0o555)

    def refuse(*args, **kwargs):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "replace", refuse)  # permissions do not stop root
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_with(headers, toy) == image
    cache.chmod(0o755)
    assert len(toy.compilations) == 1
    assert drafts_in(cache) == []


# Where it is


def test_cache_dir_argument_and_variables(toy, tmp_path, monkeypatch, cache):
    def compile(**how):
        compiler.compile("text", nvcc=toy.path, **how)
        return len(toy.compilations)

    own = tmp_path / "not/there/yet"
    assert compile(cache_dir=own) == 1
    assert compile(cache_dir=str(own)) == 1
    assert len(list(own.glob("*.cubin"))) == 1
    assert not cache.exists()
    assert compile(cache_dir=False) == 2
    assert compile() == 3
    assert compile() == 3
    assert len(list(cache.glob("*.cubin"))) == 1
    monkeypatch.setenv("PYCUDA_DISABLE_CACHE", "")
    assert compile() == 4
    assert compile(cache_dir=own) == 5


def test_default_place_is_the_users_cache_directory(monkeypatch, tmp_path):
    import platformdirs

    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    for value in (None, "", "/somewhere/else"):
        if value is None:
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        base = platformdirs.user_cache_dir("pycuda", "pycuda")
        assert _cache.default_dir() == os.path.join(base, "compiler-cache-v2")


def test_relative_base_is_ignored(monkeypatch):
    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    monkeypatch.setenv("HOME", "/home/of-mine")
    for value in ("caches", "./caches", "~/caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert _cache.default_dir().startswith("/home/of-mine/.cache/pycuda/")


def test_user_without_a_home(monkeypatch, tmp_path, toy):
    """As in a container with a user id of its own: nothing is put in a folder "~"."""

    def nobody(path):
        return path

    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    folder = _cache.default_dir()
    assert folder.startswith(str(tmp_path / "temporary" / f"pycuda-uid{os.getuid()}"))
    for _ in range(2):
        compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 1
    assert len(list(Path(folder).glob("*.cubin"))) == 1
    assert not os.path.exists("~")
    # Others could put their code into a folder that they can write.
    os.chmod(tmp_path / "temporary" / f"pycuda-uid{os.getuid()}", 0o777)
    assert _cache.default_dir().startswith(os.devnull)
    with pytest.warns(UserWarning, match="cannot be kept"):
        compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 2


@needs_nvcc
def test_result_does_not_depend_on_who_compiled_it():
    images = {
        compiler.compile(KERNEL, nvcc=REAL_NVCC, arch="sm_80", cache_dir=False, **how)
        for how in ({}, {}, {"keep": True})
    }
    assert len(images) == 1


def test_a_search_folder_whose_name_has_two_lines(tmp_path):
    """A manifest is lines, so what such a folder lacks cannot be noted in one."""
    folder = tmp_path / "of two\nlines"
    folder.mkdir()
    source = '#include "nowhere.h"\n'
    assert _cache.make_manifest(source, [], [str(folder)], [], 0) is None
    assert _cache.make_manifest(source, [], [str(tmp_path)], [], 0) is not None
