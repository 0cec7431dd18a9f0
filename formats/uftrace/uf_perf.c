#include "formats/uftrace/uf_perf.h"

#include "formats/perfevent/pe_record.h"
#include "formats/uftrace/uf_record.h"

#include <stdio.h>

static const struct ctx_pe_layout layout = {.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
					    .n_trailer_words = 2};

/* The fields of a kind of record. False: not an event. */
static bool take(struct ctx_uf_perf *perf, const struct perf_event_header *header, struct ctx_pe_wire body,
		 struct ctx_uf_perf_event *ret)
{
	struct ctx_pe_task task;
	struct ctx_pe_comm comm;

	switch (header->type) {
	case PERF_RECORD_SWITCH:
		ret->kind = !(header->misc & PERF_RECORD_MISC_SWITCH_OUT)	 ? CTX_UF_PERF_RUNS
			    : header->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? CTX_UF_PERF_PREEMPTED
										 : CTX_UF_PERF_BLOCKED;
		return true;
	case PERF_RECORD_EXIT:
		if (ctx_pe_task_parse(body, &task, NULL) != CTX_OK)
			return false;
		ret->kind = CTX_UF_PERF_EXIT;
		ret->tid = task.tid;
		return true;
	case PERF_RECORD_COMM:
		if (ctx_pe_comm_parse(body, &comm, NULL) != CTX_OK)
			return false;
		ret->kind = CTX_UF_PERF_NAME;
		ret->tid = comm.tid;
		snprintf(perf->name, sizeof(perf->name), "%s", comm.name);
		ret->name = perf->name;
		return true;
	default:
		return false;
	}
}

enum ctx_status ctx_uf_perf_next(struct ctx_uf_perf *perf, struct ctx_uf_perf_event *ret, struct ctx_err *err)
{
	struct ctx_uf_stream *stream = &perf->stream;

	while (!perf->is_bad) {
		struct perf_event_header header;
		struct ctx_pe_trailer trailer;
		const uint8_t *record;
		enum ctx_status status = ctx_uf_stream_need(stream, sizeof(header), err);

		if (status != CTX_OK)
			return status;
		if (ctx_uf_stream_left(stream) == 0)
			return CTX_END;
		header.size = 0;
		if (ctx_uf_stream_left(stream) >= sizeof(header))
			header = ctx_pe_header_read(stream->bytes + stream->at, false);
		status = ctx_uf_stream_need(stream, header.size, err);
		if (status != CTX_OK)
			return status;
		record = stream->bytes + stream->at;
		if (header.size < sizeof(header) || ctx_uf_stream_left(stream) < header.size) {
			perf->is_bad = true;
			perf->bad_at = ctx_uf_stream_offset(stream);
			return CTX_END;
		}
		stream->at += header.size;
		if (!ctx_pe_trailer_parse(&layout, record, header.size, &trailer) ||
		    trailer.time_ns >= CTX_UF_TIME_END)
			continue;
		if (perf->last_ns < trailer.time_ns)
			perf->last_ns = trailer.time_ns;
		ret->time_ns = perf->last_ns;
		ret->tid = trailer.tid;
		if (take(perf, &header, ctx_pe_body(record, header.size, false), ret))
			return CTX_OK;
	}
	return CTX_END;
}
