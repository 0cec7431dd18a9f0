#include "report/summary_omp.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/omp.h"
#include "model/profile.h"

#include <string.h>

#define LARGE 5u /* a part of so many is worth the first look */

struct place {
	uint32_t construct, state;
	uint64_t ns;
};

struct collecting {
	const struct ctx_profile *profile;
	struct ctx_map64 places; /* construct << 32 | state -> index */
	struct place *items;	 /* owned */
	size_t n, cap;
	uint64_t sum_ns;
};

static enum ctx_status add_weight(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct collecting *collecting = context;

	(void)err;
	collecting->sum_ns += sample->weight;
	return CTX_OK;
}

static bool is_construct(const struct ctx_profile *profile, uint32_t function)
{
	return strstr(profile->functions[function].name, CTX_OMP_NAME) != NULL;
}

/* The innermost construct on the stack. */
static uint32_t construct_of(const struct ctx_profile *profile, uint32_t stack)
{
	for (; stack != CTX_TRIE_ROOT; stack = profile->cct.parent[stack]) {
		if (is_construct(profile, profile->cct.key[stack]))
			return profile->cct.key[stack];
	}
	return CTX_NONE;
}

static enum ctx_status add_wait(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct collecting *collecting = context;
	const struct ctx_trie *cct = &collecting->profile->cct;
	uint32_t *place, construct;
	enum ctx_status status;

	collecting->sum_ns += sample->weight;
	if (sample->stack == CTX_TRIE_ROOT || sample->stack >= cct->n)
		return CTX_OK;
	construct = construct_of(collecting->profile, sample->stack);
	place = ctx_map64_place(&collecting->places, (uint64_t)construct << 32 | cct->key[sample->stack]);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		status = ctx_grow(&collecting->items, &collecting->cap, collecting->n + 1, err);
		if (status != CTX_OK)
			return status;
		*place = (uint32_t)collecting->n;
		collecting->items[collecting->n++] =
			(struct place){.construct = construct, .state = cct->key[sample->stack]};
	}
	collecting->items[*place].ns += sample->weight;
	return CTX_OK;
}

static void deinit(struct collecting *collecting)
{
	ctx_map64_deinit(&collecting->places);
	free(collecting->items);
}

enum ctx_status ctx_summary_omp_collect(struct ctx_report_source *source, struct ctx_summary_omp *ret,
					struct ctx_err *err)
{
	struct collecting collecting CTX_CLEANUP(deinit) = {.profile = source->selection.profile};
	uint32_t first = ctx_profile_omp_metric(collecting.profile);
	struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true};
	enum ctx_status status;

	*ret = (struct ctx_summary_omp){.construct = CTX_NONE, .state = CTX_NONE};
	if (first == CTX_NONE)
		return CTX_OK;
	query.metric = first + CTX_OMP_METRIC_WORK;
	status = source->samples(source, &query, add_weight, &collecting, err);
	ret->work_ns = collecting.sum_ns;
	collecting.sum_ns = 0;
	query.metric = first + CTX_OMP_METRIC_WAIT;
	if (status == CTX_OK)
		status = source->samples(source, &query, add_wait, &collecting, err);
	ret->wait_ns = collecting.sum_ns;
	for (size_t i = 0; i < collecting.n; i++) {
		const struct place *place = &collecting.items[i];

		if (place->ns <= ret->most_ns)
			continue;
		ret->most_ns = place->ns;
		ret->construct = place->construct;
		ret->state = place->state;
	}
	return status;
}

bool ctx_summary_omp_is_first(const struct ctx_summary_omp *omp, uint64_t thread_ns)
{
	uint64_t teams_ns = omp->work_ns + omp->wait_ns;

	return teams_ns != 0 && omp->most_ns != 0 && omp->construct != CTX_NONE &&
	       omp->wait_ns >= teams_ns / LARGE && teams_ns >= thread_ns / LARGE;
}
