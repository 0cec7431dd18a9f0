/*
 * Layouts of the event records, as the log describes them: offset and width of each field. No
 * layout is assumed beyond what the log says.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LAYOUT_H
#define CTX_FORMATS_GPROFNG_GP_LAYOUT_H

#include "formats/gprofng/gp_wire.h"

#include <stddef.h>

/* Types of records that are used; the numbers are those in the files. */
#define CTX_GP_STATES_CLOCK 1u /* of old Solaris collectors: ticks in each of ten states */
#define CTX_GP_SYNC 2u
#define CTX_GP_HWC 3u
#define CTX_GP_HEAP 5u
#define CTX_GP_MHWC 7u /* a hardware counter, and the accessed address */
#define CTX_GP_CLOCK 8u
#define CTX_GP_IO 19u

#define CTX_GP_OLD_STATES 10u

/* The fields that are used. */
enum ctx_gp_field {
	CTX_GP_LWPID,
	CTX_GP_THRID,
	CTX_GP_CPUID,
	CTX_GP_TSTAMP,
	CTX_GP_FRINFO,
	CTX_GP_MSTATE,
	CTX_GP_NTICK,
	CTX_GP_WEIGHT, /* of experiments that ctxan exported: NTICK in nanoseconds */
	CTX_GP_SRQST,
	CTX_GP_SOBJ,
	CTX_GP_HTYPE,
	CTX_GP_HSIZE,
	CTX_GP_HVADDR,
	CTX_GP_HOVADDR,
	CTX_GP_IOTYPE,
	CTX_GP_IOFD,
	CTX_GP_IONBYTE,
	CTX_GP_IORQST,
	CTX_GP_IOOFD,
	CTX_GP_IOFSTYPE,
	CTX_GP_IOFNAME,
	CTX_GP_HWCTAG,
	CTX_GP_HWCINT,
	CTX_GP_VADDR,
	CTX_GP_UCPU, /* ten of these */
	CTX_GP_TSTP = CTX_GP_UCPU + 9,
	CTX_GP_FIELDS,
};

struct ctx_gp_place {
	uint16_t offset;
	uint8_t bytes; /* 0: the records do not have this field; 4, 8, or 1 for a string up to the end */
	bool is_signed;
};

/* The records of one type. All zero is a valid layout without fields. */
struct ctx_gp_layout {
	uint32_t type;
	uint32_t file; /* number of the data file, of the log */
	struct ctx_gp_place places[CTX_GP_FIELDS];
	size_t bytes_min; /* of a record that has all fields but a string */
};

/*
 * Adds a field as the log describes it; unknown names are ignored. False: invalid offset or type.
 */
bool ctx_gp_layout_add(struct ctx_gp_layout *layout, const char *name, uint64_t offset, const char *type);

static inline bool ctx_gp_layout_has(const struct ctx_gp_layout *layout, enum ctx_gp_field field)
{
	return layout->places[field].bytes != 0;
}

/*
 * The number in a record of at least bytes_min bytes; sign-extended where the log says so. 0 if the
 * layout lacks the field.
 */
static inline uint64_t ctx_gp_layout_get(const struct ctx_gp_layout *layout, enum ctx_gp_field field,
					 const uint8_t *record, bool big_endian)
{
	const struct ctx_gp_place *place = &layout->places[field];
	uint32_t narrow;

	if (place->bytes == 8)
		return ctx_gp_u64(record + place->offset, big_endian);
	if (place->bytes != 4)
		return 0;
	narrow = ctx_gp_u32(record + place->offset, big_endian);
	return place->is_signed ? (uint64_t)(int64_t)(int32_t)narrow : narrow;
}

/*
 * The text in a record of `n` bytes: not zero-terminated if *ret_n reaches the end. Borrowed;
 * *ret_n is 0 if the layout lacks the field.
 */
const char *ctx_gp_layout_text(const struct ctx_gp_layout *layout, enum ctx_gp_field field,
			       const uint8_t *record, size_t n, size_t *ret_n);

#endif
