/*
 * The sockets (listening.h) to which traced processes connect for their memory (runtime/shared_layout.h), and a thread that
 * answers them while the recorder is busy.
 *
 * The process id is the kernel's word (SO_PEERCRED). Connections may be silent for any time: their process may have no processor. Of
 * more than 256 such the oldest is dropped, and counted as a segment that could not be made.
 */
#ifndef CTX_COLLECT_TRACE_LISTENER_H
#define CTX_COLLECT_TRACE_LISTENER_H

#include "collect/trace_segments.h"

struct ctx_trace_listener;

/* `segments` and the memory files (runtime/once_layout.h, runtime/count_layout.h; negative: none) are borrowed. Fails with CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_trace_listener_create(struct ctx_trace_segments *segments, int once_fd,
							 int entries_fd, struct ctx_trace_listener **ret,
							 struct ctx_err *err);
/* Nobody can connect any more. NULL is allowed. */
void ctx_trace_listener_destroy(struct ctx_trace_listener *listener);

/* Starts the thread: connections wait until then. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_trace_listener_start(struct ctx_trace_listener *listener,
							struct ctx_err *err);

/*
 * Ends the thread, which may have had no processor for a while: what processes have sent up to now is counted. No further
 * one is answered. Cost: those who wait, at most 4,096 for each socket.
 */
void ctx_trace_listener_end(struct ctx_trace_listener *listener);

/* The name of the socket, for CTX_RT_VARIABLE. Borrowed. */
const char *ctx_trace_listener_name(const struct ctx_trace_listener *listener);

/* To poll on: segments have arrived. ctx_trace_listener_seen makes it silent. */
int ctx_trace_listener_fd(const struct ctx_trace_listener *listener);
void ctx_trace_listener_seen(const struct ctx_trace_listener *listener);

#endif
