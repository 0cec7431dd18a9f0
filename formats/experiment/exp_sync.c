/*
 * Synchronisation in the reader: blocks of it become operations (CTX_EV_TRACED), and waits also samples of
 * their time.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"

#define FLAGS (CTX_SYNC_ORDER_HELD_READ | CTX_SYNC_ORDER_TAKEN_READ)

enum ctx_status ctx_exp_reader_decode_sync(struct ctx_exp_reader *reader,
					   const struct ctx_exp_block_header *header,
					   struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_bytes payload = {reader->file.payload.bytes, reader->file.payload.n};
	struct ctx_exp_sync_block out = {.packets = block->packets, .n = block->n};

	block->rests = ctx_calloc(block->n, sizeof(*block->rests));
	if (block->rests == NULL)
		return ctx_err_nomem(err);
	out.rests = block->rests;
	block->bytes += block->n * sizeof(*block->rests);
	return ctx_exp_decode_sync(payload, header->first_ns, &out, err);
}

static bool has_thread(unsigned operation)
{
	return operation != CTX_SYNC_ORDER && operation != CTX_SYNC_HOLD;
}

enum ctx_status ctx_exp_reader_translate_sync(struct ctx_exp_reader *reader,
					      const struct ctx_exp_open_block *block,
					      const struct ctx_exp_packet *packet, bool *ret_fine,
					      struct ctx_err *err)
{
	unsigned operation = packet->operation & CTX_EXP_SYNC_OPERATION;
	struct ctx_exp_sync_rest *rest = &block->rests[packet->order];
	enum ctx_status status;
	uint32_t row;

	*ret_fine = packet->operation <= (CTX_EXP_SYNC_OPERATION | CTX_EXP_SYNC_FAILED) &&
		    operation < CTX_SYNC_N && packet->duration_ns <= CTX_TRACED_WEIGHT_MAX &&
		    (operation != CTX_SYNC_ORDER || packet->duration_ns <= FLAGS) &&
		    (!has_thread(operation) || rest->other < CTX_NONE);
	if (!*ret_fine || !has_thread(operation) || rest->other == 0)
		return CTX_OK;
	status = ctx_exp_log_thread(&reader->log, (uint32_t)rest->other - 1, block->process, &row, err);
	if (status == CTX_OK)
		rest->other = (uint64_t)row + 1;
	return status;
}

uint32_t ctx_exp_sync_thread(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet)
{
	uint64_t other = block->rests[packet->order].other;

	return has_thread(packet->operation & CTX_EXP_SYNC_OPERATION) && other != 0 ? (uint32_t)other - 1
										    : CTX_NONE;
}

enum ctx_status ctx_exp_reader_fill_sync(struct ctx_exp_reader *reader,
					 const struct ctx_exp_open_block *block, struct ctx_event *event,
					 struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	const struct ctx_exp_sync_rest *rest = &block->rests[packet->order];
	uint32_t thread = ctx_exp_sync_thread(block, packet);
	struct ctx_traced *operation = &reader->operation;

	*operation = (struct ctx_traced){.kind = CTX_TRACED_SYNC,
					 .operation = (uint8_t)(packet->operation & CTX_EXP_SYNC_OPERATION),
					 .failed = (packet->operation & CTX_EXP_SYNC_FAILED) != 0,
					 .address = rest->object,
					 .other = thread != CTX_NONE ? reader->log.threads[thread].number
								     : CTX_NONE,
					 .cpu = -1,
					 .descriptor = -1};
	if (operation->operation == CTX_SYNC_ORDER) {
		operation->size = packet->duration_ns;
		operation->old_address = rest->other;
	} else {
		operation->duration_ns = packet->duration_ns;
	}
	if (operation->operation == CTX_SYNC_HOLD)
		operation->size = rest->other;
	event->traced.operation = operation;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	if (!ctx_traced_is_wait(operation))
		return CTX_OK;
	return ctx_exp_reader_push_traced(reader, event, CTX_SYNC_METRIC_TIME, operation->duration_ns, err);
}
