#include "report/html_cells.h"

#include "base/mem.h"

#include <string.h>

/* The bucket of a time. */
static uint32_t bucket_of(uint64_t time_ns, uint64_t end_ns, uint32_t buckets)
{
	/*
	 * Bucket i begins at end * i / buckets, rounded down: returns the last one that does not
	 * begin after the time.
	 */
	uint64_t bucket = (uint64_t)(((unsigned __int128)time_ns * buckets + buckets - 1) / end_ns);

	while (bucket > 0 && (uint64_t)((unsigned __int128)end_ns * bucket / buckets) > time_ns)
		bucket--;
	return (uint32_t)(bucket < buckets ? bucket : buckets - 1);
}

uint64_t ctx_cells_border(uint32_t bucket, uint64_t end_ns, uint32_t buckets)
{
	return (uint64_t)((unsigned __int128)end_ns * bucket / buckets);
}

static int by_place(const void *a, const void *b)
{
	const struct ctx_cell_entry *left = a, *right = b;

	if (left->bucket != right->bucket)
		return left->bucket < right->bucket ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

/* Sorts, and merges entries with the same bucket and stack. */
static void settle(struct ctx_thread_cells *cells)
{
	struct ctx_cell_entry *entries = cells->entries;
	size_t kept = 0;

	if (cells->n == 0)
		return;
	qsort(entries, cells->n, sizeof(*entries), by_place);
	for (size_t i = 1; i < cells->n; i++) {
		if (by_place(&entries[i], &entries[kept]) == 0) {
			entries[kept].weight += entries[i].weight;
			entries[kept].samples += entries[i].samples;
		} else {
			entries[++kept] = entries[i];
		}
	}
	cells->n = kept + 1;
}

struct collecting {
	const struct ctx_export_input *input;
	struct ctx_cells *cells;
	struct ctx_thread_cells *thread;
	uint64_t end_ns;
	uint64_t lead;	/* how far unit_weight is ahead of all other weights */
	uint32_t state; /* used instead of every stack; CTX_NONE: the stacks themselves are used */
	const uint32_t *metrics;
	uint32_t n_metrics;
	bool states; /* the metrics are those of states, in their order */
	bool counts; /* each sample weighs 1 */
};

static enum ctx_status add_entry(struct collecting *collecting, const struct ctx_cell_entry *entry,
				 struct ctx_err *err)
{
	struct ctx_thread_cells *thread = collecting->thread;
	enum ctx_status status = ctx_grow(&thread->entries, &thread->cap, thread->n + 1, err);

	if (status == CTX_OK)
		thread->entries[thread->n++] = *entry;
	return status;
}

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_cells *cells = collecting->cells;
	uint64_t weight = collecting->counts ? 1 : sample->weight;
	const struct ctx_cell_entry entry = {
		.weight = weight,
		.samples = 1,
		.bucket = bucket_of(sample->time_ns, collecting->end_ns, cells->buckets),
		.stack = sample->stack,
	};

	cells->samples++;
	cells->weight += weight;
	if (collecting->lead == 0)
		cells->unit_weight = weight;
	collecting->lead += weight == cells->unit_weight ? 1 : (uint64_t)-1;
	return add_entry(collecting, &entry, err);
}

/* From its end to its begin: only the end is certain. */
static enum ctx_status take_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct collecting *collecting = context;
	struct ctx_cells *cells = collecting->cells;
	uint32_t bucket = bucket_of(sample->time_ns, collecting->end_ns, cells->buckets);
	struct ctx_cell_entry entry = {
		.samples = 1,
		.stack = collecting->state != CTX_NONE ? collecting->state : sample->stack,
	};
	uint64_t left = sample->weight, end = sample->time_ns + 1;
	enum ctx_status status = CTX_OK;

	cells->samples++;
	cells->weight += sample->weight;
	if (cells->longest != NULL && sample->weight > cells->longest[sample->stack])
		cells->longest[sample->stack] = sample->weight;
	for (;; bucket--) {
		uint64_t begin = ctx_cells_border(bucket, collecting->end_ns, cells->buckets);

		/* Time before the begin of the run counts in its first bucket. */
		entry.weight = bucket != 0 && end - begin < left ? end - begin : left;
		entry.bucket = bucket;
		if (entry.weight != 0 || (entry.samples != 0 && collecting->state == CTX_NONE))
			status = add_entry(collecting, &entry, err);
		entry.samples = 0;
		left -= entry.weight;
		end = begin;
		if (left == 0 || status != CTX_OK)
			break;
	}
	return status;
}

static enum ctx_status collect_metric(struct collecting *collecting, uint32_t metric, uint32_t thread,
				      struct ctx_err *err)
{
	const struct ctx_export_input *input = collecting->input;
	struct ctx_samples_query query = {
		.thread = thread, .whole_run = true, .has_metric = true, .metric = metric};

