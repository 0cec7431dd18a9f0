/*
 * A fleet as a source of reports: struct ctx_report_source of the recordings that were chosen, as query/store_source.h is that of a
 * database. Histograms are added up by the server; what comes is one row for each call stack.
 *
 *	ctx_fleet_source_open --> metrics of the profile --(the caller chooses some)--> ctx_fleet_source_load --> reports
 *
 * It has histograms (together, or by group of threads), the time of groups by state, waits, and sums by keys. All else that a source can be asked
 * for is CTX_E_ARG, with what it is. Tests of call stacks apply to histograms and sums by keys; the time by state and waits are then refused, and calls,
 * which are estimated from samples next to each other, are 0. Times begin with the first recording, or the interval.
 */
#ifndef CTX_FLEET_FLEET_SOURCE_H
#define CTX_FLEET_FLEET_SOURCE_H

#include "fleet/fleet_blocks.h"
#include "fleet/fleet_choice.h"
#include "fleet/fleet_server.h"
#include "model/report_source.h"

struct ctx_fleet_source_spec {	  /* borrowed until the source is closed */
	const char *const *tests; /* of call stacks: expressions (model/expression.h) that all must be true */
	size_t n_tests;
	const char *filter; /* the same in words, "" without tests */
	const struct ctx_fleet_server *server;
	struct ctx_fleet_choice_spec choice;
	const char
		*by; /* keys of an index that are not named otherwise (fleet/fleet_index.h); NULL: "host" */
	const char *path;    /* the fleet's name, for headings */
	const char *options; /* struct ctx_report_selection has it */
};

/* Chooses the recordings and reads what they are. CTX_E_ARG: a test; otherwise as ctx_fleet_choose and ctx_fleet_profile_make. */
CTX_MUST_CHECK enum ctx_status ctx_fleet_source_open(const struct ctx_fleet_source_spec *spec,
						     struct ctx_report_source **ret, struct ctx_err *err);
void ctx_fleet_source_close(struct ctx_report_source *base); /* NULL does nothing */

/*
 * The selected metrics, and their histograms: before any report, since they bring in functions and call stacks. `waits`: those
 * of waiting threads too, for the report waits.
 */
CTX_MUST_CHECK enum ctx_status ctx_fleet_source_load(struct ctx_report_source *source,
						     const uint32_t *metrics, size_t n, bool waits,
						     struct ctx_err *err);

/* The recordings of a source that is loaded in blocks by a key, while it is open (fleet/fleet_blocks.h). */
CTX_MUST_CHECK enum ctx_status ctx_fleet_source_blocks(struct ctx_report_source *source, const char *key,
						       struct ctx_fleet_blocks **ret, struct ctx_err *err);

#endif
