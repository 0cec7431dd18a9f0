/*
 * perf.data read by tests: all events of a source as lines of text, so that two readings are
 * compared as texts; the guarantees of sources are checked.
 */
#ifndef CTX_TESTS_UNIT_PERFDATA_READING_H
#define CTX_TESTS_UNIT_PERFDATA_READING_H

#include "formats/perfdata/perfdata.h"
#include "tests/unit/perfdata_files.h"
#include "tests/unit/source_check.h"

#include <inttypes.h>

struct pd_reading {
	enum ctx_status status; /* of opening or reading; CTX_OK: to the end */
	struct ctx_err err;
	struct ctx_buf events;	 /* a line for each, without damage and warnings; ends in a zero byte */
	struct ctx_buf damage;	 /* the same: lines */
	struct ctx_buf warnings; /* and properties that come at the end */
	struct ctx_buf head;	 /* metrics and duration */
	uint64_t samples, late, n_damage, lost, gaps, throttles;
	uint32_t n_processes, n_threads;
	bool closed;
	char format[64];
	char properties[1000]; /* "key=value\n" */
};

static inline void pd_reading_deinit(struct pd_reading *reading)
{
	ctx_buf_deinit(&reading->events);
	ctx_buf_deinit(&reading->damage);
	ctx_buf_deinit(&reading->warnings);
	ctx_buf_deinit(&reading->head);
	*reading = (struct pd_reading){0};
}

static inline const char *pd_lines(const struct ctx_buf *buf)
{
	return buf->bytes != NULL ? (const char *)buf->bytes : "";
}

static inline void pd_note_start(struct ctx_buf *out, const struct ctx_event *event)
{
	if (event->kind == CTX_EV_PROCESS_START)
		ctx_buf_printf(out, "%" PRIu64 " process %u pid %lld of %d %s [%s]\n", event->time_ns,
			       event->process, (long long)event->process_start.pid,
			       (int)event->process_start.parent, event->process_start.command,
			       event->process_start.lineage);
	else
		ctx_buf_printf(out, "%" PRIu64 " thread %u tid %lld of %u %s\n", event->time_ns,
			       event->thread, (long long)event->thread_start.tid, event->process,
			       event->thread_start.name);
}

static inline void pd_note_sample(struct ctx_buf *out, const struct ctx_event *event)
{
	assert_non_null(event->sample.stack.frames); /* whole stacks, also where they are empty */
	ctx_buf_printf(out, "%" PRIu64 " sample %u/%u metric %u weight %" PRIu64 " cpu %d:", event->time_ns,
		       event->process, event->thread, event->sample.metric, event->sample.weight,
		       event->sample.cpu);
	for (uint32_t i = 0; i < event->sample.stack.n_frames; i++)
		ctx_buf_printf(out, " %" PRIx64, event->sample.stack.frames[i]);
	ctx_buf_put_text(out, "\n");
}

static inline void pd_note_state(struct ctx_buf *out, const struct ctx_event *event)
{
	ctx_buf_printf(out, "%" PRIu64 " state %u/%u %s cpu %d", event->time_ns, event->process,
		       event->thread, ctx_state_change_text(event->state.change), event->state.cpu);
	if (ctx_state_change_has_waker(event->state.change))
		ctx_buf_printf(out, " by %d %s", (int)event->state.waker,
			       event->state.external_waker != NULL ? event->state.external_waker : "-");
	ctx_buf_put_text(out, ":");
	for (uint32_t i = 0; i < event->state.stack.n_frames; i++)
		ctx_buf_printf(out, " %" PRIx64, event->state.stack.frames[i]);
	ctx_buf_put_text(out, "\n");
}

static inline void pd_note_traced(struct ctx_buf *out, const struct ctx_event *event)
{
	const struct ctx_traced *operation = event->traced.operation;

	ctx_buf_printf(
		out, "%" PRIu64 " %s %u/%u %s %" PRIx64 " %" PRIu64 " %" PRIx64 " %" PRIx64 "%s in %s:",
		event->time_ns, ctx_traced_kind_name((enum ctx_traced_kind)operation->kind), event->process,
		event->thread,
		ctx_traced_operation_name((enum ctx_traced_kind)operation->kind, operation->operation),
		operation->address, operation->size, operation->old_address, operation->leaked_size,
		operation->failed ? " failed" : "", event->traced.file != NULL ? event->traced.file : "-");
	for (uint32_t i = 0; i < event->traced.stack.n_frames; i++)
		ctx_buf_printf(out, " %" PRIx64, event->traced.stack.frames[i]);
	ctx_buf_put_text(out, "\n");
}

