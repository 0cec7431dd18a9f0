#include "store/store_check.h"

#include "base/mem.h"

#include <inttypes.h>

/* Deeper inlining than this is neither written nor accepted, so following callers terminates. */
#define SITE_DEPTH_MAX 256u

enum ctx_status ctx_store_range(enum ctx_status wrong, const char *what, size_t i, struct ctx_err *err)
{
	return ctx_err_set(err, wrong, "%s %zu names something that is not there", what, i);
}

/* ---- metrics ---- */

/* A sum consists of earlier metrics that are not sums themselves, so expanding it terminates. */
static bool is_sound_metric(const struct ctx_profile *profile, uint32_t i)
{
	const struct ctx_metric_info *metric = &profile->metrics[i];

	if ((metric->parts == NULL) != (metric->n_parts == 0) ||
	    (ctx_metric_is_count(metric) && metric->parts == NULL) || metric->kind == CTX_METRIC_BY_UNIT)
		return false;
	for (uint32_t k = 0; k < metric->n_parts; k++) {
		if (metric->parts[k] >= i || profile->metrics[metric->parts[k]].parts != NULL ||
		    (k != 0 && metric->parts[k] <= metric->parts[k - 1]))
			return false;
	}
	return true;
}

static bool are_sound_states(const struct ctx_profile *profile)
{
	const uint32_t n = CTX_STATE_N + CTX_STATE_METRICS_N;

	if (profile->n_metrics < n || profile->states > profile->n_metrics - n)
		return false;
	for (uint32_t i = 0; i < CTX_STATE_N; i++) {
		const struct ctx_metric_info *metric = &profile->metrics[profile->states + i];

		if (!ctx_metric_is_clipped(metric) || metric->parts != NULL)
			return false;
	}
	for (uint32_t i = 0; i < CTX_STATE_METRICS_N; i++) {
		if (profile->metrics[ctx_profile_state_sum(profile, i)].parts == NULL)
			return false;
	}
	return true;
}

static enum ctx_status check_metrics(const struct ctx_profile *profile, enum ctx_status wrong,
				     struct ctx_err *err)
{
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		if (!is_sound_metric(profile, i))
			return ctx_err_set(
				err, wrong,
				"metric %" PRIu32 " is of no known kind, or a sum of what it cannot be", i);
	}
	if (profile->has_states && !are_sound_states(profile))
		return ctx_err_set(err, wrong, "the metrics of the thread states are not there");
	return CTX_OK;
}

/* ---- entities ---- */

/* No process is its own ancestor: the path up from every process ends. Each edge is walked once. */
static enum ctx_status check_parents(const struct ctx_profile *profile, enum ctx_status wrong,
				     struct ctx_err *err)
{
	uint32_t n = profile->n_processes;
	uint32_t *seen CTX_AUTO_FREE = n != 0 ? ctx_calloc(n, sizeof(*seen)) : NULL;

	if (n != 0 && seen == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = i;

		for (; at != CTX_NONE && seen[at] == 0; at = profile->processes[at].parent) {
			seen[at] = i + 1;
			if (!ctx_store_is_id(profile->processes[at].parent, n, true))
				return ctx_store_range(wrong, "process", at, err);
		}
		if (at != CTX_NONE && seen[at] == i + 1)
			return ctx_err_set(err, wrong, "process %u is its own ancestor", at);
	}
	return CTX_OK;
}

enum ctx_status ctx_store_check_profile(const struct ctx_profile *profile, enum ctx_status wrong,
					struct ctx_err *err)
{
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		const struct ctx_function_info *function = &profile->functions[i];

		if (!ctx_store_is_id(function->object, profile->n_objects, true) ||
		    (unsigned)function->kind > CTX_FUNCTION_ARTIFICIAL)
			return ctx_store_range(wrong, "function", i, err);
	}
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		if (!ctx_store_is_id(profile->threads[i].process, profile->n_processes, false))
			return ctx_store_range(wrong, "thread", i, err);
	}
	for (size_t i = 0; i < profile->n_usage; i++) {
		if (!ctx_store_is_id(profile->usage[i].process, profile->n_processes, false))
			return ctx_store_range(wrong, "usage record", i, err);
	}
	if (check_metrics(profile, wrong, err) != CTX_OK)
		return wrong;
	if (profile->cct.n == 0)
		return ctx_err_set(err, wrong, "call stacks without a root");
	for (uint32_t i = 1; i < profile->cct.n; i++) {
		if (!ctx_store_is_id(profile->cct.key[i], profile->n_functions, false) ||
		    profile->cct.parent[i] >= i)
			return ctx_store_range(wrong, "call stack", i, err);
	}
	return check_parents(profile, wrong, err);
}

/* ---- code ---- */

static enum ctx_status check_sites(const struct ctx_code *code, const struct ctx_profile *profile,
				   enum ctx_status wrong, struct ctx_err *err)
{
	size_t n = code->n_sites;
	uint16_t *depth CTX_AUTO_FREE = n != 0 ? ctx_calloc(n, sizeof(*depth)) : NULL;

	if (n != 0 && depth == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_site *site = &code->sites[i];

		if (!ctx_store_is_id(site->function, profile->n_functions, false) ||
		    !ctx_store_is_id(site->file, code->n_files, true) ||
		    !ctx_store_is_id(site->caller, i, true))
			return ctx_store_range(wrong, "site", i, err);
		depth[i] = site->caller != CTX_NONE ? (uint16_t)(depth[site->caller] + 1) : 0;
		if (depth[i] >= SITE_DEPTH_MAX)
			return ctx_err_set(err, wrong, "site %zu is inlined more than %u times", i,
					   SITE_DEPTH_MAX);
	}
	return CTX_OK;
}

/* A join is not code: it has neither a function nor an object. */
static bool is_sound(const struct ctx_location *location, const struct ctx_code *code,
		     const struct ctx_profile *profile)
{
	if (location->joins)
		return location->object == CTX_NONE && location->function == CTX_NONE &&
		       location->site == CTX_NONE;
	return ctx_store_is_id(location->object, profile->n_objects, true) &&
	       ctx_store_is_id(location->function, profile->n_functions, false) &&
	       ctx_store_is_id(location->site, code->n_sites, true);
}

enum ctx_status ctx_store_check_code(const struct ctx_code *code, const struct ctx_profile *profile,
				     enum ctx_status wrong, struct ctx_err *err)
{
	const struct ctx_trie *raw = code->raw_stacks;
	enum ctx_status status = check_sites(code, profile, wrong, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < code->n_locations; i++) {
		if (!is_sound(&code->locations[i], code, profile))
			return ctx_store_range(wrong, "location", i, err);
	}
	for (uint32_t i = 0; i < raw->n; i++) {
		if ((i != 0 && (raw->key[i] >= code->n_locations || raw->parent[i] >= i)) ||
		    code->raw_to_stack[i] >= profile->cct.n)
			return ctx_store_range(wrong, "raw stack", i, err);
	}
	return CTX_OK;
}
