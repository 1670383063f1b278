"""Run the tests of a client in processes, which start again after each failure."""

import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

OUTCOMES = Path(__file__).with_name("outcomes.py")

#: Tests of one process, at most, and the seconds that one test may take.
CHUNK = 60
LIMIT = 300.0


def _read(path):
    """Return the started tests, and {id: (outcome, seconds, reason)} of those done."""
    started, done = [], {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split("\t")
        if fields[0] == "start" and len(fields) == 2:
            started.append(fields[1])
        elif len(fields) == 4:
            done[fields[1]] = (fields[0], float(fields[2]), fields[3])
    return started, done


def _spread(done, tests):
    """Give the outcome of a class, such as "setUpClass (x.Y)", to its tests."""
    found = {}
    for test, outcome in done.items():
        if test.endswith(")"):
            prefix = test[test.index("(") + 1 : -1] + "."
            found.update((one, outcome) for one in tests if one.startswith(prefix))
        else:
            found[test] = outcome
    return found


class Run:
    """A run of many tests by several processes at a time."""

    def __init__(self, python, variables, folder, deadline=None, log=None):
        self.python = str(python)
        self.variables = variables
        self.folder = folder
        self.deadline = deadline
        self.log = log
        self.results = {}
        self._lock = threading.Lock()
        self._left = []

    def list_tests(self, names):
        """Return the ids of all tests of these modules."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "tests"
            command = [self.python, str(OUTCOMES), str(path), "--list", *names]
            done = subprocess.run(
                command,
                check=False,
                capture_output=True,
                text=True,
                cwd=self.folder,
                env=self.variables,
            )
            if done.returncode != 0:
                raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
            _, failed = _read(path)
            lines = path.read_text(encoding="utf-8").splitlines()
        self.results.update(failed)
        self._write_log(failed)
        return list(dict.fromkeys(line for line in lines if "\t" not in line))

    def run(self, tests, jobs):
        """Run tests on `jobs` processes. Return {id: (outcome, seconds, reason)}."""
        self._left = [tests[at : at + CHUNK] for at in range(0, len(tests), CHUNK)]
        if jobs > 1:  # the last chunks are small, so that the processes end together
            size = max(1, min(CHUNK, len(tests) // (jobs * 2)))
            self._left = [tests[at : at + size] for at in range(0, len(tests), size)]
        workers = [threading.Thread(target=self._work) for _ in range(jobs)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return self.results

    def _is_late(self):
        return self.deadline is not None and time.monotonic() > self.deadline

    def _work(self):
        while not self._is_late():
            with self._lock:
                if not self._left:
                    return
                tests = self._left.pop(0)
            while tests and not self._is_late():
                tests = self._run_some(tests)

    def _run_some(self, tests):
        """Run tests in one process. Return those that it left."""
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "outcomes"
            path.touch()
            verdict = self._watch(tests, path, Path(place) / "said")
            started, done = _read(path)
            if started and started[-1] not in done and verdict != "late":
                said = (Path(place) / "said").read_text(errors="replace")
                last = said.strip().splitlines()[-1:] or [""]
                done[started[-1]] = (verdict, 0.0, last[0][:300])
        done = _spread(done, tests)
        if not any(test in done for test in tests) and verdict != "late":
            done[tests[0]] = ("error", 0.0, "the test cannot be loaded")
        with self._lock:
            self.results.update(done)
            self._write_log(done)
        return [test for test in tests if test not in done]

    def _write_log(self, results):
        if self.log is None:
            return
        with open(self.log, "a", encoding="utf-8") as file:
            for test, (outcome, seconds, reason) in results.items():
                print(outcome, test, seconds, reason, sep="\t", file=file)

    def _watch(self, tests, path, said):
        """Run a process. Return "crash", or why it was ended: "timeout" or "late"."""
        command = [self.python, str(OUTCOMES), str(path), "--run"]
        with open(said, "w+b") as output, tempfile.TemporaryFile() as names:
            names.write("\n".join(tests).encode())
            names.seek(0)
            child = subprocess.Popen(
                command,
                stdin=names,
                stdout=output,
                stderr=output,
                cwd=self.folder,
                env=self.variables,
                start_new_session=True,
            )
            size, changed = 0, time.monotonic()
            while child.poll() is None:
                time.sleep(0.05)
                now = time.monotonic()
                if path.stat().st_size != size:
                    size, changed = path.stat().st_size, now
                if self._is_late() or now - changed > LIMIT:
                    os.killpg(child.pid, 9)
                    child.wait()
                    return "late" if self._is_late() else "timeout"
        return "crash"
