#!/usr/bin/env python3
"""Compare random array programs with and without pycuda.fuse, bit for bit.

    python tools/fuzz_fuse.py 100000                    one process
    python tools/fuzz_fuse.py 5000 --processes 15       on a GPU
    python tools/fuzz_fuse.py 1 --first 4711            one program again
    python tools/fuzz_fuse.py 5000 --large              kernels as for large arrays

The programs are those of test/support/fuse_programs.py; program N is that of the seed
``--first`` + N. Prints the programs whose results differ, without the statements that
they do not need for that. The exit status is 1 if there is one.
"""

import argparse
import functools
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "test")]


def check(seeds, large):
    """Return what is wrong with some programs: a text for each."""
    import pycuda.autoinit  # noqa: F401
    from support import fuse_programs

    warnings.simplefilter("ignore")
    if large:
        with fuse_programs.small_arrays_as_large_ones():
            return found_in(seeds, fuse_programs)
    return found_in(seeds, fuse_programs)


def found_in(seeds, fuse_programs):
    """Return what is wrong with some programs."""
    try:
        different = fuse_programs.compare_all(seeds)
    except Exception:  # one of them
        different = [seed for seed in seeds if fails(fuse_programs.compare, seed)]
        if not different:
            return [f"{seeds} fail together\n{traceback.format_exc()}"]
    return [
        fails(fuse_programs.reduced, seed) or f"{seed} differs only beside others"
        for seed in different
    ]


def fails(function, seed):
    """Return what a function says about a program, or the exception that it raises."""
    try:
        return function(seed)
    except Exception:
        return f"{seed}\n{traceback.format_exc()}"


def main(arguments=None):
    """Check programs; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--large", action="store_true", help="kernels of large arrays")
    parser.add_argument("--most", type=int, default=20, help="differences to go on")
    parser.add_argument("--part", type=int, default=100, help="compiled at once")
    options = parser.parse_args(arguments)
    end = options.first + options.count
    parts = [
        range(begin, min(begin + options.part, end))
        for begin in range(options.first, end, options.part)
    ]
    begin, done, wrong = time.monotonic(), 0, 0
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        one = functools.partial(check, large=options.large)
        for part, found in zip(parts, pool.imap(one, parts), strict=True):
            done += len(part)
            wrong += len(found)
            for text in found:
                print(text, flush=True)
            if wrong > options.most:
                print("too many; the others are not checked")
                pool.terminate()
                break
            rate = done / (time.monotonic() - begin)
            if sys.stdout.isatty() or done % (10 * options.part) == 0 or found:
                print(f"{done} programs, {wrong} differ, {rate:.1f}/s", flush=True)
    print(f"seeds {options.first} to {end - 1}: {wrong} of {done} programs differ")
    return int(wrong > 0)


if __name__ == "__main__":
    # Kernels of programs are used once. Those of plain operations are used often.
    os.environ.setdefault("PYCUDA_CACHE_DIR", str(ROOT / "build" / "fuzz-cache"))
    sys.exit(main())
