#include "query/span_edges.h"

#include "model/span_clip.h"
#include "query/tree_reader.h"

/* CTX_END: no span ends at or after the time. */
static enum ctx_status first_span(struct ctx_query *query, const struct ctx_span_scope *scope,
				  uint64_t time_ns, struct ctx_sample *ret, struct ctx_err *err)
{
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, scope->thread, scope->metric);
	struct ctx_tree_place place = {query->store, tree != NULL ? tree->id : 0};
	struct ctx_timetree_reader reader = ctx_tree_reader(&place);
	struct ctx_known_span *known;
	enum ctx_status status;

	if (tree == NULL)
		return CTX_END;
	status = ctx_span_cache_place(&query->spans, scope->thread, scope->metric, &known, err);
	if (status != CTX_OK)
		return status;
	if (known->used && known->from_ns <= time_ns && (known->none || time_ns <= known->span.time_ns)) {
		*ret = known->span;
		return known->none ? CTX_END : CTX_OK;
	}
	status = ctx_timetree_first_at(&reader, time_ns, ret, &query->cost, err);
	if (status != CTX_OK && status != CTX_END)
		return status;
	*known = (struct ctx_known_span){.from_ns = time_ns, .none = status == CTX_END, .used = true};
	if (status == CTX_OK)
		known->span = *ret;
	return status;
}

static bool lies_over(const struct ctx_sample *span, uint64_t time_ns)
{
	return ctx_sample_begin(span) < time_ns && time_ns <= span->time_ns;
}

/* Spans at open calls and those of OpenMP lie beside those of states. */
static enum ctx_status over_place(struct ctx_query *query, const struct ctx_span_scope *scope,
				  struct ctx_known_span **ret, struct ctx_err *err)
{
	enum ctx_metric_kind kind = query->profile->metrics[scope->metric].kind;

	return ctx_span_cache_place(&query->spans, scope->thread,
				    kind == CTX_METRIC_CALL_SPAN  ? CTX_SPAN_CACHE_CALLS
				    : kind == CTX_METRIC_OMP_SPAN ? CTX_SPAN_CACHE_OMP
								  : CTX_SPAN_CACHE_STATES,
				    ret, err);
}

/* The span of the metric that extends before and after the time. CTX_END: none. */
static enum ctx_status find_over(struct ctx_query *query, const struct ctx_span_scope *scope,
				 uint64_t time_ns, struct ctx_sample *ret, struct ctx_err *err)
{
	const struct ctx_interval life = query->profile->threads[scope->thread].life;
	struct ctx_known_span *over;
	enum ctx_status status;

	if (time_ns <= life.begin_ns || time_ns >= life.end_ns)
		return CTX_END;
	status = over_place(query, scope, &over, err);
	if (status != CTX_OK)
		return status;
	/* At any time at most one metric of the same kind has a span. */
	if (over->used && lies_over(&over->span, time_ns)) {
		*ret = over->span;
		return over->span.metric == scope->metric ? CTX_OK : CTX_END;
	}
	status = first_span(query, scope, time_ns, ret, err);
	if (status != CTX_OK || !lies_over(ret, time_ns))
		return status == CTX_OK ? CTX_END : status;
	status = over_place(query, scope, &over, err);
	if (status == CTX_OK)
		*over = (struct ctx_known_span){.span = *ret, .used = true};
	return status;
}

enum ctx_status ctx_span_edges_find(struct ctx_query *query, const struct ctx_span_scope *scope,
				    struct ctx_span_edges *ret, struct ctx_err *err)
{
	const struct ctx_interval run = query->profile->run, interval = scope->interval;
	enum ctx_status status = CTX_END;
	struct ctx_sample span;

	*ret = (struct ctx_span_edges){0};
	if (ctx_interval_is_empty(interval))
		return CTX_OK;
	if (interval.begin_ns > run.begin_ns)
		status = find_over(query, scope, interval.begin_ns, &span, err);
	if (status != CTX_OK && status != CTX_END)
		return status;
	if (status == CTX_OK && span.time_ns < interval.end_ns) {
		ret->first = span;
		ret->excess_ns = interval.begin_ns - ctx_sample_begin(&span);
	}
	status = CTX_END;
	if (interval.end_ns < run.end_ns)
		status = find_over(query, scope, interval.end_ns, &span, err);
	if (status != CTX_OK)
		return status == CTX_END ? CTX_OK : status;
	ret->last_whole = span;
	if (ctx_span_clip(query->profile, &span, interval))
		ret->last = span;
	return CTX_OK;
}

/*
 * Weight omitted from the lists (--coverage top) is counted in the cost: the remainder is
 * subtracted there.
 */
static void subtract(struct ctx_query *query, struct ctx_histogram *out, uint32_t stack, uint64_t excess_ns)
{
	uint64_t rest = excess_ns - ctx_histogram_subtract(out, stack, excess_ns);
	uint64_t omitted = query->cost.omitted_weight;

	query->cost.omitted_weight = omitted > rest ? omitted - rest : 0;
}

/* The calls that a span added were entered at its begin, before the interval. */
static enum ctx_status take_calls(const struct ctx_trie *cct, const struct ctx_sample *span,
				  struct ctx_histogram *out, struct ctx_err *err)
{
	const int64_t calls = 1 + (int64_t)span->more_calls;
	enum ctx_status status;

	if (span->kept_depth >= cct->depth[span->stack])
		return CTX_OK;
	status = ctx_histogram_add(out, (struct ctx_hist_entry){.stack = span->stack, .calls = -calls}, err);
	return status == CTX_OK ? ctx_histogram_add(
					  out,
					  (struct ctx_hist_entry){.stack = ctx_trie_ancestor(
									  cct, span->stack, span->kept_depth),
								  .calls = calls},
					  err)
				: status;
}

static enum ctx_status correct_thread(struct ctx_query *query, const struct ctx_span_scope *scope,
				      struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_trie *cct =
		(query->flags & CTX_TIMETREE_NO_CALLS) != 0 ? NULL : &query->profile->cct;
	struct ctx_span_edges edges;
	enum ctx_status status = ctx_span_edges_find(query, scope, &edges, err);

	if (status != CTX_OK)
		return status;
	if (edges.excess_ns != 0)
		subtract(query, out, edges.first.stack, edges.excess_ns);
	if (edges.excess_ns != 0 && cct != NULL && ctx_span_has_exact_calls(query->profile, &edges.first))
		status = take_calls(cct, &edges.first, out, err);
	if (status != CTX_OK)
		return status;
	if (edges.last.weight == 0)
		return CTX_OK;
	return ctx_histogram_add_samples(out, cct, &edges.last, 1, err);
}

enum ctx_status ctx_span_edges_correct(struct ctx_query *query, const struct ctx_span_scope *scope,
				       struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	struct ctx_span_scope one = *scope;
	enum ctx_status status = CTX_OK;

	if (!ctx_metric_is_clipped(&profile->metrics[scope->metric]) ||
	    ctx_interval_contains(scope->interval, profile->run))
		return CTX_OK;
	if (scope->thread != CTX_NONE)
		return correct_thread(query, scope, out, err);
	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile) && status == CTX_OK; i++) {
		one.thread = ctx_selection_thread(query->selection, i);
		status = correct_thread(query, &one, out, err);
	}
	return status;
}
