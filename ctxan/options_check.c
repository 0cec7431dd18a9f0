#include "ctxan/compared.h"
#include "ctxan/options.h"
#include "ctxan/perf_habits.h"

#include <string.h>

static size_t n_standard_inputs(const struct ctx_options *options)
{
	size_t n = 0;

	for (size_t i = 0; i < options->n_inputs; i++)
		n += strcmp(options->inputs[i], "-") == 0;
	return n;
}

bool ctx_options_has_report(const struct ctx_options *options, const char *name)
{
	for (size_t i = 0; i < options->n_reports; i++) {
		if (strcmp(options->reports[i].kind->name, name) == 0)
			return true;
	}
	return false;
}

/* "out.er", "out.er/" */
static bool is_named_like(const char *path, const char *suffix)
{
	size_t n = path != NULL ? strlen(path) : 0, ending = strlen(suffix);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return n > ending && path[n - ending - 1] != '/' && strncmp(path + n - ending, suffix, ending) == 0;
}

/* Selecting options that would be ignored: the result would cover more than requested. */
static enum ctx_status check_selecting(const struct ctx_options *options, struct ctx_err *err)
{
	static const char instead[] = "--filter 'STACK SOME IN \"NAME\"' does it";

	if (options->output.sql != NULL &&
	    (options->selection.n_intervals != 0 || options->selection.threads != NULL ||
	     options->selection.processes != NULL || options->selection.cpus != NULL ||
	     options->selection.n_filters != 0 || options->selection.n_tests != 0 ||
	     options->hiding.objects != NULL || options->hiding.view != CTX_VIEW_DEFAULT ||
	     options->selection.metric != NULL || options->report.function != NULL))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--sql selects by itself: it excludes --interval, --thread, --process, "
			"--cpu, --filter, --focus, --ignore, --hide, --show, --fold-object, --view, "
			"--metric and --function");
	if (options->output.export != NULL && options->report.function != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--export %s excludes --function: %s",
				   options->output.export->name, instead);
	for (size_t i = 0; i < options->n_reports && options->report.function != NULL; i++) {
		if (options->reports[i].kind->no_function)
			return ctx_err_set(err, CTX_E_ARG, "the report '%s' excludes --function: %s",
					   options->reports[i].kind->name, instead);
	}
	return CTX_OK;
}

/* The browser chooses what is shown. */
static enum ctx_status check_browse(const struct ctx_options *options, struct ctx_err *err)
{
	const char *other = options->n_reports != 0 && !options->diff.wanted ? "--report"
			    : options->output.export != NULL		     ? "--export"
			    : options->output.sql != NULL		     ? "--sql"
			    : options->output.show_sql			     ? "--show-sql"
			    : options->output.path != NULL		     ? "--output"
			    : options->report.format != CTX_REPORT_TEXT	     ? "--format"
									     : NULL;

	if (!options->browse)
		return CTX_OK;
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--browse excludes %s", other);
	if (options->n_inputs > 1 && !options->diff.wanted && !options->opening.merge)
		return ctx_err_set(err, CTX_E_ARG, "--browse requires a single recording, --diff or --merge");
	if (n_standard_inputs(options) != 0)
		return ctx_err_set(err, CTX_E_ARG, "--browse excludes '-': keys come from standard input");
	return CTX_OK;
}

/* The number of intervals that select on a side alone; CTX_COMPARE_SIDES: on both. */
static size_t n_intervals_of(const struct ctx_options *options, enum ctx_compare_side side)
{
	size_t n = 0;

	for (size_t i = 0; i < options->selection.n_intervals; i++) {
		const char *text;

		n += ctx_side_of(options->selection.intervals[i], &text) == side;
	}
	return n;
}

static bool has_alone(const struct ctx_options *options)
{
	for (size_t i = 0; i < options->selection.n_filters; i++) {
		const char *text;

		if (ctx_side_of(options->selection.filters[i], &text) != CTX_COMPARE_SIDES)
			return true;
	}
	for (int side = 0; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_side_lists *lists = &options->diff.alone[side];

		if (lists->threads != NULL || lists->processes != NULL || lists->cpus != NULL)
			return true;
	}
	return false;
}

