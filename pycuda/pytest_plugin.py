"""A plugin of pytest for projects whose tests use a GPU.

pytest loads it by itself where this package is installed. It gives tests the fixtures
``cuda_context`` and ``cuda_seed``, and marks for what a test needs. Its options choose
the device, switch on the checks of the software device, and report what tests leave
behind. A run whose tests use no GPU does not load the driver.
"""

from __future__ import annotations

import contextlib
import gc
import os
import random
import re
import sys
import textwrap
import warnings
import zlib
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pycuda._covered import File
    from pycuda._leaks import Mark
    from pycuda.driver import Context

# Without __dir__, in which pytest looks for the hooks.
__all__ = ["cuda_context", "cuda_seed"]

_CHECKS = ("memory", "init", "race", "sync", "barrier", "leak", "all")
_SCOPES = ("function", "module", "session")
_LEAKS = ("report", "fail", "off")
_DRIVERS = ("auto", "cuda", "emulator")
_COV = ("on",)
_COV_REPORTS = ("term", "term-missing", "html", "xml", "lcov")
_COUNT_LOG = "PYCUDA_EMULATOR_COUNT_LOG"

_MARKS = (
    "cuda: the test needs a device, a GPU or the software device",
    "cuda_capability(major, minor=0): the test needs this compute capability",
    "cuda_devices(count): the test needs so many devices",
    "cuda_hardware: the test needs a GPU; the software device will not do",
)
_INVALID_VALUE = 1  # of the driver's errors
_PROPERTY = "pycuda_leak"  # of the report of a test
_MOST_LINES = 5  # of a leak

#: What errors say that come from an object of another context, or of no context.
_OTHER_CONTEXT = re.compile(r"another context|context of this \S+ was detached")
_NO_CONTEXT = re.compile(r"no current context|call pycuda\.driver\.init\(\) first")

_FOR_OTHER_CONTEXT = (
    "The fixture cuda_context makes a new context for each test, and kernels and "
    "arrays belong to the context in which they were made. Make them in the test, or "
    "in a fixture with the argument cuda_context. Cache kernels with "
    "pycuda.tools.context_dependent_memoize instead of functools.cache. If kernels are "
    "compiled at module level in the context of pycuda.autoinit, leave out "
    "cuda_context."
)
_FOR_NO_CONTEXT = (
    "No context was current. The fixture cuda_context makes one for each test that has "
    "it as an argument, and there is none at module level or in fixtures without this "
    "argument. Compile kernels and make arrays in the test or in a fixture with the "
    "argument cuda_context, or import pycuda.autoinit."
)


# -- options ---------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, each also as a setting of the configuration file."""
    group = parser.getgroup("pycuda", "tests that use a GPU")

    def add(name: str, text: str, **more: Any) -> None:
        group.addoption(f"--pycuda-{name}", help=text, **more)
        setting = f"pycuda_{name.replace('-', '_')}"
        parser.addini(setting, f"the default of --pycuda-{name}", default="")

    add(
        "driver",
        "the driver: cuda (a GPU), emulator (the software device) or auto, the default",
        choices=_DRIVERS,
    )
    add(
        "check",
        "checks of the software device, words with commas: memory, init, race, sync, "
        "barrier, leak, or all",
        metavar="WORDS",
    )
    add(
        "leaks",
        "what to do if a test leaves device memory or objects behind: report (the "
        "default), fail or off",
        choices=_LEAKS,
    )
    add(
        "seed",
        "a number for cuda_seed and for the order of warps on the software device; "
        "random chooses one and prints it",
        metavar="N",
    )
    add(
        "scope",
        "which tests share the context of cuda_context: function (each has its own, "
        "the default), module or session",
        choices=_SCOPES,
    )
    add(
        "cov",
        "measure which lines and branches of kernels run, on the software device",
        action="store_const",
        const="on",
    )
    add(
        "cov-source",
        "measure only the sources in this file or folder; may be given several times",
        action="append",
        metavar="PATH",
    )
    add(
        "cov-report",
        "how to report it: term, term-missing (the default), html, xml or lcov; a file "
        "may follow a colon, as in xml:build/kernels.xml",
        action="append",
        metavar="KIND",
    )
    add(
        "cov-fail-under",
        "let the run fail if less than this percentage is covered",
        metavar="N",
    )


