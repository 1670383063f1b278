"""The compile cache: hits, misses, and damaged files."""

import builtins
import errno
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

from pycuda import compiler
from pycuda._compile import inputs, nvcc, recall, store, toolkit
from pycuda._compile.manifest import _listed, make as make_manifest
from pycuda.driver import CompileError
from support.compilers import REAL_NVCC, make_counting, make_toy, needs_nvcc

pytestmark = pytest.mark.usefixtures("cache")

KERNEL = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"


@pytest.fixture
def headers(tmp_path):
    """Two folders of headers, a.h of the second including b.h there."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    write_old(tmp_path / "second/a.h", '#include "b.h"\nA one')
    write_old(tmp_path / "second/b.h", "B one")
    return tmp_path


def write_old(path, text, age=60):
    """Write a file with an older time."""
    path.write_text(text)
    then = time.time_ns() - int(age * 1e9)
    os.utime(path, ns=(then, then))


def compile_with(headers, toy, **how):
    folders = [headers / "first", headers / "second"]
    return compiler.compile(
        '#include "a.h"\nbody', nvcc=toy.path, include_dirs=folders, **how
    )


def make_host_compiler(folder, text="#!/bin/sh\n"):
    """Make a folder for PATH whose gcc does nothing."""
    folder.mkdir(exist_ok=True)
    (folder / "gcc").write_text(text)
    (folder / "gcc").chmod(0o755)
    return folder


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
    assert len(toy.calls) == 3  # two queries and a compilation
    monkeypatch.setattr(toolkit, "_facts", {})
    recall.forget()
    assert compiler.compile("text", nvcc=toy.path) == first
    assert len(toy.calls) == 3


FRESH = """
import sys
import numpy
sys.modules.pop("subprocess", None)  # some versions of NumPy import it
from pycuda import compiler
from pycuda._compile import architecture
architecture.current_device = lambda: None
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


@pytest.mark.parametrize("remembered", [False, True])
@pytest.mark.parametrize("count", [0, 5])
def test_work_of_a_hit(toy, tmp_path, monkeypatch, count, remembered):
    """A hit reads one file, and checks each header once and the compilers twice.

    If the process had the result already, it reads nothing, and checks each file once.
    """
    monkeypatch.setenv("PATH", str(make_host_compiler(tmp_path / "bin")))
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
    if not remembered:
        recall.forget()
    monkeypatch.setattr("builtins.open", noted("open", open))
    for name in ("stat", "lstat", "utime", "scandir", "open", "listdir"):
        monkeypatch.setattr(os, name, noted(name, getattr(os, name)))
    once()
    monkeypatch.undo()
    opened = [name for call, name in asked if call == "open"]
    looked = [name for call, name in asked if call != "open"]
    assert len(opened) == (0 if remembered else 1)
    for entry in opened or [looked[0]]:
        assert entry.endswith(".cubin")
    compilers = ["toy-nvcc", "gcc"]
    if remembered:
        del looked[0]
    else:
        compilers *= 2
    headers = [f"h{n}.h" for n in range(count)]
    assert sorted(looked) == sorted([*compilers, *headers])
    assert len(toy.compilations) == 1


# What makes another key


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
    for count, name in enumerate(inputs.ENVIRONMENT):
        for _ in range(2):
            monkeypatch.setenv(name, "/x")
            compile()
            assert len(toy.compilations) == len(variants) + count + 1


