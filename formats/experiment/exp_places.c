#include "formats/experiment/exp_places.h"

#include "base/mem.h"

#include <string.h>

/* A key is the object's number and the offset: up to a million objects and files of 16 TiB. */
#define OFFSET_BITS 44
#define OBJECTS_MAX ((uint32_t)1 << (64 - OFFSET_BITS))
#define EVERY SIZE_MAX /* `n` of a set that could not store objects any more */

void ctx_exp_places_deinit(struct ctx_exp_places *set)
{
	ctx_map64_deinit(&set->places);
	free(set->anywhere);
	*set = (struct ctx_exp_places){0};
}

static bool is_anywhere(const struct ctx_exp_places *set, uint32_t object)
{
	return set->n == EVERY || (object < set->n && set->anywhere[object] != 0);
}

void ctx_exp_places_add_all(struct ctx_exp_places *set, uint32_t object)
{
	if (is_anywhere(set, object))
		return;
	if (ctx_grow(&set->anywhere, &set->cap, (size_t)object + 1, NULL) != CTX_OK) {
		set->n = EVERY;
		return;
	}
	if (object >= set->n) {
		memset(set->anywhere + set->n, 0, (size_t)object + 1 - set->n);
		set->n = (size_t)object + 1;
	}
	set->anywhere[object] = 1;
}

void ctx_exp_places_add(struct ctx_exp_places *set, uint32_t object, uint64_t file_offset)
{
	uint64_t key = (uint64_t)object << OFFSET_BITS | file_offset;
	uint32_t *value = NULL;

	if (is_anywhere(set, object))
		return;
	if (object < OBJECTS_MAX && file_offset >> OFFSET_BITS == 0) {
		if (set->places.n >= CTX_EXP_PLACES_MAX && ctx_map64_get(&set->places, key) != CTX_MAP64_NONE)
			return;
		if (set->places.n < CTX_EXP_PLACES_MAX)
			value = ctx_map64_place(&set->places, key);
	}
	if (value != NULL)
		*value = object;
	else
		ctx_exp_places_add_all(set, object);
}

static int by_offset(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

enum ctx_status ctx_exp_places_get(const struct ctx_exp_places *set, uint32_t object,
				   struct ctx_exp_offsets *ret, struct ctx_err *err)
{
	uint64_t *offsets = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < set->places.cap; i++) {
		const struct ctx_map64_slot *slot = &set->places.slots[i];

		if (slot->value != object)
			continue;
		if (ctx_grow(&offsets, &cap, n + 1, err) != CTX_OK) {
			free(offsets);
			return CTX_E_NOMEM;
		}
		offsets[n++] = slot->key & (((uint64_t)1 << OFFSET_BITS) - 1);
	}
	if (n != 0)
		qsort(offsets, n, sizeof(*offsets), by_offset);
	*ret = (struct ctx_exp_offsets){offsets, n, is_anywhere(set, object)};
	return CTX_OK;
}