/* Two recordings, or lists of recordings; of a single one two intervals, or whatever each side selects alone. */
static enum ctx_status check_diff_sides(const struct ctx_options *options, struct ctx_err *err)
{
	bool alone = has_alone(options) || n_intervals_of(options, CTX_COMPARE_A) != 0 ||
		     n_intervals_of(options, CTX_COMPARE_B) != 0;

	if (options->n_inputs == 1 && !alone && n_intervals_of(options, CTX_COMPARE_SIDES) != 2)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--diff of one recording compares two intervals: --diff -i 0:30%% -i 60%%:90%%");
	if (options->n_inputs != 1 && options->n_inputs != 2)
		return ctx_err_set(err, CTX_E_ARG,
				   "--diff compares two sides: A.er B.er, or A1.er,A2.er,A3.er B1.er,B2.er");
	return CTX_OK;
}

/* Two sides; what else of a recording is shown, a comparison does not say. */
static enum ctx_status check_diff(const struct ctx_options *options, struct ctx_err *err)
{
	const char *sort = options->report.sort;
	const char *other = options->follow.wanted	      ? "--follow"
			    : options->output.sql != NULL     ? "--sql"
			    : options->output.show_sql	      ? "--show-sql"
			    : options->report.callers	      ? "--callers"
			    : options->report.root != NULL    ? "--root"
			    : options->report.columns	      ? "--columns"
			    : options->per_thread	      ? "--per-thread"
			    : options->top_only		      ? "--coverage"
			    : options->opening.db != NULL     ? "--db: it is the database of one recording"
			    : n_standard_inputs(options) != 0 ? "'-'"
			    : ctx_hiding_has_patterns(&options->hiding) ? "--hide, --show and --fold-object"
									: NULL;

	const char *without = options->diff.n_renames != 0				 ? "--rename"
			      : options->diff.weighting.weights == CTX_WEIGHTS_PER_COUNT ? "--per-count"
			      : options->diff.weighting.weights != CTX_WEIGHTS_ABSOLUTE	 ? "--per"
											 : NULL;

