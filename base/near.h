/*
 * Suggestions: the few names that are nearest to a text.
 */
#ifndef CTX_BASE_NEAR_H
#define CTX_BASE_NEAR_H

#include <stddef.h>

#define CTX_NEAR_MAX 5u

/* All zero is empty. */
struct ctx_near {
	const char *names[CTX_NEAR_MAX]; /* borrowed; the nearest first */
	size_t lengths[CTX_NEAR_MAX];	 /* bytes of a name that are shown */
	size_t distances[CTX_NEAR_MAX];
	size_t n;
};

/*
 * Offers the first `n` bytes of `name`, zero-terminated further on, for a text of `want` bytes.
 * Names that contain the text are nearest, the shortest first; others by their edit distance, if it
 * is small. Case is ignored. Of a C++ name the part before the parameters is compared. O(n * want),
 * of long ones only the beginnings.
 */
void ctx_near_consider(struct ctx_near *near, const char *name, size_t n, const char *text, size_t want);

/* "'malloc', 'mallocz'"; long names are cut. "" if nothing is near. */
void ctx_near_list(const struct ctx_near *near, char *out, size_t size);

#endif
