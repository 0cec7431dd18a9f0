/*
 * map.xml: what was mapped where, and when.
 *
 * The recorder reads the maps when it starts, at dlopen and at the end, so the time of a segment
 * may be later than its first use. The same holds for JIT code. As in gprofng, a map counts from
 * when its addresses became free: from the start, or from the end of the previous map there.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_MAP_H
#define CTX_FORMATS_GPROFNG_GP_MAP_H

#include "base/strtab.h"
#include "formats/gprofng/gp_xml.h"

/*
 * A load object of one page in ctxan's exports: an address in it is the reason why a stack ends,
 * enum ctx_truncation times the step.
 */
#define CTX_GP_TRUNCATIONS "[truncated]"
#define CTX_GP_TRUNCATION_STEP 16u

struct ctx_gp_map_entry {
	int64_t time_ns;     /* from the run */
	int64_t reported_ns; /* when the collector reported it */
	uint64_t address, size, file_offset;
	uint32_t path;	   /* id of the names: of the file, or of the module ("[vdso]") */
	uint32_t function; /* id of the name if the range is one function; otherwise UINT32_MAX */
	uint64_t method;   /* of a JIT-compiled Java method; 0 none */
	bool is_unmap;
	bool executable;
	uint32_t order; /* in the file */
};

struct ctx_gp_map { /* all zero is a valid empty one */
	struct ctx_strtab names;
	struct ctx_gp_map_entry *entries; /* owned; by time */
	size_t n, cap;
	uint64_t truncations; /* where CTX_GP_TRUNCATIONS is; 0 nowhere */
	uint64_t damaged;
	char damage[256]; /* of the first, "" none */
};

void ctx_gp_map_deinit(struct ctx_gp_map *map);

/* Reads the tags of a map.xml. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_map_parse(struct ctx_gp_map *map, struct ctx_gp_xml *xml,
						struct ctx_err *err);

/* The same of the file at `path`. CTX_E_NOTFOUND, CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_map_read(struct ctx_gp_map *map, const char *path, struct ctx_err *err);

#endif
