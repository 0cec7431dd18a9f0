/*
 * overview: resource usage of the process at the times of its samples. Records of 504 bytes (256
 * for 32-bit targets), appended one by one.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_OVERVIEW_H
#define CTX_FORMATS_GPROFNG_GP_OVERVIEW_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_gp_usage {	 /* sums since the process began */
	int64_t time_ns; /* absolute */
	uint64_t user_ns, system_ns;
	uint64_t minor_faults, major_faults;
	uint64_t voluntary_switches, involuntary_switches;
	uint64_t blocks_read, blocks_written;
};

struct ctx_gp_overview {	      /* all zero is a valid empty one */
	struct ctx_gp_usage *records; /* owned */
	size_t n, cap;
	bool is_cut; /* a record is truncated or has no time: it and all later ones are dropped */
};

void ctx_gp_overview_deinit(struct ctx_gp_overview *overview);

/*
 * Reads the file. CTX_E_NOTFOUND, CTX_E_IO, CTX_E_FORMAT (not a regular file), CTX_E_LIMIT (more
 * records than seven weeks of one per second; those read before stay), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_overview_read(struct ctx_gp_overview *overview, const char *path,
						    bool is_32bit, bool big_endian, struct ctx_err *err);

#endif
