"""Run cases on a driver library, in child processes.

A kernel that faults breaks its context, and sometimes its process. So the cases run in
a child (`python -m device.conformance.runner LIBRARY`, names on stdin), which makes a
new context after each error. If a child dies or hangs, the parent starts another one,
which continues with the next case.
"""

import json
import os
import select
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from support import rawdriver
from support.rawdriver import Driver, DriverError

from . import suite
from .case import HANGS, Array, Texture

TEST = Path(__file__).resolve().parents[2]

#: Seconds without output after which the child is considered to hang.
PATIENCE = 30

#: The same for a case that may hang. A hang is then the answer.
BRIEF_PATIENCE = 4

#: Seconds in which a child must exit after its last output.
FAREWELL = 5


# -- in the child ---------------------------------------------------------------------


class Run:
    """One launch of a case, and the objects to release after it."""

    def __init__(self, driver, case):
        self.driver, self.case = driver, case
        self.release = []  # (method, argument), released in reverse order
        self.kept = []  # (data, how to read it)

    def allocate(self, data):
        address = self.driver.allocate(data.nbytes)
        self.release.append((self.driver.free, address))
        self.driver.upload(address, data)
        return address

    def array(self, parameter):
        address = self.allocate(parameter.data)
        if parameter.is_output:
            self.kept.append(
                (parameter.data, lambda d: self.driver.download(d, address))
            )
        return address

    def texture(self, settings):
        driver, data = self.driver, settings["data"]
        width, height, depth = settings["shape"]
        kind, channels = settings["format"], settings["channels"]
        if settings["resource"] == "array":
            array = driver.create_array(
                settings["shape"], kind, channels, settings["flags"]
            )
            self.release.append((driver.destroy_array, array))
            extent = max(height, 1), max(depth, 1)
            driver.copy_array(array, data, *extent, to_array=True)
            resource = rawdriver.array_resource(array)
            if settings.get("read_back"):
                self.kept.append(
                    (
                        data,
                        lambda d: driver.copy_array(array, d, *extent, to_array=False),
                    )
                )
        elif settings["resource"] == "linear":
            address = self.allocate(data)
            resource = rawdriver.linear_resource(address, kind, channels, data.nbytes)
        else:
            pitch = 512
            padded = np.zeros((height, pitch), np.uint8)
            row = data.nbytes // height
            padded[:, :row] = data.view(np.uint8).reshape(height, row)
            address = self.allocate(padded)
            resource = rawdriver.pitched_resource(
                address, kind, channels, width, height, pitch
            )
        if settings.get("surface"):
            handle = driver.create_surface(resource)
            self.release.append((driver.destroy_surface, handle))
            return handle
        flags = rawdriver.READ_AS_INTEGER if settings.get("as_integer") else 0
        flags |= rawdriver.NORMALISED if settings.get("normalised") else 0
        handle = driver.create_texture(
            resource,
            rawdriver.texture_settings(settings["address"], settings["filter"], flags),
        )
        self.release.append((driver.destroy_texture, handle))
        return handle

    def parameter(self, parameter):
        if isinstance(parameter, Array):
            return self.array(parameter).to_bytes(8, "little")
        if isinstance(parameter, Texture):
            return self.texture(parameter.settings).to_bytes(8, "little")
        return parameter

    def answer(self):
        """Launch the kernel and return the bytes of all outputs."""
        case, driver = self.case, self.driver
        module = driver.load_module(case.module())
        self.release.append((driver.unload_module, module))
        function = driver.function(module, case.entry)
        parameters = [self.parameter(p) for p in case.parameters]
        try:
            driver.launch(function, case.grid, case.block, parameters, case.shared)
            driver.synchronize()
        except DriverError as error:
            if case.fails or case.ends:
                raise Failed(error.code) from None
            raise
        if case.fails:
            raise Failed(0)
        parts = [status(0)] if case.ends else []
        for data, read in self.kept:
            got = np.empty_like(data)
            read(got)
            parts.append(got.tobytes())
        return b"".join(parts)

    def finish(self):
        for method, argument in reversed(self.release):
            method(argument)


def status(code):
    """Return the beginning of an answer, which tells how the launch ended."""
    return code.to_bytes(4, "little")


class Failed(Exception):
    """A launch failed and its code is the answer."""

    def __init__(self, code):
        super().__init__(code)
        self.code = status(code)


