/*
 * Types of data in DWARF: what is at an offset of one, and how it is written.
 *
 * All functions call libdw: they must run in ctx_dwarf_file_run. Hostile information (circles of types, deep nesting) ends at
 * limits: then nothing is found.
 */
#ifndef CTX_SYMBOLS_DATA_TYPES_H
#define CTX_SYMBOLS_DATA_TYPES_H

#include "base/buf.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* The type that a DIE has (DW_AT_type). False: none. */
bool ctx_data_type_of(Dwarf_Die *die, Dwarf_Die *ret);

/* Without typedef, const, volatile, ...; of a pointer or reference what it points to. False: none. */
bool ctx_data_type_strip(Dwarf_Die *type, Dwarf_Die *ret);
bool ctx_data_type_pointee(Dwarf_Die *type, Dwarf_Die *ret);

/* Bytes; 0 unknown. */
uint64_t ctx_data_type_size(Dwarf_Die *type);

struct ctx_data_part {
	Dwarf_Die aggregate; /* the outermost structure or union that is no array, or its typedef */
	Dwarf_Die type;	     /* innermost, a scalar; not in padding */
	bool has_aggregate;
	bool is_padding;
	uint64_t offset; /* of the scalar in the aggregate; of elements of an array in it that of the first */
	uint64_t of_aggregate; /* of the byte that was asked for, in the aggregate */
};

/*
 * What is `offset` bytes into a type: through arrays, whose elements are alike, structures and unions, of which the first member
 * counts. Appends the names of members to `path`: "in.d". False: outside, or not a type of data.
 */
bool ctx_data_type_at(Dwarf_Die *type, uint64_t offset, struct ctx_data_part *ret, struct ctx_buf *path);

/* Appends "int", "pointer+structure:foo", "structure:foo". */
void ctx_data_type_text(Dwarf_Die *type, struct ctx_buf *out);

/* Whether it is a structure, class or union with members. */
bool ctx_data_type_has_members(Dwarf_Die *type);

/* Each scalar of a structure, with its offset in it and its names. Ends at the first false. */
typedef bool (*ctx_data_member_fn)(void *context, Dwarf_Die *type, uint64_t offset, const char *path);
bool ctx_data_type_each(Dwarf_Die *type, ctx_data_member_fn each, void *context);

#endif
