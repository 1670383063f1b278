/* The file of reports. See report_log.h. */
#define _POSIX_C_SOURCE 200809L
#include "device/base/report_log.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REPORT_LOG_ROOM = 8192 };

int
emu_report_log(const char *kind, const char *text)
{
    const char *path = getenv("PYCUDA_CHECK_LOG");
    char block[REPORT_LOG_ROOM];
    size_t length = strlen(text);
    int written, file;
    ssize_t done;

    if (path == NULL || *path == 0) {
        return 0;
    }
    file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) {
        return 0;
    }
    while (length > 0 && text[length - 1] == '\n') {
        length--;
    }
    if (length > REPORT_LOG_ROOM - 128) {
        length = REPORT_LOG_ROOM - 128;
    }
    written = snprintf(block, sizeof block, "== %.32s %ld\n%.*s\n\n", kind,
                       (long)getpid(), (int)length, text);
    done = write(file, block, (size_t)written); /* one write: blocks never mix */
    (void)close(file);
    return done == written;
}
