"""Run the sweeps: python -m faults.sweep calls|allocations TABLE [NAME...]

TABLE is the module with the rows; faults.rows has those of the package.

`calls` lets each driver call of an entry point fail in turn, with each code of CODES,
until the entry point succeeds. `allocations` does the same with Python's allocations.
Each row gives a line of JSON: its name, the number of failed calls or allocations, and
the errors found. The sweeps need the software device with two devices. `allocations`
also needs the module that nomemory.c makes.
"""

import contextlib
import gc
import importlib
import json
import os
import re
import sys
import warnings

import pycuda
import pycuda.driver as drv
from pycuda import _driver
from support.emulator import Driver

from .row import ROWS, World

#: One code for each class of exceptions. None of them breaks a context for good.
CODES = {
    1: drv.LogicError,
    2: drv.MemoryError,
    100: drv.RuntimeError,
    701: drv.LaunchError,
    999: drv.Error,
}
if "FAULTS_CODES" in os.environ:  # fewer codes, where the class does not matter
    CODES = {int(code): CODES[int(code)] for code in os.environ["FAULTS_CODES"].split()}
OUT_OF_MEMORY = 2

#: Driver calls that the package retries after a garbage collection.
TRIED_AGAIN = (
    *("cuMemAlloc", "cuMemAllocPitch", "cuMemAllocManaged", "cuMemHostAlloc"),
    *("cuMemAllocAsync", "cuMemAllocFromPoolAsync", "cuMemCreate"),
)

#: Also retried, so that no context stays on the stack by mistake.
POPPED_AGAIN = "cuCtxPopCurrent"

#: A part of the path of the extension module.
EXTENSION = "/_driver."

#: More failures than any entry point has calls or allocations. Stop then.
MOST = 20000


class Device(Driver):
    """The library that pycuda uses."""

    def __init__(self):
        folder = os.path.dirname(pycuda.__file__)
        super().__init__(os.path.join(folder, "libpycuda_emulator.so"))

    def fail(self, number, code):
        """Let the call with this number, counted from now, fail, whatever it is."""
        assert self.lib.emu_fault_set(b"*", number, code) == 0

    def fired(self):
        return self.lib.emu_fault_fired()


def stack_handles():
    """Return the contexts on this thread's stack, top first, without a change."""
    found = []
    while (context := drv.Context.get_current()) is not None:
        drv.Context.pop()
        found.append(context)
    for context in reversed(found):
        context.push()
    return [context.handle for context in found]


def open_files():
    """Return the names of all open files, but those of the software device.

    Its files of shared memory stay open for other allocations in them.
    """
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # the one that lists the folder
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return sorted(name for name in found if "pycuda-software-device" not in name)


class State:
    """The state that a failed entry point must not change."""

    def __init__(self, device):
        gc.collect()
        self.stack = stack_handles()
        self.live = device.live()
        self.counts = _driver._live_counts()
        self.free = drv.mem_get_info()[0] if self.stack else None
        self.foreign = device.lib.emu_foreign_free_count()
        self.abandoned = device.lib.emu_abandoned_count()
        self.files = open_files()

    def differences(self, before):
        names = ("stack", "live", "counts", "free", "foreign", "abandoned", "files")
        return [
            f"{name}: {getattr(before, name)} became {getattr(self, name)}"
            for name in names
            if getattr(self, name) != getattr(before, name)
        ]

    def lost(self, before):
        """Count leaked handles: live ones, and those reclaimed with their context."""
        alive = sum(self.live.values()) - sum(before.live.values())
        return alive + self.abandoned - before.abandoned


class Attempt:
    """One run of a row's call in its own world, with one failure."""

    def __init__(self, device, row, arm, disarm):
        self.error, self.handled, result = None, None, None
        self.unraisable = []
        self.start = State(device)
        world = World()
        with warnings.catch_warnings(record=True) as self.warned:
            warnings.simplefilter("always")
            hook, sys.unraisablehook = sys.unraisablehook, self.note_unraisable
            call = row.make(world)
            self.before = State(device)
            arm()
            try:
                result = call()
            except BaseException as error:
                self.error = error
            finally:
                disarm()
                sys.unraisablehook = hook
            self.let_go_of_frames()
            del result
            self.after = State(device)
            if self.error is None and row.undo:
                row.undo(world)
            del call
            self.restore_stack(world)
            world.close()
        self.end = State(device)

    def note_unraisable(self, unraisable):
        self.unraisable.append(repr(unraisable.exc_value))

    def let_go_of_frames(self):
        """Clear the frames of a traceback, whose objects would count as leaked."""
        error = self.error
        if error is not None and error.__context__ is not None:
            self.handled = repr(error.__context__)
        while error is not None:
            error.__traceback__ = None
            following, error.__context__ = error.__context__, None
            error.__cause__ = None
            error = following

    def restore_stack(self, world):
        """Pop contexts that the call or its preparation pushed, or push them back."""
        while (stream := drv.Stream.get_current()) is not None:
            stream.__exit__(None, None, None)
        while (top := drv.Context.get_current()) is not None and top != world.context:
            drv.Context.pop()
        if top is None:
            world.context.push()


