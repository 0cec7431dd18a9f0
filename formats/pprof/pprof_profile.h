/*
 * The tables of a pprof profile, found in its bytes: what its samples refer to.
 */
#ifndef CTX_FORMATS_PPROF_PPROF_PROFILE_H
#define CTX_FORMATS_PPROF_PPROF_PROFILE_H

#include "base/err.h"
#include "base/map64.h"
#include "base/protobuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_pprof_field {
	CTX_PPROF_SAMPLE_TYPE = 1,
	CTX_PPROF_SAMPLE = 2,
	CTX_PPROF_MAPPING = 3,
	CTX_PPROF_LOCATION = 4,
	CTX_PPROF_FUNCTION = 5,
	CTX_PPROF_STRING = 6,
	CTX_PPROF_TIME = 9,
	CTX_PPROF_DURATION = 10,
	CTX_PPROF_COMMENT = 13,
	CTX_PPROF_DEFAULT_TYPE = 14,
	CTX_PPROF_FIELDS = 16, /* above all known ones */
};

struct ctx_pprof_text { /* borrowed from the profile, not terminated */
	const char *at;
	size_t n;
};

struct ctx_pprof_type {
	uint64_t name, unit; /* numbers of strings */
};

struct ctx_pprof_mapping {
	uint64_t id, start, limit, offset, file, build_id;
};

struct ctx_pprof_location {
	uint64_t id, mapping, address;
	struct ctx_protobuf lines; /* its message; `at` NULL: it has no lines */
};

struct ctx_pprof_function {
	uint64_t id, name, system_name, file, start_line;
};

/* All arrays are owned. */
struct ctx_pprof_profile { /* all zero is an empty one */
	struct ctx_protobuf message;
	struct ctx_pprof_text *strings;
	size_t n_strings, strings_cap;
	struct ctx_pprof_type *types;
	size_t n_types, types_cap;
	struct ctx_pprof_mapping *mappings;
	size_t n_mappings, mappings_cap;
	struct ctx_pprof_location *locations;
	size_t n_locations, locations_cap;
	struct ctx_pprof_function *functions;
	size_t n_functions, functions_cap;
	struct ctx_map64 mapping_of, location_of, function_of; /* by id -> index */
	int64_t time_ns, duration_ns;
	uint64_t default_type; /* number of a string; 0 none */
	uint64_t comment;
};

void ctx_pprof_profile_deinit(struct ctx_pprof_profile *profile);

/* Reads the tables of `n` bytes, which are borrowed. Fails with CTX_E_FORMAT, CTX_E_NOMEM. O(n). */
CTX_MUST_CHECK enum ctx_status ctx_pprof_profile_read(struct ctx_pprof_profile *profile, const void *bytes,
						      size_t n, struct ctx_err *err);

/* The string of a number; "" for one that there is not. */
struct ctx_pprof_text ctx_pprof_string(const struct ctx_pprof_profile *profile, uint64_t number);

/* NULL: no such id. */
const struct ctx_pprof_mapping *ctx_pprof_mapping(const struct ctx_pprof_profile *profile, uint64_t id);
const struct ctx_pprof_location *ctx_pprof_location(const struct ctx_pprof_profile *profile, uint64_t id);
const struct ctx_pprof_function *ctx_pprof_function(const struct ctx_pprof_profile *profile, uint64_t id);

#endif
