#include "ctxan/comparing_browse.h"

#include "base/mem.h"
#include "browse/browse.h"
#include "ctxan/comparing.h"

#include <stdlib.h>
#include <string.h>

static const char *const usual[] = {"functions", "tree", "callers-callees", "objects", "threads",
				    "states",	 "waits"};

struct table {
	const struct ctx_compared *compared;
	const char *function; /* of --report tree=NAME; NULL: all */
};

struct browsed {
	struct ctx_comparing *comparing;
	const struct ctx_options *options;
	struct table *tables; /* owned */
	const char **titles;  /* owned; the texts are borrowed */
	size_t n, tables_cap, titles_cap;
};

static enum ctx_status print(void *context, size_t table, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct browsed *browsed = context;
	const struct ctx_report_options *given = &browsed->options->report;
	struct ctx_report_options report = *options;

	report.function =
		browsed->tables[table].function != NULL ? browsed->tables[table].function : given->function;
	report.limit = given->limit;
	report.depth = given->depth;
	report.no_fold = given->no_fold;
	report.min_percent = given->min_percent;
	report.min_percent_given = given->min_percent_given;
	return ctx_comparing_print(browsed->comparing, browsed->tables[table].compared, &report, err);
}

/* The tables of a report but those of which neither side has anything; one of them says so. */
static enum ctx_status add(struct browsed *browsed, const char *report, const char *function,
			   struct ctx_err *err)
{
	size_t n;
	const struct ctx_compared *tables = ctx_compared_of(report, &n);

	for (size_t i = 0; i < n; i++) {
		enum ctx_status status;

		if (i != 0 && !ctx_comparing_has_metric(browsed->comparing, tables[i].metric))
			continue;
		status = ctx_grow(&browsed->tables, &browsed->tables_cap, browsed->n + 1, err);
		if (status == CTX_OK)
			status = ctx_grow(&browsed->titles, &browsed->titles_cap, browsed->n + 1, err);
		if (status != CTX_OK)
			return status;
		browsed->tables[browsed->n] = (struct table){&tables[i], function};
		browsed->titles[browsed->n++] =
			tables[i].metric != NULL ? tables[i].metric : tables[i].report;
	}
	return CTX_OK;
}

static enum ctx_status add_all(struct browsed *browsed, struct ctx_err *err)
{
	const struct ctx_options *options = browsed->options;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(usual) && options->n_reports == 0 && status == CTX_OK; i++)
		status = add(browsed, usual[i], NULL, err);
	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++)
		status = add(browsed, options->reports[i].kind->name, options->reports[i].function, err);
	return status;
}

static enum ctx_status browse(struct browsed *browsed, struct ctx_err *err)
{
	const struct ctx_options *options = browsed->options;
	const struct ctx_browse_options shown = {.ascii = options->report.ascii,
						 .color = options->report.color};
	const struct ctx_sides_host host = {
		.context = browsed,
		.names = {options->inputs[0], options->inputs[options->n_inputs - 1]},
		.tables = browsed->titles,
		.n_tables = browsed->n,
		.print = print};

	return ctx_browse_sides(&host, &shown, err);
}

enum ctx_status ctx_comparing_browse(const struct ctx_options *options, struct ctx_err *err)
{
	struct browsed browsed = {.options = options};
	enum ctx_status status = ctx_comparing_open(options, NULL, &browsed.comparing, err);

	if (status != CTX_OK)
		return status;
	status = add_all(&browsed, err);
	if (status == CTX_OK)
		status = browse(&browsed, err);
	ctx_comparing_close(browsed.comparing);
	free(browsed.tables);
	free(browsed.titles);
	return status;
}
