#include "formats/perfdata/pd_scan.h"

#include "formats/perfdata/pd_stream.h"
#include "formats/perfevent/pe_wire.h"

#include <string.h>

/* What perf before 6.14 gives the sums of --off-cpu for a time. */
#define OFF_CPU_TIME (~UINT64_C(0) << 32)

enum { UPDATE_UNIT = 0, UPDATE_SCALE = 1, UPDATE_NAME = 2 };

static struct ctx_pe_wire body_of(const struct ctx_pd_record *record, bool swap)
{
	return ctx_pe_body(record->bytes, record->header.size, swap);
}

/* HEADER_ATTR: an attr, then ids up to the end of the record. */
static enum ctx_status take_attr(struct ctx_pd_file *file, const struct ctx_pd_record *record,
				 struct ctx_err *err)
{
	struct ctx_pe_wire wire = body_of(record, file->swap);
	size_t n = ctx_pe_wire_left(&wire);
	const uint8_t *attr = wire.at;
	struct ctx_err why = {0};
	enum ctx_status status = ctx_pd_events_add(&file->events, attr, n, file->swap, &why);
	uint32_t size;

	if (status == CTX_E_FORMAT)
		return ctx_pd_file_damage(file, why.msg, err);
	if (status != CTX_OK)
		return ctx_err_nomem(err);
	ctx_pe_wire_u32(&wire);
	size = ctx_pe_wire_u32(&wire);
	wire = ctx_pe_wire_make(attr, n, file->swap);
	ctx_pe_wire_bytes(&wire, size != 0 ? size : 64);
	while (status == CTX_OK && ctx_pe_wire_left(&wire) >= 8)
		status = ctx_pd_events_add_id(&file->events, ctx_pe_wire_u64(&wire),
					      (uint32_t)file->events.n - 1, err);
	return status == CTX_OK ? ctx_pd_events_settle(&file->events, err) : status;
}

/* EVENT_UPDATE: an attribute of the event with this id; only the name is used. */
static enum ctx_status take_update(struct ctx_pd_file *file, const struct ctx_pd_record *record,
				   struct ctx_err *err)
{
	struct ctx_pe_wire wire = body_of(record, file->swap);
	uint64_t kind = ctx_pe_wire_u64(&wire);
	uint32_t event = ctx_map64_get(&file->events.by_id, ctx_pe_wire_u64(&wire));
	const char *name;

	if (wire.failed || kind != UPDATE_NAME || event == CTX_MAP64_NONE)
		return CTX_OK;
	name = ctx_pe_wire_text(&wire, ctx_pe_wire_left(&wire));
	if (name == NULL || name[0] == '\0')
		return CTX_OK;
	return ctx_pd_events_name(&file->events, event, name, strlen(name), err);
}

static enum ctx_status take_feature(struct ctx_pd_file *file, const struct ctx_pd_record *record,
				    struct ctx_err *err)
{
	struct ctx_pe_wire wire = body_of(record, file->swap);
	uint64_t feature = ctx_pe_wire_u64(&wire);

	if (wire.failed || feature >= CTX_PD_FEATURE_BITS)
		return CTX_OK;
	return ctx_pd_facts_add(&file->facts, (uint32_t)feature, wire, err);
}

static void take_time(struct ctx_pd_file *file, const struct ctx_pd_record *record)
{
	uint64_t time = ctx_pd_record_time(&file->events, record->bytes, &record->header);

	if (time == CTX_PD_NO_TIME || time == 0 || time == OFF_CPU_TIME)
		return;
	if (time < file->first_sample)
		file->first_sample = time;
	if (time > file->last_sample)
		file->last_sample = time;
}

static enum ctx_status take(struct ctx_pd_file *file, const struct ctx_pd_part *part,
			    const struct ctx_pd_record *record, struct ctx_err *err)
{
	struct ctx_pe_wire wire = body_of(record, file->swap);

	switch (record->header.type) {
	case PERF_RECORD_SAMPLE:
		take_time(file, record);
		return CTX_OK;
	case CTX_PD_HEADER_ATTR:
		return file->pipe ? take_attr(file, record, err) : CTX_OK;
	case CTX_PD_EVENT_UPDATE:
		return file->pipe ? take_update(file, record, err) : CTX_OK;
	case CTX_PD_HEADER_FEATURE:
		return file->pipe ? take_feature(file, record, err) : CTX_OK;
	case CTX_PD_HEADER_TRACING_DATA:
		return file->pipe ? ctx_pd_file_tracing(file, part, record->offset + record->header.size,
							ctx_pe_wire_u32(&wire), err)
				  : CTX_OK;
	case CTX_PD_HEADER_BUILD_ID:
		return ctx_pd_facts_add_build_id(&file->facts, record->header.misc, wire, err);
	default:
		return CTX_OK;
	}
}

static enum ctx_status scan_part(struct ctx_pd_file *file, const struct ctx_pd_part *part,
				 struct ctx_err *err)
{
	struct ctx_pd_stream stream;
	struct ctx_pd_record record;
	enum ctx_status status;

	ctx_pd_stream_init(&stream, part, file->swap);
	do {
		status = ctx_pd_stream_next(&stream, &record, err);
		if (status == CTX_OK)
			status = take(file, part, &record, err);
	} while (status == CTX_OK);
	ctx_pd_stream_deinit(&stream);
	return status == CTX_END ? CTX_OK : status;
}

enum ctx_status ctx_pd_scan(struct ctx_pd_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	file->first_sample = UINT64_MAX;
	file->last_sample = 0;
	for (size_t i = 0; i < file->n_parts && status == CTX_OK; i++)
		status = scan_part(file, &file->parts[i], err);
	return status;
}
