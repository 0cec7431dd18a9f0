#include "report/summary_omp.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/omp.h"
#include "model/profile.h"
#include "report/omp_page.h"

#include <string.h>

#define LARGE 5u /* a part of so many is worth the first look */

struct place {
	uint32_t construct, state; /* CTX_NONE: none, or of work */
	uint64_t ns;
};

struct places {
	struct ctx_map64 numbers; /* construct << 32 | state -> index */
	struct place *items;	  /* owned */
	size_t n, cap;
};

struct collecting {
	const struct ctx_profile *profile;
	bool is_wait;
	uint64_t sum_ns;
	struct places constructs; /* waits of the innermost construct */
	struct places regions;	  /* waits and work of the innermost region */
};

static enum ctx_status add_place(struct places *places, struct place place, struct ctx_err *err)
{
	uint32_t *number = ctx_map64_place(&places->numbers, (uint64_t)place.construct << 32 | place.state);
	enum ctx_status status;

	if (number == NULL)
		return ctx_err_nomem(err);
	if (*number == CTX_MAP64_NONE) {
		status = ctx_grow(&places->items, &places->cap, places->n + 1, err);
		if (status != CTX_OK)
			return status;
		*number = (uint32_t)places->n;
		places->items[places->n++] = place;
		return CTX_OK;
	}
	places->items[*number].ns += place.ns;
	return CTX_OK;
}

static bool is_construct(const struct ctx_profile *profile, uint32_t function)
{
	return strstr(profile->functions[function].name, CTX_OMP_NAME) != NULL;
}

/* The innermost construct on the stack, and the innermost region; CTX_NONE: there is none. */
static void find_constructs(const struct ctx_profile *profile, uint32_t stack, uint32_t *ret_construct,
			    uint32_t *ret_region)
{
	*ret_construct = CTX_NONE;
	*ret_region = CTX_NONE;
	for (; stack != CTX_TRIE_ROOT && *ret_region == CTX_NONE; stack = profile->cct.parent[stack]) {
		uint32_t function = profile->cct.key[stack];

		if (!is_construct(profile, function))
			continue;
		if (*ret_construct == CTX_NONE)
			*ret_construct = function;
		if (ctx_omp_is_region(profile->functions[function].name))
			*ret_region = function;
	}
}

static enum ctx_status add_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct collecting *collecting = context;
	const struct ctx_trie *cct = &collecting->profile->cct;
	struct place place = {.state = CTX_NONE, .ns = sample->weight};
	enum ctx_status status = CTX_OK;
	uint32_t region;

	collecting->sum_ns += sample->weight;
	if (sample->stack == CTX_TRIE_ROOT || sample->stack >= cct->n)
		return CTX_OK;
	find_constructs(collecting->profile, sample->stack, &place.construct, &region);
	if (collecting->is_wait) {
		place.state = cct->key[sample->stack];
		status = add_place(&collecting->constructs, place, err);
	}
	place.construct = region;
	return status == CTX_OK && region != CTX_NONE ? add_place(&collecting->regions, place, err) : status;
}

static void deinit(struct collecting *collecting)
{
	ctx_map64_deinit(&collecting->constructs.numbers);
	free(collecting->constructs.items);
	ctx_map64_deinit(&collecting->regions.numbers);
	free(collecting->regions.items);
}

static enum ctx_status scan(struct ctx_report_source *source, struct collecting *collecting, uint32_t metric,
			    uint64_t *ret_ns, struct ctx_err *err)
{
	const struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true, .metric = metric};
	enum ctx_status status;

	collecting->sum_ns = 0;
	status = source->samples(source, &query, add_span, collecting, err);
	*ret_ns = collecting->sum_ns;
	return status;
}

/* The place that waits most. */
static void find_most(const struct places *places, struct ctx_summary_omp *omp)
{
	for (size_t i = 0; i < places->n; i++) {
		const struct place *place = &places->items[i];

		if (place->ns <= omp->most_ns)
			continue;
		omp->most_ns = place->ns;
		omp->construct = place->construct;
		omp->state = place->state;
	}
}

/* --- regions --- */

static struct ctx_summary_omp_region region_of(const struct places *places, uint32_t function)
{
	struct ctx_summary_omp_region region = {.function = function, .state = CTX_NONE};
	uint64_t most_ns = 0;

	for (size_t i = 0; i < places->n; i++) {
		const struct place *place = &places->items[i];

		if (place->construct != function)
			continue;
		if (place->state == CTX_NONE)
			region.work_ns += place->ns;
		else
			region.wait_ns += place->ns;
		if (place->state != CTX_NONE && place->ns > most_ns) {
			most_ns = place->ns;
			region.state = place->state;
		}
	}
	return region;
}

/* Keeps the regions that wait most, in this order. */
static void keep(struct ctx_summary_omp *omp, const struct ctx_summary_omp_region *region)
{
	size_t at = omp->n_regions;

	while (at > 0 && omp->regions[at - 1].wait_ns < region->wait_ns)
		at--;
	if (at == CTX_SUMMARY_OMP_REGIONS)
		return;
	if (omp->n_regions < CTX_SUMMARY_OMP_REGIONS)
		omp->n_regions++;
	memmove(&omp->regions[at + 1], &omp->regions[at], (omp->n_regions - at - 1) * sizeof(*omp->regions));
	omp->regions[at] = *region;
}

