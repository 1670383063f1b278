"""Find the cause of an error: run a program again with every check on.

    python -m pycuda.explain [--gpu] script.py [ARGUMENT ...]
    python -m pycuda.explain notebook.ipynb
    python -m pycuda.explain -m module [ARGUMENT ...]

The program runs on the software device, which checks every access, every barrier and
every wait. Each error that it finds is then explained: the kernel, its thread, the line
of the CUDA source, the line of Python that launched the kernel, and the line that
allocated the memory. With ``--gpu`` the program runs on the GPU, under NVIDIA's
compute-sanitizer.

The exit status is 0 if nothing was found and the program ended with 0, else 1.
"""

from __future__ import annotations

import argparse
import contextlib
import linecache
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from pycuda import (
    _command_line,
    _counted_source,
    _excerpt,
    _hide_imports,
    _notebook_program,
    _program,
    _reports,
    _sanitizer,
)
from pycuda._compile import recording

__all__ = ["explain"]
_hide_imports(globals())

_WIDTH = 88

#: The kinds that are about the host: warnings of the package, which are mistakes in
#: calls and others, and exceptions in functions that a stream calls.
_OF_HOST = ("mistake", "warning", "callback")
_CLEAN_UP = "a clean-up operation failed"

#: What an error means whose text has these words, and how it is usually corrected.
_ADVICE_BY_WORDS = {
    "of a row of a surface, which is no multiple": "The first coordinate of a surface "
    "counts bytes, not elements: surf2Dwrite(value, surface, x * sizeof(value), y).",
    "which is no multiple of": "The address of an access must be a multiple of its "
    "size, as the addresses of memory and of arrays are. Compare the offset and the "
    "type of the pointer; copy bytes at any place one by one, as memcpy does.",
    "to which this context has no peer access": "The memory is of another device. Push "
    "the context in which the kernel shall run, or let this one use the memory: "
    "context.enable_peer_access(other). A copy with memcpy_peer needs neither.",
    "and the kernel runs in context": "The memory is of another context. Push the "
    "context that has the memory before the launch, or allocate in this one.",
    "does not take part in the shuffle": "Let all lanes of the mask take part: move "
    "the shuffle out of the condition, or give lanes without a value a neutral one, "
    "such as 0 in a sum. A mask of fewer lanes must not read from the others.",
    "no thread of the block has written": "Some threads read elements that no thread "
    "has written. Let all elements be written first, by a loop and a __syncthreads, or "
    "read only those that were: i < count ? shared[i] : 0.",
    "of local memory: the thread has not written": "An array of a thread has no values "
    "at its beginning. Give it some: int counts[8] = {0};",
    "uninitialised variable": "A path through the kernel gives the variable no value. "
    "Give it one where it is declared.",
    "uninitialised copy to the host": "No kernel has written this memory, and nothing "
    "else has. Look whether the kernel was launched, with this array, and whether its "
    "condition lets any thread write. An array for drv.Out must be written as a whole; "
    "drv.InOut keeps what it had. Else set it first: memset or zeros.",
    "which has been freed": "The memory was freed before the kernel ran. Keep the "
    "object that owns it, not only its address, until the work has ended.",
    "which has gone back to its pool": "The object that owned the block is gone, "
    "so the pool may hand the block out again. Keep the object, not only its address, "
    "until the last work that uses it was enqueued.",
    "what an int becomes": "The index was computed as a 32-bit int and overflowed. "
    "Convert a factor to 64 bits before the multiplication: (size_t)row * width.",
    "what an unsigned": "The index was computed as an unsigned int and fell below 0. "
    "Use int, or compare before the subtraction.",
    "wait for global memory to change": "The loop reads the same memory again and "
    "again, and no thread that runs writes it. Let another thread write it, end the "
    "loop by a condition of its own, or launch fewer blocks if a block that has not "
    "begun must write it.",
    "no edges of the graph order": "Nodes without edges may run at the same time. "
    "Let one wait for the other: graph.add_kernel(..., after=[other]) or "
    "graph.add_edge(other, node); in a capture, an event and wait_for_event.",
    "exchange values without __syncwarp()": "Put __syncwarp() between the write and "
    "the read, and between the read and the next write.",
    "have ended before a barrier": "Let all threads of the block come to the barrier: "
    "put the work in a condition, if (i < n) { ... }, and the barrier behind it, "
    "instead of a return.",
    "waits for the whole grid": "Launch it with cooperative=True, and with no more "
    "blocks than the device can run at once.",
}

