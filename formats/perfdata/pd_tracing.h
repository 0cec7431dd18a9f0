/*
 * Tracing data: formats of the recorded tracepoints (PERF_SAMPLE_RAW), as described by the recorded
 * kernel.
 *
 * The section holds the texts of /sys/kernel/tracing/events/SYSTEM/NAME/format (pe_tracepoint.h).
 * Only tracepoints of scheduling, system calls and page faults are read, and of these the id and a
 * few fields. Source: tools/perf/util/trace-event-info.c of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_TRACING_H
#define CTX_FORMATS_PERFDATA_PD_TRACING_H

#include "base/err.h"
#include "formats/perfdata/pd_events.h"
#include "formats/perfevent/pe_tracepoint.h"

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

struct ctx_pd_format {
	bool found;
	uint64_t id;
	struct ctx_pe_field fields[CTX_PD_FIELD_N];
};

struct ctx_pd_tracing { /* all zero is a valid empty one */
	struct ctx_pd_format formats[CTX_PD_TP_N];
	struct ctx_pe_prev_states prev_states;
};

/*
 * Parses `n` bytes of tracing data. Fails with CTX_E_FORMAT; then `*ret` is empty. One pass over
 * the event formats; allocates nothing.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_tracing_parse(const void *bytes, size_t n, struct ctx_pd_tracing *ret,
						    struct ctx_err *err);

/*
 * Names those of the events that are tracepoints, "sched:sched_switch", as far as the same bytes
 * describe them; a damaged rest is ignored. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_tracing_name(const void *bytes, size_t n, struct ctx_pd_events *events,
						   struct ctx_err *err);

/* "sched:sched_switch" */
const char *ctx_pd_tracepoint_name(enum ctx_pd_tracepoint tracepoint);

/* The tracepoint with this id; CTX_PD_TP_NONE: another one, or without a required field. */
enum ctx_pd_tracepoint ctx_pd_tracing_find(const struct ctx_pd_tracing *tracing, uint64_t id);

#endif
