/*
 * overview: what the process had used by the times of its samples. Records of 504 bytes, of 32-bit targets 256, appended one
 * by one.
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

struct ctx_gp_overview {	      /* all zero is an empty one */
	struct ctx_gp_usage *records; /* owned */
	size_t n, cap;
	bool is_cut; /* a record is not whole, or has no time: it and what is behind it are left out */
};

void ctx_gp_overview_deinit(struct ctx_gp_overview *overview);

/*
 * Reads the file. CTX_E_NOTFOUND, CTX_E_IO, CTX_E_FORMAT (no plain file), CTX_E_LIMIT (more than weeks of a sample each second; what was read
 * before stays), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_overview_read(struct ctx_gp_overview *overview, const char *path,
						    bool is_32bit, bool big_endian, struct ctx_err *err);

#endif
