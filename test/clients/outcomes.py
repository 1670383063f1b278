"""Run unittest tests one by one, and write the outcome of each to a file at once.

    python outcomes.py FILE --list NAME ...     write the ids of all tests, and a line
                                                for each module with an error
    python outcomes.py FILE --run               run the ids that standard input has

This file runs in the environment of a client, so it needs the standard library only. A
line has fields with tabs between them: ``start`` and an id, then the outcome, the id,
the seconds and the last line of the error, or the ``note`` of the test. The process
ends after the first test that fails: a device error may have made its context useless.
"""

import importlib.util
import os
import pkgutil
import sys
import time
import traceback
import unittest


def all_tests(suite):
    """Return the test cases of a suite, in its order."""
    if isinstance(suite, unittest.TestCase):
        return [suite]
    found = []
    for part in suite:
        found.extend(all_tests(part))
    return found


def modules(names):
    """Return the names of modules, with those of packages in place of a package."""
    found = []
    for name in names:
        spec = importlib.util.find_spec(name)
        path = spec and spec.submodule_search_locations
        if not path:
            found.append(name)
        else:
            inner = (module.name for module in pkgutil.iter_modules(path))
            found.extend(f"{name}.{one}" for one in inner if one.startswith("test_"))
    return found


def list_module(name, loader, file):
    """Write the ids of the tests of a module, or why it cannot be imported."""
    try:
        module = importlib.import_module(name)
        tests = all_tests(loader.loadTestsFromModule(module))
    except BaseException as error:  # pytest's Skipped, which is no Exception
        reason = " ".join(str(error).split())
        print("import", name, 0, reason, sep="\t", file=file)
        return
    for test in tests:
        print(test.id(), file=file)


class Outcomes(unittest.TestResult):
    """Write a line when a test starts, and one when it has ended."""

    def __init__(self, file):
        super().__init__()
        self.file = file
        self.outcome = "ok"
        self.reason = ""
        self.began = 0.0

    def write(self, *fields):
        print(*fields, sep="\t", file=self.file, flush=True)

    def startTest(self, test):
        super().startTest(test)
        self.outcome, self.reason, self.began = "ok", "", time.perf_counter()
        self.write("start", test.id())

    def stopTest(self, test):
        super().stopTest(test)
        seconds = time.perf_counter() - self.began
        reason = self.reason or getattr(test, "note", "")
        self.write(self.outcome, test.id(), f"{seconds:.2f}", reason)

    def _note(self, outcome, error):
        self.outcome = outcome
        text = "".join(traceback.format_exception_only(error[0], error[1]))
        self.reason = text.strip().splitlines()[-1].replace("\t", " ")[:300]
        self.stop()

    def addFailure(self, test, err):
        self._note("fail", err)

    def addError(self, test, err):
        self._note("error", err)
        if not isinstance(test, unittest.TestCase):  # of a class or module
            self.write("error", test.id(), "0", self.reason)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._note("fail", err)

    def addSkip(self, test, reason):
        self.outcome, self.reason = "skip", " ".join(reason.split())[:300]
        if not isinstance(test, unittest.TestCase):  # of a class or module
            self.write("skip", test.id(), "0", self.reason)

    def addUnexpectedSuccess(self, test):
        self.outcome = "fail"
        self.reason = "the test is expected to fail"


def main(arguments):
    path, action, *names = arguments
    sys.path[0] = os.getcwd()  # the tests are there, not beside this file
    loader = unittest.TestLoader()
    with open(path, "a", encoding="utf-8") as file:
        if action == "--list":
            for module in modules(names):
                list_module(module, loader, file)
            return
        names = sys.stdin.read().split()
        loader.loadTestsFromNames(names).run(Outcomes(file))


if __name__ == "__main__":
    main(sys.argv[1:])
