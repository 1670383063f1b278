"""The file of recorded answers: a compressed line of JSON, followed by the bytes.

The JSON names the device. For each case it has the digest of the kernel and its inputs,
for which alone the answer is valid, and the number of bytes of the answer.
"""

import json
import lzma
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from . import values
from .case import HANGS


@dataclass
class Answers:
    about: dict = field(default_factory=dict)  # device, driver, capability
    answers: dict = field(default_factory=dict)  # name: (digest, bytes)

    def save(self, path):
        index = [[n, digest, len(data)] for n, (digest, data) in self.answers.items()]
        head = json.dumps({"about": self.about, "cases": index}).encode() + b"\n"
        blob = b"".join(data for _, data in self.answers.values())
        # Write a temporary file and rename it, so that no reader sees a partial file.
        partial = Path(f"{path}.partial")
        partial.write_bytes(lzma.compress(head + blob, preset=9 | lzma.PRESET_EXTREME))
        partial.replace(path)

    @classmethod
    def load(cls, path):
        head, _, blob = lzma.decompress(Path(path).read_bytes()).partition(b"\n")
        head, found, start = json.loads(head), {}, 0
        for name, digest, size in head["cases"]:
            found[name] = digest, blob[start : start + size]
            start += size
        return cls(head["about"], found)

    def of(self, case):
        """Return the bytes recorded for a case and its kernel, or None."""
        digest, data = self.answers.get(case.name, (None, None))
        return data if digest == case.digest else None


def split(case, data):
    """Split an answer into a list of (label, bits, array)."""
    if case.fails:
        return [("status", 32, np.frombuffer(data, np.uint32))]
    found, start = [], 0
    if case.ends:
        found.append(("status", 32, np.frombuffer(data[:4], np.uint32)))
        if found[0][2].any():
            return found  # no results
        start = 4
    for label, bits, count in case.outputs:
        size = count * bits // 8
        piece = np.frombuffer(data[start : start + size], values.uint(bits))
        found.append((label, bits, piece))
        start += size
    if start != len(data):
        raise ValueError(f"{case.name}: {len(data)} bytes where {start} belong")
    return found


def _hexadecimal(value, bits):
    return f"{int(value):0{bits // 4}x}"


#: How the software device ends a launch whose threads wait forever.
DEADLOCK = 719  # CUDA_ERROR_LAUNCH_FAILED


def _same_ending(expected, got):
    if expected == HANGS.to_bytes(4, "little"):
        return got in (expected, DEADLOCK.to_bytes(4, "little"))
    return expected == got


def _ending(data):
    code = int.from_bytes(data[:4], "little")
    return {0: "an end", HANGS: "no end"}.get(code, f"the error {code}")


def difference(case, expected, got, most=8):
    """Describe the differences between two answers, or return an empty string."""
    lines = []
    if case.ends and not _same_ending(expected[:4], got[:4]):
        return f"{case.name}: {_ending(expected)} expected, got {_ending(got)}"
    if case.ends and any(expected[:4]):
        return ""  # no results
    pieces = zip(split(case, expected), split(case, got), strict=True)
    for (label, bits, want), (_, _, have) in pieces:
        wrong = case.rule.wrong(want, have, bits)
        if len(wrong) == 0:
            continue
        lines.append(f"{case.name}, {label}: {len(wrong)} of {len(want)} differ")
        for i in wrong[:most]:
            given = []
            for array in case.inputs:
                data = array.data
                if len(data) == len(want):
                    given.append(
                        f"{array.label}={_hexadecimal(data[i], 8 * data.itemsize)}"
                    )
            lines.append(
                f"  [{i}] {' '.join(given)}: expected {_hexadecimal(want[i], bits)}, "
                f"got {_hexadecimal(have[i], bits)}"
            )
    return "\n".join(lines)
