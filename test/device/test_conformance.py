"""Compare every opcode on this machine's device with the recorded answers of a GPU.

The kernels are those of `conformance`, the answers are in test/data/conformance.xz. The
comparison is exact. Approximate instructions have the bounds of the manual.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from device import batch
from device.conformance import answers, rules, runner, suite
from device.conformance.case import Kernel, header
from pycuda import _driver
from support.compilers import REAL_NVCC

PTXAS = Path(REAL_NVCC).with_name("ptxas") if REAL_NVCC else None

#: Some kernels need a newer device than the software device shows by default.
ENVIRONMENT = {"PYCUDA_EMULATOR_CAPABILITY": "9.0"}


def library():
    if _driver._is_emulated():
        return Path(_driver.__file__).with_name("libpycuda_emulator.so")
    return "libcuda.so.1"


@pytest.fixture(scope="module")
def recorded():
    return answers.Answers.load(suite.ANSWERS)


#: The software device answers in each of its ways, a GPU once.
WAYS = batch.WAYS if _driver._is_emulated() else {"a GPU": {}}


@pytest.fixture(scope="module", params=WAYS)
def results(request):
    """The answers of this device."""
    environment = {**ENVIRONMENT, **WAYS[request.param]}
    found = runner.run_cases(library(), list(suite.cases()), environment)
    for name, case in suite.cases().items():
        if case.target > found.about.get("capability", 0):
            found.errors.pop(name, None)
    return found


def problem(case, recorded, results):
    """Describe the error in this device's answer, or return an empty string."""
    expected = recorded.of(case)
    if expected is None:
        return f"{case.name}: no answer recorded for this kernel (see record.py)"
    if case.name in results.errors:
        return f"{case.name}: {results.errors[case.name]}"
    if case.name not in results.answers:
        return ""  # the device is too old for it
    return answers.difference(case, expected, results.answers[case.name])


@pytest.mark.gpu
@pytest.mark.parametrize("family", suite.families())
def test_family(family, recorded, results):
    found = [
        text
        for case in suite.cases().values()
        if case.family == family and (text := problem(case, recorded, results))
    ]
    assert not found, f"{len(found)} cases\n" + "\n".join(found)


@pytest.mark.gpu
def test_coverage(recorded, results, capsys):
    good = [
        name
        for name, case in suite.cases().items()
        if name in results.answers and not problem(case, recorded, results)
    ]
    report = suite.coverage_report(good)
    with capsys.disabled():
        print(f"\n{report}")
    missing = set(suite.listed()) - set(suite.covered(good))
    assert missing == set(suite.NOT_COVERED), report


def test_each_listed_pair_has_a_kernel_or_a_reason():
    assert len(suite.listed()) == 550
    assert set(suite.listed()) - set(suite.covered()) == set(suite.NOT_COVERED)
    mentioned = {pair for case in suite.cases().values() for pair in case.pairs}
    assert mentioned <= set(suite.listed())


def test_a_kernel_contains_the_pairs_it_claims():
    for case in suite.cases().values():
        text = case.text.replace("$L", "")
        for pair in case.pairs:
            assert pair.strip().replace(" ", ".") in text, (case.name, pair)


