"""Random array programs: functions of three arrays, with and without pycuda.fuse."""

from __future__ import annotations

import contextlib
import math
import random
import re

import numpy as np

import pycuda.fuse
from pycuda import gpuarray
from pycuda._array.kernels.compilation import compile_text
from pycuda.driver import module_from_buffer
from pycuda.fuse import _code, _steps, _tile

try:
    import ml_dtypes
except ImportError:  # on some machines with a GPU
    ml_dtypes = None

# fmt: off
DTYPES = [
    "float32", "float32", "float64", "int32", "uint8", "bool", "complex64", "float16",
    "int64", "complex128", "uint32", "int8", "int16", "uint16", "uint64", "bfloat16",
]
UNARY = [
    "negative", "absolute", "square", "sqrt", "exp", "sin", "floor", "sign", "isnan",
    "logical_not",
]
BINARY = [
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "less", "equal",
    "greater_equal", "logical_and", "hypot", "arctan2", "floor_divide", "remainder",
]
SCALARS = [
    "2", "0.5", "-1.5", "3", "True", "0", "1e-3", "7", "-0.0", "np.float32(1.25)",
]
REDUCTIONS = [
    "sum", "mean", "max", "min", "prod", "any", "all", "argmax", "argmin", "var", "std",
    "ptp", "count_nonzero", "nansum", "nanmax",
]
SHAPES = [
    (7,), (5, 6), (4, 5), (3, 4, 5), (33,), (2, 1, 3), (16, 16), (40, 12), (3, 200),
    (150, 5), (2, 40, 36), (1100,), (64, 3), (50, 8), (6, 64), (5, 130),
    (3, 9, 70),
]
# fmt: on

#: Functions that are not elementwise, and the shapes of their results.
CALLS = [
    ("{}.copy()", lambda s: s),
    ("np.sort({}, axis=0)", lambda s: s),
    ("np.roll({}, 1)", lambda s: s),
    ("np.roll({}, 2, 0)", lambda s: s),
    ("np.roll({}, -1, -1)", lambda s: s),
    ("np.cumsum({})", lambda s: (math.prod(s),)),
]
#: Functions whose elements come from other places.
MOVES = [
    ("np.concatenate([{0}, {0}])", lambda s: (2 * s[0], *s[1:])),
    ("np.stack([{0}, {0} + 1], -1)", lambda s: (*s, 2)),
    ("np.pad({}, 1)", lambda s: tuple(n + 2 for n in s)),
    ("np.pad({}, 2, mode='edge')", lambda s: tuple(n + 4 for n in s)),
    ("np.pad({}, 3, mode='reflect')", lambda s: tuple(n + 6 for n in s)),
    ("np.pad({}, 9, mode='symmetric')", lambda s: tuple(n + 18 for n in s)),
    ("np.pad({}, (1, 4), mode='wrap')", lambda s: tuple(n + 5 for n in s)),
    ("np.repeat({}, 3, 0)", lambda s: (3 * s[0], *s[1:])),
    ("np.tile({}, 2)", lambda s: (*s[:-1], 2 * s[-1])),
    ("{}[[0, -1, 0]]", lambda s: (3, *s[1:])),
    ("np.take({0}, {0}.astype(np.int32), 0, mode='clip')", lambda s: (*s, *s[1:])),
    ("np.take({0}, {0}.astype(np.int32), mode='wrap')", lambda s: s),
    ("np.take_along_axis({0}, np.argsort({0}, 0), 0)", lambda s: s),
    ("{0}[np.argsort({0}, 0) // 2]", lambda s: (*s, *s[1:])),
    ("np.diff({}, axis=0)", lambda s: (s[0] - 1, *s[1:])),
]
#: A move that makes more elements than this is left out.
MOST_ELEMENTS = 4000


