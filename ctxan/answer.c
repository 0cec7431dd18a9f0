#include "ctxan/answer.h"

#include "base/mem.h"
#include "ctxan/exporting.h"
#include "ctxan/gprofng_names.h"
#include "ctxan/sql.h"
#include "query/filters.h"
#include "query/query.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SORT_MAX 128u
#define DEFAULT_FUNCTIONS 10u
#define DEFAULT_STACKS 5u
#define TIMELINE_THREADS 16u
#define TIMELINE_MARGIN 30u /* columns for a thread's name */
#define TIMELINE_MIN 20u
#define TIMELINE_MAX 200u
#define TIMELINE_JSON 100u

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* --explain goes to stderr, so that the report itself stays the same. */
static void explain(const struct ctx_query *query, const char *report, const char *what, double query_ms,
		    double print_ms)
{
	const struct ctx_timetree_cost *cost = &query->cost;
	struct ctx_store_cost store = ctx_store_cost(query->store);

	fprintf(stderr,
		"explain %s: %" PRIu64 " nodes visited to level %u, %" PRIu64 " skipped unread; %" PRIu64
		" inner nodes taken whole (%" PRIu64 " entries, %" PRIu64 " bytes); %" PRIu64
		" leaves whole, %" PRIu64 " in part, %" PRIu64 " samples enumerated\n",
		report, cost->nodes_visited, cost->depth, cost->nodes_skipped, cost->nodes_whole,
		cost->list_entries, cost->list_bytes, cost->leaves_whole, cost->leaves_partial,
		cost->samples_enumerated);
	if (query->samples_scanned != 0)
		fprintf(stderr, "explain %s: %" PRIu64 " samples scanned for %s\n", report,
			query->samples_scanned,
			ctx_selection_is_filtered(query->selection) ? "the filter" : what);
	fprintf(stderr,
		"explain %s: since open %" PRIu64 " tree rows, %" PRIu64 " sample blocks, %" PRIu64
		" bytes of blobs, %" PRIu64
		" database pages; %.3f ms CPU for the query, %.3f ms for the report\n",
		report, store.rows, store.blocks, store.bytes, store.pages, query_ms, print_ms);
}

static size_t slices_wanted(const struct ctx_report_options *options)
{
	size_t width = options->width != 0 ? options->width : 120;

	if (options->format != CTX_REPORT_TEXT)
		return TIMELINE_JSON;
	width = width > TIMELINE_MARGIN + TIMELINE_MIN ? width - TIMELINE_MARGIN : TIMELINE_MIN;
	return width < TIMELINE_MAX ? width : TIMELINE_MAX;
}

/* One command on one database, and what several of its reports share. */
struct answer {
	struct ctx_store *store;
	const char *name;
	const struct ctx_options *options;
	struct ctx_selection selection;
	/* Of reports with needs_code: made by the first of them. */
	const struct ctx_code *code; /* NULL: not made yet */
	struct ctx_histogram raw;
	struct ctx_code_reader reader;
};

static enum ctx_status gather_code(struct answer *answer, struct ctx_query *query,
				   struct ctx_report_input *input, struct ctx_err *err)
{
	const struct ctx_code *code = answer->code;
	enum ctx_status status = CTX_OK;

	if (code == NULL) {
		answer->reader = ctx_store_code_reader(answer->store);
		status = ctx_store_code(answer->store, &code, err);
		if (status == CTX_OK)
			status = ctx_query_raw_histogram(query, input->metric, &answer->raw, err);
		if (status != CTX_OK)
			return status;
		answer->code = code;
	}
	input->code = code;
	input->raw = &answer->raw;
	input->reader = &answer->reader;
	return CTX_OK;
}

/* What a report needs beyond the nouns; everything is released by release(). */
struct material {
	const char *by; /* of the report alone; NULL: as --by says */
	struct ctx_query_parts parts;
	struct ctx_query_index index;
	struct ctx_report_index shown_index;
	struct ctx_report_states *states;
	struct ctx_report_wakers *wakers;
	uint64_t *thread_samples, *thread_weight;
	struct ctx_report_slice *slices;
	struct ctx_report_level *levels;
	struct ctx_traced *traced[CTX_TRACED_N];
};

static void release(struct material *material)
{
	ctx_query_parts_free(&material->parts);
	ctx_query_index_free(&material->index);
	free(material->states);
	free(material->wakers);
	free(material->thread_samples);
	free(material->thread_weight);
	free(material->slices);
	free(material->levels);
	for (unsigned i = 0; i < CTX_TRACED_N; i++)
		free(material->traced[i]);
}

static bool is_whole_run(const struct ctx_query *query)
{
	const struct ctx_selection *selection = query->selection;
	struct ctx_interval run = ctx_store_profile(query->store)->run;

	return !ctx_selection_is_filtered(selection) && selection->threads == NULL &&
	       selection->metrics[0] == 0 && selection->n_intervals == 1 &&
	       ctx_interval_contains(selection->intervals[0], run);
}

