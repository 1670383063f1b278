/* Places in stream captures. See capture_place.h. */
#include "device/api/entry/capture_place.h"

void
emu_capture_place_leave(emu_capture_place *place)
{
    place->captured = false;
    if (place->capture == NULL) {
        return;
    }
    if (place->previous != NULL) {
        place->previous->next = place->next;
    }
    else {
        *place->places = place->next;
    }
    if (place->next != NULL) {
        place->next->previous = place->previous;
    }
    emu_edges_clear(&place->after);
    place->capture = NULL;
    place->places = NULL;
    place->next = place->previous = NULL;
}

bool
emu_capture_place_join(emu_capture_place *place, struct emu_capture *capture,
                       emu_capture_place **places, const emu_edges *after)
{
    emu_edges copy = {0};

    if (!emu_edges_copy(&copy, after)) {
        return false;
    }
    emu_capture_place_leave(place);
    place->capture = capture;
    place->places = places;
    place->after = copy;
    place->next = *places;
    if (place->next != NULL) {
        place->next->previous = place;
    }
    *places = place;
    return true;
}

bool
emu_capture_place_wait(emu_capture_place *place, const emu_edges *after)
{
    for (size_t i = 0; i < after->count; i++) {
        emu_node *node = after->nodes[i];

        if (emu_edges_find(&place->after, node) == place->after.count &&
            !emu_edges_add(&place->after, node, &after->data[i])) {
            return false;
        }
    }
    return true;
}