class Writer:
    """Writes one program. ``names`` are its arrays with their shapes."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.count = 0
        self.shapes = {}
        self.shared = set()  # arrays whose elements may share memory: see broadcast_to

    def new(self, text, shape):
        name = f"t{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        self.shapes[name] = shape
        if "broadcast_to" in text or any(
            re.search(rf"\b{each}\b", text) for each in self.shared
        ):
            self.shared.add(name)
        return name

    def write(self, name, text):
        """Add a statement that writes to an array, unless its elements share memory."""
        self.lines.append(f"{name} * 2" if name in self.shared else text)

    def pick(self, shape=None):
        names = [n for n, s in self.shapes.items() if shape is None or s == shape]
        return self.random.choice(names) if names else None

    def scalar(self):
        return self.random.choice(SCALARS)

    def view(self, name):
        """Return the text of a view, and its shape."""
        shape = self.shapes[name]
        choice = self.random.randrange(8)
        if choice == 0 and len(shape) > 1:
            return f"{name}.T", shape[::-1]
        if choice == 1 and shape:
            return f"{name}[None]", (1, *shape)
        if choice == 2 and len(shape) > 1:
            return f"{name}.reshape(-1)", None
        if choice == 3 and shape:
            return f"np.flip({name}, 0)", shape
        if choice == 4 and len(shape) == 1:
            return f"np.broadcast_to({name}, (3, {shape[0]}))", (3, *shape)
        parts, lengths = [], []
        for length in shape:
            start = self.random.randrange(0, max(length // 2, 1))
            stop = self.random.randrange(start + 1, length + 1) if length else 0
            step = self.random.choice([1, 1, 1, 2, 3])
            if self.random.random() < 0.15 and length:
                parts.append(f"{start}")
                continue
            if self.random.random() < 0.2 and start:
                parts.append(f"{stop - 1}:{start - 1}:-{step}")
            else:
                parts.append(f"{start}:{stop}:{step}")
            lengths.append(len(range(start, stop, step)))
        if not parts:
            return name, shape
        return f"{name}[{', '.join(parts)}]", tuple(lengths)

    def operand(self, shape):
        name = self.pick(shape)
        if name is None or self.random.random() < 0.2:
            return self.scalar()
        return name

    def reduction(self, name, shape):
        """Write a reduction, and mostly an operation on its result."""
        axes = [None, *range(len(shape))]
        if len(shape) > 1:
            axes += [len(shape) - 1, (0, len(shape) - 1)]
        axis = self.random.choice(axes)
        reduced = range(len(shape)) if axis is None else np.atleast_1d(axis)
        keeps = self.random.random() < 0.6
        kept = tuple(1 if k in reduced else n for k, n in enumerate(shape))
        made = (
            kept
            if keeps
            else tuple(kept[k] for k in range(len(kept)) if k not in reduced)
        )
        which = self.random.choice(REDUCTIONS)
        text = f"np.{which}({name}, axis={axis}, keepdims={keeps})"
        result = self.new(text, made)
        choice = self.random.randrange(4)
        if keeps and choice < 2:
            op = self.random.choice(BINARY)
            self.new(f"np.{op}({name}, {result})", shape)
        elif keeps and choice == 2:
            self.write(name, f"{name} -= {result}")
        elif choice == 3:
            self.new(f"np.sqrt({result})", made)

    def statement(self):
        name = self.pick()
        shape = self.shapes[name]
        if self.random.random() < 0.04:
            self.write(name, f"{name}[{name} > {self.scalar()}] = {self.scalar()}")
            return
        kind = self.random.randrange(18)
        if kind < 2:
            self.new(f"np.{self.random.choice(UNARY)}({name})", shape)
        elif kind < 6:
            op = self.random.choice(BINARY)
            other = self.operand(shape)
            pair = [name, other]
            self.random.shuffle(pair)
            self.new(f"np.{op}({pair[0]}, {pair[1]})", shape)
        elif kind == 6:
            text, made = self.view(name)
            self.new(text, made if made is not None else (-1,))
            if made is None:
                n = 1
                for length in shape:
                    n *= length
                self.shapes[f"t{self.count - 1}"] = (n,)
        elif kind == 7:
            other = self.operand(shape)
            text = f"np.where({name} > {self.scalar()}, {name}, {other})"
            self.new(text, shape)
        elif kind == 8:
            dtype = self.random.choice(["float32", "int32", "float64"])
            self.new(f"{name}.astype(np.{dtype})", shape)
        elif kind == 9:
            text, made = self.view(name)
            if "[" in text and "None" not in text and made is not None:
                other = self.operand(made)
                self.write(name, f"{text} = {other}")
            else:
                self.new(f"{name} * 2", shape)
        elif kind == 10:
            op = self.random.choice(["+=", "-=", "*="])
            other = self.operand(shape)
            self.write(name, f"{name} {op} {other}")
        elif kind < 14:
            self.reduction(name, shape)
        else:
            text, made = self.random.choice(CALLS if kind == 14 else MOVES)
            if not shape or 0 in shape or math.prod(made(shape)) > MOST_ELEMENTS:
                self.new(f"{name}.copy()", shape)
            else:
                self.new(text.format(name), made(shape))


def program(seed, statements=None):
    """Return the source of a function f(a, b, c), and its arguments' kinds."""
    writer = Writer(seed)
    r = writer.random
    shape = r.choice(SHAPES)
    kinds = []
    for name in "abc":
        own = shape if r.random() < 0.8 else r.choice([(6,), (1, 6), (5, 1), (3, 3)])
        writer.shapes[name] = own
        kinds.append((r.choice(DTYPES), own, r.choice("CCCFS")))
    for _ in range(statements or r.randrange(2, 14)):
        writer.statement()
    names = list(writer.shapes)
    results = r.sample(names, min(len(names), r.randrange(1, 4)))
    lines = ["def f(a, b, c):", *(f"    {line}" for line in writer.lines)]
    lines.append(f"    return {', '.join(results)},")
    return "\n".join(lines) + "\n", kinds


