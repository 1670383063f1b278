"""Run programs that know nothing of this package on the software device.

The library of the software device exports the functions of NVIDIA's driver, so any
program that opens ``libcuda.so.1`` can use it:

    python -m pycuda.emulator run [--devices 4] [--check] PROGRAM [ARGUMENT ...]

:func:`library` returns the path of such a ``libcuda.so.1``, and :func:`environment` the
variables that make a program find it. ``python -m pycuda.emulator environment`` prints
them, one a line, for a shell or for the configuration of a CI service.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence

from pycuda import _command_line, _hide_imports
from pycuda._compile import store

__all__ = ["environment", "library"]
_hide_imports(globals())

_OWN_NAME = "libpycuda_emulator.so"
#: The names under which programs look for the driver, NVML and nvJitLink. NVIDIA's
#: nvJitLink makes machine code, which the software device cannot run.
_NAMES = (
    "libcuda.so.1",
    "libcuda.so",
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "libnvJitLink.so.13",
    "libnvJitLink.so.12",
)

#: Stands in for NVIDIA's assembler, for programs that call it and load its result.
_PTXAS = """\
#!/bin/sh
# Copy the PTX instead of assembling it: the software device runs PTX.
if [ "$1" = --version ]; then
    echo "ptxas of the PyCUDA software device, release 13.0"
    exit
fi
while [ $# -gt 0 ]; do
    case "$1" in
        -o | --output-file) shift; output=$1 ;;
        *.ptx) input=$1 ;;
    esac
    shift
done
exec cp -- "$input" "$output"
"""


def _own_library() -> str:
    """Return the path of the software device's library, which is in the package."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), _OWN_NAME)
    if not os.path.isfile(path):
        raise RuntimeError(
            f"{path} does not exist. Install the package again: its build makes this "
            "library"
        )
    return path


def _link(target: str, path: str) -> None:
    """Make a symbolic link, or replace one that points elsewhere, in one step."""
    with contextlib.suppress(OSError):
        if os.readlink(path) == target:
            return
    temporary = f"{path}.{os.getpid()}"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    os.symlink(target, temporary)
    os.replace(temporary, path)


def _write(text: str, path: str) -> None:
    """Make a program of this text, in one step."""
    with contextlib.suppress(OSError), open(path, encoding="utf-8") as file:
        if file.read() == text:
            return
    temporary = f"{path}.{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(temporary, 0o755)
    os.replace(temporary, path)


def library() -> str:
    """Return the path of a ``libcuda.so.1`` that is the software device.

    It is a symbolic link in a folder of the compile cache. The folder has such links:
    ``libcuda.so.1``, ``libnvidia-ml.so.1``, both names without the number, and
    ``libnvJitLink.so``, whose linker makes no machine code. It also has a program
    ``ptxas`` that copies PTX instead of assembling it.

    Returns
    -------
    str
        The path. Put its folder into LD_LIBRARY_PATH, or open the path with ``ctypes``.

    Raises
    ------
    RuntimeError
        If the folder cannot be made.
    """
    own = _own_library()
    # absolute, because programs look for libraries after they changed their folder
    cache = os.path.abspath(store.default_dir())
    folder = os.path.join(cache, f"driver-{store.key_of(own)[:16]}")
    try:
        os.makedirs(folder, exist_ok=True)
        for name in _NAMES:
            _link(own, os.path.join(folder, name))
        _write(_PTXAS, os.path.join(folder, "ptxas"))
    except OSError as error:
        raise RuntimeError(
            f"cannot make links to the software device in {folder} ({error.strerror}). "
            "Set PYCUDA_CACHE_DIR to a folder that you can write"
        ) from error
    return os.path.join(folder, _NAMES[0])


