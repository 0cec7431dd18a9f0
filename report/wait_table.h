/*
 * Waits grouped by what was waited for and by the function of the program that waited
 * (model/wait_kind.h): the rows of the report waits and of the first screen.
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
	const char *waker; /* that ended most of its time, by name; NULL: unknown. Borrowed */
	uint64_t waker_ns;
	uint32_t stack; /* CCT node with most of its time */
	uint64_t stack_ns;
};

struct ctx_wait_table {
	const struct ctx_profile *profile;	  /* borrowed */
	const struct ctx_report_options *options; /* borrowed: its function and subject are filters */
	const struct ctx_wait_kinds *kinds;	  /* borrowed */
	struct ctx_map64 row_of;		  /* by caller, kind and state */
	struct ctx_wait_row *rows;
	size_t n, cap;
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

/* The name cell of a row's caller; "<Unknown>" if there is none. */
struct ctx_cell ctx_wait_caller_cell(const struct ctx_profile *profile, const struct ctx_wait_row *row);

static inline uint64_t ctx_wait_row_mean(const struct ctx_wait_row *row)
{
	return row->waits != 0 ? row->wait_ns / row->waits : 0;
}

#endif
