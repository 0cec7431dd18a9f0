#include "ctxan/answer.h"

#include "base/clock.h"
#include "base/mem.h"
#include "ctxan/browsing.h"
#include "ctxan/called.h"
#include "ctxan/data_naming.h"
#include "ctxan/exporting.h"
#include "ctxan/gprofng_names.h"
#include "ctxan/refusals.h"
#include "ctxan/selection_words.h"
#include "ctxan/sql.h"
#include "query/marked.h"
#include "query/metric_choice.h"
#include "query/store_source.h"
#include "report/html_tables.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SORT_MAX 128u
#define SAMPLES_FEW 100u

static double cpu_ms(void)
{
	return (double)ctx_clock_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

/* Runs one command on one database. */
struct answer {
	struct ctx_store *store;
	const struct ctx_options *options;
	struct ctx_selection selection;
	struct ctx_report_source *opened; /* of the store */
	struct ctx_report_source *source; /* of all its reports: that, or without hidden frames */
};

/* --explain is printed to stderr, so that the report is unchanged. */
static void explain(const struct answer *answer, const struct ctx_report_kind *kind, double all_ms)
{
	struct ctx_query_source_cost query = ctx_query_source_take_cost(answer->opened);
	const struct ctx_timetree_cost *cost = &query.tree;
	struct ctx_store_cost store = ctx_store_cost(answer->store);
	const char *report = kind->name;

	fprintf(stderr,
		"explain %s: %" PRIu64 " nodes visited to level %u, %" PRIu64 " skipped unread; %" PRIu64
		" inner nodes taken whole (%" PRIu64 " entries, %" PRIu64 " bytes); %" PRIu64
		" leaves whole, %" PRIu64 " in part, %" PRIu64 " samples enumerated\n",
		report, cost->nodes_visited, cost->depth, cost->nodes_skipped, cost->nodes_whole,
		cost->list_entries, cost->list_bytes, cost->leaves_whole, cost->leaves_partial,
		cost->samples_enumerated);
	if (query.samples_scanned != 0)
		fprintf(stderr, "explain %s: %" PRIu64 " samples scanned for %s\n", report,
			query.samples_scanned,
			ctx_selection_is_filtered(&answer->selection) ? "the filter"
			: kind->needs_key			      ? "the index"
								      : "addresses");
	fprintf(stderr,
		"explain %s: since open %" PRIu64 " tree rows, %" PRIu64 " sample blocks, %" PRIu64
		" bytes of blobs, %" PRIu64
		" database pages; %.3f ms CPU for the query, %.3f ms for the report\n",
		report, store.rows, store.blocks, store.bytes, store.pages, query.cpu_ms,
		all_ms - query.cpu_ms);
}

static enum ctx_status one_report(struct answer *answer, const struct ctx_report_kind *kind,
				  const struct ctx_report_options *options, struct ctx_err *err)
{
	double before = cpu_ms();
	enum ctx_status status = ctx_report_print(kind, answer->source, options, err);

	if (status == CTX_OK && answer->options->explain)
		explain(answer, kind, cpu_ms() - before);
	return status;
}

static enum ctx_status show_sql(const struct ctx_report_kind *kind, const struct ctx_selection *selection,
				FILE *out, struct ctx_err *err)
{
	char *sql CTX_AUTO_FREE = NULL;

	if (selection->n_intervals > 1 || ctx_selection_is_filtered(selection))
		return ctx_err_set(err, CTX_E_ARG,
				   "--show-sql requires a single interval and excludes --cpu and --filter");
	sql = ctx_store_show_sql(kind->name,
				 &(struct ctx_sql_arguments){selection->intervals[0], selection->metrics[0],
							     selection->threads, selection->n_threads});
	if (sql == NULL)
		return ctx_err_set(err, CTX_E_ARG, "no single query gives the numbers of the report '%s'",
				   kind->name);
	fprintf(out, "%s\n", sql);
	return CTX_OK;
}

/* Warns about names that match nothing: a misspelt name silently keeps nothing, or everything. */
static void tell_unfit(const struct ctx_selection *selection, size_t n_filters)
{
	for (size_t i = 0; i < n_filters; i++) {
		struct ctx_expression_unfit unfit;
		size_t at = 0;

		while (ctx_expression_next_unfit(selection->filters[i], &at, &unfit)) {
			fprintf(stderr, "ctxan: --filter: no %s here is called \"", unfit.entity);
			ctx_report_put_name(stderr, unfit.pattern);
			fputs("\" (a regular expression for the whole name)\n", stderr);
		}
	}
}

/*
 * Of several reports one that the recording has nothing for costs only itself: in its place is the
 * reason, for formats that are read by programs on stderr.
 */
static void say_missing(const struct ctx_report_kind *kind, const struct ctx_report_options *report,
			const struct ctx_err *why)
{
	if (report->format == CTX_REPORT_TEXT)
		fprintf(report->out, "%s: %s\n", kind->name, why->msg);
	else
		fprintf(stderr, "ctxan: %s: %s\n", kind->name, why->msg);
}

static enum ctx_status asked_reports(struct answer *answer, struct ctx_err *err)
{
	const struct ctx_options *options = answer->options;
	char sort[SORT_MAX];
	enum ctx_status status = CTX_OK;
	size_t n_missing = 0;

	for (size_t i = 0; status == CTX_OK && i < options->n_reports; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;
		struct ctx_report_options report = options->report;
		struct ctx_gprofng_sort place = {
			.sort = options->report.sort, .buffer = sort, .size = sizeof(sort)};

		report.subject = options->reports[i].subject;
		report.by = options->reports[i].by;
		if (options->reports[i].function != NULL)
			report.function = options->reports[i].function;
		report.no_fold |= options->reports[i].no_fold;
		status = ctx_gprofng_sort_key(&place, kind, &answer->selection, &report.sort, err);
		if (status != CTX_OK)
			return status;
		if (i != 0 && report.format == CTX_REPORT_TEXT)
			fputc('\n', report.out);
		if (options->output.show_sql)
			status = show_sql(kind, &answer->selection, report.out, err);
		else
			status = one_report(answer, kind, &report, err);
		if (status == CTX_E_NOTFOUND && ++n_missing < options->n_reports) {
			say_missing(kind, &report, err);
			status = CTX_OK;
		}
	}
	return status;
}

static enum ctx_status print_reports(struct answer *answer, const char *name, struct ctx_err *err)
{
	const struct ctx_options *options = answer->options;
	struct ctx_buf words CTX_AUTO_BUF = {0};
	struct ctx_data_naming naming = {.objects = {.recording = name,
						     .profile = ctx_store_profile(answer->store),
						     .options = &options->opening}};
	struct ctx_query_source_spec spec = {.store = answer->store,
					     .selection = &answer->selection,
					     .words = &options->selection,
					     .path = name,
					     .top_only = options->top_only,
					     .data_namer = &naming.namer};
	enum ctx_status status;

	ctx_data_naming_init(&naming);
	ctx_selection_words_put(options, &words);
	ctx_buf_put_u8(&words, '\0');
	status = ctx_buf_check(&words, err);
	if (status != CTX_OK)
		return status;
	spec.options = (const char *)words.bytes;
	status = ctx_query_source_open(&spec, &answer->opened, err);
	if (status != CTX_OK)
		return status;
	status = ctx_hiding_source_open(answer->opened, &options->hiding, &answer->source, err);
	if (status != CTX_OK) {
		ctx_query_source_close(answer->opened);
		return status;
	}
	if (options->report.page != NULL)
		ctx_html_tables_recording(options->report.page, ctx_store_profile(answer->store)->name);
	if (options->n_reports == 0)
		status = one_report(answer, ctx_report_find("summary"), &options->report, err);
	else
		status = asked_reports(answer, err);
	if (answer->source != answer->opened)
		ctx_hiding_source_close(answer->source);
	ctx_query_source_close(answer->opened);
	ctx_data_naming_deinit(&naming);
	return status;
}

/* In exports of one metric calls go on while their threads do not run. */
static void show_whole_calls(const struct ctx_profile *profile, const struct ctx_options *options,
			     struct ctx_selection *selection)
{
	if (!options->output.export->takes_metrics &&
	    selection->metrics[0] == ctx_profile_calls_metric(profile) && selection->metrics[0] != CTX_NONE)
		selection->metrics[0] = ctx_profile_elapsed_metric(profile);
}

/* The first screen is of traced calls where there are too few samples to say anything. */
static void look_at_calls(const struct ctx_profile *profile, const struct ctx_options *options,
			  struct ctx_selection *selection)
{
	uint32_t calls = ctx_profile_calls_metric(profile);

	if (options->n_reports == 0 && options->selection.metric == NULL && calls != CTX_NONE &&
	    profile->metrics[calls].samples != 0 &&
	    profile->metrics[selection->metrics[0]].samples < SAMPLES_FEW)
		selection->metrics[0] = calls;
}

/* Reports of several metrics, for which none was chosen. */
static bool shows_elapsed(const struct ctx_options *options)
{
	bool several = false;

	for (size_t i = 0; i < options->n_reports; i++)
		several |= options->reports[i].kind->metrics == CTX_REPORT_METRICS &&
			   !options->reports[i].kind->needs_key;
	return several && options->selection.metric == NULL && options->output.export == NULL &&
	       !options->output.show_sql && !options->top_only && !options->browse;
}

static bool asks_calls(const struct ctx_options *options)
{
	bool asks = false;

	for (size_t i = 0; i < options->n_reports; i++)
		asks |= (options->reports[i].kind->traced & 1u << CTX_TRACED_CALL) != 0;
	return asks;
}

enum ctx_status ctx_answer(struct ctx_store *store, const char *name, const struct ctx_options *options,
			   struct ctx_err *err)
{
	struct answer answer = {.store = store, .options = options};
	struct ctx_selection_spec words = options->selection; /* with the marks of this recording */
	struct ctx_called_words called;
	struct ctx_marked marked;
	enum ctx_status status;

	if (options->output.sql != NULL)
		return ctx_sql_print(store, options->output.sql, options->report.format, options->report.out,
				     err);
	status = ctx_called_replace(store, &words, &called, err);
	if (status != CTX_OK)
		return status;
	status = ctx_marked_load(store, &words, &marked, err);
	if (status == CTX_OK)
		status = ctx_selection_make(&words, ctx_store_profile(store), &answer.selection, err);
	ctx_marked_deinit(&marked);
	ctx_called_deinit(&called);
	if (status == CTX_OK)
		status = ctx_refusals_check(options, &answer.selection, err);
	if (status != CTX_OK) {
		ctx_selection_deinit(&answer.selection);
		return status;
	}
	if (status == CTX_OK && options->output.export != NULL && options->selection.metric == NULL)
		show_whole_calls(ctx_store_profile(store), options, &answer.selection);
	if (shows_elapsed(options))
		status = ctx_metric_choice_add_elapsed(ctx_store_profile(store), &answer.selection.metrics,
						       &answer.selection.n_metrics, err);
	if (status != CTX_OK) {
		ctx_selection_deinit(&answer.selection);
		return status;
	}
	if (!options->browse && options->output.export == NULL && !options->output.show_sql)
		look_at_calls(ctx_store_profile(store), options, &answer.selection);
	if (ctx_selection_widen(&answer.selection, ctx_store_profile(store), asks_calls(options)) &&
	    !options->quiet)
		fputs("ctxan: intervals are widened to whole seconds, of which calls are sums\n", stderr);
	if (!options->quiet)
		tell_unfit(&answer.selection, options->selection.n_filters);
	if (options->browse)
		status = ctx_browsing_answer(store, name, &answer.selection, options, err);
	else if (options->output.export != NULL)
		status = ctx_exporting_answer(store, name, &answer.selection, options, err);
	else if (options->output.show_sql && options->n_reports == 0)
		status = show_sql(ctx_report_find("functions"), &answer.selection, options->report.out, err);
	else
		status = print_reports(&answer, name, err);
	ctx_selection_deinit(&answer.selection);
	return status;
}
