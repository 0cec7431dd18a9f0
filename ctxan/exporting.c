#include "ctxan/exporting.h"

#include "base/mem.h"
#include "ctxan/exporting_places.h"
#include "query/span_edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* What the samples are handed out through: filters that the tree does not have. */
struct sieve {
	struct ctx_store *store;
	const struct ctx_selection *selection;
	const struct ctx_interval *intervals; /* borrowed */
	size_t n_intervals;
	bool *selected; /* owned; by thread; NULL: all */
	struct ctx_interval
		interval; /* that is being handed out; spans are cut at its begin (they end in it) */
	bool counts;	  /* the samples of the metric are counted: each weighs 1 */
	ctx_export_sample_fn each;
	void *each_context;
};

static enum ctx_status pass(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct sieve *sieve = context;

	if (!ctx_selection_has(sieve->selection, sample))
		return CTX_OK;
	if (sieve->selected != NULL && !sieve->selected[sample->thread])
		return CTX_OK;
	if (sieve->counts) {
		struct ctx_sample one = *sample;

		one.weight = 1;
		return sieve->each(sieve->each_context, &one, err);
	}
	return sieve->each(sieve->each_context, sample, err);
}

static enum ctx_status hand_out_metric(void *context, uint32_t metric, uint32_t thread,
				       ctx_export_sample_fn each, void *each_context, struct ctx_err *err)
{
	struct sieve *sieve = context;
	const struct ctx_tree_info *tree = ctx_store_find_tree(sieve->store, thread, metric);
	enum ctx_status status = CTX_OK;

	sieve->each = each;
	sieve->each_context = each_context;
	sieve->counts = false;
	for (size_t i = 0; tree != NULL && i < sieve->n_intervals && status == CTX_OK; i++)
		status = ctx_store_scan(sieve->store, tree->id,
					&(struct ctx_store_scan){sieve->intervals[i], pass, sieve}, err);
	return status;
}

/* A span that ends in the interval may have begun before it. */
static enum ctx_status pass_part(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct sieve *sieve = context;
	const struct ctx_profile *profile = ctx_store_profile(sieve->store);
	struct ctx_sample part = *sample;

	if (profile->metrics[sample->metric].spans && !ctx_sample_clip(&part, sieve->interval))
		return CTX_OK;
	return pass(context, &part, err);
}

/* The spans of one thread that go on behind the interval: their parts end with its last nanosecond, behind all others. */
static enum ctx_status hand_out_last(struct sieve *sieve, struct ctx_query *query, uint32_t thread,
				     const uint32_t *metrics, size_t n, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(sieve->store);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		const struct ctx_span_scope scope = {metrics[i], thread, sieve->interval};
		struct ctx_span_edges edges;

		if (!profile->metrics[metrics[i]].spans)
			continue;
		status = ctx_span_edges_find(query, &scope, &edges, err);
		if (status == CTX_OK && edges.last.weight != 0)
			status = pass(sieve, &edges.last, err);
	}
	return status;
}

static enum ctx_status hand_out_interval(struct sieve *sieve, struct ctx_query *query, uint32_t thread,
					 const uint32_t *metrics, size_t n, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(sieve->store);
	uint32_t *trees CTX_AUTO_FREE = ctx_calloc(n, sizeof(*trees));
	enum ctx_status status;
	size_t n_trees = 0;

	if (trees == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_tree_info *tree = ctx_store_find_tree(sieve->store, thread, metrics[i]);

		if (tree != NULL)
			trees[n_trees++] = tree->id;
	}
	status = ctx_store_scan_merged(sieve->store, trees, n_trees,
				       &(struct ctx_store_scan){sieve->interval, pass_part, sieve}, err);
	if (thread != CTX_NONE)
		return status == CTX_OK ? hand_out_last(sieve, query, thread, metrics, n, err) : status;
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++)
		status = hand_out_last(sieve, query, i, metrics, n, err);
	return status;
}

static enum ctx_status hand_out(void *context, uint32_t thread, ctx_export_sample_fn each, void *each_context,
				struct ctx_err *err)
{
	struct sieve *sieve = context;
	struct ctx_query query;
	size_t n;
	const uint32_t *metrics =
		ctx_query_base_metrics(ctx_store_profile(sieve->store), sieve->selection->metrics, &n);
	enum ctx_status status = CTX_OK;

	ctx_query_init(&query, sieve->store, sieve->selection, 0);
	sieve->each = each;
	sieve->each_context = each_context;
	sieve->counts =
		n != 0 && ctx_store_profile(sieve->store)->metrics[sieve->selection->metrics[0]].counts;
	for (size_t i = 0; i < sieve->n_intervals && status == CTX_OK; i++) {
		sieve->interval = sieve->intervals[i];
		status = hand_out_interval(sieve, &query, thread, metrics, n, err);
	}
	ctx_query_deinit(&query);
	return status;
}

/* A kind that has the whole run gets all of it, whatever is selected. */
static enum ctx_status make_sieve(struct ctx_store *store, const struct ctx_selection *selection,
				  bool whole_run, struct sieve *sieve, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(store);

	*sieve = (struct sieve){.store = store,
				.selection = selection,
				.intervals = whole_run ? &profile->run : selection->intervals,
				.n_intervals = whole_run ? 1 : selection->n_intervals};
	return whole_run ? CTX_OK : ctx_selection_mark_threads(selection, profile, &sieve->selected, err);
}

