/*
 * Events: the sampled counters that perf.data describes, and the field positions of their records.
 *
 * An event is one perf_event_attr with its ids. An attribute may be shorter or longer than the one
 * this code was written for: missing fields are zero, unknown fields are skipped. Source: struct
 * perf_event_attr in include/uapi/linux/perf_event.h.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_EVENTS_H
#define CTX_FORMATS_PERFDATA_PD_EVENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map64.h"
#include "formats/perfevent/pe_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_pd_event {
	uint32_t type;
	uint64_t config;
	uint64_t sample_period;	     /* or frequency */
	struct ctx_pe_layout layout; /* of its records */
	bool sample_id_all, exclude_callchain_kernel, exclude_callchain_user, freq, use_clockid;
	bool context_switch; /* also writes SWITCH records */
	bool exclude_user, exclude_kernel;
	int32_t clockid;
	uint16_t max_stack; /* 0: the system's limit */
	const char *name;   /* in the arena; "" until named */
	uint32_t metric;    /* CTX_NONE: an event for side-band records only */
	uint64_t first_id;  /* 0 none */
};

struct ctx_pd_events { /* all zero is a valid empty one */
	struct ctx_arena arena;
	struct ctx_pd_event *items; /* owned */
	size_t n, cap;
	struct ctx_map64 by_id; /* id -> index */
	/*
	 * Positions as in pe_layout.h if all events agree, else -1 (ctx_pd_events_settle).
	 */
	int sample_time_at, sample_id_at;
	int trailer_time_at, trailer_id_at;
	bool has_trailer;
	size_t n_settled; /* events included in the positions */
};

void ctx_pd_events_deinit(struct ctx_pd_events *events);

/*
 * Adds an event from the `n` bytes of its attr in the file. The attr's size field must be at least
 * 64 and at most n. The event's index is then events->n - 1. Fails with CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_add(struct ctx_pd_events *events, const void *attr, size_t n,
						 bool swap, struct ctx_err *err);

/* Maps an id to an event. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_add_id(struct ctx_pd_events *events, uint64_t id, uint32_t event,
						    struct ctx_err *err);

/* Names an event; `name` has `n` bytes and is copied. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_name(struct ctx_pd_events *events, uint32_t event,
						  const char *name, size_t n, struct ctx_err *err);

/*
 * Finds the common positions, and names unnamed events after their type and config. Call it after
 * the last event and id were added, and again after adding more. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_settle(struct ctx_pd_events *events, struct ctx_err *err);

/* CTX_UNIT_NS for clocks of CPU time and for time off the CPU, CTX_UNIT_EVENTS otherwise. */
enum ctx_unit ctx_pd_event_unit(const struct ctx_pd_event *event);

/* Whether its samples are waits, as long as their periods (perf record --off-cpu). Events have names. */
bool ctx_pd_event_is_off_cpu(const struct ctx_pd_event *event);

/* Is the event there for side-band records only (perf's dummy)? */
bool ctx_pd_event_is_dummy(const struct ctx_pd_event *event);

#endif
