/* Differences between CPython 3.10 and 3.14. Included by base.h only. */
#ifndef PYTHON_SUPPORT_COMPAT_H
#define PYTHON_SUPPORT_COMPAT_H

#include <stdbool.h>

#include <structmember.h>

#if PY_VERSION_HEX < 0x030D0000
#    define PyThreadState_GetUnchecked _PyThreadState_UncheckedGet
#endif

/* The offset of the instruction that a frame executes. */
#if PY_VERSION_HEX < 0x030B0000
#    include <frameobject.h>
static inline int
PyFrame_GetLasti(PyFrameObject *frame)
{
    return frame->f_lasti < 0 ? -1 : frame->f_lasti * 2;
}
#endif

/* Keep the next allocations of objects from collecting garbage, which runs any code,
 * and undo that. Other versions collect between instructions only; 3.10 makes no frame
 * objects. */
static inline bool
pcu_collections_hold(void)
{
#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030C0000
    return PyGC_Disable() != 0;
#else
    return false;
#endif
}

static inline void
pcu_collections_resume(bool held)
{
    if (held) {
        (void)PyGC_Enable();
    }
}

/* The state of the calling thread if the thread holds the interpreter lock, else NULL.
 * The module works in one interpreter only, so a thread has one state. Without the lock
 * the states are only compared: a thread may ask after Python has finalized and freed
 * them. */
static inline PyThreadState *
pcu_thread_attached(void)
{
    PyThreadState *current = PyThreadState_GetUnchecked();
#if PY_VERSION_HEX < 0x030C0000
    /* In these versions it is the state of the thread that holds the lock. */
    if (current != PyGILState_GetThisThreadState()) {
        return NULL;
    }
#endif
    return current;
}

#if PY_VERSION_HEX < 0x030C0000
#    define Py_T_INT T_INT
#    define Py_T_PYSSIZET T_PYSSIZET
#    define Py_T_OBJECT_EX T_OBJECT_EX
#    define Py_READONLY READONLY
#endif

/* Look for a heap type of the module that `def` defines among the type and its bases.
 * Return its module, borrowed, or NULL with an exception if there is none. */
#if PY_VERSION_HEX < 0x030B0000
static inline PyObject *
PyType_GetModuleByDef(PyTypeObject *type, struct PyModuleDef *def)
{
    PyObject *mro = type->tp_mro;
    for (Py_ssize_t i = 0; mro != NULL && i < PyTuple_GET_SIZE(mro); i++) {
        PyTypeObject *base = (PyTypeObject *)PyTuple_GET_ITEM(mro, i);
        if (PyType_HasFeature(base, Py_TPFLAGS_HEAPTYPE)) {
            PyObject *module = ((PyHeapTypeObject *)base)->ht_module;
            if (module != NULL && PyModule_GetDef(module) == def) {
                return module;
            }
        }
    }
    PyErr_Format(PyExc_TypeError, "%s is not a type of this module", type->tp_name);
    return NULL;
}
#endif

/* The object of a weak reference, which may be NULL. Return NULL without an exception
 * if the object no longer exists. */
static inline PyObject *
pcu_weakref_new(PyObject *reference)
{
    PyObject *object = NULL;
#if PY_VERSION_HEX < 0x030D0000
    if (reference != NULL) {
        object = Py_NewRef(PyWeakref_GET_OBJECT(reference));
    }
    if (object == Py_None) {
        Py_CLEAR(object);
    }
#else
    if (reference != NULL && PyWeakref_GetRef(reference, &object) < 0) {
        PyErr_Clear(); /* cannot fail: the object is a weak reference */
    }
#endif
    return object;
}

/* Save and restore the pending exception around code that may set another. */
typedef struct {
#if PY_VERSION_HEX < 0x030C0000
    PyObject *type, *value, *traceback;
#else
    PyObject *value;
#endif
} pcu_saved_error;

static inline void
pcu_error_save(pcu_saved_error *saved)
{
#if PY_VERSION_HEX < 0x030C0000
    PyErr_Fetch(&saved->type, &saved->value, &saved->traceback);
#else
    saved->value = PyErr_GetRaisedException();
#endif
}

static inline void
pcu_error_restore(pcu_saved_error *saved)
{
#if PY_VERSION_HEX < 0x030C0000
    PyErr_Restore(saved->type, saved->value, saved->traceback);
#else
    PyErr_SetRaisedException(saved->value);
#endif
}

static inline int
pcu_is_finalizing(void)
{
#if PY_VERSION_HEX < 0x030D0000
    return _Py_IsFinalizing();
#else
    return Py_IsFinalizing();
#endif
}

#endif
