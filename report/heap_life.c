/*
 *	allocate, reallocate --> (process, address) --> block -- free, reallocate --> gone
 *	map -------------------> process's ranges ------------- unmap, map --------> cut
 *
 *	processes by their end: those before n_ended have no blocks left
 */
#include "report/heap_life.h"

#include "base/mem.h"
#include "model/heap_sampling.h"
#include "report/traced_groups.h"

#include <stdlib.h>

/* ---- processes ---- */

static int by_end(const void *a, const void *b, void *context)
{
	const struct ctx_process_info *processes = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	uint64_t left_ns = processes[left].life.end_ns, right_ns = processes[right].life.end_ns;

	if (left_ns != right_ns)
		return left_ns < right_ns ? -1 : 1;
	return (left > right) - (left < right);
}

enum ctx_status ctx_heap_life_init(struct ctx_heap_life *life, const struct ctx_profile *profile)
{
	uint32_t n = profile->n_processes;

	*life = (struct ctx_heap_life){.profile = profile,
				       .processes = ctx_calloc((size_t)n + 1, sizeof(*life->processes)),
				       .ends = ctx_calloc(n, sizeof(*life->ends))};
	if (life->processes == NULL || life->ends == NULL)
		return CTX_E_NOMEM;
	for (uint32_t i = 0; i < n; i++)
		life->ends[i] = i;
	if (n != 0)
		qsort_r(life->ends, n, sizeof(*life->ends), by_end, profile->processes);
	return CTX_OK;
}

static void release_ranges(struct ctx_heap_process *process)
{
	ctx_ranges_deinit(&process->maps);
	ctx_ranges_deinit(&process->files);
}

void ctx_heap_life_deinit(struct ctx_heap_life *life)
{
	for (uint32_t i = 0; life->processes != NULL && i <= life->profile->n_processes; i++)
		release_ranges(&life->processes[i]);
	free(life->processes);
	free(life->ends);
	ctx_map64_deinit(&life->addresses);
	ctx_map64_deinit(&life->places);
	free(life->blocks);
	*life = (struct ctx_heap_life){0};
}

static uint32_t process_of(const struct ctx_heap_life *life, const struct ctx_traced *operation)
{
	uint32_t n = life->profile->n_processes;
	uint32_t process = ctx_profile_process_of(life->profile, operation->thread);

	return process < n ? process : n;
}

static void count(struct ctx_heap_life *life, uint32_t process, uint64_t more, uint64_t less)
{
	life->processes[process].live += more - less;
	life->live += more - less;
}

void ctx_heap_life_until(struct ctx_heap_life *life, uint64_t time_ns)
{
	const struct ctx_profile *profile = life->profile;

	for (; life->n_ended < profile->n_processes &&
	       profile->processes[life->ends[life->n_ended]].life.end_ns < time_ns;
	     life->n_ended++) {
		uint32_t process = life->ends[life->n_ended];

		count(life, process, 0, life->processes[process].live);
		release_ranges(&life->processes[process]);
		life->processes[process].ended = true;
	}
}

/* ---- blocks ---- */

/* The live block at the address; NULL: none. */
static struct ctx_heap_block *find(const struct ctx_heap_life *life, uint32_t process, uint64_t address)
{
	uint32_t number = ctx_map64_get(&life->addresses, address), place;

	if (number == CTX_MAP64_NONE)
		return NULL;
	place = ctx_map64_get(&life->places, (uint64_t)process << 32 | number);
	return place != CTX_MAP64_NONE && life->blocks[place].lives ? &life->blocks[place] : NULL;
}

static void end(struct ctx_heap_life *life, struct ctx_heap_block *block, uint64_t time_ns)
{
	if (life->freed != NULL)
		life->freed(life->context, block, time_ns);
	count(life, block->process, 0, block->size);
	*block = (struct ctx_heap_block){0};
}

static enum ctx_status begin(struct ctx_heap_life *life, uint32_t process, const struct ctx_traced *operation)
{
	uint32_t number = ctx_traced_number(&life->addresses, operation->address), *place;
	double stands_for = ctx_heap_sample_number(life->sample_bytes, operation);
	uint64_t size = ctx_heap_sample_scale(operation->size, stands_for);
	enum ctx_status status = ctx_grow(&life->blocks, &life->cap, life->n + 1, NULL);

