/*
 * The file `info` of a uftrace directory: a header of 40 bytes, then lines "key:value".
 *
 *	"Ftrace!\0"  version u32  header size u16  byte order u8 (1 little)  class u8 (2: 64 bits)
 *	features u64  lines u64  depth max u16  unused
 */
#ifndef CTX_FORMATS_UFTRACE_UF_INFO_H
#define CTX_FORMATS_UFTRACE_UF_INFO_H

#include "model/source_notes.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_UF_HAS_KERNEL (UINT64_C(1) << 2)
#define CTX_UF_HAS_ESTIMATES (UINT64_C(1) << 11) /* of the ends of calls: entries alone were recorded */

struct ctx_uf_info {
	uint64_t features;
	uint32_t version;
};

/* Is a directory with such a file at this path? */
bool ctx_uf_info_is(const char *directory);

/*
 * Reads it; what is for the header of reports goes to `notes`. CTX_E_FORMAT: not such a file, cut, or of another byte
 * order or word size; CTX_E_VERSION; CTX_E_NOTFOUND, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_uf_info_read(struct ctx_uf_info *info, const char *directory,
						struct ctx_source_notes *notes, struct ctx_err *err);

#endif
