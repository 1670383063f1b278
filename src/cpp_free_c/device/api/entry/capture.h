/* Stream capture: work that a program enqueues in a stream becomes nodes of a graph
 * instead of running.
 *
 * A capture begins in one stream, its origin. A stream that waits for an event which
 * was recorded in the capture joins it. A call that may not be made during a capture
 * fails and makes the capture invalid; an invalid capture lasts until the program ends
 * it. Call all functions with the API lock held. */
#ifndef DEVICE_API_ENTRY_CAPTURE_H
#define DEVICE_API_ENTRY_CAPTURE_H

#include "device/api/entry/call.h"
#include "device/api/entry/graph.h"
#include "device/api/entry/turn.h"

/* CUstreamCaptureMode and CUstreamCaptureStatus values. */
enum { EMU_CAPTURE_GLOBAL = 0, EMU_CAPTURE_THREAD_LOCAL = 1, EMU_CAPTURE_RELAXED = 2 };
enum { EMU_CAPTURE_NONE = 0, EMU_CAPTURE_ACTIVE = 1, EMU_CAPTURE_INVALIDATED = 2 };

/* -- for calls that enqueue work --------------------------------------------------- */

/* Whether work in the stream becomes nodes. */
bool emu_capture_is_active(const emu_stream *stream);

/* Add the work to the capture of the stream, if there is one. Sets `taken` if so. */
CUresult emu_capture_add(emu_stream *stream, const emu_work *work, const void *payload,
                         size_t size, bool *taken);
/* The kernel that was just added may begin before kernels that it waits for have ended:
 * the edges from them are programmatic. No capture: no effect. */
void emu_capture_launched_early(emu_stream *stream);
/* Report how such a call ended. A failure makes the capture of the stream invalid; if
 * it was invalid before, that comes first. Return the code that the call must return.
 */
CUresult emu_capture_failed(emu_stream *stream, CUresult status);

/* -- for calls that a capture refuses ---------------------------------------------- */

/* Refuse a call on a stream that is being captured. */
CUresult emu_capture_refuse(emu_stream *stream);
/* Refuse a call whose work no capture sees, depending on the modes of the captures and
 * of this thread. */
CUresult emu_capture_unsafe(void);
/* Refuse a call at its entry. */
CUresult emu_capture_permit(emu_call call);

/* Refuse a call on a graph to which a capture adds nodes. */
CUresult emu_capture_graph_unsafe(const emu_graph *graph);

/* -- for events -------------------------------------------------------------------- */

/* Record an event in a stream. Not `taken`: the stream is not being captured. */
CUresult emu_capture_record(emu_stream *stream, emu_capture_place *event, bool *taken);
/* Make a stream wait for an event; `recorded`: it was recorded at least once. Not
 * `taken`: neither is in a capture. */
CUresult emu_capture_wait(emu_stream *stream, emu_capture_place *event, bool recorded,
                          bool *taken);
/* Refuse a call that looks at the state of a captured event. */
CUresult emu_capture_look(emu_capture_place *event);

/* -- captures themselves ----------------------------------------------------------- */

/* Begin a capture that adds nodes to a graph, the first ones after `after`. With NULL
 * for the graph, the capture makes one. */
CUresult emu_capture_begin(emu_stream *stream, CUstreamCaptureMode mode,
                           emu_graph *graph, const emu_edges *after);
/* End the capture that began in the stream. On success the caller owns the graph; on
 * failure the graph is destroyed, even one that the program gave. */
CUresult emu_capture_end(emu_stream *stream, emu_graph **graph);
CUresult emu_capture_status(const emu_stream *stream, CUstreamCaptureStatus *status);
/* The number and the graph of the capture in which the stream is. */
uint64_t emu_capture_number(const emu_stream *stream);
emu_graph *emu_capture_graph(const emu_stream *stream);
/* Exchange the mode of this thread. */
void emu_capture_exchange_mode(CUstreamCaptureMode *mode);

/* A stream is destroyed; a capture that began in it ends without a graph. */
void emu_capture_stream_gone(emu_stream *stream);

#endif
