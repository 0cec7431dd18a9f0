#include "formats/jfr/jfr_records.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX 4096u

static enum ctx_status add(const struct ctx_jfr_reading *reading, const struct ctx_jfr_record *record,
			   struct ctx_err *err)
{
	struct ctx_jfr_records *records = reading->records;
	enum ctx_status status = ctx_grow(&records->items, &records->cap, records->n + 1, err);

	if (status != CTX_OK)
		return status;
	records->items[records->n] = *record;
	records->items[records->n++].serial = records->serial++;
	return CTX_OK;
}

static int by_time(const void *left, const void *right)
{
	const struct ctx_jfr_record *a = left, *b = right;
	bool a_ends = a->kind == CTX_JFR_RECORD_END, b_ends = b->kind == CTX_JFR_RECORD_END;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a_ends != b_ends)
		return a_ends ? 1 : -1;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void ctx_jfr_records_sort(struct ctx_jfr_records *records)
{
	if (records->n != 0)
		qsort(records->items, records->n, sizeof(*records->items), by_time);
}

/* --- events --- */

struct context {
	const struct ctx_jfr_reading *reading;
	const struct ctx_jfr_owner *owner;
	const struct ctx_jfr_parsed *event;
};

static const struct ctx_jfr_value *value_of(const struct context *in, unsigned role)
{
	return &in->event->object.values[role];
}

/* A number that may be no number, or negative: 0 then. */
static uint64_t amount(const struct ctx_jfr_value *value)
{
	return value->number <= CTX_TRACED_WEIGHT_MAX ? value->number : 0;
}

/* The first of the fields of threads that the event has; else the VM's. */
static enum ctx_status thread_of(const struct context *in, uint32_t *ret, struct ctx_err *err)
{
	static const uint8_t roles[] = {CTX_JFR_SAMPLED_THREAD, CTX_JFR_THREAD, CTX_JFR_EVENT_THREAD};

	*ret = CTX_JFR_NONE;
	for (size_t i = 0; i < CTX_COUNT_OF(roles) && *ret == CTX_JFR_NONE; i++) {
		enum ctx_status status =
			ctx_jfr_names_thread(in->reading->names, in->owner, value_of(in, roles[i]), ret, err);

		if (status != CTX_OK)
			return status;
	}
	if (*ret == CTX_JFR_NONE)
		*ret = in->reading->lane;
	return CTX_OK;
}

/* The label of an interval, and the texts of its fields. */
static enum ctx_status label_of(const struct context *in, uint32_t *ret, struct ctx_err *err)
{
	const struct ctx_jfr_event_type *type = in->event->type;
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status;

	ctx_buf_put_text(&text, type->label);
	for (const uint8_t *role = type->more; *role != CTX_JFR_ROLES; role++) {
		size_t n = text.n;

		ctx_buf_put_text(&text, role == type->more ? ": " : ", ");
		ctx_jfr_text(in->owner->chunk, value_of(in, *role), &text);
		if (text.n == n + 2)
			text.n = n;
	}
	status = ctx_buf_check(&text, err);
	if (text.n > TEXT_BYTES_MAX)
		text.n = TEXT_BYTES_MAX;
	return status == CTX_OK ? ctx_strtab_add(&in->reading->names->texts, (const char *)text.bytes, text.n,
						 ret, err)
				: status;
}

static enum ctx_status on_sample(const struct context *in, struct ctx_jfr_record *record, struct ctx_err *err)
{
	const struct ctx_jfr_facts *facts = in->reading->facts;
	uint64_t samples = amount(value_of(in, CTX_JFR_SAMPLES));
	uint64_t period_ns = ctx_jfr_span_ns(in->owner->chunk, value_of(in, CTX_JFR_SAMPLING_PERIOD));

	if (period_ns == 0 || period_ns > CTX_TRACED_WEIGHT_MAX)
		period_ns = facts->period_ns[in->event->type->metric];
	record->metric = in->event->type->metric;
	record->weight = period_ns != 0 ? period_ns : 1;
	if (samples > 1 && samples < CTX_TRACED_WEIGHT_MAX / record->weight)
		record->weight *= samples;
	return add(in->reading, record, err);
}

static enum ctx_status on_wait(const struct context *in, struct ctx_jfr_record *record, struct ctx_err *err)
{
	enum ctx_status status = ctx_jfr_names_thread(
		in->reading->names, in->owner, value_of(in, CTX_JFR_PREVIOUS_OWNER), &record->other, err);

	record->kind = CTX_JFR_RECORD_TRACED;
	record->traced = CTX_TRACED_SYNC;
	record->operation = in->event->type->operation;
	record->number = value_of(in, CTX_JFR_ADDRESS)->number;
	record->failed = value_of(in, CTX_JFR_TIMED_OUT)->number != 0;
	return status == CTX_OK ? add(in->reading, record, err) : status;
}

static enum ctx_status on_io(const struct context *in, struct ctx_jfr_record *record, struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status;

	record->kind = CTX_JFR_RECORD_TRACED;
	record->traced = CTX_TRACED_IO;
	record->operation = in->event->type->operation;
	record->weight = amount(value_of(in, in->event->type->weight));
	ctx_jfr_text(in->owner->chunk, value_of(in, CTX_JFR_PATH), &text);
	if (text.n == 0)
		ctx_jfr_text(in->owner->chunk, value_of(in, CTX_JFR_HOST), &text);
	if (text.n > TEXT_BYTES_MAX)
		text.n = TEXT_BYTES_MAX;
	status = ctx_buf_check(&text, err);
	if (status == CTX_OK && text.n != 0)
		status = ctx_strtab_add(&in->reading->names->texts, (const char *)text.bytes, text.n,
					&record->text, err);
	return status == CTX_OK ? add(in->reading, record, err) : status;
}

