#!/usr/bin/env python3
"""Execute the notebooks of doc/notebooks and keep their outputs in them.

    python tools/notebooks.py [--check] [NAME ...]

The notebooks run on the software device, with one thread, so that a run gives the same
outputs on every machine. With --check nothing is written. If outputs differ from those
in the notebook, the cells are named and the status is 1.
"""

import argparse
import base64
import copy
import difflib
import hashlib
import io
import os
import re
import sys
from pathlib import Path

import nbclient
import nbformat
from PIL import Image

FOLDER = Path(__file__).resolve().parents[1] / "doc" / "notebooks"

#: What a run must not depend on: the driver, the number of processors, colors.
VARIABLES = {
    "PYCUDA_DRIVER": "emulator",
    "PYCUDA_EMULATOR_THREADS": "1",
    "PYCUDA_PROGRESS": "0",
}
#: Variables that a run must not have.
WITHOUT = (
    "PYCUDA_CHECK",
    "PYCUDA_EMULATOR_SEED",
    "PYCUDA_STRICT",
    "PYTEST_CURRENT_TEST",
)

_COLORS = re.compile(r"\x1b\[[\d;]*m")
_COMPILER = re.compile(r"\b(?:nvcc|NVRTC) compilation")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def execute(notebook):
    """Run the cells of a notebook in a kernel of their own; return it with outputs."""
    notebook = copy.deepcopy(notebook)
    before = dict(os.environ)
    os.environ.update(VARIABLES)
    for name in WITHOUT:
        os.environ.pop(name, None)
    try:
        nbclient.NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={}
        ).execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
        if cell.cell_type == "code":
            cell.outputs = [_lasting(each) for each in cell.outputs if _is_kept(each)]
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _is_kept(output):
    """Say whether an output is the same in each run: a progress bar has times."""
    return output.output_type != "stream" or output.name != "stderr"


def _lasting(output):
    """Return an output without what differs between machines: commands, folders."""
    if output.output_type == "error":
        output.evalue = output.evalue.split("\n")[0]
    return output


def said(cell):
    """Return what a cell has shown, without what differs between runs and versions."""
    parts = []
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            parts.append(output.text)
        elif output.output_type == "error":
            # the frames before the message differ between versions of IPython
            text = _COLORS.sub("", "\n".join(output.traceback))
            parts.append(text[text.rindex(f"{output.ename}:") :])
        else:
            data = output.data
            parts.append(data.get("text/plain", ""))
            if "image/png" in data:
                parts.append(_pixels(data["image/png"]))
    text = _COLORS.sub("", "\n".join(parts))
    text = _COMPILER.sub("compilation", text)
    return _ADDRESS.sub("0xADDRESS", text).rstrip()


def _pixels(image):
    """Return a picture in words: its size, and a number made of its pixels."""
    with Image.open(io.BytesIO(base64.b64decode(image))) as opened:
        number = hashlib.sha256(opened.convert("RGBA").tobytes()).hexdigest()[:16]
        return f"<picture of {opened.width} x {opened.height} pixels, {number}>"


def differences(kept, found):
    """Yield (number, text) for each cell that has shown something else."""
    for number, (old, new) in enumerate(zip(kept.cells, found.cells, strict=True)):
        if said(old) != said(new):
            lines = difflib.unified_diff(
                said(old).splitlines(), said(new).splitlines(), "kept", "now", "", "", 1
            )
            yield number, "\n".join(line.rstrip()[:200] for line in lines)


def read(path):
    """Return a notebook."""
    return nbformat.read(path, as_version=4)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("names", nargs="*", metavar="NAME")
    given = parser.parse_args(argv)
    status = 0
    for path in sorted(FOLDER.glob("*.ipynb")):
        if given.names and path.stem not in given.names:
            continue
        kept = read(path)
        found = execute(kept)
        if not given.check:
            nbformat.write(found, path)
            continue
        for number, text in differences(kept, found):
            status = 1
            print(f"{path.name}: the output of cell {number} differs:\n{text}")
    return status


if __name__ == "__main__":
    sys.exit(main())
