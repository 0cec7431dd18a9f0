/*
 * String table: equal strings get equal ids, so that inside the program equality of names is
 * equality of ids.
 *
 * Ids are dense and in order of first appearance: 0, 1, 2, ... Strings are copied and live until
 * deinit. All zero is a valid empty table.
 */
#ifndef CTX_BASE_STRTAB_H
#define CTX_BASE_STRTAB_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct ctx_strtab {
	struct ctx_arena arena;
	const char **strings; /* by id */
	uint32_t *lengths;    /* by id, bytes */
	size_t n, strings_cap, lengths_cap;
	uint32_t *slots; /* open addressing; UINT32_MAX is free */
	size_t slots_cap;
};

void ctx_strtab_deinit(struct ctx_strtab *table);

/* Finds or adds. The `n` bytes are arbitrary, zero bytes included. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_strtab_add(struct ctx_strtab *table, const char *text, size_t n,
					      uint32_t *ret_id, struct ctx_err *err);

/* Like ctx_strtab_add for a zero-terminated string. */
CTX_MUST_CHECK enum ctx_status ctx_strtab_add_text(struct ctx_strtab *table, const char *text,
						   uint32_t *ret_id, struct ctx_err *err);

/* The id of an equal string, UINT32_MAX: none; adds nothing. Costs a hash of the
 * string. */
uint32_t ctx_strtab_find(const struct ctx_strtab *table, const char *text, size_t n);

/* The string of an id that ctx_strtab_add gave; zero-terminated, borrowed. */
const char *ctx_strtab_get(const struct ctx_strtab *table, uint32_t id);

#endif
