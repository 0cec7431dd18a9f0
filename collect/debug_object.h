/*
 * Line tables of a load object: its ELF file and, where that has none itself, its separate debug file.
 *
 *	object at its path -- code segments
 *	   `-- .debug_line?  no --> ROOT/.build-id/xx/yyyy.debug, or what .gnu_debuglink names (beside it, .debug/, ROOT)
 *
 * Files are read, not mapped: one that shrinks meanwhile is a failed read, not a signal.
 */
#ifndef CTX_COLLECT_DEBUG_OBJECT_H
#define CTX_COLLECT_DEBUG_OBJECT_H

#include "collect/debug_line.h"

#define CTX_DEBUG_ROOT "/usr/lib/debug"

struct ctx_debug_object;

/*
 * Opens the object at `path` and reads its .debug_line and .debug_line_str (decompressed, each up to 1 GiB). `build_id`: "" if not known,
 * else the file's must be the same. `root`: directory of debug files. CTX_E_NOTFOUND with the reason: no such file, none that
 * has line tables, not little-endian ELF. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_debug_object_open(const char *path, const char *build_id, const char *root,
						     struct ctx_debug_object **ret, struct ctx_err *err);
void ctx_debug_object_close(struct ctx_debug_object *object);

/* When the object itself was changed last: seconds since 1970. */
int64_t ctx_debug_object_time(const struct ctx_debug_object *object);

/* The virtual address of an offset in the file; false if it is in no executable segment. */
bool ctx_debug_object_address(const struct ctx_debug_object *object, uint64_t file_offset,
			      uint64_t *ret_address);

/*
 * The files of `addresses` (ascending), or of all code (`all`). Files whose directories stand in .debug_info are found by reading that
 * too, only if there are such. May call `each` twice for a path. Fails with CTX_E_NOMEM and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_debug_object_files(struct ctx_debug_object *object,
						      const uint64_t *addresses, size_t n, bool all,
						      ctx_debug_line_fn *each, void *context,
						      struct ctx_debug_line_stats *ret_stats,
						      struct ctx_err *err);

#endif
