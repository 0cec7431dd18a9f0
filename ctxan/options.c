#include "ctxan/options.h"

#include "base/embed.h"
#include "base/label.h"
#include "base/mem.h"
#include "base/near.h"
#include "ctxan/config.h"
#include "ctxan/export_kinds.h"
#include "ctxan/gprofng_names.h"
#include "ctxan/perf_habits.h"
#include "ctxan/stack_tests.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const char ctx_options_manual[];
CTX_EMBED(ctx_options_manual, CTX_MANUAL_FILE);

static enum ctx_status append(const char ***list, size_t *n, size_t *cap, const char *item,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(list, cap, *n + 1, err);

	if (status == CTX_OK)
		(*list)[(*n)++] = item;
	return status;
}

/* A setter of one option: struct ctx_option.set. */
#define SETTER(name)                                                                                         \
	static enum ctx_status set_##name(void *context, const struct ctx_option *option, const char *value, \
					  struct ctx_err *err)

SETTER(report)
{
	(void)option;
	return ctx_option_reports_parse(context, value, err);
}

SETTER(interval)
{
	struct ctx_selection_spec *spec = &((struct ctx_options *)context)->selection;

	(void)option;
	return append(&spec->intervals, &spec->n_intervals, &spec->intervals_cap, value, err);
}

/* A list for both sides of --diff, or "A:LIST" for one: then its place in that side's lists. */
static struct ctx_side_lists *side_of(struct ctx_options *options, const char **value)
{
	enum ctx_compare_side side = ctx_side_of(*value, value);

	return side != CTX_COMPARE_SIDES ? &options->diff.alone[side] : NULL;
}

SETTER(thread)
{
	struct ctx_options *options = context;
	struct ctx_side_lists *lists = side_of(options, &value);

	(void)option;
	(void)err;
	*(lists != NULL ? &lists->threads : &options->selection.threads) = value;
	return CTX_OK;
}

SETTER(process)
{
	struct ctx_options *options = context;
	struct ctx_side_lists *lists = side_of(options, &value);

	(void)option;
	(void)err;
	*(lists != NULL ? &lists->processes : &options->selection.processes) = value;
	return CTX_OK;
}

SETTER(cpu)
{
	struct ctx_options *options = context;
	struct ctx_side_lists *lists = side_of(options, &value);

	(void)option;
	(void)err;
	*(lists != NULL ? &lists->cpus : &options->selection.cpus) = value;
	return CTX_OK;
}

/* Without --diff there are no sides: "A:main" is a thread's whole name. The prefix is in front of the text. */
static void forget_sides(struct ctx_options *options)
{
	for (int i = 0; i < CTX_COMPARE_SIDES && !options->diff.wanted; i++) {
		const struct ctx_side_lists *lists = &options->diff.alone[i];

		if (lists->threads != NULL)
			options->selection.threads = lists->threads - 2;
		if (lists->processes != NULL)
			options->selection.processes = lists->processes - 2;
		if (lists->cpus != NULL)
			options->selection.cpus = lists->cpus - 2;
	}
}

SETTER(filter)
{
	struct ctx_selection_spec *spec = &((struct ctx_options *)context)->selection;

	(void)option;
	return append(&spec->filters, &spec->n_filters, &spec->filters_cap, value, err);
}

SETTER(focus)
{
	return ctx_stack_test_add(&((struct ctx_options *)context)->selection, option->name, value, err);
}

SETTER(hide)
{
	struct ctx_options *options = context;

	if (options->hiding.n_hide == CTX_HIDING_PATTERNS)
		return ctx_err_set(err, CTX_E_ARG, "more than %u --hide", CTX_HIDING_PATTERNS);
	options->hiding.hide[options->hiding.n_hide++] = value;
	return ctx_stack_test_add(&options->selection, option->name, value, err);
}

