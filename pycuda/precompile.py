"""Compile the kernels of a program in advance: ``python -m pycuda.precompile``.

    python -m pycuda.precompile script.py --arch 80,90 -o app.bundle [-- ARGUMENT ...]
    python -m pycuda.precompile module    --arch 80,90 -o app.bundle [-- ARGUMENT ...]
    python -m pycuda.precompile --read script.py kernels.cu --arch 80,90 -o app.bundle
    python -m pycuda.precompile --from FOLDER --arch 80,90 -o app.bundle
    python -m pycuda.precompile --list app.bundle

The first two forms run the program and record what it compiles. ``--read`` reads the
sources in its text, without running it. ``--from`` takes what programs recorded while
PYCUDA_RECORD named the folder. All sources are then compiled for each architecture, and
one file, the bundle, gets the images.

A program that uses the bundle needs no compiler: set PYCUDA_BUNDLE to the path of the
bundle, or call ``use``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pycuda import _command_line, _hide_imports
from pycuda._compile import bundle

if TYPE_CHECKING:
    from pycuda._compile.bundle_writer import Architectures, Result
    from pycuda._compile.recording import Recorded

__all__ = ["Kernels", "contents", "use"]
_hide_imports(globals())


class Kernels(NamedTuple):
    """One source in a bundle: its kernels, the architectures, the bytes of its images.

    Parameters
    ----------
    kernels : str
        The names of the kernels.
    architectures : tuple of str
        The architectures.
    size : int
        The size of the images, in bytes.

    Attributes
    ----------
    kernels : str
        The names of the kernels.
    architectures : tuple of str
        The architectures: ``"sm_80"`` for machine code, ``"compute_90"`` for PTX,
        ``"as the program asks"`` for a source that names its architecture.
    size : int
        The size of the images, in bytes.
    """

    kernels: str
    architectures: tuple[str, ...]
    size: int


def use(path: str | os.PathLike[str]) -> None:
    """Use a bundle for all later compilations of this process.

    Parameters
    ----------
    path : path
        The bundle. It is looked at before the bundles that were named earlier, and
        before those of PYCUDA_BUNDLE.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a bundle or is damaged.
    """
    bundle.use(os.fspath(path))


def contents(path: str | os.PathLike[str]) -> list[Kernels]:
    """Return the sources in a bundle.

    Parameters
    ----------
    path : path
        The bundle.

    Returns
    -------
    list of Kernels
        The sources.

    Raises
    ------
    OSError
        If the file cannot be read.
    ValueError
        If the file is not a bundle or is damaged.
    """
    found = []
    for source in bundle.Bundle(os.fspath(path)).sources():
        archs = [image.arch or "as the program asks" for image in source.images]
        size = sum(image.size for image in source.images)
        found.append(Kernels(source.kernels, tuple(dict.fromkeys(archs)), size))
    return found


# -- the command line ------------------------------------------------------------------

_MOST_JOBS = 1024


class _Failure(Exception):
    """Nothing can be written; the text says why."""


class _Missing(_Failure):
    """A file that the command line names does not exist."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    parser.epilog = (
        "Arguments of the program come after --. Without --arch, the images are for "
        "the device on which the program ran."
    )
    _command_line.add_json(parser)
    parser.add_argument(
        "program",
        nargs="*",
        metavar="PROGRAM",
        help="a script, or the name of a module",
    )
    parser.add_argument(
        "-m", dest="is_module", action="store_true", help="PROGRAM is a module"
    )
    parser.add_argument(
        "--arch",
        type=_architectures,
        metavar="80,90",
        help="the architectures: 80 is machine code for compute capability 8.0, and "
        "the newest gets PTX too; sm_80 is machine code alone, compute_90 PTX alone",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="the bundle to write")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--read", action="store_true", help="read the sources in the files PROGRAM"
    )
    source.add_argument(
        "--from", dest="folder", metavar="FOLDER", help="use what was recorded there"
    )
    source.add_argument("--list", metavar="FILE", help="print what is in a bundle")
    parser.add_argument(
        "-j", "--jobs", type=_jobs, metavar="N", help="compilations at a time"
    )


