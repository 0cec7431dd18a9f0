#include "query/metric_choice.h"

#include "base/mem.h"
#include "base/near.h"
#include "query/index_key.h"
#include "query/metric_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define TERM_MAX 256
#define NEAR_MIN 3u /* maximum length of a word that is matched to similar ones */

/* Length of an event's name without modifiers: "cpu-clock:u" and "cycles:ppp" have modifiers,
 * "sched:sched_switch" has none. */
static size_t bare_length(const char *name)
{
	const char *colon = strrchr(name, ':');

	return colon != NULL && strspn(colon + 1, "ukhGHpPSDIWebR") == strlen(colon + 1)
		       ? (size_t)(colon - name)
		       : strlen(name);
}

static const char *word_or_name(const struct ctx_metric_info *metric)
{
	return metric->word != NULL ? metric->word : metric->name;
}

/* A suggestion: ", perhaps 'heapallocbytes'"; "" nothing is similar. */
static void list_near(const struct ctx_profile *profile, const char *name, char *out, size_t size)
{
	struct ctx_near near = {0};
	int used;

	for (uint32_t i = 0; i < profile->n_metrics && strlen(name) >= NEAR_MIN; i++) {
		const char *word = word_or_name(&profile->metrics[i]);

		ctx_near_consider(&near, word, strlen(word), name, strlen(name));
	}
	used = snprintf(out, size, "%s", near.n != 0 ? ", perhaps " : "");
	ctx_near_list(&near, out + used, size - (size_t)used);
}

/* "cpu-clock; states: user, ..., wall, and USER, ..." */
static void list_metrics(const struct ctx_profile *profile, char *known, size_t size)
{
	uint32_t n_events = profile->has_states ? profile->states : profile->n_metrics;
	size_t used = 0;

	known[0] = '\0';
	for (uint32_t i = 0; i < profile->n_metrics && used < size; i++) {
		bool first_sum = profile->has_states && i == profile->states;
		const char *between = first_sum && i == 0 ? "states: "
				      : first_sum	  ? "; states: "
				      : i == 0		  ? ""
							  : ", ";

		if (i < n_events) {
			used += (size_t)snprintf(known + used, size - used, "%s%s", between,
						 word_or_name(&profile->metrics[i]));
			continue;
		}
		if (!first_sum)
			break;
		for (unsigned sum = 0; sum < CTX_STATE_METRICS_N && used < size; sum++)
			used += (size_t)snprintf(known + used, size - used, "%s%s", sum == 0 ? between : ", ",
						 ctx_state_metrics[sum].word);
		for (unsigned state = 0; state < CTX_STATE_N && used < size; state++)
			used += (size_t)snprintf(known + used, size - used, "%s%s",
						 state == 0 ? ", and " : ", ",
						 ctx_state_name((enum ctx_thread_state)state));
	}
}

/*
 * Finds a metric by its name or word, else by its name without modifiers. CTX_NONE: none, or
 * several, whose number is `*ret_n_bare`.
 */
static uint32_t find_metric(const struct ctx_profile *profile, const char *wanted, uint32_t *ret_n_bare)
{
	uint32_t found = ctx_profile_find_metric(profile, wanted), bare = CTX_NONE;

	*ret_n_bare = 0;
	if (found != CTX_NONE)
		return found;
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		const char *name = profile->metrics[i].name;

		if (bare_length(name) == strlen(wanted) && strncmp(wanted, name, strlen(wanted)) == 0) {
			bare = i;
			++*ret_n_bare;
		}
	}
	return *ret_n_bare == 1 ? bare : CTX_NONE;
}

/* The first metric that has samples of events; else the time of traced calls; if the program only waited: Wall. */
static uint32_t default_metric(const struct ctx_selection_spec *spec, const struct ctx_profile *profile)
{
	uint32_t calls = ctx_profile_calls_metric(profile);
	uint64_t span_samples = 0;

	/* Nor have they addresses. */
	if (profile->traced[CTX_TRACED_MEMORY] != 0 && ctx_index_keys_ask_accesses(spec)) {
		uint32_t accesses = ctx_profile_find_metric(profile, "memory-accesses");

		if (accesses != CTX_NONE)
			return accesses;
	}
	/* Samples of a clock have no state. */
	if (profile->has_states && ctx_index_keys_ask_states(spec))
		return ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1);
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		const struct ctx_metric_info *metric = &profile->metrics[i];

		if (metric->samples != 0 && !ctx_metric_is_clipped(metric) && metric->parts == NULL)
			return i;
		span_samples += ctx_metric_is_clipped(metric) ? metric->samples : 0;
	}
	if (calls != CTX_NONE && profile->metrics[calls].samples != 0)
		return calls;
	return profile->has_states && span_samples != 0
		       ? ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1)
		       : 0;
}

