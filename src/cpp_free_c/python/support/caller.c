/* Finding the line of the program that made a call: see caller.h.
 *
 * The frames of the interpreter are not part of its public interface before 3.14, and
 * the public functions make a frame object, which costs more than a launch may. So this
 * file describes the members that it reads, for each version. Their places do not
 * change within a version. pcu_caller_setup compares the description with what the
 * public functions say; if they differ, or the version has no description, the public
 * functions are used. */
#include "python/support/caller.h"

#include "python/support/setup.h"

#include <frameobject.h>
#include <stdbool.h>

/* -- the interpreter's frames ------------------------------------------------------ */

#if PY_VERSION_HEX < 0x030B0000
#    define CALLER_HAS_LAYOUT 1

typedef PyFrameObject caller_frame;

static inline const caller_frame *
caller_innermost(const PyThreadState *thread)
{
    return thread->frame;
}

static inline const caller_frame *
caller_previous(const caller_frame *frame)
{
    return frame->f_back;
}

static inline PyCodeObject *
caller_code(const caller_frame *frame)
{
    return frame->f_code;
}

static inline int
caller_offset(const caller_frame *frame, const PyCodeObject *Py_UNUSED(code))
{
    return frame->f_lasti * 2;
}

#elif PY_VERSION_HEX < 0x030F0000 && !defined(Py_GIL_DISABLED) && !defined(Py_DEBUG)
#    define CALLER_HAS_LAYOUT 1

#    if PY_VERSION_HEX < 0x030C0000
typedef struct caller_frame {
    void *function, *globals, *builtins, *locals;
    PyObject *code;
    void *object;
    const struct caller_frame *previous;
    const char *instruction;
    int stack_top;
    bool is_entry;
    char owner;
} caller_frame;
#    else
typedef struct caller_frame {
    PyObject *code; /* since 3.14 with marks in the lowest bits */
    const struct caller_frame *previous;
    void *function, *globals, *builtins, *locals;
    void *object;
    const char *instruction;
#        if PY_VERSION_HEX < 0x030E0000
    int stack_top;
#        else
    void *stack_top;
#        endif
    uint16_t return_offset;
    char owner;
} caller_frame;
#    endif

static inline const caller_frame *
caller_innermost(const PyThreadState *thread)
{
#    if PY_VERSION_HEX < 0x030D0000
    return (const caller_frame *)thread->cframe->current_frame;
#    else
    return (const caller_frame *)thread->current_frame;
#    endif
}

static inline const caller_frame *
caller_previous(const caller_frame *frame)
{
    return frame->previous;
}

/* The code of a frame, NULL for the frames that C functions make. */
static inline PyCodeObject *
caller_code(const caller_frame *frame)
{
    enum { OWNED_BY_C = 3, MARKS = 3 };
    if (frame->owner >= OWNED_BY_C) {
        return NULL;
    }
    PyObject *code = (PyObject *)((uintptr_t)frame->code & ~(uintptr_t)MARKS);
    if (code == NULL || !PyCode_Check(code)) {
        return NULL;
    }
    return (PyCodeObject *)code;
}

static inline int
caller_offset(const caller_frame *frame, const PyCodeObject *code)
{
    return (int)(frame->instruction - (const char *)code->co_code_adaptive);
}

#else
#    define CALLER_HAS_LAYOUT 0
#endif

/* The offset of the instruction that a frame object executes. */
static int
caller_public_offset(PyFrameObject *frame)
{
#if PY_VERSION_HEX < 0x030B0000
    return frame->f_lasti * 2;
#else
    return PyFrame_GetLasti(frame);
#endif
}

/* -- lines that are passed over ---------------------------------------------------- */

enum { CALLER_SKIPPED = 3 };

struct pcu_caller_rules {
    int layout_holds;                  /* the description above is right */
    PyObject *skipped[CALLER_SKIPPED]; /* str: how the names of files begin */
    PyObject *user_file;               /* str: the last file that was not skipped */
    PyObject *skipped_file;            /* str: the last file that was */
};

