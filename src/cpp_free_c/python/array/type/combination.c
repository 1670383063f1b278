/* Linear combinations, and products, quotients and powers into a given array.
 *
 * mul_add is public; the others are helpers that libraries for PyCUDA call. Each runs
 * one kernel. */

#include "python/array/type/members.h"

#include "python/array/element_type.h"
#include "python/array/ops/ufunc.h"
#include "python/driver/stream.h"
#include "python/support/convert.h"
#include "python/support/docs.h"

typedef struct {
    PyObject *a; /* the factor of self; borrowed, as are all objects */
    PyObject *other;
    PyObject *b; /* the factor of other */
    PyObject *out;
    PyObject *add_timer;
    CUstream stream;
} combination_args;

/* Enqueue op(inputs) into out. */
static PyObject *
combination_call(pcu_gpuarray *self, int op, PyObject *const *inputs, PyObject *out,
                 CUstream stream)
{
    pcu_ufunc_options options = {
        .outs = {NULL, NULL}, .dtype = PCU_T_NONE, .stream = stream};
    if (out != Py_None) {
        options.outs[0] = out;
    }
    return pcu_ufunc_require(self->st, op, inputs, &options);
}

static int
combination_refuse_timer(PyObject *add_timer)
{
    if (add_timer != Py_None) {
        PyErr_SetString(PyExc_NotImplementedError,
                        "add_timer is not supported; use events around the call");
        return -1;
    }
    return 0;
}

static const pcu_word combination_words[] = {
    PCU_WORD("selffac", pcu_as_object, combination_args, a),
    PCU_WORD("other", pcu_as_object, combination_args, other),
    PCU_WORD("otherfac", pcu_as_object, combination_args, b),
    PCU_WORD("add_timer", pcu_as_object, combination_args, add_timer),
    PCU_WORD("stream", pcu_as_stream, combination_args, stream),
    PCU_WORD("out", pcu_as_object, combination_args, out),
    PCU_WORD("new", pcu_as_object, combination_args, a),
};

PCU_SIGNATURE(combination_mul_add, combination_words,
              "mul_add($self, /, selffac, other, otherfac, add_timer=None, "
              "stream=None, out=None)\n"
              "--\n\n"
              "Return ``selffac * self + otherfac * other``, computed in one kernel.\n"
              "\nParameters\n----------\n"
              "selffac : number\n"
              "    Factor of this array.\n"
              "other : GPUArray\n"
              "    Second array.\n"
              "otherfac : number\n"
              "    Factor of the second array.\n"
              "add_timer : object, optional\n"
              "    Not used; PyCUDA has this parameter.\n" PCU_DOC_STREAM PCU_DOC_OUT
              "\nReturns\n-------\n"
              "GPUArray\n"
              "    The result: ``out``, or a new array of the common dtype.\n"
              "\nRaises\n------\n"
              "ValueError\n"
              "    If the shapes do not fit.\n"
              "\nNotes\n-----\n" PCU_DOC_NO_WAIT
              "\nExamples\n--------\n"
              ">>> x = gpuarray.to_gpu(np.array([1.0, 2]))\n"
              ">>> x.mul_add(2, x, 10)\n"
              "array([12., 24.])")

static PyObject *
combination_mul_add(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combination_args a = {
        .add_timer = Py_None, .out = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &combination_mul_add_signature, args, nargs, kwnames,
                       &a) < 0 ||
        combination_refuse_timer(a.add_timer) < 0) {
        return NULL;
    }
    PyObject *inputs[4] = {a.a, op, a.b, a.other};
    return combination_call(self, PCU_OP_AXPBY, inputs, a.out, a.stream);
}

PCU_SIGNATURE(combination_axpbyz, combination_words,
              "_axpbyz($self, /, selffac, other, otherfac, out, add_timer=None, "
              "stream=None)\n--\n\n"
              "Compute out = selffac * self + otherfac * other.")

