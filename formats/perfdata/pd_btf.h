/*
 * BTF: the texts of a BPF program's debug information, and the names of its functions.
 *
 *	header { u16 magic, u8 version, u8 flags, u32 own size, u32 types at, u32 bytes, u32 texts at, u32 bytes }
 *	types { u32 name, u32 kind and count, u32 size or type, what the kind has }, from number 1
 *	texts, each with a zero byte
 *
 * Source: Documentation/bpf/btf.rst of Linux.
 */
#ifndef CTX_FORMATS_PERFDATA_PD_BTF_H
#define CTX_FORMATS_PERFDATA_PD_BTF_H

#include "base/err.h"
#include "formats/perfevent/pe_wire.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_pd_btf {	     /* all zero: none */
	const char *strings; /* borrowed; the last byte is zero */
	size_t n_strings;    /* bytes */
	uint32_t
		*functions; /* owned; by number of a type: where its name is; UINT32_MAX: it is no function */
	size_t n_types, cap;
};

/* All zero where the bytes are no BTF, in either byte order; types behind the first malformed one are left out. `ret` borrows the bytes. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pd_btf_open(struct ctx_pe_wire bytes, struct ctx_pd_btf *ret,
					       struct ctx_err *err);
void ctx_pd_btf_close(struct ctx_pd_btf *btf);

/* A text; NULL: outside. Borrowed. */
const char *ctx_pd_btf_text(const struct ctx_pd_btf *btf, uint32_t at);

/* The name of a type that is a function; NULL: it is none. Borrowed. O(1). */
const char *ctx_pd_btf_function(const struct ctx_pd_btf *btf, uint32_t type);

#endif
