/*
 * Heap operations in the reader: read twice, first for what was never freed.
 *
 *	blocks of a process, in order --what outlives its block--> leaks
 *	                              `-- by the reader, in time with all others --> operation, samples of its bytes
 *
 * An operation's number among those of its process is that of its block and its place in it.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"
#include "model/heap_sampling.h"

#include <stdio.h>
#include <string.h>

void ctx_exp_heaps_deinit(struct ctx_exp_heaps *heaps)
{
	for (size_t i = 0; i < heaps->n; i++)
		ctx_heap_leaks_deinit(&heaps->processes[i].leaks);
	ctx_exp_heap_coder_free(heaps->coder);
	free(heaps->processes);
}

enum ctx_status ctx_exp_reader_decode_heap(struct ctx_exp_reader *reader,
					   const struct ctx_exp_block_header *header,
					   struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_bytes payload = {reader->file.payload.bytes, reader->file.payload.n};
	struct ctx_exp_heap_block out = {.packets = block->packets,
					 .n = block->n,
					 .first_ns = header->first_ns,
					 .last_ns = header->last_ns};

	block->addresses = ctx_calloc(block->n, sizeof(*block->addresses));
	if (block->addresses == NULL)
		return ctx_err_nomem(err);
	out.addresses = block->addresses;
	block->bytes += block->n * sizeof(*block->addresses);
	return ctx_exp_heap_decode(&reader->heaps.coder, payload, &out, err);
}

static struct ctx_traced operation_of(const struct ctx_exp_open_block *block, size_t i)
{
	const struct ctx_exp_packet *packet = &block->packets[i];
	const struct ctx_exp_heap_addresses *addresses = &block->addresses[packet->place];

	return (struct ctx_traced){.kind = CTX_TRACED_HEAP,
				   .operation = (uint8_t)packet->operation,
				   .size = packet->size,
				   .address = addresses->address,
				   .old_address = addresses->old_address,
				   .cpu = -1,
				   .descriptor = -1};
}

/* Leaks */

/* Whether the operations of a block are numbered: its header may claim any number of them. CTX_E_FORMAT: no. */
static enum ctx_status check_place(struct ctx_exp_reader *reader, const struct ctx_exp_place *place,
				   struct ctx_err *err)
{
	if (place->n_records == 0 || place->n_records > CTX_EXP_HEAP_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "block of %u heap operations", place->n_records);
	return ctx_exp_reader_has_room(reader, CTX_EXP_COUNTED_PACKETS,
				       ctx_exp_heap_counted(place->n_records), err);
}

#define LEFT_OUT (UINT64_MAX - CTX_EXP_HEAP_MAX) /* first_record of a block whose operations are no leaks */

