"""The source of generated elementwise kernels.

``cuda/pycuda-array.hpp`` defines the elements and the operations. This file writes the
loop around them.
"""

from __future__ import annotations

# How an operand is passed: an address, a value, or the address of a single element.
_ARRAY, _SCALAR, _ONE = range(3)

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


def _element_type(name, vec):
    """Return the C++ name of an element type; raw elements have words of ``vec``."""
    if name.startswith("raw"):
        return f"raw<{name[3:]}, {vec}>"
    return name


def _label(k, nin):
    """Return the name of an operand's type: T0, T1, ... for inputs, Z0, ... after."""
    return f"T{k}" if k < nin else f"Z{k - nin}"


def _body(op, nin, compute, elements):
    """Return the statement that makes one element of each output."""
    words = {f"a{k}": element for k, element in enumerate(elements)}
    words |= {f"c{k}": computed(e, compute) for k, e in enumerate(elements)}
    body = _BODIES.get(op)
    if body is None:
        arguments = ", ".join(f"{{c{k}}}" for k in range(nin))
        body = f"z0 = cast<Z0>(op_{op}({arguments}));"
    return body.format(**words)


def _typedefs(types, nin, compute, vec):
    """Return the types of the computation and of the operands."""
    lines = []
    if compute != "raw":
        lines.append(f"typedef {computation_type(compute)} C;")
    for k, name in enumerate(types):
        lines.append(f"typedef {_element_type(name, vec)} {_label(k, nin)};")
    return lines


def _parameters(types, nin, kinds, arrays, ndim, index, step):
    """Return the parameters: operands, number of elements, lengths and strides."""
    parameters = []
    for k in range(len(types)):
        label = _label(k, nin)
        if k >= nin:
            parameters.append(f"{label} *p{k}")
        elif kinds[k] == _SCALAR:
            parameters.append(f"{label} p{k}")
        else:
            parameters.append(f"const {label} *p{k}")
    parameters.append(f"{index} n")
    axes = range(ndim)
    parameters += [f"{index} d{axis}" for axis in axes]
    parameters += [f"{step} s{k}_{axis}" for k in arrays for axis in axes]
    return parameters


def elementwise_text(op, types, nin, kinds, compute, ndim, wide, vec):
    """Return the source of an elementwise kernel.

    ``types`` are the names of the dtypes of inputs and outputs. ``kinds`` says how each
    is passed. ``ndim`` of 0 is a flat kernel, which handles ``vec`` elements a thread.
    ``wide`` asks for indices of 64 bits.
    """
    index, step = ("uint64", "int64") if wide else ("uint32", "int32")
    arrays = [k for k in range(len(types)) if kinds[k] != _SCALAR]
    outputs = range(nin, len(types))
    parameters = _parameters(types, nin, kinds, arrays, ndim, index, step)
    if ndim:
        body = _strided(op, nin, kinds, compute, ndim, arrays, outputs, index, step)
    else:
        is_raw = any(name.startswith("raw") for name in types)
        size = 1 if is_raw else vec
        body = _flat(op, nin, kinds, compute, size, outputs, index)
    lines = [
        "#include <pycuda-array.hpp>",
        "using namespace pycuda_array;",
        *_typedefs(types, nin, compute, vec),
        'extern "C" __global__ void __launch_bounds__(256)',
        f"kernel({', '.join(parameters)})",
        "{",
        *body,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _inputs(kinds, nin, element):
    """Return the texts of the inputs; ``element(k)`` is that of an array's element."""
    texts = {_SCALAR: "p{k}", _ONE: "o{k}"}
    return [
        texts[kinds[k]].format(k=k) if kinds[k] in texts else element(k)
        for k in range(nin)
    ]


def _flat(op, nin, kinds, compute, vec, outputs, index):
    """Return the body of a kernel whose operands are packed alike."""

    def loop_body(element):
        declared = [f"Z{k - nin} z{k - nin};" for k in outputs]
        return [*declared, _body(op, nin, compute, _inputs(kinds, nin, element))]

    one_by_one = [
        *loop_body("p{}[i]".format),
        *(f"p{k}[i] = z{k - nin};" for k in outputs),
        "}",
    ]
    lines = [f"const T{k} o{k} = *p{k};" for k in range(nin) if kinds[k] == _ONE]
    lines.append(f"{index} first = ({index})blockIdx.x * 256 + threadIdx.x;")
    if vec == 1:
        return [*lines, f"{index} i = first;", "if (i < n) {", *one_by_one]
    packed = [k for k in range(nin) if kinds[k] == _ARRAY]
    lines += [f"first *= {vec};", f"if (first + {vec} <= n) {{"]
    for k in [*packed, *outputs]:
        lines.append(f"pack<{_label(k, nin)}, {vec}> v{k};")
    lines += [f"v{k}.load(p{k} + first);" for k in packed]
    lines += ["#pragma unroll", f"for (int j = 0; j < {vec}; j++) {{"]
    if op == "arange":
        lines.append(f"{index} i = first + j;")
    lines += loop_body("v{}.items[j]".format)
    lines += [f"v{k}.items[j] = z{k - nin};" for k in outputs]
    lines.append("}")
    lines += [f"v{k}.store(p{k} + first);" for k in outputs]
    lines += ["} else {", f"for ({index} i = first; i < n; i++) {{"]
    return [*lines, *one_by_one, "}"]


def _strided(op, nin, kinds, compute, ndim, arrays, outputs, index, step):
    """Return the body of a kernel that finds each element by its indices."""
    lines = [
        f"{index} i = ({index})blockIdx.x * 256 + threadIdx.x;",
        "if (i >= n) return;",
        f"{index} rest = i;",
    ]
    lines += [f"{step} b{k} = 0;" for k in arrays]
    for axis in range(ndim - 1, 0, -1):
        lines.append(f"{{ {index} next = rest / d{axis};")
        lines.append(f"{step} at = ({step})(rest - next * d{axis});")
        lines += [f"b{k} += at * s{k}_{axis};" for k in arrays]
        lines.append("rest = next; }")
    lines += [f"b{k} += ({step})rest * s{k}_0;" for k in arrays]
    elements = []
    for k in range(nin):
        if kinds[k] == _SCALAR:
            elements.append(f"p{k}")
        else:
            elements.append(f"(*(const T{k} *)((const char *)p{k} + b{k}))")
    lines += [f"Z{k - nin} z{k - nin};" for k in outputs]
    lines.append(_body(op, nin, compute, elements))
    lines += [f"*(Z{k - nin} *)((char *)p{k} + b{k}) = z{k - nin};" for k in outputs]
    return lines
