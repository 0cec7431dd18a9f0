#include "ctxan/gprofng_names.h"

#include "base/mem.h"
#include "base/near.h"
#include "query/metric_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64u

static const struct {
	const char *command, *advice;
} commands[] = {
	{"metrics", "--metric NAME[,NAME...] chooses metrics, in gprofng's notation too"},
	{"dmetrics", "--metric NAME[,NAME...] chooses metrics, in gprofng's notation too"},
	{"sort", "--sort KEY does that (e.totalcpu, exclusive, ...)"},
	{"dsort", "--sort KEY does that (e.totalcpu, exclusive, ...)"},
	{"limit", "--limit N does that"},
	{"outfile", "-o FILE does that"},
	{"appendfile", "-o FILE writes a new file"},
	{"printmode", "--format text|json|csv|html does that"},
	{"filters", "--filter EXPRESSION does that"},
	{"describe", "docs/filters.md lists the names for filters"},
	{"indxobj-define", "--index NAME=EXPRESSION does that, --by NAME shows it"},
	{"indxobj-list",
	 "--by accepts thread, process, command, thread-name, thread-pattern, cgroup, container, function, "
	 "object, line, cpu, core, socket, node, pmu, "
	 "state, wait, second, time, sample, metric, lwp, file, descriptor, datasize, duration and any "
	 "expression"},
	{"sample-select", "--interval BEGIN:END or --filter 'SAMPLE==1' does that"},
	{"lwp-select", "--thread tid:N does that"},
	{"thread-select", "--thread LIST does that"},
	{"cpu-select", "--cpu LIST does that"},
	{"cprepend",
	 "--filter '(\"caller\", \"callee\") ORDERED IN STACK' keeps the stacks with such a fragment"},
	{"cappend",
	 "--filter '(\"caller\", \"callee\") ORDERED IN STACK' keeps the stacks with such a fragment"},
	{"crmfirst",
	 "--filter '(\"caller\", \"callee\") ORDERED IN STACK' keeps the stacks with such a fragment"},
	{"crmlast",
	 "--filter '(\"caller\", \"callee\") ORDERED IN STACK' keeps the stacks with such a fragment"},
	{"object-show", "--filter 'LEAF IN LNAME(\"...\")' keeps the functions of some objects"},
	{"object-hide", "--filter '!(LEAF IN LNAME(\"...\"))' leaves out the functions of some objects"},
	{"object-api", "--filter 'LEAF IN LNAME(\"...\")' keeps the functions of some objects"},
	{"object-select", "--filter 'LEAF IN LNAME(\"...\")' keeps the functions of some objects"},
	{"objects-default", "every object is shown"},
	{"name", "names are long ones, with their objects"},
	{"viewmode", "--no-inlines leaves out inlined functions"},
	{"compare", "recordings cannot be compared"},
	{"setpath", "--symfs DIR and --debug-root DIR set where files are searched"},
	{"addpath", "--symfs DIR and --debug-root DIR set where files are searched"},
	{"pathmap", "--symfs DIR and --debug-root DIR set where files are searched"},
	{"preload-libdirs", "--symfs DIR and --debug-root DIR set where files are searched"},
	{"scc", "compiler commentary is not available"},
	{"dcc", "compiler commentary is not available"},
	{"cc", "compiler commentary is not available"},
	{"sthresh", "hot is what has at least three quarters of the largest value"},
	{"dthresh", "hot is what has at least three quarters of the largest value"},
	{"script", "a shell script does that"},
	{"en-desc", "descendants are included; --process LIST selects"},
	{"open-exp", "recordings are arguments"},
	{"add-exp", "recordings are arguments"},
	{"drop-exp", "recordings are arguments"},
	{"ifreq", "instruction frequency is not available on Linux"},
	{"deadlocks", "the report wakers shows who waited for whom"},
	{"dsummary", "the report wakers shows who waited for whom"},
	{"procstats", "--explain shows the cost of a query"},
	{"version", "--version does that"},
};

/* Reports of gprofng by key of --by; a report of the same name takes precedence. */
static const struct {
	const char *report, *by;
} indexes[] = {
	{"cpus", "cpu"},
	{"cpu", "cpu"},
	{"cpu-list", "cpu"},
	{"seconds", "second"},
	{"second", "second"},
	{"datasize", "datasize"},
	{"duration", "duration"},
	{"files", "file"},
	{"descriptors", "descriptor"},
	{"experiment-ids", "process"},
	{"indxobj", ""},
};

/* Treats '_' as '-' and ignores case. */
static bool is_word(const char *text, size_t n, const char *word)
{
	for (size_t i = 0; i < n; i++) {
		char c = text[i] == '_' ? '-' : (char)tolower((unsigned char)text[i]);

		if (c != word[i])
			return false;
	}
	return word[n] == '\0';
}

