"""pycuda.compiler: its calls of a compiler and the handling of results."""

import os
import pickle
import re
import subprocess
import sys
import threading
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

from pycuda import compiler, driver
from pycuda._compile import nvcc
from pycuda._compile.source_text import wrapped
from pycuda.compiler import SourceModule
from pycuda.driver import CompileError, CompilerNotFoundError
from support.compilers import make_toy, needs_nvcc

ONE = "__global__ void one(float *a)\n{ a[threadIdx.x] = 1; }\n"
WRONG = "\n__global__ void wrong(float *a)\n{\n  a[0] = nowhere;\n}\n"


@pytest.fixture(autouse=True)
def surroundings(cache, tmp_path, monkeypatch):
    """Let the cache exist, and give temporary files a folder of their own."""
    cache.mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)


@pytest.fixture
def temporary(tmp_path):
    return tmp_path / "temporary"


@pytest.fixture
def loaded(monkeypatch):
    """The images that SourceModule hands to the driver."""
    images = []

    class Module:
        def __init__(self, image, message_handler=None):
            images.append(image)

        def get_function(self, name):
            return ("function", name)

        def get_global(self, name):
            return ("global", name)

        def get_texref(self, name):
            return ("texref", name)

        def get_surfref(self, name):
            return ("surfref", name)

    monkeypatch.setattr("pycuda.driver.module_from_buffer", Module)
    return images


def options_of(call):
    """Return the options of a compilation, without those that name files."""
    return call[1 : call.index("-o")]


# Results


@needs_nvcc
def test_each_target():
    assert compiler.compile(ONE, arch="sm_80")[:4] == b"\x7fELF"
    assert b".target sm_80" in compiler.compile(ONE, arch="sm_80", target="ptx")
    fatbin = compiler.compile(ONE, arch="sm_80", target="fatbin")
    assert fatbin[:4] == b"\x50\xed\x55\xba"


def test_unknown_target_is_refused():
    with pytest.raises(AssertionError, match="fatcat"):
        compiler.compile(ONE, target="fatcat")


@needs_nvcc
def test_names_are_plain_unless_asked_otherwise():
    entry = re.compile(rb"\.entry (\w+)")

    def names(**how):
        return entry.findall(compiler.compile(ONE, arch="sm_80", target="ptx", **how))

    assert names() == [b"one"]
    assert names(no_extern_c=True) == [b"_Z3onePf"]


@needs_nvcc
def test_standard_headers_survive_the_wrapping():
    source = "#include <stdio.h>\n#include <math.h>\n#include <stdint.h>\n" + ONE
    assert b".entry one" in compiler.compile(source, arch="sm_80", target="ptx")


def test_any_object_and_bytes_are_sources(toy):
    class Template:
        def __str__(self):
            return "text of a template"

    for source in (Template(), b"text of a template"):
        assert b"text of a template" in compiler.compile(source, nvcc=toy.path)


class Rendered:
    """An object whose repr() is the text."""

    def __repr__(self):
        return "text of an object"


def test_objects_with_a_text_of_their_own_are_sources(toy):
    for source in (Rendered(), np.array("text of an object"), np.str_("text of an")):
        assert b"text of an" in compiler.compile(source, nvcc=toy.path)


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_what_has_no_text_is_no_source(toy, no_extern_c):
    class Plain:
        pass

    class Listed(list):
        pass

    nothing = (None, 5, 2.5, True, ["text"], {"text": 1}, object(), Plain(), Listed())
    for source in (*nothing, Plain, print, os, memoryview(b"text")):
        with pytest.raises(TypeError, match="source must be a text, or an object that"):
            compiler.compile(source, nvcc=toy.path, no_extern_c=no_extern_c)
    with pytest.raises(TypeError, match="not None$"):
        SourceModule(None, nvcc=toy.path, no_extern_c=no_extern_c)
    with pytest.raises(TypeError, match=r"not the path 'kernel.cu'.*read_text"):
        compiler.compile(Path("kernel.cu"), nvcc=toy.path, no_extern_c=no_extern_c)
    with pytest.raises(ValueError, match="not UTF-8: byte 7, in line 2, is 0xff"):
        compiler.compile(b"text\n//\xff", nvcc=toy.path, no_extern_c=no_extern_c)
    assert toy.compilations == []