	if (status != CTX_OK || number == CTX_MAP64_NONE)
		return CTX_E_NOMEM;
	place = ctx_map64_place(&life->places, (uint64_t)process << 32 | number);
	if (place == NULL)
		return CTX_E_NOMEM;
	if (*place == CTX_MAP64_NONE)
		*place = (uint32_t)life->n++;
	else if (life->blocks[*place].lives)
		end(life, &life->blocks[*place], operation->time_ns);
	life->blocks[*place] = (struct ctx_heap_block){.size = size,
						       .time_ns = operation->time_ns,
						       .number = stands_for,
						       .stack = operation->stack,
						       .process = process,
						       .operation = operation->operation,
						       .lives = true};
	count(life, process, size, 0);
	return CTX_OK;
}

static enum ctx_status step_block(struct ctx_heap_life *life, uint32_t process,
				  const struct ctx_traced *operation, bool counts)
{
	/* Where one is allocated, what was there was freed, unseen. */
	uint64_t freed =
		operation->operation == CTX_HEAP_ALLOCATE ? operation->address : ctx_traced_freed(operation);
	struct ctx_heap_block *old = freed != 0 ? find(life, process, freed) : NULL;

	if (old != NULL)
		end(life, old, operation->time_ns);
	return counts && ctx_traced_is_allocation(operation) ? begin(life, process, operation) : CTX_OK;
}

/* ---- mappings ---- */

static enum ctx_status step_map(struct ctx_heap_life *life, uint32_t process,
				const struct ctx_traced *operation, bool counts)
{
	struct ctx_range range = {.begin = operation->address,
				  .value = (uint64_t)operation->operation << 32 | operation->stack};
	struct ctx_ranges *maps = &life->processes[process].maps, *files = &life->processes[process].files;
	uint64_t gone = 0, dropped = 0, of_file = 0;
	enum ctx_status status;

	if (operation->size == 0 ||
	    __builtin_add_overflow(operation->address, operation->size, &range.end)) /* it failed */
		return CTX_OK;
	status = ctx_ranges_cut(maps, range.begin, range.end, &gone, NULL);
	if (status == CTX_OK)
		status = ctx_ranges_cut(files, range.begin, range.end, &of_file, NULL);
	count(life, process, 0, gone);
	if (status != CTX_OK || !counts || !ctx_heap_maps(operation->operation))
		return status;
	if (ctx_heap_maps_file(operation->operation))
		return ctx_ranges_put(files, range, &of_file, NULL);
	status = ctx_ranges_put(maps, range, &dropped, NULL);
	if (status == CTX_OK)
		count(life, process, operation->size, dropped);
	return status;
}

enum ctx_status ctx_heap_life_step(struct ctx_heap_life *life, const struct ctx_traced *operation,
				   bool counts)
{
	uint32_t process = process_of(life, operation);

	ctx_heap_life_until(life, operation->time_ns);
	if (ctx_heap_maps(operation->operation) || ctx_heap_unmaps(operation->operation))
		return step_map(life, process, operation, counts);
	return step_block(life, process, operation, counts);
}

static enum ctx_status each_range(const struct ctx_ranges *ranges,
				  enum ctx_status (*each)(void *context, const struct ctx_heap_held *held),
				  void *context)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ranges->n && status == CTX_OK; i++) {
		const struct ctx_range *range = &ranges->items[i];
		const struct ctx_heap_held held = {.bytes = range->end - range->begin,
						   .number = 1,
						   .stack = (uint32_t)range->value,
						   .operation = (uint8_t)(range->value >> 32)};

		status = each(context, &held);
	}
	return status;
}

enum ctx_status ctx_heap_life_each(const struct ctx_heap_life *life,
				   enum ctx_status (*each)(void *context, const struct ctx_heap_held *held),
				   void *context)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < life->n && status == CTX_OK; i++) {
		const struct ctx_heap_block *block = &life->blocks[i];
		const struct ctx_heap_held held = {.bytes = block->size,
						   .number = block->number,
						   .stack = block->stack,
						   .operation = block->operation};

		if (block->lives && !life->processes[block->process].ended)
			status = each(context, &held);
	}
	for (uint32_t i = 0; i <= life->profile->n_processes && status == CTX_OK; i++) {
		status = each_range(&life->processes[i].maps, each, context);
		if (status == CTX_OK)
			status = each_range(&life->processes[i].files, each, context);
	}
	return status;
}
