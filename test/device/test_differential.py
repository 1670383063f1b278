"""Run every kernel of test/device/kernels on this machine's device.

The results must match the kernel's model and the recorded results of a GPU
(`python test/device/differential.py --record`).
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as drv
from device.kernels import device, golden
from device.kernels.cases import CASES
from device.kernels.plan import Near
from pycuda import _driver
from support.compilers import needs_nvcc

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "data" / "differential.npz"


@pytest.fixture(scope="module")
def recording():
    return golden.Recording(GOLDEN) if GOLDEN.exists() else None


def differential(*words, **env):
    return subprocess.run(
        [sys.executable, HERE / "differential.py", *words],
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=300,
    )


def run_in_child(name):
    """Run a case that needs a newer software device than the default one."""
    words = ["--only", "emulator", name]
    if GOLDEN.exists():
        words += ["--against", str(GOLDEN)]
    done = differential(*words)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.gpu
@needs_nvcc
@pytest.mark.parametrize("name", CASES)
def test_case(name, recording, request):
    case = CASES[name]
    if drv.Device(0).compute_capability() < case.capability:
        if not _driver._is_emulated():
            pytest.skip(f"needs a device of compute capability {case.capability}")
        return run_in_child(name)
    request.getfixturevalue("ctx")
    plan, ptx = case.plan(), device.ptx_of(case)
    outputs = device.run(case, plan, ptx)
    assert outputs
    for output, wanted in plan.expect.items():
        said = golden.check_model(outputs[output], wanted)
        assert said is None, f"{output}: {said}"
    if recording is not None:
        program, inputs = device.program_hash(ptx), device.hash_of_inputs(plan)
        assert not recording.problems(name, program, inputs, outputs, plan.approx)
    elif not plan.expect:
        pytest.skip("has no model, and no GPU has recorded it yet")


# -- what the suite is made of ---------------------------------------------------------


def test_there_are_enough_cases():
    assert len(CASES) >= 45
    assert {case.source for case in CASES.values()} == {
        path.name for path in (HERE / "kernels").glob("*.cu")
    }


def test_inputs_are_the_same_every_time():
    for case in CASES.values():
        assert device.hash_of_inputs(case.plan()) == device.hash_of_inputs(case.plan())


#: Cases with .approx instructions that are not built with -use_fast_math, and a case
#: for which the rounding of the texture unit is unknown.
APPROXIMATE = {
    "texture_2d_wrap_linear",
    "intrinsics",
    "curand_xorwow",
    "curand_philox",
    "curand_mrg",
    "curand_distributions",
    "double_functions",
    "double_special",
    "float_functions",
    "float_special",
    "black_scholes",
}


def test_only_approximations_have_a_tolerance():
    for case in CASES.values():
        allowed = case.fast or case.name in APPROXIMATE
        assert bool(case.plan().approx) == allowed, case.name


def test_the_recording_has_every_case(recording):
    if recording is None:
        pytest.skip(f"{GOLDEN.name} has not been recorded")
    assert set(recording.cases) == set(CASES)
    assert GOLDEN.stat().st_size < 1 << 20
    assert "software" not in recording.facts["device"]


# -- the comparison can fail -----------------------------------------------------------


def test_one_bit_is_a_difference():
    a = np.array([1.0, -0.0, np.nan], np.float32)
    assert golden.difference(a, a.copy()) is None
    b = a.copy()
    b[1] = 0.0
    assert "first at 1" in golden.difference(a, b)
    c = a.copy()
    c.view(np.uint32)[2] ^= 1
    assert "first at 2" in golden.difference(a, c)
    assert "not float64" in golden.difference(a, a.astype(np.float64))
    assert "not float32(4,)" in golden.difference(a, np.zeros(4, np.float32))


def test_distances_in_last_places():
    one = np.array([1, -1, 0.0, 1, np.nan, 1], np.float32)
    two = np.array([1, -1, -0.0, 1, np.nan, -1], np.float32)
    two[0] = np.nextafter(one[0], np.float32(2))
    two[1] = np.nextafter(np.nextafter(one[1], np.float32(-2)), np.float32(-2))
    two[3] = np.inf
    found = golden.ulps_between(one, two)
    assert found[:3].tolist() == [1, 2, 0]
    assert found[3] == 0x7F800000 - 0x3F800000
    assert found[4] == 0 and found[5] == 2 * 0x3F800000


def test_a_tolerance_is_one_of_two():
    a, b = np.array([1e-9, 100], np.float32), np.array([2e-9, 100], np.float32)
    assert golden.difference(a, b, (2, 0)) is not None
    assert golden.difference(a, b, (2, 1e-8)) is None
    b[1] = np.nextafter(np.nextafter(b[1], np.float32(0)), np.float32(0))
    assert golden.difference(a, b, (2, 1e-8)) is None
    assert golden.difference(a, b, (1, 1e-8)) is not None
    b[1] = np.nan
    assert "first at 1" in golden.difference(a, b, (1000, 1e-3))


def test_models_can_fail():
    x = np.array([[1.0, 2.0]])
    assert golden.check_model(x, Near(x + 1e-9, 1e-8)) is None
    assert "first at (0, 0)" in golden.check_model(x, Near(x + 1e-9, 1e-10))
    assert golden.check_model(x, np.array([[1.0, 2.5]])) is not None
    assert "shape" in golden.check_model(x, Near(x[0]))


@pytest.fixture
def small_recording(tmp_path):
    outputs = {
        "small": np.arange(6, dtype=np.float32),
        "large": np.arange(20000, dtype=np.int32),
    }
    case = {"program": "p", "inputs": "i", "approx": {}, "outputs": outputs}
    path = tmp_path / "small.npz"
    golden.record(path, {"device": "one"}, {"it": case})
    return golden.Recording(path), outputs


def test_recordings_come_back(small_recording):
    recording, outputs = small_recording
    assert recording.facts == {"device": "one"}
    assert recording.problems("it", "p", "i", outputs, {}) == []


@pytest.mark.parametrize("output, says", [("small", "first at 3"), ("large", "hash")])
def test_recordings_notice_a_change(small_recording, output, says):
    recording, outputs = small_recording
    outputs[output] = outputs[output].copy()
    outputs[output][3] += 1
    (problem,) = recording.problems("it", "p", "i", outputs, {})
    assert f"it, {output}" in problem and says in problem


def test_recordings_know_what_was_recorded(small_recording):
    recording, outputs = small_recording
    for name, inputs, given in (
        ("other", "i", outputs),
        ("it", "j", outputs),
        ("it", "i", {"small": outputs["small"]}),
    ):
        (problem,) = recording.problems(name, "p", inputs, given, {})
        assert "record again" in problem


def test_another_program_may_round_otherwise(small_recording):
    recording, outputs = small_recording
    outputs["small"] = outputs["small"] * np.float32(1 + 1e-6)
    assert recording.problems("it", "p", "i", outputs, {})
    assert recording.problems("it", "q", "i", outputs, {}) == []
    outputs["small"] = outputs["small"] * np.float32(1.01)
    assert recording.problems("it", "q", "i", outputs, {})


# -- the command -----------------------------------------------------------------------


def test_command_lists_cases():
    done = differential("--list", "saxpy")
    assert (done.returncode, done.stdout) == (0, "saxpy\n")
    assert differential("no such case").returncode == 2


@needs_nvcc
def test_command_fails_where_there_is_no_device():
    done = differential("--only", "cuda", "saxpy", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    assert "fails" in done.stdout


@needs_nvcc
@pytest.mark.gpu
def test_command_compares_with_a_recording(tmp_path):
    driver = "emulator" if _driver._is_emulated() else "cuda"
    path = str(tmp_path / "r.npz")
    done = differential("--only", driver, "--record", path, "saxpy", "printf")
    assert done.returncode == 0, done.stdout
    recorded = golden.Recording(path)
    assert set(recorded.cases) == {"saxpy", "printf"}
    done = differential("--only", driver, "--against", path, "saxpy", "printf")
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("equal") == 2
    spoilt = {name: {**entry} for name, entry in recorded.cases.items()}
    for entry in spoilt.values():
        entry |= {"approx": {}, "outputs": {"y": np.zeros(3, np.float32)}}
    golden.record(path, {}, spoilt)
    done = differential("--only", driver, "--against", path, "saxpy")
    assert done.returncode == 1
    assert "not float32(3,)" in done.stdout