	/* Of a sum its parts are read. */
	if (metric == input->metric && !ctx_metric_is_clipped(&input->profile->metrics[metric]))
		query.has_metric = false;
	return input->source->samples(
		input->source, &query,
		ctx_metric_is_clipped(&input->profile->metrics[metric]) && !collecting->counts ? take_span
											       : take_sample,
		collecting, err);
}

/* One metric after the other: entries are sorted at the end. */
static enum ctx_status collect_thread(struct collecting *collecting, uint32_t thread, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	collecting->thread = &collecting->cells->threads[thread];
	for (uint32_t i = 0; i < collecting->n_metrics && status == CTX_OK; i++) {
		collecting->state = collecting->states ? i : CTX_NONE;
		status = collect_metric(collecting, collecting->metrics[i], thread, err);
	}
	settle(collecting->thread);
	return status;
}

static enum ctx_status collect(struct collecting *collecting, uint32_t buckets, struct ctx_err *err)
{
	const struct ctx_profile *profile = collecting->input->profile;
	struct ctx_cells *cells = collecting->cells;
	enum ctx_status status = CTX_OK;

	collecting->end_ns = profile->run.end_ns;
	cells->n_threads = profile->n_threads;
	cells->buckets = buckets;
	cells->threads = ctx_calloc(cells->n_threads, sizeof(*cells->threads));
	if (cells->threads == NULL)
		status = ctx_err_nomem(err);
	for (uint32_t i = 0; i < cells->n_threads && status == CTX_OK; i++)
		status = collect_thread(collecting, i, err);
	if (status != CTX_OK)
		ctx_cells_deinit(cells);
	return status;
}

enum ctx_status ctx_cells_collect(struct ctx_cells *cells, const struct ctx_cells_query *query,
				  struct ctx_err *err)
{
	const struct ctx_profile *profile = query->input->profile;
	struct collecting collecting = {.input = query->input,
					.cells = cells,
					.metrics = &query->metric,
					.n_metrics = 1,
					.counts = query->counts};

	*cells = (struct ctx_cells){.spans = !query->counts &&
					     ctx_metric_is_clipped(&profile->metrics[query->metric])};
	if (cells->spans) {
		cells->longest = ctx_calloc(profile->cct.n, sizeof(*cells->longest));
		if (cells->longest == NULL)
			return ctx_err_nomem(err);
	}
	return collect(&collecting, query->buckets, err);
}

enum ctx_status ctx_cells_collect_states(struct ctx_cells *cells, const struct ctx_export_input *input,
					 uint32_t buckets, struct ctx_err *err)
{
	uint32_t metrics[CTX_STATE_N];
	struct collecting collecting = {
		.input = input, .cells = cells, .metrics = metrics, .n_metrics = CTX_STATE_N, .states = true};

	*cells = (struct ctx_cells){.spans = true};
	for (uint32_t i = 0; i < CTX_STATE_N; i++)
		metrics[i] = ctx_profile_state_metric(input->profile, (enum ctx_thread_state)i);
	return collect(&collecting, buckets, err);
}

void ctx_cells_deinit(struct ctx_cells *cells)
{
	for (uint32_t i = 0; cells->threads != NULL && i < cells->n_threads; i++)
		free(cells->threads[i].entries);
	free(cells->threads);
	free(cells->longest);
	*cells = (struct ctx_cells){0};
}

void ctx_cells_halve(struct ctx_cells *cells)
{
	cells->buckets /= 2;
	for (uint32_t i = 0; i < cells->n_threads; i++) {
		struct ctx_thread_cells *thread = &cells->threads[i];

		for (size_t k = 0; k < thread->n; k++)
			thread->entries[k].bucket /= 2;
		settle(thread);
	}
}

void ctx_cells_weigh(const struct ctx_cells *cells, uint64_t *by_stack)
{
	for (uint32_t i = 0; i < cells->n_threads; i++) {
		const struct ctx_thread_cells *thread = &cells->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			if (thread->entries[k].stack != CTX_CELLS_OTHER)
				by_stack[thread->entries[k].stack] += thread->entries[k].weight;
		}
	}
}

void ctx_cells_drop(struct ctx_cells *cells, const bool *kept)
{
	for (uint32_t i = 0; i < cells->n_threads; i++) {
		struct ctx_thread_cells *thread = &cells->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			struct ctx_cell_entry *entry = &thread->entries[k];

			if (entry->stack == CTX_CELLS_OTHER || kept[entry->stack])
				continue;
			cells->dropped_weight += entry->weight;
			entry->stack = CTX_CELLS_OTHER;
		}
		settle(thread);
	}
}