# -- with and without fuse -------------------------------------------------------------


def _argument(kind, shape, layout, generator):
    """Return a random array: in C order, in Fortran order, or with strides."""
    lengths = tuple(2 * n for n in shape) if layout == "S" else shape
    values = generator.integers(-5, 9, lengths) * 0.5
    if kind.startswith(("uint", "bool")):
        values = np.abs(values)
    if kind == "bfloat16":
        kind = ml_dtypes.bfloat16 if ml_dtypes else "float16"
    values = values.astype(kind)
    if "float" in values.dtype.name and values.size:
        values.flat[::7] = np.nan
        values.flat[1::11] = -0.0
    if layout == "F":
        values = np.asfortranarray(values)
    array = gpuarray.to_gpu(values)
    if layout == "S":
        array = array[tuple(slice(0, None, 2) for _ in shape)]
    return array


def arguments(seed, kinds):
    """Return the arguments of a program."""
    generator = np.random.default_rng(seed)
    return [_argument(*kind, generator) for kind in kinds]


def _facts(array):
    """Return dtype, shape, strides and bits of an array, with one NaN for all."""
    values = np.array(array.get())
    counts_as = array._counts_as if values.dtype == bool else None
    if values.dtype.name == "bfloat16":
        values[np.isnan(values)] = np.nan
    if values.dtype.kind in "fc":
        parts = np.ascontiguousarray(values).reshape(-1).view(values.real.dtype)
        parts[np.isnan(parts)] = np.nan
        values = parts
    return array.dtype, array.shape, array.strides, counts_as, values.tobytes()


def _run(function, given):
    """Return the facts of results and arguments, or the type of an exception."""
    try:
        results = function(*given)
    except Exception as error:
        return type(error)
    return [_facts(each) for each in (*results, *given)]


def _function(text):
    """Return the function of a program's source."""
    names = {"np": np}
    exec(compile(text, "<program>", "exec"), names)
    return names["f"]


def difference(text, kinds, seed):
    """Say how the fused results of a program differ, if they do."""
    plain = _function(text)
    fused = pycuda.fuse.fuse(plain)
    return _difference(fused, _run(plain, arguments(seed, kinds)), kinds, seed)


def _difference(fused, want, kinds, seed):
    for call in ("first",) if isinstance(want, type) else ("first", "second"):
        got = _run(fused, arguments(seed, kinds))
        if got == want:
            continue
        if isinstance(got, type) or isinstance(want, type):
            names = [
                each.__name__ if isinstance(each, type) else "nothing"
                for each in (got, want)
            ]
            return f"the {call} call raises {names[0]}, the plain one {names[1]}"
        places = [
            k
            for k, pair in enumerate(zip(got, want, strict=True))
            if pair[0] != pair[1]
        ]
        facts = ("dtype", "shape", "strides", "counts_as", "bits")
        return f"the {call} call: " + ", ".join(
            f"array {k} has other {fact}"
            for k in places
            for fact, ours, its in zip(facts, got[k], want[k], strict=True)
            if ours != its
        )
    return None


