#!/usr/bin/env python3
"""Build the C code with sanitizers, and run the tests or one command with it.

    python tools/sanitize.py asan              the suite, without the leak check
    python tools/sanitize.py leaks             the sweeps and some tests, for leaks
    python tools/sanitize.py asan test/driver/test_launch.py -k word
    python tools/sanitize.py asan --run COMMAND...
    python tools/sanitize.py tsan              C programs of the device and of copies

The build is in build/asan or build/tsan; outdated files are rebuilt. Each run begins
with code that is wrong on purpose. Exits with 1 if that code was not reported, or if an
error was found in the package. A finding ends its process, so the test fails.

AddressSanitizer is preloaded in the Python of these runs and in the Pythons that it
starts, but not in the compilers: python in the build's bin/ is a script that preloads
it, and sitecustomize makes this script sys.executable.
"""

import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from instrumented import (
    ROOT,
    SOURCE,
    Failed,
    build,
    compiler,
    must,
    must_be_tested,
    package_environment,
    pytest_arguments,
    pytest_command,
    test_files,
    write,
)

SUPPRESSED = ROOT / "tools" / "lsan.supp"
COMMON = ("-fno-sanitize-recover=all", "-fno-omit-frame-pointer", "-g1")
ASAN = ("-fsanitize=address,undefined", *COMMON)
TSAN = ("-fsanitize=thread", *COMMON)

#: Tests that make calls of every kind in one process. The leak check makes each
#: allocation and each start of Python many times slower.
FOR_LEAKS = ("args", "context", "launch", "linker", "memory", "pools", "pvt_struct")

ENVIRONMENT = {
    "PYTHONMALLOC": "malloc",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
}
#: The interpreter has no frame pointers: without the slow unwinder the sanitizer would
#: not see the callers.
LEAKS = {
    "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1"
    ":fast_unwind_on_malloc=0:malloc_context_size=40",
    "FAULTS_CODES": "1 2",  # further codes of the same class leak no more
    "LSAN_OPTIONS": f"suppressions={SUPPRESSED}:print_suppressions=0",
}

CUSTOMIZE = """\
import os, sys
os.environ.pop("LD_PRELOAD", None)
sys.executable = {shim!r}
"""
SHIM = """\
#!/bin/sh
LD_PRELOAD={library} exec {python} "$@"
"""


NO_TESTS = 5  # the status of pytest if -k selects no test


def runtime(name):
    asked = [compiler(), f"-print-file-name={name}"]
    path = subprocess.run(asked, capture_output=True, text=True, check=True)
    if not os.path.isabs(path.stdout.strip()):
        raise Failed(f"gcc has no {name}")
    return os.path.realpath(path.stdout.strip())


# -- AddressSanitizer and UndefinedBehaviorSanitizer -----------------------------------


def build_asan(folder):
    """Build the extension modules and the device; return the folder of the package."""
    library = build(folder, ASAN)
    shim = folder / "bin" / "python"
    script = SHIM.format(library=runtime("libasan.so"), python=sys.executable)
    write(shim, script)
    write(library / "sitecustomize.py", CUSTOMIZE.format(shim=str(shim)))
    return library


def asan_environment(folder, leaks):
    return {
        **package_environment(folder / "lib"),
        **ENVIRONMENT,
        **(LEAKS if leaks else {}),
        "PYCUDA_EMULATOR_CFLAGS": " ".join(ASAN),
    }


BROKEN = """
#include <limits.h>
#include <Python.h>
int overflow(int n) { char *p = malloc((size_t)n); int c = p[n]; free(p); return c; }
int shift(int n) { return 1 << n; }
void leak(int n) { memset(PyMem_RawMalloc((size_t)n), 0, (size_t)n); }
"""
BROKEN_CALLS = {
    "overflow": (20, "heap-buffer-overflow", False),
    "shift": (40, "shift exponent 40 is too large", False),
    "leak": (4321, "4321 byte(s) in 1 object(s)", True),
}


