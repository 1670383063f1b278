"""The cost of a call in addition to the bare driver: launches, copies, modules, import.

    python bench/bench_launch.py [--quick] [--json FILE] [--strict]

Each case is measured in several rounds. In a round the bare driver (floor.c), this
package and each installed peer run one after the other. The order alternates, so that
drift of the machine does not favour any of them. The cost over the floor is the median
over the rounds of the difference within a round. Times are nanoseconds per call as the
caller sees them: launches and records are only enqueued.

Columns: floor (median), ours (minimum and median), the difference to the floor, the
bound that this package sets itself, the verdict, and the medians of the peers.
"""

import argparse
import json
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import common
from common import Bound, Subject, SubjectError, number

PEERS = ["cupy", "cuda.core", "numba", "torch"]
MODULES = {
    "pycuda": "pycuda.driver",
    "cupy": "cupy",
    "cuda.core": "cuda.core",
    "numba": "numba.cuda",
    "torch": "torch",
}


@dataclass(frozen=True)
class Case:
    """One row: its name in the subjects, title, cases of the floor, calls per batch.

    If the floor has several cases, the cheapest one counts.
    """

    name: str
    title: str
    floor: tuple
    calls: int
    bound: Bound | None = None


LAUNCH_4 = ("launch_params_4", "launch_extra_4")
LAUNCH_0 = ("launch_params_0", "launch_extra_0")
STREAM_4 = ("launch_stream_4",)
LOAD = ("module_load",)

CASES = [
    Case("launch_4", "launch, 4 arguments", LAUNCH_4, 500, Bound(plus=350)),
    Case("launch_4_scalar", "launch, np.int32(n) made in it", LAUNCH_4, 500),
    Case("launch_stream_4", "launch, 4 arguments, stream", STREAM_4, 500),
    Case("launch_0", "launch, no arguments", LAUNCH_0, 500),
    Case("launch_cai", "launch, array interface", LAUNCH_4, 500),
    Case("launch_gpuarray", "launch, GPUArrays", LAUNCH_4, 500, Bound(plus=450)),
    Case("prepared_call", "prepared call", LAUNCH_4, 500, Bound(plus=200)),
    Case(
        "prepared_async_call", "prepared call, stream", STREAM_4, 500, Bound(plus=200)
    ),
    Case("in_in_out", "In/In/Out call, 4 kB", ("in_in_out",), 50, Bound(times=1.1)),
    Case("alloc_free", "mem_alloc + free, 4 kB", ("alloc_free",), 200, Bound(plus=150)),
    Case("pool_alloc_free", "pool allocate + free, 4 kB", (), 1000, Bound(at_most=500)),
    Case("htod", "memcpy_htod, 4 kB", ("htod",), 200),
    Case("dtoh", "memcpy_dtoh, 4 kB", ("dtoh",), 200),
    Case("to_gpu", "to_device + free, 4 kB", ("to_gpu",), 200),
    Case("get", "from_device, 4 kB", ("get",), 200),
    Case("event_record", "event record", ("event_record",), 500),
    Case("stream_query", "stream query", ("stream_query",), 1000),
    Case("ctx_get_current", "Context.get_current", ("ctx_get_current",), 1000),
    Case("ctx_push_pop", "context push + pop", ("ctx_push_pop",), 1000),
    Case("module_load", "module_from_buffer + unload", LOAD, 5),
    Case("source_module", "SourceModule, cached", LOAD, 5, Bound(at_most=200_000)),
]
IMPORT = Case(
    "import", "import over numpy, no cuInit", (), 1, Bound(at_most=30_000_000)
)


# -- starting --------------------------------------------------------------------------


def child_env(directory):
    """Return the environment of the subjects, with a compile cache for this run."""
    env = dict(os.environ)
    env.pop("PYCUDA_DISABLE_CACHE", None)
    cache = Path(directory) / "cache"
    cache.mkdir(exist_ok=True)
    env["PYCUDA_CACHE_DIR"] = str(cache)
    # Python writes its bytecode once, as in an installation, whatever is set.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(Path(directory) / "bytecode")
    return env


def foreign_env(env):
    """Return an environment without references to this interpreter's packages."""
    return {k: v for k, v in env.items() if k not in ("PYTHONPATH", "PYTHONHOME")}


