#include "formats/perfdata/pd_queue.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <string.h>

void ctx_pd_queue_init(struct ctx_pd_queue *queue, const struct ctx_pd_events *events, size_t bytes_max)
{
	struct ctx_pd_stream stream = queue->stream;

	*queue = (struct ctx_pd_queue){.stream = stream, .events = events, .bytes_max = bytes_max};
}

void ctx_pd_queue_deinit(struct ctx_pd_queue *queue)
{
	for (size_t i = queue->at; i < queue->n; i++)
		ctx_pd_chunk_drop(queue->items[i].record.chunk);
	if (queue->has_direct)
		ctx_pd_chunk_drop(queue->direct.record.chunk);
	ctx_pd_stream_deinit(&queue->stream);
	free(queue->items);
	free(queue->sorted);
	free(queue->runs);
	*queue = (struct ctx_pd_queue){0};
}

static void drop_item(struct ctx_pd_queue *queue, struct ctx_pd_queued *item)
{
	struct ctx_pd_chunk *chunk = item->record.chunk;

	queue->bytes -= sizeof(*item);
	if (--chunk->queued == 0)
		queue->bytes -= chunk->cap;
	ctx_pd_chunk_drop(chunk);
}

/*
 * Finds the starts of ascending runs among the items [0, n). The records of one ring are such a
 * run.
 */
static enum ctx_status find_runs(struct ctx_pd_queue *queue, size_t *ret_n, struct ctx_err *err)
{
	size_t n_runs = 0;

	for (size_t i = 0; i < queue->n; i++) {
		if (i != 0 && queue->items[i].time >= queue->items[i - 1].time)
			continue;
		if (ctx_grow(&queue->runs, &queue->runs_cap, n_runs + 2, err) != CTX_OK)
			return CTX_E_NOMEM;
		queue->runs[n_runs++] = i;
	}
	*ret_n = n_runs;
	return CTX_OK;
}

/* Merges [begin, middle) and [middle, end). Stable: equal times keep the order of the file. */
static void merge(const struct ctx_pd_queued *from, struct ctx_pd_queued *to, size_t begin, size_t middle,
		  size_t end)
{
	size_t a = begin, b = middle;

	for (size_t i = begin; i < end; i++) {
		if (a < middle && (b >= end || from[a].time <= from[b].time))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

static void swap_items(struct ctx_pd_queue *queue)
{
	struct ctx_pd_queued *items = queue->items;
	size_t cap = queue->cap;

	queue->items = queue->sorted;
	queue->cap = queue->sorted_cap;
	queue->sorted = items;
	queue->sorted_cap = cap;
}

/* Sorts all items by merging neighbouring runs until one is left. */
static enum ctx_status sort_items(struct ctx_pd_queue *queue, struct ctx_err *err)
{
	size_t n_runs = 0;
	enum ctx_status status = find_runs(queue, &n_runs, err);

	if (status == CTX_OK && n_runs > 1)
		status = ctx_grow(&queue->sorted, &queue->sorted_cap, queue->n, err);
	while (status == CTX_OK && n_runs > 1) {
		size_t kept = 0;

		queue->runs[n_runs] = queue->n;
		for (size_t i = 0; i < n_runs; i += 2) {
			size_t middle = queue->runs[i + 1];
			size_t end = i + 2 <= n_runs ? queue->runs[i + 2] : middle;

			merge(queue->items, queue->sorted, queue->runs[i], middle, end);
			queue->runs[kept++] = queue->runs[i];
		}
		n_runs = kept;
		swap_items(queue);
	}
	return status;
}

/* Releases all items up to time `limit`. The items must be sorted. */
static void release_until(struct ctx_pd_queue *queue, uint64_t limit)
{
	queue->ready = ctx_count_up_to(queue->items, queue->n, time, limit);
}

static enum ctx_status end_round(struct ctx_pd_queue *queue, struct ctx_err *err)
{
	enum ctx_status status = sort_items(queue, err);

	if (status != CTX_OK)
		return status;
	release_until(queue, queue->round_max);
	queue->round_max = queue->newest;
	return CTX_OK;
}

static enum ctx_status cut_round(struct ctx_pd_queue *queue, struct ctx_err *err)
{
	enum ctx_status status = sort_items(queue, err);

	if (status != CTX_OK)
		return status;
	queue->n_cut++;
	release_until(queue, queue->items[queue->n / 2].time);
	return CTX_OK;
}

static enum ctx_status append(struct ctx_pd_queue *queue, const struct ctx_pd_record *record, uint64_t time,
			      struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&queue->items, &queue->cap, queue->n + 1, err);

	if (status != CTX_OK)
		return status;
	record->chunk->references++;
	queue->items[queue->n++] = (struct ctx_pd_queued){.time = time, .record = *record};
	/* A record keeps its whole chunk alive, and may be the only record with a time in it. */
	queue->bytes += sizeof(*queue->items);
	if (record->chunk->queued++ == 0)
		queue->bytes += record->chunk->cap;
	if (time > queue->newest)
		queue->newest = time;
	return queue->bytes > queue->bytes_max ? cut_round(queue, err) : CTX_OK;
}

static enum ctx_status take_in(struct ctx_pd_queue *queue, const struct ctx_pd_record *record,
			       struct ctx_err *err)
{
	uint64_t time;

	if (record->header.type == CTX_PD_FINISHED_ROUND)
		return end_round(queue, err);
	time = ctx_pd_record_time(queue->events, record->bytes, &record->header);
	if (time != 0 && time != CTX_PD_NO_TIME)
		return append(queue, record, time, err);
	record->chunk->references++;
	queue->direct = (struct ctx_pd_queued){.time = 0, .record = *record};
	queue->has_direct = true;
	return CTX_OK;
}

/* Reads until a record is released, or to the end. */
static enum ctx_status fill(struct ctx_pd_queue *queue, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (queue->at != 0)
		memmove(queue->items, queue->items + queue->at,
			(queue->n - queue->at) * sizeof(*queue->items));
	queue->n -= queue->at;
	queue->at = queue->ready = 0;
	while (status == CTX_OK && queue->ready == 0 && !queue->has_direct && !queue->has_damage) {
		struct ctx_pd_record record;

		status = ctx_pd_stream_next(&queue->stream, &record, err);
		queue->has_damage = queue->stream.damage[0] != '\0';
		if (status == CTX_OK) {
			status = take_in(queue, &record, err);
		} else if (status == CTX_END) {
			queue->ended = true;
			status = sort_items(queue, err);
			if (status == CTX_OK)
				release_until(queue, UINT64_MAX);
			return status;
		}
	}
	return status;
}

enum ctx_status ctx_pd_queue_peek(struct ctx_pd_queue *queue, const struct ctx_pd_queued **ret,
				  struct ctx_err *err)
{
	while (!queue->has_damage && !queue->has_direct && queue->at == queue->ready) {
		enum ctx_status status;

		if (queue->ended)
			return CTX_END;
		status = fill(queue, err);
		if (status != CTX_OK)
			return status;
	}
	if (queue->has_damage)
		*ret = NULL;
	else
		*ret = queue->has_direct ? &queue->direct : &queue->items[queue->at];
	return CTX_OK;
}

void ctx_pd_queue_take(struct ctx_pd_queue *queue)
{
	if (queue->has_damage) {
		queue->has_damage = false;
	} else if (queue->has_direct) {
		ctx_pd_chunk_drop(queue->direct.record.chunk);
		queue->has_direct = false;
	} else {
		drop_item(queue, &queue->items[queue->at++]);
	}
}