#: The same for accesses to memory, which have a space in their texts.
_ADVICE_BY_SPACE = {
    "of shared memory": "The access leaves the shared memory of the block, or the "
    "variable that its address comes from. Compare the index with the size of the "
    "__shared__ array. Memory of an extern array has the size that the launch gives "
    "(shared=, in bytes).",
    "of local memory": "The access leaves the array of the thread that its address "
    "comes from. Compare the index with the size of the array.",
}

#: What an error of a kind means, and how it is usually corrected.
_ADVICE = {
    "memory": "The kernel accesses memory outside of every live allocation. Compare "
    "the index with the size of the array, and the dtype with the kernel's parameter.",
    "init": "The value was never set, so the result is arbitrary. Set it first: "
    "memory with memset or zeros, shared memory with a loop and a __syncthreads.",
    "race": "Nothing orders these two accesses, so the result depends on which thread "
    "is faster. Separate them by a barrier, use atomic operations, or let each thread "
    "write memory of its own.",
    "barrier": "All threads of the block (or all lanes of the mask) must reach the "
    "same barrier. Move it out of the condition or the loop.",
    "sync": "Work in a stream has not ended when the call that enqueued it returns. "
    "Wait first: stream.synchronize() for the host, an event and wait_for_event for "
    "another stream.",
    "leak": "This was alive at the end of the program. Free it, or break the reference "
    "cycle that holds it.",
    "mistake": "PyCUDA does not check this, and the program goes on. With "
    "PYCUDA_STRICT=1 it is an error.",
    "note": "This is no error if the program does not use these bytes. Else launch "
    "enough blocks, (n + 255) // 256 for n elements in blocks of 256 rather than "
    "n // 256, and give grid and block in the order x, y, z.",
    "callback": "No code catches this exception, and the program goes on. Let the "
    "function only note that the work ahead has ended, as with threading.Event or a "
    "queue, and do the rest in the program's own thread.",
    "assert": "An assertion of the kernel failed.",
    "timeout": "The kernel ran for longer than PYCUDA_EMULATOR_TIMEOUT allows. If the "
    "loop of this line should have ended, look at its condition, and for which values "
    "of its variables it never ends: one that is 0, an unsigned number, which is never "
    "below 0, a float that stays the same when 1 is added.",
}

_SECONDS_TO_END = 10  # of a program after Ctrl-C
_NEXT_LINES = 3  # at most, of a statement over several lines


class _Sources:
    """The CUDA sources of a program, and where they are in its Python files."""

    def __init__(
        self, sources: Iterable[recording.Source | str], files: Sequence[str]
    ) -> None:
        self._sources = []
        for source in sources:
            if isinstance(source, str):
                source = recording.Source(source)
            known = dict.fromkeys((*source.files, *files))
            self._sources.append(source._replace(files=tuple(known)))
        self._in_files = _counted_source.Sources()

    def line_and_place(
        self, report: _reports.Report, number: int
    ) -> tuple[str, _counted_source.Place | None]:
        """Return the text of a line of ``kernel.cu``, and where the program has it."""
        source = self._of(report)
        line = source and _excerpt.line_of(source.text, number)
        if not source or not line:
            return "", None
        return line, self._in_files.in_files(source, number)

    def _of(self, report: _reports.Report) -> recording.Source | None:
        """Return the source that has the kernel of a report."""
        name = re.escape(_plain_name(report.kernel))
        if not name:
            return None
        pattern = re.compile(rf"__global__[^;{{}}]*\b{name}\s*\(")
        for source in reversed(self._sources):
            if pattern.search(source.text):
                return source
        return None