def start_floor(directory, env):
    image = Path(directory) / "image"
    script = str(common.HERE / "subjects.py")
    command = [sys.executable, script, "pycuda", "--image", str(image)]
    done = common.run_quietly(command, env)
    if done.returncode != 0:
        why = common.last_line(done.stderr)
        raise SubjectError(f"the kernels were not compiled: {why}")
    library = json.loads(done.stdout)["library"]
    if library:
        env = {"FLOOR_LIBCUDA": library, **env}
    program = common.build_floor(directory)
    return Subject("floor", [str(program), str(image), "--ask"], env)


def start_all(directory, others, with_peers):
    """Start all; return floor, ours, {name: peer} and {name: why it is missing}."""
    env = child_env(directory)
    script = str(common.HERE / "subjects.py")
    floor = start_floor(directory, env)
    try:
        ours = Subject("pycuda", [sys.executable, script, "pycuda", "--serve"], env)
    except SubjectError:
        floor.close()
        raise
    wanted = {n: (sys.executable, n, env) for n in PEERS if with_peers}
    for name, python in others.items():
        wanted[name] = (python, "pycuda", foreign_env(env))
    peers, missing = {}, {}
    for name, (python, package, peer_env) in wanted.items():
        try:
            peers[name] = Subject(name, [python, script, package, "--serve"], peer_env)
        except (SubjectError, OSError) as e:
            missing[name] = str(e)
    return floor, ours, peers, missing


# -- measuring -------------------------------------------------------------------------


def ask_rounds(requests, rounds, batches, excused=()):
    """Return {key: rounds} for {key: (subject, case, calls)}, in alternating order.

    A subject whose key is in ``excused`` may fail. It is then left out, and the second
    result gives the reason.
    """
    samples = {key: [] for key in requests}
    failed = {}
    for turn in range(rounds):
        keys = list(requests) if turn % 2 == 0 else list(requests)[::-1]
        for key in keys:
            if key in failed:
                continue
            subject, case, calls = requests[key]
            try:
                samples[key].append(subject.ask(case, batches, calls))
            except SubjectError as e:
                if key not in excused:
                    raise
                failed[key] = str(e)
    return {k: v for k, v in samples.items() if k not in failed}, failed


def flat(rounds):
    return [ns for batches in rounds for ns in batches]


def measure_case(case, floor, ours, peers, rounds, batches):
    """Return the row of one case, and {peer: reason} for the peers that failed."""
    requests = {("floor", name): (floor, name, case.calls) for name in case.floor}
    requests["ours", case.name] = (ours, case.name, case.calls)
    for name, peer in peers.items():
        if case.name in peer.header["cases"]:
            requests["peer", name] = (peer, case.name, case.calls)
    excused = [key for key in requests if key[0] == "peer"]
    samples, failed = ask_rounds(requests, rounds, batches, excused)
    floors = [samples["floor", name] for name in case.floor]
    peer_rounds = {key[1]: v for key, v in samples.items() if key[0] == "peer"}
    row = make_row(case, floors, samples["ours", case.name], peer_rounds)
    return row, {key[1]: why for key, why in failed.items()}


def make_row(case, floors, ours, peer_rounds):
    row = {
        "case": case.name,
        "title": case.title,
        "calls": case.calls,
        "ours": common.summary(flat(ours)),
        "floor": None,
        "over": None,
        "bound": str(case.bound) if case.bound else None,
        "verdict": None,
        "peers": {n: common.summary(flat(r)) for n, r in peer_rounds.items()},
    }
    lowest = None
    if floors:
        lowest = common.lowest_rounds(*floors)
        row["floor"] = common.summary(flat(lowest))
        row["over"] = common.over_floor(ours, lowest)
    if case.bound:
        row["verdict"] = "pass" if case.bound.holds(ours, lowest) else "MISS"
    return row


def measure_import(others, peers, env, rounds):
    """Measure the import in a fresh interpreter for each round and subject."""
    subjects = {"pycuda": (sys.executable, MODULES["pycuda"], env)}
    for name in peers:
        python = others.get(name, sys.executable)
        module = MODULES["pycuda"] if name in others else MODULES[name]
        subjects[name] = (python, module, foreign_env(env) if name in others else env)
    samples = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, (python, module, its_env) in subjects.items():
            samples[name].append([common.import_cost(python, module, its_env)])
    return make_row(IMPORT, [], samples.pop("pycuda"), samples)