def prove_asan(folder):
    """Check that this build's flags and preloading report deliberate errors."""
    source, library = folder / "broken.c", folder / "broken.so"
    source.write_text(BROKEN)
    include = ["-isystem", sysconfig.get_paths()["include"]]
    must([compiler(), *ASAN, *include, "-shared", "-fPIC", source, "-o", library])
    for name, (value, words, leaks) in BROKEN_CALLS.items():
        code = f"import ctypes; ctypes.PyDLL({str(library)!r}).{name}({value})"
        done = subprocess.run(
            [folder / "bin" / "python", "-c", code],
            env=asan_environment(folder, leaks),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0 or words not in done.stderr:
            raise Failed(f"{name}: nothing was reported: {done.stderr}")
    print("reported as they must be:", *BROKEN_CALLS)


def tests(leaks):
    if not leaks:
        return test_files()
    folder = ROOT / "test"
    names = (f"driver/test_{name}.py" for name in FOR_LEAKS)
    return [folder / "faults" / "test_faults.py", *(folder / name for name in names)]


def run_files(command, files, options):
    """Run one pytest per file, in parallel, and print each result."""

    def run_one(path):
        return path, subprocess.run(
            [*map(str, command), "-q", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            **options,
        )

    failed = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(run_one, path) for path in files]
        for job in concurrent.futures.as_completed(jobs):
            path, done = job.result()
            ended = done.stdout.rstrip().rpartition("\n")[2]
            print(f"{path.name}: {ended}", flush=True)
            if done.returncode not in (0, NO_TESTS):
                failed.append(path.name)
                print(done.stdout, flush=True)
    if failed:
        raise Failed(f"failed: {' '.join(failed)}")


def run_asan(folder, leaks, arguments, command):
    """Run pytest with these arguments, or the command, on the build."""
    library = build_asan(folder)
    python = folder / "bin" / "python"
    run = {"cwd": library, "env": asan_environment(folder, leaks)}
    must_be_tested(python, library, **run)
    prove_asan(folder)
    if command:
        must([python, *command], **run)
        return
    pytest = pytest_command(python)
    arguments = pytest_arguments(arguments)
    if any(isinstance(word, Path) for word in arguments):
        must([*pytest, *arguments], **run)
    else:
        run_files([*pytest, *arguments], tests(leaks), run)


# -- ThreadSanitizer -------------------------------------------------------------------


def object_name(source):
    """Return a source's object file; its folder is in the name, to make it unique."""
    return source.replace("/", "-").removesuffix(".c") + ".o"


def build_tsan(folder, sources=None):
    """Build the device's library and the threads program; compile only outdated files.

    ``sources`` maps files of the device, by their path below SOURCE, to replacements.
    """
    replaced = sources or {}
    objects, stale = [], []
    flags = ["-std=c11", "-O1", "-pthread", "-fPIC", *TSAN, "-I", SOURCE]
    headers = [*SOURCE.rglob("*.h"), *SOURCE.rglob("*.inc")]
    newest_header = max(path.stat().st_mtime for path in headers)
    for path in sorted((SOURCE / "device").rglob("*.c")):
        name = path.relative_to(SOURCE).as_posix()
        source = Path(replaced.get(name, path))
        target = folder / object_name(name)
        objects.append(target)
        newest = max(newest_header, source.stat().st_mtime)
        if not target.exists() or target.stat().st_mtime < newest:
            stale.append([compiler(), *flags, "-c", source, "-o", target])
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(must, stale))
    library, program = folder / "libpycuda_emulator.so", folder / "emulator_threads"
    must([compiler(), *flags, "-shared", *objects, "-o", library, "-lm", "-ldl"])
    threads = [ROOT / "test" / "c" / "emulator_threads.c", "-D_GNU_SOURCE="]
    must([compiler(), *flags, *threads, "-o", program, "-ldl"])
    return program, library


