"""Rows: the run-time compiler, with a program in place of nvcc.

The program always writes the kernel of row.py, so no toolkit is needed.
"""

import os
import tempfile
from pathlib import Path

import pycuda.compiler as compiler
from pycuda._compile import single_flight

from .row import PTX, row

STAND_IN = """#!/bin/sh
case "$1" in
    --version) echo "a stand-in, release 13.0, V13.0.1"; exit ;;
    --list-gpu-arch) echo compute_75; exit ;;
    --preprocess) for last in "$@"; do :; done; cat "$last"; exit ;;
esac
while [ $# -gt 1 ]; do
    case "$1" in -o) image=$2 ;; esac
    shift
done
echo "image: $1 /usr/include/linux/cuda_runtime.h" > "${SUNPRO_DEPENDENCIES%% *}"
cp "{kernel}" "$image"
"""

A_CHILD = "it starts a program: what is short of memory then is module subprocess"

_folder = tempfile.TemporaryDirectory(prefix="pycuda-faults-")


def path(name):
    return os.path.join(_folder.name, name)


def stand_in():
    kernel, program = Path(path("kernel")), Path(path("nvcc"))
    if not program.exists():
        kernel.write_bytes(PTX.rstrip(b"\0"))
        program.write_text(STAND_IN.replace("{kernel}", str(kernel)))
        program.chmod(0o755)
    return str(program)


def options(cached):
    return {"nvcc": stand_in(), "cache_dir": path("cache") if cached else False}


def _cached(function, **more):
    """Make a call whose result is in the cache."""

    def make(w):
        chosen = {**options(True), **more}
        function("some source", **chosen)
        return lambda: function("some source", **chosen)

    return make


def _anew(function):
    def make(w):
        chosen = options(False)
        function("some source", **chosen)  # asks the compiler for its version, once
        return lambda: function("some source", **chosen)

    return make


def _plain(source, nvcc, cache_dir):
    return compiler.compile_plain(source, [], False, nvcc, cache_dir, "ptx")


def _flight(w):
    """Compile without a compiler: what is done to keep the code and to lock it."""
    w.folder = tempfile.TemporaryDirectory(dir=_folder.name)
    entry = os.path.join(w.folder.name, "entry.cubin")

    def call():
        try:
            return single_flight.get(entry, lambda: (b"", b"code"))
        finally:
            assert not single_flight._flights

    return call


row("single_flight.get (anew)", _flight)
row("compiler.compile", _cached(compiler.compile, target="ptx"))
row("compiler.compile (anew)", _anew(compiler.compile), no_allocations=A_CHILD)
row("compiler.compile_plain", _cached(_plain))
row(
    "compiler.compile_many",
    _cached(
        lambda source, **options: compiler.compile_many(
            [source], workers=1, progress=False, target="ptx", **options
        )
    ),
    no_allocations="it works in a thread",
)
row(
    "compiler.link",
    _cached(
        lambda source, **options: compiler.link(
            [b".version 8.0"], arch="sm_75", **options
        )
    ),
)
row("compiler.SourceModule", _cached(compiler.SourceModule))
row(
    "compiler.SourceModule (anew)", _anew(compiler.SourceModule), no_allocations=A_CHILD
)
row(
    "compiler.SourceModule (dropped)",
    lambda w: [compiler.SourceModule("some source", **options(True))].clear,
)
row(
    "compiler.SourceModule.get_function",
    lambda w: (lambda module: lambda: module.get_function("add"))(
        compiler.SourceModule("some source", **options(True))
    ),
    also=["compiler.CudaModule.get_function"],
)
row(
    "compiler.get_nvcc_version",
    lambda w: (lambda nvcc: lambda: compiler.get_nvcc_version(nvcc))(stand_in()),
)
row(
    "compiler.preprocess_source",
    lambda w: lambda: compiler.preprocess_source("text", [], stand_in()),
    no_allocations=A_CHILD,
)
row(
    "compiler.SourceModule (an architecture)",
    _cached(compiler.SourceModule, arch="sm_75"),
)
