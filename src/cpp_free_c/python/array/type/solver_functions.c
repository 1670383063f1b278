/* The functions by which pycuda's Python modules solve and decompose matrices with
 * generated kernels. */

#include "python/array/type/members.h"

#include "python/array/solver/diagonals.h"
#include "python/array/solver/small_matrices.h"
#include "python/array/type/arguments.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"

typedef struct {
    pcu_small_kind kind;
    PyObject *a; /* borrowed, as is the other */
    PyObject *b;
    int option;
    CUstream stream;
} solver_args;

static const char *const solver_kinds[PCU_SMALL_KINDS] = {
    [PCU_SMALL_SOLVE] = "solve",
    [PCU_SMALL_INVERSE] = "inv",
    [PCU_SMALL_DET] = "det",
    [PCU_SMALL_SLOGDET] = "slogdet",
    [PCU_SMALL_FACTORS_DET] = "det of factors",
    [PCU_SMALL_FACTORS_SLOGDET] = "slogdet of factors",
    [PCU_SMALL_CHOLESKY] = "cholesky",
    [PCU_SMALL_QR] = "qr",
    [PCU_SMALL_EIGENVALUES] = "eigvalsh",
    [PCU_SMALL_SINGULAR] = "svdvals",
};

typedef pcu_small_kind solver_as_kind_stores;

static int
solver_as_kind(pcu_state *Py_UNUSED(st), PyObject *value, void *out,
               const char *Py_UNUSED(name))
{
    size_t place = pcu_find_word(value, solver_kinds, PCU_SMALL_KINDS);
    if (place == PCU_SMALL_KINDS) {
        PyErr_Format(PyExc_ValueError, "there is no solver %R", value);
        return -1;
    }
    *(pcu_small_kind *)out = (pcu_small_kind)place;
    return 0;
}

/* The exception that LAPACK's users expect of NumPy. */
static void
solver_raise_failed(pcu_small_kind kind)
{
    const char *message = "Singular matrix";
    PyObject *error = NULL;
    PyObject *module = PyImport_ImportModule("numpy.linalg");
    if (kind == PCU_SMALL_CHOLESKY) {
        message = "Matrix is not positive definite";
    }
    if (module != NULL) {
        error = PyObject_GetAttrString(module, "LinAlgError");
        Py_DECREF(module);
    }
    if (error != NULL) {
        PyErr_SetString(error, message);
        Py_DECREF(error);
    }
}

/* One array, or a tuple of two. Takes the references. */
static PyObject *
solver_results_new(pcu_small_results *results)
{
    if (results->arrays[1] == NULL) {
        return results->arrays[0];
    }
    if (results->arrays[0] == NULL) {
        return results->arrays[1];
    }
    return Py_BuildValue("NN", results->arrays[0], results->arrays[1]);
}

static const pcu_word solver_words[] = {
    PCU_WORD("kind", solver_as_kind, solver_args, kind),
    PCU_WORD("a", pcu_as_object, solver_args, a),
    PCU_WORD("b", pcu_as_object, solver_args, b),
    PCU_WORD("option", pcu_as_int, solver_args, option),
    PCU_WORD("stream", pcu_as_stream, solver_args, stream),
};

PCU_SIGNATURE(
    solver_small, solver_words,
    "_small_solver($module, kind, a, b=None, option=0, stream=None)\n--\n\n"
    "Solve or decompose small matrices by one kernel.\n\n"
    "Return the array or the tuple of arrays that the function of that name in\n"
    "pycuda.linalg returns, or None if the kernels do not take these arguments.")

static PyObject *
solver_small(PyObject *m, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    solver_args a = {.b = Py_None, .stream = pcu_stream_current()};
    pcu_small_results results;
    if (pcu_args_parse(st, &solver_small_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    bool takes_two = a.kind == PCU_SMALL_SOLVE || a.kind == PCU_SMALL_FACTORS_DET ||
                     a.kind == PCU_SMALL_FACTORS_SLOGDET;
    if (!pcu_is_array(st, a.a) || takes_two != (a.b != Py_None) ||
        (takes_two && !pcu_is_array(st, a.b))) {
        Py_RETURN_NONE; /* Python says what is wrong */
    }
    pcu_small_call call = {.kind = a.kind,
                           .a = (pcu_gpuarray *)a.a,
                           .option = a.option,
                           .stream = a.stream};
    if (a.b != Py_None) {
        call.b = (pcu_gpuarray *)a.b;
    }
    if (pcu_gpuarray_ready(call.a) < 0 ||
        (call.b != NULL && pcu_gpuarray_ready(call.b) < 0)) {
        return NULL;
    }
    int taken = pcu_small_matrices(st, &call, &results);
    if (taken < 0) {
        return NULL;
    }
    if (!taken) {
        Py_RETURN_NONE;
    }
    if (results.failed) {
        Py_XDECREF(results.arrays[0]);
        Py_XDECREF(results.arrays[1]);
        solver_raise_failed(a.kind);
        return NULL;
    }
    return solver_results_new(&results);
}

typedef struct {
    pcu_array_args shared;
    bool is_bidiagonal;
} diagonals_args;

static const pcu_word diagonals_words[] = {
    PCU_WORD("diagonal", pcu_as_array, diagonals_args, shared.a),
    PCU_WORD("beside", pcu_as_array, diagonals_args, shared.b),
    PCU_WORD("is_bidiagonal", pcu_as_bool, diagonals_args, is_bidiagonal),
    PCU_ARRAY_WORDS(diagonals_args),
};

PCU_SIGNATURE(
    solver_diagonals, diagonals_words,
    "_values_of_diagonals($module, diagonal, beside, is_bidiagonal, /, stream=None)\n"
    "--\n\n"
    "Return the eigenvalues of symmetric tridiagonal matrices, ascending, or the\n"
    "singular values of bidiagonal ones, descending.\n\n"
    "Both arrays have shape (..., n); the last elements beside the diagonals are not\n"
    "used. None if n is too great for a kernel.")

static PyObject *
solver_diagonals(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    diagonals_args a = {.shared = pcu_array_defaults()};
    if (pcu_args_parse(st, &solver_diagonals_signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    pcu_diagonals_call call = {.diagonal = a.shared.a,
                               .beside = a.shared.b,
                               .is_bidiagonal = a.is_bidiagonal,
                               .stream = a.shared.stream};
    return pcu_diagonals_values(st, &call);
}

PyMethodDef pcu_solver_functions[] = {
    PCU_METHOD("_values_of_diagonals", solver_diagonals),
    PCU_METHOD("_small_solver", solver_small),
    {NULL, NULL, 0, NULL},
};
