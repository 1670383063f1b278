"""The source of generated elementwise kernels.

``cuda/pycuda-array.hpp`` defines the elements and the operations. This file writes the
loop around them.
"""

from __future__ import annotations

# {a0} is the element of the first input, {c0} is the same element in the type of the
# computation. z0 is the first output, of type Z0. Operations that are not listed are
# z0 = op_name(c0, c1, ...).
_BODIES = {
    "copy": "z0 = cast<Z0>({a0});",
    "where": "z0 = truth({a0}) ? cast<Z0>({a1}) : cast<Z0>({a2});",
    "if_positive": "z0 = positive({a0}) ? cast<Z0>({a1}) : cast<Z0>({a2});",
    "axpby": (
        "z0 = cast<Z0>(op_add(op_multiply({c0}, {c1}), op_multiply({c2}, {c3})));"
    ),
    "axpb": "z0 = cast<Z0>(op_add(op_multiply({c0}, {c1}), {c2}));",
    "arange": "z0 = cast<Z0>(op_add({c0}, op_multiply({c1}, cast<C>(i))));",
    "linspace": (
        "z0 = cast<Z0>(op_linspace({c0}, {c1}, {c2}, {c3}, (uint64)i, (uint64)n));"
    ),
    "divmod": "op_divmod({c0}, {c1}, z0, z1);",
    "modf": "op_modf({c0}, z0, z1);",
    "frexp": "op_frexp({c0}, z0, z1);",
    "ldexp": "z0 = cast<Z0>(op_ldexp({c0}, exponent({a1})));",
}


#: The floats of 16 bits, which are computed in float and rounded once.
HALVES = {"float16", "bfloat16"}


def computation_type(compute):
    """Return the C++ type of a computation; half precision computes in float."""
    return "float" if compute in HALVES else compute


#: Operations on the bits of a number, which take half precision as it is.
_ON_BITS = {"nextafter", "spacing"}


def computed(element, compute, operation=None):
    """Return the text of an element in the type of the computation."""
    if compute == "raw":
        return element
    if compute in HALVES:
        half = f"cast<{compute}>({element})"
        return half if operation in _ON_BITS else f"(float){half}"
    return f"cast<C>({element})"


def _element_type(request, name):
    """Return the C++ name of an element type."""
    if name == "raw":
        return f"raw<{request.raw_bytes}, {request.vector}>"
    return name


def arrays(request):
    """Return the numbers of the operands that are arrays."""
    return [k for k, passing in enumerate(request.passing) if passing != "scalar"]


def label(request, k):
    """Return the name of an operand's type: T0, T1, ... for inputs, Z0, ... after."""
    nin = request.inputs
    return f"T{k}" if k < nin else f"Z{k - nin}"


def _body(request, elements):
    """Return the statement that makes one element of each output."""
    words = {f"a{k}": element for k, element in enumerate(elements)}
    words |= {
        f"c{k}": computed(e, request.compute, request.operation)
        for k, e in enumerate(elements)
    }
    body = _BODIES.get(request.operation)
    if body is None:
        arguments = ", ".join(f"{{c{k}}}" for k in range(request.inputs))
        body = f"z0 = cast<Z0>(op_{request.operation}({arguments}));"
    return body.format(**words)


def typedefs(request):
    """Return the types of the computation and of the operands."""
    lines = []
    if request.compute != "raw":
        lines.append(f"typedef {computation_type(request.compute)} C;")
    for k, name in enumerate(request.types):
        lines.append(f"typedef {_element_type(request, name)} {label(request, k)};")
    return lines


def outputs_of(request):
    """Return the numbers of the outputs."""
    return range(request.inputs, request.inputs + request.outputs)


#: How operands with strides are passed.
_WITH_STRIDES = ("array", "repeated", "backward")


def _strided_operands(request):
    """Return the numbers of the operands whose strides are parameters."""
    if not request.ndim:
        return []
    return [k for k, how in enumerate(request.passing) if how in _WITH_STRIDES]


def _parameters(request, index, step):
    """Return the parameters: operands, number of units, axes and strides."""
    parameters = []
    for k, passing in enumerate(request.passing):
        name = label(request, k)
        if k >= request.inputs:
            parameters.append(f"{name} *p{k}")
        elif passing == "scalar":
            parameters.append(f"{name} p{k}")
        else:
            parameters.append(f"const {name} *p{k}")
    parameters.append(f"{index} n")
    for axis in range(1, request.ndim):
        parameters += [f"{index} {name}{axis}" for name in "dmh"]
    for k in _strided_operands(request):
        parameters += [f"{step} s{k}_{axis}" for axis in range(request.ndim)]
    return parameters


def includes(request):
    """Return the headers of the operation."""
    if request.compute.startswith("complex"):
        return ["#include <pycuda-array-complex.hpp>"]
    return ["#include <pycuda-array.hpp>"]


def elementwise_text(request):
    """Return the source of an elementwise kernel: a ``_KernelRequest``'s."""
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    if request.ndim or (request.tile or 1) > 1 or _vector(request) == 1:
        body = _by_units(request, index, step)
    else:
        body = _flat(request, index)
    lines = [
        *includes(request),
        "using namespace pycuda_array;",
        *typedefs(request),
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request, index, step))})",
        "{",
        "follow();",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _vector(request):
    """Return how many elements a vector has."""
    return 1 if "raw" in request.types else request.vector


def _loads(request, kinds):
    """Return the numbers of the inputs that are passed in one of these ways."""
    return [k for k in range(request.inputs) if request.passing[k] in kinds]