static enum ctx_status on_counter(const struct context *in, struct ctx_jfr_record *record, const char *name,
				  int64_t value, struct ctx_err *err)
{
	enum ctx_status status = ctx_strtab_add_text(&in->reading->names->texts, name, &record->text, err);

	record->kind = CTX_JFR_RECORD_TRACED;
	record->traced = CTX_TRACED_MARK;
	record->operation = CTX_MARK_COUNTER;
	record->number = (uint64_t)value;
	return status == CTX_OK ? add(in->reading, record, err) : status;
}

static enum ctx_status on_cpu_load(const struct context *in, struct ctx_jfr_record *record,
				   struct ctx_err *err)
{
	static const struct {
		uint8_t role;
		const char *name;
	} loads[] = {{CTX_JFR_JVM_USER, "CPU load of the JVM, user (per mille)"},
		     {CTX_JFR_JVM_SYSTEM, "CPU load of the JVM, system (per mille)"},
		     {CTX_JFR_MACHINE_TOTAL, "CPU load of the machine (per mille)"}};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(loads) && status == CTX_OK; i++)
		status = on_counter(in, record, loads[i].name,
				    ctx_jfr_thousandths(in->owner->chunk, value_of(in, loads[i].role)), err);
	return status;
}

static enum ctx_status on_interval(const struct context *in, struct ctx_jfr_record *record,
				   struct ctx_err *err)
{
	enum ctx_status status = label_of(in, &record->text, err);

	record->kind = CTX_JFR_RECORD_TRACED;
	record->traced = CTX_TRACED_MARK;
	record->operation = in->event->type->handler == CTX_JFR_POINT ? CTX_MARK_POINT : CTX_MARK_END;
	return status == CTX_OK ? add(in->reading, record, err) : status;
}

static enum ctx_status on_event(const struct context *in, struct ctx_jfr_record *record, struct ctx_err *err)
{
	switch (in->event->type->handler) {
	case CTX_JFR_SAMPLE:
		return on_sample(in, record, err);
	case CTX_JFR_BYTES_SAMPLE:
		record->metric = in->event->type->metric;
		record->weight = amount(value_of(in, in->event->type->weight));
		return add(in->reading, record, err);
	case CTX_JFR_SLEEP:
		record->metric = in->event->type->metric;
		record->weight = record->duration_ns;
		return add(in->reading, record, err);
	case CTX_JFR_WAIT:
		return on_wait(in, record, err);
	case CTX_JFR_IO:
		return on_io(in, record, err);
	case CTX_JFR_INTERVAL:
	case CTX_JFR_POINT:
		return on_interval(in, record, err);
	case CTX_JFR_CPU_LOAD:
		return on_cpu_load(in, record, err);
	case CTX_JFR_HEAP:
		return on_counter(in, record, "Java heap in use (bytes)",
				  (int64_t)amount(value_of(in, CTX_JFR_HEAP_USED)), err);
	case CTX_JFR_THREAD_BEGIN:
	case CTX_JFR_THREAD_END:
		record->kind = in->event->type->handler == CTX_JFR_THREAD_END ? CTX_JFR_RECORD_END
									      : CTX_JFR_RECORD_BEGIN;
		return record->thread != in->reading->lane ? add(in->reading, record, err) : CTX_OK;
	default:
		return CTX_OK;
	}
}

/* Settings and the VM are facts, not records. */
static bool is_used(const struct ctx_jfr_parsed *event)
{
	return event->is_whole && !ctx_jfr_is_fact(event->type);
}

static bool has_stack(const struct ctx_jfr_event_type *type)
{
	return type->handler >= CTX_JFR_SAMPLE && type->handler <= CTX_JFR_IO;
}

enum ctx_status ctx_jfr_records_read(const struct ctx_jfr_reading *reading, const struct ctx_jfr_owner *owner,
				     struct ctx_err *err)
{
	struct ctx_jfr_event_map map CTX_CLEANUP(ctx_jfr_event_map_deinit) = {0};
	enum ctx_status status = ctx_jfr_events_map(owner->chunk, &map, err);
	struct ctx_jfr_parsed event;
	size_t at = CTX_JFR_HEADER_BYTES;

	ctx_jfr_names_restart(reading->names);
	while (status == CTX_OK && ctx_jfr_events_next(owner->chunk, &map, &at, &event)) {
		struct context in = {reading, owner, &event};
		struct ctx_jfr_record record = {
			.duration_ns = event.duration_ns, .other = CTX_JFR_NONE, .text = CTX_JFR_NONE};

		if (!is_used(&event))
			continue;
		record.time_ns = event.begin_ns + event.duration_ns;
		status = thread_of(&in, &record.thread, err);
		if (status == CTX_OK && has_stack(event.type))
			status = ctx_jfr_names_stack(reading->names, owner->chunk, &event.object,
						     &record.stack, err);
		if (status == CTX_OK)
			status = on_event(&in, &record, err);
	}
	return status;
}
