/*
 * Table cache: call frame information tables by build id, each file read once. Missing tables are
 * cached as well.
 */
#ifndef CTX_UNWIND_TABLE_CACHE_H
#define CTX_UNWIND_TABLE_CACHE_H

#include "base/map64.h"
#include "base/strtab.h"
#include "unwind/cfi_table.h"

struct ctx_table_cache {	       /* all zero is a valid empty one */
	struct ctx_strtab keys;	       /* build id, or name if there is none; id = index in tables */
	struct ctx_cfi_table **tables; /* owned; NULL: none */
	size_t n, cap;
};

void ctx_table_cache_deinit(struct ctx_table_cache *cache);

struct ctx_table_file {	      /* a file to read */
	const char *name;     /* of the object: the key where the build id is unknown */
	const char *path;     /* where to read it; "" nowhere: a later call with a path tries again */
	const char *build_id; /* "" unknown */
};

/*
 * The table of an object; NULL: no usable one (no file, no frame information, or a file with
 * another build id). Borrowed, lives as long as the cache. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_table_cache_get(struct ctx_table_cache *cache,
						   const struct ctx_table_file *file,
						   const struct ctx_cfi_table **ret, struct ctx_err *err);

struct ctx_table_image { /* a file in memory */
	const char *key; /* its name */
	const void *bytes;
	size_t n;
};

/* The same for a file in memory. */
CTX_MUST_CHECK enum ctx_status ctx_table_cache_get_image(struct ctx_table_cache *cache,
							 const struct ctx_table_image *image,
							 const struct ctx_cfi_table **ret,
							 struct ctx_err *err);

#endif
