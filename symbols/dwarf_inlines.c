#include "symbols/dwarf_inlines.h"

#include "base/mem.h"
#include "symbols/dwarf_names.h"
#include "symbols/dwarf_walk.h"

#include <dwarf.h>

/* Memory that libdw keeps per unit: mostly abbreviations. */
#define LIBDW_UNIT_BYTES ((uint64_t)64 << 10)

struct reading {
	struct ctx_dwarf_unit *unit;
	struct ctx_dwarf_reader *reader;
	Dwarf_Files *files; /* of the calls; NULL unknown */
	size_t file_n;
	struct ctx_dwarf_walk walk;
	uint32_t around[CTX_DWARF_DEPTH_MAX]; /* by depth: the node that encloses a DIE of this depth */
};

/*
 * DIEs that may contain code. Declarations and abstract instances of inlined functions have none.
 */
static bool may_hold_code(Dwarf_Die *die, int tag)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
	case DW_TAG_inlined_subroutine:
		return true;
	case DW_TAG_subprogram:
		return !dwarf_hasattr(die, DW_AT_declaration) && !dwarf_hasattr(die, DW_AT_inline);
	default:
		return false;
	}
}

/* Adds a node's ranges; `*ret_any`: it has code. */
static enum ctx_status add_ranges(struct reading *reading, uint32_t node, bool *ret_any, struct ctx_err *err)
{
	struct ctx_dwarf_reader *reader = reading->reader;
	Dwarf_Addr base, begin, end;
	enum ctx_status status = CTX_OK;
	ptrdiff_t at = 0;

	if (!ctx_dwarf_bounds_take_ranges(&reader->bounds, &reading->walk.die, &reader->skeleton))
		return CTX_OK;
	while (status == CTX_OK && (at = dwarf_ranges(&reading->walk.die, at, &base, &begin, &end)) > 0) {
		const struct ctx_elf_section *section = ctx_dwarf_file_code(reader->file, begin);

		if (section == NULL || begin >= end)
			continue;
		if (end > section->address + section->size)
			end = section->address + section->size;
		/* Nodes are numbered from the outermost: the innermost has the highest number. */
		status = ctx_rangemap_add(
			&reading->unit->places,
			(struct ctx_rangemap_item){.begin = begin, .end = end, .rank = node, .value = node},
			err);
		*ret_any = true;
	}
	return status;
}

static uint32_t number_attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > INT32_MAX)
		return 0;
	return (uint32_t)value;
}

static enum ctx_status read_call(struct reading *reading, struct ctx_dwarf_node *node, struct ctx_err *err)
{
	Dwarf_Die *die = &reading->walk.die;
	Dwarf_Attribute attribute;
	enum ctx_status status;
	Dwarf_Die origin;
	Dwarf_Word file;

	if (dwarf_formref_die(dwarf_attr(die, DW_AT_abstract_origin, &attribute), &origin) == NULL)
		origin = *die;
	status = ctx_dwarf_reader_function(reading->reader, &origin, &node->name, err);
	if (status != CTX_OK)
		return status;
	node->call_line = number_attribute(die, DW_AT_call_line);
	if (reading->files == NULL ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) != 0 ||
	    file >= reading->file_n)
		return CTX_OK;
	return ctx_dwarf_reader_path(reading->reader, dwarf_filesrc(reading->files, file, NULL, NULL),
				     &node->call_file, err);
}

/* A function, or an inlined call. It becomes a node if it has code. */
static enum ctx_status add_node(struct reading *reading, int tag, uint32_t *around, struct ctx_err *err)
{
	struct ctx_dwarf_unit *unit = reading->unit;
	struct ctx_dwarf_node node = {CTX_DWARF_NONE, CTX_DWARF_NONE, CTX_DWARF_NONE, 0};
	enum ctx_status status;
	bool any = false;

	if (tag == DW_TAG_inlined_subroutine)
		node.parent = *around;
	if (unit->node_n >= CTX_DWARF_NONE - 1)
		return CTX_OK;
	status = add_ranges(reading, (uint32_t)unit->node_n, &any, err);
	if (status != CTX_OK || !any)
		return status;
	if (node.parent != CTX_DWARF_NONE)
		status = read_call(reading, &node, err);
	if (status == CTX_OK)
		status = ctx_grow(&unit->nodes, &unit->nodes_cap, unit->node_n + 1, err);
	if (status != CTX_OK)
		return status;
	*around = (uint32_t)unit->node_n;
	unit->nodes[unit->node_n++] = node;
	return CTX_OK;
}

enum ctx_status ctx_dwarf_unit_read_inlines(struct ctx_dwarf_unit *unit, struct ctx_dwarf_reader *reader,
					    struct ctx_err *err)
{
	struct reading reading = {.unit = unit, .reader = reader};
	struct ctx_dwarf_walk *walk = &reading.walk;
	enum ctx_status status = CTX_OK;
	bool more = ctx_dwarf_walk_begin(walk, &reader->unit);

	reader->file->spent += LIBDW_UNIT_BYTES;
	if (!reader->has_lines || dwarf_getsrcfiles(&reader->unit, &reading.files, &reading.file_n) != 0)
		reading.files = NULL;
	reading.around[0] = CTX_DWARF_NONE;
	while (more && status == CTX_OK) {
		int tag = dwarf_tag(&walk->die);
		uint32_t around = reading.around[walk->depth];
		bool into = may_hold_code(&walk->die, tag);

		if (into && (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine))
			status = add_node(&reading, tag, &around, err);
		if (walk->depth + 1 < CTX_DWARF_DEPTH_MAX)
			reading.around[walk->depth + 1] = around;
		more = ctx_dwarf_walk_next(walk, into);
	}
	return status == CTX_OK ? ctx_rangemap_freeze(&unit->places, err) : status;
}
