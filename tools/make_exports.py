#!/usr/bin/env python3
"""Write src/cpp_free_c/tables/driver_exports.h: what the software device exports.

    python tools/make_exports.py [--check] [root]

The names are those of NVIDIA's driver, in test/data/driver_exports.tsv. The parameters
are those of the rows of abi/symbols.h and abi/client_symbols.h. The table that this
script writes makes the exported functions and answers cuGetProcAddress. A name without
a row of the same ABI is listed as not built. With --check nothing is written; the
status is 1 if the table is out of date.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path("src/cpp_free_c")
NAMES = Path("test/data/driver_exports.tsv")
TABLE = SOURCE / "tables" / "driver_exports.h"
WIDTH = 88

#: Functions that cuGetProcAddress gives under the name of an older function.
RENAMED = {}

HEAD = """\
/* What the software device exports. Written by tools/make_exports.py; do not edit.
 *
 *   X(export, base, version, stream, Name, (parameters), (arguments))
 *       an exported function, and the row of abi/symbols.h or abi/client_symbols.h
 *       that does its work. stream: LEGACY, or PER_THREAD for a function whose default
 *       stream is that of the thread.
 *   X(export, base, version, stream, Name)
 *       an exported function that is not built. Name is unique for each ABI.
 *
 * base is the name that cuGetProcAddress takes, version the first that has this ABI. */
#ifndef TABLES_DRIVER_EXPORTS_H
#define TABLES_DRIVER_EXPORTS_H

/* clang-format off */
"""

FOOT = """\
/* clang-format on */

#endif
"""


class ExportError(Exception):
    """A table does not have the form that this script expects."""


@dataclass(frozen=True)
class Export:
    """One exported name: the function, its version and its ABI."""

    name: str
    version: int
    abi: int  # the first version of this function with the same parameters

    @property
    def parts(self):
        """Return the name without a version, the version's number, and the stream."""
        found = re.fullmatch(r"(\w+?)(?:_v(\d))?(?:_pt[sd][sz])?", self.name)
        return found[1], int(found[2] or 1), "_pt" in self.name

    @property
    def base(self):
        return self.parts[0]

    @property
    def stream(self):
        return "PER_THREAD" if self.parts[2] else "LEGACY"


def read_exports(root):
    """Return the rows of the list of names."""
    found = []
    for line in (root / NAMES).read_text().splitlines():
        if line and not line.startswith("#"):
            name, version, abi = line.split("\t")
            found.append(Export(name, int(version), int(abi)))
    if not found:
        raise ExportError(f"{NAMES} has no rows")
    return found


def read_rows(root):
    """Map (base, version) to the name and the parameters of each row."""
    found = {}
    for file, need in (
        ("symbols.h", r"(?:REQUIRED|OPTIONAL), \w+,"),
        ("client_symbols.h", ""),
    ):
        text = (root / SOURCE / "abi" / file).read_text().replace("\\\n", " ")
        pattern = rf"X\((\w+), (\d+),\s*{need}\s*(\((?:[^()]|\([^()]*\))*\))\)"
        rows = re.findall(pattern, text)
        if not rows:
            raise ExportError(f"{file} has no rows")
        for name, version, parameters in rows:
            base = "cu" + re.sub(r"_v\d$", "", name)
            key = base, int(version)
            if key in found:
                raise ExportError(f"{name} and {found[key][0]} are of one version")
            found[key] = name, " ".join(parameters.split())
    return found


def arguments(parameters):
    """Return the names of the parameters, in parentheses."""
    inside = parameters[1:-1].strip()
    if inside == "void":
        return "()"
    names = [re.search(r"(\w+)$", part.strip())[1] for part in inside.split(",")]
    return f"({', '.join(names)})"


def rows_by_abi(exports, rows):
    """Map (base, first version of the ABI) to the row of that ABI."""
    found = dict(rows)
    for export in exports:
        row = rows.get((export.base, export.version))
        if row:
            found.setdefault((export.base, export.abi), row)
    return found


def wrapped(text):
    """Return the text of a row as lines of a macro, each with its backslash."""
    lines, line = [], "   "
    for word in text.split(" "):
        if len(line) + 1 + len(word) > WIDTH - 2 and line.strip():
            lines.append(line)
            line = "     "
        line += " " + word
    return [*lines, line]


def macro(name, rows):
    """Return the text of an X-macro."""
    lines = [f"#define {name}(X)"]
    for row in rows:
        lines += wrapped(row)
    return " \\\n".join(lines) + "\n\n"


def table(root):
    """Return the text of the table."""
    exports, rows = read_exports(root), read_rows(root)
    by_abi = rows_by_abi(exports, rows)
    newest = {}
    for export in exports:
        base, number, _ = export.parts
        newest[base] = max(newest.get(base, 1), number)
    built, missing, names = [], [], []
    for export in sorted(exports, key=lambda e: e.name):
        base, number, _ = export.parts
        found = rows.get((base, export.version)) or by_abi.get((base, export.abi))
        head = f"({export.name}, {export.base}, {export.version}, {export.stream}, "
        if found:
            name, parameters = found
            built.append(f"X{head}{name}, {parameters}, {arguments(parameters)})")
        else:
            name = base.removeprefix("cu")
            if newest[base] > 1:
                name += f"_v{number}"
            missing.append(f"X{head}{name})")
            if name not in names:
                names.append(name)
    renamed = [
        f"X({target}, {base}, {version}, LEGACY)"
        for (base, version), target in sorted(RENAMED.items())
    ]
    return "".join(
        [
            HEAD,
            macro("PCU_DRIVER_EXPORTS", built),
            "/* Exports under another base: X(export, base, version, stream). */\n",
            macro("PCU_DRIVER_RENAMED", renamed),
            "/* What is not built: X(export, base, version, stream, Name). */\n",
            macro("PCU_DRIVER_MISSING", missing),
            "/* The names of what is not built, one for each ABI: X(Name). */\n",
            macro("PCU_DRIVER_MISSING_CALLS", [f"X({name})" for name in names]),
            FOOT,
        ]
    )


def main(words=None):
    """Write the table, or compare it."""
    parser = argparse.ArgumentParser(description="Write tables/driver_exports.h.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("root", nargs="?", default=".", type=Path)
    options = parser.parse_args(words)
    text = table(options.root)
    path = options.root / TABLE
    if options.check:
        if not path.is_file() or path.read_text() != text:
            print(f"{TABLE} is out of date: run python tools/make_exports.py")
            return 1
        return 0
    path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
