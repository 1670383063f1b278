/* The functions for OpenGL: gl_init, make_gl_context, have_gl_ext. See opengl.h for the
 * rules of registrations and mappings. */
#include "python/driver/exchange/opengl.h"

#include "python/support/convert.h"
#include "python/support/driver_call.h"
#include "python/support/setup.h"
#include "python/driver/context.h"

int
pcu_opengl_warn_deprecated(const char *what, const char *instead)
{
    return PyErr_WarnFormat(PyExc_DeprecationWarning, 1,
                            "%s belongs to an interface that CUDA 3 replaced; %s", what,
                            instead);
}

PyGetSetDef pcu_opengl_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(opengl_init_doc,
             "gl_init($module, /)\n--\n\n"
             "Prepare the current context for OpenGL, which drivers no longer need.\n"
             "\nWarns\n-----\n" PCU_OPENGL_DOC_DEPRECATED
             "\nSee Also\n--------\n"
             "make_gl_context : Make a context.");

static PyObject *
opengl_init(PyObject *m, PyObject *Py_UNUSED(ignored))
{
    pcu_state *st = pcu_state_of_module(m);
    int rc = 0;
    if (pcu_opengl_warn_deprecated("gl_init", "it does nothing now") < 0) {
        return NULL;
    }
    CUresult status;
    PCU_STATUS(status, GLInit, ());
    if (status != CUDA_SUCCESS && pcu_drv_missing_since("cuGLInit") == 0) {
        rc = pcu_raise(st, "cuGLInit", status);
    }
    if (rc < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

typedef struct {
    PyObject *device;
    unsigned int flags;
} opengl_context_args;

static const pcu_word opengl_context_words[] = {
    PCU_WORD("dev", pcu_as_object, opengl_context_args, device),
    PCU_WORD("flags", pcu_as_uint, opengl_context_args, flags),
};

PCU_SIGNATURE(opengl_make_context, opengl_context_words,
              "make_gl_context($module, /, dev, flags=0)\n--\n\n"
              "Make a context on a device and push it.\n"
              "\nParameters\n----------\n"
              "dev : Device\n"
              "    The device.\n"
              "flags : int, optional\n"
              "    Values of ``ctx_flags``, combined with ``|``.\n"
              "\nReturns\n-------\n"
              "Context\n"
              "    The new context, which is current.\n"
              "\nRaises\n------\n"
              "TypeError\n"
              "    If ``dev`` is no Device.\n"
              "\nSee Also\n--------\n"
              "Device.make_context : Make any context.\n"
              "RegisteredBuffer : Share a buffer.\n"
              "\nNotes\n-----\n"
              "Call it in the thread in which the context of OpenGL is current. With\n"
              "present drivers any context can share with OpenGL.")

static PyObject *
opengl_make_context(PyObject *m, PyObject *const *args, Py_ssize_t nargs,
                    PyObject *kwnames)
{
    pcu_state *st = pcu_state_of_module(m);
    opengl_context_args a = {0};
    if (pcu_args_parse(st, &opengl_make_context_signature, args, nargs, kwnames, &a) <
        0) {
        return NULL;
    }
    if (!PyObject_TypeCheck(a.device, st->Device)) {
        PyErr_Format(PyExc_TypeError, "dev must be a Device, not %s",
                     Py_TYPE(a.device)->tp_name);
        return NULL;
    }
    return pcu_context_make_gl(st, pcu_device_handle(a.device), a.flags);
}

PyDoc_STRVAR(opengl_have_ext_doc,
             "have_gl_ext($module, /)\n--\n\n"
             "Return whether this package supports OpenGL.\n"
             "\nReturns\n-------\n"
             "bool\n"
             "    Always True.");

static PyObject *
opengl_have_ext(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    Py_RETURN_TRUE;
}

static PyMethodDef opengl_functions[] = {
    {"gl_init", opengl_init, METH_NOARGS, opengl_init_doc},
    PCU_METHOD("make_gl_context", opengl_make_context),
    {"have_gl_ext", opengl_have_ext, METH_NOARGS, opengl_have_ext_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_opengl_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, opengl_functions);
}
