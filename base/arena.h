/*
 * Arena: many small allocations with one owner, released together.
 *
 * Memory comes in chunks and is released all at once by ctx_arena_deinit. Sanitizer builds make
 * every allocation its own malloc, so that an overrun of one string into the next is detected.
 *
 *	struct ctx_arena arena = {0};
 *	char *name = ctx_arena_strdup(&arena, "main");
 *	ctx_arena_deinit(&arena);
 */
#ifndef CTX_BASE_ARENA_H
#define CTX_BASE_ARENA_H

#include <stddef.h>

struct ctx_arena_chunk;

struct ctx_arena { /* all zero is a valid empty arena */
	struct ctx_arena_chunk *chunks;
	size_t used;	    /* of the newest chunk, bytes */
	size_t size;	    /* of the newest chunk, bytes */
	size_t total_bytes; /* requested from malloc so far */
};

/*
 * `size` bytes aligned for any type, not initialised; NULL: out of memory. Lives until deinit.
 */
void *ctx_arena_alloc(struct ctx_arena *arena, size_t size);

/* Copies of a string, or of `n` bytes with a zero byte appended. NULL: out of memory. */
char *ctx_arena_strdup(struct ctx_arena *arena, const char *text);
char *ctx_arena_strndup(struct ctx_arena *arena, const char *text, size_t n);

/* Releases everything; the arena is empty and usable again. */
void ctx_arena_deinit(struct ctx_arena *arena);

#endif