def test_half_a_character_is_said(toy):
    """A file cannot have it. Bytes that are not UTF-8 are written unchanged."""
    with pytest.raises(
        ValueError, match=r"the source has .* U\+D800 in line 2: one"
    ) as e:
        compiler.compile("// text\n// \ud800", nvcc=toy.path)
    assert not isinstance(e.value, UnicodeError)
    with pytest.raises(ValueError, match=r"a string of options has .* U\+DFFF"):
        compiler.compile("text", nvcc=toy.path, options=["-DX=\udfff"])
    assert toy.compilations == []
    latin = b"// \xe9".decode("utf-8", "surrogateescape")
    assert latin in wrapped(latin, True)
    assert "\u00e9\U0001f600".encode() in compiler.compile(
        "// \u00e9\U0001f600", toy.path
    )


@pytest.mark.parametrize("no_extern_c", [False, True])
@pytest.mark.parametrize("encoding", [None, "utf-8", "utf-8-sig"])
def test_byte_order_mark_is_no_code(encoding, no_extern_c):
    """nvcc accepts a file that begins with one, which some editors write."""
    source = "__global__ void f() {}"
    plain = wrapped(source, no_extern_c)
    given = source.encode(encoding) if encoding else f"\ufeff{source}"
    assert wrapped(given, no_extern_c) == plain
    inside = f"// \ufeff\n{source}"
    assert "\ufeff" in wrapped(inside, no_extern_c)


# Errors


@needs_nvcc
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_errors_speak_of_the_users_lines(no_extern_c, temporary):
    with pytest.raises(CompileError) as caught:
        compiler.compile(WRONG, arch="sm_80", no_extern_c=no_extern_c)
    error = caught.value
    assert 'kernel.cu(4): error: identifier "nowhere" is undefined' in error.stderr
    assert isinstance(error, driver.Error)
    assert error.stdout == ""
    assert str(temporary) not in error.stderr  # it was removed
    assert str(temporary) not in str(error)
    assert error.command_line[-1].startswith(str(temporary))
    assert "-arch=sm_80" in error.command_line
    assert error.msg in str(error)
    assert "[command: " in str(error)
    assert "[stderr:\nkernel.cu(4)" in str(error)
    assert WRONG in error.source
    assert list(temporary.iterdir()) == []


def test_compile_error_keeps_its_fields_in_a_pickle():
    error = CompileError("no", ["nvcc", "x.cu"], "out", stderr="err")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.msg, copy.command_line) == ("no", ["nvcc", "x.cu"])
    assert (copy.stdout, copy.stderr) == ("out", "err")


def test_str_of_compile_error_names_a_folder_that_is_there(tmp_path):
    command = ["nvcc", "-o", f"{tmp_path}/x/k.ptx", f"{tmp_path}/x/k.cu"]
    assert str(CompileError("no", command)) == "no\n[command: nvcc -o k.ptx k.cu]"
    (tmp_path / "x").mkdir()
    assert str(CompileError("no", command)).endswith(f"{tmp_path}/x/k.cu]")


def test_str_of_compile_error_has_only_the_sections_there_are():
    assert str(CompileError("no", ["nvcc"], "", None)) == "no\n[command: nvcc]"
    text = str(CompileError("no", ["nvcc", "-x"], "out", b"err"))
    assert text == "no\n[command: nvcc -x]\n[stdout:\nout]\n[stderr:\nerr]"


def undefined(count):
    """Return a kernel with so many errors."""
    body = "".join(f"    x[{k}] = nowhere_{k};\n" for k in range(count))
    return f"__global__ void fill(int *x)\n{{\n{body}}}\n"


@needs_nvcc
@pytest.mark.parametrize(("count", "is_cut"), [(1, False), (30, True)])
def test_the_text_of_many_errors_is_cut(count, is_cut):
    """The excerpt stays on the screen. The attribute has the whole text."""
    with pytest.raises(CompileError) as caught:
        compiler.compile(undefined(count), arch="sm_80")
    error = caught.value
    text = str(error)
    assert f"nowhere_{count - 1}" in error.stderr
    assert (f"nowhere_{count - 1}" in text) != is_cut
    assert ("more lines, in the attribute stderr of this error]" in text) == is_cut
    assert len(text.splitlines()) < 40
    shown = text.partition("[stderr:\n")[2].splitlines()
    lines = error.stderr.rstrip().splitlines()
    if is_cut:
        *first, note = shown
        assert first == lines[: len(first)]
        assert note.startswith(f"... {len(lines) - len(first)} more lines, in the")
    else:
        assert shown == [*lines[:-1], f"{lines[-1]}]"]


