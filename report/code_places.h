/*
 * Places in code as people name them: function+0x1a, the part of a function that lies apart, the line.
 */
#ifndef CTX_REPORT_CODE_PLACES_H
#define CTX_REPORT_CODE_PLACES_H

#include "report/code_rows.h"

/* Where an address lies in its function. */
struct ctx_code_place {
	uint32_t function; /* the one that the address belongs to, not one that is inlined; CTX_NONE: none */
	const char *
		part; /* names of the folded parts that it may be in, separated by a space; NULL: the function itself */
	bool has_offset;
	uint64_t offset; /* from the first byte of the function, or of the part */
};

/*
 * `reader` (NULL: none) is asked for the parts of a function only where the address is not in the function itself. Where it fails or does not know, there is no offset.
 */
struct ctx_code_place ctx_code_place_of(const struct ctx_code_view *view, uint32_t location);

/* The same for the part of a function that begins at `address`: NULL for the function itself. */
const char *ctx_code_part_name(const struct ctx_profile *profile, uint32_t function, uint64_t address);

/* Whether an address is in the function itself, not in a folded part. Unknown sizes: at or behind its start. */
bool ctx_code_is_inside(const struct ctx_function_info *function, uint64_t address);

#endif
