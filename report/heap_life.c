#include "report/heap_life.h"

#include "base/mem.h"
#include "report/traced_groups.h"

#include <stdlib.h>

void ctx_heap_life_init(struct ctx_heap_life *life, const struct ctx_profile *profile)
{
	*life = (struct ctx_heap_life){.profile = profile};
}

void ctx_heap_life_deinit(struct ctx_heap_life *life)
{
	ctx_map64_deinit(&life->addresses);
	ctx_map64_deinit(&life->places);
	free(life->blocks);
	*life = (struct ctx_heap_life){0};
}

static uint32_t process_of(const struct ctx_heap_life *life, const struct ctx_traced *operation)
{
	return operation->thread < life->profile->n_threads
		       ? life->profile->threads[operation->thread].process
		       : CTX_NONE;
}

/* The block that lives there; NULL: none. */
static struct ctx_heap_block *find(const struct ctx_heap_life *life, uint32_t process, uint64_t address)
{
	uint32_t number = ctx_map64_get(&life->addresses, address), place;

	if (number == CTX_MAP64_NONE)
		return NULL;
	place = ctx_map64_get(&life->places, (uint64_t)process << 32 | number);
	return place != CTX_MAP64_NONE && life->blocks[place].lives ? &life->blocks[place] : NULL;
}

static void end(struct ctx_heap_life *life, struct ctx_heap_block *block)
{
	life->live -= block->size;
	*block = (struct ctx_heap_block){0};
}

static enum ctx_status begin(struct ctx_heap_life *life, uint32_t process, uint64_t address, uint64_t size,
			     uint32_t stack)
{
	uint32_t number = ctx_traced_number(&life->addresses, address), *place;
	enum ctx_status status = ctx_grow(&life->blocks, &life->cap, life->n + 1, NULL);

	if (status != CTX_OK || number == CTX_MAP64_NONE)
		return CTX_E_NOMEM;
	place = ctx_map64_place(&life->places, (uint64_t)process << 32 | number);
	if (place == NULL)
		return CTX_E_NOMEM;
	if (*place == CTX_MAP64_NONE)
		*place = (uint32_t)life->n++;
	else if (life->blocks[*place].lives)
		end(life, &life->blocks[*place]);
	life->blocks[*place] = (struct ctx_heap_block){.size = size, .stack = stack, .lives = true};
	life->live += size;
	return CTX_OK;
}

static enum ctx_status unmap(struct ctx_heap_life *life, uint32_t process, uint64_t address, uint64_t size)
{
	struct ctx_heap_block *block;

	while (size != 0 && (block = find(life, process, address)) != NULL && block->size != 0) {
		struct ctx_heap_block old = *block;

		end(life, block);
		if (old.size > size)
			return begin(life, process, address + size, old.size - size, old.stack);
		address += old.size;
		size -= old.size;
	}
	return CTX_OK;
}

enum ctx_status ctx_heap_life_step(struct ctx_heap_life *life, const struct ctx_traced *operation,
				   bool counts)
{
	uint32_t process = process_of(life, operation);
	bool frees = operation->operation == CTX_HEAP_FREE;
	struct ctx_heap_block *old;

	if (operation->operation == CTX_HEAP_UNMAP)
		return unmap(life, process, operation->address, operation->size);
	old = operation->operation == CTX_HEAP_REALLOCATE ? find(life, process, operation->old_address)
							  : find(life, process, operation->address);
	/* A realloc that failed leaves the old block. One to nothing frees it. */
	if (old != NULL && operation->operation == CTX_HEAP_REALLOCATE)
		frees = operation->address != 0 || operation->size == 0;
	else if (old != NULL && ctx_traced_is_allocation(operation))
		frees = true; /* unseen */
	if (old != NULL && frees)
		end(life, old);
	if (counts && ctx_traced_is_allocation(operation))
		return begin(life, process, operation->address, operation->size, operation->stack);
	return CTX_OK;
}