SETTER(show)
{
	struct ctx_options *options = context;

	if (options->hiding.show != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--show is given twice: 'a|b' shows both");
	options->hiding.show = value;
	return ctx_stack_test_add(&options->selection, option->name, value, err);
}

SETTER(view)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	if (status == CTX_OK)
		((struct ctx_options *)context)->hiding.view = (enum ctx_view)(CTX_VIEW_USER + choice);
	return status;
}

SETTER(index)
{
	struct ctx_selection_spec *spec = &((struct ctx_options *)context)->selection;

	(void)option;
	return append(&spec->indexes, &spec->n_indexes, &spec->indexes_cap, value, err);
}

SETTER(buildid_dir)
{
	struct ctx_opening_options *opening = &((struct ctx_options *)context)->opening;

	(void)option;
	return append(&opening->caches, &opening->n_caches, &opening->caches_cap, value, err);
}

SETTER(per_thread)
{
	struct ctx_options *options = context;

	(void)option;
	(void)value;
	(void)err;
	options->per_thread = options->report.per_thread = true;
	return CTX_OK;
}

SETTER(min_percent)
{
	struct ctx_options *options = context;
	char *end;
	double percent = strtod(value, &end);

	if (*end == '%')
		end++;
	if (end == value || *end != '\0' || !(percent >= 0 && percent <= 100))
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': expected a number from 0 to 100", option->name,
				   value);
	options->report.min_percent = percent;
	options->report.min_percent_given = true;
	return CTX_OK;
}

/* "2ms": as the length of an interval; no unit means ms. */
SETTER(slower_than)
{
	struct ctx_options *options = context;
	char *interval CTX_AUTO_FREE = NULL;
	struct ctx_interval read;

	if (asprintf(&interval, "0:%s", value) < 0)
		return ctx_err_nomem(err);
	if (strpbrk(value, ":%+") != NULL ||
	    ctx_interval_parse(interval, (struct ctx_interval){0, UINT64_MAX}, &read, NULL) != CTX_OK)
		return ctx_err_set(err, CTX_E_ARG,
				   "--%s '%s': expected a time such as 2ms or 500us, more than 0",
				   option->name, value);
	options->report.slower_than_ns = read.end_ns;
	return CTX_OK;
}

SETTER(limit)
{
	struct ctx_options *options = context;
	enum ctx_status status = ctx_option_set_number(options, option, value, err);

	options->limit_given = true;
	options->report.whole = options->report.limit == 0;
	return status;
}

SETTER(format)
{
	struct ctx_options *options = context;
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	/* The formats of rules alone come last. */
	options->baseline.format = choice == 1	 ? CTX_RULES_JSON
				   : choice == 4 ? CTX_RULES_MARKDOWN
				   : choice == 5 ? CTX_RULES_JUNIT
						 : CTX_RULES_TEXT;
	options->report.format = choice < 4 ? (enum ctx_report_format)choice : CTX_REPORT_TEXT;
	return status;
}

SETTER(color)
{
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	((struct ctx_options *)context)->color = (enum ctx_option_color)choice;
	return status;
}

SETTER(coverage)
{
	struct ctx_options *options = context;
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	options->top_only = choice == 0;
	return status;
}

SETTER(exact)
{
	(void)option;
	(void)value;
	(void)err;
	((struct ctx_options *)context)->top_only = false;
	return CTX_OK;
}

SETTER(output)
{
	(void)option;
	(void)err;
	/* As in other programs, - is standard output. */
	((struct ctx_options *)context)->output.path = strcmp(value, "-") != 0 ? value : NULL;
	return CTX_OK;
}

/* "--export pproff: no such format, perhaps 'pprof' (see --help)" */
static enum ctx_status refuse_export(const char *option, const char *name, struct ctx_err *err)
{
	const struct ctx_export_kind *kind;
	struct ctx_near near = {0};
	char names[CTX_ERR_MAX / 4];

	for (size_t i = 0; (kind = ctx_export_kind_at(i)) != NULL; i++)
		ctx_near_consider(&near, kind->name, strlen(kind->name), name, strlen(name));
	ctx_near_list(&near, names, sizeof(names));
	return ctx_err_set(err, CTX_E_ARG, "--%s %s: no such format%s%s (see --help)", option, name,
			   near.n != 0 ? ", perhaps " : "", names);
}

