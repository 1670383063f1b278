"""The choice between the driver and the software device."""

import os
import subprocess
import sys

import pytest

from support.child import run_child

HELLO = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import pycuda.autoinit
    import pycuda.driver as drv
    drv.init()
    drv.init()
print(pycuda.autoinit.device.name())
for warning in caught:
    print(warning.category.__name__, warning.message)
"""


@pytest.fixture
def no_driver(tmp_path):
    """An environment in which libcuda.so.1 cannot be opened."""
    (tmp_path / "libcuda.so.1").write_text("not a library")
    return {"LD_LIBRARY_PATH": str(tmp_path)}


def test_without_a_driver_the_software_device_stands_in_and_says_so_once(no_driver):
    lines = run_child(HELLO, PYCUDA_DRIVER=None, **no_driver).stdout.splitlines()
    assert lines[0] == "PyCUDA software device"
    assert len(lines) == 2 and lines[1].startswith("PyCUDAWarning no NVIDIA driver")
    assert "PYCUDA_DRIVER=emulator chooses it silently" in lines[1]


PROGRAM = """\
import os

import pycuda.{module}{call}
"""


def warning_of(tmp_path, no_driver, module, call, *options):
    """Run a program in a file without a driver. Return the lines on stderr."""
    script = tmp_path / "script.py"
    script.write_text(PROGRAM.format(module=module, call=call))
    unset = {k: v for k, v in os.environ.items() if k != "PYCUDA_DRIVER"}
    done = subprocess.run(
        [sys.executable, *options, script],
        capture_output=True,
        text=True,
        check=False,
        env={**unset, **no_driver},
    )
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize(
    ("module", "call", "line"),
    [("autoinit", "", 3), ("driver", "\n\npycuda.driver.init()", 5)],
)
def test_the_warning_is_one_line_at_the_line_of_the_program(
    tmp_path, no_driver, module, call, line
):
    status, lines = warning_of(tmp_path, no_driver, module, call)
    place = f"{tmp_path / 'script.py'}:{line}: PyCUDAWarning: "
    assert status == 0 and lines[0].startswith(place)
    assert len(lines[0]) - len(place) <= 100
    source = f"import pycuda.{module}" if line == 3 else "pycuda.driver.init()"
    assert lines[1:] == [f"  {source}"]  # Python adds the text of the line
    status, lines = warning_of(tmp_path, no_driver, module, call, "-W", "error")
    assert status == 1 and lines[-1].startswith("pycuda._driver.PyCUDAWarning: no ")
    assert warning_of(tmp_path, no_driver, module, call, "-W", "ignore") == (0, [])


NOTEBOOK = """
import sys, types, warnings

shown = []
ipython = types.ModuleType("IPython")
display = types.ModuleType("IPython.display")
display.display = lambda data, raw: shown.append(data)
shell = types.SimpleNamespace(kernel={kernel})
ipython.get_ipython = lambda: shell
sys.modules.update({{"IPython": ipython, "IPython.display": display}})
warnings.simplefilter("{filter}")
before = warnings.showwarning
import pycuda.driver as drv
drv.init()
assert warnings.showwarning is before
print(shown)
"""


def test_in_a_notebook_it_is_a_quiet_note(no_driver):
    def run(kernel, filter):
        code = NOTEBOOK.format(kernel=kernel, filter=filter)
        return run_child(code, check=False, PYCUDA_DRIVER=None, **no_driver)

    done = run("object()", "default")
    assert (done.returncode, done.stderr) == (0, "")
    assert "'text/plain': 'pycuda: no NVIDIA driver was found" in done.stdout
    assert "<small" in done.stdout
    assert run("object()", "ignore").stdout == "[]\n"
    assert "PyCUDAWarning" in run("object()", "error").stderr
    # IPython in a terminal shows the warning.
    done = run("None", "default")
    assert done.stdout == "[]\n" and "PyCUDAWarning" in done.stderr


def test_the_warning_has_the_reason(no_driver):
    code = """
    import warnings
    import pycuda.driver as drv
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drv.init()
    print(caught[0].message.__cause__)
    """
    done = run_child(code, PYCUDA_DRIVER=None, **no_driver)
    assert "libcuda.so.1" in done.stdout


def test_chosen_it_says_nothing(no_driver):
    lines = run_child(HELLO, PYCUDA_DRIVER="emulator", **no_driver).stdout.splitlines()
    assert lines == ["PyCUDA software device"]


def test_refused_it_is_not_there(no_driver):
    done = run_child(HELLO, check=False, PYCUDA_DRIVER="cuda", **no_driver)
    assert done.returncode == 1
    assert "install NVIDIA's driver" in done.stderr


def test_its_shape_comes_from_the_environment():
    code = """
    import pycuda.driver as drv
    drv.init()
    device = drv.Device(2)
    print(drv.Device.count(), device.compute_capability(), device.total_memory())
    """
    done = run_child(
        code,
        PYCUDA_DRIVER="emulator",
        PYCUDA_EMULATOR_DEVICES="3",
        PYCUDA_EMULATOR_CAPABILITY="9.0",
        PYCUDA_EMULATOR_MEMORY="64M",
    )
    assert done.stdout.split() == ["3", "(9,", "0)", str(64 << 20)]


def test_a_bad_value_is_named():
    done = run_child(
        "import pycuda.driver; pycuda.driver.init()",
        check=False,
        PYCUDA_DRIVER="emulator",
        PYCUDA_EMULATOR_DEVICES="many",
    )
    assert done.returncode == 1 and "PYCUDA_EMULATOR_DEVICES" in done.stderr
