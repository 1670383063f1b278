/* Numbers for lines of the program: see call_site.h.
 *
 * The public functions of the interpreter find a line in the same way in all versions,
 * but since 3.11 they make a frame object for each Python function that they pass. With
 * 3.12 that costs 25 ns for the block of a pool, 50 ns for a copy and 140 ns for
 * zeros(), a Python function. So 3.12 and 3.13 read the frames of the interpreter, by
 * functions that it declares for that (PyUnstable_InterpreterFrame_GetCode). Only the
 * link to the caller's frame is not declared: the second word, in both versions. */
#include "python/support/call_site.h"

#include "python/support/setup.h"

#include <frameobject.h>

enum { SITES_FIRST = 256, SITES_SKIPPED = 4 };

/* A line. The code object is not kept: its table of lines, which no two code objects
 * share unless one was made from the other, tells it apart. */
typedef struct {
    PyObject *table; /* strong, as the next three */
    PyObject *file;
    PyObject *function;
    PyObject *text; /* bytes for the software device; NULL until it may ask */
    int first_line; /* of the code */
    int offset;     /* of the instruction, in bytes */
    int line;
} site_place;

struct pcu_call_sites {
    site_place *places;  /* the number is the index; 0 is not used */
    uint32_t *slots;     /* a hash table of numbers; 0 is an empty slot */
    uint32_t count;      /* numbers so far, with 0 */
    uint32_t slot_count; /* a power of two, at least twice the count; 0: none yet */
    uint32_t last;       /* the number found last, which a call often asks for again */
    PyObject *skipped[SITES_SKIPPED]; /* str: how names of files to pass over begin */
    PyObject *user_file;              /* str: the last file that was not passed over */
    PyObject *skipped_file;           /* str: the last file that was */
};

/* -- the frame --------------------------------------------------------------------- */

/* Whether the file's name begins with the text. */
static bool
site_begins(PyObject *file, PyObject *text)
{
    int kind = (int)PyUnicode_KIND(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    return PyUnicode_GET_LENGTH(file) >= length && (int)PyUnicode_KIND(file) == kind &&
           memcmp(PyUnicode_DATA(file), PyUnicode_DATA(text),
                  (size_t)length * (size_t)kind) == 0;
}

/* Whether a file is passed over. All code of a module has the same object as its file's
 * name, so most calls compare an address. */
static bool
site_is_skipped(struct pcu_call_sites *self, PyObject *file)
{
    if (file == self->user_file || file == self->skipped_file) {
        return file == self->skipped_file;
    }
    PyObject **last = &self->user_file;
    for (int i = 0; i < SITES_SKIPPED; i++) {
        if (self->skipped[i] != NULL && site_begins(file, self->skipped[i])) {
            last = &self->skipped_file;
        }
    }
    if (PyUnicode_CheckExact(file)) {
        Py_XSETREF(*last, Py_NewRef(file)); /* releasing a str runs no code */
    }
    return last == &self->skipped_file;
}

/* Find the code that makes the current call, and its instruction. Return NULL if there
 * is none. A frame keeps its code alive while it runs, so the result is borrowed. */
#if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
typedef struct {
    void *executable;
    struct _PyInterpreterFrame *caller;
} site_frame;

static PyCodeObject *
site_code(struct pcu_call_sites *self, int *offset)
{
#    if PY_VERSION_HEX < 0x030D0000
    struct _PyInterpreterFrame *frame = PyThreadState_Get()->cframe->current_frame;
#    else
    struct _PyInterpreterFrame *frame = PyThreadState_Get()->current_frame;
#    endif
    for (; frame != NULL; frame = ((site_frame *)frame)->caller) {
        PyObject *code = PyUnstable_InterpreterFrame_GetCode(frame);
        Py_DECREF(code);
        if (PyCode_Check(code) && /* or None, where C calls Python */
            !site_is_skipped(self, ((PyCodeObject *)code)->co_filename)) {
            *offset = PyUnstable_InterpreterFrame_GetLasti(frame);
            return (PyCodeObject *)code;
        }
    }
    return NULL;
}
#else
static PyCodeObject *
site_code(struct pcu_call_sites *self, int *offset)
{
    PyFrameObject *frame = PyEval_GetFrame();
    PyCodeObject *code = NULL;
    Py_XINCREF(frame);
    while (frame != NULL) {
        code = PyFrame_GetCode(frame);
        Py_DECREF(code);
        if (!site_is_skipped(self, code->co_filename)) {
            *offset = PyFrame_GetLasti(frame);
            Py_DECREF(frame);
            return code;
        }
        PyFrameObject *back = PyFrame_GetBack(frame);
        Py_SETREF(frame, back);
    }
    PyErr_Clear(); /* no memory for a frame object: the line is not known */
    return NULL;
}
#endif

/* -- the table --------------------------------------------------------------------- */

static bool
site_is(const site_place *place, const site_place *other)
{
    return other->table == place->table && other->offset == place->offset &&
           other->first_line == place->first_line && other->file == place->file &&
           other->function == place->function;
}

/* The slot of a line: the one that has its number, or the empty one for it. */
static uint32_t *
sites_slot(const struct pcu_call_sites *self, const site_place *place)
{
    uint64_t key = (uint64_t)(uintptr_t)place->table >> 4;
    uint64_t mixed = (key + ((uint64_t)(uint32_t)place->offset << 32)) *
                     UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t i = (uint32_t)(mixed >> 32);; i++) {
        uint32_t *slot = &self->slots[i & (self->slot_count - 1)];
        if (*slot == 0 || site_is(place, &self->places[*slot])) {
            return slot;
        }
    }
}

