"""NVIDIA's compute-sanitizer: where it is, how it is called, what it prints."""

from __future__ import annotations

import glob
import os
import re
import shutil

from pycuda._compile import toolkit

MISSING = (
    "compute-sanitizer was not found: not on PATH, not in CUDA_HOME or /usr/local/cuda "
    "and not in site-packages. Install the CUDA toolkit or 'pip install "
    "nvidia-cuda-sanitizer-api', or leave out --gpu"
)

#: The tools, and the kinds of errors that they find.
_TOOLS = {
    "memcheck": "memory",
    "initcheck": "init",
    "racecheck": "race",
    "synccheck": "barrier",
}
_HEAD = re.compile(r"^(?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK|LEAK SUMMARY)\S")
_PLACE = re.compile(
    r"at (?P<kernel>.+?)(?:\+0x[0-9a-f]+)? in (?P<file>\S+):(?P<line>\d+)$"
)
_THREAD = re.compile(r"by thread (\(.*?\)) in block (\(.*?\))")


def find() -> str | None:
    """Return the path of compute-sanitizer, None if there is none."""
    found = shutil.which("compute-sanitizer")
    if found:
        return found
    places = [
        os.path.join(home, "bin", "compute-sanitizer") for home in toolkit.homes()
    ]
    for folder in toolkit.in_wheels(("nvidia",)):
        places += sorted(glob.glob(os.path.join(folder, "*/bin/compute-sanitizer")))
    return next((each for each in places if os.access(each, os.X_OK)), None)


def tools_for(checks: str) -> list[tuple[str, str]]:
    """Return the tools for the words of the checks, each with its kind of errors."""
    words = {word.strip() for word in checks.split(",")}
    if "all" in words:
        return list(_TOOLS.items())
    wanted = [(tool, kind) for tool, kind in _TOOLS.items() if kind in words]
    if "leak" in words and ("memcheck", "memory") not in wanted:
        wanted.append(("memcheck", "leak"))
    return wanted


def options(tool: str, output: str) -> list[str]:
    """Return the options of compute-sanitizer for a tool that writes to a file."""
    return [f"--tool={tool}", "--target-processes=all", f"--log-file={output}"]


def reports(output: str, kind: str) -> str:
    """Return what compute-sanitizer wrote to a file, in the form of _reports.read."""
    try:
        with open(output, encoding="utf-8", errors="replace") as file:
            rows = [row.rstrip("\n") for row in file]
    except OSError:
        return ""
    blocks: list[list[str]] = []
    for row in rows:
        text = row.removeprefix("=========")
        if text.startswith(" ") and _HEAD.match(text[1:]):
            blocks.append([])
        if blocks:
            blocks[-1].append(text.strip())
    return "".join(_as_report(block, kind) for block in blocks)


def _as_report(block: list[str], kind: str) -> str:
    """Return one error as a report, "" for messages that are no errors of a kernel."""
    lines, kernel, thread = [block[0]], "", ""
    places = []
    for row in block[1:]:
        place, by = _PLACE.search(row), _THREAD.search(row)
        if place:
            kernel = kernel or place["kernel"].partition("(")[0]
            places.append(f"at {place['file']}:{place['line']}")
        elif by:
            thread = f", block {by[2]}, thread {by[1]}"
        elif row.startswith(("Address", "and is", "Current value", "Incoming value")):
            lines[0] += f"; {row}"
    if not places:
        return ""
    lines.append(f"in kernel {kernel}{thread}")
    text = "\n".join(lines + [f"  {each}" for each in dict.fromkeys(places)])
    return f"== {kind} {os.getpid()}\n{text}\n\n"
