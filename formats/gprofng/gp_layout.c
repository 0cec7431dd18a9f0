#include "formats/gprofng/gp_layout.h"

#include "base/mem.h"

#define RECORD_BYTES_MAX 65535u

static const char *const field_names[CTX_GP_FIELDS] = {
	[CTX_GP_LWPID] = "LWPID",   [CTX_GP_THRID] = "THRID",	    [CTX_GP_CPUID] = "CPUID",
	[CTX_GP_TSTAMP] = "TSTAMP", [CTX_GP_FRINFO] = "FRINFO",	    [CTX_GP_MSTATE] = "MSTATE",
	[CTX_GP_NTICK] = "NTICK",   [CTX_GP_WEIGHT] = "WEIGHT_NS",  [CTX_GP_SRQST] = "SRQST",
	[CTX_GP_SOBJ] = "SOBJ",	    [CTX_GP_HTYPE] = "HTYPE",	    [CTX_GP_HSIZE] = "HSIZE",
	[CTX_GP_HVADDR] = "HVADDR", [CTX_GP_HOVADDR] = "HOVADDR",   [CTX_GP_IOTYPE] = "IOTYPE",
	[CTX_GP_IOFD] = "IOFD",	    [CTX_GP_IONBYTE] = "IONBYTE",   [CTX_GP_IORQST] = "IORQST",
	[CTX_GP_IOOFD] = "IOOFD",   [CTX_GP_IOFSTYPE] = "IOFSTYPE", [CTX_GP_IOFNAME] = "IOFNAME",
	[CTX_GP_HWCTAG] = "HWCTAG", [CTX_GP_HWCINT] = "HWCINT",	    [CTX_GP_VADDR] = "VADDR",
	[CTX_GP_UCPU] = "UCPU",	    [CTX_GP_UCPU + 1] = "SCPU",	    [CTX_GP_UCPU + 2] = "TRAP",
	[CTX_GP_UCPU + 3] = "TFLT", [CTX_GP_UCPU + 4] = "DFLT",	    [CTX_GP_UCPU + 5] = "KFLT",
	[CTX_GP_UCPU + 6] = "ULCK", [CTX_GP_UCPU + 7] = "TSLP",	    [CTX_GP_UCPU + 8] = "WCPU",
	[CTX_GP_TSTP] = "TSTP",
};

static const struct {
	const char *name;
	uint8_t bytes;
	bool is_signed;
} types[] = {{"INT32", 4, true},   {"UINT32", 4, false}, {"INT64", 8, true}, {"UINT64", 8, false},
	     {"STRING", 1, false}, {"DOUBLE", 8, false}, {"DATE", 8, true}};

bool ctx_gp_layout_add(struct ctx_gp_layout *layout, const char *name, uint64_t offset, const char *type)
{
	struct ctx_gp_place place = {0};

	for (size_t i = 0; i < CTX_COUNT_OF(types); i++) {
		if (strcmp(types[i].name, type) == 0) {
			place.bytes = types[i].bytes;
			place.is_signed = types[i].is_signed;
		}
	}
	if (place.bytes == 0 || offset < 4 || offset > RECORD_BYTES_MAX - place.bytes)
		return false;
	place.offset = (uint16_t)offset;
	for (size_t i = 0; i < CTX_GP_FIELDS; i++) {
		bool is_text = i == CTX_GP_IOFNAME;

		if (strcmp(field_names[i], name) != 0)
			continue;
		if (is_text != (place.bytes == 1))
			return false;
		layout->places[i] = place;
		if (!is_text && layout->bytes_min < (size_t)place.offset + place.bytes)
			layout->bytes_min = (size_t)place.offset + place.bytes;
	}
	return true;
}

const char *ctx_gp_layout_text(const struct ctx_gp_layout *layout, enum ctx_gp_field field,
			       const uint8_t *record, size_t n, size_t *ret_n)
{
	const struct ctx_gp_place *place = &layout->places[field];

	*ret_n = 0;
	if (place->bytes != 1 || place->offset >= n)
		return "";
	*ret_n = strnlen((const char *)record + place->offset, n - place->offset);
	return (const char *)record + place->offset;
}
