"""Run the tests that a library has for arrays of any kind with GPUArrays.

The wheels of scikit-learn and SciPy have the tests. A plugin of pytest puts
pycuda.array_api in place of the namespaces that the tests know.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

SUITES = Path(__file__).parent


def run(library, part, plugin, *options):
    """Run the tests of a part of a library. Return how many pass, and the output."""
    place = Path(importlib.util.find_spec(library).origin).parent
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rfE"]
    command += ["--tb=line", "--disable-warnings", f"--rootdir={place.parent}"]
    variables = dict(os.environ, SCIPY_ARRAY_API="1", OMP_NUM_THREADS="1")
    paths = [str(SUITES), variables.get("PYTHONPATH", "")]
    variables["PYTHONPATH"] = os.pathsep.join(paths)
    done = subprocess.run(
        [*command, "-p", plugin, *options, str(place / part)],
        check=False,
        capture_output=True,
        text=True,
        cwd=place.parent,
        env=variables,
    )
    said = done.stdout + done.stderr
    count = re.search(r"(\d+) passed", said)
    return int(count[1]) if count else 0, said
