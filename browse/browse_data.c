#include "browse/browse_data.h"

#include "base/mem.h"

#define STEP_SAMPLES 100000u /* of a step of counting addresses, about */

enum ctx_status ctx_browse_data_init(struct ctx_browse_data *data, const struct ctx_browse_host *host,
				     bool ascii, struct ctx_err *err)
{
	*data = (struct ctx_browse_data){.host = host,
					 .ascii = ascii,
					 .interval = host->interval,
					 .thread = CTX_NONE,
					 .metric = host->metric,
					 .subject = CTX_NONE};
	if (!host->profile->has_states)
		return CTX_OK;
	data->state_metrics = ctx_calloc(CTX_STATE_N, sizeof(*data->state_metrics));
	if (data->state_metrics == NULL)
		return ctx_err_nomem(err);
	for (unsigned i = 0; i < CTX_STATE_N; i++)
		data->state_metrics[i] = ctx_profile_state_metric(host->profile, (enum ctx_thread_state)i);
	return CTX_OK;
}

static void close_one(struct ctx_browse_data *data, struct ctx_report_source **source)
{
	if (*source != NULL)
		data->host->close(data->host->context, *source);
	*source = NULL;
}

static void close_all(struct ctx_browse_data *data)
{
	close_one(data, &data->source);
	close_one(data, &data->all_threads);
	close_one(data, &data->states);
	ctx_histogram_deinit(&data->scan.raw);
	data->scan = (struct ctx_address_scan){0};
}

void ctx_browse_data_deinit(struct ctx_browse_data *data)
{
	close_all(data);
	if (data->has_fold)
		ctx_fold_deinit(&data->fold);
	free(data->state_metrics);
	*data = (struct ctx_browse_data){0};
}

void ctx_browse_data_select(struct ctx_browse_data *data, struct ctx_interval interval, uint32_t thread,
			    uint32_t metric)
{
	close_all(data);
	data->interval = interval;
	data->thread = thread;
	data->metric = metric;
}

static enum ctx_status open_once(struct ctx_browse_data *data, const struct ctx_browse_selection *selection,
				 struct ctx_report_source **source, struct ctx_err *err)
{
	return *source != NULL ? CTX_OK : data->host->open(data->host->context, selection, source, err);
}

static struct ctx_browse_selection selection_of(const struct ctx_browse_data *data)
{
	return (struct ctx_browse_selection){
		.interval = data->interval, .thread = data->thread, .metrics = &data->metric, .n_metrics = 1};
}

enum ctx_status ctx_browse_data_source(struct ctx_browse_data *data, struct ctx_report_source **ret,
				       struct ctx_err *err)
{
	const struct ctx_browse_selection selection = selection_of(data);
	enum ctx_status status = open_once(data, &selection, &data->source, err);

	*ret = data->source;
	return status;
}

enum ctx_status ctx_browse_data_all_threads(struct ctx_browse_data *data, struct ctx_report_source **ret,
					    struct ctx_err *err)
{
	struct ctx_browse_selection selection = selection_of(data);
	enum ctx_status status;

	if (data->thread == CTX_NONE)
		return ctx_browse_data_source(data, ret, err);
	selection.thread = CTX_NONE;
	status = open_once(data, &selection, &data->all_threads, err);
	*ret = data->all_threads;
	return status;
}

enum ctx_status ctx_browse_data_open(struct ctx_browse_data *data, struct ctx_interval interval,
				     struct ctx_report_source **ret, struct ctx_err *err)
{
	struct ctx_browse_selection selection = selection_of(data);

	selection.interval = interval;
	return data->host->open(data->host->context, &selection, ret, err);
}

enum ctx_status ctx_browse_data_states(struct ctx_browse_data *data, const struct ctx_histogram **ret,
				       struct ctx_err *err)
{
	struct ctx_browse_selection selection = selection_of(data);
	const struct ctx_parts_query query = {.every_metric = true};
	struct ctx_report_parts parts;
	enum ctx_status status;

	if (data->state_metrics == NULL)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no thread states were recorded");
	selection.metrics = data->state_metrics;
	selection.n_metrics = CTX_STATE_N;
	status = open_once(data, &selection, &data->states, err);
	if (status == CTX_OK)
		status = data->states->parts(data->states, &query, &parts, err);
	if (status == CTX_OK)
		*ret = parts.parts[0].histograms;
	return status;
}

enum ctx_status ctx_browse_data_fold(struct ctx_browse_data *data, struct ctx_fold **ret, struct ctx_err *err)
{
	static const struct ctx_fold_options options = {.recursion = true, .kernel = true};
	enum ctx_status status = CTX_OK;

	if (!data->has_fold) {
		status = ctx_fold_init(&data->fold, data->host->profile, &options, err);
		if (status != CTX_OK)
			ctx_fold_deinit(&data->fold);
		data->has_fold = status == CTX_OK;
	}
	*ret = &data->fold;
	return status;
}

bool ctx_browse_data_has_work(const struct ctx_browse_data *data)
{
	return data->scan.has_begun && data->scan.n_done < data->scan.n_steps;
}

static enum ctx_status begin(struct ctx_browse_data *data, struct ctx_err *err)
{
	struct ctx_report_source *source;
	struct ctx_report_parts parts;
	uint64_t length = data->interval.end_ns - data->interval.begin_ns;
	enum ctx_status status = ctx_browse_data_source(data, &source, err);

	if (status == CTX_OK)
		status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);
	if (status != CTX_OK)
		return status;
	data->scan.n_steps = 1 + (parts.n != 0 ? parts.parts[0].histograms[0].samples / STEP_SAMPLES : 0);
	data->scan.n_steps = data->scan.n_steps < length ? data->scan.n_steps : length;
	data->scan.has_begun = true;
	return CTX_OK;
}

static enum ctx_status count_step(struct ctx_browse_data *data, struct ctx_err *err)
{
	struct ctx_address_scan *scan = &data->scan;
	uint64_t length = data->interval.end_ns - data->interval.begin_ns;
	struct ctx_interval step = {data->interval.begin_ns + (uint64_t)((unsigned __int128)length *
									 scan->n_done / scan->n_steps),
				    data->interval.begin_ns + (uint64_t)((unsigned __int128)length *
									 (scan->n_done + 1) / scan->n_steps)};
	const struct ctx_histogram *raw;
	struct ctx_report_source *source;
	enum ctx_status status = ctx_browse_data_open(data, step, &source, err);

	if (status != CTX_OK)
		return status;
	status = source->raw_histogram(source, &raw, err);
	if (status == CTX_OK)
		status = ctx_histogram_merge(&scan->raw, raw, err);
	data->host->close(data->host->context, source);
	scan->n_done++;
	return status;
}

enum ctx_status ctx_browse_data_work(struct ctx_browse_data *data, struct ctx_err *err)
{
	enum ctx_status status = data->scan.has_begun ? CTX_OK : begin(data, err);

	if (status == CTX_OK && ctx_browse_data_has_work(data))
		status = count_step(data, err);
	/* A failure is not tried again and again. */
	if (status != CTX_OK)
		data->scan.n_done = data->scan.n_steps;
	return status;
}