SETTER(export)
{
	struct ctx_options *options = context;

	/* Reports have these formats already. */
	if (strcmp(value, "json") == 0 || strcmp(value, "csv") == 0) {
		options->report.format = value[0] == 'j' ? CTX_REPORT_JSON : CTX_REPORT_CSV;
		return CTX_OK;
	}
	options->output.export = ctx_export_kind_find(value);
	return options->output.export != NULL ? CTX_OK : refuse_export(option->name, value, err);
}

/* "5M", "800k", "2500000" */
SETTER(max_size)
{
	static const char units[] = "kMG";
	char *end;
	unsigned long size;
	const char *unit;

	errno = 0;
	size = strtoul(value, &end, 10);
	unit = *end != '\0' ? strchr(units, *end) : NULL;
	for (ptrdiff_t i = unit != NULL ? unit - units + 1 : 0; i > 0; i--)
		size = size <= SIZE_MAX / 1024 ? size * 1024 : 0;
	if (!isdigit((unsigned char)value[0]) || errno != 0 || size == 0 ||
	    (*end != '\0' && (unit == NULL || end[1] != '\0')))
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': expected a number of bytes such as 5M",
				   option->name, value);
	((struct ctx_options *)context)->output.max_size = size;
	return CTX_OK;
}

SETTER(tree_number)
{
	((struct ctx_options *)context)->opening.tree_given = true;
	return ctx_option_set_number(context, option, value, err);
}

SETTER(prune)
{
	struct ctx_opening_options *opening = &((struct ctx_options *)context)->opening;
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	opening->tree_given = true;
	opening->tree.mode = choice == 1 ? CTX_TIMETREE_CASCADE : CTX_TIMETREE_RESIDUAL;
	return status;
}

SETTER(no_tail)
{
	struct ctx_opening_options *opening = &((struct ctx_options *)context)->opening;

	(void)option;
	(void)value;
	(void)err;
	opening->tree_given = true;
	opening->tree.keep_tail = false;
	return CTX_OK;
}

/* Seconds, into a uint64_t of ns at the row's place. */
SETTER(seconds)
{
	char *end;
	double seconds = strtod(value, &end);

	if (!isdigit((unsigned char)value[0]) || *end != '\0' || !(seconds >= 0.01 && seconds <= 1e6))
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': expected a number of seconds from 0.01 on",
				   option->name, value);
	*(uint64_t *)((char *)context + option->at) = (uint64_t)(seconds * 1e9);
	return CTX_OK;
}

/* "90", "6h": seconds unless a unit is named. */
SETTER(last)
{
	static const struct {
		const char *unit;
		uint32_t seconds;
	} units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	double number = strtod(value, &end), seconds = -1;

	for (size_t i = 0; i < CTX_COUNT_OF(units) && isdigit((unsigned char)value[0]); i++) {
		if (strcmp(end, units[i].unit) == 0)
			seconds = number * units[i].seconds;
	}
	if (!(seconds >= 0.01 && seconds <= 1e9))
		return ctx_err_set(err, CTX_E_ARG,
				   "--%s '%s': expected a number of seconds from 0.01 on, or 90s, 5m, 6h, 7d",
				   option->name, value);
	*(uint64_t *)((char *)context + option->at) = (uint64_t)(seconds * 1e9);
	return CTX_OK;
}

SETTER(label)
{
	struct ctx_fleet_options *fleet = &((struct ctx_options *)context)->fleet;
	enum ctx_status status = ctx_label_check(value, err);

	(void)option;
	return status == CTX_OK ? append(&fleet->labels, &fleet->n_labels, &fleet->labels_cap, value, err)
				: status;
}