def _plain_name(symbol: str) -> str:
    """Return the name of a kernel without its namespaces, template and parameters."""
    rest = re.match(r"_ZN?(?:\d+.*)", symbol)
    if rest is None:
        return symbol
    rest_text, name = symbol[3:] if symbol.startswith("_ZN") else symbol[2:], ""
    while number := re.match(r"\d+", rest_text):
        begin = number.end()
        end = begin + int(number[0])
        name, rest_text = rest_text[begin:end], rest_text[end:]
    return name


def _statement(file: str, line: int) -> list[str]:
    """Return the text of the statement of Python that begins at a line."""
    rows: list[str] = []
    for number in range(line, line + _NEXT_LINES):
        rows.append(linecache.getline(file, number).rstrip())
        text = "\n".join(rows)
        if text.count("(") <= text.count(")") or not rows[-1]:
            break
    return textwrap.dedent("\n".join(rows)).split("\n") if rows[0] else []


def _place_rows(
    place: _reports.Place,
    report: _reports.Report,
    sources: _Sources,
) -> list[str]:
    """Return the rows that show a place with its text."""
    is_cuda = place.file.endswith(".cu")
    where, rows = f"{_excerpt.short_path(place.file)}:{place.line}", []
    if is_cuda:
        where = f"{os.path.basename(place.file)}:{place.line}"
        line, inside = sources.line_and_place(report, place.line)
        if inside:
            where += f" ({_excerpt.short_path(inside.file)}:{inside.line})"
        if line:
            rows = [line.strip()]
    else:
        rows = _statement(place.file, place.line)
        if place.function and not place.function.startswith("<"):
            where += f", in {place.function}"
    words = f"{place.words} at" if place.words else "at"
    return [f"{words} {where}", *(f"    {row}" for row in rows)]


_ACCESS = re.compile(r"\b(?:read|write|operation) of (\d+) bytes at ")
_AT_ADDRESS = re.compile(
    r"address (0x[0-9a-f]+).*?(\d+)-byte .*?allocation.*? at (0x[0-9a-f]+)"
)
_AT_BYTE = re.compile(r"byte (\d+) of the (\d+)-byte ")
_AT_OFFSET = re.compile(
    r"offset (\d+) of (?:shared|local) memory(?:, which has (\d+))?"
)


def _element(text: str) -> str:
    """Return which element an access is to, counted in units of its size, or ""."""
    access = _ACCESS.search(text)
    if access is None:
        return ""
    size, rest = int(access[1]), text[access.end() :]
    by_address, by_byte = _AT_ADDRESS.match(rest), _AT_BYTE.match(rest)
    by_offset = _AT_OFFSET.match(rest)
    if by_address:
        offset = int(by_address[1], 16) - int(by_address[3], 16)
        room = int(by_address[2])
    elif by_byte:
        offset, room = int(by_byte[1]), int(by_byte[2])
    elif by_offset:
        offset, room = int(by_offset[1]), int(by_offset[2] or 0)
    else:
        return ""
    if size == 0 or offset % size:
        return ""
    units = f"of {size} bytes" if size > 1 else "of 1 byte"
    having = f"; there are {room // size}, from 0 on" if room else ""
    return f"This is element {offset // size}, in units {units}{having}."


def _words(report: _reports.Report) -> list[str]:
    """Return the sentences of a report, without the rows that only name a place."""
    rows = report.text.splitlines()
    rows = [row for row in rows if not row.startswith("CUDA_ERROR_")]
    return [row.strip() for row in rows if row.strip() and not _reports.is_place(row)]


