"""Every script in examples/ runs in a child process and prints the right numbers."""

import ast
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def run(name, tmp_path, **env):
    """Run an example with an empty compile cache, in an empty directory."""
    cache = tmp_path / "cache"
    cache.mkdir(exist_ok=True)
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        check=False,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYCUDA_CACHE_DIR": str(cache), **env},
        timeout=300,
    )


def output(name, tmp_path):
    """The lines an example printed, which must be all that it had to say."""
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.splitlines()


def numbers(text):
    return [float(n) for n in NUMBER.findall(text)]


def after(lines, start):
    """What follows the given words, in the one line that begins with them."""
    found = [line.removeprefix(start) for line in lines if line.startswith(start)]
    assert len(found) == 1, lines
    return found[0].strip()


def device_name():
    code = "import pycuda.driver as d; d.init(); print(d.Device(0).name())"
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


# -- without a GPU ---------------------------------------------------------------------


def scripts():
    return sorted(path.name for path in EXAMPLES.glob("*.py"))


def test_every_example_has_a_test():
    tested = {
        name.removeprefix("test_") + ".py"
        for name in globals()
        if name.startswith("test_")
    }
    assert scripts()
    assert set(scripts()) <= tested


@pytest.mark.parametrize("name", scripts())
def test_an_example_says_what_it_shows(name):
    docstring = ast.get_docstring(ast.parse((EXAMPLES / name).read_text()))
    assert docstring
    assert docstring.splitlines()[0].endswith(".")


def test_hello_without_a_device_ends_with_one_sentence(tmp_path):
    """PYCUDA_DRIVER=cuda keeps the software device from taking over."""
    done = run("hello_gpu.py", tmp_path, PYCUDA_DRIVER="cuda", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("There is no GPU that this program could use: ")
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) > len("There is no GPU that this program could use: ") + 20


# -- on a device -----------------------------------------------------------------------


@pytest.mark.gpu
def test_hello_gpu(tmp_path):
    printed = numbers(" ".join(output("hello_gpu.py", tmp_path)))
    assert printed == [0.0] * 400


def run_program_of_readme(number, tmp_path):
    text = (EXAMPLES.parent / "README.rst").read_text()
    blocks = re.findall(r"code-block:: python\n\n((?:    .*\n|\n)+)", text)
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(blocks[number]))
    return numbers(" ".join(output(str(script), tmp_path)))


@pytest.mark.gpu
def test_the_first_program_of_the_readme(tmp_path):
    assert run_program_of_readme(0, tmp_path) == [0.0] * 400


@pytest.mark.gpu
def test_the_arrays_of_the_readme(tmp_path):
    *values, total = run_program_of_readme(1, tmp_path)
    x = np.linspace(0, 1, 5)
    assert values == pytest.approx(2 * x + np.sqrt(x), rel=1e-6)
    assert total == 2.5


@pytest.mark.gpu
def test_demo_double(tmp_path):
    lines = output("demo_double.py", tmp_path)
    middle = lines.index("doubled:")
    matrix = numbers(" ".join(lines[1:middle]))
    doubled = numbers(" ".join(lines[middle + 1 : middle + 5]))
    assert len(matrix) == len(doubled) == 16
    # Both are shown rounded to eight digits.
    assert doubled == pytest.approx([2 * x for x in matrix], abs=1e-5)
    assert any(doubled)
    for way in ("by hand:", "InOut:", "prepared, doubled again:"):
        assert after(lines, way) == "largest difference 0.0"


@pytest.mark.gpu
def test_struct_array(tmp_path):
    lines = output("struct_array.py", tmp_path)
    assert numbers(after(lines, "before:")) == [1, 2, 3, 0.5, -4]
    assert numbers(after(lines, "both doubled:")) == [2, 4, 6, 1, -8]
    assert numbers(after(lines, "second doubled again:")) == [2, 4, 6, 2, -16]


@pytest.mark.gpu
def test_multiply_options(tmp_path):
    done = run("multiply_options.py", tmp_path)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert int(after(lines, "registers:")) > 0
    assert after(lines, "largest difference:") == "0.0"
    if "software" in device_name():
        return  # it runs PTX, which ptxas never sees
    assert "UserWarning" in done.stderr
    assert re.search(r"[Uu]sed \d+ registers", done.stderr)


@pytest.mark.gpu
def test_explicit_copies(tmp_path):
    lines = output("explicit_copies.py", tmp_path)
    assert numbers(after(lines, "first and last:")) == [-2, 2]
    assert after(lines, "largest difference:") == "0.0"


@pytest.mark.gpu
def test_managed_memory(tmp_path):
    lines = output("managed_memory.py", tmp_path)
    assert after(lines, "letters:") == "35"
    assert after(lines, "letters that are missing:") == "0"
    assert after(lines, "the letter o:") == "4"


