#!/usr/bin/env python3
"""Print the number of lines of each room of the repository, and its largest files.

python tools/report_size.py [root]
"""

import sys
from pathlib import Path

ROOMS = ("src/cpp_free_c", "pycuda", "test", "examples", "bench", "tools", "doc")
TEXT = {".c", ".h", ".inc", ".py", ".pyi", ".hpp", ".rst"}
LARGEST = 5


def sizes(folder):
    """Return (lines, path) of every text file below a folder, the largest first."""
    found = [
        (len(path.read_text(encoding="utf-8", errors="replace").splitlines()), path)
        for path in folder.rglob("*")
        if path.suffix in TEXT and path.is_file()
    ]
    return sorted(found, reverse=True)


def rooms(root):
    """Yield the existing rooms; each folder of the C sources is one."""
    for room in ROOMS:
        folder = root / room
        parts = sorted(path for path in folder.glob("*") if path.is_dir())
        yield from parts if room.startswith("src/") else [folder]


def main(arguments):
    """Print the report for the repository, or for the root given."""
    root = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    total = 0
    for folder in rooms(root):
        files = sizes(folder)
        lines = sum(number for number, _ in files)
        total += lines
        if files:
            print(f"{lines:7}  {folder.relative_to(root)} ({len(files)} files)")
        for number, path in files[:LARGEST]:
            print(f"{number:11}  {path.relative_to(folder)}")
    print(f"{total:7}  in all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
