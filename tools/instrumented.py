#!/usr/bin/env python3
"""Build the package with other flags, next to the usual build, and test that build.

    python tools/instrumented.py FOLDER WORD...     run pytest on an existing build

tools/sanitize.py and tools/coverage.py use this and explain their flags.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "cpp_free_c"

#: Tests of the Python around compilers, of tools and documents, and tests that run
#: sanitizers themselves. They run no C of the package that other tests do not run.
LEFT_OUT = (
    *("bench", "dist", "doc_compiling", "doc_snippets", "docs", "examples", "recipes"),
    *("cache", "compile_many", "compiler_cache", "compiler_names", "compiler_once"),
    *("excerpt", "link", "nvrtc"),
    *("core_c", "coverage", "fuzz_ptx", "layout", "mpi", "notebook", "typing"),
)


class Failed(Exception):
    """A step failed; the text names it."""


def must(command, **options):
    done = subprocess.run([str(word) for word in command], check=False, **options)
    if done.returncode != 0:
        raise Failed(f"ended with {done.returncode}: {' '.join(map(str, command))}")


def compiler():
    found = shutil.which("gcc")
    if found is None:
        raise Failed("gcc is missing: only its instrumentation is used")
    return found


def build(folder, flags, command=None):
    """Build the extension modules and the device; return the folder to import from.

    ``command`` replaces gcc.
    """
    library = folder / "lib"
    environment = {
        **os.environ,
        "CC": str(command or compiler()),
        "CFLAGS": " ".join(flags),
        "LDFLAGS": " ".join(flags),
    }
    places = ["--build-temp", folder / "temp", "--build-lib", library]
    jobs = ["--parallel", os.cpu_count() or 1]
    command = [sys.executable, "setup.py", "-q", "build_ext", "--separately"]
    must([*command, *jobs, *places], cwd=ROOT, env=environment)
    link_package(library / "pycuda")
    return library


def link_package(package):
    """Link the Python files of the package into the folder of the built modules."""
    names = {
        path.name
        for path in (ROOT / "pycuda").iterdir()
        if path.suffix != ".so" and path.name != "__pycache__"
    }
    for path in package.iterdir():
        if path.is_symlink() and path.name not in names:
            path.unlink()
    for name in names:
        if not (package / name).is_symlink():
            (package / name).symlink_to(ROOT / "pycuda" / name)


def write(path, text):
    """Write an executable file only if it changes: another run may be using it."""
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
        path.chmod(0o755)


def package_environment(library):
    """Return the environment to import the package and its device from this build."""
    return {
        **os.environ,
        "PYCUDA_DRIVER": "emulator",
        "PYTHONPATH": os.pathsep.join([str(library), str(ROOT / "test")]),
        "PYCUDA_EMULATOR_LIBRARY": str(library / "pycuda" / "libpycuda_emulator.so"),
    }


def must_be_tested(python, library, **options):
    """Raise Failed if this Python would import another build."""
    where = [python, "-c", "import pycuda._driver as d; print(d.__file__)"]
    seen = subprocess.run(where, capture_output=True, text=True, check=False, **options)
    if Path(seen.stdout.strip()).parent != library / "pycuda":
        raise Failed(f"another build would be tested: {seen.stdout}{seen.stderr}")


def pytest_command(python):
    """Return the command of pytest, which writes nothing to the repository."""
    command = [python, "-m", "pytest", "-c", ROOT / "pyproject.toml"]
    return [*command, "--rootdir", ROOT, "-p", "no:cacheprovider"]


def pytest_arguments(words):
    """Return the words, with names of files in the repository as paths."""
    return [ROOT / word if (ROOT / word).exists() else word for word in words]


def test_files():
    """Return the test files that run C of the package, the slowest first."""
    folder = ROOT / "test"
    left_out = {f"test_{name}.py" for name in LEFT_OUT}
    found = [path for path in folder.glob("*/test_*.py") if path.name not in left_out]
    found.sort(key=lambda path: path.stat().st_size, reverse=True)
    names = ("conformance", "differential", "textures", "faults")
    slow = {f"test_{name}.py" for name in names}
    found.sort(key=lambda path: path.name not in slow)
    return found


def main(folder, *words):
    library = ROOT / folder
    link_package(library / "pycuda")
    run = {"cwd": library, "env": package_environment(library)}
    try:
        must_be_tested(sys.executable, library, **run)
        must([*pytest_command(sys.executable), "-q", *pytest_arguments(words)], **run)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
