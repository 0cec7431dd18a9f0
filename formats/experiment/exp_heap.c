/*
 * Heap operations in the reader: read twice, first for what was never freed.
 *
 *	blocks of heap operations --merge by time--> leaks of each process
 *	                          `-- by the reader, in time with all others --> operation, samples of its bytes
 *
 * An operation's number among those of its process is that of its block and its place in it, whatever the
 * order in which blocks are merged.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/heap.h"
#include "base/mem.h"

#include <string.h>

/* Names and words are those that gprofng's experiments have (formats/gprofng/gp_traced.c). */
static const struct ctx_source_metric metrics[CTX_EXP_HEAP_METRICS] = {
	[CTX_EXP_HEAP_BYTES] = {.name = "Bytes Allocated",
				.word = "heapallocbytes",
				.kind = CTX_METRIC_BYTES,
				.unit = CTX_UNIT_BYTES},
	[CTX_EXP_HEAP_COUNT] = {.name = "Allocations",
				.word = "heapalloccnt",
				.kind = CTX_METRIC_COUNT,
				.unit = CTX_UNIT_NONE,
				.of = CTX_EXP_HEAP_BYTES},
	[CTX_EXP_LEAK_BYTES] = {.name = "Bytes Leaked",
				.word = "heapleakbytes",
				.kind = CTX_METRIC_BYTES,
				.unit = CTX_UNIT_BYTES},
	[CTX_EXP_LEAK_COUNT] = {.name = "Leaks",
				.word = "heapleakcnt",
				.kind = CTX_METRIC_COUNT,
				.unit = CTX_UNIT_NONE,
				.of = CTX_EXP_LEAK_BYTES},
};

void ctx_exp_heaps_deinit(struct ctx_exp_heaps *heaps)
{
	for (size_t i = 0; i < heaps->n; i++)
		ctx_heap_leaks_deinit(&heaps->processes[i].leaks);
	free(heaps->processes);
	free(heaps->metrics);
}

bool ctx_exp_heap_is_fine(const struct ctx_exp_packet *packet)
{
	return packet->operation < ctx_traced_n_operations(CTX_TRACED_HEAP) &&
	       packet->size <= CTX_TRACED_WEIGHT_MAX;
}

enum ctx_status ctx_exp_reader_decode_heap(struct ctx_exp_reader *reader,
					   const struct ctx_exp_block_header *header,
					   struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_bytes payload = {reader->file.payload.bytes, reader->file.payload.n};
	struct ctx_exp_heap_block out = {.packets = block->packets, .n = block->n};

	block->addresses = ctx_calloc(block->n, sizeof(*block->addresses));
	if (block->addresses == NULL)
		return ctx_err_nomem(err);
	out.addresses = block->addresses;
	block->bytes += block->n * sizeof(*block->addresses);
	return ctx_exp_decode_heap(payload, header->first_ns, &out, err);
}

static struct ctx_traced operation_of(const struct ctx_exp_open_block *block, size_t i)
{
	const struct ctx_exp_packet *packet = &block->packets[i];
	const struct ctx_exp_heap_addresses *addresses = &block->addresses[packet->order];

	return (struct ctx_traced){.kind = CTX_TRACED_HEAP,
				   .operation = (uint8_t)packet->operation,
				   .size = packet->size,
				   .address = addresses->address,
				   .old_address = addresses->old_address,
				   .cpu = -1,
				   .descriptor = -1};
}

/* Leaks */

static bool is_before(const void *left, const void *right)
{
	const struct ctx_exp_heap_item *a = left, *b = right;

	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

/* Numbers the operations of all blocks. */
static enum ctx_status number_blocks(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_exp_heaps *heaps = &reader->heaps;

	for (size_t i = 0; i < reader->index.n_blocks; i++) {
		struct ctx_exp_place *place = &reader->index.blocks[i];
		enum ctx_status status;
		uint32_t row;

		if (!place->is_heap)
			continue;
		status = ctx_exp_log_process(&reader->log, place->process, &row, err);
		if (status == CTX_OK)
			status = ctx_grow(&heaps->processes, &heaps->cap, (size_t)row + 1, err);
		if (status != CTX_OK)
			return status;
		while (heaps->n <= row)
			heaps->processes[heaps->n++] =
				(struct ctx_exp_heap_process){.leaks = {.overlaps = true}};
		place->first_record = heaps->processes[row].n;
		heaps->processes[row].n += place->n_records;
	}
	return CTX_OK;
}

/* CTX_E_FORMAT: not to be read. */
static enum ctx_status load(struct ctx_exp_reader *reader, const struct ctx_exp_place *place,
			    struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_exp_block_header header;
	enum ctx_status status = ctx_exp_reader_read_place(reader, place, &header, err);

	if (status != CTX_OK)
		return status;
	if (header.kind != CTX_EXP_BLOCK_HEAP || header.n_records == 0 ||
	    header.n_records != place->n_records || header.n_records > CTX_EXP_PACKETS_MAX ||
	    header.process != place->process)
		return ctx_err_set(err, CTX_E_FORMAT, "not the block that was there");
	status = ctx_exp_reader_has_room(reader, CTX_EXP_COUNTED_PACKETS, header.n_records, err);
	if (status != CTX_OK)
		return status;
	block->n = header.n_records;
	block->first_record = place->first_record;
	block->packets = ctx_calloc(block->n, sizeof(*block->packets));
	if (block->packets == NULL)
		return ctx_err_nomem(err);
	status = ctx_exp_log_process(&reader->log, header.process, &block->process, err);
	return status == CTX_OK ? ctx_exp_reader_decode_heap(reader, &header, block, err) : status;
}

static enum ctx_status open_next(struct ctx_exp_reader *reader, struct ctx_exp_open_blocks *open,
				 const struct ctx_exp_place *place, struct ctx_err *err)
{
	struct ctx_exp_open_block *block = ctx_calloc(1, sizeof(*block));
	enum ctx_status status;

	if (block == NULL)
		return ctx_err_nomem(err);
	status = load(reader, place, block, err);
	if (status == CTX_OK)
		status = ctx_grow(&open->items, &open->cap, open->n + 1, err);
	if (status != CTX_OK) {
		ctx_exp_open_block_free(block);
		return status == CTX_E_FORMAT ? CTX_OK : status;
	}
	open->items[open->n++] = (struct ctx_exp_heap_item){block->packets[0].time_ns, open->order++, block};
	ctx_heap_rise(open->items, open->n, sizeof(*open->items), is_before);
	return CTX_OK;
}

/* The earliest operation of the open blocks. */
static enum ctx_status take_first(struct ctx_exp_reader *reader, struct ctx_exp_open_blocks *open,
				  struct ctx_err *err)
{
	struct ctx_exp_open_block *block = open->items[0].block;
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	struct ctx_traced operation = operation_of(block, block->at);
	enum ctx_status status = CTX_OK;

	if (ctx_exp_heap_is_fine(packet))
		status = ctx_heap_leaks_add(&reader->heaps.processes[block->process].leaks,
					    block->first_record + packet->order, &operation, err);
	if (++block->at < block->n) {
		open->items[0].time_ns = block->packets[block->at].time_ns;
	} else {
		ctx_exp_open_block_free(block);
		open->items[0] = open->items[--open->n];
	}
	ctx_heap_sink(open->items, open->n, sizeof(*open->items), is_before);
	return status;
}

static enum ctx_status merge(struct ctx_exp_reader *reader, struct ctx_exp_open_blocks *open,
			     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < reader->index.n_blocks && status == CTX_OK; i++) {
		const struct ctx_exp_place *place = &reader->index.blocks[i];

		if (!place->is_heap)
			continue;
		while (status == CTX_OK && open->n != 0 && open->items[0].time_ns < place->first_ns)
			status = take_first(reader, open, err);
		if (status == CTX_OK)
			status = open_next(reader, open, place, err);
	}
	while (status == CTX_OK && open->n != 0)
		status = take_first(reader, open, err);
	return status;
}

