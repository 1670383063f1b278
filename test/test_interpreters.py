"""Where the extension refuses to be loaded, and forks while the driver is loaded."""

import sys

import pytest

from support.child import run_child

pytestmark = pytest.mark.gpu

SUBINTERPRETER = '''
import sys

CODE = """
try:
    import pycuda._driver
except ImportError as error:
    print("ImportError:", error, flush=True)
else:
    print("it was loaded", flush=True)
"""
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
    inner = interpreters.create("legacy" if LEGACY else "isolated")
    failed = interpreters.exec(inner, CODE)
    assert failed is None, failed
else:
    import _xxsubinterpreters as interpreters
    inner = interpreters.create(isolated=not LEGACY)
    interpreters.run_string(inner, CODE)
interpreters.destroy(inner)
import pycuda.driver as drv
drv.init()
print("main:", drv.Device.count() > 0)
'''


@pytest.mark.parametrize("legacy", [True, False])
def test_a_subinterpreter_is_refused(legacy):
    done = run_child(
        SUBINTERPRETER.replace("LEGACY", str(legacy)), check=False, timeout=300
    )
    assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
    lines = done.stdout.splitlines()
    assert lines[0].startswith("ImportError:") and "subinterpreter" in lines[0]
    assert lines[1:] == ["main: True"]
    if sys.version_info < (3, 12):
        assert "main interpreter only" in lines[0]


FORK = """
import os, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import pycuda.driver as drv

start = threading.Barrier(2)

def load():
    start.wait()
    drv.init()

loader = threading.Thread(target=load)
loader.start()
start.wait()
children = []
for _ in range(20):
    child = os.fork()
    if child == 0:
        # Whatever the loader had reached: this returns or raises, and does not hang.
        try:
            drv.init()
        except drv.Error:
            pass
        os._exit(0)
    children.append(child)
loader.join()
print([os.waitpid(child, 0)[1] for child in children] == [0] * 20)
"""


def test_a_fork_while_the_driver_is_loaded():
    """A child that found the loader's lock taken would wait for ever."""
    assert run_child(FORK, timeout=300).stdout == "True\n"
