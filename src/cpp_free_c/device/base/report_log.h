/* The file of reports, which the variable PYCUDA_CHECK_LOG names.
 *
 * Everything that the software device finds wrong in a program is appended to it as one
 * block: the line "== KIND PID", the text of the report, an empty line. Any thread of
 * any process may append at any time. Without the variable nothing is written. */
#ifndef DEVICE_BASE_REPORT_LOG_H
#define DEVICE_BASE_REPORT_LOG_H

/* Append a report. kind: memory, init, race, sync, barrier, leak, or the word for
 * another failure of a kernel (assert, trap, timeout, launch). Returns 1 if the report
 * was written, 0 without a file. A file that cannot be written is no error. */
int emu_report_log(const char *kind, const char *text);

#endif
