/*
 * From records in order of time to events of the source: each thread has a stack of open slices.
 *
 *	due (ends of slices and threads, a heap) --.
 *	                                           +--> the earlier one --> open slices --> events
 *	records -----------------------------------'
 *
 * At equal times ends come before begins. A slice that would end after the one around it is cut; the end of a slice
 * ends those inside that are still open.
 */
#include "base/heap.h"
#include "base/mem.h"
#include "formats/traceevent/te_reader.h"

#include <stdlib.h>
#include <string.h>

#define NO_END INT64_MAX
#define SEARCH_MAX 4096u /* open slices that an end is compared with: files may be hostile */

static uint64_t since_begin(const struct ctx_te_reader *reader, int64_t time_ns)
{
	return (uint64_t)(time_ns - reader->begin_ns);
}

static enum ctx_status add_event(struct ctx_te_reader *reader, enum ctx_event_kind kind, int64_t time_ns,
				 struct ctx_event **ret, struct ctx_err *err)
{
	struct ctx_te_later *later = &reader->later;
	enum ctx_status status = ctx_grow(&later->items, &later->cap, later->n + 1, err);

	if (status != CTX_OK)
		return status;
	*ret = &later->items[later->n++];
	**ret = (struct ctx_event){.kind = kind, .time_ns = since_begin(reader, time_ns)};
	return CTX_OK;
}

static bool is_due_before(const void *a, const void *b)
{
	const struct ctx_te_due *one = a, *other = b;

	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns;
	return one->kind != other->kind ? one->kind < other->kind : one->serial > other->serial;
}

static enum ctx_status add_due(struct ctx_te_reader *reader, const struct ctx_te_due *due,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&reader->due, &reader->due_cap, reader->n_due + 1, err);

	if (status != CTX_OK)
		return status;
	reader->due[reader->n_due++] = *due;
	ctx_heap_rise(reader->due, reader->n_due, sizeof(*due), is_due_before);
	return CTX_OK;
}

/* Announcements */

static const char *name_or_nothing(const struct ctx_te_reader *reader, uint32_t name)
{
	return name != CTX_TE_NO_NAME ? ctx_strtab_get(&reader->model.names, name) : "";
}

static enum ctx_status start_process(struct ctx_te_reader *reader, uint32_t index, int64_t time_ns,
				     struct ctx_err *err)
{
	struct ctx_te_process *process = &reader->model.processes[index];
	struct ctx_event *event;
	enum ctx_status status = add_event(reader, CTX_EV_PROCESS_START, time_ns, &event, err);

	if (status != CTX_OK)
		return status;
	event->process = process->number = reader->n_processes++;
	event->process_start =
		(struct ctx_event_process_start){.pid = process->pid,
						 .parent = CTX_NONE,
						 .command = name_or_nothing(reader, process->name),
						 .lineage = ""};
	return add_due(reader, &(struct ctx_te_due){process->last_ns, 0, index, CTX_TE_PROCESS_ENDS}, err);
}

/* Announces a thread with its first event. */
static enum ctx_status start_thread(struct ctx_te_reader *reader, uint32_t index, int64_t time_ns,
				    struct ctx_err *err)
{
	struct ctx_te_thread *thread = &reader->model.threads[index];
	struct ctx_event *event;
	enum ctx_status status = CTX_OK;

	if (thread->number != CTX_NONE)
		return CTX_OK;
	if (reader->model.processes[thread->process].number == CTX_NONE)
		status = start_process(reader, thread->process, time_ns, err);
	if (status == CTX_OK)
		status = add_event(reader, CTX_EV_THREAD_START, time_ns, &event, err);
	if (status != CTX_OK)
		return status;
	event->process = reader->model.processes[thread->process].number;
	event->thread = thread->number = reader->n_threads++;
	event->thread_start.tid = thread->tid;
	event->thread_start.name = name_or_nothing(reader, thread->name);
	return thread->is_lane
		       ? CTX_OK
		       : add_due(reader, &(struct ctx_te_due){thread->last_ns, 0, index, CTX_TE_THREAD_ENDS},
				 err);
}