static const char *advice_of(const char *command, size_t n)
{
	for (size_t i = 0; i < CTX_COUNT_OF(commands); i++) {
		if (is_word(command, n, commands[i].command))
			return commands[i].advice;
	}
	return NULL;
}

/*
 * The replacement of a gprofng command: "--limit N does that". NULL: not a command, or a report
 * here. '_' is '-'.
 */
static const char *find_advice(const char *command)
{
	return advice_of(command, strlen(command));
}

const char *ctx_gprofng_index(const char *report)
{
	for (size_t i = 0; i < CTX_COUNT_OF(indexes); i++) {
		if (is_word(report, strlen(report), indexes[i].report))
			return indexes[i].by;
	}
	return NULL;
}

enum ctx_status ctx_gprofng_refuse_report(const char *word, size_t n, struct ctx_err *err)
{
	const struct ctx_report_kind *const *kinds = ctx_report_kinds();
	const char *advice = advice_of(word, n);
	struct ctx_near near = {0};
	char names[CTX_ERR_MAX / 2];
	int shown = (int)(n < WORD_MAX ? n : WORD_MAX);

	if (advice != NULL)
		return ctx_err_set(err, CTX_E_ARG, "no report '%.*s': %s", shown, word, advice);
	for (size_t i = 0; kinds[i] != NULL; i++)
		ctx_near_consider(&near, kinds[i]->name, strlen(kinds[i]->name), word, n);
	for (size_t i = 0; kinds[i] != NULL; i++) {
		const struct ctx_report_alias *alias = kinds[i]->aliases;

		for (; alias != NULL && alias->name != NULL; alias++)
			ctx_near_consider(&near, alias->name, strlen(alias->name), word, n);
	}
	ctx_near_list(&near, names, sizeof(names));
	return ctx_err_set(err, CTX_E_ARG, "no report '%.*s'%s%s (see --help for the list)", shown, word,
			   near.n != 0 ? ", perhaps " : "", names);
}

/* ---- commands as arguments ---- */

static bool is_report(const char *word)
{
	bool takes_function;

	return ctx_report_find(word) != NULL || ctx_report_find_alias(word, &takes_function) != NULL ||
	       ctx_gprofng_index(word) != NULL;
}

enum ctx_status ctx_gprofng_check_arguments(int argc, char **argv, struct ctx_err *err)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		const char *word = argv[i] + 1, *advice;

		if (argv[i][0] != '-' || strlen(word) < 2 || !isalpha((unsigned char)word[0]))
			continue;
		advice = find_advice(word);
		if (advice != NULL)
			return ctx_err_set(err, CTX_E_ARG, "unknown option '%s': %s", argv[i], advice);
		if (is_report(word))
			return ctx_err_set(
				err, CTX_E_ARG,
				"unknown option '%s': the report is -r %s (options have two hyphens)",
				argv[i], word);
	}
	return CTX_OK;
}

/* ---- orders ---- */

/* The metric of a word of gprofng. CTX_NONE: none. */
static uint32_t find_metric(const struct ctx_profile *profile, const char *word)
{
	uint32_t metric = ctx_profile_find_metric(profile, word);
	const char *other;

	for (size_t i = 0; metric == CTX_NONE && (other = ctx_metric_other_name(word, i)) != NULL; i++)
		metric = ctx_profile_find_metric(profile, other);
	return metric;
}

static bool is_shown(const struct ctx_selection *selection, uint32_t metric)
{
	for (size_t i = 0; i < selection->n_metrics; i++) {
		if (selection->metrics[i] == metric)
			return true;
	}
	return false;
}

enum ctx_status ctx_gprofng_sort_key(const struct ctx_gprofng_sort *place, const struct ctx_report_kind *kind,
				     const struct ctx_selection *selection, const char **ret,
				     struct ctx_err *err)
{
	const struct ctx_profile *profile = selection->profile;
	const char *sort = place->sort, *at = sort, *key;
	char word[WORD_MAX];
	uint32_t metric;

	*ret = sort;
	if (sort == NULL || !ctx_metric_notation_is(sort) ||
	    !ctx_metric_notation_next(&at, word, sizeof(word)))
		return CTX_OK;
	metric = find_metric(profile, word);
	key = sort[0] == 'e' ? kind->sort_exclusive : kind->sort_inclusive;
	if (key == NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s cannot be sorted by '%s'", kind->name, sort);
	if (metric == CTX_NONE || !is_shown(selection, metric))
		return ctx_err_set(err, CTX_E_ARG, "--sort %s: %s '%s' (--metric chooses what is shown)",
				   sort, metric == CTX_NONE ? "no metric" : "the report does not show", word);
	if (metric == selection->metrics[0])
		snprintf(place->buffer, place->size, "%s", key);
	else
		snprintf(place->buffer, place->size, "%s.%s", key,
			 profile->metrics[metric].word != NULL ? profile->metrics[metric].word
							       : profile->metrics[metric].name);
	*ret = place->buffer;
	return CTX_OK;
}
