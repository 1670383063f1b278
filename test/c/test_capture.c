/* Unit test of driver/capture: which releases wait for a capture, what the driver says
 * of a stream, and what happens without memory. The driver's table is the test's own.
 */
#include "driver/capture.h"

#include <stdlib.h>

#include "check.h"

struct pcu_drv drv;

static bool realloc_fails;
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *
__wrap_realloc(void *old, size_t size)
{
    return realloc_fails ? NULL : __real_realloc(old, size);
}

#define HANDLE(type, number) ((type)(uintptr_t)(number))

static void
test_delays(void)
{
    pcu_capture_record one = {.context = HANDLE(CUcontext, 0x100), .thread = 1};
    pcu_capture_record other = {.context = HANDLE(CUcontext, 0x200), .thread = 2};
    CHECK(pcu_captures == NULL);
    CHECK(pcu_capture_delays(one.context, 1) == NULL);
    pcu_capture_begin(&one);
    pcu_capture_begin(&other);
    CHECK(pcu_capture_delays(one.context, 9) == &one);
    CHECK(pcu_capture_delays(HANDLE(CUcontext, 0x900), 1) == &one);
    CHECK(pcu_capture_delays(other.context, 9) == &other);
    CHECK(pcu_capture_delays(HANDLE(CUcontext, 0x900), 9) == NULL);
    pcu_capture_end(&one);
    pcu_capture_end(&one); /* it has ended before */
    CHECK(pcu_captures == &other && other.next == NULL);
    CHECK(pcu_capture_delays(one.context, 1) == NULL);
    pcu_capture_end(&other);
    CHECK(pcu_captures == NULL);
}

static void
test_owed(void)
{
    enum { COUNT = 30 };
    pcu_capture_record rec = {.thread = 1};
    int ctx;
    for (uint64_t i = 0; i < COUNT; i++) {
        pcu_handle handle = {.memory = i << 9};
        CHECK_EQ(pcu_capture_take(&rec, PCU_HANDLE_memory, handle, &ctx), 0);
    }
    CHECK_EQ(rec.owed_count, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        CHECK_EQ(rec.owed[i].handle.memory, i << 9);
        CHECK(rec.owed[i].kind == PCU_HANDLE_memory && rec.owed[i].ctx == &ctx);
    }
    realloc_fails = true;
    while (rec.owed_count < rec.owed_room) {
        CHECK_EQ(pcu_capture_take(&rec, PCU_HANDLE_memory, rec.owed[0].handle, &ctx),
                 0);
    }
    size_t count = rec.owed_count;
    CHECK_EQ(pcu_capture_take(&rec, PCU_HANDLE_memory, rec.owed[0].handle, &ctx), -1);
    CHECK_EQ(rec.owed_count, count);
    realloc_fails = false;
    free(rec.owed);
}

static CUresult answer;
static CUstreamCaptureStatus found;
static CUstream asked;

static CUresult
is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    asked = stream;
    *status = found;
    return answer;
}

static void
test_streams(void)
{
    static const struct {
        int answer;
        CUstreamCaptureStatus found;
        int status;
        pcu_capture state;
    } rows[] = {
        {CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS, PCU_CAPTURE_NONE},
        {CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_ACTIVE, CUDA_SUCCESS,
         PCU_CAPTURE_STREAM},
        {CUDA_SUCCESS, CU_STREAM_CAPTURE_STATUS_INVALIDATED, CUDA_SUCCESS,
         PCU_CAPTURE_STREAM},
        {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, CU_STREAM_CAPTURE_STATUS_ACTIVE,
         CUDA_SUCCESS, PCU_CAPTURE_BLOCKS},
        {CUDA_ERROR_INVALID_HANDLE, CU_STREAM_CAPTURE_STATUS_ACTIVE,
         CUDA_ERROR_INVALID_HANDLE, PCU_CAPTURE_NONE},
    };
    pcu_capture state;
    drv.StreamIsCapturing = is_capturing;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        answer = (CUresult)rows[i].answer;
        found = rows[i].found;
        CHECK_EQ(pcu_capture_ask(HANDLE(CUstream, 0x500), &state), rows[i].status);
        CHECK_EQ(state, rows[i].state);
        CHECK(asked == HANDLE(CUstream, 0x500));
        CHECK_EQ(pcu_is_captured(CU_STREAM_PER_THREAD),
                 rows[i].state == PCU_CAPTURE_STREAM);
        CHECK(asked == CU_STREAM_PER_THREAD);
        CHECK_EQ(pcu_capture_ask(NULL, &state), rows[i].status);
        CHECK(asked ==
              CU_STREAM_LEGACY); /* also where the program has its own default */
    }
}

int
main(void)
{
    test_delays();
    test_owed();
    test_streams();
    return check_report();
}
