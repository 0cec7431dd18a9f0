#include "formats/traceevent/te_model.h"

#include "base/mem.h"
#include "formats/traceevent/te_parse.h"

#include <stdio.h>
#include <stdlib.h>

#define NUMBERS_MAX (UINT32_MAX - 2)

void ctx_te_model_deinit(struct ctx_te_model *model)
{
	for (size_t i = 0; i < model->n_threads; i++)
		free(model->threads[i].open);
	free(model->threads);
	free(model->processes);
	free(model->functions);
	ctx_strtab_deinit(&model->names);
	ctx_map64_deinit(&model->process_of);
	ctx_map64_deinit(&model->number_of);
	ctx_map64_deinit(&model->thread_of);
	ctx_map64_deinit(&model->function_of);
	free(model->pools);
	ctx_map64_deinit(&model->pool_of);
	*model = (struct ctx_te_model){0};
}

/* The place of a key's number, which is `n` for a new one. */
static enum ctx_status find(struct ctx_map64 *map, uint64_t key, size_t n, uint32_t **ret,
			    struct ctx_err *err)
{
	uint32_t *place = ctx_map64_place(map, key);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE && n >= NUMBERS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G names or threads");
	*ret = place;
	return CTX_OK;
}

enum ctx_status ctx_te_model_process(struct ctx_te_model *model, int64_t pid, uint32_t *ret,
				     struct ctx_err *err)
{
	uint32_t *place;
	enum ctx_status status = find(&model->process_of, (uint64_t)pid, model->n_processes, &place, err);

	if (status == CTX_OK && *place == CTX_MAP64_NONE) {
		*place = (uint32_t)model->n_processes;
		status = ctx_grow(&model->processes, &model->processes_cap, model->n_processes + 1, err);
		if (status == CTX_OK)
			model->processes[model->n_processes++] =
				(struct ctx_te_process){.pid = pid,
							.name = CTX_TE_NO_NAME,
							.number = CTX_NONE,
							.lanes = CTX_NONE,
							.last_ns = INT64_MIN};
	}
	if (status == CTX_OK)
		*ret = *place;
	return status;
}

static enum ctx_status add_thread(struct ctx_te_model *model, uint32_t process, int64_t tid,
				  struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&model->threads, &model->threads_cap, model->n_threads + 1, err);

	if (status == CTX_OK)
		model->threads[model->n_threads++] = (struct ctx_te_thread){.tid = tid,
									    .last_ns = INT64_MIN,
									    .cpu_ns = -1,
									    .process = process,
									    .name = CTX_TE_NO_NAME,
									    .number = CTX_NONE,
									    .next_lane = CTX_NONE,
									    .slice_begin_ns = INT64_MIN,
									    .slice_end_ns = INT64_MIN};
	return status;
}

enum ctx_status ctx_te_model_thread(struct ctx_te_model *model, uint32_t process, int64_t tid, uint32_t *ret,
				    struct ctx_err *err)
{
	uint32_t *place, number;
	enum ctx_status status = find(&model->number_of, (uint64_t)tid, model->n_numbers, &place, err);

	if (status != CTX_OK)
		return status;
	if (*place == CTX_MAP64_NONE)
		*place = model->n_numbers++;
	number = *place;
	status = find(&model->thread_of, (uint64_t)process << 32 | number, model->n_threads, &place, err);
	if (status == CTX_OK && *place == CTX_MAP64_NONE) {
		*place = (uint32_t)model->n_threads;
		status = add_thread(model, process, tid, err);
	}
	if (status == CTX_OK)
		*ret = *place;
	return status;
}

enum ctx_status ctx_te_model_function(struct ctx_te_model *model, uint32_t name, uint32_t category,
				      uint32_t *ret, struct ctx_err *err)
{
	uint32_t *place;
	enum ctx_status status =
		find(&model->function_of, (uint64_t)name << 32 | category, model->n_functions, &place, err);

	if (status == CTX_OK && *place == CTX_MAP64_NONE) {
		*place = (uint32_t)model->n_functions;
		status = ctx_grow(&model->functions, &model->functions_cap, model->n_functions + 1, err);
		if (status == CTX_OK)
			model->functions[model->n_functions++] =
				(struct ctx_te_function){.name = name, .category = category};
	}
	if (status == CTX_OK)
		*ret = *place;
	return status;
}

/* A new lane of a pool. */
static enum ctx_status add_lane(struct ctx_te_model *model, uint32_t process, uint32_t category,
				uint32_t pool, struct ctx_err *err)
{
	struct ctx_te_thread *lane;
	char text[256];
	enum ctx_status status;

	if (model->n_threads >= NUMBERS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G threads");
	status = add_thread(model, process, CTX_TE_OWN_NUMBERS + (int64_t)model->n_threads, err);
	if (status != CTX_OK)
		return status;
	lane = &model->threads[model->n_threads - 1];
	lane->is_lane = true;
	lane->pool = pool;
	lane->next_lane = model->processes[process].lanes;
	model->processes[process].lanes = (uint32_t)model->n_threads - 1;
	snprintf(text, sizeof(text), "%.200s #%u",
		 category != CTX_TE_NO_NAME ? ctx_strtab_get(&model->names, category) : "async",
		 ++model->pools[pool].n);
	return ctx_strtab_add_text(&model->names, text, &lane->name, err);
}

enum ctx_status ctx_te_model_lane(struct ctx_te_model *model, uint32_t process, uint32_t category,
				  uint32_t *ret, struct ctx_err *err)
{
	struct ctx_te_pool *pool;
	uint32_t *place;
	enum ctx_status status =
		find(&model->pool_of, (uint64_t)process << 32 | category, model->n_pools, &place, err);

	if (status == CTX_OK && *place == CTX_MAP64_NONE) {
		*place = (uint32_t)model->n_pools;
		status = ctx_grow(&model->pools, &model->pools_cap, model->n_pools + 1, err);
		if (status == CTX_OK)
			model->pools[model->n_pools++] = (struct ctx_te_pool){.free = CTX_NONE};
	}
	if (status != CTX_OK)
		return status;
	pool = &model->pools[*place];
	if (pool->free != CTX_NONE) {
		*ret = pool->free;
		pool->free = model->threads[*ret].next_free;
		return CTX_OK;
	}
	status = add_lane(model, process, category, *place, err);
	if (status == CTX_OK)
		*ret = (uint32_t)model->n_threads - 1;
	return status;
}

void ctx_te_model_free_lane(struct ctx_te_model *model, uint32_t lane)
{
	struct ctx_te_pool *pool = &model->pools[model->threads[lane].pool];

	model->threads[lane].next_free = pool->free;
	pool->free = lane;
}