@needs_nvcc
def test_the_traceback_has_no_frames_of_the_compilation():
    with pytest.raises(CompileError) as caught:
        compiler.compile(undefined(1), arch="sm_80")
    frames = traceback.extract_tb(caught.value.__traceback__)
    names = [frame.name for frame in frames[1:]]
    assert names == ["compile", "build_image", "built_of", "build"]
    assert frames[0].filename == __file__
    assert caught.value.__context__ is None and caught.value.__cause__ is None


def test_success_without_an_image_is_an_error(toy, monkeypatch):
    monkeypatch.setenv("TOY_SILENT", "1")
    with pytest.raises(CompileError, match="made no file"):
        compiler.compile("text", nvcc=toy.path)


def test_missing_compiler_says_where_it_was_looked_for(monkeypatch):
    monkeypatch.setenv("CUDA_HOME", "/nowhere/cuda")
    with pytest.raises(CompilerNotFoundError) as caught:
        compiler.compile(ONE, nvcc="no-such-nvcc")
    assert isinstance(caught.value, CompileError)
    assert isinstance(caught.value, FileNotFoundError)
    for place in ("no-such-nvcc", "PATH", "CUDA_HOME=/nowhere/cuda", "nvidia/cu13/bin"):
        assert place in str(caught.value)
    assert "Install it: pip install" in str(caught.value).split("\n")[0]
    assert "[command:" not in str(caught.value)
    with pytest.raises(FileNotFoundError, match="/nowhere/nvcc"):
        compiler.compile(ONE, nvcc="/nowhere/nvcc")


def test_compiler_that_goes_away_is_missing(toy):
    compiler.compile("text", nvcc=toy.path, cache_dir=False)
    os.unlink(toy.path)
    with pytest.raises(CompilerNotFoundError, match="toy-nvcc"):
        compiler.compile("text", nvcc=toy.path, cache_dir=False)


def test_file_that_is_no_program_is_a_compile_error(tmp_path):
    path = tmp_path / "broken"
    path.write_bytes(b"\0\0\0\0")
    path.chmod(0o755)
    with pytest.raises(CompileError, match="cannot be run"):
        compiler.compile("text", nvcc=str(path))


def test_places_are_searched_in_order(tmp_path, monkeypatch):
    places = ["path", "home/bin", "cuda_path/bin", "site/nvidia/cu13/bin"]
    for place in places:
        (tmp_path / place).mkdir(parents=True)
        make_toy(tmp_path / place, "oddly-named")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path / "cuda_path"))
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    for place in places:
        path = tmp_path / place / "oddly-named"
        monkeypatch.setattr(nvcc, "_found", {})
        assert nvcc.find("oddly-named") == str(path)
        path.unlink()


# Messages of a successful compilation


def test_chatter_is_a_warning_once(toy, monkeypatch):
    monkeypatch.setenv("TOY_SAY", "ptxas info: used 8 registers\n")
    with pytest.warns(UserWarning, match="used 8 registers") as caught:
        first = compiler.compile("text", nvcc=toy.path)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiler.compile("text", nvcc=toy.path) == first


@needs_nvcc
def test_verbose_assembler_is_heard():
    with pytest.warns(UserWarning, match="Compiling entry function 'one'"):
        compiler.compile(ONE, arch="sm_80", options=["--ptxas-options=-v"])


def test_demoted_doubles_have_a_warning_of_their_own(toy, monkeypatch):
    monkeypatch.setenv("TOY_SAY", "Double is not supported. Demoting to float\n")
    with pytest.warns(UserWarning) as caught:
        compiler.compile("text", nvcc=toy.path)
    assert len(caught) == 2
    assert "double into float" in str(caught[0].message)


@pytest.mark.parametrize(
    "text",
    [
        "nvrtc: warning: Architectures prior to '<compute/sm>_75' are deprecated and "
        "may be removed in a future release\n",
        "nvcc warning : Support for offline compilation for architectures prior to "
        "'<compute/sm/lto>_75' will be removed in a future release (Use "
        "-Wno-deprecated-gpu-targets to suppress warning).\n",
    ],
)
def test_devices_that_will_be_dropped_are_no_news(text, toy, monkeypatch, recwarn):
    monkeypatch.setenv("TOY_SAY", text)
    compiler.compile("text", nvcc=toy.path)
    assert list(recwarn) == []
    monkeypatch.setenv("TOY_SAY", f"kernel.cu(1): warning: mine\n{text}")
    compiler.compile("other", nvcc=toy.path)
    (said,) = recwarn
    assert str(said.message).endswith(
        "said the following:\nkernel.cu(1): warning: mine"
    )


