#include "ctxan/fleet_answer.h"

#include "base/clock.h"
#include "ctxan/exporting.h"
#include "ctxan/fleet_difference.h"
#include "ctxan/fleet_login.h"
#include "ctxan/refusals.h"
#include "fleet/fleet_index.h"
#include "fleet/fleet_schema.h"
#include "fleet/fleet_source.h"
#include "fleet/where.h"
#include "query/metric_choice.h"
#include "query/selection.h"
#include "report/html_tables.h"

#include <stdlib.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* "2026-11-21T10:00:2026-11-21T11:00"; either may be missing: from the first recording on, up to the last. */
static enum ctx_status read_interval(const char *text, struct ctx_interval *ret, struct ctx_err *err)
{
	const char *at = text;
	struct ctx_interval interval = {0, (uint64_t)UINT32_MAX * NS_PER_S};
	bool is_good = *at == ':' || ctx_where_take_time(&at, &interval.begin_ns);

	is_good = is_good && *at++ == ':';
	is_good = is_good && (*at == '\0' || ctx_where_take_time(&at, &interval.end_ns));
	if (!is_good || *at != '\0')
		return ctx_err_set(err, CTX_E_ARG,
				   "--interval '%s': of a fleet it has times of day in UTC, "
				   "2026-11-21T10:00:2026-11-21T11:00:30",
				   text);
	if (ctx_interval_is_empty(interval))
		return ctx_err_set(err, CTX_E_ARG, "--interval '%s' is empty", text);
	*ret = interval;
	return CTX_OK;
}

static enum ctx_status choose(const struct ctx_options *options, struct ctx_fleet_choice_spec *choice,
			      struct ctx_err *err)
{
	uint64_t now_s = ctx_clock_ns(CLOCK_REALTIME) / NS_PER_S, last_s = options->follow.last_ns / NS_PER_S;

	choice->terms = options->inputs + 1;
	choice->n_terms = options->n_inputs - 1;
	choice->has_interval = options->selection.n_intervals != 0 || options->follow.last_ns != 0;
	if (options->selection.n_intervals != 0)
		return read_interval(options->selection.intervals[0], &choice->interval, err);
	choice->interval.begin_ns = last_s < now_s ? (now_s - last_s) * NS_PER_S : 0;
	choice->interval.end_ns = (now_s + 1) * NS_PER_S;
	return CTX_OK;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_options *options,
			     struct ctx_err *err)
{
	const struct ctx_option_report usual = {.kind = ctx_report_find("functions")};
	size_t n = options->n_reports != 0 ? options->n_reports : 1;
	enum ctx_status status = CTX_OK;

	if (options->report.page != NULL)
		ctx_html_tables_recording(options->report.page, source->selection.profile->name);
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		const struct ctx_option_report *wanted =
			options->n_reports != 0 ? &options->reports[i] : &usual;
		struct ctx_report_options report = options->report;

		report.subject = wanted->subject;
		report.by = wanted->by;
		if (wanted->function != NULL)
			report.function = wanted->function;
		report.no_fold |= wanted->no_fold;
		if (i != 0 && report.format == CTX_REPORT_TEXT)
			fputc('\n', report.out);
		status = ctx_report_print(wanted->kind, source, &report, err);
	}
	return status;
}

static enum ctx_status show(struct ctx_report_source *source, const struct ctx_options *options,
			    struct ctx_err *err)
{
	struct ctx_report_source *shown;
	enum ctx_status status = ctx_hiding_source_open(source, &options->hiding, &shown, err);

	if (status != CTX_OK)
		return status;
	if (options->output.export == NULL)
		status = print(shown, options, err);
	else if ((status = ctx_exporting_check_terminal(options, err)) == CTX_OK)
		status = ctx_exporting_difference(shown, options, err);
	if (shown != source)
		ctx_hiding_source_close(shown);
	return status;
}

/* The metrics of the command line, of those that the recordings have. */
static enum ctx_status load(struct ctx_report_source *source, const struct ctx_options *options,
			    struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_selection selection = {.profile = profile};
	enum ctx_status status = ctx_metric_choice_read(&options->selection, profile, &selection.metrics,
							&selection.n_metrics, err);

	if (status == CTX_OK)
		status = ctx_refusals_check(options, &selection, err);
	if (status == CTX_OK)
		status = ctx_fleet_source_load(source, selection.metrics, selection.n_metrics,
					       ctx_options_has_report(options, "waits"), err);
	free(selection.metrics);
	return status;
}

static enum ctx_status ask(const struct ctx_fleet_source_spec *spec, const struct ctx_options *options,
			   struct ctx_err *err)
{
	struct ctx_report_source *source;
	enum ctx_status status = ctx_fleet_source_open(spec, &source, err);

	if (status != CTX_OK)
		return status;
	status = load(source, options, err);
	if (status == CTX_OK)
		status = show(source, options, err);
	ctx_fleet_source_close(source);
	return status;
}

/* With the tests of call stacks of the command line. */
static enum ctx_status ask_tested(struct ctx_fleet_source_spec *spec, const struct ctx_options *options,
				  struct ctx_err *err)
{
	const struct ctx_selection_spec *words = &options->selection;
	const char **tests CTX_AUTO_FREE = ctx_calloc(words->n_tests + 1, sizeof(*tests));
	struct ctx_buf filter CTX_AUTO_BUF = {0};
	enum ctx_status status = tests != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < words->n_tests && status == CTX_OK; i++)
		tests[i] = words->tests[i].expression;
	ctx_selection_put_filters(words, &filter);
	ctx_buf_put_u8(&filter, '\0');
	if (status == CTX_OK)
		status = ctx_buf_check(&filter, err);
	if (status != CTX_OK)
		return status;
	spec->tests = tests;
	spec->n_tests = words->n_tests;
	spec->filter = (const char *)filter.bytes;
	return options->diff.wanted ? ctx_fleet_difference(spec, options, err) : ask(spec, options, err);
}

static enum ctx_status check_keys(const struct ctx_options *options, struct ctx_err *err)
{
	enum ctx_status status =
		options->selection.by != NULL ? ctx_fleet_index_check(options->selection.by, err) : CTX_OK;

	for (size_t i = 0; i < options->n_reports && status == CTX_OK; i++) {
		if (options->reports[i].by != NULL)
			status = ctx_fleet_index_check(options->reports[i].by, err);
	}
	return status;
}

enum ctx_status ctx_fleet_answer(struct ctx_options *options, struct ctx_err *err)
{
	struct ctx_http_client *client;
	struct ctx_fleet_server server;
	struct ctx_fleet_state state;
	struct ctx_fleet_source_spec spec = {.server = &server, .options = ""};
	enum ctx_status status = choose(options, &spec.choice, err);

	if (status == CTX_OK)
		status = check_keys(options, err);
	if (status != CTX_OK)
		return status;
	spec.by = options->selection.by;
	status = ctx_fleet_login(options->inputs[0], options->fleet.credentials, &client, err);
	if (status != CTX_OK)
		return status;
	spec.path = ctx_http_client_name(client);
	server = ctx_http_client_server(client);
	status = ctx_fleet_schema_check(&server, &state, err);
	if (status == CTX_OK)
		status = ask_tested(&spec, options, err);
	ctx_http_client_close(client);
	return status;
}
