#!/usr/bin/env python3
"""Compile this package's kernels with every CUDA 12 and 13 compiler of NVIDIA's wheels.

    python tools/compile_matrix.py [--compiler nvrtc|nvcc] [--release 12.4]...
                                   [--folder DIR] [--json FILE] [--list]

pip installs the wheels into a folder outside the tree, where they stay: a few hundred
MB for each release. CUDA 12's wheels have no nvcc, so nvcc is tested from CUDA 13. Each
kernel is compiled for the oldest and the newest architecture that the compiler
supports. A warning counts as an error. Exits with 1 if there was any.

The kernels are those of test/support/ordinary_sources.py, some for the package's own
headers, those that the wide benchmark needs, and those that modules of the package
provide through a function ``sample_sources()``, which yields pairs (name, source) to
compile with ``no_extern_c``.
No check runs this script, because it needs gigabytes and a long time.
"""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# The package that lists the releases, what to install for one, and options of pip.
WHEELS = {
    ("nvrtc", 12): (
        "nvidia-cuda-nvrtc-cu12",
        [
            "nvidia-cuda-nvrtc-cu12=={0}.*",
            "nvidia-cuda-runtime-cu12=={0}.*",
            "nvidia-cuda-cccl-cu12=={cccl}.*",
            "nvidia-curand-cu12=={curand}.*",
        ],
        ["--no-deps"],
    ),
    ("nvrtc", 13): (
        "nvidia-cuda-nvrtc",
        ["cuda-toolkit[nvrtc,cudart,cccl,curand]=={0}.*"],
        [],
    ),
    ("nvcc", 13): (
        "nvidia-cuda-nvcc",
        ["cuda-toolkit[nvcc,nvvm,crt,cudart,cccl,curand]=={0}.*"],
        [],
    ),
}


# The package's own headers for device code.
OWN = {
    "pycuda-complex.hpp": """
#include <pycuda-complex.hpp>
__global__ void f(pycuda::complex<float> *a, pycuda::complex<double> *b)
{
    a[0] = a[1] * a[2] + exp(a[3]) / conj(a[4]);
    b[0] = pow(b[1], b[2]) - sqrt(b[3]) + pycuda::complex<double>(abs(b[4]), arg(b[5]));
}
""",
    "pycuda-helpers.hpp": """
#include <pycuda-helpers.hpp>
__global__ void f(float *a) { *a = 1; }
""",
    "texture references": """
texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> plane;
surface<void, 2> target;
__global__ void f(float *a)
{
    a[0] = tex1Dfetch(line, 3) + tex2D(plane, 0.5f, 0.5f);
    surf2Dwrite(a[0], target, 0, 0);
}
""",
}


# -- wheels ----------------------------------------------------------------------------


def pip(*arguments):
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done.stdout


def releases(compiler):
    """Return the releases that have wheels, such as "12.4", oldest first."""
    found = set()
    for (name, major), (package, _, _) in WHEELS.items():
        if name == compiler:
            versions = re.findall(
                r"\b(\d+)\.(\d+)\.\d+", pip("index", "versions", package)
            )
            found |= {(int(a), int(b)) for a, b in versions if int(a) == major}
    return [f"{major}.{minor}" for major, minor in sorted(found)]


def fetch(folder, compiler, release):
    """Install the wheels of a release if they are missing; return their folder."""
    place = Path(folder) / f"{compiler}-{release}"
    complete = place / "complete"
    if not complete.exists():
        major, _, minor = release.partition(".")
        _, wanted, options = WHEELS[compiler, int(major)]
        # CUDA 12.4 contains cuRAND 10.3.5, and so on for the other releases. The wheels
        # of CCCL before 12.3 have no headers.
        curand, cccl = f"10.3.{int(minor) + 1}", f"{major}.{max(int(minor), 3)}"
        wanted = [each.format(release, curand=curand, cccl=cccl) for each in wanted]
        pip("install", "-q", "--target", str(place), "--upgrade", *options, *wanted)
        complete.touch()
    return place


# -- the kernels of arrays -------------------------------------------------------------


