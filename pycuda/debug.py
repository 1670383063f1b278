"""Run a script with debugging on: ``python -m pycuda.debug SCRIPT [ARGS]``.

Kernels are then compiled with debug information, and their sources are kept for
cuda-gdb. The exit status is 2 without a script, and 1 if the script does not exist.
"""

import os
import runpy
import sys


def main() -> int:
    if len(sys.argv) < 2:
        print(f"usage: {sys.executable} -m pycuda.debug SCRIPT [ARGS]", file=sys.stderr)
        return 2
    script = sys.argv[1]
    if not os.path.exists(script):
        print(f"pycuda.debug: there is no file '{script}'", file=sys.stderr)
        return 1

    from pycuda.driver import set_debugging

    set_debugging()
    # The script sees the same arguments and path as if it had been started by itself.
    sys.argv = sys.argv[1:]
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
