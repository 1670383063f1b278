"""Interpreters that cannot load the extension, and forks while the driver loads."""

import sys

import pytest

from support import cc
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


#: A driver library that loads slowly and prints when it starts. It has no functions, so
#: it cannot be used.
SLOW_LIBRARY = """
#include <stdlib.h>
#include <unistd.h>

__attribute__((constructor)) static void
load_slowly(void)
{
    const char *fd = getenv("SLOW_LIBRARY_FD");
    if (fd == NULL || write(atoi(fd), "x", 1) != 1) {
        abort();
    }
    sleep(1);
}
"""

FORK = """
import os, signal, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import pycuda.driver as drv

said, say = os.pipe()
os.environ["SLOW_LIBRARY_FD"] = str(say)

def load():
    try:
        drv.init()
    except drv.Error:
        return True  # it is no driver

loader = threading.Thread(target=load)
loader.start()
os.read(said, 1)  # the library is being loaded
child = os.fork()
if child == 0:
    signal.alarm(200)  # ends what would wait for ever
    os._exit(0 if load() else 1)
loader.join()
print(os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not cc.compilers(), reason="neither gcc nor clang is installed")
def test_a_fork_while_the_driver_is_loaded(tmp_path):
    """A child that inherited the loader's locked lock would wait forever."""
    source = tmp_path / "slow.c"
    source.write_text(SLOW_LIBRARY)
    library = tmp_path / "libcuda.so.1"
    flags = ["-shared", "-fPIC"]
    cc.must(cc.compile_c(cc.compilers()[0], [source], library, flags))
    done = run_child(
        FORK, timeout=300, PYCUDA_DRIVER="cuda", LD_LIBRARY_PATH=str(tmp_path)
    )
    assert done.stdout == "0\n"
