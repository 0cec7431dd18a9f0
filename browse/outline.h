/*
 * Which rows of a tree are seen, when some are collapsed. Pure.
 */
#ifndef CTX_BROWSE_OUTLINE_H
#define CTX_BROWSE_OUTLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_outline_row {
	uint32_t level;	   /* rows above it in the tree */
	bool is_open;	   /* its children are seen */
	bool has_children; /* set by ctx_outline_see */
};

/*
 * Writes the numbers of the rows that are seen to `seen` (room for n): those without a closed row above.
 * Rows are depth first. Returns how many.
 */
size_t ctx_outline_see(struct ctx_outline_row *rows, size_t n, size_t *seen);

/* The row above `row`; `row` itself: it is a top. */
size_t ctx_outline_parent(const struct ctx_outline_row *rows, size_t row);

#endif
