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


def computation_type(compute):
    """Return the C++ type of a computation; half precision computes in float."""
    return "float" if compute == "float16" else compute


def computed(element, compute):
    """Return the text of an element in the type of the computation."""
    if compute == "raw":
        return element
    if compute == "float16":
        return f"(float)cast<float16>({element})"
    return f"cast<C>({element})"


def _element_type(request, name):
    """Return the C++ name of an element type."""
    if name == "raw":
        return f"raw<{request.raw_bytes}, {request.vector}>"
    return name


def _label(request, k):
    """Return the name of an operand's type: T0, T1, ... for inputs, Z0, ... after."""
    nin = request.inputs
    return f"T{k}" if k < nin else f"Z{k - nin}"


def _body(request, elements):
    """Return the statement that makes one element of each output."""
    words = {f"a{k}": element for k, element in enumerate(elements)}
    words |= {f"c{k}": computed(e, request.compute) for k, e in enumerate(elements)}
    body = _BODIES.get(request.operation)
    if body is None:
        arguments = ", ".join(f"{{c{k}}}" for k in range(request.inputs))
        body = f"z0 = cast<Z0>(op_{request.operation}({arguments}));"
    return body.format(**words)


def _typedefs(request):
    """Return the types of the computation and of the operands."""
    lines = []
    if request.compute != "raw":
        lines.append(f"typedef {computation_type(request.compute)} C;")
    for k, name in enumerate(request.types):
        lines.append(f"typedef {_element_type(request, name)} {_label(request, k)};")
    return lines


def _arrays(request):
    """Return the numbers of the operands that are arrays."""
    return [k for k, passing in enumerate(request.passing) if passing != "scalar"]


def _outputs(request):
    """Return the numbers of the outputs."""
    return range(request.inputs, request.inputs + request.outputs)


def _parameters(request, index, step):
    """Return the parameters: operands, number of elements, lengths and strides."""
    parameters = []
    for k, passing in enumerate(request.passing):
        label = _label(request, k)
        if k >= request.inputs:
            parameters.append(f"{label} *p{k}")
        elif passing == "scalar":
            parameters.append(f"{label} p{k}")
        else:
            parameters.append(f"const {label} *p{k}")
    parameters.append(f"{index} n")
    axes = range(request.ndim)
    parameters += [f"{index} d{axis}" for axis in axes]
    parameters += [f"{step} s{k}_{axis}" for k in _arrays(request) for axis in axes]
    return parameters


def elementwise_text(request):
    """Return the source of an elementwise kernel: a ``_KernelRequest``'s."""
    index, step = ("uint64", "int64") if request.wide else ("uint32", "int32")
    body = _strided(request, index, step) if request.ndim else _flat(request, index)
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        *_typedefs(request),
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(_parameters(request, index, step))})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _inputs(request, element):
    """Return the texts of the inputs; ``element(k)`` is that of an array's element."""
    texts = {"scalar": "p{}".format, "one": "o{}".format, "array": element}
    return [texts[request.passing[k]](k) for k in range(request.inputs)]


def _flat(request, index):
    """Return the body of a kernel whose operands are packed in the same order."""
    nin = request.inputs
    outputs = _outputs(request)
    vector = 1 if "raw" in request.types else request.vector

    def loop_body(element):
        declared = [f"Z{k - nin} z{k - nin};" for k in outputs]
        return [*declared, _body(request, _inputs(request, element))]

    one_by_one = [
        *loop_body("p{}[i]".format),
        *(f"p{k}[i] = z{k - nin};" for k in outputs),
        "}",
    ]
    ones = [k for k in range(nin) if request.passing[k] == "one"]
    lines = [f"const T{k} o{k} = *p{k};" for k in ones]
    lines.append(f"{index} first = ({index})blockIdx.x * 256 + threadIdx.x;")
    if vector == 1:
        return [*lines, f"{index} i = first;", "if (i < n) {", *one_by_one]
    packed = [k for k in range(nin) if request.passing[k] == "array"]
    lines += [f"first *= {vector};", f"if (first + {vector} <= n) {{"]
    for k in [*packed, *outputs]:
        lines.append(f"pack<{_label(request, k)}, {vector}> v{k};")
    lines += [f"v{k}.load(p{k} + first);" for k in packed]
    lines += ["#pragma unroll", f"for (int j = 0; j < {vector}; j++) {{"]
    if request.operation in ("arange", "linspace"):
        lines.append(f"{index} i = first + j;")
    lines += loop_body("v{}.items[j]".format)
    lines += [f"v{k}.items[j] = z{k - nin};" for k in outputs]
    lines.append("}")
    lines += [f"v{k}.store(p{k} + first);" for k in outputs]
    lines += ["} else {", f"for ({index} i = first; i < n; i++) {{"]
    return [*lines, *one_by_one, "}"]


def _strided(request, index, step):
    """Return the body of a kernel that finds each element by its indices."""
    nin = request.inputs
    arrays = _arrays(request)
    outputs = _outputs(request)
    lines = [
        f"{index} i = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (i >= n) return;",
        f"{index} rest = i;",
    ]
    lines += [f"{step} b{k} = 0;" for k in arrays]
    for axis in range(request.ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / d{axis};")
        lines.append(f"{step} at = ({step})(rest - next * d{axis});")
        lines += [f"b{k} += at * s{k}_{axis};" for k in arrays]
        lines.append("rest = next; }")
    lines += [f"b{k} += ({step})rest * s{k}_0;" for k in arrays]
    element = "(*(const T{0} *)((const char *)p{0} + b{0}))".format
    lines += [f"Z{k - nin} z{k - nin};" for k in outputs]
    lines.append(_body(request, _inputs(request, element)))
    lines += [f"*(Z{k - nin} *)((char *)p{k} + b{k}) = z{k - nin};" for k in outputs]
    return lines