static PyObject *
combination_axpbyz(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                   PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combination_args a = {.add_timer = Py_None, .stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &combination_axpbyz_signature, args, nargs, kwnames,
                       &a) < 0 ||
        combination_refuse_timer(a.add_timer) < 0) {
        return NULL;
    }
    PyObject *inputs[4] = {a.a, op, a.b, a.other};
    return combination_call(self, PCU_OP_AXPBY, inputs, a.out, a.stream);
}

PCU_SIGNATURE(combination_axpbz, combination_words,
              "_axpbz($self, /, selffac, other, out, stream=None)\n--\n\n"
              "Compute out = selffac * self + other.")

static PyObject *
combination_axpbz(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                  PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combination_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &combination_axpbz_signature, args, nargs, kwnames,
                       &a) < 0) {
        return NULL;
    }
    PyObject *inputs[3] = {a.a, op, a.other};
    return combination_call(self, PCU_OP_AXPB, inputs, a.out, a.stream);
}

/* Parse (other, out, stream=None) and compute out = self op other, or the reverse. */
static PyObject *
combination_pair(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames, const pcu_signature *signature, int operation,
                 bool reversed)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combination_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, signature, args, nargs, kwnames, &a) < 0) {
        return NULL;
    }
    PyObject *inputs[2] = {op, a.other};
    if (reversed) {
        inputs[0] = a.other;
        inputs[1] = op;
    }
    return combination_call(self, operation, inputs, a.out, a.stream);
}

PCU_SIGNATURE(combination_multiply, combination_words,
              "_elwise_multiply($self, /, other, out, stream=None)\n--\n\n"
              "Compute out = self * other.")
PCU_SIGNATURE(
    combination_div, combination_words,
    "_div($self, /, other, out, stream=None)\n--\n\nCompute out = self / other.")
PCU_SIGNATURE(combination_rdiv, combination_words,
              "_rdiv_scalar($self, /, other, out, stream=None)\n--\n\n"
              "Compute out = other / self.")

static PyObject *
combination_multiply(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                     PyObject *kwnames)
{
    return combination_pair(op, args, nargs, kwnames, &combination_multiply_signature,
                            PCU_OP_MULTIPLY, false);
}

static PyObject *
combination_div(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    return combination_pair(op, args, nargs, kwnames, &combination_div_signature,
                            PCU_OP_DIVIDE, false);
}

static PyObject *
combination_rdiv(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                 PyObject *kwnames)
{
    return combination_pair(op, args, nargs, kwnames, &combination_rdiv_signature,
                            PCU_OP_DIVIDE, true);
}

PCU_SIGNATURE(combination_pow, combination_words,
              "_pow($self, /, other, new)\n--\n\n"
              "Return self ** other: in a new array if new is true, else in self.")

static PyObject *
combination_pow(PyObject *op, PyObject *const *args, Py_ssize_t nargs,
                PyObject *kwnames)
{
    pcu_gpuarray *self = (pcu_gpuarray *)op;
    combination_args a = {.stream = pcu_stream_current()};
    if (pcu_args_parse(self->st, &combination_pow_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    int new = PyObject_IsTrue(a.a);
    if (new < 0) {
        return NULL;
    }
    PyObject *inputs[2] = {op, a.other};
    PyObject *out = op;
    if (new) {
        out = Py_None;
    }
    return combination_call(self, PCU_OP_POWER, inputs, out, a.stream);
}

#define COMBINATION_ROW(name, function) PCU_METHOD(name, combination_##function)

PyMethodDef pcu_combination_methods[] = {
    COMBINATION_ROW("mul_add", mul_add), COMBINATION_ROW("_axpbyz", axpbyz),
    COMBINATION_ROW("_axpbz", axpbz),    COMBINATION_ROW("_elwise_multiply", multiply),
    COMBINATION_ROW("_div", div),        COMBINATION_ROW("_rdiv_scalar", rdiv),
    COMBINATION_ROW("_pow", pow),        {NULL, NULL, 0, NULL},
};