/* 1 if the file's name begins with the text. */
static inline int
caller_begins(PyObject *file, PyObject *text)
{
    int kind = (int)PyUnicode_KIND(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    return PyUnicode_GET_LENGTH(file) >= length && (int)PyUnicode_KIND(file) == kind &&
           memcmp(PyUnicode_DATA(file), PyUnicode_DATA(text),
                  (size_t)length * (size_t)kind) == 0;
}

static int
caller_compare(const struct pcu_caller_rules *rules, const PyCodeObject *code)
{
    for (int i = 0; i < CALLER_SKIPPED; i++) {
        if (rules->skipped[i] != NULL &&
            caller_begins(code->co_filename, rules->skipped[i])) {
            return 1;
        }
    }
    return 0;
}

/* 1 if the code belongs to a file that is passed over. All code of a module has the
 * same object as its file's name, so most calls compare an address. */
static inline int
caller_is_skipped(const struct pcu_caller_rules *rules, const PyCodeObject *code)
{
    if (code->co_filename == rules->user_file) {
        return 0;
    }
    return code->co_filename == rules->skipped_file || caller_compare(rules, code);
}

/* Remember the file of some code. Releasing a str runs no Python code. */
static inline void
caller_learn(PyObject **file, const PyCodeObject *code)
{
    if (code != NULL && code->co_filename != *file &&
        PyUnicode_CheckExact(code->co_filename)) {
        Py_XSETREF(*file, Py_NewRef(code->co_filename));
    }
}

/* -- finding ----------------------------------------------------------------------- */

/* Find by the public functions. A frame keeps its code alive while it runs, so the
 * references can be dropped. */
static void
caller_find_public(const struct pcu_caller_rules *rules, pcu_caller *found)
{
    pcu_saved_error pending;
    pcu_error_save(&pending);
    PyFrameObject *frame = PyEval_GetFrame();
    Py_XINCREF(frame);
    while (frame != NULL) {
        PyCodeObject *code = PyFrame_GetCode(frame);
        Py_DECREF(code);
        if (!caller_is_skipped(rules, code)) {
            *found = (pcu_caller){code, caller_public_offset(frame)};
            break;
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_SETREF(frame, back);
    }
    Py_XDECREF(frame);
    PyErr_Clear(); /* no memory for a frame object: the line is not known */
    pcu_error_restore(&pending);
}

#if CALLER_HAS_LAYOUT
/* Returns the code of the last frame that was passed over, or NULL. */
static inline const PyCodeObject *
caller_find_direct(const struct pcu_caller_rules *rules, const PyThreadState *thread,
                   pcu_caller *found)
{
    const PyCodeObject *skipped = NULL;
    const caller_frame *frame = caller_innermost(thread);
    while (frame != NULL) {
        PyCodeObject *code = caller_code(frame);
        if (code != NULL && !caller_is_skipped(rules, code)) {
            *found = (pcu_caller){code, caller_offset(frame, code)};
            return skipped;
        }
        if (code != NULL) {
            skipped = code;
        }
        frame = caller_previous(frame);
    }
    return skipped;
}
#endif

void
pcu_caller_find(const pcu_state *st, pcu_caller *found)
{
    struct pcu_caller_rules *rules = st->caller_rules;
    *found = (pcu_caller){NULL, -1};
    if (rules == NULL) { /* the module was freed */
        return;
    }
#if CALLER_HAS_LAYOUT
    if (rules->layout_holds) {
        const PyCodeObject *skipped =
            caller_find_direct(rules, PyThreadState_GetUnchecked(), found);
        caller_learn(&rules->user_file, found->code);
        caller_learn(&rules->skipped_file, skipped);
        return;
    }
#endif
    caller_find_public(rules, found);
}

void
pcu_caller_find_in(const pcu_state *st, const PyThreadState *thread, pcu_caller *found)
{
    const struct pcu_caller_rules *rules = st->caller_rules;
    *found = (pcu_caller){NULL, -1};
#if CALLER_HAS_LAYOUT
    if (rules->layout_holds) {
        (void)caller_find_direct(rules, thread, found);
        return;
    }
#endif
    if (thread == PyThreadState_GetUnchecked()) {
        caller_find_public(rules, found);
    }
}

/* -- text -------------------------------------------------------------------------- */

PyObject *
pcu_caller_file_new(const pcu_caller *place)
{
    if (place->code == NULL) {
        Py_RETURN_NONE;
    }
    return Py_NewRef(place->code->co_filename);
}

PyObject *
pcu_caller_function_new(const pcu_caller *place)
{
    if (place->code == NULL) {
        Py_RETURN_NONE;
    }
#if PY_VERSION_HEX < 0x030B0000
    return Py_NewRef(place->code->co_name);
#else
    return Py_NewRef(place->code->co_qualname);
#endif
}

int
pcu_caller_line(const pcu_caller *place)
{
    if (place->code == NULL) {
        return 0;
    }
    int line = -1;
    if (place->offset >= 0) {
        line = PyCode_Addr2Line(place->code, place->offset);
    }
    if (line <= 0) {
        line = place->code->co_firstlineno;
    }
    return line;
}

PyObject *
pcu_caller_text_new(const pcu_caller *place)
{
    if (place->code == NULL) {
        return PyUnicode_FromString("an unknown line");
    }
    PyObject *function = pcu_caller_function_new(place);
    PyObject *text = PyUnicode_FromFormat("%U:%d in %U", place->code->co_filename,
                                          pcu_caller_line(place), function);
    Py_XDECREF(function);
    return text;
}

/* -- setup ------------------------------------------------------------------------- */

/* Store the folder of a package, which ends with a separator, if the package is
 * imported and has one. */
static int
caller_skip_package(PyObject **skipped, const char *package)
{
    PyObject *name = PyUnicode_FromString(package);
    PyObject *module = NULL;
    PyObject *file = NULL;
    int rc = -1;
    if (name == NULL) {
        return -1;
    }
    module = PyImport_GetModule(name);
    if (module != NULL) {
        file = PyObject_GetAttrString(module, "__file__");
        PyErr_Clear(); /* a package in several folders has no file */
    }
    if (file != NULL && PyUnicode_Check(file)) {
        Py_ssize_t length = PyUnicode_GET_LENGTH(file);
        Py_ssize_t end = PyUnicode_FindChar(file, '/', 0, length, -1);
        if (end >= 0) {
            *skipped = PyUnicode_Substring(file, 0, end + 1);
        }
    }
    if (!PyErr_Occurred()) {
        rc = 0;
    }
    Py_DECREF(name);
    Py_XDECREF(module);
    Py_XDECREF(file);
    return rc;
}

#if CALLER_HAS_LAYOUT
/* Compare the description of frames with the public functions, for all frames of the
 * import that is running. */
static int
caller_layout_holds(void)
{
    const caller_frame *frame = caller_innermost(PyThreadState_GetUnchecked());
    PyFrameObject *object = PyEval_GetFrame();
    int same = object != NULL;
    Py_XINCREF(object);
    while (object != NULL && same) {
        while (frame != NULL && caller_code(frame) == NULL) {
            frame = caller_previous(frame);
        }
        PyCodeObject *code = PyFrame_GetCode(object);
        same = frame != NULL && caller_code(frame) == code &&
               caller_offset(frame, code) == caller_public_offset(object);
        Py_DECREF(code);
        PyFrameObject *back = PyFrame_GetBack(object);
        Py_SETREF(object, back);
        if (frame != NULL) {
            frame = caller_previous(frame);
        }
    }
    Py_XDECREF(object);
    PyErr_Clear(); /* no memory for a frame object: the rest was not compared */
    return same;
}
#endif

int
pcu_caller_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    struct pcu_caller_rules *rules = PyMem_Calloc(1, sizeof(*rules));
    if (rules == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    st->caller_rules = rules;
    rules->skipped[2] = PyUnicode_FromString("<frozen ");
    if (rules->skipped[2] == NULL ||
        caller_skip_package(&rules->skipped[0], "pycuda") < 0 ||
        caller_skip_package(&rules->skipped[1], "numpy") < 0) {
        return -1;
    }
#if CALLER_HAS_LAYOUT
    rules->layout_holds = caller_layout_holds();
#endif
    return 0;
}

void
pcu_caller_finish(pcu_state *st)
{
    struct pcu_caller_rules *rules = st->caller_rules;
    st->caller_rules = NULL;
    if (rules == NULL) {
        return;
    }
    for (int i = 0; i < CALLER_SKIPPED; i++) {
        Py_XDECREF(rules->skipped[i]);
    }
    Py_XDECREF(rules->user_file);
    Py_XDECREF(rules->skipped_file);
    PyMem_Free(rules);
}
