#!/usr/bin/env python3
"""Make the wheels for all versions of CPython, for x86-64 and aarch64.

    python tools/wheels.py [--python 3.11 ...] [--machine aarch64 ...] [--out dist]
                           [--headers 3.14=FOLDER ...]

One machine makes all of them. It compiles with the clang of the Python package ziglang,
which serves both machines and has the headers of older C libraries. It links with gcc,
against the symbols of that C library. (ziglang links functions such as fma and floor of
its own into a library. They ignore the rounding mode, which the software device sets.)

A wheel needs the C headers of its CPython, but no such interpreter. They are looked for
with the interpreters on PATH, in /usr/include, in ~/.pyenv, and where --headers says.
Headers of x86-64 serve for aarch64, too: pyconfig.h differs only in macros that the
public headers do not use, which test/package/test_wheels.py checks.

The software device does not depend on CPython, so it is compiled once for each machine.
The docstrings in the stub are those of the extension that is built in place.

Requirements: `python tools/requires.py build wheels`, gcc, and for aarch64 the package
gcc-aarch64-linux-gnu of Debian.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

#: The oldest C library that the wheels run with. RHEL 8 has it, the oldest system that
#: CUDA 13 supports. The software device needs memfd_create, of 2.27.
GLIBC = "2.28"
MACHINES = ("x86_64", "aarch64")

DEVICE = "libpycuda_emulator.so"
_VERSION = re.compile(r"Programming Language :: Python :: (3\.\d+)")


class Failure(Exception):
    """A wheel cannot be made; the text says why."""


def versions():
    """Return the versions of CPython that pyproject.toml names."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return _VERSION.findall(text)


# -- the headers of CPython ------------------------------------------------------------


