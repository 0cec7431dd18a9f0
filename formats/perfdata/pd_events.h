/*
 * Events: the counters that were sampled, as perf.data announces them, and where a record holds
 * what.
 *
 * An event is one perf_event_attr with its ids. Attributes may be longer or shorter than the ones
 * that we know: what is missing is zero, what is new is skipped. Source: struct perf_event_attr in
 * include/uapi/linux/perf_event.h.
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
	bool context_switch; /* brings SWITCH records */
	bool exclude_user, exclude_kernel;
	int32_t clockid;
	uint16_t max_stack; /* 0: the system's limit */
	const char *name;   /* in the arena; "" until named */
	uint32_t metric;    /* CTX_NONE: none (an event that only brings side-band records) */
	uint64_t first_id;  /* 0 none */
};

struct ctx_pd_events { /* all zero is a valid empty one */
	struct ctx_arena arena;
	struct ctx_pd_event *items; /* owned */
	size_t n, cap;
	struct ctx_map64 by_id; /* id -> index */
	/*
	 * Positions as in pe_layout.h, where all events agree (ctx_pd_events_settle); -1 otherwise.
	 */
	int sample_time_at, sample_id_at;
	int trailer_time_at, trailer_id_at;
	bool has_trailer;
	size_t n_settled; /* events that were looked at for this */
};

void ctx_pd_events_deinit(struct ctx_pd_events *events);

/*
 * Adds an event from the `n` bytes of its attr, as found in the file (the attr's own size field
 * must not be larger than n; 64 bytes at least). Its index is events->n - 1 afterwards. Fails with
 * CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_add(struct ctx_pd_events *events, const void *attr, size_t n,
						 bool swap, struct ctx_err *err);

/* Says that an id belongs to an event. */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_add_id(struct ctx_pd_events *events, uint64_t id, uint32_t event,
						    struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_pd_events_name(struct ctx_pd_events *events, uint32_t event,
						  const char *name, size_t n, struct ctx_err *err);

/*
 * To be called after all events and ids are in, and again after more came: finds the common places.
 * Names what has no name by its type and config.
 */
CTX_MUST_CHECK enum ctx_status ctx_pd_events_settle(struct ctx_pd_events *events, struct ctx_err *err);

/* CTX_UNIT_NS for clocks of CPU time, CTX_UNIT_EVENTS otherwise. */
enum ctx_unit ctx_pd_event_unit(const struct ctx_pd_event *event);

/* Does the event only bring side-band records (perf's dummy)? */
bool ctx_pd_event_is_dummy(const struct ctx_pd_event *event);

#endif
