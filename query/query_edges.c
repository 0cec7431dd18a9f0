#include "query/query_edges.h"

#include "base/mem.h"
#include "query/query_impl.h"

#include <stdlib.h>

/* The first span that ends at or after any time from `from_ns` to its last nanosecond. */
struct ctx_known_span {
	uint64_t from_ns;
	struct ctx_sample span;
	bool none; /* there is none behind from_ns */
	bool used;
};

void ctx_span_cache_deinit(struct ctx_span_cache *cache)
{
	ctx_map64_deinit(&cache->places);
	free(cache->known);
	*cache = (struct ctx_span_cache){0};
}

/* Made if it is new, `used` is false then. Valid until the next call. */
static enum ctx_status place_of(struct ctx_span_cache *cache, uint32_t thread, uint32_t metric,
				struct ctx_known_span **ret, struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(&cache->places, (uint64_t)thread << 32 | metric);
	enum ctx_status status;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = 0; /* a place must not stay free; right in a moment, or never looked at again */
		status = ctx_grow(&cache->known, &cache->cap, cache->n + 1, err);
		if (status != CTX_OK)
			return status;
		cache->known[cache->n] = (struct ctx_known_span){0};
		*place = (uint32_t)cache->n++;
	}
	*ret = &cache->known[*place];
	return CTX_OK;
}

/* CTX_END: no span ends at or after the time. */
static enum ctx_status first_span(struct ctx_query *query, uint32_t thread, uint32_t metric, uint64_t time_ns,
				  struct ctx_sample *ret, struct ctx_err *err)
{
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, thread, metric);
	struct ctx_tree_place place = {query->store, tree != NULL ? tree->id : 0};
	struct ctx_timetree_reader reader = ctx_query_tree_reader(&place);
	struct ctx_known_span *known;
	enum ctx_status status;

	if (tree == NULL)
		return CTX_END;
	status = place_of(query->spans, thread, metric, &known, err);
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

/* The span of the metric that has nanoseconds before and behind the time. CTX_END: none. */
static enum ctx_status find_over(struct ctx_query *query, uint32_t thread, uint32_t metric, uint64_t time_ns,
				 struct ctx_sample *ret, struct ctx_err *err)
{
	const struct ctx_interval life = ctx_store_profile(query->store)->threads[thread].life;
	struct ctx_known_span *over;
	enum ctx_status status;

	if (time_ns <= life.begin_ns || time_ns >= life.end_ns)
		return CTX_END;
	status = place_of(query->spans, thread, CTX_NONE, &over, err);
	if (status != CTX_OK)
		return status;
	/* Where one metric has a span no other has. */
	if (over->used && lies_over(&over->span, time_ns)) {
		*ret = over->span;
		return over->span.metric == metric ? CTX_OK : CTX_END;
	}
	status = first_span(query, thread, metric, time_ns, ret, err);
	if (status != CTX_OK || !lies_over(ret, time_ns))
		return status == CTX_OK ? CTX_END : status;
	status = place_of(query->spans, thread, CTX_NONE, &over, err);
	if (status == CTX_OK)
		*over = (struct ctx_known_span){.span = *ret, .used = true};
	return status;
}

static enum ctx_status find_edges(struct ctx_query *query, uint32_t thread, uint32_t metric,
				  struct ctx_interval interval, struct ctx_query_edges *ret,
				  struct ctx_err *err)
{
	const struct ctx_interval run = ctx_store_profile(query->store)->run;
	enum ctx_status status = CTX_END;
	struct ctx_sample span;

	*ret = (struct ctx_query_edges){0};
	if (ctx_interval_is_empty(interval))
		return CTX_OK;
	if (interval.begin_ns > run.begin_ns)
		status = find_over(query, thread, metric, interval.begin_ns, &span, err);
	if (status == CTX_OK && span.time_ns < interval.end_ns) {
		ret->first = span;
		ret->excess_ns = interval.begin_ns - ctx_sample_begin(&span);
	}
	if (status == CTX_OK || status == CTX_END)
		status = CTX_END;
	else
		return status;
	if (interval.end_ns < run.end_ns)
		status = find_over(query, thread, metric, interval.end_ns, &span, err);
	ret->last_whole = status == CTX_OK ? span : ret->last_whole;
	if (status == CTX_OK && ctx_sample_clip(&span, interval))
		ret->last = span;
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_query_edges_find(struct ctx_query *query, uint32_t thread, uint32_t metric,
				     struct ctx_interval interval, struct ctx_query_edges *ret,
				     struct ctx_err *err)
{
	struct ctx_span_cache own = {0};
	enum ctx_status status;

	if (query->spans != NULL)
		return find_edges(query, thread, metric, interval, ret, err);
	query->spans = &own;
	status = find_edges(query, thread, metric, interval, ret, err);
	query->spans = NULL;
	ctx_span_cache_deinit(&own);
	return status;
}

/* What the lists left out (--coverage top) is counted in the cost: that is where the rest is taken from. */
static void subtract(struct ctx_query *query, struct ctx_histogram *out, uint32_t stack, uint64_t excess_ns)
{
	uint64_t rest = excess_ns - ctx_histogram_subtract(out, stack, excess_ns);
	uint64_t omitted = query->cost.omitted_weight;

	query->cost.omitted_weight = omitted > rest ? omitted - rest : 0;
}

static enum ctx_status correct_thread(struct ctx_query *query, uint32_t thread, uint32_t metric,
				      struct ctx_interval interval, struct ctx_histogram *out,
				      struct ctx_err *err)
{
	const struct ctx_trie *cct = &ctx_store_profile(query->store)->cct;
	struct ctx_query_edges edges;
	enum ctx_status status = ctx_query_edges_find(query, thread, metric, interval, &edges, err);

	if (status != CTX_OK)
		return status;
	if (edges.excess_ns != 0)
		subtract(query, out, edges.first.stack, edges.excess_ns);
	if (edges.last.weight == 0)
		return CTX_OK;
	return ctx_histogram_add_samples(out, (query->flags & CTX_TIMETREE_NO_CALLS) != 0 ? NULL : cct,
					 &edges.last, 1, err);
}

enum ctx_status ctx_query_edges_correct(struct ctx_query *query, uint32_t thread, uint32_t metric,
					struct ctx_interval interval, struct ctx_histogram *out,
					struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	enum ctx_status status = CTX_OK;

	if (!profile->metrics[metric].spans || ctx_interval_contains(interval, profile->run))
		return CTX_OK;
	if (thread != CTX_NONE)
		return correct_thread(query, thread, metric, interval, out, err);
	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile) && status == CTX_OK; i++)
		status = correct_thread(query, ctx_selection_thread(query->selection, i), metric, interval,
					out, err);
	return status;
}
