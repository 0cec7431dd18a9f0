/*
 * Calls in the reader: a block is gone through once when it is loaded, so that one that is damaged is left out whole, and then
 * again, event by event.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"

#include <string.h>

#define COUNTED 128u /* so many events count as one packet: a loop of calls takes a byte for some of them */

static enum ctx_status begin(struct ctx_exp_open_calls *calls, const struct ctx_exp_block_header *header,
			     struct ctx_err *err)
{
	const struct ctx_bytes payload = {calls->payload.bytes, calls->payload.n};

	return ctx_exp_calls_begin(&calls->in, payload, header->first_ns, header->n_records, err);
}

static enum ctx_status check(struct ctx_exp_open_calls *calls, const struct ctx_exp_block_header *header,
			     struct ctx_err *err)
{
	enum ctx_status status = begin(calls, header, err);
	struct ctx_exp_call call;
	uint32_t kept;

	while (status == CTX_OK)
		status = ctx_exp_calls_next(&calls->in, &call, &kept, err);
	if (status != CTX_END)
		return status;
	return calls->in.time_ns <= header->last_ns
		       ? CTX_OK
		       : ctx_err_set(err, CTX_E_FORMAT, "a call is outside of its block");
}

enum ctx_status ctx_exp_reader_decode_calls(struct ctx_exp_reader *reader,
					    const struct ctx_exp_block_header *header,
					    struct ctx_exp_open_block *block, struct ctx_err *err)
{
	struct ctx_exp_open_calls *calls;
	enum ctx_status status;

	if (header->n_records > CTX_EXP_CALLS_READ || header->process == CTX_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "block of %u calls", header->n_records);
	status = ctx_exp_reader_has_room(reader, CTX_EXP_COUNTED_PACKETS,
					 ((uint64_t)header->n_records + COUNTED - 1) / COUNTED, err);
	if (status != CTX_OK)
		return status;
	calls = block->calls = ctx_calloc(1, sizeof(*calls));
	if (calls == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put(&calls->payload, reader->file.payload.bytes, reader->file.payload.n);
	status = ctx_buf_check(&calls->payload, err);
	if (status == CTX_OK)
		status = check(calls, header, err);
	if (status == CTX_OK)
		status = begin(calls, header, err);
	if (status == CTX_OK)
		status = ctx_exp_calls_next(&calls->in, &calls->next, &calls->kept, err);
	if (status == CTX_OK)
		status = ctx_exp_log_process(&reader->log, header->process, &block->process, err);
	if (status == CTX_OK)
		status = ctx_exp_log_thread(&reader->log, calls->in.thread, block->process, &calls->thread,
					    err);
	block->n = header->n_records;
	block->bytes =
		sizeof(*calls) + calls->payload.cap + calls->in.functions_cap * sizeof(*calls->in.functions);
	return status;
}

/* Of a counter among those of the recording. */
static unsigned place_of(uint32_t counters, uint8_t counter)
{
	return (unsigned)__builtin_popcount(counters & ((1u << counter) - 1));
}

enum ctx_status ctx_exp_reader_fill_call(struct ctx_exp_reader *reader, struct ctx_exp_open_block *block,
					 struct ctx_event *event, struct ctx_err *err)
{
	struct ctx_exp_open_calls *calls = block->calls;
	enum ctx_status status;

	event->time_ns = calls->next.time_ns;
	event->call = (struct ctx_event_call){
		.kept = calls->kept,
		.frame = calls->next.function != 0 ? ctx_frame_address(calls->next.function) : 0,
		.code = CTX_CALL_INSTRUMENTED,
		.unwound = calls->next.unwound,
		.resumed = calls->next.resumed,
		.is_sum = calls->next.is_sum,
		.unseen = calls->next.unseen,
		.took_ns = calls->next.took_ns,
		.lost = calls->next.lost,
		.calls = calls->next.calls};
	if (calls->next.counted != 0) {
		memset(calls->counted, 0, sizeof(calls->counted));
		calls->counted[place_of(reader->log.begin.call_counters, calls->next.counter)] =
			calls->next.counted;
		event->call.counted = (reader->log.begin.call_counters >> calls->next.counter & 1) != 0
					      ? calls->counted
					      : NULL;
	}
	if (calls->next.function == CTX_EXP_CALLS_PRUNED)
		event->call.frame = CTX_FRAME_PRUNED;
	if (calls->next.lost != 0)
		event->call.frame = CTX_FRAME_LOST;
	status = ctx_exp_calls_next(&calls->in, &calls->next, &calls->kept, err);
	return status == CTX_END ? CTX_OK : status;
}
