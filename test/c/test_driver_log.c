/* Unit test of driver/driver_log: which of the driver's messages belong to a call. */
#include "driver/driver_log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check.h"

/* The table of the driver, of which the unit calls one function. */
struct pcu_drv drv;

static CUlogsCallback callback;
static int registered;

static CUresult
keep_callback(CUlogsCallback function, void *data, CUlogsCallbackHandle *handle)
{
    (void)data;
    registered++;
    if (registered == 1) {
        return CUDA_ERROR_NOT_FOUND; /* an older driver, at first */
    }
    callback = function;
    *handle = NULL;
    return CUDA_SUCCESS;
}

static void
say(const char *text)
{
    char message[2000];
    size_t length = strlen(text);
    memcpy(message, text, length + 1);
    callback(NULL, CU_LOG_LEVEL_ERROR, message, length);
}

static void
check_taken(const char *routine, const char *expected)
{
    char text[PCU_DRIVER_LOG_ROOM];
    size_t length = pcu_driver_log_take(routine, text, sizeof(text));
    CHECK_EQ(length, strlen(expected));
    CHECK_EQ(strcmp(text, expected), 0);
    CHECK_EQ(pcu_driver_log_take(routine, text, sizeof(text)), 0);
    CHECK_EQ(text[0], 0);
}

static void
test_begin(void)
{
    drv.LogsRegisterCallback = keep_callback;
    check_taken("cuInit", "");
    pcu_driver_log_begin();
    CHECK_EQ(registered, 1);
    CHECK(callback == NULL);
    pcu_driver_log_begin();
    pcu_driver_log_begin();
    CHECK_EQ(registered, 2);
}

static void
test_the_call_that_ended(void)
{
    say("One or more of block dimensions exceeds its maximum");
    say("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLaunchKernel");
    check_taken("cuLaunchKernel",
                "One or more of block dimensions exceeds its maximum");

    /* an earlier call failed, as was expected; then this one */
    say("The pointer is not of this context");
    say("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuPointerGetAttribute");
    say("Too large");
    say("Rounded up");
    say("Returning 2 (CUDA_ERROR_OUT_OF_MEMORY) from cuMemAlloc_v2");
    check_taken("cuMemAlloc", "Too large\nRounded up");

    say("Not this call");
    say("Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAllocPitch_v2");
    check_taken("cuMemAlloc", "");

    say("Returning 700 (CUDA_ERROR_ILLEGAL_ADDRESS) from cuCtxSynchronize");
    check_taken("cuCtxSynchronize", "");
}

static void
test_prefixes(void)
{
    say("[22:21:32.099][25642][CUDA][E] buffer cannot be NULL\n");
    say("[22:21:32.099][25642][CUDA][E] Returning 1 (CUDA_ERROR_INVALID_VALUE) from "
        "cuLogsDumpToMemory\n");
    check_taken("cuLogsDumpToMemory", "buffer cannot be NULL");

    /* the form of 12.9 */
    say("[22:21:32.099][25642][CUDA][E][cuMemFree_v2] another call");
    say("[22:21:32.099][25642][CUDA][E][cuLogsDumpToMemory] buffer cannot be NULL");
    check_taken("cuLogsDumpToMemory", "buffer cannot be NULL");

    say("[an open bracket");
    say("");
    check_taken("cuMemAlloc", "[an open bracket\n");
}

static void
test_long_messages(void)
{
    char text[PCU_DRIVER_LOG_ROOM];
    char message[1001];
    memset(message, 'x', 1000);
    message[1000] = 0;
    for (int i = 0; i < 40; i++) {
        say(message);
    }
    size_t length = pcu_driver_log_take("cuInit", text, sizeof(text));
    CHECK(length > 1000 && length < sizeof(text));
    CHECK_EQ(strlen(text), length);
    CHECK_EQ(strcspn(text, "\n"), 511);

    /* the ring keeps the newest */
    for (int i = 0; i < 100; i++) {
        char number[20];
        snprintf(number, sizeof(number), "%d", i);
        say(number);
    }
    length = pcu_driver_log_take("cuInit", text, sizeof(text));
    CHECK_EQ(strncmp(text, "84\n85\n", 6), 0);
    CHECK_EQ(strcmp(text + length - 3, "\n99"), 0);
}

static void *
other_thread(void *data)
{
    (void)data;
    say("of another thread");
    check_taken("cuMemAlloc", "of another thread");
    say("of another thread");
    return NULL;
}

static void
test_threads(void)
{
    pthread_t thread;
    for (int i = 0; i < 5; i++) {
        say("of this thread");
        CHECK_EQ(pthread_create(&thread, NULL, other_thread, NULL), 0);
        CHECK_EQ(pthread_join(thread, NULL), 0);
        check_taken("cuMemAlloc", "of this thread");
    }
}

int
main(void)
{
    test_begin();
    test_the_call_that_ended();
    test_prefixes();
    test_long_messages();
    test_threads();
    return check_report();
}
