#include "formats/perfdata/pd_opening.h"

#include "base/buf.h"
#include "base/fileio.h"
#include "formats/perfdata/pd_record.h"
#include "formats/perfdata/pd_scan.h"

#define TRACING_BYTES_MAX ((size_t)64 << 20)

/* Copies the damage of the features, from the header or from records. */
static enum ctx_status take_damage(struct ctx_pd_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < file->facts.damage.n && status == CTX_OK; i++)
		status = ctx_pd_file_damage(file, file->facts.damage.lines[i], err);
	return status;
}

static enum ctx_status take_times(struct ctx_pd_file *file, struct ctx_err *err)
{
	const struct ctx_pd_facts *facts = &file->facts;
	enum ctx_status status;

	for (size_t i = 0; i < file->n_parts; i++)
		file->bytes += file->parts[i].end - file->parts[i].begin;
	status = ctx_pd_events_settle(&file->events, err);
	if (status != CTX_OK)
		return status;
	file->first_sample = facts->clock.first_sample_ns;
	file->last_sample = facts->clock.last_sample_ns;
	if (file->pipe || file->last_sample == 0 || file->last_sample == UINT64_MAX)
		status = ctx_pd_scan(file, err);
	return status;
}

/* Names of events: the file's own before those that follow from type and config. */
static enum ctx_status name_events(struct ctx_pd_file *file, struct ctx_err *err)
{
	struct ctx_pd_events *events = &file->events;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < events->n && status == CTX_OK; i++) {
		const struct ctx_pd_event *event = &events->items[i];
		struct ctx_pd_event_key key = {.index = i,
					       .n = events->n,
					       .id = event->first_id,
					       .type = event->type,
					       .config = event->config};
		size_t n = 0;
		const char *name = ctx_pd_facts_event_name(&file->facts, &key, &n);

		if (name != NULL)
			status = ctx_pd_events_name(events, (uint32_t)i, name, n, err);
	}
	return status;
}

/* Appends `n` bytes of the first part's file. False: they are not there, or memory ran out. */
static bool append(const struct ctx_pd_file *file, uint64_t offset, size_t n, struct ctx_buf *out)
{
	struct ctx_file_place place = {file->parts[0].fd, file->parts[0].name, offset};
	uint8_t *room = n <= TRACING_BYTES_MAX - out->n ? ctx_buf_reserve(out, n) : NULL;
	size_t got;

	if (room == NULL || ctx_file_pread(&place, room, n, &got, NULL) != CTX_OK)
		return false;
	out->n += n;
	return true;
}

/* The first record that is not SPLIT, or what the parts give together. False: there is none. */
static bool read_first(const struct ctx_pd_file *file, struct ctx_buf *out)
{
	uint64_t at = file->parts[0].begin;

	for (;;) {
		struct ctx_file_place place = {file->parts[0].fd, file->parts[0].name, at};
		uint8_t bytes[CTX_PE_HEADER_BYTES];
		struct perf_event_header header;
		size_t got, size;

		if (ctx_file_pread(&place, bytes, sizeof(bytes), &got, NULL) != CTX_OK)
			return false;
		header = ctx_pe_header_read(bytes, file->swap);
		size = ctx_pd_record_bytes(&header);
		if (header.type == CTX_PD_SIMPLEPERF_SPLIT_END || size <= sizeof(bytes))
			return out->n != 0;
		if (header.type != CTX_PD_SIMPLEPERF_SPLIT)
			return out->n == 0 && append(file, at, size, out);
		if (!append(file, at + sizeof(bytes), size - sizeof(bytes), out))
			return false;
		at += size;
	}
}

/*
 * simpleperf has the formats of tracepoints in the first record, with perf's type or its own: header,
 * u32 n, n bytes.
 */
static enum ctx_status take_first_tracing(struct ctx_pd_file *file, struct ctx_err *err)
{
	struct ctx_buf record CTX_AUTO_BUF = {0};
	struct ctx_pe_wire wire;
	uint32_t type, n;

	if (!read_first(file, &record))
		return record.failed ? ctx_err_nomem(err) : CTX_OK;
	wire = ctx_pe_wire_make(record.bytes, record.n, file->swap);
	type = ctx_pe_wire_u32(&wire);
	ctx_pe_wire_u32(&wire); /* the rest of the header */
	n = ctx_pe_wire_u32(&wire);
	if (wire.failed || (type != CTX_PD_SIMPLEPERF_TRACING && type != CTX_PD_HEADER_TRACING_DATA) ||
	    n == 0 || n > ctx_pe_wire_left(&wire))
		return CTX_OK;
	return ctx_pd_file_tracing_bytes(file, wire.at, n, err);
}

enum ctx_status ctx_pd_file_open(struct ctx_pd_file *file, const char *path, struct ctx_err *err)
{
	enum ctx_status status = ctx_pd_file_list(file, path, err);

	if (status == CTX_OK)
		status = ctx_pd_file_read(file, err);
	if (status == CTX_OK && !file->pipe)
		status = take_first_tracing(file, err);
	if (status == CTX_OK)
		status = take_times(file, err);
	if (status == CTX_OK)
		status = name_events(file, err);
	if (status == CTX_OK)
		status = take_damage(file, err);
	if (status == CTX_OK && file->events.n == 0)
		status = ctx_err_set(err, CTX_E_FORMAT, "%s: no event is described in it", path);
	return status;
}
