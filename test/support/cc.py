"""Find gcc and clang, and run them on C sources of the tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "cpp_free_c"

#: The package compiles without warnings under these flags, with either compiler.
STRICT = (
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wpedantic",
    "-Wshadow",
    "-Wstrict-prototypes",
    "-Wmissing-prototypes",
    "-Wvla",
    "-Werror",
)

TIME_LIMIT = 300


def compilers():
    """Return the names of the C compilers of this machine, gcc first."""
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def run(command, **options):
    """Run a command. Return the completed process with its outputs as text."""
    options.setdefault("timeout", TIME_LIMIT)
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )


def compile_c(compiler, sources, output, flags=()):
    """Compile C files into one output, an object file if flags has `-c`."""
    command = [compiler, *sources, "-o", output, *flags, "-I", str(SOURCE)]
    return run(command, cwd=Path(output).parent)


def check_c(compiler, text, folder, flags=(), name="unit.c"):
    """Let a compiler check a C text without output. Return the completed process."""
    source = Path(folder) / name
    source.write_text(text)
    return run([compiler, "-fsyntax-only", *flags, source])


def must(done):
    """Return a completed process, or fail with its output if its status is not 0."""
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}"
        raise AssertionError(f"{' '.join(done.args)}\n{said}")
    return done


def preprocess(compiler, text, folder, flags=()):
    """Return a preprocessed C text, without line markers."""
    source = Path(folder) / "expand.c"
    source.write_text(text)
    return must(run([compiler, "-E", "-P", *flags, source])).stdout


def cuda_include_candidates():
    """List the folders that may contain cuda.h, in order of preference."""
    folders = [
        Path(os.environ[name]) / "include"
        for name in ("CUDA_HOME", "CUDA_PATH")
        if os.environ.get(name)
    ]
    folders.append(Path("/usr/local/cuda/include"))
    folders += [
        Path(entry) / "nvidia" / "cu13" / "include" for entry in sys.path if entry
    ]
    return folders


def cuda_include():
    """Return the first folder that contains cuda.h, or None."""
    for folder in cuda_include_candidates():
        if (folder / "cuda.h").is_file():
            return folder
    return None


def build_driver(folder, source):
    """Compile the text of a driver to ``libcuda.so.1`` in a folder."""
    unit, library = Path(folder) / "driver.c", Path(folder) / "libcuda.so.1"
    unit.write_text(source)
    must(run(["cc", "-shared", "-fPIC", "-pthread", unit, "-o", library, "-ldl"]))
