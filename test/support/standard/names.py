"""The names of the standard, version 2025.12, with the signatures of its functions.

``missing()`` compares the namespace with this table.
"""

from __future__ import annotations

import inspect

import pycuda.array_api as namespace
from pycuda.array_api._data_types import NamespaceInfo
from pycuda.gpuarray import GPUArray

CONSTANTS = """
e inf nan newaxis pi
"""

DATA_TYPES = """
bool int8 int16 int32 int64 uint8 uint16 uint32 uint64
float32 float64 complex64 complex128
"""

FUNCTIONS = """
__array_namespace_info__()
abs(x, /)
acos(x, /)
acosh(x, /)
add(x1, x2, /)
all(x, /, *, axis=None, keepdims=False)
any(x, /, *, axis=None, keepdims=False)
arange(start, /, stop=None, step=1, *, dtype=None, device=None)
argmax(x, /, *, axis=None, keepdims=False)
argmin(x, /, *, axis=None, keepdims=False)
argsort(x, /, *, axis=-1, descending=False, stable=True)
asarray(obj, /, *, dtype=None, device=None, copy=None)
asin(x, /)
asinh(x, /)
astype(x, dtype, /, *, copy=True, device=None)
atan(x, /)
atan2(x1, x2, /)
atanh(x, /)
bitwise_and(x1, x2, /)
bitwise_invert(x, /)
bitwise_left_shift(x1, x2, /)
bitwise_or(x1, x2, /)
bitwise_right_shift(x1, x2, /)
bitwise_xor(x1, x2, /)
broadcast_arrays(*arrays)
broadcast_shapes(*shapes)
broadcast_to(x, /, shape)
can_cast(from_, to, /)
ceil(x, /)
clip(x, /, min=None, max=None)
concat(arrays, /, *, axis=0)
conj(x, /)
copysign(x1, x2, /)
cos(x, /)
cosh(x, /)
count_nonzero(x, /, *, axis=None, keepdims=False)
cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False)
cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False)
diff(x, /, *, axis=-1, n=1, prepend=None, append=None)
divide(x1, x2, /)
empty(shape, *, dtype=None, device=None)
empty_like(x, /, *, dtype=None, device=None)
equal(x1, x2, /)
exp(x, /)
expand_dims(x, /, axis)
expm1(x, /)
eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None)
finfo(type, /)
flip(x, /, *, axis=None)
floor(x, /)
floor_divide(x1, x2, /)
from_dlpack(x, /, *, device=None, copy=None)
full(shape, fill_value, *, dtype=None, device=None)
full_like(x, /, fill_value, *, dtype=None, device=None)
greater(x1, x2, /)
greater_equal(x1, x2, /)
hypot(x1, x2, /)
iinfo(type, /)
imag(x, /)
isdtype(dtype, kind)
isfinite(x, /)
isin(x1, x2, /, *, invert=False)
isinf(x, /)
isnan(x, /)
less(x1, x2, /)
less_equal(x1, x2, /)
linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True)
log(x, /)
log10(x, /)
log1p(x, /)
log2(x, /)
logaddexp(x1, x2, /)
logical_and(x1, x2, /)
logical_not(x, /)
logical_or(x1, x2, /)
logical_xor(x1, x2, /)
matmul(x1, x2, /)
matrix_transpose(x, /)
max(x, /, *, axis=None, keepdims=False)
maximum(x1, x2, /)
mean(x, /, *, axis=None, keepdims=False)
meshgrid(*arrays, indexing='xy')
min(x, /, *, axis=None, keepdims=False)
minimum(x1, x2, /)
moveaxis(x, source, destination, /)
multiply(x1, x2, /)
negative(x, /)
nextafter(x1, x2, /)
nonzero(x, /)
not_equal(x1, x2, /)
ones(shape, *, dtype=None, device=None)
ones_like(x, /, *, dtype=None, device=None)
permute_dims(x, /, axes)
positive(x, /)
pow(x1, x2, /)
prod(x, /, *, axis=None, dtype=None, keepdims=False)
real(x, /)
reciprocal(x, /)
remainder(x1, x2, /)
repeat(x, repeats, /, *, axis=None)
reshape(x, /, shape, *, copy=None)
result_type(*arrays_and_dtypes)
roll(x, /, shift, *, axis=None)
round(x, /)
searchsorted(x1, x2, /, *, side='left', sorter=None)
sign(x, /)
signbit(x, /)
sin(x, /)
sinh(x, /)
sort(x, /, *, axis=-1, descending=False, stable=True)
sqrt(x, /)
square(x, /)
squeeze(x, /, axis)
stack(arrays, /, *, axis=0)
std(x, /, *, axis=None, correction=0.0, keepdims=False)
subtract(x1, x2, /)
sum(x, /, *, axis=None, dtype=None, keepdims=False)
take(x, indices, /, *, axis=None)
take_along_axis(x, indices, /, *, axis=-1)
tan(x, /)
tanh(x, /)
tensordot(x1, x2, /, *, axes=2)
tile(x, repetitions, /)
tril(x, /, *, k=0)
triu(x, /, *, k=0)
trunc(x, /)
unique_all(x, /)
unique_counts(x, /)
unique_inverse(x, /)
unique_values(x, /)
unstack(x, /, *, axis=0)
var(x, /, *, axis=None, correction=0.0, keepdims=False)
vecdot(x1, x2, /, *, axis=-1)
where(condition, x1, x2, /)
zeros(shape, *, dtype=None, device=None)
zeros_like(x, /, *, dtype=None, device=None)
"""

