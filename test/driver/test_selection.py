"""The choice between the driver and the software device."""

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
