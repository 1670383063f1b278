"""The source of generated Fourier transforms.

``cuda/pycuda-fft.hpp`` defines the stages of a transform and the ways of reading and
storing elements. This file chooses the radices, computes the tables of roots of unity
and writes the kernel around them.

A kernel transforms lines. Every line has ``length`` elements, and a block computes
``tile`` lines. The lines of a long transform are the factors of its length, one factor
in each kernel.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from pycuda._array.sources.elementwise import computation_type

_PRIMES = (13, 11, 7, 5, 3)


def fourier_text(request):
    """Return the source of a kernel of a Fourier transform: a ``_KernelRequest``'s."""
    if "unzip" in request.fourier:
        return _text(request, (), _unzip(request))
    if "mirror" in request.fourier:
        return _text(request, (), _mirror(request))
    length = request.convolution or request.length
    per_thread = length * request.tile // request.threads
    radices = _radices(length, per_thread)
    tables = [_roots_table(request, length, radices)]
    primes = sorted({radix for radix in radices if radix in _PRIMES})
    tables += [_circle(prime) for prime in primes]
    if request.convolution:
        tables.append(_spectrum_table(request.length, length, request.compute))
    return _text(request, tables, _transform(request, length, radices))


def _text(request, tables, body):
    """Return the kernel around the lines that transform."""
    ours = computation_type(request.compute)
    index = "uint64" if request.wide else "uint32"
    threads = request.threads
    lines = [
        "#include <pycuda-fft.hpp>",
        "using namespace pycuda_fft;",
        f"typedef {ours} T;",
        f"typedef {index} Index;",
        *tables,
        f'extern "C" __global__ void __launch_bounds__({threads})',
        f"kernel({', '.join(_parameters(request))})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _parameters(request):
    """Return the parameters: addresses, how the elements of a line lie, the lines."""
    parameters = ["const char *source", "char *target", "const number<T> *factor"]
    for name in ("source", "target"):
        parameters += [f"uint64 {name}_spacing", f"uint64 {name}_count"]
        parameters += [f"int64 {name}_step", f"int64 {name}_part"]
    parameters += ["uint64 whole", "uint64 span", "double scale", "uint64 lines"]
    parameters.append("int64 which")
    for axis in range(request.ndim):
        parameters += [f"uint64 d{axis}", f"int64 s{axis}", f"int64 t{axis}"]
    return parameters


# -- tables ----------------------------------------------------------------------------


def _radices(length, per_thread):
    """Return the radices of the stages, the largest first.

    A thread computes ``per_thread`` elements, and a radix should not be larger.
    """
    radices = []
    for prime in _PRIMES:
        while length % prime == 0:
            radices.append(prime)
            length //= prime
    most = 4 if per_thread >= 16 else 3  # radix 16 or 8
    rest = length.bit_length() - 1
    while rest > 0:
        twos = min(most, rest)
        if rest == most + 1:  # 8 * 2 becomes 4 * 4, 16 * 2 becomes 8 * 4
            twos = most - 1
        radices.append(2**twos)
        rest -= twos
    return sorted(radices, reverse=True) or [1]


def _circle_parts(count):
    """Return cosines and sines of ``count`` equal steps around a circle, rounded once.

    Each angle is reduced to an eighth of the circle, where both are exact enough.
    """
    k = np.arange(count)
    quarter = (8 * k >= count).astype(int) + (8 * k >= 3 * count)
    quarter += (8 * k >= 5 * count).astype(int) + (8 * k >= 7 * count)
    rest = (4 * k - quarter * count).astype(np.longdouble)
    angle = rest * np.arctan(np.longdouble(1)) / (count / np.longdouble(2))
    cosine, sine = np.cos(angle), np.sin(angle)
    quarter %= 4
    return (
        np.choose(quarter, [cosine, -sine, -cosine, sine]),
        np.choose(quarter, [sine, cosine, -sine, -cosine]),
    )


def _literals(parts, compute):
    """Return numbers as C++ literals."""
    if computation_type(compute) == "float":
        return ",".join(f"{float(np.float32(part))!r}f" for part in parts)
    return ",".join(repr(float(part)) for part in parts)


def _table(name, real, imaginary, compute):
    """Return the definition of a table of complex numbers."""
    parts = np.stack([real, imaginary], axis=-1).ravel()
    values = _literals(parts, compute)
    return f"__device__ __align__(16) const T {name}[] = {{{values}}};"


def _step(request):
    """Return the steps of the table for a root of the line's length."""
    return 2 if "unzip_block" in request.fourier else 1


def _roots_table(request, length, radices):
    """Return the table of ``exp(-2 pi i k / length)``."""
    count = length * _step(request)
    if len(radices) == 1 and _step(request) == 1:
        count = 1
    cosine, sine = _circle_parts(count)
    return _table("roots_table", cosine, -sine, request.compute)


def _circle(prime):
    """Return the cosines and sines of a prime radix."""
    lines = ["namespace pycuda_fft {", f"template <> struct circle<{prime}> {{"]
    for name, parts in zip(("cosine", "sine"), _circle_parts(prime), strict=True):
        values = _literals(parts, "float64")
        lines.append(f"static PYCUDA_FN double {name}(int k) {{")
        lines.append(f"const double parts[] = {{{values}}}; return parts[k]; }}")
    return "\n".join([*lines, "};", "}"])


def _spectrum_table(length, convolution, compute):
    """Return the transform of the chirp by which a convolution transforms a line."""
    squares = np.arange(length, dtype=np.int64) ** 2 % (2 * length)
    cosine, sine = _circle_parts(2 * length)
    chirp = (cosine[squares] + 1j * sine[squares]).astype(np.complex128)
    wrapped = np.zeros(convolution, np.complex128)
    wrapped[:length] = chirp
    wrapped[convolution - length + 1 :] = chirp[:0:-1]
    spectrum = np.fft.fft(wrapped) / convolution
    return _table("spectrum_table", spectrum.real, spectrum.imag, compute)


# -- the transform of a line -----------------------------------------------------------


def _find(request, by_line):
    """Return the lines that find a thread's line, and its place among the threads."""
    tile, threads = request.tile, request.threads // request.tile
    lines = [f"line = threadIdx.x / {threads}; thread = threadIdx.x % {threads};"]
    if by_line:
        lines = [f"line = threadIdx.x % {tile}; thread = threadIdx.x / {tile};"]
    return [*lines, f"job = (Index)blockIdx.x * {tile} + line;", *_offsets(request)]


def _offsets(request):
    """Return the lines that turn the number of a line into addresses."""
    lines = ["source_at = source; target_at = target; first = 0;"]
    if request.ndim == 0:
        return lines
    lines.append("{ Index rest = job;")
    for axis in reversed(range(request.ndim)):
        if axis:
            lines.append(f"{{ Index next = rest / (Index)d{axis};")
            lines.append(f"Index at = rest - next * (Index)d{axis}; rest = next;")
        else:
            lines.append("{ Index at = rest;")
        lines.append(f"target_at += (int64)at * t{axis};")
        if "mirror" in request.fourier:  # span has a bit for each axis to mirror
            lines.append(f"if (span >> {axis} & 1) at = at ? (Index)d{axis} - at : 0;")
        lines.append(f"source_at += (int64)at * s{axis};")
        lines.append(f"if (which == {axis}) first = at; }}")
    lines.append("}")
    return lines


def _flags(request, *words):
    """Return the C++ values of words that a request may have."""
    return ", ".join("true" if word in request.fourier else "false" for word in words)


def _load_type(request):
    """Return the C++ type that reads a line."""
    words = request.fourier
    memory = f"element<T, {request.types[0]}, {_flags(request, 'load_loose')}>"
    conjugated = _flags(request, "load_conjugate")
    load = f"load_plain<T, {memory}, {_flags(request, 'load_bounded')}>"
    if "load_pairs" in words:
        load = f"load_pairs<T, {memory} >"
    elif "load_half" in words:
        load = f"load_half<T, {memory}, {conjugated}>"
    elif "load_half_pairs" in words:
        load = f"load_half_pairs<T, {memory}, {conjugated}>"
    elif "load_chirp" in words:
        load = "load_chirp<T>"
    flags = _flags(request, "twiddled", "load_inverse", "load_chirped")
    return f"source_line<T, {load}, {flags}>"


def _stored(request):
    """Return the C++ type that converts and stores a number."""
    return f"element<T, {request.types[1]}, {_flags(request, 'store_loose')}>"


def _memory_store(request):
    """Return the C++ type that stores an element of a line."""
    memory = _stored(request)
    if "store_pairs" in request.fourier:
        return f"store_pairs<T, {memory} >"
    return f"store_plain<T, {memory}, {_flags(request, 'store_bounded')}>"


def _store_type(request):
    """Return the C++ type that stores a line."""
    names = ("inverse", "chirped", "turned", "conjugate", "multiplied")
    flags = _flags(request, "indexed", *(f"store_{name}" for name in names))
    return f"target_line<T, {_memory_store(request)}, {flags}>"


_VARIABLES = (
    "const char *source_at; char *target_at; uint64 first; Index job = 0;",
    "int line, thread;",
)
_INPUT = " {from, whole, root_of_line<T>(first, span),"


def _side(request, name, letter, indexed):
    """Return the definition of one side of a line; ``name`` is source or target.

    indexed: the line's number in its transform decides where the line begins.
    """
    kind = "const char *" if name == "source" else "char *"
    line, stride = f"{name}_at", f"{name}_step"
    if indexed:
        line = f"{name}_at + (int64)first * {name}_step"
        stride = f"(int64){name}_spacing * {name}_step"
    values = [f"{name}_at", "first", f"{name}_spacing", f"{name}_count"]
    values += [f"{name}_step", f"{name}_part", line, stride]
    return f"side<{kind}> {letter} = {{{', '.join(values)}}};"


def _source(request):
    """Return the definition of the side that a kernel reads."""
    return _side(request, "source", "from", "twiddled" not in request.fourier)


def _target(request):
    """Return the definition of the side that a kernel stores."""
    return _side(request, "target", "to", "indexed" in request.fourier)


def _stage(request, length, radix, done, source, target):
    """Return the lines of one stage, which reads and writes lines of these names."""
    threads = request.threads // request.tile
    sync = ["__syncthreads();"] if source == "held" and target != "output" else []
    return [
        f"{{ stage<T, {length}, {radix}, {done}, {threads}> part;",
        f"part.read({source}, thread);",
        f"part.compute<{_step(request)}>(roots, thread);",
        *sync,
        f"part.write({target}, thread); }}",
        *(["__syncthreads();"] if target != "output" else []),
    ]


def _stages(request, length, radices, begin, target):
    """Return the lines of the stages from one on; all read from shared memory."""
    lines = []
    for k in range(begin, len(radices)):
        done = math.prod(radices[:k])
        to = target if k == len(radices) - 1 else "held"
        lines += _stage(request, length, radices[k], done, "held", to)
    return lines


def _staged(request, length, radices, pitch):
    """Return the body of a kernel whose blocks move their lines as one run."""
    run, threads = request.tile * length, request.threads
    place = f"shared + i / {length} * {pitch}"
    return [
        f"job = (Index)blockIdx.x * {request.tile};",
        f"const int count = (int)min((uint64)(lines - job) * {length}, {run}ull);",
        f"source_at = source + (int64)job * {length} * source_step;",
        f"target_at = target + (int64)job * {length} * target_step;",
        "first = 0;",
        _source(request),
        f"{_load_type(request)} input ={_INPUT} true}};",
        _target(request),
        f"{_store_type(request)} output = {{to, factor, whole, (T)scale, true}};",
        "#pragma unroll",
        f"for (int i = threadIdx.x; i < {run}; i += {threads})",
        f"if (i < count) shared_line<T>{{{place}}}.put(i % {length}, input.get(i));",
        "__syncthreads();",
        f"line = threadIdx.x / {threads // request.tile};",
        f"thread = threadIdx.x % {threads // request.tile};",
        f"shared_line<T> held = {{shared + line * {pitch}}};",
        *_stages(request, length, radices, 0, "held"),
        "#pragma unroll",
        f"for (int i = threadIdx.x; i < {run}; i += {threads})",
        f"if (i < count) output.put(i, shared_line<T>{{{place}}}.get(i % {length}));",
    ]


def _transform(request, length, radices):
    """Return the body of a kernel that transforms lines."""
    words = request.fourier
    group = 16 if computation_type(request.compute) == "float" else 8
    pitch = _pitch(length, request.tile, group)
    held = f"shared_line<T> held = {{shared + line * {pitch}}};"
    output = (
        f"{_target(request)} {_store_type(request)} output ="
        " {to, factor, whole, (T)scale, job < lines};"
    )
    lines = [
        f"__shared__ number<T> shared[{request.tile * pitch}];",
        "const number<T> *roots = (const number<T> *)roots_table;",
        *_VARIABLES,
    ]
    if "staged" in words:
        return [*lines, *_staged(request, length, radices, pitch)]
    lines += [
        *_find(request, "load_by_line" in words),
        _source(request),
        f"{_load_type(request)} input ={_INPUT} job < lines}};",
    ]
    unzips = "unzip_block" in words
    if len(radices) == 1 and not request.convolution and not unzips:
        stage = _stage(request, length, radices[0], 1, "input", "output")
        return [*lines, output, *stage]
    first = _stage(request, length, radices[0], 1, "input", "held")
    lines += ["{", held, *first, "}"]
    lines += [*_find(request, "store_by_line" in words), held]
    lines.append(_target(request) if unzips else output)
    if request.convolution:
        lines.append("convolved_line<T> middle =")
        lines.append("{held, (const number<T> *)spectrum_table};")
        lines += _stages(request, length, radices, 1, "middle")
        lines += _stages(request, length, radices, 0, "output")
    elif unzips:
        lines += _stages(request, length, radices, 1, "held")
        lines += _unzip_block(request, length)
    else:
        lines += _stages(request, length, radices, 1, "output")
    return lines


def _pitch(length, lines, group):
    """Return the elements from a line in shared memory to the next.

    The threads of a group read an element of each of several lines without conflicts.
    """
    pitch = length + length // group + 1
    wanted = max(1, group // lines) % group
    while pitch % group != wanted:
        pitch += 1
    return pitch


# -- real elements ---------------------------------------------------------------------


def _put_unzipped(request, k, half, low, high, root):
    """Return the statement that stores two elements of a real transform."""
    conjugated = _flags(request, "store_conjugate")
    return (
        f"put_unzipped<T, {_stored(request)}, {conjugated}>"
        f"(to, {k}, {half}, {low}, {high}, {root}, (T)scale);"
    )


def _unzip_block(request, half):
    """Return the lines that store a real transform from the line in shared memory."""
    threads = request.threads // request.tile
    high = f"held.get(k ? {half} - k : 0)"
    return [
        f"for (int k = thread; k <= {half} / 2 && job < lines; k += {threads})",
        _put_unzipped(request, "k", half, "held.get(k)", high, "roots[k]"),
    ]


def _unzip(request):
    """Return the body of a kernel that stores a real transform.

    A thread reads two elements of the transform of half the length.
    """
    high = "*(const number<T> *)(source_at + (k ? half - k : 0) * source_step)"
    low = "*(const number<T> *)(source_at + k * source_step)"
    return [
        *_VARIABLES,
        *_find(request, False),
        "if (thread || job >= lines) return;",
        _target(request),
        "const uint64 k = first, half = whole / 2;",
        _put_unzipped(request, "k", "half", low, high, "root<T>(k, whole)"),
    ]


def _mirror(request):
    """Return the body of a kernel that completes the transform of real elements.

    A thread stores the conjugate of an element of the first half.
    """
    return [
        *_VARIABLES,
        *_find(request, False),
        "if (thread || job >= lines) return;",
        f"put_mirrored<T, {_stored(request)} >",
        "(source_at, target_at, first + 1, whole, source_step, target_step);",
    ]


# -- for tools/compile_matrix.py -------------------------------------------------------


def sample_sources():
    """Yield (name, source) of kernels that use each part of the device code."""
    single, twice = ("complex64", "complex64"), ("complex128", "complex128")
    samples = (
        ("one kernel", 1024, 0, single, ("load_inverse", "store_inverse")),
        ("small primes", 1001, 0, twice, ("load_bounded", "load_loose")),
        ("first of several", 128, 0, ("int32", "complex128"), ("load_by_line",)),
        ("last of several", 120, 0, single, ("twiddled", "indexed", "store_by_line")),
        ("convolution", 37, 80, single, ("load_chirped", "store_chirped")),
        ("real elements", 512, 0, ("float32", "complex64"), ("unzip_block",)),
        ("odd real elements", 81, 0, ("float16", "complex64"), ("store_bounded",)),
        ("to real pairs", 64, 0, ("complex64", "float32"), ("load_half_pairs",)),
        ("to real elements", 63, 0, ("complex128", "float64"), ("load_half",)),
        ("one run", 15, 0, single, ("staged",)),
        ("a chirp", 64, 0, single, ("load_chirp", "store_multiplied")),
        ("unzip", 0, 0, twice, ("unzip",)),
        ("mirror", 0, 0, single, ("mirror", "store_loose")),
    )
    for number, (name, length, convolution, types, words) in enumerate(samples):
        request = SimpleNamespace(
            types=types,
            compute="float32" if "complex64" in types else "float64",
            ndim=number % 3,
            wide=number % 2 == 1,
            tile=256 if length == 0 else 2,
            threads=256,
            length=length,
            convolution=convolution,
            fourier=words,
        )
        yield name, fourier_text(request)