/* "30d", "30" */
SETTER(retain)
{
	struct ctx_options *options = context;
	char *end;
	unsigned long days = strtoul(value, &end, 10);

	if (!isdigit((unsigned char)value[0]) || (strcmp(end, "d") != 0 && *end != '\0') || days == 0 ||
	    days > 36500)
		return ctx_err_set(err, CTX_E_ARG, "--%s '%s': expected a number of days, 30d", option->name,
				   value);
	options->fleet.retain_days = (uint32_t)days;
	return CTX_OK;
}

SETTER(per)
{
	struct ctx_weighting *weighting = &((struct ctx_options *)context)->diff.weighting;
	int choice = 0;
	enum ctx_status status = ctx_option_choice(option, value, &choice, err);

	*weighting =
		(struct ctx_weighting){.weights = choice == 0 ? CTX_WEIGHTS_PER_SECOND : CTX_WEIGHTS_SHARE};
	return status;
}

/* "calls:FUNC", "1000", "1000,1200" */
SETTER(per_count)
{
	static const char calls[] = "calls:";
	struct ctx_weighting weighting = {.weights = CTX_WEIGHTS_PER_COUNT};
	char *end = NULL;

	if (strncmp(value, calls, sizeof(calls) - 1) == 0 && value[sizeof(calls) - 1] != '\0')
		weighting.function = value + sizeof(calls) - 1;
	else {
		weighting.counts[CTX_COMPARE_A] = weighting.counts[CTX_COMPARE_B] = strtod(value, &end);
		if (end != value && *end == ',') {
			const char *second = end + 1;

			weighting.counts[CTX_COMPARE_B] = strtod(second, &end);
			end = end == second ? NULL : end;
		}
		if (end == NULL || end == value || *end != '\0' || !(weighting.counts[CTX_COMPARE_A] > 0) ||
		    !(weighting.counts[CTX_COMPARE_B] > 0) || !isfinite(weighting.counts[CTX_COMPARE_A]) ||
		    !isfinite(weighting.counts[CTX_COMPARE_B]))
			return ctx_err_set(err, CTX_E_ARG,
					   "--%s '%s': expected calls:FUNC, or a number more than 0 for both "
					   "sides, or NA,NB",
					   option->name, value);
	}
	((struct ctx_options *)context)->diff.weighting = weighting;
	return CTX_OK;
}

SETTER(rename)
{
	struct ctx_comparing_options *diff = &((struct ctx_options *)context)->diff;

	(void)option;
	return append(&diff->renames, &diff->n_renames, &diff->renames_cap, value, err);
}

SETTER(offset)
{
	struct ctx_opening_options *opening = &((struct ctx_options *)context)->opening;

	(void)option;
	return append(&opening->offsets, &opening->n_offsets, &opening->offsets_cap, value, err);
}

static const char *report_name(size_t i)
{
	const struct ctx_report_kind *const *kinds = ctx_report_kinds();

	while (i > 0 && *kinds != NULL) {
		kinds++;
		i--;
	}
	return *kinds != NULL ? (*kinds)->name : NULL;
}

SETTER(suggest)
{
	(void)option;
	(void)value;
	(void)err;
	((struct ctx_options *)context)->output.export = ctx_export_kind_find("indicators");
	return CTX_OK;
}

static const char *export_name(size_t i)
{
	static const char *const formats_of_reports[] = {"json", "csv", NULL};
	size_t n = 0;

	while (ctx_export_kind_at(n) != NULL)
		n++;
	if (i < n)
		return ctx_export_kind_at(i)->name;
	return i - n < CTX_COUNT_OF(formats_of_reports) ? formats_of_reports[i - n] : NULL;
}

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define FLAG(field) .set = ctx_option_set_flag, .at = offsetof(struct ctx_options, field)
#define STRING(field) .set = ctx_option_set_text, .at = offsetof(struct ctx_options, field)
#define NUMBER(setter, field, from, to)                                                                      \
	.set = (setter), .at = offsetof(struct ctx_options, field), .min = (from), .max = (to)

