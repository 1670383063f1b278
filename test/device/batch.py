"""Run many small kernels on a driver library, in several processes.

A suite is a module with these functions and numbers:

module(numbers)  the text of the kernels k0, k1 and so on of these numbers
inputs()         an array of bytes that all kernels read
count()          how many kernels there are
fingerprint()    a number that changes with any of them
THREADS          threads of the only block of each kernel
ANSWER           bytes that a kernel writes
TOGETHER         kernels of one module
LEVEL            the assembler's level of optimization

A kernel has two parameters: the address of the inputs and the address of its answer.
test/data/ptx_answers.npz has a checksum of each answer that a GPU gave.

`python -m device.batch SUITE LIBRARY FIRST COUNT FILE`, in the folder test, writes the
answers of some kernels to a file. `run` starts such processes.
"""

import importlib
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from support.rawdriver import Driver

TEST = Path(__file__).resolve().parents[1]

#: The checksums, by the last word of a suite's name, and the fingerprints.
RECORDED = TEST / "data" / "ptx_answers.npz"

#: The ways in which the software device runs a kernel, and what chooses them.
WAYS = {
    "lockstep": {},
    "warp by warp": {"PYCUDA_EMULATOR_SEED": "5"},
    "any processor": {"PYCUDA_EMULATOR_SIMD": "0"},
}

SUITES = ("device.forms.kernels", "device.forms.atomics", "device.random_ptx.program")


def answers(driver, suite, numbers):
    """Yield the answer of each kernel, as bytes."""
    data = suite.inputs()
    source, target = driver.allocate(data.nbytes), driver.allocate(suite.ANSWER)
    driver.upload(source, data)
    parameters = [source.to_bytes(8, "little"), target.to_bytes(8, "little")]
    blank = np.zeros(suite.ANSWER, np.uint8)
    for first in range(0, len(numbers), suite.TOGETHER):
        some = numbers[first : first + suite.TOGETHER]
        module = driver.load_module(suite.module(some), suite.LEVEL)
        for number in some:
            got = np.empty_like(blank)
            driver.upload(target, blank)
            function = driver.function(module, f"k{number}")
            driver.launch(function, 1, suite.THREADS, parameters)
            driver.synchronize()
            driver.download(got, target)
            yield got.tobytes()
        driver.unload_module(module)
    driver.free(source)
    driver.free(target)


def run(suite, library, first, count, processes, way="lockstep"):
    """Return the answers of kernels as an array of bytes, a row for each kernel."""
    parts = [first + count * i // processes for i in range(processes + 1)]
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for at, end in zip(parts, parts[1:], strict=False):
            file = Path(folder, f"{at}")
            command = [sys.executable, "-m", "device.batch", suite.__name__]
            command += [str(library), str(at), str(end - at), str(file)]
            environment = {
                **os.environ,
                "PYCUDA_EMULATOR_CAPABILITY": "9.0",
                **WAYS[way],
            }
            child = subprocess.Popen(command, cwd=TEST, env=environment)
            children.append((child, file))
        codes = [child.wait() for child, _ in children]
        if any(codes):
            raise RuntimeError(f"kernels of {suite.__name__} failed")
        whole = b"".join(file.read_bytes() for _, file in children)
    return np.frombuffer(whole, np.uint8).reshape(count, suite.ANSWER)


def checksums(found):
    """Return a number of 32 bits for each row."""
    return np.array([zlib.crc32(row.tobytes()) for row in found], np.uint32)


def key(suite):
    return suite.__name__.rpartition(".")[2]


def recorded(suite):
    """Return the checksums of a GPU's answers."""
    with np.load(RECORDED) as data:
        found, mark = data[key(suite)], int(data[f"{key(suite)} fingerprint"])
    if mark != suite.fingerprint() or len(found) != suite.count():
        raise ValueError(
            f"{RECORDED.name} has answers of other kernels of {suite.__name__}: record "
            "them on a GPU with `python -m device.record_kernels`"
        )
    return found


def main():
    name, library, first, count, file = sys.argv[1:]
    driver = Driver(library)
    context = driver.create_context()
    numbers = range(int(first), int(first) + int(count))
    with open(file, "wb") as out:
        for answer in answers(driver, importlib.import_module(name), numbers):
            out.write(answer)
    driver.destroy_context(context)


if __name__ == "__main__":
    main()
