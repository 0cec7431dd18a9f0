/*
 * From entries and exits with their depths to calls of the event source.
 *
 *	entry at depth d	the calls from d on end, one begins
 *	exit at depth d		the calls from d on end
 *
 * More calls are open than the depth says: they were left by longjmp, an exception or a lost exit. Fewer: they began before
 * the segment; their functions are known from their exits (hints), or from the process that forked.
 */
#include "base/mem.h"
#include "formats/uftrace/uf_reader.h"

#include <stdlib.h>
#include <string.h>

#define UNKNOWN_NAME "<Unknown>"
#define UNKNOWN_MODULE "<uftrace>"

struct ctx_event *ctx_uf_later_add(struct ctx_uf_later *later)
{
	if (ctx_grow(&later->items, &later->cap, later->n + 1, NULL) != CTX_OK)
		return NULL;
	later->items[later->n] = (struct ctx_event){0};
	return &later->items[later->n++];
}

static void end_calls(struct ctx_uf_reader *reader, struct ctx_uf_task *task)
{
	reader->sums.open += task->n_open;
	task->n_open = 0;
}

void ctx_uf_task_live(struct ctx_uf_reader *reader, struct ctx_uf_task *task, uint64_t time_ns)
{
	const struct ctx_uf_life *lives = reader->tasks.lives;

	while (task->life + 1 < task->n_lives && time_ns >= lives[task->lives[task->life + 1]].begin_ns) {
		task->life++;
		task->segment++;
		task->begins_segment = true;
		end_calls(reader, task);
		task->n_inherited = 0;
	}
}

static const struct ctx_uf_life *life_of(const struct ctx_uf_reader *reader, const struct ctx_uf_task *task)
{
	return &reader->tasks.lives[task->lives[task->life]];
}

/* Frames */

static enum ctx_status announce(struct ctx_uf_reader *reader, uint32_t id, const char *name,
				const char *module, struct ctx_err *err)
{
	struct ctx_event *event = ctx_uf_later_add(&reader->later);

	if (event == NULL)
		return ctx_err_nomem(err);
	event->kind = CTX_EV_FUNCTION;
	event->function = (struct ctx_event_function){.id = id, .name = name, .module = module};
	return CTX_OK;
}

/* The frame of an address, 0: of an unknown function. New functions are announced. */
static enum ctx_status frame_of(struct ctx_uf_reader *reader, const struct ctx_uf_task *task,
				uint64_t address, uint64_t *ret, struct ctx_err *err)
{
	struct ctx_uf_place place = {.function = reader->unknown};
	enum ctx_status status = CTX_OK;

	if (address != 0) {
		uint32_t session = reader->tasks.images[life_of(reader, task)->image].session;

		status = ctx_uf_symbols_find(&reader->symbols, session, address, &place, err);
		if (status == CTX_OK && place.is_new != NULL)
			status = announce(reader, place.function, place.is_new->name, place.module, err);
		*ret = place.function == CTX_UF_NAMELESS ? ctx_frame_address(address)
							 : ctx_frame_named(place.function, 0);
		return status;
	}
	reader->sums.unknown++;
	if (reader->unknown == CTX_NONE) {
		place.function = reader->unknown = reader->symbols.n_functions++;
		status = announce(reader, place.function, UNKNOWN_NAME, UNKNOWN_MODULE, err);
	}
	*ret = ctx_frame_named(place.function, 0);
	return status;
}

/* Events */

struct step {
	uint64_t address; /* of what is entered, 0 unknown */
	uint32_t kept;
	bool enters, unwound;
};

static enum ctx_status put(struct ctx_uf_reader *reader, struct ctx_uf_task *task, const struct step *step,
			   struct ctx_err *err)
{
	const struct ctx_uf_life *life = life_of(reader, task);
	uint64_t frame = 0;
	struct ctx_event *event;
	enum ctx_status status = CTX_OK;

	if (step->enters) {
		status = frame_of(reader, task, step->address, &frame, err);
		if (status == CTX_OK)
			status = ctx_grow(&task->open, &task->open_cap, (size_t)step->kept + 1, err);
		if (status != CTX_OK)
			return status;
		task->open[step->kept] = step->address;
	}
	task->n_open = (size_t)step->kept + step->enters;
	event = ctx_uf_later_add(&reader->later);
	if (event == NULL)
		return ctx_err_nomem(err);
	event->kind = CTX_EV_CALL;
	event->time_ns = task->last_ns - reader->begin_ns;
	event->process = reader->process_of[life->image];
	event->thread = reader->thread_of[task->lives[task->life]];
	event->call = (struct ctx_event_call){
		.kept = step->kept, .frame = frame, .code = CTX_CALL_INSTRUMENTED, .unwound = step->unwound};
	return CTX_OK;
}

