#include "query/span_cache.h"

#include "base/mem.h"

#include <stdlib.h>

void ctx_span_cache_deinit(struct ctx_span_cache *cache)
{
	ctx_map64_deinit(&cache->places);
	free(cache->known);
	*cache = (struct ctx_span_cache){0};
}

enum ctx_status ctx_span_cache_place(struct ctx_span_cache *cache, uint32_t thread, uint32_t metric,
				     struct ctx_known_span **ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&cache->known, &cache->cap, cache->n + 1, err);
	uint32_t *place;

	/* Allocations come first: a slot of the map must not stay empty on failure. */
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&cache->places, (uint64_t)thread << 32 | metric);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		cache->known[cache->n] = (struct ctx_known_span){0};
		*place = (uint32_t)cache->n++;
	}
	*ret = &cache->known[*place];
	return CTX_OK;
}
