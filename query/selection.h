/*
 * Selection: intervals, threads, processors and metrics, resolved from the command line to ids.
 */
#ifndef CTX_QUERY_SELECTION_H
#define CTX_QUERY_SELECTION_H

#include "model/expression.h"
#include "model/profile.h"
#include "query/id_lists.h"

struct ctx_selection {
	struct ctx_interval *intervals; /* owned; sorted, disjoint, not empty, in the run; at least one */
	size_t n_intervals;
	uint32_t *threads; /* owned; ascending; NULL: all */
	size_t n_threads;
	struct ctx_cpu_range *cpus; /* owned; NULL: all */
	size_t n_cpus;
	uint32_t *metrics; /* owned; none twice; at least one */
	size_t n_metrics;
	struct ctx_expression **filters; /* owned; all of them must be true; NULL: none */
	size_t n_filters;
	bool asks_operations;		   /* a filter uses properties that only traced operations have */
	const struct ctx_profile *profile; /* borrowed; the profile to which the filters are bound */
	char *filter;			   /* owned: processors and filters as text, "" none */
};

/*
 * CTX_E_ARG or CTX_E_NOTFOUND with one line: a reversed interval or one after the end, an unknown
 * thread, process or metric, or an invalid filter.
 */
CTX_MUST_CHECK enum ctx_status ctx_selection_make(const struct ctx_selection_spec *spec,
						  const struct ctx_profile *profile,
						  struct ctx_selection *ret, struct ctx_err *err);
/*
 * Of sums of calls (struct ctx_profile_losses, call_log): with a metric of calls, or `shows_calls`, intervals are widened to whole seconds.
 * Whether any was.
 */
bool ctx_selection_widen(struct ctx_selection *selection, const struct ctx_profile *profile,
			 bool shows_calls);
void ctx_selection_deinit(struct ctx_selection *selection);

/* Appends the filters in words, nothing without any: "cpu 0,2-5 | filter THRID==2 | focus parse". */
void ctx_selection_put_filters(const struct ctx_selection_spec *spec, struct ctx_buf *text);

bool ctx_selection_has_cpu(const struct ctx_selection *selection, int32_t cpu);

/*
 * Whether samples must be checked one by one: for processors or filters, which time trees do not
 * index.
 */
bool ctx_selection_is_filtered(const struct ctx_selection *selection);

/*
 * Whether a sample passes: the processors and all filters, or the filters alone. Intervals and
 * threads are ignored.
 */
bool ctx_selection_has(const struct ctx_selection *selection, const struct ctx_sample *sample);

/* The same for a sample of a traced operation; NULL: of none. */
bool ctx_selection_has_operation(const struct ctx_selection *selection, const struct ctx_sample *sample,
				 const struct ctx_traced *operation);
bool ctx_selection_passes_filters(const struct ctx_selection *selection, const struct ctx_sample *sample);

/*
 * Whether a span passes all filters at the subject's TSTAMP. `*last_ns`, its last nanosecond, becomes
 * the last one for which the answer is the same, as far as it is known.
 */
bool ctx_selection_passes_until(const struct ctx_selection *selection,
				const struct ctx_expression_subject *subject, uint64_t *last_ns);

/*
 * Checks that the expression applies to the samples of a selected metric. CTX_E_ARG: it uses
 * properties that only traced operations have, and no metric has those; the message begins with the
 * option's name.
 */
CTX_MUST_CHECK enum ctx_status ctx_selection_check_asked(const struct ctx_selection *selection,
							 const struct ctx_profile *profile,
							 const char *option,
							 const struct ctx_expression *expression,
							 struct ctx_err *err);

/* From the begin of the first interval to the end of the last one. */
struct ctx_interval ctx_selection_hull(const struct ctx_selection *selection);

/* By thread whether it is selected, malloc'ed; NULL: all are. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_selection_mark_threads(const struct ctx_selection *selection,
							  const struct ctx_profile *profile, bool **ret,
							  struct ctx_err *err);

/* The selected thread of a position: the n-th selected, or n itself when all are. */
uint32_t ctx_selection_thread(const struct ctx_selection *selection, size_t n);
size_t ctx_selection_n_threads(const struct ctx_selection *selection, const struct ctx_profile *profile);

#endif