@pytest.mark.gpu
def test_pitched_tile(tmp_path):
    lines = output("pitched_tile.py", tmp_path)
    corners = [-(5 * 30 + 10), -(8 * 30 + 17)]
    assert numbers(after(lines, "corners of the tile:")) == corners
    assert after(lines, "pixels that changed:") == "32"


@pytest.mark.gpu
def test_device_properties(tmp_path):
    lines = output("device_properties.py", tmp_path)
    count = int(after(lines, "devices:"))
    assert count >= 1
    assert sum(line.startswith("device ") for line in lines) == count
    assert device_name() in after(lines, "device 0:")
    warps = [line for line in lines if line.startswith("  threads in a warp:")]
    assert warps == ["  threads in a warp: 32"] * count
    for line in lines:
        if line.startswith(("  memory:", "  multiprocessors:", "  block, x")):
            assert numbers(line)[0] > 0


@pytest.mark.gpu
def test_streams_events(tmp_path):
    lines = output("streams_events.py", tmp_path)
    for amount in (1, 100):
        milliseconds, error = numbers(after(lines, f"raised by {amount} in"))
        assert 0 < milliseconds < 10_000
        assert error == 0
    assert after(lines, "streams done:") == "True"


@pytest.mark.gpu
def test_printf(tmp_path):
    lines = output("printf.py", tmp_path)
    assert lines[0] == "six threads:"
    wanted = [f"thread {t} of block {b} says 42" for b in (0, 1) for t in (0, 1, 2)]
    assert sorted(lines[1:]) == sorted(wanted)


@pytest.mark.gpu
def test_constant_memory(tmp_path):
    lines = output("constant_memory.py", tmp_path)
    assert after(lines, "bytes of constant memory:") == "12"
    results = [line for line in lines if "x^2" in line]
    assert [line.partition(":")[0] for line in results] == [
        "1 + 2 x + 3 x^2",
        "0 + -1 x + 0.5 x^2",
    ]
    assert all(line.endswith("largest difference 0") for line in results)


@pytest.mark.gpu
def test_dynamic_shared(tmp_path):
    lines = output("dynamic_shared.py", tmp_path)
    sums = [sum(range(1000 * r, 1000 * r + 1000)) for r in range(5)]
    assert lines == [f"{n} threads: {sums}, right" for n in (32, 128, 256)]


@pytest.mark.gpu
def test_prepared_calls(tmp_path):
    lines = output("prepared_calls.py", tmp_path)
    assert numbers(after(lines, "last:")) == [4 * 999]
    assert after(lines, "largest difference from 4 x:") == "0.0"
    assert after(lines, "timed:") == "True"


@pytest.mark.gpu
def test_heat_on_a_plate(tmp_path):
    lines = output("heat_on_a_plate.py", tmp_path)
    assert numbers(after(lines, "residual:"))[0] < 1e-9
    assert after(lines, "hottest in the middle:") == "True"
    assert after(lines, "the same from all sides:") == "True"
    (iterations,) = numbers(after(lines, "iterations:"))
    assert 20 <= iterations <= 200


@pytest.mark.gpu
def test_threads(tmp_path):
    lines = output("threads.py", tmp_path)
    assert lines == [f"thread {k}: last {(7 + 10 * k) ** 2}, right" for k in range(4)]


@pytest.mark.gpu
def test_struct_arguments(tmp_path):
    lines = output("struct_arguments.py", tmp_path)
    assert numbers(after(lines, "int4:")) == [1, -2, 3, -4]
    assert numbers(after(lines, "float4:")) == [0.5, 1.5, -2.5, 3.5]
    assert after(lines, "bytes of the struct:") == "16"
    assert numbers(after(lines, "tag, count, count * weight:")) == [65, 300, 75]


@pytest.mark.gpu
def test_texture_reference(tmp_path):
    lines = output("texture_reference.py", tmp_path)
    rows = [numbers(line) for line in lines if line.startswith("middle row:")]
    corners = [numbers(line) for line in lines if line.startswith("corners:")]
    assert rows == [[4, 5, 6, 7, 8], [0.5] * 5]
    assert corners == [[0, 4, 8, 12], [1, 0, 0, 1]]


@pytest.mark.gpu
def test_texture_object(tmp_path):
    lines = output("texture_object.py", tmp_path)
    wanted = [(0, 255), (0.2, 204), (1, 0)]
    assert lines == [f"{s} of black: 4 x 8 pixels of {grey}" for s, grey in wanted]


@pytest.mark.gpu
def test_dynamic_parallelism(tmp_path):
    lines = output("dynamic_parallelism.py", tmp_path)
    counts = (1, 10, 100, 1000)
    assert lines == [f"1 + ... + {n} = {n * (n + 1) // 2}" for n in counts]


@pytest.mark.gpu
def test_two_files(tmp_path):
    lines = output("two_files.py", tmp_path)
    assert numbers(after(lines, "roots:"))[::3] == [1, 2]
    assert after(lines, "right:") == "True"