/* Numbers the operations of all blocks but those that are left out. */
static enum ctx_status number_blocks(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_exp_heaps *heaps = &reader->heaps;

	for (size_t i = 0; i < reader->index.n_blocks; i++) {
		struct ctx_exp_place *place = &reader->index.blocks[i];
		enum ctx_status status;
		uint32_t row;

		if (!place->is_heap)
			continue;
		if (check_place(reader, place, NULL) != CTX_OK) {
			place->first_record = LEFT_OUT;
			continue;
		}
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

static enum ctx_status add_lasting(struct ctx_heap_leaks *leaks, uint64_t first,
				   const struct ctx_exp_heap_lasting *lasting, struct ctx_err *err)
{
	const struct ctx_traced operation = {.kind = CTX_TRACED_HEAP,
					     .operation = (uint8_t)lasting->operation,
					     .size = lasting->size,
					     .address = lasting->address,
					     .old_address = lasting->old_address};

	return ctx_heap_leaks_add(leaks, first + lasting->place, &operation, err);
}

static uint64_t max_live(const struct ctx_exp_reader *reader)
{
	return CTX_EXP_HEAP_LIVE_ALWAYS + CTX_EXP_HEAP_LIVE_PER_BYTE * reader->index.real_bytes;
}

/* What others do not have is for this process, whose own blocks are not counted until they are counted again. */
static void limit_live(struct ctx_exp_reader *reader, struct ctx_heap_leaks *leaks)
{
	uint64_t max = max_live(reader);

	reader->heaps.n_live -= leaks->n_live;
	leaks->max_live = reader->heaps.n_live < max ? max - reader->heaps.n_live : 1;
}

/* CTX_E_FORMAT: not to be read. */
static enum ctx_status add_block(struct ctx_exp_reader *reader, const struct ctx_exp_place *place,
				 struct ctx_err *err)
{
	struct ctx_exp_heap_list lasting;
	struct ctx_exp_block_header header;
	struct ctx_heap_leaks *leaks;
	uint32_t process;
	enum ctx_status status = ctx_exp_reader_read_place(reader, place, &header, err);

	if (status != CTX_OK)
		return status;
	if (!ctx_exp_block_has_heap(&header) || header.n_records != place->n_records ||
	    header.process != place->process)
		return ctx_err_set(err, CTX_E_FORMAT, "not the block that was there");
	status = ctx_exp_heap_find_lasting(
		&reader->heaps.coder, (struct ctx_bytes){reader->file.payload.bytes, reader->file.payload.n},
		header.n_records, &lasting, err);
	if (status == CTX_OK)
		status = ctx_exp_log_process(&reader->log, header.process, &process, err);
	if (status != CTX_OK)
		return status;
	leaks = &reader->heaps.processes[process].leaks;
	limit_live(reader, leaks);
	for (size_t i = 0; i < lasting.n && status == CTX_OK; i++)
		status = add_lasting(leaks, place->first_record, &lasting.items[i], err);
	reader->heaps.n_live += leaks->n_live;
	return status;
}

/* Says how many blocks were not followed. */
static enum ctx_status report_left_out(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	uint64_t n = 0;
	char text[160];

	for (size_t i = 0; i < reader->heaps.n; i++)
		n += reader->heaps.processes[i].leaks.n_left_out;
	if (n == 0)
		return CTX_OK;
	snprintf(text, sizeof(text),
		 "more than %llu blocks of memory live at a time, in files so small: whether %llu others are "
		 "freed is not known",
		 (unsigned long long)max_live(reader), (unsigned long long)n);
	return ctx_exp_log_damage(&reader->log, text, err);
}

enum ctx_status ctx_exp_reader_find_leaks(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	uint64_t consumed = reader->consumed;
	enum ctx_status status;

	if (!reader->index.has_traced[CTX_TRACED_HEAP] || reader->scan.grows) /* known at the end only */
		return CTX_OK;
	status = number_blocks(reader, err);
	for (size_t i = 0; i < reader->index.n_blocks && status == CTX_OK; i++) {
		if (reader->index.blocks[i].is_heap && reader->index.blocks[i].first_record != LEFT_OUT)
			status = add_block(reader, &reader->index.blocks[i], err);
		if (status == CTX_E_FORMAT)
			status = CTX_OK;
	}
	for (size_t i = 0; i < reader->heaps.n && status == CTX_OK; i++)
		status = ctx_heap_leaks_finish(&reader->heaps.processes[i].leaks, err);
	if (status == CTX_OK)
		status = report_left_out(reader, err);
	reader->consumed = consumed;
	memset(reader->n_read, 0, sizeof(reader->n_read));
	return status;
}

/* Events */

void ctx_exp_reader_note_sampling(struct ctx_exp_reader *reader)
{
	const struct ctx_source_info *info = &reader->source.info;
	const struct ctx_exp_traced_metrics *metrics = &reader->traced[CTX_TRACED_HEAP];
	struct ctx_source_metric *own;

	if (!reader->index.has_traced[CTX_TRACED_HEAP])
		return;
	own = info->metrics + metrics->first;
	reader->heaps.sample_bytes = ctx_heap_sample_bytes(info->properties, info->n_properties);
	/* A sampled allocation stands for several: counts have weights of their own. */
	for (uint32_t i = 0; i < CTX_HEAP_METRIC_N && reader->heaps.sample_bytes != 0; i++) {
		if (own[i].kind == CTX_METRIC_COUNT)
			own[i].kind = CTX_METRIC_EVENTS;
	}
}

/* Samples of bytes, and of the number where it is not that of these samples (`metric` + 1). */
static enum ctx_status push_samples(struct ctx_exp_reader *reader, const struct ctx_event *event,
				    enum ctx_heap_metric metric, uint64_t bytes, struct ctx_err *err)
{
	struct ctx_exp_heaps *heaps = &reader->heaps;
	double number = ctx_heap_sample_number(heaps->sample_bytes, event->traced.operation);
	double *rest = &heaps->rests[metric];
	enum ctx_status status =
		ctx_exp_reader_push_traced(reader, event, metric, ctx_heap_sample_scale(bytes, number), err);
	uint64_t whole;

	if (status != CTX_OK || heaps->sample_bytes == 0)
		return status;
	*rest += number;
	whole = (uint64_t)*rest;
	*rest -= (double)whole;
	return ctx_exp_reader_push_traced(reader, event, metric + 1, whole, err);
}

enum ctx_status ctx_exp_reader_fill_heap(struct ctx_exp_reader *reader,
					 const struct ctx_exp_open_block *block, struct ctx_event *event,
					 struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	static const struct ctx_heap_leaks none; /* the file is another one than it was */
	const struct ctx_heap_leaks *leaks =
		block->process < reader->heaps.n ? &reader->heaps.processes[block->process].leaks : &none;
	struct ctx_traced *operation = &reader->operation;
	uint64_t record = block->first_record + packet->place;
	enum ctx_status status = CTX_OK;

	*operation = operation_of(block, block->at);
	operation->leaked = ctx_heap_leaks_is(leaks, record);
	if (operation->leaked)
		operation->leaked_size = ctx_heap_leaks_get(leaks, record, operation);
	event->traced.operation = operation;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	if (ctx_traced_is_allocation(operation))
		status = push_samples(reader, event, CTX_HEAP_METRIC_BYTES, operation->size, err);
	if (status == CTX_OK && operation->leaked)
		status = push_samples(reader, event, CTX_HEAP_METRIC_LEAK_BYTES, operation->leaked_size, err);
	return status;
}
