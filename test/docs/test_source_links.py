"""The links from the reference to the source lead to the right line, and the entries
list the driver's functions that they call."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import doc_sources  # noqa: E402  the path is set above

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
    "pycuda.driver:Memcpy2D": 'COPY_ND_TYPE(copy_nd_2d, "Memcpy2D",',
    "pycuda.driver:StreamAllocation.as_buffer": "allocation_as_buffer(",
    "pycuda.gpuarray:GPUArray": 'PyType_Spec spec = {"pycuda.gpuarray.GPUArray",',
    "pycuda.gpuarray:GPUArray.sum": "METHOD(sum,",
    "pycuda.gpuarray:GPUArray.get": '"get($self, /, ary=None,',
    "pycuda.gpuarray:GPUArray.__add__": 'PyType_Spec spec = {"pycuda.gpuarray.',
    "pycuda.gpuarray:sum": "FUNCTION(sum,",
    "pycuda.gpuarray:average": "def average(",
    "pycuda.linalg:QRResult": "class QRResult(",
    "pycuda.tools:make_default_context": "def make_default_context(",
}
#: These have no definition of their own.
WITHOUT = (
    *("pycuda.driver:no_such_name", "pycuda.no_such_module:f", "pycuda:VERSION"),
    "pycuda.gl.autoinit:make_default_context",  # importing it needs OpenGL
)


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
        text = (ROOT / path).read_text().splitlines()[int(line) - 1]
        assert text.lstrip().startswith(begins)
    assert found[len(NAMES) :] == [None] * len(WITHOUT)


def test_without_the_address_there_are_no_links():
    assert set(links("")) == {None}


# -- the driver's functions of a name --------------------------------------------------


def without_namesake():
    """Return the names that do not list the driver's function with the same name."""
    sources = doc_sources.Sources(ROOT)
    entries = doc_sources.read.__wrapped__(ROOT)  # without the cache
    return [
        name
        for name, entry in entries.items()
        if not set(sources.namesake(name)) <= set(entry.calls)
    ]


def test_a_name_lists_the_function_with_the_same_name():
    listed = [entry for entry in doc_sources.read(ROOT).values() if entry.calls]
    assert len(listed) > 200
    # It reads the package's own stack of contexts.
    assert without_namesake() == ["Context.get_current"]


def test_a_call_that_is_not_seen_is_noticed(monkeypatch):
    fewer = doc_sources.CALL.pattern.replace("PCU_[A-Z_]+", "PCU_CALL")
    monkeypatch.setattr(doc_sources, "CALL", re.compile(fewer))
    assert "mem_alloc" in without_namesake()