enum ctx_status ctx_exp_reader_find_leaks(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_exp_open_blocks open = {0};
	uint64_t consumed = reader->consumed;
	enum ctx_status status;

	if (!reader->index.has_heap)
		return CTX_OK;
	status = number_blocks(reader, err);
	if (status == CTX_OK)
		status = merge(reader, &open, err);
	for (size_t i = 0; i < open.n; i++)
		ctx_exp_open_block_free(open.items[i].block);
	free(open.items);
	for (size_t i = 0; i < reader->heaps.n && status == CTX_OK; i++)
		status = ctx_heap_leaks_finish(&reader->heaps.processes[i].leaks, err);
	reader->consumed = consumed;
	memset(reader->n_read, 0, sizeof(reader->n_read));
	return status;
}

/* Events */

enum ctx_status ctx_exp_reader_add_heap_metrics(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	uint32_t n = info->n_metrics;

	if (!reader->index.has_heap)
		return CTX_OK;
	reader->heaps.metrics = ctx_calloc(n + CTX_EXP_HEAP_METRICS, sizeof(*info->metrics));
	if (reader->heaps.metrics == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(reader->heaps.metrics, info->metrics, n * sizeof(*info->metrics));
	for (uint32_t i = 0; i < CTX_EXP_HEAP_METRICS; i++) {
		reader->heaps.metrics[n + i] = metrics[i];
		reader->heaps.metrics[n + i].of += metrics[i].kind == CTX_METRIC_COUNT ? n : 0;
	}
	info->metrics = reader->heaps.metrics;
	info->n_metrics = n + CTX_EXP_HEAP_METRICS;
	return CTX_OK;
}

static enum ctx_status push_sample(struct ctx_exp_reader *reader, const struct ctx_event *event,
				   enum ctx_exp_heap_metric metric, uint64_t weight, struct ctx_err *err)
{
	struct ctx_event sample = *event;

	if (weight > UINT64_MAX / 2 - reader->heaps.bytes)
		return CTX_OK;
	reader->heaps.bytes += weight;
	sample.kind = CTX_EV_SAMPLE;
	sample.sample = (struct ctx_event_sample){.weight = weight,
						  .metric = (uint32_t)reader->log.n_metrics + metric,
						  .cpu = -1,
						  .stack = event->traced.stack};
	return ctx_exp_reader_push(reader, &sample, NULL, err);
}

enum ctx_status ctx_exp_reader_fill_heap(struct ctx_exp_reader *reader,
					 const struct ctx_exp_open_block *block, struct ctx_event *event,
					 struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	const struct ctx_heap_leaks none = {0}; /* the file is another one than it was */
	const struct ctx_heap_leaks *leaks =
		block->process < reader->heaps.n ? &reader->heaps.processes[block->process].leaks : &none;
	struct ctx_traced *operation = &reader->heaps.operation;
	uint64_t record = block->first_record + packet->order;
	enum ctx_status status = CTX_OK;

	*operation = operation_of(block, block->at);
	operation->leaked = ctx_heap_leaks_is(leaks, record);
	operation->leaked_size = ctx_heap_leaks_get(leaks, record, operation);
	event->traced.operation = operation;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	if (ctx_traced_is_allocation(operation))
		status = push_sample(reader, event, CTX_EXP_HEAP_BYTES, operation->size, err);
	if (status == CTX_OK && operation->leaked)
		status = push_sample(reader, event, CTX_EXP_LEAK_BYTES, operation->leaked_size, err);
	return status;
}
