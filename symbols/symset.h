/*
 * Symbol set: built from the raw symbols of one or more tables, answers which symbol covers an
 * address.
 *
 * First ctx_symset_add for each symbol (names borrowed until freeze) and ctx_symset_add_extent for
 * each function that may lack a symbol, then ctx_symset_freeze once; lookups afterwards.
 */
#ifndef CTX_SYMBOLS_SYMSET_H
#define CTX_SYMBOLS_SYMSET_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_symset_raw {
	uint64_t start;
	uint64_t size;	    /* bytes; 0 unknown */
	uint64_t limit;	    /* end of the section: limit of the symbol */
	const char *name;   /* borrowed until freeze */
	const char *module; /* "" none; borrowed until freeze */
	uint32_t file;	    /* number of the source file of a local symbol; 0 unknown */
};

struct ctx_symset_extent {
	uint64_t start, end;
};

struct ctx_symset_entry {
	uint64_t start;
	uint64_t size;
	uint32_t name;	  /* offset in text; 0 (that of ""): a function without a name */
	uint32_t aliases; /* offset in text of `alias_count` consecutive zero-terminated names */
	uint32_t alias_count;
	uint32_t module; /* offset in text */
	uint32_t file;	 /* as in the symbols; 0 if they have several */
};

struct ctx_symset {		    /* all zero is a valid empty set, frozen or not */
	struct ctx_symset_raw *raw; /* owned; gone after freeze */
	size_t raw_n, raw_cap;
	struct ctx_symset_extent *extents; /* owned; gone after freeze */
	size_t extent_n, extents_cap;
	struct ctx_arena names;	 /* names that differ from those in the file; freed by freeze */
	const char **file_names; /* owned; names of source files, from number 1; gone after freeze */
	size_t n_files, file_names_cap;
	uint32_t *files; /* owned, after freeze: by number, offset of the name in text */

	struct ctx_symset_entry *entries; /* owned, by start */
	uint32_t n;

	/*
	 * The address space as ranges: range i is [range_starts[i], range_starts[i + 1]) and
	 * belongs to one entry, or none.
	 */
	uint64_t *range_starts;
	uint32_t *range_entries; /* UINT32_MAX none */
	size_t range_n;

	char *text; /* owned; all names */
	size_t text_n, text_cap;
};

void ctx_symset_deinit(struct ctx_symset *set);

/*
 * Adds a source file and returns its number, from 1. `n` bytes of `name` are copied. Fails with
 * CTX_E_NOMEM, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_symset_add_file(struct ctx_symset *set, const char *name, size_t n,
						   uint32_t *ret, struct ctx_err *err);

/* The name of a source file after freeze; "" for number 0. Borrowed. */
const char *ctx_symset_file(const struct ctx_symset *set, uint32_t file);

/*
 * Adds a symbol; one without a name or outside its limit is ignored. Amortised O(1). Fails with
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symset_add(struct ctx_symset *set, const struct ctx_symset_raw *raw,
					      struct ctx_err *err);

/*
 * Adds the extent of a function, whether it has symbols or not. It is ignored if a symbol with a
 * size covers its start; a symbol without a size reaches to the end of the extent it is in and not
 * into the next one; an extent that begins without a symbol becomes a function without a name. Of
 * overlapping extents the first counts, up to its end. size > 0; start + size must not overflow.
 * Amortised O(1). Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symset_add_extent(struct ctx_symset *set, uint64_t start, uint64_t size,
						     struct ctx_err *err);

/*
 * Copies the names, merges aliases, and builds the ranges. O(n log n). Fails with CTX_E_NOMEM,
 * CTX_E_LIMIT (4 GiB of names or 1 G symbols).
 */
CTX_MUST_CHECK enum ctx_status ctx_symset_freeze(struct ctx_symset *set, struct ctx_err *err);

/*
 * The entry that covers an address: of several the one with the largest start, and any with a size
 * before those without. O(log n).
 */
bool ctx_symset_find(const struct ctx_symset *set, uint64_t address, uint32_t *ret_index);

#endif
