#!/usr/bin/env python3
"""Arrays: the time of many operations beside CuPy and PyTorch, at three sizes.

    python bench/bench_wide.py [--sizes N ...] [--topics NAME ...] [--only TEXT]
                               [--rounds N] [--ms MILLISECONDS] [--json PATH]
                               [--rst PATH]

The rows are in ``wide/``. All packages run in one process, in the primary context and
on the same memory. A batch of calls is enqueued and synchronised once. Each round times
one batch of each package. The table has the median time per call, and the columns:

host     the time in which this package enqueues a call, at the smallest size
ratio    the time of this package over that of the faster peer
copy     the bytes moved each second, over those that ``x.copy()`` moves at that size
         in this run; for rows that say how many bytes they move
verdict  "behind" if the ratio is over 1.03, or at the smallest size over 1;
         "differs" if the result is not that of CuPy (of PyTorch without CuPy)

The host compares results at the smallest size, unless that is over 2**22 elements.
"""

import statistics
import sys
import time
import traceback
from pathlib import Path

import common
import wide

SIZES = (2**14, 2**22, 2**28)
LARGE = 2**26  # elements from which unused memory is given back after each row
MOST_COMPARED = 2**22  # elements of the largest results that the host compares
MOST_BEHIND = 1.03
RANDOM = ("uniform", "normal")  # rows whose results differ


# -- packages --------------------------------------------------------------------------


