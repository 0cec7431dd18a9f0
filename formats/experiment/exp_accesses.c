/*
 * Accesses to memory in the reader: blocks of them become operations (CTX_EV_TRACED), and samples of their
 * metrics.
 */
#include "formats/experiment/exp_reader_state.h"

bool ctx_exp_access_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet)
{
	return packet->operation < CTX_MEMORY_OPERATION_N &&
	       block->io->rest[packet->order].name <= block->io->n_names;
}

enum ctx_status ctx_exp_reader_fill_access(struct ctx_exp_reader *reader,
					   const struct ctx_exp_open_block *block, struct ctx_event *event,
					   struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	const struct ctx_exp_io_rest *rest = &block->io->rest[packet->order];
	const char *name = ctx_exp_io_block_name(block->io, packet);
	enum ctx_status status = CTX_OK;
	uint32_t id = 0;

	if (name != NULL) /* the block may be gone before the event is used */
		status = ctx_strtab_add_text(&reader->mapped, name, &id, err);
	if (status != CTX_OK)
		return status;
	reader->operation = (struct ctx_traced){.kind = CTX_TRACED_MEMORY,
						.operation = (uint8_t)packet->operation,
						.latency = rest->duration_ns,
						.address = packet->size,
						.detail = rest->detail,
						.physical = rest->physical,
						.cpu = packet->cpu,
						.file = CTX_NONE,
						.descriptor = -1};
	event->traced.operation = &reader->operation;
	event->traced.file = name != NULL ? reader->mapped.strings[id] : NULL;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	status = ctx_exp_reader_push_traced(reader, event, CTX_MEMORY_METRIC_ACCESSES, 1, err);
	if (status != CTX_OK || rest->duration_ns == 0 || rest->duration_ns > CTX_TRACED_WEIGHT_MAX)
		return status;
	return ctx_exp_reader_push_traced(reader, event, CTX_MEMORY_METRIC_LATENCY, rest->duration_ns, err);
}