def header_folders(version, given):
    """Yield the folders where the headers of a version may be."""
    if version in given:
        yield Path(given[version])
        return
    program = shutil.which(f"python{version}")
    if program:
        ask = "import sysconfig; print(sysconfig.get_paths()['include'])"
        done = subprocess.run(
            [program, "-c", ask], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            yield Path(done.stdout.strip())
    yield Path("/usr/include", f"python{version}")
    yield from sorted(Path.home().glob(f".pyenv/versions/{version}.*/include/python*"))


def version_of(folder):
    """Return the version that a folder of headers is for, None if it is for none."""
    try:
        text = (folder / "patchlevel.h").read_text(encoding="utf-8")
    except OSError:
        return None
    return re.search(r'#define PY_VERSION\s+"(3\.\d+)', text)[1]


def headers(version, given):
    """Return the folder of the headers of a version."""
    for folder in header_folders(version, given):
        if version_of(folder) == version and (folder / "Python.h").is_file():
            return folder
    where = "not with an interpreter on PATH, in /usr/include or in ~/.pyenv"
    if version in given:
        where = f"not in {given[version]}"
    raise Failure(
        f"the headers of CPython {version} were not found: {where}. Name their folder "
        f"with --headers {version}=FOLDER"
    )


def of_debian(folder, machine, place):
    """Return a folder for the pyconfig.h of Debian, None for headers of others.

    Debian's pyconfig.h includes another one, by its name below /usr/include. That
    folder has the headers of the system's C library too, which must not be used. So
    ``place`` gets a link to the one folder that is needed.
    """
    part = folder.name
    found = sorted(folder.parent.glob(f"*-linux-gnu/{part}/pyconfig.h"))
    if not found:
        return None
    triplet = f"{machine}-linux-gnu"
    own = [path for path in found if path.parts[-3] == triplet]
    link = place / triplet / part
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to((own or found)[0].parent.resolve())
    return place


# -- one wheel -------------------------------------------------------------------------


#: The libraries of the C library, as a linker is asked for them.
LIBRARIES = ("m", "pthread", "dl", "c", "ld")


def compiler(machine):
    """Return the command that compiles for a machine and for the C library GLIBC."""
    return f"{sys.executable} -m ziglang cc -target {machine}-linux-gnu.{GLIBC}"


def linker(machine, place):
    """Return a program that links for a machine, against the C library GLIBC.

    ziglang makes libraries with the symbols of a C library when it links. ``place``
    gets these, and a program that gives them to gcc.
    """
    program = shutil.which(f"{machine}-linux-gnu-gcc")
    if program is None:
        raise Failure(
            f"{machine}-linux-gnu-gcc was not found; Debian's package "
            f"gcc-{machine.replace('_', '-')}-linux-gnu has it"
        )
    folder = place / "symbols"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    source = folder / "empty.c"
    source.write_text("int nothing(void) { return 0; }\n")
    run(
        *compiler(machine).split()[1:],
        *("-shared", "-lm", "-lpthread", "-ldl", source, "-o", folder / "empty.so"),
        env={**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(folder / "cache")},
    )
    for name in LIBRARIES:
        (made,) = folder.glob(f"cache/o/*/lib{name}.so.*")
        (folder / f"lib{name}.so").symlink_to(made)
    (rest,) = folder.glob("cache/o/*/libc_nonshared.a")
    words = [program, "-nodefaultlibs", "-Wl,--as-needed", f"-L{folder}"]
    last = [*(f"-l{name}" for name in LIBRARIES), str(rest), "-lgcc"]
    script = place / "link"
    script.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@" {" ".join(last)}\n')
    script.chmod(0o755)
    return str(script)


def environment(machine, version, folders, link):
    """Return the variables by which setup.py compiles for a machine and a CPython."""
    digits = version.replace(".", "")
    return {
        **os.environ,
        "CC": compiler(machine),
        "LDSHARED": f"{link} -shared",
        # Before the headers of the interpreter that runs setup.py.
        "CFLAGS": " ".join([*(f"-I{folder}" for folder in folders), "-g1"]),
        "SETUPTOOLS_EXT_SUFFIX": f".cpython-{digits}-{machine}-linux-gnu.so",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
    }


def run(*command, **options):
    """Run a command of this interpreter. Raise Failure with its output."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )
    if done.returncode != 0:
        raise Failure(f"{command[0]} failed:\n{complaint_in(done.stdout)}")
    return done.stdout


def complaint_in(text):
    """Return the lines with errors of a compiler's output, or else its end.

    setup.py ends with the whole command of a link, which has thousands of characters.
    """
    lines = [line for line in text.splitlines() if len(line) < 500]
    signs = ("error", "undefined", "cannot find")
    errors = [line for line in lines if any(sign in line.lower() for sign in signs)]
    return "\n".join(errors[:20] or lines[-20:])


def make(machine, version, folder, out, work):
    """Make one wheel in ``out`` with the headers in a folder. Return its path."""
    own = work / f"{machine}-{version}"
    raw = own / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    shared, library = work / machine / DEVICE, own / "lib" / "pycuda" / DEVICE
    for path in (own / "lib").rglob("*"):  # modules that no longer exist
        if path.is_file() and path.suffix != ".so":
            path.unlink()
    if shared.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(shared, library)  # with its time: newer sources compile it again
    run("setup.py", "-q", "build_ext", "--inplace")
    folders = filter(None, [folder, of_debian(folder, machine, own / "include")])
    run(
        *("setup.py", "-q", "build", "--build-lib", own / "lib"),
        *("--build-temp", own / "temp", "build_ext", "-j2", "bdist_wheel"),
        *("--bdist-dir", own / "bdist", "--dist-dir", raw),
        env=environment(machine, version, folders, linker(machine, work / machine)),
    )
    shared.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(library, shared)
    digits = version.replace(".", "")
    tags = ("--python-tag", f"cp{digits}", "--abi-tag", f"cp{digits}")
    (built,) = raw.glob("*.whl")
    named = retag(built, *tags, "--platform-tag", f"linux_{machine}")
    return audit(named, machine, out)


def audit(wheel, machine, out):
    """Give a wheel its tag. Fail if it needs a newer C library, or another library.

    auditwheel finds the oldest C library that is enough. It accepts the name of a tag
    for the machine that it runs on only, so it chooses, and the result is compared.
    """
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    repaired = wheel.parent / "repaired"
    said = run(
        *("-m", "auditwheel", "repair", "--plat", "auto", "--only-plat"),
        *("--wheel-dir", repaired, wheel),
        env={**os.environ, "PATH": programs},
    )
    found = list(repaired.glob("*.whl"))
    if len(found) != 1:
        raise Failure(f"auditwheel made no wheel of {wheel.name}:\n{said}")
    check_tag(found[0].name, machine)
    tag = f"manylinux_{GLIBC.replace('.', '_')}_{machine}"
    named = retag(found[0], "--platform-tag", tag)
    return Path(shutil.move(named, out / named.name))


def check_tag(name, machine):
    """Raise Failure if the tag in a wheel's name asks for too new a C library."""
    match = re.search(rf"-manylinux_2_(\d+)_{machine}\.whl$", name)
    if match is None:
        raise Failure(f"auditwheel found no C library that '{name}' runs with")
    if int(match[1]) > int(GLIBC.partition(".")[2]):
        raise Failure(f"'{name}' needs glibc 2.{match[1]}, later than {GLIBC}")


def retag(wheel, *tags):
    """Change the tags of a wheel. Return its new path."""
    said = run("-m", "wheel", "tags", "--remove", *tags, wheel)
    return wheel.parent / Path(said.strip().splitlines()[-1]).name


# -- the command line ------------------------------------------------------------------


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Make the wheels for all versions of CPython."
    )
    parser.add_argument("--python", nargs="+", metavar="3.N", default=versions())
    parser.add_argument(
        "--machine", nargs="+", choices=MACHINES, default=list(MACHINES)
    )
    parser.add_argument(
        "--headers", nargs="+", metavar="3.N=FOLDER", default=[], help="of a CPython"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "wheels", metavar="FOLDER"
    )
    given = parser.parse_args(arguments)
    for each in given.python:
        if each not in versions():
            parser.error(f"pyproject.toml does not name CPython {each}")
    for each in given.headers:
        if "=" not in each:
            parser.error(f"--headers takes 3.N=FOLDER, not {each}")
    return given


def main(arguments=None):
    """Make all wheels. Return 1 if some could not be made, else 0."""
    given = parse(arguments)
    named = dict(each.split("=", 1) for each in given.headers)
    given.out.mkdir(parents=True, exist_ok=True)
    failed = 0
    for machine in given.machine:
        for version in given.python:
            try:
                folder = headers(version, named)
                path = make(
                    machine, version, folder, given.out.resolve(), given.work.resolve()
                )
            except Failure as error:
                failed += 1
                print(f"CPython {version}, {machine}: {error}", file=sys.stderr)
                continue
            print(f"{path.stat().st_size:>10,}  {path}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
