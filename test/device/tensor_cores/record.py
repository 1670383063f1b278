"""Record what a device computes: `python -m device.tensor_cores.record FILE` in test/.

The file has the digest and the first words of each answer. With --seed TEXT, the
matrices have other numbers. PYCUDA_DRIVER chooses the device, as in all programs.
"""

import argparse
import hashlib
import sys
import time

import numpy as np

import pycuda.driver as drv

from . import cases

#: Words of each answer that are kept to explain a difference.
WORDS = 8


def digest(answer):
    return hashlib.sha1(np.ascontiguousarray(answer).tobytes()).hexdigest()[:16]


def first_words(answer):
    words = np.ascontiguousarray(answer).view(np.uint32).ravel()
    return words[:WORDS]


def run(names=None, seed=""):
    """Return {name: answer} of the cases, and {name: message} of those that failed."""
    answers, errors = {}, {}
    for family in cases.families(seed).values():
        for name, case in family.items():
            if names is not None and name not in names:
                continue
            try:
                answers[name] = case()
            except drv.Error as error:
                errors[name] = f"{type(error).__name__}: {error}"
    return answers, errors


def save(path, answers, errors, device):
    names = list(answers)
    np.savez_compressed(
        path,
        device=np.array(device),
        names=np.array(names),
        digests=np.array([digest(answers[n]) for n in names]),
        words=np.array([first_words(answers[n]) for n in names], np.uint32),
        failed=np.array(list(errors), "U200"),
        messages=np.array(list(errors.values()), "U600"),
    )


def load(path):
    """Return {name: (digest, first words)} and {name: message}."""
    with np.load(path) as found:
        pairs = zip(found["digests"], found["words"], strict=True)
        answers = {
            str(n): (str(d), w) for n, (d, w) in zip(found["names"], pairs, strict=True)
        }
        failed = zip(found["failed"], found["messages"], strict=True)
        return answers, {str(n): str(m) for n, m in failed}


def main():
    parser = argparse.ArgumentParser(
        prog="device.tensor_cores.record", description=__doc__
    )
    parser.add_argument("file", help="the .npz file to write")
    parser.add_argument("--seed", default="", help="a text for other numbers")
    options = parser.parse_args()

    begin = time.monotonic()
    drv.init()
    context = drv.Device(0).make_context()
    device = drv.Device(0).name()
    answers, errors = run(seed=options.seed)
    save(options.file, answers, errors, device)
    context.pop()
    for name, message in errors.items():
        print(f"  {name}: {message}")
    seconds = time.monotonic() - begin
    print(f"{device}: {len(answers)} answers, {len(errors)} errors, {seconds:.1f} s")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