static enum ctx_status gather_states(struct ctx_query *query, const struct ctx_report_kind *kind,
				     struct ctx_report_input *input, struct material *material,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (kind->needs_states)
		status = ctx_query_states(query, &material->states, &input->n_states, err);
	input->states = material->states;
	if (status == CTX_OK && kind->needs_wakers)
		status = ctx_query_wakers(query, &material->wakers, &input->n_wakers, err);
	input->wakers = material->wakers;
	input->wait_states = ctx_query_wait_states(query);
	return status;
}

static enum ctx_status gather_traced(struct ctx_query *query, const struct ctx_report_kind *kind,
				     struct ctx_report_input *input, struct material *material,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (unsigned i = 0; i < CTX_TRACED_N && status == CTX_OK; i++) {
		struct ctx_report_traced found = {0};

		if ((kind->needs_traced & 1u << i) == 0)
			continue;
		status = ctx_query_traced(query, (enum ctx_traced_kind)i, &found, err);
		if (status != CTX_OK)
			return status;
		material->traced[i] = (struct ctx_traced *)(uintptr_t)found.items;
		input->traced[i] = found;
	}
	return CTX_OK;
}

/* Keys that are ids have names. */
static enum ctx_index_noun noun_of(const char *text)
{
	static const struct {
		enum ctx_expression_name name;
		enum ctx_index_noun noun;
	} nouns[] = {{CTX_NAME_THRID, CTX_INDEX_THREAD},       {CTX_NAME_PROCID, CTX_INDEX_PROCESS},
		     {CTX_NAME_METRIC, CTX_INDEX_METRIC},      {CTX_NAME_STATE, CTX_INDEX_STATE},
		     {CTX_NAME_IOFNAME, CTX_INDEX_FILE},       {CTX_NAME_HTYPE, CTX_INDEX_HEAP_OPERATION},
		     {CTX_NAME_IOTYPE, CTX_INDEX_IO_OPERATION}};
	enum ctx_expression_name name = ctx_expression_find_name(text, strlen(text));

	for (size_t i = 0; i < CTX_COUNT_OF(nouns); i++) {
		if (name == nouns[i].name)
			return nouns[i].noun;
	}
	return CTX_INDEX_NUMBER;
}

static enum ctx_status gather_index(struct ctx_query *query, const struct ctx_options *options,
				    struct ctx_report_input *input, struct material *material,
				    struct ctx_err *err)
{
	struct ctx_index_key key;
	enum ctx_status status = ctx_index_key_find(&options->selection, material->by, &key, err);

	if (status == CTX_OK)
		status = ctx_query_index(query, key.text, &material->index, err);
	if (status != CTX_OK)
		return status;
	material->shown_index = (struct ctx_report_index){
		.title = key.is_word ? key.name : NULL,
		.noun = noun_of(key.text),
		.keys = material->index.keys,
		.n = material->index.n,
		.sums = material->index.sums,
		.totals = material->index.totals,
	};
	input->index = &material->shown_index;
	return CTX_OK;
}

static enum ctx_status gather(struct ctx_query *query, const struct ctx_report_kind *kind,
			      const struct ctx_options *options, struct ctx_report_input *input,
			      struct material *material, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (kind->needs_parts) {
		const struct ctx_query_metrics metrics = {query->selection->metrics, 1 + input->n_more};

		status = ctx_query_parts(query, &metrics, options->per_thread, &material->parts, err);
		input->parts = material->parts.parts;
		input->n_parts = material->parts.n;
	}
	if (status == CTX_OK && input->profile->has_states && (kind->needs_states || kind->needs_wakers))
		status = gather_states(query, kind, input, material, err);
	if (status == CTX_OK && kind->needs_traced != 0)
		status = gather_traced(query, kind, input, material, err);
	if (status == CTX_OK && kind->needs_index)
		status = gather_index(query, options, input, material, err);
	if (status == CTX_OK && kind->needs_thread_sums && !is_whole_run(query)) {
		status = ctx_query_thread_sums(query, input->metric, &material->thread_samples,
					       &material->thread_weight, err);
		input->thread_samples = material->thread_samples;
		input->thread_weight = material->thread_weight;
	}
	if (status == CTX_OK && kind->needs_slices) {
		size_t threads = options->limit_given && options->report.limit != 0 ? options->report.limit
										    : TIMELINE_THREADS;

		struct ctx_query_slicing slicing = {
			.metric = input->metric,
			.per_thread = slices_wanted(&options->report),
			.max_threads = threads,
		};

		input->slices_per_thread = slicing.per_thread;
		status = ctx_query_slices(query, &slicing, &material->slices, &input->n_slices, err);
		input->slices = material->slices;
		if (status == CTX_OK)
			status = ctx_query_levels(query, input->metric, &material->levels, &input->n_levels,
						  err);
		input->levels = material->levels;
	}
	input->omitted_weight = query->cost.omitted_weight;
	input->omitted_samples = query->cost.omitted_samples;
	input->omitted_largest = query->cost.omitted_largest;
	return status;
}