def test_another_host_compiler_makes_a_difference(toy, tmp_path, monkeypatch):
    """nvcc uses the first gcc on the PATH, with its macros and headers."""

    def compile(**how):
        compiler.compile("text", nvcc=toy.path, **how)
        return len(toy.compilations)

    one = make_host_compiler(tmp_path / "one")
    two = make_host_compiler(tmp_path / "two", "#!/bin/sh\n# another\n")
    monkeypatch.setenv("PATH", f"{one}:{two}")
    assert (compile(), compile()) == (1, 1)
    monkeypatch.setenv("PATH", f"{two}:{one}")
    assert (compile(), compile()) == (2, 2)
    make_host_compiler(tmp_path / "two", "#!/bin/sh\n# a third\n")
    assert (compile(), compile()) == (3, 3)
    how = {"options": [f"-ccbin={one / 'gcc'}"]}
    assert (compile(**how), compile(**how)) == (4, 4)
    make_host_compiler(tmp_path / "one", "#!/bin/sh\n# a fourth\n")
    assert (compile(**how), compile()) == (5, 5)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CPATH", "inc"),
        ("CPATH", "/nowhere::"),
        ("CPLUS_INCLUDE_PATH", "/nowhere:inc"),
        ("LIBRARY_PATH", "lib"),
        ("NVCC_PREPEND_FLAGS", "-DX -I inc"),
        ("NVCC_APPEND_FLAGS", "-Iinc"),
        ("INCLUDES", "-Iinc"),
    ],
)
def test_variables_that_depend_on_the_current_directory(
    toy, tmp_path, monkeypatch, name, value
):
    def compilations_in(*names):
        for each in names:
            (tmp_path / each).mkdir(exist_ok=True)
            monkeypatch.chdir(tmp_path / each)
            compiler.compile("text", nvcc=toy.path)
        return len(toy.compilations)

    monkeypatch.setenv(name, value)
    assert compilations_in("here", "there", "here") == 2
    monkeypatch.setenv(name, value.replace("inc", "/inc").replace("lib", "/lib"))
    assert compilations_in("here", "there") == (3 if "::" not in value else 2)


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
        (["-optf=/its/lines/may/be/relative"], True),
        (["-I/usr/share,inc"], True),
        (["-I/usr/share,/usr/include"], False),
        (["-Llib"], True),
        (["-lineinfo"], False),
    ],
)
def test_options_that_depend_on_the_current_directory(options, depends):
    assert inputs.depends_on_cwd(options) is depends


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


def test_header_touched_but_not_changed_is_a_hit(headers, toy, cache, monkeypatch):
    compile_with(headers, toy)
    for age, settled_ns in ((30, 10**12), (40, -(10**9)), (0, 10**12)):
        write_old(headers / "second/a.h", '#include "b.h"\nA one', age)
        monkeypatch.setattr(store, "_SETTLED_NS", settled_ns)
        before = entry_in(cache).read_bytes()
        compile_with(headers, toy)
        # Only an older time is stored. A recent one could hide a second change.
        assert (entry_in(cache).read_bytes() != before) == (settled_ns < 0)
    assert len(toy.compilations) == 1


@pytest.mark.parametrize("how", ["written again", "replaced"])
def test_header_changed_with_its_size_and_time_kept(headers, toy, how):
    """Archives, package managers and `touch -r` set any time."""
    path = headers / "second/b.h"
    before = path.stat()
    assert b"B one" in compile_with(headers, toy)
    time.sleep(0.02)  # the file system's clock has ticks
    other = path if how == "written again" else headers / "new"
    other.write_text("B two")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert b"B two" in compile_with(headers, toy)


def ways_to_name_folders(first, second, tmp_path):
    flags = f"-I{first} -I'{second}'"
    (tmp_path / "flags").write_text(flags.replace("'", ""))
    return {
        "options": ([f"-I{first}", f"-I{second}"], {}),
        "-isystem": (["-isystem", str(first), "-isystem", str(second)], {}),
        "a file of options": ([f"-optf={tmp_path / 'flags'}"], {}),
        "CPATH": ([], {"CPATH": f"{first}:{second}"}),
        "CPLUS_INCLUDE_PATH": ([], {"CPLUS_INCLUDE_PATH": f"{first}:{second}"}),
        "NVCC_PREPEND_FLAGS": ([], {"NVCC_PREPEND_FLAGS": flags}),
        "-I and -isystem": (["-isystem", str(second), f"-I{first}"], {}),
        "-I and CPATH": ([f"-I{first}"], {"CPATH": str(second)}),
    }


@pytest.mark.parametrize("way", ways_to_name_folders("a", "b", Path("/tmp")))
def test_header_that_appears_earlier_counts_however_folders_are_named(
    headers, toy, monkeypatch, way
):
    folders = (headers / "first", headers / "second")
    options, variables = ways_to_name_folders(*folders, headers)[way]
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    def compile():
        return compiler.compile('#include "a.h"\n', nvcc=toy.path, options=options)

    assert b"A one" in compile()
    compile()
    assert len(toy.compilations) == 1
    write_old(headers / "first/a.h", "A shadowed")
    assert b"A shadowed" in compile()