def _table(header):
    """Return the rows X(NAME, "name", ...) of a table as lists of words."""
    text = (ROOT / "src" / "cpp_free_c" / "tables" / header).read_text()
    rows = re.findall(r"^ +X\(\w+, \"(\w+)\", ([^)]*)\)", text, re.MULTILINE)
    return [(name, *rest.replace(" ", "").split(",")) for name, rest in rows]


#: The dtypes for which each rule's operations are compiled.
RULE_TYPES = {
    "SAME": ("bool", "int32", "float16", "float32", "complex128"),
    "NUMBER": ("int8", "uint64", "float64", "complex64"),
    "FLOAT": ("float16", "float32", "float64", "complex64", "complex128"),
    "REAL": ("float16", "float32", "float64"),
    "DIVIDE": ("float32", "float64", "complex64"),
    "FLOOR": ("int8", "int64", "uint32", "float16", "float64"),
    "POWER": ("int32", "uint8", "float32", "complex128"),
    "ROUND": ("int16", "float32", "float64"),
    "BITS": ("bool", "uint16", "int64"),
    "SHIFT": ("int32", "uint8"),
    "COMPARE": ("bool", "uint8", "int64", "float16", "complex64"),
    "LOGICAL": ("bool", "uint8", "int64", "float16", "complex64"),
    "ANGLE": ("float16", "float32", "float64", "complex64", "complex128"),
    "TEST": ("float32", "complex128"),
    "SIGN_TEST": ("float32",),
    "PART": ("complex64", "complex128"),
    "LDEXP": ("float32", "float64"),
    "FREXP": ("float32", "float64"),
    "SELECT": ("float32", "complex64"),
    "COPY": ("uint8", "uint64", "complex128"),
    "CLOSE": ("float32", "complex128"),
    "WIDEN": ("int32", "float32", "float64", "complex64"),
    "EXTREME": ("int16", "float16", "float32", "complex128"),
    "INDEX": ("uint8", "float32", "complex64"),
    "COUNT": ("uint8", "float32", "complex64"),
    "PRODUCTS": ("bool", "int32", "float16", "float32", "complex128"),
    "BOOL": ("bool", "float64"),
    "MEAN": ("float32", "complex128"),
    "SPREAD": ("float64", "complex64"),
    "ENDS": ("float32",),
    "BIT_COUNT": ("int8", "uint16", "int32", "uint64"),
    "DOUBLE": ("float64", "complex128"),
}
PART_OF = {"complex64": "float32", "complex128": "float64"}


def _text(**fields):
    """Return the source of a kernel request with these fields."""
    from pycuda._array.kernels.compilation import text_of
    from pycuda._driver import _KernelRequest

    names = _KernelRequest.__match_args__
    return text_of(_KernelRequest([fields.get(name) for name in names]))


def elementwise_kernels():
    """Yield (rule, text) of each operation: flat, with a number, and strided."""
    for name, nin, nout, rule in _table("array_ops.h"):
        nin, nout = int(nin), int(nout)
        for dtype in RULE_TYPES[rule]:
            inputs, outputs = [dtype] * nin, [dtype] * nout
            if rule in ("COMPARE", "LOGICAL", "TEST", "SIGN_TEST", "CLOSE"):
                outputs = ["bool"]
            elif rule in ("PART", "ANGLE"):
                outputs = [PART_OF.get(dtype, dtype)]
            elif rule == "BIT_COUNT":
                outputs = ["uint8"]
            elif rule == "FREXP":
                outputs = [dtype, "int32"]
            elif rule == "LDEXP":
                inputs[1] = "int32"
            elif rule == "SELECT":
                inputs[0] = "int32"
            fields = {
                "family": "elementwise",
                "operation": name,
                "inputs": nin,
                "outputs": nout,
                "types": (*inputs, *outputs),
                "compute": "raw" if name == "copy" else dtype,
            }
            flat = {"ndim": 0, "wide": False, "vector": 4}
            strided = {"ndim": 2, "wide": True, "vector": 1}
            others = ("array",) * (nin + nout - 1)
            yield rule, _text(**fields, **flat, passing=("array", *others))
            yield rule, _text(**fields, **strided, passing=("array", *others))
            rows = {"ndim": 2, "wide": False, "vector": 2, "tile": 2}
            for first in ("packed", "repeated", "backward"):
                yield rule, _text(**fields, **rows, passing=(first, *others))
            if nin > 1:
                yield rule, _text(**fields, **flat, passing=("scalar", *others))
                yield rule, _text(**fields, **flat, passing=("one", *others))


