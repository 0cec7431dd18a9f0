#include "ctxan/refusals.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

/* Refuses --cpu for reports whose figures cannot be restricted to processors. */
static enum ctx_status check_cpus(const struct ctx_options *options, struct ctx_err *err)
{
	for (size_t i = 0; i < options->n_reports && options->selection.cpus != NULL; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;

		if (kind->no_cpu != NULL)
			return ctx_err_set(err, CTX_E_ARG, "the report '%s' excludes --cpu: %s", kind->name,
					   kind->no_cpu);
	}
	return CTX_OK;
}

/* "functions, tree and index" */
static void list_several(char *names, size_t size)
{
	const struct ctx_report_kind *const *kinds = ctx_report_kinds();
	size_t n = 0, used = 0;

	for (size_t i = 0; kinds[i] != NULL; i++)
		n += kinds[i]->metrics == CTX_REPORT_METRICS;
	for (size_t i = 0, at = 0; kinds[i] != NULL && used < size; i++) {
		if (kinds[i]->metrics != CTX_REPORT_METRICS)
			continue;
		used += (size_t)snprintf(names + used, size - used, "%s%s",
					 at == 0       ? ""
					 : at + 1 == n ? " and "
						       : ", ",
					 kinds[i]->name);
		at++;
	}
}

static enum ctx_status check_metrics(const struct ctx_options *options, const struct ctx_selection *selection,
				     struct ctx_err *err)
{
	char several[CTX_ERR_MAX / 4];

	if (selection->n_metrics == 1)
		return CTX_OK;
	if (options->output.export != NULL)
		return options->output.export->takes_metrics
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_ARG, "--export %s requires a single metric",
					     options->output.export->name);
	if (options->output.show_sql)
		return ctx_err_set(err, CTX_E_ARG, "--show-sql requires a single metric");
	if (options->top_only)
		return ctx_err_set(err, CTX_E_ARG, "--coverage top requires a single metric");
	list_several(several, sizeof(several));
	for (size_t i = 0; i < options->n_reports; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;

		if (kind->metrics == CTX_REPORT_ONE_METRIC)
			return ctx_err_set(err, CTX_E_ARG,
					   "the report '%s' shows one metric; %s show several", kind->name,
					   several);
	}
	return CTX_OK;
}

/* The same for reports of another kind of operations. */
static enum ctx_status check_kind(const struct ctx_report_kind *kind, const struct ctx_expression *filter,
				  struct ctx_err *err)
{
	enum ctx_expression_name name = ctx_expression_asks_operations(filter);

	if (kind->traced == 0 || name == CTX_EXPRESSION_NAMES_N ||
	    (kind->traced & ctx_expression_kinds(name)) != 0)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG,
			   "--filter asks for %s, which operations of the report '%s' do not have",
			   ctx_expression_name(name), kind->name);
}

/* A filter on operations matches no other samples: refused, instead of an empty report. */
static enum ctx_status check_filters(const struct ctx_options *options, const struct ctx_selection *selection,
				     struct ctx_err *err)
{
	bool uses = options->n_reports == 0;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_reports; i++)
		uses |= options->reports[i].kind->metrics != CTX_REPORT_NO_METRIC;
	for (size_t i = 0; i < selection->n_filters && status == CTX_OK; i++) {
		const struct ctx_expression *filter = selection->filters[i];

		if (uses)
			status = ctx_selection_check_asked(selection, selection->profile, "--filter", filter,
							   err);
		for (size_t j = 0; j < options->n_reports && status == CTX_OK; j++)
			status = check_kind(options->reports[j].kind, filter, err);
	}
	return status;
}

enum ctx_status ctx_refusals_check(const struct ctx_options *options, const struct ctx_selection *selection,
				   struct ctx_err *err)
{
	enum ctx_status status = check_metrics(options, selection, err);

	if (status == CTX_OK)
		status = check_cpus(options, err);
	return status == CTX_OK ? check_filters(options, selection, err) : status;
}