@pytest.mark.parametrize("before", ["a folder", "a link to nothing"])
def test_header_that_replaces_what_is_none(headers, toy, before):
    """The compiler continues its search at a folder or a broken link."""
    place = headers / "first/a.h"
    if before == "a folder":
        place.mkdir()
    else:
        place.symlink_to(headers / "target.h")
    assert b"A one" in compile_with(headers, toy)
    compile_with(headers, toy)
    assert len(toy.compilations) == 1
    if before == "a folder":
        place.rmdir()
        write_old(place, "A shadowed")
    else:
        write_old(headers / "target.h", "A shadowed")
    assert b"A shadowed" in compile_with(headers, toy)


@pytest.mark.parametrize("name", ["-optf", "--options-file"])
def test_changed_file_of_options_compiles_anew(toy, tmp_path, name):
    def compile():
        options = [f"{name}={tmp_path / 'flags'}"]
        compiler.compile("text", nvcc=toy.path, options=options)
        return len(toy.compilations)

    write_old(tmp_path / "flags", "-DA=1")
    assert (compile(), compile()) == (1, 1)
    write_old(tmp_path / "flags", "-DA=2", age=30)
    assert compile() == 2


INCLUDE_LINES = [
    '#include "a.h"',
    "#include <a.h>",
    "  #\tinclude\t<a.h>",
    "/* why */ #include <a.h>",
    "/* why\n*/ #include <a.h>",
    "# /* why */ include /**/ <a.h>",
    "#include \\\n<a.h>",
    "#inc\\  \r\nlude <a.h>",
    "%:include <a.h>",
    "??=include <a.h>",
    "#import <a.h>",
    "#include_next <a.h>",
    '#if __has_include("a.h")',
    "#if defined(__has_include) && __has_include /* why */ ( <a.h>)",
    "#define NAME <a.h>\n#include NAME",
    '#define NAME "a.h"\n/* why */ #include NAME',
]


@pytest.mark.parametrize("line", INCLUDE_LINES)
def test_each_form_of_an_include_line(headers, line):
    folders = [str(headers / "first"), str(headers / "second")]
    read = [str(headers / "second/a.h")]

    def manifest(text):
        return make_manifest(text, read, folders, [], time.time_ns())

    assert store.holds(manifest(line))
    assert os.fsencode(headers / "first/a.h") in manifest(line)
    assert os.fsencode(headers / "first/a.h") not in manifest("text")


def test_angle_brackets_do_not_look_beside_the_includer(headers):
    for quote, expected in (('"b.h"', True), ("<b.h>", False)):
        write_old(headers / "second/a.h", f"#include {quote}")
        read = [str(headers / "second/a.h"), str(headers / "first/b.h")]
        write_old(headers / "first/b.h", "")
        (headers / "second/b.h").unlink(missing_ok=True)
        folders = [str(headers / "first")]
        manifest = make_manifest("", read, folders, [], time.time_ns())
        assert (os.fsencode(headers / "second/b.h") in manifest) is expected


def test_header_that_is_only_asked_for_is_watched(headers):
    def manifest():
        text = '#if __has_include("a.h")\n#endif\n'
        folders = [str(headers / "second")]
        return make_manifest(text, [], folders, [], time.time_ns())

    before = manifest()
    assert store.holds(before)
    (headers / "second/a.h").unlink()
    assert not store.holds(before)
    without = manifest()
    assert store.holds(without)
    write_old(headers / "second/a.h", "")
    assert not store.holds(without)


