#!/usr/bin/env python3
"""Fuzz the software device's PTX loader under AddressSanitizer and UBSan.

    python tools/fuzz_ptx.py 1000000              a million inputs, own mutator
    python tools/fuzz_ptx.py 1000000 --libfuzzer  guided by coverage; needs clang
    python tools/fuzz_ptx.py 10000 --launch       their kernels are launched as well
    python tools/fuzz_ptx.py 1000000 --images     fat binaries, objects and libraries
    python tools/fuzz_ptx.py --replay FILE...     run the loader on kept inputs

The inputs grow out of test/data/ptx, or test/data/containers, and the files given with
--corpus. Exits with 1 if
the loader crashed, hung or broke a promise; the input is then in build/fuzz. What was
compiled is kept there too.
"""

import argparse
import concurrent.futures
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "cpp_free_c"
HARNESS = ROOT / "test" / "c" / "fuzz_ptx.c"
CORPUS = ROOT / "test" / "data" / "ptx"
CONTAINERS = ROOT / "test" / "data" / "containers"

SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
FLAGS = (
    *("-std=c11", "-g", "-pthread", "-fno-omit-frame-pointer"),
    "-Werror=incompatible-pointer-types",
)
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "PYCUDA_EMULATOR_TIMEOUT": "0.05",
}


class Failed(Exception):
    """A compiler said no; the text is what it said."""


def must(command):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def newest_header():
    headers = [*SOURCE.rglob("*.h"), *SOURCE.rglob("*.inc")]
    return max(path.stat().st_mtime for path in headers)


def image_sources():
    """Return the sources that read fat binaries, objects and libraries."""
    names = ("image", "fatbin", "decompression", "object_file")
    folder = SOURCE / "device" / "api" / "module"
    found = [folder / f"{name}.c" for name in names]
    return [*found, HARNESS, HARNESS.with_name("fuzz_image.c")]


def sources(launch=False):
    """Return the sources of the loader, or with `launch` of the whole device."""
    device = SOURCE / "device"
    rooms = [device] if launch else [device / room for room in ("ptx", "compile")]
    found = [path for room in rooms for path in room.rglob("*.c")]
    if not launch:  # variables need memory
        names = ("address_space.c", "memory.c", "shadow.c")
        found += [device / "memory" / name for name in names]
        found += [
            device / "base" / f"{name}.c"
            for name in ("checks", "counts", "number", "site")
        ]
    target = "fuzz_launch.c" if launch else "fuzz_load.c"
    return [*sorted(found), HARNESS, HARNESS.with_name(target)]


def object_of(source, folder):
    """Return the path of a source's object file: names repeat between folders."""
    return Path(folder, "-".join(source.relative_to(ROOT).parts)).with_suffix(".o")


def build(folder, compiler, engine=False, launch=False, images=False, optimise="-O1"):
    """Compile the sources that changed and link them. Return the program.

    Without optimisation, compiling takes a quarter of the time, and each run longer.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    flags = [*FLAGS, optimise, *SANITIZE, "-I", SOURCE]
    if engine:
        flags += ["-fsanitize=fuzzer-no-link", "-DFUZZ_ENGINE"]
    headers = newest_header()
    objects, stale = [], []
    for source in image_sources() if images else sources(launch):
        target = object_of(source, folder)
        objects.append(target)
        newest = max(headers, source.stat().st_mtime)
        if not target.exists() or target.stat().st_mtime < newest:
            stale.append([compiler, *flags, "-c", source, "-o", target])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(must, stale))
    program = folder / "fuzz_ptx"
    if launch or images:
        program = folder / ("fuzz_launch" if launch else "fuzz_image")
    link = ["-fsanitize=fuzzer"] if engine else []
    if stale or not program.exists():
        must(
            [compiler, *FLAGS, *SANITIZE, *link, *objects, "-o", program]
            + ["-lm", "-ldl"]
        )
    return program


def texts(corpus):
    found = sorted(CORPUS.glob("*.ptx"))
    for folder in corpus:
        found += sorted(Path(folder).glob("*.ptx"))
    return found


def images(corpus):
    found = [path for path in sorted(CONTAINERS.iterdir()) if path.suffix != ".cu"]
    for folder in corpus:
        found += sorted(path for path in Path(folder).iterdir() if path.is_file())
    return found


def own_command(program, runs, seed, files, crash):
    return [program, "--runs", runs, "--seed", seed, "--crash", crash, *files]


def engine_command(program, runs, seed, folder, seeds, corpus):
    grown = folder / "corpus"
    grown.mkdir(exist_ok=True)
    words = [f"-runs={runs}", f"-seed={seed}", "-max_len=16384", "-timeout=20"]
    words += [f"-artifact_prefix={folder}/", "-print_final_stats=1", "-verbosity=1"]
    return [program, *words, grown, seeds, *corpus]


def run(command):
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run([str(w) for w in command], env=environment, check=False)


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("runs", nargs="?", type=int, default=20000)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1, help="processes, a seed each")
    kinds = p.add_mutually_exclusive_group()
    kinds.add_argument("--launch", action="store_true")
    kinds.add_argument("--images", action="store_true")
    p.add_argument("--libfuzzer", action="store_true")
    p.add_argument("--compiler", help="default: clang, else gcc")
    p.add_argument("--corpus", action="append", default=[], metavar="FOLDER")
    p.add_argument("--replay", nargs="+", metavar="FILE")
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    compiler = args.compiler or shutil.which("clang") or shutil.which("gcc")
    if compiler is None:
        print("neither clang nor gcc is installed", file=sys.stderr)
        return 2
    kind = "engine" if args.libfuzzer else "own"
    folder = ROOT / "build" / "fuzz" / f"{Path(compiler).name}-{kind}"
    try:
        program = build(folder, compiler, args.libfuzzer, args.launch, args.images)
    except (Failed, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    if args.replay:
        commands = [[program, "--runs", len(args.replay), *args.replay]]
        if args.libfuzzer:
            commands = [[program, *args.replay]]
    elif args.libfuzzer:
        commands = [
            engine_command(
                program,
                args.runs // args.jobs,
                seed,
                folder,
                CONTAINERS if args.images else CORPUS,
                args.corpus,
            )
            for seed in range(args.seed, args.seed + args.jobs)
        ]
    else:
        files = images(args.corpus) if args.images else texts(args.corpus)
        commands = [
            own_command(
                program,
                args.runs // args.jobs,
                seed,
                files,
                folder / f"crash-{seed}",
            )
            for seed in range(args.seed, args.seed + args.jobs)
        ]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        codes = [done.returncode for done in pool.map(run, commands)]
    for command, code in zip(commands, codes, strict=True):
        if code != 0:
            print(f"ended with {code}: {' '.join(map(str, command))}", file=sys.stderr)
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
