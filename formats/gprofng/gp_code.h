/*
 * dyntext: the instructions of code that was made at run time, as they were when the collector was told of it.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_CODE_H
#define CTX_FORMATS_GPROFNG_GP_CODE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_gp_code_region {
	int64_t time_ns;  /* from the run: when it was told of */
	uint64_t address; /* where it lay */
	size_t at, n;	  /* its bytes in the file */
};

struct ctx_gp_code { /* all zero is an empty one */
	struct ctx_buf file;
	struct ctx_gp_code_region *regions; /* owned; by address, then time */
	size_t n, cap;
	bool damaged; /* a record makes no sense: what is behind it is not read */
};

void ctx_gp_code_deinit(struct ctx_gp_code *code);

/* Reads the file at `path`, 64 MiB at most. CTX_E_NOTFOUND, CTX_E_FORMAT (no plain file), CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_code_read(struct ctx_gp_code *code, const char *path, bool big_endian,
						struct ctx_err *err);

/*
 * The bytes from `address` on, `*ret_n` of them and at most `size`: of what was told of there last up to `time_ns`, or first after
 * it. NULL: not known. They are valid as long as `code`. O(log n), and up to 64 regions that overlap.
 */
const uint8_t *ctx_gp_code_find(const struct ctx_gp_code *code, uint64_t address, uint64_t size,
				int64_t time_ns, size_t *ret_n);

#endif