@needs_nvcc
@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("#include NAME\n", ["-DNAME=<s.h>"]),
        ("#define STRING(x) #x\n#define NAME STRING(s.h)\n#include NAME\n", []),
        ("%:include <s.h>\n", []),
        ("/* why */ #include <s.h>\n", []),
    ],
)
def test_real_compiler_and_a_header_that_appears(tmp_path, text, options):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    write_old(tmp_path / "second/s.h", "#define VALUE 4711\n")

    def compile():
        return compiler.compile(
            text + "__global__ void f(int *a) { *a = VALUE; }",
            nvcc=REAL_NVCC,
            arch="sm_80",
            options=options,
            include_dirs=[tmp_path / "first", tmp_path / "second"],
            target="ptx",
        )

    assert b"4711" in compile()
    write_old(tmp_path / "first/s.h", "#define VALUE 1174\n")
    assert b"1174" in compile()


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
@pytest.mark.parametrize(
    ("way", "runs"),
    [
        ("gcc", 1),
        ("a host compiler that makes no list", 2),
        ("a folder for temporary files with a space", 2),
        ("several architectures", 1),
        ("linked", 1),
    ],
)
def test_real_compiler_lists_its_headers(tmp_path, monkeypatch, way, runs):
    """gcc lists them while it compiles; nvcc is asked if there is no whole list."""
    how = {"arch": "sm_80"}
    if way.startswith("a host"):
        host = tmp_path / "gcc"
        host.write_text('#!/bin/sh\nexec env -u SUNPRO_DEPENDENCIES gcc "$@"\n')
        host.chmod(0o755)
        how["options"] = ["-ccbin", str(host)]
    elif way.startswith("a folder"):
        (tmp_path / "of some").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "of some"))
    elif way.startswith("several"):
        how = {"arch": ["sm_80", "sm_90"], "target": "fatbin"}
    elif way == "linked":
        how["options"] = ["-rdc=true", "-dlink"]
    counted = make_counting(tmp_path)
    source = """
        #if __CUDA_ARCH__ == 800
        #include "device.h"
        #else
        #define VALUE 0
        #endif
        __global__ void f(int *a) { *a = VALUE; }
    """

    def compile():
        folders = [tmp_path]
        return compiler.compile(source, nvcc=counted.path, include_dirs=folders, **how)

    write_old(tmp_path / "device.h", "#define VALUE 4711\n")
    first = compile()
    assert len(counted.calls) == runs + 2  # two queries
    assert compile() == first
    assert len(counted.calls) == runs + 2  # two queries
    write_old(tmp_path / "device.h", "#define VALUE 1174\n", age=30)
    assert compile() != first
    assert not (tmp_path / "of").exists()  # what gcc would make of the space


@needs_nvcc
def test_names_given_by_the_source_are_no_files(tmp_path, monkeypatch):
    """A generator may name a source file that does not exist."""
    counted = make_counting(tmp_path)
    source = '#line 7 "templates/sum of all.mako"\n# 9 "b.mako"\n' + KERNEL
    for _ in range(2):
        compiler.compile(source, nvcc=counted.path, arch="sm_80", target="ptx")
    assert len(counted.calls) == 3


