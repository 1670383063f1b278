"""A program's own kernels in recorded functions.

A call of an ``ElementwiseKernel``, a ``ReductionKernel`` or a function of a
``SourceModule`` is a step between the generated kernels. What it may change is known
from the text, or all arrays are.

The operation of an ``ElementwiseKernel`` becomes part of a generated kernel if

* each array in it is ``name[i]``, and ``i`` is nowhere else,
* it has no other text than the operation, and no statement that leaves the loop,
* all arrays have one shape and the dtypes that the kernel declares, and
* the compiler cannot contract a product and a sum in it. An ``ElementwiseKernel`` is
  compiled with contraction, generated kernels are not, so others would differ in bits.
  With ``fast`` they may.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from pycuda._array.kernels.argument_names import _COMMENTS, _CONTROL, parse_arguments
from pycuda._array.kernels.c_types import VectorArg
from pycuda._driver import Function, GPUArray
from pycuda.elementwise import ElementwiseKernel
from pycuda.fuse._program import Call, Operation, Scalar, map_tree
from pycuda.reduction import ReductionKernel

#: Names that the loop around an operation has.
_OF_THE_LOOP = ("n", "tid", "total_threads", "cta_start")
_OF_CUDA = ("threadIdx", "blockIdx", "blockDim", "gridDim")
#: Text that leaves the loop, that changes by address, or that is not C.
_NEVER = re.compile(
    r"\b(?:return|goto|continue|break|asm|static|extern|atomic\w*|__\w+)\b|#|\\|\""
    r"|(?:^|[^&\w\])])\s*&(?!&)"
)
_ASSIGNED = r"\s*(?:=(?!=)|[-+*/%&|^]=|<<=|>>=|\+\+|--)"
_STEPPED = r"(?:\+\+|--)\s*"
#: Functions that one instruction computes, or that round as the host's do.
_EXACT = re.compile(
    r"(?:fabs|fmin|fmax|sqrt|floor|ceil|rint|trunc|copysign)f?|isnan|isinf|signbit|"
    r"min|max|abs|bool|int|long|short|char|float|double|unsigned|if|for|while|switch"
)
_FLOATS = re.compile(r"\bfloat\b|\bdouble\b|\d\.|\.\d|\de[-+]?\d", re.IGNORECASE)
#: The dtypes whose elements are the same types in all kernels.
_PLAIN = {f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
_PLAIN |= {"bool", "float32", "float64"}


@dataclass(frozen=True)
class Body:
    """The operation of an ``ElementwiseKernel`` as a function of one element.

    ``parameters`` are the name, the dtype and the use of each: "number", "read",
    "change" or "write".
    """

    text: str
    parameters: tuple[tuple[str, str, str], ...]


# -- effects ---------------------------------------------------------------------------


def _changes(text: str, name: str) -> bool:
    """Say whether a text may assign to elements of an array."""
    element = rf"\b{name}\s*\[[^\]]*\]"
    others = re.sub(element, " ", text)
    if re.search(rf"\b{name}\b", others):
        return True  # its address is used
    return bool(re.search(element + _ASSIGNED, text)) or bool(
        re.search(_STEPPED + element, text)
    )


def _written(kernel: Any, arguments: Any, texts: Any) -> list[bool]:
    """Return for each argument whether a kernel may write to it."""
    text = _COMMENTS.sub(" ", " ; ".join(str(each) for each in texts))
    may_hide = bool(_NEVER.search(text)) or "preamble" in kernel
    declared = kernel.get("arguments")
    constants = []
    if isinstance(declared, str):
        parts = [part for part in declared.split(",") if part.strip()]
        constants = [bool(re.match(r"\s*const\b", part)) for part in parts]
    return [
        isinstance(each, VectorArg)
        and not (k < len(constants) and constants[k])
        and (may_hide or _changes(text, each.name))
        for k, each in enumerate(arguments)
    ]


# -- operations ------------------------------------------------------------------------


def _is_exact(text: str, arguments: Any, options: Any) -> bool:
    """Say whether the compiler can contract nothing in an operation."""
    if options and list(options) in (["-fmad=false"], ["--fmad=false"]):
        return True
    has_floats = any(each.dtype.kind not in "biu" for each in arguments)
    if not has_floats and not _FLOATS.search(text):
        return True
    for match in re.finditer(r"(\w+)\s*\(", text):
        if not _EXACT.fullmatch(match[1]):
            return False
    return not ("*" in text and ("+" in text or "-" in text))


def _use(text: str, name: str, changes: bool) -> str:
    """Return how an operation uses an array: "read", "change", "write" or "some".

    It writes only some elements and reads none, if the use is "some".
    """
    if not changes:
        return "read"
    element = re.compile(rf"\b{name}\s*\[\s*i\s*\]")
    first = element.search(text)
    if first is None:
        return "change"
    before = text[: first.start()]
    begin = max(before.rfind(";"), -1) + 1
    end = text.find(";", first.start())
    statement = text[begin : end if end >= 0 else len(text)]
    is_plain = re.match(r"\s*=(?!=)", text[first.end() :]) is not None
    is_only = len(element.findall(statement)) == 1 and not before[begin:].strip()
    is_always = not _CONTROL.search(before) and "{" not in before
    if is_plain and is_only and is_always:
        return "write"
    ends = [text[match.end() :] for match in element.finditer(text)]
    is_read = any(re.match(r"\s*=(?!=)", end) is None for end in ends)
    return "change" if is_read else "some"


def body_of(kernel: ElementwiseKernel, fast: bool) -> Body | None:
    """Return the operation of a kernel, None if it cannot be part of another one."""
    facts = kernel.gen_kwargs
    if set(facts) - {"arguments", "operation", "name", "keep", "options"}:
        return None
    arguments = parse_arguments(facts["arguments"])
    text = _COMMENTS.sub(" ", str(facts["operation"]))
    names = {each.name for each in arguments}
    arrays = [each.name for each in arguments if isinstance(each, VectorArg)]
    if any(each.dtype.name not in _PLAIN for each in arguments) or not arrays:
        return None
    rest = re.sub(rf"\b(?:{'|'.join(arrays)})\s*\[\s*i\s*\]", " ", text)
    words = set(re.findall(r"\b[A-Za-z_]\w*", rest))
    hidden = {"i", *_OF_CUDA, *arrays, *(set(_OF_THE_LOOP) - names)}
    if words & hidden or _NEVER.search(text) or text.count("{") != text.count("}"):
        return None
    options = facts["options"]
    if options and list(options) not in (["-fmad=false"], ["--fmad=false"]):
        return None
    if not fast and not _is_exact(rest, arguments, options):
        return None
    written = _written(facts, arguments, [text])
    parameters = tuple(
        (
            each.name,
            each.dtype.name,
            _use(text, each.name, changes) if isinstance(each, VectorArg) else "number",
        )
        for each, changes in zip(arguments, written, strict=True)
    )
    if any(use == "some" for _, _, use in parameters):
        return None  # its memory may have no values
    for name in arrays:
        text = re.sub(rf"\b{name}\s*\[\s*i\s*\]", name, text)
    return Body(text.strip(), parameters)


def _number(value: Any, dtype: str) -> Scalar | None:
    """Return a number in the type of a parameter, None if it does not fit."""
    kinds: Any = (bool, int, np.integer, np.bool_)
    if dtype.startswith("float"):
        kinds = (*kinds, float, np.floating)
    if not isinstance(value, kinds):
        return None
    try:
        made = np.dtype(dtype).type(value)
    except (OverflowError, ValueError):
        return None
    return Scalar(dtype, made.tobytes())


def _operation(trace: Any, body: Body, args: Any, line: str) -> Operation | None:
    """Return the operation of a call, None if its arguments do not fit."""
    if len(args) != len(body.parameters):
        return None
    inputs: list[Any] = []
    outputs: list[Any] = []
    every: list[tuple[Any, bool]] = []
    for value, (_, dtype, use) in zip(args, body.parameters, strict=True):
        if use == "number":
            number = _number(value, dtype)
            if number is None:
                return None
            inputs.append(number)
            continue
        if not isinstance(value, GPUArray) or value.dtype.name != dtype:
            return None
        place = trace.place(value)
        every.append((place, use != "read"))
        if use != "write":
            inputs.append(place)
        if use != "read":
            outputs.append(place)
    if not outputs or len({place.shape for place, _ in every}) > 1:
        return None
    for k, (place, changes) in enumerate(every):
        others = [other for j, (other, _) in enumerate(every) if j != k]
        if changes and any(other.block == place.block for other in others):
            return None
    details = (body,)
    return Operation("kernel", "raw", tuple(inputs), tuple(outputs), line, details)


# -- recording -------------------------------------------------------------------------


def record(trace: Any, kernel: Any, args: Any, kwargs: Any, line: str) -> Any:
    """Record a call of a kernel; return its result. None: it cannot be recorded."""
    statements = trace.program.statements
    if isinstance(kernel, ElementwiseKernel):
        if not kwargs:
            body = body_of(kernel, trace.fast)
            made = None if body is None else _operation(trace, body, args, line)
            if made is not None:
                if made.outputs[0].count:
                    statements.append(made)
                return None
        facts = kernel.gen_kwargs
        texts = [facts["operation"]]
        texts += [facts.get(name, "") for name in ("loop_prep", "after_loop")]
        arguments = parse_arguments(facts["arguments"])
        written = _written(facts, arguments, texts)
        changed = [a for a, w in zip(args, written, strict=False) if w]
        statements.append(_call(trace, kernel, args, kwargs, changed, (), line))
        return None
    if isinstance(kernel, ReductionKernel):
        return _record_reduction(trace, kernel, args, kwargs, line)
    if isinstance(kernel, Function):
        changed = [*args, *kwargs.values()]
        statements.append(_call(trace, kernel, args, kwargs, changed, (), line))
        return None
    raise NotImplementedError


def _record_reduction(
    trace: Any, kernel: Any, args: Any, kwargs: Any, line: str
) -> Any:
    arguments = kernel._arguments.arguments
    texts = [kernel._map_expr or ""]
    facts = {"preamble": ""} if kernel._rest[3] else {}
    written = _written(facts, arguments, texts)
    changed = [a for a, w in zip(args, written, strict=False) if w]
    out = kwargs.get("out")
    outputs: tuple[Any, ...] = ()
    result = out
    if out is None:
        result = GPUArray((), kernel.dtype_out)
        outputs = (trace.place(result),)
    else:
        changed.append(out)
    step = _call(trace, kernel, args, kwargs, changed, outputs, line)
    trace.program.statements.append(step)
    return result


def _call(
    trace: Any,
    kernel: Any,
    args: Any,
    kwargs: Any,
    changed: Any,
    outputs: Any,
    line: str,
) -> Call:
    """Return the step that calls a kernel."""
    reads: list[Any] = []

    def put(leaf: Any) -> Any:
        array = trace.array_at(leaf)
        if array is None:
            return leaf
        place = trace.described(array)
        reads.append(place.place)
        return place

    is_address = [
        trace.array_at(each) is not None and not isinstance(each, GPUArray)
        for each in args
    ]
    args, kwargs = map_tree(put, tuple(args)), map_tree(put, dict(kwargs))
    writes = [trace.array_at(each) for each in changed]
    return Call(
        _Caller(kernel, is_address),
        args,
        kwargs,
        tuple(reads),
        tuple(trace.place(each) for each in writes if each is not None),
        outputs,
        line,
    )


class _Caller:
    """A kernel, and which of its arguments are addresses of arrays."""

    def __init__(self, kernel: Any, is_address: list[bool]) -> None:
        self.kernel = kernel
        self.is_address = is_address
        if isinstance(kernel, Function):
            self.__name__ = kernel.name
        elif isinstance(kernel, ElementwiseKernel):
            self.__name__ = kernel.gen_kwargs["name"]
        else:
            self.__name__ = kernel._rest[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [
            np.uintp(each.ptr) if is_address else each
            for each, is_address in zip(args, self.is_address, strict=True)
        ]
        return self.kernel(*given, **kwargs)


# -- text ------------------------------------------------------------------------------


def function_text(body: Body, name: str) -> str:
    """Return the function of an operation."""
    parameters = []
    for own, dtype, use in body.parameters:
        kind = f"pycuda_array::{dtype}"
        parameters.append(
            f"{kind} {own}"
            if use == "number"
            else f"const {kind} {own}"
            if use == "read"
            else f"{kind} &{own}"
        )
    lines = [f"    {line.strip()}" for line in body.text.splitlines() if line.strip()]
    head = f"static __device__ __forceinline__ void {name}({', '.join(parameters)})"
    return "\n".join([head, "{", *lines, "    ;", "}", ""])


def write(writer: Any, each: Any, depth: str) -> None:
    """Append the lines of an operation of a program's kernel."""
    (body,) = each.operation.details
    if body not in writer.functions:
        writer.functions[body] = f"operation{len(writer.functions)}"
    arguments, targets = iter(each.arguments), iter(each.targets)
    words = []
    for _, dtype, use in body.parameters:
        given = ""
        if use != "write":
            source = next(arguments)
            is_scalar = isinstance(source, Scalar)
            given = writer._scalar(source) if is_scalar else writer._variable(source)
        if use in ("number", "read"):
            words.append(given)
            continue
        target = writer._variable(next(targets))
        start = f" = {given}" if given else ""
        writer.lines.append(f"{depth}{dtype} {target}{start};")
        words.append(target)
    name = writer.functions[body]
    writer.lines.append(f"{depth}{name}({', '.join(words)});")
