/*
 * Waits grouped by what was waited for and by the function of the program that waited
 * (model/wait_kind.h): the rows of the report waits and of the first screen.
 *
 * A command is held until its recorder is ready: this first wait of its first thread has the kind
 * START.
 */
#ifndef CTX_REPORT_WAIT_TABLE_H
#define CTX_REPORT_WAIT_TABLE_H

#include "base/map64.h"
#include "model/wait_kind.h"
#include "report/report.h"

struct ctx_wait_row {
	uint32_t caller; /* function; CTX_NONE */
	enum ctx_wait_kind kind;
	uint32_t state; /* enum ctx_thread_state */
	uint64_t waits, wait_ns, max_ns;
	/*
	 * The thread or external waker that ended most of its time, by name; NULL: unknown. Borrowed. Of a
	 * lock it is rather one that does not stand in line itself (wakes from another function), if
	 * that ended a tenth of the time: those in line only pass on what they waited for.
	 */
	const char *waker;
	uint64_t waker_ns;
	uint32_t waker_function; /* of the program, from which it woke most of that; CTX_NONE: unknown */
	uint32_t stack;		 /* CCT node with most of its time */
	uint64_t stack_ns;
};

struct ctx_wait_table {
	const struct ctx_profile *profile;	  /* borrowed */
	const struct ctx_report_options *options; /* borrowed: its function and subject are filters */
	const struct ctx_wait_kinds *kinds;	  /* borrowed */
	struct ctx_map64 row_of;		  /* by caller, kind and state */
	struct ctx_wait_row *rows;
	size_t n, cap;
	uint64_t start_ns; /* of the wait for the recorder, if it has a row besides others without a stack */
};

/*
 * Pulls waits and wakers of the selection, which the profile must have (ctx_wakers_check). Two
 * scans. Call ctx_wait_table_deinit in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_wait_table_build(struct ctx_wait_table *table,
						    struct ctx_report_source *source,
						    const struct ctx_report_options *options,
						    const struct ctx_wait_kinds *kinds, struct ctx_err *err);
void ctx_wait_table_deinit(struct ctx_wait_table *table);

/* Whether a span of this state and stack is a wait of the row. O(depth). */
bool ctx_wait_table_is_of(const struct ctx_wait_table *table, const struct ctx_wait_row *row,
			  enum ctx_thread_state state, uint32_t stack);

/* The name cell of a row's caller; "<Unknown>" if there is none. */
struct ctx_cell ctx_wait_caller_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row);

/* The name of the function from which its waker woke; no name if it is unknown. */
struct ctx_cell ctx_wait_waker_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row);

static inline uint64_t ctx_wait_row_mean(const struct ctx_wait_row *row)
{
	return row->waits != 0 ? row->wait_ns / row->waits : 0;
}

#endif
