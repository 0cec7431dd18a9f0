/*
 * What programs say of themselves: begins and ends are put together here.
 *
 *	begin -> open intervals of the thread, or of the process <- end: how long it took
 *
 * Blocks come in order of time. What stays open is a begin without an end.
 */
#include "formats/experiment/exp_reader_state.h"

#include "base/mem.h"

#include <string.h>

#define OPEN_IN_THREAD_MAX 256u
#define OPEN_IN_PROCESS_MAX 1024u
#define NAMES_MAX 4096u /* that are told apart */
#define OTHER_NAMES "<Others>"

static void free_all(struct ctx_exp_open_marks *opens, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(opens[i].items);
	free(opens);
}

void ctx_exp_marks_deinit(struct ctx_exp_marks *marks)
{
	free_all(marks->threads, marks->n_threads);
	free_all(marks->processes, marks->n_processes);
	ctx_strtab_deinit(&marks->names);
}

bool ctx_exp_mark_is_fine(const struct ctx_exp_open_block *block, const struct ctx_exp_packet *packet)
{
	return packet->operation < CTX_MARK_N && ctx_exp_io_block_name(block->io, packet) != NULL;
}

static enum ctx_status name_of(struct ctx_exp_marks *marks, const char *text, uint32_t *ret,
			       struct ctx_err *err)
{
	if (marks->names.n >= NAMES_MAX && ctx_strtab_find(&marks->names, text, strlen(text)) == UINT32_MAX)
		text = OTHER_NAMES;
	return ctx_strtab_add_text(&marks->names, text, ret, err);
}

/* Room for the row; new ones are empty. */
static enum ctx_status reserve(struct ctx_exp_open_marks **opens, size_t *n, size_t *cap, uint32_t row,
			       struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(opens, cap, (size_t)row + 1, err);

	while (status == CTX_OK && *n <= row)
		(*opens)[(*n)++] = (struct ctx_exp_open_marks){0};
	return status;
}

static enum ctx_status begin(struct ctx_exp_open_marks *opens, const struct ctx_exp_open_mark *mark,
			     size_t most, struct ctx_err *err)
{
	enum ctx_status status;

	if (opens->n >= most)
		return CTX_OK;
	status = ctx_grow(&opens->items, &opens->cap, opens->n + 1, err);
	if (status == CTX_OK)
		opens->items[opens->n++] = *mark;
	return status;
}

/* Removes the innermost one of that name and number. False: there is none. */
static bool end(struct ctx_exp_open_marks *opens, const struct ctx_exp_open_mark *mark,
		uint64_t *ret_begin_ns)
{
	for (size_t i = opens->n; i-- > 0;) {
		if (opens->items[i].name != mark->name || opens->items[i].number != mark->number)
			continue;
		*ret_begin_ns = opens->items[i].begin_ns;
		opens->n--;
		memmove(&opens->items[i], &opens->items[i + 1], (opens->n - i) * sizeof(*opens->items));
		return true;
	}
	return false;
}

/* `mark` has the time of this one, which begins or ends something, or neither. */
static enum ctx_status follow(struct ctx_exp_marks *marks, const struct ctx_exp_open_mark *mark,
			      struct ctx_exp_open_marks *thread, struct ctx_exp_open_marks *process,
			      struct ctx_err *err)
{
	struct ctx_traced *operation = &marks->operation;
	uint64_t begin_ns = mark->begin_ns;

	switch (operation->operation) {
	case CTX_MARK_BEGIN:
		return begin(thread, mark, OPEN_IN_THREAD_MAX, err);
	case CTX_MARK_BEGIN_ID:
		return begin(process, mark, OPEN_IN_PROCESS_MAX, err);
	case CTX_MARK_END:
		operation->failed = !end(thread, mark, &begin_ns);
		break;
	case CTX_MARK_END_ID:
		operation->failed = !end(process, mark, &begin_ns);
		break;
	case CTX_MARK_PAUSE:
		process->paused_ns = process->paused_ns != 0 ? process->paused_ns : begin_ns + 1;
		break;
	case CTX_MARK_RESUME:
		operation->failed = process->paused_ns == 0;
		begin_ns = process->paused_ns != 0 ? process->paused_ns - 1 : begin_ns;
		process->paused_ns = 0;
		break;
	default:
		break;
	}
	operation->duration_ns = mark->begin_ns - begin_ns;
	return CTX_OK;
}

enum ctx_status ctx_exp_reader_fill_mark(struct ctx_exp_reader *reader,
					 const struct ctx_exp_open_block *block, struct ctx_event *event,
					 struct ctx_err *err)
{
	const struct ctx_exp_packet *packet = &block->packets[block->at];
	struct ctx_exp_marks *marks = &reader->marks;
	struct ctx_exp_open_mark mark = {.begin_ns = packet->time_ns};
	int64_t value = ctx_zigzag_decode(packet->size);
	enum ctx_status status = name_of(marks, ctx_exp_io_block_name(block->io, packet), &mark.name, err);

	marks->operation = (struct ctx_traced){.kind = CTX_TRACED_MARK,
					       .operation = (uint8_t)packet->operation,
					       .cpu = -1,
					       .descriptor = -1,
					       .file = CTX_NONE};
	if (ctx_mark_has_value(packet->operation))
		marks->operation.value = value;
	if (packet->operation == CTX_MARK_BEGIN_ID || packet->operation == CTX_MARK_END_ID)
		mark.number = value;
	if (status == CTX_OK)
		status =
			reserve(&marks->threads, &marks->n_threads, &marks->threads_cap, packet->thread, err);
	if (status == CTX_OK)
		status = reserve(&marks->processes, &marks->n_processes, &marks->processes_cap,
				 block->process, err);
	if (status == CTX_OK)
		status = follow(marks, &mark, &marks->threads[packet->thread],
				&marks->processes[block->process], err);
	if (status != CTX_OK)
		return status;
	event->traced.operation = &marks->operation;
	event->traced.file = marks->names.strings[mark.name];
	event->traced.stack = (struct ctx_event_stack){.id = packet->stack};
	return CTX_OK;
}
