#include "query/selection.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/near.h"
#include "query/filters.h"
#include "query/metric_names.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TERM_MAX 256
#define NEAR_MIN 3u /* bytes of a word that others may be like */

static int compare_intervals(const void *left, const void *right)
{
	const struct ctx_interval *a = left, *b = right;

	return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* Overlapping intervals count once: sort, then join. */
static void join_intervals(struct ctx_selection *selection)
{
	size_t n = 0;

	qsort(selection->intervals, selection->n_intervals, sizeof(*selection->intervals), compare_intervals);
	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval *last = n != 0 ? &selection->intervals[n - 1] : NULL;
		struct ctx_interval next = selection->intervals[i];

		if (last != NULL && next.begin_ns <= last->end_ns)
			last->end_ns = next.end_ns > last->end_ns ? next.end_ns : last->end_ns;
		else
			selection->intervals[n++] = next;
	}
	selection->n_intervals = n;
}

static enum ctx_status make_intervals(const struct ctx_selection_spec *spec,
				      const struct ctx_profile *profile, struct ctx_selection *selection,
				      struct ctx_err *err)
{
	size_t n = spec->n_intervals != 0 ? spec->n_intervals : 1;

	selection->intervals = ctx_calloc(n, sizeof(*selection->intervals));
	if (selection->intervals == NULL)
		return ctx_err_nomem(err);
	selection->n_intervals = n;
	selection->intervals[0] = profile->run;
	for (size_t i = 0; i < spec->n_intervals; i++) {
		enum ctx_status status =
			ctx_interval_parse(spec->intervals[i], profile->run, &selection->intervals[i], err);
		if (status != CTX_OK)
			return status;
	}
	join_intervals(selection);
	return CTX_OK;
}

/* "7" or "2-5"; false: not a number or range. */
static bool parse_range(const char *term, uint32_t *ret_first, uint32_t *ret_last)
{
	unsigned long first, last;
	char *end;

	if (!isdigit((unsigned char)term[0]))
		return false;
	errno = 0;
	first = last = strtoul(term, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		last = strtoul(end + 1, &end, 10);
	if (*end != '\0' || errno != 0 || last > INT32_MAX || first > last)
		return false;
	*ret_first = (uint32_t)first;
	*ret_last = (uint32_t)last;
	return true;
}

/* What a list selects from: threads or processes. */
struct nouns {
	const char *noun;      /* "thread" */
	const char *id_prefix; /* "tid:" */
	uint32_t n;
	int64_t (*id)(const struct ctx_profile *profile, uint32_t i);
	const char *(*name)(const struct ctx_profile *profile, uint32_t i);
};

static int64_t thread_tid(const struct ctx_profile *profile, uint32_t i)
{
	return profile->threads[i].tid;
}

static const char *thread_name(const struct ctx_profile *profile, uint32_t i)
{
	return profile->threads[i].name;
}

static int64_t process_pid(const struct ctx_profile *profile, uint32_t i)
{
	return profile->processes[i].pid;
}

static const char *process_name(const struct ctx_profile *profile, uint32_t i)
{
	return profile->processes[i].command;
}

static bool matches(const struct nouns *nouns, const struct ctx_profile *profile, uint32_t i,
		    const char *term)
{
	uint32_t first, last;
	size_t prefix = strlen(nouns->id_prefix);

	/* A number is one of the report's first column; one that is too large for that is meant as a tid or pid. */
	if (parse_range(term, &first, &last) && (first != last || first < nouns->n))
		return first <= i && i <= last;
	if (parse_range(term, &first, &last))
		return (int64_t)first == nouns->id(profile, i);
	if (strncmp(term, nouns->id_prefix, prefix) == 0)
		return strtoll(term + prefix, NULL, 10) == nouns->id(profile, i);
	return strcmp(term, nouns->name(profile, i)) == 0 || fnmatch(term, nouns->name(profile, i), 0) == 0;
}

/* Marks in `chosen` what a comma-separated list names; each term must name something. */
static enum ctx_status choose(const struct nouns *nouns, const struct ctx_profile *profile, const char *list,
			      bool *chosen, struct ctx_err *err)
{
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		char term[TERM_MAX];
		uint32_t first, last;
		bool found = false;

		if (n == 0 || n >= sizeof(term))
			return ctx_err_set(err, CTX_E_ARG, "--%s '%s': an empty or overlong word in the list",
					   nouns->noun, list);
		memcpy(term, at, n);
		term[n] = '\0';
		if (isdigit((unsigned char)term[0]) && strspn(term, "0123456789-") == n &&
		    !parse_range(term, &first, &last))
			return ctx_err_set(err, CTX_E_ARG, "--%s '%s' is no range: FIRST-LAST is wanted",
					   nouns->noun, term);
		for (uint32_t i = 0; i < nouns->n; i++) {
			if (matches(nouns, profile, i, term))
				chosen[i] = found = true;
		}
		if (!found || (parse_range(term, &first, &last) && first != last && last >= nouns->n))
			return ctx_err_set(err, CTX_E_NOTFOUND,
					   "no %s '%s' (the last one is %u: see --report %s%s)", nouns->noun,
					   term, nouns->n - 1, nouns->noun,
					   nouns->noun[0] == 'p' ? "es" : "s");
		at += n;
		if (*at == '\0')
			return CTX_OK;
	}
}

