#include "symbols/dwarf_unit_read.h"

#include "symbols/dwarf_inlines.h"
#include "symbols/dwarf_lines.h"

#include <dwarf.h>

/* Finds the DIEs of the unit; replaces a skeleton by its split unit if that is found. */
static bool find_unit(struct ctx_dwarf_reader *reader, Dwarf_Off offset)
{
	Dwarf_Attribute attribute;
	uint8_t type = 0;
	Dwarf_Die split;

	if (dwarf_offdie(reader->file->dwarf, offset, &reader->skeleton) == NULL)
		return false;
	reader->unit = reader->skeleton;
	reader->folder = dwarf_formstring(dwarf_attr(&reader->skeleton, DW_AT_comp_dir, &attribute));
	if (dwarf_cu_info(reader->skeleton.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) != 0)
		return false;
	if (type == DW_UT_skeleton && ctx_dwarf_file_may_split(reader->file, &reader->skeleton) &&
	    dwarf_cu_info(reader->skeleton.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	    split.addr != NULL && ctx_dwarf_bounds_check(dwarf_cu_getdwarf(split.cu), 0, NULL) == CTX_OK) {
		reader->unit = split;
		/* libdw keeps the .dwo file in memory. */
		reader->file->spent += (uint64_t)4 << 20;
	}
	return true;
}

static bool may_read_lines(struct ctx_dwarf_reader *reader)
{
	uint64_t bytes, split_bytes = 0;

	if (!ctx_dwarf_bounds_take_lines(&reader->bounds, &reader->skeleton, &bytes))
		return false;
	if (reader->unit.cu != reader->skeleton.cu) {
		reader->bounds.lines = (struct ctx_dwarf_section){0};
		if (!ctx_dwarf_bounds_take_lines(&reader->bounds, &reader->unit, &split_bytes))
			return false;
	}
	reader->file->spent += bytes + split_bytes;
	return true;
}

enum ctx_status ctx_dwarf_unit_read(struct ctx_dwarf_unit *unit, struct ctx_dwarf_reader *reader,
				    Dwarf_Off offset, struct ctx_err *err)
{
	enum ctx_status status;

	/* Pointers of another unit may have been reused by now. */
	ctx_map64_clear(&reader->seen);
	reader->scopes_of = NULL;
	ctx_dwarf_bounds_forget(&reader->bounds);
	if (!find_unit(reader, offset))
		return CTX_OK;
	reader->has_lines = may_read_lines(reader);
	status = ctx_dwarf_unit_read_inlines(unit, reader, err);
	if (status == CTX_OK)
		status = ctx_dwarf_unit_read_lines(unit, reader, err);
	return status;
}
