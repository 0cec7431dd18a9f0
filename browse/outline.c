#include "browse/outline.h"

size_t ctx_outline_see(struct ctx_outline_row *rows, size_t n, size_t *seen)
{
	uint32_t closed = UINT32_MAX; /* level of the closed row that hides the following ones */
	size_t n_seen = 0;

	for (size_t i = 0; i < n; i++) {
		rows[i].has_children = i + 1 < n && rows[i + 1].level > rows[i].level;
		if (rows[i].level > closed)
			continue;
		closed = rows[i].is_open ? UINT32_MAX : rows[i].level;
		seen[n_seen++] = i;
	}
	return n_seen;
}

size_t ctx_outline_parent(const struct ctx_outline_row *rows, size_t row)
{
	for (size_t i = row; i-- > 0;) {
		if (rows[i].level < rows[row].level)
			return i;
	}
	return row;
}