def test_quiet_success_on_a_cold_cache_says_nothing(toy, recwarn):
    compiler.compile("text", nvcc=toy.path)
    assert len(toy.compilations) == 1
    assert list(recwarn) == []


# Options


def test_order_of_options(toy, monkeypatch, tmp_path):
    monkeypatch.setattr(driver, "CUDA_DEBUGGING", True)
    compiler.compile(
        "text",
        nvcc=toy.path,
        options=["-O1", "-DX"],
        arch="sm_80",
        code="sm_86",
        include_dirs=[tmp_path, "relative"],
    )
    assert options_of(toy.compilations[0])[:8] == [
        "-O1",
        "-DX",
        "-g",
        "-G",
        "-arch=sm_80",
        "-code=sm_86",
        f"-I{tmp_path}",
        f"-I{os.path.abspath('relative')}",
    ]
    assert (
        options_of(toy.compilations[0])[8]
        == f"-I{compiler._find_pycuda_include_path()}"
    )


def test_options_are_copied_and_may_be_any_sequence(toy):
    options = ["-DX"]
    compiler.compile("text", nvcc=toy.path, options=options, arch="sm_80")
    assert options == ["-DX"]
    compiler.compile("other", nvcc=toy.path, options=("-DX",), arch="sm_80")
    first, second = (options_of(call) for call in toy.compilations)
    assert first == second
    for wrong in ({"options": "-O3"}, {"include_dirs": "folder"}):
        with pytest.raises(TypeError, match="not one string"):
            compiler.compile("text", nvcc=toy.path, **wrong)


def test_default_flags_are_a_live_list(toy, monkeypatch):
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", [])
    compiler.DEFAULT_NVCC_FLAGS.append("-DLIVE")
    compiler.compile("text", nvcc=toy.path)
    compiler.compile("text", nvcc=toy.path, options=[])
    assert [("-DLIVE" in call) for call in toy.compilations] == [True, False]
    assert compiler.DEFAULT_NVCC_FLAGS == ["-DLIVE"]


def test_default_flags_come_from_the_environment():
    code = "from pycuda.compiler import DEFAULT_NVCC_FLAGS as f; print(f)"
    environ = {**os.environ, "PYCUDA_DEFAULT_NVCC_FLAGS": " -O1  -DX=1 "}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "['-O1', '-DX=1']"


def test_package_header_folder_is_where_programs_expect_it():
    import pycuda

    expected = Path(os.path.abspath(pycuda.__file__)).parent / "cuda"
    assert Path(compiler._find_pycuda_include_path()) == expected


# Kept files, debugging


def test_keep_prints_the_directory_and_leaves_it(toy, capsys, temporary):
    compiler.compile("text", nvcc=toy.path)
    assert list(temporary.iterdir()) == []
    compiler.compile("text", nvcc=toy.path, keep=True)
    (folder,) = temporary.iterdir()
    assert str(folder) in capsys.readouterr().out
    assert (folder / "kernel.cu").exists()
    assert (folder / "kernel.cubin").exists()
    # The caller wants the files, so a cached result is not enough.
    assert len(toy.compilations) == 2


def test_failure_leaves_its_files_only_if_asked(toy, temporary, capsys):
    for keep in (False, True):
        with pytest.raises(CompileError) as caught:
            compiler.compile("#error", nvcc=toy.path, keep=keep)
        assert len(list(temporary.iterdir())) == keep
    (folder,) = temporary.iterdir()
    assert str(folder) in str(caught.value)
    assert str(folder) in capsys.readouterr().out


def test_set_debugging(toy, monkeypatch, capsys, temporary, tmp_path):
    monkeypatch.setattr(driver, "CUDA_DEBUGGING", False)
    driver.set_debugging()
    for _ in range(2):
        compiler.compile("text", nvcc=toy.path)
    assert [call[1:3] for call in toy.compilations] == [["-g", "-G"]] * 2
    assert len(list(temporary.iterdir())) == 2
    assert list((tmp_path / "cache").iterdir()) == []
    driver.set_debugging(False)
    compiler.compile("text", nvcc=toy.path)
    assert "-G" not in toy.compilations[-1]


@needs_nvcc
def test_real_intermediate_files_are_kept(temporary, capsys):
    compiler.compile(ONE, arch="sm_80", keep=True)
    (folder,) = temporary.iterdir()
    assert {"kernel.cu", "kernel.ptx", "kernel.cubin"} <= {
        p.name for p in folder.iterdir()
    }


