/* The last launches of a context: see launch_ring.h. */
#include "python/support/launch_ring.h"

int
pcu_launch_ring_make(pcu_context_record *rec)
{
    rec->launches = PyMem_Calloc(1, sizeof(*rec->launches));
    if (rec->launches == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

void
pcu_launch_ring_end(pcu_context_record *rec)
{
    pcu_launch_ring *ring = rec->launches;
    rec->launches = NULL; /* the releases below may run code that launches */
    if (ring == NULL) {
        return;
    }
    for (int i = 0; i < PCU_RING_LAUNCHES; i++) {
        Py_CLEAR(ring->launches[i].name);
        pcu_caller_clear(&ring->launches[i].place);
    }
    Py_CLEAR(ring->lost);
    PyMem_Free(ring);
}

/* The old references are released last: a release may run Python code. */
void
pcu_launch_note(const pcu_state *st, pcu_launch_ring *ring, pcu_launch_kind kind,
                CUfunction kernel, PyObject *name, const pcu_launch_shape *shape)
{
    if (ring == NULL) {
        return;
    }
    pcu_launch *launch = &ring->launches[ring->count++ % PCU_RING_LAUNCHES];
    pcu_caller found;
    PyObject *old = launch->name;
    launch->number = ++pcu_launch_count;
    launch->kind = kind;
    launch->kernel = kernel;
    launch->shape = *shape;
    pcu_caller_find(st, &found);
    if (old == name) {
        pcu_caller_keep(&launch->place, &found);
        return;
    }
    launch->name = Py_XNewRef(name);
    pcu_caller_keep(&launch->place, &found);
    Py_XDECREF(old);
}

void
pcu_launches_passed(const pcu_context_record *rec, CUstream stream,
                    unsigned long number)
{
    if (rec == NULL || rec->launches == NULL) {
        return;
    }
    pcu_launch_ring *ring = rec->launches;
    for (int i = 0; i < PCU_RING_WAITS; i++) {
        pcu_launch_wait *wait = &ring->waits[i];
        if (wait->number != 0 && wait->stream == stream) {
            if (wait->number < number) {
                wait->number = number;
            }
            return;
        }
    }
    ring->waits[ring->next_wait++ % PCU_RING_WAITS] = (pcu_launch_wait){stream, number};
}

void
pcu_launches_passed_all(const pcu_context_record *rec, unsigned long number)
{
    if (rec == NULL || rec->launches == NULL) {
        return;
    }
    pcu_launch_ring *ring = rec->launches;
    if (ring->passed < number) {
        ring->passed = number;
    }
    Py_CLEAR(ring->lost); /* the context works: it was reset */
}

int
pcu_launch_has_passed(const pcu_launch_ring *ring, const pcu_launch *launch)
{
    if (launch->number <= ring->passed) {
        return 1;
    }
    for (int i = 0; i < PCU_RING_WAITS; i++) {
        const pcu_launch_wait *wait = &ring->waits[i];
        if (wait->stream == launch->shape.stream && wait->number >= launch->number) {
            return 1;
        }
    }
    return 0;
}