static inline void pd_note(struct pd_reading *reading, const struct ctx_event *event)
{
	struct ctx_buf *out = &reading->events;

	switch (event->kind) {
	case CTX_EV_PROCESS_START:
	case CTX_EV_THREAD_START:
		pd_note_start(out, event);
		break;
	case CTX_EV_PROCESS_EXIT:
		ctx_buf_printf(out, "%" PRIu64 " end of process %u\n", event->time_ns, event->process);
		break;
	case CTX_EV_THREAD_EXIT:
		ctx_buf_printf(out, "%" PRIu64 " end of thread %u\n", event->time_ns, event->thread);
		break;
	case CTX_EV_THREAD_NAME:
		ctx_buf_printf(out, "%" PRIu64 " name of %u: %s\n", event->time_ns, event->thread,
			       event->thread_name);
		break;
	case CTX_EV_MAP:
		ctx_buf_printf(out, "%" PRIu64 " map %d %" PRIx64 "+%" PRIx64 " %s@%" PRIx64 " id=%s f=%s\n",
			       event->time_ns, (int)event->process, event->map.address, event->map.size,
			       event->map.path, event->map.file_offset, event->map.build_id,
			       event->map.function);
		break;
	case CTX_EV_UNMAP:
		ctx_buf_printf(out, "%" PRIu64 " unmap %d %" PRIx64 "+%" PRIx64 "\n", event->time_ns,
			       (int)event->process, event->map.address, event->map.size);
		break;
	case CTX_EV_SAMPLE:
		pd_note_sample(out, event);
		break;
	case CTX_EV_STATE:
		pd_note_state(out, event);
		break;
	case CTX_EV_TRACED:
		pd_note_traced(out, event);
		break;
	case CTX_EV_LOST:
		ctx_buf_printf(out, "%" PRIu64 " lost %" PRIu64, event->time_ns, event->lost.loss.count);
		if (event->lost.loss.located)
			ctx_buf_printf(out, ", on %d in %" PRIu64 "-%" PRIu64, event->lost.loss.cpu,
				       event->lost.loss.time.begin_ns, event->lost.loss.time.end_ns);
		ctx_buf_put_text(out, "\n");
		reading->lost += event->lost.loss.count;
		reading->gaps += event->lost.loss.located;
		break;
	case CTX_EV_THROTTLE:
		ctx_buf_printf(out, "%" PRIu64 " throttle %" PRIu64 "\n", event->time_ns,
			       event->lost.loss.count);
		reading->throttles++;
		break;
	case CTX_EV_DAMAGE:
		ctx_buf_printf(&reading->damage, "%s\n", event->text);
		reading->n_damage++;
		break;
	case CTX_EV_WARNING:
		ctx_buf_printf(&reading->warnings, "%s\n", event->text);
		break;
	case CTX_EV_PROPERTY:
		ctx_buf_printf(&reading->warnings, "%s: %s\n", event->property.key, event->property.value);
		break;
	default:
		fail_msg("an event of kind %d, which perf.data has none of", event->kind);
	}
}

static inline void pd_note_info(struct pd_reading *reading, const struct ctx_source_info *info)
{
	size_t n = 0;

	ctx_buf_printf(&reading->head, "duration %" PRIu64 "\n", info->duration_ns);
	for (uint32_t i = 0; i < info->n_metrics; i++)
		ctx_buf_printf(&reading->head, "metric %s (%s)\n", info->metrics[i].name,
			       ctx_unit_word(info->metrics[i].unit));
	reading->closed = info->closed;
	snprintf(reading->format, sizeof(reading->format), "%s", info->format);
	for (size_t i = 0; i < info->n_properties && n < sizeof(reading->properties); i++)
		n += (size_t)snprintf(reading->properties + n, sizeof(reading->properties) - n, "%s=%s\n",
				      info->properties[i].key, info->properties[i].value);
}

/* Reads all; the failure to open or in the middle is in the reading. Deinit it in any case. */
static inline void pd_read(const char *path, struct pd_reading *reading)
{
	struct source_check check = {0};
	struct ctx_event_source *source = NULL;
	struct ctx_event event;

	*reading = (struct pd_reading){0};
	reading->status = ctx_perfdata_open(path, &source, &reading->err);
	if (reading->status != CTX_OK)
		return;
	pd_note_info(reading, &source->info);
	while (memset(&event, 0xa5, sizeof(event)),
	       (reading->status = source->next(source, &event, &reading->err)) == CTX_OK) {
		source_check_event(&check, &source->info, &event);
		pd_note(reading, &event);
		assert_true(source->progress(source) <= source->info.bytes);
	}
	if (reading->status == CTX_END) {
		reading->status = CTX_OK;
		assert_int_equal(source->next(source, &event, &reading->err), CTX_END); /* and stays so */
	}
	source->close(source);
	reading->samples = check.samples;
	reading->late = check.late;
	reading->n_processes = check.n_processes;
	reading->n_threads = (uint32_t)check.n_threads;
	source_check_deinit(&check);
	ctx_buf_put_u8(&reading->events, 0);
	ctx_buf_put_u8(&reading->damage, 0);
	ctx_buf_put_u8(&reading->warnings, 0);
	ctx_buf_put_u8(&reading->head, 0);
}

static inline void pd_read_bytes(const struct ctx_buf *bytes, struct pd_reading *reading)
{
	struct pd_memory_file file = pd_memory_open(bytes);

	pd_read(file.path, reading);
	pd_memory_close(&file);
}

static inline void pd_read_form(const struct pd_recording *recording, const struct pd_form *form,
				struct pd_reading *reading)
{
	struct ctx_buf bytes = {0};

	pd_write(recording, form, &bytes);
	pd_read_bytes(&bytes, reading);
	ctx_buf_deinit(&bytes);
}

#endif