static enum ctx_status one_report(struct answer *answer, const struct ctx_report_kind *kind, const char *by,
				  const struct ctx_report_options *report_options, struct ctx_err *err)
{
	const struct ctx_selection *selection = &answer->selection;
	const struct ctx_options *options = answer->options;
	struct ctx_query query;
	struct ctx_report_input input = {
		.profile = ctx_store_profile(answer->store),
		.path = answer->name,
		.intervals = selection->intervals,
		.n_intervals = selection->n_intervals,
		.threads = selection->threads,
		.n_threads = selection->n_threads,
		.filter = selection->filter,
		.metric = selection->metrics[0],
		.more_metrics = selection->metrics + 1,
		.n_more = kind->many_metrics ? selection->n_metrics - 1 : 0,
	};
	struct material material = {.by = by};
	double before = cpu_ms(), between;
	enum ctx_status status;

	ctx_query_init(&query, answer->store, selection,
		       (options->top_only ? CTX_TIMETREE_TOP_ONLY : 0u) |
			       (kind->needs_calls ? 0u : CTX_TIMETREE_NO_CALLS));
	status = gather(&query, kind, options, &input, &material, err);
	if (status == CTX_OK && kind->needs_code)
		status = gather_code(answer, &query, &input, err);
	between = cpu_ms();
	if (status == CTX_OK)
		status = kind->print(&input, report_options, err);
	if (status == CTX_OK && options->explain)
		explain(&query, kind->name, kind->needs_index ? "the index" : "addresses", between - before,
			cpu_ms() - between);
	release(&material);
	ctx_query_deinit(&query);
	return status;
}

static enum ctx_status default_reports(struct answer *answer, struct ctx_err *err)
{
	static const struct {
		const char *name;
		uint32_t limit;
	} defaults[] = {{"header", 0}, {"functions", DEFAULT_FUNCTIONS}, {"stacks", DEFAULT_STACKS}};

