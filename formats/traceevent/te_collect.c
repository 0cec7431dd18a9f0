/*
 * From events of the file to records: threads and functions become numbers, names are kept.
 */
#include "formats/traceevent/te_reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAS(event, key) (((event)->has >> (key)&1) != 0)
#define UNNAMED "<Unnamed>"

/* Arguments */

struct arg {
	const char *key, *text;
	char type; /* 's' text, 'n' number, 'w' anything else */
};

/* The next one from `*at` on; false: there is none. */
static bool next_arg(const struct ctx_te_event *event, size_t *at, struct arg *ret)
{
	const char *end = event->args + event->n_args;

	ret->key = event->args + *at;
	ret->text = ret->key + strlen(ret->key) + 1;
	if (*at >= event->n_args || ret->text >= end) /* a key alone */
		return false;
	ret->type = *ret->text++;
	*at = (size_t)(ret->text + strlen(ret->text) + 1 - event->args);
	return true;
}

/* The text of an argument; NULL: it has no such one. */
static const char *find_arg(const struct ctx_te_event *event, const char *key)
{
	struct arg arg;

	for (size_t at = 0; next_arg(event, &at, &arg);) {
		if (arg.type == 's' && strcmp(arg.key, key) == 0)
			return arg.text;
	}
	return NULL;
}

/* Threads */

/* The process and the thread of an event. */
static enum ctx_status find_thread(struct ctx_te_reader *reader, const struct ctx_te_event *event,
				   uint32_t *ret, struct ctx_err *err)
{
	struct ctx_te_model *model = &reader->model;
	bool has_pid_text = event->pid_text != CTX_TE_NO_NAME,
	     has_tid_text = event->tid_text != CTX_TE_NO_NAME;
	uint32_t process = 0;
	enum ctx_status status = ctx_te_model_process(
		model, has_pid_text ? CTX_TE_OWN_NUMBERS + event->pid_text : event->pid, &process, err);

	if (status != CTX_OK)
		return status;
	if (has_pid_text && model->processes[process].name == CTX_TE_NO_NAME)
		model->processes[process].name = event->pid_text;
	status = ctx_te_model_thread(
		model, process, has_tid_text ? CTX_TE_OWN_NUMBERS + event->tid_text : event->tid, ret, err);
	if (status == CTX_OK && has_tid_text && model->threads[*ret].name == CTX_TE_NO_NAME)
		model->threads[*ret].name = event->tid_text;
	return status;
}

/* A name of a process or thread. */
static enum ctx_status take_name(struct ctx_te_reader *reader, const struct ctx_te_event *event,
				 struct ctx_err *err)
{
	struct ctx_te_model *model = &reader->model;
	const char *what = event->name != CTX_TE_NO_NAME ? ctx_strtab_get(&model->names, event->name) : "";
	const char *text = find_arg(event, "name");
	bool is_process = strcmp(what, "process_name") == 0;
	uint32_t thread, name;
	enum ctx_status status;

	if (text == NULL || (!is_process && strcmp(what, "thread_name") != 0))
		return CTX_OK;
	status = find_thread(reader, event, &thread, err);
	if (status == CTX_OK)
		status = ctx_strtab_add_text(&model->names, text, &name, err);
	if (status != CTX_OK)
		return status;
	if (is_process)
		model->processes[model->threads[thread].process].name = name;
	else
		model->threads[thread].name = name;
	return CTX_OK;
}

/* Records */

static enum ctx_status add(struct ctx_te_reader *reader, struct ctx_te_record *record, enum ctx_te_kind kind,
			   struct ctx_err *err)
{
	struct ctx_te_thread *thread = &reader->model.threads[record->thread];
	struct ctx_te_process *process = &reader->model.processes[thread->process];
	int64_t end_ns = record->time_ns + (kind == CTX_TE_SLICE ? record->dur_ns : 0);

	record->order = reader->n_records++ << CTX_TE_KIND_BITS | kind;
	if (record->time_ns < reader->begin_ns)
		reader->begin_ns = record->time_ns;
	if (end_ns > reader->end_ns)
		reader->end_ns = end_ns;
	if (end_ns > thread->last_ns)
		thread->last_ns = end_ns;
	if (end_ns > process->last_ns)
		process->last_ns = end_ns;
	reader->has_cpu = reader->has_cpu || record->cpu_ns >= 0;
	return ctx_te_sort_add(&reader->sort, record, err);
}

/* In which order does the file have a thread's slices? */
static void see_order(struct ctx_te_reader *reader, const struct ctx_te_record *record)
{
	struct ctx_te_thread *thread = &reader->model.threads[record->thread];
	int64_t end_ns = record->time_ns + record->dur_ns;

	if (thread->slice_end_ns != INT64_MIN) {
		reader->sort.begins_in_order += record->time_ns >= thread->slice_begin_ns;
		reader->sort.ends_in_order += end_ns >= thread->slice_end_ns;
	}
	thread->slice_begin_ns = record->time_ns;
	thread->slice_end_ns = end_ns;
}

static enum ctx_status name_function(struct ctx_te_reader *reader, const struct ctx_te_event *event,
				     uint32_t *ret, struct ctx_err *err)
{
	uint32_t name = event->name;
	enum ctx_status status = CTX_OK;

	if (name == CTX_TE_NO_NAME || ctx_strtab_get(&reader->model.names, name)[0] == '\0')
		status = ctx_strtab_add_text(&reader->model.names, UNNAMED, &name, err);
	return status == CTX_OK ? ctx_te_model_function(&reader->model, name, event->category, ret, err)
				: status;
}