class Ours:
    """This package, and the data of all packages."""

    def __init__(self):
        import numpy as np

        import pycuda
        import pycuda.autoprimaryctx
        import pycuda.driver as drv
        from pycuda import cumath, curandom, fft, gpuarray
        from pycuda.tools import DeviceMemoryPool

        self.version = pycuda.__version__
        self.device = drv.Context.get_device().name()
        self.synchronize = drv.Context.synchronize
        self.array = gpuarray.GPUArray
        self.pool = DeviceMemoryPool()
        self.names = {
            "ga": gpuarray,
            "cm": cumath,
            "fft": fft,
            "np": np,
            "allocate": self.pool.allocate,
            "generator": curandom.PhiloxRandomNumberGenerator(),
        }
        source = curandom.XORWOWRandomNumberGenerator()

        def uniform(count):
            out = gpuarray.empty(count, np.float32, self.pool.allocate)
            source.fill_uniform(out)
            return out

        self.makers = {"uniform": uniform, "np": np, "ga": gpuarray}

    def make(self, expression, size, known):
        """Make an array of the data; ``known`` finds the data that it uses."""
        code = compile(expression, expression, "eval")
        names = {name: known(name) for name in code.co_names if known(name) is not None}
        side = 1 << ((size.bit_length() - 1) // 2)
        return eval(code, {**self.makers, **names, "n": size, "side": side})

    def take(self, array):
        return array

    def host(self, result):
        return result.get()

    def forget(self):
        self.pool.free_held()


class CuPy:
    def __init__(self):
        import cupy

        self.cupy = cupy
        self.version = cupy.__version__
        self.names = {"cp": cupy}

    def take(self, array):
        return self.cupy.asarray(array)

    def host(self, result):
        return self.cupy.asnumpy(result)

    def forget(self):
        self.cupy.get_default_memory_pool().free_all_blocks()


class Torch:
    def __init__(self):
        import torch

        if not torch.cuda.is_available():
            raise ImportError("PyTorch finds no GPU")
        torch.empty(1, device="cuda")
        self.torch = torch
        self.version = torch.__version__
        self.names = {"torch": torch, "F": torch.nn.functional}

    def take(self, array):
        return self.torch.from_dlpack(array)

    def host(self, result):
        return result.cpu().numpy()

    def forget(self):
        self.torch.cuda.empty_cache()


PEERS = {"cupy": CuPy, "torch": Torch}


class Data:
    """The data of one size, made when a row first uses them.

    ``topic`` is the topic of the row. Data of the topic hide common data of that name.
    """

    def __init__(self, ours, topics, size):
        self.ours, self.topics, self.size = ours, topics, size
        self.arrays = {}
        self.topic = None

    def get(self, name):
        """Return the array of a name, None if no data have it."""
        own = self.topics.get(self.topic, {})
        expression = own.get(name, wide.COMMON.get(name))
        if expression is None:
            return None
        key = (self.topic if name in own else None, name)
        if key not in self.arrays:
            self.arrays[key] = self.ours.make(expression, self.size, self.get)
        return self.arrays[key]

    def drop(self, topic):
        """Forget the arrays of a topic."""
        self.arrays = {k: v for k, v in self.arrays.items() if k[0] != topic}


def call_of(text, package, data, size):
    """Return a function that runs a row's text with the names of a package."""
    try:
        code = compile(text, text, "eval")
        body = f"def call():\n    return {text}\n"
    except SyntaxError:
        code = compile(text, text, "exec")
        body = f"def call():\n    {text}\n"
    names = {**package.names, "n": size, "side": 1 << ((size.bit_length() - 1) // 2)}
    for name in code.co_names:
        array = data.get(name)
        if array is not None:
            is_array = isinstance(array, data.ours.array)
            names[name] = package.take(array) if is_array else array
    if "+=" in text:  # an assignment makes the name local to the function
        target = text.split("+=")[0].strip()
        body = body.replace("call():", f"call({target}={target}):")
    exec(compile(body, text, "exec"), names)
    return names["call"]


# -- measuring -------------------------------------------------------------------------


def timed(call, calls, synchronize):
    """Return (seconds per call until the device is idle, seconds to enqueue a call)."""
    began = time.perf_counter()
    for _ in range(calls):
        call()
    enqueued = time.perf_counter()
    synchronize()
    return (time.perf_counter() - began) / calls, (enqueued - began) / calls


def calls_in(seconds, call, synchronize):
    """Return how many calls take that long, after the first calls of a function."""
    call()
    synchronize()
    once, _ = timed(call, 3, synchronize)
    return max(2, min(500, int(seconds / max(once, 1e-7))))


def compare(results, packages):
    """Return whether our result is that of a peer, None without one to compare.

    The peers differ from each other where a result depends on the last bit, so one
    that agrees is enough.
    """
    ours = results.pop("ours", None)
    if ours is None or not results:
        return None
    mine = [packages["ours"].host(part) for part in parts(ours)]
    return any(
        agree(mine, [packages[name].host(part) for part in parts(theirs)])
        for name, theirs in results.items()
    )


def agree(mine, other):
    """Return whether two lists of NumPy arrays have the same elements.

    A package may return the columns of the other's array as a tuple.
    """
    import numpy as np

    if len(mine) != len(other):
        return sum(a.size for a in mine) == sum(b.size for b in other)
    return all(
        a.size == b.size
        and np.allclose(a.ravel(), b.ravel(), rtol=2e-3, atol=1e-3, equal_nan=True)
        for a, b in zip(mine, other, strict=True)
    )


def parts(result):
    """Return the arrays of a result: those of a tuple or the only one."""
    return list(result) if isinstance(result, tuple | list) else [result]


def compared_size(sizes):
    """Return the size at which results are compared, None if all are too large."""
    least = min(sizes)
    return least if least <= MOST_COMPARED else None


def has_result(text):
    """Return whether the text of a row is an expression, not an assignment."""
    return "=" not in text.replace("==", "").split("(")[0]


def prepare(row, packages, data, size, args, record):
    """Return {package: (function, calls of a batch)} of the packages that run the row.

    The errors of the others are added to the record.
    """
    calls = {}
    wait = packages["ours"].synchronize
    for name, text in row.texts().items():
        if name not in packages:
            continue
        try:
            call = call_of(text, packages[name], data, size)
            calls[name] = call, calls_in(args.ms / 1000, call, wait)
        except Exception:
            record["errors"][name] = traceback.format_exc(limit=-1)
    return calls


def check_results(row, calls, packages, record):
    """Compare the results of the packages, and add the outcome to the record."""
    if row.name in RANDOM:
        return
    texts = row.texts()
    try:
        results = {
            name: call() for name, (call, _) in calls.items() if has_result(texts[name])
        }
        record["equal"] = compare(results, packages)
    except Exception:
        record["errors"]["comparison"] = traceback.format_exc(limit=-1)


def measure(row, packages, data, size, args, check):
    """Return the record of a row at one size."""
    record = {"name": row.name, "size": size, "seconds": {}, "errors": {}}
    calls = prepare(row, packages, data, size, args, record)
    if check:
        check_results(row, calls, packages, record)
    times = {name: [] for name in calls}
    hosts = []
    for turn in range(args.rounds):
        order = list(calls) if turn % 2 == 0 else list(calls)[::-1]
        for name in order:
            seconds, host = timed(*calls[name], packages["ours"].synchronize)
            times[name].append(seconds)
            if name == "ours":
                hosts.append(host)
    record["seconds"] = {name: statistics.median(t) for name, t in times.items()}
    if hosts:
        record["host"] = statistics.median(hosts)
    if row.bytes and "ours" in record["seconds"]:
        record["moved"] = row.bytes * size / record["seconds"]["ours"]
    return record


def judge(record, smallest, copies):
    """Add the ratio to the better peer, the share of a copy, and the verdict."""
    seconds = record["seconds"]
    peers = [seconds[name] for name in PEERS if name in seconds]
    record["verdict"] = ""
    if "ours" not in seconds:
        record["verdict"] = "fails"
        return
    if peers:
        ratio = record["ratio"] = seconds["ours"] / min(peers)
        most = 1.0 if record["size"] == smallest else MOST_BEHIND
        if ratio > most:
            record["verdict"] = "behind"
    if record.get("equal") is False:
        record["verdict"] = "differs"
    if "moved" in record and record["size"] in copies:
        record["copy"] = record["moved"] / copies[record["size"]]


def selected(args):
    """Return (rows with their topics, data of the topics)."""
    topics, data = wide.load(args.topics or wide.topics())
    rows = [
        (topic, row)
        for topic, rows in topics.items()
        for row in rows
        if args.only is None or args.only in row.name
    ]
    return rows, data


def start(args):
    """Return (packages, reasons why peers are missing)."""
    packages, missing = {"ours": Ours()}, {}
    for name in args.peers:
        try:
            packages[name] = PEERS[name]()
        except Exception as error:
            missing[name] = str(error).splitlines()[0] if str(error) else repr(error)
    return packages, missing


def run(args):
    packages, missing = start(args)
    rows, topics = selected(args)
    began = time.time()
    records, copies = [], {}
    copy = wide.Row("copy", ours="x.copy()", bytes=8)
    for size in args.sizes:
        data = Data(packages["ours"], topics, size)
        moved = measure(copy, packages, data, size, args, check=False)
        copies[size] = moved["moved"]
        for topic, row in rows:
            if row.most is not None and size > row.most:
                continue
            check = size == compared_size(args.sizes)
            if topic != data.topic:
                data.drop(data.topic)
            data.topic = topic
            try:
                record = measure(row, packages, data, size, args, check)
            except (Exception, KeyboardInterrupt):
                # A package may have ended the context. Report the rows until here.
                error = traceback.format_exc(limit=-1)
                missing[f"{row.name}, {size} elements, and what follows"] = error
                break
            record["topic"] = topic
            judge(record, min(args.sizes), copies)
            records.append(record)
            if size >= LARGE:
                for package in packages.values():
                    package.forget()
        if missing.keys() - PEERS.keys():
            break
        data.arrays.clear()
        for package in packages.values():
            package.forget()
    return {
        "environment": common.environment(),
        "device": packages["ours"].device,
        "versions": {name: package.version for name, package in packages.items()},
        "missing": missing,
        "seconds": time.time() - began,
        "copies": copies,
        "rows": records,
    }


# -- the report ------------------------------------------------------------------------


def cells(record, smallest):
    def micro(seconds):
        return "-" if seconds is None else f"{seconds * 1e6:,.1f}"

    seconds = record["seconds"]
    host = record.get("host") if record["size"] == smallest else None
    return [
        record["name"],
        *(micro(seconds.get(name)) for name in ("ours", *PEERS)),
        micro(host),
        f"{record['ratio']:.2f}" if "ratio" in record else "-",
        f"{record['copy']:.2f}" if "copy" in record else "-",
        record["verdict"],
    ]


def report(result):
    """Return the tables as text, one for each size."""
    smallest = min(record["size"] for record in result["rows"])
    text = [result["device"], str(result["versions"])]
    for size, moved in result["copies"].items():
        rows = [cells(r, smallest) for r in result["rows"] if r["size"] == size]
        head = [f"us, {size:,} elements", "ours", *PEERS, "host", "ratio", "copy", ""]
        text.append(common.table(head, rows))
        text.append(f"x.copy() moves {moved / 1e9:,.0f} GB/s")
    verdicts = [record["verdict"] for record in result["rows"]]
    for verdict in ("behind", "differs", "fails"):
        count = verdicts.count(verdict)
        text.append(f"{verdict}: {count} of {len(verdicts)} rows")
    for record in result["rows"]:
        for package, error in record["errors"].items():
            text.append(f"{record['name']}, {record['size']}, {package}: {error}")
    text += [f"{name}: {reason}" for name, reason in result["missing"].items()]
    return "\n\n".join(text)


def microseconds(seconds):
    """Return a time with three significant digits."""
    if seconds is None:
        return ""
    value = seconds * 1e6
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def rst_line(cells, widths):
    """Return a line of a simple table of reStructuredText."""
    pairs = zip(cells, widths, strict=True)
    return "  ".join(cell.ljust(width) for cell, width in pairs).rstrip()


def rst_table(head, rows):
    """Return a simple table of reStructuredText."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = [rst_line(row, widths) for row in rows]
    return "\n".join([rule, rst_line(head, widths), rule, *lines, rule])


def rst(result):
    """Return the times as a table of reStructuredText for each topic.

    A time of this package is bold if the row is behind.
    """
    sizes = list(dict.fromkeys(record["size"] for record in result["rows"]))
    found = {(r["topic"], r["name"], r["size"]): r for r in result["rows"]}
    head = ["us", *(f"2^{size.bit_length() - 1}" for size in sizes for _ in range(3))]
    for k, title in enumerate(("here", "CuPy", "PyTorch")):
        head[1 + k :: 3] = [f"{title} {name}" for name in head[1 + k :: 3]]
    texts = []
    for topic in dict.fromkeys(record["topic"] for record in result["rows"]):
        rows = []
        for name in dict.fromkeys(
            r["name"] for r in result["rows"] if r["topic"] == topic
        ):
            row = [f"``{name}``"]
            for size in sizes:
                record = found.get((topic, name, size), {"seconds": {}, "verdict": ""})
                times = [
                    microseconds(record["seconds"].get(p)) for p in ("ours", *PEERS)
                ]
                if record["verdict"] == "behind":
                    times[0] = f"**{times[0]}**"
                row += times
            rows.append(row)
        texts.append(f"{topic.capitalize()}:\n\n{rst_table(head, rows)}")
    return "\n\n".join(texts) + "\n"


def main(argv=None):
    parser = common.parser(__doc__, quick=None)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--topics", nargs="+", choices=wide.topics())
    parser.add_argument("--only", metavar="TEXT", help="rows whose name contains it")
    parser.add_argument("--peers", nargs="*", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--ms", type=float, default=20, help="length of a batch")
    parser.add_argument("--rst", metavar="PATH", help="tables for the documentation")
    args = parser.parse_args(argv)
    if any(size < 256 or size & (size - 1) for size in args.sizes):
        parser.error("--sizes must be powers of two of at least 256")
    result = run(args)
    common.conclude(args, result, report(result))
    if args.rst:
        Path(args.rst).write_text(rst(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
