#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"
#include "model/io_call.h"

void ctx_exp_ios_deinit(struct ctx_exp_ios *ios)
{
	for (size_t i = 0; i < ios->n; i++)
		ctx_exp_io_descriptors_deinit(&ios->processes[i]);
	free(ios->processes);
	ctx_exp_io_names_deinit(&ios->names);
}

enum ctx_status ctx_exp_reader_decode_io(struct ctx_exp_reader *reader, uint64_t first_ns,
					 struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_bytes payload = {reader->file.payload.bytes, reader->file.payload.n};
	struct ctx_exp_io_block *io = ctx_calloc(1, sizeof(*io));
	enum ctx_status status;

	if (io == NULL)
		return ctx_err_nomem(err);
	block->io = io;
	io->packets = block->packets;
	io->n = block->n;
	io->rest = ctx_calloc(block->n, sizeof(*io->rest));
	if (io->rest == NULL)
		return ctx_err_nomem(err);
	status = block->kind == CTX_EXP_BLOCK_ACCESSES ? ctx_exp_decode_accesses(payload, first_ns, io, err)
						       : ctx_exp_decode_io(payload, first_ns, io, err);
	block->bytes += block->n * sizeof(*io->rest) + payload.n; /* names have room for all of it */
	return status;
}

bool ctx_exp_io_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet)
{
	const struct ctx_exp_io_rest *rest = &block->io->rest[packet->order];

	return packet->operation != CTX_CALL_NONE && packet->operation < CTX_CALL_N &&
	       packet->size <= CTX_TRACED_WEIGHT_MAX && rest->duration_ns <= packet->time_ns &&
	       rest->name <= block->io->n_names;
}

/* The file that the operation is on, at its time. */
static enum ctx_status find_file(struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
				 const struct ctx_exp_packet *packet, const char **ret, struct ctx_err *err)
{
	struct ctx_exp_ios *ios = &reader->ios;
	const struct ctx_exp_io_rest *rest = &block->io->rest[packet->order];
	const struct ctx_exp_io_step step = {.begin_ns = packet->time_ns - rest->duration_ns,
					     .end_ns = packet->time_ns,
					     .size = packet->size,
					     .descriptor = rest->descriptor,
					     .error = rest->error,
					     .call = (uint8_t)packet->operation,
					     .name = ctx_exp_io_block_name(block->io, packet)};
	enum ctx_status status = ctx_grow(&ios->processes, &ios->cap, (size_t)block->process + 1, err);

	if (status != CTX_OK)
		return status;
	while (ios->n <= block->process)
		ios->processes[ios->n++] = (struct ctx_exp_io_descriptors){0};
	return ctx_exp_io_names_step(&ios->names, &ios->processes[block->process], &step, ret, err);
}

static enum ctx_status push_samples(struct ctx_exp_reader *reader, const struct ctx_event *event,
				    struct ctx_err *err)
{
	const struct ctx_traced *operation = event->traced.operation;
	enum ctx_status status = ctx_exp_reader_push_traced(reader, event, ctx_io_metric_of_time(operation),
							    operation->duration_ns, err);

	if (status == CTX_OK && operation->size != 0)
		status = ctx_exp_reader_push_traced(reader, event, ctx_io_metric_of_bytes(operation),
						    operation->size, err);
	return status;
}

enum ctx_status ctx_exp_reader_fill_io(struct ctx_exp_reader *reader, const struct ctx_exp_open_block *block,
				       struct ctx_event *event, bool *ret_some, struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	const struct ctx_exp_io_rest *rest = &block->io->rest[packet->order];
	enum ctx_io_operation operation = ctx_io_call_operation(packet->operation);
	const char *file = NULL;
	enum ctx_status status = find_file(reader, block, packet, &file, err);

	*ret_some = packet->operation != CTX_CALL_NAME;
	if (status != CTX_OK || !*ret_some)
		return status;
	reader->operation = (struct ctx_traced){
		.kind = CTX_TRACED_IO,
		.operation = (uint8_t)operation,
		.duration_ns = rest->duration_ns,
		.size = operation <= CTX_IO_WRITE && rest->error == 0 ? packet->size : 0,
		.call = packet->operation,
		.error = rest->error,
		.cpu = -1,
		.descriptor = rest->descriptor,
		.failed = rest->error != 0,
	};
	event->traced.operation = &reader->operation;
	event->traced.file = file;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	return push_samples(reader, event, err);
}