/* In the order of the manual. */
// clang-format off
static const struct ctx_option rows[] = {
	{"report", 'r', CTX_OPTION_LIST, .set = set_report, .word_at = report_name},
	{"interval", 'i', CTX_OPTION_TEXT, .set = set_interval},
	{"thread", 't', CTX_OPTION_TEXT, .set = set_thread},
	{"process", 0, CTX_OPTION_TEXT, .set = set_process},
	{"cpu", 0, CTX_OPTION_TEXT, .set = set_cpu},
	{"filter", 0, CTX_OPTION_TEXT, .set = set_filter, .alias = "filters"}, /* gprofng's word */
	{"focus", 0, CTX_OPTION_TEXT, .set = set_focus},
	{"ignore", 0, CTX_OPTION_TEXT, .set = set_focus},
	{"hide", 0, CTX_OPTION_TEXT, .set = set_hide},
	{"show", 0, CTX_OPTION_TEXT, .set = set_show},
	{"fold-object", 0, CTX_OPTION_TEXT, STRING(hiding.objects)},
	{"view", 0, CTX_OPTION_TEXT, .set = set_view, .words = WORDS("user", "expert", "machine")},
	{"by", 0, CTX_OPTION_LIST, STRING(selection.by),
	 .words = WORDS("thread", "process", "command", "thread-name", "thread-pattern", "cgroup", "container", "function", "object", "line", "cpu", "core", "socket", "node", "pmu", "state", "wait",
			"second", "time", "sample", "metric", "lwp", "file", "descriptor", "datasize", "duration", "cacheline", "page4k", "page64k", "page2m", "mapping", "access", "level")},
	{"index", 0, CTX_OPTION_TEXT, .set = set_index},
	{"metric", 0, CTX_OPTION_LIST, STRING(selection.metric), .alias = "metrics", /* gprofng's word */
	 .words = WORDS("cpu-clock", "user", "system", "wait-cpu", "lock", "text-fault", "data-fault", "other-wait", "wall")},
	{"per-thread", 0, CTX_OPTION_FLAG, .set = set_per_thread},
	{"function", 0, CTX_OPTION_TEXT, STRING(report.function)},
	{"min-percent", 0, CTX_OPTION_TEXT, .set = set_min_percent},
	{"depth", 0, CTX_OPTION_TEXT, NUMBER(ctx_option_set_number, report.depth, 1, 65535)},
	{"root", 0, CTX_OPTION_TEXT, STRING(report.root)},
	{"callers", 0, CTX_OPTION_FLAG, FLAG(report.callers)},
	{"no-fold", 0, CTX_OPTION_FLAG, FLAG(report.no_fold)},
	{"columns", 0, CTX_OPTION_FLAG, FLAG(report.columns)},
	{"cycles", 0, CTX_OPTION_FLAG, FLAG(report.cycles)},
	{"slower-than", 0, CTX_OPTION_TEXT, .set = set_slower_than},
	{"limit", 0, CTX_OPTION_TEXT, NUMBER(set_limit, report.limit, 0, UINT32_MAX - 1)},
	{"sort", 0, CTX_OPTION_TEXT, STRING(report.sort)},
	{"coverage", 0, CTX_OPTION_TEXT, .set = set_coverage, .words = WORDS("top", "exact")},
	{"exact", 0, CTX_OPTION_FLAG, .set = set_exact},

	{"format", 0, CTX_OPTION_TEXT, .set = set_format, .words = WORDS("text", "json", "csv", "html", "markdown", "junit")},
	{"output", 'o', CTX_OPTION_FILE, .set = set_output},
	{"width", 0, CTX_OPTION_TEXT, NUMBER(ctx_option_set_number, report.width, 40, 10000), .is_default = true},
	{"ascii", 0, CTX_OPTION_FLAG, FLAG(report.ascii), .is_default = true},
	{"color", 0, CTX_OPTION_TEXT, .set = set_color, .alias = "colour", .words = WORDS("auto", "always", "never"), .is_default = true},
	{"no-pager", 0, CTX_OPTION_FLAG, FLAG(no_pager), .is_default = true},
	{"explain", 0, CTX_OPTION_FLAG, FLAG(explain)},
	{"quiet", 'q', CTX_OPTION_FLAG, FLAG(quiet), .is_default = true},

	{"follow", 0, CTX_OPTION_FLAG, FLAG(follow.wanted)},
	{"last", 0, CTX_OPTION_TEXT, .set = set_last, .at = offsetof(struct ctx_options, follow.last_ns)},
	{"refresh", 0, CTX_OPTION_TEXT, .set = set_seconds, .at = offsetof(struct ctx_options, follow.refresh_ns)},

	{"export", 0, CTX_OPTION_TEXT, .set = set_export, .word_at = export_name},
	{"suggest-indicators", 0, CTX_OPTION_FLAG, .set = set_suggest},
	{"check-indicators", 0, CTX_OPTION_FILE, STRING(output.check_indicators)},
	{"match-symbols", 0, CTX_OPTION_FLAG, FLAG(output.match_symbols)},
	{"max-size", 0, CTX_OPTION_TEXT, .set = set_max_size},
	{"open", 0, CTX_OPTION_FLAG, FLAG(open)},

	{"diff", 0, CTX_OPTION_FLAG, FLAG(diff.wanted)},
	{"per", 0, CTX_OPTION_TEXT, .set = set_per, .words = WORDS("second", "share")},
	{"per-count", 0, CTX_OPTION_TEXT, .set = set_per_count},
	{"rename", 0, CTX_OPTION_TEXT, .set = set_rename},
	{"rules", 0, CTX_OPTION_FILE, STRING(baseline.rules)},
	{"archive", 0, CTX_OPTION_FILE, STRING(baseline.archive)},
	{"append", 0, CTX_OPTION_FLAG, FLAG(baseline.append)},
	{"with-samples", 0, CTX_OPTION_FLAG, FLAG(baseline.with_samples)},
	{"run", 0, CTX_OPTION_TEXT, NUMBER(ctx_option_set_number, opening.run, 1, 1000)},
	{"browse", 0, CTX_OPTION_FLAG, FLAG(browse)},

	{"to", 0, CTX_OPTION_TEXT, STRING(fleet.to)},
	{"label", 0, CTX_OPTION_TEXT, .set = set_label},
	{"credentials", 0, CTX_OPTION_FILE, STRING(fleet.credentials), .is_default = true},
	{"init", 0, CTX_OPTION_FLAG, FLAG(fleet.init)},
	{"cluster", 0, CTX_OPTION_TEXT, STRING(fleet.cluster)},
	{"retain", 0, CTX_OPTION_TEXT, .set = set_retain},
	{"check", 0, CTX_OPTION_FLAG, FLAG(fleet.check)},

	{"sql", 0, CTX_OPTION_TEXT, STRING(output.sql)},
	{"show-sql", 0, CTX_OPTION_FLAG, FLAG(output.show_sql)},

	{"db", 0, CTX_OPTION_FILE, STRING(opening.db)},
	{"merge", 0, CTX_OPTION_FLAG, FLAG(opening.merge)},
	{"offset", 0, CTX_OPTION_TEXT, .set = set_offset},
	{"reingest", 0, CTX_OPTION_FLAG, FLAG(opening.reingest)},
	{"no-inlines", 0, CTX_OPTION_FLAG, FLAG(opening.no_inlines), .is_default = true},
	{"symfs", 0, CTX_OPTION_DIRECTORY, STRING(opening.symfs), .is_default = true},
	{"debug-root", 0, CTX_OPTION_DIRECTORY, STRING(opening.debug_root), .is_default = true},
	{"buildid-dir", 0, CTX_OPTION_FILE, .set = set_buildid_dir},

	{"leaf-samples", 0, CTX_OPTION_TEXT, NUMBER(set_tree_number, opening.tree.leaf_samples, 1, 1u << 24)},
	{"fanout", 0, CTX_OPTION_TEXT, NUMBER(set_tree_number, opening.tree.fanout, 2, 256)},
	{"percent", 0, CTX_OPTION_TEXT, NUMBER(set_tree_number, opening.tree.percent, 1, 100)},
	{"prune", 0, CTX_OPTION_TEXT, .set = set_prune, .words = WORDS("residual", "cascade")},
	{"no-tail", 0, CTX_OPTION_FLAG, .set = set_no_tail},

	{"no-config", 0, CTX_OPTION_FLAG, FLAG(no_config)},
	{"help", 'h', CTX_OPTION_FLAG, FLAG(help)},
	{"version", 'V', CTX_OPTION_FLAG, FLAG(version)},
};
// clang-format on

