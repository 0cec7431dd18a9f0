#include "symbols/dwarf_scope.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "symbols/dwarf_walk.h"

#include <dwarf.h>

#define SHOWN_MAX 32

static bool is_scope(Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return dwarf_haschildren(die) == 1;
	default:
		return false;
	}
}

static enum ctx_status add_scope(struct ctx_dwarf_reader *reader, Dwarf_Die *die, uint32_t parent,
				 struct ctx_err *err)
{
	struct ctx_dwarf_scope scope = {.begin = dwarf_dieoffset(die), .end = UINT64_MAX, .parent = parent};
	enum ctx_status status = ctx_grow(&reader->scopes, &reader->scopes_cap, reader->scope_n + 1, err);

	if (status != CTX_OK)
		return status;
	scope.name = dwarf_diename(die);
	if (scope.name == NULL && dwarf_tag(die) == DW_TAG_namespace)
		scope.name = "(anonymous namespace)";
	reader->scopes[reader->scope_n++] = scope;
	return CTX_OK;
}

static enum ctx_status read_scopes(struct ctx_dwarf_reader *reader, Dwarf_Die *unit, struct ctx_err *err)
{
	uint32_t open[CTX_DWARF_DEPTH_MAX]; /* the scope at each depth down to `depth` */
	enum ctx_status status = CTX_OK;
	struct ctx_dwarf_walk walk;
	unsigned depth = 0;

	open[0] = CTX_DWARF_NONE;
	reader->scope_n = 0;
	reader->scopes_of = unit->cu;
	if (!ctx_dwarf_walk_begin(&walk, unit) || !ctx_dwarf_walk_next(&walk, true))
		return CTX_OK;
	for (bool more = true, into; more && status == CTX_OK; more = ctx_dwarf_walk_next(&walk, into)) {
		if (reader->scope_steps_left == 0) {
			walk.damaged = true;
			break;
		}
		reader->scope_steps_left--;
		for (; depth >= walk.depth; depth--)
			reader->scopes[open[depth]].end = dwarf_dieoffset(&walk.die);
		into = is_scope(&walk.die) && depth + 2 < CTX_DWARF_DEPTH_MAX;
		if (!into)
			continue;
		status = add_scope(reader, &walk.die, open[depth], err);
		open[++depth] = (uint32_t)reader->scope_n - 1;
	}
	if (walk.damaged) /* the ends of the open ones are unknown: no scope is better than a wrong one */
		reader->scope_n = 0;
	return status;
}

/* The innermost scope around an offset: scopes are sorted by begin and properly nested. */
static uint32_t find_scope(const struct ctx_dwarf_reader *reader, Dwarf_Off offset)
{
	size_t n = ctx_count_below(reader->scopes, reader->scope_n, begin, offset);
	uint32_t i = n > 0 ? (uint32_t)n - 1 : CTX_DWARF_NONE;

	while (i != CTX_DWARF_NONE && reader->scopes[i].end <= offset)
		i = reader->scopes[i].parent;
	return i;
}

/* Languages without scopes around functions: most units. */
static bool has_no_scopes(Dwarf_Die *unit)
{
	switch (dwarf_srclang(unit)) {
	case DW_LANG_C89:
	case DW_LANG_C:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case DW_LANG_Mips_Assembler:
		return true;
	default:
		return false;
	}
}

enum ctx_status ctx_dwarf_scope_put(struct ctx_dwarf_reader *reader, Dwarf_Die *die, struct ctx_buf *out,
				    struct ctx_err *err)
{
	uint32_t shown[SHOWN_MAX];
	enum ctx_status status;
	size_t n = 0;
	Dwarf_Die unit;

	if (dwarf_diecu(die, &unit, NULL, NULL) == NULL || has_no_scopes(&unit))
		return CTX_OK;
	if (reader->scopes_of != die->cu) {
		status = read_scopes(reader, &unit, err);
		if (status != CTX_OK)
			return status;
	}
	for (uint32_t i = find_scope(reader, dwarf_dieoffset(die)); i != CTX_DWARF_NONE && n < SHOWN_MAX;
	     i = reader->scopes[i].parent)
		shown[n++] = i;
	while (n-- > 0) {
		const char *name = reader->scopes[shown[n]].name;

		if (name != NULL)
			ctx_buf_printf(out, "%s::", name);
	}
	return CTX_OK;
}
