/*
 * Memory: overflow checks of sizes, and cleanup attributes.
 *
 * ctx_grow is the growable array: keep `items`, `n`, `cap` beside each other in your struct and
 * call it before appending.
 */
#ifndef CTX_BASE_MEM_H
#define CTX_BASE_MEM_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* n * size zero bytes, NULL: out of memory, or the product overflows. Release with
 * free(). */
void *ctx_calloc(size_t n, size_t size) __attribute__((malloc, alloc_size(1, 2)));

/*
 * `size` bytes, not initialised, for a table with random access: a large one is on huge pages if
 * available, which avoids most TLB misses. NULL: out of memory. Release with free().
 */
void *ctx_alloc_large(size_t size) __attribute__((malloc, alloc_size(1)));

/* A copy of `n` bytes plus a terminating zero byte; NULL: out of memory. Release with
 * free(). */
char *ctx_memdup0(const void *bytes, size_t n);

/*
 * Makes room for `want` items of `size` bytes in `*items` (capacity `*cap`, both changed on success
 * only); doubles, so appending is amortised O(1). New items are not initialised. Returns
 * CTX_E_NOMEM on failure or overflow; the old array stays valid.
 */
CTX_MUST_CHECK enum ctx_status ctx_grow_raw(void **items, size_t *cap, size_t want, size_t size,
					    struct ctx_err *err);

/* The same; in the common case that there is room it costs one comparison. */
CTX_MUST_CHECK static inline enum ctx_status ctx_grow_if(void **items, size_t *cap, size_t want, size_t size,
							 struct ctx_err *err)
{
	return want <= *cap ? CTX_OK : ctx_grow_raw(items, cap, want, size, err);
}

#define ctx_grow(items, cap, want, err) ctx_grow_if((void **)(items), (cap), (want), sizeof(**(items)), (err))

/*
 * Variables that are released at every exit of their block:
 *
 *	char *text CTX_AUTO_FREE = NULL;			free()
 *	struct ctx_buf text CTX_AUTO_BUF = {0};			ctx_buf_deinit() (base/buf.h)
 *	struct rows rows CTX_CLEANUP(rows_deinit) = {0};	any void f(struct rows *)
 */
#define CTX_CLEANUP(function) __attribute__((cleanup(function)))
#define CTX_AUTO_FREE CTX_CLEANUP(ctx_free_cleanup)
void ctx_free_cleanup(void *pointer_to_pointer);

#define CTX_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#endif