const struct ctx_option_table ctx_options_table = {
	.program = "ctxan", .manual = ctx_options_manual, .rows = rows, .n_rows = CTX_COUNT_OF(rows)};

/* The recordings of a fleet are one source, and what chooses them are no inputs. */
static enum ctx_status check(struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_options alone = *options;
	enum ctx_status status = ctx_options_check_fleet(options, err);

	if (options->fleet.command == CTX_FLEET_ASK) {
		alone.n_inputs = 1;
		alone.follow.last_ns = 0;
	}
	return status == CTX_OK ? ctx_options_check(&alone, err) : status;
}

enum ctx_status ctx_options_parse(int argc, char **argv, struct ctx_options *ret, struct ctx_err *err)
{
	struct ctx_options options = {
		.opening = {.tree = ctx_timetree_default_params(), .symfs = "", .debug_root = ""}};
	struct ctx_arguments arguments = {0};
	enum ctx_status status = ctx_gprofng_check_arguments(argc, argv, err);

	/* A file of that name is ./fleet. */
	if (argc > 1 && (strcmp(argv[1], "fleet") == 0 || strcmp(argv[1], "push") == 0)) {
		options.fleet.command = argv[1][0] == 'f' ? CTX_FLEET_ASK : CTX_FLEET_PUSH;
		argc--;
		argv++;
	}
	if (status == CTX_OK)
		status = ctx_perf_habits_check(&argc, argv, err);
	if (status == CTX_OK && !ctx_config_is_refused(argc, argv))
		status = ctx_config_read(&ctx_options_table, &options, &options.config, err);
	arguments.n = argc;
	arguments.words = argv;
	if (status == CTX_OK)
		status = ctx_option_parse(&ctx_options_table, &arguments, &options, err);
	forget_sides(&options);
	if (status == CTX_OK && options.open && options.output.export == NULL)
		options.output.export = ctx_export_kind_find("html");
	for (int i = arguments.first; i < argc && status == CTX_OK; i++)
		status = append(&options.inputs, &options.n_inputs, &options.inputs_cap, argv[i], err);
	if (status == CTX_OK && options.report.sort != NULL && options.selection.by == NULL &&
	    options.n_reports == 0 && ctx_perf_habits_is_sort(options.report.sort)) {
		options.selection.by = options.report.sort;
		options.report.sort = NULL;
	}
	if (status == CTX_OK && options.selection.by != NULL && options.n_reports == 0 &&
	    options.output.export == NULL && options.output.sql == NULL)
		status = ctx_option_reports_parse(&options, "index", err);
	if (status == CTX_OK)
		status = check(&options, err);
	if (status != CTX_OK) {
		ctx_options_deinit(&options);
		return status;
	}
	options.opening.quiet = options.quiet;
	*ret = options;
	return CTX_OK;
}

void ctx_options_deinit(struct ctx_options *options)
{
	free(options->inputs);
	free(options->reports);
	free(options->config);
	free(options->page);
	free(options->newest);
	free(options->baseline.wrong_line);
	ctx_rules_destroy(options->baseline.parsed);
	free(options->opening.caches);
	free(options->opening.offsets);
	free(options->diff.renames);
	free(options->fleet.labels);
	ctx_selection_spec_deinit(&options->selection);
	*options = (struct ctx_options){0};
}
