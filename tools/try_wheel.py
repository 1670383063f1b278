#!/usr/bin/env python3
"""Run tests of the driver interface with a wheel, also with one for another machine.

    python tools/try_wheel.py dist/pycuda-...-cp311-manylinux_2_28_aarch64.whl ...

A wheel runs with Debian's CPython of its version. mmdebstrap unpacks that into a
folder, with NumPy and pytest. For aarch64 the programs run under qemu-user. Nothing is
installed on this machine.

No compiler runs there. The tests run first with the package of this checkout, which
records their kernels (PYCUDA_RECORD); a bundle of these serves the wheel. So this also
tests bundles on another machine.

Requirements: the packages mmdebstrap and qemu-user-static of Debian, and the package of
this checkout with a compiler of kernels.
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The release of Debian that has a version of CPython.
RELEASES = {"3.11": "bookworm", "3.13": "trixie", "3.14": "testing"}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
LOADERS = {
    "x86_64": "lib64/ld-linux-x86-64.so.2",
    "aarch64": "lib/ld-linux-aarch64.so.1",
}
PACKAGES = "python3-numpy python3-pytest python3-platformdirs python3-hypothesis"

#: Tests that start no other process, for qemu cannot start one.
TESTS = (
    "test/driver/test_device.py",
    "test/driver/test_context.py",
    "test/driver/test_memory.py",
    "test/driver/test_memcpy_nd.py",
    "test/driver/test_launch.py",
    "test/driver/test_callbacks.py",
    "test/driver/test_pvt_struct.py",
    "test/driver/test_enums.py",
)

_NAME = re.compile(r"-cp3(\d+)-cp3\d+-\w+?_(x86_64|aarch64)\.whl$")


class Failure(Exception):
    """A wheel cannot be tried; the text says why."""


def described(wheel):
    """Return (version of CPython, machine) of a wheel, by its name."""
    found = _NAME.search(wheel.name)
    if found is None:
        raise Failure(f"'{wheel}' is not a wheel of CPython for x86-64 or aarch64")
    version, machine = f"3.{found[1]}", found[2]
    if version not in RELEASES:
        raise Failure(f"no release of Debian that is known here has CPython {version}")
    return version, machine


# -- Debian's CPython ------------------------------------------------------------------


def root_of(version, machine, work):
    """Return a folder with Debian's CPython, and unpack it if it is not there."""
    release, architecture = RELEASES[version], ARCHITECTURES[machine]
    folder = work / f"{release}-{architecture}"
    if (folder / "usr/bin" / f"python{version}").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    packages = ",".join(["python3", f"python{version}", *PACKAGES.split()])
    command = [
        *("mmdebstrap", "--variant=extract", "--skip=check/qemu", "--quiet"),
        # The lists of a mirror that is not updated for a while expire.
        "--aptopt=Acquire::Check-Valid-Until false",
        *(f"--architectures={architecture}", f"--include={packages}"),
        *(release, str(folder), "http://deb.debian.org/debian"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Failure(f"mmdebstrap failed:\n{done.stderr[-2000:]}")
    for name in ("bin", "lib", "lib64", "sbin"):  # what the package base-files links
        if not (folder / name).exists() and (folder / "usr" / name).exists():
            (folder / name).symlink_to(f"usr/{name}")
    return folder


def interpreter(version, machine, root):
    """Return the command that runs a Python of ``root`` on this machine."""
    program = root / "usr/bin" / f"python{version}"
    if machine != platform.machine():
        # qemu finds the other files below the root by their usual names.
        usual = f"/usr/lib/{machine}-linux-gnu"
        paths = f"{usual}/blas:{usual}/lapack"
        qemu = f"qemu-{machine}-static"
        return [qemu, "-L", str(root), "-E", f"LD_LIBRARY_PATH={paths}", str(program)]
    libraries = root / "usr/lib" / f"{machine}-linux-gnu"
    paths = [libraries, libraries / "blas", libraries / "lapack"]
    paths.append(root / "lib" / f"{machine}-linux-gnu")
    loader = str(root / LOADERS[machine])
    return [loader, "--library-path", ":".join(map(str, paths)), str(program)]


# -- the tests -------------------------------------------------------------------------


def record(tests, work):
    """Return a bundle with the kernels that the tests compile."""
    folder, bundle = work / "recorded", work / "kernels.bundle"
    shutil.rmtree(folder, ignore_errors=True)
    environ = {
        **os.environ,
        "PYCUDA_RECORD": str(folder),
        "PYCUDA_DRIVER": "emulator",
        "PYTHONPATH": str(ROOT),
    }
    check([sys.executable, "-m", "pytest", "-q", *tests], env=environ, cwd=ROOT)
    words = ["--from", folder, "--arch", "compute_75", "-o", bundle]
    command = [sys.executable, "-m", "pycuda.precompile", *map(str, words)]
    environ.pop("PYCUDA_RECORD")
    print(check(command, env=environ, cwd=ROOT).splitlines()[0], flush=True)
    return bundle


def check(command, **options):
    """Run a command. Return its output, or raise Failure with the end of it."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode != 0:
        words = " ".join(map(str, command[:6]))
        raise Failure(f"{words} ... failed:\n{done.stdout[-4000:]}")
    return done.stdout


def unpack(wheel, work):
    """Unpack a wheel, and put the tests beside it. Return both folders."""
    site, place = work / wheel.stem, work / "tests"
    shutil.rmtree(site, ignore_errors=True)
    shutil.rmtree(place, ignore_errors=True)
    with zipfile.ZipFile(wheel) as file:
        file.extractall(site)
    shutil.copytree(ROOT / "test", place / "test")
    for name in ("pyproject.toml", "src"):  # src is read by the tests of tables
        (place / name).symlink_to(ROOT / name)
    return site, place


def run(wheel, tests, bundle, work):
    """Run the tests with a wheel. Return the last line of pytest."""
    version, machine = described(wheel)
    root = root_of(version, machine, work)
    site, place = unpack(wheel, work)
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(work),
        "PYTHONPATH": str(site),
        "PYTHONPYCACHEPREFIX": str(work / "bytecode" / f"{machine}-{version}"),
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_BUNDLE": str(bundle),
        "PYCUDA_DISABLE_CACHE": "1",
        "CUDA_HOME": "/nonexistent",
    }
    code = (
        "import sys, pycuda.driver, pytest; print(pycuda.driver.__file__); "
        f"sys.path.remove(''); sys.exit(pytest.main({['-q', *tests]!r}))"
    )
    command = [*interpreter(version, machine, root), "-c", code]
    said = check(command, env=environ, cwd=place)
    if str(site) not in said:
        raise Failure(
            f"the tests imported another package than that of {site}:\n{said}"
        )
    return said.strip().splitlines()[-1]


def main(arguments=None):
    """Try all wheels. Return 1 if one fails, else 0."""
    parser = argparse.ArgumentParser(
        description="Run tests of the driver interface with wheels."
    )
    parser.add_argument("wheels", nargs="+", type=Path, metavar="WHEEL")
    parser.add_argument("--tests", nargs="+", default=list(TESTS), metavar="FILE")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "try_wheel", metavar="FOLDER"
    )
    given = parser.parse_args(arguments)
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    failed = 0
    try:
        for wheel in given.wheels:
            described(wheel)
        bundle = record(given.tests, work)
    except Failure as error:
        print(error, file=sys.stderr)
        return 1
    for wheel in given.wheels:
        try:
            print(f"{wheel.name}: {run(wheel.resolve(), given.tests, bundle, work)}")
        except Failure as error:
            failed += 1
            print(f"{wheel.name}: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