def test_make_rules_are_understood():
    text = "out/k.o : a.cu \\\n  /with\\ space/b.h \\\r\n  c$$d.h\n"
    text += "out/k.o : a.cu e\\#f.h\n"
    assert nvcc.parse_dependencies(text) == [
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
    assert _listed(paths, ["/opt/cuda/include"]) == [
        "/usr/include/stdc-predef.h",
        "/usr/include/own/kernel.h",
        "/usr/include/own.h",
        "/home/user/x.h",
    ]


def make_toolkit(root, *, nvvm=True, header=True):
    for name in ("bin", "include", *(["nvvm"] if nvvm else [])):
        (root / name).mkdir(parents=True)
    if header:
        write_old(root / "include/cuda_runtime.h", "")
    return root


def test_what_a_toolkit_is(tmp_path, monkeypatch):
    def has_own_include(root):
        return str(root / "include") in toolkit.folders_of_toolkit(str(root))

    assert has_own_include(make_toolkit(tmp_path / "toolkit"))
    assert not has_own_include(make_toolkit(tmp_path / "home", nvvm=False))
    assert not has_own_include(make_toolkit(tmp_path / "other", header=False))
    conda = make_toolkit(tmp_path / "conda")
    (conda / "conda-meta").mkdir()
    assert not has_own_include(conda)
    assert str(conda / "nvvm") in toolkit.folders_of_toolkit(str(conda))
    wheel = tmp_path / "site/nvidia/cuda_nvcc"
    assert not has_own_include(wheel)
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert has_own_include(wheel)


@pytest.mark.parametrize("place", ["include", "include/mine"])
def test_headers_of_the_user_beside_a_compiler_of_the_user(tmp_path, place):
    """~/include beside ~/bin/nvcc is watched, and a folder named in a toolkit too."""
    root = make_toolkit(tmp_path / "root", nvvm=place == "include/mine")
    folder = root / place
    folder.mkdir(exist_ok=True)
    toy = make_toy(root / "bin")

    def compile():
        return compiler.compile(
            '#include "own.h"', nvcc=toy.path, include_dirs=[folder]
        )

    write_old(folder / "own.h", "one")
    assert b"one" in compile()
    write_old(folder / "own.h", "two", age=30)
    assert b"two" in compile()


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
    monkeypatch.setattr(toolkit, "_facts", {})
    recall.forget()
    compiler.compile("text", nvcc=toy.path)
    assert toy.calls.count(["--version"]) == 2
    assert len(toy.compilations) == 1


# Disks that cannot be written


def compile_two(toy, **how):
    for source in ("one", "two"):
        assert source.encode() in compiler.compile(source, nvcc=toy.path, **how)


def only_one_complaint(caught):
    texts = [str(warning.message) for warning in caught]
    assert len(texts) == 1
    assert "cannot be kept" in texts[0]
    assert "PYCUDA_CACHE_DIR" in texts[0]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize(
    "place, call", [(builtins, "open"), (os, "replace"), (os, "makedirs")]
)
def test_disk_that_fails_costs_one_warning(toy, cache, monkeypatch, code, place, call):
    real = getattr(place, call)

    def refuse(path, *args, **kwargs):
        if str(path).startswith(str(cache)):
            raise OSError(code, os.strerror(code))
        return real(path, *args, **kwargs)

    monkeypatch.setattr(place, call, refuse)
    with pytest.warns(UserWarning) as caught:
        compile_two(toy)
    only_one_complaint(caught)
    monkeypatch.undo()
    assert nothing_in(cache)


@pytest.mark.parametrize("say", [True, False])
def test_save_returns_whether_it_wrote(cache, monkeypatch, say):
    path = str(cache / "entry")
    assert store.save(path, b"", b"first", say) is True
    with monkeypatch.context() as patch, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        patch.setattr(os, "replace", lambda *paths: os.mkdir(cache))  # it exists
        assert store.save(path, b"", b"second", say) is False
        assert len(caught) == say
    assert store.load(path) == b"first"
    assert set(os.listdir(cache)) <= {"entry", "usage"}


def test_write_that_stops_halfway_leaves_nothing(toy, cache, monkeypatch):
    def run_full(path, data):
        Path(path).write_bytes(data[:10])
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(store, "_write", run_full)
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
    # A new time would cause the entry to be written again.
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


# The place of the cache


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
    monkeypatch.delenv("PYCUDA_DISABLE_CACHE")
    with pytest.raises(ValueError, match="cache_dir .* one half of a surrogate pair"):
        compile(cache_dir=str(tmp_path / "\ud800"))
    assert compile(cache_dir=str(tmp_path / "\udcff")) == 6  # a byte, not decoded


def test_default_place_is_the_users_cache_directory(monkeypatch, tmp_path):
    import platformdirs

    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    for value in (None, "", "/somewhere/else"):
        if value is None:
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        else:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        base = platformdirs.user_cache_dir("pycuda", "pycuda")
        assert store.default_dir() == os.path.join(base, "compiler-cache-v2")


def test_relative_base_is_ignored(monkeypatch):
    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    monkeypatch.setenv("HOME", "/home/of-mine")
    for value in ("caches", "./caches", "~/caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", value)
        assert store.default_dir().startswith("/home/of-mine/.cache/pycuda/")


def test_user_without_a_home(monkeypatch, tmp_path, toy):
    """In a container, a user may have no home. No folder named "~" is made."""

    def nobody(path):
        return path

    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", nobody)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path)
    folder = store.default_dir()
    assert folder.startswith(str(tmp_path / "temporary" / f"pycuda-uid{os.getuid()}"))
    for _ in range(2):
        compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 1
    assert len(list(Path(folder).glob("*.cubin"))) == 1
    assert not os.path.exists("~")
    # Others could put their code into a folder that they can write.
    os.chmod(tmp_path / "temporary" / f"pycuda-uid{os.getuid()}", 0o777)
    assert store.default_dir().startswith(os.devnull)
    recall.forget()
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
    """A manifest has lines, so it cannot name the files that such a folder lacks."""
    folder = tmp_path / "of two\nlines"
    folder.mkdir()
    source = '#include "nowhere.h"\n'
    assert make_manifest(source, [], [str(folder)], [], 0) is None
    assert make_manifest(source, [], [str(tmp_path)], [], 0) is not None