static enum ctx_status make_threads(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				    struct ctx_selection *selection, struct ctx_err *err)
{
	struct nouns threads = {"thread", "tid:", profile->n_threads, thread_tid, thread_name};
	struct nouns processes = {"process", "pid:", profile->n_processes, process_pid, process_name};
	bool *thread_chosen CTX_AUTO_FREE = ctx_calloc(profile->n_threads, sizeof(bool));
	bool *process_chosen CTX_AUTO_FREE = ctx_calloc(profile->n_processes, sizeof(bool));
	enum ctx_status status = CTX_OK;

	if (spec->threads == NULL && spec->processes == NULL)
		return CTX_OK;
	selection->threads = ctx_calloc(profile->n_threads, sizeof(*selection->threads));
	if (thread_chosen == NULL || process_chosen == NULL || selection->threads == NULL)
		return ctx_err_nomem(err);
	if (spec->threads != NULL)
		status = choose(&threads, profile, spec->threads, thread_chosen, err);
	if (status == CTX_OK && spec->processes != NULL)
		status = choose(&processes, profile, spec->processes, process_chosen, err);
	for (uint32_t i = 0; status == CTX_OK && i < profile->n_threads; i++) {
		if ((spec->threads == NULL || thread_chosen[i]) &&
		    (spec->processes == NULL || process_chosen[profile->threads[i].process]))
			selection->threads[selection->n_threads++] = i;
	}
	return status;
}

static enum ctx_status make_cpus(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				 struct ctx_selection *selection, struct ctx_err *err)
{
	const char *list = spec->cpus;
	uint32_t n_cpus = (uint32_t)strtoul(ctx_profile_property(profile, "cpus", "0"), NULL, 10);

	if (list == NULL)
		return CTX_OK;
	if (n_cpus == 0)
		n_cpus = UINT32_MAX; /* not recorded */
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		char term[TERM_MAX] = "";
		uint32_t first, last;
		enum ctx_status status =
			ctx_grow(&selection->cpus, &selection->cpus_cap, selection->n_cpus + 1, err);

		if (status != CTX_OK)
			return status;
		if (n < sizeof(term))
			memcpy(term, at, n);
		if (!parse_range(term, &first, &last))
			return ctx_err_set(err, CTX_E_ARG,
					   "--cpu '%s': numbers and ranges such as 0,2-5 are wanted", list);
		if (first >= n_cpus)
			return ctx_err_set(err, CTX_E_NOTFOUND, "no cpu %u (the recorded machine had %u)",
					   first, n_cpus);
		selection->cpus[selection->n_cpus++] = (struct ctx_cpu_range){(int32_t)first, (int32_t)last};
		at += n;
		if (*at == '\0')
			return CTX_OK;
	}
}