	for (size_t i = 0; i < CTX_COUNT_OF(defaults); i++) {
		struct ctx_report_options report = answer->options->report;
		enum ctx_status status;

		if (!answer->options->limit_given)
			report.limit = defaults[i].limit;
		if (i != 0 && report.format == CTX_REPORT_TEXT)
			fputc('\n', report.out);
		status = one_report(answer, ctx_report_find(defaults[i].name), NULL, &report, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static enum ctx_status show_sql(const struct ctx_report_kind *kind, const struct ctx_selection *selection,
				FILE *out, struct ctx_err *err)
{
	char *sql CTX_AUTO_FREE = NULL;

	if (selection->n_intervals > 1 || ctx_selection_is_filtered(selection))
		return ctx_err_set(err, CTX_E_ARG,
				   "--show-sql goes with one interval and without --cpu and --filter");
	sql = ctx_store_show_sql(kind->name,
				 &(struct ctx_sql_arguments){selection->intervals[0], selection->metrics[0],
							     selection->threads, selection->n_threads});
	if (sql == NULL)
		return ctx_err_set(err, CTX_E_ARG, "no single query gives the numbers of the report '%s'",
				   kind->name);
	fprintf(out, "%s\n", sql);
	return CTX_OK;
}

/* Its waits have no processor: a figure that looks as if it were of one would be wrong. */
static enum ctx_status check_cpus(const struct ctx_options *options, struct ctx_err *err)
{
	for (size_t i = 0; i < options->n_reports && options->selection.cpus != NULL; i++) {
		if (options->reports[i].kind->needs_wakers)
			return ctx_err_set(err, CTX_E_ARG,
					   "the report '%s' goes without --cpu: who waits is on none",
					   options->reports[i].kind->name);
	}
	return CTX_OK;
}

static enum ctx_status check_metrics(const struct ctx_options *options, const struct ctx_selection *selection,
				     struct ctx_err *err)
{
	if (selection->n_metrics == 1)
		return CTX_OK;
	if (options->output.export != NULL)
		return ctx_err_set(err, CTX_E_ARG, "--export goes with one metric");
	if (options->output.show_sql)
		return ctx_err_set(err, CTX_E_ARG, "--show-sql goes with one metric");
	if (options->top_only)
		return ctx_err_set(err, CTX_E_ARG, "--coverage top goes with one metric");
	for (size_t i = 0; i < options->n_reports; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;

		if (!kind->many_metrics && !kind->any_metric)
			return ctx_err_set(err, CTX_E_ARG,
					   "the report '%s' shows one metric; functions, tree, "
					   "callers-callees and index show several",
					   kind->name);
	}
	return CTX_OK;
}

static bool uses_metric(const struct ctx_report_kind *kind)
{
	return kind->needs_parts || kind->needs_thread_sums || kind->needs_slices || kind->needs_index ||
	       kind->needs_code;
}

/* The same of reports of operations that are of another kind. */
static enum ctx_status check_kind(const struct ctx_report_kind *kind, const struct ctx_expression *filter,
				  struct ctx_err *err)
{
	enum ctx_expression_name name = ctx_expression_asks_operations(filter);

	if (kind->needs_traced == 0 || name == CTX_EXPRESSION_NAMES_N ||
	    (kind->needs_traced & ctx_expression_kinds(name)) != 0)
		return CTX_OK;
	return ctx_err_set(err, CTX_E_ARG,
			   "--filter asks for %s, which operations of the report '%s' do not have",
			   ctx_expression_name(name), kind->name);
}

/* A filter on operations leaves nothing of samples that are none: better said than shown as an empty report. */
static enum ctx_status check_filters(const struct ctx_options *options, const struct ctx_selection *selection,
				     const struct ctx_profile *profile, struct ctx_err *err)
{
	bool uses = options->n_reports == 0;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < options->n_reports; i++)
		uses |= uses_metric(options->reports[i].kind);
	for (size_t i = 0; i < selection->n_filters && status == CTX_OK; i++) {
		const struct ctx_expression *filter = selection->filters[i];

		if (uses)
			status = ctx_selection_check_asked(selection, profile, "--filter", filter, err);
		for (size_t j = 0; j < options->n_reports && status == CTX_OK; j++)
			status = check_kind(options->reports[j].kind, filter, err);
	}
	return status;
}

/* A misspelt name keeps nothing, or everything, without a word. */
static void tell_unfit(const struct ctx_selection *selection)
{
	for (size_t i = 0; i < selection->n_filters; i++) {
		struct ctx_expression_unfit unfit;
		size_t at = 0;

		while (ctx_expression_next_unfit(selection->filters[i], &at, &unfit)) {
			fprintf(stderr, "ctxan: --filter: no %s here is called \"", unfit.noun);
			ctx_report_put_name(stderr, unfit.pattern);
			fputs("\" (a regular expression for the whole name)\n", stderr);
		}
	}
}

static enum ctx_status asked_reports(struct answer *answer, struct ctx_err *err)
{
	const struct ctx_options *options = answer->options;
	char sort[SORT_MAX];
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; status == CTX_OK && i < options->n_reports; i++) {
		const struct ctx_report_kind *kind = options->reports[i].kind;
		struct ctx_report_options report = options->report;

		report.subject = options->reports[i].subject;
		if (options->reports[i].function != NULL)
			report.function = options->reports[i].function;
		status = ctx_gprofng_sort_key(options->report.sort, kind, ctx_store_profile(answer->store),
					      &answer->selection, sort, sizeof(sort), &report.sort, err);
		if (status != CTX_OK)
			return status;
		if (i != 0 && report.format == CTX_REPORT_TEXT)
			fputc('\n', report.out);
		if (options->output.show_sql)
			status = show_sql(kind, &answer->selection, report.out, err);
		else
			status = one_report(answer, kind, options->reports[i].by, &report, err);
	}
	return status;
}

enum ctx_status ctx_answer(struct ctx_store *store, const char *name, const struct ctx_options *options,
			   struct ctx_err *err)
{
	struct answer answer = {.store = store, .name = name, .options = options};
	enum ctx_status status;

	if (options->output.sql != NULL)
		return ctx_sql_print(store, options->output.sql, options->report.format, options->report.out,
				     err);
	status = ctx_selection_make(&options->selection, ctx_store_profile(store), &answer.selection, err);
	if (status == CTX_OK)
		status = check_metrics(options, &answer.selection, err);
	if (status == CTX_OK)
		status = check_cpus(options, err);
	if (status == CTX_OK)
		status = check_filters(options, &answer.selection, ctx_store_profile(store), err);
	if (status != CTX_OK) {
		ctx_selection_deinit(&answer.selection);
		return status;
	}
	if (!options->quiet)
		tell_unfit(&answer.selection);
	if (options->output.export != NULL)
		status = ctx_exporting_answer(store, name, &answer.selection, options, err);
	else if (options->output.show_sql && options->n_reports == 0)
		status = show_sql(ctx_report_find("functions"), &answer.selection, options->report.out, err);
	else if (options->n_reports == 0)
		status = default_reports(&answer, err);
	else
		status = asked_reports(&answer, err);
	ctx_histogram_deinit(&answer.raw);
	ctx_selection_deinit(&answer.selection);
	return status;
}