#: Settings of the threads program: blocks on more threads than there are cores, eager
#: and deferred streams, both interpreters.
ROUNDS = 6
TSAN_RUNS = (
    {},
    {"PYCUDA_EMULATOR_STREAMS": "late"},
    {"PYCUDA_EMULATOR_SIMD": "0", "PYCUDA_EMULATOR_SEED": "7"},
)


def prove_tsan(folder):
    """Check that a device without its lock is reported."""
    name = "device/api/entry/lock.c"
    text = (SOURCE / name).read_text()
    broken = folder / "broken"
    broken.mkdir(exist_ok=True)
    for path in folder.glob("*.o"):
        if path.name != object_name(name):
            shutil.copy2(path, broken)
    lock = re.compile(r"pthread_mutex_(un)?lock\(&api\.mutex\);")
    (broken / "lock.c").write_text(lock.sub(";", text))
    (broken / object_name(name)).unlink(missing_ok=True)
    done = run_threads(*build_tsan(broken, {name: broken / "lock.c"}), {}, quiet=True)
    if done.returncode == 0 or "ThreadSanitizer: data race" not in done.stderr:
        raise Failed(f"a device without a lock passes: {done.stderr}")
    print("reported as it must be: a device without its lock")


def run_threads(program, library, variables, quiet=False):
    # the sanitizer's layout of the address space does not allow randomization
    fixed = [shutil.which("setarch"), "-R"] if shutil.which("setarch") else []
    environment = {
        **os.environ,
        "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
        "PYCUDA_EMULATOR_THREADS": "4",
        **variables,
    }
    return subprocess.run(
        [*fixed, program, library, str(ROUNDS)],
        env=environment,
        capture_output=quiet,
        text=True,
        check=False,
    )


def run_staging(folder, text, quiet=False):
    """Build and run the unit test of driver/staging.c, whose text is given."""
    source, program = folder / "staging.c", folder / "test_staging"
    source.write_text(text)
    flags = ["-std=c11", "-O1", "-pthread", "-D_GNU_SOURCE=", *TSAN, "-I", SOURCE]
    units = [ROOT / "test/c/test_staging.c", source, SOURCE / "driver/ticks.c"]
    must([compiler(), *flags, *units, "-o", program])
    return run_threads(program, "", {}, quiet=quiet)


def check_staging(folder):
    """Check the threads of copies; a worker without the lock must be reported."""
    text = (SOURCE / "driver/staging.c").read_text()
    if run_staging(folder, text).returncode != 0:
        raise Failed("the threads of copies failed")
    line = "    self->running--;\n"
    done = run_staging(folder, text.replace(line, UNLOCKED), quiet=True)
    if done.returncode == 0 or "ThreadSanitizer: data race" not in done.stderr:
        raise Failed(f"a count without the lock passes: {done.stderr}")
    print("reported as it must be: a count without the lock")


#: What takes the place of the line that counts down.
UNLOCKED = """    pthread_mutex_unlock(&self->lock);
    self->running--;
    pthread_mutex_lock(&self->lock);
"""


def run_tsan(folder):
    check_staging(folder)
    program, library = build_tsan(folder)
    prove_tsan(folder)
    for variables in TSAN_RUNS:
        name = " ".join(f"{name}={value}" for name, value in variables.items())
        print("threads", name, flush=True)
        if run_threads(program, library, variables).returncode != 0:
            raise Failed(f"the program of threads failed, {name}")


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("kind", choices=("asan", "leaks", "tsan"))
    p.add_argument("--run", nargs=argparse.REMAINDER, metavar="WORD")
    return p


def main(argv=None):
    args, rest = parser().parse_known_args(argv)
    try:
        folder = ROOT / "build" / ("tsan" if args.kind == "tsan" else "asan")
        folder.mkdir(parents=True, exist_ok=True)
        if args.kind == "tsan":
            run_tsan(folder)
        else:
            run_asan(folder, args.kind == "leaks", rest, args.run)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