static void remark(void *context, const char *text)
{
	const struct ctx_options *options = context;

	if (!options->quiet)
		fprintf(stderr, "ctxan: %s: %s\n", options->output.export->name, text);
}

/* Without a source file there are no lines, and nothing is worth a scan. */
static enum ctx_status gather_code(struct ctx_query *query, struct ctx_export_input *input,
				   struct ctx_code_reader *reader, struct ctx_histogram *raw,
				   struct ctx_err *err)
{
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(query->store, &code, err);

	if (status != CTX_OK || code->n_files == 0)
		return status;
	status = ctx_query_raw_histogram(query, input->metric, raw, err);
	*reader = ctx_store_code_reader(query->store);
	input->code = code;
	input->raw = raw;
	input->reader = reader;
	return status;
}

/* Of kinds with needs_places. */
struct places {
	struct ctx_mapping_info *mappings;
	struct ctx_export_objects objects;
	struct ctx_code_reader reader;
};

static enum ctx_status gather_places(struct ctx_query *query, const struct ctx_options *options,
				     struct ctx_export_input *input, struct places *places,
				     struct ctx_err *err)
{
	enum ctx_status status = ctx_store_code(query->store, &input->code, err);

	if (status == CTX_OK)
		status = ctx_export_mappings(query->store, &places->mappings, &input->n_mappings, err);
	if (status == CTX_OK)
		status = ctx_export_objects_open(&places->objects, input->path, input->profile,
						 &options->opening, err);
	places->reader = ctx_store_code_reader(query->store);
	input->reader = &places->reader;
	input->mappings = places->mappings;
	input->object_file = ctx_export_objects_read;
	input->object_context = &places->objects;
	return status;
}

static enum ctx_status write_export(struct ctx_query *query, const struct ctx_options *options,
				    struct ctx_export_input *input, struct ctx_err *err)
{
	const struct ctx_export_kind *kind = options->output.export;
	const struct ctx_query_metrics metrics = {&input->metric, 1};
	struct ctx_query_parts whole = {0}, parts = {0};
	struct ctx_export_part *list CTX_AUTO_FREE = NULL;
	struct ctx_code_reader reader;
	struct ctx_histogram raw = {0};
	struct places places = {0};
	enum ctx_status status = CTX_OK;

	if (kind->needs_whole)
		status = ctx_query_parts(query, &metrics, false, &whole, err);
	if (status == CTX_OK && kind->needs_parts)
		status = ctx_query_parts(query, &metrics, true, &parts, err);
	if (status == CTX_OK && kind->needs_code)
		status = gather_code(query, input, &reader, &raw, err);
	if (status == CTX_OK && kind->needs_places)
		status = gather_places(query, options, input, &places, err);
	list = ctx_calloc(parts.n, sizeof(*list));
	if (status == CTX_OK && list == NULL)
		status = ctx_err_nomem(err);
	if (status == CTX_OK) {
		for (size_t i = 0; i < parts.n; i++)
			list[i] = (struct ctx_export_part){parts.parts[i].thread, parts.parts[i].histogram};
		input->whole = whole.n != 0 ? whole.parts[0].histogram : NULL;
		input->parts = list;
		input->n_parts = parts.n;
		status = kind->write_directory != NULL
				 ? kind->write_directory(input, options->output.directory, err)
				 : kind->write(input, options->report.out, err);
	}
	ctx_query_parts_free(&whole);
	ctx_query_parts_free(&parts);
	ctx_histogram_deinit(&raw);
	ctx_export_objects_close(&places.objects);
	free(places.mappings);
	return status;
}

enum ctx_status ctx_exporting_answer(struct ctx_store *store, const char *name,
				     const struct ctx_selection *selection, const struct ctx_options *options,
				     struct ctx_err *err)
{
	struct ctx_query query;
	struct ctx_export_input input = {
		.profile = ctx_store_profile(store),
		.path = name,
		.intervals = selection->intervals,
		.n_intervals = selection->n_intervals,
		.threads = selection->threads,
		.n_threads = selection->n_threads,
		.filter = selection->filter,
		.metric = selection->metrics[0],
		.samples = hand_out,
		.metric_samples = hand_out_metric,
		.remark = remark,
	};
	const char **names CTX_AUTO_FREE = ctx_calloc(options->n_reports, sizeof(*names));
	struct ctx_options shown = *options;
	struct sieve sieve;
	enum ctx_status status;

	if (names == NULL)
		return ctx_err_nomem(err);
	if (selection->asks_operations)
		return ctx_err_set(
			err, CTX_E_ARG,
			"--export goes without filters that ask for traced operations (HSIZE, IOFD, ...)");
	for (size_t i = 0; i < options->n_reports; i++)
		names[i] = options->reports[i].kind->name;
	if (options->output.export->binary && options->output.path == NULL && isatty(STDOUT_FILENO))
		return ctx_err_set(err, CTX_E_ARG, "--export %s is not for a terminal: use -o FILE%s",
				   options->output.export->name, options->output.export->suffix);
	status = make_sieve(store, selection, options->output.export->whole_run, &sieve, err);
	if (status != CTX_OK)
		return status;
	input.max_bytes = options->output.max_size;
	input.samples_context = &sieve;
	input.reports = names;
	input.n_reports = options->n_reports;
	input.remark_context = &shown;
	ctx_query_init(&query, store, selection, 0);
	status = write_export(&query, options, &input, err);
	ctx_query_deinit(&query);
	free(sieve.selected);
	return status;
}
