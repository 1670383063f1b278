"""The driver's profiler: its calls, and the results of present drivers."""

import pytest

import pycuda.driver as drv

pytestmark = pytest.mark.gpu


def test_start_and_stop(ctx):
    assert drv.start_profiler() is None
    assert drv.stop_profiler() is None


def test_initialize(ctx, tmp_path):
    mode = drv.profiler_output_mode.CSV
    files = (str(tmp_path / "settings"), tmp_path / "results")
    try:
        assert drv.initialize_profiler(*files, mode) is None
    except drv.LogicError as error:
        # Drivers of CUDA 12 and later lack it or reject it.
        assert error.routine == "cuProfilerInitialize"


@pytest.mark.parametrize(
    ("args", "error", "said"),
    [
        ((), TypeError, r"exactly 3 arguments \(0 given\)"),
        (("a", "b"), TypeError, r"exactly 3 arguments \(2 given\)"),
        ((1, "b", 0), TypeError, "int"),
        (("a", "b\0", 0), ValueError, "null"),
        (("a", "b", "CSV"), TypeError, "output_mode must be"),
        (("a", "b", drv.limit.STACK_SIZE), TypeError, "output_mode must be"),
    ],
)
def test_wrong_arguments(args, error, said):
    with pytest.raises(error, match=said):
        drv.initialize_profiler(*args)
