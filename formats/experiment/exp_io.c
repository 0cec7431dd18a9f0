#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"
#include "model/io_call.h"

#include <string.h>

enum metric {
	READ_TIME,
	READ_BYTES,
	READ_COUNT,
	WRITE_TIME,
	WRITE_BYTES,
	WRITE_COUNT,
	OTHER_TIME,
	OTHER_COUNT,
	ERROR_TIME,
	ERROR_COUNT,
	N_METRICS
};

#define TIME(name_, word_)                                                                                   \
	{                                                                                                    \
		.name = (name_), .word = (word_), .kind = CTX_METRIC_DURATION, .unit = CTX_UNIT_NS           \
	}
#define BYTES(name_, word_)                                                                                  \
	{                                                                                                    \
		.name = (name_), .word = (word_), .kind = CTX_METRIC_BYTES, .unit = CTX_UNIT_BYTES           \
	}
#define COUNT(name_, word_, of_)                                                                             \
	{                                                                                                    \
		.name = (name_), .word = (word_), .kind = CTX_METRIC_COUNT, .unit = CTX_UNIT_NONE,           \
		.of = (of_)                                                                                  \
	}

/* Names and words are those that gprofng's experiments have (formats/gprofng/gp_traced.c). */
static const struct ctx_source_metric metrics[N_METRICS] = {
	[READ_TIME] = TIME("Read Time", "ioreadtime"),
	[READ_BYTES] = BYTES("Read Bytes", "ioreadbytes"),
	[READ_COUNT] = COUNT("Read Count", "ioreadcnt", READ_TIME),
	[WRITE_TIME] = TIME("Write Time", "iowritetime"),
	[WRITE_BYTES] = BYTES("Write Bytes", "iowritebytes"),
	[WRITE_COUNT] = COUNT("Write Count", "iowritecnt", WRITE_TIME),
	[OTHER_TIME] = TIME("Other I/O Time", "ioothertime"),
	[OTHER_COUNT] = COUNT("Other I/O Count", "ioothercnt", OTHER_TIME),
	[ERROR_TIME] = TIME("I/O Error Time", "ioerrortime"),
	[ERROR_COUNT] = COUNT("I/O Error Count", "ioerrorcnt", ERROR_TIME),
};

enum ctx_status ctx_exp_reader_add_io_metrics(struct ctx_exp_reader *reader, struct ctx_err *err)
{
	struct ctx_source_info *info = &reader->source.info;
	struct ctx_source_metric *all;
	uint32_t n = info->n_metrics;

	if (!reader->index.has_io)
		return CTX_OK;
	all = ctx_calloc(n + N_METRICS, sizeof(*all));
	if (all == NULL)
		return ctx_err_nomem(err);
	if (n != 0)
		memcpy(all, info->metrics, n * sizeof(*all));
	for (uint32_t i = 0; i < N_METRICS; i++) {
		all[n + i] = metrics[i];
		all[n + i].of += metrics[i].kind == CTX_METRIC_COUNT ? n : 0;
	}
	reader->ios.metrics = all;
	reader->ios.first_metric = n;
	info->metrics = all;
	info->n_metrics = n + N_METRICS;
	return CTX_OK;
}

void ctx_exp_ios_deinit(struct ctx_exp_ios *ios)
{
	for (size_t i = 0; i < ios->n; i++)
		ctx_exp_io_descriptors_deinit(&ios->processes[i]);
	free(ios->processes);
	free(ios->metrics);
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
	status = ctx_exp_decode_io(payload, first_ns, io, err);
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

static enum ctx_status push_sample(struct ctx_exp_reader *reader, const struct ctx_event *event,
				   enum metric metric, uint64_t weight, struct ctx_err *err)
{
	struct ctx_event sample = *event;

	if (weight > UINT64_MAX / 2 - reader->ios.weight)
		return CTX_OK;
	reader->ios.weight += weight;
	sample.kind = CTX_EV_SAMPLE;
	sample.sample = (struct ctx_event_sample){.weight = weight,
						  .metric = reader->ios.first_metric + metric,
						  .cpu = -1,
						  .stack = event->traced.stack};
	return ctx_exp_reader_push(reader, &sample, NULL, err);
}

static enum ctx_status push_samples(struct ctx_exp_reader *reader, const struct ctx_event *event,
				    struct ctx_err *err)
{
	const struct ctx_traced *operation = event->traced.operation;
	bool reads = operation->operation == CTX_IO_READ, writes = operation->operation == CTX_IO_WRITE;
	enum metric time = operation->failed ? ERROR_TIME
			   : reads	     ? READ_TIME
			   : writes	     ? WRITE_TIME
					     : OTHER_TIME;
	enum ctx_status status = push_sample(reader, event, time, operation->duration_ns, err);

	if (status == CTX_OK && operation->size != 0)
		status = push_sample(reader, event, reads ? READ_BYTES : WRITE_BYTES, operation->size, err);
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
	reader->ios.operation = (struct ctx_traced){
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
	event->traced.operation = &reader->ios.operation;
	event->traced.file = file;
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	return push_samples(reader, event, err);
}