class Worker:
    """Run named cases. Write a line of JSON and the bytes of the answer for each."""

    def __init__(self, library, out):
        self.driver = Driver(library)
        self.out = out
        self.context = self.driver.create_context()

    def say(self, message, payload=b""):
        message["size"] = len(payload)
        self.out.write(json.dumps(message).encode() + b"\n" + payload)
        self.out.flush()

    def run(self, name):
        self.say({"start": name})
        run = Run(self.driver, suite.cases()[name])
        try:
            answer = run.answer()
            run.finish()
        except Failed as failed:
            self.say({"name": name}, failed.code)
            self.renew()
        except DriverError as error:
            self.say({"name": name, "error": str(error)})
            self.renew()
        else:
            self.say({"name": name}, answer)

    def renew(self):
        """Replace the context, which an error may have broken, with all its objects."""
        self.driver.destroy_context(self.context)
        self.context = self.driver.create_context()

    def loop(self, names):
        driver = self.driver
        self.say(
            {
                "device": driver.device_name(),
                "driver": driver.version(),
                "capability": driver.capability(),
            }
        )
        for name in names:
            self.run(name)
        driver.destroy_context(self.context)
        self.say({"done": True})


def main():
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # keep the output of libraries out of the answers
    Worker(sys.argv[1], out).loop(json.load(sys.stdin))


# -- in the parent --------------------------------------------------------------------


class Child:
    """A child process and its output, with a limit on the time between messages."""

    def __init__(self, command, names, environment):
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115  closed by end
        self.process = subprocess.Popen(
            command,
            cwd=TEST,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            bufsize=0,
        )
        self.buffer = b""
        self.patience = PATIENCE
        self.silent = False  # no output for that long
        with self.process.stdin as pipe:
            pipe.write(json.dumps(names).encode())

    def _more(self):
        """Read some output. Return False at its end or after too long a silence."""
        ready, _, _ = select.select([self.process.stdout], [], [], self.patience)
        self.silent = not ready
        block = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
        self.buffer += block
        return bool(block)

    def message(self):
        """Return the next message and its payload, or None after the last one."""
        while b"\n" not in self.buffer:
            if not self._more():
                return None
        line, _, self.buffer = self.buffer.partition(b"\n")
        message = json.loads(line)
        while len(self.buffer) < message["size"]:
            if not self._more():
                return None
        size = message["size"]
        payload, self.buffer = self.buffer[:size], self.buffer[size:]
        return message, payload

    def end(self):
        """Wait for the end of the child. Describe how it ended."""
        self.process.stdout.close()
        try:
            code = self.process.wait(0 if self.silent else FAREWELL)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            self.errors.close()
            return f"no answer within {self.patience} seconds"
        with self.errors as file:
            file.seek(0)
            said = file.read().decode(errors="replace").strip()
        how = f"signal {-code}" if code < 0 else f"status {code}"
        return f"the process ended with {how}: {said[-2000:]}"


class Results:
    """answers: bytes by name. errors: messages by name. about: the device."""

    def __init__(self):
        self.answers, self.errors, self.about = {}, {}, {}


def may_hang(name):
    case = suite.cases().get(name)
    return case is not None and case.ends


def run_cases(library, names, environment=None, command=None):
    """Run the named cases on a library. Each name gets an answer or an error.

    The optional command runs in place of this module.
    """
    module = "device.conformance.runner"
    command = command or [sys.executable, "-m", module, str(library)]
    results, waiting, barren = Results(), list(names), 0
    while waiting:
        child = Child(command, waiting, environment or {})
        current, finished, count = None, False, 0
        while (said := child.message()) is not None:
            message, payload = said
            if "start" in message:
                current = message["start"]
                child.patience = BRIEF_PATIENCE if may_hang(current) else PATIENCE
            elif "name" in message:
                current = None
                count += 1
                if "error" in message:
                    results.errors[message["name"]] = message["error"]
                else:
                    results.answers[message["name"]] = payload
            elif "device" in message:
                results.about = message
            elif "done" in message:
                finished = True
        why = child.end()
        if current is not None and child.silent and may_hang(current):
            results.answers[current] = status(HANGS)
        elif current is not None:
            results.errors[current] = why
        waiting = [
            n for n in waiting if n not in results.answers and n not in results.errors
        ]
        barren = 0 if count or current else barren + 1
        if waiting and (finished or barren == 2):
            for name in waiting:
                results.errors[name] = why
            break
    return results


if __name__ == "__main__":
    main()