struct choice {
	const struct ctx_profile *profile;
	uint32_t *metrics; /* owned */
	size_t n, cap;
};

static enum ctx_status add_metric(struct choice *choice, uint32_t metric, struct ctx_err *err)
{
	enum ctx_status status;

	for (size_t i = 0; i < choice->n; i++) {
		if (metric == choice->metrics[i])
			return CTX_OK;
	}
	status = ctx_grow(&choice->metrics, &choice->cap, choice->n + 1, err);
	if (status == CTX_OK)
		choice->metrics[choice->n++] = metric;
	return status;
}

/*
 * Length up to the comma that ends a name. Commas between slashes belong to the name:
 * "cpu/event=1,umask=2/u".
 */
static size_t metric_length(const char *list)
{
	bool inside = false;
	size_t n = 0;

	for (; list[n] != '\0' && (inside || list[n] != ','); n++)
		inside ^= list[n] == '/';
	return n;
}

static enum ctx_status add_named(struct choice *choice, const char *name, struct ctx_err *err)
{
	const struct ctx_profile *profile = choice->profile;
	uint32_t n_bare, metric = find_metric(profile, name, &n_bare);
	const char *other;
	char known[CTX_ERR_MAX / 2], nearest[CTX_ERR_MAX / 4] = "";

	for (size_t i = 0; metric == CTX_NONE && (other = ctx_metric_other_name(name, i)) != NULL; i++)
		metric = find_metric(profile, other, &n_bare);
	if (metric == CTX_NONE) {
		list_metrics(profile, known, sizeof(known));
		if (n_bare == 0)
			list_near(profile, name, nearest, sizeof(nearest));
		return ctx_err_set(err, n_bare != 0 ? CTX_E_ARG : CTX_E_NOTFOUND,
				   "%s metric '%s'%s (recorded: %s)", n_bare != 0 ? "more than one" : "no",
				   name, nearest, known);
	}
	return add_metric(choice, metric, err);
}

/* A term of the list: a metric, or several in gprofng's notation. */
static enum ctx_status add_term(struct choice *choice, const char *term, struct ctx_err *err)
{
	char word[TERM_MAX];
	uint32_t n_bare;
	enum ctx_status status = CTX_OK;

	if (find_metric(choice->profile, term, &n_bare) != CTX_NONE || !ctx_metric_notation_is(term))
		return add_named(choice, term, err);
	while (status == CTX_OK && ctx_metric_notation_next(&term, word, sizeof(word)))
		status = add_named(choice, word, err);
	return status;
}

static enum ctx_status add_list(struct choice *choice, const char *list, struct ctx_err *err)
{
	for (const char *at = list;; at++) {
		char term[TERM_MAX];
		size_t n = metric_length(at);
		enum ctx_status status;

		if (n == 0 || n >= sizeof(term))
			return ctx_err_set(err, CTX_E_ARG,
					   "--metric '%s': an empty or overlong word in the list", list);
		memcpy(term, at, n);
		term[n] = '\0';
		status = add_term(choice, term, err);
		if (status != CTX_OK)
			return status;
		at += n;
		if (*at == '\0')
			break;
	}
	return choice->n != 0 ? CTX_OK : ctx_err_set(err, CTX_E_ARG, "--metric '%s' names no metric", list);
}

enum ctx_status ctx_metric_choice_read(const struct ctx_selection_spec *spec,
				       const struct ctx_profile *profile, uint32_t **ret, size_t *ret_n,
				       struct ctx_err *err)
{
	const char *list = spec->metric;
	struct choice choice = {.profile = profile};
	enum ctx_status status;
	uint32_t n_bare, metric;

	/* A name may contain commas: the whole list is tried as one name first. */
	metric = list == NULL ? default_metric(spec, profile) : find_metric(profile, list, &n_bare);
	status = metric != CTX_NONE ? add_metric(&choice, metric, err) : add_list(&choice, list, err);
	if (status != CTX_OK) {
		free(choice.metrics);
		return status;
	}
	*ret = choice.metrics;
	*ret_n = choice.n;
	return CTX_OK;
}

enum ctx_status ctx_metric_choice_add_elapsed(const struct ctx_profile *profile, uint32_t **metrics,
					      size_t *n, struct ctx_err *err)
{
	struct choice choice = {.profile = profile, .metrics = *metrics, .n = *n, .cap = *n};
	uint32_t elapsed = ctx_profile_elapsed_metric(profile);
	enum ctx_status status;

	if (elapsed == CTX_NONE || profile->metrics[elapsed].samples == 0)
		return CTX_OK;
	status = add_metric(&choice, elapsed, err);
	*metrics = choice.metrics;
	*n = choice.n;
	return status;
}
