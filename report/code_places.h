/*
 * Symbolic code addresses: function+0x1a, the split-off part of a function, the line.
 */
#ifndef CTX_REPORT_CODE_PLACES_H
#define CTX_REPORT_CODE_PLACES_H

#include "report/code_rows.h"

/* Position of an address in its function. */
struct ctx_code_place {
	uint32_t function; /* the function that contains the address, not an inlined one; CTX_NONE: none */
	/*
	 * names of the folded parts that may contain it, separated by spaces; NULL: the function
	 * itself
	 */
	const char *part;
	bool has_offset;
	uint64_t offset; /* from the first byte of the function, or of the part */
};

/*
 * `reader` (NULL: none) is asked for the parts of a function only if the address is not in the
 * function itself. There is no offset if it fails or does not know the part.
 */
struct ctx_code_place ctx_code_place_of(const struct ctx_code_view *view, uint32_t location);

/* The same for the part of a function that begins at `address`: NULL for the function itself. */
const char *ctx_code_part_name(const struct ctx_profile *profile, uint32_t function, uint64_t address);

/*
 * Whether an address is in the function itself, not in a folded part. If the size is unknown: at or
 * after its start.
 */
bool ctx_code_is_inside(const struct ctx_function_info *function, uint64_t address);

#endif
