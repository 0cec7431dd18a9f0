/*
 * Tracing data: how the tracepoints of a recording lay out what they tell (PERF_SAMPLE_RAW), as the kernel that was
 * recorded described it.
 *
 * The section holds the texts of /sys/kernel/tracing/events/SYSTEM/NAME/format. Only the tracepoints that tell what threads
 * do are wanted; of these the number and a few fields. Nothing of it is kept but numbers. Source:
 * Documentation/trace/events.rst and tools/perf/util/trace-event-info.c of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_TRACING_H
#define CTX_FORMATS_PERFDATA_PD_TRACING_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_pd_tracepoint {
	CTX_PD_TP_NONE = 0,
	CTX_PD_TP_SWITCH,
	CTX_PD_TP_WAKING,
	CTX_PD_TP_WAKEUP,
	CTX_PD_TP_WAKEUP_NEW,
	CTX_PD_TP_SYS_ENTER,
	CTX_PD_TP_SYS_EXIT,
	CTX_PD_TP_FAULT_USER,
	CTX_PD_TP_FAULT_KERNEL,
	CTX_PD_TP_N,
};

enum ctx_pd_field {
	CTX_PD_FIELD_COMMON_PID,
	CTX_PD_FIELD_PREV_STATE,
	CTX_PD_FIELD_NEXT_PID,
	CTX_PD_FIELD_PID,
	CTX_PD_FIELD_ERROR_CODE,
	CTX_PD_FIELD_N,
};

struct ctx_pd_field_place {
	uint16_t offset, size; /* in the raw data; size 1, 2, 4 or 8, 0: there is none */
};

struct ctx_pd_format {
	bool found;
	uint64_t id;
	struct ctx_pd_field_place fields[CTX_PD_FIELD_N];
};

struct ctx_pd_tracing { /* all zero is a valid empty one */
	struct ctx_pd_format formats[CTX_PD_TP_N];
	/* Bits of prev_state: of threads that are dead, stopped, and that wait. None of them: it was preempted. */
	uint64_t dead, stopped, waits;
};

/*
 * Reads `n` bytes of tracing data. Fails with CTX_E_FORMAT (then `*ret` is empty). Costs one pass over the formats of events; allocates
 * nothing.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_tracing_parse(const void *bytes, size_t n, struct ctx_pd_tracing *ret,
						    struct ctx_err *err);

/* "sched:sched_switch" */
const char *ctx_pd_tracepoint_name(enum ctx_pd_tracepoint tracepoint);

/* The tracepoint with this number, CTX_PD_TP_NONE: it is none of those, or lacks a field that it needs. */
enum ctx_pd_tracepoint ctx_pd_tracing_find(const struct ctx_pd_tracing *tracing, uint64_t id);

/* A field of `n` bytes of raw data, sign-extended; false when it is not in them. */
bool ctx_pd_tracing_value(const struct ctx_pd_format *format, enum ctx_pd_field field, const uint8_t *raw,
			  size_t n, bool swap, int64_t *ret);

#endif