def less_load(rows):
    """Return the cost of SourceModule without loading the image, from two rows."""
    by_name = {row["case"]: row for row in rows}
    if not {"source_module", "module_load"} <= by_name.keys():
        return None
    whole, load = by_name["source_module"]["ours"], by_name["module_load"]["ours"]
    return whole["median"] - load["median"]


# -- reporting -------------------------------------------------------------------------


def cells(row, peers):
    floor, ours = row["floor"] or {}, row["ours"]
    line = [row["title"], number(floor.get("median")), number(ours["min"])]
    line += [number(ours["median"]), number(row["over"])]
    line += [row["bound"] or "-", row["verdict"] or "-"]
    return line + [number(row["peers"].get(p, {}).get("median")) for p in peers]


def report(result):
    """Return the whole result as text."""
    env, peers = result["environment"], sorted(result["peers"])
    module = f", kernel module {env['kernel_module']}" if env["kernel_module"] else ""
    lines = [
        f"{result['device']}, driver for CUDA {result['driver']}{module}",
        f"{env['python']}, {env['system']}, {env['cpus']} CPUs, {env['date']}",
        f"{result['rounds']} rounds of {result['batches']} batches; ns per call",
        "",
    ]
    head = ["case", "floor", "min", "median", "over", "bound", "verdict", *peers]
    lines.append(common.table(head, [cells(row, peers) for row in result["rows"]]))
    lines.append("")
    if result["source_module_less_load"] is not None:
        less = number(result["source_module_less_load"])
        lines.append(f"SourceModule, cached, less module_from_buffer: {less}")
    versions = [f"{name} {result['peers'][name]}" for name in peers]
    lines.append(f"pycuda {result['version']}; peers: {', '.join(versions) or 'none'}")
    lines += [f"{name}: {why}" for name, why in sorted(result["missing"].items())]
    return "\n".join(lines)


def other(text):
    name, sep, python = text.partition("=")
    if not sep or not name or not python:
        raise argparse.ArgumentTypeError("takes NAME=PYTHON")
    return name, python


def run(args, directory):
    others = dict(args.other)
    rounds, batches = (2, 3) if args.quick else (args.rounds, args.batches)
    floor, ours, peers, missing = start_all(directory, others, not args.no_peers)
    rows = []
    try:
        for case in CASES:
            if case.name not in ours.header["cases"]:
                missing[case.title] = "not in this build"
                continue
            try:
                row, failed = measure_case(case, floor, ours, peers, rounds, batches)
            except SubjectError as e:
                missing[case.title] = str(e)
                continue
            rows.append(row)
            missing.update({f"{peer}, {case.title}": e for peer, e in failed.items()})
    finally:
        for subject in (floor, ours, *peers.values()):
            subject.close()
    rows.append(measure_import(others, peers, child_env(directory), rounds))
    return {
        "environment": common.environment(),
        "device": floor.header["device"],
        "driver": common.cuda_version(floor.header["driver"]),
        "init_ns": floor.header["init_ns"],
        "version": ours.header["version"],
        "rounds": rounds,
        "batches": batches,
        "rows": rows,
        "source_module_less_load": less_load(rows),
        "peers": {name: peer.header["version"] for name, peer in peers.items()},
        "missing": missing,
    }


def parser():
    p = common.parser(__doc__, "2 rounds of 3 batches: a smoke test", strict=True)
    p.add_argument("--batches", type=int, default=20, help="per round (default 20)")
    p.add_argument("--no-peers", action="store_true", help="only the floor and pycuda")
    p.add_argument(
        "--other",
        type=other,
        action="append",
        default=[],
        metavar="NAME=PYTHON",
        help="also measure the pycuda of another interpreter, as a peer of that name",
    )
    return p


def main(argv=None):
    args = parser().parse_args(argv)
    if args.rounds < 1 or args.batches < 1:
        parser().error("--rounds and --batches take positive numbers")
    with tempfile.TemporaryDirectory(prefix="pycuda-bench-") as directory:
        result = common.measured(run, args, directory)
    missed = [row for row in result["rows"] if row["verdict"] == "MISS"]
    return common.conclude(args, result, report(result), missed)


if __name__ == "__main__":
    sys.exit(main())