static enum ctx_status make_filters(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				    struct ctx_selection *selection, struct ctx_err *err)
{
	enum ctx_status status;

	selection->profile = profile;
	if (spec->n_filters == 0)
		return CTX_OK;
	status = ctx_filters_bind(spec, profile, &selection->filters, err);
	if (status == CTX_OK)
		selection->n_filters = spec->n_filters;
	for (size_t i = 0; i < selection->n_filters; i++)
		selection->asks_operations |=
			ctx_expression_asks_operations(selection->filters[i]) != CTX_EXPRESSION_NAMES_N;
	return status;
}

/* "cpu 0,2-5 | filter THRID==2" */
static enum ctx_status describe_filters(const struct ctx_selection_spec *spec,
					struct ctx_selection *selection, struct ctx_err *err)
{
	struct ctx_buf text = {0};

	if (spec->cpus != NULL)
		ctx_buf_printf(&text, "cpu %s", spec->cpus);
	for (size_t i = 0; i < spec->n_filters; i++)
		ctx_buf_printf(&text, "%sfilter %s", text.n != 0 ? " | " : "", spec->filters[i]);
	selection->filter =
		text.failed ? NULL : ctx_memdup0(text.n != 0 ? (const void *)text.bytes : "", text.n);
	ctx_buf_deinit(&text);
	return selection->filter != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* The bytes of an event's name in front of its modifiers: "cpu-clock:u" and "cycles:ppp" have some, "sched:sched_switch"
 * has none. */
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

/* What was meant, perhaps: ", perhaps 'heapallocbytes'"; "" nothing is near. */
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

/* By its name or word, else by its name without modifiers. CTX_NONE: none; `*ret_n_bare` how many have it then. */
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

static bool asks_states(const struct ctx_selection_spec *spec)
{
	struct ctx_index_key key;

	return spec->by != NULL && ctx_index_key_find(spec, NULL, &key, NULL) == CTX_OK &&
	       strcasecmp(key.text, "STATE") == 0;
}

/* The first that has samples of events; of a program that did nothing but wait: Wall. */
static uint32_t default_metric(const struct ctx_selection_spec *spec, const struct ctx_profile *profile)
{
	uint64_t span_samples = 0;

	/* Samples of a clock have no state. */
	if (profile->has_states && asks_states(spec))
		return ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1);
	for (uint32_t i = 0; i < profile->n_metrics; i++) {
		const struct ctx_metric_info *metric = &profile->metrics[i];

		if (metric->samples != 0 && !metric->spans && metric->parts == NULL)
			return i;
		span_samples += metric->spans ? metric->samples : 0;
	}
	return profile->has_states && span_samples != 0
		       ? ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1)
		       : 0;
}

static enum ctx_status add_metric(struct ctx_selection *selection, uint32_t metric, struct ctx_err *err)
{
	enum ctx_status status;

	for (size_t i = 0; i < selection->n_metrics; i++) {
		if (metric == selection->metrics[i])
			return CTX_OK;
	}
	status = ctx_grow(&selection->metrics, &selection->metrics_cap, selection->n_metrics + 1, err);
	if (status == CTX_OK)
		selection->metrics[selection->n_metrics++] = metric;
	return status;
}

/* Bytes up to the comma that ends a name. Those between slashes belong to it: "cpu/event=1,umask=2/u". */
static size_t metric_length(const char *list)
{
	bool inside = false;
	size_t n = 0;

	for (; list[n] != '\0' && (inside || list[n] != ','); n++)
		inside ^= list[n] == '/';
	return n;
}

static enum ctx_status add_named(const struct ctx_profile *profile, const char *name,
				 struct ctx_selection *selection, struct ctx_err *err)
{
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
	return add_metric(selection, metric, err);
}

/* A term of the list: a metric, or several in gprofng's notation. */
static enum ctx_status add_term(const struct ctx_profile *profile, const char *term,
				struct ctx_selection *selection, struct ctx_err *err)
{
	char word[TERM_MAX];
	uint32_t n_bare;
	enum ctx_status status = CTX_OK;

