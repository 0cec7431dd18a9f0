/*
 * What the command lines of ctxan fleet and ctxan push may have.
 */
#include "ctxan/options.h"

static enum ctx_status check_push(const struct ctx_options *options, struct ctx_err *err)
{
	if (options->fleet.to == NULL)
		return ctx_err_set(err, CTX_E_ARG,
				   "push: where to? (ctxan push run.er --to http://HOST:8123)");
	if (options->n_inputs == 0)
		return ctx_err_set(err, CTX_E_ARG, "push: which recordings? (ctxan push run.er --to URL)");
	if (options->n_reports != 0 || options->output.export != NULL ||
	    options->selection.n_intervals != 0 || options->selection.metric != NULL || options->fleet.init)
		return ctx_err_set(err, CTX_E_ARG, "push takes whole recordings, and prints no reports");
	return CTX_OK;
}

/* What selects samples one by one, or says what is done with one recording. */
static enum ctx_status check_asking(const struct ctx_options *options, struct ctx_err *err)
{
	const struct ctx_selection_spec *words = &options->selection;
	const char *other = words->threads != NULL		? "--thread"
			    : words->processes != NULL		? "--process"
			    : words->cpus != NULL		? "--cpu"
			    : words->n_filters != 0		? "--filter"
			    : words->n_indexes != 0		? "--index"
			    : options->browse			? "--browse"
			    : options->output.sql != NULL	? "--sql"
			    : options->output.show_sql		? "--show-sql"
			    : options->baseline.rules != NULL	? "--rules"
			    : options->baseline.archive != NULL ? "--archive"
			    : options->opening.merge		? "--merge"
			    : options->follow.wanted		? "--follow"
			    : options->top_only			? "--coverage"
			    : options->fleet.to != NULL		? "--to"
			    : options->fleet.n_labels != 0	? "--label"
								: NULL;

	if (options->n_inputs == 0)
		return ctx_err_set(err, CTX_E_ARG,
				   "fleet: which? (ctxan fleet http://HOST:8123 service=web)");
	if (other != NULL)
		return ctx_err_set(err, CTX_E_ARG, "a fleet excludes %s", other);
	if (options->fleet.init && options->fleet.check)
		return ctx_err_set(err, CTX_E_ARG, "--init excludes --check");
	if ((options->fleet.init || options->fleet.check) &&
	    (options->n_reports != 0 || options->output.export != NULL || words->n_intervals != 0))
		return ctx_err_set(err, CTX_E_ARG, "--%s prints no reports",
				   options->fleet.init ? "init" : "check");
	if (words->n_intervals > 1 || (words->n_intervals != 0 && options->follow.last_ns != 0))
		return ctx_err_set(err, CTX_E_ARG, "a fleet takes a single interval, --interval or --last");
	if ((options->fleet.cluster != NULL || options->fleet.retain_days != 0) && !options->fleet.init)
		return ctx_err_set(err, CTX_E_ARG, "--%s requires --init",
				   options->fleet.cluster != NULL ? "cluster" : "retain");
	return CTX_OK;
}

static enum ctx_status check_alone(const struct ctx_options *options, struct ctx_err *err)
{
	const char *other = options->fleet.init			 ? "--init"
			    : options->fleet.check		 ? "--check"
			    : options->fleet.to != NULL		 ? "--to"
			    : options->fleet.cluster != NULL	 ? "--cluster"
			    : options->fleet.retain_days != 0	 ? "--retain"
			    : options->fleet.n_labels != 0	 ? "--label"
			    : options->fleet.credentials != NULL ? "--credentials"
								 : NULL;

	return other == NULL ? CTX_OK
			     : ctx_err_set(err, CTX_E_ARG, "%s is for ctxan fleet and ctxan push", other);
}

enum ctx_status ctx_options_check_fleet(const struct ctx_options *options, struct ctx_err *err)
{
	switch (options->fleet.command) {
	case CTX_FLEET_PUSH:
		return check_push(options, err);
	case CTX_FLEET_ASK:
		return check_asking(options, err);
	case CTX_FLEET_NONE:
		break;
	}
	return check_alone(options, err);
}