def environment(
    base: Mapping[str, str] | None = None,
    *,
    devices: int | None = None,
    check: bool | str = False,
    capability: str | None = None,
    driver_version: str | None = None,
    log: str | None = None,
) -> dict[str, str]:
    """Return the variables that make a program use the software device.

    Parameters
    ----------
    base : mapping, optional
        The variables of the program. The default is ``os.environ``.
    devices : int, optional
        Number of devices.
    check : bool or str, optional
        The checks; true means all.
    capability : str, optional
        Compute capability. The default is 9.0, unless ``base`` chooses another one.
    driver_version : str, optional
        Version of the driver that is reported.
    log : str, optional
        File for the log of calls.

    Returns
    -------
    dict
        What is added to ``base`` or changed in it. LD_LIBRARY_PATH begins with the
        folder of ``library``.

    Raises
    ------
    RuntimeError
        If the folder of ``library`` cannot be made.
    """
    if base is None:
        base = os.environ
    folder = os.path.dirname(library())
    paths = [path for path in base.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
    paths = [folder, *(path for path in paths if path != folder)]
    found = {
        "LD_LIBRARY_PATH": os.pathsep.join(paths),
        "PYCUDA_DRIVER": "emulator",
        "TRITON_LIBCUDA_PATH": folder,
        "TRITON_PTXAS_PATH": os.path.join(folder, "ptxas"),
        "TRITON_PTXAS_BLACKWELL_PATH": os.path.join(folder, "ptxas"),
    }
    if check:
        found["PYCUDA_EMULATOR_CHECK"] = check if isinstance(check, str) else "all"
    chosen = {
        "PYCUDA_EMULATOR_DEVICES": None if devices is None else str(devices),
        "PYCUDA_EMULATOR_CAPABILITY": capability,
        "PYCUDA_EMULATOR_DRIVER_VERSION": driver_version,
        "PYCUDA_EMULATOR_LOG": None if log is None else os.path.abspath(log),
    }
    if not base.get("PYCUDA_EMULATOR_CAPABILITY") and capability is None:
        chosen["PYCUDA_EMULATOR_CAPABILITY"] = "9.0"
    found.update((name, value) for name, value in chosen.items() if value is not None)
    return found


# -- the command line ------------------------------------------------------------------


def _add_options(parser: argparse.ArgumentParser) -> None:
    _command_line.add_devices(parser)
    parser.add_argument(
        "--check", action="store_true", help="all checks of the software device"
    )
    parser.add_argument(
        "--driver-version",
        type=_command_line.version,
        metavar="13.0",
        help="the version that the driver reports",
    )
    parser.add_argument(
        "--log", metavar="FILE", help="append each call of the driver to this file"
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    commands = parser.add_subparsers(dest="command", metavar="command", required=True)
    running = commands.add_parser(
        "run", help="run a program; a file that ends in .py runs in this Python"
    )
    _add_options(running)
    _command_line.add_program(running, "program", "PROGRAM")
    naming = commands.add_parser("library", help="print the path of the libcuda.so.1")
    _command_line.add_json(naming)
    printing = commands.add_parser(
        "environment", help="print the variables, each as NAME=value on a line"
    )
    _add_options(printing)
    _command_line.add_json(printing)
    for command in (running, naming, printing):
        _command_line.add_refuse(command)


def _variables(given: argparse.Namespace) -> dict[str, str]:
    return environment(
        devices=given.devices,
        check=given.check,
        capability=given.capability,
        driver_version=given.driver_version,
        log=given.log,
    )


def _execute(given: argparse.Namespace) -> int:
    """Replace this process by the program. Return only if that fails."""
    if not given.program:
        given.refuse("PROGRAM is the name of a program, not an empty text")
    command = [given.program, *given.arguments]
    if given.program.endswith(".py"):
        command = [sys.executable, *command]
    try:
        os.execvpe(command[0], command, {**os.environ, **_variables(given)})
    except OSError as error:
        reason = f"cannot run {command[0]}: {error.strerror}"
        return _command_line.fail_without(given, "emulator", reason)


def _print(given: argparse.Namespace) -> None:
    if given.command == "library" and given.json:
        _command_line.print_json({"library": library()})
    elif given.command == "library":
        print(library())
    elif given.json:
        _command_line.print_json({"environment": _variables(given)})
    else:
        for name, value in _variables(given).items():
            print(f"{name}={value}")


def run(given: argparse.Namespace) -> int:
    """Execute a parsed command line.

    Parameters
    ----------
    given : argparse.Namespace
        The arguments.

    Returns
    -------
    int
        The exit status.
    """
    try:
        if given.command == "run":
            return _execute(given)
        _print(given)
    except RuntimeError as error:
        return _command_line.fail(given, "emulator", str(error))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Execute the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        The arguments. The default is that of the process.

    Returns
    -------
    int
        The exit status.
    """
    return _command_line.main("emulator", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