	if (find_metric(profile, term, &n_bare) != CTX_NONE || !ctx_metric_notation_is(term))
		return add_named(profile, term, selection, err);
	while (status == CTX_OK && ctx_metric_notation_next(&term, word, sizeof(word)))
		status = add_named(profile, word, selection, err);
	return status;
}

static enum ctx_status make_metrics(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				    struct ctx_selection *selection, struct ctx_err *err)
{
	const char *list = spec->metric;
	uint32_t n_bare, metric;

	metric = list == NULL ? default_metric(spec, profile) : find_metric(profile, list, &n_bare);
	if (metric != CTX_NONE)
		return add_metric(selection, metric, err);
	for (const char *at = list;; at++) {
		char term[TERM_MAX];
		size_t n = metric_length(at);
		enum ctx_status status;

		if (n == 0 || n >= sizeof(term))
			return ctx_err_set(err, CTX_E_ARG,
					   "--metric '%s': an empty or overlong word in the list", list);
		memcpy(term, at, n);
		term[n] = '\0';
		status = add_term(profile, term, selection, err);
		if (status != CTX_OK)
			return status;
		at += n;
		if (*at == '\0')
			break;
	}
	return selection->n_metrics != 0 ? CTX_OK
					 : ctx_err_set(err, CTX_E_ARG, "--metric '%s' names no metric", list);
}

enum ctx_status ctx_selection_make(const struct ctx_selection_spec *spec, const struct ctx_profile *profile,
				   struct ctx_selection *ret, struct ctx_err *err)
{
	struct ctx_selection selection = {0};
	enum ctx_status status = make_intervals(spec, profile, &selection, err);

	if (status == CTX_OK)
		status = make_threads(spec, profile, &selection, err);
	if (status == CTX_OK)
		status = make_cpus(spec, profile, &selection, err);
	if (status == CTX_OK)
		status = make_filters(spec, profile, &selection, err);
	if (status == CTX_OK)
		status = describe_filters(spec, &selection, err);
	if (status == CTX_OK)
		status = make_metrics(spec, profile, &selection, err);
	if (status != CTX_OK) {
		ctx_selection_deinit(&selection);
		return status;
	}
	*ret = selection;
	return CTX_OK;
}

void ctx_selection_deinit(struct ctx_selection *selection)
{
	free(selection->intervals);
	free(selection->threads);
	free(selection->cpus);
	for (size_t i = 0; i < selection->n_filters; i++)
		ctx_expression_destroy(selection->filters[i]);
	free(selection->filters);
	free(selection->filter);
	free(selection->metrics);
	*selection = (struct ctx_selection){0};
}

bool ctx_selection_has_cpu(const struct ctx_selection *selection, int32_t cpu)
{
	for (size_t i = 0; i < selection->n_cpus; i++) {
		if (selection->cpus[i].first <= cpu && cpu <= selection->cpus[i].last)
			return true;
	}
	return selection->cpus == NULL;
}

bool ctx_selection_has_sieve(const struct ctx_selection *selection)
{
	return selection->cpus != NULL || selection->n_filters != 0;
}

static bool passes(const struct ctx_selection *selection, const struct ctx_sample *sample,
		   const struct ctx_traced *operation)
{
	struct ctx_expression_subject subject;

	if (selection->n_filters == 0)
		return true;
	ctx_expression_subject_of(selection->profile, sample, &subject);
	if (operation != NULL)
		ctx_expression_subject_add(operation, &subject);
	for (size_t i = 0; i < selection->n_filters; i++) {
		if (!ctx_expression_is_true(selection->filters[i], &subject))
			return false;
	}
	return true;
}

bool ctx_selection_passes_filters(const struct ctx_selection *selection, const struct ctx_sample *sample)
{
	return passes(selection, sample, NULL);
}

bool ctx_selection_has(const struct ctx_selection *selection, const struct ctx_sample *sample)
{
	return ctx_selection_has_operation(selection, sample, NULL);
}

