#!/usr/bin/env python3
"""Run the examples on the software device and record what the gallery shows of them.

    python tools/record_examples.py [PROGRAM ...]

Writes the output, the options and the processor time of each program into
``doc/runs/runs.json``, and the picture that it draws beside it. A program is named as
in examples/README.rst. Without names, all programs run that need neither a GPU nor
another library. Each runs in an empty folder with an empty compile cache. Exits with 1
if a program fails.
"""

import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from pages.gallery import topics  # noqa: E402  the path is set above

EXAMPLES = ROOT / "examples"
RUNS = ROOT / "doc" / "runs"
#: Programs that need a GPU, and those that are not programs.
LEFT_OUT = re.compile(r"exchange_|nccl_ring|\.ipynb$")
MOST_SECONDS = 120
MOST_BYTES = 200_000  # of a PNG file in the pages


def programs():
    """Return the programs of the list that can run here."""
    listed = topics((EXAMPLES / "README.rst").read_text(encoding="utf-8"))
    names = [name for topic in listed.values() for name in topic]
    return [name for name in names if not LEFT_OUT.search(name)]


def digest(program):
    """Return the hash of a program's text, by which a test finds old records."""
    return hashlib.sha256((EXAMPLES / program).read_bytes()).hexdigest()


def command(program, *arguments):
    python = [sys.executable, str(EXAMPLES / program), *arguments]
    if program.startswith("mpi/") and arguments != ("--help",):  # else printed twice
        return ["mpiexec", "--allow-run-as-root", "--oversubscribe", "-n", "2", *python]
    return python


def execute(folder, program, *arguments):
    """Run a program in a folder; return its output. Ends this program if it fails."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYCUDA_DRIVER": "emulator",
        "PYCUDA_EMULATOR_THREADS": "1",
        "PYCUDA_CACHE_DIR": str(folder / "cache"),
        "COLUMNS": "80",
    }
    done = subprocess.run(
        command(program, *arguments),
        cwd=folder / "work",
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    if done.returncode != 0:
        sys.exit(f"{program} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def options_of(text):
    """Return the options of a help text; nothing if --help is the only one."""
    usage, _, rest = text.partition("\n\n")
    parts = re.search(r"^(positional arguments|options):\n.*", rest, re.M | re.S)
    if parts is None or re.fullmatch(r"usage: \S+ \[-h\]", usage):
        return ""
    return f"{usage}\n\n{parts[0].strip()}"


def processor_time():
    """Return the seconds that processors have worked for programs that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def keep(picture):
    """Copy a picture to the pages, large ones as JPEG. Return its name there."""
    if picture.suffix != ".png" or picture.stat().st_size <= MOST_BYTES:
        shutil.copy(picture, RUNS / picture.name)
        return picture.name
    from PIL import Image  # in the extra examples

    name = picture.with_suffix(".jpg").name
    Image.open(picture).convert("RGB").save(RUNS / name, quality=88)
    return name


def record(program):
    """Run a program twice, the second time for --help; return its record."""
    with tempfile.TemporaryDirectory(prefix="pycuda-example-") as name:
        folder = Path(name)
        (folder / "work").mkdir()
        start = processor_time()
        output = execute(folder, program)
        seconds = processor_time() - start
        pictures = sorted((folder / "work").iterdir())
        if len(pictures) > 1:
            sys.exit(f"{program} wrote {', '.join(p.name for p in pictures)}")
        return {
            "sha256": digest(program),
            "seconds": round(seconds, 1),
            "picture": keep(pictures[0]) if pictures else None,
            "output": output,
            "options": options_of(execute(folder, program, "--help")),
        }


def main(names):
    known = programs()
    unknown = sorted(set(names) - set(known))
    if unknown:
        sys.exit(f"{', '.join(unknown)}: not in the list; there are {', '.join(known)}")
    path = RUNS / "runs.json"
    recorded = json.loads(path.read_text())["programs"] if path.exists() else {}
    for name in names or known:
        recorded[name] = record(name)
        print(f"{name}: {recorded[name]['seconds']} s", flush=True)
    result = {name: recorded[name] for name in known if name in recorded}
    path.write_text(json.dumps({"programs": result}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
