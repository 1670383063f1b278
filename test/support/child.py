"""Runs snippets of Python in child processes."""

import os
import subprocess
import sys
import textwrap


def run_child(code, *, check=True, timeout=120, **env):
    """Run code in a fresh interpreter; its outputs are text.

    With check, it must end with status 0 and say nothing on stderr. A variable given as
    None is removed from the environment.
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
