/*
 * Values of a parsed JSON text (yajl's tree), looked up without failing: what is missing, or of another
 * kind, is NULL, an empty text, no items, or a default.
 */
#ifndef CTX_FORMATS_JSONPROFILE_JP_JSON_H
#define CTX_FORMATS_JSONPROFILE_JP_JSON_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_tree.h>

/*
 * Parses a file: of 1 GiB at most, nested 64 deep. To be freed by yajl_tree_free. CTX_E_FORMAT,
 * CTX_E_NOTFOUND, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_jp_json_read(const char *path, yajl_val *ret, struct ctx_err *err);

/* Member of an object. O(members). */
yajl_val ctx_jp_member(yajl_val object, const char *key);

/* Items of a list: their number, and one of them, NULL behind the end. */
size_t ctx_jp_length(yajl_val list);
yajl_val ctx_jp_item(yajl_val list, size_t i);

/* "" if it is no text. Borrowed. */
const char *ctx_jp_text(yajl_val value);

/* A number; `other` if it is none. */
double ctx_jp_number(yajl_val value, double other);

/* An id of a process or thread, which may be text; `other` if it is none. */
int64_t ctx_jp_id(yajl_val value, int64_t other);

/* A whole number from 0 to `max`; `other` if it is none. */
uint64_t ctx_jp_index(yajl_val value, uint64_t max, uint64_t other);

#endif
