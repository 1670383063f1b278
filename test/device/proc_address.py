"""Record what a driver's cuGetProcAddress answers: `python -m device.proc_address`.

Run it in the folder test, on a machine with NVIDIA's driver. It asks for each name of
test/data/driver_exports.tsv with each flag, at the versions at which its ABI changed,
and just below, and writes test/data/proc_address.xz. test_exports.py compares the
software device with that file.
"""

import argparse
import ctypes
import lzma
import re
from ctypes import byref, c_int, c_uint64, c_void_p
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
NAMES = DATA / "driver_exports.tsv"
RECORDED = DATA / "proc_address.xz"

#: The newest version that is asked for, and the flags: none, legacy, per thread.
NEWEST, FLAGS = 13000, (0, 1, 2)


def exports():
    """Return {name without version: [(exported name, version), ...]}."""
    found = {}
    for line in NAMES.read_text().splitlines():
        if line and not line.startswith("#"):
            name, version, _ = line.split("\t")
            base = re.fullmatch(r"(\w+?)(?:_v\d)?(?:_pt[sd][sz])?", name)[1]
            found.setdefault(base, []).append((name, int(version)))
    return found


def questions():
    """Yield each name and version to ask for."""
    for base, rows in sorted(exports().items()):
        versions = {version for _, version in rows}
        for version in sorted(versions | {v - 10 for v in versions} | {NEWEST}):
            yield base, version


def ask(library, name, version, flag):
    """Return the result of the call, the address or None, and the status."""
    pointer, status = c_void_p(), c_int(-1)
    code = library.cuGetProcAddress_v2(
        name.encode(), byref(pointer), c_int(version), c_uint64(flag), byref(status)
    )
    return code, pointer.value, status.value


def answer(library, names, name, version, flag):
    """Return the exported name of the function, or the status as text.

    None: the driver has a function that it does not export.
    """
    _, address, status = ask(library, name, version, flag)
    if address is None:
        return str(status)
    for exported in names:
        function = getattr(library, exported, None)
        if ctypes.cast(function, c_void_p).value == address:
            return exported
    return None


def recorded():
    """Yield (name, version, [answer for each flag]) of an H200's driver."""
    for line in lzma.decompress(RECORDED.read_bytes()).decode().splitlines():
        name, version, *answers = line.split("\t")
        yield name, int(version), answers


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--library", default="libcuda.so.1")
    parser.add_argument("--out", default=RECORDED)
    options = parser.parse_args()
    library = ctypes.CDLL(options.library)
    library.cuInit(0)
    lines, known = [], exports()
    for name, version in questions():
        names = [exported for exported, _ in known[name]]
        answers = [answer(library, names, name, version, flag) for flag in FLAGS]
        if None not in answers:
            lines.append("\t".join([name, str(version), *answers]))
    Path(options.out).write_bytes(lzma.compress("\n".join(lines).encode(), preset=9))
    print(f"{len(lines)} names and versions")


if __name__ == "__main__":
    main()