def explain(
    report: _reports.Report,
    sources: Iterable[recording.Source | str] = (),
    files: Sequence[str] = (),
) -> str:
    """Return a report with the text of its lines and with what it means.

    Parameters
    ----------
    report : Report
        A report of the software device.
    sources : iterable of Source or str, optional
        CUDA sources of the program.
    files : sequence of str, optional
        Python files of the program.

    Returns
    -------
    str
        The text.
    """
    known = list(files)
    known += [each.file for each in report.places if each.file.endswith(".py")]
    known = list(dict.fromkeys(known))
    report = _reports.with_folders(report, known)
    rows = []
    for words in _words(report):
        rows += textwrap.wrap(words, _WIDTH - 3, break_on_hyphens=False)
    element = _element(report.text)
    if element:
        rows.append(element)
    if rows:
        rows.append("")
    texts = _Sources(sources, known)
    shown: set[tuple[str, str, int]] = set()
    for place in report.places:
        where = place.role, os.path.basename(place.file), place.line
        if where not in shown:
            shown.add(where)
            rows += _place_rows(place, report, texts)
    advice = _advice(report)
    if advice:
        rows += ["", *textwrap.wrap(advice, _WIDTH - 3)]
    return textwrap.indent("\n".join(rows), "   ")


def _advice(report: _reports.Report) -> str:
    """Return what an error means and what to do, or ""."""
    said = " ".join(report.text.split())
    known = _ADVICE_BY_WORDS
    if report.kind == "memory":
        known = known | _ADVICE_BY_SPACE
    for words, advice in known.items():
        if words in said:
            return advice
    return _ADVICE.get(report.kind, "")


def _distinct(reports: Iterable[_reports.Report]) -> list[_reports.Report]:
    """Return reports without those that name the same error at the same places."""
    seen: dict[object, _reports.Report] = {}
    for each in reports:
        what = each if each.kind in _OF_HOST or not each.places else each.places
        seen.setdefault((each.kind, each.kernel, what), each)
    found = list(seen.values())
    if any(each.kind not in _OF_HOST for each in found):
        # that a context is lost is what the other reports tell
        found = [each for each in found if not each.text.startswith(_CLEAN_UP)]
    return found


