/*
 * Limits of the programs that read debug information for the recorder.
 */
#ifndef CTX_SYMBOLS_HELPER_LIMITS_H
#define CTX_SYMBOLS_HELPER_LIMITS_H

#include <stddef.h>

#define CTX_HELPER_OUTPUT_MAX ((size_t)64 << 20)

/*
 * Limits this process: processor time, memory, output; no new privileges. Core dumps could expose data of other users'
 * files, debuginfod queries which programs are recorded: both are disabled.
 */
void ctx_helper_limit(void);

#endif
