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
_SKIPPED = re.compile(r"COMPUTE-SANITIZER|[A-Z]+ SUMMARY|Program hit ")
_PLACE = re.compile(
    r"\bat (?P<kernel>[^\s:]+?)(?:\(.*\))?(?:\+0x[0-9a-f]+)? in "
    r"(?P<file>\S+):(?P<line>\d+)(?: \[\d+ hazards\])?$"
)
_THREAD = re.compile(r"by thread (\(.*?\)) in block (\(.*?\))")
#: The frame of Python that launched the kernel: the file has no folder.
_FRAME = re.compile(r"Host Frame: (?P<function>\S+) in (?P<file>\S+\.py):(?P<line>\d+)")
#: Rows that describe an access; all others are about the call of the driver.
_DETAILS = ("Access to", "Address", "and is", "Current value", "Incoming value")


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
            rows = [row.rstrip("\n").removeprefix("=========") for row in file]
    except OSError:
        return ""
    blocks: list[list[str]] = []
    for row in rows:
        if re.match(r" \S", row):  # the rows of an error are indented further
            blocks.append([])
        if blocks:
            blocks[-1].append(row.strip())
    return "".join(_as_report(block, kind) for block in blocks)


def _as_report(block: list[str], kind: str) -> str:
    """Return one error as a report, "" for messages that are no errors of a kernel."""
    if _SKIPPED.match(block[0]):
        return ""
    sentence, kernel, thread = block[0], "", ""
    places: list[str] = []
    for row in block:
        place, by, frame = _PLACE.search(row), _THREAD.search(row), _FRAME.match(row)
        if place:
            words = "" if not places else "other access "
            places.append(f"{words}at {place['file']}:{place['line']}")
            kernel = kernel or place["kernel"]
        elif by:
            thread = f", block {by[2]}, thread {by[1]}"
        elif frame:
            where = f"{frame['file']}:{frame['line']} in {frame['function']}"
            places.append(f"launched at {where}")
            break  # the frames behind it are those of the callers
        elif row.startswith(_DETAILS):
            sentence += f"; {row}"
    if not kernel:
        return ""
    sentence = _PLACE.sub("", sentence).strip().removeprefix("Error: ")
    lines = [sentence, f"in kernel {kernel}{thread or ','}"]
    text = "\n".join(lines + [f"  {each}" for each in dict.fromkeys(places)])
    return f"== {kind} {os.getpid()}\n{text}\n\n"