def reduction_kernels():
    """Yield (rule, text) of each reduction: its passes, narrow and wide."""
    variants = (  # (name, reduces elements, threads, lanes, rounds)
        ("by_block", True, 256, 256, 4),
        ("by_row", True, 256, 32, 2),
        ("by_short_row", True, 256, 4, 4),
        ("by_column", True, 256, 8, 4),
        ("join_by_block", False, 256, 256, 0),
        ("join_by_row", False, 256, 32, 0),
    )
    results = {
        "INDEX": "int64",
        "COUNT": "int64",
        "BOOL": "bool",
        "ENDS": "complex128",
    }
    for name, nin, rule in _table("array_reductions.h"):
        for dtype in RULE_TYPES[rule]:
            result = results.get(rule, dtype)
            if rule == "SPREAD":
                result = PART_OF.get(dtype, dtype)
            for number, (variant, reduces, threads, lanes, rounds) in enumerate(
                variants
            ):
                packed = reduces and dtype not in PART_OF
                for kept in (0, 2):
                    yield (
                        rule,
                        _text(
                            family="reduction",
                            operation=name,
                            types=(*[dtype] * int(nin), result),
                            inputs=int(nin),
                            outputs=1,
                            compute=dtype,
                            ndim=1,
                            wide=number % 2 == 1,
                            vector=4 if packed else 1,
                            kept_ndim=kept,
                            variant=variant,
                            partial=variant in ("by_block", "by_column"),
                            streamed=number % 2 == 1,
                            threads=threads,
                            lanes=lanes,
                            rounds=rounds,
                        ),
                    )


def in_one(texts):
    """Return one source with many kernels, each in its own namespace."""
    parts = []
    for number, text in enumerate(texts):
        include, _, rest = text.partition("\n")
        rest = rest.replace("kernel(", f"kernel_{number}(", 1)
        parts.append(f"namespace n{number} {{\n{rest}}}\n")
    return include + "\n" + "".join(parts)


def array_sources():
    """Yield (name, source) of all generated array kernels."""
    by_rule = {}
    for kind, kernels in (
        ("elementwise", elementwise_kernels()),
        ("reduction", reduction_kernels()),
    ):
        for rule, text in kernels:
            by_rule.setdefault(f"{kind} {rule.lower()}", []).append(text)
    for name, texts in by_rule.items():
        yield name, in_one(texts)
    sides = ((1, 64, 4), (1, 64, 1), (2, 64, 2), (4, 64, 1), (8, 32, 1), (16, 32, 1))
    yield (
        "transposes",
        in_one(
            _text(family="transpose", raw_bytes=size, tile=tile, vector=vector, ndim=2)
            for size, tile, vector in sides
        ),
    )


#: Runs the wide benchmark on the software device, and prints the kernels that C
#: requests meanwhile: {family and number: source}.
USED = """
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
from pycuda._array.kernels import compilation
found, write = {}, compilation.text_of
def text_of(request):
    text = write(request)
    found.setdefault(text, f"{request.family} {len(found)}")
    return text
compilation.text_of = text_of
import bench_wide
with contextlib.redirect_stdout(io.StringIO()):
    bench_wide.main("--sizes 4096 --rounds 1 --ms 0.1 --peers".split())
print(json.dumps({name: text for text, name in found.items()}))
"""


def used_sources():
    """Yield (name, source) of the array kernels that the wide benchmark needs."""
    done = subprocess.run(
        [sys.executable, "-c", USED, str(ROOT / "bench")],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYCUDA_DRIVER": "emulator", "PYTHONPATH": str(ROOT)},
    )
    yield from json.loads(done.stdout).items()


# -- one compiler, in its own process --------------------------------------------------


def sources():
    """Return {name: source} of all kernels."""
    sys.path[:0] = [str(ROOT), str(ROOT / "test" / "support")]
    import ordinary_sources

    found = {**ordinary_sources.SOURCES, **OWN}
    found |= {f"arrays: {name}": source for name, source in array_sources()}
    found |= {f"arrays in use: {name}": source for name, source in used_sources()}
    for path in sorted((ROOT / "pycuda").rglob("*.py")):
        if "\ndef sample_sources(" in path.read_text():
            words = path.relative_to(ROOT).with_suffix("").parts
            module = importlib.import_module(".".join(words))
            for name, source in module.sample_sources():
                found[f"{path.stem}: {name}"] = source
    return found


