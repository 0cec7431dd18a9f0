/*
 * Calls in the writer: each thread of a process has a block of its own that grows.
 */
#include "formats/experiment/exp_state.h"

#include "base/mem.h"

#include <stdlib.h>

static enum ctx_status get_block(struct ctx_exp_call_bufs *bufs, uint32_t thread,
				 struct ctx_exp_call_block **ret, struct ctx_err *err)
{
	enum ctx_status status;

	for (size_t i = 0; i < bufs->n; i++) {
		*ret = bufs->items[(bufs->last + i) % bufs->n];
		if ((*ret)->thread == thread) {
			bufs->last = (bufs->last + i) % bufs->n;
			return CTX_OK;
		}
	}
	status = ctx_grow(&bufs->items, &bufs->cap, bufs->n + 1, err);
	if (status != CTX_OK)
		return status;
	*ret = ctx_calloc(1, sizeof(**ret));
	if (*ret == NULL)
		return ctx_err_nomem(err);
	(*ret)->thread = thread;
	bufs->items[bufs->n++] = *ret;
	return CTX_OK;
}

/* Its load object is copied. */
static void note_function(struct ctx_exp_writer *writer, uint32_t process, uint64_t function)
{
	const struct ctx_exp_map_list *maps = ctx_exp_proc(writer, process)->maps;
	const struct ctx_exp_map_entry *entry = ctx_exp_map_list_find(maps, function);

	if (entry == NULL)
		return;
	ctx_exp_objects_sample(&writer->objects, entry->object);
	if (writer->keep_places)
		ctx_exp_places_add(&writer->places, entry->object,
				   function - entry->address + entry->file_offset);
}

/* All of them, or as many as the block takes. */
static enum ctx_status put(struct ctx_exp_writer *writer, const struct ctx_exp_calls *calls,
			   struct ctx_exp_call_block *block, size_t *ret_n, struct ctx_err *err)
{
	size_t n = 0;

	if (block->n == 0)
		block->depth = block->depth_now = calls->depth;
	while (n < calls->n && block->n < CTX_EXP_CALLS_MAX) {
		struct ctx_exp_call call = calls->items[n++];
		enum ctx_status status;
		bool is_new;

		call.time_ns = ctx_exp_relative(writer, call.time_ns);
		if (block->n != 0 && call.time_ns < block->last_ns)
			call.time_ns = block->last_ns;
		if (call.left > block->depth_now)
			call.left = block->depth_now;
		status = ctx_exp_call_put(block, &call, &is_new, err);
		if (status != CTX_OK)
			return status;
		if (is_new)
			note_function(writer, calls->process, call.function);
	}
	*ret_n = n;
	return CTX_OK;
}

static enum ctx_status check(const struct ctx_exp_writer *writer, const struct ctx_exp_calls *calls,
			     struct ctx_err *err)
{
	enum ctx_status status = ctx_exp_check_process(writer, calls->process, err);

	if (status == CTX_OK)
		status = ctx_exp_check_thread(writer, calls->thread, err);
	if (status == CTX_OK && writer->data.calls == CTX_NONE)
		status = ctx_err_set(err, CTX_E_ARG, "the experiment was created without calls");
	return status;
}

/* What memory there is for buffers is used up: everything is written, and blocks begin anew. */
static enum ctx_status make_room(struct ctx_exp_writer *writer, struct ctx_exp_live *live,
				 struct ctx_err *err)
{
	enum ctx_status status;

	ctx_exp_account(writer, live);
	if (writer->limits.memory_used <= writer->limits.memory_bytes)
		return CTX_OK;
	status = ctx_exp_flush_process(writer, live, err);
	ctx_exp_call_bufs_deinit(&live->calls);
	ctx_exp_account(writer, live);
	return status;
}

enum ctx_status ctx_exp_calls(struct ctx_exp_writer *writer, const struct ctx_exp_calls *calls,
			      struct ctx_err *err)
{
	enum ctx_status status = check(writer, calls, err);
	struct ctx_exp_calls left = *calls;

	writer->stats.calls += calls->n;
	while (status == CTX_OK && left.n != 0) {
		struct ctx_exp_call_block *block;
		struct ctx_exp_live *live;
		size_t n;

		if (writer->limits.reached) {
			writer->stats.dropped_by_limit += left.n;
			return CTX_OK;
		}
		if (ctx_exp_proc(writer, calls->process) == NULL) {
			writer->stats.late += left.n;
			return CTX_OK;
		}
		status = ctx_exp_get_live(writer, calls->process, &live, err);
		if (status == CTX_OK)
			status = make_room(writer, live, err);
		if (status == CTX_OK)
			status = get_block(&live->calls, calls->thread, &block, err);
		if (status == CTX_OK)
			status = put(writer, &left, block, &n, err);
		if (status != CTX_OK)
			return status;
		if (left.items[0].time_ns < live->oldest_ns)
			live->oldest_ns = left.items[0].time_ns;
		left.items += n;
		left.n -= n;
		left.depth = block->depth_now;
		if (block->n >= CTX_EXP_CALLS_MAX || ctx_exp_nears_limit(writer, 4 * (size_t)block->n))
			status = ctx_exp_flush_process(writer, live, err);
	}
	return status;
}
