"""The links from the reference to the source lead to the right line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parents[2]
CODE = """
import json, runpy, sys
resolve = runpy.run_path("doc/conf.py")["linkcode_resolve"]
names = [name.split(":") for name in sys.argv[1:]]
links = [resolve("py", {"module": m, "fullname": n}) for m, n in names]
print(json.dumps(links))
"""
#: Names of the reference, and how the line that defines them begins.
NAMES = {
    "pycuda.driver:memcpy_htod": "COPY_ROW(memcpy_htod,",
    "pycuda.driver:Stream.synchronize": "stream_synchronize(",
    "pycuda.compiler:SourceModule": "class SourceModule",
    "pycuda.driver:Context": "static PyType_Slot context_slots[",
    "pycuda.tools:make_default_context": "def make_default_context(",
}
#: These have no definition of their own.
WITHOUT = ("pycuda.driver:no_such_name", "pycuda.no_such_module:f", "pycuda:VERSION")


def links(address):
    done = subprocess.run(
        [sys.executable, "-c", CODE, *NAMES, *WITHOUT],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYCUDA_DOC_SOURCE": address},
    )
    return json.loads(done.stdout)


def test_the_links_lead_to_the_definition():
    found = links("https://example.org/blob/main/{file}#L{line}")
    for begins, link in zip(NAMES.values(), found, strict=False):
        path, line = link.removeprefix("https://example.org/blob/main/").split("#L")
        assert (ROOT / path).read_text().splitlines()[int(line) - 1].startswith(begins)
    assert found[len(NAMES) :] == [None] * len(WITHOUT)


def test_without_the_address_there_are_no_links():
    assert set(links("")) == {None}
