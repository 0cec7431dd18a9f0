/*
 * What somebody may have meant: of many names the few that are nearest to a text.
 */
#ifndef CTX_BASE_NEAR_H
#define CTX_BASE_NEAR_H

#include <stddef.h>

#define CTX_NEAR_MAX 5u

/* All zero: nothing yet. */
struct ctx_near {
	const char *names[CTX_NEAR_MAX]; /* borrowed; the nearest first */
	size_t lengths[CTX_NEAR_MAX];	 /* bytes of a name that are shown */
	size_t distances[CTX_NEAR_MAX];
	size_t n;
};

/*
 * The first `n` bytes of `name`, ended by a zero further on, beside a text of `want` bytes. Names
 * that hold the text are nearest, by what they hold besides; others by how many characters have to
 * be changed, added or taken away, if that is little. Upper and lower case are the same. Of a C++
 * name it is the part before the parameters that is compared so. O(n * want), of long ones only the
 * beginnings.
 */
void ctx_near_consider(struct ctx_near *near, const char *name, size_t n, const char *text, size_t want);

/* "'malloc', 'mallocz'"; long names are cut. Nothing is near: "". */
void ctx_near_list(const struct ctx_near *near, char *out, size_t size);

#endif