def compile_all(compiler, place):
    """Compile all kernels with the compiler in a folder; print a line for each."""
    kernels = sources()
    from pycuda import compiler as front
    from pycuda._compile import toolkit, tools
    from pycuda.driver import CompileError

    toolkit.homes = list  # look only in the wheels
    sys.path.insert(0, str(place))
    nvcc = str(place / "nvidia" / "cu13" / "bin" / "nvcc")
    tool = tools.choose(nvcc if compiler == "nvcc" else "nvcc", compiler)
    if not Path(tool.path).is_relative_to(place):
        raise RuntimeError(f"found {tool.path}, which is not in {place}")
    facts = tool.facts(None)
    print(json.dumps({"archs": facts.archs, "release": facts.release}), flush=True)
    for arch in sorted({facts.archs[0], facts.archs[-1]}):
        for name, source in kernels.items():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                error = None
                try:
                    front.compile(
                        source,
                        nvcc=tool.path if compiler == "nvcc" else "nvcc",
                        compiler=compiler,
                        arch=f"sm_{arch}",
                        no_extern_c=True,
                        cache_dir=False,
                    )
                except CompileError as refusal:
                    error = f"{refusal.msg}\n{refusal.stderr or ''}"
            said = "\n".join(str(warning.message) for warning in caught)
            line = {"kernel": name, "arch": arch, "error": error, "warning": said}
            print(json.dumps(line), flush=True)


def run_one(compiler, place):
    """Return (facts about the compiler, [result of each kernel])."""
    with tempfile.TemporaryDirectory() as home:
        environ = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("PYCUDA_", "CUDA_")) and k != "LD_LIBRARY_PATH"
        }
        environ["HOME"] = environ["XDG_CACHE_HOME"] = home
        command = [sys.executable, __file__, "--child", compiler, str(place)]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environ
        )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    about, *results = map(json.loads, done.stdout.splitlines())
    return about, results


# -- the table -------------------------------------------------------------------------


def table(rows):
    """Return the results as text, and whether there was no error or warning."""
    lines = [
        f"{'compiler':<10}{'archs':<12}{'kernels':>8}{'errors':>8}{'warnings':>10}"
    ]
    complaints = []
    for compiler, release, about, results in rows:
        errors = [result for result in results if result["error"]]
        warned = [result for result in results if result["warning"]]
        archs = f"{about['archs'][0]}..{about['archs'][-1]}"
        lines.append(
            f"{compiler + ' ' + release:<10}  {archs:<10}{len(results):>8}"
            f"{len(errors):>8}{len(warned):>10}"
        )
        for result in errors + warned:
            text = (result["error"] or result["warning"]).strip()
            where = f"{compiler} {release}, sm_{result['arch']}, {result['kernel']}"
            complaints.append(f"--- {where}\n{text}")
    return "\n".join(lines + complaints), not complaints


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", choices=["nvrtc", "nvcc"], action="append")
    parser.add_argument("--release", action="append", help="default: all releases")
    parser.add_argument("--folder", default="~/.cache/pycuda-compile-matrix")
    parser.add_argument("--json", help="also write the results to this file")
    parser.add_argument("--list", action="store_true", help="only list the releases")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        compile_all(given.child[0], Path(given.child[1]))
        return 0
    rows = []
    for compiler in given.compiler or ["nvrtc", "nvcc"]:
        there = releases(compiler)
        if given.list:
            print(compiler, *there)
            continue
        for release in there:
            if given.release and release not in given.release:
                continue
            place = fetch(Path(given.folder).expanduser(), compiler, release)
            about, results = run_one(compiler, place.resolve())
            rows.append((compiler, release, about, results))
            print(table(rows[-1:])[0].splitlines()[1], flush=True)
    text, good = table(rows)
    if rows:
        print(f"\n{text}")
    if given.json:
        Path(given.json).write_text(json.dumps(rows, indent=1))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