/* Double the room. Return false without memory, and nothing has changed. */
static bool
sites_grow(struct pcu_call_sites *self)
{
    uint32_t room = SITES_FIRST;
    if (self->slot_count != 0) {
        room = self->slot_count * 2;
    }
    site_place *places = calloc(room / 2, sizeof(*places));
    uint32_t *slots = calloc(room, sizeof(*slots));
    if (places == NULL || slots == NULL) {
        free(places);
        free(slots);
        return false;
    }
    if (self->count > 1) {
        memcpy(places, self->places, self->count * sizeof(*places));
    }
    free(self->places);
    free(self->slots);
    self->places = places;
    self->slots = slots;
    self->slot_count = room;
    for (uint32_t site = 1; site < self->count; site++) {
        *sites_slot(self, &places[site]) = site;
    }
    return true;
}

/* Give a line the next number. */
static uint32_t
sites_add(struct pcu_call_sites *self, PyCodeObject *code, const site_place *found)
{
    if (self->count == PCU_CALL_SITES_MOST ||
        (self->count >= self->slot_count / 2 && !sites_grow(self))) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    uint32_t site = self->count++;
    site_place *place = &self->places[site];
    *place = *found;
    Py_INCREF(place->table);
    Py_INCREF(place->file);
    Py_INCREF(place->function);
    place->line = -1;
    if (place->offset >= 0) {
        place->line = PyCode_Addr2Line(code, place->offset);
    }
    if (place->line <= 0) {
        place->line = place->first_line;
    }
    *sites_slot(self, place) = site;
    return site;
}

static uint32_t
sites_find(struct pcu_call_sites *self)
{
    site_place place = {.offset = -1};
    PyCodeObject *code = site_code(self, &place.offset);
    if (code == NULL || (self->slot_count == 0 && !sites_grow(self))) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    place.table = code->co_linetable;
    place.first_line = code->co_firstlineno;
    place.file = code->co_filename;
#if PY_VERSION_HEX < 0x030B0000
    place.function = code->co_name;
#else
    place.function = code->co_qualname;
#endif
    if (site_is(&place, &self->places[self->last])) {
        return self->last;
    }
    uint32_t site = *sites_slot(self, &place);
    if (site == 0) {
        site = sites_add(self, code, &place);
    }
    self->last = site;
    return site;
}

uint32_t
pcu_call_site(const pcu_state *st)
{
    pcu_saved_error pending;
    bool is_pending = PyErr_Occurred() != NULL;
    if (st->call_sites == NULL) { /* the module was freed */
        return PCU_CALL_SITE_UNKNOWN;
    }
    if (is_pending) { /* without memory for a frame object, another one is set */
        pcu_error_save(&pending);
    }
    bool collects = pcu_collections_hold();
    uint32_t site = sites_find(st->call_sites);
    pcu_collections_resume(collects);
    if (is_pending) {
        pcu_error_restore(&pending);
    }
    return site;
}

pcu_line
pcu_call_site_line(const pcu_state *st, uint32_t site)
{
    const struct pcu_call_sites *self = st->call_sites;
    if (self == NULL || site == PCU_CALL_SITE_UNKNOWN || site >= self->count) {
        return (pcu_line){NULL, NULL, 0};
    }
    const site_place *place = &self->places[site];
    return (pcu_line){place->file, place->function, place->line};
}