static enum ctx_status announce_function(struct ctx_te_reader *reader, uint32_t index, struct ctx_err *err)
{
	struct ctx_te_function *function = &reader->model.functions[index];
	struct ctx_event *event;
	enum ctx_status status;

	if (function->is_announced)
		return CTX_OK;
	function->is_announced = true;
	status = add_event(reader, CTX_EV_FUNCTION, reader->begin_ns, &event, err);
	if (status != CTX_OK)
		return status;
	event->function = (struct ctx_event_function){
		.id = index,
		.name = ctx_strtab_get(&reader->model.names, function->name),
		.module = function->category != CTX_TE_NO_NAME
				  ? ctx_strtab_get(&reader->model.names, function->category)
				  : reader->file_name};
	return CTX_OK;
}

/* Slices */

/* When something happens to a thread, and its CPU time then; -1 unknown. */
struct instant {
	int64_t time_ns, cpu_ns;
};

/* A call event of the thread, with its CPU time since the one before. */
static enum ctx_status add_call(struct ctx_te_reader *reader, struct ctx_te_thread *thread,
				const struct instant *now, struct ctx_event **ret, struct ctx_err *err)
{
	enum ctx_status status = add_event(reader, CTX_EV_CALL, now->time_ns, ret, err);

	if (status != CTX_OK)
		return status;
	(*ret)->process = reader->model.processes[thread->process].number;
	(*ret)->thread = thread->number;
	(*ret)->call.code = CTX_CALL_INSTRUMENTED;
	if (!reader->has_cpu || now->cpu_ns < 0)
		return CTX_OK;
	if (thread->cpu_ns >= 0 && now->cpu_ns >= thread->cpu_ns) {
		reader->cpu_delta = (uint64_t)(now->cpu_ns - thread->cpu_ns);
		(*ret)->call.counted = &reader->cpu_delta;
	}
	thread->cpu_ns = now->cpu_ns;
	return CTX_OK;
}

struct slice {
	uint32_t thread, function;
	int64_t begin_ns, end_ns; /* NO_END: its end event is to come */
	int64_t cpu_ns, cpu_end_ns;
};

static enum ctx_status begin_slice(struct ctx_te_reader *reader, const struct slice *slice,
				   struct ctx_err *err)
{
	struct ctx_te_thread *thread = &reader->model.threads[slice->thread];
	struct ctx_te_open open = {.end_ns = slice->end_ns,
				   .cpu_end_ns = slice->cpu_end_ns,
				   .serial = ++reader->serial,
				   .function = slice->function};
	int64_t around_ns = thread->n_open != 0 ? thread->open[thread->n_open - 1].end_ns : NO_END;
	struct ctx_event *event;
	enum ctx_status status = announce_function(reader, slice->function, err);

	if (open.end_ns != NO_END && open.end_ns > around_ns) {
		reader->sums.cut++;
		if (open.end_ns - around_ns > reader->sums.cut_ns)
			reader->sums.cut_ns = open.end_ns - around_ns;
		open.end_ns = around_ns;
		open.cpu_end_ns = -1;
	}
	if (status == CTX_OK)
		status = ctx_grow(&thread->open, &thread->open_cap, thread->n_open + 1, err);
	if (status == CTX_OK)
		status = add_call(reader, thread, &(struct instant){slice->begin_ns, slice->cpu_ns}, &event,
				  err);
	if (status != CTX_OK)
		return status;
	event->call.kept = (uint32_t)thread->n_open;
	event->call.frame = ctx_frame_named(slice->function, 0);
	thread->open[thread->n_open++] = open;
	return open.end_ns == NO_END ? CTX_OK
				     : add_due(reader,
					       &(struct ctx_te_due){open.end_ns, open.serial, slice->thread,
								    CTX_TE_SLICE_ENDS},
					       err);
}

