"""Load malformed PTX and images under sanitizers. No input may crash the loader."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support import cc

sys.path.insert(0, str(cc.ROOT / "tools"))

import fuzz_ptx  # noqa: E402

pytestmark = pytest.mark.skipif(
    not cc.compilers(), reason="neither gcc nor clang is installed"
)

RUNS = 20000
LAUNCHED = 4000


def build(launch=False, images=False):
    compiler = shutil.which("clang") or shutil.which("gcc")
    folder = cc.ROOT / "build" / "fuzz" / f"{Path(compiler).name}-test"
    return fuzz_ptx.build(
        folder, compiler, launch=launch, images=images, optimise="-O0"
    )


@pytest.fixture(scope="module")
def program():
    return build(launch=False)


@pytest.fixture(scope="module")
def launcher():
    return build(launch=True)


def fuzz(program, runs, seed, files, crash):
    command = fuzz_ptx.own_command(program, runs, seed, files, crash)
    return cc.run(command, env=fuzz_ptx.ENVIRONMENT, errors="replace")


def test_malformed_texts_are_refused(program, tmp_path):
    files = fuzz_ptx.texts([])
    crash = tmp_path / "crash"
    done = fuzz(program, RUNS, 1, files, crash)
    assert done.returncode == 0, f"{crash}:\n{done.stdout}{done.stderr}"
    corpus, counts = done.stdout.splitlines()
    assert re.match(r"(\d+) of (\d+) texts load", corpus)
    inputs, loaded, refused = map(int, re.findall(r"(\d+) (?:inp|loa|ref)", counts))
    assert inputs == RUNS == loaded + refused
    # If one of them is rare, the mutator no longer works well.
    assert loaded > RUNS // 50 and refused > RUNS // 2


def test_kernels_of_damaged_texts_may_do_what_they_like(launcher, tmp_path):
    """Load and launch as programs do. Each kernel is rejected, runs or is stopped."""
    files = sorted((cc.ROOT / "test" / "data" / "kernels").glob("*.ptx"))
    assert len(files) == 4
    crash = tmp_path / "crash"
    done = fuzz(launcher, LAUNCHED, 1, files, crash)
    assert done.returncode == 0, f"{crash}:\n{done.stdout}{done.stderr}"
    assert "4 of 4 texts load" in done.stdout
    *_, counts, ends = done.stdout.splitlines()  # after the output of the kernels
    inputs, loaded, refused = map(int, re.findall(r"(\d+) (?:inp|loa|ref)", counts))
    assert inputs == LAUNCHED == loaded + refused
    assert loaded > LAUNCHED // 10 and refused > LAUNCHED // 10
    assert int(ends.split()[0]) > LAUNCHED // 20


def test_damaged_images_are_refused(tmp_path):
    """Fat binaries, object files and libraries."""
    crash = tmp_path / "crash"
    done = fuzz(build(images=True), RUNS, 1, fuzz_ptx.images([]), crash)
    assert done.returncode == 0, f"{crash}:\n{done.stdout}{done.stderr}"
    _, counts, opened = done.stdout.splitlines()
    inputs, loaded, refused = map(int, re.findall(r"(\d+) (?:inp|loa|ref)", counts))
    assert inputs == RUNS == loaded + refused
    assert loaded > RUNS // 50 and refused > RUNS // 2
    assert int(opened.split()[2]) > loaded  # texts


def test_the_corpus_loads(program, tmp_path):
    for file in fuzz_ptx.texts([]):
        done = fuzz(program, 1, 1, [file], tmp_path / "crash")
        assert done.stdout.startswith("1 of 1 texts load"), file.name


def test_inputs_that_once_crashed(program, tmp_path):
    files = sorted((fuzz_ptx.CORPUS / "kept").glob("*.ptx"))
    assert files
    done = fuzz(program, len(files), 1, files, tmp_path / "crash")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_harness_sees_a_broken_promise(program, tmp_path):
    """The fuzzer detects a loader that reads past its text, and keeps the input."""
    broken = tmp_path / "broken"
    shutil.copytree(program.parent, broken)
    program_c = cc.SOURCE / "device" / "compile" / "program.c"
    text = program_c.read_text()
    source = tmp_path / "program.c"
    spoilt = text.replace(
        "    *out = NULL;\n",
        "    *out = NULL;\n"
        "    if (((volatile const char *)sources[0].text)[sources[0].size] == 7) {\n"
        "        return CUDA_ERROR_OUT_OF_MEMORY;\n    }\n",
        1,
    )
    assert spoilt != text
    source.write_text(spoilt)
    compiler = shutil.which("clang") or shutil.which("gcc")
    flags = [*fuzz_ptx.FLAGS, *fuzz_ptx.SANITIZE, "-I", cc.SOURCE]
    target = fuzz_ptx.object_of(program_c, broken)
    cc.must(cc.run([compiler, *flags, "-c", source, "-o", target]))
    objects = [fuzz_ptx.object_of(path, broken) for path in fuzz_ptx.sources()]
    target = broken / "fuzz_ptx"
    link = [*fuzz_ptx.FLAGS, *fuzz_ptx.SANITIZE, *objects, "-o", target, "-lm", "-ldl"]
    cc.must(cc.run([compiler, *link]))
    crash = tmp_path / "crash"
    first = fuzz_ptx.texts([])[0]
    done = fuzz(target, 5, 1, [first], crash)
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr
    assert crash.read_bytes() == first.read_bytes()


def test_command_finds_no_compiler():
    done = subprocess.run(
        [sys.executable, fuzz_ptx.__file__, "1", "--compiler", "/nowhere/cc"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "/nowhere/cc" in done.stderr
