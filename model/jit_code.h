/*
 * JIT code: just-in-time compilers report its functions by address in
 * /tmp/perf-PID.map, and code in anonymous memory is named after that file. Source:
 * tools/perf/Documentation/jit-interface.txt of Linux.
 */
#ifndef CTX_MODEL_JIT_CODE_H
#define CTX_MODEL_JIT_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define CTX_JIT_CODE_PATH 48 /* maximal size of such a path, with its zero byte */

void ctx_jit_code_path(int64_t pid, char path[CTX_JIT_CODE_PATH]);

/* Whether it is such a path. */
bool ctx_jit_code_is(const char *path);

#endif
