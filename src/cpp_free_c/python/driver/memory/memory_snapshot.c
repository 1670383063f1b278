/* What pycuda.memory reads: the notes of driver/memory_map.h and the changes of
 * allocations in driver/events.h as Python objects, and the switch of the recording.
 *
 * Invariant: a snapshot allocates Python objects, which may collect garbage and so
 * change the map. So the notes are copied first. Callers: Python. */
#include "python/driver/memory/memory.h"

#include "python/support/convert.h"
#include "python/support/setup.h"

/* -- notes ------------------------------------------------------------------------- */

/* Copy all notes of living contexts. The caller frees *out. Return their number. */
static Py_ssize_t
snapshot_copy(pcu_memory_note **out)
{
    const struct pcu_memory_map *map = &pcu_memory_map;
    Py_ssize_t count = 0;
    *out = PyMem_New(pcu_memory_note, map->count + 1);
    if (*out == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < map->bucket_count; i++) {
        for (const pcu_memory_note *note = map->buckets[i]; note != NULL;
             note = note->next) {
            if (note->recorded && pcu_context_record_usable(note->ctx)) {
                (*out)[count++] = *note;
            }
        }
    }
    return count;
}

static const char *
snapshot_kind_name(unsigned int kind)
{
#define KIND_NAME(kind_, name) name,
    static const char *const names[] = {PCU_MEMORY_KINDS(KIND_NAME)};
#undef KIND_NAME
    return names[kind];
}

static PyObject *
snapshot_tuple(const pcu_memory_note *note, const pcu_ticks_pair *now)
{
    uint64_t time = pcu_ticks_convert(note->ticks, &pcu_events.start, now);
    return Py_BuildValue("(KKKsiKIiK)", (unsigned long long)note->address,
                         (unsigned long long)note->size,
                         (unsigned long long)note->asked,
                         snapshot_kind_name(note->kind), (int)note->held,
                         (unsigned long long)time, (unsigned int)note->site,
                         (int)note->ctx->device, (unsigned long long)note->ticks);
}

PyDoc_STRVAR(
    snapshot_notes_doc,
    "_memory_notes($module, /)\n--\n\n"
    "Return a tuple for each allocation in a living context: address, bytes, bytes\n"
    "asked for, kind, whether a pool holds it unused, time in nanoseconds of the\n"
    "monotonic clock, number of the call site, device, time in ticks of the\n"
    "processor. The nanoseconds of an allocation may differ by some between calls,\n"
    "because they are computed from the ticks; the ticks do not change.");

static PyObject *
snapshot_notes(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    pcu_memory_note *notes = NULL;
    pcu_ticks_pair now = pcu_ticks_now(pcu_events.start.source);
    Py_ssize_t count = snapshot_copy(&notes);
    PyObject *result = NULL;
    if (count >= 0) {
        result = PyList_New(count);
    }
    for (Py_ssize_t i = 0; result != NULL && i < count; i++) {
        PyObject *row = snapshot_tuple(&notes[i], &now);
        if (row == NULL) {
            Py_CLEAR(result);
        }
        else {
            PyList_SET_ITEM(result, i, row);
        }
    }
    PyMem_Free(notes);
    return result;
}

/* -- events ------------------------------------------------------------------------ */

PyDoc_STRVAR(
    snapshot_events_doc,
    "_memory_events($module, /)\n--\n\n"
    "Return the last events, oldest first, as bytes, and the number of all events.\n\n"
    "An event has the time in nanoseconds of the monotonic clock, the address and the\n"
    "bytes (64 bits each), the number of the call site (32), the kind, the change,\n"
    "the device and nothing (8 each).");

/* The layout of pycuda.memory._records.EVENT. */
typedef struct {
    uint64_t time;
    uint64_t address;
    uint64_t size;
    uint32_t site;
    uint8_t kind;
    uint8_t change;
    uint8_t device;
    uint8_t unused;
} snapshot_event;

static PyObject *
snapshot_events(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    pcu_ticks_pair now = pcu_ticks_now(pcu_events.start.source);
    size_t count = pcu_changes_count();
    PyObject *bytes =
        PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * sizeof(snapshot_event)));
    if (bytes == NULL) {
        return NULL;
    }
    char *out = PyBytes_AS_STRING(bytes);
    for (size_t i = 0; i < count; i++) {
        const pcu_memory_event *event = pcu_change_kept(i);
        const snapshot_event row = {
            .time = pcu_ticks_convert(event->ticks, &pcu_events.start, &now),
            .address = event->address,
            .size = event->size,
            .site = event->site,
            .kind = event->kind,
            .change = event->change,
            .device = event->device};
        memcpy(out, &row, sizeof(row));
        out += sizeof(row);
    }
    return Py_BuildValue("(NK)", bytes, (unsigned long long)pcu_events.changes);
}

/* -- lines ------------------------------------------------------------------------- */

PyDoc_STRVAR(snapshot_call_site_doc,
             "_call_site($module, number, /)\n--\n\n"
             "Return file, line and function of the number of a call site.\n\n"
             "(None, 0, None) if the line is not known.");

static PyObject *
snapshot_call_site(PyObject *m, PyObject *number)
{
    unsigned long long site = 0;
    if (pcu_as_integer(number, 0, UINT32_MAX, &site, "number") < 0) {
        return NULL;
    }
    return pcu_call_site_tuple(pcu_state_of_module(m), (uint32_t)site);
}

/* -- the switch -------------------------------------------------------------------- */

PyDoc_STRVAR(
    snapshot_record_doc,
    "_memory_record($module, on, events, /)\n--\n\n"
    "Switch the recording of allocations on or off, and keep so many events.\n\n"
    "Events so far are dropped if their number changes.");

static PyObject *
snapshot_record(PyObject *Py_UNUSED(m), PyObject *args)
{
    int on = 0;
    Py_ssize_t events = 0;
    if (!PyArg_ParseTuple(args, "pn:_memory_record", &on, &events)) {
        return NULL;
    }
    if (events < 0) {
        PyErr_Format(PyExc_ValueError, "events is %zd; it must not be negative",
                     events);
        return NULL;
    }
    if ((size_t)events != pcu_events.room && pcu_events_keep((size_t)events) < 0) {
        return PyErr_NoMemory();
    }
    pcu_memory_map.recording = on;
    Py_RETURN_NONE;
}

PyDoc_STRVAR(snapshot_recording_doc,
             "_memory_recording($module, /)\n--\n\n"
             "Return whether allocations are recorded, how many events are kept, and\n"
             "how many allocations could not be noted for lack of memory.");

static PyObject *
snapshot_recording(PyObject *Py_UNUSED(m), PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("(Nnn)", PyBool_FromLong(pcu_memory_map.recording),
                         (Py_ssize_t)pcu_events.room,
                         (Py_ssize_t)pcu_memory_map.missed);
}

static PyMethodDef snapshot_functions[] = {
    {"_memory_notes", snapshot_notes, METH_NOARGS, snapshot_notes_doc},
    {"_memory_events", snapshot_events, METH_NOARGS, snapshot_events_doc},
    {"_memory_record", snapshot_record, METH_VARARGS, snapshot_record_doc},
    {"_memory_recording", snapshot_recording, METH_NOARGS, snapshot_recording_doc},
    {"_call_site", snapshot_call_site, METH_O, snapshot_call_site_doc},
    {NULL, NULL, 0, NULL},
};

int
pcu_memory_snapshot_setup(PyObject *m, pcu_state *Py_UNUSED(st))
{
    return PyModule_AddFunctions(m, snapshot_functions);
}