@pytest.mark.skipif(
    PTXAS is None or not PTXAS.exists(), reason="needs ptxas, which comes with nvcc"
)
@pytest.mark.parametrize("target", sorted({c.target for c in suite.cases().values()}))
def test_kernels_assemble(target, tmp_path):
    texts = [c.text for c in suite.cases().values() if c.target == target]
    source = tmp_path / "all.ptx"
    source.write_text(header(target) + "".join(texts))
    done = subprocess.run(
        [PTXAS, f"-arch=sm_{target}", "-O0", "-o", "/dev/null", source],
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


# -- the instruments -------------------------------------------------------------------


def bits32(*numbers):
    return np.array(numbers, np.float32).view(np.uint32)


def test_exact_sees_one_bit():
    a = bits32(0.0, 1.0, np.nan)
    b = a ^ np.array([1 << 31, 1, 0], np.uint32)
    assert list(rules.EXACT.wrong(a, b, 32)) == [0, 1]
    assert len(rules.EXACT.wrong(a, a, 32)) == 0


def test_near_counts_units():
    one = bits32(1.0, 1.0, 1.0, -1.0)
    got = one + np.array([2, 3, 0, 2], np.uint32)
    assert list(rules.EX2.wrong(one, got, 32)) == [1]


def test_near_is_exact_about_special_values():
    expected = bits32(0.0, np.inf, np.nan, 1e-45, 3e38)
    got = bits32(-0.0, 3.4028235e38, np.nan, 0.0, np.inf)
    got[2] ^= 1
    assert list(rules.SQRT.wrong(expected, got, 32)) == [0, 1, 2, 3, 4]


def test_near_with_an_absolute_bound():
    expected = bits32(0.5, 0.5, 0.0)
    got = bits32(0.5 + 2.0**-21, 0.5 + 2.0**-20, 2.0**-22)
    assert list(rules.SIN_NEAR.wrong(expected, got, 32)) == [1]


def test_near_of_the_upper_word():
    one = np.array([1.0, 1.0, 1.0]).view(np.uint64)
    got = one + np.array([1 << 32, 2 << 32, 1], np.uint64)
    assert list(rules.GROSS64.wrong(one, got, 64)) == [1, 2]


def small_case():
    kernel = Kernel("a small case")
    value = kernel.load(kernel.input(np.arange(64, dtype=np.uint32), "a"), "u32")
    kernel.keep("u32", value)
    return kernel.case("none", ())


def test_a_difference_names_case_input_and_values():
    case, data = small_case(), np.arange(64, dtype=np.uint32)
    other = data.copy()
    other[10] = 0xBEEF
    assert answers.difference(case, data.tobytes(), data.tobytes()) == ""
    text = answers.difference(case, data.tobytes(), other.tobytes())
    assert text.splitlines() == [
        "a small case, out: 1 of 64 differ",
        "  [10] a=0000000a: expected 0000000a, got 0000beef",
    ]


def test_answers_belong_to_one_kernel(tmp_path):
    case, path = small_case(), tmp_path / "answers.xz"
    kept = answers.Answers({"device": "none"}, {case.name: (case.digest, b"1234")})
    kept.save(path)
    read = answers.Answers.load(path)
    assert read == kept
    assert read.of(case) == b"1234"
    case.digest = "another"
    assert read.of(case) is None


def test_a_library_that_does_not_load_is_an_error_for_every_case(tmp_path):
    names = list(suite.cases())[:3]
    found = runner.run_cases(tmp_path / "absent.so", names)
    assert found.answers == {}
    assert list(found.errors) == names
    assert "absent.so" in found.errors[names[0]]


STUMBLER = """
import json, os, sys, time
def say(message, payload=b""):
    message["size"] = len(payload)
    sys.stdout.buffer.write(json.dumps(message).encode() + b"\\n" + payload)
    sys.stdout.flush()
say({"device": "a stumbler", "capability": 75})
for name in json.load(sys.stdin):
    say({"start": name})
    if name == "crash":
        print("a last word", file=sys.stderr)
        sys.stderr.flush()
        os.kill(os.getpid(), 9)
    if name == "hang":
        time.sleep(600)
    say({"name": name}, name.encode())
say({"done": True})
"""


def test_a_case_that_crashes_or_hangs_does_not_stop_the_others(monkeypatch):
    monkeypatch.setattr(runner, "PATIENCE", 2)
    monkeypatch.setattr(runner, "FAREWELL", 0.1)
    command = [sys.executable, "-c", STUMBLER]
    names = ["first", "crash", "second", "hang", "third"]
    found = runner.run_cases("", names, command=command)
    assert found.answers == {n: n.encode() for n in ("first", "second", "third")}
    assert "signal 9: a last word" in found.errors["crash"]
    assert "no answer within 2 seconds" in found.errors["hang"]
    assert found.about["device"] == "a stumbler"
