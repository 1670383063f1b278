"""Compares results, with each other and with a recording made on a GPU.

A recording is one compressed file: under "case/output" the array where it is small or
may differ in its last bits, else its hash; and one text with the facts about each case.
"""

import hashlib
import json

import numpy as np

from .plan import Near

#: Larger outputs are recorded by their hash alone.
MOST_BYTES = 1 << 16
#: What another compiler's program may differ by, relative to the largest magnitude.
OTHER_PROGRAM = {2: 1e-2, 4: 1e-5, 8: 1e-12}


def hash_of(array):
    digest = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]


def float_parts(array):
    """The floating-point numbers of an array as a flat one, or None."""
    if array.dtype.names:
        return None
    flat = np.ascontiguousarray(array).ravel()
    if flat.dtype.kind == "c":
        flat = flat.view(f"f{flat.dtype.itemsize // 2}")
    return flat if flat.dtype.kind == "f" else None


def ulps_between(a, b):
    """Distances in units in the last place; floats of two signs meet at zero."""
    signed = {2: np.int16, 4: np.int32, 8: np.int64}[a.itemsize]
    top = np.iinfo(signed).min

    def place(x):
        bits = x.view(signed).astype(object)
        return np.where(x.view(signed) < 0, int(top) - bits, bits)

    same = (a.view(signed) == b.view(signed)) | (np.isnan(a) & np.isnan(b))
    return np.where(same, 0, np.abs(place(a) - place(b))).astype(float)


def difference(got, wanted, tolerance=None):
    """Return None if two arrays are the same bytes, else a sentence about the first.

    ``tolerance`` is (ulps, atol), for numbers near enough by either of them.
    """
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"is {got.dtype}{got.shape}, not {wanted.dtype}{wanted.shape}"
    a = np.ascontiguousarray(got).ravel()
    b = np.ascontiguousarray(wanted).ravel()
    fa, fb = float_parts(a), float_parts(b)
    if tolerance is not None and fa is not None:
        ulps, atol = tolerance
        distance = ulps_between(fa, fb)
        with np.errstate(invalid="ignore"):
            near = np.abs(fa.astype(float) - fb.astype(float)) <= atol
        wrong = (distance > ulps) & ~near
        a, b = fa, fb
    else:
        size = a.itemsize
        wrong = (a.view(np.uint8) != b.view(np.uint8)).reshape(-1, size).any(axis=1)
    if not wrong.any():
        return None
    place = int(np.argmax(wrong))
    return (
        f"{int(wrong.sum())} of {wrong.size} differ, first at {place}: "
        f"{a[place]!r} ({a[place].tobytes()[::-1].hex()}), "
        f"not {b[place]!r} ({b[place].tobytes()[::-1].hex()})"
    )


def check_model(got, wanted):
    """Return None if a result is what the model says, else a sentence."""
    if not isinstance(wanted, Near):
        return difference(got, np.asarray(wanted))
    value = np.asarray(wanted.value)
    if got.shape != value.shape:
        return f"has shape {got.shape}, the model's has {value.shape}"
    wrong = ~np.isclose(got, value, rtol=wanted.rtol, atol=wanted.atol, equal_nan=True)
    if not wrong.any():
        return None
    place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
    return (
        f"{int(wrong.sum())} of {wrong.size} are not what the model says, first at "
        f"{tuple(map(int, place))}: {got[place]!r}, not {value[place]!r}"
    )


# -- recordings ------------------------------------------------------------------------


def record(path, facts, cases):
    """Write a recording.

    ``cases`` maps a name to {"program", "inputs", "approx", "outputs": {name: array}}.
    """
    arrays, index = {}, {}
    for name, case in cases.items():
        kept = {}
        for output, array in case["outputs"].items():
            kept[output] = hash_of(array)
            if array.nbytes <= MOST_BYTES or output in case["approx"]:
                arrays[f"{name}/{output}"] = array
        index[name] = {
            "program": case["program"],
            "inputs": case["inputs"],
            "outputs": kept,
        }
    text = json.dumps({"facts": facts, "cases": index}, indent=1, sort_keys=True)
    arrays["index"] = np.frombuffer(text.encode(), np.uint8)
    np.savez_compressed(path, **arrays)


class Recording:
    def __init__(self, path):
        with np.load(path, allow_pickle=False) as file:
            self.arrays = {name: file[name] for name in file.files}
        index = json.loads(self.arrays.pop("index").tobytes())
        self.facts, self.cases = index["facts"], index["cases"]

    def problems(self, name, program, inputs, outputs, approx):
        """Say in what outputs differ from what was recorded; an empty list if nowhere.

        Bit for bit if the program is the recorded one. Another compiler's may round
        otherwise: then numbers must be near, and integers equal.
        """
        entry = self.cases.get(name)
        if entry is None:
            return [f"{name} is not in the recording: record again"]
        if entry["inputs"] != inputs:
            return [f"{name} has other inputs than were recorded: record again"]
        found = []
        if set(outputs) != set(entry["outputs"]):
            return [f"{name} has other outputs than were recorded: record again"]
        for output, got in outputs.items():
            wanted = self.arrays.get(f"{name}/{output}")
            tolerance = approx.get(output)
            floats = float_parts(got)
            if entry["program"] != program and floats is not None:
                if wanted is None:
                    continue  # the model has judged it; its bytes prove nothing
                size = np.abs(floats[np.isfinite(floats)]).max(initial=0)
                tolerance = (64, float(size) * OTHER_PROGRAM[floats.itemsize])
            if wanted is not None:
                said = difference(got, wanted, tolerance)
            elif hash_of(got) != entry["outputs"][output]:
                said = "differs from the recording, which has only its hash"
            else:
                said = None
            if said:
                found.append(f"{name}, {output}: {said}")
        return found