class Sweep:
    """The attempts of one row, their number, and the errors found."""

    def __init__(self, device, row):
        self.device, self.row = device, row
        self.count = 0
        self.problems = []

    def wrong(self, where, what):
        self.problems.append(f"{where}: {what}")

    def unchanged(self, where, attempt, reports=0, changes=False):
        """Check that a failure changed nothing, and that nothing is left at the end."""
        lost = attempt.end.lost(attempt.start)
        if lost > reports:
            self.wrong(where, f"{lost} handles are lost, {reports} were reported")
        if reports:
            return
        if attempt.error is not None and not changes:
            for difference in attempt.after.differences(attempt.before):
                self.wrong(where, f"after the failure, {difference}")
        for difference in attempt.end.differences(attempt.start):
            self.wrong(where, f"at the end, {difference}")

    def prepare(self, attempts):
        """Let the package make what it makes at first use only.

        Each attempt collects garbage four times. Exclude what exists before the first.
        """
        for _ in range(attempts):
            Attempt(self.device, self.row, lambda: None, lambda: None)
        gc.collect()
        gc.freeze()

    # -- driver calls

    def failing(self, numbers, code):
        """Make an attempt with failing calls. Set ``failed`` to their names."""

        def arm():
            self.device.lib.emu_call_log_clear()
            for number in numbers:
                self.device.fail(number, code)

        def disarm():
            self.device.lib.emu_fault_clear()
            self.log = self.device.log()

        fired = self.device.fired()
        attempt = Attempt(self.device, self.row, arm, disarm)
        reached = [number for number in numbers if number <= len(self.log)]
        self.failed = [self.log[number - 1][0] for number in reached]
        assert len(reached) == self.device.fired() - fired
        return attempt

    def calls(self):
        self.prepare(1)
        for code in CODES:
            number = 0
            while number < MOST:
                number += 1
                attempt = self.failing([number], code)
                if not self.failed:
                    self.succeeded(f"with nothing to fail ({code})", attempt)
                    break
                self.judge(attempt, number, code)
            self.count = max(self.count, number - 1)

    def succeeded(self, where, attempt):
        if attempt.error is not None:
            self.wrong(where, repr(attempt.error))
        self.unchanged(where, attempt)

    def judge(self, attempt, number, code):
        name = self.failed[-1]
        where = f"call {number} ({name}) failing with {code}"
        reports = self.reports(attempt, name)
        if name in self.row.absorbs or (name, code) in self.row.absorbs:
            pass
        elif attempt.error is not None:
            self.judge_error(where, attempt.error, name, code)
            if attempt.handled:
                self.wrong(where, f"raised while handling {attempt.handled}")
        elif reports or name == POPPED_AGAIN:
            pass
        elif code == OUT_OF_MEMORY and name in TRIED_AGAIN:
            self.unchanged(where, attempt)
            attempt = self.failing([number, number + 1], code)
            where += ", and again"
            if attempt.error is None:
                self.wrong(where, "no exception")
            else:
                self.judge_error(where, attempt.error, name, code)
        else:
            self.wrong(where, "neither an exception nor a warning")
        self.unchanged(where, attempt, reports, name in self.row.changes)

    def judge_error(self, where, error, name, code):
        if type(error) is not CODES[code]:
            self.wrong(where, f"the exception is {error!r}")
        elif (error.code, error.routine) != (code, name):
            self.wrong(where, f"it speaks of {error.code} in {error.routine}: {error}")

    def reports(self, attempt, name):
        """Count the reports of failed clean-ups. One must name the failed call."""
        said = [
            str(warning.message)
            for warning in attempt.warned
            if issubclass(warning.category, drv.PyCUDAWarning)
        ]
        if said and not any(name in text for text in said):
            self.wrong(name, f"the warnings are: {said}")
        return len(said) + len(attempt.unraisable)

    # -- allocations

    def allocations(self):
        """Let each allocation fail, first alone, then with the first driver call."""
        if self.row.no_allocations:
            return
        self.prepare(2)
        self.failing_allocations("")
        self.failing([1], 1)
        if self.failed:
            self.failing_allocations(f"{self.failed[0]} failing, ", CODES[1])

    def lost_by_the_interpreter(self, error):
        """Whether CPython lost the exception, or raised another in its place."""
        import faults_nomemory as nomemory

        return (
            type(error) in (SystemError, RuntimeError)
            and re.search(
                "without (setting an exception|exception set)"
                "|NULL object passed to Py_BuildValue|can't allocate (read )?lock",
                str(error),
            )
            and not nomemory.within(EXTENSION)
        )

    def failing_allocations(self, also, *kinds):
        import faults_nomemory as nomemory

        def disarm():
            nomemory.disarm()
            self.device.lib.emu_fault_clear()

        library = EXTENSION if self.row.own_allocations else ""
        for number in range(1, MOST):

            def arm(number=number):
                if also:
                    self.device.fail(1, 1)
                gc.collect()  # empties the interpreter's lists of free objects
                nomemory.arm(number, library)

            attempt = Attempt(self.device, self.row, arm, disarm)
            if nomemory.spared():
                continue
            if not nomemory.fired():
                break
            self.count += 1
            where = f"{also}allocation {number}"
            reports = self.reports(attempt, "")
            if attempt.error is not None and not (
                type(attempt.error) in (MemoryError, *kinds)
                or self.lost_by_the_interpreter(attempt.error)
            ):
                self.wrong(where, f"the exception is {attempt.error!r}")
            changes = "an allocation" in self.row.changes
            self.unchanged(where, attempt, reports, changes)
        if not also:
            self.succeeded("with nothing to fail", attempt)


def run(kind, names):
    os.environ.setdefault("PYCUDA_EMULATOR_DEVICES", "2")
    drv.init()
    device = Device()
    gc.collect()
    gc.freeze()
    for name in names or list(ROWS):
        sweep = Sweep(device, ROWS[name])
        getattr(sweep, kind)()
        line = {"name": name, "count": sweep.count, "problems": sweep.problems}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    gc.disable()
    importlib.import_module(sys.argv[2])
    run(sys.argv[1], sys.argv[3:])
