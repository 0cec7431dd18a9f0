#include "collect/perfrecord.h"

/* Of every record but samples. */
struct trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, padding;
	uint64_t id;
};

uint64_t ctx_perf_record_time(const void *record)
{
	struct perf_event_header header = ctx_pe_header_read(record, false);
	uint64_t time;
	bool has_time;

	if (header.type == PERF_RECORD_SAMPLE)
		has_time = ctx_pe_word_at(record, header.size, ctx_pe_sample_time_at(CTX_PERF_SAMPLE_TYPE),
					  false, &time);
	else
		has_time = header.size >= sizeof(header) + sizeof(struct trailer) &&
			   ctx_pe_word_back(record, header.size, ctx_pe_trailer_time_at(CTX_PERF_SAMPLE_TYPE),
					    false, &time);
	return has_time ? time : 0;
}

static uint32_t event_of(const struct ctx_perf_layout *layout, uint64_t id)
{
	uint32_t event = ctx_map64_get(layout->event_of_id, id);

	return event < layout->n_events ? event : UINT32_MAX;
}

/* The leading fields and the empty call chain. */
static size_t size_without_lists(const struct ctx_pe_layout *layout)
{
	return CTX_PE_HEADER_BYTES + ((size_t)layout->n_words + 1) * sizeof(uint64_t);
}

static uint32_t event_of_foreign(const struct ctx_perf_layout *layout, size_t n)
{
	if (!layout->has_shared)
		return UINT32_MAX;
	return n == size_without_lists(&layout->events[layout->shared]) ? layout->shared
									: layout->shared_longer;
}

static enum ctx_status too_short(size_t n, struct ctx_err *err)
{
	return ctx_err_set(err, CTX_E_FORMAT, "perf record of %zu bytes is too short", n);
}

/* A sample of an unknown event has the fields that all our events have. */
static enum ctx_status parse_sample(const void *bytes, size_t n, const struct ctx_perf_layout *layout,
				    struct ctx_perf_record *record, struct ctx_err *err)
{
	static const struct ctx_pe_layout of_others = {.sample_type = CTX_PERF_SAMPLE_TYPE, .n_words = 5};
	enum ctx_status status;
	uint64_t id;

	if (!ctx_pe_word_at(bytes, n, ctx_pe_sample_id_at(CTX_PERF_SAMPLE_TYPE), false, &id))
		return too_short(n, err);
	record->event = event_of(layout, id);
	if (record->event == UINT32_MAX)
		record->event = event_of_foreign(layout, n);
	status =
		ctx_pe_sample_parse(record->event != UINT32_MAX ? &layout->events[record->event] : &of_others,
				    bytes, n, &record->sample, err);
	record->pid = (uint32_t)record->sample.pid;
	record->tid = (uint32_t)record->sample.tid;
	record->time_ns = record->sample.time_ns;
	record->cpu = record->sample.cpu;
	return status;
}

static enum ctx_status parse_comm(struct ctx_pe_wire body, struct ctx_perf_record *record,
				  struct ctx_err *err)
{
	struct ctx_pe_comm comm;
	enum ctx_status status = ctx_pe_comm_parse(body, &comm, err);

	record->pid = (uint32_t)comm.pid;
	record->tid = (uint32_t)comm.tid;
	record->comm = comm.name;
	return status;
}

static enum ctx_status parse_body(struct ctx_pe_wire body, const struct perf_event_header *header,
				  struct ctx_perf_record *record, struct ctx_err *err)
{
	enum ctx_status status;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		status = ctx_pe_mmap_parse(body, header, &record->mmap, err);
		record->pid = (uint32_t)record->mmap.pid;
		record->tid = (uint32_t)record->mmap.tid;
		return status;
	case PERF_RECORD_COMM:
		return parse_comm(body, record, err);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		status = ctx_pe_task_parse(body, &record->task, err);
		record->pid = (uint32_t)record->task.pid;
		record->tid = (uint32_t)record->task.tid;
		return status;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return ctx_pe_lost_parse(body, header, &record->lost, err);
	case PERF_RECORD_SWITCH_CPU_WIDE: /* ids: the next or previous task; the current one is in the trailer */
		return ctx_pe_wire_left(&body) < 2 * sizeof(uint32_t)
			       ? too_short(ctx_pe_wire_left(&body), err)
			       : CTX_OK;
	default:
		return CTX_OK;
	}
}

enum ctx_status ctx_perf_record_parse(const void *bytes, size_t n, const struct ctx_perf_layout *layout,
				      struct ctx_perf_record *ret, struct ctx_err *err)
{
	struct perf_event_header header;
	struct trailer trailer;

	if (n < sizeof(header))
		return too_short(n, err);
	memcpy(&header, bytes, sizeof(header));
	if (header.size != n)
		return ctx_err_set(err, CTX_E_FORMAT, "record of %zu bytes says that it has %u", n,
				   header.size);
	ret->type = header.type;
	ret->misc = header.misc;
	if (header.type == PERF_RECORD_SAMPLE)
		return parse_sample(bytes, n, layout, ret, err);
	if (n < sizeof(header) + sizeof(trailer))
		return too_short(n, err);
	memcpy(&trailer, (const uint8_t *)bytes + n - sizeof(trailer), sizeof(trailer));
	ret->pid = trailer.pid;
	ret->tid = trailer.tid;
	ret->time_ns = trailer.time;
	ret->cpu = (int32_t)trailer.cpu;
	ret->event = event_of(layout, trailer.id);
	return parse_body(ctx_pe_body(bytes, n - sizeof(trailer), false), &header, ret, err);
}

void ctx_perf_record_drop_user(struct ctx_perf_record *record)
{
	struct ctx_pe_sample *sample = &record->sample;
	size_t n = 0;

	while (n < sample->n_chain && ctx_pe_word(sample->chain + 8 * n, false) != PERF_CONTEXT_USER)
		n++;
	sample->n_chain = n;
	sample->user_regs = sample->user_stack = NULL;
	sample->user_stack_bytes = 0;
}
