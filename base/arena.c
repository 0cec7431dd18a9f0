#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)64 * 1024)
#define ALIGNMENT alignof(max_align_t)

struct ctx_arena_chunk {
	struct ctx_arena_chunk *next;
	alignas(max_align_t) unsigned char bytes[];
};

static void *new_chunk(struct ctx_arena *arena, size_t size)
{
	struct ctx_arena_chunk *chunk;

	if (size > SIZE_MAX - sizeof(*chunk))
		return NULL;
	chunk = malloc(sizeof(*chunk) + size);
	if (chunk == NULL)
		return NULL;
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	arena->size = size;
	arena->used = 0;
	arena->total_bytes += sizeof(*chunk) + size;
	return chunk;
}

void *ctx_arena_alloc(struct ctx_arena *arena, size_t size)
{
	size_t rounded = (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	void *result;

	if (rounded < size)
		return NULL;
#ifdef CTX_SANITIZED
	if (new_chunk(arena, size) == NULL)
		return NULL;
	arena->used = arena->size;
	return arena->chunks->bytes;
#endif
	if (arena->chunks == NULL || arena->size - arena->used < rounded) {
		if (new_chunk(arena, rounded > CHUNK_BYTES ? rounded : CHUNK_BYTES) == NULL)
			return NULL;
	}
	result = arena->chunks->bytes + arena->used;
	arena->used += rounded;
	return result;
}

char *ctx_arena_strndup(struct ctx_arena *arena, const char *text, size_t n)
{
	char *copy;

	if (n == SIZE_MAX)
		return NULL;
	copy = ctx_arena_alloc(arena, n + 1);
	if (copy == NULL)
		return NULL;
	if (n != 0)
		memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *ctx_arena_strdup(struct ctx_arena *arena, const char *text)
{
	return ctx_arena_strndup(arena, text, strlen(text));
}

void ctx_arena_deinit(struct ctx_arena *arena)
{
	while (arena->chunks != NULL) {
		struct ctx_arena_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
	*arena = (struct ctx_arena){0};
}