PyObject *
pcu_call_site_tuple(const pcu_state *st, uint32_t site)
{
    pcu_line line = pcu_call_site_line(st, site);
    if (line.file == NULL) {
        return Py_BuildValue("(OiO)", Py_None, 0, Py_None);
    }
    return Py_BuildValue("(OiO)", line.file, line.line, line.function);
}

/* -- lines for the checks of the software device ----------------------------------- */

/* The line of the call that this thread makes without the interpreter lock, as bytes;
 * borrowed. NULL: the code that released the lock is not of this package. */
static PCU_THREAD PyObject *device_site;

/* The current line as bytes, borrowed; NULL if it is not known. */
static PyObject *
device_site_text(const pcu_state *st)
{
    uint32_t site = PCU_CALL_SITE_UNKNOWN;
    if (st != NULL) {
        site = pcu_call_site(st);
    }
    if (site == PCU_CALL_SITE_UNKNOWN) {
        return NULL;
    }
    site_place *place = &st->call_sites->places[site];
    if (place->text == NULL) {
        pcu_saved_error pending;
        pcu_error_save(&pending);
        PyObject *text = PyUnicode_FromFormat("%U:%d in %U", place->file, place->line,
                                              place->function);
        if (text != NULL) {
            place->text = PyUnicode_AsEncodedString(text, "utf-8", "surrogatepass");
            Py_DECREF(text);
        }
        PyErr_Clear(); /* no memory: the line is not known */
        pcu_error_restore(&pending);
    }
    return place->text;
}

void
pcu_device_site_find(void)
{
    device_site = device_site_text(pcu_drv_info.caller_state);
}

void
pcu_device_site_drop(void)
{
    device_site = NULL;
}

/* Write "file:line in function" and return its length; 0: the line is not known. The
 * device holds no lock, so a thread may wait for the interpreter's here. */
static size_t
device_site_write(char *text, size_t room)
{
    const pcu_state *st = pcu_drv_info.caller_state;
    PyThreadState *thread = PyGILState_GetThisThreadState();
    PyObject *found = device_site;
    if (thread == NULL || st == NULL || pcu_is_finalizing()) {
        return 0;
    }
    if (pcu_thread_attached() != NULL) {
        found = device_site_text(st);
    }
    else if (found == NULL) { /* a call of another library, such as ctypes */
        PyEval_RestoreThread(thread);
        found = device_site_text(st);
        (void)PyEval_SaveThread();
    }
    if (found == NULL) {
        return 0;
    }
    (void)PyOS_snprintf(text, room, "%s", PyBytes_AS_STRING(found));
    return strlen(text);
}

void
pcu_device_sites_begin(const pcu_state *st)
{
    pcu_drv_info.caller_state = st;
    if (pcu_drv_info.device != NULL) {
        pcu_drv_info.device->set_caller(device_site_write);
    }
}

void
pcu_device_site_asks(bool asked)
{
    if (pcu_drv_info.device != NULL) {
        pcu_drv_info.device->set_asked(asked);
    }
}

/* -- begin and end ----------------------------------------------------------------- */

/* Store the folder of a package, which ends with a separator, if the package is
 * imported and has one. */
static int
sites_skip_package(PyObject **skipped, const char *package)
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

int
pcu_call_site_setup(PyObject *Py_UNUSED(m), pcu_state *st)
{
    struct pcu_call_sites *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->count = 1;
    st->call_sites = self;
    self->skipped[2] = PyUnicode_FromString("<frozen ");
    self->skipped[3] =
        PyUnicode_FromString("<shim>"); /* where C calls Python, in 3.12 */
    if (self->skipped[2] == NULL || self->skipped[3] == NULL ||
        sites_skip_package(&self->skipped[0], "pycuda") < 0) {
        return -1;
    }
    return sites_skip_package(&self->skipped[1], "numpy");
}

void
pcu_call_sites_finish(pcu_state *st)
{
    struct pcu_call_sites *self = st->call_sites;
    st->call_sites = NULL;
    pcu_drv_info.caller_state = NULL;
    if (pcu_drv_info.device != NULL) {
        pcu_drv_info.device->set_caller(NULL);
    }
    if (self == NULL) {
        return;
    }
    for (uint32_t site = 1; site < self->count; site++) {
        Py_DECREF(self->places[site].table);
        Py_DECREF(self->places[site].file);
        Py_DECREF(self->places[site].function);
        Py_XDECREF(self->places[site].text);
    }
    for (int i = 0; i < SITES_SKIPPED; i++) {
        Py_XDECREF(self->skipped[i]);
    }
    Py_XDECREF(self->user_file);
    Py_XDECREF(self->skipped_file);
    free(self->places);
    free(self->slots);
    free(self);
}
