#include "base/mem.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LARGE ((size_t)4 << 20) /* from this size on huge pages are requested */

void *ctx_calloc(size_t n, size_t size)
{
	return calloc(n != 0 ? n : 1, size != 0 ? size : 1);
}

void *ctx_alloc_large(size_t size)
{
	char *bytes = malloc(size != 0 ? size : 1);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), skip;

	if (bytes != NULL && size >= LARGE) {
		skip = (page - (uintptr_t)bytes % page) % page;
		(void)madvise(bytes + skip, (size - skip) / page * page, MADV_HUGEPAGE); /* or not */
	}
	return bytes;
}

char *ctx_memdup0(const void *bytes, size_t n)
{
	char *copy;

	if (n == SIZE_MAX)
		return NULL;
	copy = malloc(n + 1);
	if (copy == NULL)
		return NULL;
	if (n != 0)
		memcpy(copy, bytes, n);
	copy[n] = '\0';
	return copy;
}

enum ctx_status ctx_grow_raw(void **items, size_t *cap, size_t want, size_t size, struct ctx_err *err)
{
	size_t new_cap = *cap < 16 ? 16 : *cap;
	size_t bytes;
	void *grown;

	if (want <= *cap)
		return CTX_OK;
	while (new_cap < want) {
		if (new_cap > SIZE_MAX / 2)
			return ctx_err_nomem(err);
		new_cap *= 2;
	}
	if (__builtin_mul_overflow(new_cap, size, &bytes))
		return ctx_err_nomem(err);
	grown = realloc(*items, bytes);
	if (grown == NULL)
		return ctx_err_nomem(err);
	*items = grown;
	*cap = new_cap;
	return CTX_OK;
}

void ctx_free_cleanup(void *pointer_to_pointer)
{
	void *pointer;

	memcpy(&pointer, pointer_to_pointer, sizeof(pointer));
	free(pointer);
}