def _setting(config: pytest.Config, name: str, given: Any = None) -> str:
    """Return an option of the command line, else the setting of the file, else ""."""
    if given is None:
        given = config.option
    chosen = getattr(given, f"pycuda_{name}", None)
    if isinstance(chosen, list):
        chosen = "\n".join(chosen)
    return str(chosen or config.getini(f"pycuda_{name}") or "")


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    """Return a setting; UsageError if it is not one of the known words."""
    if value and value not in known:
        raise pytest.UsageError(
            f"pycuda_{name} is {value!r}, and it must be one of {', '.join(known)}"
        )
    return value


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> None:
    """Set the variables of the driver, before files of the project load it."""
    given = early_config.known_args_namespace
    driver = _one_of("driver", _setting(early_config, "driver", given), _DRIVERS)
    check = _checks_of(_setting(early_config, "check", given))
    if check and driver == "cuda":
        raise pytest.UsageError(
            "--pycuda-check is for the software device, and --pycuda-driver is cuda. "
            "Leave out one of them"
        )
    _one_of("leaks", _setting(early_config, "leaks", given), _LEAKS)
    _one_of("scope", _setting(early_config, "scope", given), _SCOPES)
    seed = _seed_of(_setting(early_config, "seed", given))
    counts = _counts_of(early_config, given, driver)
    is_emulated = check or counts
    chosen = {
        "PYCUDA_DRIVER": "emulator" if is_emulated else driver.replace("auto", ""),
        "PYCUDA_EMULATOR_COUNT": "lines" if counts else "",
        _COUNT_LOG: counts,
        # a test should not pass because a GPU forgives a mistake
        "PYCUDA_CHECK": check or _unless_set("PYCUDA_CHECK", "memory"),
        "PYCUDA_STRICT": _unless_set("PYCUDA_STRICT", "1"),
        "PYCUDA_EMULATOR_SEED": "" if seed is None else str(seed),
    }
    changed = {}
    for name, value in chosen.items():
        if value:
            changed[name] = os.environ.get(name)
            os.environ[name] = value
    early_config.stash[_RUN] = _Run(seed, changed)


def _unless_set(name: str, value: str) -> str:
    """Return the value for a variable, "" if it has one already that is not empty."""
    return "" if os.environ.get(name) else value


def _counts_of(config: pytest.Config, given: Any, driver: str) -> str:
    """Return how the names of files of counts begin, "" if nothing is measured."""
    if not _one_of("cov", _setting(config, "cov", given), _COV):
        return ""
    if driver == "cuda":
        raise pytest.UsageError(
            "--pycuda-cov is for the software device, and --pycuda-driver is cuda. "
            "Leave out one of them"
        )
    _reports_of(_setting(config, "cov_report", given))
    _percent_of(_setting(config, "cov_fail_under", given))
    if "PYTEST_XDIST_WORKER" in os.environ and os.environ.get(_COUNT_LOG):
        return os.environ[_COUNT_LOG]  # the first process reads them
    import tempfile

    folder = tempfile.mkdtemp(prefix="pycuda-coverage-")
    return os.path.join(folder, "counts")


def _reports_of(text: str) -> list[tuple[str, str]]:
    """Return the kinds of reports, each with a file or "". UsageError for others."""
    words = text.split() or ["term-missing"]
    pairs = [(kind, path) for kind, _, path in (word.partition(":") for word in words)]
    for kind, path in pairs:
        _one_of("cov_report", kind, _COV_REPORTS)
        if path and kind.startswith("term"):
            raise pytest.UsageError(f"pycuda_cov_report: {kind} is written to no file")
    return pairs


