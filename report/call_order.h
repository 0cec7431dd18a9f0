/*
 * Entries and exits of the traced calls of a selection, with its samples, in order of time.
 *
 *	completed calls, in order of their ends --+
 *	                                          +--> the first `most` events behind the cursor --> a batch, in order
 *	samples of each metric -------------------+         ^___________ again from the last batch on
 *
 * An event is in the interval of its own time: of a call that begins in it and ends behind it, it has
 * the entry. Events of a thread in one ns are as they came: what ends is the innermost call that is
 * open, and what is entered in it is deeper. Samples come behind what was entered in their ns.
 *
 * Memory: twice `most` events, and more only if one thread has more in one ns. Time: a scan of all
 * samples, and of the calls that end later, for each `most` events that are asked for.
 */
#ifndef CTX_REPORT_CALL_ORDER_H
#define CTX_REPORT_CALL_ORDER_H

#include "model/report_source.h"

#include <stdbool.h>

enum ctx_call_event_kind {
	CTX_CALL_EVENT_ENTRY,
	CTX_CALL_EVENT_EXIT,
	CTX_CALL_EVENT_UNWIND, /* an exit without return */
	CTX_CALL_EVENT_SAMPLE,
};

struct ctx_call_event {
	uint64_t time_ns;
	uint64_t number;      /* of the call, in order of ends; of the sample, in order of metrics */
	uint64_t duration_ns; /* of the whole call; 0: of a sample */
	uint32_t thread;
	uint32_t stack; /* CCT node */
	uint32_t depth; /* of `stack` */
	uint8_t kind;	/* enum ctx_call_event_kind */
	uint8_t code;	/* enum ctx_call_operation */
};

struct ctx_call_order {
	struct ctx_report_source *source; /* borrowed */
	const bool *passes;		  /* by CCT node, borrowed; NULL: all do */
	size_t most;			  /* events of a batch, at least 1 */
	uint64_t total;			  /* events of the selection: after the first batch */
	/* Its own. */
	struct ctx_call_event *events;
	size_t n, cap;
	uint64_t after_ns; /* batches end with (after_ns, after_thread) */
	uint32_t after_thread;
	bool has_cursor, has_bound, is_done;
	uint64_t bound_ns, number;
	uint32_t bound_thread;
	struct ctx_call_order_exit *scratch;
	size_t scratch_cap;
};

/*
 * The next events, borrowed until the next call; `*ret_n` 0: there are no more. Set `source`, `passes`
 * and `most` before the first call, everything else 0. CTX_E_NOMEM, or what the source fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_call_order_next(struct ctx_call_order *order,
						   const struct ctx_call_event **ret, size_t *ret_n,
						   struct ctx_err *err);
void ctx_call_order_deinit(struct ctx_call_order *order);

/* The code of how it runs (0x40 a sample, 0x41, 0x30, 0x50), and of what happens: as the view call_event has them. */
unsigned ctx_call_event_major(const struct ctx_call_event *event);
unsigned ctx_call_event_minor(const struct ctx_call_event *event);

#endif
