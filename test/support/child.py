"""Run Python code in child processes."""

import os
import subprocess
import sys
import textwrap


def run_child(code, *, check=True, timeout=120, **env):
    """Run code in a fresh interpreter. Return the completed process.

    With check, it must end with status 0 and print nothing to stderr. The keywords are
    environment variables; None removes a variable.
    """
    environment = {**os.environ, "PYTHONWARNINGS": "default", **env}
    environment = {k: v for k, v in environment.items() if v is not None}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        timeout=timeout,
    )
    if check:
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        assert done.stderr == "", done.stderr
    return done