	if (!options->diff.wanted)
		return without == NULL ? CTX_OK : ctx_err_set(err, CTX_E_ARG, "%s requires --diff", without);
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--diff excludes %s", other);
	for (size_t i = 0; i < options->n_reports; i++) {
		const char *name = options->reports[i].kind->name;

		if (!ctx_comparing_has(name))
			return ctx_err_set(
				err, CTX_E_ARG,
				"--diff compares functions, tree, objects, lines, callers-callees, "
				"states, waits, stacks, threads and heap: there is no comparison of "
				"'%s'",
				name);
	}
	if (sort != NULL && strcmp(sort, "exclusive") != 0 && strcmp(sort, "inclusive") != 0)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--diff: --sort is exclusive (a function's own time) or inclusive, not '%s'", sort);
	/* Of a fleet the sides are terms. */
	return options->fleet.command != CTX_FLEET_NONE ? CTX_OK : check_diff_sides(options, err);
}

/* Rules print their own summary; an archive prints nothing. */
static enum ctx_status check_baseline(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_baseline_options *baseline = &options->baseline;
	bool rules = baseline->rules != NULL;
	const char *own = rules ? "--rules" : "--archive";
	const char *other = options->n_reports != 0			? "--report"
			    : options->browse				? "--browse"
			    : options->follow.wanted			? "--follow"
			    : options->output.export != NULL		? "--export"
			    : options->output.sql != NULL		? "--sql"
			    : options->output.show_sql			? "--show-sql"
			    : options->top_only				? "--coverage"
			    : n_standard_inputs(options) != 0		? "'-'"
			    : ctx_hiding_has_patterns(&options->hiding) ? "--hide, --show and --fold-object"
									: NULL;

	if (baseline->format > CTX_RULES_JSON && !rules)
		return ctx_err_set(err, CTX_E_ARG, "--format %s requires --rules",
				   baseline->format == CTX_RULES_JUNIT ? "junit" : "markdown");
	if ((baseline->append || baseline->with_samples) && baseline->archive == NULL)
		return ctx_err_set(err, CTX_E_ARG, "--%s requires --archive",
				   baseline->append ? "append" : "with-samples");
	if (!rules && baseline->archive == NULL)
		return CTX_OK;
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s excludes %s", own, other);
	if (rules && options->diff.weighting.weights != CTX_WEIGHTS_ABSOLUTE &&
	    options->diff.weighting.weights != CTX_WEIGHTS_PER_COUNT)
		return ctx_err_set(err, CTX_E_ARG,
				   "--rules excludes --per: a rule says what its figures are, such as "
				   "function.self.per_second");
	if (rules && baseline->archive != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--rules excludes --archive");
	if (rules && (options->report.format == CTX_REPORT_CSV || options->report.format == CTX_REPORT_HTML))
		return ctx_err_set(err, CTX_E_ARG, "--rules has the formats text, json, markdown and junit");
	if (rules && !options->diff.wanted && options->n_inputs > 1)
		return ctx_err_set(err, CTX_E_ARG,
				   "--rules is for one recording, or A1.er,A2.er of one program, or two "
				   "sides with --diff");
	if (!rules && options->n_inputs == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "--archive %s: which recordings? (ctxan --archive BASE.db a.1.er a.2.er)",
				   baseline->archive);
	if (!rules && (baseline->archive[0] == '\0' || options->diff.wanted || options->output.path != NULL ||
		       options->selection.n_intervals != 0 || options->selection.threads != NULL ||
		       options->selection.processes != NULL || options->selection.n_filters != 0))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--archive FILE keeps whole runs: it excludes --diff, --output and what selects");
	return CTX_OK;
}

static enum ctx_status check_export(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->output.export;

	if (options->open && (kind == NULL || strcmp(kind->name, "html") != 0))
		return ctx_err_set(err, CTX_E_ARG, "--open requires --export html");
	if (kind == NULL)
		return options->output.max_size == 0
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--max-size requires --export html");
	if (!kind->takes_reports && options->n_reports != 0)
		return ctx_err_set(err, CTX_E_ARG, "--export %s excludes --report", kind->name);
	if (options->output.sql != NULL || options->output.show_sql)
		return ctx_err_set(err, CTX_E_ARG, "--export excludes --sql and --show-sql");
	if (kind->write_directory != NULL && !is_named_like(options->output.path, kind->suffix))
		return ctx_err_set(err, CTX_E_ARG, "--export %s is a directory: -o NAME%s", kind->name,
				   kind->suffix);
	if (options->diff.wanted && !kind->takes_difference)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--diff --export %s: not in this format; html, flamegraph, folded, pprof and "
			"speedscope have two sides",
			kind->name);
	if (options->n_inputs > 1 && !options->diff.wanted && !options->opening.merge)
		return ctx_err_set(err, CTX_E_ARG,
				   "--export requires a single recording, --merge, or two sides and --diff");
	if (options->limit_given || options->per_thread)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--export %s has all rows and threads: it excludes --limit and --per-thread",
			kind->name);
	if (options->output.max_size != 0 && !kind->takes_max_size)
		return ctx_err_set(err, CTX_E_ARG, "--max-size requires --export html, not %s", kind->name);
	return CTX_OK;
}

/* Options of call trees would change nothing elsewhere. */
static enum ctx_status check_tree(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_report_options *report = &options->report;
	const char *option = report->depth != 0	    ? "--depth"
			     : report->root != NULL ? "--root"
			     : report->callers	    ? "--callers"
						    : NULL;

	if (option == NULL || ctx_options_has_report(options, "tree") ||
	    ctx_options_has_report(options, "callers"))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "%s requires --report tree or callers", option);
}

static enum ctx_status check_cycles(const struct ctx_options *options, struct ctx_err *err)
{
	if (!options->report.cycles || ctx_options_has_report(options, "sync"))
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG, "--cycles requires --report sync");
}

static enum ctx_status check_follow(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_follow_options *follow = &options->follow;
	const char *other = options->selection.n_intervals != 0		? "--interval: --last says how much"
			    : options->output.export != NULL		? "--export"
			    : options->output.sql != NULL		? "--sql"
			    : options->output.show_sql			? "--show-sql"
			    : options->output.path != NULL		? "--output"
			    : options->opening.db != NULL		? "--db"
			    : options->opening.reingest			? "--reingest"
			    : options->report.format == CTX_REPORT_HTML ? "--format html"
									: NULL;

	if (!follow->wanted)
		return follow->last_ns == 0 && follow->refresh_ns == 0
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--%s requires --follow",
					     follow->last_ns != 0 ? "last" : "refresh");
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--follow excludes %s", other);
	if (options->n_inputs > 1 || n_standard_inputs(options) != 0)
		return ctx_err_set(err, CTX_E_ARG, "--follow requires a single experiment");
	return CTX_OK;
}

