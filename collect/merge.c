#include "collect/merge.h"

#include "base/heap.h"
#include "base/mem.h"
#include "collect/perfrecord.h"
#include "formats/perfevent/pe_record.h"

#include <string.h>

/*
 * Free room is published to the kernel this often even within a round, as a part of the ring's
 * size.
 */
#define PUBLISH_PART 8u

enum ctx_status ctx_merge_init(struct ctx_merge *merge, struct ctx_ring *rings, uint32_t n_rings,
			       struct ctx_err *err)
{
	struct ctx_merge_head *heap = ctx_calloc(n_rings, sizeof(*heap));

	if (heap == NULL)
		return ctx_err_nomem(err);
	*merge = (struct ctx_merge){.rings = rings, .n_rings = n_rings, .heap = heap};
	return CTX_OK;
}

void ctx_merge_deinit(struct ctx_merge *merge)
{
	free(merge->heap);
	*merge = (struct ctx_merge){0};
}

static bool is_before(const void *left, const void *right)
{
	const struct ctx_merge_head *a = left, *b = right;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->ring < b->ring;
}

/* Peeks at the next record of a ring; false: the ring is empty. */
static bool look(struct ctx_merge *merge, uint32_t ring, struct ctx_merge_head *ret)
{
	const void *record = ctx_ring_peek(&merge->rings[ring], &merge->damaged);

	if (record == NULL)
		return false;
	*ret = (struct ctx_merge_head){.time_ns = ctx_perf_record_time(record),
				       .ring = ring,
				       .size = ctx_pe_header_read(record, false).size,
				       .record = record};
	return true;
}

void ctx_merge_begin(struct ctx_merge *merge, uint64_t limit_ns)
{
	merge->n_heap = 0;
	merge->holds = false;
	merge->is_due = false;
	merge->fullest = 0;
	merge->limit_ns = limit_ns;
	for (uint32_t i = 0; i < merge->n_rings; i++) {
		struct ctx_ring *ring = &merge->rings[i];
		unsigned percent;

		ctx_ring_refresh(ring);
		percent = (unsigned)(ctx_ring_fill(ring) * 100 / ring->size);
		if (percent > merge->fullest)
			merge->fullest = percent;
		if (ctx_ring_fill(ring) > ring->size / 2)
			merge->limit_ns = UINT64_MAX;
		if (look(merge, i, &merge->heap[merge->n_heap]))
			ctx_heap_rise(merge->heap, ++merge->n_heap, sizeof(*merge->heap), is_before);
	}
}

unsigned ctx_merge_fill(const struct ctx_merge *merge)
{
	unsigned fullest = 0;

	for (uint32_t i = 0; i < merge->n_rings; i++) {
		unsigned percent =
			(unsigned)(ctx_ring_fill_now(&merge->rings[i]) * 100 / merge->rings[i].size);

		if (percent > fullest)
			fullest = percent;
	}
	return fullest;
}

/* Consumes the record that the caller had. */
static void step(struct ctx_merge *merge)
{
	struct ctx_merge_head *top = &merge->heap[0];
	struct ctx_ring *ring = &merge->rings[top->ring];

	merge->holds = false;
	ring->last_ns = top->time_ns;
	ctx_ring_advance(ring, top->size);
	if (ring->tail - ring->published > ring->size / PUBLISH_PART)
		merge->is_due = true;
	if (!look(merge, top->ring, top))
		merge->heap[0] = merge->heap[--merge->n_heap];
	if (merge->n_heap > 1)
		ctx_heap_sink(merge->heap, merge->n_heap, sizeof(*merge->heap), is_before);
}

const void *ctx_merge_next(struct ctx_merge *merge)
{
	if (merge->holds)
		step(merge);
	if (merge->n_heap == 0 || merge->heap[0].time_ns > merge->limit_ns)
		return NULL;
	merge->holds = true;
	return merge->heap[0].record;
}

void ctx_merge_release(struct ctx_merge *merge)
{
	if (merge->holds)
		step(merge);
	for (uint32_t i = 0; i < merge->n_rings; i++)
		ctx_ring_publish(&merge->rings[i]);
	merge->is_due = false;
}
