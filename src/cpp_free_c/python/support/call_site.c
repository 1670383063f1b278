/* Numbers for lines of the program: see call_site.h. */
#include "python/support/call_site.h"

enum { SITES_FIRST = 256 };

struct pcu_call_sites {
    pcu_caller *places;  /* the number is the index; 0 is not used */
    uint32_t *slots;     /* a hash table of numbers; 0 is an empty slot */
    uint32_t count;      /* numbers so far, with 0 */
    uint32_t slot_count; /* a power of two, at least twice the count */
};

static inline uint32_t
sites_hash(const pcu_caller *place)
{
    uint64_t key = (uint64_t)(uintptr_t)place->code >> 4;
    uint64_t mixed = (key + ((uint64_t)(uint32_t)place->offset << 32)) *
                     UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(mixed >> 32);
}

/* The slot of a place: the one that has its number, or the empty one for it. */
static inline uint32_t *
sites_slot(const struct pcu_call_sites *self, const pcu_caller *place)
{
    uint32_t i = sites_hash(place);
    for (;; i++) {
        uint32_t *slot = &self->slots[i & (self->slot_count - 1)];
        const pcu_caller *other = &self->places[*slot];
        if (*slot == 0 ||
            (other->code == place->code && other->offset == place->offset)) {
            return slot;
        }
    }
}

/* Double the room. Return -1 without memory, and nothing has changed. */
static int
sites_grow(struct pcu_call_sites *self)
{
    uint32_t room = SITES_FIRST;
    if (self->slot_count != 0) {
        room = self->slot_count * 2;
    }
    pcu_caller *places = calloc(room / 2, sizeof(*places));
    uint32_t *slots = calloc(room, sizeof(*slots));
    if (places == NULL || slots == NULL) {
        free(places);
        free(slots);
        return -1;
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
    return 0;
}

static uint32_t
sites_add(struct pcu_call_sites *self, const pcu_caller *place)
{
    if (self->count == PCU_CALL_SITES_MOST ||
        (self->count >= self->slot_count / 2 && sites_grow(self) < 0)) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    uint32_t site = self->count++;
    self->places[site] = *place;
    Py_INCREF(place->code);
    *sites_slot(self, place) = site;
    return site;
}

static struct pcu_call_sites *
sites_borrow(pcu_state *st)
{
    struct pcu_call_sites *self = st->call_sites;
    if (self == NULL) {
        self = calloc(1, sizeof(*self));
        if (self != NULL) {
            self->count = 1;
            if (sites_grow(self) < 0) {
                free(self);
                self = NULL;
            }
        }
        st->call_sites = self;
    }
    return self;
}

uint32_t
pcu_call_site(pcu_state *st)
{
    struct pcu_call_sites *self = sites_borrow(st);
    pcu_caller place;
    if (self == NULL) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    pcu_caller_find(st, &place);
    if (place.code == NULL) {
        return PCU_CALL_SITE_UNKNOWN;
    }
    uint32_t site = *sites_slot(self, &place);
    if (site != 0) {
        return site;
    }
    return sites_add(self, &place);
}

pcu_caller
pcu_call_site_place(const pcu_state *st, uint32_t site)
{
    const struct pcu_call_sites *self = st->call_sites;
    if (self == NULL || site >= self->count) {
        return (pcu_caller){NULL, -1};
    }
    return self->places[site];
}

PyObject *
pcu_call_site_tuple(const pcu_state *st, uint32_t site)
{
    pcu_caller place = pcu_call_site_place(st, site);
    PyObject *file = pcu_caller_file_new(&place);
    PyObject *function = pcu_caller_function_new(&place);
    PyObject *result = NULL;
    if (file != NULL && function != NULL) {
        result = Py_BuildValue("(OiO)", file, pcu_caller_line(&place), function);
    }
    Py_XDECREF(file);
    Py_XDECREF(function);
    return result;
}

void
pcu_call_sites_finish(pcu_state *st)
{
    struct pcu_call_sites *self = st->call_sites;
    st->call_sites = NULL;
    if (self == NULL) {
        return;
    }
    for (uint32_t site = 1; site < self->count; site++) {
        Py_DECREF(self->places[site].code);
    }
    free(self->places);
    free(self->slots);
    free(self);
}