/* Ends the open slice at `at`, and those inside. */
static enum ctx_status end_slice(struct ctx_te_reader *reader, struct ctx_te_thread *thread, size_t at,
				 const struct instant *end, struct ctx_err *err)
{
	struct ctx_event *event;
	enum ctx_status status;

	for (size_t i = at + 1; i < thread->n_open; i++)
		reader->sums.left += thread->open[i].end_ns != end->time_ns;
	status = add_call(reader, thread, end, &event, err);
	if (status != CTX_OK)
		return status;
	event->call.kept = (uint32_t)at;
	thread->n_open = at;
	return CTX_OK;
}

/* An end event: of the innermost slice of its name, or without a name of the innermost one, that has no end yet. */
static enum ctx_status take_end(struct ctx_te_reader *reader, uint32_t index,
				const struct ctx_te_record *record, struct ctx_err *err)
{
	struct ctx_te_thread *thread = &reader->model.threads[index];

	for (size_t i = thread->n_open, n = SEARCH_MAX; i-- > 0 && n-- > 0;) {
		uint32_t name = reader->model.functions[thread->open[i].function].name;

		if (thread->open[i].end_ns == NO_END &&
		    (record->name == CTX_TE_NO_NAME || record->name == name))
			return end_slice(reader, thread, i,
					 &(struct instant){record->time_ns, record->cpu_ns}, err);
	}
	reader->sums.no_begin++;
	return CTX_OK;
}

/* Lanes */

static enum ctx_status begin_in_lane(struct ctx_te_reader *reader, const struct ctx_te_record *record,
				     struct ctx_err *err)
{
	struct ctx_te_model *model = &reader->model;
	uint32_t *place = ctx_map64_place(&reader->lane_of, (uint64_t)record->dur_ns);
	struct slice slice = {.function = record->name,
			      .begin_ns = record->time_ns,
			      .end_ns = NO_END,
			      .cpu_ns = -1,
			      .cpu_end_ns = -1};
	enum ctx_status status = CTX_OK;

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		*place = 0; /* in case of failure */
		status = ctx_te_model_lane(model, model->threads[record->thread].process,
					   model->functions[record->name].category, &slice.thread, err);
		if (status != CTX_OK)
			return status;
		*place = slice.thread;
	}
	slice.thread = *place;
	status = start_thread(reader, slice.thread, record->time_ns, err);
	return status == CTX_OK ? begin_slice(reader, &slice, err) : status;
}

static enum ctx_status end_in_lane(struct ctx_te_reader *reader, const struct ctx_te_record *record,
				   struct ctx_err *err)
{
	uint32_t lane = ctx_map64_get(&reader->lane_of, (uint64_t)record->dur_ns);
	enum ctx_status status;

	if (lane == CTX_MAP64_NONE) {
		reader->sums.no_begin++;
		return CTX_OK;
	}
	status = take_end(reader, lane, record, err);
	if (status == CTX_OK && reader->model.threads[lane].n_open == 0) {
		ctx_te_model_free_lane(&reader->model, lane);
		ctx_map64_remove(&reader->lane_of, (uint64_t)record->dur_ns);
	}
	return status;
}

/* Marks */

static enum ctx_status take_mark(struct ctx_te_reader *reader, uint32_t index,
				 const struct ctx_te_record *record, struct ctx_err *err)
{
	const struct ctx_te_thread *thread = &reader->model.threads[index];
	bool is_counter = ctx_te_kind_of(record) == CTX_TE_COUNTER;
	struct ctx_event *event;
	enum ctx_status status = add_event(reader, CTX_EV_TRACED, record->time_ns, &event, err);

	if (status != CTX_OK)
		return status;
	reader->mark = (struct ctx_traced){.kind = CTX_TRACED_MARK,
					   .operation = is_counter ? CTX_MARK_COUNTER : CTX_MARK_POINT,
					   .cpu = -1,
					   .descriptor = -1,
					   .file = CTX_NONE};
	if (is_counter)
		reader->mark.value = record->dur_ns;
	event->process = reader->model.processes[thread->process].number;
	event->thread = thread->number;
	event->traced.operation = &reader->mark;
	event->traced.file = name_or_nothing(reader, record->name);
	return CTX_OK;
}

