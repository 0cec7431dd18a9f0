/*
 * Call frame information written by hand: a .eh_frame with one CIE (or two) and functions, and a
 * table of it.
 */
#ifndef CTX_TESTS_UNIT_CFI_ASSEMBLY_H
#define CTX_TESTS_UNIT_CFI_ASSEMBLY_H

#include "base/buf.h"
#include "unwind/cfi_build.h"

#include <string.h>

struct assembly {
	struct ctx_buf buf;
	size_t cie;
};

/* Lengths are filled in when the entry is complete. */
static inline size_t entry_begin(struct assembly *assembly)
{
	size_t at = assembly->buf.n;

	ctx_buf_put_u32(&assembly->buf, 0);
	return at;
}

static inline void entry_end(struct assembly *assembly, size_t at)
{
	uint32_t n;

	while (assembly->buf.n % 8 != 0)
		ctx_buf_put_u8(&assembly->buf, 0);
	n = (uint32_t)(assembly->buf.n - at - 4);
	memcpy(assembly->buf.bytes + at, &n, sizeof(n));
}

/*
 * x86-64 as compilers begin: CFA = rsp + 8, return address at CFA - 8; "S" for signal trampolines.
 */
static inline void put_cie(struct assembly *assembly, bool signal)
{
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};

	assembly->cie = entry_begin(assembly);
	ctx_buf_put_u32(&assembly->buf, 0);
	ctx_buf_put_u8(&assembly->buf, 1);
	ctx_buf_put(&assembly->buf, signal ? "zRS" : "zR", signal ? 4 : 3);
	ctx_buf_put_u8(&assembly->buf, 1);    /* code alignment */
	ctx_buf_put_u8(&assembly->buf, 0x78); /* data alignment -8 */
	ctx_buf_put_u8(&assembly->buf, 16);
	ctx_buf_put_u8(&assembly->buf, 1);
	ctx_buf_put_u8(&assembly->buf, 0x00); /* absolute addresses */
	ctx_buf_put(&assembly->buf, program, sizeof(program));
	entry_end(assembly, assembly->cie);
}

static inline void put_fde(struct assembly *assembly, uint64_t begin, uint64_t size, const void *program,
			   size_t n)
{
	size_t at = entry_begin(assembly);

	ctx_buf_put_u32(&assembly->buf, (uint32_t)(at + 4 - assembly->cie));
	ctx_buf_put_u64(&assembly->buf, begin);
	ctx_buf_put_u64(&assembly->buf, size);
	ctx_buf_put_u8(&assembly->buf, 0);
	ctx_buf_put(&assembly->buf, program, n);
	entry_end(assembly, at);
}

static inline enum ctx_status build_raw(const void *bytes, size_t n, bool is_eh, struct ctx_cfi_table **ret)
{
	struct ctx_cfi_source source = {.machine = CTX_MACHINE_X86_64, .sections.n = 1};

	source.sections.items[0] = (struct ctx_cfi_section){.bytes = bytes, .n = n, .is_eh = is_eh};
	return ctx_cfi_build(&source, ret, NULL);
}

#endif