def _architectures(text: str) -> Architectures:
    from pycuda._compile import bundle_writer

    try:
        return bundle_writer.parse_architectures(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_JOBS:
        raise argparse.ArgumentTypeError(
            f"'{text}' must be a number from 1 to {_MOST_JOBS}"
        )
    return int(text)


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
    _check(given)
    try:
        if given.list is not None:
            return _print_list(given)
        return _make(given, given.after_dashes)
    except (_Missing, FileNotFoundError, PermissionError) as error:
        reason = _command_line.reason_of(error)
        return _command_line.fail_without(given, "precompile", reason)
    except (_Failure, OSError, ValueError, SyntaxError) as error:
        return _command_line.fail(given, "precompile", _command_line.reason_of(error))


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
    return _command_line.main("precompile", add_arguments, run, arguments)


def _check(given: argparse.Namespace) -> None:
    """End with a message about a command line that makes no sense."""
    if given.list is not None:
        for name, value in (
            ("PROGRAM", given.program),
            ("--arch", given.arch),
            ("-o", given.output),
        ):
            if value:
                given.refuse(f"--list takes no {name}")
        return
    if given.folder is not None and given.program:
        given.refuse("--from takes no PROGRAM")
    if given.folder is None and not given.program:
        given.refuse("name the PROGRAM: a script or a module")
    if not given.read and len(given.program) > 1:
        given.refuse("one PROGRAM at a time runs; its arguments come after --")
    if given.read and given.arch is None:
        given.refuse("--read needs --arch, because nothing runs on a device")
    if given.after_dashes and (given.read or given.folder is not None):
        given.refuse("no program runs, so nothing can come after --")
    if not given.output:
        given.refuse("name the file to write with -o")
    from pycuda._compile import bundle_writer

    reason = bundle_writer.complaint(given.output)
    if reason:
        given.refuse(f"-o {given.output}: {reason}")


def _make(given: argparse.Namespace, of_program: Sequence[str]) -> int:
    from pycuda import _argument_types
    from pycuda._compile import bundle_writer

    archs = given.arch
    if archs is not None and given.folder is None:
        reason = bundle_writer.unknown(archs)
        if reason:
            raise _Failure(reason)
    output = os.path.abspath(given.output)
    recorded = _recorded(given, of_program)
    if not recorded:
        raise _Failure(
            "no source was compiled or found, so there is no bundle to write"
        )
    for name in (bundle.VARIABLE, "PYCUDA_RECORD", "PYCUDA_CHECK"):
        os.environ.pop(name, None)  # they would change what is compiled here
    archs = archs or bundle_writer.architectures_of(recorded)
    result = bundle_writer.make(recorded, archs, _argument_types.of_source, given.jobs)
    if result.failures:
        raise _Failure(_failures(result))
    _write(given, output, result, archs)
    return 0


def _recorded(
    given: argparse.Namespace, of_program: Sequence[str]
) -> Sequence[Recorded]:
    """Return the sources, by the way that the command line asks for."""
    from pycuda._compile import recording

    if given.folder is not None:
        return recording.read(given.folder)
    if given.read:
        return _read(given.program)
    return _run(given, of_program)


def _read(paths: Sequence[str]) -> list[Recorded]:
    from pycuda import _source_calls

    found: list[Recorded] = []
    for path in paths:
        sources, unread = _source_calls.read(path)
        found += sources
        for each in unread:
            print(
                f"pycuda.precompile: {each.line}: not read, because its arguments are "
                f"known only when the program runs: {each.text}",
                file=sys.stderr,
            )
    return found


def _run(given: argparse.Namespace, of_program: Sequence[str]) -> list[Recorded]:
    """Run the program, and return what it compiled."""
    import subprocess
    import tempfile

    from pycuda._compile import recording

    (program,) = given.program
    is_module = given.is_module or not _is_script(program)
    command = [sys.executable, *(["-m"] if is_module else []), program, *of_program]
    with tempfile.TemporaryDirectory(prefix="pycuda-record-") as folder:
        environment = {**os.environ, recording.VARIABLE: folder}
        output = sys.stderr if given.json else None
        sys.stdout.flush()
        done = subprocess.run(command, env=environment, stdout=output, check=False)
        if done.returncode != 0:
            raise _Failure(
                f"'{program}' ended with status {done.returncode}, so no bundle was "
                "written. Its kernels may be incomplete"
            )
        return recording.read(folder)


def _is_script(program: str) -> bool:
    """Return whether a program is a file. Raise _Failure if it can be nothing."""
    if os.path.exists(program):
        return True
    if program.endswith(".py") or not program.replace(".", "").isidentifier():
        raise _Missing(f"there is no file '{program}'")
    return False


def _failures(result: Result) -> str:
    """Return the texts of the first errors."""
    from pycuda._compile import bundle_writer

    number = _count(len(result.failures), "image")
    rows = [f"{number} could not be made; no bundle was written"]
    for line, arch, error in result.failures[:3]:
        target = f" for {arch}" if arch else ""
        rows.append(f"{line}{target}: {bundle_writer.first_lines(error)}")
    if len(result.failures) > 3:
        rows.append(f"... and {len(result.failures) - 3} more")
    return "\n".join(rows)


def _write(
    given: argparse.Namespace, output: str, result: Result, archs: Architectures
) -> None:
    from pycuda import __version__
    from pycuda._compile import bundle_writer

    notes = [f"compiled by {', '.join(result.compilers)}"]
    size = bundle_writer.write(output, __version__, notes, result.sources)
    images = sum(len(source.images) for source in result.sources)
    if given.json:
        rows = [{"kernels": s.kernels, "key": s.key} for s in result.sources]
        _command_line.print_json(
            {
                "bundle": given.output,
                "size": size,
                "images": images,
                "architectures": str(archs).split(", "),
                "sources": rows,
            }
        )
        return
    print(
        f"pycuda.precompile: {_count(len(result.sources), 'source')}, "
        f"{_count(images, 'image')} for {archs}, {size} bytes, in {given.output}"
    )
    print(
        f'Use it with PYCUDA_BUNDLE={given.output} or pycuda.precompile.use("'
        f'{given.output}").'
    )


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _print_list(given: argparse.Namespace) -> int:
    found = bundle.Bundle(given.list)
    found.verify()
    notes = found.notes()
    rows = contents(given.list)
    if given.json:
        _command_line.print_json(
            {
                "bundle": given.list,
                "pycuda": notes[0],
                "notes": notes[1:],
                "sources": [row._asdict() for row in rows],
            }
        )
        return 0
    print(f"{given.list}: made by pycuda {', '.join(notes)}")
    for row in rows:
        print(f"{row.size:>10}  {', '.join(row.architectures)}  {row.kernels}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