def _percent_of(text: str) -> float:
    try:
        return float(text or 0)
    except ValueError:
        raise pytest.UsageError(
            f"--pycuda-cov-fail-under is {text!r}, and it must be a number"
        ) from None


def _checks_of(text: str) -> str:
    """Return the checks as the driver takes them. UsageError for an unknown one."""
    words = [word.strip() for word in text.split(",")]
    if text and not any(words):
        raise pytest.UsageError(
            f"pycuda_check is {text!r}, which names no check: {', '.join(_CHECKS)}"
        )
    return ",".join(_one_of("check", word, _CHECKS) for word in words if word)


def _seed_of(text: str) -> int | None:
    """Return the seed, None if there is none. UsageError if it is no number."""
    if not text:
        return None
    if text == "random":
        # the processes of pytest-xdist have the seed of the first process
        known = os.environ.get("PYCUDA_EMULATOR_SEED", "")
        if "PYTEST_XDIST_WORKER" in os.environ and known.isdecimal():
            return int(known)
        return random.SystemRandom().randrange(1, 1 << 31)
    if not text.isdecimal() or int(text) >= 1 << 31:
        raise pytest.UsageError(
            f"--pycuda-seed is {text!r}, and it must be a number from 0 to 2147483647, "
            "or random"
        )
    return int(text)


class _Run:
    """The state of the plugin in a run of pytest."""

    def __init__(self, seed: int | None, changed: dict[str, str | None]) -> None:
        self.seed = seed
        self.changed = changed  # variables, and their values before
        self.leaks: list[tuple[str, str]] = []  # tests and what they left behind
        self.device = ""  # its name, once the driver is loaded
        self.covered: list[File] = []  # what of kernels ran
        self.written: list[str] = []  # reports of that
        self.not_added = ""  # why it is not in the data of coverage.py
        self.broken_by = ""  # the test that broke a context which cannot be repaired
        self._missing: str | None = None  # why there is no device

    def missing(self) -> str:
        """Load the driver. Return why there is no device, "" if there is one."""
        if self._missing is None:
            self._missing = self._load()
        return self._missing

    def _load(self) -> str:
        from pycuda import _driver, driver as drv

        with warnings.catch_warnings():
            # that there is no GPU: the summary names the device
            warnings.simplefilter("ignore")
            try:
                drv.init()
                count = drv.Device.count()
            except drv.Error as error:
                if error.code == _INVALID_VALUE:
                    # A variable is wrong. If all tests were skipped, the run would be
                    # green.
                    pytest.fail(str(error), pytrace=False)
                return str(error)
        if count == 0:
            return "the driver shows no device"
        asked = os.environ.get("PYCUDA_DRIVER")
        is_emulated = _driver._is_emulated()
        if "PYCUDA_DRIVER" in self.changed and (asked == "emulator") != is_emulated:
            loaded = "the software device" if is_emulated else "the driver of a GPU"
            pytest.fail(
                f"--pycuda-driver asks for {asked!r}, and {loaded} was loaded before "
                "pytest began. Start pytest in a process of its own",
                pytrace=False,
            )
        capability = ".".join(map(str, drv.Device(0).compute_capability()))
        self.device = f"{drv.Device(0).name()}, compute capability {capability}"
        return ""


_RUN = pytest.StashKey[_Run]()
_BEFORE = pytest.StashKey["Mark"]()
_AT_CALL = pytest.StashKey["Mark"]()
_PASSED = pytest.StashKey[bool]()
_LEFT = pytest.StashKey[str]()
_FAULT = pytest.StashKey[str]()


def _run_of(config: pytest.Config) -> _Run:
    if _RUN not in config.stash:  # loaded with -p, after the first files
        config.stash[_RUN] = _Run(_seed_of(_setting(config, "seed")), {})
    return config.stash[_RUN]