# Architectures


def test_no_context_no_arch(toy):
    compiler.compile("text", nvcc=toy.path)
    assert not any("-arch" in option for option in toy.compilations[0])


def test_arch_of_the_device(toy, on_device):
    on_device(8, 0)
    compiler.compile("text", nvcc=toy.path)
    compiler.compile("text", nvcc=toy.path, arch="sm_90")
    compiler.compile(
        "text", nvcc=toy.path, options=["-gencode=arch=compute_80,code=sm_80"]
    )
    archs = [[o for o in call if o.startswith("-arch")] for call in toy.compilations]
    assert archs == [["-arch=sm_80"], ["-arch=sm_90"], []]


def test_newer_device_gets_ptx_of_the_newest_arch(toy, on_device, loaded):
    on_device(13, 0)
    SourceModule("text", nvcc=toy.path)
    assert toy.compilations[0][:2] == ["--ptx", "-arch=compute_90"]
    assert loaded[0].startswith(b"--ptx")
    compiler.compile("text", nvcc=toy.path, target="ptx")
    assert toy.compilations[-1][:2] == ["--ptx", "-arch=compute_90"]
    compiler.compile("text", nvcc=toy.path, target="fatbin")
    assert toy.compilations[-1][:2] == ["--fatbin", "-arch=compute_90"]
    with pytest.raises(CompileError, match=r"13\.0.*7\.5 to 9\.0.*13\.0.*target='ptx'"):
        compiler.compile("text", nvcc=toy.path, target="cubin")


def test_device_between_known_archs_gets_ptx_of_the_one_below(toy, on_device, loaded):
    on_device(8, 9)
    SourceModule("text", nvcc=toy.path)
    assert toy.compilations[0][:2] == ["--ptx", "-arch=compute_80"]


@pytest.mark.parametrize(
    ("capability", "toolkit"), [((6, 1), "12.9"), ((3, 7), "11.8"), ((3, 0), "10.2")]
)
def test_device_that_is_too_old(toy, on_device, loaded, capability, toolkit):
    on_device(*capability)
    has = ".".join(map(str, capability))
    with pytest.raises(CompileError) as caught:
        SourceModule("text", nvcc=toy.path)
    for part in ("release 13.0", "7.5 to 9.0", f"has {has}", f"version {toolkit}"):
        assert part in str(caught.value)
    assert toy.compilations == []
    with pytest.warns(UserWarning, match=f"{has}, less than"):
        SourceModule("text", nvcc=toy.path, arch="sm_75")
    assert loaded


def test_compiler_that_lists_no_archs_is_asked_for_the_devices(
    toy, on_device, monkeypatch
):
    monkeypatch.setenv("TOY_ARCHS", "")
    on_device(3, 0)
    compiler.compile("text", nvcc=toy.path)
    assert "-arch=sm_30" in toy.compilations[0]


def test_software_device_gets_ptx(toy, on_device, loaded):
    on_device(7, 5, software=True)
    SourceModule("text", nvcc=toy.path)
    assert toy.compilations[-1][:2] == ["--ptx", "-arch=compute_75"]
    with pytest.warns(UserWarning, match="less than"):
        SourceModule("text", nvcc=toy.path, arch="sm_90", code="sm_90")
    assert toy.compilations[-1][:2] == ["--ptx", "-arch=sm_90"]
    assert not any(option.startswith("-code") for option in toy.compilations[-1])
    compiler.compile("text", nvcc=toy.path, target="cubin")
    assert toy.compilations[-1][:2] == ["--cubin", "-arch=sm_75"]


def test_default_target_is_one_that_the_device_loads(toy, on_device):
    def target(**how):
        return compiler.compile("text", nvcc=toy.path, **how).partition(b"\n")[0]

    assert target() == b"--cubin"  # without a device
    on_device(8, 0)
    assert target() == b"--cubin"
    assert target(options=["-rdc=true"]) == b"--cubin"
    assert "-dlink" not in toy.compilations[-1]  # a Linker accepts it
    assert target(arch=["sm_80", "sm_90"]) == b"--fatbin"
    on_device(9, 9)  # newer than the compiler
    assert target() == b"--ptx"
    on_device(8, 0, software=True)
    assert target() == b"--ptx"
    assert target(code="sm_80") == b"--ptx"
    for asked in ("cubin", "ptx", "fatbin"):
        assert target(target=asked) == f"--{asked}".encode()


