#include "report/html_cells.h"

#include "base/mem.h"

#include <string.h>

uint32_t ctx_cells_bucket(uint64_t time_ns, uint64_t end_ns, uint32_t buckets)
{
	/* Bucket i begins at end * i / buckets, rounded down: the last one that does not begin behind the time. */
	uint64_t bucket = (uint64_t)(((unsigned __int128)time_ns * buckets + buckets - 1) / end_ns);

	while (bucket > 0 && (uint64_t)((unsigned __int128)end_ns * bucket / buckets) > time_ns)
		bucket--;
	return (uint32_t)(bucket < buckets ? bucket : buckets - 1);
}

static int by_place(const void *a, const void *b)
{
	const struct ctx_cell_entry *left = a, *right = b;

	if (left->bucket != right->bucket)
		return left->bucket < right->bucket ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

/* Sorts, and makes one of those with the same bucket and stack. */
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

struct gathering {
	struct ctx_cells *cells;
	struct ctx_thread_cells *thread;
	uint64_t end_ns;
	uint64_t lead; /* how far unit_weight is ahead of all other weights */
};

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct gathering *gathering = context;
	struct ctx_cells *cells = gathering->cells;
	struct ctx_thread_cells *thread = gathering->thread;
	enum ctx_status status = ctx_grow(&thread->entries, &thread->cap, thread->n + 1, err);

	if (status != CTX_OK)
		return status;
	thread->entries[thread->n++] = (struct ctx_cell_entry){
		.weight = sample->weight,
		.samples = 1,
		.bucket = ctx_cells_bucket(sample->time_ns, gathering->end_ns, cells->buckets),
		.stack = sample->stack,
	};
	cells->samples++;
	cells->weight += sample->weight;
	if (gathering->lead == 0)
		cells->unit_weight = sample->weight;
	gathering->lead += sample->weight == cells->unit_weight ? 1 : (uint64_t)-1;
	return CTX_OK;
}

enum ctx_status ctx_cells_gather(struct ctx_cells *cells, const struct ctx_export_input *input,
				 uint32_t buckets, struct ctx_err *err)
{
	struct gathering gathering = {.cells = cells, .end_ns = input->profile->run.end_ns};
	enum ctx_status status = CTX_OK;

	*cells = (struct ctx_cells){.n_threads = input->profile->n_threads, .buckets = buckets};
	cells->threads = ctx_calloc(cells->n_threads, sizeof(*cells->threads));
	if (cells->threads == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < cells->n_threads && status == CTX_OK; i++) {
		gathering.thread = &cells->threads[i];
		status = input->samples(input->samples_context, i, take_sample, &gathering, err);
		settle(&cells->threads[i]);
	}
	if (status != CTX_OK)
		ctx_cells_deinit(cells);
	return status;
}

void ctx_cells_deinit(struct ctx_cells *cells)
{
	for (uint32_t i = 0; cells->threads != NULL && i < cells->n_threads; i++)
		free(cells->threads[i].entries);
	free(cells->threads);
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

struct heavy { /* a stack with its weight in the whole run */
	uint64_t weight;
	uint32_t stack;
};

static int by_weight(const void *a, const void *b)
{
	const struct heavy *left = a, *right = b;

	if (left->weight != right->weight)
		return left->weight > right->weight ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static void drop(struct ctx_cells *cells, const bool *kept)
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

enum ctx_status ctx_cells_keep(struct ctx_cells *cells, uint32_t n_stacks, uint32_t n, struct ctx_err *err)
{
	struct heavy *stacks CTX_AUTO_FREE = ctx_calloc(n_stacks, sizeof(*stacks));
	bool *kept CTX_AUTO_FREE = ctx_calloc(n_stacks, sizeof(*kept));

	if (stacks == NULL || kept == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n_stacks; i++)
		stacks[i].stack = i;
	for (uint32_t i = 0; i < cells->n_threads; i++) {
		const struct ctx_thread_cells *thread = &cells->threads[i];

		for (size_t k = 0; k < thread->n; k++) {
			if (thread->entries[k].stack != CTX_CELLS_OTHER)
				stacks[thread->entries[k].stack].weight += thread->entries[k].weight;
		}
	}
	qsort(stacks, n_stacks, sizeof(*stacks), by_weight);
	for (uint32_t i = 0; i < n && i < n_stacks; i++)
		kept[stacks[i].stack] = true;
	drop(cells, kept);
	return CTX_OK;
}