def pytest_configure(config: pytest.Config) -> None:
    """Register the marks."""
    for line in _MARKS:
        config.addinivalue_line("markers", line)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restore the variables of the driver."""
    counts = os.environ.get(_COUNT_LOG, "")
    if _COUNT_LOG in _run_of(config).changed and not hasattr(config, "workerinput"):
        import shutil

        shutil.rmtree(os.path.dirname(counts), ignore_errors=True)
    for name, value in _run_of(config).changed.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return a line about the options, if there are any."""
    run = _run_of(config)
    words = [
        f"{name} {value}"
        for name in ("driver", "check", "leaks", "scope")
        if (value := _setting(config, name))
    ]
    if run.seed is not None:
        words.append(f"seed {run.seed}")
    return f"pycuda: {', '.join(words)}" if words else None


# -- what a test needs -----------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test if the machine has not what its marks ask for."""
    wanted = [name for name in _mark_names() if item.get_closest_marker(name)]
    if not wanted:
        return
    reason = _run_of(item.config).missing()
    if reason:
        pytest.skip(f"needs a CUDA device: {reason}")
    reason = _unmet(item)
    if reason:
        pytest.skip(reason)


def _mark_names() -> list[str]:
    return [line.partition(":")[0].partition("(")[0] for line in _MARKS]


def _unmet(item: pytest.Item) -> str:
    """Return what the marks of a test need and the machine has not, or ""."""
    from pycuda import _driver, driver as drv

    mark = item.get_closest_marker("cuda_devices")
    if mark is not None:
        (needed,) = _numbers(mark, ("count",))
        count = drv.Device.count()
        if count < needed:
            return f"needs {needed} devices, and this machine shows {count}"
    mark = item.get_closest_marker("cuda_capability")
    if mark is not None:
        wanted = _numbers(mark, ("major", "minor"))
        found = drv.Device(0).compute_capability()
        if found < wanted:
            return (
                f"needs compute capability {wanted[0]}.{wanted[1]}, and the device has "
                f"{found[0]}.{found[1]}"
            )
    if item.get_closest_marker("cuda_hardware") and _driver._is_emulated():
        return "needs a GPU, and this is the software device"
    return ""


def _numbers(mark: pytest.Mark, names: tuple[str, ...]) -> tuple[int, ...]:
    """Return the arguments of a mark, which must be whole numbers.

    All but the first may be missing, and are 0 then.
    """
    given = dict(zip(names, mark.args, strict=False))
    is_right = len(mark.args) <= len(names) and not given.keys() & mark.kwargs.keys()
    given |= mark.kwargs
    if (
        not is_right
        or names[0] not in given
        or not given.keys() <= set(names)
        or not all(type(each) is int for each in given.values())
    ):
        example = "(8, 6)" if len(names) == 2 else "(2)"
        numbers = (*mark.args, *mark.kwargs.values())
        pytest.fail(
            f"the mark {mark.name} takes whole numbers, such as {mark.name}{example}, "
            f"not {numbers!r}",
            pytrace=False,
        )
    return tuple(given.get(name, 0) for name in names)


# -- fixtures --------------------------------------------------------------------------


def _scope(fixture_name: str, config: pytest.Config) -> Any:
    return _one_of("scope", _setting(config, "scope"), _SCOPES) or "function"


