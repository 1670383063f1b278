"""Bundles: made of recorded sources, found without a compiler, chosen by the device."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest

from pycuda import compiler, doctor, precompile
from pycuda._compile import (
    architecture,
    bundle,
    bundle_writer,
    recording,
    store,
    tools,
)
from pycuda._compile.recording import Device, Recorded
from pycuda._compile.request import CompileRequest
from pycuda._compile.toolkit import Facts
from pycuda.driver import CompileError, CompilerNotFoundError

pytestmark = pytest.mark.usefixtures("cache")


class FakeDevice:
    """The device of the current context."""

    def __init__(self, capability, software=False):
        self.capability, self.software = capability, software


@pytest.fixture(autouse=True)
def no_bundles(monkeypatch):
    monkeypatch.setattr(bundle, "_used", [])
    monkeypatch.setattr(bundle, "_named", ("", []))
    monkeypatch.setattr(bundle, "_complained", set())


@pytest.fixture
def on(monkeypatch):
    """Pretend that the current context is on a device, or that there is none."""

    def choose(*capability, software=False):
        device = FakeDevice(capability, software) if capability else None
        monkeypatch.setattr(architecture, "current_device", lambda: device)

    choose(8, 0)
    return choose


@pytest.fixture
def make(tmp_path, toy, on, monkeypatch):
    """Compile with the toy, and make a bundle of it.

    With ``more`` the bundle has the sources of earlier calls too.
    """

    def run(*sources, archs="sm_80", more=False, **how):
        folder = tmp_path / "recorded"
        if not more:
            shutil.rmtree(folder, ignore_errors=True)
            recording._kept.clear()
        with monkeypatch.context() as patch:
            patch.setenv("PYCUDA_RECORD", str(folder))
            for source in sources:
                compiler.compile(source, nvcc=toy.path, **how)
        on()
        path = tmp_path / "app.bundle"
        words = ["--from", str(folder), "--arch", archs, "-o", str(path)]
        assert precompile.main(words) == 0
        on(8, 0)
        return path

    return run


@pytest.fixture
def without(monkeypatch):
    """Say that there is no compiler, and that the cache is empty."""

    @contextlib.contextmanager
    def block():
        with monkeypatch.context() as patch:
            patch.setenv("PYCUDA_CACHE_DIR", "/nonexistent/cache")
            yield "/nonexistent/nvcc"

    return block


def compiled(nvcc, source="text", **how):
    return compiler.compile(source, nvcc=nvcc, **how)


# What a bundle replaces


def test_an_image_is_found_without_a_compiler(make, toy, without):
    path = make("text", "other")
    calls = len(toy.calls)
    precompile.use(path)
    with without() as nvcc:
        assert b"\ntext\n" in compiled(nvcc)
        assert b"\nother\n" in compiled(nvcc, "other")
        assert b"\nother\n" in compiled(nvcc, b"other")
    assert len(toy.calls) == calls


def test_without_the_bundle_the_compiler_is_missing(make, without):
    make("text")
    with without() as nvcc, pytest.raises(CompilerNotFoundError):
        compiled(nvcc)


def test_the_variable_names_bundles(make, without, monkeypatch, tmp_path):
    path = make("text")
    other = tmp_path / "other.bundle"
    path.rename(other)
    make("second")
    monkeypatch.setenv("PYCUDA_BUNDLE", f"{path}:{other}")
    with without() as nvcc:
        assert b"\ntext\n" in compiled(nvcc)
        assert b"\nsecond\n" in compiled(nvcc, "second")
        monkeypatch.setenv("PYCUDA_BUNDLE", str(path))
        with pytest.raises(CompilerNotFoundError):
            compiled(nvcc)


@pytest.mark.parametrize(
    "how",
    [
        {"options": ["-DX"]},
        {"no_extern_c": True},
        {"target": "ptx"},
        {"code": "sm_80"},
        {"arch": "sm_80"},
    ],
)
def test_each_argument_makes_a_difference(make, without, how):
    precompile.use(make("text"))
    with without() as nvcc:
        assert compiled(nvcc)
        with pytest.raises(CompilerNotFoundError):
            compiled(nvcc, **how)
    precompile.use(make("text", **how))
    with without() as nvcc:
        assert b"\ntext" in compiled(nvcc, **how)


def test_a_source_that_a_bundle_lacks_is_compiled(make, toy):
    precompile.use(make("text"))
    before = len(toy.compilations)
    assert b"\nnew\n" in compiled(toy.path, "new")
    assert len(toy.compilations) == before + 1


def test_many_sources_of_which_the_bundle_has_one(make, toy, monkeypatch):
    """Threads compile the others for the device of the thread that called."""
    precompile.use(make("text"))
    caller = threading.get_ident()

    def current():
        return FakeDevice((9, 0)) if threading.get_ident() == caller else None

    monkeypatch.setattr(architecture, "current_device", current)
    before = len(toy.compilations)
    compiler.compile_many(["new", "newest"], nvcc=toy.path, workers=2)
    monkeypatch.setattr(architecture, "current_device", lambda: FakeDevice((8, 0)))
    texts = compiler.compile_many(["text", "newer"], nvcc=toy.path, workers=2)
    assert [text.split(b"\n")[-3] for text in texts] == [b"text", b"newer"]
    archs = [word for call in toy.compilations[before:] for word in call]
    archs = [word for word in archs if word.startswith("-arch")]
    assert sorted(archs) == ["-arch=sm_80", "-arch=sm_90", "-arch=sm_90"]


def test_the_error_says_why_the_bundle_has_nothing(make, without, on):
    path = make("text")
    precompile.use(path)
    with without() as nvcc:
        with pytest.raises(CompilerNotFoundError, match="no image of this source"):
            compiled(nvcc, "new")
        on(9, 0)
        with pytest.raises(CompilerNotFoundError) as caught:
            compiled(nvcc)
        on(7, 5, software=True)
        with pytest.raises(CompilerNotFoundError, match="needs PTX"):
            compiled(nvcc)
    text = str(caught.value)
    assert text.startswith(f"The bundle '{path}' cannot replace the compiler")
    assert "for sm_80, and the device has compute capability 9.0" in text
    assert "python -m pycuda.precompile" in text


def test_keeping_files_compiles(make, toy, capsys):
    precompile.use(make("text"))
    before = len(toy.compilations)
    compiled(toy.path, keep=True)
    assert len(toy.compilations) == before + 1


def test_the_images_are_those_of_the_architectures(make, toy):
    make("text", archs="80,90")
    archs = {
        word
        for call in toy.compilations
        for word in call
        if word.startswith("-arch") or word == "--ptx"
    }
    assert archs == {"-arch=sm_80", "-arch=sm_90", "-arch=compute_90", "--ptx"}


# Headers


SOURCE = '#include "a.h"\n'


def test_headers_may_be_absent(make, headers, without):
    path = make(SOURCE, include_dirs=[headers])
    precompile.use(path)
    (headers / "a.h").unlink()
    with without() as nvcc:
        assert b"\nof a\n" in compiled(nvcc, SOURCE, include_dirs=[headers])
        assert b"\nof a\n" in compiled(nvcc, SOURCE, include_dirs=["/elsewhere"])
        assert b"\nof a\n" in compiled(nvcc, SOURCE)


@pytest.mark.parametrize("how", ["argument", "-I", "-I value"])
def test_headers_may_be_elsewhere_but_not_different(
    make, headers, toy, tmp_path, how, without
):
    path = make(SOURCE, include_dirs=[headers])
    precompile.use(path)
    place = tmp_path / "elsewhere"
    headers.rename(place)
    given = {
        "argument": {"include_dirs": [place]},
        "-I": {"options": [f"-I{place}"]},
        "-I value": {"options": ["-I", str(place)]},
    }[how]
    with without() as nvcc:
        assert b"\nof a\n" in compiled(nvcc, SOURCE, **given)
    (place / "a.h").write_text("new")
    with pytest.warns(UserWarning, match=r"another content of the header .*a\.h"):
        image = compiled(toy.path, SOURCE, include_dirs=[place])
    assert b"\nnew\n" in image


def test_one_source_with_two_headers(make, toy, tmp_path, without):
    """Two folders have a header of one name with different contents."""
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "a.h").write_text(f"of {folder.name}")
        os.utime(folder / "a.h", (1, 1))
    make(SOURCE, include_dirs=folders[:1])
    precompile.use(make(SOURCE, include_dirs=folders[1:], more=True))
    for folder in folders:
        with without() as nvcc, pytest.MonkeyPatch.context() as patch:
            patch.setattr(bundle, "warn", lambda text: None)
            image = compiled(nvcc, SOURCE, include_dirs=[folder])
        assert f"\nof {folder.name}\n".encode() in image


# The choice


def image(name):
    """Return an image that is called "sm_80" or "compute_90"."""
    target = "ptx" if name.startswith("compute") else "cubin"
    return bundle.Image([target, name, "0", "0", ""])


@pytest.mark.parametrize(
    ("have", "capability", "best"),
    [
        ("sm_80 sm_90 compute_90", (8, 0), "sm_80"),
        ("sm_80 sm_90 compute_90", (8, 6), "sm_80"),
        ("sm_80 sm_86 compute_90", (8, 9), "sm_86"),
        ("sm_80 sm_90 compute_90", (9, 0), "sm_90"),
        ("sm_80 sm_90 compute_90", (10, 0), "compute_90"),
        ("compute_80 compute_90", (10, 0), "compute_90"),
        ("compute_80 compute_90", (8, 6), "compute_80"),
        ("sm_80 sm_90 compute_90", (7, 5), None),
        ("sm_90a sm_90 compute_90", (10, 0), "compute_90"),
        ("sm_90a", (9, 0), "sm_90a"),
        ("sm_100a compute_100a", (10, 3), None),
        ("sm_120", (12, 1), "sm_120"),
        ("default", (8, 0), None),
    ],
)
def test_the_best_image(have, capability, best):
    images = [image(name) for name in have.split()]
    for order in (images, images[::-1]):
        found = bundle.best(order, None, FakeDevice(capability))
        assert (found and found.arch) == best


def test_the_software_device_gets_ptx():
    images = [image(name) for name in ("sm_75", "compute_75", "compute_90")]
    for capability, best in (((7, 5), "compute_75"), ((9, 0), "compute_90")):
        assert bundle.best(images, None, FakeDevice(capability, True)).arch == best
    assert bundle.best(images[:1], None, FakeDevice((7, 5), True)) is None
    assert bundle.best(images[2:], None, FakeDevice((7, 5), True)) is None


def test_a_target_is_obeyed():
    images = [image("sm_80"), image("compute_80")]
    for target, best in (("ptx", "compute_80"), ("cubin", "sm_80"), ("fatbin", None)):
        found = bundle.best(images, target, FakeDevice((8, 0)))
        assert (found and found.arch) == best


def test_without_a_context_only_what_was_compiled_without(make, on, without):
    on()
    path = make("text")
    precompile.use(path)
    with without() as nvcc:
        with pytest.raises(CompilerNotFoundError):
            compiled(nvcc)  # on a device
        on()
        assert b"\ntext\n" in compiled(nvcc)
    assert precompile.contents(path)[0].architectures == ("default",)


# Architectures on the command line


@pytest.mark.parametrize(
    ("text", "code", "ptx"),
    [
        ("80,90", "80 90", "90"),
        ("8.0 9.0", "80 90", "90"),
        ("sm_80", "80", ""),
        ("compute_90", "", "90"),
        ("sm_80,compute_75", "80", "75"),
        ("90a", "90a", ""),
        ("80,90a", "80 90a", "80"),
        ("100,90", "100 90", "100"),
        ("80,80,compute_80", "80", "80"),
    ],
)
def test_architectures(text, code, ptx):
    found = bundle_writer.parse_architectures(text)
    assert found == (tuple(code.split()), tuple(ptx.split()))


@pytest.mark.parametrize("text", ["", ",", "8", "sm80", "hopper", "sm_9x", "80;90"])
def test_what_is_no_architecture(text):
    with pytest.raises(ValueError, match="architecture"):
        bundle_writer.parse_architectures(text)


def test_architectures_of_the_devices():
    def source(*device):
        device = Device(device[:2], device[2]) if device else None
        return Recorded(CompileRequest("text"), (), device, "a.py:1")

    on = bundle_writer.architectures_of
    assert on([source(8, 0, False), source(9, 0, False)]) == (("80", "90"), ("90",))
    assert on([source(9, 0, True)]) == ((), ("90",))
    assert on([source(9, 0, True), source(9, 0, False)]) == (("90",), ("90",))
    assert on([source()]) == ((), ())


# Damage


def test_what_is_no_bundle(tmp_path, make):
    path = tmp_path / "no.bundle"
    for data in (b"", b"PCUBUNDLE1\n", b"x" * 1000):
        path.write_bytes(data)
        with pytest.raises(ValueError, match=r"'.*no\.bundle' is not a bundle"):
            precompile.use(path)
    with pytest.raises(FileNotFoundError):
        precompile.use(tmp_path / "nothing")
    good = make("text").read_bytes()
    assert good[40:41] != b"?"
    path.write_bytes(good[:45] + b"?" + good[46:])
    with pytest.raises(ValueError, match=r"no\.bundle' is damaged"):
        precompile.use(path)
    path.write_bytes(good[:60])
    with pytest.raises(ValueError, match=r"no\.bundle' is damaged"):
        precompile.use(path)


def test_a_damaged_image_is_compiled(make, toy, tmp_path, monkeypatch):
    path = make("text")
    precompile.use(path)
    data = path.read_bytes()
    place = data.rindex(b"text")
    path.write_bytes(data[:place] + b"T" + data[place + 1 :])
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "empty"))
    before = len(toy.compilations)
    with pytest.warns(UserWarning, match=r"app\.bundle' was changed or is damaged"):
        assert b"\ntext\n" in compiled(toy.path)
    assert len(toy.compilations) == before + 1


def test_a_variable_that_names_nothing_is_one_warning(toy, monkeypatch, tmp_path):
    (tmp_path / "text.bundle").write_text("text")
    for name, why in (("none", "cannot be read"), ("text", "is not a bundle")):
        monkeypatch.setenv("PYCUDA_BUNDLE", str(tmp_path / f"{name}.bundle"))
        with pytest.warns(UserWarning, match=why) as caught:
            for text in ("one", "two"):
                compiled(toy.path, text)
        assert len(caught) == 1
        assert caught[0].filename == __file__


# Recording


def test_a_source_is_recorded_once_and_from_the_cache(toy, tmp_path, monkeypatch, on):
    compiled(toy.path)
    monkeypatch.setenv("PYCUDA_RECORD", str(tmp_path / "recorded"))
    for _ in range(3):
        compiled(toy.path)
    with pytest.raises(CompileError):
        compiled(toy.path, "#error")
    (found,) = recording.read(str(tmp_path / "recorded"))
    assert found.request.source == "text"
    assert found.device == ((8, 0), False)
    assert found.line.startswith(f"{__file__}:")


def test_each_process_has_its_own_file(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_RECORD", str(tmp_path))
    compiled(toy.path)
    child = os.fork()
    if child == 0:
        try:
            compiled(toy.path)
            compiled(toy.path, "of the child")
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(tmp_path.glob("*.jsonl"))) == 2
    sources = [each.request.source for each in recording.read(str(tmp_path))]
    assert sorted(sources) == ["of the child", "text"]


def test_a_folder_that_cannot_be_written_is_one_warning(toy, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(recording, "_complained", False)
    monkeypatch.setenv("PYCUDA_RECORD", str(tmp_path / "file" / "folder"))
    with pytest.warns(UserWarning, match="sources cannot be recorded") as caught:
        for text in ("one", "two"):
            assert compiled(toy.path, text)
    assert len(caught) == 1


def test_a_record_that_is_none(tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"source": "text"}\n')
    words = ["--from", str(tmp_path), "--arch", "80", "-o", str(tmp_path / "b")]
    assert precompile.main(words) == 1
    assert "line 1 of" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


# The command line


def command(*words):
    return [str(word) for word in words]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "name the PROGRAM"),
        (["a.py"], "-o"),
        (["a.py", "b.py", "-o", "x"], "one PROGRAM at a time"),
        (["--read", "a.py", "-o", "x"], "--read needs --arch"),
        (["--from", "f", "a.py", "-o", "x"], "takes no PROGRAM"),
    ],
)
def test_command_lines_that_make_no_sense(words, text, capsys):
    with pytest.raises(SystemExit) as caught:
        precompile.main(words)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["nothing.py"], "there is no file 'nothing.py'"),
        (["a/b"], "there is no file 'a/b'"),
        (["--from", "/nonexistent"], "No such file"),
        (["--read", "/nonexistent/a.py", "--arch", "80"], "No such file"),
    ],
)
def test_files_that_do_not_exist(words, text, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert precompile.main([*words, "-o", "x.bundle"]) == 2
    assert text in capsys.readouterr().err
    assert list(tmp_path.glob("x.bundle*")) == []


def test_a_program_that_fails_makes_no_bundle(tmp_path, capsys):
    program = tmp_path / "fails.py"
    program.write_text("import sys; sys.exit(3)")
    assert precompile.main(command(program, "-o", tmp_path / "b")) == 1
    assert "ended with status 3" in capsys.readouterr().err
    program.write_text("print('nothing to compile')")
    assert precompile.main(command(program, "-o", tmp_path / "b")) == 1
    assert "no source was compiled" in capsys.readouterr().err
    assert not (tmp_path / "b").exists()


def test_a_source_that_fails_for_an_architecture(make, toy, capsys, tmp_path, on):
    make("text")
    path = tmp_path / "app.bundle"
    path.unlink()
    record = next((tmp_path / "recorded").glob("*.jsonl"))
    row = json.loads(record.read_text())
    record.write_text(json.dumps({**row, "source": "#error"}) + "\n")
    on()
    words = command("--from", tmp_path / "recorded", "--arch", "80", "-o", path)
    assert precompile.main(words) == 1
    said = capsys.readouterr().err
    assert "2 images could not be made; no bundle was written" in said
    assert f"{__file__}:" in said
    assert "for sm_80: nvcc compilation of kernel.cu failed" in said
    assert not path.exists()


def test_the_list_of_a_bundle(make, capsys):
    path = make("__global__ void one() {}", archs="80,90")
    (row,) = precompile.contents(path)
    assert row.kernels == "one"
    assert row.architectures == ("sm_80", "sm_90", "compute_90")
    capsys.readouterr()
    assert precompile.main(["--list", str(path)]) == 0
    said = capsys.readouterr().out
    assert "compiled by nvcc 13.0" in said
    assert "sm_80, sm_90, compute_90  one" in said
    assert precompile.main(["--list", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["sources"]
    assert row["kernels"] == "one"


def test_the_result_as_json(tmp_path, toy, capfd):
    program = tmp_path / "program.py"
    program.write_text(
        "from pycuda.compiler import compile\n"
        f"print('its output')\ncompile('text', nvcc={toy.path!r}, arch='sm_80')\n"
    )
    path = tmp_path / "b"
    assert precompile.main(command(program, "-o", path, "--json")) == 0
    out, err = capfd.readouterr()
    assert json.loads(out)["bundle"] == str(path)
    assert json.loads(out)["size"] == path.stat().st_size
    assert "its output" in err


def test_a_module_and_its_arguments(tmp_path, toy, capfd, monkeypatch):
    (tmp_path / "of_mine.py").write_text(
        "import sys\nfrom pycuda.compiler import compile\n"
        f"compile(sys.argv[1], nvcc={toy.path!r}, arch='sm_80')\nprint(__name__)"
    )
    paths = [str(tmp_path), *sys.path, os.getcwd()]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    path = tmp_path / "b"
    for words in (["of_mine"], ["-m", "of_mine"]):
        assert precompile.main(command(*words, "-o", path, "--", "--text")) == 0
        assert "__main__" in capfd.readouterr().out
    assert [row.kernels for row in precompile.contents(path)] == ["no kernels"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--arch", "hopper", "-o", "x"], "not 'hopper'"),
        (["--arch", ",", "-o", "x"], "there are no architectures"),
        (["--arch", "\uff19\uff10", "-o", "x"], "not '\uff19\uff10'"),
        (["-j", "0", "-o", "x"], "'0' must be a number from 1"),
        (["-j", "x", "-o", "x"], "'x' must be a number from 1"),
        (["-o", ""], "name the file to write"),
        (["-o", "."], "this is a folder"),
        (["-o", "/dev/full"], "this is not a file, but a device or a pipe"),
        (["-o", "no/x"], "there is no folder"),
        (["--list", "x.bundle"], "--list takes no PROGRAM"),
    ],
)
def test_words_that_are_refused_before_the_program_runs(
    words, text, capfd, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("x.py").write_text("print('it ran')")
    with pytest.raises(SystemExit) as caught:
        precompile.main(["x.py", *words])
    out, err = capfd.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert text in err
    assert [path.name for path in tmp_path.iterdir()] == ["x.py"]


@pytest.mark.parametrize("arch", ["800", "10", "sm_80a", "80f", "compute_999", "80,77"])
def test_architectures_that_no_compiler_knows(arch, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tools, "installed", lambda: FACTS)
    Path("x.py").write_text("print('it ran')")
    assert precompile.main(["x.py", "--arch", arch, "-o", "x"]) == 1
    out, err = capfd.readouterr()
    assert out == ""
    assert f"do not know the architecture {arch.split('_')[-1].split(',')[-1]}." in err
    assert "(one 13.0, two 13.0)" in err and "They know 80, 90, 100" in err


FACTS = [
    Facts("one", "", "release 13.0", "compute_80 compute_90"),
    Facts("two", "", "release 13.0", "compute_80 compute_90 compute_100"),
]


def test_architectures_that_a_compiler_may_know(monkeypatch):
    def unknown(text, compilers):
        monkeypatch.setattr(tools, "installed", lambda: compilers)
        return bundle_writer.unknown(bundle_writer.parse_architectures(text))

    assert unknown("80,90a,compute_100f", FACTS) == ""
    assert "80a" in unknown("80a", FACTS)
    assert unknown("77", []) == ""
    silent = Facts("old", "", "release 10.0", "")
    assert unknown("77", [*FACTS, silent]) == ""


def test_a_bundle_is_written_through_a_link_and_never_over_a_device(tmp_path):
    path, link = tmp_path / "b", tmp_path / "link"
    link.symlink_to(path)
    size = bundle_writer.write(str(link), "1", [], [])
    assert link.is_symlink() and path.stat().st_size == size
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ValueError, match="not a file, but a device or a pipe"):
        bundle_writer.write(str(pipe), "1", [], [])
    assert pipe.is_fifo()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b", "link", "pipe"]


def test_the_first_words_of_the_compiler_are_in_the_message():
    error = CompileError("it failed", ["nvcc"], stderr="\nno room on disk\nmore\n")
    assert bundle_writer.first_lines(error) == "it failed: no room on disk"
    assert bundle_writer.first_lines(ValueError("other")) == "other"


def index_of(path):
    """Return (index, images) of a bundle."""
    data = Path(path).read_bytes()
    head = len(bundle.MAGIC) + 20
    size = int.from_bytes(data[head : head + 8], "little")
    return data[head + 8 :][:size], data[head + 8 + size :]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"\nI\tptx\tcompute_80\t0\t", b"\nI\tptx\tcompute_80\tx\t"),
        (b"\nI\tptx\t", b"\nI\tptx\nI\t"),
        (b"\nS\t", b"\nS\t0\t1\t"),
        (b"compute_80", b"compute_xx"),
        (b"", b""),
    ],
)
def test_an_index_of_another_version(make, toy, on, old, new):
    path = str(make("text", archs="compute_80"))
    index, images = index_of(path)
    assert old in index
    index = index.replace(old, new)
    head = bundle.MAGIC + store.digest_bytes(index) + len(index).to_bytes(8, "little")
    Path(path).write_bytes(head + index + images)
    on(8, 0, software=True)
    precompile.use(path)
    calls = len(toy.calls)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert b"\ntext\n" in compiled(toy.path, cache_dir=False)
    assert (len(toy.calls) > calls) == (old != new)
    for each in said:
        assert "pycuda.precompile" in str(each.message) and path in str(each.message)


@pytest.mark.parametrize("damage", ["cut", "changed", "offset"])
def test_the_list_and_the_doctor_name_damage(make, damage, capsys, monkeypatch):
    path = str(make("text", archs="80"))
    assert precompile.main(["--list", path]) == 0
    data = bytearray(Path(path).read_bytes())
    if damage == "cut":
        del data[-1]
    if damage == "changed":
        data[-1] ^= 1
    if damage == "offset":
        index, images = index_of(path)
        index = index.replace(b"\tcompute_80\t", b"\tcompute_80\t-99999")
        size = len(index).to_bytes(8, "little")
        data = bundle.MAGIC + store.digest_bytes(index) + size + index + images
    Path(path).write_bytes(data)
    capsys.readouterr()
    assert precompile.main(["--list", path]) == 1
    assert f"the bundle '{path}' is damaged: an image of" in capsys.readouterr().err
    monkeypatch.setenv("PYCUDA_BUNDLE", path)
    (finding,) = [f for f in doctor.look_at_shared() if f.about == "bundle"]
    assert finding.level == doctor.NOTE and "is damaged" in finding.text


def test_a_pipe_is_no_bundle(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="is not a bundle of kernels"):
        precompile.use(tmp_path / "pipe")


def test_a_relative_name_of_a_bundle_begins_where_the_program_began(
    make, tmp_path, monkeypatch
):
    path = Path(make("text"))
    (tmp_path / "elsewhere").mkdir()
    program = (
        "import os, sys, warnings\nwarnings.simplefilter('error')\n"
        "import pycuda\nos.chdir('elsewhere')\n"
        "from pycuda._compile import bundle\n"
        "print([os.path.basename(each.path) for each in bundle.in_use()])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYCUDA_BUNDLE": os.path.relpath(path, tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"['{path.name}']\n", done.stderr
