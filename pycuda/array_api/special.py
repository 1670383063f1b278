"""Special functions, as the proposed extension of the standard and SciPy name them.

SciPy's functions of GPUArrays find these functions here: ``scipy.special`` itself, and
the tests and distributions of ``scipy.stats`` that need them. The standard does not
have the extension yet. Arguments are arrays, which broadcast, or numbers; at least one
is an array. float32 gives float32, other real data types give float64. All functions
compute in double precision. The relative error is below 1e-13, and below 1e-10 for the
incomplete gamma and beta functions with parameters up to 10,000.
"""

from pycuda import _hide_imports
from pycuda._array.functions.special import *  # noqa: F403
from pycuda._array.functions.special import __all__ as __all__
from pycuda._public import publish as _publish

_publish(globals())

_hide_imports(globals())