LINALG = """
cholesky(x, /, *, upper=False)
cross(x1, x2, /, *, axis=-1)
det(x, /)
diagonal(x, /, *, offset=0)
eig(x, /)
eigh(x, /)
eigvals(x, /)
eigvalsh(x, /)
inv(x, /)
matmul(x1, x2, /)
matrix_norm(x, /, *, keepdims=False, ord='fro')
matrix_power(x, n, /)
matrix_rank(x, /, *, rtol=None)
matrix_transpose(x, /)
outer(x1, x2, /)
pinv(x, /, *, rtol=None)
qr(x, /, *, mode='reduced')
slogdet(x, /)
solve(x1, x2, /)
svd(x, /, *, full_matrices=True)
svdvals(x, /)
tensordot(x1, x2, /, *, axes=2)
trace(x, /, *, offset=0, dtype=None)
vecdot(x1, x2, /, *, axis=-1)
vector_norm(x, /, *, axis=None, keepdims=False, ord=2)
"""

FFT = """
fft(x, /, *, n=None, axis=-1, norm='backward')
fftfreq(n, /, *, d=1.0, dtype=None, device=None)
fftn(x, /, *, s=None, axes=None, norm='backward')
fftshift(x, /, *, axes=None)
hfft(x, /, *, n=None, axis=-1, norm='backward')
ifft(x, /, *, n=None, axis=-1, norm='backward')
ifftn(x, /, *, s=None, axes=None, norm='backward')
ifftshift(x, /, *, axes=None)
ihfft(x, /, *, n=None, axis=-1, norm='backward')
irfft(x, /, *, n=None, axis=-1, norm='backward')
irfftn(x, /, *, s=None, axes=None, norm='backward')
rfft(x, /, *, n=None, axis=-1, norm='backward')
rfftfreq(n, /, *, d=1.0, dtype=None, device=None)
rfftn(x, /, *, s=None, axes=None, norm='backward')
"""

METHODS = """
__abs__ __add__ __and__ __array_namespace__ __bool__ __complex__ __dlpack__
__dlpack_device__ __eq__ __float__ __floordiv__ __ge__ __getitem__ __gt__ __iadd__
__iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ __imul__ __index__ __int__
__invert__ __ior__ __ipow__ __irshift__ __isub__ __itruediv__ __ixor__ __le__
__lshift__ __lt__ __matmul__ __mod__ __mul__ __ne__ __neg__ __or__ __pos__ __pow__
__radd__ __rand__ __rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__
__rpow__ __rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __setitem__ __sub__
__truediv__ __xor__ to_device
"""

ATTRIBUTES = """
T device dtype mT ndim shape size
"""

INSPECTION = """
capabilities(self)
default_device(self)
default_dtypes(self, *, device=None)
devices(self)
dtypes(self, *, device=None, kind=None)
"""


def _rows(text: str) -> list[tuple[str, str]]:
    """Return (name, signature) of the lines of a table."""
    found = []
    for line in text.split("\n"):
        name, bracket, rest = line.partition("(")
        if bracket:
            found.append((name, bracket + rest))
    return found


def _signature(function: object) -> str:
    """Return the signature of a function without its types."""
    if not callable(function):
        return "no function"
    signature = inspect.signature(function)
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
    ]
    return str(
        signature.replace(
            parameters=parameters, return_annotation=inspect.Signature.empty
        )
    )


def _compared(owner: object, text: str, prefix: str) -> list[str]:
    """Return the names of a table that an object lacks, or has in another form."""
    found = []
    for name, wanted in _rows(text):
        function = getattr(owner, name, None)
        if function is None:
            found.append(prefix + name)
        elif _signature(function) != wanted:
            found.append(f"{prefix}{name}{wanted} is {_signature(function)}")
    return found


def missing() -> tuple[list[str], int]:
    """Return what the namespace and GPUArray lack of the standard, and its size.

    The first is a list of names, or of differences between signatures; the second is
    the number of names in the tables.
    """
    found = [
        name
        for name in (CONSTANTS + DATA_TYPES).split()
        if not hasattr(namespace, name)
    ]
    found += _compared(namespace, FUNCTIONS, "")
    found += _compared(NamespaceInfo, INSPECTION, "NamespaceInfo.")
    for extension, text in (("linalg", LINALG), ("fft", FFT)):
        try:
            owner = getattr(namespace, extension)
        except ImportError:
            owner = None
        found += _compared(owner, text, f"{extension}.")
    found += [
        f"GPUArray.{name}"
        for name in (METHODS + ATTRIBUTES).split()
        if not hasattr(GPUArray, name)
    ]
    names = CONSTANTS + DATA_TYPES + METHODS + ATTRIBUTES
    tables = FUNCTIONS + LINALG + FFT + INSPECTION
    return found, len(names.split()) + len(_rows(tables))
