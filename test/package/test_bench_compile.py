"""The programs and the report of the compile benchmark. Speeds are not tested."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pycuda import _driver
from pycuda._compile import nvrtc
from support.compilers import needs_nvcc

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import bench_compile  # noqa: E402
import common  # noqa: E402

STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wstrict-prototypes"]
STRICT += ["-Wmissing-prototypes", "-Wvla", "-Werror"]

needs_nvrtc = pytest.mark.skipif(
    nvrtc.find() is None, reason="needs NVRTC, which is not installed"
)


def run(command, **env):
    return subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=300,
    )


@pytest.fixture(scope="module")
def floor_program(tmp_path_factory):
    return common.build_floor(tmp_path_factory.mktemp("floor"), "floor_compile")


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_floor_compiles_without_a_warning(compiler, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    source, include = str(BENCH / "floor_compile.c"), str(common.C_SOURCE)
    command = [compiler, "-std=c11", "-O2", *STRICT, "-I", include, source]
    done = run([*command, "-o", str(tmp_path / "floor"), "-ldl"])
    assert (done.returncode, done.stderr) == (0, "")


def test_floor_says_what_is_missing(floor_program, tmp_path):
    source = str(BENCH / "floor_compile.c")
    library = nvrtc.find() or "libm.so.6"
    cases = [
        ([], "usage"),
        ([str(tmp_path / "none.so"), source, "sm_80"], "cannot be opened"),
        (["libm.so.6", source, "sm_80"], "lacks a function"),
    ]
    if nvrtc.find():
        cases += [
            ([library, str(tmp_path / "none.cu"), "sm_80"], "cannot open"),
            ([library, source, "sm_80"], "no driver library"),
        ]
    for arguments, words in cases:
        nowhere = str(tmp_path / "libcuda.so.1")
        done = run([str(floor_program), *arguments], FLOOR_LIBCUDA=nowhere)
        assert done.returncode == 1
        assert words in done.stderr
        assert done.stderr.count("\n") == 1


@needs_nvrtc
@pytest.mark.gpu
def test_floor_answers(floor_program, tmp_path):
    source = tmp_path / "kernel.cu"
    source.write_text(bench_compile.KERNEL)
    env = dict(os.environ)
    if _driver._is_emulated():
        package = Path(_driver.__file__).parent
        env["FLOOR_LIBCUDA"] = str(package / "libpycuda_emulator.so")
    command = [str(floor_program), nvrtc.find(), str(source), "compute_75"]
    with common.Subject("floor", command, env) as floor:
        assert len(floor.ask("nvrtc", 2, 1)) == 2
        assert len(floor.ask("nvrtc_load", 1, 2)) == 1
        for case, batches in (("nothing", 1), ("nvrtc", 0)):
            with pytest.raises(common.SubjectError):
                floor.ask(case, batches, 1)
    source.write_text("no kernel")
    with (
        common.Subject("floor", command, env) as floor,
        pytest.raises(common.SubjectError, match="INVALID_SOURCE"),
    ):
        floor.ask("nvrtc", 1, 1)


def test_wrong_arguments():
    script = str(BENCH / "bench_compile.py")
    assert "--quick" in run([sys.executable, script, "--help"]).stdout
    assert run([sys.executable, script, "--rounds", "0"]).returncode == 2


@needs_nvcc
@needs_nvrtc
@pytest.mark.gpu
def test_a_quick_run_measures_everything(tmp_path):
    path = tmp_path / "result.json"
    script = str(BENCH / "bench_compile.py")
    done = run([sys.executable, script, "--quick", "--json", str(path)])
    assert done.returncode == 0, done.stderr
    result = json.loads(path.read_text())
    measured = {row["case"] for row in result["rows"]}
    assert {case.name for case in bench_compile.CASES} <= measured
    assert bench_compile.FIRST_MODULE.name in measured
    assert set(result["missing"]) <= {bench_compile.FIRST.title}
    for row in result["rows"]:
        assert row["ours"]["min"] > 0
        assert row["title"] in done.stdout
