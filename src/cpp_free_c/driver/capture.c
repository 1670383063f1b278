/* Captures. Invariant and callers: see capture.h. */

#include "driver/capture.h"

#include <stdlib.h>

pcu_capture_record *pcu_captures;

void
pcu_capture_begin(pcu_capture_record *rec)
{
    rec->next = pcu_captures;
    pcu_captures = rec;
}

void
pcu_capture_end(pcu_capture_record *rec)
{
    pcu_capture_record **link = &pcu_captures;
    while (*link != NULL && *link != rec) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = rec->next;
    }
}

pcu_capture_record *
pcu_capture_delays(CUcontext context, unsigned long thread)
{
    pcu_capture_record *rec = pcu_captures;
    while (rec != NULL && rec->thread != thread && rec->context != context) {
        rec = rec->next;
    }
    return rec;
}

int
pcu_capture_take(pcu_capture_record *rec, pcu_handle_kind kind, pcu_handle handle,
                 void *ctx)
{
    if (rec->owed_count == rec->owed_room) {
        size_t room = 2 * rec->owed_room + 8;
        pcu_owed_handle *owed = realloc(rec->owed, room * sizeof(*owed));
        if (owed == NULL) {
            return -1;
        }
        rec->owed = owed;
        rec->owed_room = room;
    }
    rec->owed[rec->owed_count++] = (pcu_owed_handle){kind, handle, ctx};
    return 0;
}

CUresult
pcu_capture_ask(CUstream stream, pcu_capture *state)
{
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    *state = PCU_CAPTURE_NONE;
    if (stream == NULL) {
        stream = CU_STREAM_LEGACY;
    }
    CUresult status = drv.StreamIsCapturing(stream, &found);
    if (status == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) {
        *state = PCU_CAPTURE_BLOCKS;
        return CUDA_SUCCESS;
    }
    if (status == CUDA_SUCCESS && found != CU_STREAM_CAPTURE_STATUS_NONE) {
        *state = PCU_CAPTURE_STREAM;
    }
    return status;
}
