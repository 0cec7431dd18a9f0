#include "unwind/table_cache.h"

#include <stdlib.h>

void ctx_table_cache_deinit(struct ctx_table_cache *cache)
{
	ctx_strtab_deinit(&cache->keys);
	free(cache->tables);
	*cache = (struct ctx_table_cache){0};
}

enum ctx_status ctx_table_cache_get(struct ctx_table_cache *cache, const char *path, const char *build_id,
				    const struct ctx_cfi_table **ret, struct ctx_err *err)
{
	(void)cache;
	(void)path;
	(void)build_id;
	(void)err;
	*ret = NULL;
	return CTX_OK;
}

enum ctx_status ctx_table_cache_get_bytes(struct ctx_table_cache *cache, const char *key, const void *bytes,
					  size_t n, const struct ctx_cfi_table **ret, struct ctx_err *err)
{
	(void)cache;
	(void)key;
	(void)bytes;
	(void)n;
	(void)err;
	*ret = NULL;
	return CTX_OK;
}

bool ctx_table_cache_has(const struct ctx_table_cache *cache, const char *key)
{
	(void)cache;
	(void)key;
	return false;
}
