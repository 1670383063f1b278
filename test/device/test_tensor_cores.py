"""Compare the tensor-core instructions of this machine's device with the recorded
answers of an H200.

The kernels and their inputs are those of `tensor_cores`, the answers are in
test/data/tensor_cores.npz. The comparison is exact.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from device.tensor_cores import cases, forms, inputs, record
from pycuda import _driver
from support.emulator import PATH

DATA = Path(__file__).resolve().parents[1] / "data" / "tensor_cores.npz"


@pytest.fixture(scope="module")
def recorded():
    answers, failed = record.load(DATA)
    assert not failed
    return answers


def run_child(module, *words):
    """Run a module in a child, for a software device with sm_90."""
    return subprocess.run(
        [sys.executable, "-m", f"device.tensor_cores.{module}", *words],
        env={**os.environ, "PYTHONPATH": PATH, "PYCUDA_EMULATOR_CAPABILITY": "9.0"},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def skip_unless_hopper():
    """Skip the test on a GPU whose tensor cores may have other bits."""
    if not _driver._is_emulated():
        import pycuda.driver as drv

        if drv.Device(0).compute_capability() != (9, 0):
            pytest.skip("the answers are those of sm_90")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The answers of this device."""
    file = tmp_path_factory.mktemp("tensor_cores") / "answers.npz"
    child = run_child("record", file)
    assert file.exists(), child.stdout + child.stderr
    return record.load(file)


def problems(names, recorded, results):
    """Return a line for each case whose answer differs."""
    answers, failed = results
    found = []
    for name in names:
        if name in failed:
            found.append(f"{name}: {failed[name]}")
        elif answers[name][0] != recorded[name][0]:
            want = " ".join(f"{w:08x}" for w in recorded[name][1])
            got = " ".join(f"{w:08x}" for w in answers[name][1])
            found.append(f"{name}:\n  expected {want} ...\n  got      {got} ...")
    return found


@pytest.mark.gpu
@pytest.mark.parametrize("family", cases.families())
def test_family(family, recorded, results):
    skip_unless_hopper()
    names = list(cases.families()[family])
    found = problems(names, recorded, results)
    assert not found, f"{len(found)} of {len(names)} differ\n" + "\n".join(found)


#: What an H200 printed.
PRODUCTS = """\
with_wmma exact 4d9f345655e0a856
with_mma exact 0688a2c43e93046c
with_wgmma exact 0688a2c43e93046c
"""


@pytest.mark.gpu
def test_programs_that_multiply_matrices():
    """nvcc compiled them from mma.h, and from assembly as libraries have it."""
    skip_unless_hopper()
    child = run_child("product")
    assert child.stdout == PRODUCTS, child.stdout + child.stderr


def test_the_recording_has_each_case(recorded):
    names = [name for family in cases.families().values() for name in family]
    assert len(names) == len(set(names))
    assert set(names) == set(recorded)
    assert DATA.stat().st_size < 200_000


def test_another_answer_is_a_problem(recorded):
    name = next(iter(recorded))
    words = recorded[name][1]
    assert problems([name], recorded, ({name: recorded[name]}, {})) == []
    other = {name: ("0" * 16, words)}
    assert len(problems([name], recorded, (other, {}))) == 1
    assert problems([name], recorded, ({}, {name: "an error"})) == [f"{name}: an error"]


def test_inputs_have_the_values_that_the_styles_name():
    source = inputs.Source("a test")
    bits = inputs.numbers(source, 4096, "f16", "small").astype(np.uint16)
    values = bits.view(np.float16).astype(float)
    assert (np.abs(values) < 2.0**-9).all()
    assert (np.abs(values) < 2.0**-14).any()
    bits = inputs.numbers(source, 4096, "f32", "rare").astype(np.uint32)
    values = bits.view(np.float32)
    assert np.isinf(values).any() and np.isnan(values).any()
    bits = inputs.numbers(source, 4096, "bf16", "integers").astype(np.uint32)
    values = (bits << 16).view(np.float32)
    assert (values == np.round(values)).all() and np.abs(values).max() == 7


def test_forms_name_each_type_of_the_tensor_cores():
    used = {kind for form in forms.multiplications() for kind in form.types}
    assert used == set(forms.BITS)
