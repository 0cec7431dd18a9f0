/*
 * Weights of a fleet by keys: ctxan fleet --by host,version,function.
 *
 *	key		of		a value is
 *	host ... name	recordings	as in terms (fleet/where.h); recording: its id; any other word: a label
 *	day		recordings	on which it began, UTC
 *	thread-pattern	threads		the name with * for numbers
 *	function,	call stacks	of the innermost function
 *	object
 *
 * Recordings with the same values are a part: which recording is of which part goes to the server with the question, so what comes
 * back is a row for each part, and each thread and stack where a key asks for these.
 */
#ifndef CTX_FLEET_FLEET_INDEX_H
#define CTX_FLEET_FLEET_INDEX_H

#include "fleet/fleet_profile.h"
#include "fleet/fleet_tests.h"
#include "model/report_source.h"

/* Checks keys without a server. CTX_E_ARG: a key that is empty, no key of a fleet, or there twice; CTX_E_LIMIT: too many. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_index_check(const char *by, struct ctx_err *err);

struct ctx_fleet_index_spec { /* borrowed */
	const struct ctx_fleet_server *server;
	const struct ctx_fleet_choice *choice;
	const struct ctx_fleet_profile *fleet; /* knows all stacks of the metrics */
	const uint32_t *metrics;
	size_t n_metrics;
	const char *by;			       /* keys, separated by commas; borrowed while the index lives */
	const struct ctx_fleet_tests *tests;   /* bound to the fleet's profile */
	bool by_stack;			       /* a last key "stack": the CCT node */
	const struct ctx_index_stacks *stacks; /* NULL: those of the fleet */
};

struct ctx_fleet_index; /* opaque */

/* As ctx_fleet_index_check; CTX_E_NOMEM, CTX_E_FORMAT, what the server fails with. O(recordings + rows of the answers). */
CTX_MUST_CHECK enum ctx_status ctx_fleet_index_make(const struct ctx_fleet_index_spec *spec,
						    struct ctx_fleet_index **ret, struct ctx_err *err);
void ctx_fleet_index_destroy(struct ctx_fleet_index *index); /* NULL does nothing */

/* Borrowed from the index. */
const struct ctx_report_index *ctx_fleet_index_rows(const struct ctx_fleet_index *index);

#endif
