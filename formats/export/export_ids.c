#include "formats/export/export_ids.h"

#include "base/map64.h"
#include "base/mem.h"

/* Returns how often `id` has been seen, and counts this time. */
static enum ctx_status take_turn(struct ctx_map64 *map, int64_t id, uint32_t *ret_turn, struct ctx_err *err)
{
	uint32_t *seen = ctx_map64_place(map, ctx_export_id(id));

	if (seen == NULL)
		return ctx_err_nomem(err);
	if (*seen == CTX_MAP64_NONE)
		*seen = 0;
	*ret_turn = (*seen)++;
	return CTX_OK;
}

enum ctx_status ctx_export_ids_init(struct ctx_export_ids *ids, const struct ctx_profile *profile,
				    struct ctx_err *err)
{
	struct ctx_map64 pids = {0}, tids = {0};
	enum ctx_status status = CTX_OK;

	ids->process_turn = ctx_calloc((size_t)profile->n_processes + 1, sizeof(*ids->process_turn));
	ids->thread_turn = ctx_calloc((size_t)profile->n_threads + 1, sizeof(*ids->thread_turn));
	if (ids->process_turn == NULL || ids->thread_turn == NULL)
		status = ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_processes && status == CTX_OK; i++)
		status = take_turn(&pids, profile->processes[i].pid, &ids->process_turn[i], err);
	for (uint32_t i = 0; i < profile->n_threads && status == CTX_OK; i++)
		status = take_turn(&tids, profile->threads[i].tid, &ids->thread_turn[i], err);
	ctx_map64_deinit(&pids);
	ctx_map64_deinit(&tids);
	return status;
}

void ctx_export_ids_deinit(struct ctx_export_ids *ids)
{
	free(ids->process_turn);
	free(ids->thread_turn);
	*ids = (struct ctx_export_ids){0};
}
