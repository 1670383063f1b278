/* What it costs to note a launch: the extension's own code in a loop, without a driver.
 *
 * A module of its own, which bench_ring.py compiles together with driver/events.c and
 * python/support/call_site.c. measure(n, names) notes n launches with the names in turn
 * and returns the nanoseconds of one. The line that it notes is that of the code that
 * calls measure(). */
#define _POSIX_C_SOURCE 200809L

#include "python/support/call_site.h"
#include "driver/events.h"
#include "python/support/setup.h"

#include <time.h>

struct pcu_drv_info pcu_drv_info;

static pcu_state state;
static pcu_context_record record = {.alive = true};

static double
ring_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static PyObject *
ring_measure(PyObject *Py_UNUSED(m), PyObject *args)
{
    unsigned int count;
    PyObject *names;
    pcu_launch_shape shape = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
    if (!PyArg_ParseTuple(args, "IO!", &count, &PyTuple_Type, &names)) {
        return NULL;
    }
    size_t last = (size_t)PyTuple_GET_SIZE(names) - 1;
    size_t next = 0;
    double start = ring_seconds();
    for (unsigned int i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, (Py_ssize_t)next);
        next = next == last ? 0 : next + 1;
        shape.grid[0] = i;
        pcu_event_launch(&record, PCU_LAUNCH_KERNEL, (CUfunction)name, name, &shape,
                         pcu_call_site(&state));
    }
    return PyFloat_FromDouble((ring_seconds() - start) / count * 1e9);
}

static PyObject *
ring_line(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    const pcu_launch_event *last = pcu_launch_kept(&record, 0);
    if (last == NULL) {
        Py_RETURN_NONE;
    }
    return pcu_call_site_tuple(&state, last->site);
}

static PyMethodDef ring_functions[] = {
    {"measure", ring_measure, METH_VARARGS, "Note launches; return ns of one."},
    {"line", ring_line, METH_NOARGS,
     "Return file, line and function of the last launch."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef ring_definition = {PyModuleDef_HEAD_INIT, .m_name = "ring",
                                             .m_size = -1, .m_methods = ring_functions};

PyMODINIT_FUNC PyInit_ring(void);

PyMODINIT_FUNC
PyInit_ring(void)
{
    if (pcu_call_site_setup(NULL, &state) < 0) {
        return NULL;
    }
    return PyModule_Create(&ring_definition);
}