static enum ctx_status take_record(struct ctx_te_reader *reader, const struct ctx_te_record *record,
				   struct ctx_err *err)
{
	enum ctx_te_kind kind = ctx_te_kind_of(record);
	struct slice slice = {.thread = record->thread,
			      .function = record->name,
			      .begin_ns = record->time_ns,
			      .end_ns = NO_END,
			      .cpu_ns = record->cpu_ns,
			      .cpu_end_ns = -1};
	uint32_t lane;
	enum ctx_status status = CTX_OK;

	if (kind != CTX_TE_LANE_BEGIN && kind != CTX_TE_LANE_END)
		status = start_thread(reader, record->thread, record->time_ns, err);
	if (status != CTX_OK)
		return status;
	switch (kind) {
	case CTX_TE_SLICE:
		slice.end_ns = record->time_ns + record->dur_ns;
		if (record->cpu_dur_ns >= 0)
			slice.cpu_end_ns = record->cpu_ns + record->cpu_dur_ns;
		return begin_slice(reader, &slice, err);
	case CTX_TE_BEGIN:
		return begin_slice(reader, &slice, err);
	case CTX_TE_END:
		return take_end(reader, record->thread, record, err);
	case CTX_TE_LANE_BEGIN:
		return begin_in_lane(reader, record, err);
	case CTX_TE_LANE_END:
		return end_in_lane(reader, record, err);
	case CTX_TE_LANE_POINT:
		lane = ctx_map64_get(&reader->lane_of, (uint64_t)record->dur_ns);
		return take_mark(reader, lane != CTX_MAP64_NONE ? lane : record->thread, record, err);
	case CTX_TE_POINT:
	case CTX_TE_COUNTER:
		return take_mark(reader, record->thread, record, err);
	}
	return CTX_OK;
}

/* What is due */

static enum ctx_status exit_thread(struct ctx_te_reader *reader, uint32_t index, int64_t time_ns,
				   struct ctx_err *err)
{
	struct ctx_te_thread *thread = &reader->model.threads[index];
	struct ctx_event *event;
	enum ctx_status status;

	if (thread->number == CTX_NONE)
		return CTX_OK;
	status = add_event(reader, CTX_EV_THREAD_EXIT, time_ns, &event, err);
	if (status != CTX_OK)
		return status;
	event->process = reader->model.processes[thread->process].number;
	event->thread = thread->number;
	reader->sums.no_end += thread->n_open;
	thread->n_open = 0;
	return CTX_OK;
}

static enum ctx_status exit_process(struct ctx_te_reader *reader, const struct ctx_te_due *due,
				    struct ctx_err *err)
{
	const struct ctx_te_process *process = &reader->model.processes[due->index];
	struct ctx_event *event;
	enum ctx_status status = CTX_OK;

	for (uint32_t i = process->lanes; i != CTX_NONE && status == CTX_OK;
	     i = reader->model.threads[i].next_lane)
		status = exit_thread(reader, i, due->time_ns, err);
	if (status == CTX_OK)
		status = add_event(reader, CTX_EV_PROCESS_EXIT, due->time_ns, &event, err);
	if (status == CTX_OK)
		event->process = process->number;
	return status;
}

static enum ctx_status take_due(struct ctx_te_reader *reader, struct ctx_err *err)
{
	struct ctx_te_due due = reader->due[0];
	struct ctx_te_thread *thread;