/* The key of the lane of an id: by process, category and id. */
static int64_t lane_key(const struct ctx_te_reader *reader, const struct ctx_te_event *event, uint32_t thread)
{
	uint64_t key = ctx_hash64(event->id ^ (uint64_t)reader->model.threads[thread].process << 40);

	return (int64_t)ctx_hash64(key + event->category);
}

static enum ctx_status take_slice(struct ctx_te_reader *reader, const struct ctx_te_event *event,
				  struct ctx_te_record *record, enum ctx_te_kind kind, struct ctx_err *err)
{
	bool begins = kind == CTX_TE_BEGIN || kind == CTX_TE_SLICE || kind == CTX_TE_LANE_BEGIN;
	enum ctx_status status = CTX_OK;

	record->name = event->name;
	if (begins)
		status = name_function(reader, event, &record->name, err);
	else if (kind == CTX_TE_POINT || kind == CTX_TE_LANE_POINT)
		status = event->name == CTX_TE_NO_NAME
				 ? ctx_strtab_add_text(&reader->model.names, UNNAMED, &record->name, err)
				 : CTX_OK;
	if (status != CTX_OK)
		return status;
	if (kind >= CTX_TE_LANE_BEGIN && kind <= CTX_TE_LANE_POINT)
		record->dur_ns = lane_key(reader, event, record->thread);
	if (kind <= CTX_TE_SLICE && HAS(event, CTX_TE_TTS) && event->tts_ns >= 0)
		record->cpu_ns = event->tts_ns;
	if (kind == CTX_TE_SLICE) {
		record->dur_ns = event->dur_ns > 0 ? event->dur_ns : 0;
		if (record->dur_ns > CTX_TE_DURATION_MAX)
			record->dur_ns = CTX_TE_DURATION_MAX;
		if (record->cpu_ns >= 0 && HAS(event, CTX_TE_TDUR) && event->tdur_ns >= 0 &&
		    event->tdur_ns <= CTX_TE_DURATION_MAX)
			record->cpu_dur_ns = event->tdur_ns;
		see_order(reader, record);
	}
	return add(reader, record, kind, err);
}

/* Each number in the arguments is a value of its own. */
static enum ctx_status take_counter(struct ctx_te_reader *reader, const struct ctx_te_event *event,
				    struct ctx_te_record *record, struct ctx_err *err)
{
	const char *name =
		event->name != CTX_TE_NO_NAME ? ctx_strtab_get(&reader->model.names, event->name) : UNNAMED;
	enum ctx_status status = CTX_OK;
	bool has_any = false;
	struct arg arg;

	for (size_t at = 0; next_arg(event, &at, &arg) && status == CTX_OK;) {
		double value = arg.type == 'n' ? strtod(arg.text, NULL) : NAN;
		bool is_value = strcmp(arg.key, "value") == 0 || strcmp(arg.key, name) == 0;
		char text[512], id[16] = "";

		if (!(fabs(value) < 9e18))
			continue;
		if (HAS(event, CTX_TE_ID))
			snprintf(id, sizeof(id), "#%04x", (unsigned)(event->id & 0xffff));
		snprintf(text, sizeof(text), "%.200s%s%s%.200s", name, id, is_value ? "" : ".",
			 is_value ? "" : arg.key);
		status = ctx_strtab_add_text(&reader->model.names, text, &record->name, err);
		record->dur_ns = (int64_t)value;
		reader->sums.fractions += value != trunc(value);
		has_any = true;
		if (status == CTX_OK)
			status = add(reader, record, CTX_TE_COUNTER, err);
	}
	reader->sums.nameless += !has_any;
	return status;
}

/* What becomes of a phase. -1: no record. */
static int kind_of(const struct ctx_te_event *event)
{
	switch (event->phase) {
	case 'B':
		return CTX_TE_BEGIN;
	case 'E':
		return CTX_TE_END;
	case 'X':
		return HAS(event, CTX_TE_DUR) ? CTX_TE_SLICE : CTX_TE_BEGIN;
	case 'b':
	case 'S':
		return CTX_TE_LANE_BEGIN;
	case 'e':
	case 'F':
		return CTX_TE_LANE_END;
	case 'n':
	case 'T':
	case 'p':
		return CTX_TE_LANE_POINT;
	case 'i':
	case 'I':
	case 'R':
		return CTX_TE_POINT;
	case 'C':
		return CTX_TE_COUNTER;
	default:
		return -1;
	}
}

enum ctx_status ctx_te_collect(void *context, const struct ctx_te_event *event, struct ctx_err *err)
{
	struct ctx_te_reader *reader = context;
	struct ctx_te_record record = {.time_ns = event->ts_ns, .cpu_ns = -1, .cpu_dur_ns = -1};
	int kind = kind_of(event);
	enum ctx_status status;

	if (event->phase == 'M')
		return take_name(reader, event, err);
	if (kind < 0) {
		bool is_flow = event->phase == 's' || event->phase == 't' || event->phase == 'f';

		*(is_flow ? &reader->sums.flows : &reader->sums.others) += 1;
		return CTX_OK;
	}
	if (!HAS(event, CTX_TE_TS)) {
		reader->sums.timeless++;
		return CTX_OK;
	}
	status = find_thread(reader, event, &record.thread, err);
	if (status != CTX_OK)
		return status;
	return kind == CTX_TE_COUNTER ? take_counter(reader, event, &record, err)
				      : take_slice(reader, event, &record, (enum ctx_te_kind)kind, err);
}
