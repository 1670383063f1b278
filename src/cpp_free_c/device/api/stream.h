/* Streams: how work is ordered.
 *
 * Work runs at once, in the thread that enqueues it. A stream's mutex keeps the work of
 * two threads on one stream apart; the context's order lock makes the null stream wait
 * for the others and they for it, but for streams made NON_BLOCKING. */
#ifndef DEVICE_API_STREAM_H
#define DEVICE_API_STREAM_H

#include "device/base/device.h"
#include "device/api/deferred.h"

typedef struct CUstream_st emu_stream;

/* The live stream of a handle (NULL, 1, 2: the context's null stream); NULL when there
 * is none or, for `strict`, when it belongs to another context. Under the API lock. */
emu_stream *emu_stream_get(emu_context *context, CUstream handle);

/* Gives the API lock back and waits for the stream's turn; the stream and its context
 * are kept from being destroyed. The token goes to emu_stream_end. Below 0: there is no
 * turn, the API lock is held as before, emu_wait_status() says why (wait.h). */
int emu_stream_begin(emu_stream *stream);
/* The same without running first what the stream keeps for later (late.h). */
int emu_stream_turn(emu_stream *stream);
/* Ends the turn and takes the API lock again. */
void emu_stream_end(emu_stream *stream, int token);

/* Waits for the work of the context that other threads are running now, but for none
 * that begins later. */
void emu_stream_settle(const emu_context *context);
/* Whether this call was made by a signal handler, which cannot wait so, and would have
 * to. Then *ticket is that of the last work that runs now. */
bool emu_stream_cannot_settle(const emu_context *context, uint64_t *ticket);
/* Whether work of the context is running that began by that ticket. */
bool emu_stream_runs(const emu_context *context, uint64_t ticket);
/* A signal ended a wait of this thread: it no longer settles for the work that runs
 * now. Otherwise, what it frees while it handles the signal would wait for that work.
 */
void emu_stream_give_up(void);

/* Makes and frees what a context needs: its null stream and order lock. */
CUresult emu_stream_open(emu_context *context);
void emu_stream_close(emu_context *context);

/* Where it stands in a capture (capture.h), what it keeps for later (late.h), whether
 * it is the null stream, whether it and the null stream wait for each other. */
struct emu_capture_place *emu_stream_place(emu_stream *stream);
emu_late *emu_stream_late(emu_stream *stream);
bool emu_stream_is_null(const emu_stream *stream);
bool emu_stream_is_blocking(const emu_stream *stream);

/* The context of a stream, its serial number among objects, and the number that
 * cuStreamGetId gives. */
emu_context *emu_stream_context(const emu_stream *stream);
uint64_t emu_stream_serial(const emu_stream *stream);

#endif