bool ctx_selection_has_operation(const struct ctx_selection *selection, const struct ctx_sample *sample,
				 const struct ctx_traced *operation)
{
	return ctx_selection_has_cpu(selection, sample->cpu) && passes(selection, sample, operation);
}

/* The kind of operations that a metric is of, or that its parts are; CTX_TRACED_N: none. */
static enum ctx_traced_kind kind_of(const struct ctx_profile *profile, uint32_t metric)
{
	const struct ctx_metric_info *info = metric < profile->n_metrics ? &profile->metrics[metric] : NULL;
	enum ctx_traced_kind kind = CTX_TRACED_N;

	if (info != NULL && info->parts != NULL && info->n_parts != 0)
		info = &profile->metrics[info->parts[0]];
	if (info == NULL || profile->traced[CTX_TRACED_HEAP] + profile->traced[CTX_TRACED_SYNC] +
					    profile->traced[CTX_TRACED_IO] ==
				    0)
		return CTX_TRACED_N;
	return ctx_traced_kind_of_metric(info->word, &kind) ? kind : CTX_TRACED_N;
}

static bool is_of_kinds(const struct ctx_profile *profile, uint32_t metric, unsigned kinds)
{
	enum ctx_traced_kind kind = kind_of(profile, metric);

	return kind != CTX_TRACED_N && (kinds & 1u << kind) != 0;
}

enum ctx_status ctx_selection_check_asked(const struct ctx_selection *selection,
					  const struct ctx_profile *profile, const char *option,
					  const struct ctx_expression *expression, struct ctx_err *err)
{
	enum ctx_expression_name name = ctx_expression_asks_operations(expression);
	unsigned kinds;
	char words[CTX_ERR_MAX / 2] = "";
	size_t used = 0;

	if (name == CTX_EXPRESSION_NAMES_N)
		return CTX_OK;
	kinds = ctx_expression_kinds(name);
	for (size_t i = 0; i < selection->n_metrics; i++) {
		if (is_of_kinds(profile, selection->metrics[i], kinds))
			return CTX_OK;
	}
	for (uint32_t i = 0; i < profile->n_metrics && used < sizeof(words); i++) {
		if (is_of_kinds(profile, i, kinds))
			used += (size_t)snprintf(words + used, sizeof(words) - used, "%s%s",
						 used == 0 ? "" : ", ", profile->metrics[i].word);
	}
	if (used == 0)
		return ctx_err_set(err, CTX_E_ARG, "%s asks for %s, but no such operations were recorded",
				   option, ctx_expression_name(name));
	return ctx_err_set(err, CTX_E_ARG, "%s asks for %s, which samples of '%s' do not have (--metric %s)",
			   option, ctx_expression_name(name), profile->metrics[selection->metrics[0]].name,
			   words);
}

struct ctx_interval ctx_selection_hull(const struct ctx_selection *selection)
{
	if (selection->n_intervals == 0)
		return (struct ctx_interval){0};
	return (struct ctx_interval){selection->intervals[0].begin_ns,
				     selection->intervals[selection->n_intervals - 1].end_ns};
}

enum ctx_status ctx_selection_mark_threads(const struct ctx_selection *selection,
					   const struct ctx_profile *profile, bool **ret, struct ctx_err *err)
{
	bool *selected;

	*ret = NULL;
	if (selection->threads == NULL)
		return CTX_OK;
	selected = ctx_calloc(profile->n_threads, sizeof(*selected));
	if (selected == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < selection->n_threads; i++)
		selected[selection->threads[i]] = true;
	*ret = selected;
	return CTX_OK;
}

uint32_t ctx_selection_thread(const struct ctx_selection *selection, size_t n)
{
	return selection->threads != NULL ? selection->threads[n] : (uint32_t)n;
}

size_t ctx_selection_n_threads(const struct ctx_selection *selection, const struct ctx_profile *profile)
{
	return selection->threads != NULL ? selection->n_threads : profile->n_threads;
}