def compare(seed):
    """Return the source of a program whose fused results differ, else None."""
    text, kinds = program(seed)
    how = difference(text, kinds, seed)
    return f"{seed}: {kinds}\n# {how}\n{text}" if how else None


def check(function, *given):
    """Check a function's bits with fuse, also of its arguments; return its steps."""
    copies = [_copied(each) for each in given]
    want = function(*copies)
    fused = pycuda.fuse.fuse(function)
    steps = fused.kernels(*given)
    got = fused(*given)
    results = [got, want]
    for k, each in enumerate(results):
        results[k] = each if isinstance(each, tuple) else (each,)
    for ours, plain in zip((*results[0], *given), (*results[1], *copies), strict=True):
        if isinstance(ours, gpuarray.GPUArray):
            assert _facts(ours) == _facts(plain)
    return steps


def _copied(given):
    return given.copy() if isinstance(given, gpuarray.GPUArray) else given


def reduced(seed):
    """Return the source of a program with few statements whose results differ."""
    text, kinds = program(seed)
    lines = text.splitlines()
    k = len(lines) - 2
    while k > 0:
        fewer = [*lines[:k], *lines[k + 1 :]]
        if difference("\n".join(fewer), kinds, seed):
            lines = fewer
        k -= 1
    for name in lines[-1].split("return ")[1].split(",")[:-1]:
        fewer = [*lines[:-1], f"    return {name.strip()},"]
        if difference("\n".join(fewer), kinds, seed):
            lines = fewer
            break
    how = difference("\n".join(lines), kinds, seed)
    return "\n".join([f"{seed}: {kinds}", f"# {how}", *lines, ""])


# -- many programs ---------------------------------------------------------------------


@contextlib.contextmanager
def small_arrays_as_large_ones():
    """Load whole words and give threads several rows whatever the size of an array."""
    before = _code.WORDS_FROM, _tile._ENOUGH_THREADS
    _code.WORDS_FROM = _tile._ENOUGH_THREADS = 1
    try:
        yield
    finally:
        _code.WORDS_FROM, _tile._ENOUGH_THREADS = before


def compare_all(seeds):
    """Return the seeds of the programs whose fused results differ.

    The kernels of all programs are compiled at once. That takes a fifth of the time.
    """
    programs, sources = [], {}
    for seed in seeds:
        text, kinds = program(seed)
        plain = _function(text)
        fused = pycuda.fuse.fuse(plain)
        want = _run(plain, arguments(seed, kinds))
        if not isinstance(want, type):
            sources.update(_recorded(fused, arguments(seed, kinds)))
        programs.append((fused, want, kinds, seed))
    with _compiled(sources):
        return [each[-1] for each in programs if _difference(*each)]


def _recorded(fused, given):
    """Record a program. The next call finds the recording; return its sources."""
    try:
        made = fused._record(given, {})
    except Exception:
        return {}  # the call will raise it again
    fused._record = lambda args, kwargs: made
    found = [] if made is None else made.sources
    return {source.text: source.format for source in found if source is not None}


@contextlib.contextmanager
def _compiled(sources):
    """Compile kernels in few modules; ``pycuda.fuse`` finds them there."""
    heads = {}
    for text, format in sources.items():
        lines = text.splitlines()
        head = "\n".join(line for line in lines if line.startswith(_HEADS))
        rest = "\n".join(line for line in lines if not line.startswith(_HEADS))
        if len(_NAME.findall(rest)) == 1:
            heads.setdefault(head, []).append((text, rest, format))
    known = {}
    for head, kernels in heads.items():
        named = [  # what else they define must not meet
            f"namespace program{k} {{\n{_NAME.sub(f'kernel{k}(', rest)}\n}}"
            for k, (_, rest, _) in enumerate(kernels)
        ]
        module = module_from_buffer(compile_text("\n".join([head, *named])))
        for k, (text, _, format) in enumerate(kernels):
            known[text] = module.get_function(f"kernel{k}")
            known[text].prepare(format)
    plain = _steps._functions
    _steps._functions = lambda sources: [
        source and (known.get(source.text) or plain([source])[0]) for source in sources
    ]
    try:
        yield
    finally:
        _steps._functions = plain


_HEADS = ("#include ", "using namespace ")
_NAME = re.compile(r"\bkernel\(")