	reader->due[0] = reader->due[--reader->n_due];
	ctx_heap_sink(reader->due, reader->n_due, sizeof(due), is_due_before);
	if (due.kind == CTX_TE_THREAD_ENDS)
		return exit_thread(reader, due.index, due.time_ns, err);
	if (due.kind == CTX_TE_PROCESS_ENDS)
		return exit_process(reader, &due, err);
	thread = &reader->model.threads[due.index];
	for (size_t i = thread->n_open; i-- > 0;) {
		if (thread->open[i].serial == due.serial)
			return end_slice(reader, thread, i,
					 &(struct instant){due.time_ns, thread->open[i].cpu_end_ns}, err);
		if (thread->open[i].serial < due.serial)
			break; /* it has been ended by another one */
	}
	return CTX_OK;
}

/* The end of the file */

static enum ctx_status warn(struct ctx_te_reader *reader, uint64_t n, const char *what, struct ctx_err *err)
{
	return n != 0 ? ctx_source_notes_warn(&reader->notes, err, "%llu %s", (unsigned long long)n, what)
		      : CTX_OK;
}

static enum ctx_status tell_sums(struct ctx_te_reader *reader, struct ctx_err *err)
{
	const struct ctx_te_sums *sums = &reader->sums;
	const struct {
		uint64_t n;
		const char *what;
	} lines[] = {
		{sums->no_begin, "ends of slices that have not begun are left out"},
		{sums->no_end, "slices without an end last up to the last event of their thread"},
		{sums->left, "slices were ended by the end of the one around them"},
		{sums->timeless, "events without a time are left out"},
		{sums->nameless, "counters without a number are left out"},
		{sums->fractions, "values of counters are cut to whole numbers"},
		{sums->flows, "flow events are not read"},
		{sums->others, "events of other kinds are not read"},
	};
	enum ctx_status status = CTX_OK;

	reader->ended = true;
	if (sums->cut != 0)
		status = ctx_source_notes_warn(
			&reader->notes, err,
			"%llu slices would end after the one around them, by up to %lld ns, and are cut",
			(unsigned long long)sums->cut, (long long)sums->cut_ns);
	for (size_t i = 0; i < CTX_COUNT_OF(lines) && status == CTX_OK; i++)
		status = warn(reader, lines[i].n, lines[i].what, err);
	return status == CTX_OK ? ctx_source_notes_end(&reader->notes, err) : status;
}

static enum ctx_status read_next(struct ctx_te_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = ctx_te_sort_next(&reader->sort, &reader->next, err);

	if (status == CTX_END)
		reader->next = NULL;
	return status < 0 ? status : CTX_OK;
}

enum ctx_status ctx_te_play_begin(struct ctx_te_reader *reader, struct ctx_err *err)
{
	enum ctx_status status = ctx_te_sort_freeze(&reader->sort, err);

	return status == CTX_OK ? read_next(reader, err) : status;
}

static bool is_due(const struct ctx_te_reader *reader)
{
	const struct ctx_te_due *due = reader->due;

	if (reader->n_due == 0 || reader->next == NULL)
		return reader->n_due != 0;
	return due->kind == CTX_TE_SLICE_ENDS ? due->time_ns <= reader->next->time_ns
					      : due->time_ns < reader->next->time_ns;
}

enum ctx_status ctx_te_play_next(struct ctx_te_reader *reader, struct ctx_event *ret, struct ctx_err *err)
{
	for (;;) {
		enum ctx_status status;

		if (reader->later.at < reader->later.n) {
			*ret = reader->later.items[reader->later.at++];
			return CTX_OK;
		}
		reader->later.at = reader->later.n = 0;
		if (ctx_source_notes_take(&reader->notes, ret))
			return CTX_OK;
		if (is_due(reader)) {
			status = take_due(reader, err);
		} else if (reader->next != NULL) {
			status = take_record(reader, reader->next, err);
			reader->n_played++;
			if (status == CTX_OK)
				status = read_next(reader, err);
		} else if (!reader->ended) {
			status = tell_sums(reader, err);
		} else {
			return CTX_END;
		}
		if (status != CTX_OK)
			return status;
	}
}