@pytest.fixture(scope=_scope)
def cuda_context(request: pytest.FixtureRequest) -> Generator[Context, None, None]:
    """Give the test a new context on the first device, current in its thread.

    Contexts that a test pushes or pops are put back at its end. The test is skipped if
    there is no device.

    Parameters
    ----------
    request : pytest.FixtureRequest
        What pytest gives a fixture.

    Yields
    ------
    Context
        The context. ``--pycuda-scope`` says which tests share it.

    See Also
    --------
    pycuda.tools.make_default_context : It makes the context.

    Examples
    --------
    A test has the fixture as an argument::

        def test_sum(cuda_context):
            assert gpuarray.sum(gpuarray.ones(3)).get() == 3
    """
    reason = _run_of(request.config).missing()
    if reason:
        pytest.skip(f"needs a CUDA device: {reason}")
    from pycuda import driver as drv, tools

    outer = tools._take_stack()
    context = tools.make_default_context()
    try:
        yield context
    finally:
        if isinstance(request.node, pytest.Item):
            # what is left now is not there any more when the context has ended
            _note_leaks(request.node)
        tools._take_stack()
        tools._put_stack(outer)
        tools.clear_context_caches()
        gc.collect()
        with contextlib.suppress(drv.Error):  # a kernel has broken the context
            context.detach()


@pytest.fixture
def cuda_seed(request: pytest.FixtureRequest) -> int:
    """Give the test a number for its random generators.

    It depends on ``--pycuda-seed`` and on the name of the test, so that each test has
    its own, and the same in each run.

    Parameters
    ----------
    request : pytest.FixtureRequest
        What pytest gives a fixture.

    Returns
    -------
    int
        A number from 0 to 2147483647.

    Examples
    --------
    A test has the fixture as an argument::

        def test_noise(cuda_seed):
            numbers = np.random.default_rng(cuda_seed).random(100)
    """
    seed = _run_of(request.config).seed or 0
    return zlib.crc32(f"{seed} {request.node.nodeid}".encode()) & 0x7FFFFFFF


# -- faults that come after the test ---------------------------------------------------


@contextlib.contextmanager
def _its_faults(item: pytest.Item) -> Generator[None, None, None]:
    """Wait for the device at the end. Fail if it reports an error that nobody has seen.

    A kernel may still run when a test ends, and its error would be that of a later
    test, or of none. If the test fails anyway, its report has the error as a section.
    """
    failed: list[str] = []
    with _noting_callbacks(failed):
        try:
            yield
        except (Exception, pytest.fail.Exception):
            item.stash[_FAULT] = _unseen_fault()
            raise
        report = _unseen_fault()
    if report:
        pytest.fail(f"at the end of the test the device reports: {report}", False)
    if failed:
        pytest.fail("\n".join(failed), False)


@contextlib.contextmanager
def _noting_callbacks(failed: list[str]) -> Generator[None, None, None]:
    """Note the exceptions of functions that a stream calls: no code catches them."""
    outer = sys.unraisablehook

    def note(ignored: Any) -> None:
        text = ""
        if "pycuda._driver" in sys.modules:
            from pycuda import _warning

            text = _warning.failed_callback(ignored)
        if text:
            failed.append(text)
            _warning.keep_callback(text)
        else:
            outer(ignored)

    sys.unraisablehook = note
    try:
        yield
    finally:
        if sys.unraisablehook is note:
            sys.unraisablehook = outer


def _unseen_fault() -> str:
    """Wait for the work of all contexts. Return the report of a fault, or ""."""
    if "pycuda._driver" not in sys.modules:
        return ""
    from pycuda import _driver

    found = ""
    for context in _driver._untold_contexts():
        try:
            with context:
                context.synchronize()
        except IndexError as error:
            found = found or str(error)
        except _driver.Error as error:
            if "launches" in vars(error):  # the context is lost
                found = found or str(error)
    return found or _driver._take_lost_report() or ""


def _recover(item: pytest.Item) -> None:
    """Let the next tests use the contexts in which a test has made an error.

    A GPU cannot do that: then the errors of the next tests name this test.
    """
    if "pycuda._driver" in sys.modules:
        from pycuda import _driver

        run = _run_of(item.config)
        if not _driver._recover_contexts() and not run.broken_by:
            run.broken_by = item.nodeid


# -- what a test leaves behind ---------------------------------------------------------