static enum ctx_status check_merge(const struct ctx_options *options, struct ctx_err *err)
{
	const char *other = options->diff.wanted		? "--diff"
			    : options->baseline.rules != NULL	? "--rules"
			    : options->baseline.archive != NULL ? "--archive"
			    : options->follow.wanted		? "--follow"
			    : options->opening.run != 0		? "--run"
			    : n_standard_inputs(options) != 0	? "'-'"
								: NULL;

	if (!options->opening.merge)
		return options->opening.n_offsets == 0
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--offset requires --merge");
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--merge excludes %s", other);
	if (options->n_inputs < 2)
		return ctx_err_set(err, CTX_E_ARG,
				   "--merge: which recordings? (ctxan --merge a.perf b.perf c.jfr)");
	return CTX_OK;
}

static enum ctx_status check_indicators(const struct ctx_options *options, struct ctx_err *err)
{
	if (options->output.match_symbols && options->output.check_indicators == NULL)
		return ctx_err_set(err, CTX_E_ARG, "--match-symbols requires --check-indicators");
	return CTX_OK;
}

/* Contradictory or meaningless options. */
enum ctx_status ctx_options_check(const struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (options->opening.db != NULL && options->n_inputs > 1 && !options->opening.merge)
		return ctx_err_set(err, CTX_E_ARG, "--db requires a single recording, or --merge");
	if (n_standard_inputs(options) > 1)
		return ctx_err_set(err, CTX_E_ARG, "duplicate '-': standard input can be read only once");
	if (options->opening.db != NULL && options->opening.db[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--db '' is not a file name");
	if (options->output.path != NULL && options->output.path[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--output '' is not a file name");
	if (options->output.sql != NULL &&
	    strspn(options->output.sql, " \t\r\n;") == strlen(options->output.sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql '' has no statement");
	if (options->selection.by != NULL &&
	    (options->output.export != NULL || options->output.sql != NULL || options->output.show_sql))
		return ctx_err_set(err, CTX_E_ARG, "--by requires the report index, not --export or SQL");
	if (options->selection.by != NULL && !ctx_options_has_report(options, "index"))
		return ctx_err_set(err, CTX_E_ARG, "--by requires the report index");
	if (options->output.sql != NULL && (options->n_reports != 0 || options->output.show_sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql excludes --report and --show-sql");
	if (options->report.format == CTX_REPORT_HTML &&
	    (options->output.sql != NULL || options->output.show_sql || options->output.export != NULL))
		return ctx_err_set(err, CTX_E_ARG, "--format html requires a report, not SQL or --export");
	if (options->output.show_sql &&
	    (options->report.function != NULL || options->report.min_percent > 0 || options->limit_given ||
	     options->per_thread || options->top_only))
		return ctx_err_set(err, CTX_E_ARG,
				   "--show-sql excludes --function, --min-percent, --limit, --per-thread and "
				   "--coverage top");
	if (!options->diff.wanted && options->report.sort != NULL && options->n_reports == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "--sort requires --report; --by comm,dso,sym has rows by several keys");
	if (options->report.sort != NULL && strchr(options->report.sort, ',') != NULL &&
	    ctx_perf_habits_is_sort(options->report.sort))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--sort %s: expected a single column; --by comm,dso,sym has rows by several "
			"keys",
			options->report.sort);
	status = check_follow(options, err);
	if (status == CTX_OK)
		status = check_tree(options, err);
	if (status == CTX_OK)
		status = check_diff(options, err);
	if (status == CTX_OK)
		status = check_baseline(options, err);
	if (status == CTX_OK)
		status = check_merge(options, err);
	if (status == CTX_OK)
		status = check_indicators(options, err);
	if (status == CTX_OK)
		status = check_cycles(options, err);
	if (status == CTX_OK)
		status = check_browse(options, err);
	if (status == CTX_OK)
		status = check_export(options, err);
	return status == CTX_OK ? check_selecting(options, err) : status;
}
