#!/usr/bin/env python3
"""Make the private environment, build the package in it, and run the first programs.

    python tools/set_up.py environment      .venv, with what building and running need
    python tools/set_up.py build            compile the C files, install the package
    python tools/set_up.py hello            run the first programs

The Makefile calls the steps in this order. Each step prints what it does and how long
it took. It prints the output of a command only if the command fails. `--compiler` of
`build` fetches NVIDIA's NVRTC while the C files are compiled, if the machine has no
compiler for kernels.
"""

import argparse
import contextlib
import ctypes.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
PIP = (PYTHON, "-m", "pip", "--disable-pip-version-check", "-q")
OLDEST = (3, 10)
EXAMPLES = ("hello_gpu.py", "mandelbrot.py")
WIDTH = 56

OLD_PYTHON = "{python} is Python {version}; set PYTHON to Python 3.10 or newer"
NO_VENV = (
    "{python} cannot make environments. On Debian and Ubuntu, install the package "
    "python3-venv"
)
NO_COMPILER = (
    "no C compiler: the command {command} was not found. On Debian and Ubuntu, install "
    "the packages gcc and libc6-dev"
)
NO_HEADERS = (
    "{path} does not exist. Install Python's headers: on Debian and Ubuntu, the "
    "package python3-dev"
)


class Failed(Exception):
    """A step failed; the text tells why."""


# -- showing the steps -----------------------------------------------------------------


class Line:
    """The line of a step: what it does, how far it is, and how long it took."""

    def __init__(self, text):
        self.text = text
        self.is_terminal = sys.stdout.isatty()
        self.begin = time.monotonic()
        if self.is_terminal:
            self.show("")

    def show(self, state):
        """Replace the line by its text and a state."""
        print(f"\r\033[K{self.text:{WIDTH}}{state}", end="", flush=True)

    def progress(self, state):
        """Show how far the step is, in a terminal only."""
        if self.is_terminal:
            self.show(state)

    def end(self, result=None):
        """Show how long the step took, or another result."""
        result = result or f"{time.monotonic() - self.begin:5.1f} s"
        if self.is_terminal:
            self.show(f"{result}\n")
        else:
            print(f"{self.text:{WIDTH}}{result}", flush=True)


@contextlib.contextmanager
def step(text):
    """Show a step while its commands run."""
    line = Line(text)
    try:
        yield line
    except BaseException:
        line.end("failed")
        raise
    line.end()


def start(*command):
    """Start a command in the root of the repository. Return the process."""
    return subprocess.Popen(
        [str(word) for word in command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )


def wait(process, watch=None):
    """Wait for a command. Raise Failed, with its output, if it fails.

    ``watch`` is called with each line of the output.
    """
    said = []
    for row in process.stdout:
        said.append(row)
        if watch is not None:
            watch(row)
    if process.wait() != 0:
        command = shlex.join(process.args)
        text = "".join(said).rstrip()
        raise Failed(f"{text}\n\nended with status {process.returncode}: {command}")


def run(*command):
    """Run a command. Raise Failed, with its output, if it fails."""
    wait(start(*command))


# -- the environment -------------------------------------------------------------------


def install(*names):
    """Install the requirements that pyproject.toml lists under these names."""
    listed = VENV / f"requires-{'-'.join(names)}.txt"
    found = subprocess.run(
        [PYTHON, ROOT / "tools" / "requires.py", *names],
        check=True,
        capture_output=True,
        text=True,
    )
    listed.write_text(found.stdout)
    return start(*PIP, "install", "-r", listed)


def environment():
    """Make the environment, unless it exists, and install what a build needs."""
    if sys.version_info < OLDEST:
        version = ".".join(map(str, sys.version_info[:3]))
        raise Failed(OLD_PYTHON.format(python=sys.executable, version=version))
    if not PYTHON.exists():
        with step(f"a private environment in {VENV.name}"):
            try:
                run(sys.executable, "-m", "venv", VENV)
            except Failed as error:
                shutil.rmtree(VENV, ignore_errors=True)
                advice = NO_VENV.format(python=sys.executable)
                raise Failed(f"{error}\n{advice}") from error
    with step("NumPy, platformdirs and setuptools"):
        wait(install("build", "run"))


# -- the package -----------------------------------------------------------------------


def must_compile():
    """Raise Failed if the C compiler or Python's headers are missing."""
    command = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    name = shlex.split(command)[0]
    if shutil.which(name) is None:
        raise Failed(NO_COMPILER.format(command=name))
    header = Path(sysconfig.get_paths()["include"]) / "Python.h"
    if not header.exists():
        raise Failed(NO_HEADERS.format(path=header))


def may_have_kernel_compiler():
    """Return whether nvcc or NVRTC is in a usual place, without importing the package.

    `tools/have_compiler.py` asks the package itself, when it is built.
    """
    homes = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    folders = [Path(home, "bin") for home in (*homes, "/usr/local/cuda") if home]
    if shutil.which("nvcc") or any((folder / "nvcc").exists() for folder in folders):
        return True
    if ctypes.util.find_library("nvrtc"):
        return True
    return any(VENV.glob("lib/python*/site-packages/nvidia/*/lib/libnvrtc.so*"))


def compile_files(line):
    """Compile the C files, and show how many are done."""
    command = (PYTHON, "setup.py", "-q", "build_ext", "--inplace", "--progress")

    def watch(row):
        done = re.fullmatch(r"compiled (\d+) of (\d+)\n", row)
        if done:
            line.progress(f"{done[1]} of {done[2]}")

    wait(start(*command), watch)


def build(with_kernel_compiler):
    """Compile the C files and install the package into the environment."""
    must_compile()
    fetching = None
    text = "compile the C files"
    if with_kernel_compiler and not may_have_kernel_compiler():
        text += ", and fetch NVIDIA's NVRTC"
        fetching = install("nvrtc")
    with step(text) as line:
        try:
            compile_files(line)
        except BaseException:
            if fetching is not None:
                fetching.kill()
            raise
        if fetching is not None:
            wait(fetching)
    with step(f"install the package in {VENV.name}"):
        run(*PIP, "install", "--no-build-isolation", "--no-deps", "-e", ".")


# -- the first programs ----------------------------------------------------------------


def hello():
    """Run the first programs. Return the status of the first that fails, else 0."""
    found = subprocess.run(
        [PYTHON, ROOT / "tools" / "have_compiler.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        with step("fetch NVIDIA's NVRTC"):
            wait(install("nvrtc"))
    environment = dict(os.environ)
    if "nvcc" not in found.stdout:
        environment.setdefault("PYCUDA_COMPILER", "nvrtc")  # without a warning
    for name in EXAMPLES:
        path = Path("examples", name)
        print(f"\n$ {PYTHON.relative_to(ROOT)} {path}", flush=True)
        command = [PYTHON, path]
        status = subprocess.run(
            command, cwd=ROOT, env=environment, check=False
        ).returncode
        if status != 0:
            return status
    print(f"\nNext: write a program, and run it with {PYTHON.relative_to(ROOT)}.")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("environment", "build", "hello"))
    parser.add_argument(
        "--compiler", action="store_true", help="fetch NVRTC if there is no compiler"
    )
    given = parser.parse_args()
    try:
        if given.step == "environment":
            environment()
        elif given.step == "build":
            build(given.compiler)
        else:
            return hello()
    except Failed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
