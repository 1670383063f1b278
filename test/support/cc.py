"""Runs gcc and clang on C sources of the tests.

Only finds and calls compilers; what a source must prove is the business of its test.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "cpp_free_c"

#: What the package promises to compile under without a word, with either compiler.
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
    """Return the names of the C compilers that this machine has, gcc first."""
    return [name for name in ("gcc", "clang") if shutil.which(name)]


def run(command, **options):
    """Run a command; return it completed, with its two outputs as text."""
    options.setdefault("timeout", TIME_LIMIT)
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, **options
    )


def compile_c(compiler, sources, output, flags=()):
    """Compile C files into one output (`-c` in flags stops at an object)."""
    command = [compiler, *sources, "-o", output, *flags, "-I", str(SOURCE)]
    return run(command, cwd=Path(output).parent)


def check_c(compiler, text, folder, flags=(), name="unit.c"):
    """Let a compiler check a C text without making code; return it completed."""
    source = Path(folder) / name
    source.write_text(text)
    return run([compiler, "-fsyntax-only", *flags, source])


def must(done):
    """Return a completed command; fail with what it said if it went wrong."""
    if done.returncode != 0:
        said = f"{done.stdout}{done.stderr}"
        raise AssertionError(f"{' '.join(done.args)}\n{said}")
    return done


def preprocess(compiler, text, folder, flags=()):
    """Return what the preprocessor makes of a C text, without line markers."""
    source = Path(folder) / "expand.c"
    source.write_text(text)
    return must(run([compiler, "-E", "-P", *flags, source])).stdout


def cuda_include_candidates():
    """List the folders where a cuda.h may be, the most wanted first."""
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
    """Return the first folder with a cuda.h, or None."""
    for folder in cuda_include_candidates():
        if (folder / "cuda.h").is_file():
            return folder
    return None
