#include "ctxan/options.h"

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

/* What selects, and would be passed over: the answer would be of more than was asked for. */
static enum ctx_status check_selecting(const struct ctx_options *options, struct ctx_err *err)
{
	static const char instead[] = "--filter 'STACK SOME IN \"NAME\"' does it";

	if (options->output.sql != NULL &&
	    (options->selection.n_intervals != 0 || options->selection.threads != NULL ||
	     options->selection.processes != NULL || options->selection.cpus != NULL ||
	     options->selection.n_filters != 0 || options->selection.metric != NULL ||
	     options->report.function != NULL))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--sql selects by itself: it goes without --interval, --thread, --process, "
			"--cpu, --filter, --metric and --function");
	if (options->output.export != NULL && options->report.function != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--export %s goes without --function: %s",
				   options->output.export->name, instead);
	for (size_t i = 0; i < options->n_reports && options->report.function != NULL; i++) {
		if (options->reports[i].kind->no_function)
			return ctx_err_set(err, CTX_E_ARG, "the report '%s' goes without --function: %s",
					   options->reports[i].kind->name, instead);
	}
	return CTX_OK;
}

static enum ctx_status check_export(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->output.export;

	if (kind == NULL)
		return options->output.max_size == 0
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--max-size goes with --export html");
	if (!kind->takes_reports && options->n_reports != 0)
		return ctx_err_set(err, CTX_E_ARG, "--export %s goes without --report", kind->name);
	if (options->output.sql != NULL || options->output.show_sql)
		return ctx_err_set(err, CTX_E_ARG, "--export goes without --sql and --show-sql");
	if (kind->write_directory != NULL && !is_named_like(options->output.path, kind->suffix))
		return ctx_err_set(err, CTX_E_ARG, "--export %s is a directory: -o NAME%s", kind->name,
				   kind->suffix);
	if (options->n_inputs > 1)
		return ctx_err_set(err, CTX_E_ARG, "--export goes with one recording");
	if (options->limit_given || options->per_thread)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--export %s has all rows and threads: it goes without --limit and --per-thread",
			kind->name);
	if (options->output.max_size != 0 && !kind->takes_max_size)
		return ctx_err_set(err, CTX_E_ARG, "--max-size goes with --export html, not with %s",
				   kind->name);
	return CTX_OK;
}

/* Options that contradict each other, or mean nothing. */
enum ctx_status ctx_options_check(const struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status;

	if (options->opening.db != NULL && options->n_inputs > 1)
		return ctx_err_set(err, CTX_E_ARG, "--db goes with one recording");
	if (n_standard_inputs(options) > 1)
		return ctx_err_set(err, CTX_E_ARG, "'-' is there twice: standard input can be read once");
	if (options->opening.db != NULL && options->opening.db[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--db '' is no file name");
	if (options->output.path != NULL && options->output.path[0] == '\0')
		return ctx_err_set(err, CTX_E_ARG, "--output '' is no file name");
	if (options->output.sql != NULL &&
	    strspn(options->output.sql, " \t\r\n;") == strlen(options->output.sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql '' has no statement");
	if (options->selection.by != NULL &&
	    (options->output.export != NULL || options->output.sql != NULL || options->output.show_sql))
		return ctx_err_set(err, CTX_E_ARG,
				   "--by goes with the report index, not with --export and SQL");
	if (options->selection.by != NULL && !ctx_options_has_report(options, "index"))
		return ctx_err_set(err, CTX_E_ARG, "--by goes with the report index");
	if (options->output.sql != NULL && (options->n_reports != 0 || options->output.show_sql))
		return ctx_err_set(err, CTX_E_ARG, "--sql goes without --report and --show-sql");
	if (options->report.format == CTX_REPORT_HTML &&
	    (options->output.sql != NULL || options->output.show_sql || options->output.export != NULL))
		return ctx_err_set(err, CTX_E_ARG,
				   "--format html goes with reports, not with SQL and --export");
	if (options->output.show_sql &&
	    (options->report.function != NULL || options->report.min_percent > 0 || options->limit_given ||
	     options->per_thread || options->top_only))
		return ctx_err_set(
			err, CTX_E_ARG,
			"--show-sql goes without --function, --min-percent, --limit, --per-thread and "
			"--coverage top");
	if (options->report.sort != NULL && options->n_reports == 0)
		return ctx_err_set(err, CTX_E_ARG, "--sort goes with --report");
	status = check_export(options, err);
	return status == CTX_OK ? check_selecting(options, err) : status;
}
