/*
 * Locations, functions and mappings of a profile.proto.
 *
 *	location  an address in an object, with a line for each function there, the innermost first; or a function alone
 *	function  a function and a file that lines of it are in; names are unique (formats/export/export_names.h)
 *	mapping   a piece of an object (formats/export/pprof_places.h); or an object without addresses
 *
 * Locations are numbered as they are asked for, and written at the end with all that they refer to.
 */
#ifndef CTX_FORMATS_EXPORT_PPROF_LOCATIONS_H
#define CTX_FORMATS_EXPORT_PPROF_LOCATIONS_H

#include "formats/export/export_names.h"
#include "formats/export/pprof_file.h"
#include "model/export.h"

struct ctx_pprof_locations {
	const struct ctx_export_input *input;
	struct ctx_report_code code;	      /* `code.code` NULL: functions alone */
	const struct ctx_export_names *names; /* borrowed */
	uint32_t n_addresses;		      /* locations of the code; functions are numbered behind them */
	uint32_t *number_of; /* owned; by location of the code, then by function: 0 none yet */
	uint32_t *used;	     /* owned; by number - 1 */
	uint32_t n;
};

/* CTX_E_NOMEM, CTX_E_LIMIT. O(locations + functions). Release in any case. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_locations_init(struct ctx_pprof_locations *locations,
							const struct ctx_export_input *input,
							const struct ctx_report_code *code,
							const struct ctx_export_names *names,
							struct ctx_err *err);
void ctx_pprof_locations_deinit(struct ctx_pprof_locations *locations);

/* The number of a location of the code, which must exist. */
uint64_t ctx_pprof_location_of_address(struct ctx_pprof_locations *locations, uint32_t location);

/* The number of a function's location without address; the function behind the last is <No stack>. */
uint64_t ctx_pprof_location_of_function(struct ctx_pprof_locations *locations, uint32_t function);

/* Appends mappings, locations and functions; the mapping of the program's object (CTX_NONE: none) is the first. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_locations_write(struct ctx_pprof_locations *locations,
							 uint32_t program, struct ctx_pprof_file *file,
							 struct ctx_err *err);

#endif
