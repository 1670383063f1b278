/* Places in stream captures. See capture_place.h. */
#include "device/api/entry/capture_place.h"

#include <stdlib.h>
#include <string.h>

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
    free(place->after);
    place->after = NULL;
    place->count = 0;
    place->capture = NULL;
    place->places = NULL;
    place->next = place->previous = NULL;
}

bool
emu_capture_place_join(emu_capture_place *place, struct emu_capture *capture,
                       emu_capture_place **places, const uint32_t *after, size_t count)
{
    uint32_t *copy = malloc((count + 1) * sizeof(*copy));

    if (copy == NULL) {
        return false;
    }
    if (count > 0) {
        memcpy(copy, after, count * sizeof(*copy));
    }
    emu_capture_place_leave(place);
    place->capture = capture;
    place->places = places;
    place->after = copy;
    place->count = count;
    place->next = *places;
    if (place->next != NULL) {
        place->next->previous = place;
    }
    *places = place;
    return true;
}

bool
emu_capture_place_wait(emu_capture_place *place, const uint32_t *after, size_t count)
{
    uint32_t *all = realloc(place->after, (place->count + count + 1) * sizeof(*all));

    if (all == NULL) {
        return false;
    }
    place->after = all;
    for (size_t i = 0; i < count; i++) {
        size_t k = 0;

        while (k < place->count && all[k] != after[i]) {
            k++;
        }
        if (k == place->count) {
            all[place->count++] = after[i];
        }
    }
    return true;
}
