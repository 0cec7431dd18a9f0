/*
 * What the program says of itself (ctx_trace.h): each call is one record with its name and its call stack. What
 * belongs together, begin and end, is found by who reads the recording.
 */
#include "runtime/ctx_trace.h"
#include "runtime/rt_calls_work.h"
#include "runtime/rt_process.h"

#include "base/clock.h"

#include <errno.h>
#include <string.h>

/* Bytes of it that are recorded: whole characters. */
static uint32_t length_of(const char *name)
{
	size_t n = strnlen(name, CTX_RT_MARK_NAME_MAX + 1);

	if (n <= CTX_RT_MARK_NAME_MAX)
		return (uint32_t)n;
	n = CTX_RT_MARK_NAME_MAX;
	while (n > CTX_RT_MARK_NAME_MAX - 3 && ((unsigned char)name[n] & 0xc0) == 0x80)
		n--;
	return (uint32_t)n;
}

void ctx_trace_event_v1(unsigned kind, const char *name, int64_t value);

__attribute__((visibility("default"), noinline)) void ctx_trace_event_v1(unsigned kind, const char *name,
									 int64_t value)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	struct ctx_rt_operation operation = {.kind = CTX_RT_MARK, .text = name};
	struct ctx_rt_thread *thread;
	int error = errno;

	if (kind > CTX_TRACE_RESUME || name == NULL || *name == '\0' || !ctx_rt_is_on(CTX_RT_WHAT_MARKS))
		return;
	if ((kind == CTX_TRACE_PAUSE && ctx_rt_is_paused()) ||
	    (kind == CTX_TRACE_RESUME && !ctx_rt_is_paused()))
		return;
	thread = ctx_rt_thread_acquire(CTX_RT_WHAT_MARKS);
	if (thread != NULL) {
		operation.text_bytes = length_of(name);
		operation.words[0] = ctx_clock_ns(CLOCK_MONOTONIC);
		operation.words[1] = kind;
		operation.words[2] = (uint64_t)value;
		ctx_rt_record(thread, &operation, &caller);
		ctx_rt_thread_release();
	}
	if (kind == CTX_TRACE_PAUSE || kind == CTX_TRACE_RESUME) {
		atomic_store(&ctx_rt_paused, kind == CTX_TRACE_PAUSE);
		ctx_rt_calls_choose_mode();
	}
	errno = error;
}
