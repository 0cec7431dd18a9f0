/*
 * Selection spec: the options of a selection, as typed: --interval 300:700 --thread 0,2-5 --filter
 * 'CPUID==3'.
 *
 * Nothing is checked here. ctx_filters_check parses the expressions before a recording is opened,
 * ctx_selection_make resolves names to ids.
 */
#ifndef CTX_QUERY_SELECTION_SPEC_H
#define CTX_QUERY_SELECTION_SPEC_H

#include <stddef.h>

struct ctx_mark_view;
struct ctx_phase_group;

/* A filter that an option of its own stands for: --focus parse. Both are owned. */
struct ctx_stack_test {
	char *expression;
	char *label; /* "focus parse", for people */
};

struct ctx_selection_spec { /* arrays are owned (ctx_selection_spec_deinit), strings are borrowed; all zero: the whole run */
	const char **intervals;
	size_t n_intervals, intervals_cap;
	const char *threads, *processes, *cpus; /* lists; NULL: all */
	const char *lineage;			/* of the only process, "_f1_x1"; NULL: all */
	const char **filters;			/* expressions */
	size_t n_filters, filters_cap;
	struct ctx_stack_test *tests; /* filters too */
	size_t n_tests, tests_cap;
	const char **indexes; /* NAME=EXPRESSION */
	size_t n_indexes, indexes_cap;
	const struct ctx_mark_view
		*marks; /* of the recording, for intervals named by them; borrowed; NULL: none */
	const struct ctx_phase_group *const
		*phases;    /* by interval: what one named by phases names them of; the same way */
	const char *by;	    /* key of the report index; NULL: none */
	const char *metric; /* one or a list; NULL: the first that has samples */
};

void ctx_selection_spec_deinit(struct ctx_selection_spec *spec);

#endif
