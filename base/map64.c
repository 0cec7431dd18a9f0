#include "base/map64.h"

#include "base/mem.h"

#include <string.h>

#define FIRST_CAP 64

void ctx_map64_deinit(struct ctx_map64 *map)
{
	free(map->slots);
	*map = (struct ctx_map64){0};
}

void ctx_map64_clear(struct ctx_map64 *map)
{
	if (map->cap != 0)
		memset(map->slots, 0xff, map->cap * sizeof(*map->slots));
	map->n = 0;
}

/* Twice the slots. */
static enum ctx_status grow(struct ctx_map64 *map)
{
	size_t cap = map->cap != 0 ? map->cap * 2 : FIRST_CAP;
	struct ctx_map64 bigger = {.cap = cap, .n = map->n, .shift = 64 - (unsigned)__builtin_ctzll(cap)};

	bigger.slots = ctx_calloc(cap, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return CTX_E_NOMEM;
	memset(bigger.slots, 0xff, cap * sizeof(*bigger.slots));
	for (size_t i = 0; i < map->cap; i++) {
		if (map->slots[i].value != CTX_MAP64_NONE)
			*ctx_map64_slot(&bigger, map->slots[i].key) = map->slots[i];
	}
	free(map->slots);
	*map = bigger;
	return CTX_OK;
}

uint32_t *ctx_map64_add(struct ctx_map64 *map, uint64_t key)
{
	struct ctx_map64_slot *slot;

	if (map->n * 8 >= map->cap * 5 && grow(map) != CTX_OK)
		return NULL;
	slot = ctx_map64_slot(map, key);
	slot->key = key;
	map->n++;
	return &slot->value;
}

void ctx_map64_remove(struct ctx_map64 *map, uint64_t key)
{
	size_t mask = map->cap - 1, hole;

	if (ctx_map64_get(map, key) == CTX_MAP64_NONE)
		return;
	hole = (size_t)(ctx_map64_slot(map, key) - map->slots);
	/* Later entries of the run move into the hole, unless that is in front of where their search begins. */
	for (size_t i = (hole + 1) & mask; map->slots[i].value != CTX_MAP64_NONE; i = (i + 1) & mask) {
		size_t home = (size_t)(ctx_hash64(map->slots[i].key) >> map->shift);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			map->slots[hole] = map->slots[i];
			hole = i;
		}
	}
	map->slots[hole].value = CTX_MAP64_NONE;
	map->n--;
}
