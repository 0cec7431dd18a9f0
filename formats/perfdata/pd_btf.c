#include "formats/perfdata/pd_btf.h"

#include "base/mem.h"

#define MAGIC 0xeb9fu
#define HEADER_BYTES 24u
#define VLEN_MASK 0xffffu
#define KIND_SHIFT 24
#define KIND_MASK 31u
#define KIND_FUNC 12u

/* Bytes of a kind behind a type: once, and for each of its count. */
static const struct {
	uint8_t once, each;
} kinds[] = {
	[1] = {4, 0},	/* integer */
	[3] = {12, 0},	/* array */
	[4] = {0, 12},	/* structure */
	[5] = {0, 12},	/* union */
	[6] = {0, 8},	/* enumeration */
	[13] = {0, 8},	/* parameters of a function */
	[14] = {4, 0},	/* variable */
	[15] = {0, 12}, /* section of data */
	[17] = {4, 0},	/* tag of a declaration */
	[19] = {0, 12}, /* enumeration of 64 bits */
};

/* `bytes` at an offset behind the header; empty: outside. */
static struct ctx_pe_wire part_of(struct ctx_pe_wire all, uint64_t header, uint32_t at, uint32_t bytes)
{
	uint64_t begin = header + at;

	if (begin > ctx_pe_wire_left(&all) || bytes > ctx_pe_wire_left(&all) - begin)
		return ctx_pe_wire_make(NULL, 0, all.swap);
	return ctx_pe_wire_make(all.at + begin, bytes, all.swap);
}

/* One type behind the last; false: there is no whole one. */
static bool take_type(struct ctx_pe_wire *wire, uint32_t *ret_name)
{
	uint32_t name = ctx_pe_wire_u32(wire), info = ctx_pe_wire_u32(wire);
	uint32_t kind = info >> KIND_SHIFT & KIND_MASK, n = info & VLEN_MASK;

	ctx_pe_wire_u32(wire); /* size or type */
	if (kind < CTX_COUNT_OF(kinds))
		ctx_pe_wire_bytes(wire, kinds[kind].once + (size_t)kinds[kind].each * n);
	*ret_name = kind == KIND_FUNC ? name : UINT32_MAX;
	return !wire->failed;
}

/* Number 0 is void. */
static enum ctx_status read_types(struct ctx_pd_btf *btf, struct ctx_pe_wire wire, struct ctx_err *err)
{
	uint32_t name = UINT32_MAX;
	enum ctx_status status = CTX_OK;

	do {
		status = ctx_grow(&btf->functions, &btf->cap, btf->n_types + 1, err);
		if (status == CTX_OK)
			btf->functions[btf->n_types++] = name;
	} while (status == CTX_OK && ctx_pe_wire_left(&wire) != 0 && take_type(&wire, &name));
	return status;
}

enum ctx_status ctx_pd_btf_open(struct ctx_pe_wire bytes, struct ctx_pd_btf *ret, struct ctx_err *err)
{
	struct ctx_pe_wire wire = bytes, strings;
	uint32_t header, types_at, types, strings_at, n;
	uint16_t magic = ctx_pe_wire_u16(&wire);

	*ret = (struct ctx_pd_btf){0};
	if (magic != MAGIC) {
		bytes.swap = !bytes.swap;
		wire = bytes;
		magic = ctx_pe_wire_u16(&wire);
	}
	ctx_pe_wire_u16(&wire); /* version, flags */
	header = ctx_pe_wire_u32(&wire);
	types_at = ctx_pe_wire_u32(&wire);
	types = ctx_pe_wire_u32(&wire);
	strings_at = ctx_pe_wire_u32(&wire);
	n = ctx_pe_wire_u32(&wire);
	if (wire.failed || magic != MAGIC || header < HEADER_BYTES)
		return CTX_OK;
	strings = part_of(bytes, header, strings_at, n);
	if (ctx_pe_wire_left(&strings) == 0 || strings.end[-1] != 0)
		return CTX_OK;
	ret->strings = (const char *)strings.at;
	ret->n_strings = ctx_pe_wire_left(&strings);
	return read_types(ret, part_of(bytes, header, types_at, types), err);
}

void ctx_pd_btf_close(struct ctx_pd_btf *btf)
{
	free(btf->functions);
	*btf = (struct ctx_pd_btf){0};
}

const char *ctx_pd_btf_text(const struct ctx_pd_btf *btf, uint32_t at)
{
	return at < btf->n_strings ? btf->strings + at : NULL;
}

const char *ctx_pd_btf_function(const struct ctx_pd_btf *btf, uint32_t type)
{
	return type < btf->n_types ? ctx_pd_btf_text(btf, btf->functions[type]) : NULL;
}
