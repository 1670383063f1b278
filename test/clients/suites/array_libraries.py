"""Run the tests that a library has for arrays of any kind with GPUArrays.

The wheels of the libraries have the tests. A plugin of pytest puts GPUArrays and
pycuda.array_api in place of the arrays and namespaces that the tests know.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

SUITES = Path(__file__).parent
sys.path.append(str(SUITES.parents[1]))

from clients import lists  # noqa: E402


def run(library, part, plugin, *options):
    """Run the tests of a part of a library.

    Return how many pass, the ids of those that fail, and the output.
    """
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
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.M)
    return int(count[1]) if count else 0, set(failed), said


def check(case, client, passed, library, part, plugin, *options):
    """Check which tests of a part of a library fail: those in the list of the client.

    ``passed`` is how many pass, at least.
    """
    count, failed, said = run(library, part, plugin, *options)
    known = {
        test
        for test in lists.differences(client)
        if test.startswith(f"{library}/{part}".rstrip("/"))
    }
    new, repaired = sorted(failed - known), sorted(known - failed)
    case.assertEqual(new, [], f"\n{said[-3000:]}\nfail, but are not listed: {new}")
    case.assertEqual(repaired, [], f"are listed, but do not fail: {repaired}")
    case.assertGreaterEqual(count, passed, said[-3000:])
    case.note = f"{count} pass, {len(known)} fail for a known reason"