/* The function at a depth that was open before the segment, as far as it is known; 0. */
static uint64_t hint_at(struct ctx_uf_task *task, size_t depth)
{
	while (task->hint < task->n_hints && task->hints[task->hint].segment < task->segment)
		task->hint++;
	for (size_t i = task->hint; i < task->n_hints && task->hints[i].segment == task->segment; i++) {
		if (task->hints[i].depth == depth)
			return task->hints[i].address;
	}
	return 0;
}

/* What goes on of the calls that were open before a gap: up to the first one that another function's exit contradicts. */
static size_t still_open(struct ctx_uf_task *task, size_t n)
{
	size_t open = task->n_open < n ? task->n_open : n;

	for (size_t i = 0; i < open; i++) {
		uint64_t hint = hint_at(task, i);

		if (hint != 0 && hint != task->open[i])
			return i;
	}
	return open;
}

/* Calls that must be open and are not begin now. */
static enum ctx_status fill(struct ctx_uf_reader *reader, struct ctx_uf_task *task, size_t n, bool unwound,
			    struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = task->n_open; i < n && status == CTX_OK; i++) {
		struct step step = {.address = hint_at(task, i), .kept = (uint32_t)i, .enters = true};

		step.unwound = unwound;
		unwound = false;
		if (step.address == 0 && i < task->n_inherited)
			step.address = task->inherited[i];
		if (task->n_inherited == 0)
			reader->sums.mended++;
		status = put(reader, task, &step, err);
	}
	return status;
}

enum ctx_status ctx_uf_calls_take(struct ctx_uf_reader *reader, struct ctx_uf_task *task,
				  const struct ctx_uf_record *record, struct ctx_err *err)
{
	bool is_exit = record->type == CTX_UF_EXIT, unwound = false;
	size_t need = (size_t)record->depth + is_exit;
	struct step step = {.address = record->address, .kept = record->depth, .enters = !is_exit};
	enum ctx_status status = CTX_OK;

	if (task->begins_segment) {
		size_t open = still_open(task, need);

		unwound = open < task->n_open;
		reader->sums.mended += task->n_open - open;
		task->n_open = open;
		task->begins_segment = false;
	}
	if (task->n_open < need) {
		status = fill(reader, task, need, unwound, err);
		unwound = false;
	} else if (task->n_open > need) {
		unwound = true;
		if (!(reader->info.features & CTX_UF_HAS_ESTIMATES))
			reader->sums.mended += task->n_open - need;
	}
	if (status == CTX_OK && is_exit && unwound) {
		status = put(reader, task, &(struct step){.kept = (uint32_t)need, .unwound = true}, err);
		unwound = false;
	}
	step.unwound = unwound;
	return status == CTX_OK ? put(reader, task, &step, err) : status;
}

enum ctx_status ctx_uf_calls_inherit(struct ctx_uf_reader *reader, uint32_t image, struct ctx_err *err)
{
	const struct ctx_uf_image *child = &reader->tasks.images[image];
	uint32_t from, to;
	const struct ctx_uf_task *parent;
	struct ctx_uf_task *task;

	if (!child->is_fork || child->parent == CTX_NONE)
		return CTX_OK;
	from = ctx_map64_get(&reader->file_of, (uint64_t)reader->tasks.images[child->parent].pid);
	to = ctx_map64_get(&reader->file_of, (uint64_t)child->pid);
	if (from == CTX_MAP64_NONE || to == CTX_MAP64_NONE || from == to)
		return CTX_OK;
	parent = &reader->files[from];
	task = &reader->files[to];
	ctx_uf_task_live(reader, task, child->begin_ns);
	free(task->inherited);
	task->n_inherited = 0;
	task->inherited = ctx_calloc(parent->n_open + 1, sizeof(*task->inherited));
	if (task->inherited == NULL)
		return ctx_err_nomem(err);
	if (parent->n_open != 0)
		memcpy(task->inherited, parent->open, parent->n_open * sizeof(*parent->open));
	task->n_inherited = parent->n_open;
	return CTX_OK;
}
