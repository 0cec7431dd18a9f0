/*
 * dyntext: the instructions of JIT code, as they were when the code was reported to the collector.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_CODE_H
#define CTX_FORMATS_GPROFNG_GP_CODE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_gp_code_region {
	int64_t time_ns;  /* from the run: when it was reported */
	uint64_t address; /* its address */
	size_t at, n;	  /* file offset of its bytes */
};

struct ctx_gp_code { /* all zero is a valid empty one */
	struct ctx_buf file;
	struct ctx_gp_code_region *regions; /* owned; by address, then time */
	size_t n, cap;
	bool damaged; /* a record is invalid: nothing after it is read */
};

void ctx_gp_code_deinit(struct ctx_gp_code *code);

/*
 * Reads the file at `path`, 64 MiB at most. CTX_E_NOTFOUND, CTX_E_FORMAT (not a regular file),
 * CTX_E_IO, CTX_E_LIMIT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_code_read(struct ctx_gp_code *code, const char *path, bool big_endian,
						struct ctx_err *err);

/*
 * The bytes from `address` on, `*ret_n` of them and at most `size`: of the region reported there
 * last up to `time_ns`, otherwise of the first one after it. NULL: unknown. Valid as long as
 * `code`. O(log n), and up to 64 regions that overlap.
 */
const uint8_t *ctx_gp_code_find(const struct ctx_gp_code *code, uint64_t address, uint64_t size,
				int64_t time_ns, size_t *ret_n);

#endif