def _mark(item: pytest.Item) -> Mark | None:
    """Return what exists now, None if leaks do not count or there is no driver."""
    if _setting(item.config, "leaks") == "off" or "pycuda._driver" not in sys.modules:
        return None
    from pycuda._leaks import Mark

    return Mark()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Note what exists before a test and its fixtures."""
    mark = _mark(item)
    if mark is not None:
        item.stash[_BEFORE] = mark
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Note what the fixtures of a test have made: some of them outlive the test."""
    mark = _mark(item)
    if mark is not None:
        item.stash[_AT_CALL] = mark
    if "cuda_context" not in getattr(item, "fixturenames", ()):
        with _its_faults(item):
            return (yield)
    with _same_contexts(), _its_faults(item):
        return (yield)


@contextlib.contextmanager
def _same_contexts() -> Generator[None, None, None]:
    """Put the contexts of this thread back at the end: other tests share them."""
    from pycuda import tools

    before = tools._take_stack()
    tools._put_stack(before)
    try:
        yield
    finally:
        tools._take_stack()
        tools._put_stack(before)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Compare what exists after a test and its fixtures with what existed before."""
    try:
        with _its_faults(item):
            result = yield
    finally:
        _recover(item)
    _note_leaks(item)
    text = item.stash.get(_LEFT, "")
    if text:
        item.user_properties.append((_PROPERTY, text))
        if _setting(item.config, "leaks") == "fail":
            pytest.fail(f"the test has left behind:\n{text}", pytrace=False)
    return result


def _note_leaks(item: pytest.Item) -> None:
    """Note what a test has left behind, unless that is known or the test has failed.

    The traceback of a failed test keeps its variables alive.
    """
    at_call = item.stash.get(_AT_CALL, None)
    if (
        at_call is None
        or item.stash.get(_LEFT, "")
        or not item.stash.get(_PASSED, False)
    ):
        return
    before = item.stash.get(_BEFORE, at_call)
    text = _left(before, at_call)
    if text:
        gc.collect()
        text = _left(before, at_call)
    item.stash[_LEFT] = text


def _left(before: Mark, at_call: Mark) -> str:
    """Return what the call of a test has left behind, as lines of text."""
    from pycuda._leaks import Mark

    now = Mark()
    lines = now.lines_since(at_call)
    rows = [f"  {each}" for each in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        rows.append(f"  and memory of {len(lines) - _MOST_LINES} more lines")
    objects = now.objects_since(before, at_call)
    if objects:
        rows.append(f"  {', '.join(objects)}")
    return "\n".join(rows)


# -- reports ---------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note whether a test has passed, and name the seed if it has failed."""
    report = yield
    _add_remedy(report, call)
    if item.stash.get(_FAULT, ""):
        report.sections.append(("pycuda: at the end of the test", item.stash[_FAULT]))
        del item.stash[_FAULT]
    broken_by = _run_of(item.config).broken_by
    if report.failed and broken_by not in ("", item.nodeid):
        text = (
            f"{broken_by} has broken a context. A GPU may fail in all tests behind it"
        )
        report.sections.append(("pycuda: an earlier error", text))
    if report.when == "call":
        item.stash[_PASSED] = report.passed
    run = _run_of(item.config)
    if report.failed and run.seed is not None:
        text = f"Run this again with --pycuda-seed {run.seed}"
        report.sections.append(("pycuda seed", text))
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Say what to do if a file needs a context when it is imported."""
    report = yield
    call = getattr(report, "call", None)
    if call is not None:
        _add_remedy(report, call)
    return report


def _add_remedy(
    report: pytest.TestReport | pytest.CollectReport, call: pytest.CallInfo[Any]
) -> None:
    """Add what to do if an object of another context, or of no context, was used."""
    if call.excinfo is None or "pycuda._driver" not in sys.modules:
        return
    from pycuda._driver import Error

    error = call.excinfo.value
    if not isinstance(error, Error):
        return
    if _OTHER_CONTEXT.search(str(error)):
        text = _FOR_OTHER_CONTEXT
    elif _NO_CONTEXT.search(str(error)):
        text = _FOR_NO_CONTEXT
    else:
        return
    report.sections.append(("pycuda: contexts", textwrap.fill(text, 80)))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the first process of pytest-xdist which device this one has used."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["pycuda_device"] = _run_of(session.config).device


# -- coverage of kernels ---------------------------------------------------------------


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtestloop(session: pytest.Session) -> Generator[None, object, object]:
    """Measure what of kernels ran, before pytest-cov makes its reports."""
    try:
        return (yield)
    finally:
        if _setting(session.config, "cov"):
            _measure(session)


def _measure(session: pytest.Session) -> None:
    """Write the counts of this process, and read those of all in the first one."""
    config, prefix = session.config, os.environ.get(_COUNT_LOG, "")
    if "pycuda._driver" in sys.modules and prefix:
        from pycuda import _counts

        _counts.write(prefix)
    if hasattr(config, "workeroutput") or not prefix:
        return
    from pycuda import _coverage_reports, _covered

    asked = _setting(config, "cov_source").split("\n")
    folders = [str(config.invocation_params.dir / path) for path in asked if path]
    run = _run_of(config)
    run.covered = _covered.measure(prefix, folders)
    for kind, path in _reports_of(_setting(config, "cov_report")):
        if kind in _coverage_reports.KINDS:
            run.written.append(_coverage_reports.write(kind, path, run.covered))
    found = _covered.totals(run.covered).percent()
    if found < _percent_of(_setting(config, "cov_fail_under")):
        session.testsfailed += 1
    _add_to_coverage_py(config)


def _add_to_coverage_py(config: pytest.Config) -> None:
    """Let pytest-cov add what of kernels ran to its data, once these are complete."""
    controller = getattr(config.pluginmanager.getplugin("_cov"), "cov_controller", None)
    if controller is None:
        return
    run, finish = _run_of(config), controller.finish

    def finish_and_add() -> None:
        from pycuda import _coverage_py

        finish()
        run.not_added = _coverage_py.add(controller.cov, run.covered)

    controller.finish = finish_and_add


def _show_covered(terminalreporter: Any, config: pytest.Config) -> None:
    """Write what of kernels ran."""
    from pycuda import _coverage_reports, _covered

    run = _run_of(config)
    terminalreporter.section("pycuda: coverage of kernels")
    if not run.covered:
        terminalreporter.write_line("no kernel of the tests was loaded")
    kinds = [kind for kind, _ in _reports_of(_setting(config, "cov_report"))]
    if run.covered and ("term" in kinds or "term-missing" in kinds):
        table = _coverage_reports.table(run.covered, "term-missing" in kinds)
        terminalreporter.write_line(table)
    for path in run.written:
        terminalreporter.write_line(f"{path} is written")
    if run.not_added:
        terminalreporter.write_line(run.not_added)
    found = _covered.totals(run.covered).percent()
    limit = _percent_of(_setting(config, "cov_fail_under"))
    if found < limit:
        text = f"{found:.1f}% are covered, and {limit:g}% are asked for"
        terminalreporter.write_line(text, red=True)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the device from a process of pytest-xdist that ends."""
    device = getattr(node, "workeroutput", {}).get("pycuda_device", "")
    run = _run_of(node.config)
    run.device = run.device or device


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write which device the tests have used, and what they have left behind."""
    leaks = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "teardown":
                found = dict(report.user_properties).get(_PROPERTY)
                if found:
                    leaks.append((report.nodeid, found))
    if leaks:
        terminalreporter.section("pycuda: left behind by tests")
        for name, text in leaks:
            terminalreporter.write_line(name)
            terminalreporter.write_line(text)
    if _setting(config, "cov"):
        _show_covered(terminalreporter, config)
    device = _run_of(config).device
    if device:
        terminalreporter.write_line(f"pycuda: the device was {device}")