/* A region has several places: each region is summed once. */
static enum ctx_status find_regions(const struct places *places, struct ctx_summary_omp *omp,
				    struct ctx_err *err)
{
	struct ctx_map64 seen = {0};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < places->n && status == CTX_OK; i++) {
		uint32_t *place = ctx_map64_place(&seen, places->items[i].construct);

		if (place == NULL) {
			status = ctx_err_nomem(err);
		} else if (*place == CTX_MAP64_NONE) {
			const struct ctx_summary_omp_region region =
				region_of(places, places->items[i].construct);

			*place = 0;
			keep(omp, &region);
		}
	}
	ctx_map64_deinit(&seen);
	return status;
}

static enum ctx_status find_imbalance(struct ctx_report_source *source, struct ctx_summary_omp *omp,
				      struct ctx_err *err)
{
	const struct ctx_trie *cct = &source->selection.profile->cct;
	struct ctx_report_traced traced = {0};
	enum ctx_status status = source->traced(source, CTX_TRACED_OMP, &traced, err);

	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		const struct ctx_traced *operation = &traced.items[i];
		uint32_t function = operation->stack != CTX_TRIE_ROOT && operation->stack < cct->n
					    ? cct->key[operation->stack]
					    : CTX_NONE;

		for (size_t k = 0; k < omp->n_regions && operation->operation == CTX_OMP_OF_REGION; k++) {
			struct ctx_summary_omp_region *region = &omp->regions[k];

			if (region->function != function)
				continue;
			region->longest_ns += operation->longest_ns;
			region->imbalance_ns += ctx_omp_imbalance_ns(operation);
		}
	}
	return status;
}

enum ctx_status ctx_summary_omp_collect(struct ctx_report_source *source, struct ctx_summary_omp *ret,
					struct ctx_err *err)
{
	struct collecting collecting CTX_CLEANUP(deinit) = {.profile = source->selection.profile};
	uint32_t first = ctx_profile_omp_metric(collecting.profile);
	enum ctx_status status;

	*ret = (struct ctx_summary_omp){.construct = CTX_NONE, .state = CTX_NONE};
	if (first == CTX_NONE)
		return CTX_OK;
	status = scan(source, &collecting, first + CTX_OMP_METRIC_WORK, &ret->work_ns, err);
	collecting.is_wait = true;
	if (status == CTX_OK)
		status = scan(source, &collecting, first + CTX_OMP_METRIC_WAIT, &ret->wait_ns, err);
	find_most(&collecting.constructs, ret);
	if (status == CTX_OK)
		status = find_regions(&collecting.regions, ret, err);
	if (status == CTX_OK && collecting.profile->traced[CTX_TRACED_OMP] != 0)
		status = find_imbalance(source, ret, err);
	return status;
}

bool ctx_summary_omp_is_large(const struct ctx_summary_omp *omp, uint64_t thread_ns)
{
	uint64_t teams_ns = omp->work_ns + omp->wait_ns;

	return teams_ns != 0 && teams_ns >= thread_ns / LARGE;
}

bool ctx_summary_omp_is_first(const struct ctx_summary_omp *omp, uint64_t thread_ns)
{
	return ctx_summary_omp_is_large(omp, thread_ns) && omp->most_ns != 0 && omp->construct != CTX_NONE &&
	       omp->wait_ns >= (omp->work_ns + omp->wait_ns) / LARGE;
}

/* --- texts --- */

void ctx_summary_omp_put_state(const struct ctx_profile *profile, uint32_t state, struct ctx_buf *text)
{
	static const char begin[] = "<OMP-", wait[] = "_wait>";
	const char *name = state < profile->n_functions ? profile->functions[state].name : "";
	size_t n;

	name += strncmp(name, begin, sizeof(begin) - 1) == 0 ? sizeof(begin) - 1 : 0;
	n = strlen(name);
	if (n >= sizeof(wait) && strcmp(name + n - (sizeof(wait) - 1), wait) == 0)
		n -= sizeof(wait) - 1;
	for (size_t i = 0; i < n && name[i] != '>'; i++)
		ctx_buf_put_u8(text, name[i] == '_' ? ' ' : (uint8_t)name[i]);
}

void ctx_summary_omp_put_construct(const struct ctx_profile *profile, uint32_t construct,
				   struct ctx_buf *text)
{
	static const char from[] = " from line ";
	const char *name = construct < profile->n_functions ? profile->functions[construct].name : "",
		   *end = strstr(name, CTX_OMP_NAME), *line = end != NULL ? strstr(end, from) : NULL;

	ctx_buf_put(text, name, ctx_omp_function_length(name));
	if (line != NULL)
		ctx_buf_printf(text, ":%s", line + sizeof(from) - 1);
}
