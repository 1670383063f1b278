#!/usr/bin/env python3
"""Run every kernel of kernels/ on a GPU and on the software device, and compare.

    python test/device/differential.py                 both devices, bit for bit
    python test/device/differential.py --record FILE   write what this GPU computes
    python test/device/differential.py --only emulator --against FILE
                                                one device against a recording

Each device has its own child process. All children load the same PTX text. If a child
dies or hangs in a case, a new one continues with the next case. Prints a line for each
case and exits with 1 if a result fails, differs, or does not match its NumPy model.
"""

import argparse
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]

import numpy as np  # noqa: E402

from device.kernels import golden  # noqa: E402

#: PYCUDA_DRIVER of each device.
DRIVERS = ("cuda", "emulator")
#: Seconds for one case, compilation included.
TIME_LIMIT = 120
#: Environment of the software device for kernels of newer hardware.
ENVIRONMENT = {"emulator": {"PYCUDA_EMULATOR_CAPABILITY": "9.0"}}


# -- a child: all cases on one device --------------------------------------------------


def serve(folder, names):
    """Run cases. Write the results of each to a file, and a line of JSON about it."""
    lines = os.fdopen(os.dup(1), "w", buffering=1)  # a printing case redirects 1
    os.dup2(2, 1)

    import pycuda.driver as drv
    from device.kernels import device
    from device.kernels.cases import CASES

    def say(**message):
        print(json.dumps(message), file=lines)

    drv.init()
    context = None
    gpu = drv.Device(0)
    say(device=gpu.name(), driver=drv.get_driver_version())
    for name in names:
        say(start=name)
        case = CASES[name]
        try:
            ptx = device.ptx_of(case)
            plan = case.plan()
            if context is None:
                context = gpu.make_context()
            began = time.perf_counter()
            outputs = device.run(case, plan, ptx)
            seconds = time.perf_counter() - began
        except Exception as error:
            say(case=name, error=f"{type(error).__name__}: {error}"[:2000])
            if context is not None:  # the context may be broken for good
                with contextlib.suppress(drv.Error):
                    context.pop()
                with contextlib.suppress(drv.Error):
                    context.detach()
                context = None
            continue
        np.savez(Path(folder, f"{name}.npz"), **outputs)
        models = {
            output: said
            for output, wanted in plan.expect.items()
            if (said := golden.check_model(outputs[output], wanted))
        }
        say(
            case=name,
            seconds=seconds,
            models=models,
            approx=plan.approx,
            program=device.program_hash(ptx),
            inputs=device.hash_of_inputs(plan),
        )
    if context is not None:
        context.pop()
        context.detach()
    say(done=True)


# -- the parent ------------------------------------------------------------------------


class Child:
    """A process that runs serve(). Its lines have a time limit."""

    def __init__(self, driver, folder, names):
        environment = {**os.environ, "PYCUDA_DRIVER": driver}
        for name, value in ENVIRONMENT.get(driver, {}).items():
            environment.setdefault(name, value)
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve", folder, *names],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
        )
        self.lines, self.said = queue.Queue(), []
        self.readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._listen, daemon=True),
        ]
        for reader in self.readers:
            reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def _listen(self):
        for line in self.process.stderr:
            self.said.append(line.decode(errors="replace"))

    def next(self):
        """Return the next message, or None if the process ended or takes too long."""
        try:
            return self.lines.get(timeout=TIME_LIMIT)
        except queue.Empty:
            return None

    def end(self):
        """End the process. Return a description if it failed."""
        if self.process.poll() is None and self.lines.empty():
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                return f"no answer for {TIME_LIMIT} s"
        for reader in self.readers:
            reader.join(timeout=5)
        tail = "".join(self.said[-3:]).strip()
        return f"the process ended with {self.process.wait()}: {tail}"


def run_device(driver, names, folder):
    """Run cases in child processes. Return the facts and {case: message}."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    facts, results, left = {}, {}, list(names)
    while left:
        child, running = Child(driver, folder, left), None
        while (message := child.next()) is not None and "done" not in message:
            if "start" in message:
                running = message["start"]
            elif "case" in message:
                results[message["case"]] = message
                left.remove(message["case"])
                running = None
            else:
                facts = message
        how = child.end()
        if message is not None:
            break
        if running is None:
            facts.setdefault("error", how)
            break
        results[running] = {"case": running, "error": how}
        left.remove(running)
    return facts, results


def outputs_of(folder, name):
    with np.load(Path(folder, f"{name}.npz")) as file:
        return {output: file[output] for output in file.files}


def errors_of(result):
    """Return the errors in one device's result, as sentences."""
    if result is None:
        return ["was not run"]
    if "error" in result:
        return [result["error"]]
    return [f"{output}: {said}" for output, said in result["models"].items()]