# -- the command line ------------------------------------------------------------------


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command line.

    Parameters
    ----------
    parser : argparse.ArgumentParser
        The parser.
    """
    _command_line.add_json(parser)
    parser.add_argument(
        "--gpu",
        action="store_true",
        help="run on the GPU under compute-sanitizer, not on the software device",
    )
    parser.add_argument(
        "--checks",
        type=_command_line.checks,
        default="all",
        metavar="WORDS",
        help="the checks, separated by commas: memory, init, race, sync, barrier, leak "
        "(default: all)",
    )
    _command_line.add_devices(parser)
    parser.add_argument(
        "-m", dest="is_module", action="store_true", help="run a module, not a script"
    )
    _command_line.add_program(parser, "program")


def _command(given: argparse.Namespace) -> list[str]:
    return _program.command(given.program, given.arguments, given.is_module)


def _is_notebook(given: argparse.Namespace) -> bool:
    return not given.is_module and _notebook_program.is_notebook(given.program)


def _environment(given: argparse.Namespace, log: str) -> dict[str, str]:
    """Return the variables for a run on the software device."""
    found = {
        **os.environ,
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_CHECK": given.checks,
        "PYCUDA_CHECK_LOG": log,
    }
    _let_go_on(given, found)
    if given.devices is not None:
        found["PYCUDA_EMULATOR_DEVICES"] = str(given.devices)
    capability = given.capability or _command_line.capability_of_gpu()
    if capability:
        found["PYCUDA_EMULATOR_CAPABILITY"] = capability
    return found


def _let_go_on(given: argparse.Namespace, environment: dict[str, str]) -> None:
    """Let mistakes that PyCUDA does not check be reports, and the program go on."""
    if (given.is_module, given.program) != (True, "pytest"):  # our plugin decides there
        environment.setdefault("PYCUDA_STRICT", "0")


def _run_on_device(given: argparse.Namespace, log: str) -> int:
    with subprocess.Popen(_command(given), env=_environment(given, log)) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The program has the signal, too, and says which kernel it has ended.
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                process.wait(_SECONDS_TO_END)
            process.kill()
            raise


def _run_on_gpu(given: argparse.Namespace, log: str) -> int:
    """Run once for each tool of compute-sanitizer. Return the last status."""
    program = _sanitizer.find()
    if program is None:
        raise RuntimeError(_sanitizer.MISSING)
    environment = {
        **os.environ,
        "PYCUDA_DRIVER": "cuda",
        "PYCUDA_CHECK": given.checks,  # the compiler then records the lines
        "PYCUDA_CHECK_LOG": log,
        "PYCUDA_LAUNCH_BLOCKING": "1",
    }
    _let_go_on(given, environment)
    status = 0
    for tool, kind in _sanitizer.tools_for(given.checks):
        print(f"-- compute-sanitizer {tool}", file=sys.stderr, flush=True)
        output = f"{log}.{tool}"
        command = [program, *_sanitizer.options(tool, output), *_command(given)]
        ended = subprocess.run(command, env=environment, check=False).returncode
        status = ended or status
        with open(log, "a", encoding="utf-8") as file:
            file.write(_sanitizer.reports(output, kind))
    return status


def _found(log: str) -> list[_reports.Report]:
    """Return the reports in a log, each error once."""
    if not os.path.exists(log):
        return []
    with open(log, encoding="utf-8", errors="replace") as file:
        return _distinct(_reports.read(file.read()))


def _print_found(
    given: argparse.Namespace, found: list[_reports.Report], log: str, status: int
) -> None:
    sources, files = recording.read_texts(log), _files(given)
    sys.stdout.flush()
    for number, report in enumerate(found, 1):
        print(f"\n{'-' * _WIDTH}\n{number}. {report.kind}\n")
        print(explain(report, sources, files))
    print(f"\n{'-' * _WIDTH}")
    print(f"pycuda.explain: {_verdict(given, found, status)}")


def _verdict(
    given: argparse.Namespace, found: list[_reports.Report], status: int
) -> str:
    """Return the last line: what was found, and whether the program failed."""
    count = len(_errors(found))
    if status != 0 and not count:
        return (
            f"the program failed with status {status}, and no check has a report about "
            "it. Read its own output above"
        )
    warned = sum(each.kind == "warning" for each in found)
    noted = sum(each.kind == "note" for each in found)
    where = "compute-sanitizer" if given.gpu else "the software device"
    text = f"{where} found {count or 'no'} error{'' if count == 1 else 's'}"
    if warned:
        text += f", and the program warned {warned} time{'' if warned == 1 else 's'}"
    if noted:
        text += f", and has {noted} note{'' if noted == 1 else 's'}"
    return text


def _errors(found: Iterable[_reports.Report]) -> list[_reports.Report]:
    """Return the reports without the warnings that are about no mistake, and notes."""
    return [each for each in found if each.kind not in ("warning", "note")]


def _document(
    given: argparse.Namespace, found: list[_reports.Report], log: str, status: int
) -> dict[str, Any]:
    """Return what a run has found, for JSON."""
    sources, files = recording.read_texts(log), _files(given)
    return {
        "command": _command(given),
        "status": status,
        "checked_by": "compute-sanitizer" if given.gpu else "software device",
        "errors": [
            {**report._asdict(), "explanation": explain(report, sources, files)}
            for report in found
        ],
    }


def _files(given: argparse.Namespace) -> list[str]:
    if given.is_module:
        return []
    path = os.path.abspath(given.program)
    return [*_notebook_program.cells(path)] if _is_notebook(given) else [path]


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
    reason = _program.missing(given.program, given.is_module)
    if not reason and _is_notebook(given):
        try:
            _files(given)
        except ValueError as error:
            reason = str(error)
    if reason:
        return _command_line.fail_without(given, "explain", reason)
    run_program = _run_on_gpu if given.gpu else _run_on_device
    with tempfile.TemporaryDirectory(prefix="pycuda-explain-") as folder:
        log = os.path.join(folder, "reports")
        try:
            if given.json:
                with _command_line.stdout_as_stderr():
                    status = run_program(given, log)
            else:
                status = run_program(given, log)
        except RuntimeError as error:
            return _command_line.fail_without(given, "explain", str(error))
        found = _found(log)
        if given.json:
            _command_line.print_json(_document(given, found, log, status))
        else:
            _print_found(given, found, log, status)
    return 1 if _errors(found) or status != 0 else 0


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
    return _command_line.main("explain", add_arguments, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