def loop_body(request, element):
    """Return the lines that make one element of each output."""
    texts = {"scalar": "p{}".format, "one": "o{}".format}
    inputs = [texts.get(request.passing[k], element)(k) for k in range(request.inputs)]
    nin = request.inputs
    declared = [f"Z{k - nin} z{k - nin};" for k in outputs_of(request)]
    return [*declared, _body(request, inputs)]


def _flat(request, index):
    """Return the body of a kernel whose operands are packed in the same order."""
    nin = request.inputs
    outputs = outputs_of(request)
    vector = request.vector
    ones = _loads(request, ("one",))
    packed = _loads(request, ("array", "packed"))
    lines = [f"const T{k} o{k} = *p{k};" for k in ones]
    lines.append(f"{index} first = ({index})blockIdx.x * 256 + threadIdx.x;")
    lines += [f"first *= {vector};", f"if (first + {vector} <= n) {{"]
    for k in [*packed, *outputs]:
        lines.append(f"pack<{label(request, k)}, {vector}> v{k};")
    lines += [f"v{k}.load(p{k} + first);" for k in packed]
    lines += ["#pragma unroll", f"for (int j = 0; j < {vector}; j++) {{"]
    if request.operation in ("arange", "linspace"):
        lines.append(f"{index} i = first + j;")
    lines += loop_body(request, "v{}.items[j]".format)
    lines += [f"v{k}.items[j] = z{k - nin};" for k in outputs]
    lines.append("}")
    lines += [f"v{k}.store(p{k} + first);" for k in outputs]
    lines += ["} else {", f"for ({index} i = first; i < n; i++) {{"]
    lines += loop_body(request, "p{}[i]".format)
    lines += [f"p{k}[i] = z{k - nin};" for k in outputs]
    return [*lines, "}", "}"]


def _by_units(request, index, step):
    """Return the body of a kernel that finds each unit by its number.

    A unit is a vector of elements. A thread handles ``tile`` units, which are 256 units
    apart. It starts all loads before it needs the first. Loads beyond the last unit
    read the first one of the thread: other threads may write to any other unit.
    """
    each, vector = request.tile or 1, _vector(request)
    ones = _loads(request, ("one",))
    loads = _loads(request, (*_WITH_STRIDES, "packed"))
    lines = [f"const T{k} o{k} = *p{k};" for k in ones]
    block = 256 * each
    lines.append(f"const {index} first = ({index})blockIdx.x * {block} + threadIdx.x;")
    lines.append("if (first >= n) return;")
    lines += [f"{_unit(request, k)} v{k}[{each}];" for k in loads]
    strided = _strided_operands(request)
    lines += [f"{step} b{k}[{each}];" for k in strided]
    lines += ["#pragma unroll", f"for (int u = 0; u < {each}; u++) {{"]
    lines.append(f"const {index} i = first + u * 256 < n ? first + u * 256 : first;")
    lines += _offsets(request, strided, index, step)
    for k in loads:
        lines.append(f"v{k}[u].{_load(request, k, strided)};")
    lines += ["}", "#pragma unroll", f"for (int u = 0; u < {each}; u++) {{"]
    lines.append(f"const {index} i = first + u * 256;")
    lines += _results(request, strided, vector)
    return [*lines, "}"]


def _offsets(request, strided, index, step):
    """Return the lines that find the bytes before unit ``i`` of the operands."""
    if not strided:
        return []
    lines = [f"{index} rest = i;"]
    lines += [f"b{k}[u] = 0;" for k in strided]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ const {index} next = quotient(rest, m{axis}, h{axis});")
        lines.append(f"const {step} at = ({step})(rest - next * d{axis});")
        lines += [f"b{k}[u] += at * s{k}_{axis};" for k in strided]
        lines.append("rest = next; }")
    return lines + [f"b{k}[u] += ({step})rest * s{k}_0;" for k in strided]


def _unit(request, k):
    """Return the C++ type of a unit of an operand."""
    vector = _vector(request)
    name = label(request, k)
    return f"pack<{name}, {vector}>" if vector > 1 else f"single<{name}>"


def _place(request, k, strided):
    """Return the text of the address of a unit of an operand."""
    name = label(request, k)
    if k not in strided:
        size = _vector(request)
        return f"p{k} + i * {size}" if size > 1 else f"p{k} + i"
    if k < request.inputs:
        return f"(const {name} *)((const char *)p{k} + b{k}[u])"
    return f"({name} *)((char *)p{k} + b{k}[u])"


def _load(request, k, strided):
    """Return the call that loads a unit of an input."""
    name = "load"
    if _vector(request) > 1 and request.passing[k] in ("repeated", "backward"):
        name = {"repeated": "repeat", "backward": "load_backward"}[request.passing[k]]
    return f"{name}({_place(request, k, strided)})"


def _results(request, strided, vector):
    """Return the lines that compute and store a unit of the outputs."""
    nin, outputs = request.inputs, outputs_of(request)
    lines = [f"{_unit(request, k)} v{k};" for k in outputs]
    if vector > 1:
        lines += ["#pragma unroll", f"for (int j = 0; j < {vector}; j++) {{"]
    else:
        lines.append("{ const int j = 0;")
    lines += loop_body(request, "v{}[u].items[j]".format)
    lines += [f"v{k}.items[j] = z{k - nin};" for k in outputs]
    lines += ["}", "if (i < n) {"]
    lines += [f"v{k}.store({_place(request, k, strided)});" for k in outputs]
    return [*lines, "}"]
