/*
 * The recorder's sockets, as the target reaches them: an abstract one, for whoever shares its network namespace, and one in
 * CTX_RT_SOCKETS, for whoever shares its file system. Nothing is allocated, and no descriptor stays open.
 */
#ifndef CTX_RUNTIME_RT_RECORDER_H
#define CTX_RUNTIME_RT_RECORDER_H

#include "runtime/shared_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sets the name of both, `n` bytes. False: it is empty or too long, and the last one stays. */
bool ctx_rt_recorder_name(const char *name, size_t n);

/*
 * Asks for one more memory file for a process that has `n_segments`. Returns its descriptor, for the caller to close; negative:
 * the recorder makes none, or is not there. Waits for an answer while the recorder runs, 30 s at most; where it has been
 * stopped, a second. Giving up waiting is reported to the recorder.
 */
int ctx_rt_recorder_request(uint32_t n_segments);

/* Reports why nothing of this process, or of further threads, can be recorded. Waits for nothing. */
void ctx_rt_recorder_report(enum ctx_rt_untraced what);

/* Whether it listens. */
bool ctx_rt_recorder_is_there(void);

#endif