def tolerances(result):
    return {name: tuple(limits) for name, limits in result["approx"].items()}


def compare(first, second, folders, name):
    """Return sentences about the differences of two devices in one case."""
    a, b = (outputs_of(folder, name) for folder in folders)
    found = []
    if first["inputs"] != second["inputs"] or first["program"] != second["program"]:
        found.append("the devices were given different programs or inputs")
    for output in a:
        said = golden.difference(b[output], a[output], tolerances(first).get(output))
        if said:
            found.append(f"{output}: {said}")
    return found


def size_of(folder, name):
    path = Path(folder, f"{name}.npz")
    if not path.exists():
        return 0
    return sum(array.nbytes for array in outputs_of(folder, name).values())


def report(names, devices, runs, folders, against):
    """Print the table. Return the number of cases that failed."""
    wrong = 0
    head = " ".join(f"{f'{d}, s':>12}" for d in devices)
    print(f"{'case':32} {'bytes':>7} {'result':10} {head}")
    for name in names:
        results = [runs[d][1].get(name) for d in devices]
        said = []
        for device, result in zip(devices, results, strict=True):
            said += [f"{device}: {text}" for text in errors_of(result)]
        ran = [r for r in results if r is not None and "error" not in r]
        if len(ran) == len(devices) == 2:
            said += compare(*ran, folders, name)
        if against is not None and len(ran) == len(devices):
            entry, outputs = ran[0], outputs_of(folders[0], name)
            said += against.problems(
                name, entry["program"], entry["inputs"], outputs, tolerances(entry)
            )
        verdict = (
            "differs" if said else ("equal" if len(devices) == 2 or against else "ok")
        )
        if len(ran) < len(devices):
            verdict = "fails"
        wrong += bool(said)
        seconds = " ".join(
            f"{r['seconds']:12.4f}" if r and "seconds" in r else f"{'-':>12}"
            for r in results
        )
        print(f"{name:32} {size_of(folders[0], name):7} {verdict:10} {seconds}")
        for text in said:
            print(f"    {text}")
    print(f"{len(names)} cases, {wrong} not as they should be")
    return wrong


def parser():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("cases", nargs="*", help="names or parts of names; default: all")
    p.add_argument("--only", choices=DRIVERS, help="run one device alone")
    p.add_argument("--against", metavar="FILE", help="compare with a recording")
    p.add_argument("--record", metavar="FILE", help="write a recording of the GPU's")
    p.add_argument("--list", action="store_true", help="print the names of the cases")
    p.add_argument("--keep", metavar="FOLDER", help="leave all results there")
    return p


def chosen(words):
    from device.kernels.cases import CASES

    names = [n for n in CASES if not words or any(word in n for word in words)]
    if not names:
        parser().error("no case has such a name")
    return names


def write_recording(path, facts, results, folder):
    cases = {
        name: {**result, "outputs": outputs_of(folder, name)}
        for name, result in results.items()
        if "error" not in result
    }
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    golden.record(path, facts, cases)
    print(f"{path}: {len(cases)} cases, {Path(path).stat().st_size} bytes")


def main():
    if sys.argv[1:2] == ["--serve"]:
        return serve(sys.argv[2], sys.argv[3:])
    args = parser().parse_args()
    names = chosen(args.cases)
    if args.list:
        print("\n".join(names))
        return 0
    devices = [args.only] if args.only else list(DRIVERS)
    if args.record:
        devices = [args.only or "cuda"]
    against = golden.Recording(args.against) if args.against else None
    with contextlib.ExitStack() as stack:
        base = args.keep or stack.enter_context(tempfile.TemporaryDirectory())
        folders = [str(Path(base, d)) for d in devices]
        runs = {
            d: run_device(d, names, f) for d, f in zip(devices, folders, strict=True)
        }
        for d in devices:
            facts = runs[d][0]
            print(f"{d}: {facts.get('device', facts.get('error', 'no answer'))}")
        wrong = report(names, devices, runs, folders, against)
        if args.record:
            facts, results = runs[devices[0]]
            write_recording(args.record, facts, results, folders[0])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
