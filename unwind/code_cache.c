#include "unwind/code_cache.h"

#include "base/mem.h"

#include <pthread.h>

#define PLACES_SHIFT 15u /* 1.5 MiB, of which a page is there once it is used */
#define PLACES (1u << PLACES_SHIFT)

struct entry { /* code 0: empty */
	struct ctx_code_place place;
	struct ctx_code_frame frame;
};

struct ctx_code_cache {
	pthread_mutex_t lock;
	struct entry entries[PLACES];
};

enum ctx_status ctx_code_cache_create(struct ctx_code_cache **ret, struct ctx_err *err)
{
	struct ctx_code_cache *cache = ctx_calloc(1, sizeof(*cache));

	if (cache == NULL)
		return ctx_err_nomem(err);
	pthread_mutex_init(&cache->lock, NULL);
	*ret = cache;
	return CTX_OK;
}

void ctx_code_cache_destroy(struct ctx_code_cache *cache)
{
	if (cache == NULL)
		return;
	pthread_mutex_destroy(&cache->lock);
	free(cache);
}

static struct entry *entry_of(struct ctx_code_cache *cache, struct ctx_code_place place)
{
	uint64_t key = place.at ^ place.code << 40 ^ (uint64_t)place.depth << 62;
	uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);

	return &cache->entries[hash >> (64 - PLACES_SHIFT)];
}

bool ctx_code_cache_has(struct ctx_code_cache *cache, struct ctx_code_place place, struct ctx_code_frame *ret)
{
	struct entry *entry;
	bool has;

	if (cache == NULL || place.code == 0)
		return false;
	entry = entry_of(cache, place);
	pthread_mutex_lock(&cache->lock);
	has = entry->place.code == place.code && entry->place.at == place.at &&
	      entry->place.depth == place.depth;
	*ret = entry->frame;
	pthread_mutex_unlock(&cache->lock);
	return has;
}

struct ctx_code_frame ctx_code_cache_find(struct ctx_code_cache *cache, const struct ctx_insn_reader *reader,
					  uint64_t pc, struct ctx_code_place place)
{
	struct ctx_code_frame frame;

	if (ctx_code_cache_has(cache, place, &frame))
		return frame;
	frame = ctx_code_frame_find(reader, pc, place.depth);
	if (cache == NULL || place.code == 0)
		return frame;
	pthread_mutex_lock(&cache->lock);
	*entry_of(cache, place) = (struct entry){.place = place, .frame = frame};
	pthread_mutex_unlock(&cache->lock);
	return frame;
}
