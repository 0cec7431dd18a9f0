/* Records as events, with what has to be announced before them. */
#include "formats/jfr/jfr_reader.h"

#include "base/mem.h"
#include "model/traced_metrics.h"

static struct ctx_jfr_life *life_of(struct ctx_jfr_reader *reader, uint32_t thread, struct ctx_err *err)
{
	if (ctx_grow(&reader->lives, &reader->lives_cap, (size_t)thread + 1, err) != CTX_OK)
		return NULL;
	while (reader->n_lives <= thread)
		reader->lives[reader->n_lives++] = (struct ctx_jfr_life){0};
	return &reader->lives[thread];
}

/* With the first event of its process. A chunk that does not tell its virtual machine has none. */
static enum ctx_status announce_vm(struct ctx_jfr_reader *reader, uint32_t vm, const struct ctx_event *like,
				   struct ctx_err *err)
{
	struct ctx_event event = {.kind = CTX_EV_VM, .time_ns = like->time_ns, .process = like->process};

	if (reader->vms[vm].is_announced || reader->vms[vm].info.name[0] == '\0')
		return CTX_OK;
	reader->vms[vm].is_announced = true;
	event.vm = reader->vms[vm].info;
	return ctx_named_vm(&reader->named, &event, err);
}

/* Sets the event's process and thread; a thread that has ended begins again. */
static enum ctx_status set_thread(struct ctx_jfr_reader *reader, uint32_t number, uint64_t time_ns,
				  struct ctx_event *event, struct ctx_err *err)
{
	const struct ctx_jfr_thread *thread = &reader->names.threads[number];
	const struct ctx_jfr_vm *vm = &reader->vms[thread->vm];
	struct ctx_jfr_life *life = life_of(reader, number, err);
	struct ctx_named_thread named = {.time_ns = time_ns,
					 .pid = vm->pid,
					 .tid = thread->tid,
					 .process_life = thread->vm,
					 .process_name = vm->command,
					 .thread_name = thread->name};

	if (life == NULL)
		return CTX_E_NOMEM;
	life->lives += life->has_ended;
	life->has_ended = false;
	named.life = thread->life + (life->lives << 24);
	if (ctx_named_thread(&reader->named, &named, event, err) != CTX_OK)
		return CTX_E_NOMEM;
	life->number = event->thread;
	return announce_vm(reader, thread->vm, event, err);
}

struct measured {
	uint32_t metric;
	uint64_t weight;
};

/* A sample of a metric; what would overflow the sum is left out. */
static enum ctx_status emit_sample(struct ctx_jfr_reader *reader, const struct ctx_event *like,
				   struct measured measured, const struct ctx_named_stack *stack,
				   struct ctx_err *err)
{
	struct ctx_event event = {
		.time_ns = like->time_ns,
		.process = like->process,
		.thread = like->thread,
		.sample = {.weight = measured.weight, .metric = measured.metric, .cpu = -1}};

	if (measured.weight > INT64_MAX - reader->weight) {
		reader->impossible++;
		return CTX_OK;
	}
	reader->weight += measured.weight;
	return ctx_named_sample(&reader->named, &event, stack->frames, stack->n, err);
}

/* The thread that had the lock: it may have ended since. */
static enum ctx_status other_of(struct ctx_jfr_reader *reader, const struct ctx_jfr_record *record,
				uint64_t time_ns, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_event event;
	enum ctx_status status;

	*ret = CTX_NONE;
	if (record->other == CTX_JFR_NONE)
		return CTX_OK;
	if (record->other < reader->n_lives && reader->lives[record->other].has_ended) {
		*ret = reader->lives[record->other].number;
		return CTX_OK;
	}
	status = set_thread(reader, record->other, time_ns, &event, err);
	if (status == CTX_OK)
		*ret = event.thread;
	return status;
}

static enum ctx_status emit_traced(struct ctx_jfr_reader *reader, const struct ctx_jfr_record *record,
				   struct ctx_event *event, const struct ctx_named_stack *stack,
				   struct ctx_err *err)
{
	struct ctx_traced operation = {.duration_ns = record->duration_ns,
				       .size = record->traced == CTX_TRACED_IO ? record->weight : 0,
				       .cpu = -1,
				       .file = CTX_NONE,
				       .descriptor = -1,
				       .kind = record->traced,
				       .operation = record->operation,
				       .failed = record->failed};
	uint32_t first = reader->first_traced[record->traced];
	enum ctx_status status = CTX_OK;

	if (record->traced != CTX_TRACED_IO)
		operation.address = record->number;
	if (record->traced == CTX_TRACED_SYNC)
		status = other_of(reader, record, event->time_ns, &operation.other, err);
	event->traced.file =
		record->text != CTX_JFR_NONE ? ctx_strtab_get(&reader->names.texts, record->text) : NULL;
	if (status == CTX_OK)
		status = ctx_named_traced(&reader->named, event, &operation, stack, err);
	if (status != CTX_OK || record->traced == CTX_TRACED_MARK)
		return status;
	if (record->traced == CTX_TRACED_SYNC)
		return emit_sample(reader, event,
				   (struct measured){first + CTX_SYNC_METRIC_TIME, record->duration_ns},
				   stack, err);
	status =
		emit_sample(reader, event,
			    (struct measured){first + ctx_io_metric_of_time(&operation), record->duration_ns},
			    stack, err);
	return status == CTX_OK && record->weight != 0
		       ? emit_sample(reader, event,
				     (struct measured){first + ctx_io_metric_of_bytes(&operation),
						       record->weight},
				     stack, err)
		       : status;
}

enum ctx_status ctx_jfr_reader_emit(struct ctx_jfr_reader *reader, const struct ctx_jfr_record *record,
				    struct ctx_err *err)
{
	struct ctx_event event = {.time_ns = record->time_ns - reader->begin_ns};
	struct ctx_named_stack stack;
	enum ctx_status status;

	if (record->time_ns < reader->begin_ns || event.time_ns >= reader->named.source.info.duration_ns) {
		reader->impossible++; /* the file has changed since it was opened */
		return CTX_OK;
	}
	status = set_thread(reader, record->thread, event.time_ns, &event, err);
	if (status == CTX_OK)
		status = ctx_jfr_names_frames(&reader->names, record->stack, &stack, err);
	if (status != CTX_OK)
		return status;
	switch (record->kind) {
	case CTX_JFR_RECORD_SAMPLE:
		return emit_sample(reader, &event,
				   (struct measured){reader->metrics[record->metric], record->weight}, &stack,
				   err);
	case CTX_JFR_RECORD_TRACED:
		return emit_traced(reader, record, &event, &stack, err);
	case CTX_JFR_RECORD_END:
		reader->lives[record->thread].has_ended = true;
		return ctx_named_end(&reader->named, &event, err);
	default:
		return CTX_OK; /* the thread is announced */
	}
}
