#include "unwind/table_cache.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/*
 * An entry is a key and its table, NULL if there is none. A miss for lack of a path has no entry,
 * so that a later call with a path tries again.
 */

void ctx_table_cache_deinit(struct ctx_table_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		ctx_cfi_table_close(cache->tables[i]);
	ctx_strtab_deinit(&cache->keys);
	free(cache->tables);
	*cache = (struct ctx_table_cache){0};
}

static bool find(const struct ctx_table_cache *cache, const char *key, const struct ctx_cfi_table **ret)
{
	uint32_t id = ctx_strtab_find(&cache->keys, key, strlen(key));

	if (id >= cache->n)
		return false;
	*ret = cache->tables[id];
	return true;
}

/* Takes ownership of the table, also on failure. */
static enum ctx_status keep(struct ctx_table_cache *cache, const char *key, struct ctx_cfi_table *table,
			    const struct ctx_cfi_table **ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&cache->tables, &cache->cap, cache->n + 1, err);
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&cache->keys, key, &id, err);
	if (status != CTX_OK) {
		ctx_cfi_table_close(table);
		return status;
	}
	cache->tables[cache->n++] = table;
	*ret = table;
	return CTX_OK;
}

enum ctx_status ctx_table_cache_get(struct ctx_table_cache *cache, const struct ctx_table_file *file,
				    const struct ctx_cfi_table **ret, struct ctx_err *err)
{
	const char *build_id = file->build_id;
	const char *key = build_id[0] != '\0' ? build_id : file->name;
	struct ctx_cfi_table *table = NULL;
	enum ctx_status status;

	*ret = NULL;
	if (key[0] == '\0' || find(cache, key, ret) || file->path[0] == '\0')
		return CTX_OK;
	status = ctx_cfi_table_open(file->path, &table, err);
	if (status == CTX_E_NOMEM)
		return status;
	if (status == CTX_OK && build_id[0] != '\0' && strcmp(ctx_cfi_table_build_id(table), build_id) != 0) {
		ctx_cfi_table_close(table);
		table = NULL;
	}
	return keep(cache, key, status == CTX_OK ? table : NULL, ret, err);
}

enum ctx_status ctx_table_cache_get_image(struct ctx_table_cache *cache, const struct ctx_table_image *image,
					  const struct ctx_cfi_table **ret, struct ctx_err *err)
{
	struct ctx_cfi_table *table = NULL;
	enum ctx_status status;

	*ret = NULL;
	if (find(cache, image->key, ret))
		return CTX_OK;
	status = ctx_cfi_table_open_bytes(image->bytes, image->n, &table, err);
	if (status == CTX_E_NOMEM)
		return status;
	return keep(cache, image->key, status == CTX_OK ? table : NULL, ret, err);
}