@needs_nvcc
def test_real_compiler_knows_its_archs(on_device):
    archs = nvcc.Tool("nvcc").facts(None).archs
    assert archs == sorted(archs)
    assert 80 in archs
    on_device(*divmod(archs[-1], 10))
    assert compiler.compile(ONE)[:4] == b"\x7fELF"
    on_device(99, 0)
    ptx = compiler.compile(ONE, target="ptx")
    assert b".target sm_%d" % archs[-1] in ptx


@pytest.mark.parametrize("arch", ["sm_80", "sm_75", "compute_80", "sm_80a", None])
def test_arch_within_the_device_is_silent(arch, on_device, recwarn):
    on_device(8, 0)
    compiler.CudaModule()._check_arch(arch)
    assert list(recwarn) == []


@pytest.mark.parametrize(
    ("arch", "text"),
    [
        ("sm_86", "8.0, less than"),
        ("sm_100", "8.0, less than"),
        ("sm_xy", "not one like"),
    ],
)
def test_arch_above_the_device_warns(arch, text, on_device):
    on_device(8, 0)
    with pytest.warns(UserWarning, match=text):
        compiler.CudaModule()._check_arch(arch)


# Modules


def test_source_module_hands_out_what_the_module_has(toy, loaded):
    module = SourceModule("text", nvcc=toy.path)
    assert module.get_function("f") == ("function", "f")
    assert module.get_global("g") == ("global", "g")
    assert module.get_texref("t") == ("texref", "t")
    assert module.get_surfref("s") == ("surfref", "s")
    assert "get_function" not in vars(module)
    assert isinstance(module, compiler.CudaModule)


def test_source_module_can_be_subclassed_with_getattr(toy, loaded):
    class Named(SourceModule):
        def __getattr__(self, name):
            return self.get_function(name)

    assert Named("text", nvcc=toy.path).kernel == ("function", "kernel")


# The compiler's message


def test_version_is_asked_once(toy):
    assert compiler.get_nvcc_version(toy.path).startswith("toy compiler, release 13.0")
    compiler.get_nvcc_version(toy.path)
    assert toy.calls.count(["--version"]) == 1


def test_compiler_without_a_version_is_reported(toy, monkeypatch):
    monkeypatch.setenv("TOY_VERSION", "")
    with pytest.warns(UserWarning, match="printed nothing"):
        compiler.get_nvcc_version(toy.path)


@needs_nvcc
def test_preprocess_source():
    text = compiler.preprocess_source("#define N 7\nint n = N;\n", [], "nvcc")
    assert "int n = 7;" in text
    with pytest.raises(CompileError) as caught:
        compiler.preprocess_source('#include "nowhere.h"\n', [], "nvcc")
    assert "nowhere.h" in caught.value.stderr


# Costs


def test_import_is_light():
    heavy = "subprocess tempfile platformdirs hashlib json shutil numpy"
    code = (
        "import sys; before = set(sys.modules); import pycuda.compiler;"
        f"print(sorted(set('{heavy}'.split()) & (set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == "[]"


def test_threads_compile_side_by_side(toy, monkeypatch, tmp_path):
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    monkeypatch.setenv("TOY_MEET", str(meeting))
    monkeypatch.setenv("TOY_MEET_COUNT", "4")
    threads = [
        threading.Thread(
            target=compiler.compile, args=(f"text {n}",), kwargs={"nvcc": toy.path}
        )
        for n in range(4)
    ]
    compiler.get_nvcc_version(toy.path)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(meeting.iterdir())) == 4  # each waited for the other three
    assert len(toy.compilations) == 4


def test_wrong_items_are_named(toy):
    for name in ("options", "include_dirs"):
        for item in (3, b"-O3"):
            with pytest.raises(TypeError, match=f"{name} must be a list of strings"):
                compiler.compile(ONE, nvcc=toy.path, **{name: [item]})
    for arch in (75, ["sm_75", 80]):
        with pytest.raises(TypeError, match="arch is one like 'sm_80', or a list"):
            compiler.compile(ONE, nvcc=toy.path, arch=arch, target="fatbin")
    assert not toy.compilations


def test_a_cache_folder_as_bytes(toy, tmp_path):
    folder = tmp_path / "as bytes"
    for _ in range(2):
        compiler.compile(ONE, nvcc=toy.path, cache_dir=os.fsencode(folder))
    assert len(toy.compilations) == 1
    assert list(folder.glob("*.cubin"))
